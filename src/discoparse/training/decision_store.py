"""The decisions of derivations, kept on the device sentence by sentence and gathered into batches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from discoparse.neural.batching import by_budget
from discoparse.neural.lockstep import Lockstep, LockstepOracle, run_with_oracle
from discoparse.training.corpus import Corpus, Ragged
from discoparse.training.objective import Decisions, decisions_of

Rows = tuple[np.ndarray, np.ndarray]  # of one sentence: foci [F, 5] and pairs [R, 3], see `split_decisions`


class DecisionStore:
    """The decisions of one derivation of every sentence, kept on the device."""

    def __init__(self, rows: Sequence[Rows], device: torch.device) -> None:
        self.rows = rows
        self.device = device
        self.foci = Ragged([foci for foci, _ in rows], device)
        self.pairs = Ragged([pairs for _, pairs in rows], device)

    @classmethod
    def of_oracle(cls, corpus: Corpus, complete: bool, batch_tokens: int = 8192) -> DecisionStore:
        """The preferred actions of the complete set or of `o_even`, followed from the first step to the last."""
        rows: dict[int, Rows] = {}
        order = np.argsort(corpus.lengths, kind="stable")
        for chosen in by_budget(order, corpus.lengths, batch_tokens):
            index = torch.from_numpy(chosen).to(corpus.device)
            width = int(corpus.lengths[chosen].max())
            machine = Lockstep(corpus.device_lengths[index], width)
            oracle = LockstepOracle(corpus.gold_batch(chosen, index, width), machine)
            trace = run_with_oracle(machine, oracle, complete=complete)
            decisions = decisions_of(trace, corpus.lengths[chosen])
            rows.update(split_decisions(decisions, chosen, corpus.lengths[chosen], width))
        return cls([rows[k] for k in range(len(corpus))], corpus.device)

    def replacing(self, rows: dict[int, Rows]) -> DecisionStore:
        """A copy with other derivations for some sentences."""
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
        optimal = pairs[:, 2].bool()
        return Decisions(focus, foci[:, 4].long(), start + pairs[:, 0], item, optimal, len(chosen) * width)


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
