"""A server for the tests of a module, and its page in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from browsing import headless_chromium, parse, until
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


@pytest.fixture(scope="module")
def browser():
    with headless_chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def address(client):
    return str(client.base_url)


@pytest.fixture
def open_page(browser, address):
    """Opens the page; complaints of the browser, such as scripts that its policy blocks, fail the test."""
    contexts, complaints = [], []

    def open_(place="", **options):
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
        page.on(
            "request", lambda request: re.match(address + "|blob:|data:", request.url) or complaints.append(request.url)
        )
        page.goto(address + place)
        until(page, "document.getElementById('model').options.length > 1")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert [one for one in complaints if "status of 4" not in one] == []


@pytest.fixture
def page(open_page):
    page = open_page()
    parse(page)
    return page
