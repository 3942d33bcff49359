"""The table of treebanks, and how each becomes train, dev and test as the literature uses them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from discoparse.errors import UsageError
from discoparse.transform import Transforms, unescape_word
from discoparse.tree import Tree
from discoparse.treebank.prepare.reader import Reader
from discoparse.treebank.prepare.sources import (
    SPLITS,
    encoding_of,
    files_ending,
    only_file,
    split_files,
    stem,
    wsj_sections,
)

Part = tuple[str, Iterator[Tree]]  # the name of a set and its trees; to be consumed in the order given

# Consecutive parts of the single files, in sentences; the first of dptb7.export are the sections 00 and 01.
DPTB_SIZES = [(None, 3914), ("train", 39832), ("dev", 1700), ("test", 2416)]
TIGER_SIZES = [("train", 40472), ("dev", 5000), ("test", 5000)]
NEGRA_SIZES = [("train", 18602), ("test", 1000), ("dev", 1000)]

MOVE = Transforms(punct="move")
MOVE_AND_SPELL = Transforms(punct="move", penn_brackets=True)
REATTACH = Transforms(traces="reattach")


@dataclass(frozen=True)
class StandardSplit:
    """How a treebank is prepared and split into train, dev and test."""

    parts: Callable[[str, Reader], Iterator[Part]]
    counts: dict[str, int]  # published numbers of sentences; a set that is not named is not checked


def _dptb(source: str, reader: Reader) -> Iterator[Part]:
    """`dptb7.export` by sentence number, or the Penn Treebank's .mrg files by section, traces reattached."""
    if os.path.isdir(source):
        sections = wsj_sections(source)
        for split, chosen in (("train", range(2, 22)), ("dev", range(22, 23)), ("test", range(23, 24))):
            files = [file for section in chosen for file in sections.get(section, [])]
            yield split, reader.trees(files, "bracket", REATTACH)
        return
    trees = reader.trees(source, None, Transforms(), encoding=encoding_of(source, "iso-8859-1"))
    yield from by_ranges(map(_unescaped, trees), DPTB_SIZES)


def _tiger(source: str, reader: Reader) -> Iterator[Part]:
    """SPMRL's three TIGER-XML files, or the original cut where SPMRL cut it; second parents are dropped."""
    files = split_files(source, ".xml") if os.path.isdir(source) else None
    if files:
        for split in SPLITS:
            yield split, reader.trees(files[split], "tigerxml", MOVE_AND_SPELL, on_error="repair")
        return
    file = only_file(source, (".xml",))
    trees = reader.trees(file, None, MOVE_AND_SPELL, on_error="repair")
    yield from by_ranges(trees, TIGER_SIZES)


def _negra(source: str, reader: Reader) -> Iterator[Part]:
    """`negra-corpus.export`: the first 18,602 sentences, then 1,000 for the test, then 1,000 for dev."""
    file = only_file(source, (".export",))
    trees = reader.trees(file, None, MOVE, encoding=encoding_of(file, "iso-8859-1"))
    yield from by_ranges(trees, NEGRA_SIZES)


def _alpino(source: str, reader: Reader) -> Iterator[Part]:
    """The XML files of the cdb treebank in the order of their numbers: eight tenths, one, one."""

    def read(folder: str, again: Reader) -> Iterator[Tree]:
        return again.trees(folder, "alpino", MOVE_AND_SPELL)

    yield from by_tenths([source], read, reader)


# The articles that CRAFT's own lists (articles/ids) set apart; all others are for training.
CRAFT_DEV = frozenset([17194222, 17244351, 17425782, 17447844, 17590087, 17608565, 17696610])
CRAFT_TEST = frozenset(
    [
        11319941,
        11604102,
        14624252,
        14675480,
        14691534,
        15018652,
        15070402,
        15238161,
        15328538,
        15560850,
        15615595,
        15619330,
        15784609,
        15850489,
        15882093,
        16026622,
        16027110,
        16410827,
        16517939,
        16611361,
        16787536,
        16800892,
        16968134,
        17029558,
        17201918,
        17206865,
        17465682,
        17503968,
        17565376,
        17677002,
    ]
)


def _craft(source: str, reader: Reader) -> Iterator[Part]:
    """The .tree files by article, as CRAFT itself divides them; traces reattached."""
    files = files_ending(source, ".tree")
    if len({stem(file) for file in files}) < len(files):
        raise UsageError(f"{source} holds articles twice: name structural-annotation/treebank/penn in it")
    chosen: dict[str, list[str]] = {split: [] for split in SPLITS}
    for file in files:
        article = int(stem(file)) if stem(file).isdecimal() else None
        chosen["dev" if article in CRAFT_DEV else "test" if article in CRAFT_TEST else "train"].append(file)
    for split in SPLITS:
        yield split, reader.trees(chosen[split], "bracket", REATTACH)


def _icepahc(source: str, reader: Reader) -> Iterator[Part]:
    """The .psd files: of each text the first eight tenths, one, one; traces reattached, lemmas split off."""

    def read(file: str, again: Reader) -> Iterator[Tree]:
        return again.trees(file, "bracket", REATTACH, lemmas=True)

    yield from by_tenths(files_ending(source, ".psd"), read, reader)


STANDARD_SPLITS = {
    "dptb": StandardSplit(_dptb, {name: size for name, size in DPTB_SIZES if name}),
    "tiger": StandardSplit(_tiger, dict(TIGER_SIZES)),
    "negra": StandardSplit(_negra, dict(NEGRA_SIZES)),
    "alpino": StandardSplit(_alpino, {"train": 5708, "dev": 714, "test": 714}),
    "craft": StandardSplit(_craft, {"train": 18951, "dev": 2780}),
    "icepahc": StandardSplit(_icepahc, {"train": 58417, "dev": 7297}),
}


def by_ranges(trees: Iterable[Tree], ranges: Sequence[tuple[str | None, int]]) -> Iterator[Part]:
    """Cut a stream into consecutive parts; parts without a name are skipped.

    Whatever follows the last goes into it, so its count shows that there is too much.
    """
    stream = iter(trees)
    *inner, (last, _) = ranges
    for name, size in inner:
        part = islice(stream, size)
        if name is not None:
            yield name, part
        for _ in part:  # what the caller did not consume
            pass
    if last is not None:
        yield last, stream


def by_tenths(
    documents: Sequence[str], read: Callable[[str, Reader], Iterator[Tree]], reader: Reader
) -> Iterator[Part]:
    """Of every document the first eight tenths are for training, the ninth for dev, the last for the test.

    One pass for each set, of which only the first reports problems, so that no more than a document is in memory.
    """

    def tenths(first: int, last: int, again: Reader) -> Iterator[Tree]:
        for document in documents:
            trees = list(read(document, again))
            yield from trees[len(trees) * first // 10 : len(trees) * last // 10]

    for split, first, last in (("train", 0, 8), ("dev", 8, 9), ("test", 9, 10)):
        yield split, tenths(first, last, reader if first == 0 else reader.quiet())


def _unescaped(tree: Tree) -> Tree:
    for token in tree.tokens:
        token.word = unescape_word(token.word)
    return tree
