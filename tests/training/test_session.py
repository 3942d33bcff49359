"""A training session: the same seed, the same model; interrupted and resumed, the same again; the best is kept."""

from __future__ import annotations

import inspect
import signal
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from sessions import crash_after, records, run, same_training, signal_after
from tiny_models import DEV, TRAIN, short_recipe

from discoparse.cli.train import command
from discoparse.errors import DiscoparseError, UsageError
from discoparse.evaluation import evaluate
from discoparse.model.info import ModelInfo, read_info
from discoparse.model.model import replace_info
from discoparse.model.packing import pack, unpack
from discoparse.parser.finding import load_parser
from discoparse.parser.parser import Parser
from discoparse.training.dev_evaluation import DevEvaluation, figures
from discoparse.training.loop import Trainer, matmul_precision
from discoparse.training.progress import Progress
from discoparse.training.recipe import ORACLES
from discoparse.training.session import Session
from discoparse.training.stopping import Clock
from discoparse.training.training import train
from discoparse.tree import Token, Tree
from discoparse.treebank.discbracket import parse_tree

pytestmark = pytest.mark.usefixtures("one_thread", "default_interrupts")


def test_epochs_and_updates_are_lower_bounds():
    """Whichever is more; a paper's sentence makes two updates."""
    per_epoch = len(Trainer(short_recipe("fast"), TRAIN, torch.device("cpu"), 1).batches)
    assert per_epoch > 1
    for epochs, updates, expected in [(4, 0, 4), (4, 2 * per_epoch, 4), (1, 6 * per_epoch + 1, 7), (0, per_epoch, 1)]:
        recipe = short_recipe("fast", epochs=epochs, updates=updates)
        assert Trainer(recipe, TRAIN, torch.device("cpu"), 1).epochs == expected
    assert Trainer(short_recipe("paper", epochs=0, updates=4 * len(TRAIN)), TRAIN, torch.device("cpu"), 1).epochs == 2


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
    with monkeypatch.context() as patch:
        crash_after(patch, 2 * len(TRAIN) + 14)  # in the fourth epoch; the state is that of the second
        with pytest.raises(MemoryError):
            run(tmp_path / "crashed", recipe)
    assert [r["epoch"] for r in records(tmp_path / "crashed") if r["type"] == "epoch"] == [1, 2, 3]
    run(tmp_path / "crashed", recipe, resume=True)
    same_training(tmp_path / "straight", tmp_path / "crashed")


def test_losses_in_the_log_are_means_over_the_tokens_of_each_epoch(tmp_path, monkeypatch):
    epochs: list[Counter[str]] = []
    really = Trainer.steps

    def steps(self: Trainer) -> Iterator[dict[str, torch.Tensor]]:
        epochs.append(Counter())
        for losses in really(self):
            epochs[-1].update({name: loss.item() for name, loss in losses.items()})
            yield losses

    monkeypatch.setattr(Trainer, "steps", steps)
    run(tmp_path / "out", short_recipe("fast"))
    logged = [record for record in records(tmp_path / "out") if record["type"] == "epoch"]
    assert len(logged) == len(epochs) > 1
    for record, sums in zip(logged, epochs, strict=True):
        assert set(sums) == {"structure", "label", "tag"}
        for name, total in sums.items():
            assert record[name] == pytest.approx(total / sum(map(len, TRAIN)), rel=1e-5)


def test_interrupting_keeps_the_best_model_and_the_state(tmp_path, monkeypatch):
    """After the first evaluation there is a model to use; a second signal is not needed."""
    signal_after(monkeypatch, 2 * len(TRAIN) + 3)
    outcome = run(tmp_path / "out", short_recipe("paper"))
    assert not outcome.finished
    assert outcome.best is not None
    assert outcome.best["epoch"] == 2
    assert load_parser(tmp_path / "out").parse_tokens([["dogs", "came"]])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler  # handlers are put back
    assert (tmp_path / "out" / "curves.svg").read_text().startswith("<svg")


def scripted(monkeypatch: pytest.MonkeyPatch, f1: list[float]) -> list[dict[str, torch.Tensor]]:
    """Replace scores on dev by these; the parameters that were evaluated are collected."""
    evaluated: list[dict[str, torch.Tensor]] = []
    really = DevEvaluation.__call__

    def call(self: DevEvaluation) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        scores, parameters = really(self)
        scores["f1"] = f1[len(evaluated)]
        evaluated.append({name: tensor.clone() for name, tensor in parameters.items()})
        return scores, parameters

    monkeypatch.setattr(DevEvaluation, "__call__", call)
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
    recipe = short_recipe(name)
    session = Session(recipe, TRAIN, DEV, tmp_path, torch.device("cpu"), 1, ModelInfo("test"))
    stored = (lambda tensors: unpack(pack(tensors))) if recipe.quantize else dict
    trainer = session.trainer
    trainer.start_epoch()
    for _ in trainer.steps():
        pass
    _, parameters = session.dev()
    current = dict(trainer.network.named_parameters())
    for parameter, average, key in zip(
        session.dev.parser.network.parameters(), trainer.optimisation.average, current, strict=True
    ):
        assert torch.equal(parameter, stored({key: average.float()})[key])
        assert torch.equal(unpack(parameters)[key], parameter)
    assert any(not torch.equal(unpack(parameters)[key], stored(current)[key]) for key in current)


@pytest.mark.parametrize("name", ["paper", "fast"])
def test_every_oracle_trains_with_every_recipe(tmp_path, name):
    """With the preferred action and, where every sentence asks the oracle, with all optimal ones: all models differ."""
    settings: list[dict[str, Any]] = [{"oracle": oracle} for oracle in ORACLES]
    settings += [{"oracle": oracle, "optimal_set": True} for oracle in ("even", "complete")]
    models = set()
    for number, changes in enumerate(settings):
        output = tmp_path / str(number)
        exploration = {"exploration": 0.5, "explore_whole_batches": True}
        assert run(output, short_recipe(name, epochs=2, **exploration, **changes)).finished
        models.add((output / "model" / "model.safetensors").read_bytes())
    assert len(models) == len(settings)


def test_no_trees(tmp_path):
    """Nothing to train on, nothing to evaluate with."""
    with pytest.raises(DiscoparseError, match="training treebank has no trees"):
        train([], DEV, tmp_path / "a")
    assert not (tmp_path / "a").exists()
    with pytest.raises(DiscoparseError, match="development treebank has no trees"):
        train(TRAIN, [], tmp_path / "b")


def test_figures_have_their_names():
    """For a prediction whose scores all differ, so that none can be taken for another."""
    plain = "(S (NP (DT 0=a)) (VP (VBD 1=b)))"
    gold = [
        "(S (VP (WP 0=a) (VB 3=d)) (MD 1=b) (NP (PRP 2=c)))",
        "(S (NP (DT 0=a) (RC 2=c)) (VP (VBD 1=b)))",
        plain,
        plain,
    ]
    predicted = [
        "(S (YP (VP (WP 0=a) (X 3=d))) (AP (MD 1=b) (NP (PRP 2=c))))",  # S, VP and NP of five, one wrong tag
        "(S (XP (DT 0=a) (RC 2=c)) (VP (VBD 1=b)))",  # S and VP of three
        "(S (NP (DT 0=a)) (XP (VBD 1=b)))",  # S and NP of three
        plain,  # all three
    ]
    found = figures(evaluate(map(parse_tree, gold), map(parse_tree, predicted)).all)
    expected = {
        "precision": 10 / 14,
        "recall": 10 / 12,
        "f1": 20 / 26,
        "disc_precision": 1 / 3,  # VP of YP, VP and XP
        "disc_recall": 1 / 2,  # VP of VP and NP
        "disc_f1": 2 / 5,
        "pos": 10 / 11,
        "exact_match": 1 / 4,
        "sentences": 4 / 100,
    }
    assert len(set(expected.values())) == len(expected)
    assert found == pytest.approx({name: 100 * value for name, value in expected.items()})


def test_the_figures_of_an_evaluation_are_those_of_the_evaluator(tmp_path):
    """Under their names, in the log and in the model."""
    run(tmp_path / "out", short_recipe("fast", epochs=20, evaluate_every=20, learning_rate=0.01))
    predicted = load_parser(tmp_path / "out").parse_tokens([tree.words for tree in DEV])
    scores = evaluate(DEV, predicted).all
    expected = figures(scores)
    (logged,) = (record for record in records(tmp_path / "out") if record["type"] == "evaluation")
    for found in (logged, read_info(tmp_path / "out").metrics["dev"]):
        assert {name: found[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize("name", ["paper", "fast"])
def test_batches_of_single_words_are_trained_on(tmp_path, name):
    """They have labels and tags to learn, and no structural decision at all."""
    words = [("a", "S"), ("b", "NP")] * 4
    trees = [Tree.from_constituents([Token(word, "X")], [(label, {0})]) for word, label in words]
    assert train(trees, trees, tmp_path / "out", short_recipe(name, epochs=2, dropout_scorer=0.0)).finished


def test_a_development_sentence_that_cannot_be_parsed_is_refused_at_once(tmp_path):
    """Not after hours, when it is first evaluated."""
    long = Tree.from_constituents([Token("a", "X")] * 2001, [("S", set(range(2001)))])
    with pytest.raises(DiscoparseError, match=r"development sentence 2 has 2,001 tokens.*leave it out"):
        train(TRAIN, [TRAIN[0], long], tmp_path / "out", short_recipe("fast"))


@pytest.mark.parametrize("name", ["paper", "fast"])
def test_parameters_on_disk(tmp_path, name):
    """`paper` keeps the average as it is, in single precision; `fast` rounds large matrices to eight bits."""
    run(tmp_path / "out", short_recipe(name, epochs=2, evaluate_every=2))
    stored = load_file(tmp_path / "out" / "model" / "model.safetensors")
    state = load_file(tmp_path / "out" / "latest" / "state.safetensors")
    kinds = {str(tensor.dtype) for tensor in stored.values()}
    assert kinds == ({"torch.float32"} if name == "paper" else {"torch.int8", "torch.float16", "torch.float32"})
    for key, tensor in unpack(stored).items():
        exact = state[f"average.{key}"].float()
        assert torch.equal(tensor, exact if name == "paper" else unpack(pack({key: exact}))[key])


def test_a_training_sentence_that_is_too_long_is_refused(tmp_path):
    """Before any memory is spent on it, which grows with the square of its length."""
    long = Tree.from_constituents([Token("a", "X")] * 3000, [("S", set(range(3000)))])
    with pytest.raises(DiscoparseError, match=r"training sentence 1 has 3,000 tokens.*at most 2,000: leave it out"):
        train([long, *TRAIN], DEV, tmp_path / "out", short_recipe("fast"))


def test_the_last_evaluation_is_on_the_cpu(tmp_path):
    """After training on a GPU: the model's figures become those that the file on disk has on a CPU."""
    recipe = short_recipe("fast", epochs=1)
    session = Session(recipe, TRAIN, DEV, tmp_path, torch.device("cpu"), 1, ModelInfo("test"), {"a": 2, "b": 3})
    session.progress = Progress(1, 0, 1, False)
    session._evaluate(Clock())
    wrong = {"f1": -1.0, "pos": -1.0, "device": "cuda", "sets": {}}
    session.best = {**(session.best or {}), **wrong}
    replace_info(tmp_path / "model", session._info())
    session.evaluate_on_cpu(Clock())
    dev = read_info(tmp_path).metrics["dev"]
    assert dev == session.best
    assert dev["device"] == "cpu"
    assert dev["epoch"] == 0
    predicted = load_parser(tmp_path).parse_tokens([tree.words for tree in DEV])
    scores = evaluate(DEV, predicted).all
    assert (dev["f1"], dev["pos"]) == (pytest.approx(scores.f1 or 0.0), pytest.approx(scores.pos_accuracy))
    assert dev["sets"].keys() == {"a", "b"}
    assert records(tmp_path)[-1]["type"] == "final"
    assert not session._ends_on_cpu  # it was there all the time


def test_on_the_cpu_nothing_is_rounded_and_nothing_is_moved(tmp_path, monkeypatch):
    """Products are in full single precision, whatever training set, and the network of the GPU stays where it is."""
    session = Session(short_recipe("fast"), TRAIN, DEV, tmp_path, torch.device("cpu"), 1, ModelInfo("test"))
    seen: list[tuple[str, Any]] = []
    really = Parser.parse_tokens

    def parse_tokens(self: Parser, sentences: Any) -> Any:
        seen.append((torch.get_float32_matmul_precision(), self.network))
        return really(self, sentences)

    monkeypatch.setattr(Parser, "parse_tokens", parse_tokens)
    with matmul_precision("high"):
        session.dev.on_cpu(session.dev.parser.network)
        assert torch.get_float32_matmul_precision() == "high"
    ((precision, network),) = seen
    assert precision == "highest"
    assert network is not session.dev.parser.network


def test_training_leaves_the_process_as_it_was(tmp_path):
    """Neither the number of threads nor the precision of matrix products is another one afterwards."""
    torch.set_num_threads(2)
    before = torch.get_float32_matmul_precision()
    run(tmp_path / "out", short_recipe("fast", epochs=1), threads=1)
    assert torch.get_num_threads() == 2
    assert torch.get_float32_matmul_precision() == before


def test_python_has_the_defaults_of_the_command_line():
    """One training, whichever way it is started."""
    options = command.make_context("train", []).params
    defaults = {name: p.default for name, p in inspect.signature(train).parameters.items()}
    assert defaults["recipe"] is options["recipe_name"] is None  # `fast`, or `pretrained` with an encoder
    for name in ("device", "seed", "resume", "threads", "minutes"):
        assert defaults[name] == options[name]
    assert defaults["show_progress"] is not options["quiet"]


def test_unknown_recipes(tmp_path):
    with pytest.raises(UsageError, match=r"choose one of paper, fast, finetune, pretrained\. Did you mean fast\?"):
        train(TRAIN, DEV, tmp_path / "out", "fats")
    with pytest.raises(UsageError, match="only with a pretrained encoder"):
        train(TRAIN, DEV, tmp_path / "out", short_recipe("fast", layers=0))
    assert not (tmp_path / "out").exists()
