"""Treebank files on the page: encodings, packed ones, damaged ones, and what is shown where a comparison fails; exports
that cannot be made."""

from __future__ import annotations

import gzip

import pytest
from browsing import TEXT, parse, until
from command_line import run_main

GOLD = "(S (VP (V 0=käme) (P 2=auf)) (N 1=ihr))\n"
PREDICTED = "(S (V 0=käme) (P 2=auf) (N 1=ihr))\n".encode()


@pytest.fixture
def comparing(open_page):
    page = open_page()
    page.click("#tab-compare")
    return page


def _give(page, path, gold, predicted=PREDICTED):
    for name, content in (("gold", gold), ("predicted", predicted)):
        (path / name).write_bytes(content)
        page.get_by_label(f"{name.title()} treebank").set_input_files(path / name)


def _message(page, text):
    until(page, f"document.querySelector('#view-compare .message').textContent.includes({text!r})")


# -- files --------------------------------------------------------------------------------------------------------


def _tigerxml(path):
    (path / "trees.discbracket").write_text(GOLD, encoding="utf-8")
    assert run_main("convert", str(path / "trees.discbracket"), str(path / "trees.xml"), "--to", "tigerxml")[0] == 0
    return (path / "trees.xml").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["UTF-8", "mark", "UTF-16", "gzip", "declared", "declared and gzip"])
def test_files_in_many_encodings(comparing, tmp_path, kind):
    declared = _tigerxml(tmp_path).replace("UTF-8", "ISO-8859-1").replace("utf-8", "ISO-8859-1").encode("latin-1")
    assert b"ISO-8859-1" in declared
    assert "käme".encode("latin-1") in declared
    content = {
        "UTF-8": GOLD.encode(),
        "mark": b"\xef\xbb\xbf" + GOLD.encode(),
        "UTF-16": GOLD.encode("utf-16"),
        "gzip": gzip.compress(GOLD.encode()),
        "declared": declared,
        "declared and gzip": gzip.compress(declared),
    }[kind]
    _give(comparing, tmp_path, content)
    comparing.locator("figure svg").nth(1).wait_for()
    assert comparing.locator("g.node.missing").get_attribute("aria-label") == "VP: käme … auf"
    assert "käme ihr auf" in comparing.locator(".list li").inner_text()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (GOLD.encode("latin-1"), "gold is not in UTF-8: convert it to UTF-8 first"),
        (b'<?xml version="1.0" encoding="utf-8"?>\xe4', "gold declares the encoding utf-8, but is in another"),
        (
            b'<?xml version="1.0" encoding="klingon"?>',
            "gold declares the encoding klingon, which this browser does not",
        ),
        (gzip.compress(GOLD.encode(), mtime=0)[:-9], "gold begins like a gzip file, but is damaged"),
        (b"\xfd7zXZ\x00 and so on", "gold is packed by xz: unpack it first"),
        (b"PK\x03\x04 and so on", "gold is packed by zip: unpack it first"),
    ],
    ids=["latin-1", "another", "unknown", "damaged", "xz", "zip"],
)
def test_files_that_cannot_be_read(comparing, tmp_path, content, told):
    _give(comparing, tmp_path, content)
    _message(comparing, told)
    assert comparing.locator("#view-compare .message.error").count() == 1
    _give(comparing, tmp_path, GOLD.encode())
    comparing.locator("figure svg").nth(1).wait_for()
    assert comparing.locator("#view-compare .message.error").count() == 0


def test_the_other_file_is_asked_for(comparing, tmp_path):
    (tmp_path / "gold").write_text(GOLD, encoding="utf-8")
    comparing.get_by_label("Gold treebank").set_input_files(tmp_path / "gold")
    _message(comparing, "Now the predicted file.")


# -- what is shown meanwhile, and where it fails ------------------------------------------------------------------


def test_a_comparison_that_fails_leaves_nothing_of_the_last(comparing, tmp_path):
    _give(comparing, tmp_path, GOLD.encode())
    comparing.locator("figure svg").nth(1).wait_for()
    comparing.get_by_label("Gold treebank").set_input_files({"name": "other", "mimeType": "", "buffer": b"(S 0=a)"})
    _message(comparing, "a")
    comparing.locator("#view-compare .message.error").wait_for()
    assert comparing.locator(".list li, .scores table, figure").count() == 0
    assert not comparing.get_by_label("wrong only").is_visible()


def _hold(page):
    """Requests wait until `window.held` lets them go."""
    page.evaluate(
        """() => {
            const reached = window.fetch;
            window.held = [];
            const released = () => new Promise((go) => window.held.push(go));
            window.fetch = (...values) => released().then(() => reached(...values));
        }"""
    )


def test_it_says_what_takes_so_long(comparing):
    _hold(comparing)
    comparing.fill("#view-compare textarea", TEXT)
    comparing.click("#view-compare button.main")
    for number, told in enumerate(["Parsing with one", "Parsing with two", "Comparing"]):
        _message(comparing, told)
        until(comparing, f"window.held.length == {number + 1}")
        comparing.evaluate("number => window.held[number]()", number)
    comparing.locator("figure svg").nth(1).wait_for()
    _message(comparing, "2 of 2 sentences")


def test_of_two_comparisons_the_last_counts(comparing):
    _hold(comparing)
    for text in (TEXT, "Go on."):
        comparing.fill("#view-compare textarea", text)
        comparing.click("#view-compare button.main")
    for number in (1, 2, 3, 0):
        until(comparing, f"window.held.length > {number}")
        comparing.evaluate("number => window.held[number]()", number)
    comparing.locator("figure svg").nth(1).wait_for()
    comparing.wait_for_timeout(200)
    assert comparing.locator(".list li").count() == 1
    assert comparing.evaluate("window.held.length") == 4


# -- exports that cannot be made ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("letters", "isDrawn"), [(1300, True), (4500, False)])
def test_pictures_that_are_too_wide(page, letters, isDrawn):
    parse(page, "W" * letters)
    until(page, f"document.querySelector('svg.tree').viewBox.baseVal.width > {10 * letters}")
    first = page.locator("article.sentence").first
    first.locator(".menu summary").click()
    if isDrawn:
        with page.expect_download() as download:
            first.locator("[data-export=png]").click()
        header = download.value.path().read_bytes()[:24]
        assert header.startswith(b"\x89PNG")
        assert 30_000 < int.from_bytes(header[16:20], "big") < 33_000
    else:
        first.locator("[data-export=png]").click()
        until(page, "document.querySelector('.info').textContent.includes('use SVG')")


def test_errors_of_exports_are_told(page, tmp_path):
    page.evaluate("() => { window.fetch = () => Promise.reject(new TypeError('not there')); }")
    first = page.locator("article.sentence").first
    for kind in ("copy", "tikz"):
        first.locator("[data-mode=look]").click()
        first.locator(".menu summary").click()
        first.locator(f"[data-export={kind}]").click()
        until(page, "document.querySelector('.info').textContent.includes('does not answer')")


def test_errors_of_the_picture_of_both_are_told(comparing, tmp_path):
    _give(comparing, tmp_path, GOLD.encode())
    comparing.locator("figure svg").nth(1).wait_for()
    comparing.evaluate("() => { window.fetch = () => Promise.reject(new TypeError('not there')); }")
    comparing.get_by_role("button", name="SVG of both").click()
    _message(comparing, "does not answer")
    assert comparing.locator("figure svg").count() == 2
