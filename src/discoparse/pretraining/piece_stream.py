"""Text as one memory-mapped stream of pieces of words, of which any slice can be had at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from discoparse.neural.pieces import PieceVocabulary
from discoparse.pretraining.corpus import TextCorpus

_AT_ONCE = 1 << 22  # words that are written at once
_SHARE_OF_GPU = 0.3  # of a GPU's memory that the text may take; longer text stays in the memory of the host


class FormPieces:
    """The pieces of every form of a corpus, and a form after them all that ends a sentence."""

    def __init__(self, corpus: TextCorpus, vocabulary: PieceVocabulary, end: int) -> None:
        spelled = [*vocabulary.pieces_of(corpus.forms), [end]]
        self.counts = np.array([len(ids) for ids in spelled], dtype=np.int64)  # [forms + 1]
        self.first = np.cumsum(self.counts) - self.counts  # [forms + 1] in `pieces`
        self.pieces = np.array([piece for ids in spelled for piece in ids], dtype=np.int32)
        self.end = end

    def spell(self, forms: np.ndarray) -> np.ndarray:
        """The pieces of some forms, one after the other."""
        count = self.counts[forms]
        return self.pieces[np.repeat(self.first[forms] - (np.cumsum(count) - count), count) + np.arange(count.sum())]


@dataclass(frozen=True)
class PieceStream:
    """Sentences as pieces, one after the other, each with a piece that ends it."""

    pieces: Tensor  # [pieces], on the GPU if there is room
    starts: np.ndarray  # [sentences]
    room: int  # pieces of a slice
    target: torch.device

    @property
    def device(self) -> torch.device:
        """Where slices are cut."""
        return self.pieces.device

    @classmethod
    def of(
        cls,
        corpus: TextCorpus,
        sentences: np.ndarray,  # [sentences] which of them
        forms: FormPieces,
        path: Path,
        device: torch.device,
        room: int,
    ) -> PieceStream:
        """Write the stream to a file, and map it into memory."""
        lengths = []
        with path.open("wb") as stream:
            for ids, sentence in _with_ends(corpus, np.flatnonzero(sentences)):
                stream.write(forms.spell(ids).tobytes())
                lengths.append(np.bincount(sentence, weights=forms.counts[ids]).astype(np.int64))
            size = np.concatenate(lengths)
            total = int(size.sum())
            if total < room:  # a slice needs as many pieces
                stream.write(np.full(room - total, forms.end, dtype=np.int32).tobytes())
        mapped = np.memmap(path, dtype=np.int32, mode="c")  # not writable on disk
        pieces = torch.from_numpy(mapped)
        if device.type == "cuda":
            most = _SHARE_OF_GPU * torch.cuda.get_device_properties(device).total_memory
            pieces = pieces.to(device) if mapped.nbytes < most else pieces
        return cls(pieces, np.cumsum(size) - size, room, device)

    def windows(self, random: np.random.Generator | None) -> np.ndarray:
        """Where slices start that cover the text about once: at sentences, shuffled; without `random` in order.

        A parser reads one sentence at a time, so a slice begins with one, unless that is longer than half a slice.
        """
        shift = 0 if random is None else int(random.integers(self.room))
        last = len(self.pieces) - self.room
        even = np.minimum(np.arange(shift, max(last, shift) + 1, self.room), last)
        start = self.starts[np.searchsorted(self.starts, even, side="right") - 1]
        start = np.where(even - start <= self.room // 2, start, even)
        return start if random is None else random.permutation(start)

    def slices(self, starts: Tensor) -> Tensor:
        """Slices of the stream on the device that trains: [B] -> [B, room]."""
        place = starts[:, None] + torch.arange(self.room, device=self.device)
        found = self.pieces[place]
        if found.device.type != self.target.type:  # a device without a number is not equal to the same one with it
            found = found.pin_memory().to(self.target, non_blocking=True)
        return found.long()


def _with_ends(corpus: TextCorpus, chosen: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The forms of some sentences with the number of forms after each as its end, and the sentence of each form."""
    end = len(corpus.forms)
    lengths = corpus.lengths[chosen].astype(np.int64)
    cuts = np.searchsorted(np.cumsum(lengths), np.arange(_AT_ONCE, lengths.sum() + _AT_ONCE, _AT_ONCE))
    begin = 0
    for cut in np.unique(np.minimum(cuts + 1, len(chosen))).tolist():
        some, count = chosen[begin:cut], lengths[begin:cut] + 1
        of = np.repeat(np.arange(len(some)), count)
        position = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
        is_end = position == count[of] - 1
        place = np.where(is_end, 0, corpus.starts[some][of] + position)
        yield np.where(is_end, end, corpus.ids[place]), of
        begin = cut
