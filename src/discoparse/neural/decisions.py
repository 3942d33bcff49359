"""What a decoder decides about sentences, and the same as arrays of labelled yields."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from discoparse.neural.codes import Chains
from discoparse.neural.replay import replay, yields

Words = Sequence[str]


@dataclass
class Decoded:
    """The decisions for a batch, on the host; entries past a sentence's 2n-1 steps are undefined."""

    actions: list[list[int]]  # [B][T] slots, see `lockstep`
    labels: list[list[int]]  # [B][T] codes of label chains, see `codes.spell_code`; 0 for NO-LABEL
    tags: list[list[int]]  # [B][N]
    probabilities: list[list[float]] | None  # [B][T] of the labels


@dataclass(frozen=True)
class LabelledYields:
    """The constituents of many sentences as arrays, sorted by sentence, and the tags of their words.

    Constituent c is in sentence `sentence[c]`, with the label chain `labels[label[c]]` (from the top down) over the
    tokens `token[start[c] : start[c + 1]]`. Word k of all sentences has the tag `tags[tag[k]]`.
    """

    sentence: np.ndarray  # [C]
    label: np.ndarray  # [C]
    start: np.ndarray  # [C + 1]
    token: np.ndarray  # [start[C]]
    tag: np.ndarray  # [words]
    labels: list[tuple[str, ...]]
    tags: list[str]


def labelled_yields(
    sentences: Sequence[Words], decoded: Iterable[tuple[np.ndarray, Decoded]], chains: Chains, all_tags: list[str]
) -> LabelledYields:
    """The constituents and tags of sentences as arrays, from batches of decisions."""
    lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
    codes: list[list[int]] = [[] for _ in sentences]
    masks: list[list[int]] = [[] for _ in sentences]
    tags: list[list[int]] = [[] for _ in sentences]
    for chosen, batch in decoded:
        for b, k in enumerate(chosen.tolist()):
            steps = 2 * len(sentences[k]) - 1
            labels = batch.labels[b][:steps]
            foci = yields(replay(batch.actions[b][:steps]))
            codes[k] = [code for code in labels if code]
            masks[k] = [focus for focus, code in zip(foci, labels, strict=True) if code]
            tags[k] = batch.tags[b][: len(sentences[k])]
    all_codes = np.array([code for sentence in codes for code in sentence], dtype=np.int64)
    distinct, label = np.unique(all_codes, return_inverse=True)
    sizes, token = members(masks)
    return LabelledYields(
        sentence=np.repeat(np.arange(len(lengths)), [len(sentence) for sentence in masks]),
        label=label,
        start=np.concatenate([[0], np.cumsum(sizes)]),
        token=token,
        tag=np.array([tag for sentence in tags for tag in sentence], dtype=np.int64),
        labels=[chains[code] for code in distinct.tolist()],
        tags=all_tags,
    )


def members(masks: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """The size of every set given as a bit mask, and the members of all, in order.

    >>> members([[0b101], [], [0b1, 0b11]])
    (array([2, 1, 2]), array([0, 2, 0, 0, 1]))
    """
    flat = [mask for sentence in masks for mask in sentence]
    octets = [-(-mask.bit_length() // 8) for mask in flat]
    packed = np.frombuffer(b"".join(mask.to_bytes(n, "little") for mask, n in zip(flat, octets, strict=True)), np.uint8)
    bits = np.flatnonzero(np.unpackbits(packed, bitorder="little"))  # counted from the first bit of the first set
    starts = 8 * (np.cumsum(octets, dtype=np.int64) - octets)
    owner = np.searchsorted(starts, bits, side="right") - 1
    return np.bincount(owner, minlength=len(flat)), bits - starts[owner]
