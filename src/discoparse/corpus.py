"""A treebank as tensors on a device: ids, gold constituents and derivations, gathered into batches without the host.

Shapes: B sentences of at most N tokens, G gold constituents, W words of bits (see `lockstep`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from discoparse.lockstep import BITS, Gold, Lockstep, LockstepOracle, gold_arrays, run_with_oracle
from discoparse.network import Inputs
from discoparse.objective import Decisions, decisions_of
from discoparse.transform.unary import Chain, chains_of
from discoparse.tree import Tree
from discoparse.vocabulary import Vocabulary


class Ragged:
    """Rows of different length, one after the other in one tensor."""

    def __init__(self, rows: Sequence[np.ndarray], device: torch.device) -> None:
        self.counts = np.array([len(row) for row in rows])  # on the host, so that sizes never wait for the device
        self.values = torch.from_numpy(np.concatenate(rows)).to(device)
        self.device_counts = torch.from_numpy(self.counts).to(device)
        self.starts = self.device_counts.cumsum(0) - self.device_counts

    def padded(self, index: Tensor, width: int, fill: int = 0) -> Tensor:
        """The rows `index` [B], cut or filled up to `width`: [B, width, ...]."""
        position = torch.arange(width, device=index.device)
        place = self.starts[index][:, None] + position  # [B, width]
        inside = position < self.device_counts[index][:, None]
        values = self.values[torch.where(inside, place, 0)]
        return torch.where(inside.view(*inside.shape, *[1] * (values.dim() - 2)), values, fill)

    def flat(self, chosen: np.ndarray, index: Tensor) -> tuple[Tensor, Tensor]:
        """Rows `chosen` one after the other, and for every value the place of its row in `chosen`."""
        total = int(self.counts[chosen].sum())
        counts = self.device_counts[index]
        row = torch.repeat_interleave(torch.arange(len(chosen), device=index.device), counts, output_size=total)
        start = counts.cumsum(0) - counts
        place = torch.arange(total, device=index.device) - start[row] + self.starts[index][row]
        return self.values[place], row


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

    def __init__(self, trees: Iterable[Tree], vocabulary: Vocabulary, chains: ChainTable, device: torch.device) -> None:
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
        # Forms stay on the host, where those of a batch are made distinct without waiting for the device.
        self.host_forms = np.concatenate(form_rows)
        self.starts = self.lengths.cumsum() - self.lengths
        self.tags = Ragged(tags, device)
        self.member, self.before = Ragged(_widen(member), device), Ragged(_widen(before), device)
        self.gold = Ragged(gold, device)
        self.gold_words = np.array([rows.shape[1] for rows in member])  # words of bits for each sentence
        self.characters, self.form_lengths = form_tensors(list(forms), vocabulary, device)
        self.host_form_lengths = self.form_lengths.cpu().numpy()
        self.word_of_form = torch.tensor([vocabulary.word_id(form) for form in forms], device=device)

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
        )

    def gold_batch(self, chosen: np.ndarray, index: Tensor, width: int) -> Gold:
        """The gold constituents of the sentences `chosen`, padded to `width` tokens, for the oracle."""
        words = int(self.gold_words[chosen].max())
        return Gold(
            self.member.padded(index, width)[:, :, :words],
            self.before.padded(index, width + 1)[:, :, :words],
            self.gold.padded(index, words * BITS),
            self.gold.device_counts[index],
        )


Rows = tuple[np.ndarray, np.ndarray]  # of one sentence: foci [F, 5] and pairs [R, 3], see `split_decisions`


class DecisionStore:
    """The decisions of one derivation for every sentence, kept on the device."""

    def __init__(self, rows: Sequence[Rows], device: torch.device) -> None:
        self.rows = rows
        self.device = device
        self.foci = Ragged([foci for foci, _ in rows], device)
        self.pairs = Ragged([pairs for _, pairs in rows], device)

    @classmethod
    def of_oracle(cls, corpus: Corpus, batch_tokens: int = 8192) -> DecisionStore:
        """What the oracle does on its own, from the first step to the last."""
        rows: dict[int, Rows] = {}
        order = np.argsort(corpus.lengths, kind="stable")
        for chosen in by_budget(order, corpus.lengths, batch_tokens):
            index = torch.from_numpy(chosen).to(corpus.device)
            width = int(corpus.lengths[chosen].max())
            machine = Lockstep(corpus.device_lengths[index], width)
            oracle = LockstepOracle(corpus.gold_batch(chosen, index, width), machine)
            trace = run_with_oracle(machine, oracle, complete=True)
            decisions = decisions_of(trace, corpus.lengths[chosen])
            rows.update(split_decisions(decisions, chosen, corpus.lengths[chosen], width))
        return cls([rows[k] for k in range(len(corpus))], corpus.device)

    def replacing(self, rows: dict[int, Rows]) -> DecisionStore:
        """The same with other derivations for some sentences."""
        return DecisionStore([rows.get(k, row) for k, row in enumerate(self.rows)], self.device)

    def batch(self, chosen: np.ndarray, index: Tensor, width: int) -> Decisions:
        """The decisions of sentences `chosen`, as `decisions_of` gives them for a batch padded to `width`."""
        foci, sentence = self.foci.flat(chosen, index)
        base = (sentence * width)[:, None]
        positions = foci[:, :4].long()
        focus = torch.where(positions < 0, len(chosen) * width, base + positions)
        pairs, sentence = self.pairs.flat(chosen, index)
        counts = self.foci.device_counts[index]
        start = (counts.cumsum(0) - counts)[sentence]
        item = pairs[:, 1].long()
        item = torch.where(item >= 0, start + item, len(focus) + sentence * width - 2 - item)
        return Decisions(focus, foci[:, 4].long(), start + pairs[:, 0], item, pairs[:, 2].bool())


def split_decisions(batch: Decisions, chosen: np.ndarray, lengths: np.ndarray, width: int) -> dict[int, Rows]:
    """The decisions of each sentence of a batch, relative to the sentence.

    Foci are their four positions (-1 for nil) and the gold label; pairs are the step of the focus, the item (the step
    that made it, or -2 - i for the singleton of token i) and whether it is optimal.
    """
    foci, label = batch.focus.cpu().numpy(), batch.label.cpu().numpy()
    pair_focus, pair_item = batch.pair_focus.cpu().numpy(), batch.pair_item.cpu().numpy()
    optimal = batch.pair_optimal.cpu().numpy()
    ends = (2 * lengths - 1).cumsum()
    starts = ends - (2 * lengths - 1)
    nil = len(lengths) * width
    by_focus = np.argsort(pair_focus, kind="stable")
    borders = np.searchsorted(pair_focus[by_focus], np.append(starts, ends[-1]))
    rows = {}
    for b, k in enumerate(chosen.tolist()):
        positions = foci[starts[b] : ends[b]]
        positions = np.where(positions == nil, -1, positions - b * width)
        mine = by_focus[borders[b] : borders[b + 1]]
        item = pair_item[mine]
        item = np.where(item < len(foci), item - starts[b], -2 - (item - len(foci) - b * width))
        pairs = np.stack([pair_focus[mine] - starts[b], item, optimal[mine].astype(np.int64)], 1)
        table = np.concatenate([positions, label[starts[b] : ends[b], None]], 1)
        rows[k] = (table.astype(np.int32), pairs.astype(np.int32))
    return rows


def form_tensors(forms: Sequence[str], vocabulary: Vocabulary, device: torch.device) -> tuple[Tensor, Tensor]:
    """Character ids of word forms [U, L] and their lengths [U]."""
    spelled = [vocabulary.character_ids(form) for form in forms]
    lengths = np.array([len(ids) for ids in spelled])
    table = np.zeros((len(forms), int(lengths.max())), dtype=np.int32)
    for row, ids in zip(table, spelled, strict=True):
        row[: len(ids)] = ids
    return torch.from_numpy(table).to(device), torch.from_numpy(lengths).to(device)


def by_budget(order: np.ndarray, lengths: np.ndarray, budget: int) -> list[np.ndarray]:
    """Cut sentences, sorted by length, into batches of at most `budget` tokens with padding (or one sentence)."""
    batches, start = [], 0
    sizes = lengths[order].tolist()  # numbers of Python's own are much quicker to look at one by one
    while start < len(order):
        longest = sizes[start]
        end = start + 1
        while end < len(order) and (end + 1 - start) * max(longest, sizes[end]) <= budget:
            longest = max(longest, sizes[end])
            end += 1
        batches.append(order[start:end])
        start = end
    return batches


def _widen(rows: list[np.ndarray]) -> list[np.ndarray]:
    """Give all matrices as many columns as the widest has."""
    widest = max(row.shape[1] for row in rows)
    wide = np.zeros((sum(len(row) for row in rows), widest), dtype=np.int64)
    views = np.split(wide, np.cumsum([len(row) for row in rows])[:-1])
    for view, row in zip(views, rows, strict=True):
        view[:, : row.shape[1]] = row
    return views
