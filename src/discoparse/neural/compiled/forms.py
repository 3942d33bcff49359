"""What the first layer makes of each word form, computed once and kept: characters, word and the layer's weights."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import chain

import numpy as np

from discoparse.neural.compiled.network import CompiledNetwork
from discoparse.neural.forking import renew_lock_in_children
from discoparse.neural.vocabulary import Vocabulary

_MOST_BYTES = 64_000_000  # of a table; beyond that it starts anew. 10,000 forms with 200 units
_MOST_CHARACTERS = 16_000_000  # of the forms, which are 100,000 in ordinary text


class FormTable:
    """A row for every word form seen so far. Safe to use from several threads.

    Rows are only ever appended, and the table never moves; one that is full is replaced, so that those who still read
    it can. Memory is taken as rows are filled. A fork may come at any moment: forms are listed once their rows are
    complete.
    """

    def __init__(self, network: CompiledNetwork, vocabulary: Vocabulary) -> None:
        self.network = network
        self.vocabulary = vocabulary
        self.lock = threading.Lock()
        renew_lock_in_children(self)
        self._clear(0)

    def _clear(self, needed: int) -> None:
        self.rows: dict[str, int] = {}
        self.characters = 0
        count = max(needed, _MOST_BYTES // (4 * self.network.form_size))
        self.table = np.empty((count, self.network.form_size), dtype=np.float32)

    def look_up(self, sentences: Sequence[Sequence[str]]) -> tuple[np.ndarray, np.ndarray]:
        """The row of every word of all sentences, one after the other, and the table with these rows."""
        words = list(chain.from_iterable(sentences))
        with self.lock:
            found = list(map(self.rows.get, words))
            new = list(dict.fromkeys([word for word, row in zip(words, found, strict=True) if row is None]))
            if len(self.rows) + len(new) > len(self.table) or self.characters > _MOST_CHARACTERS:
                new = list(dict.fromkeys(words))
                self._clear(len(new))
                found = [None] * len(words)
            if new:
                self._add(new)
                rows = self.rows
                found = [rows[word] if row is None else row for word, row in zip(words, found, strict=True)]
            return np.array(found, dtype=np.int64), self.table

    def _add(self, forms: list[str]) -> None:
        start, end = len(self.rows), len(self.rows) + len(forms)
        spelled = [self.vocabulary.character_ids(form) for form in forms]
        self.network.forms(
            np.array([character for ids in spelled for character in ids], dtype=np.int32),
            np.array([len(ids) for ids in spelled], dtype=np.int64),
            np.array([self.vocabulary.word_id(form) for form in forms], dtype=np.int32),
            self.table[start:end],
        )
        self.rows.update(zip(forms, range(start, end), strict=True))
        self.characters += sum(map(len, forms))
