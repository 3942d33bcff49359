"""Files: opened, replaced atomically, sealed with checksums; how wide text is; what a measurement was made with.

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
from discoparse.files.sealed import CHECKSUMS, decode_json, encode_json, read_sealed, write_sealed
from discoparse.files.streams import (
    DAMAGED,
    STANDARD,
    decoded,
    folder_files,
    open_bytes,
    open_for_writing,
    path_list,
    printable,
    suffix,
)
from discoparse.files.termination import termination_as_exit
from discoparse.files.widths import advance, cell_width, cells, visible

__all__ = [
    "CHECKSUMS",
    "DAMAGED",
    "STANDARD",
    "PathLike",
    "advance",
    "cell_width",
    "cells",
    "decode_json",
    "decoded",
    "encode_json",
    "existing_directory",
    "folder_files",
    "open_bytes",
    "open_for_writing",
    "path_list",
    "printable",
    "read_sealed",
    "replace_directory",
    "replace_file",
    "replacing",
    "replacing_together",
    "suffix",
    "termination_as_exit",
    "visible",
    "write_sealed",
]
