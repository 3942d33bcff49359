"""Pictures of trees with crossing branches: as text, as SVG, as TikZ."""

from discoparse.drawing.svg import draw_svg
from discoparse.drawing.text import draw_text
from discoparse.drawing.tikz import draw_tikz

__all__ = ["draw_svg", "draw_text", "draw_tikz"]
