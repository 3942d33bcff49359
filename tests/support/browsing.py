"""A headless Chromium: the distribution's, or the one that Playwright has installed."""

from __future__ import annotations

import base64
import json
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

TEXT = "What did you say? I see."
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


@contextmanager
def headless_chromium() -> Iterator[Any]:
    """The browser; the test is skipped, with the reason, where there is none."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    with playwright.sync_playwright() as running:
        try:
            browser = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except playwright.Error as error:
            pytest.skip(
                f"no Chromium for the tests of the page: apt-get install chromium ({str(error).splitlines()[0]})"
            )
        try:
            yield browser
        finally:
            browser.close()


def until(page, expression):
    """Wait until a JavaScript expression holds. (Playwright's own way would need `eval`, which the page forbids.)"""
    deadline = time.monotonic() + 15
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(20)


def parse(page, text=TEXT, model="one"):
    page.select_option("#model", model)
    page.fill("#text", text)
    page.wait_for_selector("article.sentence svg.tree")


def until_chips(page, *texts):
    """Wait until these are the constraints of all sentences."""
    wanted = json.dumps(texts, separators=(",", ":"))
    until(
        page, f"JSON.stringify([...document.querySelectorAll('.chip')].map(one => one.firstChild.data)) == '{wanted}'"
    )


def outline(sentence):
    """The tree of a sentence as text, without probabilities."""
    return re.sub(r" \(.*?%\)", "", sentence.locator(".as-text").text_content())


def link_of(view):
    """The address that carries this view."""
    return "/#" + base64.urlsafe_b64encode(json.dumps(view).encode()).decode().rstrip("=")


def hold(page):
    """From now on, requests wait until `release` lets one of them go."""
    page.evaluate(
        """() => {
            window.reached ??= window.fetch;
            window.held = [];
            const released = () => new Promise((go) => window.held.push(go));
            window.fetch = (...values) => released().then(() => window.reached(...values));
        }"""
    )


def release(page, *numbers):
    """Let these of the requests that wait go, in this order; others are not held from now on."""
    page.evaluate("() => { window.fetch = window.reached; }")
    for number in numbers:
        page.evaluate("number => window.held[number]()", number)
        page.wait_for_timeout(150)  # its answer may be looked at


def until_held(page, count):
    until(page, f"window.held.length == {count}")
