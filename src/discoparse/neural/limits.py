"""Constraints on a sentence in the ids of a model: which sets, labels and tags its tree must have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discoparse.errors import did_you_mean
from discoparse.neural.codes import longest_chain
from discoparse.neural.vocabulary import Vocabulary
from discoparse.system.constraints import ConstraintError, Constraints, Required


@dataclass(frozen=True)
class Limits:
    """The constraints on one sentence in the ids of a model. Required constituent k is `required[k]`, a bit mask; the
    whole sentence is always among them."""

    length: int
    required: list[int]
    codes: list[int]  # of each, the code of its whole chain if that is fixed, else 0
    wanted: list[list[int]]  # of each, label ids of which its chain must have one; empty if any will do
    forbidden: list[int]  # bit masks
    tags: dict[int, int]


def free(length: int) -> Limits:
    """No constraints."""
    return Limits(length, [(1 << length) - 1], [0], [[]], [], {})


def limits_for(constraints: Constraints, words: Sequence[str], vocabulary: Vocabulary, spells: bool) -> Limits:
    """The constraints on a sentence, checked; `ConstraintError` where they clash or the model does not know a name.

    `spells` tells whether the labeller spells chains node by node.
    """
    constraints.check(words)
    limits = free(len(words))
    for tokens, entry in constraints.by_tokens().items():
        mask = _mask(tokens)
        if mask != limits.required[0]:
            limits.required.append(mask)
            limits.codes.append(0)
            limits.wanted.append([])
        k = 0 if mask == limits.required[0] else -1
        if entry.labels is not None:
            limits.codes[k] = _chain_code(entry.labels, vocabulary, spells)
        elif entry.label is not None:
            limits.wanted[k] = _ids_with(entry, vocabulary)
    limits.forbidden.extend(map(_mask, constraints.forbidden))
    for token, tag in constraints.tags.items():
        if tag not in vocabulary.tags:
            raise ConstraintError(
                f"the model has no tag {tag!r} (of token {token}).{did_you_mean(tag, vocabulary.tags)}"
            )
        limits.tags[token] = vocabulary.tags.index(tag)
    return limits


def _mask(tokens: frozenset[int]) -> int:
    return sum(1 << token for token in tokens)


def _ids_with(entry: Required, vocabulary: Vocabulary) -> list[int]:
    """The labels of the labeller that have a label, maybe among others."""
    found = [k for k, chain in enumerate(vocabulary.labels, 1) if entry.label in chain]
    if not found and entry.label is not None:
        raise ConstraintError(_unknown_label(entry.label, vocabulary))
    return found


def _chain_code(labels: tuple[str, ...], vocabulary: Vocabulary, spells: bool) -> int:
    """The code of a whole chain, see `labelling.spell_code`."""
    ids = {chain: k for k, chain in enumerate(vocabulary.labels, 1)}
    parts = [(label,) for label in labels] if spells else [labels]
    for part in parts:
        if part not in ids:
            raise ConstraintError(_unknown_label("+".join(part), vocabulary))
    count = len(vocabulary.labels) + 1
    if len(parts) > longest_chain(count):
        raise ConstraintError(
            f"the chain {'+'.join(labels)} has {len(parts)} nodes; the parser stacks at most {longest_chain(count)}"
        )
    return sum(ids[part] * count**level for level, part in enumerate(reversed(parts)))


def _unknown_label(label: str, vocabulary: Vocabulary) -> str:
    known = ["+".join(chain) for chain in vocabulary.labels]
    return f"the model has no label {label!r}.{did_you_mean(label, known)}"
