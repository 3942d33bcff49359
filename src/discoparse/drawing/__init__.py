"""Pictures of trees with crossing branches: as text, SVG, PNG, PDF, TikZ and forest; and charts of figures.

`draw_text`, `draw_svg`, `draw_tikz` and `draw_forest` take a tree and, by name, the fields of `Options`;
`write_pictures` draws many sentences into a file or a folder; `compare_trees` finds the differences between two trees.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discoparse.drawing.compare import Differences, compare_trees
    from discoparse.drawing.forest import draw_forest
    from discoparse.drawing.options import EXTENSIONS, Options, format_of
    from discoparse.drawing.pages import draw_pages, write_pictures
    from discoparse.drawing.selection import Selection
    from discoparse.drawing.svg import draw_svg
    from discoparse.drawing.text import draw_text
    from discoparse.drawing.tikz import draw_tikz

__all__ = [
    "EXTENSIONS",
    "Differences",
    "Options",
    "Selection",
    "compare_trees",
    "draw_forest",
    "draw_pages",
    "draw_svg",
    "draw_text",
    "draw_tikz",
    "format_of",
    "write_pictures",
]

# Where each name is defined; imported on first use, so a command that may draw starts as fast as one that does not.
_HOMES = {
    "EXTENSIONS": "options",
    "Differences": "compare",
    "Options": "options",
    "Selection": "selection",
    "compare_trees": "compare",
    "draw_forest": "forest",
    "draw_pages": "pages",
    "draw_svg": "svg",
    "draw_text": "text",
    "draw_tikz": "tikz",
    "format_of": "options",
    "write_pictures": "pages",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'discoparse.drawing' has no attribute {name!r}")
    value = getattr(import_module(f"discoparse.drawing.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
