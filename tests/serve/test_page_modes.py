"""The modes of a sentence in a real browser: stepping through its derivation, choosing a tree, correcting it."""

from __future__ import annotations

import re
from collections import Counter

from browsing import outline, until

from discoparse.treebank import read_trees

# -- stepping -----------------------------------------------------------------------------------------------------


def test_stepping_through_the_derivation(page):
    first = page.locator("article.sentence").first
    first.locator("[data-mode=step]").click()
    first.locator(".stepper").wait_for()
    assert first.locator(".count").inner_text() == "0 / 18"
    assert first.locator("[data-area=buffer] .item").count() == 5
    first.get_by_label("One step on").click()
    assert first.locator(".said .action").inner_text() == "SH"
    assert first.locator("[data-area=focus] .item").inner_text().startswith("What")
    assert first.locator("[data-area=buffer] .item").count() == 4
    assert first.locator(".choices li.taken .chance").inner_text() == "100%"
    first.get_by_label("To the end").click()
    assert first.locator(".count").inner_text() == "18 / 18"
    assert first.locator("[data-area=memory] .item").count() == 0
    assert first.locator(".stepper svg .node.future").count() == 0
    first.get_by_label("One step back").click()
    assert first.locator(".stepper svg .node.future").count() >= 1
    first.get_by_label("Step", exact=True).fill("5")
    assert first.locator(".count").inner_text() == "5 / 18"
    page.keyboard.press("ArrowRight")
    steps = range(1, 18, 2)  # structural actions
    told = {}
    for step in steps:
        first.get_by_label("Step", exact=True).fill(str(step))
        told[first.locator(".said .action").inner_text().split("-")[0]] = first.locator(".said").inner_text()
    assert re.search(r"shift: “\w+|shift: “\?", told["SH"])
    assert re.search(r"combine “.+” of the memory", told["COMB"])
    first.get_by_label("Step", exact=True).fill("6")
    first.get_by_label("Play", exact=True).click()
    until(page, "parseInt(document.querySelector('.count').textContent) > 6")
    first.get_by_label("Pause").click()


# -- choosing -----------------------------------------------------------------------------------------------------


def test_choosing_one_of_the_best_trees(page, open_page, tmp_path):
    first = page.locator("article.sentence").first
    own = outline(first)
    first.locator("[data-mode=choose]").click()
    choices = first.locator(".best label")
    choices.first.wait_for()
    assert len([text for text in choices.all_inner_texts() if "%" in text]) == 8
    assert len([text for text in choices.all_inner_texts() if "the parser’s tree" in text]) == 1
    other = next(k for k, text in enumerate(choices.all_inner_texts()) if "the parser’s tree" not in text)
    first.locator(".best input").nth(other).check()
    chosen = outline(first)
    assert chosen != own
    assert first.locator("g.node.changed").count() + first.locator("g.leaf.changed").count() >= 1 or "no " in (
        choices.nth(other).inner_text()
    )
    first.locator(".menu summary").click()
    with page.expect_download() as download:
        first.locator("[data-export=json]").click()
    download.value.save_as(tmp_path / "tree.json")
    (tree,) = read_trees(str(tmp_path / "tree.json"))
    assert tree.probability is not None
    assert tree.tokens[1].span == (5, 8)  # the places of the words in the text are kept
    first.locator("[data-mode=step]").click()
    first.locator(".stepper").wait_for()
    assert "not to the one that you chose" in first.locator(".panel").inner_text()
    first.locator("[data-mode=look]").click()
    assert outline(first) == chosen
    assert first.locator("g.node.changed").count() == 0
    again = open_page("/" + page.evaluate("location.hash"))
    again.locator(".best input").nth(other).wait_for()
    until(again, f"document.querySelectorAll('.best input')[{other}].checked")
    assert outline(again.locator("article.sentence").first) == chosen


def test_within_constraints_the_page_says_what_is_not_available(page):
    first = page.locator("article.sentence").first
    until(page, "document.querySelector('.as-text').textContent.includes('%')")
    first.locator("[data-mode=correct]").click()
    first.locator(".words button").nth(1).click()
    first.locator(".words button").nth(2).click()
    first.locator("[data-do=require]").click()
    first.locator(".chip").wait_for()
    first.locator("g.node").last.hover()
    assert "not available within constraints" in first.locator(".info").inner_text()
    first.locator("[data-mode=choose]").click()
    assert "not available within constraints" in first.locator(".panel").inner_text()
    first.locator("[data-mode=correct]").click()
    first.locator(".chip button").click()
    first.locator(".chip").wait_for(state="detached")
    page.wait_for_load_state("networkidle")
    first.locator("g.node").last.hover()
    assert re.search(r"probability [<\d.]+% · label [<\d.]+%$", first.locator(".info").inner_text())


# -- correcting ---------------------------------------------------------------------------------------------------


def test_correcting_by_constraints(page):
    first = page.locator("article.sentence").first
    first.locator("[data-mode=correct]").click()
    words = first.locator(".words button")
    _drag(page, words.nth(1), words.nth(3))
    assert words.evaluate_all("all => all.map(one => one.ariaPressed)") == ["false", "true", "true", "true", "false"]
    first.locator("[data-do=require]").click()
    first.locator(".chip").wait_for()
    assert "did you say" in first.locator(".chip").inner_text()
    assert _spans(first) >= {"did you say"}
    words.nth(0).click()
    words.nth(3).click()
    first.locator("[data-do=require]").click()  # crosses the first: refused, and taken back
    until(page, "document.querySelector('.info').textContent.includes('overlap')")
    assert first.locator(".chip").count() == 1
    first.locator("[data-do=undo]").click()
    first.locator(".chip").wait_for(state="detached")
    page.keyboard.press("Control+Shift+Z")
    first.locator(".chip").wait_for()
    assert _spans(first) >= {"did you say"}
    first.locator(".chip button").click()
    first.locator(".chip").wait_for(state="detached")


def _drag(page, start, end):
    a, b = start.bounding_box(), end.bounding_box()
    page.mouse.move(a["x"] + 5, a["y"] + 5)
    page.mouse.down()
    page.mouse.move(b["x"] + b["width"] / 2, b["y"] + 5, steps=15)
    page.mouse.up()


def _spans(sentence):
    names = sentence.locator("g.node").evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    return {name.partition(": ")[2].rpartition(" (")[0] for name in names}


def test_labels_tags_and_sets_that_are_none(page):
    first = page.locator("article.sentence").first
    first.locator("[data-mode=correct]").click()
    first.locator("g.node").last.click()
    chosen = " ".join(first.locator(".words button[aria-pressed=true]").all_inner_texts())
    first.get_by_label("Label").select_option("WHNP")
    first.locator(".chip").wait_for()
    assert f"WHNP: {chosen}".replace(" ", "") in first.locator(".chip").inner_text().replace("…", "").replace(" ", "")
    first.locator(".words button").first.click()
    other = "RB" if first.locator("g.leaf text.tag").first.text_content() == "WP" else "WP"
    first.get_by_label("Tag").select_option(other)
    until(page, "document.querySelectorAll('.chip').length == 2")
    assert first.locator("g.leaf text.tag").first.text_content() == other
    inner = next(name for name in _spans(first) if len(name.split()) < 5 and name != chosen)
    first.locator(f"g.node[aria-label*='{inner}']").first.click()
    first.locator("[data-do=forbid]").click()
    until(page, "document.querySelectorAll('.chip').length == 3")
    assert inner not in _spans(first)
    assert re.search(r"\bgone", first.locator(".info").inner_text())  # though perhaps nothing is new


def test_what_became_of_the_tree_is_told(page):
    """Also where a constituent is gone and nothing is new."""
    first = page.locator("article.sentence").first
    first.locator("[data-mode=correct]").click()
    counted = []
    # Words that are said to be a constituent, and then said to be none; which is taken back at the end.
    for words, action, chips in (
        ([0, 2], "require", "constituent"),
        ([0, 2], "forbid", "not a constituent"),
        ([3], "require", "constituent,not a constituent"),
        ([3], "forbid", "not a constituent,not a constituent"),
        ([], "undo", "constituent,not a constituent"),
    ):
        before = _labelled(first)
        for k in words:
            first.locator(".words button").nth(k).click()
        first.locator(f"[data-do={action}]").click()
        until(page, f"[...document.querySelectorAll('.chip')].map(one => one.textContent.split(':')[0]) == '{chips}'")
        after = _labelled(first)
        counted.append(((after - before).total(), (before - after).total()))
        told = first.locator(".info").inner_text()
        assert _number(r"(\d+) new constituents?\b", told) == counted[-1][0], told
        assert _number(r"(\d+) (?:constituents? )?gone", told) == counted[-1][1], told
    assert any(new < gone for new, gone in counted)
    assert any(new > gone for new, gone in counted)


def _number(pattern, text):
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def _labelled(sentence):
    names = sentence.locator("g.node").evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    return Counter(name.rpartition(" (")[0] for name in names)


def test_a_link_shows_the_same_again(page, open_page):
    first = page.locator("article.sentence").first
    first.locator("[data-mode=correct]").click()
    _drag(page, first.locator(".words button").nth(1), first.locator(".words button").nth(3))
    first.locator("[data-do=require]").click()
    first.locator(".chip").wait_for()
    page.click("#options summary")
    page.uncheck("#option-tags")
    place = page.evaluate("location.hash")
    again = open_page("/" + place)
    again.locator(".chip").wait_for()
    assert "did you say" in again.locator(".chip").inner_text()
    assert again.locator("article.sentence").count() == 2
    assert again.locator("text.tag").count() == 0
    assert again.input_value("#model") == "one"


def test_a_damaged_link_says_so(open_page):
    page = open_page("/#nonsense")
    until(page, "document.getElementById('message').textContent.includes('damaged')")
