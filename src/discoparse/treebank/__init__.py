"""Treebank files: reading and writing trees as streams in the formats that linguists use."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

from discoparse.tree import Tree
from discoparse.treebank import discbracket


def read_trees(path: str | Path) -> Iterator[Tree]:
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as lines:
        yield from discbracket.read(lines, str(path))
