"""Raw text to sentences of tokens: a whole text at once, or a stream of any length in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from discoparse.text.boundaries import find_boundaries
from discoparse.text.convention import convention
from discoparse.text.sentence import Sentence, TextToken
from discoparse.text.words import cut_words

# A paragraph longer than this is split before its end is known, and a longer sentence is cut.
LONGEST_PARAGRAPH = 200_000


def split_text(text: str, language: str | None = None, *, lines: bool = False) -> Iterator[Sentence]:
    """The sentences of a text, with offsets into it.

    >>> [sentence.forms for sentence in split_text("Isn't it? Mr. Fox left.", "en")]
    [['Is', "n't", 'it', '?'], ['Mr.', 'Fox', 'left', '.']]
    """
    return split_stream([text], language, lines=lines)


def split_stream(chunks: Iterable[str], language: str | None = None, *, lines: bool = False) -> Iterator[Sentence]:
    """The sentences of a text that comes in pieces, cut anywhere, with offsets into the whole.

    A blank line always ends a sentence, and so does the end of a line before an item of a list. Any other line end is a
    space, or with `lines` ends a sentence too.
    """
    items = _Items()
    held: list[str] = []
    offset = size = kept = 0  # of what is held: its offset, its size, and how much of it was split before
    whole = True  # whether the next piece starts a line
    for piece in _pieces_of_lines(chunks):
        if whole and items.take(piece) and held:
            yield from _split_paragraph("".join(held), offset, language)
            held, offset, size, kept = [], offset + size, 0, 0
        held.append(piece)
        size += len(piece)
        ends_line = piece.endswith("\n")
        if ends_line and (lines or (whole and not piece.strip())):
            yield from _split_paragraph("".join(held), offset, language)
            held, offset, size, kept = [], offset + size, 0, 0
        elif size - kept > LONGEST_PARAGRAPH:
            text = "".join(held)
            done, rest = _all_but_last(list(_split_paragraph(text, offset, language)))
            yield from done
            text = text[(rest - offset if rest is not None else len(text)) :]
            held, offset, size, kept = [text], offset + size - len(text), len(text), len(text)
        whole = ends_line
    yield from _split_paragraph("".join(held), offset, language)


class _Items:
    """Knows the items of a list, line by line: 1., 2., 3. or bullets; not numbers that just happen to start a line."""

    _ITEM = re.compile(r"\s*(?:(\d{1,3})[.)]|([•*–-]))\s+\S")

    def __init__(self) -> None:
        self.last: str | None = None  # the number or the bullet of the latest item
        self.before = ""  # the line before, without the spaces around it; empty where a paragraph starts

    def take(self, line: str) -> bool:
        """Take the next line of the text; whether it starts an item."""
        match, before = self._ITEM.match(line), self.before
        self.before = line.strip()
        if not self.before:
            self.last = None
        if match is None:
            return False
        number, bullet = match.groups()
        goes_on = self.last == (str(int(number) - 1) if number else bullet)
        first = number in (None, "1") and (not before or before[-1] in ":.!?")
        if goes_on or first:
            self.last = number or bullet
        return goes_on or first


def _pieces_of_lines(chunks: Iterable[str]) -> Iterator[str]:
    """Lines with their ends, very long ones in pieces; the same however the text came."""
    held: list[str] = []
    size = 0
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if "\n" in chunk or size >= LONGEST_PARAGRAPH:
            *whole, rest = "".join(held).split("\n")
            for line in whole:
                yield from _pieces(line + "\n")
            *pieces, rest = _pieces(rest)
            yield from pieces
            held, size = [rest], len(rest)
    yield "".join(held)


def _pieces(line: str) -> list[str]:
    """A line in pieces of the longest length, the last one shorter and perhaps empty."""
    cuts = range(0, len(line) + 1, LONGEST_PARAGRAPH)
    return [line[cut : cut + LONGEST_PARAGRAPH] for cut in cuts]


def _all_but_last(sentences: list[Sentence]) -> tuple[list[Sentence], int | None]:
    """What of a paragraph can be given out before the rest has come, and where what must wait starts."""
    if not sentences:
        return [], None
    last = sentences.pop()
    if last.end - last.start > LONGEST_PARAGRAPH and len(last.tokens) > 1:
        sentences.append(Sentence(last.tokens[:-1]))
        last = Sentence(last.tokens[-1:])
    if last.end - last.start > LONGEST_PARAGRAPH:
        return [*sentences, last], None
    return sentences, last.start


def _split_paragraph(text: str, offset: int, language: str | None) -> Iterator[Sentence]:
    """The sentences of a paragraph that starts at `offset`."""
    if not text.strip():
        return
    rules = convention(language)
    ends, periods = find_boundaries(text, rules)
    start = 0
    for end in ends:
        tokens = tuple(
            TextToken(token.form, offset + token.start, offset + token.end)
            for token in cut_words(text, start, end, rules, periods)
        )
        if tokens:
            yield Sentence(tokens)
        start = end
