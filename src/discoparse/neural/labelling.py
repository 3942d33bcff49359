"""Labels for the foci of a derivation, or unary chains node by node, coded as one number each.

Shapes: B sentences, T structural steps, H scorer hidden.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from discoparse.neural.lockstep import NO_LABEL
from discoparse.neural.network import Scorers
from discoparse.neural.vocabulary import Vocabulary


def label_codes(scorers: Scorers, states: Tensor, final: Tensor) -> tuple[Tensor, Tensor]:
    """The best label of every focus [B, T, H], or its best chain node by node, and its probability, [B, T] each.

    With chains the labeller gives the lowest label first and then, knowing it, the one above or the end; so chains
    that were never seen can come out, if their labels were. A chain is coded as one number, see `spell_code`.
    """
    scores = scorers.label_output(states)  # [B, T, labels]
    count = scores.shape[-1]
    scores[..., NO_LABEL] = scores[..., NO_LABEL].masked_fill(final, -torch.inf)
    log_probability, label = scores.log_softmax(-1).max(-1)
    code = label
    if scorers.above_output is not None and scorers.above_given is not None:
        above = scorers.above_output(states)
        for level in range(1, longest_chain(count)):
            step, higher = (above + scorers.above_given(label)).log_softmax(-1).max(-1)
            log_probability = log_probability + torch.where(label != NO_LABEL, step, 0.0)
            label = torch.where(label != NO_LABEL, higher, NO_LABEL)
            code = code + label * count**level
            if label.device.type == "cpu" and not label.any():
                break
    return code, log_probability.exp()


def longest_chain(labels: int) -> int:
    """How many nodes of one yield the labeller may stack: treebanks have at most five or six.

    >>> longest_chain(30), longest_chain(2**20)  # a chain's code must fit into 64 bits
    (6, 3)
    """
    return min(6, int(62 / math.log2(labels + 1)))


def spell_code(code: int, labels: int) -> tuple[int, ...]:
    """The label ids of a chain from the top down; its code has the lowest label as its lowest digit.

    >>> spell_code(7 + 3 * 100, 100)
    (3, 7)
    """
    digits = []
    while code:
        code, digit = divmod(code, labels)
        digits.append(digit)
    return tuple(reversed(digits))


class Chains(dict[int, tuple[str, ...]]):
    """Label chains from the top down by their codes (see `spell_code`), spelled on first use; empty for code 0."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.labels = vocabulary.labels

    def __missing__(self, code: int) -> tuple[str, ...]:
        ids = spell_code(code, len(self.labels) + 1)
        self[code] = tuple(name for k in ids for name in self.labels[k - 1])
        return self[code]
