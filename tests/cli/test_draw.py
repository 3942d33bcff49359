"""`discoparse draw` from end to end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import click
import pytest
from click.testing import CliRunner, Result

import discoparse
from discoparse.cli import cli
from discoparse.cli.drawing_options import DrawingOptions, PictureKind, drawing_options
from discoparse.drawing.options import Options
from discoparse.drawing.pages import write_pictures
from discoparse.drawing.selection import Selection
from discoparse.errors import DiscoparseError, UsageError
from discoparse.tree import Tree
from discoparse.treebank import read_trees
from discoparse.treebank.discbracket import parse_tree

EXAMPLES = Path(discoparse.__file__).parent / "examples" / "sentences.discbracket"


def draw(*arguments: object, **environment: str) -> Result:
    return CliRunner().invoke(cli, ["draw", *map(str, arguments)], env=environment)


def test_the_examples_that_the_project_ships_are_drawn() -> None:
    result = draw(EXAMPLES)
    assert result.exit_code == 0
    for tree in read_trees(EXAMPLES):
        assert tree.is_discontinuous
        for word in tree.words:
            assert word in result.output


def test_the_figure_of_the_paper() -> None:
    """Coavoux and Cohen (2019), Figure 1, with the constituents of their Table 2."""
    tree = next(iter(read_trees(EXAMPLES)))
    yields = {label + " " + " ".join(tree.words[i] for i in sorted(s)) for label, s in tree.constituents()}
    assert yields == {
        "SBARQ So what 's a parent to do ?",
        "SQ what 's a parent to do",
        "VP what to do",
        "VP what do",
        "WHNP what",
        "NP a parent",
    }
    result = draw(EXAMPLES, "--sentence", 1)
    assert "So  what   's  a   parent  to  do  ?" in result.output


def test_ranges_choose_sentences() -> None:
    result = draw(EXAMPLES, "--sentences", "2-3,5")
    captions = [line for line in result.output.splitlines() if line.isdigit()]
    assert captions == ["2", "3", "5"]
    assert "2" not in draw(EXAMPLES, "--sentence", 2).output.split()


@pytest.mark.parametrize("text", ["0", "5-2", "a", "1,,2", "-3", ""])
def test_impossible_ranges_are_wrong_use(text: str) -> None:
    with pytest.raises(UsageError):
        Selection.parse(text)


def test_reading_stops_after_the_last_wanted_sentence() -> None:
    """A stream may be endless, or broken further on."""
    read = []

    def endless() -> Iterator[Tree]:
        while True:
            read.append(1)
            yield parse_tree("(S (X 0=a))")

    picked = list(Selection.parse("2,4").pick(endless(), endless()))
    assert [number for number, _, _ in picked] == [2, 4]
    assert len(read) == 8


def test_sentences_that_do_not_exist_are_an_error() -> None:
    with pytest.raises(DiscoparseError, match="no sentence 9: the treebank has 7"):
        list(Selection.parse("1,9").pick(read_trees(EXAMPLES), None))


def test_a_shorter_second_file_is_an_error(tmp_path: Path) -> None:
    short = tmp_path / "short.discbracket"
    short.write_text("".join(EXAMPLES.read_text(encoding="utf-8").splitlines(True)[:2]), encoding="utf-8")
    result = draw(EXAMPLES, short)
    assert isinstance(result.exception, DiscoparseError)
    assert "second file ends before sentence 3" in str(result.exception)
    assert draw(EXAMPLES, short, "--sentences", "1-2").exit_code == 0


def test_gold_against_predicted(tmp_path: Path) -> None:
    predicted = tmp_path / "predicted.discbracket"
    text = EXAMPLES.read_text(encoding="utf-8").replace("WHNP", "NP").replace("(VBZ 2='s)", "(NP (VBZ 2='s))")
    predicted.write_text(text, encoding="utf-8")
    result = draw(EXAMPLES, predicted, "--sentence", 1)
    assert "≠WHNP" in result.output
    assert "+NP" in result.output
    assert "+ spurious: 1 · ≠ different: 1" in result.output
    svg = draw(EXAMPLES, predicted, "--sentence", 1, "--to", "svg").output
    assert {"gold", "predicted", "≠WHNP", "+NP"} <= {e.text for e in ElementTree.fromstring(svg).iter()}


def test_different_sentences_are_named_by_their_number(tmp_path: Path) -> None:
    other = tmp_path / "other.discbracket"
    other.write_text("(S (X 0=a))\n", encoding="utf-8")
    result = draw(EXAMPLES, other, "--sentence", 1)
    assert "sentence 1: the two trees cannot be compared" in str(result.exception)


@pytest.mark.parametrize(("name", "start"), [("a.svg", "<svg "), ("a.tex", "% 1: "), ("a.txt", "1\n")])
def test_the_name_of_the_output_tells_the_format(tmp_path: Path, name: str, start: str) -> None:
    assert draw(EXAMPLES, "-o", tmp_path / name).exit_code == 0
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


def test_several_sentences_in_one_svg_or_in_a_file_each(tmp_path: Path) -> None:
    page = ElementTree.fromstring(draw(EXAMPLES, "--to", "svg", "--sentences", "1-3").output)
    single = [ElementTree.fromstring(draw(EXAMPLES, "--to", "svg", "--sentence", k).output) for k in (1, 2, 3)]
    heights = [float(svg.get("viewBox", "").split()[3]) for svg in single]
    assert float(page.get("viewBox", "").split()[3]) > sum(heights)
    assert draw(EXAMPLES, "--to", "svg", "-o", f"{tmp_path}/pictures/").exit_code == 0
    assert sorted(p.name for p in (tmp_path / "pictures").iterdir()) == [f"{k}.svg" for k in range(1, 8)]
    assert draw(EXAMPLES, "-o", f"{tmp_path}/text/", "--to", "tree").exit_code == 0
    alone = draw(EXAMPLES, "--sentence", 3).output  # a picture that its file tells the number of has none above it
    assert (tmp_path / "text" / "3.txt").read_text().strip("\n") == alone.strip("\n")


def test_what_is_wider_goes_on_in_panels() -> None:
    assert max(map(len, draw(EXAMPLES, "--width", 40).output.splitlines())) <= 40
    assert max(map(len, draw(EXAMPLES, COLUMNS="50").output.splitlines())) <= 50
    assert max(map(len, draw(EXAMPLES, "--width", 0, COLUMNS="30").output.splitlines())) > 50
    wide = ElementTree.fromstring(draw(EXAMPLES, "--to", "svg", "--sentence", 4).output)
    narrow = ElementTree.fromstring(draw(EXAMPLES, "--to", "svg", "--sentence", 4, "--width", 300).output)
    assert float(narrow.get("width", "")) <= 300 < float(wide.get("width", ""))
    assert float(narrow.get("height", "")) > float(wide.get("height", ""))
    half = draw(EXAMPLES, "--to", "svg", "--sentence", 4, "--width", 150, "--scale", 0.5).output
    assert ElementTree.fromstring(half).get("viewBox") == narrow.get("viewBox")


def test_standalone_is_a_latex_document() -> None:
    source = draw(EXAMPLES, "--to", "tikz", "--standalone").output
    assert source.splitlines()[:3] == [
        "% Compile with pdflatex or lualatex.",
        "% Needs the LaTeX packages standalone, tikz (pgf), iftex, fontspec.",
        r"\documentclass[tikz, border=4pt]{standalone}",
    ]
    assert source.count(r"\begin{tikzpicture}") == source.count(r"\end{tikzpicture}") == 7
    assert source.rstrip().endswith(r"\end{document}")
    assert isinstance(draw(EXAMPLES, "--standalone").exception, UsageError)


def test_colours_are_left_out_unless_asked_for() -> None:
    assert "\x1b" not in draw(EXAMPLES).output
    result = CliRunner().invoke(cli, ["draw", str(EXAMPLES), "--color"], color=True)
    assert "\x1b[0;36m" in result.output


def test_other_formats_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.mrg"
    path.write_text("( (S (NP (NN dogs)) (VP (VBP bark))) )\n", encoding="utf-8")
    result = draw(path, "--from", "bracket")
    assert result.exit_code == 0
    assert "dogs" in result.output


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["draw", "no-such-file"], 1, "no-such-file"),
        (["draw"], 2, "Missing argument"),
        (["draw", "-", "-"], 2, "only one"),
        (["draw", "-", "--gloss", "-"], 2, "only one"),
        (["draw", str(EXAMPLES), "--sentence", "1", "--sentences", "2"], 2, "not both"),
        (["draw", str(EXAMPLES), "--sentences", "x"], 2, "not a sentence number or range"),
        (["draw", str(EXAMPLES), "--sentence", "99"], 2, "there is no sentence 99"),
        (["draw", str(EXAMPLES), "-o", "tree.doc"], 2, "endings are .txt, .svg, .tex, .png, .pdf"),
        (["draw", str(EXAMPLES), "-o", "no/such/folder.svg"], 2, "make it first"),
    ],
)
def test_mistakes_are_told_without_a_traceback(arguments: list[str], status: int, message: str) -> None:
    command = [sys.executable, "-c", "from discoparse.cli import main; main()", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, input="", check=False)
    assert result.returncode == status
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_drawing_does_not_wait_for_pytorch() -> None:
    code = (
        "import sys; from discoparse.cli import cli; "
        f"cli(['draw', {str(EXAMPLES)!r}, '--sentence', '1'], standalone_mode=False); "
        "assert 'torch' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_standard_input_is_drawn() -> None:
    result = CliRunner().invoke(cli, ["draw", "-", "--from", "discbracket"], input="(S (X 0=hello) (Y 1=you))\n")
    assert result.exit_code == 0
    assert "hello  you" in result.output


def test_an_empty_file_has_nothing_to_draw(tmp_path: Path) -> None:
    empty = tmp_path / "empty.discbracket"
    empty.write_text("", encoding="utf-8")
    for kind in ("text", "svg", "tikz"):
        result = draw(empty, "--to", kind)
        assert result.output == ""
        assert isinstance(result.exception, DiscoparseError)


def test_tree_is_the_name_of_text_and_text_an_alias() -> None:
    assert draw(EXAMPLES, "--to", "tree").output == draw(EXAMPLES, "--to", "text").output == draw(EXAMPLES).output


@click.command()
@click.option("--to", type=PictureKind(("discbracket",)))
@drawing_options
def other_command(to: str, drawing: DrawingOptions) -> None:
    """Some command that can draw, and more."""
    click.echo(drawing.for_output(to, "-"))


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["--to", "tree", "--style", "slanted", "--no-tags"], {"style": "slanted", "tags": False, "width": 33}),
        (["--to", "tree", "--width", "0", "--color"], {"width": None, "color": True}),
        (["--to", "svg", "--functions"], {"width": None, "color": False, "functions": True}),
        (["--to", "discbracket"], {"tags": True}),
    ],
)
def test_the_options_are_there_for_other_commands(arguments: list[str], found: dict[str, object]) -> None:
    result = CliRunner().invoke(other_command, arguments, env={"COLUMNS": "33"}, catch_exceptions=False)
    options = eval(result.output, {"Options": Options})
    assert {name: getattr(options, name) for name in found} == found


def test_options_of_pictures_are_refused_where_nothing_is_drawn() -> None:
    result = CliRunner().invoke(other_command, ["--to", "discbracket", "--no-tags"])
    assert isinstance(result.exception, UsageError)
    assert "--tags is for pictures (tree, svg, " in str(result.exception)


PAPER = "(S (NP (N 0=kennar$) (D 1=$inn)) (VP (V 2=sá) (NP (N 3=hest$) (D 4=$inn))) (. 5=.))"


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    path = tmp_path / "paper.discbracket"
    path.write_text(f"(ROOT {PAPER})\n{PAPER.replace('sá', 'sér')}\n", encoding="utf-8")
    return path


def test_the_options_for_papers_reach_the_picture(paper: Path) -> None:
    result = draw(paper, "--sentence", 1, "--roof", "NP", "--hide", "root,punct", "--surface")
    assert result.output.splitlines() == [
        "         S",
        "    ┌────┴────┐",
        "    │         VP",
        "    │      ┌──┴───┐",
        "    NP     │      NP",
        "    │      │      │",
        "╱───┴───╲  V   ╱──┴──╲",
        "kennarinn  sá  hestinn",
    ]


def test_a_subtree_is_chosen_on_the_command_line(paper: Path) -> None:
    assert draw(paper, "--sentence", 1, "--subtree", "NP:2").output == "     NP\n  ┌──┴──┐\n  N     D\nhest$  $inn\n"
    missing = draw(paper, "--subtree", "XP")
    assert "sentence 1: there is no subtree XP" in str(missing.exception)


def test_glosses_from_a_file_belong_to_the_sentences_that_are_drawn(paper: Path, tmp_path: Path) -> None:
    glosses = tmp_path / "glosses.txt"
    glosses.write_text("teacher the sees horse the .\n", encoding="utf-8")
    result = draw(paper, "--sentence", 2, "--gloss", glosses)
    assert result.output.splitlines()[-1].split() == ["teacher", "the", "sees", "horse", "the", "."]
    assert "no line of glosses for sentence 2" in str(draw(paper, "--gloss", glosses).exception)
    glosses.write_text("the teacher\tsaw\tthe horse\n", encoding="utf-8")
    assert "sentence 1: there are 3 glosses for 6 tokens" in str(draw(paper, "--gloss", glosses).exception)
    shown = draw(paper, "--sentence", 1, "--gloss", glosses, "--surface", "--hide", "punct").output
    assert "the teacher" in shown.splitlines()[-1]


def test_glosses_from_the_treebank(tmp_path: Path) -> None:
    path = tmp_path / "a.mrg"
    path.write_text("( (S (N dogs-dog) (V barked-bark)) )\n", encoding="utf-8")
    result = draw(path, "--lemmas", "--gloss-from", "lemma", "--sentence", 1)
    assert [line.split() for line in result.output.splitlines()[-2:]] == [["dogs", "barked"], ["dog", "bark"]]
    assert "sentence 1: no token has 'morph'" in str(draw(path, "--gloss-from", "morph").exception)


def test_forest_is_written_for_hands(paper: Path) -> None:
    source = draw(paper, "--to", "forest", "--sentence", 1, "--standalone").output
    assert r"\usepackage[linguistics]{forest}" in source
    assert "  [ROOT\n    [S\n      [NP\n        [N [{kennar\\$}]]\n" in source
    refused = draw(EXAMPLES, "--to", "forest")
    assert isinstance(refused.exception, DiscoparseError)
    assert "sentence 1: VP over 'what … do' is discontinuous" in str(refused.exception)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "svg", "--standalone"], "--standalone is for --to tikz and forest, not for svg"),
        (["--to", "svg", "--dpi", "100"], "--dpi is for --to png, not for svg"),
        (
            ["--to", "forest", "--width", "100"],
            "tikz and png and pdf, not for forest",
        ),
        (["--scale", "2"], "--scale is for --to svg"),
        (["--gloss", "a", "--gloss-from", "lemma"], "give --gloss or --gloss-from, not both"),
    ],
)
def test_options_that_a_picture_cannot_have_are_wrong_use(arguments: list[str], message: str) -> None:
    result = draw(EXAMPLES, *arguments)
    assert isinstance(result.exception, UsageError)
    assert message in str(result.exception)


def test_options_are_for_the_same_pictures_in_both_messages() -> None:
    """Where a command has other formats, too: `--width` is not for `forest`, whatever else was asked for."""
    result = CliRunner().invoke(cli, ["parse", "--to", "json", "--width", "9", "Go!"])
    assert "--width is for pictures (tree, svg, tikz, png, pdf), not for --to json" in str(result.exception)


def test_a_terminal_gets_no_bytes_of_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: True))
    with pytest.raises(UsageError, match="a terminal cannot show PDF: name a file with -o"):
        write_pictures([(1, parse_tree("(S (X 0=a))"), None)], "pdf", Options(), "-")


def test_the_font_is_that_of_the_picture_and_nothing_else() -> None:
    svg = draw(EXAMPLES, "--to", "svg", "--sentence", 1, "--font", """Linux Libertine" onload='x""").output
    ElementTree.fromstring(svg)
    assert "font-family=\"'Linux Libertine onloadx', Helvetica" in svg
