"""Batches of random gold trees with the oracle beside them."""

from __future__ import annotations

import random

import numpy as np
import torch
from walks import random_gold

from discoparse.neural.lockstep import Lockstep, LockstepOracle, gold_tensors, run_with_oracle
from discoparse.training.objective import decisions_of


def mask_of(indexes) -> int:
    return sum(1 << i for i in indexes)


def label_ids(gold) -> dict[str, int]:
    return {label: k for k, label in enumerate(sorted({label for label, _ in gold}), 1)}


def batch_oracle(golds, lengths) -> tuple[Lockstep, LockstepOracle, list[dict[str, int]]]:
    machine = Lockstep(torch.tensor(lengths))
    ids = [label_ids(gold) for gold in golds]
    rows = [[(ids[b][label], mask_of(s)) for label, s in gold] for b, gold in enumerate(golds)]
    return machine, LockstepOracle(gold_tensors(rows, lengths), machine), ids


def decisions_for(seed: int):
    """A batch of random trees, the oracle's decisions on it and random token vectors."""
    chance = random.Random(seed)
    lengths = [chance.randint(1, 9) for _ in range(6)]
    machine, oracle, _ = batch_oracle([random_gold(chance, n) for n in lengths], lengths)
    trace = run_with_oracle(machine, oracle, complete=True)
    return trace, decisions_of(trace, np.array(lengths)), machine, oracle, torch.randn(6, machine.width, 16)
