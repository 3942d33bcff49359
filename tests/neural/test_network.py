"""The network of Section 3: representations, and the equality of its plain, factored and lockstep scorers."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
import torch
from oracle_batches import batch_oracle, decisions_for
from torch import nn
from walks import random_gold

from discoparse.neural.network import BiLSTM, Dropout, Inputs, Network, NetworkConfig, stacked
from discoparse.neural.scoring import FoldedScorers, ScoringPolicy
from discoparse.training.objective import factored_inputs, plain_inputs, score_pairs
from discoparse.tree import gap_tokens


@pytest.fixture
def network() -> Network:
    torch.manual_seed(0)
    sizes = {"word_size": 5, "character_size": 4, "character_hidden": 3, "hidden": 8, "scorer_hidden": 7}
    config = NetworkConfig(words=11, characters=9, tags=4, labels=5, chains=True, **sizes)
    network = Network(config).eval()
    for parameter in network.parameters():  # biases begin as 0, and nobody would miss them
        if parameter.dim() == 1:
            torch.nn.init.uniform_(parameter, -0.5, 0.5)
    return network.requires_grad_(False)


@pytest.mark.parametrize("seed", range(5))
def test_factored_and_plain_scorers_agree(network, seed):
    """Without dropout, projecting every token once gives what r(s) and the feed-forward networks give (to 1e-5)."""
    _, decisions, _, _, tokens = decisions_for(seed)
    scorers = network.scorers
    rows = scorers.with_nil(tokens)
    plain, factored = plain_inputs(scorers, rows, decisions), factored_inputs(scorers, rows, decisions)
    pairs = decisions.pair_item, decisions.pair_focus
    torch.testing.assert_close(plain.pairs(*pairs), factored.pairs(*pairs), atol=1e-5, rtol=0)
    torch.testing.assert_close(plain.labels, factored.labels, atol=1e-5, rtol=0)


class WatchedPolicy(ScoringPolicy):
    """Keeps the scores of the last step."""

    def scores(self, focus: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        self.last = super().scores(focus, legal)
        return self.last


@pytest.mark.parametrize("seed", range(5))
def test_the_policy_scores_what_training_scores(network, seed):
    """Every legal action of every configuration gets the score in lockstep that the flat training rows give it."""
    trace, decisions, _, _, tokens = decisions_for(seed)
    scorers = network.scorers
    first = factored_inputs(scorers, scorers.with_nil(tokens), decisions)
    expected = score_pairs(scorers, first, decisions)
    machine, *_ = batch_oracle_again(seed)
    policy = WatchedPolicy(FoldedScorers.of(scorers), tokens, machine.length)
    found = {}
    rows = {}
    steps = trace.action.shape[1]
    for b, n in enumerate(machine.length.tolist()):
        for t in range(2 * n - 1):
            rows[b, t] = len(rows)
    for t in range(steps - 1):
        legal = machine.legal()
        policy(machine, legal)
        for b, slot in torch.nonzero(legal).tolist():
            made = trace.entered[b, t, slot].item()
            key = rows[b, made] if made >= 0 else len(decisions.focus) + b * machine.width + slot
            found[rows[b, t], key] = policy.last[b, slot]
        machine.advance(trace.action[:, t + 1])
    keys = list(zip(decisions.pair_focus.tolist(), decisions.pair_item.tolist(), strict=True))
    assert set(found) == set(keys)
    torch.testing.assert_close(torch.stack([found[key] for key in keys]), expected, atol=1e-5, rtol=0)
    states = policy.finish(machine)
    flat = torch.stack([states[b, t] for b, t in rows])
    torch.testing.assert_close(flat, scorers.label_hidden_states(first.labels), atol=1e-5, rtol=0)


def batch_oracle_again(seed: int):
    chance = random.Random(seed)
    lengths = [chance.randint(1, 9) for _ in range(6)]
    return batch_oracle([random_gold(chance, n) for n in lengths], lengths)


def test_sets_with_at_most_one_gap_have_distinct_representations(network):
    """Section 3.2: (min, max, first gap token, last gap token) tells such sets apart, and so does r(s)."""
    seen = {}
    for size in range(1, 7):
        for s in combinations(range(6), size):
            gap = gap_tokens(s)
            if gap and gap != list(range(gap[0], gap[-1] + 1)):
                continue
            key = (s[0], s[-1], *([gap[0], gap[-1]] if gap else [None, None]))
            assert seen.setdefault(key, s) == s
    rows = network.scorers.with_nil(torch.randn(1, 6, 16))  # nil is row 6
    positions = torch.tensor([[6 if position is None else position for position in key] for key in seen])
    assert len(network.scorers.represent(rows, positions).unique(dim=0)) == len(seen)


def test_padding_and_neighbours_do_not_change_a_sentence(network):
    """The encoder gives a sentence the same vectors alone and beside a longer one."""
    torch.manual_seed(1)
    words, forms = torch.randint(0, 11, (2, 6)), torch.randint(0, 4, (2, 6))
    characters, form_lengths = torch.randint(0, 9, (4, 5)), torch.tensor([5, 1, 3, 2])
    both = network.encoder(Inputs(words, forms, characters, form_lengths, torch.tensor([6, 3])))
    alone = network.encoder(Inputs(words[1:, :3], forms[1:, :3], characters, form_lengths, torch.tensor([3])))
    for together, single in zip(both, alone, strict=True):
        torch.testing.assert_close(together[1:, :3], single, atol=1e-5, rtol=0)


def test_padding_does_not_change_a_word_form():
    """c(x) of forms of all lengths together, some short, some long, is that of each alone; so are the gradients."""
    torch.manual_seed(0)
    layer = BiLSTM(4, 3)
    lengths = torch.tensor([5, 1, 30, 2, 2, 11, 6, 7, 1, 19, 4])
    x = torch.randn(len(lengths), 30, 4, requires_grad=True)
    weights = torch.randn(len(lengths), 6)

    together = layer.ends(x, lengths)
    (gradient,) = torch.autograd.grad((together * weights).sum(), x)
    for row, length in enumerate(lengths.tolist()):
        one = x.detach()[row : row + 1, :length].requires_grad_()
        alone = layer.ends(one, lengths[row : row + 1])
        torch.testing.assert_close(together[row : row + 1], alone, atol=1e-6, rtol=0)
        (expected,) = torch.autograd.grad((alone * weights[row]).sum(), one)
        torch.testing.assert_close(gradient[row, :length], expected[0], atol=1e-6, rtol=0)
        assert not gradient[row, length:].any()


def test_initialisation_is_the_paper_s():
    """Appendix B: embeddings and nil in U(-0.1, 0.1); matrices by Xavier, each gate of an LSTM for itself; biases 0."""
    torch.manual_seed(0)
    fresh = Network(NetworkConfig(words=500, characters=50, tags=12, labels=25))
    for name, parameter in fresh.named_parameters():
        values = parameter.detach()
        if name.endswith("embedding.weight") or name.endswith("nil"):
            parts, bound = [values], 0.1
        elif values.dim() == 1:
            assert not values.any(), name
            continue
        else:
            parts = list(values.chunk(4)) if "lstm" in name else [values]
            bound = (6 / sum(parts[0].shape)) ** 0.5
        for part in parts:  # uniform: in the bounds, up to both of them, half of it in the middle
            assert part.abs().max() <= bound, name
            reach = 1 - 40 / part.numel()  # beyond it lie 20 values on either side, in the mean
            assert part.min() < -reach * bound, name
            assert part.max() > reach * bound, name
            middle = (part.abs() < bound / 2).double().mean().item()
            assert middle == pytest.approx(0.5, abs=4 * (0.25 / part.numel()) ** 0.5), name


def test_word_and_character_vectors_are_dropped_as_wholes(network):
    """In training either is missing now and then, the other is scaled up; in use both are there."""
    encoder = Network(network.config, Dropout(embedding=0.3)).encoder.train()
    whole = torch.ones(50, 40, 6), torch.ones(50, 40, 5)
    forms, words = encoder._drop(*whole)
    for vectors in (forms, words):
        assert (vectors == vectors[..., :1]).all()
        share = (vectors[..., 0] == 0).double().mean().item()
        assert share == pytest.approx(0.3, abs=4 * (0.21 / 2000) ** 0.5)
    assert set((forms[..., 0] + words[..., 0]).unique().tolist()) == {0.0, 2.0}
    assert encoder.eval()._drop(*whole) == whole


@pytest.mark.parametrize("adjacent", [False, True])
def test_stacked_directions(adjacent):
    """Values and gradients of `torch.stack`; a view where the two lie side by side, a copy where they do not."""
    memory = torch.randn(5 + 12 + 12 + 1)
    one, other = (nn.Parameter(torch.empty(0)) for _ in range(2))
    one.data = memory[5:17].view(3, 4)
    other.data = memory[17:29].view(3, 4) if adjacent else memory[18:30].view(3, 4)
    found, expected = stacked(one, other), torch.stack([one, other])
    assert torch.equal(found, expected)
    weight = torch.randn(2, 3, 4)
    for ours, theirs in zip(
        torch.autograd.grad((found * weight).sum(), [one, other]),
        torch.autograd.grad((expected * weight).sum(), [one, other]),
        strict=True,
    ):
        assert torch.equal(ours, theirs)
    memory += 1
    assert torch.equal(found, torch.stack([one, other])) == adjacent


@pytest.mark.parametrize("turned", [(True, False), (False, True), (True, True)])
def test_stacked_directions_that_lie_otherwise_in_memory(turned):
    """Side by side, but not row by row; or row by row, but each in a memory of its own."""
    memory = torch.randn(2, 12)
    one, other = (row.view(4, 3).t() if turn else row.view(3, 4) for row, turn in zip(memory, turned, strict=True))
    assert torch.equal(stacked(one, other), torch.stack([one, other]))
    one, other = torch.randn(6, 4)[:3], torch.randn(6, 4)[3:]
    assert torch.equal(stacked(one, other), torch.stack([one, other]))
