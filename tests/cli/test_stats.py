"""`discoparse stats` through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run_main

from discoparse.treebank import read_trees
from discoparse.treebank.discbracket import parse_tree
from discoparse.treebank.stats import Statistics

TREES = """(ROOT (S (VP (WP 0=what) (VB 3=do)) (MD 1=should) (PRP 2=I)) (. 4=?))
(ROOT (A (X 0=a) (X 2=c)) (B (X 1=b) (X 3=d)))
(ROOT (S (VP (VB 0=go))))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "x.discbracket"
    path.write_text(TREES)
    return path


def test_figures(path: Path) -> None:
    """Counted by hand."""
    status, output, _ = run_main("stats", "--json", str(path))
    data = json.loads(output)
    assert status == 0
    assert (data["sentences"], data["tokens"], data["word_types"]) == (3, 10, 10)
    assert data["lengths"] == {"min": 1, "mean": 10 / 3, "median": 4, "max": 5}
    assert data["constituents"] == 9
    assert (data["discontinuous_trees"], data["discontinuous_constituents"]) == (2, 3)
    assert data["discontinuous_labels"] == {"VP": 1, "A": 1, "B": 1}
    assert data["gap_degrees"] == {"0": 6, "1": 3}
    assert data["tree_gap_degrees"] == {"0": 1, "1": 2}
    assert data["ill_nested_trees"] == 1
    assert data["labels"]["ROOT"] == 3
    assert data["tags"]["X"] == 4
    assert data["unary_chains"] == {"ROOT > S > VP": 1}


def test_text(path: Path) -> None:
    status, output, _ = run_main("stats", str(path))
    assert status == 0
    assert "discontinuous trees         2 (66.7%)" in output
    assert "min 1, mean 3.3, median 4, max 5" in output


def test_derivations(path: Path) -> None:
    """Lengths and memory sizes of the three trees, counted by hand: 9, 7 and 1 structural transitions."""
    status, output, _ = run_main("stats", "--derivations", str(path))
    assert status == 0
    rows = {line[:16].strip(): line[16:].split() for line in output.splitlines() if ", " in line[:16]}
    assert rows["set, structural"] == ["5.7", "7", "9", "9", "9", "1.70", "100.0%"]
    assert rows["set, all"] == ["11.3", "14", "18", "18", "18", "3.40"]
    assert rows["gap, structural"][-1] == rows["swap, structural"][-1] == "33.3%"
    _, output, _ = run_main("stats", "--derivations", "--json", str(path))
    data = json.loads(output)["derivations"]
    assert data["systems"]["set"]["structural"]["distribution"] == [[1, 1], [7, 1], [9, 1]]
    assert data["memory"]["distribution"] == [[0, 3 + 2 + 1], [1, 4 + 3], [2, 2 + 2]]
    assert data["memory"]["at_most_7"] == 1


def test_derivations_of_nothing(path: Path) -> None:
    path.write_text("")
    assert run_main("stats", "--derivations", str(path))[0] == 0


def test_skipped_sentences_are_told_once(path: Path) -> None:
    path.write_text(TREES + "(S\n(S (X 7=y))\n")
    assert run_main("stats", str(path))[0] == 1
    status, _, errors = run_main("stats", "--on-error", "skip", str(path))
    assert status == 0
    assert errors.count("2 sentences left out because of problems") == 1


def test_top_is_at_least_one(path: Path) -> None:
    assert run_main("stats", str(path), "--top", "0")[0] == 2


def test_no_trees(path: Path) -> None:
    path.write_text("")
    status, output, _ = run_main("stats", str(path))
    assert status == 0
    assert output.startswith("sentences                   0\n")


def test_unary_chains() -> None:
    tree = parse_tree("(S (A (B (C (X 0=x)) (D (E (F (Y 1=y)))))))")
    statistics = Statistics()
    statistics.add(tree)
    assert statistics.unary_chains == {"S > A > B": 1, "D > E > F": 1}


def test_published_figures(shared: Path) -> None:
    """The shared treebanks have the sentences, labels and tags that their documentation gives."""
    statistics = Statistics()
    for part in ("train", "dev"):
        for tree in read_trees(shared / "data" / "nl_alpino" / f"{part}.discbracket.gz"):
            statistics.add(tree)
    assert statistics.sentences == 5708 + 714
    assert max(statistics.lengths) == 74
    assert len(statistics.tags) == 12
    assert 0.47 < statistics.discontinuous_trees / statistics.sentences < 0.49
