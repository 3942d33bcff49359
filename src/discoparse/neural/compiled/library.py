"""The compiled library: the one for this CPU, if it was built."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from discoparse.errors import DiscoparseError, UsageError

VARIABLE = "DISCOPARSE_COMPILED"  # names a kind, or `off`
KINDS = ("plain", "avx2", "avx512")  # as `discoparse_cpu` numbers them, each for newer CPUs
_INTERFACE = 3  # of the functions below; `api.cpp` has the same number
_COUNT, _POINTER = ctypes.c_int64, ctypes.c_void_p
_SIGNATURES: dict[str, tuple[type | None, Sequence[type]]] = {
    "discoparse_create": (ctypes.c_int, [_POINTER, _POINTER, _POINTER, _COUNT, _POINTER]),
    "discoparse_free": (None, [_POINTER]),
    "discoparse_form_size": (_COUNT, [_POINTER]),
    "discoparse_forms": (ctypes.c_int, [_POINTER, _COUNT, _POINTER, _COUNT, *[_POINTER] * 3, _COUNT]),
    "discoparse_encode": (ctypes.c_int, [_POINTER, _COUNT, _POINTER, _COUNT, _POINTER, _COUNT, *[_POINTER] * 3]),
    "discoparse_decide": (ctypes.c_int, [_POINTER, _COUNT, _POINTER, _COUNT, *[_POINTER] * 7]),
    "discoparse_sample": (
        ctypes.c_int,
        [_POINTER, _COUNT, _POINTER, _COUNT, *[_POINTER] * 3, _COUNT, _POINTER, _COUNT, *[_POINTER] * 7],
    ),
    "discoparse_foci": (ctypes.c_int, [_POINTER, _COUNT, _COUNT, *[_POINTER] * 7]),
    "discoparse_free_beliefs": (None, [_POINTER]),
}


def library_path(kind: str) -> Path:
    """Where the build puts the library of a kind."""
    return Path(__file__).parent / f"discoparse-{kind}.so"


def library(kind: str | None = None) -> ctypes.CDLL | None:
    """The library of a kind; without one, the fastest that this CPU can run. None where there is none."""
    wanted = kind or os.environ.get(VARIABLE) or None
    if wanted not in (None, "off", *KINDS):
        raise UsageError(f"{VARIABLE}={wanted}: choose one of off, {', '.join(KINDS)}, or leave it unset")
    if wanted == "off":
        return None
    for name in reversed(supported()):
        if wanted in (None, name):
            return _open(name)
    return None


@cache
def supported() -> tuple[str, ...]:
    """The kinds that are there and that this CPU can run."""
    plain = _open("plain")
    if plain is None:
        return ()
    return tuple(name for name in KINDS[: plain.discoparse_cpu() + 1] if library_path(name).exists())


@cache
def _open(kind: str) -> ctypes.CDLL | None:
    try:
        found = ctypes.CDLL(str(library_path(kind)))
        if found.discoparse_interface() != _INTERFACE:
            return None  # left over from another version
    except (OSError, AttributeError):  # not built, or for another system
        return None
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments
    return found


def check(status: int) -> None:
    """What the library's functions return: 0, or what was wrong."""
    if status == 2:
        raise MemoryError("not enough memory to parse this")
    if status:
        raise DiscoparseError("the compiled network was given sizes that do not fit its parameters")


def describe() -> str:
    """For `discoparse --version`.

    >>> describe().split()[0]
    'compiled'
    """
    if os.environ.get(VARIABLE) == "off":
        return f"compiled network: off ({VARIABLE})"
    found = library()
    kinds = [kind for kind in supported() if _open(kind) is found]
    return f"compiled network: {kinds[0] if kinds else 'not built, PyTorch is used'}"
