"""A treebank as tensors on a device: ids and gold constituents, gathered into batches without a device sync.

Shapes: B sentences of at most N tokens, G gold constituents, W words of bits (see `lockstep`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from discoparse.neural.batching import form_tensors
from discoparse.neural.graphs import aligned
from discoparse.neural.lockstep import BITS, GoldBatch, gold_arrays
from discoparse.neural.network import Inputs
from discoparse.neural.pieces import PieceSentence, piece_batch
from discoparse.neural.pretrained import Pieces
from discoparse.neural.vocabulary import Vocabulary
from discoparse.transform.unary import Chain, chains_of
from discoparse.tree import Tree


class Ragged:
    """Rows of different length, of numbers or of rows of numbers, one after the other in one tensor."""

    def __init__(self, rows: Sequence[np.ndarray], device: torch.device) -> None:
        self.counts = np.array([len(row) for row in rows])  # on the host, so that sizes need no device sync
        self.values = torch.from_numpy(np.concatenate(rows)).to(device)
        self.device_counts = torch.from_numpy(self.counts).to(device)
        self.starts = self.device_counts.cumsum(0) - self.device_counts

    def padded(self, index: Tensor, width: int, fill: int = 0) -> Tensor:
        """Rows `index` [B] of single numbers, cut or filled up to `width`: [B, width]."""
        position = torch.arange(width, device=index.device)
        place = self.starts[index][:, None] + position  # [B, width]
        inside = position < self.device_counts[index][:, None]
        return torch.where(inside, self.values[torch.where(inside, place, 0)], fill)

    def flat(self, chosen: np.ndarray, index: Tensor) -> tuple[Tensor, Tensor]:
        """Rows `chosen` one after the other, and for every value the place of its row in `chosen`."""
        total = int(self.counts[chosen].sum())
        counts = self.device_counts[index]
        row = torch.repeat_interleave(torch.arange(len(chosen), device=index.device), counts, output_size=total)
        start = counts.cumsum(0) - counts
        place = torch.arange(total, device=index.device) - start[row] + self.starts[index][row]
        return self.values[place], row


class RaggedTables:
    """Tables of different size, one after the other in one tensor, so that each takes the room that it needs."""

    def __init__(self, tables: Sequence[np.ndarray], device: torch.device) -> None:
        rows, columns = (torch.tensor([table.shape[axis] for table in tables]) for axis in (0, 1))
        sizes = rows * columns
        self.values = torch.from_numpy(np.concatenate([table.ravel() for table in tables])).to(device)
        self.rows, self.columns = rows.to(device), columns.to(device)
        self.starts = (sizes.cumsum(0) - sizes).to(device)

    def padded(self, index: Tensor, height: int, width: int) -> Tensor:
        """The tables `index` [B], filled up with zeros to `height` rows of `width` columns: [B, height, width]."""
        row = torch.arange(height, device=index.device)[:, None]  # [height, 1]
        column = torch.arange(width, device=index.device)  # [width]
        start, rows, columns = (x[index][:, None, None] for x in (self.starts, self.rows, self.columns))
        inside = (row < rows) & (column < columns)
        return torch.where(inside, self.values[torch.where(inside, start + row * columns + column, 0)], 0)


class ChainTable:
    """Gold labels as ids: every chain of the treebank, spelled in the labels that the network knows."""

    def __init__(self, vocabulary: Vocabulary, spell: bool) -> None:
        self.spell = spell
        self.labels = {label: k for k, label in enumerate(vocabulary.labels, 1)}
        self.ids: dict[Chain, int] = {}

    def id(self, chain: Chain) -> int:
        return self.ids.setdefault(chain, len(self.ids) + 1)

    def spelled(self, device: torch.device) -> Tensor:
        """[chains + 1, depth]: label ids bottom-up, then 0 where the chain ends, padded with -1."""
        rows = [[0]]
        for chain in self.ids:
            if self.spell:
                rows.append([self.labels[(label,)] for label in reversed(chain)] + [0])
            else:
                rows.append([self.labels[chain]])
        depth = max(len(row) for row in rows)
        return torch.tensor([row + [-1] * (depth - len(row)) for row in rows], device=device)


class Corpus:
    """Sentences with gold trees, ready for training."""

    def __init__(
        self,
        trees: Iterable[Tree],
        vocabulary: Vocabulary,
        chains: ChainTable,
        device: torch.device,
        pooling: str = "first",
    ) -> None:
        self.pooling = pooling
        forms: dict[str, int] = {}
        form_rows, tags, member, before, gold = [], [], [], [], []
        tag_ids = {tag: k for k, tag in enumerate(vocabulary.tags)}
        for tree in trees:
            form_rows.append(np.array([forms.setdefault(word, len(forms)) for word in tree.words]))
            tags.append(np.array([tag_ids[tag] for tag in tree.tags]))
            arrays = gold_arrays([(chains.id(chain), mask) for chain, mask in chains_of(tree)], len(tree))
            member.append(arrays.member)
            before.append(arrays.before)
            gold.append(arrays.packed)
        self.device = device
        self.lengths = np.array([len(row) for row in form_rows])
        self.device_lengths = torch.from_numpy(self.lengths).to(device)
        # Forms stay on the host, where the distinct ones of a batch are found without a device sync.
        self.host_forms = np.concatenate(form_rows)
        self.starts = self.lengths.cumsum() - self.lengths
        self.tags = Ragged(tags, device)
        self.member, self.before = RaggedTables(member, device), RaggedTables(before, device)
        self.gold = Ragged(gold, device)
        self.gold_words = np.array([table.shape[1] for table in member])  # on the host: W of each sentence
        self.characters, self.form_lengths = form_tensors(list(forms), vocabulary, device)
        self.host_form_lengths = self.form_lengths.cpu().numpy()
        self.word_of_form = torch.tensor([vocabulary.word_id(form) for form in forms], device=device)
        self.pieces: list[PieceSentence] | None = None  # for a pretrained encoder
        self.sizes = self.lengths  # by which batches are made
        if vocabulary.pieces is not None:
            known = vocabulary.pieces
            names = list(forms)
            self.pieces = [known.sentence([names[k] for k in row]) for row in form_rows]
            special = len(known.prefix) + len(known.suffix)
            self.sizes = np.array([aligned(len(sentence.ids) + special) for sentence in self.pieces])
        self.vocabulary = vocabulary

    def __len__(self) -> int:
        return len(self.lengths)

    def inputs(self, chosen: np.ndarray, index: Tensor, width: int) -> Inputs:
        """The sentences `chosen`, padded to `width` tokens, for the encoder; every distinct form once."""
        position = np.arange(width)
        place = np.minimum(self.starts[chosen][:, None] + position, len(self.host_forms) - 1)
        inside = position < self.lengths[chosen][:, None]
        distinct, places = np.unique(np.where(inside, self.host_forms[place], 0), return_inverse=True)
        longest = int(self.host_form_lengths[distinct].max())
        rows = torch.from_numpy(distinct).to(self.device)
        forms = torch.from_numpy(places.reshape(inside.shape)).to(self.device)
        return Inputs(
            self.word_of_form[rows][forms],
            forms,
            self.characters[rows, :longest].long(),
            self.form_lengths[rows],
            self.device_lengths[index],
            self._pieces(chosen, width),
        )

    def _pieces(self, chosen: np.ndarray, width: int) -> Pieces | None:
        """What a pretrained encoder reads of the sentences `chosen`."""
        if self.pieces is None or self.vocabulary.pieces is None:
            return None
        batch = piece_batch([self.pieces[k] for k in chosen], width, self.vocabulary.pieces, self.pooling)
        return Pieces.of(batch, self.device)

    def gold_batch(self, chosen: np.ndarray, index: Tensor, width: int) -> GoldBatch:
        """The gold constituents of the sentences `chosen`, padded to `width` tokens, for the oracle."""
        words = int(self.gold_words[chosen].max())
        return GoldBatch(
            self.member.padded(index, width, words),
            self.before.padded(index, width + 1, words),
            self.gold.padded(index, words * BITS),
            self.gold.device_counts[index],
        )
