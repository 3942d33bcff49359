"""Trees from the decisions of the transition system."""

from __future__ import annotations

from collections.abc import Sequence

from discoparse.tree import Node, Token, Tree


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
    memory: list[list[Node | int]] = [[] for _ in tokens]  # by left index, the parts of each item in order
    first_of: list[list[int]] = [[] for _ in tokens]  # the first token of each of those parts
    focus: list[Node | int] = []
    firsts: list[int] = []
    left = upcoming = 0
    for step, (slot, chain) in enumerate(zip(actions, chains, strict=False)):
        if slot == upcoming:
            memory[left], first_of[left] = focus, firsts
            focus, firsts, left = [slot], [slot], slot
            upcoming += 1
        else:
            focus, firsts = _merge(memory[slot], first_of[slot], focus, firsts)
            left = min(left, slot)
        for label in reversed(chain):
            node = Node(label, focus)
            if probabilities is not None:
                node.probability = round(probabilities[step], 6)
            focus, firsts = [node], [left]
    (root,) = focus
    assert isinstance(root, Node)
    return Tree(tokens, root)


def _merge(
    parts: list[Node | int], firsts: list[int], others: list[Node | int], other_firsts: list[int]
) -> tuple[list[Node | int], list[int]]:
    """The parts of two sets in the order of their first tokens, and these."""
    if firsts[-1] < other_firsts[0]:
        return parts + others, firsts + other_firsts
    merged = dict(zip(firsts + other_firsts, parts + others, strict=True))
    order = sorted(merged)
    return [merged[first] for first in order], order
