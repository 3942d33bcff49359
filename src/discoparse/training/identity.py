"""Whether two trainings are the same one: recipe, seed and treebanks."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discoparse.errors import UsageError
from discoparse.tree import Tree


def check_identity(output: Path, then: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse to continue one training with the settings of another."""
    ours, theirs = now["recipe"], then["recipe"]
    different = [
        f"{name} was {theirs.get(name)} and is {ours.get(name)}"
        for name in {**theirs, **ours}
        if theirs.get(name) != ours.get(name)
    ]
    if then["seed"] != now["seed"]:
        different.append(f"the seed was {then['seed']} and is {now['seed']}")
    different += [f"the {name} is another" for name in now if name.endswith("treebank") and then[name] != now[name]]
    if different:
        raise UsageError(
            f"{output} holds another training: {'; '.join(different)}. Resume with the same settings, or choose "
            "another directory"
        )


def fingerprint(trees: Sequence[Tree]) -> str:
    """Tells one treebank from another."""
    digest = hashlib.sha256()
    for tree in trees:
        masks = tree.masks()
        shape = [(node.label, masks[node]) for node in tree.preorder()]
        digest.update(repr((tree.words, tree.tags, shape)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
