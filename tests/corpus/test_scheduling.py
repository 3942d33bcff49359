"""The scheduler with a scripted pool: workers that die, fail, cannot start, or never come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace

import pytest

from discoparse.corpus import scheduling
from discoparse.corpus.job import Job, Options, Outcome
from discoparse.corpus.local_pool import LocalPool, _Process
from discoparse.corpus.ray_pool import RayPool
from discoparse.corpus.scheduling import Died, Done, Event, Incidents, Ready, Scheduler, Unusable
from discoparse.corpus.work import Failure
from discoparse.errors import DiscoparseError


def outcome(unit: int) -> Outcome:
    return Outcome(unit, 1, 1, 1, 1, 1, 0.5, [], [])


Answer = Callable[[int, int], Event | None]  # to a unit that a worker was given: the worker, the unit


class Scripted:
    """Workers that are ready at once, unless `start` says otherwise, and answer as `answer` says."""

    def __init__(self, answer: Answer, start: Callable[[int], Event | None] = lambda worker: Ready(worker, "here")):
        self.answer, self.begin = answer, start
        self.started = 0
        self.most = 0
        self.coming: list[Event] = []
        self.given: list[tuple[int, int]] = []
        self.gone: set[int] = set()

    def start(self) -> int:
        worker, self.started = self.started, self.started + 1
        self._add(self.begin(worker))
        return worker

    def submit(self, worker: int, unit: int) -> None:
        assert worker not in self.gone
        self.given.append((worker, unit))
        self._add(self.answer(worker, unit))

    def _add(self, event: Event | None) -> None:
        if event is not None:
            self.coming.append(event)

    def events(self, timeout: float) -> Sequence[Event]:
        found, self.coming = self.coming[:1], self.coming[1:]
        self.gone |= {event.worker for event in found if isinstance(event, Died | Unusable)}
        return found

    def stop(self) -> None:
        raise AssertionError("whoever made the pool stops it")


def schedule(pool: Scripted, units: int = 6, workers: int = 2) -> tuple[list[int], Incidents, list[str]]:
    incidents, done, told = Incidents(), [], []
    scheduler = Scheduler(pool, range(units), workers, incidents, told.append)
    scheduler.run(lambda result: done.append(result.unit))
    return done, incidents, told


def test_every_unit_is_done_once():
    pool = Scripted(lambda worker, unit: Done(worker, outcome(unit)))
    done, incidents, told = schedule(pool)
    assert done == [0, 1, 2, 3, 4, 5]
    assert pool.started == 2
    assert {worker for worker, _ in pool.given} == {0, 1}
    assert (incidents, told) == (Incidents(), [])


def test_no_more_workers_than_units():
    pool = Scripted(lambda worker, unit: Done(worker, outcome(unit)))
    schedule(pool, units=3, workers=9)
    assert pool.started == 3


def test_the_unit_of_a_dead_worker_is_done_again_by_another():
    def answer(worker: int, unit: int) -> Event:
        return Died(worker, "killed") if worker == 0 else Done(worker, outcome(unit))

    pool = Scripted(answer)
    done, incidents, told = schedule(pool)
    assert sorted(done) == [0, 1, 2, 3, 4, 5]
    assert pool.started == 3
    assert incidents.lost == [{"worker": "here", "reason": "killed", "unit": 0}]
    assert told == ["lost a worker (here): killed"]
    assert not incidents.given_up


def test_a_unit_that_kills_its_workers_is_given_up():
    def answer(worker: int, unit: int) -> Event:
        return Died(worker, "out of memory") if unit == 2 else Done(worker, outcome(unit))

    pool = Scripted(answer)
    done, incidents, _ = schedule(pool)
    assert sorted(done) == [0, 1, 3, 4, 5]
    assert incidents.given_up == {2: "out of memory"}
    assert [unit for _, unit in pool.given].count(2) == scheduling.ATTEMPTS
    assert len(incidents.lost) == scheduling.ATTEMPTS


def test_a_failure_is_tried_again():
    failed: list[int] = []

    def answer(worker: int, unit: int) -> Event:
        if unit == 3 and not failed:
            failed.append(worker)
            return Done(worker, Failure("for once"))
        return Done(worker, outcome(unit))

    pool = Scripted(answer)
    done, incidents, _ = schedule(pool)
    assert sorted(done) == [0, 1, 2, 3, 4, 5]
    assert not incidents.given_up
    assert pool.started == 2


def test_a_failure_that_all_would_have_ends_the_job():
    pool = Scripted(lambda worker, unit: Done(worker, Failure("disk full", ends_job=True)))
    with pytest.raises(DiscoparseError, match=r"disk full\. What is done is kept; go on with --resume"):
        schedule(pool)
    assert len(pool.given) < 4


def test_idle_workers_may_die():
    """They get no unit, not even one that has to be done again, and do not count."""

    def answer(worker: int, unit: int) -> Event | None:
        if unit == 1 and worker < 2:  # the last one: the other worker is idle, and dies first
            pool.coming += [Died(1 - worker, "node left"), Died(worker, "node left")]
            return None
        return Done(worker, outcome(unit))

    pool = Scripted(answer)
    done, incidents, _ = schedule(pool, units=2)
    assert sorted(done) == [0, 1]
    assert [lost["unit"] for lost in incidents.lost] == [None, 1]
    assert pool.given[-1] == (2, 1)


def test_a_worker_that_cannot_be_used_is_not_replaced():
    def start(worker: int) -> Event:
        return Unusable(worker, Failure("no model here")) if worker == 0 else Ready(worker, "here")

    pool = Scripted(lambda worker, unit: Done(worker, outcome(unit)), start)
    done, incidents, told = schedule(pool)
    assert sorted(done) == [0, 1, 2, 3, 4, 5]
    assert pool.started == 2
    assert incidents.unusable == ["no model here"]
    assert told == ["a worker cannot be used: no model here"]


def test_without_a_usable_worker_the_job_ends():
    pool = Scripted(lambda worker, unit: None, lambda worker: Unusable(worker, Failure("no model here")))
    with pytest.raises(DiscoparseError, match="no worker can be used: no model here"):
        schedule(pool)


def test_workers_that_die_while_they_start_end_the_job():
    pool = Scripted(lambda worker, unit: None, lambda worker: Died(worker, "bad machine"))
    with pytest.raises(DiscoparseError, match="workers die while they start: bad machine"):
        schedule(pool)
    assert pool.started <= 8


def test_deaths_at_the_start_do_not_add_up_over_a_long_job():
    """In a cluster that loses nodes all day, many workers die before they are ready."""

    def start(worker: int) -> Event:
        return Died(worker, "preempted") if worker % 2 else Ready(worker, "here")

    def answer(worker: int, unit: int) -> Event:
        first = [given for given, _ in pool.given].count(worker) == 1
        return Done(worker, outcome(unit)) if first else Died(worker, "preempted")

    pool = Scripted(answer, start)
    done, incidents, _ = schedule(pool, units=12, workers=1)
    assert sorted(done) == list(range(12))
    assert len(incidents.lost) > 12


def test_nobody_waits_forever(monkeypatch):
    monkeypatch.setattr(scheduling, "PATIENCE", 0.02)
    pool = Scripted(lambda worker, unit: None, lambda worker: None)
    with pytest.raises(DiscoparseError, match=r"no worker could start within .* go on with --resume"):
        schedule(pool)


# -- room for workers --------------------------------------------------------------------------------------------------

JOB = Job("out", Options("model", "seal", "0"), [], [])


def test_workers_of_this_machine_take_turns_on_gpus(monkeypatch):
    monkeypatch.setattr("discoparse.corpus.local_pool._visible_gpus", lambda: ["3", "5"])
    pool = LocalPool(JOB, gpus_per_worker=0.5)
    assert pool.room() == 4
    assert [pool._gpu(worker) for worker in range(5)] == ["3", "3", "5", "5", "3"]
    assert [LocalPool(JOB, 1)._gpu(worker) for worker in range(3)] == ["3", "5", "3"]
    pool._processes = {7: _Process(None, None, 0), 9: _Process(None, None, 2)}
    assert pool._free_place() == 1  # the successor of one that has died takes its place, and its GPU
    assert LocalPool(JOB, 1).room() == 2
    assert LocalPool(JOB)._gpu(0) is None
    assert LocalPool(JOB).room() >= 1


@pytest.mark.parametrize(
    ("resources", "share", "room"),
    [
        ({"CPU": 16.0}, 0, 16),
        ({"CPU": 16.0, "GPU": 2.0}, 0.25, 8),
        ({"CPU": 3.0, "GPU": 2.0}, 0.25, 3),
        ({"CPU": 0.5}, 0, 1),
    ],
)
def test_room_in_a_cluster(resources, share, room):
    pool = object.__new__(RayPool)
    pool._ray = SimpleNamespace(cluster_resources=lambda: resources)
    pool._gpus_per_worker = share
    assert pool.room() == room
