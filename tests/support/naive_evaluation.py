"""A second evaluator, slow and plain, written from the description of the reference, without code of ours.

Trees become nested lists, are pruned step by step as the description says, and yields are sets of positions.
The parameters are read here too.
"""

from __future__ import annotations

import math
from pathlib import Path

from discoparse.tree import Node, Tree


def read(path: Path) -> dict[str, object]:
    """The parameters that the description mentions."""
    found = {"DELETE_LABEL": [], "DELETE_WORD": [], "EQ_LABEL": [], "CUTOFF_LEN": 40}
    for line in path.read_text(encoding="utf-8").splitlines():
        key, *values = line.split() or ["#"]
        if key in ("DELETE_LABEL", "DELETE_WORD"):
            found[key].append(values[0])
        elif key == "EQ_LABEL":
            found[key].append(set(values))
        elif key == "CUTOFF_LEN":
            found[key] = int(values[0])
    return found


def cut(label: str) -> str:
    """NP-SBJ is NP, NP=2 is NP; a label that begins with the separator is not cut there (-NONE- stays)."""
    for separator in "-=":
        if separator in label and not label.startswith(separator):
            label = label.split(separator)[0]
    return label


def pruned(node: Node | int, dropped: set[int]) -> list | int | None:
    """The node as [label, children] without dropped tokens and without emptied nodes."""
    if isinstance(node, int):
        return None if node in dropped else node
    children = [pruned(child, dropped) for child in node.children]
    children = [child for child in children if child is not None]
    return [cut(node.label), children] if children else None


def leaves(node: list | int) -> list[int]:
    return [node] if isinstance(node, int) else [leaf for child in node[1] for leaf in leaves(child)]


def brackets(tree: Tree, dropped: set[int], parameters: dict) -> list[tuple[str, frozenset[int]]]:
    """The list of brackets: (label, positions among the tokens that are left)."""
    root = pruned(tree.root, dropped)
    if root is None:
        return []
    left = sorted(set(range(len(tree.tokens))) - dropped)
    found = []

    def visit(node: list | int, is_root: bool) -> None:
        if isinstance(node, int):
            return
        label, children = node
        for pair in parameters["EQ_LABEL"]:
            if label in pair and not is_root:
                label = min(pair)
        if label not in parameters["DELETE_LABEL"]:
            found.append((label, frozenset(left.index(leaf) for leaf in leaves(node))))
        for child in children:
            visit(child, False)

    visit(root, True)
    return found


def discontinuous(positions: frozenset[int]) -> bool:
    return set(positions) != set(range(min(positions), max(positions) + 1))


def common(ours: list, theirs: list) -> int:
    """The size of the multiset intersection."""
    rest, size = list(theirs), 0
    for item in ours:
        if item in rest:
            rest.remove(item)
            size += 1
    return size


def parseval(rows: list[tuple[list, list]], only_disc: bool) -> dict[str, object]:
    """The figures over pairs of bracket lists."""
    if only_disc:
        rows = [tuple([b for b in side if discontinuous(b[1])] for side in row) for row in rows]
        rows = [(g, p) for g, p in rows if g or p]
    gold, predicted = sum(len(g) for g, _ in rows), sum(len(p) for _, p in rows)
    matched = sum(common(g, p) for g, p in rows)
    exact = sum(len(g) == len(p) == common(g, p) for g, p in rows)
    precision = matched / predicted if predicted else math.nan
    recall = matched / gold if gold else math.nan
    f1 = math.nan if 0 in (precision, recall) else 1 / (0.5 / precision + 0.5 / recall)
    shares = {"precision": precision, "recall": recall, "f1": f1}
    shares["exact_match"] = exact / len(rows) if rows else math.nan
    return {
        "sentences": len(rows),
        "gold_distinct": sum(len(set(g)) for g, _ in rows),
        "predicted_distinct": sum(len(set(p)) for _, p in rows),
        **{name: None if math.isnan(share) else 100 * share for name, share in shares.items()},
    }


def evaluate(gold: list[Tree], predicted: list[Tree], parameters: dict) -> dict[str, dict]:
    """The figures for all sentences and for those up to the cutoff."""
    rows = []
    for g, p in zip(gold, predicted, strict=True):
        assert g.words == p.words
        dropped = {
            i
            for i, token in enumerate(g.tokens)
            if cut(token.tag) in parameters["DELETE_LABEL"] or token.word in parameters["DELETE_WORD"]
        }
        kept = [i for i in range(len(g.tokens)) if i not in dropped]
        right = [i for i in kept if cut(g.tokens[i].tag) == cut(p.tokens[i].tag)]
        pair = brackets(g, dropped, parameters), brackets(p, dropped, parameters)
        rows.append((len(g.tokens), pair, len(kept), len(right)))
    short = [row for row in rows if row[0] <= parameters["CUTOFF_LEN"]]
    return {"all": figures(rows), "cutoff": figures(short)}


def figures(rows: list[tuple[int, tuple[list, list], int, int]]) -> dict[str, object]:
    tokens = sum(row[2] for row in rows)
    return {
        **parseval([row[1] for row in rows], only_disc=False),
        "pos_accuracy": 100 * sum(row[3] for row in rows) / tokens if tokens else None,
        "disc": parseval([row[1] for row in rows], only_disc=True),
    }
