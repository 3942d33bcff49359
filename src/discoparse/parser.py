"""What users call: a trained parser that turns sentences into trees."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor

from discoparse.corpus import by_budget, form_tensors
from discoparse.decoding import Decoded, decode, spell_code, structural_pass
from discoparse.graphs import WIDEST, Graphs, bucket, pad_batch
from discoparse.model_info import ModelInfo
from discoparse.network import Network
from discoparse.tree import Node, Token, Tree
from discoparse.vocabulary import Vocabulary

# Tokens of a batch with padding: large enough to keep the processor busy, small enough for its caches or memory.
BATCH_TOKENS = {"cpu": 2048, "cuda": 16384}
_MOST_FORMS = 200_000  # word forms whose vectors are kept; beyond that the cache starts anew
_FORMS_AT_ONCE = 4096


class FormCache:
    """Character-aware vectors c(x) of the word forms seen so far: a form is encoded once."""

    def __init__(self, network: Network, vocabulary: Vocabulary, device: torch.device) -> None:
        self.network = network
        self.vocabulary = vocabulary
        self.device = device
        self.lock = threading.Lock()
        self._clear()

    def _clear(self) -> None:
        size = 2 * self.network.config.character_hidden
        self.rows: dict[str, int] = {}
        self.vectors = torch.empty(0, size, device=self.device)  # [forms, size]
        self.words = torch.empty(0, dtype=torch.long, device=self.device)  # [forms] word ids

    def look_up(self, sentences: Sequence[Sequence[str]]) -> tuple[list[list[int]], Tensor, Tensor]:
        """Rows of every sentence's words, and the tables that they are rows of: vectors and word ids."""
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
        vectors = [self.vectors]
        for start in range(0, len(forms), _FORMS_AT_ONCE):
            characters, lengths = form_tensors(
                forms[start : start + _FORMS_AT_ONCE], self.vocabulary, self.device
            )
            vectors.append(self.network.encoder.form_vectors(characters.long(), lengths))
        words = torch.tensor([self.vocabulary.word_id(form) for form in forms], device=self.device)
        for form in forms:
            self.rows[form] = len(self.rows)
        self.vectors, self.words = torch.cat(vectors), torch.cat([self.words, words])


class Parser:
    """A network with its vocabulary. Safe to use from several threads."""

    def __init__(
        self,
        network: Network,
        vocabulary: Vocabulary,
        device: str | torch.device = "cpu",
        info: ModelInfo | None = None,
    ) -> None:
        self.device = torch.device(device)
        self.info = info  # of a model that was loaded
        self.network = network.to(self.device).eval()
        self.vocabulary = vocabulary
        self._forms = FormCache(network, vocabulary, self.device)
        self._graphs = (
            Graphs(partial(structural_pass, network.scorers)) if self.device.type == "cuda" else None
        )
        self._chains: dict[int, tuple[str, ...]] = {0: ()}

    @torch.inference_mode()
    def decode(self, sentences: Sequence[Sequence[str]]) -> Iterator[tuple[np.ndarray, Decoded]]:
        """Batches of decisions: which sentences, and what was decided; longest sentences last."""
        for chosen, lengths in self.batches(sentences):
            yield chosen, self._decode([sentences[k] for k in chosen], lengths)

    def batches(self, sentences: Sequence[Sequence[str]]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Sentences of like length together: which, and their lengths; empty ones are left out."""
        lengths = np.array([len(sentence) for sentence in sentences])
        order = np.argsort(lengths, kind="stable")
        order = order[np.searchsorted(lengths[order], 1) :]
        for chosen in by_budget(order, lengths, BATCH_TOKENS[self.device.type]):
            yield chosen, lengths[chosen]

    def clear_cache(self) -> None:
        """Forget the word forms seen so far."""
        self._forms = FormCache(self.network, self.vocabulary, self.device)

    def _decode(self, sentences: Sequence[Sequence[str]], lengths: np.ndarray) -> Decoded:
        first, last, device_lengths = self.encode(sentences, lengths)
        return decode(self.network, first, last, device_lengths, self._structure)

    def _structure(self, tokens: Tensor, lengths: Tensor) -> Sequence[Tensor]:
        """The structural actions of a batch; recorded as a graph where that pays."""
        batch, width = tokens.shape[:2]
        full = BATCH_TOKENS[self.device.type] // width
        if self._graphs is None or width > WIDEST or not full // 4 <= batch <= full:
            return structural_pass(self.network.scorers, tokens, lengths)
        with self._forms.lock:  # a recording has one set of buffers
            outputs = self._graphs(pad_batch(tokens, full), pad_batch(lengths, full))
            return [output[:batch].clone() for output in outputs]

    def encode(
        self, sentences: Sequence[Sequence[str]], lengths: np.ndarray
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Token vectors h(1) and h of the last layer [B, N, D], and the lengths on the device."""
        rows, vectors, words = self._forms.look_up(sentences)
        width = int(lengths.max())
        padded = np.zeros((len(rows), width if self._graphs is None else bucket(width)), dtype=np.int64)
        for target, row in zip(padded, rows, strict=True):
            target[: len(row)] = row
        index = torch.from_numpy(padded).to(self.device)
        device_lengths = torch.from_numpy(lengths).to(self.device)
        first, last = self.network.encoder.token_vectors(words[index], vectors[index], device_lengths)
        return first, last, device_lengths

    def parse_tokens(self, sentences: Iterable[Sequence[str]]) -> list[Tree]:
        """A tree for each sentence, in order; sentences are lists of words."""
        sentences = list(sentences)
        if any(len(sentence) == 0 for sentence in sentences):
            raise ValueError("a sentence without words has no tree")
        trees: list[Tree | None] = [None] * len(sentences)
        tags = self.vocabulary.tags
        for chosen, decoded in self.decode(sentences):
            for b, k in enumerate(chosen.tolist()):
                words = sentences[k]
                tokens = [Token(word, tags[tag]) for word, tag in zip(words, decoded.tags[b], strict=False)]
                chains = [self.chain(code) for code in decoded.labels[b][: 2 * len(words) - 1]]
                trees[k] = build_tree(tokens, decoded.actions[b], chains)
        return [tree for tree in trees if tree is not None]

    def chain(self, code: int) -> tuple[str, ...]:
        """The labels that a code stands for, from the top down."""
        found = self._chains.get(code)
        if found is None:
            labels = self.vocabulary.labels
            ids = spell_code(code, len(labels) + 1)
            found = self._chains[code] = tuple(name for k in ids for name in labels[k - 1])
        return found


def build_tree(tokens: list[Token], actions: Sequence[int], chains: Sequence[tuple[str, ...]]) -> Tree:
    """Replay a derivation: slots of the structural actions, and the labels of each focus from the top down."""
    memory: list[list[Node | int]] = [[] for _ in tokens]  # by left index, the parts of each item in order
    focus: list[Node | int] = []
    firsts: list[int] = []  # the first token of each part of the focus
    first_of: list[list[int]] = [[] for _ in tokens]
    left = upcoming = 0
    for slot, chain in zip(actions, chains, strict=False):
        if slot == upcoming:
            memory[left], first_of[left] = focus, firsts
            focus, firsts, left = [slot], [slot], slot
            upcoming += 1
        else:
            parts = sorted(zip(first_of[slot] + firsts, memory[slot] + focus, strict=True), key=_first)
            firsts, focus = [first for first, _ in parts], [part for _, part in parts]
            left = min(left, slot)
        for label in reversed(chain):
            focus, firsts = [Node(label, focus)], [left]
    (root,) = focus
    assert isinstance(root, Node)
    return Tree(tokens, root)


def _first(part: tuple[int, Node | int]) -> int:
    return part[0]
