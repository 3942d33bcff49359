"""Pictures as PNG and PDF, made of SVG by CairoSVG: `pip install discoparse[pictures]`."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

from discoparse.errors import DiscoparseError

# Fonts for words in scripts that the usual font lacks, as far as they are installed.
_FALLBACKS = (
    *("DejaVu Sans", "Noto Sans", "Noto Sans CJK SC", "Noto Color Emoji", "Noto Emoji"),
    *("Arial Unicode MS", "Apple Color Emoji", "Segoe UI Emoji", "Unifont"),
)
_SVG = "http://www.w3.org/2000/svg"
_PIXELS_PER_INCH = 96
_LONGEST_SIDE = 32_767  # of an image in cairo
_MOST_PIXELS = 250_000_000  # that is 1 GB of memory


def to_png(svg: str, dpi: int) -> bytes:
    """An SVG document as PNG, in its size on paper at this resolution."""
    cairosvg = _cairosvg()
    root = ElementTree.fromstring(svg)
    scale = dpi / _PIXELS_PER_INCH
    width, height = (round(float(root.get(side, "0")) * scale) for side in ("width", "height"))
    if max(width, height) > _LONGEST_SIDE or width * height > _MOST_PIXELS:
        raise DiscoparseError(
            f"the picture would have {width:,} × {height:,} pixels: cut it into panels with --width, or draw fewer "
            "sentences, or with a smaller --dpi or --scale, or as SVG or PDF"
        )
    png: bytes = cairosvg.svg2png(bytestring=_with_fonts(root), scale=scale)
    return png


def to_pdf(pages: Sequence[str]) -> bytes:
    """SVG documents as the pages of a PDF."""
    cairosvg = _cairosvg()
    made = [cairosvg.svg2pdf(bytestring=_with_fonts(ElementTree.fromstring(svg))) for svg in pages]
    if len(made) == 1:
        return bytes(made[0])
    pypdf = _module("pypdf")
    writer = pypdf.PdfWriter()
    for page in made:
        writer.append(io.BytesIO(page))
    stream = io.BytesIO()
    writer.write(stream)
    return stream.getvalue()


def _cairosvg() -> ModuleType:
    return _module("cairosvg")


def _module(name: str) -> ModuleType:
    """A package of the extra `pictures`."""
    try:
        return __import__(name)
    except ImportError:
        raise DiscoparseError(f"PNG and PDF need {name}: pip install 'discoparse[pictures]'") from None
    except OSError:  # the Python package is there, the C library is not
        raise DiscoparseError(
            "PNG and PDF need the cairo library: install it with the system's package manager "
            "(apt install libcairo2, brew install cairo), or draw SVG"
        ) from None


def _with_fonts(root: ElementTree.Element) -> bytes:
    """The document with another font for each text that has characters which its font lacks.

    CairoSVG takes the first font of a list, whatever it has.
    """
    usual = root.get("font-family", "").split(",")[0].strip(" '")
    for text in root.iter(f"{{{_SVG}}}text"):
        if text.text and not _covers(usual, text.text):
            found = next((font for font in _FALLBACKS if _covers(font, text.text)), usual)
            text.set("font-family", found)
    ElementTree.register_namespace("", _SVG)
    return ElementTree.tostring(root)


def _covers(font: str, text: str) -> bool:
    """Whether a font has glyphs for all characters of a text."""
    return 0 not in (glyph[0] for glyph in _scaled(font).text_to_glyphs(0, 0, text, with_clusters=False))


@lru_cache(maxsize=64)
def _scaled(font: str) -> Any:
    cairo = _module("cairocffi")
    return cairo.ScaledFont(cairo.ToyFontFace(font), cairo.Matrix(16, 0, 0, 16, 0, 0))
