"""Unknown characters are learnt: known ones give way to them now and then, and parsing finds a trained vector."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tiny_models import TRAIN, short_recipe, toy_treebank

from discoparse.neural.network import Inputs
from discoparse.neural.pieces import PieceVocabulary
from discoparse.neural.pretrained import Pieces
from discoparse.neural.vocabulary import UNKNOWN
from discoparse.training.loop import Trainer
from discoparse.training.recipe import RECIPES
from discoparse.training.unknown import hide_pieces, replace_characters

pytestmark = pytest.mark.usefixtures("one_thread")

CPU = torch.device("cpu")


def trained(name: str, **changes: object) -> tuple[torch.Tensor, torch.Tensor]:
    """The vector of the unknown character before and after two epochs."""
    trainer = Trainer(short_recipe(name, gradient_noise=0.0, **changes), TRAIN, CPU, seed=1)
    embedding = trainer.network.encoder.character_embedding.weight
    before = embedding[UNKNOWN].detach().clone()
    for _ in range(2):
        trainer.start_epoch()
        for _ in trainer.steps():
            pass
    return before, embedding[UNKNOWN].detach()


def test_the_unknown_character_is_trained_by_the_default_recipe():
    """Its vector moves. Without replacement nothing reaches it, as in the paper, which says nothing about it."""
    before, after = trained("fast", unk_characters=0.5)
    assert not torch.equal(before, after)
    assert RECIPES["fast"].unk_characters > 0
    for name in ("fast", "paper"):
        before, after = trained(name, unk_characters=0.0)
        assert torch.equal(before, after)
    assert RECIPES["paper"].unk_characters == 0


def test_its_gradient_comes_from_replaced_characters_alone():
    """Padding has the same id, and must not teach it anything."""
    trainer = Trainer(short_recipe("fast", unk_characters=0.0), toy_treebank(12, 1), CPU, seed=1)
    embedding = trainer.network.encoder.character_embedding.weight
    chosen = np.arange(12)
    for share, taught in ((0.0, False), (1.0, True)):
        trainer.recipe = trainer.recipe.replace(unk_characters=share)
        embedding.grad = None
        first, last = trainer._encode(chosen, torch.from_numpy(chosen))
        (first.square().sum() + last.square().sum()).backward()
        assert embedding.grad is not None
        assert bool(embedding.grad[UNKNOWN].any()) == taught


def form_inputs(forms: int, longest: int) -> Inputs:
    """Forms of every length, each of them the only word of a sentence."""
    lengths = torch.arange(forms) % longest + 1
    characters = torch.ones(forms, longest, dtype=torch.long)
    characters[torch.arange(longest) >= lengths[:, None]] = UNKNOWN  # padding
    numbers = torch.arange(forms)[:, None]
    return Inputs(numbers + 1, numbers, characters, lengths, torch.ones(forms, dtype=torch.long))


def test_a_share_of_the_forms_loses_anything_from_one_character_to_all():
    """So that the network meets a typo, an emoji and a word in another script; padding is not counted as lost."""
    torch.manual_seed(0)
    forms, longest, share = 40_000, 8, 0.3
    inputs = form_inputs(forms, longest)
    there = torch.arange(longest) < inputs.form_lengths[:, None]
    replace_characters(inputs, share)
    lost = (there & (inputs.characters == UNKNOWN)).sum(1)
    long = inputs.form_lengths == longest
    # The part that is lost is uniform, so each number of characters from 0 to all is lost equally often.
    counts = torch.bincount(lost[long], minlength=longest + 1) / long.sum()
    expected = torch.full((longest + 1,), share / (longest + 1))
    expected[0] += 1 - share
    deviation = (expected * (1 - expected) / long.sum()).sqrt()
    assert ((counts - expected).abs() < 4 * deviation).all()
    assert torch.equal(inputs.characters[~there], torch.zeros_like(inputs.characters[~there]))


def test_a_word_with_an_unknown_character_is_an_unknown_word():
    """Known words have known characters: what training shows is what parsing meets."""
    torch.manual_seed(0)
    inputs = form_inputs(500, 6)
    inputs.forms = torch.randint(500, (40, 30))  # a form occurs in several places, and all of them agree
    inputs.words = inputs.forms + 1
    there = torch.arange(6) < inputs.form_lengths[:, None]
    replace_characters(inputs, 0.5)
    damaged = (there & (inputs.characters == UNKNOWN)).any(1)
    assert damaged.any()
    assert not damaged.all()
    assert torch.equal(inputs.words == UNKNOWN, damaged[inputs.forms])
    assert torch.equal(inputs.words[inputs.words != UNKNOWN], inputs.forms[~damaged[inputs.forms]] + 1)


def test_exploration_before_an_epoch_reads_the_words_as_they_are():
    """As parsing does."""
    recipe = short_recipe("fast", unk_characters=1.0, exploration=1.0, explore_whole_batches=False, exploration_start=0)
    trainer = Trainer(recipe, TRAIN, CPU, seed=1)
    seen: list[Inputs] = []
    trainer.network.encoder.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    trainer.start_epoch()
    assert seen
    for inputs in seen:
        there = torch.arange(inputs.characters.shape[1]) < inputs.form_lengths[:, None]
        assert (inputs.characters[there] != UNKNOWN).all()


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_share_of_the_pieces_is_hidden(share):
    """Words only: what begins and ends a sentence, and padding, stay. 0 is the padding, 1 and 2 begin and end it."""
    pytest.importorskip("tokenizers", reason="the extra `transformers` is not installed")
    from tokenizers import Tokenizer, models

    known = PieceVocabulary(Tokenizer(models.WordLevel({"a": 5}, "a")).to_str(), (1,), (2,), 0, 3, 64)
    ids = torch.full((200, 42), 5)
    lengths = torch.tensor([42, 12] * 100)
    ids[:, 0] = 1
    for row, length in zip(ids, lengths.tolist(), strict=True):
        row[length - 1] = 2
        row[length:] = 0
    none = torch.zeros(0, dtype=torch.long)
    inputs = Inputs(none, none, none, none, none, Pieces(ids, lengths, none, none))
    torch.manual_seed(1)
    hide_pieces(inputs, known, 4, share)
    found = inputs.pieces.ids
    assert torch.equal(found[ids != 5], ids[ids != 5])
    words = found[ids == 5]
    assert set(words.tolist()) <= {4, 5}
    n = len(words)
    assert abs((words == 4).sum().item() - share * n) <= 5 * (n * share * (1 - share)) ** 0.5
    assert not (ids == 4).any()  # the batch is kept as it was
