"""Raw text to sentences of tokens: a whole text at once, or a stream of any length in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from discoparse.text.boundaries import find_boundaries
from discoparse.text.convention import convention
from discoparse.text.sentence import Sentence, Spans, TextToken
from discoparse.text.words import cut_words

# A paragraph longer than this is cut where a sentence seems to end, by what stands around that place.
LONG_PARAGRAPH = 20_000
LONGEST_PARAGRAPH = 200_000  # it is cut here at the latest: between words, or else in a word
_NEARBY = (1000, 5000)  # characters among which an end of a sentence is looked for
_CONTEXT = 300  # characters on either side by which it is judged
_SPACE = re.compile(r"\s+")

Segment = tuple[int, str]  # the offset of a part of a text, and the part


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
    for offset, text in segments(chunks, language, lines=lines):
        yield from split_segment(text, offset, language)


def segments(
    chunks: Iterable[str],
    language: str | None = None,
    *,
    lines: bool = False,
    on_cut_word: Callable[[int], None] = lambda start: None,
) -> Iterator[Segment]:
    """The parts of a text between which no sentence goes on, to be split apart from each other, with their offsets.

    These are paragraphs, or lines, or parts of a long paragraph. Finding them takes little time, so that the parts of a
    large text can be given to several processes. `on_cut_word` is told where a word starts that is too long to be kept
    whole, once for each.
    """
    items = _Items()
    held: list[str] = []
    offset = size = 0  # of what is held
    patience = LONG_PARAGRAPH  # the size at which an end of a sentence is looked for
    whole = True  # whether the next piece starts a line
    cut_at = -1  # where the last cut inside a word was

    def flush(text: str) -> Iterator[Segment]:
        if text and not text.isspace():
            yield offset, text

    for piece in _pieces_of_lines(chunks):
        if whole and items.take(piece) and held:
            yield from flush("".join(held))
            held, offset, size, patience = [], offset + size, 0, LONG_PARAGRAPH
        held.append(piece)
        size += len(piece)
        ends_line = piece.endswith("\n")
        if ends_line and (lines or (whole and not piece.strip())):
            yield from flush("".join(held))
            held, offset, size, patience = [], offset + size, 0, LONG_PARAGRAPH
        elif size > min(patience, LONGEST_PARAGRAPH):
            text = "".join(held)
            cut = _end_of_sentence(text, language)
            if not cut and size > LONGEST_PARAGRAPH:
                cut = _between_words(text)
                if not cut:
                    cut = len(text)
                    if cut_at != offset:  # or it is a further part of the same word
                        on_cut_word(offset + len(text) - len(text.lstrip()))
                    cut_at = offset + cut
            if cut:
                yield from flush(text[:cut])
                held, offset, size = [text[cut:]], offset + cut, len(text) - cut
            patience = size + LONG_PARAGRAPH
        whole = ends_line
    yield from flush("".join(held))


def _end_of_sentence(text: str, language: str | None) -> int:
    """Where a sentence ends near the end of a long text, by what stands around it; 0 if no place is found."""
    for size in _NEARBY:
        start = max(0, len(text) - size)
        space = _SPACE.search(text, start) if start else None
        start = space.end() if space else start
        ends, _ = find_boundaries(text[start:], convention(language))
        first, last = start + (_CONTEXT if start else 1), len(text) - _CONTEXT
        found = next((start + end for end in reversed(ends) if first <= start + end <= last), 0)
        if found:
            return found
    return 0


def _between_words(text: str) -> int:
    """Where the last word of a text starts, or its end if it is blank; 0 if it has one word only."""
    start = len(text) - len(text.lstrip())
    *_, last = [start if start == len(text) else 0, *(space.end() for space in _SPACE.finditer(text, start))]
    return last


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


def split_segment(text: str, offset: int, language: str | None) -> Iterator[Sentence]:
    """The sentences of a segment that starts at `offset`."""
    for forms, spans in segment_words(text, offset, language):
        yield Sentence(tuple(TextToken(form, *span) for form, span in zip(forms, spans, strict=True)))


def segment_words(text: str, offset: int, language: str | None) -> Iterator[tuple[list[str], Spans]]:
    """The same as the forms of tokens and their places."""
    if not text.strip():
        return
    rules = convention(language)
    ends, periods = find_boundaries(text, rules)
    start = 0
    for end in ends:
        forms, spans = cut_words(text, start, end, rules, periods, offset)
        if forms:
            yield forms, spans
        start = end
