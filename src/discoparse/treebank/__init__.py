"""Treebank files: reading and writing trees as streams in the formats that linguists use.

`read_trees` and `write_trees` are what most of the program needs. Each format is a module here, imported when it is
used; the published treebanks and their standard splits are in `prepare`, conversion from and to NLTK in `nltk_trees`.
"""

from typing import TYPE_CHECKING

from discoparse._lazy import lazy_names
from discoparse.treebank.formats import FORMATS, READABLE, WRITABLE, output_format
from discoparse.treebank.report import ON_ERROR, Reading, Report, damage_reported
from discoparse.treebank.streams import format_trees, read_trees, write_trees

if TYPE_CHECKING:
    from discoparse.treebank.discbracket import format_tree, parse_tree
    from discoparse.treebank.recognition import looks_like_treebank
    from discoparse.treebank.stats import Statistics
    from discoparse.treebank.validation import Validation, validate

__all__ = [
    "FORMATS",
    "ON_ERROR",
    "READABLE",
    "WRITABLE",
    "Reading",
    "Report",
    "Statistics",
    "Validation",
    "damage_reported",
    "format_tree",
    "format_trees",
    "looks_like_treebank",
    "output_format",
    "parse_tree",
    "read_trees",
    "validate",
    "write_trees",
]

# Names that few programs need, and their modules.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Statistics": "stats",
        "Validation": "validation",
        "format_tree": "discbracket",
        "looks_like_treebank": "recognition",
        "parse_tree": "discbracket",
        "validate": "validation",
    },
)
