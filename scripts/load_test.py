"""Measure `discoparse serve` against the library, in one run:

taskset -c 0 python scripts/load_test.py --model nl --sentences FILE [--clients 32] [--client-core 1]

FILE has a tokenised sentence on each line. The server and the library run on the core that this program was given
(`taskset`), one after the other; the clients run in a process of their own on another core. Each client sends one
sentence after the other on a connection that stays open. Printed are the tokens per second of the library (all
sentences in one list) and of the server, and the median time of a lone request and of `Parser.parse`, both with text
and in turns of a few sentences, so that whatever else the machine does slows both. Of the time of a lone request, what
HTTP, the sockets and the client take can be seen from that of a request for `health`, which does nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discoparse.parser.parser import Parser

_LONE = 200  # sentences that are sent one after the other
_TURN = 20  # of them, then the library has its turn
_ROUNDS = 3


class Client:
    """One connection; HTTP/1.1 by hand, so that the load generator costs as little as possible."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def __aenter__(self) -> Client:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def __aexit__(self, *error: object) -> None:
        self.writer.close()

    async def ask(self, body: bytes, endpoint: str = "parse") -> None:
        self.writer.write(head_of(body, endpoint) + body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in answer.split(b"\r\n", 1)[0]:
            raise SystemExit(f"the server answered {answer!r}")
        await self.reader.readexactly(size_of(answer))


def head_of(body: bytes, endpoint: str = "parse") -> bytes:
    return f"POST /api/v1/{endpoint} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()


_HEALTH = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"


def size_of(head: bytes) -> int:
    """How many bytes follow the head of an answer."""
    size = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    return int(size.split(b":")[1])


def bodies_of(sentences: list[list[str]], model: str) -> list[bytes]:
    return [json.dumps({"tokens": words, "model": model}).encode() for words in sentences]


async def crowd(port: int, bodies: list[bytes], clients: int) -> float:
    """Seconds that some clients need for all sentences together."""
    waiting = iter(bodies)

    async def work() -> None:
        async with Client(port) as client:
            for body in waiting:
                await client.ask(body)

    started = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(clients)))
    return time.perf_counter() - started


def alone(core: int | None, port: int, orders: Connection) -> None:
    """A lone client, which waits for its answers in plain system calls: answers lists of requests with the seconds that
    each of them took, until it gets an empty one."""
    if core is not None:
        os.sched_setaffinity(0, {core})
    with socket.create_connection(("127.0.0.1", port)) as connection:
        while requests := orders.recv():
            orders.send([_seconds(connection, request) for request in requests])


def _seconds(connection: socket.socket, request: bytes) -> float:
    started = time.perf_counter()
    connection.sendall(request)
    answer = b""
    while (end := answer.find(b"\r\n\r\n")) < 0 or len(answer) < end + 4 + size_of(answer[:end]):
        answer += connection.recv(1 << 16)
    seconds = time.perf_counter() - started
    if not answer.startswith(b"HTTP/1.1 200 "):
        raise SystemExit(f"the server answered {answer!r}")
    return seconds


def _on_core(core: int | None, result: multiprocessing.Queue, function: object, *arguments: object) -> None:
    if core is not None:
        os.sched_setaffinity(0, {core})
    result.put(asyncio.run(function(*arguments)))  # type: ignore[operator]


def elsewhere(core: int | None, function: object, *arguments: object) -> object:
    """What a coroutine returns that runs in another process."""
    context = multiprocessing.get_context("spawn")
    result = context.Queue()
    process = context.Process(target=_on_core, args=(core, result, function, *arguments))
    process.start()
    value = result.get()
    process.join()
    return value


@contextmanager
def lone_client(core: int | None, port: int) -> Iterator[Connection]:
    """A lone client in another process, which waits for orders."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=alone, args=(core, port, theirs))
    process.start()
    theirs.close()
    yield ours
    ours.send([])
    process.join()


def in_turns(library: Parser, client: Connection, texts: list[str], model: str) -> tuple[list[float], ...]:
    """Seconds of the library and of a lone client for each text, and of requests for `health`."""
    bodies = [json.dumps({"text": text, "model": model}).encode() for text in texts]
    requests = [head_of(body) + body for body in bodies]
    ours: list[float] = []
    theirs: list[float] = []
    nothing: list[float] = []
    for start in range(0, len(texts), _TURN):
        turn = slice(start, start + _TURN)
        for text in texts[turn]:
            started = time.perf_counter()
            library.parse(text)
            ours.append(time.perf_counter() - started)
        for times, orders in ((theirs, requests[turn]), (nothing, [_HEALTH] * _TURN)):
            client.send(orders)
            times += client.recv()
    return ours, theirs, nothing


def family(process: int) -> list[int]:
    """A process and its children, such as a server and its workers; Linux only."""
    return [process, *map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())]


def cpu_seconds(process: int) -> float:
    """What a process and its children have used of their cores so far."""
    stats = [Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split() for one in family(process)]
    return sum(int(fields[11]) + int(fields[12]) for fields in stats) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default="nl")
    parser.add_argument("--sentences", type=Path, required=True)
    parser.add_argument("--most", type=int, default=3000, help="sentences to use")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--client-core", type=int)
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    lines = options.sentences.read_text(encoding="utf-8").splitlines()
    sentences = [words for words in (line.split() for line in lines) if 0 < len(words) <= 100][: options.most]
    tokens = sum(map(len, sentences))
    texts = [" ".join(words) for words in sentences[:_LONE]]
    bodies = bodies_of(sentences, options.model)
    print(f"{len(sentences)} sentences, {tokens} tokens, {options.clients} clients")

    command = [sys.executable, "-m", "discoparse", "serve", "-m", options.model, "--port", str(options.port)]
    server = subprocess.Popen([*command, "--workers", str(options.workers)], stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        print(server.stderr.readline().strip())
        import discoparse

        library = discoparse.load(options.model, "cpu", 1)
        library.parse_tokens(sentences[:300])
        elsewhere(options.client_core, crowd, options.port, bodies[:300], options.clients)
        for _ in range(_ROUNDS):
            started, used = time.perf_counter(), time.process_time()
            library.parse_tokens(sentences)
            seconds, used = time.perf_counter() - started, time.process_time() - used
            before = cpu_seconds(server.pid)
            served = elsewhere(options.client_core, crowd, options.port, bodies, options.clients)
            assert isinstance(served, float)
            print(
                f"library {tokens / seconds:,.0f} tokens/s, server {tokens / served:,.0f} tokens/s, "
                f"ratio {seconds / served:.2f}; by CPU time {used / (cpu_seconds(server.pid) - before):.2f}"
            )
            with lone_client(options.client_core, options.port) as client:
                ours, theirs, nothing = map(statistics.median, in_turns(library, client, texts, options.model))
            print(
                f"alone: library {1000 * ours:.2f} ms, server {1000 * theirs:.2f} ms, ratio {theirs / ours:.2f}; "
                f"a request for health {1000 * nothing:.2f} ms"
            )
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
