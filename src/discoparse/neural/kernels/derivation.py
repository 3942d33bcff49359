"""The structural pass of `lockstep` and `scoring` as one GPU kernel: a program takes a sentence from start to end.

Step by step from the host, the loop is thousands of launches of tiny kernels. Sentences do not depend on each other, so
one program can take a sentence through all of its 2n-1 structural steps: score the legal actions, choose one, ask the
oracle, advance. It decides as `Lockstep`, `LockstepOracle` and `ScoringPolicy` do, whose names it uses; a test compares
the two. Triton comes with PyTorch's builds for GPUs; where it is missing, the loop of `lockstep` does the work.

Shapes as there: B sentences of at most N tokens, T = 2N-1 structural steps, W words of bits, H units of FF_s.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from discoparse.neural.kernels.functions import tanh
from discoparse.neural.lockstep import BITS, FIELD, GoldBatch, Trace
from discoparse.neural.network import POSITIONS, Scorers

WIDEST = 512  # tokens: the state of a sentence lives in registers
MOST_UNITS = 256  # of FF_s's hidden layer: its weights must fit into the shared memory of any GPU
_CHUNK = 16  # actions scored at once, the fewest rows of a matrix product
_DEPTH = 32  # columns of the hidden layer that are multiplied at once


@triton.jit
def _exponent(power):  # type: ignore[no-untyped-def]
    """Of a power of two."""
    exponent = tl.zeros_like(power)
    for shift in tl.static_range(6):
        bits = 32 >> shift
        higher = (power >> bits) != 0
        exponent += tl.where(higher, bits, 0)
        power = tl.where(higher, power >> bits, power)
    return exponent


@triton.jit(do_not_specialize=["batch", "width", "words", "constituents", "copies"])
def _derive(  # type: ignore[no-untyped-def]
    table,  # [B N + 1, POSITIONS, 3H] every token at every position; the last row is nil
    items,  # [B, N, H] FF_s's first layer of the item in each slot, overwritten; at first the tokens' singletons
    focus_bias,  # [H]
    hidden_weight,  # [H, H] transposed: input, output
    hidden_bias,  # [H]
    output_weight,  # [H]
    seed,  # [1]
    lengths,  # [B]
    numbers,  # [N]
    member,  # [B, N, W]
    before,  # [B, N + 1, W]
    packed,  # [B, constituents]
    count,  # [B]
    focus_out,  # [B, T, 4]
    action_out,  # [B, T]
    entered_out,  # [B, T, N]
    next_out,  # [B, T]
    optimal_out,  # [B, T, N]
    label_out,  # [B, T]
    key_out,  # [B, T]
    batch,
    width,
    words,
    constituents,
    copies,  # rows of each sentence of the table, one after another
    hidden: tl.constexpr,
    oracle: tl.constexpr,
    complete: tl.constexpr,
    single: tl.constexpr,
    stay: tl.constexpr,
    sample: tl.constexpr,
    keyed: tl.constexpr,
    width_block: tl.constexpr,
    word_block: tl.constexpr,
    hidden_block: tl.constexpr,
    chunk: tl.constexpr,
    depth: tl.constexpr,
    positions: tl.constexpr,
    word_bits: tl.constexpr,
    field: tl.constexpr,
):
    b = tl.program_id(0).to(tl.int64)
    length = tl.load(lengths + b).to(tl.int32)
    steps = 2 * length - 1
    row = b * (2 * width - 1)  # of the outputs
    position = tl.arange(0, width_block)
    inside_width = position < width
    unit = tl.arange(0, hidden_block)
    column = tl.arange(0, depth)
    place = tl.arange(0, chunk)
    inner_bias = tl.load(hidden_bias + unit, mask=unit < hidden, other=0.0)
    output = tl.load(output_weight + unit, mask=unit < hidden, other=0.0)

    owner = position
    memory = position < 0
    right = position
    made = tl.full([width_block], -1, tl.int32)
    zero = length * 0  # what a loop changes must begin as a tensor
    upcoming = zero + 1  # the paper's i
    left = zero
    size = zero + 1
    gap_first = zero + width
    gap_last = zero + width
    if oracle:
        word = tl.arange(0, word_block)
        inside_words = word < words
        inside = tl.load(
            member + (b * width + position[:, None]) * words + word[None, :],
            mask=inside_width[:, None] & inside_words[None, :],
            other=0,
        )  # [N, W]
        focus = tl.load(member + b * width * words + word, mask=inside_words, other=0)  # [W]
        here = tl.load(count + b) - word * word_bits  # constituents in each word
        here = tl.minimum(tl.maximum(here, 0), word_bits)
        reach = (tl.full([word_block], 1, tl.int64) << here) - 1

    if keyed:
        number_of = tl.load(numbers + position, mask=inside_width, other=0)  # [N]
        key = tl.load(numbers)

    for t in range(0, steps):
        out = row + t
        tl.store(focus_out + out * 4, left)
        tl.store(focus_out + out * 4 + 1, upcoming - 1)
        tl.store(focus_out + out * 4 + 2, gap_first)
        tl.store(focus_out + out * 4 + 3, gap_last)
        if keyed:
            tl.store(key_out + out, key)
        legal = memory | ((position == upcoming) & (upcoming < length))
        if oracle:
            # gold_label
            first_word = tl.min(tl.where(reach != 0, word, word_block), axis=0)
            bits = tl.sum(tl.where(word == first_word, reach, 0), axis=0)
            low = bits & -bits
            number = first_word * word_bits + _exponent(low)
            wanted = tl.load(packed + b * constituents + number, mask=low != 0, other=0)
            label = wanted - ((upcoming - 1).to(tl.int64) << (2 * field)) - (size.to(tl.int64) << field)
            is_gold = (label > 0) & (label < (1 << field)) & (low != 0)
            tl.store(label_out + out, tl.where(is_gold, label, 0))
            reach = tl.where(is_gold & (word == first_word), reach - low, reach)
            tl.store(entered_out + out * width + position, tl.where(memory, made, -1), mask=inside_width)
            tl.store(next_out + out, tl.where(upcoming < length, upcoming, -1))
            # optimal
            if complete:
                different = (inside ^ focus[None, :]) & reach[None, :]
                combine = tl.sum((different != 0).to(tl.int32), axis=1) == 0
            else:
                first_word = tl.min(tl.where(reach != 0, word, word_block), axis=0)
                bits = tl.sum(tl.where(word == first_word, reach, 0), axis=0)
                both = bits & -bits & tl.sum(tl.where(word == first_word, focus, 0), axis=0)
                items_in = tl.sum(tl.where((word == first_word)[None, :], inside, 0), axis=1)
                combine = (items_in & both) != 0
            ended = tl.load(before + (b * (width + 1) + upcoming) * words + word, mask=inside_words, other=0)
            waiting = tl.sum(((reach & ended) != 0).to(tl.int32), axis=0) == 0
            optimal = (combine & memory) | ((position == upcoming) & waiting)
            if single:
                rank = tl.where(memory, right + 1, 0)
                preferred = tl.argmax(tl.where(optimal, rank, -1), axis=0)
                tl.store(optimal_out + out * width + position, position == preferred, mask=inside_width)
            else:
                tl.store(optimal_out + out * width + position, optimal, mask=inside_width)
            if stay:
                legal = optimal

        # The policy: FF_s of all legal actions, _CHUNK at a time. A single one need not be scored.
        nil = batch // copies * width
        origin = b // copies * width
        row_0 = origin + left
        row_1 = origin + upcoming - 1
        row_2 = tl.where(gap_first == width, nil, origin + gap_first)
        row_3 = tl.where(gap_last == width, nil, origin + gap_last)
        base_0 = table + (row_0 * positions + 0) * 3 * hidden
        base_1 = table + (row_1 * positions + 1) * 3 * hidden
        base_2 = table + (row_2 * positions + 2) * 3 * hidden
        base_3 = table + (row_3 * positions + 3) * 3 * hidden
        rank = tl.cumsum(legal.to(tl.int32), axis=0) - 1
        choices = tl.sum(legal.to(tl.int32), axis=0)
        best = tl.full([], -float("inf"), tl.float32)
        slot = tl.min(tl.where(legal, position, width), axis=0)  # some legal action, should no score be a number
        slot = tl.where(slot == width, left, slot)
        for start in range(0, tl.where(choices > 1, choices, 0), chunk):
            chosen = (rank[None, :] == (start + place)[:, None]) & legal[None, :]  # [chunk, N]
            # [chunk]; past the last choice it is slot 0, whose score is dropped below
            slots = tl.sum(tl.where(chosen, position[None, :], 0), axis=1)
            inner = tl.zeros([chunk, hidden_block], tl.float32)
            for k in range(0, hidden, depth):
                c = k + column
                there = c < hidden
                mine = tl.load(base_0 + hidden + c, mask=there, other=0.0)
                mine += tl.load(base_1 + hidden + c, mask=there, other=0.0)
                mine += tl.load(base_2 + hidden + c, mask=there, other=0.0)
                mine += tl.load(base_3 + hidden + c, mask=there, other=0.0)
                mine += tl.load(focus_bias + c, mask=there, other=0.0)
                x = tl.load(items + (b * width + slots[:, None]) * hidden + c[None, :], mask=there[None, :], other=0.0)
                x += mine[None, :]
                weight = tl.load(
                    hidden_weight + c[:, None] * hidden + unit[None, :],
                    mask=there[:, None] & (unit < hidden)[None, :],
                    other=0.0,
                )
                inner = tl.dot(tanh(x), weight, inner, input_precision="tf32x3")
            scores = tl.sum(tanh(inner + inner_bias[None, :]) * output[None, :], axis=1)
            if sample:  # Gumbel's trick, as in ScoringPolicy; should the offset wrap, noise repeats
                uniform = tl.rand(tl.load(seed), (out * width + slots).to(tl.int32))
                scores -= tl.log(-tl.log(tl.maximum(uniform, 1e-30)))
            scores = tl.where(start + place < choices, scores, -float("inf"))
            highest = tl.max(scores, axis=0)
            winner = tl.min(tl.where(scores == highest, slots, width), axis=0)  # the first of equals, as argmax
            slot = tl.where(highest > best, winner, slot)
            best = tl.maximum(highest, best)
        for k in range(0, hidden, depth):  # the focus as an item, should it go to the memory
            c = k + column
            there = c < hidden
            item = tl.load(base_0 + c, mask=there, other=0.0)
            item += tl.load(base_1 + c, mask=there, other=0.0)
            item += tl.load(base_2 + c, mask=there, other=0.0)
            item += tl.load(base_3 + c, mask=there, other=0.0)
            tl.store(items + (b * width + left) * hidden + c, item, mask=there)
        tl.debug_barrier()  # other threads read it in the next step
        if t < steps - 1:
            tl.store(action_out + out + 1, slot)

        # advance
        shift = slot == upcoming
        if oracle:
            item_bits = tl.sum(tl.where((position == slot)[:, None], inside, 0), axis=0)  # [W]
            ended = tl.load(before + (b * (width + 1) + slot) * words + word, mask=inside_words, other=0)
            reach = reach & ~tl.where(shift, ended, focus ^ item_bits)
            inside = tl.where((position == left)[:, None], focus[None, :], inside)
            made = tl.where(position == left, t, made)
            right = tl.where(position == left, upcoming - 1, right)
            focus = tl.where(shift, item_bits, focus & item_bits)
        memory = tl.where(position == left, shift, memory) & (position != slot)
        joined = (owner == slot) | ((owner == left) & (slot != upcoming))
        left = tl.where(shift, slot, tl.minimum(left, slot))
        owner = tl.where(joined, left, owner)
        upcoming += shift.to(tl.int32)
        gap = (position > left) & (position < upcoming) & (joined == 0)
        gap_first = tl.min(tl.where(gap, position, width), axis=0)
        gap_last = tl.max(tl.where(gap, position, -1), axis=0)
        gap_last = tl.where(gap_last < 0, width, gap_last)
        size = tl.sum(joined.to(tl.int32), axis=0)
        if keyed:
            key = tl.sum(tl.where(joined, number_of, 0), axis=0)


def derive(
    scorers: Scorers,
    tokens: Tensor,
    lengths: Tensor,
    gold: GoldBatch | None = None,
    *,
    sample: bool = False,
    complete: bool = False,
    single: bool = True,
    stay: bool = False,
    copies: int = 1,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
    numbers: Tensor | None = None,
) -> tuple[Trace, Tensor]:
    """The derivations of a batch by the network: token vectors [B, N, D], lengths [B].

    With `copies` there are that many rows of each sentence, one after another, so B times as many in the record; for
    samples, at a temperature. A batch with `gold` has one row of each. With `numbers` of the tokens [N], each focus is
    known by their sum.

    With `gold` the record has the oracle's part, as of `lockstep.run_with_oracle`, which see for the options; without,
    that part is empty. Also returns the tokens' projections [B N + 1, 4, 3H], of use for the labels.
    """
    batch, width = copies * tokens.shape[0], tokens.shape[1]
    device, steps, hidden = tokens.device, 2 * width - 1, len(scorers.pair_hidden.bias)
    lengths = lengths.repeat_interleave(copies)
    table = scorers.project(scorers.with_nil(tokens)).view(-1, POSITIONS, 3 * hidden)
    singletons = table[:-1, :2, :hidden].sum(1) + table[-1, 2:, :hidden].sum(0)
    singletons = singletons.view(-1, width, hidden).repeat_interleave(copies, 0)  # [B, N, H] overwritten row by row
    nothing = torch.empty(0, dtype=torch.long, device=device)
    recorded = steps if gold is not None else 0
    trace = Trace(
        focus=torch.zeros(batch, steps, POSITIONS, dtype=torch.long, device=device),
        action=torch.zeros(batch, steps, dtype=torch.long, device=device),
        entered=torch.full((batch, recorded, width), -1, device=device),
        next=torch.full((batch, recorded), -1, device=device),
        optimal=torch.zeros(batch, recorded, width, dtype=torch.bool, device=device),
        label=torch.zeros(batch, recorded, dtype=torch.long, device=device),
        key=None if numbers is None else torch.zeros(batch, steps, dtype=torch.long, device=device),
    )
    gold = gold or GoldBatch(nothing[:, None, None], nothing, nothing[:, None], nothing)
    words = gold.member.shape[-1]
    seed = torch.randint(1 << 31, (1,), device=device, generator=generator) if sample else nothing
    with torch.cuda.device_of(tokens):  # Triton launches on the current GPU
        _derive[(batch,)](
            table,
            singletons,
            scorers.pair_input.bias,
            scorers.pair_hidden.weight.t().contiguous(),
            scorers.pair_hidden.bias,
            scorers.pair_output.weight / temperature,
            seed,
            lengths,
            nothing if numbers is None else numbers,
            *(tensor.contiguous() for tensor in gold.tensors()),
            *trace.tensors(),
            nothing if trace.key is None else trace.key,
            batch,
            width,
            words,
            gold.packed.shape[-1],
            copies,
            hidden=hidden,
            oracle=recorded > 0,
            complete=complete,
            single=single,
            stay=stay,
            sample=sample,
            keyed=numbers is not None,
            width_block=max(16, triton.next_power_of_2(width)),
            word_block=triton.next_power_of_2(words),
            hidden_block=triton.next_power_of_2(hidden),
            chunk=_CHUNK,
            depth=_DEPTH,
            positions=POSITIONS,
            word_bits=BITS,
            field=FIELD,
        )
    return trace, table


def sample_rows(
    scorers: Scorers,
    tokens: Tensor,
    lengths: Tensor,
    samples: int,
    temperature: float,
    generator: torch.Generator,
    numbers: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Each sentence's greedy derivation and its samples, R = B x (samples + 1) rows: the structural actions [R, T], the
    positions of the foci [R, T, 4], and the sums of the `numbers` [N] of their tokens [R, T]."""
    greedy, _ = derive(scorers, tokens, lengths, numbers=numbers)
    options = {"copies": samples, "temperature": temperature, "generator": generator, "numbers": numbers}
    sampled, _ = derive(scorers, tokens, lengths, sample=True, **options)  # type: ignore[arg-type]
    assert greedy.key is not None
    assert sampled.key is not None

    def together(first: Tensor, others: Tensor) -> Tensor:
        rows = others.view(len(lengths), samples, *others.shape[1:])
        return torch.cat([first[:, None], rows], 1).flatten(0, 1)

    return (
        together(greedy.action, sampled.action),
        together(greedy.focus, sampled.focus),
        together(greedy.key, sampled.key),
    )
