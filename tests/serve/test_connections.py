"""Connections: what is sent too slowly or never taken, heads that are none, clients that leave."""

from __future__ import annotations

import socket
import sys
import time
from contextlib import suppress

import pytest
from serving import running, wait_for

import discoparse.serve.connections
from discoparse.serve.settings import Settings


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
            wait_for(lambda: app.api.metrics.value("waiting") == 1)
        wait_for(lambda: app.api.metrics.value("abandoned_total") == 1)
        wait_for(lambda: app.api.metrics.value("waiting") == 0)


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
