"""Text as the numbers of its word forms in memory-mapped files, made once and used by every epoch and every training.

ids.bin       the form of every word, one sentence after the other (32 bits each)
lengths.bin   the words of every sentence (32 bits each)
forms.json    the word forms in the order of their numbers
facts.json    of which files it was made, and how; written last
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from discoparse.errors import DiscoparseError, UsageError
from discoparse.files.atomic import replace_file, replacing
from discoparse.files.lock import Locked, exclusive
from discoparse.files.sealed import decode_json, encode_json
from discoparse.files.streams import printable, uncompressed
from discoparse.parser.passages import Notice
from discoparse.pretraining.reading import Block, Splitting, file_digest, read_blocks

_VERSION = 1  # raised when sentences are split in another way, or the files change
_IDS, _LENGTHS, _FORMS, _FACTS, _LOCK = "ids.bin", "lengths.bin", "forms.json", "facts.json", ".lock"
_AT_ONCE = 1 << 24  # words that are counted at once
_HELD_BLOCK = 10  # neighbouring sentences that are held out together
_MOST_HELD = 0.02  # of all sentences

Told = Callable[[int], None]  # is told how many words were read


@dataclass(frozen=True)
class TextCorpus:
    """Sentences of word forms as numbers."""

    forms: list[str]
    ids: np.ndarray  # [tokens] memory-mapped
    lengths: np.ndarray  # [sentences]
    facts: dict[str, Any]

    @property
    def fingerprint(self) -> str:
        """Tells one text from another."""
        return str(self.facts["digest"])

    @cached_property
    def starts(self) -> np.ndarray:
        """The place of each sentence's first word."""
        ends = np.cumsum(self.lengths, dtype=np.int64)
        return ends - self.lengths

    @cached_property
    def counts(self) -> np.ndarray:
        """How often each form occurs."""
        counts = np.zeros(len(self.forms), dtype=np.int64)
        for start in range(0, len(self.ids), _AT_ONCE):
            counts += np.bincount(self.ids[start : start + _AT_ONCE], minlength=len(self.forms))
        return counts

    def describe(self, paths: Sequence[str]) -> tuple[list[dict[str, Any]], list[str]]:
        """The size of each file for a card, and the paths of the files."""
        sizes = zip(paths, self.facts["sentences"], self.facts["tokens"], strict=True)
        names = [printable(path) for path in paths]
        return [
            {"set": text_name(path), "sentences": sentences, "tokens": tokens, "times": 1}
            for path, sentences, tokens in sizes
        ], names

    def held_out(self, most: int) -> np.ndarray:
        """Which sentences are held out: blocks of neighbours, evenly spread over the text; at least one sentence."""
        count = len(self.lengths)
        wanted = max(1, min(most, round(_MOST_HELD * count)))
        block = min(_HELD_BLOCK, wanted)
        chosen = np.zeros(count, dtype=bool)
        for start in np.linspace(0, count - block, max(1, wanted // block)).astype(np.int64):
            chosen[start : start + block] = True
        return chosen


def text_name(path: str) -> str:
    """What a text is called: its file without endings.

    >>> text_name("texts/novels.txt.xz")
    'novels'
    """
    return uncompressed(printable(Path(path).name)).removesuffix(".txt")


def prepare_corpus(
    folder: Path,
    paths: Sequence[str],
    splitting: Splitting,
    processes: int = 1,
    told: Told = lambda words: None,
    notice: Notice = lambda message: None,
) -> TextCorpus:
    """The corpus of these files in `folder`: what is there already if it was made of the same, or a new one."""
    wanted = {
        "version": _VERSION,
        "files": [{"file": printable(Path(path).name), "sha256": file_digest(path)} for path in paths],
        "language": splitting.language,
        "pretokenized": splitting.pretokenized,
        "lines": splitting.lines,
    }
    facts = _facts(folder)
    if any(facts.get(name) != value for name, value in wanted.items()):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with exclusive(folder / _LOCK):
                (folder / _FACTS).unlink(missing_ok=True)
                blocks = read_blocks(paths, splitting, processes, notice)
                facts = _write(folder, paths, blocks, told, wanted)
        except Locked:
            raise UsageError(f"{folder}: another program is preparing text there; wait for it") from None
    return _open(folder, facts)


def _facts(folder: Path) -> dict[str, Any]:
    try:
        facts = json.loads((folder / _FACTS).read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def _write(
    folder: Path, paths: Sequence[str], blocks: Iterable[Block], told: Told, wanted: dict[str, Any]
) -> dict[str, Any]:
    forms: dict[str, int] = {}
    digest = hashlib.sha256()
    sizes = np.zeros((len(paths), 2), dtype=np.int64)  # sentences and tokens of each file
    # New files: a training that goes on with the old text has these in its memory.
    with replacing(folder / _IDS) as ids, replacing(folder / _LENGTHS) as lengths:
        for block in blocks:
            number = np.array([forms.setdefault(form, len(forms)) for form in block.forms], dtype=np.int32)
            words = number[block.ids].tobytes() if len(block.ids) else b""
            ids.write(words)
            lengths.write(block.lengths.tobytes())
            digest.update(words)
            digest.update(block.lengths.tobytes())
            sizes[block.file] += len(block.lengths), len(block.ids)
            told(int(sizes[:, 1].sum()))
    for path, (sentences, _) in zip(paths, sizes, strict=True):
        if not sentences:
            raise DiscoparseError(f"{printable(path)}: no sentences in it, nothing to train on")
    content = encode_json(list(forms), indent=0)
    digest.update(content)
    replace_file(folder / _FORMS, content)
    facts = {
        **wanted,
        "sentences": sizes[:, 0].tolist(),
        "tokens": sizes[:, 1].tolist(),
        "digest": digest.hexdigest(),
    }
    replace_file(folder / _FACTS, encode_json(facts))
    return facts


def _open(folder: Path, facts: dict[str, Any]) -> TextCorpus:
    try:
        forms = decode_json((folder / _FORMS).read_bytes())
        lengths = np.fromfile(folder / _LENGTHS, dtype=np.int32)
        ids = np.memmap(folder / _IDS, dtype=np.int32, mode="r")
    except (OSError, ValueError) as error:
        raise DiscoparseError(f"{folder}: the prepared text cannot be read ({error}); remove the folder") from None
    if (len(lengths), len(ids)) != (sum(facts["sentences"]), sum(facts["tokens"])):
        raise DiscoparseError(f"{folder}: the prepared text is not what was written; remove the folder")
    return TextCorpus(forms, ids, lengths, facts)
