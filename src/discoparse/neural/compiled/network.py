"""A network in the compiled library: parameters in, arrays in and out, all sizes checked on the other side.

Shapes as in `neural.network`: U word forms, M tokens of a batch without padding, D token vector, S structural steps.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discoparse.neural.codes import longest_chain
from discoparse.neural.compiled.library import check
from discoparse.neural.compiled.limits import PackedLimits
from discoparse.neural.config import NetworkConfig
from discoparse.neural.limits import Limits

_SIZES = (
    *("words", "characters", "tags", "labels", "word_size", "character_size", "character_hidden"),
    *("hidden", "layers", "scorer_hidden"),
)


class Sizes(ctypes.Structure):
    """As in `native/parameters.h`."""

    _fields_ = tuple((name, ctypes.c_int64) for name in (*_SIZES, "chains", "tag_both", "encoder"))


@dataclass(frozen=True)
class Decisions:
    """For all sentences of a batch, one after the other."""

    tags: np.ndarray  # [M]
    actions: np.ndarray  # [S] slots, see `lockstep`
    codes: np.ndarray  # [S] of label chains, see `codes.spell_code`
    probabilities: np.ndarray  # [S]


@dataclass(frozen=True)
class Sampled:
    """Samples of a batch: of all sentences one after the other, and of the X sets that are the focus of some."""

    samples: int  # of each sentence
    tags: np.ndarray  # [M]
    tag_probabilities: np.ndarray  # [M]
    actions: np.ndarray  # [S] of the greedy derivations
    index: np.ndarray  # [S] their foci
    tree_probabilities: np.ndarray  # [B] of the greedy trees
    sentence: np.ndarray  # [X]
    count: np.ndarray  # [X] samples that have it
    gapped: np.ndarray  # [X] whether it is discontinuous
    bits: np.ndarray  # [X, words of 64 bits] its tokens
    codes: np.ndarray  # [X] of the best label chain
    probabilities: np.ndarray  # [X] of that chain, given the focus, at temperature 1
    expected: np.ndarray  # [X, L] as in `marginals.Marginals`


class CompiledNetwork:
    """A network's parameters as the library keeps them. May be used from several threads; the GIL is released."""

    def __init__(self, library: ctypes.CDLL, config: NetworkConfig, parameters: Mapping[str, np.ndarray]) -> None:
        """From parameters by name, in the order of `Network.state_dict`."""
        self.library = library
        self.config = config
        self.has_encoder = config.pretrained is None and config.layers > 0  # or token vectors come from elsewhere
        kept = [
            np.ascontiguousarray(tensor, dtype=np.float32)
            for name, tensor in parameters.items()
            if self.has_encoder or not name.startswith("encoder.")
        ]
        sizes = Sizes(
            *(getattr(config, name) for name in _SIZES),
            longest_chain(config.labels) if config.chains else 0,
            config.tag_both,
            self.has_encoder,
        )
        pointers = (ctypes.c_void_p * len(kept))(*(tensor.ctypes.data for tensor in kept))
        counts = np.array([tensor.size for tensor in kept], dtype=np.int64)
        handle = ctypes.c_void_p()
        check(
            library.discoparse_create(
                ctypes.byref(sizes), pointers, counts.ctypes.data, len(kept), ctypes.byref(handle)
            )
        )
        self._handle = handle
        weakref.finalize(self, library.discoparse_free, handle)
        self.form_size: int = library.discoparse_form_size(handle)  # of a row of what `forms` gives

    def forms(self, spelled: np.ndarray, lengths: np.ndarray, words: np.ndarray, results: np.ndarray) -> None:
        """What the first layer makes of word forms, into rows of `results` [U, form size].

        `spelled` has the ids of all characters, `lengths` [U] how many each form has, `words` [U] the ids of words.
        """
        spelled, lengths, words = _as(np.int32, spelled), _as(np.int64, lengths), _as(np.int32, words)
        self._check_table(results)
        assert len(words) == len(lengths)
        status = self.library.discoparse_forms(
            *(self._handle, len(lengths), spelled.ctypes.data, len(spelled), lengths.ctypes.data, words.ctypes.data),
            *(results.ctypes.data, len(results)),
        )
        check(status)

    def _check_table(self, table: np.ndarray) -> None:
        assert table.dtype == np.float32
        assert table.flags.c_contiguous
        assert table.shape == (len(table), self.form_size)

    def encode(self, lengths: np.ndarray, table: np.ndarray, forms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """h(1) and h of the last layer [M, D] of sentences: their lengths, and rows [M] of a table of `forms`."""
        lengths, forms = _as(np.int64, lengths), _as(np.int64, forms)
        self._check_table(table)
        first, last = (np.empty((len(forms), 2 * self.config.hidden), dtype=np.float32) for _ in range(2))
        status = self.library.discoparse_encode(
            *(self._handle, len(lengths), lengths.ctypes.data, len(forms), table.ctypes.data, len(table)),
            *(forms.ctypes.data, first.ctypes.data, last.ctypes.data),
        )
        check(status)
        return first, last

    def decide(
        self,
        lengths: np.ndarray,
        first: np.ndarray,
        last: np.ndarray,
        limits: Sequence[Limits | None] | None = None,
    ) -> Decisions:
        """The greedy derivations of sentences, with labels and tags, from their token vectors [M, D]. Within `limits`,
        all that is required will be built and have its labels; what is forbidden, and tags, are not looked at."""
        vectors = self._check_vectors(lengths, first, last)
        tokens, steps = vectors.tokens, vectors.steps
        decisions = Decisions(
            np.empty(tokens, dtype=np.int32),
            np.empty(steps, dtype=np.int32),
            np.empty(steps, dtype=np.int64),
            np.empty(steps, dtype=np.float32),
        )
        results = (decisions.tags, decisions.actions, decisions.codes, decisions.probabilities)
        packed = None if limits is None else PackedLimits(limits)
        status = self.library.discoparse_decide(
            *(self._handle, *vectors.arguments(), None if packed is None else ctypes.byref(packed.structure)),
            *(array.ctypes.data for array in results),
        )
        check(status)
        return decisions

    def sample(
        self,
        lengths: np.ndarray,
        first: np.ndarray,
        last: np.ndarray,
        temperatures: tuple[float, float, float],
        draws: np.ndarray,
    ) -> Sampled:
        """Samples of derivations from token vectors [M, D]. `draws` [samples x S], see `discoparse.neural.draws`, are
        for one sentence after the other. The temperatures are of structure, labels and tags."""
        vectors = self._check_vectors(lengths, first, last)
        tokens, steps, draws = vectors.tokens, vectors.steps, _as(np.float32, draws)
        samples = len(draws) // max(steps, 1)
        tags, tag_probabilities = np.empty(tokens, dtype=np.int32), np.empty(tokens, dtype=np.float32)
        actions, index = (np.empty(steps, dtype=np.int32) for _ in range(2))
        trees = np.empty(len(vectors.lengths), dtype=np.float32)
        handle, count = ctypes.c_void_p(), ctypes.c_int64()
        status = self.library.discoparse_sample(
            *(self._handle, *vectors.arguments(), (ctypes.c_double * 3)(*temperatures)),
            *(samples, draws.ctypes.data, len(draws)),
            *(array.ctypes.data for array in (tags, tag_probabilities, actions, index, trees)),
            *(ctypes.byref(handle), ctypes.byref(count)),
        )
        check(status)
        try:
            foci, words = count.value, -(-int(vectors.lengths.max()) // 64)
            found = Sampled(
                *(samples, tags, tag_probabilities, actions, index, trees),
                np.empty(foci, dtype=np.int32),
                np.empty(foci, dtype=np.int32),
                np.empty(foci, dtype=np.bool_),
                np.empty((foci, words), dtype=np.uint64),
                np.empty(foci, dtype=np.int64),
                np.empty(foci, dtype=np.float32),
                np.empty((foci, self.config.labels), dtype=np.float32),
            )
            sets = (found.sentence, found.count, found.gapped, found.bits)
            results = (*sets, found.codes, found.probabilities, found.expected)
            check(self.library.discoparse_foci(handle, foci, words, *(array.ctypes.data for array in results)))
        finally:
            self.library.discoparse_free_beliefs(handle)
        return found

    def _check_vectors(self, lengths: np.ndarray, first: np.ndarray, last: np.ndarray) -> _Vectors:
        lengths, first, last = _as(np.int64, lengths), _as(np.float32, first), _as(np.float32, last)
        assert first.shape == last.shape == (len(first), 2 * self.config.hidden)
        if 2 * len(first) < len(lengths):
            check(1)
        return _Vectors(lengths, first, last)


@dataclass(frozen=True)
class _Vectors:
    """Sentences as the library takes them: their lengths, and token vectors [M, D]."""

    lengths: np.ndarray
    first: np.ndarray
    last: np.ndarray

    @property
    def tokens(self) -> int:
        return len(self.first)

    @property
    def steps(self) -> int:
        return 2 * len(self.first) - len(self.lengths)

    def arguments(self) -> tuple[int, ...]:
        data = self.lengths.ctypes.data, self.tokens, self.first.ctypes.data, self.last.ctypes.data
        return len(self.lengths), *data


def _as(dtype: type, array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array, dtype=dtype)
