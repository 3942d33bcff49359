"""A whole pretraining: batches, evaluations, the encoder, the state, the log and the curves in one directory."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load
from torch import Tensor
from tqdm import tqdm

from discoparse.drawing.charts import Series, plot
from discoparse.errors import DiscoparseError
from discoparse.files.atomic import replace_file
from discoparse.files.sealed import write_sealed
from discoparse.model.info import ENCODER_FOLDER, ModelInfo
from discoparse.model.model import program_versions
from discoparse.pretraining.recipe import PretrainingRecipe
from discoparse.pretraining.task import Guesses, Task
from discoparse.training.checkpoint import check_identity
from discoparse.training.log import WIDTH, Log, stacked
from discoparse.training.loop import matmul_precision
from discoparse.training.optimisation import Optimisation, learning_rate
from discoparse.training.output import CURVES, LATEST, LOG
from discoparse.training.progress import Progress
from discoparse.training.state import (
    random_states,
    read_state,
    restore_optimisation,
    restore_random_states,
    write_state,
)
from discoparse.training.stopping import Clock, Interruption

_SAVE_SECONDS = 120.0  # after this long the state is saved at the next evaluation
_ENDLESS = 10**6  # epochs, where only time ends the pretraining


@dataclass(frozen=True)
class PretrainingOutcome:
    """How a pretraining ended."""

    finished: bool  # False: it was interrupted, and can be resumed
    figures: dict[str, Any]  # on held-out sentences
    seconds: float
    earlier: bool = False  # it had ended before, and was resumed for nothing


class PretrainingSession:
    """A task with everything around it that is kept between steps."""

    def __init__(
        self,
        task: Task,
        recipe: PretrainingRecipe,
        output: Path,
        device: torch.device,
        seed: int,
        info: ModelInfo,
        text: str,
        limited: bool,
    ) -> None:
        self.task, self.recipe, self.output, self.device = task, recipe, output, device
        self.info = dataclasses.replace(
            info, recipe=dataclasses.asdict(recipe), versions=info.versions or program_versions()
        )
        self.identity = {"recipe": self.info.recipe, "seed": seed, "text": text, **task.identity()}
        self.epochs = _ENDLESS if limited else recipe.epochs
        self.batches = task.start_epoch(0)
        self.optimisation = Optimisation(task.network, recipe.optimisation(), self.epochs * self.batches)
        self.log = Log(output / LOG)
        self.epoch = self.position = 0  # batches of this epoch that are done
        self.read = 0  # words or pieces in all
        self.finished = False
        self.figures: dict[str, Any] = {}
        self.sums: dict[str, Tensor] = {}  # since the last evaluation
        self.read_then, self.seconds_then = 0, 0.0  # at the last evaluation

    # -- the run --------------------------------------------------------------------------------------------------

    def run(self, clock: Clock, interruption: Interruption, show: bool) -> PretrainingOutcome:
        """Train until all epochs are done, time is up, or somebody interrupts."""
        if self.finished:
            return PretrainingOutcome(True, self.figures, clock.elapsed(), earlier=True)
        planned = self.epochs * self.batches
        step = self.optimisation.step
        epochs = None if clock.limited else self.epochs
        self.progress = Progress(planned, step, epochs, show, clock.seconds_left(), unit=self.task.unit)
        self.task.network.train()
        precision = matmul_precision("high") if self.device.type == "cuda" else nullcontext()
        try:
            with precision:
                self._measure_evaluation(clock)
                clock.start_training()
                self._train(clock, interruption)
                return self._end(clock)
        finally:
            self.progress.close()

    def _measure_evaluation(self, clock: Clock) -> None:
        """Find out how long the last evaluation and saving will take by doing both once."""
        began = time.monotonic()
        self.task.guess_held_out()
        self.save(clock)
        clock.evaluation_took(time.monotonic() - began)
        self.seconds_then = clock.elapsed()

    def _train(self, clock: Clock, interruption: Interruption) -> None:
        saved = time.monotonic()
        while self.epoch < self.epochs and not clock.over() and not interruption.requested:
            if self.position == self.batches:
                self.epoch, self.position = self.epoch + 1, 0
                if self.epoch < self.epochs:
                    self.batches = self.task.start_epoch(self.epoch)
                continue
            self.optimisation.time_used = clock.share_used()
            guesses = self.task.guess(self.position)
            self.optimisation.update(guesses.loss)
            self.position += 1
            self._count(guesses)
            if self.optimisation.step % self.recipe.evaluate_every == 0:
                self._evaluate(clock)
                if time.monotonic() - saved > _SAVE_SECONDS:
                    self.save(clock)
                    saved = time.monotonic()

    def _count(self, guesses: Guesses) -> None:
        for name in ("likelihood", "right", "count"):
            self.sums[name] = self.sums.get(name, 0.0) + getattr(guesses, name).double()
        self.read += guesses.units
        share = self.optimisation.progress()
        loss = {"loss": self.sums["likelihood"] / self.sums["count"].clamp(min=1)}
        self.progress.step(self.epoch, loss, 1, guesses.units, share)

    def _evaluate(self, clock: Clock) -> None:
        """Measure the perplexity on held-out sentences, and log it with the loss since the last time."""
        began = time.monotonic()
        count = max(1.0, float(self.sums["count"])) if self.sums else 1.0
        loss = float(self.sums["likelihood"]) / count if self.sums else None
        rate = (self.read - self.read_then) / max(clock.elapsed() - self.seconds_then, 1e-9)
        held_out, accuracy, guessed = self.task.guess_held_out()
        if not math.isfinite(held_out) or not (loss is None or math.isfinite(loss)):
            raise DiscoparseError(
                f"the pretraining diverged after {self.optimisation.step:,} updates: the loss is not a finite number. "
                f"Train again into another directory with a lower learning rate (--set learning_rate=…, now "
                f"{self.recipe.learning_rate:g})"
            )
        clock.evaluation_took(time.monotonic() - began)
        self.figures = {
            "perplexity": math.exp(min(held_out, 50.0)),
            "accuracy": accuracy,
            "guessed": guessed,
            "read": self.read,
            "seconds": clock.elapsed(),
        }
        step, schedule = self.optimisation.step, self.recipe.optimisation()
        self.log.add(
            "evaluation",
            step=step,
            epoch=self._epochs_done(),
            loss=loss,
            held_out_loss=held_out,
            learning_rate=learning_rate(schedule, step, self.optimisation.total_steps, self.optimisation.time_used),
            per_second=rate,
            **self.figures,
        )
        self.sums, self.read_then, self.seconds_then = {}, self.read, clock.elapsed()
        self.progress.best = f" · held-out perplexity {self.figures['perplexity']:.1f}"
        left = clock.seconds_left()
        self.progress.tell(
            f"step {step:,}, epoch {self._epochs_done():.2f}: "
            + (f"loss {loss:.3f}, " if loss is not None else "")
            + f"held-out perplexity {self.figures['perplexity']:.2f}, {100 * accuracy:.1f}% right, "
            f"{rate:,.0f} {self.task.unit}/s" + ("" if left is None else f", {tqdm.format_interval(left)} left")
        )

    def _end(self, clock: Clock) -> PretrainingOutcome:
        complete = self.epoch >= self.epochs or clock.over()
        if complete and (self.sums or not self.log.records):
            self._evaluate(clock)
        if complete and not self.optimisation.step:
            self.progress.tell("time was up before the first update: the encoder has learnt nothing")
        self.finished = complete
        self.save(clock)
        if not complete:
            self.progress.tell(f"interrupted after {self.optimisation.step:,} updates")
        return PretrainingOutcome(complete, self.figures, clock.elapsed())

    def _epochs_done(self) -> float:
        return round(self.epoch + self.position / self.batches, 3)

    # -- the state ------------------------------------------------------------------------------------------------

    def save(self, clock: Clock) -> None:
        """Write the state to resume from and the encoder as it is now, and draw the log."""
        numbers = {
            "epoch": self.epoch,
            "position": self.position,
            "step": self.optimisation.step,
            "read": self.read,
            "finished": self.finished,
            "identity": self.identity,
            "figures": self.figures,
            "sums": {name: float(value) for name, value in self.sums.items()},
            "records": len(self.log.records),
            "clock": clock.state(),
        }
        write_state(self.output / LATEST, numbers, {**self.optimisation.tensors(), **random_states(self.device)})
        info = dataclasses.replace(self.info, metrics={"held_out": self.figures} if self.figures else {})
        write_sealed(self.output / ENCODER_FOLDER, self.task.encoder_files(info))
        if self.log.records:
            replace_file(self.output / CURVES, draw_curves(self.log.records, self.info.name, self.task.unit).encode())

    def resume(self, path: Path, clock: Clock) -> None:
        """Continue from a state, if it is one of this pretraining."""
        numbers, content = read_state(path)
        check_identity(self.output, numbers["identity"], self.identity)
        tensors = load(content)
        restore_optimisation(self.optimisation, tensors, path)
        self.optimisation.step = numbers["step"]
        self.epoch, self.position, self.read = numbers["epoch"], numbers["position"], numbers["read"]
        self.finished, self.figures = numbers["finished"], numbers["figures"]
        self.sums = {
            name: torch.tensor(value, dtype=torch.float64, device=self.device)
            for name, value in numbers["sums"].items()
        }
        self.read_then = self.read
        if self.epoch < self.epochs:
            self.batches = self.task.start_epoch(self.epoch)
        clock.resume(numbers["clock"])
        self.log.resume(numbers["records"])
        restore_random_states(tensors, self.device)


def draw_curves(records: Sequence[dict[str, Any]], title: str, unit: str) -> str:
    """Loss and perplexity by what was read, as one SVG picture."""
    series = {
        name: [(record["read"] / 1e6, record[name]) for record in records if record[name] is not None]
        for name in ("loss", "held_out_loss", "perplexity")
    }
    losses = [Series("text", series["loss"]), Series("held-out sentences", series["held_out_loss"], colour=1)]
    perplexity = [Series("held-out sentences", series["perplexity"], colour=1)]
    x_name = f"million {unit}"
    return stacked(
        plot(losses, f"{title}: loss per hidden word", x_name, "loss", width=WIDTH),
        plot(perplexity, f"{title}: perplexity", x_name, "perplexity", width=WIDTH),
    )
