"""The transition system for a batch of sentences as tensors, advanced together, with the oracle beside it.

The semantics are those of `transition` and `oracle`; tests prove it. What makes it fast:

* An item of the memory is named by its left index min(s), which is unique: a slot per token instead of a list.
* The slot of the next token stands for SHIFT (no item can start there yet), so a structural action is one slot:
  combine with the item of that left index or, at the slot of the next token, shift.
* Labels never change the structure, so only the 2n-1 structural steps are sequential.
* The oracle keeps, for every item, the set of gold constituents that contain it, as bits of a few integers. In the
  order of the paper (right index, then size) `next` is the lowest bit that is still reachable.

Shapes: B sentences of at most N tokens; T = 2N-1 structural steps; W words of bits for the gold constituents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

NO_LABEL = 0  # label ids of constituents start at 1
BITS = 62  # gold constituents per int64 word; two spare bits keep signs and float conversion out of the way


class Lockstep:
    """Configurations of B sentences after the same number of structural steps.

    The first action is always SHIFT, so the constructor takes it. A sentence of n tokens is done after 2n-1 steps;
    from then on `advance` leaves it alone, whatever its neighbours do.
    """

    def __init__(self, lengths: Tensor, width: int | None = None) -> None:
        """Pass `width` N to avoid a device sync."""
        device = lengths.device
        batch, width = len(lengths), int(lengths.max()) if width is None else width
        self.length = lengths  # [B]
        self.last = 2 * lengths - 2  # [B] the number of the last structural step
        self.width = width
        self.position = torch.arange(width, device=device)  # [N]
        self.next = torch.ones(batch, dtype=torch.long, device=device)  # [B] the paper's i
        self.left = torch.zeros_like(self.next)  # [B] min(s_f)
        # The left index of the item or focus that each token is part of; tokens in the buffer stand for themselves.
        self.owner = self.position.repeat(batch, 1)  # [B, N]
        self.memory = torch.zeros(batch, width, dtype=torch.bool, device=device)  # [B, N] slots that hold an item
        nil = torch.full_like(self.next, width)
        # min(s_f), max(s_f), first and last token of the gap; `width` stands for the paper's nil (Section 3.2).
        self.focus = torch.stack([self.left, self.left, nil, nil], 1)  # [B, 4]
        self.inside = self.position.repeat(batch, 1) == 0  # [B, N] the tokens of s_f

    @property
    def size(self) -> Tensor:
        """[B] |s_f|."""
        return self.inside.sum(1)

    def legal(self) -> Tensor:
        """The slots of all legal structural actions [B, N]; none where a sentence is done."""
        shift = (self.position == self.next[:, None]) & (self.next < self.length)[:, None]
        return self.memory | shift

    def advance(self, slot: Tensor) -> None:
        """Take one structural action a sentence; `slot` [B] must be legal, or the focus's own for one that is done."""
        slot_column, left_column = slot[:, None], self.left[:, None]
        shift = slot == self.next
        self.memory.scatter_(1, left_column, shift[:, None])  # SHIFT adds s_f to the memory
        self.memory.scatter_(1, slot_column, False)  # COMBINE takes s from it
        inside = self.owner == slot_column
        inside |= (self.owner == left_column) & ~shift[:, None]  # [B, N] the new focus
        self.left = torch.where(shift, slot, torch.minimum(self.left, slot))
        left_column = self.left[:, None]
        self.owner = torch.where(inside, left_column, self.owner)
        self.next = self.next + shift
        gap = (self.position > left_column) & (self.position < self.next[:, None]) & ~inside
        first = torch.where(gap, self.position, self.width).amin(1)
        last = torch.where(gap, self.position, -1).amax(1)
        last = torch.where(last < 0, self.width, last)
        self.focus = torch.stack([self.left, self.next - 1, first, last], 1)
        self.inside = inside


@dataclass
class GoldBatch:
    """The gold constituents of B sentences, in the order of the paper (right index, then size), as bit sets."""

    member: Tensor  # [B, N, W] the constituents that contain a token
    before: Tensor  # [B, N + 1, W] the constituents that end before a token
    packed: Tensor  # [B, W x BITS] right index, size and label (from 1) of each constituent, see `pack_constituent`
    count: Tensor  # [B] constituents of each sentence

    def tensors(self) -> list[Tensor]:
        """In the order of the fields."""
        return [self.member, self.before, self.packed, self.count]


FIELD = 20  # bits for a size and for a label in a packed constituent


def pack_constituent(right: Any, size: Any, label: Any) -> Any:
    """A constituent as one number (or many as an array or tensor), so that one look-up finds all of it."""
    return (right << 2 * FIELD) + (size << FIELD) + label


@dataclass
class GoldArrays:
    """The gold constituents of one sentence of n tokens, for batches; see `GoldBatch`."""

    member: np.ndarray  # [n, W]
    before: np.ndarray  # [n + 1, W]
    packed: np.ndarray  # [G]


def gold_arrays(tree: Iterable[tuple[int, int]], length: int) -> GoldArrays:
    """From (label id, yield as a bit mask) of every constituent; unary chains collapsed, the root included."""
    ordered = sorted(tree, key=lambda c: (c[1].bit_length(), c[1].bit_count()))
    words = -(-len(ordered) // BITS)
    inside = token_rows([mask for _, mask in ordered], length)  # [G, n]
    right = np.array([mask.bit_length() - 1 for _, mask in ordered])
    size = np.array([mask.bit_count() for _, mask in ordered])
    label = np.array([name for name, _ in ordered])
    over = right[:, None] < np.arange(length + 1)  # [G, n + 1] ends before a token
    member, before = _bit_rows(inside, words), _bit_rows(over, words)
    return GoldArrays(member, before, pack_constituent(right, size, label))


def token_rows(masks: Sequence[int], length: int) -> np.ndarray:
    """Sets of tokens, given as bit masks, as rows of 0 and 1 [G, n].

    >>> token_rows([0b101, 0b10], 3).tolist()
    [[1, 0, 1], [0, 1, 0]]
    """
    width = -(-length // 8)
    octets = np.frombuffer(b"".join([mask.to_bytes(width, "little") for mask in masks]), np.uint8)
    return np.unpackbits(octets.reshape(-1, width), axis=1, count=length, bitorder="little")


def _bit_rows(sets: np.ndarray, words: int) -> np.ndarray:
    """Sets as columns of 0 and 1 [G, n] -> the same as bits of int64 [n, W], `BITS` of them used in each word."""
    number = np.arange(len(sets))
    bits = np.zeros((words, 64, sets.shape[1]), dtype=np.uint8)
    bits[number // BITS, number % BITS] = sets
    octets = np.packbits(bits, axis=1, bitorder="little")  # [W, 8, n]
    return np.ascontiguousarray(octets.transpose(2, 0, 1)).view("<i8")[:, :, 0].astype(np.int64, copy=False)


def gold_tensors(trees: Sequence[Sequence[tuple[int, int]]], lengths: Sequence[int]) -> GoldBatch:
    """What `gold_arrays` gives for each sentence, for a batch at once; no sentence has none."""
    label = np.array([name for tree in trees for name, _ in tree])
    return gold_batch([mask for tree in trees for _, mask in tree], label, [len(tree) for tree in trees], lengths)


def gold_batch(masks: Sequence[int], label: np.ndarray, counts: Sequence[int], lengths: Sequence[int]) -> GoldBatch:
    """The same of G constituents in one row, those of the first sentence first: their bit masks and labels (from 1);
    for each of the B sentences the number of its constituents and its length."""
    count, length = np.array(counts), np.array(lengths)
    assert count.all()
    batch, width, words = len(count), max(lengths), -(-int(count.max()) // BITS)
    inside = token_rows(masks, width)  # [G, N]
    sentence = np.repeat(np.arange(batch), count)  # [G]
    right, size = width - 1 - inside[:, ::-1].argmax(1), inside.sum(1, dtype=np.int64)
    order = np.lexsort((size, right, sentence))
    starts = np.cumsum(count) - count
    number = np.arange(len(order)) - np.repeat(starts, count)  # [G] in that order, by sentence
    word, bit = number // BITS, np.left_shift(1, number % BITS)

    values = inside[order] * bit[:, None]  # [G, N]
    parts = [np.where(word[:, None] == w, values, 0) for w in range(words)] if words > 1 else [values]
    member = np.stack([np.bitwise_or.reduceat(part, starts, axis=0) for part in parts], 2)

    before = np.zeros((batch, width + 1, words), dtype=np.int64)
    np.bitwise_or.at(before, (sentence, right[order] + 1, word), bit)
    np.bitwise_or.accumulate(before, axis=1, out=before)
    before[np.arange(width + 1) > length[:, None]] = 0

    packed = np.zeros((batch, words * BITS), dtype=np.int64)
    packed[sentence, number] = pack_constituent(right, size, label)[order]
    return GoldBatch(*map(torch.from_numpy, (member, before, packed, count)))


class LockstepOracle:
    """The dynamic oracle for a batch, kept up to date as a `Lockstep` advances.

    A gold constituent leaves `reach` when a new focus overlaps it without being inside it, when max(s_f) passes its
    right end, or when it was the focus at a labelling step. Call, in this order and once a step: `gold_label`,
    `optimal`, `advance`.
    """

    def __init__(self, gold: GoldBatch, machine: Lockstep) -> None:
        batch, words = len(gold.count), gold.member.shape[2]
        self.gold = gold
        self.machine = machine
        self.inside = gold.member.clone()  # [B, N, W] for each slot, the gold constituents that contain its item
        self.focus = gold.member[:, 0].clone()  # [B, W] those that contain the focus
        self.right = machine.position.repeat(batch, 1)  # [B, N] right index of the item in each slot
        bits = torch.arange(words, device=gold.count.device) * BITS
        there = (gold.count[:, None] - bits).clamp(0, BITS)  # [B, W] constituents in each word
        self.reach = (torch.ones_like(there) << there) - 1  # [B, W]

    def _next(self) -> tuple[Tensor, Tensor]:
        """The paper's next(c, t*) as a word [B, 1] and a bit in it [B, 1]: the lowest reachable constituent."""
        word = (self.reach != 0).byte().argmax(1, keepdim=True)
        bits = self.reach.gather(1, word)
        return word, bits & -bits

    def gold_label(self) -> Tensor:
        """o_odd: the gold label of the focus [B], `NO_LABEL` where it is not a gold constituent.

        If the focus is gold it is `next`, since what ends with it and is reachable contains it. It counts as labelled
        from here on.
        """
        word, low = self._next()
        exponent = torch.frexp(low.double()).exponent  # exact, unlike log2 on a GPU; 0 where nothing is left
        number = (word * BITS + exponent - 1).clamp_(min=0)
        packed = self.gold.packed.gather(1, number)
        label = packed - pack_constituent(self.machine.next - 1, self.machine.size, 0)[:, None]
        here = (label > NO_LABEL) & (label < 1 << FIELD) & (low != 0)  # right index and size are the focus's
        self.reach.scatter_add_(1, word, torch.where(here, -low, 0))
        return torch.where(here, label, NO_LABEL).squeeze(1)

    def optimal(self, complete: bool) -> Tensor:
        """o_even: the slots of the best structural actions [B, N]; the paper's set or the complete one."""
        machine = self.machine
        upcoming = machine.next[:, None]
        if complete:  # s and s_f lie inside the same reachable constituents
            different = (self.inside ^ self.focus[:, None]) & self.reach[:, None]  # [B, N, W]
            combine = (different == 0).all(2)
        else:  # both lie inside s_g = next
            word, low = self._next()
            slots = self.inside.gather(2, word[:, None].expand(-1, machine.width, 1)).squeeze(2)
            combine = slots & (self.focus.gather(1, word) & low) != 0
        # max(s_g) > max(s_f): no reachable constituent ends here. At the end of the buffer the root does.
        ended = self.gold.before.gather(1, upcoming[:, :, None].expand(-1, 1, self.reach.shape[1])).squeeze(1)
        waiting = (self.reach & ended == 0).all(1, keepdim=True)  # [B, 1]
        shift = (machine.position == upcoming) & waiting
        return combine & machine.memory | shift

    def preferred(self, optimal: Tensor) -> Tensor:
        """One of the optimal slots [B]: combine before shift, then the highest right index (Section 3.5)."""
        rank = torch.where(self.machine.memory, self.right + 1, 0)
        return torch.where(optimal, rank, -1).argmax(1)

    def advance(self, slot: Tensor) -> None:
        """Follow the structural action `slot` [B]; call it before the `Lockstep` advances."""
        machine = self.machine
        column, left = slot[:, None], machine.left[:, None]
        rows = column[:, :, None].expand(-1, 1, self.inside.shape[2])
        item = self.inside.gather(1, rows).squeeze(1)  # [B, W]
        ended = self.gold.before.gather(1, rows).squeeze(1)
        shift = column == machine.next[:, None]
        lost = torch.where(shift, ended, self.focus ^ item)
        self.reach = self.reach & ~lost  # of a sentence that is done, nothing was left to reach
        self.inside.scatter_(1, left[:, :, None].expand_as(rows), self.focus[:, None])
        self.right.scatter_(1, left, machine.next[:, None] - 1)
        self.focus = torch.where(shift, item, self.focus & item)


# From configurations and the slots to choose from [B, N] to structural actions, slots [B]. Where a sentence is done,
# there is nothing to choose from, and the answer is not looked at. Without a policy the oracle leads; the network's
# (`scoring.ScoringPolicy`) is greedy or samples; `given` follows actions that are known.
Policy = Callable[[Lockstep, Tensor], Tensor]


def given(actions: Tensor) -> Policy:
    """The policy of known derivations [B, T], as `run` returns them: the first action is the constructor's SHIFT."""
    steps = iter(actions[:, 1:].unbind(1))
    return lambda machine, legal: next(steps)


@dataclass
class Trace:
    """What a batch of derivations did: all that decoding and training need.

    Step t of sentence b made the focus `focus[b, t]`; an item of the memory is a former focus, so `entered` names
    it by the step that made it. Entries past a sentence's 2n-1 steps are undefined.
    """

    focus: Tensor  # [B, T, 4]
    action: Tensor  # [B, T] slots; the first is SHIFT
    # With an oracle, after step t:
    entered: Tensor  # [B, T, N] the step that made the item in each slot of the memory, else -1
    next: Tensor  # [B, T] the next token, or -1 when the buffer is empty
    optimal: Tensor  # [B, T, N] the slots that the oracle wants
    label: Tensor  # [B, T] gold label of the focus
    key: Tensor | None = None  # [B, T] the sum of the numbers of the focus's tokens, if these have numbers

    def tensors(self) -> list[Tensor]:
        """In the order of the fields, without the keys."""
        return [self.focus, self.action, self.entered, self.next, self.optimal, self.label]


def run(machine: Lockstep, policy: Policy) -> Tensor:
    """Take all 2N-1 structural steps; returns the actions [B, T]."""
    action = [torch.zeros_like(machine.left)]
    for t in range(2 * machine.width - 2):
        slot = policy(machine, machine.legal())
        action.append(torch.where(machine.last > t, slot, machine.left))
        machine.advance(action[-1])
    return torch.stack(action, 1)


def run_with_oracle(
    machine: Lockstep,
    oracle: LockstepOracle,
    policy: Policy | None = None,
    *,
    complete: bool = False,
    single: bool = True,
    stay: bool = False,
) -> Trace:
    """Like `run`, with an oracle that is recorded at every step and, without a policy, chooses the actions.

    * `complete`: the oracle's set is the complete one, not the paper's.
    * `single`: what the oracle wants (`Trace.optimal`) is the one preferred action, not the whole set.
    * `stay`: the policy chooses among the oracle's whole set instead of all legal actions. So every derivation builds
      the gold tree, and the policy decides which of its derivations it is.
    """
    steps = 2 * machine.width - 1
    focus, action = [machine.focus], [torch.zeros_like(machine.left)]
    entered, upcoming, optimal, label = [], [], [], []
    made = torch.full_like(machine.owner, -1)  # [B, N] the step that made the item in each slot
    for t in range(steps):
        label.append(oracle.gold_label())
        entered.append(torch.where(machine.memory, made, -1))
        upcoming.append(torch.where(machine.next < machine.length, machine.next, -1))
        best = oracle.optimal(complete)
        if single or policy is None:
            preferred = oracle.preferred(best)
        optimal.append(machine.position == preferred[:, None] if single else best)
        if t == steps - 1:
            break
        slot = preferred if policy is None else policy(machine, best if stay else machine.legal())
        slot = torch.where(machine.last > t, slot, machine.left)
        oracle.advance(slot)
        made.scatter_(1, machine.left[:, None], t)
        machine.advance(slot)
        action.append(slot)
        focus.append(machine.focus)
    columns = (focus, action, entered, upcoming, optimal, label)
    return Trace(*(torch.stack(column, 1) for column in columns))
