"""Everything on the page is within reach: on small screens, in long sentences, by finger and by Tab."""

from __future__ import annotations

import pytest
from browsing import TEXT, parse, until

LONG = "What did you say that he said that you did , and who saw what you said that you saw when he said it to them ?"


def _phone(open_page, width=375, place=""):
    return open_page(place, viewport={"width": width, "height": 660}, is_mobile=True, has_touch=True)


def _correct(page):
    first = page.locator("article.sentence").first
    first.locator("[data-mode=correct]").click()
    first.locator(".correction").wait_for()
    return first


# -- small screens ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [320, 375])
def test_on_small_screens_nothing_sticks_out(open_page, address, width):
    page = _phone(open_page, width)
    parse(page)
    sheets = (page.locator("#options"), page.locator("article.sentence .menu").first)
    for menu in sheets:
        menu.locator("summary").click()
        box = menu.locator(".sheet").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        page.keyboard.press("Escape")
    wide = "document.documentElement.scrollWidth"
    for mode in ("look", "step", "choose", "correct"):
        page.locator(f"[data-mode={mode}]").first.click()
        page.wait_for_timeout(200)
        assert page.evaluate(wide) <= width, mode
    page.click("#tab-compare")
    page.fill("#view-compare textarea", TEXT)
    page.click("#view-compare button.main")
    page.locator("figure svg").nth(1).wait_for()
    assert page.evaluate(wide) <= width
    page.goto(address + "/api/v1/docs")
    page.locator(".endpoint").nth(9).wait_for()
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert page.evaluate(wide) <= width


def _swipe(page, session, x, y, dx, dy):
    def touch(kind, points):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", [{"x": x, "y": y}])
    for k in range(1, 16):
        touch("touchMove", [{"x": x + k * dx, "y": y + k * dy}])
        page.wait_for_timeout(16)
    touch("touchEnd", [])
    page.wait_for_timeout(300)


def test_a_finger_scrolls_and_selects(open_page):
    page = _phone(open_page)
    parse(page, LONG)
    first = _correct(page)
    session = page.context.new_cdp_session(page)
    words = first.locator(".words button")
    words.nth(12).scroll_into_view_if_needed()
    selected = first.locator(".words button[aria-pressed=true]")
    words.nth(3).tap()
    assert selected.count() == 1
    before = page.evaluate("scrollY")
    box = words.nth(12).bounding_box()
    _swipe(page, session, box["x"] + 8, box["y"] + 8, 0, -8)
    assert page.evaluate("scrollY") > before
    assert selected.all_inner_texts() == ["say"]  # what was selected before
    line = words.evaluate_all("all => all.map(one => one.getBoundingClientRect().top)")
    page.evaluate("scrollTo(0, 0)")
    box = words.nth(0).bounding_box()
    _swipe(page, session, box["x"] + 8, box["y"] + 8, 18, 0)
    assert selected.count() == len([top for top in line if top == line[0]])


def test_what_to_say_is_on_the_screen_with_the_words(open_page):
    page = _phone(open_page)
    parse(page, LONG)
    first = _correct(page)
    page.evaluate("document.querySelector('.words').scrollIntoView()")
    first.locator(".words button").first.tap()
    for action in ("require", "undo"):
        box = first.locator(f"[data-do={action}]").bounding_box()
        assert box["y"] + box["height"] <= 660


# -- long sentences -----------------------------------------------------------------------------------------------

_SEEN = """selector => {
    const elements = [...document.querySelectorAll(selector)];
    const view = elements[0].closest('.scroll').getBoundingClientRect();
    return elements.some((one) => {
        const box = one.getBoundingClientRect();
        return box.left >= view.left - 1 && box.right <= view.right + 1;
    });
}"""


def test_what_a_step_is_about_can_be_seen(open_page):
    page = open_page(viewport={"width": 800, "height": 700}, reduced_motion="reduce")
    parse(page, "What did you say that he said or saw when you saw what he did to them")
    page.locator("[data-mode=step]").click()
    slider = page.get_by_label("Step", exact=True)
    slider.wait_for()
    assert page.evaluate("document.querySelector('.beside .scroll').scrollWidth > 600")
    for step in range(1, int(slider.get_attribute("max")), 4):
        slider.fill(str(step))
        assert page.evaluate(_SEEN, ".beside g.leaf.lit"), step
        assert page.evaluate(
            "(m => m.scrollTop + m.clientHeight >= m.scrollHeight - 1)(document.querySelector('[data-area=memory]'))"
        )


def test_what_became_of_a_correction_can_be_seen(open_page):
    page = open_page(viewport={"width": 800, "height": 700})
    parse(page, LONG)
    first = _correct(page)
    for k in (20, 21):
        first.locator(".words button").nth(k).click()
    first.locator("[data-do=require]").click()
    first.locator(".chip").wait_for()
    assert page.evaluate("document.querySelector('.scroll').scrollLeft > 0")
    assert page.evaluate(_SEEN, ".changed")


def test_a_step_outlives_the_options_of_the_view(page):
    first = page.locator("article.sentence").first
    first.locator("[data-mode=step]").click()
    slider = first.get_by_label("Step", exact=True)
    slider.fill("7")
    picture = first.locator(".stepper svg.tree")
    built = first.locator(".stepper g.node:not(.future)").count()
    assert picture.locator("text.tag").count() > 0
    page.click("#options summary")
    page.uncheck("#option-tags")
    until(page, "document.querySelectorAll('.stepper text.tag').length == 0")
    assert first.locator(".count").inner_text() == "7 / 18"
    assert first.locator(".stepper g.node:not(.future)").count() == built
    assert picture.get_attribute("aria-label") == "The tree so far"
    slider.fill("18")
    assert first.locator(".stepper svg .node.future").count() == 0


# -- Tab ----------------------------------------------------------------------------------------------------------


def test_a_picture_is_one_stop(page):
    first = page.locator("article.sentence").first
    first.locator(".menu summary").focus()
    stops = []
    while "The tree as text" not in stops:
        page.keyboard.press("Tab")
        stops.append(
            page.evaluate("(one => one.matches('summary') ? one.textContent : one.tagName)(document.activeElement)")
        )
    assert stops == ["g", "The tree as text"]
