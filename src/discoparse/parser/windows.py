"""Reading ahead: windows of a stream, large enough to sort for batches and small enough to bound memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

# Tokens of a stream that are read ahead, to be sorted by length: PyTorch pads, the compiled network does not.
WINDOW_TOKENS = {"compiled": 16384, "cpu": 65536, "cuda": 131072}
_FIRST = 64  # how many times smaller the first window is than later ones


def windows(
    items: Iterable[Item],
    size: Callable[[Item], int],
    most: int,
    idle: Callable[[], bool] | None = None,
    *,
    slow_start: bool = True,
) -> Iterator[list[Item]]:
    """Lists of items, in order, of about `most` in total size. With a slow start the first windows are smaller, so the
    first results come soon; so is a window after which nothing seems to come (`idle`).

    >>> [len(window) for window in windows(["word"] * 1000, len, most=1600)]
    [7, 13, 25, 50, 100, 200, 400, 205]
    >>> [len(window) for window in windows(["word"] * 1000, len, most=1600, slow_start=False)]
    [400, 400, 200]
    """
    window: list[Item] = []
    total, limit = 0, -(-most // _FIRST) if slow_start else most
    for item in items:
        window.append(item)
        total += max(1, size(item))
        if total >= limit:
            yield window
            window, total, limit = [], 0, min(2 * limit, most)
        elif idle is not None and idle():
            yield window
            window, total = [], 0
    if window:
        yield window
