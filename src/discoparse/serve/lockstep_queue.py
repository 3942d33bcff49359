"""Requests that arrive together are parsed together: a queue that gathers the sentences of many clients into batches.

One thread parses. Whenever it is free it takes what is there, so a lone request never waits for company; what arrives
meanwhile makes up the next batch. Only after a batch of several requests does it give the next ones a moment, since
clients that were answered together ask again together. Requests share a batch fairly: one with a thousand sentences
does not hold up one with a single sentence. A short sentence that comes alone while the thread has nothing to do is
parsed by the event loop itself: waking two threads would take a third as long as parsing it.

Greedy parsing ends with decisions, and no `Tree` is made where JSON is all that is wanted.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from discoparse.parser.doubt import Doubt
from discoparse.parser.jobs.deciding import decisions
from discoparse.parser.outline import Decisions
from discoparse.parser.parser import Parser
from discoparse.parser.passages import Passage
from discoparse.serve.metrics import Metrics
from discoparse.serve.problems import as_refusal, overloaded
from discoparse.tree import Tree

_BATCH_TOKENS = 3072  # parsed at once: more would not be faster on a CPU, and others would wait longer
_SHORT = 400  # characters of a request that the event loop may parse itself: others wait a few milliseconds at most
_MOMENT = 0.001  # seconds in which the next request must arrive for a batch to grow


Greedy = tuple[Passage, Decisions]  # a sentence, and what the parser decided: text or a tree is made of it later


@dataclass(frozen=True)
class Method:
    """How sentences are parsed. Those of requests with the same method share a batch."""

    parser: Parser
    doubt: Doubt | None = None  # probabilities by sampling
    best: int | None = None  # that many trees of each sentence
    constrained: bool = False  # others would only become slower together with these

    @property
    def greedy(self) -> bool:
        """Whether one tree of each sentence, without sampling, is all that is wanted."""
        return self.doubt is None and self.best is None

    @property
    def quick(self) -> bool:
        """Whether a short sentence takes hardly longer than waking a thread."""
        return self.greedy and not self.constrained and self.parser.is_compiled

    @property
    def cost(self) -> int:
        """How many times a sentence is parsed at once, which takes as much longer."""
        return self.best or (1 if self.doubt is None else self.doubt.samples)

    def parse(self, passages: list[Passage]) -> list[Greedy] | list[Tree] | list[list[Tree]]:
        """For each sentence, what was decided if that is enough; else a tree with probabilities, or the best trees."""
        if self.best is not None:
            return list(self.parser.stream_best(passages, self.best))
        if self.doubt is not None:
            return self.parser.parse_all(passages, self.doubt)
        words, limits = [passage.words for passage in passages], [passage.limits for passage in passages]
        found = decisions(self.parser, words, limits)  # None only for passages without words, which nobody sends
        return [(passage, decided) for passage, decided in zip(passages, found, strict=True) if decided is not None]


@dataclass(eq=False)
class Job:
    """A request for trees: its sentences, which are read when their turn comes, and what to make of their trees.

    Both run in the queue's thread; what they raise is the answer to this request alone.
    """

    method: Method
    passages: Iterator[Passage]
    finish: Callable[[list[Any]], Any]  # of what `Method.parse` gives
    characters: int = 0
    found: list[Any] = field(default_factory=list)
    abandoned: bool = False  # nobody waits for the answer any more
    answer: asyncio.Future[Any] = field(init=False)  # of a job in the queue


class LockstepQueue:
    """The queue of one event loop. `start` and `close` it there."""

    def __init__(self, longest: int, most_characters: int, metrics: Metrics) -> None:
        self.longest = longest
        self.most_characters = most_characters
        self.metrics = metrics
        self._arrived: deque[Job] = deque()
        self._condition = threading.Condition()
        self._wanted = 1  # arrived requests for which the thread wants to be woken
        self._closed = False
        self._turn: list[Job] = []  # short jobs of this turn of the event loop, which may be alone
        self._unanswered: set[Job] = set()  # only the event loop looks at it
        self._characters = 0  # of those

    def start(self) -> None:
        """Begin to work."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._work, name="parsing", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer what has arrived, and end."""
        with self._condition:
            self._closed = True
            self._condition.notify()
        self._thread.join()

    async def at_once(self, job: Job) -> Any:
        """The answer to a short job that comes alone while there is nothing to do; None for others, to be submitted."""
        if self._unanswered or job.characters > _SHORT or not job.method.quick:
            return None
        turn = self._turn
        turn.append(job)
        await asyncio.sleep(0)  # requests that were read together all come here before the first goes on
        if self._turn is turn:
            self._turn = []
        if self._unanswered or len(turn) > 1:
            return None
        passages = list(job.passages)
        found = job.method.parse(passages)
        self._count(len(passages), sum(len(passage.words) for passage in passages))
        return job.finish(found)

    def submit(self, job: Job) -> asyncio.Future[Any]:
        """Put a job into the queue; its answer comes later. A `Refusal` if too much is waiting."""
        full = len(self._unanswered) >= self.longest
        if full or (self._unanswered and self._characters + job.characters > self.most_characters):
            self.metrics.add("refused_total")
            raise overloaded(f"{len(self._unanswered)} requests are waiting, which is all that fit into the queue")
        self._unanswered.add(job)
        self._characters += job.characters
        job.answer = self._loop.create_future()
        job.answer.add_done_callback(lambda _: self._answered(job))
        with self._condition:
            self._arrived.append(job)
            if len(self._arrived) >= self._wanted:
                self._condition.notify()
        self.metrics.set("waiting", len(self._unanswered))
        return job.answer

    def _answered(self, job: Job) -> None:
        job.abandoned = job.answer.cancelled()
        self._unanswered.discard(job)
        self._characters -= job.characters
        self.metrics.set("waiting", len(self._unanswered))

    # -- the thread ---------------------------------------------------------------------------------------------

    def _work(self) -> None:
        active: deque[Job] = deque()
        crowd = 1  # jobs in the last batch
        while True:
            with self._condition:
                while not (active or self._closed or self._arrived):
                    self._wanted = 1
                    self._condition.wait()
                if not (self._arrived or active):
                    return
                while not active and len(self._arrived) < crowd:
                    before, self._wanted = len(self._arrived), crowd
                    self._condition.wait(_MOMENT)
                    if len(self._arrived) == before:
                        break
                active.extend(self._arrived)
                self._arrived.clear()
            active = deque(job for job in active if not job.abandoned)
            if active:
                crowd = self._parse_some(active)

    def _parse_some(self, active: deque[Job]) -> int:
        """Parse a batch for the first job and others of its method; how many jobs took part.

        Those that are done are answered and leave; the others go to the end, behind what has arrived meanwhile.
        """
        method = active[0].method
        jobs = [job for job in active if job.method == method]
        most = max(1, _BATCH_TOKENS // method.cost)
        share = max(1, most // len(jobs))
        batch: list[tuple[Job, list[Passage]]] = []
        unfinished: list[Job] = []  # of these, jobs with more sentences
        outcomes: list[tuple[Job, Any]] = []  # an answer, or an error
        size = 0
        for job in jobs:
            if size >= most:
                break
            active.remove(job)
            try:
                taken, ended = _take(job, share)
            except Exception as error:
                outcomes.append((job, as_refusal(error)))
                continue
            batch.append((job, taken))
            size += sum(len(passage.words) for passage in taken)
            if not ended:
                unfinished.append(job)
        try:
            found = iter(method.parse([passage for _, taken in batch for passage in taken]))
            for job, taken in batch:
                job.found += islice(found, len(taken))
        except Exception as error:  # answered to all: which sentence is to blame is not known
            outcomes += [(job, as_refusal(error)) for job, _ in batch]
        else:
            outcomes += [(job, _finished(job)) for job, _ in batch if job not in unfinished]
            if unfinished:
                with self._condition:
                    active.extend(self._arrived)
                    self._arrived.clear()
                active.extend(unfinished)
        sentences = sum(len(taken) for _, taken in batch)
        self._loop.call_soon_threadsafe(self._deliver, outcomes, sentences, size)
        return len(batch)

    def _count(self, sentences: int, tokens: int) -> None:
        """Count a batch."""
        if sentences:
            self.metrics.add("batches_total")
            self.metrics.add("sentences_total", sentences)
            self.metrics.add("tokens_total", tokens)

    def _deliver(self, outcomes: list[tuple[Job, Any]], sentences: int, tokens: int) -> None:
        self._count(sentences, tokens)
        for job, outcome in outcomes:
            if job.answer.done():  # the client left
                continue
            if isinstance(outcome, BaseException):
                job.answer.set_exception(outcome)
            else:
                job.answer.set_result(outcome)


def _take(job: Job, tokens: int) -> tuple[list[Passage], bool]:
    """The next sentences of a job, of about that many tokens in all but at least one; and whether there are no more."""
    taken: list[Passage] = []
    size = 0
    for passage in job.passages:
        if taken and size + len(passage.words) > tokens:
            job.passages = chain([passage], job.passages)
            return taken, False
        taken.append(passage)
        size += len(passage.words)
    return taken, True


def _finished(job: Job) -> Any:
    try:
        return job.finish(job.found)
    except Exception as error:
        return as_refusal(error)
