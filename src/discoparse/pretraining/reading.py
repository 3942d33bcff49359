"""Raw text to sentences of word forms as numbers: file after file in blocks, by several processes where it is long."""

from __future__ import annotations

import hashlib
import multiprocessing
import re
import signal
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

from discoparse.errors import UsageError
from discoparse.files.streams import STANDARD, open_text, printable
from discoparse.parser.passages import Notice
from discoparse.parser.reading import CleanText
from discoparse.text import split_text

_BLOCK = 1_000_000  # characters that are read at once
_LONGEST_BLOCK = 8  # blocks without a place to cut
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n")


@dataclass(frozen=True)
class Splitting:
    """How text becomes sentences."""

    language: str | None = None
    pretokenized: bool = False  # a sentence a line, words between spaces
    lines: bool = False  # every line ends a sentence


@dataclass(frozen=True)
class Block:
    """Some sentences: their distinct word forms, the number of each word's form, and the words of each sentence."""

    file: int
    forms: list[str]
    ids: np.ndarray  # [tokens]
    lengths: np.ndarray  # [sentences]


def read_blocks(
    paths: Sequence[str], splitting: Splitting, processes: int = 1, notice: Notice = lambda message: None
) -> Iterator[Block]:
    """The sentences of all files in their order; `notice` is told of what is not text as UTF-8."""
    texts = ((number, text, splitting) for number, path in enumerate(paths) for text in _texts(path, splitting, notice))
    first = list(islice(texts, 2))
    if processes == 1 or len(first) < 2:  # other processes take longer to start than this takes
        yield from (_block(*text) for text in chain(first, texts))
        return
    # Not forked: threads of PyTorch or of the caller would not survive that.
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        waiting: deque[Any] = deque()
        for text in chain(first, texts):
            waiting.append(pool.apply_async(_block, text))
            if len(waiting) > 2 * processes:  # not more: the text may not fit into memory
                yield waiting.popleft().get()
        for result in waiting:
            yield result.get()


def file_digest(path: str) -> str:
    """Tells the content of one file from another's."""
    if path == STANDARD:
        raise UsageError("text to pretrain on is read from files: standard input (-) cannot be read again on --resume")
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while part := stream.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def _texts(path: str, splitting: Splitting, notice: Notice) -> Iterator[str]:
    """A file in parts that end where a sentence ends."""
    held = ""
    with open_text(path) as stream:
        text = CleanText(iter(partial(stream.read, _BLOCK), ""))
        for read in text:
            held += read
            cut = _last_end(held, splitting)
            if cut:
                yield held[:cut]
                held = held[cut:]
    if message := text.message("convert the text to UTF-8"):
        notice(f"warning: {printable(path)}: {message}")
    if held.strip():
        yield held


def _last_end(text: str, splitting: Splitting) -> int:
    """Where to cut a text of which more follows; 0 if there is no good place yet.

    >>> _last_end("a b.\\n\\nc", Splitting()), _last_end("a b.\\nc", Splitting())
    (6, 0)
    >>> _last_end("a\\nb", Splitting(lines=True))
    2
    """
    if splitting.pretokenized or splitting.lines:
        cut = text.rfind("\n") + 1
    else:
        place = text.rfind("\n\n")
        if place < 0:  # blank lines with spaces are rarer
            place = max((match.start() for match in _PARAGRAPH.finditer(text)), default=-2)
        cut = place + 2
    if cut or len(text) < _LONGEST_BLOCK * _BLOCK:
        return cut
    return max(text.rfind("\n"), text.rfind(" ")) + 1 or len(text)


def _block(file: int, text: str, splitting: Splitting) -> Block:
    numbers: dict[str, int] = {}
    ids: list[int] = []
    lengths: list[int] = []
    for words in _sentences(text, splitting):
        ids += [numbers.setdefault(word, len(numbers)) for word in words]
        lengths.append(len(words))
    return Block(file, list(numbers), np.array(ids, dtype=np.int32), np.array(lengths, dtype=np.int32))


def _sentences(text: str, splitting: Splitting) -> Iterable[list[str]]:
    if splitting.pretokenized:
        return filter(None, map(str.split, text.split("\n")))
    return (sentence.forms for sentence in split_text(text, splitting.language, lines=splitting.lines))
