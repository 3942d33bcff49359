"""The treebanks of a training: what each is called, its trees, and how large it is."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discoparse.errors import DiscoparseError, UsageError
from discoparse.files.streams import printable, uncompressed
from discoparse.tree import Tree

_PARTS = ("train", "dev", "test")  # names that tell nothing about a treebank: its folder does
_STDIN = "-"


@dataclass(frozen=True)
class NamedTreebank:
    """A file, or a folder of files, that was given to train or to evaluate with."""

    name: str
    path: str
    trees: list[Tree]


def set_name(path: str) -> str:
    """What a treebank is called: its file without endings, or the folder of a file that is called train, dev or test.

    >>> set_name("treebanks/nl_alpino/dev.export.gz"), set_name("treebanks/tiger.v2.export"), set_name("-")
    ('nl_alpino', 'tiger.v2', 'standard input')
    """
    if path == _STDIN:
        return "standard input"
    place = Path(os.path.abspath(path))
    if place.name.partition(".")[0] in _PARTS and place.parent.name:
        return place.parent.name
    return Path(uncompressed(place.name)).stem


def read_treebanks(paths: Sequence[str], read: Callable[[str], Iterable[Tree]]) -> list[NamedTreebank]:
    """The treebanks in the order that they were given; one that was given twice is there twice, and read once."""
    if _STDIN in paths and len(paths) > 1:
        raise UsageError("standard input (-) cannot be mixed with files")
    trees: dict[str, list[Tree]] = {}
    for path in dict.fromkeys(paths):
        trees[path] = list(read(path))
        if not trees[path]:
            raise DiscoparseError(f"{path}: no trees in it, nothing to train on or to evaluate with")
    return [NamedTreebank(set_name(printable(path)), printable(path), trees[path]) for path in paths]


def trees_by_name(treebanks: Sequence[NamedTreebank]) -> dict[str, list[Tree]]:
    """The trees of each name; treebanks of one name are one set."""
    sets: dict[str, list[Tree]] = {}
    for treebank in treebanks:
        sets.setdefault(treebank.name, []).extend(treebank.trees)
    return sets


def describe_data(treebanks: Sequence[NamedTreebank], silver: Sequence[NamedTreebank] = ()) -> list[dict[str, Any]]:
    """For each name the sentences and tokens in it, and how many `times` each of them counts on average."""
    return _sizes(treebanks) + [{**entry, "silver": True} for entry in _sizes(silver)]


def _sizes(treebanks: Sequence[NamedTreebank]) -> list[dict[str, Any]]:
    described = []
    for name, trees in trees_by_name(treebanks).items():
        files = {treebank.path: treebank.trees for treebank in treebanks if treebank.name == name}
        sentences = sum(len(distinct) for distinct in files.values())
        tokens = sum(len(tree) for distinct in files.values() for tree in distinct)
        times = round(len(trees) / sentences, 2)
        described.append({"set": name, "sentences": sentences, "tokens": tokens, "times": times})
    return described


def fingerprint(trees: Sequence[Tree]) -> str:
    """Tells the trees of one treebank from those of another, whatever file they are in."""
    digest = hashlib.sha256()
    for tree in trees:
        masks = tree.masks()
        shape = [(node.label, masks[node]) for node in tree.preorder()]
        digest.update(repr((tree.words, tree.tags, shape)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
