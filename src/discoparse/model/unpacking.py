"""Parameters as they come from disk (see `packing`) back to single precision. Needs no PyTorch."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

SCALE = ".scale"  # ends the name of a matrix's factors


def unpack_arrays(stored: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The parameters in single precision.

    What `pack` does not write is left out (whole numbers without factors that fit) or stays (factors without whole
    numbers), so the caller can report missing or unexpected parameters.

    >>> whole, factors = np.array([[127, -2]], dtype=np.int8), np.array([[0.5]], dtype=np.float32)
    >>> unpack_arrays({"w": whole, "w.scale": factors})
    {'w': array([[63.5, -1. ]], dtype=float32)}
    """
    floating = {name: array for name, array in stored.items() if np.issubdtype(array.dtype, np.floating)}
    with np.errstate(over="ignore"):  # whoever checks the values will find the infinite ones
        parameters = {name: array.astype(np.float32, copy=False) for name, array in floating.items()}
    for name, array in stored.items():
        scale = stored.get(name + SCALE)
        if array.dtype != np.int8 or array.ndim != 2 or scale is None:
            continue
        if scale.dtype == np.float32 and scale.shape == (len(array), 1):
            parameters[name] = array * parameters.pop(name + SCALE)
    return parameters
