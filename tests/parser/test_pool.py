"""Pools of worker processes: order, bounds, errors, workers that are killed, and no process left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from pool_work import Errand, Unprepared

from discoparse.errors import UsageError
from discoparse.parser.jobs import Pool, WorkerDied, workers
from discoparse.parser.jobs.pool import _Run
from discoparse.parser.jobs.worker import WorkerError

on_posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@pytest.fixture(params=["forked", "spawned"])
def crews(request, monkeypatch):
    """Both ways to start workers, in turn."""
    if request.param == "spawned":
        monkeypatch.setattr(workers, "crew", workers.SpawnedCrew)
        monkeypatch.setattr("discoparse.parser.jobs.pool.crew", workers.SpawnedCrew)
    return request.param


def alive(process: int) -> bool:
    """Whether a process is there, and not just waiting to be buried."""
    try:
        with open(f"/proc/{process}/stat") as stream:
            return stream.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def soon_gone(processes: list[int]) -> bool:
    end = time.monotonic() + 20
    while any(map(alive, processes)) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(map(alive, processes))


def test_results_come_in_the_order_of_tasks(crews):
    tasks = [("slow", 0.2 if k % 4 == 0 else 0.0) for k in range(12)] + [("same", k) for k in range(50)]
    with Pool(3, Errand()) as pool:
        assert list(pool.run(tasks)) == [value for _, value in tasks]


def test_answers_are_given_in_the_order_of_tasks(crews):
    asked = []

    def answer(due) -> Iterator[tuple[int, int]]:
        for k in reversed(range(len(due))):  # an answer may come in any order
            yield k, len(asked) + k
        asked.extend(due)

    with Pool(3, Errand()) as pool:
        found = list(pool.run([("ask", k) for k in range(40)], answer, depth=3))
    assert found == [(k, k) for k in range(40)]
    assert asked == list(range(40))


def test_tasks_are_taken_only_as_results_are(crews):
    taken = 0

    def endless():
        nonlocal taken
        while True:
            taken += 1
            yield "same", taken

    with Pool(2, Errand()) as pool:
        results = pool.run(endless())
        for expected in range(1, 31):
            assert next(results) == expected
            assert taken <= expected + 8


@on_posix
def test_workers_share_what_the_work_has_prepared():
    """Bytes that are random in each process in which they are made."""
    with Pool(3, Errand()) as pool:
        found = list(pool.run([("memory", None), ("slow", 0.2)] * 6))
    assert len({value for value in found if isinstance(value, bytes)}) == 1


def test_an_error_comes_when_its_turn_comes(crews):
    with Pool(2, Errand()) as pool:
        results = pool.run([("slow", 0.1), ("wrong_use", "such is life"), ("same", 3)])
        assert next(results) == 0.1
        with pytest.raises(UsageError, match="such is life"):
            next(results)


def test_a_defect_in_a_worker_is_told_with_its_place():
    with Pool(2, Errand()) as pool, pytest.raises(WorkerError, match=r"(?s)pool_work.*ZeroDivisionError: oh"):
        list(pool.run([("defect", "oh")]))


def test_work_that_cannot_be_prepared(crews):
    with Pool(2, Unprepared("no such model")) as pool, pytest.raises(UsageError, match="no such model"):
        list(pool.run([("same", 1)]))


@on_posix
def test_the_tasks_of_a_killed_worker_are_done_by_another(crews, tmp_path):
    told = []
    tasks = [("same", 1), ("die", "x"), *(("same", k) for k in range(20))]
    with Pool(2, Errand(str(tmp_path)), told.append) as pool:
        assert list(pool.run(tasks)) == [value for _, value in tasks]
    (message,) = told
    assert "was killed by SIGKILL (as happens where memory runs out)" in message


@on_posix
def test_the_same_answer_is_given_again_when_a_worker_was_killed():
    """The second worker of a task that had asked before."""
    counted = 0
    killed: list[int] = []

    def answer(due) -> Iterator[tuple[int, int]]:
        nonlocal counted
        for k, _ in enumerate(due):
            if counted == 3 and not killed:
                for worker in pool._workers:
                    process = pool._crew._processes[worker.number]
                    killed.append(process)
                    os.kill(process, signal.SIGKILL)
            counted += 1
            yield k, counted - 1

    with Pool(2, Errand()) as pool:
        assert list(pool.run([("ask", k) for k in range(30)], answer)) == [(k, k) for k in range(30)]
    assert counted == 30
    assert len(killed) == 2


@pytest.mark.parametrize("first_to_die", [0, 1])
def test_where_several_workers_are_killed_the_first_task_goes_on_first(first_to_die):
    """Otherwise those that are done again could wait for an answer to one that nobody does."""
    pool = SimpleNamespace(jobs=2, replace=lambda worker: "was killed", tell=lambda message: None)
    run = _Run(pool, iter(range(99)), None, None, 2)
    dead = [SimpleNamespace(tasks=[5, 6]), SimpleNamespace(tasks=[3, 4])]
    run._rescue(dead[first_to_die])
    run._rescue(dead[1 - first_to_die])
    run.tasks = dict.fromkeys(range(3, 7))
    successors = [SimpleNamespace(tasks=[], connection=SimpleNamespace(send=lambda message: None)) for _ in dead]
    run._hand_out(successors)
    assert [worker.tasks for worker in successors] == [[3], [4]]


@on_posix
def test_a_task_that_kills_two_workers_ends_the_run(tmp_path):
    told = []
    complaint = pytest.raises(WorkerDied, match=r"SIGKILL.*with the same work: \('die', 'xx'\)")
    with Pool(2, Errand(str(tmp_path)), told.append) as pool, complaint:
        list(pool.run([("same", 1), ("die", "xx"), ("same", 2)]))
    assert len(told) == 1


@on_posix
def test_no_process_is_left_after_the_pool(crews):
    with Pool(2, Errand()) as pool:
        results = pool.run([("process", None), *[("slow", 60)] * 9])
        worker, parent = next(results)
    assert soon_gone([worker])
    assert parent == os.getpid() or soon_gone([parent])


@on_posix
def test_threads_of_the_program_do_not_matter():
    """A lock that another thread holds when workers are started."""
    lock = threading.Lock()
    with lock:
        keeper = threading.Thread(target=lock.acquire, daemon=True)
        keeper.start()
        with Pool(2, Errand()) as pool:
            assert list(pool.run([("same", k) for k in range(5)])) == list(range(5))
    keeper.join()


_PROGRAM = """
import sys
from pool_work import Errand
from discoparse.parser.jobs import Pool
with Pool(2, Errand()) as pool:
    for worker in pool.run([("process", None)] * 2 + [("slow", 60)] * 4):
        print(*worker, flush=True)
"""


@on_posix
@pytest.mark.usefixtures("default_interrupts")
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_program(end):
    """Whether it is interrupted, with all processes of its group, or killed. The program has no `__main__` guard."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    program = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
        start_new_session=True,
    )
    with program:
        assert program.stdout is not None
        processes = [int(word) for _ in range(2) for word in program.stdout.readline().split()]
        if end == signal.SIGINT:
            os.killpg(program.pid, end)
        else:
            program.send_signal(end)
        program.wait(20)
    assert program.returncode != 0
    assert soon_gone(processes)


@on_posix
def test_a_killed_template_is_told():
    with Pool(2, Errand()) as pool:
        results = pool.run([("process", None)] * 9)
        _, template = next(results)
        os.kill(template, signal.SIGKILL)
        assert len(list(results)) == 8, "workers go on"


def test_wrong_numbers_of_jobs():
    for wrong in (0, -1, 1.5, True, 1025, 10**6):
        with pytest.raises(UsageError, match="from 1 to"):
            Pool(wrong, Errand())  # type: ignore[arg-type]
