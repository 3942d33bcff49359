"""The tree that the scorer sees, made again from its brackets: parents and children without punctuation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from discoparse.evaluation.brackets import Bracket, cut_label
from discoparse.tree import Token, Tree, indexes


@dataclass(slots=True, eq=False)
class ScoredNode:
    """A scored bracket with its place in the tree."""

    label: str
    mask: int
    parent: ScoredNode | None = None
    children: list[ScoredNode] = field(default_factory=list)
    own_tokens: int = 0  # mask of the tokens right below it

    @property
    def parent_label(self) -> str:
        """The label of the parent, empty at the top."""
        return self.parent.label if self.parent else ""


def constituents(brackets: Sequence[Bracket]) -> list[ScoredNode]:
    """The constituents of one tree, linked, in the order of the brackets (children before parents).

    >>> [(c.label, c.parent_label) for c in constituents([("NP", 0b010), ("VP", 0b101), ("S", 0b111)])]
    [('NP', 'S'), ('VP', 'S'), ('S', '')]
    """
    found = [ScoredNode(label, mask) for label, mask in brackets]
    placed: list[ScoredNode] = []
    # The larger come first, and of one yield the upper, so the last that contains a yield is its parent.
    for k in sorted(range(len(found)), key=lambda k: (-found[k].mask.bit_count(), -k)):
        node = found[k]
        node.parent = next((c for c in reversed(placed) if node.mask & ~c.mask == 0), None)
        if node.parent:
            node.parent.children.append(node)
        placed.append(node)
    for node in found:
        node.own_tokens = node.mask
        for child in node.children:
            node.own_tokens &= ~child.mask
    return found


def scored_tree(tree: Tree, bits: Sequence[int], brackets: Sequence[Bracket]) -> Tree:
    """The tree as it is scored: kept tokens, cut labels; a root without a label where nothing covers the whole."""
    tokens = [Token(token.word, cut_label(token.tag)[0]) for token, bit in zip(tree.tokens, bits, strict=True) if bit]
    found = [(label, indexes(mask)) for label, mask in reversed(brackets)]
    scored = Tree.from_constituents(tokens, found, root="")
    scored.id = tree.id
    return scored
