"""PNG and PDF: made by the extra `pictures`, or refused with a word on what is missing."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import discoparse
from discoparse.cli import cli
from discoparse.drawing import raster
from discoparse.errors import DiscoparseError
from discoparse.treebank.discbracket import parse_tree

EXAMPLES = Path(discoparse.__file__).parent / "examples" / "sentences.discbracket"


def draw(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["draw", str(EXAMPLES), *map(str, arguments)])


@pytest.fixture
def _cairo() -> None:
    pytest.importorskip("pypdf", reason="the extra `pictures` is not installed")
    try:
        pytest.importorskip("cairosvg", reason="the extra `pictures` is not installed")
    except OSError:
        pytest.skip("the cairo library is not installed")


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", png[16:24])


@pytest.mark.usefixtures("_cairo")
def test_png_has_the_size_of_the_svg_in_print(tmp_path: Path) -> None:
    svg = draw("--sentence", 1, "--to", "svg").output
    width = float(svg.split('width="')[1].split('"')[0])
    for arguments, factor in (((), 300 / 96), (("--dpi", 96), 1), (("--dpi", 96, "--scale", 2), 2)):
        assert draw("--sentence", 1, "-o", tmp_path / "a.png", *arguments).exit_code == 0
        assert size_of((tmp_path / "a.png").read_bytes())[0] == pytest.approx(width * factor, abs=1)


@pytest.mark.usefixtures("_cairo")
def test_something_is_painted(tmp_path: Path) -> None:
    """A size that CairoSVG does not understand would leave an empty picture."""
    import cairocffi

    assert draw("--sentence", 1, "-o", tmp_path / "a.png", "--dpi", 96).exit_code == 0
    image = cairocffi.ImageSurface.create_from_png(str(tmp_path / "a.png"))
    pixels = bytes(image.get_data())
    assert len({pixels[k : k + 4] for k in range(0, len(pixels), 4)}) > 20


@pytest.mark.usefixtures("_cairo")
def test_a_pdf_has_a_page_for_each_sentence(tmp_path: Path) -> None:
    import pypdf

    assert draw("-o", tmp_path / "all.pdf").exit_code == 0
    assert len(pypdf.PdfReader(tmp_path / "all.pdf").pages) == 7
    assert draw("-o", f"{tmp_path}/pages/", "--to", "pdf", "--sentences", "2-3").exit_code == 0
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == ["2.pdf", "3.pdf"]
    page = pypdf.PdfReader(tmp_path / "pages" / "2.pdf").pages[0]
    assert "yesterday" in page.extract_text()


@pytest.mark.usefixtures("_cairo")
def test_words_that_a_font_lacks_get_another_font() -> None:
    svg = discoparse.drawing.draw_svg(parse_tree("(S (N 0=plain) (V 1=\U0010fffd))"))
    root = raster.ElementTree.fromstring(svg)
    changed = raster._with_fonts(root).decode("ascii")
    assert changed.count("font-family") == 2  # of the whole, and of the word for which no font may be found
    assert "plain</text>" in changed


@pytest.mark.usefixtures("_cairo")
def test_a_picture_that_is_too_large_is_refused() -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="20000" height="100" font-family="Arial"/>'
    with pytest.raises(DiscoparseError, match=r"62,500 × 312 pixels: cut it into panels with --width"):
        raster.to_png(svg, 300)


@pytest.mark.parametrize("name", ["a.png", "a.pdf"])
def test_without_the_extra_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    result = draw("-o", tmp_path / name)
    assert isinstance(result.exception, DiscoparseError)
    assert "PNG and PDF need cairosvg: pip install 'discoparse[pictures]'" in str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_without_the_library_the_message_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cairosvg.py").write_text("raise OSError('no library called \"cairo-2\" was found')")
    monkeypatch.delitem(sys.modules, "cairosvg", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(DiscoparseError, match="need the cairo library: install it"):
        raster.to_pdf(["<svg/>"])
