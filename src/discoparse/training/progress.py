"""What a user sees while a model is trained: a bar on a terminal, and a line for every evaluation."""

from __future__ import annotations

import sys
import time
from typing import Any

from torch import Tensor
from tqdm import tqdm

_REFRESH = 0.5  # seconds between two looks at the losses, which a GPU has to be waited for


class Progress:
    """A bar over all batches that are planned: epoch, step, losses, sentences/s, time left, best scores."""

    def __init__(self, batches: int, done: int, epochs: int, shown: bool, minutes_left: float | None) -> None:
        self.epochs = epochs
        self.shown = shown
        self.end = None if minutes_left is None else time.monotonic() + 60 * minutes_left
        self.best = ""
        layout = "{desc} {percentage:3.0f}%|{bar}| step {n_fmt}/{total_fmt}{postfix}"
        # None: only on a terminal
        self.bar = tqdm(
            total=batches, initial=done, disable=None if shown else True, bar_format=layout, dynamic_ncols=True
        )
        self.started, self.sentences, self.batches = time.monotonic(), 0, 0
        self.looked = 0.0

    def step(self, epoch: int, losses: dict[str, Tensor], tokens: int, sentences: int) -> None:
        """One batch is done; `losses` and `tokens` are sums over the epoch so far."""
        self.sentences += sentences
        self.batches += 1
        now = time.monotonic()
        if self.bar.disable:
            return
        self.bar.update()
        if now - self.looked < _REFRESH:
            return
        self.looked = now
        spent = max(now - self.started, 1e-9)
        left = (self.bar.total - self.bar.n) * spent / self.batches
        if self.end is not None:
            left = max(0.0, min(left, self.end - now))
        loss = " ".join(f"{name} {float(value) / max(tokens, 1):.3f}" for name, value in losses.items())
        self.bar.set_description_str(f"epoch {epoch + 1}/{self.epochs}", refresh=False)
        rate = f"{self.sentences / spent:,.0f} sentences/s"
        self.bar.set_postfix_str(f"{loss} · {rate} · {tqdm.format_interval(left)} left{self.best}")

    def evaluated(self, epoch: float, scores: dict[str, Any], best: dict[str, Any]) -> None:
        """Tell what an evaluation found."""
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
