"""Unary chains: collapse them into one node with one label, and expand them again, without loss.

Nodes of one yield are one constituent to the transition system. A chain `S` over `VP` becomes a node labelled
`S+VP`; a `+` or backslash inside a label is escaped, so that labels may contain any character and ordinary
labels look ordinary.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from discoparse.errors import DiscoparseError
from discoparse.tree import Node, Tree

Chain = tuple[str, ...]  # the labels of the nodes that share a yield, from the top down

SEPARATOR = "+"
FEATURE = "unary-chain"  # what the label of a collapsed node cannot hold, as JSON

_SPECIAL = re.compile(r"[+\\]")
_PIECE = re.compile(r"\\([+\\])|(\+)|(.)", re.DOTALL)


def chain_label(labels: Sequence[str]) -> str:
    r"""The one label of a chain of nodes, from the top down; the inverse of `chain_labels`.

    >>> chain_label(["ROOT", "S", "VP"]), chain_label(["NP"]), chain_label(["A+B", "C"])
    ('ROOT+S+VP', 'NP', 'A\\+B+C')
    """
    if not labels:
        raise ValueError("a chain has at least one label")
    return SEPARATOR.join(_SPECIAL.sub(r"\\\g<0>", label) for label in labels)


def chain_labels(label: str) -> Chain:
    r"""The labels of a chain, from the top down; the inverse of `chain_label`.

    >>> chain_labels("ROOT+S+VP"), chain_labels("NP"), chain_labels("A\\+B+C")
    (('ROOT', 'S', 'VP'), ('NP',), ('A+B', 'C'))
    """
    labels = [""]
    for escaped, separator, other in _PIECE.findall(label):
        if separator:
            labels.append("")
        else:
            labels[-1] += escaped or other
    return tuple(labels)


def chains_of(tree: Tree) -> list[tuple[Chain, int]]:
    """The labels of the nodes of each yield, from the top down, and the yield as a bit mask.

    >>> from discoparse.treebank.discbracket import parse_tree
    >>> chains_of(parse_tree("(ROOT (S (NP (N 0=a)) (V 1=b)))"))
    [(('ROOT', 'S'), 3), (('NP',), 1)]
    """
    masks = tree.masks()
    chains: dict[int, list[str]] = {}
    for node in tree.preorder():  # from the top down, also inside a chain
        chains.setdefault(masks[node], []).append(node.label)
    return [(tuple(labels), mask) for mask, labels in chains.items()]


def collapse_unaries(tree: Tree) -> Tree:
    """Make one node of every chain of nodes with one node as their only child; tags are not part of a chain.

    The new node has edge, morphology and features of the top of the chain; those of the others, and the ends
    of secondary edges inside the chain, are kept in the feature `unary-chain` for `expand_unaries`.
    """
    tree = tree.copy()
    ends: dict[Node, list[tuple[int, str]]] = {}
    for number, edge in enumerate(tree.secondary_edges):
        for side, end in (("child", edge.child), ("parent", edge.parent)):
            if isinstance(end, Node):
                ends.setdefault(end, []).append((number, side))
    for top in tree.preorder():  # goes on below the chain, whose bottom gives its children to the top
        chain = _chain(top)
        record = _record(chain, ends)
        for node in chain[1:]:
            for number, side in ends.get(node, ()):
                setattr(tree.secondary_edges[number], side, top)
        top.label = chain_label([node.label for node in chain])
        top.children = chain[-1].children
        if record:
            top.features[FEATURE] = json.dumps(record, ensure_ascii=False)
    return tree


def expand_unaries(tree: Tree) -> Tree:
    """Undo `collapse_unaries`; also for predicted trees, whose nodes have only labels."""
    tree = tree.copy()
    for top in list(tree.preorder()):
        record = _take_record(top)
        labels = chain_labels(top.label)
        top.label = labels[0]
        chain = [top]
        for label in labels[1:]:
            lower = Node(label, chain[-1].children)
            chain[-1].children = [lower]
            chain.append(lower)
        for node, details in zip(chain[1:], record.get("nodes", []), strict=False):
            node.edge, node.morph = details.get("edge"), details.get("morph")
            node.features = details.get("features", {})
        for number, side, depth in record.get("ends", []):
            if number < len(tree.secondary_edges) and depth < len(chain):
                setattr(tree.secondary_edges[number], side, chain[depth])
        if "feature" in record:
            top.features[FEATURE] = record["feature"]
    return tree


def _chain(top: Node) -> list[Node]:
    """The nodes from `top` down that share its yield because each is an only child."""
    chain = [top]
    while len(chain[-1].children) == 1 and isinstance(chain[-1].children[0], Node):
        chain.append(chain[-1].children[0])
    return chain


def _record(chain: list[Node], ends: dict[Node, list[tuple[int, str]]]) -> dict[str, object]:
    """What the label and the top of a chain do not say; empty when that is nothing."""
    record: dict[str, object] = {}
    nodes = []
    for node in chain[1:]:
        values = {"edge": node.edge, "morph": node.morph, "features": node.features or None}
        nodes.append({name: value for name, value in values.items() if value is not None})
    if any(nodes):
        record["nodes"] = nodes
    below = [(n, side, depth) for depth, node in enumerate(chain) if depth for n, side in ends.get(node, ())]
    if below:
        record["ends"] = below
    if FEATURE in chain[0].features:  # the treebank's own feature of this name
        record["feature"] = chain[0].features[FEATURE]
    return record


def _take_record(node: Node) -> dict[str, Any]:
    """Take the record of a collapsed node off its features."""
    text = node.features.pop(FEATURE, "{}")
    try:
        record: object = json.loads(text)
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise DiscoparseError(f"node {node.label}: {FEATURE} was not written by collapsing: {text[:60]}")
    return record
