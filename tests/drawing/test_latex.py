"""LaTeX: sources read back, and compiled where a TeX is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from strategies import trees

from discoparse.drawing import draw_forest, draw_tikz
from discoparse.drawing.latex import document, escape
from discoparse.drawing.options import Options
from discoparse.drawing.pages import caption_of, draw_pages
from discoparse.errors import DiscoparseError, UsageError
from discoparse.transform import binarize
from discoparse.tree import Node, Token, Tree
from discoparse.treebank import read_trees
from discoparse.treebank.discbracket import parse_tree

AWKWARD = r"(S (NP (N 0=日本) (X 1=😀)) (VP (V 2=Ждун) (A 3=naïve) (G 4=γλῶσσα) (E 5=e$m_p^h%a&s#i{s}~\ð,[=]'`?!<>|-)))"


def continuous(tree: Tree) -> Tree:
    """A tree of the same shape without gaps: tokens are numbered in the order of the leaves."""
    order: list[int] = []
    stack: list[Node | int] = [tree.root]
    while stack:
        item = stack.pop()
        if isinstance(item, int):
            order.append(item)
        else:
            stack.extend(reversed(item.children))
    numbers = {old: new for new, old in enumerate(order)}
    copy = tree.copy()
    for node in copy.preorder():
        node.children = [numbers[c] if isinstance(c, int) else c for c in node.children]
    copy.tokens = [tree.tokens[i] for i in order]
    return copy


def read_back(source: str) -> Tree:
    """The tree in a forest environment, whose labels and words hold nothing that is escaped."""
    tokens: list[Token] = []
    stack: list[Node] = [Node("", [])]
    body = source.split("{tier=word}{}")[1].split(r"\end{forest}")[0]
    for sign, label in re.findall(r"(\[)\s*([^\[\]\s]*)|\]", body):
        if sign:
            stack.append(Node(label.strip("{}"), []))
            continue
        node = stack.pop()
        if not node.children:  # a word; what it stands in is its tag
            tokens.append(Token(node.label, ""))
            stack[-1].children.append(len(tokens) - 1)
        elif isinstance(node.children[0], int) and tokens[node.children[0]].tag == "" and len(node.children) == 1:
            tokens[node.children[0]].tag = node.label
            stack[-1].children.append(node.children[0])
        else:
            stack[-1].children.append(node)
    (root,) = stack[0].children
    assert isinstance(root, Node)
    return Tree(tokens, root)


@settings(max_examples=150, deadline=None)
@given(trees(max_tokens=7))
def test_forest_has_the_tree(tree: Tree) -> None:
    tree = continuous(tree)
    for i, token in enumerate(tree.tokens):
        token.word, token.tag = f"w{i}", "T"
    assert str(read_back(draw_forest(tree))) == str(tree)


def test_forest_names_the_node_that_it_cannot_draw() -> None:
    tree = parse_tree("(S (VP (WP 0=what) (VB 3=do)) (MD 1=must) (PRP 2=we))")
    with pytest.raises(DiscoparseError, match=r"VP over 'what … do' is discontinuous.*--to tikz"):
        draw_forest(tree)
    with pytest.raises(DiscoparseError, match="sentence 7: VP over"):
        list(draw_pages([(7, tree, None)], "forest", Options()))
    assert "[WP [what]]" in draw_forest(parse_tree("(S (WP 0=what) ($, 1=,) (VP (MD 2=must)))"))
    with pytest.raises(UsageError, match="compare with --to tikz"):
        list(draw_pages([(1, tree, tree)], "forest", Options()))


def test_forest_shows_what_is_asked_for() -> None:
    tree = parse_tree("(ROOT (S (NP (N 0=kennar$) (D 1=$inn)) (V 2=sá) (NP (N 3=hest$) (D 4=$inn))) (. 5=.))")
    tree.root.children[0].children[0].edge = "SB"
    lines = draw_forest(
        tree,
        hide=["root", "punct"],
        surface=True,
        roof=["NP"],
        functions=True,
        gloss=["a", "the", "saw", "b", "the", "."],
    )
    assert "[S" in lines
    assert r"[NP, edge label={node[midway, fill=white, inner sep=1pt, font=\scriptsize\itshape]{SB}} [" in lines
    assert r"[{kennarinn\\{\small a{-}the}}, align=center, roof]]" in lines
    assert r"[V [{sá\\{\small saw}}, align=center]]" in lines
    split = draw_forest(tree, surface=True, hide=["root"])
    assert "[N [{kennar{-}}]]" in split
    assert "[D [{{-}inn}]]" in split
    assert "[, phantom" in split
    assert draw_forest(tree, scale=0.5).startswith(r"\scalebox{0.5000}{%")


def test_a_document_says_what_it_needs() -> None:
    plain = document([draw_tikz(parse_tree("(S (N 0=é) (V 1=þ))"))])
    assert plain.splitlines()[:2] == [
        "% Compile with pdflatex or lualatex.",
        "% Needs the LaTeX packages standalone, tikz (pgf), iftex, fontspec.",
    ]
    assert "showcode" not in plain
    exotic = document([draw_tikz(parse_tree("(S (N 0=Ж) (V 1=😀))"))])
    assert exotic.startswith("% Compile with lualatex; pdflatex shows the codes of characters that it lacks.\n")
    assert r"\showcode{😀}{1F600}" in exotic
    assert r"\addfallback{Noto Color Emoji}" in exotic
    quoted = document([draw_tikz(parse_tree("(S (N 0=„ħ“))"))])
    assert r"\showcode{ħ}{0127}" in quoted
    assert "fallback" not in quoted
    assert "forest" in document(["x"], "forest", "[linguistics]").splitlines()[1]


def test_accents_join_their_letters() -> None:
    assert escape("e\u0301") == "é"


# -- compiled ---------------------------------------------------------------------------------------


def compile_document(engine: str, source: str, folder: Path) -> None:
    if shutil.which(engine) is None:
        pytest.skip(f"{engine} is not installed")
    for package in ("standalone.cls", "tikz.sty", "forest.sty"):
        if subprocess.run(["kpsewhich", package], capture_output=True, check=False).returncode:
            pytest.skip(f"the LaTeX package {package} is not installed")
    (folder / "a.tex").write_text(source, encoding="utf-8")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "a.tex"]
    run = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=300)
    log = (folder / "a.log").read_text(encoding="utf-8", errors="replace")
    assert run.returncode == 0, log[-3000:]
    assert "Missing character" not in log


@pytest.mark.parametrize("format", ["tikz", "forest"])
def test_pdflatex_survives_every_character(tmp_path: Path, format: str) -> None:
    options = Options(standalone=True, functions=True)
    source = "".join(draw_pages([(1, parse_tree(AWKWARD), None)], format, options, caption_of))
    compile_document("pdflatex", source, tmp_path)


def test_lualatex_prints_latin_text(tmp_path: Path) -> None:
    tree = parse_tree(r"(S (NP (N 0=það) (X 1=„Straße“)) (VP (E 2=e$m_p^h%a&s#i{s}~\ð,[=]'`?!<>|-)))")
    options = Options(standalone=True)
    source = "".join(draw_pages([(1, tree, None)], "tikz", options, caption_of))
    compile_document("lualatex", source, tmp_path)


def test_real_trees_with_all_options_are_compiled(shared: Path, tmp_path: Path) -> None:
    found = read_trees(shared / "data" / "nl_alpino" / "dev.discbracket.gz")
    trees_of_file = list(islice((tree for tree in found if tree.is_discontinuous), 6))
    pictures = [
        draw_tikz(tree, compare=binarize(tree) if k == 5 else None, **options)
        for k, (tree, options) in enumerate(
            zip(
                trees_of_file,
                (
                    {"style": "slanted"},
                    {"roof": ["NP", "PP"], "hide": ["root", "punct"]},
                    {"width": 240, "style": "slanted"},
                    {"gloss": trees_of_file[3].words, "scale": 0.8},
                    {"width": 240, "surface": True},
                    {},
                ),
                strict=True,
            )
        )
    ]
    compile_document("pdflatex", document(pictures), tmp_path)
