"""Label chains node by node: a label that wants to stand above itself for ever does not."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from compiled_networks import CONFIGS, LENGTHS, compiled, inside, network_of

from discoparse.neural.chains import ChainScores
from discoparse.neural.codes import longest_chain, spell_code
from discoparse.neural.compiled.library import supported
from discoparse.neural.few import FewScorers, few_pass
from discoparse.neural.labelling import label_codes
from discoparse.neural.network import Network, Scorers
from discoparse.neural.scoring import FoldedScorers

COUNT = CONFIGS[0].labels


def greedy(selfish: int) -> Network:
    """A network whose labels hardly ever end, and one of them stands above itself wherever it can."""
    network = network_of(CONFIGS[0], stored=False)
    assert network.scorers.above_output is not None
    assert network.scorers.above_given is not None
    network.scorers.above_output.bias[0] -= 3
    network.scorers.above_given.weight[selfish, selfish] += 50
    return network


def chain_of(scorers: Scorers, state: torch.Tensor, must: bool) -> tuple[int, ...]:
    """As the definition has it: the best lowest label, then the best above each, a label twice in a row at most; from
    the top down."""
    first = scorers.label_output(state)
    chain = [int(first[1:].argmax()) + 1 if must else int(first.argmax())]
    while chain[-1] and len(chain) < longest_chain(COUNT):
        assert scorers.above_output is not None
        assert scorers.above_given is not None
        scores = scorers.above_output(state) + scorers.above_given.weight[chain[-1]]
        if chain[-2:] == 2 * chain[-1:]:
            scores[chain[-1]] = -torch.inf
        chain.append(int(scores.argmax()))
    return tuple(reversed([label for label in chain if label]))


@pytest.mark.parametrize("selfish", range(1, COUNT))
def test_no_label_stands_three_times_above_itself(selfish: int) -> None:
    scorers = greedy(selfish).scorers
    torch.manual_seed(selfish)
    states, must = torch.randn(1, 60, CONFIGS[0].scorer_hidden), torch.rand(1, 60) < 0.5
    codes, probabilities = label_codes(scorers, states, must)
    chains = [spell_code(code, COUNT) for code in codes[0].tolist()]
    assert chains == [chain_of(scorers, state, bool(m)) for state, m in zip(states[0], must[0], strict=True)]
    assert any(chain[k : k + 2] == (selfish, selfish) for chain in chains for k in range(len(chain)))
    scores, rows = ChainScores(scorers, states[0], must[0]), torch.arange(60)
    assert torch.allclose(scores.of_codes(rows, codes[0]).exp(), probabilities[0], atol=1e-6)
    assert scores.completed(rows, codes[0] % COUNT).tolist() == codes[0].tolist()
    drawn = scores.sample(torch.arange(60).repeat(20))  # samples follow the probabilities
    assert any(spell_code(code, COUNT)[:3] == 3 * (selfish,) for code in drawn.tolist())


@pytest.mark.parametrize("kind", supported())
@pytest.mark.parametrize("selfish", range(1, COUNT))
def test_nor_in_the_compiled_network(selfish: int, kind: str) -> None:
    network = greedy(selfish)
    first, last = torch.rand(2, len(LENGTHS), max(LENGTHS), 2 * CONFIGS[0].hidden) * 2 - 1
    lengths = torch.tensor(LENGTHS)
    actions, states = few_pass(FewScorers(FoldedScorers.of(network.scorers)), last, lengths)
    final = torch.arange(actions.shape[1]) == (2 * lengths - 2)[:, None]
    codes, probabilities = label_codes(network.scorers, states, final)
    found = compiled(network, kind).decide(np.array(LENGTHS), inside(first).numpy(), inside(last).numpy())
    steps = torch.arange(actions.shape[1]) < (2 * lengths - 1)[:, None]
    assert found.codes.tolist() == codes[steps].tolist()
    assert np.allclose(found.probabilities, probabilities[steps].numpy(), atol=1e-4)
