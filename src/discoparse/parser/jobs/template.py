"""The process from which workers are forked: it prepares the work once, and all of them share its memory.

It is a fresh process with a single thread, so that forking it is safe whatever threads the program has. The program
keeps a connection to it: by that it orders workers and hears how they ended. When the connection is closed, or the
program is gone, the template ends its workers and itself.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
import sys
from multiprocessing.connection import Connection, wait
from typing import Any

from discoparse.parser.jobs.worker import Job, Work, portable, serve
from discoparse.parser.processes import keep_what_is_loaded

# What the template's interpreter runs; the path is that of the program, which may have been changed since it started.
START = (
    "import pickle, sys; sys.path = pickle.load(sys.stdin.buffer); "
    "from discoparse.parser.jobs.template import main; main()"
)


def main() -> None:
    """Run the template: its standard input has the number of its socket and the work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes: the program ends the others
    descriptor: int
    work: Work
    descriptor, work = pickle.load(sys.stdin.buffer)
    control = socket.socket(fileno=descriptor)
    program = Connection(os.dup(descriptor))
    try:
        job = work.prepare()
    except Exception as error:
        program.send(("failed", portable(error)))
        return
    gc.collect()
    keep_what_is_loaded()  # so that the garbage collector does not touch, and copy, what the workers share
    program.send(("ready", None))
    Template(control, program, job).run()


class Template:
    """Forks workers on demand and tells how they ended."""

    def __init__(self, control: socket.socket, program: Connection, job: Job) -> None:
        self.control = control
        self.program = program
        self.job = job
        self.workers: dict[int, int] = {}  # a worker's number by its process id
        self.wake, self.woken = os.pipe()
        os.set_blocking(self.woken, False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(self.woken)

    def run(self) -> None:
        """Serve the program until it closes the connection or is gone."""
        try:
            while True:
                ready: list[Any] = wait([self.program, self.wake])
                if self.wake in ready:
                    os.read(self.wake, 4096)
                    self.report()
                if self.program in ready:
                    self.fork(self.program.recv())
        except (EOFError, OSError):
            pass
        for process in self.workers:
            os.kill(process, signal.SIGKILL)
        for process in self.workers:
            os.waitpid(process, 0)

    def fork(self, number: int) -> None:
        """Start worker `number`, whose socket comes next."""
        _, (descriptor,), _, _ = socket.recv_fds(self.control, 1, 1)
        process = os.fork()
        if process == 0:
            try:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                self.control.close()
                self.program.close()
                os.close(self.wake)
                os.close(self.woken)
                serve(Connection(descriptor), self.job)
            finally:
                os._exit(1)
        os.close(descriptor)
        self.workers[process] = number
        self.program.send(("started", number, process))

    def report(self) -> None:
        """Tell the program which workers have ended, and how."""
        for process in list(self.workers):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                self.program.send(("ended", self.workers.pop(process), os.waitstatus_to_exitcode(status)))
