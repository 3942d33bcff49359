"""What a format can hold of a tree, and the names by which users hear what it cannot."""

from __future__ import annotations

from collections.abc import Set

from discoparse.tree import Tree
from discoparse.treebank.report import ATTRIBUTE, Report

IDS = "ids"
COMMENTS = "comments"
LEMMAS = "lemmas"
MORPHOLOGY = "morphology"  # of words
NODE_MORPHOLOGY = "morphology of nodes"
EDGES = "edge labels"
SECONDARY_EDGES = "secondary edges"
ROOT_EDGE = "edge label or morphology of the root"

LOST_IDS = "sentence ids"
NOTHING: frozenset[str] = frozenset()


def note_losses(
    tree: Tree,
    format: str,
    holds: Set[str],
    report: Report,
    attributes: Set[str] | None = NOTHING,
    root_attributes: Set[str] | None = NOTHING,
) -> None:
    """Note in the report what of this tree `format`, which holds `holds`, cannot hold.

    `attributes` names the features of words and nodes that the format has a place for, `root_attributes`
    those of the root, in which readers keep what belongs to the sentence; None means all.
    """
    lost: list[str] = []
    if tree.id is not None and IDS not in holds:
        lost.append(LOST_IDS)
    if tree.comments and COMMENTS not in holds:
        lost.append("comments")
    if tree.secondary_edges and SECONDARY_EDGES not in holds:
        lost += ["secondary edges"] * len(tree.secondary_edges)
    root = tree.root
    if (root.edge is not None or root.morph is not None) and ROOT_EDGE not in holds:
        lost.append(ROOT_EDGE)
    lost += _lost_attributes(root.features, root_attributes)
    for token in tree.tokens:
        if token.lemma is not None and LEMMAS not in holds:
            lost.append("lemmas")
        if token.morph is not None and MORPHOLOGY not in holds:
            lost.append("morphology")
        if token.edge is not None and EDGES not in holds:
            lost.append("edge labels")
        if token.features:
            lost += _lost_attributes(token.features, attributes)
    for node in tree.preorder():
        if node is root:
            continue
        if node.edge is not None and EDGES not in holds:
            lost.append("edge labels")
        if node.morph is not None and NODE_MORPHOLOGY not in holds:
            lost.append("morphology of nodes")
        if node.features:
            lost += _lost_attributes(node.features, attributes)
    for what in lost:
        report.not_written(format, what)


def _lost_attributes(features: dict[str, str], held: Set[str] | None) -> list[str]:
    return [] if held is None else [ATTRIBUTE + name for name in features if name not in held]
