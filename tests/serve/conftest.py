"""One server for the tests of this room. They are skipped where the extra `serve` is not installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

for name in ("starlette", "uvicorn", "httptools", "httpx"):
    pytest.importorskip(name, reason=f"{name} is not installed: pip install 'discoparse[serve]'")

import httpx  # noqa: E402
from serving import running, small_catalogue  # noqa: E402

from discoparse.serve.catalogue import Catalogue  # noqa: E402
from discoparse.serve.settings import Settings  # noqa: E402

LIMITS = Settings(body=20_000, characters=5000, sentences=20, tokens=40, derived=20)


@pytest.fixture(scope="session")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    return small_catalogue(tmp_path_factory.mktemp("models"), "one", "two")


@pytest.fixture(scope="session")
def client(catalogue: Catalogue) -> Iterator[httpx.Client]:
    with running(catalogue, LIMITS) as (client, _):
        yield client
