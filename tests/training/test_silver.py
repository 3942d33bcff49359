"""Silver trees beside gold ones: an epoch has all gold trees, silver ones take turns, and their weight counts."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from command_line import run_main
from safetensors.torch import load_file
from sessions import run, signal_after
from tiny_models import DEV, TRAIN, short_recipe, toy_treebank

from discoparse.errors import UsageError
from discoparse.model.info import read_info
from discoparse.training.loop import Trainer
from discoparse.training.silver import SilverTurns, silver_vocabulary
from discoparse.treebank import write_trees
from discoparse.treebank.discbracket import parse_tree

pytestmark = pytest.mark.usefixtures("one_thread", "default_interrupts")
CPU = torch.device("cpu")
SILVER = toy_treebank(31, 7)


def epoch_of(trainer: Trainer) -> np.ndarray:
    """The sentences of an epoch."""
    return np.sort(np.concatenate(trainer.batches))


def test_an_epoch_has_all_gold_trees_and_its_share_of_silver_ones():
    trainer = Trainer(short_recipe("fast", silver_ratio=1.5), TRAIN, CPU, 1, silver=SILVER)
    gold, seen = len(TRAIN), []
    for epoch in range(3):
        trainer.epoch = epoch
        trainer.start_epoch()
        sentences = epoch_of(trainer)
        assert sentences[:gold].tolist() == list(range(gold))
        assert len(sentences) == gold + round(1.5 * gold)
        seen += sentences[gold:].tolist()
        kinds = [set((batch >= gold).tolist()) for batch in trainer.batches]
        assert all(len(kind) == 1 for kind in kinds)
    counts = np.bincount(seen, minlength=gold + len(SILVER))[gold:]
    assert counts.min() >= 1  # nothing comes again before all others came
    assert counts.max() <= 2


@pytest.mark.parametrize(("gold", "silver", "ratio", "share"), [(10, 4, 1.0, 4), (10, 100, 0.5, 5), (10, 0, 1.0, 0)])
def test_turns(gold, silver, ratio, share):
    turns = SilverTurns(gold, silver, short_recipe("fast", silver_ratio=ratio), seed=1)
    for epoch in (0, 1, 7):
        chosen = turns(epoch)
        assert len(chosen) == share == len(set(chosen.tolist()))
        assert all(gold <= k < gold + silver for k in chosen)
    assert share == 0 or silver == share or turns(0).tolist() != turns(1).tolist()


def test_without_silver_nothing_changes():
    one, other = (Trainer(short_recipe("fast"), TRAIN, CPU, 1, **options) for options in ({}, {"silver": []}))
    assert [batch.tolist() for batch in one.batches] == [batch.tolist() for batch in other.batches]
    assert one.vocabulary == other.vocabulary
    assert one.silver.share == 0


def test_only_gold_trees_are_left_at_the_end(tmp_path):
    recipe = short_recipe("fast", epochs=8, silver_until=0.5)
    trainer = Trainer(recipe, TRAIN, CPU, 1, silver=SILVER)
    both, gold = (len(trainer._batches(0, silver)) for silver in (True, False))
    assert gold < trainer.batches_an_epoch < both
    sizes = []
    while trainer.epoch < trainer.epochs:
        trainer.start_epoch()
        sizes.append(len(epoch_of(trainer)))
        for _ in trainer.steps():
            pass
    assert set(sizes) == {len(TRAIN), 2 * len(TRAIN)}
    assert sizes == sorted(sizes, reverse=True)
    assert abs(trainer.optimisation.step - trainer.optimisation.total_steps) <= both  # the schedule ends with it


def test_an_epoch_that_goes_on_is_of_the_same_kind():
    """Also if it is interrupted once more: the state says whether it has silver trees."""
    trainer = Trainer(short_recipe("fast"), TRAIN, CPU, 1, silver=SILVER)
    trainer.continue_epoch(0, {}, with_silver=False)
    assert epoch_of(trainer).tolist() == list(range(len(TRAIN)))
    assert not trainer.with_silver


def test_batches_are_as_large_as_without_silver_trees():
    recipe = short_recipe("fast", batch_tokens=1, most_batch_tokens=1000)
    gold = toy_treebank(60, 3)
    sizes = [Trainer(recipe, gold, CPU, 1, silver=silver).batch_tokens for silver in ([], toy_treebank(200, 4))]
    assert sizes[0] == sizes[1] > 1


def test_the_weight_is_that_of_silver_batches(monkeypatch):
    trainer = Trainer(short_recipe("fast", silver_weight=0.25), TRAIN, CPU, 1, silver=SILVER)
    weights = {}
    trainer.start_epoch()
    update = trainer.optimisation.update

    def spied(loss):
        weights[trainer.position] = float(loss.detach())
        update(loss)

    monkeypatch.setattr(trainer.optimisation, "update", spied)
    for losses in trainer.steps():
        k = trainer.position - 1
        batch = trainer.batches[k]
        whole = float(sum(losses.values())) / int(trainer.corpus.lengths[batch].sum())
        expected = 0.25 if batch[0] >= len(TRAIN) else 1.0
        assert weights[k] == pytest.approx(expected * whole, rel=1e-4)


def test_words_of_silver_trees_must_be_frequent():
    gold = [parse_tree("(S (N 0=once) (V 1=sleeps))")]
    silver = [parse_tree("(S (N 0=dogs) (X 1=sleeps))")] * 3 + [parse_tree("(Z (N 0=rare) (V 1=sleeps))")]
    names = silver_vocabulary(gold, silver, short_recipe("fast", silver_frequency=2, min_frequency=1, unk_share=1 / 3))
    assert names.words == ["sleeps", "dogs", "once"]
    assert names.rare == 3
    assert set(names.tags) == {"N", "V", "X"}
    assert set(names.labels) == {("S",), ("Z",)}


def test_resumed_with_the_same_silver_trees(tmp_path, monkeypatch):
    recipe = short_recipe("fast", epochs=3, silver_until=0.4)
    run(tmp_path / "whole", recipe, silver=SILVER)
    with monkeypatch.context() as patch:
        signal_after(patch, 9)
        run(tmp_path / "parts", recipe, silver=SILVER)
    with pytest.raises(UsageError, match="the silver treebank has changed"):
        run(tmp_path / "parts", recipe, silver=SILVER[1:], resume=True)
    assert run(tmp_path / "parts", recipe, silver=SILVER, resume=True).finished
    one, other = (load_file(tmp_path / name / "latest" / "state.safetensors") for name in ("whole", "parts"))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_the_command(tmp_path):
    for name, trees in (("train", TRAIN), ("dev", DEV), ("machine", SILVER)):
        write_trees(trees, str(tmp_path / f"{name}.discbracket"))
    arguments = ["train", "--train", str(tmp_path / "train.discbracket"), "--dev", str(tmp_path / "dev.discbracket")]
    arguments += ["--silver", str(tmp_path / "machine.discbracket"), "--silver-weight", "0.5", "--device", "cpu"]
    arguments += ["--set", "hidden=8", "--set", "scorer_hidden=8", "--epochs", "1", "--threads", "1", "--quiet"]
    status, _, errors = run_main(*arguments, "--output", str(tmp_path / "out"))
    assert status == 0, errors
    info = read_info(tmp_path / "out")
    assert info.recipe["silver_weight"] == 0.5
    assert [(entry["set"], entry.get("silver")) for entry in info.data][1] == ("machine", True)
    card = " ".join((tmp_path / "out" / "model" / "README.md").read_text().split())
    assert "`machine`: 31 sentences" in card
    assert "with trees that a parser made" in card
