"""The spans that Alpino's phrases state, checked against what is in them: a word in the wrong phrase shows there."""

from __future__ import annotations

from typing import NamedTuple

from discoparse.treebank.report import Defect
from discoparse.treebank.xmlblocks import Element


class _Extent(NamedTuple):
    """What a node covers: its words, and its words with the antecedents of its empty nodes."""

    words: tuple[int, int] | None
    all: tuple[int, int] | None
    certain: bool  # everything in it states where it stands


def wrong_spans(top: Element) -> list[Defect]:
    """Phrases whose begin and end are neither those of their words nor those of everything in them.

    Alpino counts empty nodes, which stand where their antecedents stand, as parts of a phrase. Where nodes state no
    span, the words must still lie inside the span of the phrase.
    """
    defects: list[Defect] = []
    order: list[Element] = []
    stack = [top]
    while stack:
        element = stack.pop()
        order.append(element)
        stack.extend(child for child in element.children if child.tag == "node")
    extents: dict[int, _Extent] = {}
    for element in reversed(order):
        try:
            span = _span(element)
        except ValueError:
            defects.append(Defect("begin and end of <node> are not numbers", element.line))
            span = None
        if "cat" not in element.attributes:
            is_word = "word" in element.attributes
            extents[id(element)] = _Extent(span if is_word else None, span, span is not None)
            continue
        extent = _joined([extents[id(child)] for child in element.children if child.tag == "node"])
        extents[id(element)] = extent
        if span is not None and extent.words is not None and not _fits(span, extent):
            begin, end = extent.words
            message = f"{element.attributes['cat']} spans {span[0]} to {span[1]}, but its words span {begin} to {end}"
            defects.append(Defect(message, element.line))
    return defects


def _span(element: Element) -> tuple[int, int] | None:
    begin, end = element.attributes.get("begin"), element.attributes.get("end")
    return None if begin is None or end is None else (int(begin), int(end))


def _fits(span: tuple[int, int], extent: _Extent) -> bool:
    if extent.certain:
        return span in (extent.words, extent.all)
    return extent.words is None or (span[0] <= extent.words[0] and extent.words[1] <= span[1])


def _joined(parts: list[_Extent]) -> _Extent:
    """The extent of a phrase with these parts."""
    words = [part.words for part in parts if part.words is not None]
    everything = [part.all for part in parts if part.all is not None]
    return _Extent(_hull(words), _hull(everything), all(part.certain for part in parts))


def _hull(spans: list[tuple[int, int]]) -> tuple[int, int] | None:
    return (min(begin for begin, _ in spans), max(end for _, end in spans)) if spans else None
