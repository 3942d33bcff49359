"""Character-aware vectors of word forms, computed once for each form and kept."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import torch
from torch import Tensor

from discoparse.neural.batching import form_tensors
from discoparse.neural.network import Network
from discoparse.neural.vocabulary import Vocabulary

_MOST_FORMS = 200_000  # forms whose vectors are kept; beyond that the cache starts anew
_LEAST_ROWS = 1024
_FORMS_AT_ONCE = {"cpu": 128, "cuda": 4096}  # encoded together, padded to the longest


class FormCache:
    """The vectors c(x) of the word forms seen so far (Section 3.1). Safe to use from several threads.

    Rows are only ever appended, so tables handed out earlier stay valid while others add to them. Tables grow by
    doubling: a new form costs the same however many there are.
    """

    def __init__(self, network: Network, vocabulary: Vocabulary, device: torch.device) -> None:
        self.network = network
        self.vocabulary = vocabulary
        self.device = device
        self.lock = threading.Lock()
        self._clear()

    def _clear(self) -> None:
        size = 2 * self.network.config.character_hidden
        self.rows: dict[str, int] = {}
        self.vectors = torch.empty(_LEAST_ROWS, size, device=self.device)  # [capacity, size]
        self.words = torch.empty(_LEAST_ROWS, dtype=torch.long, device=self.device)  # [capacity] word ids

    def look_up(self, sentences: Sequence[Sequence[str]]) -> tuple[list[list[int]], Tensor, Tensor]:
        """The row of every word, and the tables with these rows: vectors and word ids."""
        with self.lock:
            if len(self.rows) > _MOST_FORMS:
                self._clear()
            rows = self.rows
            new = [word for word in dict.fromkeys(w for s in sentences for w in s) if word not in rows]
            if new:
                self._add(new)
            return [[rows[word] for word in sentence] for sentence in sentences], self.vectors, self.words

    def _add(self, forms: list[str]) -> None:
        forms.sort(key=len)  # batches of like length
        start, end = len(self.rows), len(self.rows) + len(forms)
        self._reserve(end)
        group = _FORMS_AT_ONCE[self.device.type]
        for k in range(0, len(forms), group):
            characters, lengths = form_tensors(forms[k : k + group], self.vocabulary, self.device)
            vectors = self.network.encoder.form_vectors(characters.long(), lengths)
            self.vectors[start + k : start + k + len(vectors)] = vectors
        self.words[start:end] = torch.tensor([self.vocabulary.word_id(form) for form in forms], device=self.device)
        self.rows.update(zip(forms, range(start, end), strict=True))

    def _reserve(self, count: int) -> None:
        """Make room for `count` rows."""
        capacity = len(self.words)
        if count > capacity:
            grown = max(count, 2 * capacity)
            vectors, words = self.vectors.new_empty(grown, self.vectors.shape[1]), self.words.new_empty(grown)
            vectors[:capacity], words[:capacity] = self.vectors, self.words
            self.vectors, self.words = vectors, words
