"""What goes into the parser: sentences from raw text or from tokens, with their places in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discoparse.parser.tokens import LONGEST_SENTENCE
from discoparse.text import TextToken, read_pretokenized, segment_words, segments
from discoparse.text.split import LONGEST_PARAGRAPH, Segment
from discoparse.tree import Span, Token

if TYPE_CHECKING:
    from discoparse.neural.limits import Limits

_TOKEN_CHARACTERS = 16  # a sentence of longer words counts as one of more words, so memory is bounded
_LONGEST_LINE = 1 << 20  # characters of a sentence on a line
_LINE = re.compile(r"[^\n]*\n|[^\n]+")  # only \n ends a line: other separators may occur in words

Notice = Callable[[str], None]  # told of what was cut or refused
WholeLine = tuple[str | None, int]  # a line with its end, None if it is too long to be kept, and its length


@dataclass(frozen=True)
class Passage:
    """A sentence to parse. `spans` are the characters of its words; `text` is the text from the first to the last."""

    words: list[str]
    spans: Sequence[Span] | None = None
    text: str | None = None
    limits: Limits | None = None  # constraints on its tree, see `Parser.limits`


def read_text(chunks: Iterable[str], language: str | None, notice: Notice, *, lines: bool = False) -> Iterator[Passage]:
    """The sentences of raw text that comes in pieces; see `split_stream`. Overlong ones are cut."""
    for segment in text_segments(chunks, language, notice, lines=lines):
        yield from read_segment(segment, language, notice)


def text_segments(
    chunks: Iterable[str], language: str | None, notice: Notice, *, lines: bool = False
) -> Iterator[Segment]:
    """The parts of raw text that can be read apart from each other; tells of words so long that they are cut."""

    def cut_word(start: int) -> None:
        notice(
            f"the word at character {start} has more than {LONGEST_PARAGRAPH:,} characters: cut into parts, "
            "each in a sentence of its own"
        )

    return segments(chunks, language, lines=lines, on_cut_word=cut_word)


def read_segment(segment: Segment, language: str | None, notice: Notice) -> Iterator[Passage]:
    """The sentences of one such part."""
    offset, text = segment
    for words, spans in segment_words(text, offset, language):
        if len(words) <= LONGEST_SENTENCE:
            yield Passage(words, spans, text[spans.start - offset : spans.end - offset])
        else:
            yield from _cut(words, spans, text, offset, notice)


def read_lines(pieces: Iterable[str], notice: Notice) -> Iterator[Passage | None]:
    """The sentences of a stream with one on each line, tokens between spaces; None for a line that is blank or
    refused, so there is one result for each line. The stream may be cut anywhere."""
    return read_whole_lines(whole_lines(pieces), notice)


def read_whole_lines(
    lines: Iterable[WholeLine], notice: Notice, first: int = 1, offset: int = 0
) -> Iterator[Passage | None]:
    """The same from whole lines, of which the first has this number and this offset."""
    for number, (line, length) in enumerate(lines, first):
        sentence = None if line is None else read_pretokenized(line, offset)
        if line is None:
            notice(f"line {number} is refused: it has {length:,} characters, more than {_LONGEST_LINE:,}")
            yield None
        elif sentence is None:
            yield None
        elif len(sentence.tokens) > LONGEST_SENTENCE:
            notice(f"line {number} is refused: it has {len(sentence.tokens):,} tokens, more than {LONGEST_SENTENCE:,}")
            yield None
        else:
            text = line[sentence.start - offset : sentence.end - offset]
            yield Passage(sentence.forms, _spans(sentence.tokens), text)
        offset += length


def whole_lines(pieces: Iterable[str]) -> Iterator[WholeLine]:
    """Each line with its end and its length; None instead of one that is too long to be kept."""
    held: list[str] = []
    length = 0
    for piece in pieces:
        for part in _LINE.findall(piece):
            length += len(part)
            if length <= _LONGEST_LINE:
                held.append(part)
            if part.endswith("\n"):
                yield "".join(held) if length <= _LONGEST_LINE else None, length
                held, length = [], 0
    if length:
        yield "".join(held) if length <= _LONGEST_LINE else None, length


def _cut(words: list[str], spans: Sequence[Span], text: str, offset: int, notice: Notice) -> Iterator[Passage]:
    """About equal parts of a sentence that is too long."""
    count = len(words)
    parts = -(-count // LONGEST_SENTENCE)
    notice(
        f"the sentence at characters {spans[0][0]} to {spans[-1][1]} has {count:,} tokens, "
        f"more than {LONGEST_SENTENCE:,}: cut into {parts} parts"
    )
    for part in range(parts):
        first, last = part * count // parts, (part + 1) * count // parts
        place = text[spans[first][0] - offset : spans[last - 1][1] - offset]
        yield Passage(words[first:last], spans[first:last], place)


def _spans(tokens: Iterable[TextToken]) -> list[Span]:
    return [(token.start, token.end) for token in tokens]


def tagged(passage: Passage, tags: Sequence[int], names: Sequence[str]) -> list[Token]:
    """The words of a passage with their tags, of which there may be more than words."""
    tokens = [Token(word, names[tag]) for word, tag in zip(passage.words, tags, strict=False)]
    for token, span in zip(tokens, passage.spans or (), strict=False):
        token.span = span
    return tokens


def passage_size(passage: Passage | None) -> int:
    """How much of a window a passage takes: its tokens, or more where they are very long."""
    if passage is None:
        return 0
    characters = sum(map(len, passage.words)) if passage.text is None else len(passage.text)
    return max(len(passage.words), characters // _TOKEN_CHARACTERS)
