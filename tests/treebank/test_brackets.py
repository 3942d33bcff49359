"""Brackets as other programs and treebanks have them: what stands beside trees, and trees that share lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from treebank_files import problems, read

from discoparse.errors import TreebankError
from discoparse.tree import Node, Token, Tree
from discoparse.treebank import write_trees

SOUND = "(S (NP (DT the) (NN cat)) (VP (VBZ runs)))"


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("(S (DT the) word (NN dog))", "the word 'word' must stand alone"),
        ("(S (NN two words) (NN dog))", "the word 'two' must stand alone"),
        ("(S (NP (NN dog) cat))", "the word 'cat' must stand alone"),
        ("(ROOT (ID 1) (ID 2) (NN dog))", "the sentence has two ids, 1 and 2"),
        ("(S ( dog) (NN cat))", "the word 'dog' has no part-of-speech tag"),
        ("(S (NP (NN dog) (NP)))", "the phrase NP has no words"),
    ],
)
@pytest.mark.parametrize("between", [" ", "\n"])
def test_the_trees_beside_a_broken_one_are_read(tmp_path: Path, broken: str, message: str, between: str) -> None:
    """Also where all of them stand on one line; of several problems each has its line."""
    text = between.join([SOUND, broken, SOUND, SOUND, broken, SOUND]) + "\n"
    trees, found, report = problems(tmp_path, text, "bracket", on_error="skip")
    assert [tree.words for tree in trees] == [["the", "cat", "runs"]] * 4
    assert [message in str(problem) for problem in found] == [True, True]
    assert [problem.line for problem in found] == ([2, 5] if between == "\n" else [1, 1])
    assert report.skipped == 2


def test_lines_are_counted_behind_a_broken_tree(tmp_path: Path) -> None:
    """In a block of trees that begins with one that is spread over lines."""
    spread = "(S\n (DT the)\n word\n (NN dog)) (S\n (NN cow)\n two) (S (NN ox))\n"
    trees, found, _ = problems(tmp_path, SOUND + "\n" + spread, "bracket", on_error="skip")
    assert [tree.words for tree in trees] == [["the", "cat", "runs"], ["ox"]]
    assert [problem.line for problem in found] == [4, 7]


@pytest.mark.parametrize("text", ["{} garbage {}", "garbage {}\n{}", "{}x{}", "{}) {}", "{}\nof no tree\n{}"])
def test_text_outside_of_trees_is_a_problem_of_its_own(tmp_path: Path, text: str) -> None:
    """The trees on both sides are kept, and none counts as left out."""
    trees, found, report = problems(tmp_path, text.format(SOUND, SOUND), "bracket", on_error="skip")
    assert len(trees) == 2
    assert ["is outside of any tree" in str(problem) for problem in found] == [True]
    assert report.skipped == 0
    with pytest.raises(TreebankError, match="outside of any tree"):
        read(tmp_path, text.format(SOUND, SOUND), "bracket")


def test_text_outside_of_trees_is_none_of_them(tmp_path: Path) -> None:
    """Where all trees follow a blank line, one that does not close still ends at the next."""
    inner = "(S (NP (N a))\n(V runs))\nof no tree\n\n"
    cut, sound = "(UTT (NP (N two))\n\n", "(FRAG (NP (N a))\n(V runs))\n\n"
    trees, found, _ = problems(tmp_path, inner + cut + sound * 3, "bracket", on_error="skip")
    assert [tree.root.label for tree in trees] == ["S"] + ["FRAG"] * 3
    assert [problem.line for problem in found] == [3, 5]


def test_tree_behind_markup(tmp_path: Path) -> None:
    """And within it, on one line."""
    for text, places in ((f"<S> {SOUND}\n", [1]), (f"<S> {SOUND} </S>\n", [1, 1])):
        trees, found, _ = problems(tmp_path, text, "bracket", on_error="skip")
        assert (len(trees), [problem.line for problem in found]) == (1, places)


@pytest.mark.parametrize(
    "line",
    [
        "# sentence 1",
        "//v2 (corrected)",
        "*x*x*x*",
        "<S ID=5>",
        "</S>",
        "<DOC>",
        "(TOP END_OF_TEXT_UNIT)",
        "( END_OF_TEXT_UNIT )",
        "/* a */",
    ],
)
@pytest.mark.parametrize("cut", [False, True])
def test_lines_between_trees_that_are_no_trees(tmp_path: Path, line: str, cut: bool) -> None:
    """They are told of as not read, and belong to no tree, not even to one that does not close."""
    first = SOUND[:-1] if cut else SOUND
    text = f"{line}\n{SOUND}\n{line}\n\n{first}\n{line}\n{SOUND}\n{line}\n"
    trees, found, report = problems(tmp_path, text, "bracket", on_error="skip")
    assert [tree.words for tree in trees] == [["the", "cat", "runs"]] * (2 if cut else 3)
    assert [problem.line for problem in found] == ([5] if cut else [])
    assert report.unread["bracket"]["lines of comment"] == (3 if cut else 4)


def test_markup_within_a_tree_is_words(tmp_path: Path) -> None:
    (tree,) = read(tmp_path, "(S (NN <b>)\n(SYM <i>) (NN c))\n<S>\n", "bracket")
    assert tree.words == ["<b>", "<i>", "c"]


@pytest.mark.parametrize("outer", ["", "ROOT", "TOP"])
def test_where_a_text_is_from_is_not_part_of_the_tree(tmp_path: Path, outer: str) -> None:
    """The node METADATA of the Penn-Helsinki family, with or without a tree beside it."""
    about = "(METADATA (AUTHOR A) (LETTER (DATE 1480) (TO B)))"
    text = f"({outer} {about} {SOUND} (ID letters,1.1))\n({outer} {about} (ID letters,1.2))\n"
    trees, found, report = problems(tmp_path, text, "bracket", on_error="skip")
    assert [(tree.id, tree.words) for tree in trees] == [("letters,1.1", ["the", "cat", "runs"])]
    assert found == []
    assert report.unread["bracket"]["entries of METADATA"] == 6
    deeper = read(tmp_path, f"(S {about} (NN cat))\n", "bracket")
    assert deeper[0].words == ["A", "1480", "B", "cat"]  # a label like any other elsewhere


def test_phrase_without_letters_may_be_a_word_without_its_tag(tmp_path: Path) -> None:
    """It is not repaired: with --on-error repair a word would be lost."""
    text = "(S (NP (DT the) (,)) (NN dog))\n(S (NP (DT the) (NP)) (NN dog))\n(S (NP (IN about) (1,480)) (NN dogs))\n"
    trees, found, _ = problems(tmp_path, text, "bracket", on_error="repair")
    assert [tree.words for tree in trees] == [["the", "dog"]]
    assert "(,) has no word: it may be one that has lost its tag" in str(found[0])
    assert "(1,480) has no word: it may be one that has lost its tag" in str(found[2])
    assert [problem.line for problem in found] == [1, 2, 3]


@pytest.mark.parametrize("label", ["ROOT", "TOP", "S1", "VROOT"])
def test_ids_are_read_and_written_beside_any_root(tmp_path: Path, label: str) -> None:
    outer = "" if label == "ROOT" else label
    text = f"({outer} (S (DT the) (NN cat)) (ID x.1))\n"
    (tree,) = read(tmp_path, text, "bracket")
    assert (tree.id, tree.words, tree.root.label) == ("x.1", ["the", "cat"], label)
    write_trees([tree], tmp_path / "out.mrg", "bracket")
    assert (tmp_path / "out.mrg").read_text() == text


@pytest.mark.parametrize(
    ("child", "message"),
    [(Node("METADATA", [0]), "a phrase METADATA under TOP"), (0, "a word tagged ID under TOP")],
)
def test_what_would_not_be_read_again_is_not_written(tmp_path: Path, child: Node | int, message: str) -> None:
    tree = Tree([Token("one", "ID"), Token("two", "NN")], Node("TOP", [child, 1]))
    with pytest.raises(TreebankError, match=message):
        write_trees([tree], tmp_path / "out.mrg", "bracket")
