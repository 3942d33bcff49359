"""What a user sees while a model is trained: a bar on a terminal, and a line for every evaluation."""

from __future__ import annotations

import sys
import time
from typing import Any, TextIO

from torch import Tensor
from tqdm import tqdm

_REFRESH = 0.5  # seconds between two looks at the losses, which take a device sync


class Progress:
    """A bar over the whole training: epoch, step, losses, sentences (or other units) per second, time left, best.

    With a time limit the bar follows the steps or the clock, whichever is ahead.
    """

    def __init__(
        self,
        batches: int,
        done: int,
        epochs: int | None,
        shown: bool,
        seconds_left: float | None = None,
        stream: TextIO | None = None,
        unit: str = "sentences",
    ) -> None:
        self.planned, self.done = batches, done
        self.epochs = epochs
        self.unit = unit
        self.shown = shown
        self.end = None if seconds_left is None else time.monotonic() + seconds_left
        self.best = ""
        self.bar = tqdm(
            total=1.0,
            file=stream or sys.stderr,
            disable=None if shown else True,  # None: only on a terminal
            bar_format="{desc} {percentage:3.0f}%|{bar}| {postfix}",
            dynamic_ncols=True,
        )
        self.started, self.first, self.units = time.monotonic(), done, 0
        self.looked = 0.0

    def step(self, epoch: int, losses: dict[str, Tensor], tokens: int, units: int, share: float) -> None:
        """One batch is done; `losses` and `tokens` are sums over the epoch so far, `share` is of the whole training."""
        self.units += units
        self.done += 1
        now = time.monotonic()
        if self.bar.disable or now - self.looked < _REFRESH:
            return
        self.looked = now
        spent = max(now - self.started, 1e-9)
        left = (self.planned - self.done) * spent / (self.done - self.first)
        if self.end is not None:
            left = min(left, self.end - now)
        step = f"step {self.done:,}" + (f"/{self.planned:,}" if self.end is None else "")
        loss = " ".join(f"{name} {float(value) / max(tokens, 1):.3f}" for name, value in losses.items())
        rate = f"{self.units / spent:,.0f} {self.unit}/s"
        time_left = f"{tqdm.format_interval(max(0.0, left))} left"
        self.bar.n = min(1.0, share)
        self.bar.set_description_str(
            f"epoch {epoch + 1}" + ("" if self.epochs is None else f"/{self.epochs}"), refresh=False
        )
        self.bar.set_postfix_str(f"{step} · {loss} · {rate} · {time_left}{self.best}")

    def evaluated(self, epoch: float, scores: dict[str, Any], best: dict[str, Any]) -> None:
        """Report an evaluation."""
        self.best = f" · best {_scores(best)}"
        mark = "  (best)" if scores["f1"] == best["f1"] and epoch == best["epoch"] else ""
        self.tell(f"epoch {epoch:g}: {_scores(scores)}{mark}")

    def tell(self, message: str) -> None:
        """A line on standard error, above the bar."""
        if self.shown:
            tqdm.write(f"discoparse: {message}", file=sys.stderr)

    def close(self) -> None:
        self.bar.close()


def _scores(scores: dict[str, Any]) -> str:
    return f"F1 {scores['f1']:.2f}, disc. F1 {scores['disc_f1']:.2f}, POS {scores['pos']:.2f}"
