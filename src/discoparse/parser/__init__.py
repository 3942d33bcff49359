"""What users call: text in, trees out; models by name or directory."""

from typing import TYPE_CHECKING

from discoparse._lazy import lazy_names

if TYPE_CHECKING:
    from discoparse.parser.documents import parse_documents, parse_treebank
    from discoparse.parser.ensemble import Ensemble, load_ensemble
    from discoparse.parser.finding import load, load_parser
    from discoparse.parser.parser import Parser

__all__ = ["Ensemble", "Parser", "load", "load_ensemble", "load_parser", "parse_documents", "parse_treebank"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Ensemble": "ensemble",
        "Parser": "parser",
        "load": "finding",
        "load_ensemble": "ensemble",
        "load_parser": "finding",
        "parse_documents": "documents",
        "parse_treebank": "documents",
    },
)
