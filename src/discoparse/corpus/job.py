"""A job on disk: its options and its input, sealed before work begins; what is done; what happened.

All of it lies in the hidden folder `.job` of the output, so that programs which read the output as a folder of Parquet
files see these alone. Only the program that started the job writes there: a line of the journal for each unit, after
the unit's file is in place under its final name. A unit that is not in the journal is done again, and its file replaced
by an equal one: that is why an interrupted job ends with the rows of an undisturbed one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from discoparse.corpus.documents import Fields
from discoparse.corpus.plan import Fingerprint, Plan, Unit
from discoparse.corpus.sources import Source
from discoparse.errors import DiscoparseError, UsageError
from discoparse.files import Locked, decode_json, encode_json, exclusive, replace_file

FOLDER = ".job"
FORMATS = ("parquet", "jsonl")
_VERSION = 1  # of what is in the folder
_LISTED = 3  # differences that a message names


@dataclass(frozen=True)
class Options:
    """What decides about the rows of the output, beside the input. Other options may change when a job is resumed."""

    model: str  # name, or absolute path
    seal: str  # digest of the model's files
    program: str  # version
    to: str = "parquet"
    device: str = "cpu"
    lines: bool = False
    pretokenized: bool = False
    fields: Fields = field(default_factory=Fields)


@dataclass(frozen=True)
class Job:
    """What a worker has to know."""

    output: str  # absolute path
    options: Options
    sources: list[Source]
    units: list[Unit]

    def shard(self, unit: int) -> Path:
        """The file of a unit."""
        digits = max(5, len(str(len(self.units) - 1)))
        return Path(self.output, f"part-{unit:0{digits}}.{self.options.to}")


@dataclass(frozen=True)
class Outcome:
    """What became of a unit."""

    unit: int
    documents: int  # that were read
    sentences: int
    tokens: int
    characters: int
    bytes: int  # of its file
    cpu_seconds: float  # that the worker took for it
    problems: list[tuple[str, str]]  # documents that could not be read or parsed: place and problem
    notices: list[tuple[str, str]]  # sentences that were cut: document and notice


class Record:
    """The folder with all that is known about a job; one process at a time may hold it."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self.folder = output / FOLDER
        self.manifest, self.journal = self.folder / "manifest.json", self.folder / "journal.jsonl"
        self.report = self.folder / "report.json"

    @contextmanager
    def held(self, resume: bool) -> Iterator[None]:
        """Make the output's folder, or go on in it; other processes are kept out of it meanwhile."""
        if self.output.exists() and not self.output.is_dir():
            raise UsageError(f"the output {self.output} is a file: name a folder for the job")
        if self.output.is_dir() and not self.folder.is_dir() and any(self.output.iterdir()):
            raise UsageError(f"the output {self.output} is a folder with other files in it: name a new one")
        if self.manifest.exists() and not resume:
            raise UsageError(f"there is a job in {self.output}: go on with it by --resume, or name another folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            with exclusive(self.folder / "lock"):
                yield
        except Locked:
            raise UsageError(f"another process is working on the job in {self.output}") from None

    def begin(self, options: Options, plan: Plan) -> None:
        """Seal a new job."""
        content = {"version": _VERSION, "options": asdict(options), **plan.to_json()}
        replace_file(self.manifest, encode_json(content, indent=None))

    def stored(self) -> tuple[Options, Plan] | None:
        """The options and the plan of a job that was begun; None if there is none."""
        try:
            data = decode_json(self.manifest.read_bytes())
        except FileNotFoundError:
            return None
        if data.get("version") != _VERSION:
            raise DiscoparseError(f"the job in {self.output} is of another version of discoparse: start it again")
        options = Options(**{**data["options"], "fields": Fields(**data["options"]["fields"])})
        return options, Plan.from_json(data)

    def check(self, options: Options, sources: Sequence[Source], sealed: tuple[Options, Plan]) -> None:
        """Refuse to go on with other options or another input, which would make an output of two halves."""
        before, plan = sealed
        old, new = _flat(before), _flat(options)
        changes = [f"{name} is {new[name]!r} now and was {old[name]!r}" for name in old if old[name] != new[name]]
        changes += _changed_input(plan.fingerprints, sources)
        if changes:
            more = f"; and {len(changes) - _LISTED} more" if len(changes) > _LISTED else ""
            raise UsageError(
                f"the job in {self.output} cannot go on, since it was begun differently: "
                f"{'; '.join(changes[:_LISTED])}{more}. Give what it was begun with, or another output"
            )

    def done(self, job: Job) -> dict[int, Outcome]:
        """The units that need not be done again: in the journal, with the file that it says."""
        found: dict[int, Outcome] = {}
        for outcome in self._journalled():
            with suppress(FileNotFoundError):
                if job.shard(outcome.unit).stat().st_size == outcome.bytes:
                    found[outcome.unit] = outcome
        return found

    def _journalled(self) -> Iterator[Outcome]:
        """What the journal says; a last line that was cut off is not there."""
        try:
            lines = self.journal.read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            return
        for line in lines:
            data = json.loads(line)
            pairs = {key: [(place, what) for place, what in data[key]] for key in ("problems", "notices")}
            yield Outcome(**{**data, **pairs})

    @contextmanager
    def writing(self, done: dict[int, Outcome]) -> Iterator[Journal]:
        """The journal, with what is done already and nothing else."""
        replace_file(self.journal, b"".join(map(_line, done.values())))
        try:
            with self.journal.open("ab") as stream:
                yield Journal(stream)
        finally:
            for unfinished in self.output.glob(".part-*.unfinished"):  # of workers that were killed
                unfinished.unlink(missing_ok=True)


class Journal:
    """Takes down what is done, so that it lasts."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def add(self, outcome: Outcome) -> None:
        self._stream.write(_line(outcome))
        self._stream.flush()
        os.fsync(self._stream.fileno())


def _line(outcome: Outcome) -> bytes:
    return encode_json(asdict(outcome), indent=None)


def _flat(options: Options) -> dict[str, Any]:
    """What must not change, as users know it. Of the model that is its content, wherever it lies by now."""
    return {
        "the content of --model": options.seal[:16],
        "the version of discoparse": options.program,
        "--to": options.to,
        "--lines": options.lines,
        "--pretokenized": options.pretokenized,
        "--text-field": options.fields.text,
        "--id-field": options.fields.id,
        "the device (by --gpus-per-worker)": options.device,
    }


def _changed_input(before: Sequence[Fingerprint], sources: Sequence[Source]) -> list[str]:
    """How an input differs from the one that was sealed."""
    now, old = [source.name for source in sources], [known.name for known in before]
    if now != old:
        new, gone = sorted(set(now) - set(old)), sorted(set(old) - set(now))
        listed = [f"the input has a new file {name}" for name in new]
        listed += [f"the input lacks the file {name}" for name in gone]
        return listed or ["the files of the input come in another order"]
    return [
        f"the file {known.name} of the input was changed"
        for known, source in zip(before, sources, strict=True)
        if known.is_stale(source)
    ]
