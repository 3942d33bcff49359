"""When a training stops before its last epoch: a limit on its time, and signals that ask it to."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType, TracebackType
from typing import Any

_MARGIN = 1.25  # the last evaluations may take this much longer than the longest so far
_SAVING = 1.0  # seconds for the files at the end


class Clock:
    """Counts the seconds of a training, including those before it was resumed.

    With a limit, training ends early enough for the last evaluations, and `share_used` is the share of the time between
    the first step and that end that is gone. The learning rate follows it (see `learning_rate`), so that its schedule
    is complete when time is up, however fast the machine is and however much that changes on the way.
    """

    def __init__(self, minutes: float | None = None, started: float | None = None) -> None:
        self.started = time.monotonic() if started is None else started
        self.limit = None if minutes is None else 60 * minutes
        self.first_step: float | None = None  # seconds from the start
        self.evaluation = 0.0  # seconds that an evaluation takes
        self.final_evaluation = 0.0  # seconds that the evaluation at the very end takes, if there is one

    @property
    def limited(self) -> bool:
        return self.limit is not None

    @property
    def reserve(self) -> float:
        """Seconds to keep for what comes after the last step."""
        return _MARGIN * (self.evaluation + self.final_evaluation) + _SAVING

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

    def evaluation_took(self, seconds: float) -> None:
        """Keep enough time for another evaluation like this one."""
        self.evaluation = max(self.evaluation, seconds)

    def start_training(self) -> None:
        """The first step comes now, unless an earlier run took it."""
        if self.first_step is None:
            self.first_step = self.elapsed()

    def seconds_left(self) -> float | None:
        return None if self.limit is None else max(0.0, self.limit - self.elapsed())

    def share_used(self) -> float:
        """How much of the time for training is gone, from 0 to 1; 0 without a limit."""
        if self.limit is None or self.first_step is None:
            return 0.0
        room = self.limit - self.reserve - self.first_step
        return min(1.0, (self.elapsed() - self.first_step) / room) if room > 0 else 1.0

    def over(self) -> bool:
        """Whether it is time for the last evaluation."""
        return self.limit is not None and self.elapsed() >= self.limit - self.reserve


class Interruption:
    """Ctrl-C and SIGTERM as a request to stop between two steps, so that nothing is lost.

    While this is entered, the first signal sets `requested`; a second one interrupts at once. Signals that the process
    ignores, as SIGINT in a script's background job, stay ignored.
    """

    _SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.requested = False
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():  # elsewhere Python forbids handlers
            for number in self._SIGNALS:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):  # None: not set from Python
                    self._handlers[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
