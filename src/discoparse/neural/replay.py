"""Derivations read back: which items each structural step joined, and what follows from that.

A derivation comes from the decoder as slots (see `lockstep`). `replay` interprets them; yields and trees are folds over
what it returns. `bracketed` is a fold that interprets slots itself, which takes half the time: most trees are only
written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from discoparse.errors import ComputationError
from discoparse.tree import Node, Token, Tree

SHIFT = -1
# The label of a whole sentence is the best one but NO-LABEL, whatever the scores are, as long as they are numbers.
_NO_ROOT = (
    "a whole sentence got no label, so its scores are not numbers: what the network computes has overflowed. If that "
    "happens again, try --device cpu"
)
Part = tuple[int, Node | int]  # a child of a node to come, after its first token


def replay(slots: Iterable[int]) -> list[int]:
    """For each structural step the earlier step whose focus it combines with its own, or `SHIFT`.

    An item of the memory is a former focus, so the step that made it names it.

    >>> replay([0, 1, 2, 0, 1])  # the last two combine with the foci of steps 0 and 1
    [-1, -1, -1, 0, 1]
    """
    joined = []
    made: dict[int, int] = {}  # by left index, the step that made each item of the memory
    left = upcoming = 0
    for step, slot in enumerate(slots):
        if slot == upcoming:
            made[left] = step - 1
            left = slot
            upcoming += 1
            joined.append(SHIFT)
        else:
            joined.append(made[slot])
            if slot < left:
                left = slot
    return joined


def yields(joined: Iterable[int]) -> list[int]:
    """The focus after each step as a bit mask.

    >>> yields(replay([0, 1, 2, 0, 1]))
    [1, 2, 4, 5, 7]
    """
    foci: list[int] = []
    focus = 0
    token = 1
    for item in joined:
        if item < 0:
            focus = token
            token <<= 1
        else:
            focus |= foci[item]
        foci.append(focus)
    return foci


def bracketed(
    slots: Sequence[int], codes: Sequence[int], leaves: Sequence[str], brackets: Mapping[int, tuple[str, str]]
) -> str:
    """The tree of a derivation as text: `leaves` are the texts of tokens; what opens and closes the nodes of a focus is
    in `brackets` by the code of its labels, of which 0 is none.

    >>> bracketed([0, 1, 2, 0, 1], [0, 0, 0, 2, 3], ["what", "to", "do"], {2: ("(VP ", ")"), 3: ("(SQ (S ", "))")})
    '(SQ (S (VP what do) to))'
    """
    made: dict[int, list[tuple[int, str]]] = {}  # by left index, the parts of each item, after their first tokens
    focus: list[tuple[int, str]] = []
    left = upcoming = 0
    for slot, code in zip(slots, codes, strict=True):
        if slot == upcoming:
            made[left] = focus
            left = slot
            upcoming += 1
            focus = [(slot, leaves[slot])]
        else:
            focus = made[slot] + focus
            if slot < left:
                left = slot
        if code:
            opening, closing = brackets[code]
            if len(focus) == 1:
                ((first, text),) = focus
            else:
                focus.sort()  # first tokens differ, so texts are never compared
                first, text = focus[0][0], " ".join([part for _, part in focus])
            focus = [(first, f"{opening}{text}{closing}")]
    if not code:
        raise ComputationError(_NO_ROOT)
    ((_, text),) = focus
    return text


def build_tree(
    tokens: list[Token],
    joined: Sequence[int],
    chains: Sequence[tuple[str, ...]],
    label_probabilities: Sequence[float] | None = None,
    probabilities: Sequence[Sequence[float]] | None = None,
) -> Tree:
    """The tree of a derivation from the labels that each focus got, from the top down; also, for each focus, the
    probability of its labels and that of each of its nodes.

    >>> tokens = [Token("what", "WP"), Token("to", "TO"), Token("do", "VB")]
    >>> print(build_tree(tokens, replay([0, 1, 2, 0, 1]), [(), (), (), ("VP",), ("SQ", "S")]))
    (SQ (S (VP (WP 0=what) (VB 2=do)) (TO 1=to)))
    """
    foci: list[list[Part]] = []  # the parts of each focus
    focus: list[Part] = []
    upcoming = 0
    for step, item in enumerate(joined):
        if item < 0:
            focus = [(upcoming, upcoming)]
            upcoming += 1
        else:
            focus = foci[item] + focus
        chain = chains[step]
        if chain:
            focus.sort()  # first tokens differ, so nodes are never compared
            first, children = focus[0][0], [part for _, part in focus]
            for k in reversed(range(len(chain))):
                node = Node(chain[k], children)
                if label_probabilities is not None:
                    node.label_probability = round(label_probabilities[step], 6)
                if probabilities is not None:
                    node.probability = round(probabilities[step][k], 6)
                children = [node]
            focus = [(first, node)]
        foci.append(focus)
    if not chain:
        raise ComputationError(_NO_ROOT)
    ((_, root),) = focus
    assert isinstance(root, Node)
    return Tree(tokens, root)
