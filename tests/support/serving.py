"""A server in this process, over small models, that real connections reach."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from tiny_models import tiny_model

from discoparse.serve.app import Application, create_app
from discoparse.serve.catalogue import Catalogue
from discoparse.serve.server import configured
from discoparse.serve.settings import Settings


def small_catalogue(folder: Path, *names: str) -> Catalogue:
    """Small untrained models of these names."""
    for k, name in enumerate(names):
        tiny_model(folder / name, k)
    return Catalogue.load([str(folder / name) for name in names], "cpu", 1)


@contextmanager
def running(catalogue: Catalogue, settings: Settings | None = None) -> Iterator[tuple[httpx.Client, Application]]:
    """A client of a server that runs meanwhile, and its application."""
    app = create_app(catalogue, settings)
    server = uvicorn.Server(configured(app))
    server.config.port = 0
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            yield client, app
    finally:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive(), "the server did not end"


def post(client: httpx.Client, endpoint: str, **fields: Any) -> httpx.Response:
    """A request with these fields."""
    return client.post(f"/api/v1/{endpoint}", json=fields)


def error(answer: httpx.Response, status: int) -> str:
    """The sentence in an answer of this status."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["status"] == status
    return str(answer.json()["error"])


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until this holds."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)
