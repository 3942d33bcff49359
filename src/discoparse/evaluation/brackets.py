"""The brackets of a tree: what is left of its nodes once labels are cut and punctuation is deleted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from discoparse.evaluation.parameters import Parameters
from discoparse.tree import Node, Tree

Bracket = tuple[str, int]  # label and yield, a bit mask over the tokens that were kept


@lru_cache(maxsize=65536)
def cut_label(label: str) -> tuple[str, tuple[str, ...]]:
    """The category of a label or tag, and the function tags after it, as disco-dop's reader splits them.

    Published figures need just this; `transform.functions` knows more of labels (coindexes, kinds of clauses).

    >>> cut_label("NP-SBJ-TMP"), cut_label("NP=2"), cut_label("-NONE-")
    (('NP', ('SBJ', 'TMP')), ('NP', ()), ('-NONE-', ()))
    """
    category, function = label, ""
    at = label.find("-")
    if at > 0:
        category = label[:at]
        if not label[at + 1 :].isdigit():  # a number is an index, not a function
            function = label[at + 1 :].rstrip("=0123456789")
    at = category.find("=")
    if at > 0:
        category = category[:at]
    return category, function_tags(function)


def function_tags(edge: str | None) -> tuple[str, ...]:
    """The parts of an edge label; none where a treebank writes `--`."""
    return tuple(edge.split("-")) if edge and edge != "--" else ()


class Categories(dict[str, "str | None"]):
    """From labels in a file to those that are scored, None for deleted ones; filled as labels are seen."""

    def __init__(self, parameters: Parameters, root: bool) -> None:
        super().__init__()
        self._parameters = parameters
        self._equal = {} if root else parameters.equal_labels  # the root's label is taken as it is

    def __missing__(self, label: str) -> str | None:
        category, _ = cut_label(label)
        category = self._equal.get(category, category)
        if category in self._parameters.delete_labels:
            found = None
        else:
            found = category if self._parameters.labelled else ""
        self[label] = found
        return found


class Bracketer:
    """Takes the brackets of trees, under one set of parameters."""

    def __init__(self, parameters: Parameters) -> None:
        self._root = Categories(parameters, root=True)
        self._inner = Categories(parameters, root=False)

    def __call__(self, tree: Tree, bits: Sequence[int]) -> list[Bracket]:
        """The brackets, children before parents; `bits` has each token's bit, 0 for a deleted one."""
        return [(label, mask) for label, mask, _ in self.with_nodes(tree, bits)]

    def with_nodes(self, tree: Tree, bits: Sequence[int]) -> list[tuple[str, int, Node]]:
        """The same brackets, each with its node."""
        order = [tree.root]
        for node in order:  # grows while it is walked: parents stand before their children
            order.extend([child for child in node.children if child.__class__ is not int])  # type: ignore[misc]
        masks: dict[object, int] = {}
        found: list[tuple[str, int, Node]] = []
        inner, root = self._inner, order[0]
        for node in reversed(order):
            mask = 0
            for child in node.children:
                mask |= bits[child] if child.__class__ is int else masks[child]
            masks[node] = mask
            if mask and node is not root:
                label = inner[node.label]
                if label is not None:
                    found.append((label, mask, node))
        label = self._root[root.label]
        if label is not None and masks[root]:
            found.append((label, masks[root], root))
        return found
