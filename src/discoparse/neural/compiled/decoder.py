"""Sentences in, decisions out, with the compiled network. Needs no PyTorch where the encoder is compiled, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from discoparse.neural.batching import BATCH_TOKENS, length_batches
from discoparse.neural.compiled.forms import FormTable
from discoparse.neural.compiled.library import library
from discoparse.neural.compiled.network import CompiledNetwork
from discoparse.neural.config import NetworkConfig
from discoparse.neural.decisions import Decoded, Words
from discoparse.neural.vocabulary import Vocabulary

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
        self, sentences: Sequence[Words], batches: Sequence[np.ndarray] | None = None, encode: Encode | None = None
    ) -> Iterator[tuple[np.ndarray, Decoded]]:
        """Batches of decisions: the indexes of the sentences [B] and what was decided; empty sentences are left out.
        Where `encode` gives the token vectors, it may want batches of its own."""
        batches = length_batches(_lengths(sentences), BATCH_TOKENS["cpu"]) if batches is None else batches

        def decided(chosen: np.ndarray) -> Decoded:
            return self._decode_batch([sentences[k] for k in chosen], encode)

        if self.threads == 1 or len(batches) == 1:
            yield from zip(batches, map(decided, batches), strict=True)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                yield from zip(batches, pool.map(decided, batches), strict=True)

    def encode(self, sentences: Sequence[Words]) -> tuple[np.ndarray, np.ndarray]:
        """h(1) and h of the last layer [M, D] of all tokens, one sentence after the other."""
        assert self.forms is not None
        rows, table = self.forms.look_up(sentences)
        return self.network.encode(_lengths(sentences), table, rows)

    def _decode_batch(self, sentences: Sequence[Words], encode: Encode | None) -> Decoded:
        found = self.network.decide(_lengths(sentences), *(encode or self.encode)(sentences))
        steps = [2 * len(sentence) - 1 for sentence in sentences]
        return Decoded(
            list(_parts(found.actions.tolist(), steps)),
            list(_parts(found.codes.tolist(), steps)),
            list(_parts(found.tags.tolist(), map(len, sentences))),
            list(_parts(found.probabilities.tolist(), steps)),
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
