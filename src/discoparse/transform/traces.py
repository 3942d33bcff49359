"""Traces: antecedents moved to where their traces stand, which makes the discontinuous trees of DPTB.

The reading of Evang and Kallmeyer (2011): `*T*`, `*ICH*`, `*EXP*` and `*RNR*` are undone, all other empty
elements go. The way back is in `trace_writing`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from discoparse.transform.empty import EMPTY_TAG, spell_out_empty, without_index
from discoparse.transform.functions import functions_to_edges, split_label
from discoparse.transform.shape import remove_tokens
from discoparse.transform.spelling import unescape_word
from discoparse.tree import Node, Tree

Warn = Callable[[str], None]

MOVED = "-MOVED-"  # category of the phrase that stands for a single moved word

_TRACE = re.compile(r"\*(T|ICH|EXP|RNR)\*(?:-(\d+))?")


@dataclass(frozen=True)
class _Trace:
    """A trace: where it stands, and what its antecedent replaces (its phrase, or the token itself)."""

    position: int
    place: Node | int


def reattach_traces(tree: Tree, warn: Warn = lambda message: None) -> Tree | None:
    """Move antecedents to their traces and drop all empty elements; None when no word is left.

    Labels are cut to their categories, functions become edge labels, and backslashes leave the words (`\\/`).
    A trace without an index or antecedent leaves the tree as it is, and `warn` is called.

    >>> from discoparse.treebank.discbracket import parse_tree
    >>> print(reattach_traces(parse_tree("(S (WHNP-1 (WP 0=what)) (VP (VB 1=do) (NP (-NONE- 2=*T*-1))))")))
    (S (VP (WHNP (WP 0=what)) (VB 1=do)))
    """
    tree = spell_out_empty(tree)
    words = sum(1 << i for i, token in enumerate(tree.tokens) if token.tag != EMPTY_TAG)
    if not words:
        return None
    mover = _Mover(tree, words)
    traces = mover.traces(warn)
    antecedents = mover.antecedents()
    for index in sorted(traces):
        if index in antecedents:
            mover.settle(antecedents[index], traces[index])
        elif index not in mover.indexes:
            warn(f"no phrase has the index {index} of a trace")
    mover.unwrap_moved_words()
    for token in tree.tokens:
        token.tag = without_index(token.tag)
        token.word = unescape_word(token.word)
    pruned = remove_tokens(tree, {i for i in range(len(tree)) if not words >> i & 1})
    return functions_to_edges(pruned) if pruned is not None else None


class _Mover:
    """A tree whose phrases move; yields are those of the tree before any move."""

    def __init__(self, tree: Tree, words: int) -> None:
        self.tree = tree
        self.words = words
        self.parents = tree.parents()
        self.masks = tree.masks()
        self.indexes = {split_label(node.label).coindex for node in tree.preorder()}

    def traces(self, warn: Warn) -> dict[int, list[_Trace]]:
        """The traces of each index, left to right."""
        found: dict[int, list[_Trace]] = {}
        for position, token in enumerate(self.tree.tokens):
            match = _TRACE.fullmatch(token.word) if token.tag == EMPTY_TAG else None
            if match is None:
                continue
            parent = self.parents[position]
            alone = self.masks[parent] == 1 << position and parent is not self.tree.root
            if match[2] is not None:
                index: int | None = int(match[2])
            else:
                index = split_label(parent.label).coindex if alone else None
            if index is None:
                warn(f"the trace {token.word} (element {position + 1}) has no index")
                continue
            found.setdefault(index, []).append(_Trace(position, parent if alone else position))
        return found

    def antecedents(self) -> dict[int, list[Node]]:
        """The phrases of each index that have words."""
        found: dict[int, list[Node]] = {}
        for node in self.tree.preorder():
            index = split_label(node.label).coindex
            if index is not None and self.masks[node] & self.words and node is not self.tree.root:
                found.setdefault(index, []).append(node)
        return found

    def settle(self, antecedents: list[Node], traces: list[_Trace]) -> None:
        """Give each trace its nearest antecedent, and each antecedent the nearest of these traces."""
        wanted: dict[Node, list[_Trace]] = {}
        for trace in traces:
            outside = [a for a in antecedents if not self.dominates(a, trace.place)]
            nearest = min(outside or antecedents, key=lambda a: self.distance(a, trace))
            wanted.setdefault(nearest, []).append(trace)
        for antecedent, claims in wanted.items():
            self.move(antecedent, min(claims, key=lambda t: self.distance(antecedent, t)).place)

    def distance(self, antecedent: Node, trace: _Trace) -> int:
        """Words and empty elements between the two."""
        mask = self.masks[antecedent]
        first, last = (mask & -mask).bit_length() - 1, mask.bit_length() - 1
        return max(first - trace.position, trace.position - last, 0)

    def dominates(self, node: Node, below: Node | int) -> bool:
        return node in self.path(below)

    def path(self, end: Node | int) -> list[Node]:
        """The ancestors of a node, from its parent up."""
        above = []
        while end in self.parents:
            end = self.parents[end]
            above.append(end)
        return above

    def move(self, antecedent: Node, place: Node | int) -> None:
        """Put the antecedent where its trace stands; a parenthetical around the trace takes its place."""
        path = self.path(place)
        if antecedent in path:
            inside = path[: path.index(antecedent)]
            parentheticals = [n for n in inside if split_label(n.label).category == "PRN"]
            if not parentheticals:
                return  # the phrase would contain itself
            self.detach(parentheticals[-1])
            self.replace(antecedent, parentheticals[-1])
        else:
            self.detach(antecedent)
        self.replace(place, antecedent)

    def detach(self, node: Node) -> None:
        parent = self.parents.pop(node)
        parent.children = [c for c in parent.children if c is not node]

    def replace(self, old: Node | int, new: Node) -> None:
        parent = self.parents.pop(old)
        parent.children[parent.children.index(old)] = new
        self.parents[new] = parent

    def unwrap_moved_words(self) -> None:
        """Take words that `write_traces` wrapped out of their wrappers."""
        for node in list(self.tree.preorder()):
            if split_label(node.label).category == MOVED and node is not self.tree.root:
                parent = self.parents[node]
                at = parent.children.index(node)
                parent.children[at : at + 1] = node.children
                for child in node.children:
                    self.parents[child] = parent
