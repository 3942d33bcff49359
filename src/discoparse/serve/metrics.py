"""Counters in the format of Prometheus. Workers share them, so any of them can answer for all."""

from __future__ import annotations

import multiprocessing
from bisect import bisect_left
from collections.abc import Iterator

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_STATUSES = ("2xx", "3xx", "4xx", "5xx")
ENDPOINTS = ("parse", "draw", "derive", "convert", "evaluate", "models", "health", "metrics", "page", "other")
_REQUESTS = [f'discoparse_requests_total{{endpoint="{e}",status="{s}"}}' for e in ENDPOINTS for s in _STATUSES]
_BUCKETS = [f'discoparse_request_seconds_bucket{{le="{s:g}"}}' for s in _SECONDS]
_BUCKETS.append('discoparse_request_seconds_bucket{le="+Inf"}')
_KINDS = {
    "discoparse_requests_total": ("counter", "Requests answered, by endpoint and status."),
    "discoparse_request_seconds": ("histogram", "Time from a request for parsing to its answer."),
    "discoparse_sentences_total": ("counter", "Sentences parsed."),
    "discoparse_tokens_total": ("counter", "Tokens parsed."),
    "discoparse_batches_total": (
        "counter",
        "Batches parsed: sentences per batch say how well requests share the work.",
    ),
    "discoparse_refused_total": ("counter", "Requests answered with 503 because the queue was full."),
    "discoparse_abandoned_total": ("counter", "Requests whose client left before the answer."),
    "discoparse_waiting": ("gauge", "Requests that wait or are worked on."),
}
_NAMES = [
    *_REQUESTS,
    *_BUCKETS,
    "discoparse_request_seconds_sum",
    "discoparse_request_seconds_count",
    *(name for name in _KINDS if name not in ("discoparse_requests_total", "discoparse_request_seconds")),
]
_PLACES = {name: k for k, name in enumerate(_NAMES)}


class Metrics:
    """The counters of one worker, in memory that it shares with the others. One thread of it writes."""

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers
        self._numbers = multiprocessing.RawArray("d", workers * len(_NAMES))
        self._row = 0

    def become(self, worker: int) -> None:
        """Write the counters of this worker from now on; one that takes another's place goes on counting."""
        self._row = worker * len(_NAMES)
        self.set("waiting", 0)

    def add(self, name: str, amount: float = 1) -> None:
        """Count something without labels; for the names see `_KINDS`."""
        self._numbers[self._row + _PLACES[f"discoparse_{name}"]] += amount

    def set(self, name: str, value: float) -> None:
        self._numbers[self._row + _PLACES[f"discoparse_{name}"]] = value

    def answered(self, endpoint: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self.add(f'requests_total{{endpoint="{endpoint}",status="{_STATUSES[min(max(status // 100 - 2, 0), 3)]}"}}')
        if endpoint == "parse" and status == 200:
            self._numbers[self._row + _PLACES[_BUCKETS[bisect_left(_SECONDS, seconds)]]] += 1
            self.add("request_seconds_sum", seconds)
            self.add("request_seconds_count")

    def value(self, name: str) -> float:
        """A counter summed over all workers."""
        return sum(self._numbers[_PLACES[f"discoparse_{name}"] :: len(_NAMES)])

    def exposition(self) -> str:
        """All counters as text."""
        return "".join(self._lines())

    def _lines(self) -> Iterator[str]:
        told: set[str] = set()
        below = 0.0
        for name in _NAMES:
            family = name.partition("{")[0]
            for ending in ("_bucket", "_sum", "_count"):
                family = family.removesuffix(ending) if family.removesuffix(ending) in _KINDS else family
            if family not in told:
                told.add(family)
                kind, help_ = _KINDS[family]
                yield f"# HELP {family} {help_}\n# TYPE {family} {kind}\n"
            value = self.value(name.removeprefix("discoparse_"))
            if name in _BUCKETS:  # each counts what is below its bound
                below = value = below + value
            if value or family != "discoparse_requests_total":
                yield f"{name} {value:.10g}\n"
