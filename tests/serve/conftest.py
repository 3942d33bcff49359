"""A server for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from serving import running, small_catalogue

from discoparse.serve.catalogue import Catalogue
from discoparse.serve.settings import Settings

LIMITS = Settings(body=20_000, characters=5000, sentences=20, tokens=40, derived=20)


@pytest.fixture(scope="session")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    return small_catalogue(tmp_path_factory.mktemp("models"), "one", "two")


# Not for the whole session: elsewhere, tests replace the clock by which an event loop sleeps.
@pytest.fixture(scope="module")
def client(catalogue: Catalogue) -> Iterator[httpx.Client]:
    with running(catalogue, LIMITS) as (client, _):
        yield client
