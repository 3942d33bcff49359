"""A whole training: epochs, evaluations, the best model, the latest state, the log and the curves in one directory.

output/model        the best model so far by F1 on the development set (the first of equals)
output/latest       the state to continue from
output/log.jsonl    a record for every epoch and every evaluation
output/curves.svg   a picture of the log
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from discoparse.errors import DiscoparseError, UsageError
from discoparse.files.atomic import existing_directory, replace_file
from discoparse.model.info import MODEL, ModelInfo
from discoparse.model.model import save_model
from discoparse.neural.batching import LONGEST_SENTENCE
from discoparse.training.checkpoint import Checkpoint, save_checkpoint
from discoparse.training.clock import Clock
from discoparse.training.curves import draw_curves
from discoparse.training.identity import check_identity, fingerprint
from discoparse.training.interruption import Interruption
from discoparse.training.log import Log
from discoparse.training.loop import Trainer
from discoparse.training.progress import Progress
from discoparse.training.recipe import Recipe
from discoparse.training.validation import Validation
from discoparse.tree import Tree

LATEST, LOG, CURVES = "latest", "log.jsonl", "curves.svg"
_SAVE_SECONDS = 60.0  # after so long the state is saved at the end of the epoch, even if no evaluation is due


@dataclass(frozen=True)
class Outcome:
    """How a training ended."""

    finished: bool  # False: it was interrupted, and can be resumed
    best: dict[str, Any] | None  # scores of the model that was kept, with its epoch
    seconds: float


def train(
    recipe: Recipe,
    train_trees: Sequence[Tree],
    dev_trees: Sequence[Tree] | Mapping[str, Sequence[Tree]],
    output: str | Path,
    *,
    device: str | torch.device = "cpu",
    seed: int = 1,
    minutes: float | None = None,
    resume: bool = False,
    info: ModelInfo | None = None,
    show_progress: bool = False,
    started: float | None = None,
) -> Outcome:
    """Train a model and leave it in `output`.

    The best by F1 on all of `dev_trees` is kept. Where these are sets by name, each has figures of its own as well.
    `minutes` limits the time since `started` (`time.monotonic()`, by default now), earlier parts of a resumed training
    included. Ctrl-C and SIGTERM stop it between two steps; with `resume` it then goes on.
    """
    output = Path(output)
    checkpoint = _open(output, resume)
    dev_sets = None
    if isinstance(dev_trees, Mapping):
        dev_sets = {name: len(trees) for name, trees in dev_trees.items()}
        dev_trees = [tree for trees in dev_trees.values() for tree in trees]
    for what, trees in (("training", train_trees), ("development", dev_trees)):
        if not trees:
            raise DiscoparseError(f"the {what} treebank has no trees: there is nothing to work with")
    for number, tree in enumerate(dev_trees, 1):
        if len(tree) > LONGEST_SENTENCE:
            name = f" ({tree.id})" if tree.id else ""
            raise DiscoparseError(
                f"development sentence {number}{name} has {len(tree):,} tokens; the parser takes at most "
                f"{LONGEST_SENTENCE:,}: leave it out"
            )
    device = torch.device(device)
    session = Session(recipe, train_trees, dev_trees, output, device, seed, info or ModelInfo(output.name), dev_sets)
    clock = Clock(minutes, started)
    if checkpoint is not None:
        session.resume(checkpoint, clock)
    with Interruption() as interruption:
        return session.run(clock, interruption, show_progress)


def _open(output: Path, resume: bool) -> Checkpoint | None:
    """The state to go on from; None to start afresh, in a directory that holds no training."""
    latest = existing_directory(output / LATEST)
    if resume and latest.exists():
        return Checkpoint(latest)
    if output.exists() and not output.is_dir():
        raise UsageError(f"{output} is a file: a training needs a directory")
    taken = [name for name in (LATEST, MODEL, "config.json", LOG) if (output / name).exists()]
    if latest.exists() or (taken and not resume):
        raise UsageError(
            f"{output} already holds a training ({', '.join(taken or [LATEST])}): continue it with --resume, or choose "
            "another directory"
        )
    output.mkdir(parents=True, exist_ok=True)
    return None


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
    ) -> None:
        self.output = output
        self.info = dataclasses.replace(info, recipe=dataclasses.asdict(recipe))
        self.trainer = Trainer(recipe, train_trees, device, seed)
        self.validation = Validation(self.trainer, dev_trees, dev_sets)
        self.log = Log(output / LOG)
        self.identity = {
            "recipe": self.info.recipe,
            "seed": seed,
            "training treebank": fingerprint(train_trees),
            "development treebank": fingerprint(dev_trees),
        }
        self.best: dict[str, Any] | None = None
        self.mid_epoch = False
        self.finished = False
        self.losses: dict[str, Tensor] = {}  # sums over the epoch so far
        self.tokens = self.sentences = 0  # of the epoch so far

    # -- the run --------------------------------------------------------------------------------------------------

    def run(self, clock: Clock, interruption: Interruption, show: bool) -> Outcome:
        """Train until all epochs are done, time is up, or somebody interrupts."""
        trainer = self.trainer
        if self.finished:
            return Outcome(True, self.best, clock.elapsed())
        done = trainer.optimisation.step // trainer.updates_a_batch
        planned = round(trainer.epochs * trainer.batches_an_epoch)
        self.progress = Progress(planned, done, trainer.epochs, show, clock.minutes_left())
        try:
            if clock.limited:
                clock.reserve_for(self.validation)
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
                    self._save(clock)
                    saved = time.monotonic()
            return self._end(clock, interruption)
        finally:
            self.progress.close()

    def _epoch(self, clock: Clock, interruption: Interruption) -> None:
        """An epoch, or what is left of it; stops within it only where something is left to do afterwards."""
        trainer, began = self.trainer, time.monotonic()
        if not self.mid_epoch:
            trainer.start_epoch()
            self.losses, self.tokens, self.sentences = {}, 0, 0
        seen = self.sentences
        trainer.optimisation.time_used = clock.share_used()
        for losses in trainer.steps():
            chosen = trainer.batches[trainer.position - 1]
            for name, loss in losses.items():
                self.losses[name] = self.losses.get(name, 0.0) + loss.double()
            self.tokens += int(trainer.corpus.lengths[chosen].sum())
            self.sentences += len(chosen)
            self.progress.step(trainer.epoch, self.losses, self.tokens, len(chosen))
            trainer.optimisation.time_used = clock.share_used()
            self.mid_epoch = trainer.position < len(trainer.batches)
            if self.mid_epoch and (interruption.requested or clock.over()):
                return
        self.mid_epoch = False
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
        scores, parameters = self.validation()
        clock.evaluation_took(time.monotonic() - began)
        place = {"epoch": self._epochs_done(), "step": self.trainer.optimisation.step, "seconds": clock.elapsed()}
        best = self.best is None or scores["f1"] > self.best["f1"]
        if best:
            self.best = {**scores, **place}
            info = dataclasses.replace(self.info, metrics={"dev": self.best, "seed": self.trainer.seed})
            config, vocabulary = self.trainer.network.config, self.trainer.vocabulary
            save_model(self.output / MODEL, parameters, config, vocabulary, info)
        self.log.add("evaluation", **place, **scores, best=best)
        assert self.best is not None
        self.progress.evaluated(place["epoch"], scores, self.best)

    def _end(self, clock: Clock, interruption: Interruption) -> Outcome:
        trainer = self.trainer
        complete = trainer.epoch >= trainer.epochs and not self.mid_epoch
        if interruption.requested and not complete:
            self._save(clock)
            kept = f"the best model is in {self.output / MODEL}" if self.best else "no model was evaluated yet"
            self.progress.tell(f"interrupted in epoch {trainer.epoch + 1}; {kept}")
            return Outcome(False, self.best, clock.elapsed())
        if not complete and not self._just_evaluated():  # time is up
            self._evaluate(clock)
        if not trainer.optimisation.step:
            self.progress.tell("time was up before the first update: the model has learnt nothing")
        self.finished = True
        self._save(clock)
        replace_file(self.output / CURVES, draw_curves(self.log.records, self.info.name).encode())
        return Outcome(True, self.best, clock.elapsed())

    def _just_evaluated(self) -> bool:
        """Whether the parameters have not changed since they were evaluated."""
        last = self.log.records[-1] if self.log.records else {}
        return last.get("type") == "evaluation" and last["step"] == self.trainer.optimisation.step

    def _epochs_done(self) -> float:
        """Epochs, with the part of one that was stopped within."""
        trainer = self.trainer
        part = trainer.position / len(trainer.batches) if self.mid_epoch else 0
        return round(trainer.epoch + part, 3) if part else trainer.epoch

    def _mean_losses(self) -> dict[str, float]:
        """Losses per token of the epoch so far."""
        return {name: float(loss) / max(self.tokens, 1) for name, loss in self.losses.items()}

    # -- the state ------------------------------------------------------------------------------------------------

    def _save(self, clock: Clock) -> None:
        facts = {
            "identity": self.identity,
            "mid_epoch": self.mid_epoch,
            "finished": self.finished,
            "best": self.best,
            "losses": {name: float(loss) for name, loss in self.losses.items()},
            "tokens": self.tokens,
            "sentences": self.sentences,
            "records": len(self.log.records),
            "clock": clock.state(),
        }
        save_checkpoint(self.output / LATEST, self.trainer, facts)

    def resume(self, checkpoint: Checkpoint, clock: Clock) -> None:
        """Go on from a state, if it is one of this training."""
        facts = checkpoint.facts
        check_identity(self.output, facts["identity"], self.identity)
        self.best, self.finished, self.mid_epoch = facts["best"], facts["finished"], facts["mid_epoch"]
        self.tokens, self.sentences = facts["tokens"], facts["sentences"]
        self.losses = {
            name: torch.tensor(loss, dtype=torch.float64, device=self.trainer.device)
            for name, loss in facts["losses"].items()
        }
        clock.resume(facts["clock"])
        self.log.resume(facts["records"])
        checkpoint.restore(self.trainer)
