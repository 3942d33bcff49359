"""Character-aware vectors of word forms, computed once for each form and kept."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import torch
from torch import Tensor

from discoparse.neural.batching import form_tensors
from discoparse.neural.forking import renew_lock_in_children
from discoparse.neural.network import Network
from discoparse.neural.vocabulary import Vocabulary

_MOST_FORMS = 200_000  # forms whose vectors are kept; beyond that the cache starts anew
_MOST_CHARACTERS = 16_000_000  # of these forms, which are 2,000,000 in ordinary text
_LEAST_ROWS = 1024
_FORMS_AT_ONCE = {"cpu": 128, "cuda": 4096}  # encoded together, padded to the longest


class FormCache:
    """The vectors c(x) of the word forms seen so far (Section 3.1). Safe to use from several threads.

    Rows are only ever appended, so tables handed out earlier stay valid while others add to them. Tables grow by
    doubling: a new form costs the same however many there are. A fork may come at any moment: the tables are replaced
    together, and forms are listed once their rows are complete.
    """

    def __init__(self, network: Network, vocabulary: Vocabulary, device: torch.device) -> None:
        self.network = network
        self.vocabulary = vocabulary
        self.device = device
        self.lock = threading.Lock()
        renew_lock_in_children(self)
        self._clear()

    def _clear(self) -> None:
        size = self.network.config.form_size
        self.rows: dict[str, int] = {}
        self.characters = 0
        self.tables = (  # vectors [capacity, size] and word ids [capacity]
            torch.empty(_LEAST_ROWS, size, device=self.device),
            torch.empty(_LEAST_ROWS, dtype=torch.long, device=self.device),
        )

    def look_up(self, sentences: Sequence[Sequence[str]]) -> tuple[list[list[int]], Tensor, Tensor]:
        """The row of every word, and the tables with these rows: vectors and word ids."""
        with self.lock:
            if len(self.rows) > _MOST_FORMS or self.characters > _MOST_CHARACTERS:
                self._clear()
            rows = self.rows
            new = [word for word in dict.fromkeys(w for s in sentences for w in s) if word not in rows]
            if new:
                self._add(new)
            return [[rows[word] for word in sentence] for sentence in sentences], *self.tables

    def _add(self, forms: list[str]) -> None:
        forms.sort(key=len)  # batches of like length
        start, end = len(self.rows), len(self.rows) + len(forms)
        self._reserve(end)
        all_vectors, all_words = self.tables
        group = _FORMS_AT_ONCE[self.device.type]
        for k in range(0, len(forms), group):
            characters, lengths = form_tensors(forms[k : k + group], self.vocabulary, self.device)
            vectors = self.network.encoder.form_vectors(characters.long(), lengths)
            all_vectors[start + k : start + k + len(vectors)] = vectors
        all_words[start:end] = torch.tensor([self.vocabulary.word_id(form) for form in forms], device=self.device)
        self.rows.update(zip(forms, range(start, end), strict=True))
        self.characters += sum(map(len, forms))

    def _reserve(self, count: int) -> None:
        """Make room for `count` rows."""
        old_vectors, old_words = self.tables
        capacity = len(old_words)
        if count > capacity:
            grown = max(count, 2 * capacity)
            vectors, words = old_vectors.new_empty(grown, old_vectors.shape[1]), old_words.new_empty(grown)
            vectors[:capacity], words[:capacity] = old_vectors, old_words
            self.tables = vectors, words
