"""Work that is not parsing in batches: pictures, derivations, scores. One thread does it, one request after the other,
so that it takes at most its share of the CPU from parsing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from discoparse.serve.metrics import Metrics
from discoparse.serve.problems import as_refusal, overloaded


class Errands:
    """The thread and the number of requests that wait for it."""

    def __init__(self, longest: int, metrics: Metrics) -> None:
        self.longest = longest
        self.metrics = metrics
        self._waiting = 0

    def start(self) -> None:
        self._thread = ThreadPoolExecutor(1, "errands")

    def close(self) -> None:
        """End when what was asked for is done."""
        self._thread.shutdown()

    def submit(self, work: Callable[[], bytes]) -> asyncio.Future[bytes]:
        """The answer, later; a `Refusal` if too many wait. What is cancelled before its turn costs nothing."""
        if self._waiting >= self.longest:
            self.metrics.add("refused_total")
            raise overloaded(f"{self._waiting} requests are waiting, which is all that fit into the queue")
        self._waiting += 1
        answer = asyncio.wrap_future(self._thread.submit(_guarded, work))
        answer.add_done_callback(self._done)
        return answer

    def _done(self, answer: asyncio.Future[bytes]) -> None:
        self._waiting -= 1


def _guarded(work: Callable[[], bytes]) -> bytes:
    """What the work gives; whatever it raises becomes a `Refusal`."""
    try:
        return work()
    except Exception as error:
        raise as_refusal(error) from None
