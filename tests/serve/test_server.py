"""The command: its start, its end with all answers given, workers, connections that say nothing."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from command_line import run_main
from serving import wait_for
from tiny_models import tiny_model

from discoparse.errors import DiscoparseError
from discoparse.serve.app import create_app
from discoparse.serve.server import _listening, configured
from discoparse.serve.workers import supervise


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served") / "tiny"
    tiny_model(folder)
    return str(folder)


@contextmanager
def served(model, *options):
    """`discoparse serve` as a process, and its address."""
    command = [sys.executable, "-m", "discoparse", "serve", "-m", model, "--port", "0", "--device", "cpu", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    try:
        told = process.stderr.readline()
        assert "serving tiny at http://127.0.0.1:" in told, told + process.stderr.read()
        yield process, told.split(" at ")[1].split()[0]
    finally:
        if process.poll() is None:
            process.kill()
        process.stderr.close()
        process.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_clean_end_with_all_answers(model, number, workers):
    with served(model, "--workers", workers) as (process, address):
        body = {"tokens": [["word"] * 30] * 200}
        answers = []

        def ask():
            answers.append(httpx.post(f"{address}api/v1/parse", json=body, timeout=60))

        clients = [threading.Thread(target=ask) for _ in range(3)]
        for client in clients:
            client.start()
        deadline = time.monotonic() + 30
        while "discoparse_waiting 3" not in httpx.get(f"{address}api/v1/metrics").text and not answers:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(number)
        for client in clients:
            client.join()
        assert process.wait(30) == 0
        assert [answer.status_code for answer in answers] == [200] * 3
        assert all(len(answer.json()["trees"]) == 200 for answer in answers)
        assert "Traceback" not in process.stderr.read()


_SIGNAL_AT_ONCE = """
import os, sys
from discoparse.serve import Catalogue, Settings, run_server
model, workers, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
catalogue = Catalogue.load([model], "cpu", 1)
run_server(catalogue, Settings(), "127.0.0.1", 0, lambda address: os.kill(os.getpid(), number), workers)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_clean_end_as_soon_as_the_address_is_known(model, number, workers):
    command = [sys.executable, "-c", _SIGNAL_AT_ONCE, model, workers, str(int(number))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_workers_have_started_when_all_of_them_say_so(monkeypatch):
    """However often one of them dies before and starts again; and it is told once."""
    monkeypatch.setattr("discoparse.serve.workers._PAUSE", 0.001)
    order: list[str] = []
    reader, writer = os.pipe()

    def work(worker, started):
        if worker == 0:
            started()
            time.sleep(20)
        if os.read(reader, 1) == b"x":
            sys.exit(3)
        started()
        time.sleep(20)

    def told(message):
        order.append(message)
        os.write(writer, b"." if len(order) == 2 else b"x")

    def all_started():
        order.append("started")
        os.kill(os.getpid(), signal.SIGTERM)

    os.write(writer, b"x")
    supervise(work, 2, told, all_started)
    assert order == ["worker 2 died (exit status 3): starting it again"] * 2 + ["started"]


def test_a_worker_does_not_take_all_connections(catalogue):
    """Ten clients come at once: they are taken one by one, so that other workers get their share of them."""
    taken = []

    class Connection(asyncio.Protocol):
        def connection_made(self, transport):
            taken.append(transport)

    async def scenario(listener):
        with ExitStack() as stack:
            for _ in range(10):  # all fit into the backlog
                stack.enter_context(socket.create_connection(listener.getsockname(), timeout=5))
            listener.setblocking(False)
            backlog = configured(create_app(catalogue)).backlog
            async with await asyncio.get_running_loop().create_server(Connection, sock=listener, backlog=backlog):
                counts = []
                while len(taken) < 10:
                    await asyncio.sleep(0)
                    counts.append(len(taken))
            for transport in taken:
                transport.abort()
        return counts

    with _listening("127.0.0.1", 0) as (listener,):
        counts = asyncio.run(asyncio.wait_for(scenario(listener), 10))
    assert max(after - before for before, after in pairwise([0, *counts])) <= 2


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, workers share one socket")
def test_connections_are_shared_out_among_workers():
    with _listening("127.0.0.1", 0, 2) as listeners, ExitStack() as stack:
        for _ in range(64):
            stack.enter_context(socket.create_connection(listeners[0].getsockname(), timeout=5))
        taken = []
        for listener in listeners:
            listener.setblocking(False)
            with suppress(BlockingIOError):
                while True:
                    stack.enter_context(listener.accept()[0])
                    taken.append(listener)
    assert len(taken) == 64
    assert min(taken.count(listener) for listener in listeners) >= 8


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_port_that_is_taken(model, workers):
    with served(model, "--workers", workers) as (_, address):
        port = address.rstrip("/").rpartition(":")[2]
        status, _, errors = run_main("serve", "-m", model, "--port", port, "--device", "cpu", "--workers", workers)
    assert status == 1
    assert "choose another with --port" in errors


def _children(process):
    return list(map(int, Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()))


needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to find the workers")


@needs_proc
def test_a_worker_that_dies_is_replaced(model):
    with served(model, "--workers", "2") as (process, address):
        wait_for(lambda: len(_children(process)) == 2)
        before = _children(process)
        os.kill(before[0], signal.SIGKILL)
        wait_for(lambda: len(_children(process)) == 2 and before[0] not in _children(process))
        assert before[1] in _children(process)
        for _ in range(20):  # over new connections: both workers get some
            assert httpx.post(f"{address}api/v1/parse", json={"tokens": ["a"]}).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        assert "worker 1 died (SIGKILL): starting it again" in process.stderr.read()


@needs_proc
def test_workers_end_with_a_supervisor_that_is_killed(model):
    with served(model, "--workers", "2") as (process, address):
        wait_for(lambda: len(_children(process)) == 2)
        workers = _children(process)
        process.kill()
        process.wait()
        wait_for(lambda: not any(_is_running(worker) for worker in workers))
        with pytest.raises(httpx.NetworkError):  # refused, or cut off by the last thread of a worker
            httpx.get(f"{address}api/v1/health")


def _is_running(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False


def test_a_worker_can_be_ended_from_its_first_moment(monkeypatch):
    """As long as it has the supervisor's handlers, it would take a signal to end for nothing."""
    started = multiprocessing.get_context("fork").Process.start
    processes = []

    def start(process):
        started(process)
        processes.append(process)
        os.kill(process.pid, signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("multiprocessing.context.ForkProcess.start", start)
    supervise(lambda worker, started: time.sleep(20), 3, print, print)
    assert [process.exitcode for process in processes] == [-signal.SIGTERM] * 3


def test_workers_that_cannot_live_end_the_server(monkeypatch):
    monkeypatch.setattr("discoparse.serve.workers._PAUSE", 0.001)
    told = []
    with pytest.raises(DiscoparseError, match="worker 1 dies as soon as it is started"):
        supervise(lambda worker, started: sys.exit(3), 1, told.append, print)
    assert told == ["worker 1 died (exit status 3): starting it again"] * 4


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["--port", "70000"], 2, "70000"),
        (["--host", "not a host"], 2, "--host"),
        (["--token", "ä"], 2, "ASCII"),
        (["--max-tokens", "5000"], 2, "2000"),
        (["-m", "nothing-like-it"], 2, "nothing-like-it"),
    ],
)
def test_wrong_use(model, options, status, said):
    found = run_main("serve", "-m", model, "--device", "cpu", *options)
    assert found[0] == status
    assert said in found[2]


def test_the_extra_is_asked_for(model, monkeypatch):
    monkeypatch.setattr("discoparse.cli.serve.find_spec", lambda name: None)
    status, _, errors = run_main("serve", "-m", model)
    assert status == 2
    assert "pip install 'discoparse[serve]'" in errors
