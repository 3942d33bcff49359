"""What happens in a worker process: tasks come, each is begun, the parent answers, the task is finished."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import traceback
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, Protocol

from discoparse.errors import DiscoparseError


class Job(Protocol):
    """Does tasks, each in two steps. Between them the parent answers, in the order of the tasks."""

    def begin(self, task: Any) -> tuple[Any, Any]:
        """What the parent is asked, and what `finish` needs. Nothing is asked if the first is None."""

    def finish(self, state: Any, answer: Any) -> Any:
        """The result of a task from its state and the parent's answer (None if nothing was asked)."""


class Work(Protocol):
    """Describes a job; is pickled and sent to the process from which the workers come."""

    def prepare(self) -> Job:
        """Load what the job needs. Called once: all workers share the memory of what is made here."""


class WorkerError(DiscoparseError):
    """Something went wrong in a worker process that is not the user's fault; has the traceback from there."""


def serve(connection: Connection, job: Job) -> None:
    """Do tasks until the parent closes the connection or is gone; does not return."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes: the parent ends the others
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    inbox: SimpleQueue[tuple[str, int, Any]] = SimpleQueue()
    threading.Thread(target=_receive, args=(connection, inbox), daemon=True).start()
    states: dict[int, Any] = {}
    try:
        while True:
            kind, number, value = inbox.get()
            try:
                if kind == "task":
                    asked, states[number] = job.begin(value)
                    if asked is not None:
                        connection.send(("ask", number, asked))
                        continue
                    value = None
                connection.send(("result", number, job.finish(states.pop(number), value)))
            except (BrokenPipeError, ConnectionResetError):
                break
            except Exception as error:
                connection.send(("error", number, portable(error)))
    except (BrokenPipeError, ConnectionResetError):
        pass
    os._exit(0)  # without what the parent of this process registered for its own end


def _receive(connection: Connection, inbox: SimpleQueue[tuple[str, int, Any]]) -> None:
    """Take messages as they come, so that whoever sends one never waits for long. Ends the process with the parent."""
    try:
        while True:
            inbox.put(connection.recv())
    except (EOFError, OSError):
        os._exit(0)


def portable(error: Exception) -> Exception:
    """An error that another process can raise: the same where possible, else a description."""
    if isinstance(error, DiscoparseError | OSError | MemoryError):
        try:
            pickle.loads(pickle.dumps(error))
            return error
        except Exception:
            pass
    described = "".join(traceback.format_exception(error)).rstrip()
    return WorkerError(f"a worker process failed:\n{described}")
