"""What users call: a trained parser that turns sentences into trees."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from discoparse.errors import DiscoparseError
from discoparse.model.info import ModelInfo
from discoparse.neural.batching import LONGEST_SENTENCE, by_budget, form_tensors
from discoparse.neural.building import build_tree
from discoparse.neural.decoding import Decoded, FoldedScorers, Pending, decode, spell_code, structural_pass
from discoparse.neural.few import FEW, FewScorers, few_pass
from discoparse.neural.network import Network, NetworkConfig
from discoparse.neural.vocabulary import Vocabulary
from discoparse.parser.passages import Notice, Passage, read_text
from discoparse.parser.windows import windows
from discoparse.tree import Token, Tree

# Tokens of a batch with padding: large enough to keep the processor busy, small enough for its caches or memory.
BATCH_TOKENS = {"cpu": 3072, "cuda": 32768}
# Tokens that a stream is read ahead, to be sorted by length.
WINDOW_TOKENS = {"cpu": 16384, "cuda": 131072}
_MOST_FORMS = 200_000  # word forms whose vectors are kept; beyond that the cache starts anew
_FORMS_AT_ONCE = {"cpu": 128, "cuda": 4096}  # a group is as long as its longest form


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
        group = _FORMS_AT_ONCE[self.device.type]
        for start in range(0, len(forms), group):
            characters, lengths = form_tensors(forms[start : start + group], self.vocabulary, self.device)
            vectors.append(self.network.encoder.form_vectors(characters.long(), lengths))
        words = torch.tensor([self.vocabulary.word_id(form) for form in forms], device=self.device)
        for form in forms:
            self.rows[form] = len(self.rows)
        self.vectors, self.words = torch.cat(vectors), torch.cat([self.words, words])


class Parser:
    """A network with its vocabulary. Picklable, and safe to use from several threads."""

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
        self._chains = Chains(vocabulary)
        self.clear_cache()

    def clear_cache(self) -> None:
        """Forget what was computed with the network's parameters; for those who change them."""
        self._forms = FormCache(self.network, self.vocabulary, self.device)
        with torch.inference_mode():
            self._folded = FoldedScorers.of(self.network.scorers) if self.device.type == "cpu" else None
            self._few = None if self._folded is None else FewScorers(self._folded)

    def __reduce__(self) -> tuple[Any, ...]:
        """Locks and caches stay at home; on a machine without a GPU, the copy uses the processor."""
        parameters = {name: tensor.cpu() for name, tensor in self.network.state_dict().items()}
        return _revive, (parameters, self.network.config, self.vocabulary, self.device.type, self.info)

    @property
    def language(self) -> str | None:
        """The model's language, by which raw text is split."""
        return None if self.info is None else self.info.language

    # -- what users call ------------------------------------------------------------------------------------------

    def parse(self, text: str, *, lines: bool = False) -> list[Tree]:
        """The trees of a text's sentences. With `lines`, every line end ends a sentence; otherwise blank lines do."""
        if not isinstance(text, str):
            raise TypeError(f"`parse` takes a text, not {type(text).__name__}: `parse_tokens` is for lists of words")
        return _trees(self._parse_window(list(read_text([text], self.language, _warn, lines=lines))))

    def parse_tokens(self, sentences: Iterable[Sequence[str]]) -> list[Tree]:
        """A tree for each sentence, in order; sentences are lists of words."""
        return _trees(self._parse_window(list(_checked(sentences))))

    def stream(self, pieces: Iterable[str], *, lines: bool = False, notice: Notice | None = None) -> Iterator[Tree]:
        """The trees of a text that comes in pieces, as lines of a file, and may be of any length.

        `notice` is told of sentences that had to be cut; without it they are warned of.
        """
        passages = read_text(pieces, self.language, notice or _warn, lines=lines)
        return (tree for tree in self.parse_passages(passages) if tree is not None)

    def stream_tokens(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tree | None]:
        """A tree for each sentence of a stream of any length, in order; None for one without words or with more than
        `LONGEST_SENTENCE`."""
        lists = _word_lists(sentences)
        return self.parse_passages(
            Passage(list(words)) if 0 < len(words) <= LONGEST_SENTENCE else None for words in lists
        )

    def parse_passages(
        self, passages: Iterable[Passage | None], idle: Callable[[], bool] | None = None
    ) -> Iterator[Tree | None]:
        """A tree for each passage of a stream, in order, and None for None; trees know the places of their words.

        Passages are read ahead and parsed together, but not while the stream is `idle`.
        """
        for window in windows(passages, _size, WINDOW_TOKENS[self.device.type], idle):
            yield from self._parse_window(window)

    # -- how it is done -------------------------------------------------------------------------------------------

    def _parse_window(self, window: Sequence[Passage | None]) -> list[Tree | None]:
        """Parse what fits into memory at once, in batches of sentences of like length."""
        trees: list[Tree | None] = [None] * len(window)
        tags = self.vocabulary.tags
        sentences = [[] if passage is None else passage.words for passage in window]
        for chosen, decoded in self.decode(sentences, probabilities=True):
            assert decoded.probabilities is not None
            for b, k in enumerate(chosen.tolist()):
                passage = window[k]
                assert passage is not None
                tokens = [Token(word, tags[tag]) for word, tag in zip(passage.words, decoded.tags[b], strict=False)]
                for token, span in zip(tokens, passage.spans or (), strict=False):
                    token.span = span
                chains = [self._chains[code] for code in decoded.labels[b][: 2 * len(tokens) - 1]]
                tree = build_tree(tokens, decoded.actions[b], chains, decoded.probabilities[b])
                tree.text = passage.text
                trees[k] = tree
        return trees

    @torch.inference_mode()
    def decode(
        self, sentences: Sequence[Sequence[str]], probabilities: bool = False
    ) -> Iterator[tuple[np.ndarray, Decoded]]:
        """Batches of decisions: which sentences, and what was decided; longest sentences last, empty ones never."""
        lengths = np.array([len(sentence) for sentence in sentences])
        order = np.argsort(lengths, kind="stable")
        order = order[np.searchsorted(lengths[order], 1) :]
        before: tuple[np.ndarray, Pending] | None = None
        for chosen in by_budget(order, lengths, BATCH_TOKENS[self.device.type]):
            # A GPU starts on this batch while the host unpacks the one before.
            started = self._decode([sentences[k] for k in chosen], lengths[chosen], probabilities)
            if before is not None:
                yield before[0], before[1].wait()
            before = chosen, started
        if before is not None:
            yield before[0], before[1].wait()

    def _decode(self, sentences: Sequence[Sequence[str]], lengths: np.ndarray, probabilities: bool) -> Pending:
        first, last, device_lengths = self.encode(sentences, lengths)
        return decode(self.network, first, last, device_lengths, self._structure, probabilities)

    def _structure(self, tokens: Tensor, lengths: Tensor) -> Sequence[Tensor]:
        """The structural actions of a batch."""
        if self._few is not None and len(tokens) <= FEW:
            return few_pass(self._few, tokens, lengths)
        return structural_pass(self.network.scorers, tokens, lengths, self._folded)

    def encode(self, sentences: Sequence[Sequence[str]], lengths: np.ndarray) -> tuple[Tensor, Tensor, Tensor]:
        """Token vectors h(1) and h of the last layer [B, N, D], and the lengths on the device."""
        rows, vectors, words = self._forms.look_up(sentences)
        padded = np.zeros((len(rows), int(lengths.max())), dtype=np.int64)
        for target, row in zip(padded, rows, strict=True):
            target[: len(row)] = row
        index = torch.from_numpy(padded).to(self.device)
        device_lengths = torch.from_numpy(lengths).to(self.device)
        first, last = self.network.encoder.token_vectors(words[index], vectors[index], device_lengths)
        return first, last, device_lengths


class Chains(dict[int, tuple[str, ...]]):
    """The labels, from the top down, that codes of the labeller stand for (see `spell_code`); none for code 0."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.labels = vocabulary.labels

    def __missing__(self, code: int) -> tuple[str, ...]:
        ids = spell_code(code, len(self.labels) + 1)
        self[code] = tuple(name for k in ids for name in self.labels[k - 1])
        return self[code]


def _trees(found: Iterable[Tree | None]) -> list[Tree]:
    return [tree for tree in found if tree is not None]


def _size(passage: Passage | None) -> int:
    return 0 if passage is None else len(passage.words)


def _checked(sentences: Iterable[Sequence[str]]) -> Iterator[Passage]:
    """Sentences that can be parsed; raises an error for others."""
    for number, words in enumerate(_word_lists(sentences), 1):
        if not 0 < len(words) <= LONGEST_SENTENCE:
            raise DiscoparseError(f"sentence {number} has {len(words):,} words; a tree needs 1 to {LONGEST_SENTENCE:,}")
        yield Passage(list(words))


def _word_lists(sentences: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
    """The sentences, unless one is a string: its characters are no words."""
    for number, words in enumerate(sentences, 1):
        if isinstance(words, str):
            raise TypeError(f"sentence {number} is a string: give lists of words, or call `parse` for raw text")
        yield words


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=2)


def _revive(
    parameters: dict[str, Tensor], config: NetworkConfig, vocabulary: Vocabulary, device: str, info: ModelInfo | None
) -> Parser:
    """A parser from what `Parser.__reduce__` kept."""
    with torch.random.fork_rng(devices=[]):  # as in `load_parser`
        network = Network(config)
    network.load_state_dict(parameters)
    return Parser(network, vocabulary, device if torch.cuda.is_available() else "cpu", info)
