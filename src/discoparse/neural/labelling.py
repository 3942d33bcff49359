"""Labels for the foci of a derivation, or unary chains node by node, coded as one number each.

Shapes: B sentences, T structural steps, H scorer hidden.
"""

from __future__ import annotations

import torch
from torch import Tensor

from discoparse.neural.codes import MOST_ALIKE, longest_chain
from discoparse.neural.lockstep import NO_LABEL
from discoparse.neural.network import Scorers


def label_codes(scorers: Scorers, states: Tensor, final: Tensor) -> tuple[Tensor, Tensor]:
    """The best label of every focus [B, T, H], or its best chain node by node, and its probability, [B, T] each.

    With chains the labeller gives the lowest label first and then, knowing it, the one above or the end; so chains
    that were never seen can come out, if their labels were. It knows only the label below, so one that it puts above
    itself it would put there for ever: it may `MOST_ALIKE` times. A chain is coded as one number, see `spell_code`.
    """
    scores = scorers.label_output(states)  # [B, T, labels]
    count = scores.shape[-1]
    scores[..., NO_LABEL] = scores[..., NO_LABEL].masked_fill(final, -torch.inf)
    log_probability, label = scores.log_softmax(-1).max(-1)
    code, alike = label, torch.ones_like(label)  # `alike`: how many labels on top are the same
    if scorers.above_output is not None and scorers.above_given is not None:
        above = scorers.above_output(states)
        for level in range(1, longest_chain(count)):
            scores = (above + scorers.above_given(label)).log_softmax(-1)
            step, higher = without(scores, label, alike >= MOST_ALIKE).max(-1)
            log_probability = log_probability + torch.where(label != NO_LABEL, step, 0.0)
            higher = torch.where(label != NO_LABEL, higher, NO_LABEL)
            alike, label = torch.where(higher == label, alike + 1, 1), higher
            code = code + label * count**level
            if label.device.type == "cpu" and not label.any():
                break
    return code, log_probability.exp()


def without(scores: Tensor, label: Tensor, tired: Tensor) -> Tensor:
    """Scores [..., L] of what stands above a label [...], where it is `tired` [...] without this label itself."""
    own = scores.gather(-1, label[..., None])
    return scores.scatter(-1, label[..., None], own.masked_fill(tired[..., None], -torch.inf))
