"""A training whose losses or parameters are no longer numbers ends with a sentence, and spoils nothing on disk."""

from __future__ import annotations

import pytest
import torch
from sessions import records, run, signal_after
from tiny_models import TRAIN, short_recipe

from discoparse.errors import DiscoparseError
from discoparse.parser.finding import load_parser
from discoparse.training import session as session_module
from discoparse.training.loop import Trainer
from discoparse.training.optimisation import Optimisation
from discoparse.training.progress import Progress

pytestmark = pytest.mark.usefixtures("one_thread", "default_interrupts")


def diverge_at(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Parameters are NaN after this update."""
    really = Optimisation.update

    def update(self: Optimisation, loss: torch.Tensor) -> None:
        really(self, loss)
        if self.step == step:
            with torch.no_grad():
                self.parameters[0].fill_(torch.nan)

    monkeypatch.setattr(Optimisation, "update", update)


@pytest.mark.parametrize("steps", [1, 40])
def test_a_training_that_diverges_stops_and_keeps_the_best_model(tmp_path, monkeypatch, steps):
    """A sentence with what to do; the model, if there was one, still works; nothing on disk is NaN."""
    diverge_at(monkeypatch, steps)
    recipe = short_recipe("fast", epochs=100, evaluate_every=1)
    with pytest.raises(DiscoparseError, match=r"diverged in epoch \d+.*lower learning rate"):
        run(tmp_path / "out", recipe)
    if steps > 1:
        assert load_parser(tmp_path / "out").parse_tokens([["dogs", "came", "."]])
        assert records(tmp_path / "out")[-1]["type"] == "evaluation"
        assert (tmp_path / "out" / "curves.svg").exists()
    else:
        assert not (tmp_path / "out" / "model").exists()
    for path in (tmp_path / "out").rglob("*.json*"):
        assert "NaN" not in path.read_text(), path


def test_divergence_is_noticed_within_an_epoch(tmp_path, monkeypatch):
    """An epoch of the paper's recipe takes hours."""
    diverge_at(monkeypatch, 2)
    monkeypatch.setattr(session_module, "_CHECK_SECONDS", 0.0)
    steps = 0

    def count(*_: object) -> None:
        nonlocal steps
        steps += 1

    monkeypatch.setattr(Progress, "step", count)
    with pytest.raises(DiscoparseError, match="diverged in epoch 1:"):
        run(tmp_path / "out", short_recipe("paper"))
    assert steps == 2 < len(TRAIN)  # each of two updates: the second sentence is the first with NaN in it


def test_a_diverged_training_is_not_saved_when_it_is_interrupted(tmp_path, monkeypatch):
    """It could not be continued, and NaN is not JSON."""
    diverge_at(monkeypatch, 2)
    signal_after(monkeypatch, 3)
    with pytest.raises(DiscoparseError, match="diverged in epoch 1:"):
        run(tmp_path / "out", short_recipe("paper"))
    assert "NaN" not in (tmp_path / "out" / "latest" / "state.json").read_text()


def test_divergence_in_the_very_last_update_is_noticed(tmp_path, monkeypatch):
    """No loss shows it, but the parameters do."""
    recipe = short_recipe("fast", epochs=1)
    total = len(Trainer(recipe, TRAIN, torch.device("cpu"), 1).batches)
    really = Optimisation.update

    def update(self: Optimisation, loss: torch.Tensor) -> None:
        really(self, loss)
        if self.step == total:
            self.average[0].fill_(torch.inf)

    monkeypatch.setattr(Optimisation, "update", update)
    with pytest.raises(DiscoparseError, match=r"diverged in epoch 1: .*there is no model yet"):
        run(tmp_path / "out", recipe)
