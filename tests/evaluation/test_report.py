"""The HTML report: one whole page that needs nothing from outside, whose links and numbers agree with its pictures."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from unittest.mock import patch

import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tree_pairs import pair

from discoparse.cli.evaluate import command
from discoparse.drawing.compare import SIGNS
from discoparse.evaluation import evaluate, report
from discoparse.evaluation.parameters import parse_parameters
from discoparse.evaluation.report import html_report
from discoparse.evaluation.significance import compare_results
from discoparse.tree import Tree
from discoparse.treebank.discbracket import parse_tree

PAIRS = st.lists(pair(), min_size=1, max_size=4)


class Page(HTMLParser):
    """Checks that tags are balanced, and collects links, anchors, and the sentences' heads and marks."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.links: list[str] = []
        self.anchors: list[str] = []
        self.scripts: list[str] = []
        self.heads: list[str] = []  # one for each sentence
        self.labels: list[list[str]] = []  # the texts of the picture of each sentence
        self.feed(source)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href")]
        self.anchors += [value or "" for name, value in attrs if name == "id"]
        if tag == "details":
            self.heads.append("")
            self.labels.append([])
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif "summary" in self.open:
            self.heads[-1] += data
        elif "details" in self.open and self.open[-1] == "text":
            self.labels[-1].append(data)


def scored(pairs: list[tuple[Tree, Tree]]):
    return evaluate([g for g, _ in pairs], [p for _, p in pairs])


def test_the_page_is_whole_and_needs_nothing_from_outside() -> None:
    """Also with words and names of files that look like mark-up."""
    tree = parse_tree('(S (NP (N 0=<b>) (N 2=&)) (V 1="x") (<i> (N 3={{d}})))')
    flat = parse_tree('(S (N 0=<b>) (N 2=&) (V 1="x") (<i> (N 3={{d}})))')
    first, second = evaluate([tree, tree], [flat, flat]), evaluate([tree, tree], [tree, flat])
    script = files("discoparse.evaluation").joinpath("templates/report.js").read_text(encoding="utf-8")
    for source in (
        html_report(first, "gold<1>", ["a"]),
        html_report(first, "gold<1>", ["x/a", "y/a"], second, compare_results(first, second, samples=50)),
        html_report(evaluate([tree], [], allow_missing=True), "gold", ["a"]),
    ):
        assert source.startswith("<!DOCTYPE html>\n")
        page = Page(source)
        assert [part.strip() for part in page.scripts] == [script.strip()]
        assert all(link.startswith("#") for link in page.links)
        assert page.seen.count("svg") >= 6
        assert page.seen.count("script") == 1
        assert {"link", "b>", "i>", "img", "iframe"}.isdisjoint(page.seen)
    assert "x/a" in html_report(first, "gold", ["x/a", "y/a"], second, compare_results(first, second, samples=9))


@settings(max_examples=60, deadline=None)
@given(PAIRS, st.integers(0, 3))
def test_examples_are_links_to_sentences_that_are_drawn(pairs: list[tuple[Tree, Tree]], worst: int) -> None:
    page = Page(html_report(scored(pairs), "gold", ["a"], worst=worst))
    assert len(set(page.anchors)) == len(page.anchors)
    assert {link.removeprefix("#") for link in page.links} <= set(page.anchors)


_MANY = " ".join(f"(N {k}=a)" for k in range(150))
_WIDE = (parse_tree(f"(ROOT {_MANY})"), parse_tree(f"(ROOT (S {_MANY}))"))


@settings(max_examples=150, deadline=None)
@given(PAIRS)
@example([_WIDE])
def test_the_head_counts_what_the_picture_marks(pairs: list[tuple[Tree, Tree]]) -> None:
    """And what the scores count: brackets of either side that the other lacks."""
    result = scored(pairs)
    with patch.object(report, "_WIDTH", 10**6):  # in one panel: a node of two panels is marked in both
        page = Page(html_report(result, "gold", ["a"], worst=len(pairs)))
    for head, labels, anchor in zip(page.heads, page.labels, page.anchors, strict=True):
        sentence = result.sentences[int(anchor.removeprefix("sentence-")) - 1]
        found = {kind: int(count) for count, kind in re.findall(r"(\d+) (missing|spurious|with another \w+)", head)}
        missing, spurious, label, tag = (
            found.get(kind, 0) for kind in ("missing", "spurious", "with another label", "with another tag")
        )
        c = sentence.counts
        assert (missing + label, spurious + label) == (c.gold - c.matched, c.predicted - c.matched)
        assert tag == c.tokens - c.correct_tags
        marks = [text[0] for text in labels if len(text) > 1 and text[0] in SIGNS.values()]
        signs = [SIGNS["missing"], SIGNS["spurious"], SIGNS["different"]]
        assert [marks.count(sign) for sign in signs] == [missing, spurious, 2 * (label + tag)]


def test_a_root_that_is_not_scored_is_not_drawn() -> None:
    """S is missing from the prediction, and ROOT is no bracket: nothing has another label."""
    gold, predicted = parse_tree("(ROOT (S (A 0=a) (B 1=b)))"), parse_tree("(ROOT (A 0=a) (B 1=b))")
    page = Page(html_report(evaluate([gold], [predicted]), "gold", ["a"]))
    assert page.heads[0].startswith("Sentence 1: 1 missing; 1 gold and 0 predicted brackets, 0 in both")
    assert "−S" in page.labels[0]
    assert not any("ROOT" in text for text in page.labels[0])


def test_words_that_count_as_equal_do_not_differ() -> None:
    gold, predicted = parse_tree("(S (X (A 0=a)) (B 1=colour))"), parse_tree("(S (A 0=a) (B 1=color))")
    parameters = parse_parameters(["EQ_WORD colour color"])
    page = Page(html_report(evaluate([gold], [predicted], parameters), "gold", ["a"]))
    assert page.heads[0].startswith("Sentence 1: 1 missing; 2 gold and 1 predicted brackets")


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gold", "predicted"):
        (tmp_path / f"{name}.discbracket").write_text("(S (A 0=a) (B 1=b))\n", encoding="utf-8")
    old = tmp_path / "report.html"
    old.write_text("the old page", encoding="utf-8")
    monkeypatch.setattr("discoparse.cli.evaluate.html_report", lambda *_, **__: Unwritable())
    arguments = [str(tmp_path / f"{name}.discbracket") for name in ("gold", "predicted")]
    result = CliRunner().invoke(command, [*arguments, "--html", str(old)])
    assert isinstance(result.exception, TypeError)
    assert old.read_text(encoding="utf-8") == "the old page"


class Unwritable:
    """Not a text: writing it fails when the file is open already, as on a full disk."""
