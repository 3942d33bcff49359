"""Brackets that do not close: where the damage ends, and what is kept of the trees around it."""

from __future__ import annotations

from pathlib import Path

import pytest
from treebank_files import problems


def test_bracket_that_does_not_close(tmp_path: Path) -> None:
    """The damage ends at the next tree that must begin, with or without an empty outer bracket."""
    for opening, closing in (("( ", ")"), ("", "")):
        sound = f"{opening}(S (NP (DT the) (NN cat)) (VP (VBZ runs))){closing}\n"
        broken = f"{opening}(S (NP (DT the) (NN dog) (VP (VBZ barks)))\n"
        trees, found, _ = problems(tmp_path, sound + broken + sound + sound, "bracket", on_error="skip")
        assert [tree.words for tree in trees] == [["the", "cat", "runs"]] * 3
        assert [problem.line for problem in found] == [2]


LABELS = ["S", "FRAG", "NP", "SBARQ", "X"]


@pytest.mark.parametrize(
    "layout", ["({} (DT the) (NN cat))\n", "({}\n    (DT the)\n    (NN cat))\n\n", "  ({} (NN cat))\n"]
)
@pytest.mark.parametrize("broken", [0, 3, 49, 50])
def test_trees_behind_one_that_does_not_close(tmp_path: Path, layout: str, broken: int) -> None:
    """They are kept wherever it stands and whatever labels they have, and the problem names its line."""
    parts = [layout.format(LABELS[k % 5]) for k in range(51)]
    parts[broken] = "(BAD (NP (DT the) (NN dog))\n".rjust(len(layout) - len(layout.lstrip()) + 28)
    trees, found, report = problems(tmp_path, "".join(parts), "bracket", on_error="skip")
    assert [tree.root.label for tree in trees] == [LABELS[k % 5] for k in range(51) if k != broken]
    assert [problem.line for problem in found] == ["".join(parts[:broken]).count("\n") + 1]
    assert report.skipped == 1


def test_several_trees_that_do_not_close(tmp_path: Path) -> None:
    sound, cut, surplus = "(S (DT the) (NN cat))\n", "(VP (DT the) (NN dog)\n", "(NP (DT the) (NN cow)))\n"
    trees, found, _ = problems(tmp_path, cut + sound * 2 + cut + sound + surplus + sound, "bracket", on_error="skip")
    assert [tree.words[1] for tree in trees] == ["cat"] * 4
    assert [problem.line for problem in found] == [1, 4, 6]


def test_blank_lines_between_trees_tell_where_one_begins(tmp_path: Path) -> None:
    """Also where inner lines look like the first lines of trees, and whatever labels the trees have."""
    inner = "(S (NP (N a))\n(V runs))\n\n"
    cut, sound = "(UTT (NP (N two))\n\n", "(FRAG (NP (N a))\n(V runs))\n\n"
    trees, found, report = problems(tmp_path, inner + cut + sound * 50, "bracket", on_error="skip")
    assert [tree.root.label for tree in trees] == ["S"] + ["FRAG"] * 50
    assert [problem.line for problem in found] == [4]
    assert report.skipped == 1


@pytest.mark.parametrize("before", ["(S (NP (N a))\n\n(V runs))\n\n", "(S (NP (N a))\n(V runs))\n"])
def test_blank_lines_tell_nothing_where_trees_have_them(tmp_path: Path, before: str) -> None:
    """Nor where there is none between trees: a tree with a blank line is one tree."""
    spaced = "(S (NP (N b))\n\n(V runs))\n"
    trees, found, _ = problems(tmp_path, before + before + spaced * 3, "bracket", on_error="skip")
    assert len(trees) == 5
    assert found == []


@pytest.mark.parametrize("label", ["S", "ROOT"])
def test_a_missing_and_a_surplus_bracket_do_not_make_one_tree_of_many(tmp_path: Path, label: str) -> None:
    """The brackets of the file as a whole are balanced."""
    sound = f"({label} (DT the) (NN cat))\n"
    cut, surplus = sound.replace("))", ")"), sound.replace("))", ")))")
    before = sound if label == "S" else ""
    trees, found, _ = problems(tmp_path, before + cut + sound * 5 + surplus, "bracket", on_error="skip")
    assert [tree.words for tree in trees] == [["the", "cat"]] * (6 + bool(before))
    assert [problem.line for problem in found] == ([2, 8] if before else [1, 7])


def test_parts_of_a_broken_tree_are_not_taken_for_trees(tmp_path: Path) -> None:
    """Where inner lines are not indented, only the label of the root tells where a tree begins."""
    sound = "(S\n(NP (DT the) (NN cat))\n(VP (VBZ runs)))\n"
    cut = "(S\n(NP (DT the) (NN dog))\n(VP (VBZ runs))\n"
    for text, line in ((sound + cut, 4), (cut, 1)):
        trees, found, _ = problems(tmp_path, text, "bracket", on_error="skip")
        assert all(tree.root.label == "S" for tree in trees)
        assert [problem.line for problem in found] == [line]
        assert f"what follows up to line {line + 2} may belong to it" in str(found[0])


def test_reading_goes_on_after_a_tree_without_end(tmp_path: Path) -> None:
    """A tree that is given up for its length takes its inner lines with it, and no tree behind it."""
    endless = "(S\n" + "  (NP (DT the) (NN dog))\n" * 60000
    sound = "(S (DT the) (NN cat))\n"
    trees, found, _ = problems(tmp_path, sound + endless + sound * 3, "bracket", on_error="skip")
    assert [tree.words for tree in trees] == [["the", "cat"]] * 4
    assert [problem.line for problem in found] == [2]
    assert "lacks 1 closing bracket within 1,048,576 characters" in str(found[0])
    many = "(S\n  (DT the)\n  (NN cat))\n" * 50000  # more than is looked at at once: cut inside a tree
    trees, found, _ = problems(tmp_path, "(S (DT the)\n" + many, "bracket", on_error="skip")
    assert (len(trees), [problem.line for problem in found]) == (50000, [1])
