"""A whole training: epochs, evaluations, the best model, the state, the log and the curves in one directory."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from discoparse.errors import DiscoparseError
from discoparse.evaluation import Result
from discoparse.files.atomic import replace_file
from discoparse.model.info import MODEL, ModelInfo
from discoparse.model.model import load_model, replace_info, save_model
from discoparse.training.checkpoint import Checkpoint, check_identity, save_checkpoint
from discoparse.training.dev_evaluation import DevEvaluation
from discoparse.training.log import Log, draw_curves
from discoparse.training.loop import Trainer
from discoparse.training.output import CURVES, LATEST, LOG
from discoparse.training.progress import Progress
from discoparse.training.recipe import Recipe
from discoparse.training.starting_encoder import StartingEncoder
from discoparse.training.starting_point import StartingPoint
from discoparse.training.stopping import Clock, Interruption
from discoparse.training.treebanks import fingerprint
from discoparse.tree import Tree

Watch = Callable[[int, Result], None]  # is told the number of updates and the result of each evaluation
_SAVE_SECONDS = 60.0  # after this long the state is saved at the end of the epoch, even if no evaluation is due
_CHECK_SECONDS = 5.0  # between two looks at the losses, which take a device sync


@dataclass(frozen=True)
class Outcome:
    """How a training ended."""

    finished: bool  # False: it was interrupted, and can be resumed
    best: dict[str, Any] | None  # scores of the model that was kept, with its epoch
    seconds: float
    earlier: bool = False  # it had ended before, and was resumed for nothing


class Session:
    """A trainer with everything around it that is kept between steps."""

    def __init__(
        self,
        recipe: Recipe,
        train_trees: Sequence[Tree],
        dev_trees: Sequence[Tree],
        output: Path,
        device: torch.device,
        seed: int,
        info: ModelInfo,
        dev_sets: Mapping[str, int] | None = None,
        encoder: StartingEncoder | None = None,
        start: StartingPoint | None = None,
        silver: Sequence[Tree] = (),
        watch: Watch | None = None,
    ) -> None:
        self.output = output
        self.watch = watch
        self.info = dataclasses.replace(info, recipe=dataclasses.asdict(recipe))
        self.trainer = Trainer(recipe, train_trees, device, seed, encoder, start, silver)
        self.dev = DevEvaluation(self.trainer, dev_trees, dev_sets)
        self.log = Log(output / LOG)
        self.identity = {
            "recipe": self.info.recipe,
            "seed": seed,
            "training treebank": fingerprint(train_trees),
            "development treebank": fingerprint(dev_trees),
        }
        if encoder is not None:
            self.identity["encoder"] = encoder.fingerprint()
        if start is not None:
            self.identity["start"] = start.fingerprint()
        if silver:
            self.identity["silver treebank"] = fingerprint(silver)
        self.best: dict[str, Any] | None = None
        self.mid_epoch = False
        self.finished = False
        self.tokens = self.sentences = 0  # of the epoch so far
        self.checked = time.monotonic()

    # -- the run --------------------------------------------------------------------------------------------------

    def run(self, clock: Clock, interruption: Interruption, show: bool) -> Outcome:
        """Train until all epochs are done, time is up, or somebody interrupts."""
        trainer = self.trainer
        if self.finished:
            return Outcome(True, self.best, clock.elapsed(), earlier=True)
        done = trainer.optimisation.step // trainer.updates_a_batch
        planned = round(trainer.epochs * trainer.batches_an_epoch)
        self.progress = Progress(planned, done, trainer.epochs, show, clock.seconds_left())
        try:
            if clock.limited:
                self._measure_evaluations(clock)
            clock.start_training()
            saved = time.monotonic()
            while trainer.epoch < trainer.epochs and not clock.over() and not interruption.requested:
                self._epoch(clock, interruption)
                if self.mid_epoch:
                    break
                due = trainer.epoch % trainer.recipe.evaluate_every == 0 or trainer.epoch == trainer.epochs
                if due:
                    self._evaluate(clock)
                if due or time.monotonic() - saved > _SAVE_SECONDS:
                    self.save(clock)
                    saved = time.monotonic()
            return self._end(clock, interruption)
        finally:
            self.progress.close()

    def _measure_evaluations(self, clock: Clock) -> None:
        """Find out how long the evaluations at the end will take by doing each once."""
        began = time.monotonic()
        self.dev()
        clock.evaluation_took(time.monotonic() - began)
        if self._ends_on_cpu:
            began = time.monotonic()
            self.dev.on_cpu(self.dev.parser.network)
            clock.final_evaluation = time.monotonic() - began

    def _epoch(self, clock: Clock, interruption: Interruption) -> None:
        """An epoch, or what is left of it; stops within it only if there are batches left for afterwards."""
        trainer, began = self.trainer, time.monotonic()
        if not self.mid_epoch:
            trainer.start_epoch()
            self.tokens = self.sentences = 0
        seen = self.sentences
        trainer.optimisation.time_used = clock.share_used()
        for _ in trainer.steps():
            chosen = trainer.batches[trainer.position - 1]
            self.tokens += int(trainer.corpus.lengths[chosen].sum())
            self.sentences += len(chosen)
            trainer.optimisation.time_used = clock.share_used()
            share = trainer.optimisation.progress()
            self.progress.step(trainer.epoch, trainer.sums, self.tokens, len(chosen), share)
            self.mid_epoch = trainer.position < len(trainer.batches)
            if self.mid_epoch:
                self._check_losses()
                if interruption.requested or clock.over():
                    return
        self.mid_epoch = False
        self._check_losses(now=True)
        self.log.add(
            "epoch",
            epoch=trainer.epoch,
            step=trainer.optimisation.step,
            **self._mean_losses(),
            sentences_per_second=(self.sentences - seen) / (time.monotonic() - began),
            seconds=clock.elapsed(),
        )

    def _evaluate(self, clock: Clock) -> None:
        """Evaluate the averaged parameters, and keep them if they are the best so far."""
        began = time.monotonic()
        if not self.trainer.optimisation.finite():
            self._diverged()
        scores, parameters = self.dev()
        clock.evaluation_took(time.monotonic() - began)
        trainer = self.trainer
        if self.watch is not None and self.dev.result is not None:
            self.watch(trainer.optimisation.step, self.dev.result)
        place = {"epoch": self._epochs_done(), "step": trainer.optimisation.step, "seconds": clock.elapsed()}
        best = self.best is None or scores["f1"] > self.best["f1"]
        if best:
            self.best = {**scores, **place, "device": trainer.device.type}
            config, vocabulary = trainer.network.config, trainer.vocabulary
            save_model(
                self.output / MODEL, parameters, config, vocabulary, self._info(), rounded=trainer.recipe.quantize
            )
        self.log.add("evaluation", **place, **scores, best=best)
        assert self.best is not None
        self.progress.evaluated(place["epoch"], scores, self.best)

    def _end(self, clock: Clock, interruption: Interruption) -> Outcome:
        trainer = self.trainer
        complete = trainer.epoch >= trainer.epochs and not self.mid_epoch
        if interruption.requested and not complete:
            self._check_losses(now=True)
            self.save(clock)
            kept = f"the best model is in {self.output / MODEL}" if self.best else "no model was evaluated yet"
            self.progress.tell(f"interrupted in epoch {trainer.epoch + 1}; {kept}")
            return Outcome(False, self.best, clock.elapsed())
        if not complete and not self._just_evaluated():  # time is up
            self._evaluate(clock)
        if not trainer.optimisation.step:
            self.progress.tell("time was up before the first update: the model has learnt nothing")
        if self._ends_on_cpu:
            self.evaluate_on_cpu(clock)
        self.finished = True
        self.save(clock)
        return Outcome(True, self.best, clock.elapsed())

    @property
    def _ends_on_cpu(self) -> bool:
        """Whether the model is evaluated once more at the end: a GPU computes in TF32, and scores differ a little.

        Not with a transformer, which would keep the GPU waiting for minutes: the card says where scores are from.
        """
        return self.trainer.device.type != "cpu" and self.trainer.network.encoder.pretrained is None

    def evaluate_on_cpu(self, clock: Clock) -> None:
        """Replace the scores of the best model by those that it has on a CPU, which everybody can reproduce."""
        assert self.best is not None
        scores = self.dev.on_cpu(load_model(self.output / MODEL).network)
        self.best = {**self.best, **scores, "device": "cpu"}
        replace_info(self.output / MODEL, self._info())
        self.log.add("final", **self.best | {"seconds": clock.elapsed()})
        self.progress.tell(f"the best model on the CPU, in single precision: F1 {scores['f1']:.2f}")

    def _info(self) -> ModelInfo:
        """The public facts about the best model so far."""
        return dataclasses.replace(self.info, metrics={"dev": self.best, "seed": self.trainer.seed})

    def _just_evaluated(self) -> bool:
        """Whether the parameters have not changed since they were evaluated."""
        last = self.log.records[-1] if self.log.records else {}
        return last.get("type") == "evaluation" and last["step"] == self.trainer.optimisation.step

    def _epochs_done(self) -> float:
        """Epochs, including the part of one that was stopped halfway."""
        trainer = self.trainer
        part = trainer.position / len(trainer.batches) if self.mid_epoch else 0
        return round(trainer.epoch + part, 3) if part else trainer.epoch

    def _mean_losses(self) -> dict[str, float]:
        """Losses per token of the epoch so far."""
        return {name: float(loss) / max(self.tokens, 1) for name, loss in self.trainer.sums.items()}

    # -- divergence -----------------------------------------------------------------------------------------------

    def _check_losses(self, now: bool = False) -> None:
        """Stop a training whose losses are no longer numbers; looks every few seconds, or `now`."""
        if not now and time.monotonic() - self.checked < _CHECK_SECONDS:
            return
        self.checked = time.monotonic()
        if not all(map(math.isfinite, self._mean_losses().values())):
            self._diverged()

    def _diverged(self) -> None:
        """End the training. The best model and the state before this epoch or an earlier one stay on disk."""
        self._draw()
        epoch = self.trainer.epoch + self.mid_epoch
        kept = f"the best model is kept in {self.output / MODEL}" if self.best else "there is no model yet"
        raise DiscoparseError(
            f"the training diverged in epoch {epoch}: losses or parameters are not finite numbers; {kept}. Train again "
            f"into another directory with a lower learning rate (--set learning_rate=…, now "
            f"{self.trainer.recipe.learning_rate:g})"
        )

    # -- the state ------------------------------------------------------------------------------------------------

    def save(self, clock: Clock) -> None:
        """Write the state to resume from, and draw the log."""
        facts = {
            "identity": self.identity,
            "mid_epoch": self.mid_epoch,
            "finished": self.finished,
            "best": self.best,
            "losses": {name: float(loss) for name, loss in self.trainer.sums.items()},
            "tokens": self.tokens,
            "sentences": self.sentences,
            "records": len(self.log.records),
            "clock": clock.state(),
        }
        save_checkpoint(self.output / LATEST, self.trainer, facts)
        self._draw()

    def _draw(self) -> None:
        if self.log.records:
            replace_file(self.output / CURVES, draw_curves(self.log.records, self.info.name).encode())

    def resume(self, checkpoint: Checkpoint, clock: Clock) -> None:
        """Continue from a state, if it is one of this training."""
        facts = checkpoint.facts
        check_identity(self.output, facts["identity"], self.identity)
        self.best, self.finished, self.mid_epoch = facts["best"], facts["finished"], facts["mid_epoch"]
        self.tokens, self.sentences = facts["tokens"], facts["sentences"]
        self.trainer.set_sums(facts["losses"])
        clock.resume(facts["clock"])
        self.log.resume(facts["records"])
        checkpoint.restore(self.trainer)
