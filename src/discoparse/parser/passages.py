"""What goes into the parser: sentences from raw text or from tokens, with their places in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discoparse.parser.tokens import LONGEST_SENTENCE
from discoparse.text import Sentence, read_pretokenized, split_stream
from discoparse.text.sentence import TextToken
from discoparse.text.split import LONGEST_PARAGRAPH
from discoparse.tree import Span

if TYPE_CHECKING:
    from discoparse.neural.limits import Limits

_LONGEST_LINE = 1 << 20  # characters of a sentence on a line
_LINE = re.compile(r"[^\n]*\n|[^\n]+")  # only \n ends a line: other separators may occur in words

Notice = Callable[[str], None]  # told of what was cut or refused


@dataclass(frozen=True)
class Passage:
    """A sentence to parse. `spans` are the characters of its words; `text` is the text from the first to the last."""

    words: list[str]
    spans: list[Span] | None = None
    text: str | None = None
    limits: Limits | None = None  # constraints on its tree, see `Parser.limits`


def read_text(chunks: Iterable[str], language: str | None, notice: Notice, *, lines: bool = False) -> Iterator[Passage]:
    """The sentences of raw text that comes in pieces; see `split_stream`. Overlong ones are cut."""
    text = _RecentText(chunks)
    for sentence in _watched(split_stream(text, language, lines=lines), notice):
        yield from (_passage(piece, text) for piece in _cut(sentence, notice))


def _watched(sentences: Iterable[Sentence], notice: Notice) -> Iterator[Sentence]:
    """The same sentences; tells of words so long that `split_stream` has cut them, once for each."""
    before: TextToken | None = None  # the token before, if it is very long
    told = False
    for sentence in sentences:
        goes_on = before is not None and before.end == sentence.start
        if before is not None and goes_on and not told:
            notice(
                f"the word at character {before.start} has more than {LONGEST_PARAGRAPH:,} characters: cut into parts, "
                "each in a sentence of its own"
            )
        told = goes_on
        last = sentence.tokens[-1]
        before = last if last.end - last.start >= LONGEST_PARAGRAPH else None
        yield sentence


def read_lines(pieces: Iterable[str], notice: Notice) -> Iterator[Passage | None]:
    """The sentences of a stream with one on each line, tokens between spaces; None for a line that is blank or
    refused, so there is one result for each line. The stream may be cut anywhere."""
    offset = 0
    for number, (line, length) in enumerate(_whole_lines(pieces), 1):
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


def _whole_lines(pieces: Iterable[str]) -> Iterator[tuple[str | None, int]]:
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


def _cut(sentence: Sentence, notice: Notice) -> Iterator[Sentence]:
    """The sentence, or about equal parts of one that is too long."""
    count = len(sentence.tokens)
    parts = -(-count // LONGEST_SENTENCE)
    if parts == 1:
        yield sentence
        return
    notice(
        f"the sentence at characters {sentence.start} to {sentence.end} has {count:,} tokens, "
        f"more than {LONGEST_SENTENCE:,}: cut into {parts} parts"
    )
    for part in range(parts):
        yield Sentence(sentence.tokens[part * count // parts : (part + 1) * count // parts])


class _RecentText:
    """Passes on the pieces of a text and keeps them until they were asked for."""

    def __init__(self, chunks: Iterable[str]) -> None:
        self.chunks = chunks
        self.new: list[str] = []
        self.held = ""
        self.start = 0  # offset of what is held

    def __iter__(self) -> Iterator[str]:
        for chunk in self.chunks:
            self.new.append(chunk)
            yield chunk

    def between(self, start: int, end: int) -> str:
        """The characters start..end-1; nothing before them will be asked for."""
        if self.new:
            self.held, self.new = "".join([self.held, *self.new]), []
        if start - self.start > len(self.held) // 2:  # rarely, so the cost stays linear
            self.held, self.start = self.held[start - self.start :], start
        return self.held[start - self.start : end - self.start]


def _passage(sentence: Sentence, text: _RecentText) -> Passage:
    return Passage(sentence.forms, _spans(sentence.tokens), text.between(sentence.start, sentence.end))


def _spans(tokens: Iterable[TextToken]) -> list[Span]:
    return [(token.start, token.end) for token in tokens]
