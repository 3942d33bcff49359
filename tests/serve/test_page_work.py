"""What people did on the page is not lost, whatever they click next and whatever the server answers, or does not."""

from __future__ import annotations

import json

import pytest
from browsing import TEXT, hold, link_of, outline, parse, release, until, until_chips, until_held
from serving import running

from discoparse.serve.settings import Settings


@pytest.fixture
def correcting(page):
    """The first sentence, in the mode in which it is corrected."""
    first = page.locator("article.sentence").first
    first.locator("[data-mode=correct]").click()
    first.locator(".correction").wait_for()
    return first


def _say(sentence, words, action="require"):
    for k in words:
        sentence.locator(".words button").nth(k).click()
    sentence.locator(f"[data-do={action}]").click()


def _reach(page, is_there):
    """The server answers, or seems not to be there."""
    page.evaluate(
        """isThere => {
            window.reached ??= window.fetch;
            window.fetch = isThere ? window.reached : () => Promise.reject(new TypeError('not there'));
        }""",
        is_there,
    )


def _labels(sentence):
    names = sentence.locator("g.node").evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    return [name.rpartition(" (")[0] or name for name in names]


# -- undo ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clicked", [".words button", "g.node"])
def test_undo_is_never_the_browsers_own(open_page, clicked):
    page = open_page()
    page.select_option("#model", "one")
    page.click("#text")
    page.keyboard.type(TEXT)
    first = page.locator("article.sentence").first
    first.locator("[data-mode=correct]").click()
    _say(first, [1, 2])
    until_chips(page, "constituent: did you")
    _say(first, [3], "forbid")
    until_chips(page, "constituent: did you", "not a constituent: say")
    first.locator(clicked).last.click()
    page.keyboard.press("Control+z")
    until_chips(page, "constituent: did you")
    assert page.evaluate("document.activeElement.closest('article') !== null")
    page.keyboard.press("Control+z")
    until_chips(page)
    page.keyboard.press("Control+z")
    page.wait_for_timeout(600)  # the text would be parsed again
    assert page.input_value("#text") == TEXT


@pytest.mark.parametrize("kind", ["json", "copy", "link"])
def test_undo_after_the_menu(page, correcting, kind):
    _say(correcting, [1, 2])
    until_chips(page, "constituent: did you")
    correcting.locator(".menu summary").click()
    correcting.locator(f"[data-export={kind}]").click()
    until(page, "document.activeElement.tagName == 'SUMMARY'")
    page.keyboard.press("Control+z")
    until_chips(page)


def test_undo_while_a_correction_is_parsed(page, correcting):
    labels = _labels(correcting)
    hold(page)
    _say(correcting, [1, 2])
    until_held(page, 1)
    page.keyboard.press("Control+z")
    until_held(page, 2)
    release(page, 1, 0)
    until_chips(page)
    assert _labels(correcting) == labels
    assert correcting.locator("[data-do=undo]").is_disabled()
    _say(correcting, [1, 2])
    until_chips(page, "constituent: did you")


def test_a_correction_that_is_refused_while_others_were_made(page, correcting):
    """The one before it was not parsed yet, and is not lost."""
    hold(page)
    _say(correcting, [1, 2])
    until_held(page, 1)
    _say(correcting, [2, 3])
    until_held(page, 2)
    release(page, 0, 1)
    until_chips(page, "constituent: did you")
    until(page, "document.querySelector('.info').textContent.includes('overlap')")
    assert any(name.endswith(": did you") for name in _labels(correcting))


def test_a_double_click_says_it_once(page, correcting):
    hold(page)
    for k in (1, 2):
        correcting.locator(".words button").nth(k).click()
    correcting.locator("[data-do=require]").dblclick()
    until_held(page, 1)
    release(page, 0)
    until_chips(page, "constituent: did you")
    correcting.locator("[data-do=undo]").click()
    until_chips(page)


@pytest.mark.parametrize("action", ["undo", "forbid", "chip"])
def test_what_is_said_while_the_server_is_away_is_taken_back(page, correcting, action):
    _say(correcting, [1, 2])
    until_chips(page, "constituent: did you")
    labels = _labels(correcting)
    _reach(page, False)
    if action == "chip":
        correcting.locator(".chip button").click()
    else:
        _say(correcting, [3] if action == "forbid" else [], action)
    until(page, "document.querySelector('.info').textContent.includes('does not answer')")
    until_chips(page, "constituent: did you")
    assert _labels(correcting) == labels
    _reach(page, True)
    correcting.locator("[data-do=undo]").click()
    until_chips(page)


def test_errors_of_corrections_are_in_words(page, correcting):
    _say(correcting, [1, 2])
    until_chips(page, "constituent: did you")
    _say(correcting, [2, 3])
    until(page, "document.querySelector('.info').textContent.includes('overlap')")
    told = correcting.locator(".info").inner_text()
    assert "over 'did you'" in told
    assert "sentence 1" not in told
    assert "tokens" not in told
    assert correcting.locator(".words [aria-pressed=true]").count() == 0


# -- the panel ----------------------------------------------------------------------------------------------------


def test_labels_are_asked_for_again(page):
    first = page.locator("article.sentence").first
    _reach(page, False)
    first.locator("[data-mode=correct]").click()
    until(page, "document.querySelector('.panel').textContent.includes('does not answer')")
    _reach(page, True)
    _say(first, [1, 2])
    until_chips(page, "constituent: did you")


def test_labels_that_come_late_stay_out_of_other_modes(page):
    first = page.locator("article.sentence").first
    page.wait_for_load_state("networkidle")
    hold(page)
    first.locator("[data-mode=correct]").click()
    until_held(page, 1)
    first.locator("[data-mode=look]").click()
    release(page, 0)
    assert first.locator(".panel").inner_html() == ""


def test_best_trees_that_come_late_leave_what_was_done_meanwhile(page):
    first = page.locator("article.sentence").first
    own = outline(first)
    page.wait_for_load_state("networkidle")
    hold(page)
    first.locator("[data-mode=choose]").click()
    until_held(page, 1)
    first.locator("[data-mode=look]").click()
    first.locator("svg g.node").last.click()
    assert first.locator("svg g.collapsed").count() == 1
    release(page, 0)
    assert first.locator("svg g.collapsed").count() == 1
    assert first.locator(".panel").inner_html() == ""
    assert outline(first) == own


def test_best_trees_that_come_after_a_correction_are_those_of_the_parser(page):
    first = page.locator("article.sentence").first
    own = outline(first)
    page.wait_for_load_state("networkidle")
    first.locator("[data-mode=correct]").click()
    first.locator(".correction").wait_for()
    hold(page)
    first.locator("[data-mode=choose]").click()
    until_held(page, 1)
    first.locator("[data-mode=correct]").click()
    page.evaluate("() => { window.fetch = window.reached; }")
    _say(first, [0, 1, 3])
    until_chips(page, "constituent: What did … say")
    first.locator("svg .changed").first.wait_for()
    release(page, 0)
    assert first.locator("svg .changed").count() > 0  # what is new is still marked
    first.get_by_label("Undo").click()
    until_chips(page)
    until(page, "document.querySelector('.info').textContent.includes('onstituent')")
    assert outline(first) == own
    first.locator("[data-mode=choose]").click()
    first.locator(".best label").first.wait_for()
    descriptions = first.locator(".best .what").all_inner_texts()
    assert descriptions.count("the parser’s tree") == 1
    assert set(descriptions[8:]) <= {"the parser’s tree"}  # it need not be one of the eight best


def _correct_another(first):
    """Choose another tree than the parser's, to correct it."""
    first.locator("[data-mode=choose]").click()
    choices = first.locator(".best label")
    choices.first.wait_for()
    other = next(k for k, text in enumerate(choices.all_inner_texts()) if "the parser’s tree" not in text)
    first.locator(".best input").nth(other).check()
    first.locator("[data-mode=correct]").click()
    first.locator(".correction").wait_for()


def _tag(first, word, tag):
    first.locator(".words button").nth(word).click()
    first.get_by_label("Tag", exact=True).select_option(tag)


def test_corrections_of_a_chosen_tree_start_from_it(page):
    first = page.locator("article.sentence").first
    own = outline(first)
    _correct_another(first)
    chosen = outline(first)
    assert "start from the tree that you chose" in first.locator(".panel").inner_text()
    assert first.locator(".chip").count() == 0  # nothing was said yet
    _tag(first, 0, "NN")
    until(page, "[...document.querySelectorAll('.chip')].some(chip => chip.textContent.startsWith('NN: What'))")
    page.wait_for_load_state("networkidle")
    assert first.locator(".chip").count() > 1
    assert "start from" not in first.locator(".panel").inner_text()
    first.locator("[data-do=undo]").click()
    until(page, "![...document.querySelectorAll('.chip')].some(chip => chip.textContent.includes('NN: What'))")
    page.wait_for_load_state("networkidle")
    assert outline(first) == chosen
    first.locator("[data-do=undo]").click()
    until(page, "!document.querySelector('.chip')")
    page.wait_for_load_state("networkidle")
    assert outline(first) == own


def test_a_correction_of_a_chosen_tree_while_another_is_parsed(page):
    """The chosen tree is still shown then. What was said of it is not lost, and its differences are not said again."""
    first = page.locator("article.sentence").first
    _correct_another(first)
    hold(page)
    for count, word in enumerate((0, 1), 1):
        _tag(first, word, "NN")
        until_held(page, count)
    release(page, 0, 1)
    until(page, "[...document.querySelectorAll('.chip')].some(chip => chip.textContent.startsWith('NN: did'))")
    page.wait_for_load_state("networkidle")
    assert [chip for chip in first.locator(".chip").all_inner_texts() if chip.startswith("NN: What")]
    for _ in range(3):  # two tags, and the differences
        first.locator("[data-do=undo]").click()
        page.wait_for_load_state("networkidle")
    until(page, "!document.querySelector('.chip')")
    assert first.locator("[data-do=undo]").is_disabled()


# -- other text, and the same again -------------------------------------------------------------------------------


def test_corrections_stay_when_the_text_is_parsed_again(page, correcting):
    _say(correcting, [1, 2])
    until_chips(page, "constituent: did you")
    page.click("#form button.main")
    page.wait_for_load_state("networkidle")
    until_chips(page, "constituent: did you")
    page.fill("#text", "I see. " + TEXT + " Go on.")
    until(page, "document.querySelectorAll('article.sentence').length == 4")
    until_chips(page, "constituent: did you")
    second = page.locator("article.sentence").nth(1)
    assert second.locator("h2").text_content() == "Sentence 2: What did you say ?"
    assert second.get_attribute("data-mode") == "correct"
    second.locator(".menu summary").click()
    with page.expect_download() as download:
        second.locator("[data-export=json]").click()
    (tree,) = json.loads(download.value.path().read_text())
    assert tree["id"] == "2"
    assert tree["tokens"][0]["span"] == [7, 11]  # its place in the text
    page.fill("#text", "Go on.")
    until(page, "document.querySelectorAll('article.sentence').length == 1")
    page.fill("#text", TEXT)
    until_chips(page, "constituent: did you")
    page.select_option("#model", "two")
    until_chips(page)
    page.select_option("#model", "one")
    until_chips(page, "constituent: did you")
    correcting.locator("[data-do=undo]").click()
    until_chips(page)


# -- a browser that remembers nothing, a token, a server that comes back ------------------------------------------


@pytest.mark.parametrize(
    "script",
    [
        "for (const name of ['localStorage', 'sessionStorage']) "
        "Object.defineProperty(window, name, { get() { throw new DOMException('no', 'SecurityError') } })",
        "localStorage.setItem('discoparse-view', 'nonsense')",
        "localStorage.setItem('discoparse-view', '5')",
    ],
)
def test_what_the_browser_remembers_is_not_needed(browser, address, script):
    page = browser.new_page()
    page.add_init_script(script)
    page.goto(address)
    until(page, "document.getElementById('model').options.length > 1")
    parse(page)
    page.click("#options summary")
    page.uncheck("#option-tags")
    assert page.locator("text.tag").count() == 0
    page.click("#theme")
    page.close()


def test_a_wrong_token(browser, catalogue):
    with running(catalogue, Settings(token="secret")) as (client, _):
        page = browser.new_page()
        page.goto(str(client.base_url))
        problem = page.locator("#token-problem")
        page.locator("dialog[open]").wait_for()
        assert not problem.is_visible()
        page.fill("#token", "wrong")
        page.keyboard.press("Enter")
        problem.wait_for()
        assert page.input_value("#token") == ""
        page.keyboard.press("Escape")
        until(page, "document.getElementById('message').textContent.includes('wants a token')")
        assert page.locator("dialog[open]").count() == 0
        page.click("#form button.main")  # though there is no text yet
        page.fill("#token", "secret")
        page.keyboard.press("Enter")
        until(page, "document.getElementById('model').options.length > 1")
        until(page, "document.getElementById('message').textContent == ''")
        parse(page)
        assert page.locator("#view-compare form").count() == 1
        page.close()


def test_models_are_asked_for_until_there_is_an_answer(browser, address):
    saved = [{"constraints": {"constituents": [{"tokens": [1, 2]}]}, "mode": "correct"}]
    page = browser.new_page()
    page.route("**/api/v1/models", lambda route: route.abort())
    page.goto(address + link_of({"text": TEXT, "model": "one", "saved": saved}))
    until(page, "document.getElementById('message').textContent.includes('does not answer')")
    assert page.input_value("#text") == TEXT
    page.unroute_all()
    page.click("#form button.main")
    until_chips(page, "constituent: did you")
    assert page.input_value("#model") == "one"
    assert page.locator("#view-compare form").count() == 1
    page.close()


def test_corrections_of_a_link_wait_for_the_server(browser, address):
    saved = [{"constraints": {"constituents": [{"tokens": [1, 2]}]}, "mode": "correct"}]
    page = browser.new_page()
    page.route(
        "**/api/v1/parse",
        lambda route: route.abort() if "constraints" in route.request.post_data else route.continue_(),
    )
    page.goto(address + link_of({"text": TEXT, "model": "one", "saved": saved}))
    page.locator(".scroll.stale").wait_for()
    until_chips(page, "constituent: did you")
    page.unroute_all()
    page.click("#form button.main")
    page.locator(".scroll.stale").wait_for(state="detached")
    assert any(name.endswith(": did you") for name in _labels(page.locator("article.sentence").first))
    page.close()
