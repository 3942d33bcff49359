"""A network in the compiled library: parameters in, arrays in and out, all sizes checked on the other side.

Shapes as in `neural.network`: U word forms, M tokens of a batch without padding, D token vector, S structural steps.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discoparse.neural.codes import longest_chain
from discoparse.neural.compiled.library import check
from discoparse.neural.config import NetworkConfig

_SIZES = (
    *("words", "characters", "tags", "labels", "word_size", "character_size", "character_hidden"),
    *("hidden", "layers", "scorer_hidden"),
)


class Sizes(ctypes.Structure):
    """As in `native/parameters.h`."""

    _fields_ = tuple((name, ctypes.c_int64) for name in (*_SIZES, "chains", "encoder"))


@dataclass(frozen=True)
class Decisions:
    """For all sentences of a batch, one after the other."""

    tags: np.ndarray  # [M]
    actions: np.ndarray  # [S] slots, see `lockstep`
    codes: np.ndarray  # [S] of label chains, see `codes.spell_code`
    probabilities: np.ndarray  # [S]


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

    def decide(self, lengths: np.ndarray, first: np.ndarray, last: np.ndarray) -> Decisions:
        """The greedy derivations of sentences, with labels and tags, from their token vectors [M, D]."""
        lengths, first, last = _as(np.int64, lengths), _as(np.float32, first), _as(np.float32, last)
        assert first.shape == last.shape == (len(first), 2 * self.config.hidden)
        tokens = len(first)
        steps = 2 * tokens - len(lengths)
        if steps < 0:
            check(1)
        decisions = Decisions(
            np.empty(tokens, dtype=np.int32),
            np.empty(steps, dtype=np.int32),
            np.empty(steps, dtype=np.int64),
            np.empty(steps, dtype=np.float32),
        )
        results = (decisions.tags, decisions.actions, decisions.codes, decisions.probabilities)
        status = self.library.discoparse_decide(
            *(self._handle, len(lengths), lengths.ctypes.data, tokens, first.ctypes.data, last.ctypes.data),
            *(array.ctypes.data for array in results),
        )
        check(status)
        return decisions


def _as(dtype: type, array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array, dtype=dtype)
