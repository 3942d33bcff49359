"""Addresses that carry a view: what they show, what they refuse, and when they are others."""

from __future__ import annotations

import pytest
from browsing import TEXT, link_of, until, until_chips


def test_skipping_to_the_trees_leaves_the_link(page):
    address = page.url
    page.focus(".skip")
    page.keyboard.press("Enter")
    until(page, "document.activeElement.id == 'sentences'")
    assert page.url == address


@pytest.mark.parametrize(
    "view",
    [
        None,
        [1, 2],
        {"nothing": 1},
        {"text": 5},
        {"text": ""},
        {"tokens": 5},
        {"tokens": ["a", "b"]},
        {"tokens": [["a", 1]]},
        {"text": "a", "saved": [None]},
        {"text": "a", "saved": [{"best": "length"}]},
        {"text": "a", "options": 3},
    ],
)
def test_a_link_with_something_else_is_damaged(open_page, view):
    page = open_page(link_of(view) + ("AAAA" if view is None else ""))
    until(page, "document.getElementById('message').textContent.includes('damaged')")


def test_corrections_of_other_words_are_left_out(open_page):
    saved = [{"constraints": {"constituents": [{"tokens": [1, 9]}]}, "mode": "correct"}]
    page = open_page(link_of({"tokens": [["I", "see"]], "model": "one", "saved": saved}))
    until(page, "document.querySelector('.info')?.textContent.includes('left out')")
    assert page.locator(".chip").count() == 0


def test_corrections_that_no_tree_can_meet_are_left_out(open_page):
    saved = [{"constraints": {"constituents": [{"tokens": [0, 1]}, {"tokens": [1, 2]}]}, "mode": "correct"}]
    page = open_page(link_of({"tokens": [["I", "see", "it"]], "model": "one", "saved": saved}))
    until(page, "document.querySelector('.info')?.textContent.includes('overlap')")
    until_chips(page)


def test_a_long_text_has_a_link(open_page):
    """As long as the server takes, and of letters that take several bytes."""
    page = open_page("/")
    same = """async () => {
        const { encode, decode } = await import(new URL("links.js", document.querySelector("script[type=module]").src));
        const text = "þú ".repeat(70_000);
        return decode(encode({ text })).text === text;
    }"""
    assert page.evaluate(same)


def test_words_of_a_link_stay_until_the_text_is_edited(open_page):
    page = open_page(link_of({"tokens": [["don't", "do.", "it"], ["go"]], "model": "one"}))
    shown = "[...document.querySelectorAll('.words')].map(one => one.textContent.trim()).join('|')"
    until(page, f'{shown} == "don\'t do. it|go"')
    page.wait_for_load_state("networkidle")
    page.reload()
    until(page, f'{shown} == "don\'t do. it|go"')
    page.select_option("#model", "two")
    until(page, "document.querySelector('.badge')?.textContent == 'two'")
    assert page.evaluate(shown) == "don't do. it|go"
    page.fill("#text", "I see.")
    until(page, f"{shown} == 'I see .'")


def test_an_empty_text_has_no_link(page):
    assert "#" in page.url
    page.fill("#text", "")
    until(page, "document.querySelectorAll('article').length == 0")
    assert "#" not in page.url


def test_back_to_an_address_without_a_link(open_page):
    page = open_page("/")
    page.evaluate("hash => { location.hash = hash; }", link_of({"text": "I see.", "model": "one"})[1:])
    page.locator("article.sentence svg.tree").wait_for()
    page.go_back()
    until(page, "document.querySelectorAll('article').length == 0")
    assert page.input_value("#text") == ""
    page.go_forward()
    page.locator("article.sentence svg.tree").wait_for()
    assert page.input_value("#text") == "I see."


def test_a_link_with_a_model_that_is_not_here(open_page):
    page = open_page(link_of({"text": TEXT, "model": "huge", "saved": [{"best": 3}]}))
    until(page, "document.getElementById('message').textContent.includes('The model huge of this link')")
    assert page.input_value("#model") == ""
    page.select_option("#model", "one")
    page.locator("article.sentence svg.tree").first.wait_for()
    assert page.input_value("#model") == "one"
    assert "huge" not in page.inner_text("#message")
