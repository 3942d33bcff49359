"""Work for pools of processes: what workers do in tests. In a module of its own, since they import it."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discoparse.errors import UsageError


@dataclass
class Errand:
    """Does what a task says, which is a pair of a name and a value; `folder` is for marks that outlive a worker."""

    folder: str = ""

    def prepare(self) -> Errand:
        self.shared = bytearray(os.urandom(32))  # the same for all workers, if they share what is made here
        return self

    def begin(self, task: tuple[str, Any]) -> tuple[Any, Any]:
        name, value = task
        if name == "ask":
            return value, value
        return None, getattr(self, name)(value)

    def finish(self, state: Any, answer: Any) -> Any:
        return state if answer is None else (state, answer)

    def same(self, value: Any) -> Any:
        return value

    def slow(self, value: float) -> float:
        time.sleep(value)
        return value

    def process(self, value: Any) -> tuple[int, int]:
        return os.getpid(), os.getppid()

    def memory(self, value: Any) -> bytes:
        return bytes(self.shared)

    def wrong_use(self, value: str) -> None:
        raise UsageError(value)

    def defect(self, value: str) -> None:
        raise ZeroDivisionError(value)

    def die(self, value: str) -> str:
        """Be killed as many times as the value has characters; then the task is done."""
        marks = [Path(self.folder) / f"{value}{k}" for k in range(len(value))]
        for mark in marks:
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return value


@dataclass
class Unprepared:
    """Work that cannot be prepared."""

    message: str

    def prepare(self) -> Errand:
        raise UsageError(self.message)


@dataclass
class Imports:
    """Begins the tasks of other work; the result is whether this has imported PyTorch."""

    work: Any

    def prepare(self) -> Imports:
        self.job = self.work.prepare()
        return self

    def begin(self, task: Any) -> tuple[None, bool]:
        self.job.begin(task)
        return None, "torch" in sys.modules

    def finish(self, state: bool, answer: None) -> bool:
        return state
