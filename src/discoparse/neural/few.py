"""The structural pass for a few sentences on a CPU: sets as integers, tensors only for the scores.

`structure.structural_pass` advances a batch with some thirty tensor operations a step, whose overhead is most of the
time if the batch is a sentence or two. Here a step is a handful of them, a sentence at a time. Tests prove that both do
the same.
"""

from __future__ import annotations

from bisect import insort

import torch
from torch import Tensor

from discoparse.neural.scoring import FoldedScorers

FEW = 4  # sentences; for more, a batch is faster


class FewScorers:
    """The scorers' parameters, laid out for single sets."""

    def __init__(self, scorers: FoldedScorers) -> None:
        self.folded = scorers
        self.boundaries = scorers.ends.flatten(0, 1).T.contiguous()  # [D, 2 x 3H]

    def derive(self, tokens: Tensor) -> tuple[list[int], Tensor]:
        """The greedy derivation of a sentence [N, D]: slots of the actions, and the labeller's first layer [T, H]."""
        folded = self.folded
        n, hidden = len(tokens), len(folded.pair_output)
        as_left, as_right = tokens.mm(self.boundaries).split(3 * hidden, 1)  # [N, 3H]
        as_left = as_left + folded.bias
        # In the slot of each item of the memory its part of the first layer; at first, of the token as a singleton.
        items = as_left[:, :hidden] + as_right[:, :hidden]
        first_layers = []
        actions = [0]
        memory: list[int] = []  # slots in order
        sets = [0] * n  # by slot, the item as a bit mask
        focus, left, upcoming = 1, 0, 1
        for _ in range(2 * n - 1):
            first_layer = as_left[left] + as_right[upcoming - 1]
            gap = ~focus & ((1 << upcoming - 1) - (1 << left))
            if gap:
                ends = torch.cat([tokens[_lowest(gap)], tokens[_highest(gap)]])
                first_layer += folded.gap.mv(ends) - folded.nil_gap
            first_layers.append(first_layer)
            slots = [*memory, upcoming] if upcoming < n else memory
            if not slots:
                break
            slot = slots[0]
            if len(slots) > 1:
                pairs = items[torch.tensor(slots)] + first_layer[hidden : 2 * hidden]
                slot = slots[int(folded.pair_scores(pairs).argmax())]
            actions.append(slot)
            if slot == upcoming:
                insort(memory, left)
                sets[left], items[left] = focus, first_layer[:hidden]
                focus, left = 1 << slot, slot
                upcoming += 1
            else:
                memory.remove(slot)
                focus |= sets[slot]
                left = min(left, slot)
        return actions, torch.stack(first_layers)[:, 2 * hidden :]


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _highest(mask: int) -> int:
    return mask.bit_length() - 1


def few_pass(scorers: FewScorers, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """What `structural_pass` gives: token vectors [B, N, D], lengths [B] -> slots [B, T], labeller states [B, T, H]."""
    batch, width = tokens.shape[:2]
    actions = torch.zeros(batch, 2 * width - 1, dtype=torch.long)
    label_inputs = tokens.new_zeros(batch, 2 * width - 1, len(scorers.folded.pair_output))
    for b, n in enumerate(lengths.tolist()):
        slots, inputs = scorers.derive(tokens[b, :n])
        actions[b, : 2 * n - 1] = torch.tensor(slots)
        label_inputs[b, : 2 * n - 1] = inputs
    return actions, scorers.folded.label_hidden_states(label_inputs)
