"""Units of work for a pool of workers that may die: each unit is done once, or given up after several attempts."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from discoparse.corpus.job import Outcome
from discoparse.corpus.work import Failure
from discoparse.errors import DiscoparseError

ATTEMPTS = 3  # at a unit whose workers die or fail, before it is given up
_STARTS = 3  # times all workers may die while they start, one after another
PATIENCE = 300.0  # seconds to wait for the first worker, or for another when all have gone
_MOMENT = 1.0  # seconds to wait for events before looking at the clock


@dataclass(frozen=True)
class Ready:
    """A worker has loaded the model."""

    worker: int
    where: str  # host and process, for people


@dataclass(frozen=True)
class Done:
    """A worker has done its unit, or could not."""

    worker: int
    result: Outcome | Failure


@dataclass(frozen=True)
class Unusable:
    """A worker could not load the model."""

    worker: int
    failure: Failure


@dataclass(frozen=True)
class Died:
    """A worker is no longer there."""

    worker: int
    reason: str


Event = Ready | Done | Unusable | Died


class Pool(Protocol):
    """Workers somewhere. They are known by numbers, which are never used again."""

    def room(self) -> int:
        """How many workers there can be at once."""
        ...

    def start(self) -> int:
        """Let one more worker start; an event will tell when it is ready."""
        ...

    def submit(self, worker: int, unit: int) -> None:
        """Give a unit to a worker that has none."""
        ...

    def events(self, timeout: float) -> Sequence[Event]:
        """What has happened; waits a while if there is nothing."""
        ...

    def stop(self) -> None:
        """End all workers."""
        ...


@dataclass
class Incidents:
    """What went wrong although documents are not to blame."""

    lost: list[dict[str, str | int | None]] = field(default_factory=list)  # workers: where, reason, unit
    given_up: dict[int, str] = field(default_factory=dict)  # unit: reason of the last attempt
    unusable: list[str] = field(default_factory=list)  # why workers could not be used


class Scheduler:
    """Keeps workers busy until all units are done or given up."""

    def __init__(
        self, pool: Pool, units: Iterable[int], workers: int, incidents: Incidents, notice: Callable[[str], None]
    ) -> None:
        self.pool = pool
        self.waiting = deque(units)
        self.workers = workers  # as many as there should be
        self.incidents = incidents
        self.notice = notice
        self._starting: set[int] = set()
        self._idle: list[int] = []
        self._busy: dict[int, int] = {}  # worker: unit
        self._where: dict[int, str] = {}
        self._attempts: Counter[int] = Counter()
        self._deaths = 0  # of workers that were starting, since one was ready

    def run(self, record: Callable[[Outcome], None]) -> None:
        """Do all units; `record` is called with what became of each, as soon as it is known."""
        last = time.monotonic()  # when a worker was last there
        while self.waiting or self._busy:
            while self._there < min(self.workers, len(self.waiting) + len(self._busy)):
                self._starting.add(self.pool.start())
            while self._idle and self.waiting:
                self._busy[worker := self._idle.pop()] = unit = self.waiting.popleft()
                self.pool.submit(worker, unit)
            for event in self.pool.events(_MOMENT):
                self._take(event, record)
            if self._idle or self._busy:
                last = time.monotonic()
            elif time.monotonic() - last > PATIENCE:
                raise DiscoparseError(
                    f"no worker could start within {PATIENCE:.0f} seconds: are there enough free CPUs and GPUs? "
                    "What is done is kept; go on with --resume"
                )

    @property
    def _there(self) -> int:
        return len(self._starting) + len(self._idle) + len(self._busy)

    def _take(self, event: Event, record: Callable[[Outcome], None]) -> None:
        match event:
            case Ready(worker, where):
                self._starting.discard(worker)
                self._idle.append(worker)
                self._where[worker] = where
                self._deaths = 0
            case Done(worker, Failure() as failure):
                unit = self._busy.pop(worker)
                self._idle.append(worker)
                if failure.ends_job:
                    raise DiscoparseError(f"{failure.message}. What is done is kept; go on with --resume")
                self._retry(unit, failure.message)
            case Done(worker, Outcome() as outcome):
                del self._busy[worker]
                self._idle.append(worker)
                record(outcome)
            case Unusable(worker, failure):
                self._starting.discard(worker)
                self.incidents.unusable.append(failure.message)
                self.workers -= 1  # another one would fail as well
                if not self.workers:
                    raise DiscoparseError(f"no worker can be used: {failure.message}")
                self.notice(f"a worker cannot be used: {failure.message}")
            case Died(worker, reason):
                self._lose(worker, reason)

    def _lose(self, worker: int, reason: str) -> None:
        """A worker is gone: its unit is done again, and the next round starts another worker."""
        if worker in self._starting:
            self._starting.discard(worker)
            self._deaths += 1
            if self._deaths >= _STARTS * self.workers:
                raise DiscoparseError(f"workers die while they start: {reason}")
        if worker in self._idle:
            self._idle.remove(worker)
        unit = self._busy.pop(worker, None)
        where = self._where.get(worker, f"worker {worker}")
        self.incidents.lost.append({"worker": where, "reason": reason, "unit": unit})
        self.notice(f"lost a worker ({where}): {reason}")
        if unit is not None:
            self._retry(unit, reason)

    def _retry(self, unit: int, reason: str) -> None:
        self._attempts[unit] += 1
        if self._attempts[unit] >= ATTEMPTS:
            self.incidents.given_up[unit] = reason
            self.notice(f"unit {unit} is given up after {ATTEMPTS} attempts: {reason}")
        else:
            self.waiting.appendleft(unit)
