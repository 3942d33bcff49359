"""The time that a training takes, and may take."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

_MARGIN = 1.25  # the last evaluation may take so much longer than the longest so far
_SAVING = 1.0  # seconds for the files at the end


class Clock:
    """Counts the seconds of a training, those before it was resumed included.

    With a limit, training ends so early that the last evaluation still fits, and `share_used` tells how much of the
    time between the first step and that end is gone: the learning rate follows it (see `learning_rate`), so that its
    schedule is complete when time is up, however fast the machine is and however much that changes on the way.
    """

    def __init__(self, minutes: float | None = None, started: float | None = None) -> None:
        self.started = time.monotonic() if started is None else started
        self.limit = None if minutes is None else 60 * minutes
        self.first_step: float | None = None  # seconds from the start
        self.reserve = 0.0  # seconds for the last evaluation

    @property
    def limited(self) -> bool:
        return self.limit is not None

    def state(self) -> dict[str, float | None]:
        """For `resume`."""
        return {"elapsed": self.elapsed(), "first_step": self.first_step}

    def resume(self, state: dict[str, Any]) -> None:
        """Go on counting where an earlier run stopped."""
        self.started -= state["elapsed"]
        self.first_step = state["first_step"]

    def elapsed(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self.started

    def reserve_for(self, evaluation: Callable[[], Any]) -> None:
        """Find out how long an evaluation takes by doing one."""
        began = time.monotonic()
        evaluation()
        self.evaluation_took(time.monotonic() - began)

    def evaluation_took(self, seconds: float) -> None:
        """Keep enough time for an evaluation like this one."""
        self.reserve = max(self.reserve, _MARGIN * seconds + _SAVING)

    def start_training(self) -> None:
        """The first step comes now, unless an earlier run took it."""
        if self.first_step is None:
            self.first_step = self.elapsed()

    def minutes_left(self) -> float | None:
        return None if self.limit is None else max(0.0, self.limit - self.elapsed()) / 60

    def share_used(self) -> float:
        """How much of the time for training is gone, from 0 to 1; 0 without a limit."""
        if self.limit is None or self.first_step is None:
            return 0.0
        room = self.limit - self.reserve - self.first_step
        return min(1.0, (self.elapsed() - self.first_step) / room) if room > 0 else 1.0

    def over(self) -> bool:
        """Whether it is time for the last evaluation."""
        return self.limit is not None and self.elapsed() >= self.limit - self.reserve
