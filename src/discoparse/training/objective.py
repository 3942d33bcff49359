"""The training objective of Section 3.5: every decision of a batch of derivations as one row of flat tensors.

Shapes: F focus items (2n-1 a sentence), R pairs of a focus and one of its legal actions, B x N tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from discoparse.neural.lockstep import Trace
from discoparse.neural.network import Scorers, look_up

# Pairs are scored in parts of about this many numbers of the widest layer (167,000 pairs in the usual
# network). Ordinary batches fit into one part; a right-branching tree of n tokens has n (n - 1) pairs.
_NUMBERS_AT_ONCE = 1 << 25
IGNORED = -100  # no gold label, no best action


@dataclass
class Choices:
    """What there is to decide in a batch. Each focus is labelled, and then decides about the next structural action.

    Tokens are rows of `Scorers.with_nil`. Items are former foci (their row) or, for SHIFT, the singleton of the next
    token (F + its row).
    """

    focus: Tensor  # [F, 4] token rows
    label: Tensor  # [F] gold label ids
    pair_focus: Tensor  # [R] row of the focus that decides
    pair_item: Tensor  # [R]


@dataclass
class Decisions(Choices):
    """The same with what the oracle wants."""

    pair_optimal: Tensor  # [R] whether the oracle wants this action
    nil: int  # the row of nil


def decisions_of(trace: Trace, lengths: np.ndarray) -> Decisions:
    """Flatten the record of a batch [B, T, ...]; `lengths` [B] are on the host, to avoid a device sync."""
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
        batch * width,
    )


@dataclass
class FirstLayers:
    """The first layers of both scorers before their tanh, for all decisions of a batch."""

    pairs: Callable[[Tensor, Tensor], Tensor]  # of FF_s, from rows of items [r] and of foci [r]: [r, H]
    width: int  # numbers that `pairs` computes for each pair, those on the way included
    labels: Tensor  # of FF_l [F, H]


def factored_inputs(scorers: Scorers, rows: Tensor, choices: Choices) -> FirstLayers:
    """First layers from token rows [M, D], every token projected once."""
    table = scorers.project(rows)  # [4 M, 3H]
    position = torch.arange(4, device=rows.device)
    sums = look_up(table, choices.focus * 4 + position).sum(1) + scorers.projection_bias  # [F, 3H]
    item, foci, labels = sums.chunk(3, 1)
    by_token = table.view(len(rows), 4, 3, -1)[:, :, 0]  # [M, 4, H], as items
    singleton = by_token[:-1, :2].sum(1) + by_token[-1, 2:].sum(0)  # [M - 1, H]
    items = torch.cat([item, singleton])
    return FirstLayers(lambda item, focus: look_up(items, item) + look_up(foci, focus), items.shape[1], labels)


def plain_inputs(scorers: Scorers, rows: Tensor, choices: Choices) -> FirstLayers:
    """The same from r(s), with the paper's dropout: one mask per prediction."""
    foci = scorers.represent(rows, choices.focus)  # [F, 4 D]
    token = torch.arange(len(rows) - 1, device=rows.device)
    nil = torch.full_like(token, len(rows) - 1)
    singletons = scorers.represent(rows, torch.stack([token, token, nil, nil], 1))
    items = torch.cat([foci, singletons])
    return FirstLayers(
        lambda item, focus: scorers.pair_first(look_up(items, item), look_up(foci, focus)),
        scorers.pair_input.in_features,
        scorers.label_first(foci),
    )


def parsing_losses(
    scorers: Scorers, last: Tensor, decisions: Decisions, chains: Tensor, gap_weight: float = 1.0
) -> tuple[Tensor, Tensor]:
    """Negative log-likelihoods of the structural and the labelling actions, summed, from token vectors [B, N, D]."""
    first = first_layers(scorers, last, decisions)
    structure = structural_loss(score_pairs(scorers, first, decisions), decisions, gap_weight)
    labels = label_loss(scorers, scorers.label_hidden_states(first.labels), decisions.label, chains)
    return structure, labels


def first_layers(scorers: Scorers, last: Tensor, choices: Choices) -> FirstLayers:
    """First layers from token vectors [B, N, D]: the plain way where their input has dropout."""
    inputs = plain_inputs if scorers.dropout.scorer else factored_inputs
    return inputs(scorers, scorers.with_nil(last), choices)


def tagging_loss(scores: Tensor, gold: Tensor) -> Tensor:
    """Negative log-likelihood of the gold tags, summed over tokens, from [B, N, tags] and [B, N]; -1 is padding."""
    return F.cross_entropy(scores.flatten(0, 1), gold.flatten(), ignore_index=-1, reduction="sum")


def score_pairs(scorers: Scorers, first: FirstLayers, choices: Choices) -> Tensor:
    """FF_s of every pair [R].

    Where there are very many, only one part of them is in memory at a time: the gradient computes it again.
    """

    def score(item: Tensor, focus: Tensor) -> Tensor:
        return scorers.pair_scores(first.pairs(item, focus))

    at_once = scored_at_once(first.width)
    if len(choices.pair_item) <= at_once:
        return score(choices.pair_item, choices.pair_focus)
    parts = zip(choices.pair_item.split(at_once), choices.pair_focus.split(at_once), strict=True)
    return torch.cat([checkpoint(score, item, focus, use_reentrant=False) for item, focus in parts])


def scored_at_once(width: int) -> int:
    """How many pairs are scored at once, if each takes `width` numbers."""
    return max(1, _NUMBERS_AT_ONCE // width)


def structural_loss(scores: Tensor, decisions: Decisions, gap_weight: float = 1.0) -> Tensor:
    """Negative log-likelihood of the optimal actions, summed over structural decisions; scores are [R].

    Decisions with an optimal action that makes a discontinuous constituent count `gap_weight` times.
    """
    count = len(decisions.focus)
    everything = _log_sum_exp(scores, decisions.pair_focus, count)
    wanted = _log_sum_exp(scores.masked_fill(~decisions.pair_optimal, -torch.inf), decisions.pair_focus, count)
    # A focus without a following decision (the last of a sentence) has no pairs: both sums are minus infinity.
    decided = torch.isfinite(everything)
    losses = torch.where(decided, everything - wanted, 0.0)
    return (losses * _gap_weights(decisions, gap_weight)).sum() if gap_weight != 1 else losses.sum()


def single_loss(scores: Tensor, pair_focus: Tensor, best: Tensor) -> Tensor:
    """What `structural_loss` is where every decision has one optimal action: the pair `best` [F] of each focus.

    It takes a table of foci and pairs, which few kernels go through. A focus that decides nothing has `IGNORED`.
    """
    mine = pair_focus == torch.arange(len(best), device=scores.device)[:, None]  # [F, R]
    table = torch.where(mine, scores, torch.finfo(scores.dtype).min)
    return F.cross_entropy(table, best, ignore_index=IGNORED, reduction="sum")


def _gap_weights(decisions: Decisions, weight: float) -> Tensor:
    """For every focus [F] the weight of its decision: `weight` where an optimal COMBINE leaves a gap, else 1.

    A set is known by its ends and those of its gap here, so two sets with gaps count as leaving one even where they
    interleave and leave none, which is rare.
    """
    chosen = decisions.pair_optimal & (decisions.pair_item < len(decisions.focus))  # optimal COMBINEs
    deciding = decisions.pair_focus[chosen]
    item, focus = decisions.focus[decisions.pair_item[chosen]], decisions.focus[deciding]  # [r, 4] each
    nil = decisions.nil
    whole = (item[:, 2] == nil) & (focus[:, 2] == nil)
    joined = whole & ((item[:, 1] + 1 == focus[:, 0]) | (focus[:, 1] + 1 == item[:, 0]))
    filled = _fills(item, focus, nil) | _fills(focus, item, nil)
    weights = torch.ones(len(decisions.focus), device=focus.device)
    return weights.index_fill(0, deciding[~(joined | filled)], weight)


def _fills(one: Tensor, other: Tensor, nil: int) -> Tensor:
    """Whether a set without a gap is just the gap of the other: [r, 4] twice -> [r]."""
    return (one[:, 2] == nil) & (one[:, 0] == other[:, 2]) & (one[:, 1] == other[:, 3])


def _log_sum_exp(scores: Tensor, segment: Tensor, count: int) -> Tensor:
    """Segmented log-sum-exp: [R], [R] -> [count]; minus infinity for empty segments."""
    top = torch.full((count,), -torch.inf, device=scores.device)
    top = top.scatter_reduce(0, segment, scores.detach(), "amax")
    shift = torch.where(torch.isfinite(top), top, 0.0)
    total = torch.zeros_like(top).index_add(0, segment, (scores - shift[segment]).exp())
    return shift + total.clamp(min=1e-38).log().where(total > 0, -torch.inf)


def label_loss(scorers: Scorers, states: Tensor, targets: Tensor, chains: Tensor) -> Tensor:
    """Negative log-likelihood of the gold labels, summed over foci; states are [F, H].

    `chains` [labels of the treebank, depth] spells out each gold label bottom-up, ends with NO-LABEL and is padded
    with -1; where chains are labelled as a whole, each row has one label.
    """
    spelled = chains[targets]  # [F, depth]
    loss = F.cross_entropy(scorers.label_output(states), spelled[:, 0], reduction="sum")
    if scorers.above_output is not None and scorers.above_given is not None:
        given = spelled[:, :-1].clamp(min=0)
        scores = scorers.above_output(states)[:, None] + look_up(scorers.above_given.weight, given)
        targets = spelled[:, 1:].flatten()
        loss = loss + F.cross_entropy(scores.flatten(0, 1), targets, reduction="sum", ignore_index=-1)
    return loss
