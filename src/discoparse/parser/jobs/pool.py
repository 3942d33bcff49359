"""Tasks in, results out, in order: the work is done by several processes, and memory is bounded.

Tasks are taken from their source only as results are taken from the pool, at most some for each worker at a time. A
task whose worker was killed is given to another one; a task that has killed two ends the run with an error.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing.connection import wait
from types import TracebackType
from typing import Any

from discoparse.errors import UsageError
from discoparse.parser.jobs.worker import Work
from discoparse.parser.jobs.workers import Crew, Worker, WorkerDied, crew

_AHEAD = 2  # as many times these tasks are begun, or done and not taken yet
_MOST_JOBS = 1024  # of which each is a process: a million would leave no program of the user any
_PATIENCE = 0.05  # seconds to wait for results before an idle source is looked at again

# Takes what workers ask, in the order of the tasks, and gives an answer to each, in any order: (index, answer).
Answer = Callable[[Sequence[Any]], Iterable[tuple[int, Any]]]


class Pool:
    """Worker processes. As a context manager, ends them all in the end, whatever happens.

    `work` is pickled and sent to them; its `prepare` makes the job that they do (see `worker`). `notice` is told of
    workers that were killed.

        with Pool(4, work) as pool:
            for result in pool.run(tasks):
                ...
    """

    def __init__(self, jobs: int, work: Work, notice: Callable[[str], None] = lambda message: None) -> None:
        if type(jobs) is not int or not 1 <= jobs <= _MOST_JOBS:
            raise UsageError(f"{jobs!r} jobs: from 1 to {_MOST_JOBS:,} are possible")
        self.jobs = jobs
        self._notice = notice
        self._crew: Crew = crew(work)
        self._workers: list[Worker] = []

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._crew.close()
        for worker in self._workers:
            worker.connection.close()

    def run(
        self,
        tasks: Iterable[Any],
        answer: Answer | None = None,
        idle: Callable[[], bool] | None = None,
        depth: int = 2,
    ) -> Iterator[Any]:
        """The results of tasks, in their order. An error of a task is raised when its turn comes.

        `answer` is for jobs that ask the parent something: then all tasks must ask. While the source of tasks is
        `idle`, results are not kept waiting for the next one. `depth` is how many tasks a worker has at a time: one to
        do and one to go on with at once, or more where answers take long.
        """
        return _Run(self, iter(tasks), answer, idle, depth).results()

    def start_all(self) -> list[Worker]:
        """The workers, all of them started."""
        while len(self._workers) < self.jobs:
            self._workers.append(self._crew.start())
        return self._workers

    def replace(self, worker: Worker) -> str:
        """Start another worker for one that is gone; what became of that one."""
        worker.connection.close()
        how = self._crew.how_ended(worker)
        self._workers[self._workers.index(worker)] = self._crew.start()
        return how

    def tell(self, message: str) -> None:
        """Tell the user."""
        self._notice(message)


class _Run:
    """The state of one run: which tasks are where."""

    def __init__(
        self,
        pool: Pool,
        tasks: Iterator[Any],
        answer: Answer | None,
        idle: Callable[[], bool] | None,
        depth: int,
    ) -> None:
        self.pool = pool
        self.source = tasks
        self.answer = answer
        self.idle = idle
        self.depth = depth
        self.exhausted = False
        self.taken = 0  # tasks from the source
        self.given = 0  # results that were taken from the pool
        self.tasks: dict[int, Any] = {}  # those that are not done, by number
        self.again: deque[int] = deque()  # those whose worker was killed
        self.suspects: set[int] = set()  # those that were given to another worker already
        self.asked: dict[int, Any] = {}  # what workers ask, until it is their turn
        self.waiting: dict[int, Worker] = {}  # who waits for an answer
        self.answered = 0  # the first task that was not answered
        self.answers: dict[int, Any] = {}  # until the task is done
        self.done: dict[int, tuple[str, Any]] = {}  # results and errors, until they are taken

    def results(self) -> Iterator[Any]:
        workers = self.pool.start_all()
        while True:
            self._hand_out(workers)
            if self.given in self.done:
                kind, value = self.done.pop(self.given)
                self.given += 1
                if kind == "error":
                    raise value
                yield value
            elif self.exhausted and self.given == self.taken:
                return
            else:
                self._receive(workers, None if self.idle is None or self.exhausted else _PATIENCE)
                self._answer(workers)

    # -- tasks ----------------------------------------------------------------------------------------------------

    def _hand_out(self, workers: Sequence[Worker]) -> None:
        """Give tasks to workers that have few."""
        for worker in sorted(workers, key=lambda worker: len(worker.tasks)):
            if self.again and not worker.tasks:  # alone, so that it is clear what kills the worker, if it is killed
                self._send(worker, self.again.popleft())
        while free := self._least_busy(workers):
            if self.exhausted or self.taken - self.given >= _AHEAD * self.depth * self.pool.jobs:
                break
            if self.taken > self.given and self.idle is not None and self.idle():
                break  # the next task may take long, and there are results to come
            try:
                self.tasks[self.taken] = next(self.source)
            except StopIteration:
                self.exhausted = True
                break
            self.taken += 1
            self._send(free, self.taken - 1)

    def _least_busy(self, workers: Sequence[Worker]) -> Worker | None:
        """A worker that can have another task."""
        free = [
            w for w in workers if len(w.tasks) < self.depth and not any(number in self.suspects for number in w.tasks)
        ]
        return min(free, key=lambda worker: len(worker.tasks), default=None)

    def _send(self, worker: Worker, number: int) -> None:
        worker.tasks.append(number)
        self._tell_worker(worker, ("task", number, self.tasks[number]))

    def _tell_worker(self, worker: Worker, message: tuple[str, int, Any]) -> None:
        with contextlib.suppress(OSError):  # where it is gone, the next attempt to receive from it finds out
            worker.connection.send(message)

    # -- messages -------------------------------------------------------------------------------------------------

    def _receive(self, workers: Sequence[Worker], timeout: float | None) -> None:
        """Take the messages that are there; wait for one, at most so long, if there is none."""
        while ready := wait([worker.connection for worker in workers], timeout):
            for worker in [worker for worker in workers if worker.connection in ready]:
                try:
                    kind, number, value = worker.connection.recv()
                except (EOFError, OSError):
                    self._rescue(worker)
                    continue
                if kind == "ask":
                    self.waiting[number] = worker
                    if number >= self.answered:
                        self.asked[number] = value
                    self._send_answer(number)  # if it is there already, for a worker that was killed
                else:
                    self._finish(worker, number, kind, value)
            timeout = 0.0

    def _finish(self, worker: Worker, number: int, kind: str, value: Any) -> None:
        worker.tasks.remove(number)
        self.done[number] = kind, value
        del self.tasks[number]
        self.answers.pop(number, None)
        self.suspects.discard(number)

    def _rescue(self, worker: Worker) -> None:
        """Replace a worker that is gone; its tasks go to others, unless one has killed two workers."""
        how = self.pool.replace(worker)
        guilty = self.suspects.intersection(worker.tasks)
        if guilty:
            raise WorkerDied(
                f"a worker {how}, and another one before it with the same work: {_shown(self.tasks, guilty)}"
            )
        self.pool.tell(f"warning: a worker {how}; what it had to do is given to another one")
        self.suspects.update(worker.tasks)
        # The first in turn first, whoever died first: those that ask wait for the answers to all before them.
        self.again = deque(sorted([*self.again, *worker.tasks]))
        for number in worker.tasks:
            self.asked.pop(number, None)
            self.waiting.pop(number, None)

    def _answer(self, workers: Sequence[Worker]) -> None:
        """Answer what was asked, as far as it is next in turn; also what is asked meanwhile."""
        while self.answered in self.asked:
            assert self.answer is not None, "only jobs whose run has answers may ask"
            first, due = self.answered, []
            while self.answered in self.asked:
                due.append(self.asked.pop(self.answered))
                self.answered += 1
            for index, value in self.answer(due):
                self.answers[first + index] = value
                self._send_answer(first + index)
                self._receive(workers, 0.0)  # nobody waits for us while the next answer is made
                self._hand_out(workers)

    def _send_answer(self, number: int) -> None:
        """Answer the worker that waits for it, if the answer is there and somebody waits."""
        if number in self.answers and number in self.waiting:
            self._tell_worker(self.waiting.pop(number), ("answer", number, self.answers[number]))


def _shown(tasks: dict[int, Any], numbers: set[int]) -> str:
    """Where in the text tasks are, for a message."""
    return "; ".join(str(tasks[number])[:200] for number in sorted(numbers))
