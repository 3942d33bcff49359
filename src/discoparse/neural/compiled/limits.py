"""Constraints on the sentences of a batch as the compiled library takes them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from discoparse.neural.decisions import members
from discoparse.neural.limits import Limits

_FIELDS = ("sets", "set_count", "sizes", "tokens", "token_count", "codes", "wanted_counts", "wanted", "wanted_count")


class _Structure(ctypes.Structure):
    """As in `native/limits.h`."""

    _fields_ = tuple((name, ctypes.c_int64 if name.endswith("_count") else ctypes.c_void_p) for name in _FIELDS)


class PackedLimits:
    """What is required of each sentence: sets of tokens, the largest first, with the labels that they must have."""

    def __init__(self, limits: Sequence[Limits | None]) -> None:
        masks: list[int] = []
        codes: list[int] = []
        wanted: list[list[int]] = []
        for one in limits:
            entries = [] if one is None else list(zip(one.required, one.codes, one.wanted, strict=True))
            for mask, code, labels in sorted(entries, key=lambda entry: -entry[0].bit_count()):
                masks.append(mask)
                codes.append(code)
                wanted.append(labels)
        sizes, tokens = members([masks])
        arrays: dict[str, np.ndarray] = {
            "sets": np.array([0 if one is None else len(one.required) for one in limits], dtype=np.int64),
            "sizes": sizes.astype(np.int64),
            "tokens": tokens.astype(np.int32),
            "codes": np.array(codes, dtype=np.int64),
            "wanted_counts": np.array([len(labels) for labels in wanted], dtype=np.int64),
            "wanted": np.array([label for labels in wanted for label in labels], dtype=np.int32),
        }
        self._arrays = arrays  # which the structure points to
        self.structure = _Structure(
            **{name: array.ctypes.data for name, array in arrays.items()},
            set_count=len(masks),
            token_count=len(tokens),
            wanted_count=len(arrays["wanted"]),
        )
