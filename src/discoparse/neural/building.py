"""Trees from the decisions of the transition system."""

from __future__ import annotations

from collections.abc import Sequence

from discoparse.tree import Node, Token, Tree

Part = tuple[int, Node | int]  # a child of a node to come, after its first token


def build_tree(
    tokens: list[Token],
    actions: Sequence[int],
    chains: Sequence[tuple[str, ...]],
    probabilities: Sequence[float] | None = None,
) -> Tree:
    """Replay a derivation: the slot of each structural action (see `lockstep`), and the labels that its focus got,
    from the top down, with their probability.

    >>> tokens = [Token("what", "WP"), Token("to", "TO"), Token("do", "VB")]
    >>> print(build_tree(tokens, [0, 1, 2, 0, 1], [(), (), (), ("VP",), ("SQ", "S")]))
    (SQ (S (VP (WP 0=what) (VB 2=do)) (TO 1=to)))
    """
    memory: list[list[Part]] = [[] for _ in tokens]  # by left index, the parts of each item
    focus: list[Part] = []
    left = upcoming = 0
    for step, (slot, chain) in enumerate(zip(actions, chains, strict=False)):
        if slot == upcoming:
            memory[left] = focus
            focus, left = [(slot, slot)], slot
            upcoming += 1
        else:
            focus = memory[slot] + focus
            if slot < left:
                left = slot
        if chain:
            focus.sort()  # first tokens differ, so that nodes are never compared
            children = [part for _, part in focus]
            for label in reversed(chain):
                node = Node(label, children)
                if probabilities is not None:
                    node.probability = round(probabilities[step], 6)
                children = [node]
            focus = [(left, node)]
    ((_, root),) = focus
    assert isinstance(root, Node)
    return Tree(tokens, root)
