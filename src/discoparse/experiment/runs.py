"""Training the runs of an experiment: each in a process of its own, several at once if wanted; what stopped goes on.

A run is finished when its `metrics.json` is there; that file is written last.
"""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import shutil
import signal
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from discoparse.errors import DiscoparseError, UsageError
from discoparse.experiment.epochs import EvaluationCounts
from discoparse.experiment.plan import (
    METRICS,
    FinishedRun,
    Progress,
    Run,
    Treebank,
    fingerprints,
    finished,
    prediction_path,
)
from discoparse.files.atomic import replace_file
from discoparse.files.environment import environment
from discoparse.files.sealed import encode_json
from discoparse.files.termination import termination_as_exit
from discoparse.system.derivation_lengths import memory_sizes
from discoparse.training import RECIPES, Recipe
from discoparse.treebank import write_trees

_CURVE = ("epoch", "step", "seconds", "f1", "precision", "recall", "disc_f1", "disc_precision", "disc_recall", "pos")
_PATIENCE = 60.0  # seconds for a training that was asked to stop to save its state
_INTERRUPTED = ("interrupted", "interrupted; the same command goes on")


@dataclass(frozen=True)
class Job:
    """A run on a treebank: all that the process that trains it needs to know."""

    treebank: Treebank
    run: Run
    recipe: Recipe
    directory: Path
    device: str
    minutes: float | None  # for this training
    threads: int
    jobs: int  # trainings at once
    show_progress: bool

    @property
    def name(self) -> str:
        return f"{self.treebank.name}/{self.run.name}"


def recipe_of(run: Run, settings: Sequence[str]) -> Recipe:
    """The recipe of a run, with its oracle, its own settings, and the user's for all runs."""
    own = run.variant.split(",") if run.variant else []
    return RECIPES[run.recipe].override([*settings, *own, f"oracle={run.oracle}"])


def unfinished(jobs: Sequence[Job], progress: Progress) -> list[Job]:
    """The jobs that are still to do; refuses a folder whose finished run had other settings or other trees."""
    todo = []
    known: dict[str, dict[str, str]] = {}  # fingerprints of treebanks that have finished runs
    for job in jobs:
        done = finished(job.directory)
        if done is None:
            todo.append(job)
            continue
        _check_settings(done, job.recipe)
        if job.treebank.name not in known:
            known[job.treebank.name] = fingerprints(job.treebank.trees("train"), job.treebank.trees("dev"))
        done.check_treebank(known[job.treebank.name])
        if (limit := done.metrics["limit_minutes"]) != job.minutes:
            had = "no time limit" if limit is None else f"a limit of {limit:g} minutes"
            progress(f"{job.name}: kept as it is; it was trained with {had}")
    return todo


def _check_settings(done: FinishedRun, recipe: Recipe) -> None:
    then, now = done.metrics["settings"], dataclasses.asdict(recipe)
    different = [
        f"{name} was {then.get(name)} and is {now.get(name)}"
        for name in {**then, **now}
        if then.get(name) != now.get(name)
    ]
    if different:
        raise UsageError(
            f"{done.directory} was trained with other settings ({'; '.join(different)}): choose another --output, "
            "delete the folder to train it again, or use --report-only"
        )


def train_all(jobs: Sequence[Job], at_once: int, stop_after: float | None, progress: Progress) -> bool:
    """Train what is unfinished, `at_once` at a time; after `stop_after` minutes interrupt what runs. Was all done?"""
    todo = unfinished(jobs, progress)
    progress(f"{len(jobs) - len(todo)} of {len(jobs)} runs are finished")
    end = None if stop_after is None else time.monotonic() + 60 * stop_after
    workers: dict[Connection, tuple[Job, BaseProcess]] = {}
    complete, stopping = True, False
    with termination_as_exit(), _ending(workers):
        while todo or workers:
            while todo and len(workers) < at_once and not stopping:
                job = todo.pop(0)
                progress(f"{job.name}: training")
                connection, process = _start(job)
                workers[connection] = (job, process)
            left = None if end is None or stopping else max(0.0, end - time.monotonic())
            for ready in wait(list(workers), timeout=left):
                assert isinstance(ready, Connection)
                complete &= _finish(ready, *workers.pop(ready), progress)
            if end is not None and not stopping and time.monotonic() >= end:
                stopping = True
                complete = complete and not todo
                todo.clear()
                for _, process in workers.values():
                    process.terminate()  # SIGTERM: it saves its state and ends
    return complete


def _start(job: Job) -> tuple[Connection, BaseProcess]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(job, theirs))
    process.start()
    theirs.close()
    return ours, process


def _finish(connection: Connection, job: Job, process: BaseProcess, progress: Progress) -> bool:
    """Take the result of a process that ended; whether its run is finished."""
    try:
        kind, value = connection.recv()
    except EOFError:  # it died without a word
        process.join()
        kind, value = "error", f"its process ended with status {process.exitcode}"
        if process.exitcode in (-signal.SIGTERM, -signal.SIGINT):  # before or after the training itself
            kind, value = _INTERRUPTED
    process.join()
    if kind == "error":
        raise DiscoparseError(f"{job.name}: {value}")
    progress(f"{job.name}: {value}")
    return bool(kind == "finished")


@contextmanager
def _ending(workers: dict[Connection, tuple[Job, BaseProcess]]) -> Iterator[None]:
    """Leave no process behind, and give each the time to save its state."""
    told = False
    try:
        yield
    except KeyboardInterrupt:  # the terminal told the processes, too; a second signal would cut their saving short
        told = True
        raise
    finally:
        for _, process in workers.values():
            if not told:
                process.terminate()
        for _, process in workers.values():
            process.join(_PATIENCE)
            if process.is_alive():
                process.kill()


def _work(job: Job, connection: Connection) -> None:
    """What a process does: one run, to its end or until it is interrupted."""
    import torch

    torch.set_num_threads(job.threads)
    try:
        metrics = train_run(job)
        if metrics is None:
            connection.send(_INTERRUPTED)
        else:
            dev = metrics["dev"]
            scores = f"F1 {dev['f1']:.2f}, disc. F1 {dev['disc_f1']:.2f}, POS {dev['pos']:.2f}"
            connection.send(("finished", f"{scores}, {metrics['minutes']:.1f} minutes"))
    except (DiscoparseError, OSError) as error:
        connection.send(("error", str(error)))
    except KeyboardInterrupt:
        connection.send(_INTERRUPTED)


def train_run(job: Job) -> dict[str, Any] | None:
    """Train one run, or go on with it, and predict; None if it was interrupted."""
    from discoparse.model.info import ModelInfo
    from discoparse.parser.finding import load_parser
    from discoparse.training import train
    from discoparse.training.output import LATEST

    treebank = job.treebank
    train_trees, dev_trees = treebank.trees("train"), treebank.trees("dev")
    info = ModelInfo(f"{treebank.name} {job.run.name}", treebanks=(treebank.name,))
    evaluations = EvaluationCounts(job.directory)
    outcome = train(
        train_trees,
        dev_trees,
        job.directory,
        job.recipe,
        device=job.device,
        seed=job.run.seed,
        minutes=job.minutes,
        threads=job.threads,
        resume=True,
        info=info,
        show_progress=job.show_progress,
        watch=evaluations,
    )
    if not outcome.finished or outcome.best is None:
        return None
    parser = load_parser(job.directory, "cpu")  # in single precision, as the figures of the training are
    for part in treebank.parts:
        if part != "train":
            trees = dev_trees if part == "dev" else treebank.trees(part)
            predicted = parser.parse_tokens([tree.words for tree in trees])
            write_trees(predicted, prediction_path(job.directory, part))
    records = _log(job.directory)
    curve = [{name: r[name] for name in _CURVE} for r in records if r["type"] == "evaluation"]
    evaluations.pack(curve)
    metrics = {
        "run": dataclasses.asdict(job.run),
        "treebank": treebank.name,
        "fingerprints": fingerprints(train_trees, dev_trees),
        "settings": dataclasses.asdict(job.recipe),
        "minutes": outcome.seconds / 60,
        "limit_minutes": job.minutes,
        "trainings_at_once": job.jobs,
        "epochs": max(record["epoch"] for record in records),
        "training_sentences_per_second": _training_rate(records),
        "dev": outcome.best,
        "memory": sorted(memory_counts(parser, [tree.words for tree in dev_trees]).items()),
        "curve": curve,
        "environment": environment(job.device),
    }
    replace_file(job.directory / METRICS, encode_json(metrics))
    shutil.rmtree(job.directory / LATEST, ignore_errors=True)  # only needed to go on
    return metrics


def _log(directory: Path) -> list[dict[str, Any]]:
    from discoparse.training.output import LOG

    return [json.loads(line) for line in (directory / LOG).read_text(encoding="utf-8").splitlines()]


def _training_rate(records: Sequence[dict[str, Any]]) -> float | None:
    """The median over epochs."""
    rates = [record["sentences_per_second"] for record in records if record["type"] == "epoch"]
    return statistics.median(rates) if rates else None


def memory_counts(parser: Any, sentences: Sequence[Sequence[str]]) -> Counter[int]:
    """|S| over the configurations that a parser passes through, counted after every structural action."""
    from discoparse.neural.replay import SHIFT, replay

    counts: Counter[int] = Counter()
    for chosen, decoded in parser.decoder.decode(sentences):
        for actions, k in zip(decoded.actions, chosen.tolist(), strict=True):
            joined = replay(actions[: 2 * len(sentences[k]) - 1])
            counts.update(memory_sizes(item == SHIFT for item in joined))
    return counts
