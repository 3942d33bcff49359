"""Real treebanks become, tree for tree, what disco-dop and the reattachment of traces made of them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from command_line import run_main

from discoparse.transform.pipeline import Transforms, transform_trees
from discoparse.transform.spelling import plain_word
from discoparse.transform.trace_writing import write_traces
from discoparse.transform.traces import reattach_traces
from discoparse.tree import Tree
from discoparse.treebank import read_trees


def structure(tree: Tree) -> tuple[object, ...]:
    """Words, tags and constituents: what disco-dop's bracket format holds."""
    return [plain_word(word) for word in tree.words], tree.tags, tree.constituents()


def with_edges(tree: Tree) -> tuple[object, ...]:
    return *structure(tree), [node.edge for node in tree.preorder()], [token.edge for token in tree.tokens]


@pytest.mark.parametrize(
    ("raw", "prepared"),
    [
        ("raw/pcc/expected.export", "raw/pcc/expected.prepared.discbracket"),
        ("raw/alpino/expected.export", "raw/alpino/expected.prepared.discbracket"),
        ("data/de_pcc/dev.raw.export.gz", "data/de_pcc/dev.discbracket.gz"),
        ("data/nl_alpino/dev.raw.export.gz", "data/nl_alpino/dev.discbracket.gz"),
    ],
)
def test_punctuation_moves_as_in_disco_dop(shared: Path, raw: str, prepared: str) -> None:
    moved = transform_trees(read_trees(shared / raw), Transforms(punct="move"))
    expected = read_trees(shared / prepared)
    for tree, gold in zip(moved, expected, strict=True):
        assert structure(tree) == structure(gold)


@pytest.mark.parametrize("corpus", ["pcc", "alpino"])
def test_original_files_become_prepared_trees(shared: Path, corpus: str) -> None:
    files = [p for p in (shared / "raw" / corpus).iterdir() if p.suffix == ".xml"]
    by_id = {}
    for file in files:
        for tree in transform_trees(read_trees(file), Transforms(punct="move")):
            by_id[f"cdb/{file.stem}" if corpus == "alpino" else f"{file.stem}.{tree.id}"] = tree
    ids = (shared / "raw" / corpus / "expected.ids").read_text().split()
    expected = list(read_trees(shared / "raw" / corpus / "expected.prepared.discbracket"))
    for name, gold in zip(ids, expected, strict=True):
        assert structure(by_id[name]) == structure(gold), name


def test_craft_becomes_discontinuous(shared: Path) -> None:
    files = sorted((shared / "raw" / "craft").glob("*.tree"))
    trees = list(transform_trees(read_trees(files, "bracket"), Transforms(traces="reattach")))
    expected = list(read_trees(shared / "raw" / "craft" / "expected.export"))
    for tree, gold in zip(trees, expected, strict=True):
        assert with_edges(tree) == with_edges(gold)
    prepared = read_trees(shared / "raw" / "craft" / "expected.prepared.discbracket")
    assert [structure(t) for t in trees] == [structure(t) for t in prepared]


def test_icepahc_becomes_discontinuous(shared: Path) -> None:
    """The text has 183 sentences: the first 146 begin the training set, the next 18 the development set."""
    (file,) = (shared / "raw" / "icepahc").glob("*.psd")
    trees = list(transform_trees(read_trees(file, lemmas=True), Transforms(traces="reattach")))
    assert len(trees) == 183
    for name, start, end in (("train", 0, 146), ("dev", 146, 164)):
        with gzip.open(shared / f"data/is_icepahc/{name}.discbracket.gz", "rt", encoding="utf-8") as lines:
            for tree, line in zip(trees[start:end], lines, strict=False):
                assert str(tree) == line.rstrip("\n")
    expected = read_trees(shared / "data/is_icepahc/dev.raw.export.gz")
    for tree, gold in zip(trees[146:164], expected, strict=False):
        assert with_edges(tree) == with_edges(gold)


@pytest.mark.parametrize("corpus", ["nl_alpino", "de_pcc", "en_masc"])
def test_traces_of_real_trees_are_reattached(shared: Path, corpus: str) -> None:
    for tree in read_trees(shared / f"data/{corpus}/dev.discbracket.gz"):
        written = write_traces(tree)
        assert not written.is_discontinuous
        assert reattach_traces(written, pytest.fail) == tree


@pytest.mark.parametrize(("folder", "format"), [("pcc", "tigerxml"), ("alpino", "alpino")])
def test_the_documented_command_makes_the_prepared_file(shared: Path, tmp_path: Path, folder: str, format: str) -> None:
    """Byte for byte, but for the comments of the original, which disco-dop's file does not have."""
    source, made = shared / "raw" / folder, tmp_path / "made.discbracket"
    options = ["--from", format, "--punct", "move", "--penn-brackets"]
    assert run_main("convert", str(source), str(made), *options)[0] == 0
    lines = [line.partition("\t")[0] for line in made.read_text(encoding="utf-8").splitlines()]
    assert lines == (source / "expected.prepared.discbracket").read_text(encoding="utf-8").splitlines()
