"""Files: opened, locked, replaced atomically, sealed with checksums; the width of text, and tables of it; hardware.

`environment` is imported from its own module: it needs more of the standard library than the rest.
"""

from discoparse.files.atomic import (
    PathLike,
    existing_directory,
    replace_directory,
    replace_file,
    replacing,
    replacing_together,
)
from discoparse.files.lock import Locked, exclusive
from discoparse.files.sealed import CHECKSUMS, Sealed, decode_json, encode_json, read_sealed, write_sealed
from discoparse.files.streams import (
    DAMAGED,
    STANDARD,
    decoded,
    folder_files,
    open_bytes,
    open_for_writing,
    open_text,
    path_list,
    printable,
    suffix,
)
from discoparse.files.termination import termination_as_exit
from discoparse.files.text_table import text_table
from discoparse.files.widths import advance, cell_width, cells, visible

__all__ = [
    "CHECKSUMS",
    "DAMAGED",
    "STANDARD",
    "Locked",
    "PathLike",
    "Sealed",
    "advance",
    "cell_width",
    "cells",
    "decode_json",
    "decoded",
    "encode_json",
    "exclusive",
    "existing_directory",
    "folder_files",
    "open_bytes",
    "open_for_writing",
    "open_text",
    "path_list",
    "printable",
    "read_sealed",
    "replace_directory",
    "replace_file",
    "replacing",
    "replacing_together",
    "suffix",
    "termination_as_exit",
    "text_table",
    "visible",
    "write_sealed",
]
