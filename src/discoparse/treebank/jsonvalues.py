"""JSON values from a stream, one at a time: the elements of an array, or values one after another."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple, TextIO

from discoparse.treebank.lines import MOST_CHARACTERS
from discoparse.treebank.report import Reading, bad_bytes

CHUNK = 1 << 18  # characters read at a time
DEEPEST = 100  # characters of indentation before a tree
_SPACE = " \t\r\n"


class Value(NamedTuple):
    """A value, the line on which it begins, and the keys that some object in it has twice."""

    line: int
    content: object
    twice: tuple[str, ...]


class Values:
    """The values of a stream; after a broken one, reading goes on at the next line that begins with `{` and is
    indented no deeper, for what is in a tree is."""

    def __init__(self, stream: TextIO, reading: Reading) -> None:
        self.stream, self.reading = stream, reading
        self.buffer, self.position, self.line = "", 0, 1
        self.at_end = False
        self.indent: str | None = ""  # before the next value, None if something else precedes it in its line
        self.twice: list[str] = []  # keys that an object of the current value has twice
        self.decoder = json.JSONDecoder(object_pairs_hook=self.unique)

    def unique(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """An object of these keys and values, of which the last would silently win."""
        made = dict(pairs)
        if len(made) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            self.twice += [key for key, count in counts.items() if count > 1]
        return made

    def fill(self, size: int = CHUNK) -> bool:
        """Forget what was read, and read on; whether there was more."""
        chunk = self.stream.read(size)
        self.at_end = not chunk
        self.buffer, self.position = self.buffer[self.position :] + chunk, 0
        return not self.at_end

    def move(self, position: int) -> None:
        """Go forward, counting lines."""
        self.line += self.buffer.count("\n", self.position, position)
        self.position = position

    def take(self, position: int) -> None:
        """Go forward to the end of a value or a mark, behind which no line begins."""
        self.move(position)
        self.indent = None

    def skip(self, position: int) -> None:
        """Go forward over space."""
        *ended, last = self.buffer[self.position : position].rsplit("\n", 1)
        if ended:
            self.indent = last
        elif self.indent is not None:
            self.indent += last
        self.move(position)

    def next_mark(self) -> str:
        """The next character that is not a space, which is not yet taken; "" at the end."""
        while True:
            position = self.position
            while position < len(self.buffer) and self.buffer[position] in _SPACE:
                position += 1
            self.skip(position)
            if position < len(self.buffer):
                return self.buffer[position]
            if not self.fill():
                return ""

    def __iter__(self) -> Iterator[Value]:
        opened = closed = comma = False  # inside [ … ], after it, after a comma
        while mark := self.next_mark():
            if mark == "[" and not opened and not closed:
                opened = True
                self.take(self.position + 1)
            elif opened and mark in ",]":
                opened, closed, comma = mark == ",", mark == "]", mark == ","
                self.take(self.position + 1)
            else:
                comma = False
                yield from self.value()
        if opened:
            self.reading.problem("the array is not closed: the file may be cut off", self.line)
        elif comma:
            self.reading.problem("there is a comma after the last tree", self.line)

    def value(self) -> Iterator[Value]:
        """The value that begins here, or none when it is broken."""
        while True:
            self.twice.clear()
            try:
                value, end = self.decoder.raw_decode(self.buffer, self.position)
                break
            except RecursionError:
                self.give_up("it is nested too deeply")
                return
            except ValueError as error:
                incomplete = self.is_incomplete(error)
                if not incomplete or len(self.buffer) > MOST_CHARACTERS or not self.fill(max(CHUNK, len(self.buffer))):
                    hint = " (the file may be cut off)" if incomplete else ""
                    self.give_up(str(error).partition(": line")[0] + hint)
                    return
        text, line = self.buffer[self.position : end], self.line
        self.take(end)
        damaged = bad_bytes(text, line)
        if damaged is None:
            yield Value(line, value, tuple(self.twice))
        else:
            self.reading.sentence(None, line)
            self.reading.skip(damaged.message, damaged.line)

    def is_incomplete(self, error: ValueError) -> bool:
        """Whether more text could make sense of it: a string without an end, or an error at the very end."""
        if not isinstance(error, json.JSONDecodeError):
            return False
        return error.msg.startswith("Unterminated") or error.pos >= len(self.buffer.rstrip(_SPACE)) - 8

    def give_up(self, why: str) -> None:
        """Report the value, and go to the next line that begins one."""
        self.reading.sentence(None, self.line)
        self.reading.skip(f"this is not JSON: {why}", self.line)
        deepest = min(len(self.indent or ""), DEEPEST)
        beginning = re.compile(rf"\n[ \t]{{0,{deepest}}}\{{")
        while (found := beginning.search(self.buffer, self.position)) is None:
            self.move(max(self.position, len(self.buffer) - deepest - 1))  # the last characters may belong to one
            if not self.fill():
                self.move(len(self.buffer))
                return
        self.move(found.start() + 1)
        self.indent = ""
