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
from serving import running
from tiny_models import tiny_model

import discoparse.serve.connections
from discoparse.errors import DiscoparseError
from discoparse.serve.app import create_app
from discoparse.serve.server import _listening, configured
from discoparse.serve.settings import Settings
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
        _wait_for(lambda: len(_children(process)) == 2)
        before = _children(process)
        os.kill(before[0], signal.SIGKILL)
        _wait_for(lambda: len(_children(process)) == 2 and before[0] not in _children(process))
        assert before[1] in _children(process)
        for _ in range(20):  # over new connections: both workers get some
            assert httpx.post(f"{address}api/v1/parse", json={"tokens": ["a"]}).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        assert "worker 1 died (SIGKILL): starting it again" in process.stderr.read()


@needs_proc
def test_workers_end_with_a_supervisor_that_is_killed(model):
    with served(model, "--workers", "2") as (process, address):
        _wait_for(lambda: len(_children(process)) == 2)
        workers = _children(process)
        process.kill()
        process.wait()
        _wait_for(lambda: not any(_is_running(worker) for worker in workers))
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


# -- connections --------------------------------------------------------------------------------------------------


def _connect(client):
    return socket.create_connection((client.base_url.host, client.base_url.port), timeout=10)


def test_silent_connections_are_closed(catalogue, monkeypatch):
    monkeypatch.setattr(discoparse.serve.connections, "HEAD_SECONDS", 0.2)
    with running(catalogue) as (client, _), _connect(client) as silent, _connect(client) as slow:
        slow.sendall(b"POST /api/v1/parse HTTP/1.1\r\nHost: a\r\n")
        assert silent.recv(100) == b""
        assert slow.recv(100) == b""
        assert client.get("/api/v1/health").status_code == 200


def test_a_further_head_must_come_in_time_once_it_has_begun(catalogue, monkeypatch):
    monkeypatch.setattr(discoparse.serve.connections, "HEAD_SECONDS", 0.2)
    request = b"GET /api/v1/models HTTP/1.1\r\nHost: a\r\n\r\n"
    with running(catalogue) as (client, _), _connect(client) as slow:
        for pause in (0.5, 0):  # between requests, there is more time
            slow.sendall(request)
            assert slow.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
            time.sleep(pause)
            slow.settimeout(0.1)
            with suppress(TimeoutError):
                while True:
                    assert slow.recv(1 << 16) != b""
            slow.settimeout(10)
        slow.sendall(request[:-2])
        assert slow.recv(100) == b""


@pytest.mark.parametrize(
    ("request_", "more"),
    [
        (b"POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n", b"a part of the body"),
        (b"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n", b"\r\n"),
    ],
)
def test_what_begins_no_request_does_not_keep_a_connection(catalogue, monkeypatch, request_, more):
    monkeypatch.setattr(discoparse.serve.server, "_IDLE_SECONDS", 0.5)
    with running(catalogue) as (client, _), _connect(client) as idle:
        idle.sendall(request_)
        assert idle.recv(100).startswith(b"HTTP/1.1 404 ")
        time.sleep(0.1)  # for the rest of the answer
        idle.sendall(more)
        while idle.recv(1 << 16):  # to the end, or until it has taken too long
            pass


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can tell what a client has taken")
def test_a_client_that_does_not_take_its_answers_is_left(catalogue, monkeypatch):
    monkeypatch.setattr(discoparse.serve.connections, "TAKING_SECONDS", 0.5)
    asked = 1500  # so many answers do not fit into what the system keeps for a connection
    with running(catalogue) as (client, _), _connect(client) as silent, _connect(client) as slow:
        for connection in (silent, slow):
            connection.sendall(b"GET /main.js HTTP/1.1\r\nHost: a\r\n\r\n" * asked)
        wanted = asked * len(client.get("/main.js").content)
        taken = 0
        while taken < wanted:
            time.sleep(0.01)
            part = slow.recv(1 << 17)
            assert part != b""
            taken += len(part)
        time.sleep(1)
        taken = 0
        with suppress(ConnectionError):
            while part := silent.recv(1 << 20):
                taken += len(part)
        assert taken < wanted


def test_endless_heads_are_refused(client):
    with _connect(client) as endless:
        endless.sendall(b"GET /api/v1/health HTTP/1.1\r\n")
        sent = 0
        with suppress(OSError):  # closed while we still send
            while sent < 10_000:
                endless.sendall(b"X-Header: " + b"a" * 1000 + b"\r\n")
                sent += 1
    assert sent < 10_000
    assert client.get("/api/v1/health").status_code == 200


def test_a_body_that_is_announced_as_too_large_is_not_waited_for(client):
    with _connect(client) as large:
        large.sendall(b"POST /api/v1/parse HTTP/1.1\r\nHost: a\r\nContent-Length: 20001\r\n\r\n")
        assert large.recv(1000).startswith(b"HTTP/1.1 413 ")


def test_a_body_that_does_not_come(catalogue):
    with running(catalogue, Settings(body_seconds=0.2)) as (client, _), _connect(client) as slow:
        slow.sendall(b"POST /api/v1/parse HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{")
        answer = b""
        while part := slow.recv(1000):
            answer += part
        assert answer.startswith(b"HTTP/1.1 408 ")


def test_clients_that_leave_are_counted(catalogue):
    with running(catalogue) as (client, app):
        body = b'{"model": "one", "tokens": [' + b",".join([b'["a","b","c","d","e","f","g","h"]'] * 900) + b"]}"
        with _connect(client) as leaving:
            head = f"POST /api/v1/parse HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n"
            leaving.sendall(head.encode() + body)
            _wait_for(lambda: app.api.metrics.value("waiting") == 1)
        _wait_for(lambda: app.api.metrics.value("abandoned_total") == 1)
        _wait_for(lambda: app.api.metrics.value("waiting") == 0)


def _wait_for(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.parametrize(
    "request_",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET \xff\xfe HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET http://other.example/etc/passwd HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        b"POST /api/v1/parse HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n",
        b"POST /api/v1/parse HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"POST /api/v1/parse HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /api/v1/parse HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n",
        b"GET /api/v1/health HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        b"GET /api/v1/health HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: close, Upgrade\r\n\r\n",
    ],
)
def test_heads_that_play_tricks(client, request_, capfd):
    with _connect(client) as connection:
        connection.sendall(request_)
        answer = connection.recv(1000)
    assert answer == b"" or answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 200"))
    assert client.get("/api/v1/health").status_code == 200
    assert "Traceback" not in capfd.readouterr().err
