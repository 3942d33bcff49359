"""The page in a real browser: looking, exporting, comparing, with pointer, keyboard and finger."""

from __future__ import annotations

import json
import re

import pytest
from browsing import TEXT, parse, until
from serving import running

from discoparse.serve.settings import Settings
from discoparse.treebank import read_trees

GOLD = "(S (VP (V 0=wake) (P 2=up)) (N 1=them))\n(S (V 0=go) (P 1=on))\n"
PREDICTED = "(S (V 0=wake) (P 2=up) (N 1=them))\n(S (V 0=go) (P 1=on))\n"


def test_trees_are_drawn_as_one_types(page):
    until(page, "document.querySelectorAll('article.sentence').length == 2")
    assert "2 sentences" in page.inner_text("#message")
    assert page.inner_text("article.sentence >> nth=1 >> .words") == "I see ."
    page.fill("#text", "Go on.")
    until(page, "document.querySelectorAll('article.sentence').length == 1")


def test_pointing_lights_up_the_yield(page):
    first = page.locator("article.sentence").first
    node = first.locator("g.node").last
    until(page, "document.querySelector('.as-text').textContent.includes('%')")
    page.wait_for_load_state("networkidle")  # probabilities by sampling come after the tree
    node.hover()
    assert first.locator(".words .lit").count() == len(_yield(page, node))
    assert re.search(r"probability [<\d.]+% · label [<\d.]+%", first.locator(".info").inner_text())
    page.mouse.move(1, 1)
    first.locator(".words .lit").wait_for(state="detached")


def _yield(page, node):
    return node.get_attribute("aria-label").partition(": ")[2].rpartition(" (")[0].replace("…", "").split()


def test_a_click_folds_a_subtree_and_another_unfolds_it(page):
    first = page.locator("article.sentence").first
    nodes = first.locator("g.node").count()
    assert nodes > 1
    first.locator("g.node").last.click()
    assert first.locator("g.node").count() == 1
    assert first.locator("path.roof").count() == 1
    first.locator("g.node").click()
    assert first.locator("g.node").count() == nodes


def test_the_keyboard_walks_through_the_tree(page):
    first = page.locator("article.sentence").first
    first.locator("g.node[tabindex='0']").focus()
    label = first.locator(".info strong").inner_text()
    page.keyboard.press("ArrowDown")
    assert first.locator(".info").inner_text() != label
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert first.locator("path.roof").count() == 1


def test_options_of_the_view(page):
    first = page.locator("article.sentence").first
    before = first.locator("svg.tree").inner_html()
    assert first.locator("text.tag").count() == 5
    page.click("#options summary")
    page.uncheck("#option-tags")
    assert first.locator("text.tag").count() == 0
    page.uncheck("#option-punctuation")
    assert first.locator("g.leaf").count() == 4
    page.select_option("#option-style", "slanted")
    page.uncheck("#option-colours")
    page.check("#option-root")
    assert first.locator("svg.tree").inner_html() != before
    assert first.locator("[class*=hue]").count() == 0


def test_user_text_is_not_markup(page):
    parse(page, "<img src=x onerror=alert(1)> <b>bold</b>")
    until(page, "document.querySelector('.words').textContent.includes('onerror')")
    assert page.locator("#sentences img, #sentences b").count() == 0


# -- exports ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "begins"),
    [("svg", b"<svg"), ("png", b"\x89PNG"), ("tikz", b"%"), ("discbracket", b"("), ("export", b"%%"), ("json", b"[")],
)
def test_exports(page, kind, begins, tmp_path):
    first = page.locator("article.sentence").first
    first.locator(".menu summary").click()
    with page.expect_download() as download:
        first.locator(f"[data-export={kind}]").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert file.read_bytes().startswith(begins)
    if kind in ("discbracket", "export", "json"):
        (tree,) = read_trees(str(file))
        assert tree.words == ["What", "did", "you", "say", "?"]
    if kind == "svg":
        text = file.read_text()
        assert "class=" not in text
        assert "What" in text


def test_copying(open_page):
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    parse(page)
    first = page.locator("article.sentence").first
    for kind, begins in (("copy", "("), ("link", "http")):
        first.locator(".menu summary").click()
        first.locator(f"[data-export={kind}]").click()
        until(page, "document.querySelector('.info').textContent.toLowerCase().includes('copied')")
        assert page.evaluate("navigator.clipboard.readText()").startswith(begins)


# -- comparing ----------------------------------------------------------------------------------------------------


def test_comparing_two_models(page):
    page.click("#tab-compare")
    page.fill("#view-compare textarea", TEXT)
    page.click("#view-compare button.main")
    page.locator("figure svg").nth(1).wait_for()
    assert page.locator(".list li").count() == 2
    assert page.locator("figcaption").all_inner_texts() == ["one", "two"]


def test_comparing_two_files(page, tmp_path):
    (tmp_path / "gold.discbracket").write_text(GOLD)
    (tmp_path / "predicted.export").write_text("")
    (tmp_path / "predicted.discbracket").write_text(PREDICTED)
    page.click("#tab-compare")
    page.get_by_label("Gold treebank").set_input_files(tmp_path / "gold.discbracket")
    page.get_by_label("Predicted treebank").set_input_files(tmp_path / "predicted.discbracket")
    page.locator("figure svg").nth(1).wait_for()
    assert page.locator("g.node.missing").get_attribute("aria-label") == "VP: wake … up"
    assert "2 of 2" in page.inner_text("#view-compare .message")
    page.get_by_label("wrong only").check()
    assert page.locator(".list li").count() == 1
    page.get_by_label("wrong only").uncheck()
    page.get_by_label("discontinuous only").check()
    assert page.locator(".list li").count() == 1
    page.get_by_label("Label").select_option("VP")
    assert page.locator(".list li").count() == 1


def test_a_file_can_be_dropped(page):
    page.click("#tab-compare")
    page.evaluate(
        """([gold, predicted]) => {
            document.querySelectorAll('.drop').forEach((place, k) => {
                const data = new DataTransfer();
                data.items.add(new File([[gold, predicted][k]], 'trees.discbracket'));
                place.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
            });
        }""",
        [GOLD, PREDICTED],
    )
    page.locator("figure svg").nth(1).wait_for()


# -- everybody's page ---------------------------------------------------------------------------------------------


def test_errors_are_shown_and_old_trees_fade(page):
    page.select_option("#model", "")
    page.fill("#text", "Xyzzy plugh")
    page.wait_for_selector("#message.error")
    assert "Choose a model" in page.inner_text("#message")
    assert "stale" in page.get_attribute("#sentences", "class")


def test_on_a_phone_nothing_sticks_out(open_page):
    page = open_page(viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
    parse(page)
    for mode in ("look", "correct", "step"):
        page.locator(f"[data-mode={mode}]").first.tap()
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, mode


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system_and_the_button(open_page, scheme):
    page = open_page(color_scheme=scheme)
    background = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(background)
    brightness = sum(map(int, re.findall(r"\d+", before)[:3]))
    assert (brightness < 200) == (scheme == "dark")
    page.click("#theme")
    assert page.evaluate(background) != before


def test_the_tree_as_nested_text(page):
    first = page.locator("article.sentence").first
    first.locator(".text-tree summary").click()
    assert first.locator(".as-text li").count() == first.locator("g.leaf").count() + page.evaluate(
        "document.querySelectorAll('.as-text')[0].querySelectorAll('strong').length"
    )
    assert first.locator(".as-text").inner_text().split()[-2:] != []


def test_a_menu_closes_on_escape(page):
    menu = page.locator("article.sentence .menu").first
    menu.locator("summary").click()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert menu.get_attribute("open") is None
    assert menu.locator("summary").evaluate("one => one === document.activeElement")


def test_what_a_screen_reader_hears(page):
    first = page.locator("article.sentence").first
    assert first.locator("h2").text_content() == "Sentence 1: What did you say ?"
    first.locator("[data-mode=correct]").click()
    first.locator(".words button").nth(1).click()
    first.locator("[data-do=require]").click()
    until(page, "document.querySelector('[role=status].sr').textContent.match(/constituent|changed/)")
    unnamed = page.evaluate(
        """[...document.querySelectorAll('button, select, input, textarea, summary, a')].filter((one) => !(
            one.textContent.trim() || one.getAttribute('aria-label') || one.closest('label') || one.labels?.length
        )).map((one) => one.outerHTML)"""
    )
    assert unnamed == []


def test_a_token_is_asked_for(browser, catalogue):
    with running(catalogue, Settings(token="secret")) as (client, _):
        page = browser.new_page()
        page.goto(str(client.base_url))
        page.locator("dialog[open]").wait_for()
        page.fill("#token", "secret")
        page.click("dialog button")
        until(page, "document.getElementById('model').options.length > 1")
        parse(page)
        page.close()


def test_the_description_of_the_api(open_page, address):
    page = open_page()
    page.goto(address + "/api/v1/docs")
    page.locator(".endpoint").nth(9).wait_for()
    assert "/api/v1/parse" in page.inner_text("main")
    example = page.locator(".endpoint pre").first.inner_text()
    assert json.loads(re.search(r"-d '(.*)'", example)[1])
