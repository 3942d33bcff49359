"""Remakes the pictures of the page in docs/pictures: python scripts/page_pictures.py http://127.0.0.1:8000/

`discoparse serve` must run at that address, with the shipped models. Needs Chromium, playwright and Pillow.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from PIL import Image
from playwright.sync_api import Locator, Page, sync_playwright

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
SENTENCE = "Daar heeft gisteren niemand aan gedacht."  # a discontinuous PP, and doubt about the place of "gisteren"
STEP = "15"  # of the derivation: the focus has just been combined across a gap
SAID = ("gisteren", "gedacht")  # to be a constituent: words that the parser did not put together


@contextmanager
def parsed(address: str) -> Iterator[tuple[Page, Locator]]:
    """The page with the sentence parsed, and the sentence's part of it."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        size = {"width": 900, "height": 1000}
        # Without motion, no picture is of something on its way.
        page = browser.new_page(viewport=size, color_scheme="light", reduced_motion="reduce")
        page.goto(address)
        page.fill("#text", SENTENCE)
        sentence = page.locator("article.sentence").first
        sentence.locator("g.node").first.wait_for()
        page.wait_for_load_state("networkidle")  # probabilities come after the tree
        page.locator("#text").blur()
        yield page, sentence
        browser.close()


def save(picture: bytes, name: str) -> None:
    """With 256 colours, which are enough for lines and letters."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(256, dither=Image.Dither.NONE).save(PICTURES / name, optimize=True)


@click.command()
@click.argument("address")
def main(address: str) -> None:
    with parsed(address) as (page, sentence):
        sentence.locator("g.node[aria-label^='PP: Daar … aan']").first.hover()
        sentence.locator(".words .lit").first.wait_for()
        top = page.locator("#text").bounding_box()
        end = sentence.bounding_box()
        assert top is not None
        assert end is not None
        above = top["y"] - 18
        clip = {"x": 0, "y": above, "width": 900, "height": end["y"] + end["height"] + 16 - above}
        save(page.screenshot(clip=clip), "serve-look.png")

        sentence.locator("[data-mode=step]").click()
        sentence.get_by_label("Step", exact=True).fill(STEP)
        save(sentence.screenshot(), "serve-step.png")

        sentence.locator("[data-mode=choose]").click()
        sentence.locator(".best input").nth(1).check()
        page.mouse.move(0, 0)
        save(sentence.screenshot(), "serve-choose.png")

    with parsed(address) as (page, sentence):
        sentence.locator("[data-mode=correct]").click()
        for word in SAID:
            sentence.locator(".words button", has_text=word).click()
        sentence.locator("[data-do=require]").click()
        sentence.locator(".chip").wait_for()
        page.wait_for_load_state("networkidle")
        page.mouse.move(0, 0)
        save(sentence.screenshot(), "serve-correct.png")


if __name__ == "__main__":
    main()
