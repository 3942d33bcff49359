"""The text of each tree in a file of Penn Treebank brackets, and where to go on after a tree that does not close."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TextIO

from discoparse.treebank.bracket_syntax import SPACE
from discoparse.treebank.lines import TOO_LONG, numbered_lines
from discoparse.treebank.report import Reading

LONGEST_TREE = 1 << 20  # characters over several lines, after which a tree that does not close is given up
ROOTS = ("ROOT", "TOP", "S1", "VROOT")  # labels of roots, never of phrases
_EMPTY_OUTER = re.compile(r"\([ \t]*(\(|$)")  # at the start of a line: a new tree, whatever came before
_OPENING = re.compile(r"[ \t]*\([^ \t\r\n()]*")
# Comments, headers of the Penn Treebank, markup around the trees of the Chinese Treebank, ends of texts in ATIS.
_NO_TREE = re.compile(r"#|//|\*x\*|<[^(]*>$|\((TOP)?[ \t]+END_OF_TEXT_UNIT[ \t]*\)$")
_WORD = re.compile(r"\([^ \t\r\n()]+[ \t]+[^ \t\r\n()]")


@dataclass
class _Piece:
    """Some lines of a tree that does not close, from one that may begin another tree."""

    line: int
    lines: list[str]

    @property
    def text(self) -> str:
        """The tree, if the brackets close: without the comments behind it."""
        lines = list(self.lines)
        while lines and not _depth(lines[-1]) and _is_comment(lines[-1], False)[1]:
            lines.pop()
        return "".join(lines)

    @property
    def depth(self) -> int:
        """How many brackets are open after it."""
        return sum(map(_depth, self.lines))

    @cached_property
    def has_words(self) -> bool:
        return any(_WORD.search(line) for line in self.lines)


class Blocks:
    """Line and text of whole trees: lines until the brackets close. Headers, comments and markup are skipped.

    A tree that does not close ends where the next one must begin: at a line that opens with an empty outer bracket or
    with the label of a root, or after a blank line, in a file where these stand between trees and nowhere else. Where
    no such line follows, the lines are cut at those that open with a bracket and are indented like the first. The
    pieces whose brackets close are trees, unless they may as well be parts of the broken tree.
    """

    def __init__(self, stream: TextIO, reading: Reading) -> None:
        self.stream, self.reading = stream, reading
        self.inner_lines_open = False  # some sound tree has inner lines that look like the first line of a tree
        self.closed = 0  # sound trees so far
        self.begun = self.after_blank = 0  # trees so far, sound or not, and how many of them follow a blank line
        self.blank_inside = False  # some sound tree has a blank line
        self.lost: _Piece | None = None  # a tree that was given up, whose end is not in sight
        self.clear()

    def clear(self) -> None:
        """Begin the next tree."""
        self.lines: list[str] = []
        self.start, self.depth, self.size = 0, 0, 0

    def __iter__(self) -> Iterator[tuple[int, str]]:
        comment = False  # inside /* … */ or /~* … *~/ of CorpusSearch
        blank = False  # whether the line before was blank, or a comment
        for number, line in numbered_lines(self.stream):
            if line is None:
                yield from self.salvaged(f" before line {number}, which is too long", goes_on=True)
                self.reading.sentence(None, number)
                self.reading.skip(TOO_LONG, number)
                continue
            if self.depth > 0 and (_EMPTY_OUTER.match(line) or self.must_begin(line, blank)):
                yield from self.salvaged()
            elif self.size > LONGEST_TREE:
                yield from self.salvaged(f" within {LONGEST_TREE:,} characters", goes_on=True)
            if self.lost is not None:
                if not _EMPTY_OUTER.match(line) and not self.is_tree(self.lost, _Piece(number, [line])):
                    continue
                self.lost = None
            if self.depth == 0:
                comment, skipped = _is_comment(line, comment)
                if skipped:
                    if line.strip(SPACE):
                        self.reading.not_read("bracket", "lines of comment")
                    blank = True
                    continue
                if "(" not in line:
                    yield number, line  # text outside of any tree, which is reported as that when it is parsed
                    continue
                self.start = number
                self.after_blank += blank and self.begun > 0
                self.begun += 1
            blank = not line.strip(SPACE)
            self.add(line)
            if self.depth <= 0:
                self.closed += 1
                mark = _mark(self.lines[0])
                self.inner_lines_open |= any(line.startswith(mark) for line in self.lines[1:])
                self.blank_inside |= any(not line.strip(SPACE) for line in self.lines)
                yield self.start, "".join(self.lines)
                self.clear()
        yield from self.salvaged(" (the file may be cut off)")

    def must_begin(self, line: str, blank: bool) -> bool:
        """Whether a line before the end of a tree begins another one: it looks like the first line, with the label of
        the root, and trees in this file have no inner lines like that, or roots have none; or it follows a blank line,
        as all trees of this file do and no line within them."""
        first = self.lines[0]
        if not line.startswith(_mark(first)):
            return False
        if blank and self.closed > 0 and not self.blank_inside and 0 < self.after_blank == self.begun - 1:
            return True
        if _opening(line) != _opening(first):
            return False
        return _opening(first).strip(" \t(") in ROOTS or (self.closed > 0 and not self.inner_lines_open)

    def add(self, line: str) -> None:
        """The next line of the current tree."""
        self.lines.append(line)
        self.size += len(line)
        self.depth += _depth(line)

    def salvaged(self, where: str = "", goes_on: bool = False) -> Iterator[tuple[int, str]]:
        """Give up the tree that does not close, if there is one, and return the trees that are found in its lines.

        If the file `goes_on` without a new tree in sight, the last piece may be the beginning of one.
        """
        if self.depth <= 0:
            return
        broken, *pieces = self.cut()
        lack = "1 closing bracket" if self.depth == 1 else f"{self.depth} closing brackets"
        accepted = [piece for piece in pieces if self.is_tree(broken, piece)]
        end = self.start + len(self.lines) - 1
        extent = "" if len(accepted) == len(pieces) else f"; what follows up to line {end} may belong to it"
        self.reading.sentence(None, self.start)
        self.reading.skip(f"the tree that begins here lacks {lack}{where}{extent}", self.start)
        self.clear()
        if goes_on and (not accepted or accepted[-1] is not pieces[-1]):
            self.lost = broken
        elif goes_on and accepted[-1].depth > 0:
            begun = accepted.pop()
            self.start = begun.line
            for line in begun.lines:
                self.add(line)
        for piece in accepted:
            if piece.depth == 0:
                yield piece.line, piece.text
            else:
                self.reading.sentence(None, piece.line)
                self.reading.skip("the brackets of the tree that begins here do not close", piece.line)

    def cut(self) -> list[_Piece]:
        """The lines read so far, cut before each that may begin a tree."""
        mark = _mark(self.lines[0])
        starts = [k for k, line in enumerate(self.lines) if not k or line.startswith(mark)]
        ends = [*starts[1:], len(self.lines)]
        return [_Piece(self.start + k, self.lines[k:end]) for k, end in zip(starts, ends, strict=True)]

    def is_tree(self, broken: _Piece, piece: _Piece) -> bool:
        """Whether a piece is a tree of its own: its root has the label of the broken one or, in a file whose trees
        have no inner lines that look like first lines, whatever label it has.

        Before the first sound tree this is not known; then a first line with words tells, since trees that are spread
        over lines without indentation have only a label there.
        """
        if not piece.lines[0].startswith(_mark(broken.lines[0])):
            return False
        known = self.closed > 0 or broken.has_words
        return _opening(piece.lines[0]) == _opening(broken.lines[0]) or (known and not self.inner_lines_open)


def _depth(line: str) -> int:
    """How many brackets a line opens and does not close."""
    return line.count("(") - line.count(")")


def _mark(line: str) -> str:
    """What a line begins with that opens with a bracket and is indented like this one."""
    return line[: len(line) - len(line.lstrip(" \t"))] + "("


def _opening(line: str) -> str:
    """The bracket with which a line opens, and its label."""
    found = _OPENING.match(line)
    return found.group() if found else ""


def _is_comment(line: str, inside: bool) -> tuple[bool, bool]:
    """Whether a comment is open after this line between trees, and whether the line is to be skipped."""
    text = line.strip(SPACE)
    if inside:
        return not text.endswith("*/") and not text.endswith("*~/"), True
    if text.startswith(("/*", "/~*")):
        return not text.endswith(("*/", "*~/")), True
    return False, not text or bool(_NO_TREE.match(text))
