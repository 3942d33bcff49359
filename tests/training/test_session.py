"""A training session: the same seed, the same model; interrupted and resumed, the same again; the best is kept."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from tiny_models import DEV, TRAIN, short_recipe

from discoparse.errors import DiscoparseError, UsageError
from discoparse.evaluation import evaluate
from discoparse.model.info import ModelInfo, read_info
from discoparse.model.packing import pack, unpack
from discoparse.parser.finding import load_parser
from discoparse.training.clock import Clock
from discoparse.training.loop import Trainer
from discoparse.training.optimisation import learning_rate
from discoparse.training.progress import Progress
from discoparse.training.recipe import RECIPES, Recipe
from discoparse.training.session import Outcome, Session, train
from discoparse.training.validation import Validation
from discoparse.tree import Token, Tree

pytestmark = pytest.mark.usefixtures("one_thread")

TIMES = {"seconds", "sentences_per_second"}


def run(output: Path, recipe: Recipe, **options: Any) -> Outcome:
    return train(recipe, TRAIN, DEV, output, **options)


def test_epochs_and_updates_are_lower_bounds():
    """Whichever is more; a paper's sentence makes two updates."""
    per_epoch = len(Trainer(short_recipe("fast"), TRAIN, torch.device("cpu"), 1).batches)
    assert per_epoch > 1
    for epochs, updates, expected in [(4, 0, 4), (4, 2 * per_epoch, 4), (1, 6 * per_epoch + 1, 7), (0, per_epoch, 1)]:
        recipe = short_recipe("fast", epochs=epochs, updates=updates)
        assert Trainer(recipe, TRAIN, torch.device("cpu"), 1).epochs == expected
    assert Trainer(short_recipe("paper", epochs=0, updates=4 * len(TRAIN)), TRAIN, torch.device("cpu"), 1).epochs == 2


def signal_after(monkeypatch: pytest.MonkeyPatch, steps: int, number: int = signal.SIGINT) -> None:
    """Send this process a signal when so many batches are done."""
    count = 0
    really = Progress.step

    def step(self: Progress, *arguments: Any) -> None:
        nonlocal count
        count += 1
        if count == steps:
            os.kill(os.getpid(), number)
        really(self, *arguments)

    monkeypatch.setattr(Progress, "step", step)


def same_training(one: Path, other: Path) -> None:
    """Both ended with the same parameters, averages, optimiser state and random numbers, and said the same."""
    states = [load_file(path / "latest" / "state.safetensors") for path in (one, other)]
    assert states[0].keys() == states[1].keys()
    for name, tensor in states[0].items():
        assert torch.equal(tensor, states[1][name]), name
    models = [(path / "model" / "model.safetensors").read_bytes() for path in (one, other)]
    assert models[0] == models[1]
    assert records(one) == records(other)


def records(output: Path) -> list[dict[str, Any]]:
    lines = (output / "log.jsonl").read_text().splitlines()
    return [{key: value for key, value in json.loads(line).items() if key not in TIMES} for line in lines]


@pytest.mark.parametrize("name", ["paper", "fast"])
def test_a_seed_gives_one_model(tmp_path, name):
    """Twice the same seed: the same bits. Another seed: another model."""
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        run(tmp_path / folder, short_recipe(name, epochs=2), seed=seed)
    same_training(tmp_path / "a", tmp_path / "b")
    models = [(tmp_path / folder / "model" / "model.safetensors").read_bytes() for folder in "ac"]
    assert models[0] != models[1]


@pytest.mark.parametrize(
    ("stop", "number"), [(1, signal.SIGINT), (5, signal.SIGTERM), (12, signal.SIGINT), (14, signal.SIGINT)]
)
def test_interrupted_and_resumed_is_as_if_nothing_had_happened(tmp_path, monkeypatch, stop, number):
    """Paper recipe: in the middle of an epoch (with explored sentences in it), at its first and at its last batch."""
    recipe = short_recipe("paper", exploration=0.5)
    assert run(tmp_path / "straight", recipe).finished
    with monkeypatch.context() as patch:
        signal_after(patch, stop, number)
        assert not run(tmp_path / "stopped", recipe).finished
    assert not (tmp_path / "stopped" / "curves.svg").exists()
    assert run(tmp_path / "stopped", recipe, resume=True).finished
    same_training(tmp_path / "straight", tmp_path / "stopped")


@pytest.mark.parametrize("stops", [(2,), (4, 3)])
def test_the_fast_recipe_resumes_exactly_too(tmp_path, monkeypatch, stops):
    """AdamW's moments, the moving average and exploration within batches; interrupted once or twice."""
    recipe = short_recipe("fast")
    run(tmp_path / "straight", recipe)
    for number, stop in enumerate(stops):
        with monkeypatch.context() as patch:
            signal_after(patch, stop)
            assert not run(tmp_path / "stopped", recipe, resume=number > 0).finished
    assert run(tmp_path / "stopped", recipe, resume=True).finished
    same_training(tmp_path / "straight", tmp_path / "stopped")


def test_a_crash_loses_only_what_came_after_the_last_state(tmp_path, monkeypatch):
    """Without any chance to save, training goes on from the last evaluation, and the log has nothing twice."""
    recipe = short_recipe("paper")
    run(tmp_path / "straight", recipe)
    count = 0

    def crash(self: Progress, *arguments: Any) -> None:
        nonlocal count
        count += 1
        if count == 2 * len(TRAIN) + 14:  # in the fourth epoch; the state is that of the second
            raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(Progress, "step", crash)
        with pytest.raises(MemoryError):
            run(tmp_path / "crashed", recipe)
    assert [r["epoch"] for r in records(tmp_path / "crashed") if r["type"] == "epoch"] == [1, 2, 3]
    run(tmp_path / "crashed", recipe, resume=True)
    same_training(tmp_path / "straight", tmp_path / "crashed")


def test_interrupting_keeps_the_best_model_and_the_state(tmp_path, monkeypatch):
    """After the first evaluation there is a model to use; a second signal is not needed."""
    signal_after(monkeypatch, 2 * len(TRAIN) + 3)
    outcome = run(tmp_path / "out", short_recipe("paper"))
    assert not outcome.finished
    assert outcome.best is not None
    assert outcome.best["epoch"] == 2
    assert load_parser(tmp_path / "out").parse_tokens([["dogs", "came"]])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler  # handlers are put back


def scripted(monkeypatch: pytest.MonkeyPatch, f1: list[float]) -> list[dict[str, torch.Tensor]]:
    """Replace scores on dev by these; the parameters that were evaluated are collected."""
    evaluated: list[dict[str, torch.Tensor]] = []
    really = Validation.__call__

    def call(self: Validation) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        scores, parameters = really(self)
        scores["f1"] = f1[len(evaluated)]
        evaluated.append({name: tensor.clone() for name, tensor in parameters.items()})
        return scores, parameters

    monkeypatch.setattr(Validation, "__call__", call)
    return evaluated


@pytest.mark.parametrize(("f1", "best"), [([50, 70, 60], 1), ([70, 70, 70], 0), ([10, 20, 30], 2)])
def test_the_best_model_by_f1_is_kept_the_first_of_equals(tmp_path, monkeypatch, f1, best):
    """Section 4.2: evaluation every k epochs and at the end; the parameters on disk are those of the best."""
    evaluated = scripted(monkeypatch, f1)
    run(tmp_path / "out", short_recipe("fast", epochs=5))
    evaluations = [record for record in records(tmp_path / "out") if record["type"] == "evaluation"]
    assert [record["epoch"] for record in evaluations] == [2, 4, 5]
    assert [record["best"] for record in evaluations] == [k <= best and f1[k] > max([0, *f1[:k]]) for k in range(3)]
    kept = load_file(tmp_path / "out" / "model" / "model.safetensors")
    for name, tensor in kept.items():
        assert torch.equal(tensor, evaluated[best][name])
    assert read_info(tmp_path / "out").metrics["dev"]["f1"] == f1[best]


@pytest.mark.parametrize("name", ["paper", "fast"])
def test_evaluation_uses_the_averaged_parameters(tmp_path, name):
    """What is scored and saved is the average as it is stored, not the parameters of the last step."""
    session = Session(short_recipe(name), TRAIN, DEV, tmp_path, torch.device("cpu"), 1, ModelInfo("test"))
    trainer = session.trainer
    trainer.start_epoch()
    for _ in trainer.steps():
        pass
    _, parameters = session.validation()
    current = dict(trainer.network.named_parameters())
    for parameter, average, key in zip(
        session.validation.parser.network.parameters(), trainer.optimisation.average, current, strict=True
    ):
        assert torch.equal(parameter, unpack(pack({key: average}))[key])
        assert torch.equal(unpack(parameters)[key], parameter)
    assert any(not torch.equal(unpack(parameters)[key], unpack(pack(current))[key]) for key in current)


def test_other_settings_cannot_be_resumed(tmp_path):
    """A changed recipe, seed or treebank is named; nothing is overwritten."""
    run(tmp_path / "out", short_recipe("fast", epochs=1))
    before = (tmp_path / "out" / "latest" / "state.safetensors").read_bytes()
    with pytest.raises(UsageError, match="epochs was 1 and is 2"):
        run(tmp_path / "out", short_recipe("fast", epochs=2), resume=True)
    with pytest.raises(UsageError, match="the seed was 1 and is 7"):
        run(tmp_path / "out", short_recipe("fast", epochs=1), resume=True, seed=7)
    with pytest.raises(UsageError, match="training treebank is another"):
        train(short_recipe("fast", epochs=1), TRAIN[1:], DEV, tmp_path / "out", resume=True)
    relabelled = [tree.copy() for tree in TRAIN]
    relabelled[3].root.children[0].label += "X"
    with pytest.raises(UsageError, match="training treebank is another"):
        train(short_recipe("fast", epochs=1), relabelled, DEV, tmp_path / "out", resume=True)
    with pytest.raises(UsageError, match="development treebank is another"):
        train(short_recipe("fast", epochs=1), TRAIN, DEV[1:], tmp_path / "out", resume=True)
    with pytest.raises(UsageError, match="--resume"):
        run(tmp_path / "out", short_recipe("fast", epochs=1))
    assert (tmp_path / "out" / "latest" / "state.safetensors").read_bytes() == before
    assert run(tmp_path / "out", short_recipe("fast", epochs=1), resume=True).finished  # nothing left to do


@pytest.mark.parametrize("name", ["state.safetensors", "state.json"])
def test_a_damaged_state_is_refused(tmp_path, monkeypatch, name):
    """Resuming from rubbish would train rubbish."""
    with monkeypatch.context() as patch:
        signal_after(patch, 3)
        run(tmp_path / "out", short_recipe("paper"))
    path = tmp_path / "out" / "latest" / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    with pytest.raises(DiscoparseError, match="not what was written"):
        run(tmp_path / "out", short_recipe("paper"), resume=True)


def test_resume_without_a_state_starts_from_the_beginning(tmp_path):
    """So that a script may always say --resume."""
    assert run(tmp_path / "out", short_recipe("fast", epochs=1), resume=True).finished


@pytest.mark.parametrize("name", ["paper", "fast"])
def test_every_oracle_trains_with_every_recipe(tmp_path, name):
    """static, dynamic and complete, the last with one preferred action or with the whole set, make four models."""
    settings = [{"oracle": "static"}, {"oracle": "dynamic"}, {"oracle": "complete"}]
    settings.append({"oracle": "complete", "optimal_set": not RECIPES[name].optimal_set})
    models = set()
    for number, changes in enumerate(settings):
        output = tmp_path / str(number)
        assert run(output, short_recipe(name, epochs=2, exploration=0.5, **changes)).finished
        models.add((output / "model" / "model.safetensors").read_bytes())
    assert len(models) == 4


def test_no_trees(tmp_path):
    """Nothing to train on, nothing to evaluate with."""
    with pytest.raises(DiscoparseError, match="training treebank has no trees"):
        train(short_recipe("fast"), [], DEV, tmp_path / "a")
    with pytest.raises(DiscoparseError, match="development treebank has no trees"):
        train(short_recipe("fast"), TRAIN, [], tmp_path / "b")


def test_minutes_end_the_training_with_a_complete_schedule(tmp_path, monkeypatch):
    """The clock runs out long before the epochs: the rate ends near 0, a model is evaluated, the state is final."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    rates: list[float] = []
    really = Progress.step

    def step(self: Progress, *arguments: Any) -> None:
        now[0] += 0.5  # every batch takes half a second
        rates.append(last_rate())
        really(self, *arguments)

    session: list[Session] = []
    really_run = Session.run

    def remember(self: Session, *arguments: Any) -> Outcome:
        session.append(self)
        return really_run(self, *arguments)

    def last_rate() -> float:
        optimisation = session[0].trainer.optimisation
        return learning_rate(optimisation.recipe, optimisation.step, 10**6, optimisation.time_used)

    monkeypatch.setattr(Session, "run", remember)
    monkeypatch.setattr(Progress, "step", step)
    recipe = short_recipe("fast", epochs=10_000, evaluate_every=10_000)
    outcome = run(tmp_path / "out", recipe, minutes=0.5)
    assert outcome.finished
    assert outcome.best is not None
    assert outcome.seconds <= 30
    assert outcome.seconds > 25
    assert max(rates) > 0.9 * recipe.learning_rate
    assert rates[-1] < 0.02 * recipe.learning_rate
    assert rates[len(rates) // 2] == pytest.approx(recipe.learning_rate / 2, rel=0.2)


def test_the_figures_of_an_evaluation_are_those_of_the_evaluator(tmp_path):
    """Under their names, in the log and in the model, for a parser that is neither perfect nor hopeless."""
    recipe = short_recipe("fast", epochs=20, evaluate_every=20, learning_rate=0.01)
    run(tmp_path / "out", recipe)
    predicted = load_parser(tmp_path / "out").parse_tokens([tree.words for tree in DEV])
    scores = evaluate(DEV, predicted).all
    expected = {
        "f1": scores.f1,
        "precision": scores.precision,
        "recall": scores.recall,
        "disc_f1": scores.disc.f1 or 0.0,
        "pos": scores.pos_accuracy,
        "exact_match": scores.exact_match,
        "sentences": len(DEV),
    }
    assert len({scores.f1, scores.precision, scores.recall, expected["disc_f1"]}) == 4, "or a mix-up would go unseen"
    assert len({scores.f1, scores.pos_accuracy, scores.exact_match}) == 3
    (logged,) = (record for record in records(tmp_path / "out") if record["type"] == "evaluation")
    for found in (logged, read_info(tmp_path / "out").metrics["dev"]):
        assert {name: found[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize("name", ["paper", "fast"])
def test_batches_of_single_words_are_trained_on(tmp_path, name):
    """They have labels and tags to learn, and no structural decision at all."""
    words = [("a", "S"), ("b", "NP")] * 4
    trees = [Tree.from_constituents([Token(word, "X")], [(label, {0})]) for word, label in words]
    assert train(short_recipe(name, epochs=2, dropout_scorer=0.0), trees, trees, tmp_path / "out").finished


def test_a_development_sentence_that_cannot_be_parsed_is_refused_at_once(tmp_path):
    """Not after hours, when it is first evaluated."""
    long = Tree.from_constituents([Token("a", "X")] * 2001, [("S", set(range(2001)))])
    with pytest.raises(DiscoparseError, match=r"development sentence 2 has 2,001 tokens.*leave it out"):
        train(short_recipe("fast"), TRAIN, [TRAIN[0], long], tmp_path / "out")


def test_what_was_just_evaluated_is_not_evaluated_again(tmp_path, monkeypatch):
    """When time is up right after an evaluation, there is nothing new to score."""
    late = [False]
    really = Session._evaluate

    def evaluate(self: Session, clock: Clock) -> None:
        really(self, clock)
        late[0] = True

    monkeypatch.setattr(Session, "_evaluate", evaluate)
    monkeypatch.setattr(Clock, "over", lambda self: late[0])
    outcome = run(tmp_path / "out", short_recipe("fast", epochs=10, evaluate_every=1), minutes=1)
    assert outcome.finished
    records = [json.loads(line) for line in (tmp_path / "out" / "log.jsonl").read_text().splitlines()]
    assert [record["type"] for record in records] == ["epoch", "evaluation"]


@pytest.mark.parametrize("seed", [2, 13])
def test_the_schedule_is_as_long_as_the_training(seed):
    """Epochs differ in the number of their batches, and here the first has more than most: together they make the
    updates that the recipe asks for."""
    trees = [Tree.from_constituents([Token("a", "X")] * n, [("S", set(range(n)))]) for n in range(3, 43)]
    recipe = short_recipe("fast", batch_tokens=150, most_batch_tokens=150, epochs=1, updates=300)
    trainer = Trainer(recipe, trees, torch.device("cpu"), seed=seed)
    made = sum(len(trainer._batches(epoch)) for epoch in range(trainer.epochs))
    assert made == pytest.approx(trainer.optimisation.total_steps, rel=0.03)
    assert made == pytest.approx(300, rel=0.03)


def test_minutes_that_suffice_change_nothing():
    """Where the steps are ahead of the clock, the schedule is that of the steps."""
    recipe = RECIPES["fast"]
    for step in (500, 1000, 4000):
        used = 0.5 * step / 5000
        assert learning_rate(recipe, step, 5000, used) == learning_rate(recipe, step, 5000)
    clock = Clock()
    clock.start_training()
    assert clock.share_used() == 0
    assert not clock.over()


def test_the_clock_counts_earlier_runs(monkeypatch):
    """A resumed training has the rest of its minutes, and its schedule goes on where it was."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    first = Clock(minutes=1)
    now[0] += 10
    first.start_training()
    now[0] += 20
    assert first.share_used() == pytest.approx(0.4)
    second = Clock(minutes=1, started=1000.0)
    now[0] = 1005.0
    second.resume(json.loads(json.dumps(first.state() | {"elapsed": 30.0})))
    second.start_training()
    assert second.elapsed() == pytest.approx(35)
    assert second.share_used() == pytest.approx(0.5)
    second.evaluation_took(8)
    assert second.reserve > 8
    now[0] += 20
    assert second.over()
