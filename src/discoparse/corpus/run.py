"""A job from beginning to end: plan or resume, work, and say what happened."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from tqdm import tqdm

import discoparse
from discoparse.corpus.documents import Document, Fields, read_documents
from discoparse.corpus.job import Job, Options, Outcome, Record
from discoparse.corpus.local_pool import LocalPool
from discoparse.corpus.plan import Part, Plan, make_plan
from discoparse.corpus.scheduling import Incidents, Pool, Scheduler
from discoparse.corpus.sources import Source, find_sources
from discoparse.corpus.work import model_seal
from discoparse.errors import UsageError
from discoparse.files import encode_json, replace_file
from discoparse.parser.choice import ModelChoice
from discoparse.parser.finding import find_model, installed_models
from discoparse.treebank.arrow_schema import import_arrow

ENGINES = ("local", "ray")
_SAMPLE = 50  # documents by which the model is chosen
_SAMPLE_CHARACTERS = 2000  # of each

Notice = Callable[[str], None]


@dataclass(frozen=True)
class Engine:
    """Who works: processes of this machine, or actors of a Ray cluster. None of this changes the rows."""

    name: str = "local"
    workers: int | None = None  # by default as many as there are CPUs, or as the GPUs allow
    gpus_per_worker: float = 0
    address: str | None = None  # of the cluster


@dataclass(frozen=True)
class Result:
    """What became of a job, by this run and those before it."""

    output: Path
    report: Path
    model: str
    before: list[Outcome]  # units that were done before this run
    done: list[Outcome]  # units that this run has done
    units: int  # of the whole job
    incidents: Incidents
    changed: list[str]  # files of the input that were changed while they were read
    workers: int
    engine: str
    seconds: float  # of this run, without planning
    planning: float  # seconds

    @property
    def outcomes(self) -> list[Outcome]:
        """What became of all units, in their order."""
        return sorted([*self.before, *self.done], key=lambda outcome: outcome.unit)

    @property
    def problems(self) -> list[tuple[str, str]]:
        """Documents that could not be read or parsed: place and problem."""
        return [problem for outcome in self.outcomes for problem in outcome.problems]

    @property
    def complete(self) -> bool:
        """Whether the documents of the input, as it was, are all in the output."""
        return not self.problems and not self.incidents.given_up and not self.changed

    def total(self, name: str) -> float:
        """The sum of a figure over all units."""
        return sum(getattr(outcome, name) for outcome in self.outcomes)

    def figures(self) -> dict[str, Any]:
        """For `discoparse corpus --json`."""
        tokens = sum(outcome.tokens for outcome in self.done)
        return {
            "output": str(self.output),
            "report": str(self.report),
            "engine": self.engine,
            "workers": self.workers,
            "model": self.model,
            "complete": self.complete,
            "documents": self.total("documents"),
            "unread_documents": len(self.problems),
            "sentences": self.total("sentences"),
            "tokens": self.total("tokens"),
            "characters": self.total("characters"),
            "bytes": self.total("bytes"),
            "units": self.units,
            "units_resumed": len(self.before),
            "units_given_up": len(self.incidents.given_up),
            "workers_lost": len(self.incidents.lost),
            "planning_seconds": round(self.planning, 3),
            "seconds": round(self.seconds, 3),
            "cpu_seconds": round(self.total("cpu_seconds"), 3),
            "tokens_per_second": round(tokens / self.seconds) if self.seconds else 0,
        }

    def write_report(self) -> None:
        """Everything that happened, in the job's folder."""
        content = {
            **self.figures(),
            "problems": [{"place": place, "problem": problem} for place, problem in self.problems],
            "notices": [{"document": d, "notice": what} for outcome in self.outcomes for d, what in outcome.notices],
            "given_up": [{"unit": unit, "reason": why} for unit, why in sorted(self.incidents.given_up.items())],
            "changed": self.changed,
            "lost": self.incidents.lost,
            "unusable": self.incidents.unusable,
        }
        replace_file(self.report, encode_json(content))


def parse_corpus(
    inputs: Sequence[str],
    output: str,
    model: str | None = None,
    *,
    engine: Engine | None = None,
    resume: bool = False,
    kind: str | None = None,
    to: str = "parquet",
    lines: bool = False,
    pretokenized: bool = False,
    fields: Fields | None = None,
    notice: Notice = lambda message: None,
) -> Result:
    """Parse the documents of files, directories or patterns into files of rows in the folder `output`.

    With `resume`, a job that was begun there goes on; without one there, it begins. `notice` is told what the user
    should know meanwhile; progress is shown on standard error if that is a terminal.
    """
    engine, fields = engine or Engine(), fields or Fields()
    if to == "parquet":
        import_arrow()
    # What is certain to fail fails before anything is made.
    if engine.name == "ray":
        from discoparse.corpus.ray_pool import import_ray

        import_ray(engine.address)
    if model is not None:
        find_model(model)
    sources = find_sources(inputs, kind, output)
    record = Record(Path(os.path.abspath(output)))
    with record.held(resume):
        began = time.perf_counter()
        sealed = record.stored()
        if model is None:
            model = sealed[0].model if sealed is not None else _choose_model(sources, fields, notice)
        name = model if model in installed_models() else os.path.abspath(model)
        device = "cuda" if engine.gpus_per_worker else "cpu"
        version = discoparse.__version__
        options = Options(name, model_seal(model), version, to, device, lines, pretokenized, fields)
        if sealed is not None:
            record.check(options, sources, sealed)
            plan = sealed[1]
        else:
            plan = _plan(sources, fields)
            record.begin(options, plan)
        job = Job(str(record.output), options, sources, plan.units)
        result = _work(job, plan, record, engine, time.perf_counter() - began, notice)
        result.write_report()
        return result


def _plan(sources: Sequence[Source], fields: Fields) -> Plan:
    total = sum(os.path.getsize(source.path) for source in sources if os.path.exists(source.path))
    with tqdm(total=total, desc="reading", unit="B", unit_scale=True, disable=None, leave=False) as bar:
        return make_plan(sources, fields.text, bar.update)


def _choose_model(sources: Sequence[Source], fields: Fields, notice: Notice) -> str:
    """The model for the first documents."""
    parts = [Part(number) for number in range(len(sources))]
    documents = (found for found in read_documents(sources, parts, fields) if isinstance(found, Document))
    sample = "\n".join(document.text[:_SAMPLE_CHARACTERS] for document in islice(documents, _SAMPLE))
    if not sample.strip():
        raise UsageError("there is no text to choose a model by: name it with --model")
    model = ModelChoice(notice).choose(sample)
    notice(f"parsing with --model {model}")
    return model


def _work(job: Job, plan: Plan, record: Record, engine: Engine, planning: float, notice: Notice) -> Result:
    """Do what is not done yet."""
    began = time.perf_counter()
    done = record.done(job)
    new: list[Outcome] = []
    incidents = Incidents()
    waiting = [unit for unit in range(len(job.units)) if unit not in done]
    if done:
        notice(f"{len(done):,} of {len(job.units):,} units are done already")
    workers = 0
    if waiting:
        sizes = [unit.size for unit in job.units]
        with (
            record.writing(done) as journal,
            _pool(job, engine) as pool,
            tqdm(total=sum(sizes), unit="B", unit_scale=True, disable=None) as bar,
        ):
            workers = min(engine.workers or pool.room(), len(waiting))
            bar.update(sum(sizes[unit] for unit in done))

            def take_down(outcome: Outcome) -> None:
                journal.add(outcome)
                new.append(outcome)
                bar.update(sizes[outcome.unit])

            Scheduler(pool, waiting, workers, incidents, notice).run(take_down)
    seconds = time.perf_counter() - began
    changed = [f.name for f, source in zip(plan.fingerprints, job.sources, strict=True) if f.is_stale(source)]
    facts = (len(job.units), incidents, changed if waiting else [], workers, engine.name, seconds, planning)
    return Result(record.output, record.report, job.options.model, list(done.values()), new, *facts)


@contextmanager
def _pool(job: Job, engine: Engine) -> Iterator[Pool]:
    pool: Pool
    if engine.name == "ray":
        from discoparse.corpus.ray_pool import RayPool

        pool = RayPool(job, engine.address, engine.gpus_per_worker)
    else:
        pool = LocalPool(job, engine.gpus_per_worker)
    try:
        yield pool
    finally:
        pool.stop()
