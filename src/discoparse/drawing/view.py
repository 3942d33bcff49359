"""What a picture shows of a tree: all of it or a subtree, with or without root and punctuation, roofs over phrases."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from discoparse.drawing.compare import Differences, check_same_sentence, compare_trees
from discoparse.drawing.options import HIDDEN_PUNCTUATION, HIDDEN_ROOT, Options
from discoparse.drawing.words import Word, joined, words_of
from discoparse.errors import DiscoparseError, UsageError
from discoparse.transform.functions import split_label
from discoparse.transform.punctuation import is_punctuation
from discoparse.tree import Node, Token, Tree, blocks, indexes

GAP = "…"  # stands for the tokens in a gap of a subtree
_VIRTUAL = ("ROOT", "TOP", "VROOT")  # labels of roots that only hold a sentence together, as those without a label do
_TOKENS = re.compile(r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*", re.ASCII)


@dataclass(frozen=True)
class View:
    """A tree of what is drawn, and how it is drawn."""

    tree: Tree
    words: list[Word]
    roofs: frozenset[Node] = frozenset()  # drawn as triangles; their children are tokens side by side
    rootless: bool = False  # the root only holds the rest together and is not drawn


def views_of(tree: Tree, compare: Tree | None, options: Options) -> tuple[list[View], Differences | None]:
    """The view of a tree, or those of a gold and a predicted tree with their differences."""
    if compare is not None:
        if options.subtree is not None:
            raise UsageError("a subtree is drawn alone: leave out --subtree, or the second file")
        check_same_sentence(tree, compare)
    cut = [_cut_out(t.copy(), tree, options) for t in (tree, compare) if t is not None]
    differences = None
    shown: list[set[Node]] = [set()]  # the nodes that keep their branches
    if compare is not None:
        hidden = {part.root for part, _, rootless in cut if rootless}
        differences = compare_trees(cut[0][0], cut[1][0], hidden)
        shown = _over_differences(cut[0][0], cut[1][0], differences)
    views = []
    for (part, kept, rootless), branching, source in zip(cut, shown, (tree, compare or tree), strict=False):
        roofs = _raise_roofs(part, options.roof, branching)
        words = words_of(part, options, source, kept)
        for roof in roofs if options.gloss is None else ():  # glosses need the words one by one
            words = joined(words, min(roof.children), max(roof.children))  # type: ignore[type-var, arg-type]
        views.append(View(part, words, roofs, rootless))
    return views, differences


def _cut_out(tree: Tree, judge: Tree, options: Options) -> tuple[Tree, list[int | None], bool]:
    """The part of a tree that is drawn, the places of its tokens in the sentence (None for what stands for a gap), and
    whether its root is not drawn. In comparisons, the gold tree is the `judge` of what is punctuation."""
    top = tree.root if options.subtree is None else find_subtree(tree, options.subtree)
    own = indexes(tree.masks()[top])
    hidden = {i for i, token in enumerate(judge.tokens) if is_punctuation(token)}
    if HIDDEN_PUNCTUATION not in options.hide or hidden.issuperset(own):  # what is nothing else keeps its punctuation
        hidden = set()
    wanted, inside = [i for i in own if i not in hidden], set(own)
    kept: list[int | None] = []
    for i in range(wanted[0], wanted[-1] + 1):
        if i in inside:
            kept += [] if i in hidden else [i]
        elif kept[-1] is not None and i not in hidden:
            kept.append(None)
    numbers = {i: k for k, i in enumerate(kept) if i is not None}
    tokens = [Token(GAP, "") if i is None else tree.tokens[i] for i in kept]
    top = _with_tokens(tree, top, numbers)
    gaps: list[Node | int] = [k for k, i in enumerate(kept) if i is None]
    rootless = bool(gaps)
    if gaps:
        top = Node("", [top, *gaps])
    elif not top.label or (HIDDEN_ROOT in options.hide and top.label in _VIRTUAL):
        rootless = len(top.children) > 1 or isinstance(top.children[0], int)
        top = top if rootless else top.children[0]  # type: ignore[assignment]
    part = Tree(tokens, top, tree.id)
    part.sort()
    return part, kept, rootless


def _with_tokens(tree: Tree, top: Node, numbers: dict[int, int]) -> Node:
    """The nodes below `top` over some of the tokens, with their new numbers; nodes left empty vanish."""
    for node in Tree(tree.tokens, top).postorder():
        children = (numbers.get(c) if isinstance(c, int) else c for c in node.children)
        node.children = [c for c in children if isinstance(c, int) or (c is not None and c.children)]
    return top


def find_subtree(tree: Tree, wanted: str) -> Node:
    """The node that a user means: `NP` the first of this label, `NP:2` the second, from the top and from left to right;
    `3-5,8` the smallest that contains these tokens, counted from 1.

    >>> from discoparse.treebank.discbracket import parse_tree
    >>> tree = parse_tree("(S (VP (NP (WP 0=what)) (VB 3=do)) (MD 1=must) (NP (PRP 2=we)))")
    >>> masks = tree.masks()
    >>> [indexes(masks[find_subtree(tree, wanted)]) for wanted in ("VP", "NP:2", "1,4")]
    [[0, 3], [2], [0, 3]]
    """
    if _TOKENS.fullmatch(wanted):
        return _smallest_over(tree, wanted)
    name, colon, number = wanted.rpartition(":")
    if not colon or not number.isascii() or not number.isdecimal():
        name, number = wanted, "1"
    found = [node for node in tree.preorder() if _has_label(node, name)]
    if not 1 <= int(number) <= len(found):
        raise DiscoparseError(f"there is no subtree {wanted}: the tree has {len(found)} nodes {name}")
    return found[int(number) - 1]


def _smallest_over(tree: Tree, wanted: str) -> Node:
    mask = 0
    for part in wanted.split(","):
        first, _, last = part.partition("-")
        start, end = int(first), int(last or first)
        if not 1 <= start <= end <= len(tree):
            raise DiscoparseError(f"there are no tokens {part}: the sentence has {len(tree)}, counted from 1")
        mask |= (1 << end) - (1 << (start - 1))
    masks = tree.masks()
    over = [node for node in tree.preorder() if masks[node] & mask == mask]
    return min(over, key=lambda node: masks[node].bit_count())  # of a unary chain, the first is the uppermost


def _has_label(node: Node, name: str) -> bool:
    """Whether a node has this label, function tags aside."""
    return name in (node.label, split_label(node.label).category)


def _raise_roofs(tree: Tree, labels: Collection[str], branching: Collection[Node]) -> frozenset[Node]:
    """Put roofs on the nodes with these labels, the uppermost ones below the root that are not to keep their branches.

    A roof stands over each contiguous block of tokens; where there are several, each has a node without a label.
    """
    roofs: set[Node] = set()
    if not labels:
        return frozenset()
    masks = tree.masks()
    stack = [child for child in tree.root.children if isinstance(child, Node)]
    while stack:
        node = stack.pop()
        if node in branching or not any(_has_label(node, name) for name in labels):
            stack += [child for child in node.children if isinstance(child, Node)]
            continue
        for i in indexes(masks[node]):
            tree.tokens[i].tag, tree.tokens[i].edge = "", None
        parts = [list(range(first, last + 1)) for first, last in blocks(masks[node])]
        if len(parts) == 1:
            node.children = list(parts[0])
            roofs.add(node)
        else:
            node.children = [part[0] if len(part) == 1 else Node("", list(part)) for part in parts]
            roofs.update(child for child in node.children if isinstance(child, Node))
    return frozenset(roofs)


def _over_differences(gold: Tree, predicted: Tree, differences: Differences) -> list[set[Node]]:
    """The nodes of both trees with a difference below them, in their own tree or in the same place of the other."""
    found: list[set[Node]] = []
    sides = [(gold, differences.gold), (predicted, differences.predicted)]
    for (tree, marks), (other, marks_of_other) in (sides, sides[::-1]):
        masks, masks_of_other = tree.masks(), other.masks()
        elsewhere = {masks_of_other[node] for node in marks_of_other if isinstance(node, Node)}
        over: set[Node] = set()
        for node in tree.postorder():
            below = any(child in marks or child in over for child in node.children)
            if below or any(mask != masks[node] and mask & ~masks[node] == 0 for mask in elsewhere):
                over.add(node)
        found.append(over)
    return found
