"""Discontinuous constituency trees: words, tags, labelled nodes, and what can be asked of them."""

from discoparse.tree.masks import blocks, gap_count, gap_tokens, indexes, interleave
from discoparse.tree.node import Node, SecondaryEdge, Span, Token
from discoparse.tree.tree import ROOT, Constituent, Tree

__all__ = [
    "ROOT",
    "Constituent",
    "Node",
    "SecondaryEdge",
    "Span",
    "Token",
    "Tree",
    "blocks",
    "gap_count",
    "gap_tokens",
    "indexes",
    "interleave",
]
