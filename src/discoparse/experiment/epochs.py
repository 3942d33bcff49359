"""What every evaluation of a run counted on dev, and scores that did not choose their own epoch.

A run keeps the epoch with the best F1 on dev, so its score there is that of the luckiest of a dozen evaluations. To
score it fairly without a second set, dev is halved: sentences with even numbers are scored at the epoch that is best on
those with odd numbers, and the other way round. Neighbouring sentences are in different halves, so both have the same
texts. All of dev is scored, and no sentence at an epoch that it helped to choose.
"""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from discoparse.errors import DiscoparseError
from discoparse.evaluation import Result
from discoparse.evaluation.result import summarise
from discoparse.experiment.plan import FinishedRun

COUNTS, _WHILE_TRAINING = "dev-counts.npz", "evaluations"


class EvaluationCounts:
    """Keeps the counts of each evaluation beside a training that may be interrupted, and packs them in the end."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def __call__(self, step: int, result: Result) -> None:
        """An evaluation after some updates; one that a resumed training repeats takes the place of the first."""
        folder = self.directory / _WHILE_TRAINING
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / f"{step}.npy", result.counts.astype(np.int32))

    def pack(self, curve: list[dict[str, Any]]) -> None:
        """One file for the evaluations of the learning curve: `counts` [evaluation, sentence, count] and `epochs`.

        There is none where some are missing, because an earlier version began the training; and nothing is left to do
        where the program was stopped right after this.
        """
        folder = self.directory / _WHILE_TRAINING
        paths = [folder / f"{point['step']}.npy" for point in curve]
        if not all(path.exists() for path in paths):
            return
        tables = [np.load(path) for path in paths]
        epochs = np.array([point["epoch"] for point in curve], dtype=np.float64)
        np.savez_compressed(self.directory / COUNTS, counts=np.stack(tables), epochs=epochs)
        shutil.rmtree(folder)


def has_counts(run: FinishedRun) -> bool:
    """Runs of earlier versions have none."""
    return (run.directory / COUNTS).exists()


def held_out_counts(run: FinishedRun) -> np.ndarray:
    """Counts [sentence, count] of dev, each half at the epoch that is best on the other."""
    path = run.directory / COUNTS
    try:
        with np.load(path) as stored:
            counts: np.ndarray = stored["counts"].astype(np.int64)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DiscoparseError(f"{path} cannot be used ({error}); delete the run's folder to train it again") from None
    odd = np.arange(counts.shape[1]) % 2 == 1
    held_out = np.empty_like(counts[0])
    for scored in (odd, ~odd):
        held_out[scored] = counts[best_evaluation(counts[:, ~scored])][scored]
    return held_out


def best_evaluation(counts: np.ndarray) -> int:
    """Which evaluation has the best F1, the first of equals, as training chooses; counts are [evaluation, …]."""
    return int(np.argmax([summarise(table).f1 or 0.0 for table in counts]))
