"""Sentences in, decisions out, with the compiled network. Needs no PyTorch where the encoder is compiled, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from discoparse.neural.batching import BATCH_TOKENS, chunks, length_batches
from discoparse.neural.belief import Belief, Foci, beliefs
from discoparse.neural.calibration import Calibration
from discoparse.neural.compiled.forms import FormTable
from discoparse.neural.compiled.library import library
from discoparse.neural.compiled.network import CompiledNetwork, Sampled
from discoparse.neural.config import NetworkConfig
from discoparse.neural.decisions import Decoded, Words
from discoparse.neural.draws import draws, seeds_of
from discoparse.neural.limits import Limits
from discoparse.neural.replay import replay, yields
from discoparse.neural.vocabulary import Vocabulary

_ROW_TOKENS = 12288  # samples times tokens that are derived at once
T = TypeVar("T")

# From sentences to h(1) and h of the last layer, [M, D] each, where the encoder is not compiled.
Encode = Callable[[Sequence[Words]], tuple[np.ndarray, np.ndarray]]


class CompiledDecoder:
    """Greedy decoding with one network. Safe to use from several threads, and uses several if told so."""

    def __init__(self, network: CompiledNetwork, vocabulary: Vocabulary, threads: int | None = None) -> None:
        """`threads` are used for batches at once, one by default; callers may have threads of their own."""
        self.network = network
        self.vocabulary = vocabulary
        self.threads = threads or 1
        self.forget_forms()

    def forget_forms(self) -> None:
        """Start with an empty table of word forms."""
        self.forms = FormTable(self.network, self.vocabulary) if self.network.has_encoder else None

    @classmethod
    def of(
        cls,
        config: NetworkConfig,
        parameters: Mapping[str, np.ndarray],
        vocabulary: Vocabulary,
        threads: int | None = None,
    ) -> CompiledDecoder | None:
        """The decoder of a network, or None where there is no library for this machine."""
        found = library()
        return None if found is None else cls(CompiledNetwork(found, config, parameters), vocabulary, threads)

    @staticmethod
    def suits(config: NetworkConfig) -> bool:
        """Whether all of a network can be compiled, and not only what follows its encoder."""
        return config.pretrained is None and config.layers > 0

    def decode(
        self,
        sentences: Sequence[Words],
        batches: Sequence[np.ndarray] | None = None,
        encode: Encode | None = None,
        limits: Sequence[Limits | None] | None = None,
    ) -> Iterator[tuple[np.ndarray, Decoded]]:
        """Batches of decisions: the indexes of the sentences [B] and what was decided; empty sentences are left out.
        Where `encode` gives the token vectors, it may want batches of its own. `limits` are constraints on the
        sentences, None where a sentence has none."""

        def decided(chosen: np.ndarray) -> Decoded:
            within = [] if limits is None else [limits[k] for k in chosen]
            return self._decode_batch([sentences[k] for k in chosen], encode, within)

        return self._in_batches(decided, sentences, batches)

    def believe(
        self,
        sentences: Sequence[Words],
        samples: int,
        calibration: Calibration,
        least: float = 1.0,
        batches: Sequence[np.ndarray] | None = None,
        encode: Encode | None = None,
    ) -> Iterator[tuple[int, Belief]]:
        """As `discoparse.neural.torch_belief.believe`; batches and `encode` as of `decode`."""

        def believed(chosen: np.ndarray) -> list[Belief]:
            return list(self._believe_batch([sentences[k] for k in chosen], samples, calibration, least, encode))

        for chosen, found in self._in_batches(believed, sentences, batches):
            yield from zip(chosen.tolist(), found, strict=True)

    def _in_batches(
        self, work: Callable[[np.ndarray], T], sentences: Sequence[Words], batches: Sequence[np.ndarray] | None
    ) -> Iterator[tuple[np.ndarray, T]]:
        """What is made of each batch of sentences, in several threads if there are several."""
        batches = length_batches(_lengths(sentences), BATCH_TOKENS["cpu"]) if batches is None else batches
        if self.threads == 1 or len(batches) == 1:
            yield from zip(batches, map(work, batches), strict=True)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                yield from zip(batches, pool.map(work, batches), strict=True)

    def encode(self, sentences: Sequence[Words]) -> tuple[np.ndarray, np.ndarray]:
        """h(1) and h of the last layer [M, D] of all tokens, one sentence after the other."""
        assert self.forms is not None
        rows, table = self.forms.look_up(sentences)
        return self.network.encode(_lengths(sentences), table, rows)

    def _decode_batch(
        self, sentences: Sequence[Words], encode: Encode | None, limits: Sequence[Limits | None]
    ) -> Decoded:
        within = limits if any(limits) else None
        found = self.network.decide(_lengths(sentences), *(encode or self.encode)(sentences), within)
        steps = [2 * len(sentence) - 1 for sentence in sentences]
        decoded = Decoded(
            list(_parts(found.actions.tolist(), steps)),
            list(_parts(found.codes.tolist(), steps)),
            list(_parts(found.tags.tolist(), map(len, sentences))),
            list(_parts(found.probabilities.tolist(), steps)),
        )
        for b, one in enumerate(within or ()):
            if one is not None:
                _apply_rest(one, decoded, b)
        return decoded

    def _believe_batch(
        self,
        sentences: Sequence[Words],
        samples: int,
        calibration: Calibration,
        least: float,
        encode: Encode | None,
    ) -> Iterator[Belief]:
        """In the order of the sentences, which are encoded together and sampled a few at a time."""
        first, last = (encode or self.encode)(sentences)
        lengths, seeds = _lengths(sentences), seeds_of(sentences)
        ends = lengths.cumsum()
        temperatures = calibration.structure, calibration.labels, calibration.tags
        for start, end in chunks(lengths.tolist(), samples + 1, _ROW_TOKENS):
            some = lengths[start:end]
            tokens = slice(int(ends[start] - lengths[start]), int(ends[end - 1]))
            numbers = draws(seeds[start:end], some.tolist(), samples)
            found = self.network.sample(some, first[tokens], last[tokens], temperatures, numbers)
            yield from beliefs(_foci(found, some), self.vocabulary.labels, calibration, least)


def _apply_rest(limits: Limits, decoded: Decoded, sentence: int) -> None:
    """Of the constraints on a sentence, those that the network does not look at: forbidden sets and tags."""
    if limits.forbidden:
        forbidden, labels = set(limits.forbidden), decoded.labels[sentence]
        for step, focus in enumerate(yields(replay(decoded.actions[sentence]))):
            if focus in forbidden:
                labels[step] = 0
    for token, tag in limits.tags.items():
        decoded.tags[sentence][token] = tag


def _foci(found: Sampled, lengths: np.ndarray) -> Foci:
    sizes, steps = lengths.tolist(), (2 * lengths - 1).tolist()
    return Foci(
        list(_parts(found.actions.tolist(), steps)),
        list(_parts(found.index.tolist(), steps)),
        found.tree_probabilities,
        list(_parts(found.tags.tolist(), sizes)),
        list(_parts(found.tag_probabilities.tolist(), sizes)),
        found.sentence,
        found.count / found.samples,
        found.gapped,
        found.codes,
        found.probabilities,
        found.expected,
        lambda focus: int.from_bytes(found.bits[focus].astype("<u8").tobytes(), "little"),
    )


def _lengths(sentences: Sequence[Words]) -> np.ndarray:
    return np.array([len(sentence) for sentence in sentences], dtype=np.int64)


def _parts(values: list, sizes: Iterable[int]) -> Iterator[list]:  # type: ignore[type-arg]
    """Lists of these sizes, one after the other.

    >>> list(_parts([1, 2, 3], [2, 1]))
    [[1, 2], [3]]
    """
    start = 0
    for size in sizes:
        yield values[start : start + size]
        start += size
