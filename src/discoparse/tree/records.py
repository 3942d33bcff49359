"""Trees as flat rows, for data frames and CSV files: a row for each node, then a row for each token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discoparse.tree.masks import blocks, gap_count

if TYPE_CHECKING:
    from discoparse.tree.node import Node, Token
    from discoparse.tree.tree import Tree

Record = dict[str, str | int | float | None]


def records(tree: Tree) -> list[Record]:
    """The rows of a tree; all have the same columns.

    `id` is the sentence's; `kind` is "node" or "token"; `number` counts nodes, parents before children, and tokens,
    each from 0; `parent` is the number of the node above. `first` and `last` are token numbers, `tokens` is how many
    the constituent has and `gaps` in how many places it is interrupted.
    """
    numbers = {node: k for k, node in enumerate(tree.preorder())}
    parents = {child: numbers[node] for child, node in tree.parents().items()}
    masks = tree.masks()
    return [
        *(_row(tree, "node", k, masks[node], node.label, parents.get(node), node) for node, k in numbers.items()),
        *(_row(tree, "token", k, 1 << k, token.tag, parents[k], token) for k, token in enumerate(tree.tokens)),
    ]


def _row(tree: Tree, kind: str, number: int, mask: int, label: str, parent: int | None, item: Node | Token) -> Record:
    parts = blocks(mask)
    return {
        "id": tree.id,
        "kind": kind,
        "number": number,
        "parent": parent,
        "label": label,
        "edge": item.edge,
        "text": tree.text_of(mask),
        "first": parts[0][0],
        "last": parts[-1][1],
        "tokens": mask.bit_count(),
        "gaps": gap_count(mask),
        "probability": item.probability,
        "label_probability": getattr(item, "label_probability", None),
        "lemma": getattr(item, "lemma", None),
        "morph": item.morph,
    }
