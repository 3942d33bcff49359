"""When a training stops before its last epoch: the time limit, the schedule that follows it, and signals."""

from __future__ import annotations

import io
import json
import os
import signal
import time
from typing import Any

import pytest
import torch
from sessions import records, run
from tiny_models import short_recipe

from discoparse.training.dev_evaluation import DevEvaluation
from discoparse.training.optimisation import learning_rate
from discoparse.training.progress import Progress
from discoparse.training.recipe import RECIPES
from discoparse.training.session import Outcome, Session
from discoparse.training.stopping import Clock, Interruption

pytestmark = pytest.mark.usefixtures("one_thread", "default_interrupts")


@pytest.mark.parametrize("on_gpu", [False, True])
def test_minutes_end_the_training_with_a_complete_schedule(tmp_path, monkeypatch, on_gpu):
    """The clock runs out long before the epochs: the rate ends near 0, there is time for the last evaluation (and for
    one more on the CPU after training on a GPU), and the state is final."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(Session, "_ends_on_cpu", on_gpu)
    rates: list[float] = []
    sessions: list[Session] = []

    def taking(seconds: float, really: Any) -> Any:
        def call(*arguments: Any) -> Any:
            now[0] += seconds
            return really(*arguments)

        return call

    def step(self: Progress, *arguments: Any) -> None:
        now[0] += 0.5
        optimisation = sessions[0].trainer.optimisation
        rates.append(learning_rate(optimisation.recipe, optimisation.step, 10**6, optimisation.time_used))

    def remember(self: Session, *arguments: Any) -> Outcome:
        sessions.append(self)
        return really_run(self, *arguments)

    really_run = Session.run
    monkeypatch.setattr(Session, "run", remember)
    monkeypatch.setattr(Progress, "step", step)
    monkeypatch.setattr(DevEvaluation, "__call__", taking(6, DevEvaluation.__call__))
    monkeypatch.setattr(DevEvaluation, "on_cpu", taking(8, DevEvaluation.on_cpu))
    recipe = short_recipe("fast", epochs=10_000, evaluate_every=10_000)
    outcome = run(tmp_path / "out", recipe, minutes=1)
    assert outcome.finished
    assert outcome.best is not None
    assert outcome.best["device"] == "cpu"
    reserve = 14 if on_gpu else 6
    assert 60 - 1.5 - 0.25 * reserve <= outcome.seconds <= 60  # not a second too late, and little time left
    assert [record["type"] for record in records(tmp_path / "out")][-1] == ("final" if on_gpu else "evaluation")
    assert max(rates) > 0.9 * recipe.learning_rate
    assert rates[-1] < 0.02 * recipe.learning_rate
    assert rates[len(rates) // 2] == pytest.approx(recipe.learning_rate / 2, rel=0.2)


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
    assert [record["type"] for record in records(tmp_path / "out")] == ["epoch", "evaluation"]


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
    assert first.share_used() == pytest.approx(20 / (60 - 10 - first.reserve))
    second = Clock(minutes=1, started=1000.0)
    now[0] = 1005.0
    second.resume(json.loads(json.dumps(first.state() | {"elapsed": 30.0})))
    second.start_training()
    assert second.elapsed() == pytest.approx(35)
    assert second.share_used() == pytest.approx(25 / (60 - 10 - second.reserve))
    second.evaluation_took(8)
    second.final_evaluation = 4
    assert second.reserve > 12
    now[0] += 20
    assert second.over()


def test_a_signal_is_a_request_and_a_second_one_is_an_order():
    with Interruption() as interruption:
        assert not interruption.requested
        os.kill(os.getpid(), signal.SIGTERM)
        assert interruption.requested
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_signal_that_is_ignored_stays_ignored():
    """A background job of a script ignores Ctrl-C, which is meant for what runs in the foreground."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # put back by `default_interrupts`
    with Interruption() as interruption:
        os.kill(os.getpid(), signal.SIGINT)
        assert not interruption.requested
        os.kill(os.getpid(), signal.SIGTERM)
        assert interruption.requested
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


class Terminal(io.StringIO):
    """Has what a bar needs to show itself."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("seconds_left", "share"), [(None, 0.25), (40.0, 0.5)])
def test_the_bar_follows_the_steps_or_the_clock(monkeypatch, seconds_left, share):
    """10 of 40 steps in 20 seconds: a quarter of the work, but half of the time if there are 40 seconds."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    terminal = Terminal()
    progress = Progress(40, 0, 4, True, seconds_left, terminal)
    losses = {"tag": torch.tensor(6.0)}
    for step in range(1, 11):
        now[0] += 2
        used = 0.0 if seconds_left is None else step * 2 / seconds_left
        progress.step(0, losses, 12, 10, max(step / 40, used))
    assert progress.bar.n == pytest.approx(share)
    shown = terminal.getvalue().split("\r")[-1]
    assert f"{100 * share:.0f}%" in shown
    assert "tag 0.500" in shown
    assert "5 sentences/s" in shown
    assert ("00:20 left" if seconds_left else "01:00 left") in shown
    progress.close()


def test_the_bar_is_told_how_far_the_training_is(tmp_path, monkeypatch):
    """From the first to the last batch, to 1."""
    shares: list[float] = []
    really = Progress.step

    def step(self: Progress, *arguments: Any) -> None:
        shares.append(arguments[-1])
        really(self, *arguments)

    monkeypatch.setattr(Progress, "step", step)
    run(tmp_path / "out", short_recipe("fast"))
    assert shares == sorted(shares)
    assert shares[0] < 0.2
    assert shares[-1] == pytest.approx(1, abs=0.2)  # epochs differ in the number of their batches
