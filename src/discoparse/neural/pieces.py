"""Words as the pieces that a pretrained encoder reads, and sentences as windows of pieces.

Every word is cut on its own, so that a form is cut once, whatever stands around it. Needs the package `tokenizers`
(the extra `transformers`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from discoparse.errors import DiscoparseError
from discoparse.transform.spelling import plain_word

if TYPE_CHECKING:
    from tokenizers import Tokenizer

POOLING = ("first", "last", "mean")  # which pieces of a word stand for it
_MOST_PIECES = 128  # of one word; of longer ones both ends are read, as with characters
_MOST_CHARACTERS = 1024
_MOST_KEPT = 200_000  # forms whose pieces are kept
_AT_ONCE = 100_000  # words that are cut at once


Parts = TypeVar("Parts", str, list[int])


@dataclass(frozen=True)
class PieceVocabulary:
    """A tokenizer as data, and how its encoder wants sentences to begin and end."""

    tokenizer: str  # the JSON of the `tokenizers` library
    prefix: tuple[int, ...]  # ids before a sentence, as [CLS]
    suffix: tuple[int, ...]  # ids after it, as [SEP]
    padding: int
    unknown: int  # stands for a word of which the tokenizer makes nothing
    window: int  # ids that the encoder reads at once, prefix and suffix included
    _cut: Tokenizer = field(init=False, repr=False, compare=False)
    _kept: dict[str, list[int]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(self.tokenizer)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        object.__setattr__(self, "_cut", tokenizer)
        object.__setattr__(self, "_kept", {})

    def __reduce__(self) -> tuple[Any, ...]:
        """Tokenizers and what they were asked stay behind."""
        return PieceVocabulary, (self.tokenizer, self.prefix, self.suffix, self.padding, self.unknown, self.window)

    def pieces(self, form: str) -> list[int]:
        """The ids of a word's pieces; at least one."""
        found = self._kept.get(form)
        if found is None:
            with panics_told():
                cut = self._cut.encode([_word(form)], is_pretokenized=True, add_special_tokens=False)
            found = self._limited(cut.ids)
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[form] = found
        return found

    def pieces_of(self, forms: Sequence[str]) -> list[list[int]]:
        """The same for many words, by all cores."""
        found: list[list[int]] = []
        for start in range(0, len(forms), _AT_ONCE):
            words = [[_word(form)] for form in forms[start : start + _AT_ONCE]]
            with panics_told():
                cut = self._cut.encode_batch(words, is_pretokenized=True, add_special_tokens=False)
            found += [self._limited(encoding.ids) for encoding in cut]
        return found

    def _limited(self, ids: list[int]) -> list[int]:
        return _ends(ids or [self.unknown], _MOST_PIECES)

    def piece_id(self, name: str) -> int | None:
        """The id of a piece by its name; None if there is none."""
        return self._cut.token_to_id(name)

    def try_out(self) -> None:
        """A `DiscoparseError` for a tokenizer that has nothing to say about characters that are nobody's."""
        self.pieces_of(["\U0010fffd", "a\U0010fffd"])

    def largest_id(self) -> int:
        """Of all pieces."""
        special = (*self.prefix, *self.suffix, self.padding, self.unknown)
        return max(*self._cut.get_vocab(with_added_tokens=True).values(), *special)

    def sentence(self, words: Sequence[str]) -> PieceSentence:
        """A sentence as pieces."""
        pieces = [self.pieces(word) for word in words]
        return PieceSentence(
            np.array([piece for word in pieces for piece in word], dtype=np.int64),
            np.array([len(word) for word in pieces], dtype=np.int64),
        )

    def to_json(self) -> dict[str, Any]:
        """All but the tokenizer, which has a file of its own."""
        return {
            "prefix": list(self.prefix),
            "suffix": list(self.suffix),
            "padding": self.padding,
            "unknown": self.unknown,
            "window": self.window,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], tokenizer: str) -> PieceVocabulary:
        ids = (data["padding"], data["unknown"], data["window"])
        try:
            return cls(tokenizer, tuple(data["prefix"]), tuple(data["suffix"]), *ids)
        except (ImportError, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # all that the library raises for a file that is not a tokenizer's, and panics
            raise ValueError(f"it is not a tokenizer ({error})") from None


@contextmanager
def panics_told() -> Iterator[None]:
    """All that the library raises for a tokenizer that makes no sense; panics are no `Exception` and would end more
    than what is parsed. Some tokenizers fail at some words only."""
    try:
        yield
    except (DiscoparseError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise DiscoparseError(f"the pretrained encoder's tokenizer fails: {error}") from None


@dataclass(frozen=True)
class PieceSentence:
    """The pieces of a sentence's words, one after the other, and how many each word has."""

    ids: np.ndarray  # [P]
    counts: np.ndarray  # [n]


@dataclass
class PieceBatch:
    """Sentences of a batch as windows of pieces, and which of them make up the words.

    A sentence that fits is one window. Of a longer one, windows overlap by half, and a piece is read in the window in
    which it is farthest from an edge.
    """

    ids: np.ndarray  # [W, P] padded
    lengths: np.ndarray  # [W]
    place: np.ndarray  # [K] pieces that are read, as places in the flattened windows
    word: np.ndarray  # [K] the word of each, as a place in the flattened batch [B x N]


def _word(form: str) -> str:
    """A word as it is cut: of a very long one both ends, no lone surrogates."""
    return _ends(plain_word(form), _MOST_CHARACTERS).encode("utf-8", "replace").decode()


def _ends(whole: Parts, most: int) -> Parts:
    """All of it, or its two ends where it is longer.

    >>> _ends("abcdefg", 4)
    'abfg'
    """
    return whole if len(whole) <= most else whole[: most // 2] + whole[-most // 2 :]


def piece_batch(sentences: Sequence[PieceSentence], width: int, pieces: PieceVocabulary, pooling: str) -> PieceBatch:
    """Lay out sentences of at most `width` words for the encoder."""
    before, after = len(pieces.prefix), len(pieces.suffix)
    room = pieces.window - before - after
    sizes = np.array([len(sentence.ids) for sentence in sentences])
    starts = [_window_starts(size, room) for size in sizes.tolist()]
    of = np.repeat(np.arange(len(sentences)), [len(some) for some in starts])  # [W] the sentence of each window
    start = np.array([begin for some in starts for begin in some])  # [W] its first piece
    inside = np.minimum(room, sizes[of] - start)  # [W] its pieces
    ids = np.full((len(of), int(inside.max()) + before + after), pieces.padding, dtype=np.int64)
    ids[:, :before] = pieces.prefix
    window, column = _ragged(inside)
    first_piece = np.cumsum(sizes) - sizes  # [B] places of the sentences in all pieces
    everything = np.concatenate([sentence.ids for sentence in sentences])
    ids[window, before + column] = everything[first_piece[of[window]] + start[window] + column]
    for k, piece in enumerate(pieces.suffix):
        ids[np.arange(len(of)), before + inside + k] = piece

    counts = np.concatenate([sentence.counts for sentence in sentences])
    sentence, word = _ragged(np.array([len(sentence.counts) for sentence in sentences]))
    place, word_of_place = _chosen_pieces(counts, pooling)  # places in all pieces
    sentence, word = sentence[word_of_place], word[word_of_place]
    place = place - first_piece[sentence]  # in the sentence
    row = np.searchsorted(of, sentence)  # its first window
    for b in np.flatnonzero(sizes > room):
        mine = sentence == b
        row[mine] += _best_windows(place[mine], starts[b], room)
    return PieceBatch(
        ids, inside + before + after, row * ids.shape[1] + before + place - start[row], sentence * width + word
    )


def _ragged(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The row and the column of every element of a table whose rows have these lengths.

    >>> [part.tolist() for part in _ragged(np.array([2, 0, 1]))]
    [[0, 0, 2], [0, 1, 0]]
    """
    row = np.repeat(np.arange(len(counts)), counts)
    return row, np.arange(len(row)) - (np.cumsum(counts) - counts)[row]


def _window_starts(length: int, room: int) -> list[int]:
    """Where windows of `room` pieces begin: the last one ends with the sentence.

    >>> _window_starts(10, 10), _window_starts(11, 10), _window_starts(23, 10)
    ([0], [0, 1], [0, 5, 10, 13])
    """
    return [*range(0, max(1, length - room), max(1, room // 2)), length - room] if length > room else [0]


def _best_windows(place: np.ndarray, starts: list[int], room: int) -> np.ndarray:
    """For each piece [K] the window in which it is farthest from an edge; ends of the sentence are not edges."""
    if len(starts) == 1:
        return np.zeros(len(place), dtype=np.int64)
    begin = np.array(starts)[:, None]
    left, right = place - begin, begin + room - 1 - place  # [windows, K] pieces on either side
    margin = np.minimum(np.where(begin == 0, room, left), np.where(begin == starts[-1], room, right))
    return np.where((left < 0) | (right < 0), -1, margin).argmax(0)


def _chosen_pieces(counts: np.ndarray, pooling: str) -> tuple[np.ndarray, np.ndarray]:
    """Which pieces of a sentence stand for its words [K], and the word of each.

    >>> [part.tolist() for part in _chosen_pieces(np.array([1, 3, 2]), "first")]
    [[0, 1, 4], [0, 1, 2]]
    >>> [part.tolist() for part in _chosen_pieces(np.array([1, 3, 2]), "mean")]
    [[0, 1, 2, 3, 4, 5], [0, 1, 1, 1, 2, 2]]
    """
    ends = np.cumsum(counts)
    word = np.arange(len(counts))
    if pooling == "first":
        return ends - counts, word
    if pooling == "last":
        return ends - 1, word
    return np.arange(int(ends[-1])), np.repeat(word, counts)
