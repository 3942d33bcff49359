"""The training objective of Section 3.5: every decision of a batch of derivations as one row of flat tensors.

Shapes: F focus items (2n-1 a sentence), R pairs of a focus and one of its legal actions, B x N tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from discoparse.neural.lockstep import Trace
from discoparse.neural.network import Scorers, look_up


@dataclass
class Decisions:
    """The decisions of a batch. A focus is at once the subject of a labelling decision and of the next structural one.

    Tokens are rows of `Scorers.with_nil`. Items are former foci (their row) or, for SHIFT, the singleton of the next
    token (F + its row).
    """

    focus: Tensor  # [F, 4] token rows
    label: Tensor  # [F] gold label ids
    pair_focus: Tensor  # [R] row of the focus that decides
    pair_item: Tensor  # [R]
    pair_optimal: Tensor  # [R] whether the oracle wants this action


def decisions_of(trace: Trace, lengths: np.ndarray) -> Decisions:
    """Flatten the record of a batch [B, T, ...]; `lengths` [B] are on the host, so that a device need not be asked."""
    batch, steps, width = trace.entered.shape
    device = trace.entered.device
    counts = 2 * lengths - 1  # foci of each sentence
    first = counts.cumsum() - counts
    sentence = np.repeat(np.arange(batch), counts)
    made = torch.from_numpy(sentence * steps + np.arange(len(sentence)) - first[sentence]).to(device)  # [F] in [B x T]
    row = torch.full((batch * steps,), -1, device=device)
    row[made] = torch.arange(len(made), device=device)  # row of the focus made at each step
    row = row.view(batch, steps)
    base = torch.arange(batch, device=device)[:, None] * width  # [B, 1]
    tokens = torch.where(trace.focus == width, batch * width, base[:, :, None] + trace.focus)

    slots = torch.arange(width, device=device)
    combine = trace.entered >= 0  # [B, T, N]
    legal = (combine | (slots == trace.next[:, :, None])) & (row >= 0)[:, :, None]
    b, t, slot = torch.nonzero(legal, as_tuple=True)
    step = trace.entered[b, t, slot]
    return Decisions(
        tokens.flatten(0, 1)[made],
        trace.label.flatten()[made],
        row[b, t],
        torch.where(step >= 0, row[b, step.clamp(min=0)], len(made) + b * width + slot),
        trace.optimal[b, t, slot],
    )


def factored_inputs(scorers: Scorers, rows: Tensor, decisions: Decisions) -> tuple[Tensor, Tensor]:
    """First layers of FF_s [R, H] and FF_l [F, H] from token rows [M, D], every token projected once."""
    table = scorers.project(rows)  # [4 M, 3H]
    position = torch.arange(4, device=rows.device)
    sums = look_up(table, decisions.focus * 4 + position).sum(1) + scorers.projection_bias  # [F, 3H]
    item, focus, label = sums.chunk(3, 1)
    by_token = table.view(len(rows), 4, 3, -1)[:, :, 0]  # [M, 4, H], as items
    singleton = by_token[:-1, :2].sum(1) + by_token[-1, 2:].sum(0)  # [M - 1, H]
    items = torch.cat([item, singleton])
    pairs = look_up(items, decisions.pair_item) + look_up(focus, decisions.pair_focus)
    return pairs, label


def plain_inputs(scorers: Scorers, rows: Tensor, decisions: Decisions) -> tuple[Tensor, Tensor]:
    """The same from r(s), with the paper's dropout: a mask of its own for each prediction."""
    foci = scorers.represent(rows, decisions.focus)  # [F, 4 D]
    token = torch.arange(len(rows) - 1, device=rows.device)
    nil = torch.full_like(token, len(rows) - 1)
    singletons = scorers.represent(rows, torch.stack([token, token, nil, nil], 1))
    items = torch.cat([foci, singletons])
    pairs = scorers.pair_first(items[decisions.pair_item], foci[decisions.pair_focus])
    return pairs, scorers.label_first(foci)


def structural_loss(scores: Tensor, decisions: Decisions) -> Tensor:
    """Minus the log-probability of the optimal actions, summed over structural decisions; scores are [R]."""
    count = len(decisions.focus)
    everything = _log_sum_exp(scores, decisions.pair_focus, count)
    wanted = _log_sum_exp(scores.masked_fill(~decisions.pair_optimal, -torch.inf), decisions.pair_focus, count)
    # A focus without a following decision (the last of a sentence) has no pairs: both sums are minus infinity.
    decided = torch.isfinite(everything)
    return torch.where(decided, everything - wanted, 0.0).sum()


def _log_sum_exp(scores: Tensor, segment: Tensor, count: int) -> Tensor:
    """Segmented log-sum-exp: [R], [R] -> [count]; minus infinity for empty segments."""
    top = torch.full((count,), -torch.inf, device=scores.device)
    top = top.scatter_reduce(0, segment, scores.detach(), "amax")
    shift = torch.where(torch.isfinite(top), top, 0.0)
    total = torch.zeros_like(top).index_add(0, segment, (scores - shift[segment]).exp())
    return shift + total.clamp(min=1e-38).log().where(total > 0, -torch.inf)


def label_loss(scorers: Scorers, states: Tensor, targets: Tensor, chains: Tensor) -> Tensor:
    """Minus the log-probability of the gold labels, summed over foci; states are [F, H].

    `chains` [labels of the treebank, depth] spells out each gold label bottom-up, ends with NO-LABEL and is padded
    with -1; one label a row when chains are labelled as a whole.
    """
    spelled = chains[targets]  # [F, depth]
    loss = F.cross_entropy(scorers.label_output(states), spelled[:, 0], reduction="sum")
    if scorers.above_output is not None and scorers.above_given is not None:
        given = spelled[:, :-1].clamp(min=0)
        scores = scorers.above_output(states)[:, None] + look_up(scorers.above_given.weight, given)
        targets = spelled[:, 1:].flatten()
        loss = loss + F.cross_entropy(scores.flatten(0, 1), targets, reduction="sum", ignore_index=-1)
    return loss
