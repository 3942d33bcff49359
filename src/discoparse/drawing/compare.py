"""The differences between a gold and a predicted tree, node by node and tag by tag."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from discoparse.errors import DiscoparseError
from discoparse.tree import Node, Tree

MISSING, SPURIOUS, DIFFERENT = "missing", "spurious", "different"
SIGNS = {MISSING: "−", SPURIOUS: "+", DIFFERENT: "≠"}


@dataclass(frozen=True)
class Differences:
    """Marks of gold nodes and tokens, and of predicted ones; what is not marked is the same in both trees."""

    gold: dict[Node | int, str]
    predicted: dict[Node | int, str]

    def counts(self) -> dict[str, int]:
        """How many nodes are missing and spurious, and how many labels and tags are different."""
        marks = [*self.gold.values(), *(m for m in self.predicted.values() if m == SPURIOUS)]
        return {mark: marks.count(mark) for mark in (MISSING, SPURIOUS, DIFFERENT)}

    def by_kind(self) -> dict[str, int]:
        """The same numbers in words, with labels and tags apart."""
        counts = self.counts()
        tags = sum(isinstance(element, int) for element in self.gold)
        return {
            MISSING: counts[MISSING],
            SPURIOUS: counts[SPURIOUS],
            "with another label": counts[DIFFERENT] - tags,
            "with another tag": tags,
        }

    def legend(self) -> str:
        """What the signs mean and how many of each there are."""
        found = [f"{SIGNS[mark]} {mark}: {count}" for mark, count in self.counts().items() if count]
        return " · ".join(found) or "no differences"


def check_same_sentence(gold: Tree, predicted: Tree) -> None:
    """An error unless two trees have as many tokens."""
    if len(gold) != len(predicted):
        raise DiscoparseError(
            f"the two trees cannot be compared: one has {len(gold)} tokens ({_beginning(gold)}), "
            f"the other {len(predicted)} ({_beginning(predicted)}); do the files hold the same sentences?"
        )


def compare_trees(gold: Tree, predicted: Tree, hidden: Collection[Node] = ()) -> Differences:
    """Nodes of one yield are paired by label first, then from the top; the rest is missing or spurious.

    Nodes that are `hidden` are not compared.

    >>> from discoparse.treebank.discbracket import parse_tree
    >>> gold = parse_tree("(S (NP (D 0=a) (N 1=b)) (V 2=c))")
    >>> compare_trees(gold, parse_tree("(S (D 0=a) (VP (N 1=b) (V 2=c)))")).counts()
    {'missing': 1, 'spurious': 1, 'different': 0}
    """
    check_same_sentence(gold, predicted)
    marks = Differences({}, {})
    for i, (a, b) in enumerate(zip(gold.tokens, predicted.tokens, strict=True)):
        if (a.word, a.tag) != (b.word, b.tag):
            marks.gold[i] = marks.predicted[i] = DIFFERENT
    theirs = _by_yield(predicted, hidden)
    for mask, nodes in _by_yield(gold, hidden).items():
        others = theirs.pop(mask, [])
        rest = []
        for node in nodes:
            twin = next((other for other in others if other.label == node.label), None)
            if twin is None:
                rest.append(node)
            else:
                others.remove(twin)
        for node, other in zip(rest, others, strict=False):
            marks.gold[node] = marks.predicted[other] = DIFFERENT
        marks.gold.update(dict.fromkeys(rest[len(others) :], MISSING))
        marks.predicted.update(dict.fromkeys(others[len(rest) :], SPURIOUS))
    for others in theirs.values():
        marks.predicted.update(dict.fromkeys(others, SPURIOUS))
    return marks


def _by_yield(tree: Tree, hidden: Collection[Node]) -> dict[int, list[Node]]:
    masks = tree.masks()
    groups: dict[int, list[Node]] = {}
    for node in (node for node in tree.preorder() if node not in hidden):
        groups.setdefault(masks[node], []).append(node)
    return groups


def _beginning(tree: Tree) -> str:
    return " ".join(tree.words[:4]) + (" …" if len(tree) > 4 else "")
