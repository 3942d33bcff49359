"""Finished pictures: text read back from its characters, SVG from its geometry, TikZ from its source."""

from __future__ import annotations

import re
import tracemalloc
import unicodedata
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import AWKWARD_WORDS, trees

from discoparse.drawing import draw_svg, draw_text, draw_tikz
from discoparse.drawing.compare import compare_trees
from discoparse.errors import DiscoparseError, UsageError
from discoparse.files.widths import cells, visible
from discoparse.tree import Tree
from discoparse.treebank.discbracket import parse_tree

GOLD = "(S (VP (NP (WP 0=what)) (VB 3=do)) (MD 1=must) (PRP 2=we))"
PREDICTED = "(S (WHNP (WP 0=what)) (MD 1=must) (PRP 2=we) (VP (NN 3=do)))"
SVG = "{http://www.w3.org/2000/svg}"
# Any character that a file may hold, hard ones more often.
TEXTS = st.one_of(st.sampled_from(AWKWARD_WORDS), st.text(st.characters(exclude_characters="\r\n"), max_size=6))


def grid(text: str) -> list[list[str]]:
    """Lines as cells: a wide character fills two, a combining mark joins the one before."""
    rows = []
    for line in text.split("\n"):
        row: list[str] = []
        for character in line:
            size = cells(character)
            if size == 0 and row:
                row[-1 if row[-1] else -2] += character
            else:
                row += [character] + [""] * (size - 1)
        rows.append(row)
    return rows


UP = set("│╵┘┤└├┴┼┙┥┕┝┷┿")
DOWN = set("│╷┐┤┌├┬┼┑┥┍┝┯┿")
LEFT = set("─╴┘┐┤┴┬┼━╸┙┑┥┷┯┿")
RIGHT = set("─╶└┌├┴┬┼━╺┕┍┝┷┯┿")
LINES = UP | DOWN | LEFT | RIGHT


def read_back(text: str, words: int) -> set[frozenset[int]]:
    """The yields in a picture of one-letter words and nodes `N` without tags, followed along its lines."""
    rows = grid(text)

    def at(row: int, column: int) -> str:
        return rows[row][column] if 0 <= column < len(rows[row]) else " "

    columns = {c: k for k, c in enumerate(c for c, ch in enumerate(rows[-1]) if ch.strip())}
    assert len(columns) == words
    yields: dict[tuple[int, int], frozenset[int]] = {(len(rows) - 1, c): frozenset([k]) for c, k in columns.items()}

    def down(row: int, column: int) -> tuple[int, int]:
        while at(row, column) in LINES:
            assert at(row, column) in UP, f"an edge ends in the air at {row},{column}"
            row += 1
        assert at(row, column).strip(), "an edge leads to nothing"
        return row, column

    for row in range(len(rows) - 2, -1, -1):
        for column, character in enumerate(rows[row]):
            if character != "N":
                continue
            stem = at(row + 1, column)
            assert stem in UP, "a label without branches"
            children = [down(row + 2, column)] if stem in DOWN else []
            for step, onward, back in ((-1, LEFT, RIGHT), (1, RIGHT, LEFT)):
                here = column
                while at(row + 1, here) in onward or (at(row + 1, here) == "│" and here != column):
                    here += step
                    glyph = at(row + 1, here)
                    assert glyph in back or glyph == "│", "a bar is broken"
                    if glyph in DOWN and glyph != "│":
                        children.append(down(row + 2, here))
            yields[row, column] = frozenset().union(*(yields[child] for child in children))
    return {tokens for (row, _), tokens in yields.items() if row < len(rows) - 1}


@settings(max_examples=300, deadline=None)
@given(trees(max_tokens=9, labels=["N"], words=st.just("w")))
def test_text_shows_the_tree_to_someone_who_follows_the_lines(tree: Tree) -> None:
    tree.root.label = "N"
    text = draw_text(tree, tags=False)
    assert read_back(text, len(tree)) == set(tree.yields().values())
    assert text.count("N") == sum(1 for _ in tree.preorder())


@settings(max_examples=200, deadline=None)
@given(trees(max_tokens=6, words=TEXTS))
def test_words_stand_in_order_under_their_tags(tree: Tree) -> None:
    """Also wide and combining characters: each word is centred under its tag, to within a cell."""
    rows = grid(draw_text(tree))
    words = "".join(rows[-1])
    position = 0
    for token in tree.tokens:
        shown = visible(token.word).strip()
        position = words.index(shown, position) + len(shown)
    assert "".join("".join(rows[-2]).split()) == "".join(token.tag for token in tree.tokens)


@pytest.mark.parametrize("tags", [True, False])
@pytest.mark.parametrize(
    "line", ["(S (X 0=a) (Y 1=\u0301x) (Z 2=b))", "(S (X 0=\u0301) (Y 1=b\u0301) (Z 2=\u093f\u0941))"]
)
def test_words_that_begin_with_combining_marks_are_whole(line: str, tags: bool) -> None:
    tree = parse_tree(line)
    assert draw_text(tree, tags=tags).rstrip("\n").split("\n")[-1].split() == tree.words


def test_wide_and_combining_characters_do_not_shift_what_follows() -> None:
    plain = draw_text(parse_tree("(S (N 0=abcd) (N 1=x) (N 2=e))")).split("\n")
    wide = draw_text(parse_tree("(S (N 0=日本) (N 1=x) (N 2=e\u0301))")).split("\n")
    assert plain[:-1] == wide[:-1]
    assert cells(wide[-1]) == cells(plain[-1])


@settings(max_examples=200, deadline=None)
@given(trees(max_tokens=12, words=st.sampled_from(["a", "word", "sesquipedalian" * 2])), st.integers(30, 60))
def test_the_width_is_respected_and_nothing_is_lost(tree: Tree, width: int) -> None:
    text = draw_text(tree, width=width)
    assert max(cells(line) for line in text.split("\n")) <= width
    for label in {node.label for node in tree.preorder()}:
        shown = len(re.findall(rf"(?<![A-Z]){label}(?![A-Z])", text))
        assert shown >= sum(node.label == label for node in tree.preorder())
    letters = re.sub(r"[^a-z]", "", text)
    assert sorted(letters) == sorted("".join(tree.words)), "pieces of words are missing"


def test_long_words_of_one_panel_leave_no_blank_lines_in_others() -> None:
    tree = parse_tree("(S (A 0=Donaudampfschifffahrtsgesellschaft) (B 1=is) (C 2=a) (D 3=word))")
    assert "\n\n\n" not in draw_text(tree, width=16)


def test_branches_that_are_cut_carry_their_label_in_every_panel() -> None:
    words = " ".join(f"(N {i}=word{i})" for i in range(30))
    panels = draw_text(parse_tree(f"(TOP {words})"), width=40).split("\n\n")
    assert len(panels) > 3
    assert all(panel.count("TOP") == 1 for panel in panels)


def test_panels_are_cut_where_few_branches_are() -> None:
    """Between the phrases, though a cut within the longer one would make more even panels."""
    first, second = (" ".join(f"(N {i}=word{i})" for i in part) for part in (range(4), range(4, 10)))
    panels = draw_text(parse_tree(f"(TOP (AA {first}) (BB {second}))"), width=62).split("\n\n")
    assert [panel.split("\n")[-1].split() for panel in panels] == [
        [f"word{i}" for i in range(4)],
        [f"word{i}" for i in range(4, 10)],
    ]


def test_a_roof_that_is_cut_has_its_label_at_the_margin() -> None:
    """Of a roof in several parts it is the label of the phrase."""
    words = " ".join(f"(N {i}=word{i})" for i in (0, 1, 2, 3, 5, 6, 7, 8))
    tree = parse_tree(f"(TOP (XP {words}) (V 4=v))")
    panels = draw_text(tree, roof=["XP"], gloss=["gloss"] * 9, width=28).split("\n\n")
    assert len(panels) > 2
    assert all("XP" in panel for panel in panels)
    assert any("XP ┄─" in panel for panel in panels)


def test_two_branches_on_one_line_are_both_continued() -> None:
    """One comes from the panel before, the other one goes on in the next panel."""
    left, right = (" ".join(f"(N {i}=word{i})" for i in part) for part in (range(8), range(8, 16)))
    panels = draw_text(parse_tree(f"(TOP (AA {left}) (BB {right}))"), width=50).split("\n\n")
    assert len(panels) == 4
    for panel in panels:
        shown = {"AA": range(8), "BB": range(8, 16)}
        for label, words in shown.items():
            assert (label in panel) == any(f"word{i} " in panel + " " for i in words)


def test_memory_does_not_grow_with_the_area_of_the_picture() -> None:
    """A right-branching tree is as deep as it is wide: a grid of all its cells takes 25 MB for 300 tokens."""
    n = 300
    tree = parse_tree("".join(f"(X (T {i}=w{i}) " for i in range(n - 1)) + f"(T {n - 1}=w{n - 1})" + ")" * (n - 1))
    tracemalloc.start()
    try:
        text = draw_text(tree, width=100)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert text.count("X") >= n - 1
    assert peak < 6e6


def test_an_edge_that_crosses_branches_looks_different_from_a_branch() -> None:
    lines = draw_text(parse_tree(GOLD), tags=False).split("\n")
    (bar,) = [line for line in lines if "━" in line]
    assert bar.count("│") == 2  # the edges to `must` and `we` pass in front
    assert bar.strip()[0] == "┍"
    assert bar.strip()[-1] == "┑"


def test_colours_only_on_request() -> None:
    tree = parse_tree(GOLD)
    plain, coloured = draw_text(tree), draw_text(tree, color=True)
    assert "\x1b" not in plain
    assert "\x1b[0;36mVP\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_nested_discontinuous_nodes_differ_in_colour() -> None:
    tree = parse_tree("(S (A (B (C (X 0=a) (X 4=e)) (X 6=g)) (X 8=i)) (X 1=b) (X 2=c) (X 3=d) (X 5=f) (X 7=h))")
    found = re.findall(r"\x1b\[0;(\d+)m([ABC])\x1b", draw_text(tree, color=True))
    assert sorted(label for _, label in found) == ["A", "B", "C"]
    assert len({code for code, _ in found}) == 3


def test_functions_and_tags_are_shown_as_wanted() -> None:
    tree = parse_tree(GOLD)
    tree.tokens[0].edge, tree.root.children[0].edge = "OBJ", "PRED"
    for draw in (draw_text, draw_svg, draw_tikz):
        assert "OBJ" not in draw(tree)
        shown = draw(tree, functions=True, tags=False)
        assert "OBJ" in shown
        assert "PRED" in shown
        assert "WP" not in shown


def test_roofs_have_one_stem_and_stand_in_the_middle_of_their_words() -> None:
    tree = parse_tree("(S (NP (D 0=a) (N 1=Donaudampfschiff)) (V 2=sank))")
    assert draw_text(tree, roof=["NP"], functions=True).split("\n") == [
        "              S",
        "        ┌─────┴──────┐",
        "        │            │",
        "        NP           │",
        "        │            │",
        "        │            │",
        "╱───────┴────────╲   V",
        "a Donaudampfschiff  sank",
    ]
    one_by_one = draw_text(tree, roof=["NP"], gloss=["1", "2", "3"]).split("\n")
    assert one_by_one[2].index("NP") == 8


def test_edges_reach_labels_that_have_no_function() -> None:
    tree = parse_tree("(S (NP (N 0=dogs)) (VP (V 1=bark)))")
    tree.root.children[0].edge = "SB"
    lines = draw_text(tree, functions=True).split("\n")
    (row,) = [k for k, line in enumerate(lines) if "SB" in line]
    assert lines[row].split() == ["SB", "│"]
    assert lines[row + 1].split() == ["NP", "VP"]


# -- SVG ------------------------------------------------------------------------------------------


def boxes(root: ElementTree.Element) -> list[tuple[float, float, float, float, str]]:
    """Left, top, right, bottom and text of every text, with an average letter of half an em."""
    found = []
    for text in root.iter(f"{SVG}text"):
        size = float(text.get("font-size", "0"))
        width = size * 0.5 * cells(text.text or "")
        x, y = float(text.get("x", "0")), float(text.get("y", "0"))
        found.append((x - width / 2, y - size * 0.75, x + width / 2, y + size * 0.2, text.text or ""))
    return found


@settings(max_examples=150, deadline=None)
@given(trees(max_tokens=8, words=TEXTS), st.sampled_from(["elbow", "slanted"]))
def test_svg_is_well_formed_and_connected(tree: Tree, style: str) -> None:
    root = ElementTree.fromstring(draw_svg(tree, style=style))
    _, _, width, height = map(float, root.get("viewBox", "").split())
    texts = boxes(root)
    expected = [*tree.words, *tree.tags, *(node.label for node in tree.preorder())]
    assert sorted(box[4] for box in texts) == sorted(map(visible, expected))
    for k, a in enumerate(texts):
        assert 0 <= a[0] <= a[2] <= width
        assert 0 <= a[1] <= a[3] <= height
        for b in texts[k + 1 :]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], "two texts overlap"
    edges = [
        [tuple(map(float, point.split())) for point in re.split("[LQ]", edge) if len(point.split()) == 2]
        for path in root.iter(f"{SVG}path")
        if "V" not in path.get("d", "")
        for edge in path.get("d", "").split("M")[1:]
    ]
    nodes = sum(1 for _ in tree.preorder())
    assert len(edges) == nodes - 1 + len(tree), "one edge for every child"
    tops = sorted(round(edge[-1][0], 1) for edge in edges)
    below = sorted(round(float(t.get("x", "0")), 1) for t in root.iter(f"{SVG}text"))
    assert set(tops) <= set(below), "an edge does not end at a label"
    assert all(edge[0][1] < edge[-1][1] for edge in edges), "a child stands above its parent"


def test_svg_holds_no_scripts_and_nothing_from_elsewhere() -> None:
    svg = draw_svg(parse_tree('(S (X 0=<script>alert&lt;1</script>) (Y 1="a" ))'.replace(" ))", "))")))
    tags = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(svg).iter()}
    assert tags <= {"svg", "title", "rect", "g", "path", "text"}
    assert "<script" not in svg
    assert "href" not in svg


def test_svg_scales_and_notebooks_show_it() -> None:
    tree = parse_tree(GOLD)
    plain, small = (ElementTree.fromstring(draw_svg(tree, scale=scale)) for scale in (1, 0.5))
    assert float(small.get("width", "")) == pytest.approx(float(plain.get("width", "")) / 2, abs=0.1)
    assert small.get("viewBox") == plain.get("viewBox")
    assert r"scale=0.5000, transform shape" in draw_tikz(tree, scale=0.5)
    assert tree._repr_svg_() == draw_svg(tree)


def test_highlighting_can_be_switched_off() -> None:
    tree = parse_tree(GOLD)
    assert "#1a5fb4" in draw_svg(tree)
    assert "#1a5fb4" not in draw_svg(tree, highlight=False)
    assert "discoaccent0" in draw_tikz(tree)
    assert "discoaccent0" not in draw_tikz(tree, highlight=False)


def test_an_unknown_style_is_wrong_use() -> None:
    with pytest.raises(UsageError, match="elbow, slanted"):
        draw_svg(parse_tree(GOLD), style="bent")


# -- TikZ -----------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(trees(max_tokens=6, words=TEXTS))
def test_tikz_is_balanced_and_complete(tree: Tree) -> None:
    source = draw_tikz(tree)
    bare = re.sub(r"\\[\\{}$&#%_]", "", source)
    assert bare.count("{") == bare.count("}")
    assert not re.search(r"[&#%~^]", bare.replace("\\textasciitilde", "").replace("\\textasciicircum", ""))
    assert source.count(r"\node") == sum(bool(token.word) + 1 for token in tree.tokens) + len(list(tree.preorder()))
    used = set(re.findall(r"\bdisco\w+", source))
    assert used == set(re.findall(r"\\definecolor\{(disco\w+)\}", source))


# -- comparison -----------------------------------------------------------------------------------


def test_differences_are_marked_in_every_output() -> None:
    gold, predicted = parse_tree(GOLD), parse_tree(PREDICTED)
    assert compare_trees(gold, predicted).counts() == {"missing": 1, "spurious": 1, "different": 2}
    text = draw_text(gold, compare=predicted)
    assert all(label in text for label in ("−VP", "+VP", "≠NP", "≠WHNP", "≠VB", "≠NN"))
    assert "− missing: 1 · + spurious: 1 · ≠ different: 2" in text
    svg = draw_svg(gold, compare=predicted)
    assert all(f">{label}<" in svg for label in ("−VP", "+VP", "≠NP", "≠WHNP", "≠VB", "≠NN", "gold", "predicted"))
    tikz = draw_tikz(gold, compare=predicted)
    assert all(f"{{{label}}}" in tikz for label in ("$-$VP", "+VP", r"$\neq$NP", r"$\neq$WHNP"))


@settings(max_examples=100, deadline=None)
@given(trees(max_tokens=7))
def test_equal_trees_have_no_differences(tree: Tree) -> None:
    twin = tree.copy()
    assert not any(compare_trees(tree, twin).counts().values())
    assert draw_text(tree, compare=twin).endswith("no differences")


def test_unary_chains_are_compared_label_by_label() -> None:
    gold, predicted = parse_tree("(S (A (B (X 0=a))) (X 1=b))"), parse_tree("(S (C (B (D (X 0=a)))) (X 1=b))")
    assert compare_trees(gold, predicted).counts() == {"missing": 0, "spurious": 1, "different": 1}


def test_sentences_of_different_length_cannot_be_compared() -> None:
    with pytest.raises(DiscoparseError, match=r"4 tokens.*the other 1"):
        draw_text(parse_tree(GOLD), compare=parse_tree("(S (X 0=a))"))


def test_control_characters_do_not_reach_a_picture() -> None:
    tree = parse_tree("(S (X 0=a) (X 1=b))")
    tree.tokens[0].word = "a\x1b[31m\x00\ud800\ufffe\n"
    for picture in (draw_text(tree), draw_svg(tree), draw_tikz(tree)):
        assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in picture if c != "\n")
    ElementTree.fromstring(draw_svg(tree))
