"""Pictures of trees with crossing branches: as text, SVG, PNG, PDF, TikZ and forest; and charts of figures.

`draw_text`, `draw_svg`, `draw_tikz` and `draw_forest` take a tree and, by name, the fields of `Options`;
`write_pictures` draws many sentences into a file or a folder; `compare_trees` finds the differences between two trees.
"""

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
