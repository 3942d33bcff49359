"""Decisions as arrays, for many sentences at once: what one process with a GPU sends to those that write trees.

Shapes: S sentences, M their tokens, K their steps (2n - 1 for a sentence of n tokens).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discoparse.parser.outline import Decisions

if TYPE_CHECKING:
    from discoparse.neural.limits import Limits
    from discoparse.parser.parser import Parser

Words = Sequence[str]


@dataclass(frozen=True)
class PackedDecisions:
    """The decisions for sentences, one after the other; empty sentences have none."""

    lengths: np.ndarray  # [S]
    actions: np.ndarray  # [K]
    codes: np.ndarray  # [K]
    tags: np.ndarray  # [M]
    probabilities: np.ndarray  # [K]

    def __iter__(self) -> Iterator[Decisions | None]:
        """The decisions for each sentence; None for an empty one."""
        actions, codes, tags = self.actions.tolist(), self.codes.tolist(), self.tags.tolist()
        probabilities = self.probabilities.tolist()
        step = token = 0
        for length in self.lengths.tolist():
            if not length:
                yield None
                continue
            steps, tokens = slice(step, step + 2 * length - 1), slice(token, token + length)
            yield Decisions(actions[steps], codes[steps], tags[tokens], probabilities[steps])
            step, token = steps.stop, tokens.stop

    def parts(self, sizes: Sequence[int]) -> Iterator[PackedDecisions]:
        """The decisions for the first `sizes[0]` sentences, the next `sizes[1]`, and so on."""
        steps, tokens = _bounds(2 * self.lengths - (self.lengths > 0)), _bounds(self.lengths)
        first = 0
        for size in sizes:
            last = first + size
            k, m = slice(steps[first], steps[last]), slice(tokens[first], tokens[last])
            yield PackedDecisions(
                self.lengths[first:last], self.actions[k], self.codes[k], self.tags[m], self.probabilities[k]
            )
            first = last


def decisions(
    parser: Parser, sentences: Sequence[Words], limits: Sequence[Limits | None] | None = None
) -> list[Decisions | None]:
    """The greedy decisions for sentences that fit into memory together, within their limits; None for empty ones."""
    found: list[Decisions | None] = [None] * len(sentences)
    for chosen, batch in parser.decode(sentences, limits):
        assert batch.probabilities is not None
        for b, k in enumerate(chosen.tolist()):
            words = len(sentences[k])
            steps = 2 * words - 1
            rows = batch.actions[b], batch.labels[b], batch.tags[b], batch.probabilities[b]
            if len(batch.actions[b]) > steps:  # padded, as PyTorch does
                actions, codes, tags, probabilities = rows
                rows = actions[:steps], codes[:steps], tags[:words], probabilities[:steps]
            found[k] = Decisions(*rows)
    return found


def packed_decisions(parser: Parser, sentences: Sequence[Words]) -> PackedDecisions:
    """The same as arrays, for another process: on a GPU without a detour through Python's numbers."""
    lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
    steps, tokens = _bounds(2 * lengths - (lengths > 0)), _bounds(lengths)
    found = PackedDecisions(
        lengths,
        np.empty(steps[-1], dtype=np.int16),  # a sentence has at most 2,000 tokens
        np.empty(steps[-1], dtype=np.int64),
        np.empty(tokens[-1], dtype=np.int32),
        np.empty(steps[-1], dtype=np.float32),
    )
    for chosen, batch in _batches(parser, sentences):
        actions, codes, tags, probabilities = batch
        to_steps, inside = _places(steps[chosen], 2 * lengths[chosen] - 1, actions.shape[1])
        found.actions[to_steps] = actions[inside]
        found.codes[to_steps] = codes[inside]
        found.probabilities[to_steps] = probabilities[inside]
        to_tokens, inside = _places(tokens[chosen], lengths[chosen], tags.shape[1])
        found.tags[to_tokens] = tags[inside]
    return found


def _batches(parser: Parser, sentences: Sequence[Words]) -> Iterator[tuple[np.ndarray, list[np.ndarray]]]:
    """Batches of decisions: indexes of sentences [B], and as `Pending.arrays` has them."""
    if parser.runs_on_gpu:
        yield from parser.decoder.decode_arrays(sentences)
        return
    for chosen, batch in parser.decode(sentences):
        assert batch.probabilities is not None
        yield chosen, [_padded(rows) for rows in (batch.actions, batch.labels, batch.tags, batch.probabilities)]


def _padded(rows: Sequence[Sequence[float]]) -> np.ndarray:
    """Rows of different lengths as one array."""
    table = np.zeros((len(rows), max(map(len, rows))), dtype=np.array(rows[0][:1]).dtype)
    for target, row in zip(table, rows, strict=True):
        target[: len(row)] = row
    return table


def _bounds(sizes: np.ndarray) -> np.ndarray:
    """Where each of some parts starts, and the last one ends [S + 1]."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _places(starts: np.ndarray, sizes: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """For rows of which the first `sizes` [B] entries count: their places in an array without padding, and a mask
    [B, width] of them."""
    columns = np.arange(width)
    inside = columns < sizes[:, None]
    return (starts[:, None] + columns)[inside], inside
