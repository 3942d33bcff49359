"""The options of pictures in a request, and output in any format that is text."""

from __future__ import annotations

from typing import Any

from discoparse.drawing.options import ALIASES, BINARY, HIDEABLE, STYLES, Options
from discoparse.drawing.pages import caption_of, draw_pages, no_caption
from discoparse.errors import DiscoparseError
from discoparse.parser.writing import OUTPUTS, numbered, output_pieces
from discoparse.serve.bodies import Fields, clean, clean_list
from discoparse.serve.inputs import check_size
from discoparse.serve.problems import Refusal
from discoparse.serve.settings import SCALE, WIDTH, Settings
from discoparse.tree import Tree
from discoparse.treebank import Report

FORMATS = tuple(name for name in (*OUTPUTS, *ALIASES) if name not in BINARY)
PICTURES = ("svg", "tree", "text", "tikz", "forest")
_TYPES = {
    "svg": "image/svg+xml",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "tigerxml": "application/xml",
    "alpino": "application/xml",
    "tikz": "application/x-tex",
    "forest": "application/x-tex",
}


_PLAIN = Options()
_NAMES = (
    *("width", "scale", "style", "functions", "tags", "highlight", "color", "standalone", "hide", "subtree", "roof"),
    *("surface", "gloss", "font"),
)


def media_type(format: str) -> str:
    """Of what is written in a format."""
    return _TYPES.get(format, "text/plain") + "; charset=utf-8"


def drawing_options(fields: Fields) -> Options:
    """The options of pictures, by the names that they have on the command line."""
    if fields.data.keys().isdisjoint(_NAMES):  # nearly always
        fields.taken.update(_NAMES)
        return _PLAIN
    hide = fields.texts("hide") or []
    for name in hide:
        if name not in HIDEABLE:
            raise Refusal(422, f"hide must have only {' and '.join(HIDEABLE)}")
    return Options(
        width=fields.number("width", WIDTH),
        scale=fields.number("scale", SCALE, whole=False) or 1.0,
        style=fields.choice("style", STYLES, STYLES[0]),
        functions=fields.flag("functions"),
        tags=fields.flag("tags", True),
        highlight=fields.flag("highlight", True),
        color=fields.flag("color"),
        standalone=fields.flag("standalone"),
        hide=hide,
        subtree=fields.text("subtree"),
        roof=fields.texts("roof") or (),
        surface=fields.flag("surface"),
        gloss=_gloss(fields.any("gloss")),
        font=fields.text("font"),
    )


def _gloss(value: Any) -> Any:
    return value if value is None else clean_list(value, "gloss") if isinstance(value, list) else clean(value, "gloss")


def written(trees: list[Tree], format: str, options: Options, settings: Settings) -> bytes:
    """Trees in a format, as `discoparse parse --to` writes them."""
    format = ALIASES.get(format, format)
    if format in PICTURES:
        for number, tree in enumerate(trees, 1):
            check_size(tree, settings, number)
    refused: list[str] = []
    try:
        pieces = output_pieces(numbered(trees, format), format, options, Report(), refused.append)
        content = "".join(pieces)
    except DiscoparseError as error:
        raise Refusal(422, str(error)) from None
    if refused:
        raise Refusal(422, refused[0])
    return content.encode("utf-8")


def drawn(trees: list[Tree], others: list[Tree] | None, format: str, options: Options, settings: Settings) -> bytes:
    """Pictures of trees, or of gold against predicted trees."""
    if others is not None and len(others) != len(trees):
        raise Refusal(422, f"there are {len(trees)} trees and {len(others)} to compare with")
    for number, tree in enumerate([*trees, *(others or ())], 1):
        check_size(tree, settings, number)
    picked = [(k + 1, tree, None if others is None else others[k]) for k, tree in enumerate(trees)]
    try:
        pieces = draw_pages(picked, ALIASES.get(format, format), options, caption_of if len(trees) > 1 else no_caption)
        return "".join(pieces).encode("utf-8")
    except DiscoparseError as error:
        raise Refusal(422, str(error)) from None
