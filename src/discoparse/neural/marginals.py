"""How likely constituents are: shares of sampled derivations, with the labeller's probabilities.

A constituent (X, s) is as likely as s is a focus of a derivation and X a label of s. The first is a share of samples;
the second depends on s alone and is computed, not sampled, so it adds no noise.

Shapes as in `sampling`: X distinct foci, R rows, T structural steps, L labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from discoparse.neural.chains import ChainScores
from discoparse.neural.labelling import label_codes
from discoparse.neural.lockstep import NO_LABEL
from discoparse.neural.network import Scorers
from discoparse.neural.sampling import Samples
from discoparse.neural.scoring import FirstLayers, FoldedScorers

_NEGLIGIBLE = 1e-4  # chains that go on from a label of less probability are not followed


@dataclass(frozen=True)
class Marginals:
    """The foci of some samples with their labels and probabilities."""

    samples: Samples
    code: Tensor  # [X] of the best chain, see `labelling`
    code_probability: Tensor  # [X] of that chain, given the focus, at temperature 1
    expected: Tensor  # [X, L] how many nodes of each label a focus has on average; for NO-LABEL, how often it has none
    tree_probability: Tensor  # [B] of the greedy tree


def labeller_states(folded: FoldedScorers, tokens: Tensor, lengths: Tensor, samples: Samples) -> Tensor:
    """The labeller's state for each focus [X, H], from token vectors [B, N, D]."""
    width = tokens.shape[1]
    rows = tokens[torch.arange(width, device=tokens.device) < lengths[:, None]]  # [M, D] all but padding
    first_row = (lengths.cumsum(0) - lengths)[samples.sentence]
    hidden = len(folded.pair_output)
    layers = FirstLayers(rows, folded, slice(2 * hidden, None))
    (gapped,) = torch.nonzero(samples.positions[:, 2] < width, as_tuple=True)
    return folded.label_hidden_states(layers(first_row[:, None] + samples.positions, gapped))


def marginals(scorers: Scorers, states: Tensor, samples: Samples, temperature: float) -> Marginals:
    """From samples of derivations and the labeller's states of their foci [X, H]."""
    code, probability = label_codes(scorers, states[None], samples.whole[None])
    chains = ChainScores(scorers, states, samples.whole, temperature)
    return Marginals(
        samples,
        code.squeeze(0),
        probability.squeeze(0),
        expected_labels(chains),
        _tree_probability(chains, samples, code.squeeze(0)),
    )


def expected_labels(chains: ChainScores) -> Tensor:
    """How many nodes of each label a focus has on average [X, L]: the sum over the levels of its chain."""
    total = chains.first.exp()
    level = total
    for _ in range(1, chains.longest):
        rows, label = torch.nonzero(level[:, NO_LABEL + 1 :] > _NEGLIGIBLE, as_tuple=True)
        if not len(rows):
            break
        label = label + NO_LABEL + 1
        above = chains.above(rows, label).exp() * level[rows, label, None]
        above[:, NO_LABEL] = 0.0
        level = torch.zeros_like(total).index_add_(0, rows, above)
        total = total + level
    return total


def _tree_probability(chains: ChainScores, samples: Samples, code: Tensor) -> Tensor:
    """Of the tree in each sentence's greedy row [B]: the mean over its samples of the probability of labels that make
    them that tree. A sample whose foci do not include all constituents of the tree cannot become it."""
    greedy = ~samples.sampled
    in_tree = torch.zeros(len(code), dtype=torch.bool, device=code.device)
    in_tree[samples.index[greedy][samples.valid[greedy]]] = True
    wanted = torch.where(in_tree, code, 0)
    log_probability = chains.of_codes(torch.arange(len(code), device=code.device), wanted)
    along = torch.where(samples.valid, log_probability[samples.index], 0.0).sum(1)  # [R]
    found = (samples.valid & (wanted > 0)[samples.index]).sum(1)  # [R] constituents of the tree among the foci
    batch = int(greedy.sum())
    along, found = along.view(batch, -1), found.view(batch, -1)
    complete = found[:, 1:] == found[:, :1]
    return torch.where(complete, along[:, 1:].exp(), 0.0).mean(1)
