"""The structural pass for a few sentences is the one for batches: the same actions, the same inputs of the labeller."""

from __future__ import annotations

import pytest
import torch

from discoparse.neural.few import FewScorers, few_pass
from discoparse.neural.network import Network, NetworkConfig
from discoparse.neural.scoring import FoldedScorers
from discoparse.neural.structure import structural_pass

_SIZES = {"word_size": 5, "character_size": 4, "character_hidden": 3, "hidden": 8, "scorer_hidden": 7}


@pytest.mark.parametrize("seed", range(8))
def test_few_sentences_take_the_steps_that_a_batch_takes(seed):
    torch.manual_seed(seed)
    config = NetworkConfig(words=5, characters=5, tags=3, labels=4, **_SIZES)
    scorers = Network(config).eval().scorers
    lengths = torch.tensor([1, 2, 3, 7, 12, 20])
    tokens = torch.randn(len(lengths), int(lengths.max()), 2 * config.hidden)
    with torch.inference_mode():
        for parameter in scorers.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
        actions, states = structural_pass(scorers, tokens, lengths)
        few_actions, few_states = few_pass(FewScorers(FoldedScorers.of(scorers)), tokens, lengths)
    for b, n in enumerate(lengths.tolist()):
        assert few_actions[b, : 2 * n - 1].tolist() == actions[b, : 2 * n - 1].tolist()
        torch.testing.assert_close(few_states[b, : 2 * n - 1], states[b, : 2 * n - 1], atol=1e-4, rtol=1e-4)
