"""Constraints on a sentence in the ids of a model: which sets, labels and tags its tree must have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discoparse.errors import did_you_mean
from discoparse.neural.codes import longest_chain
from discoparse.neural.vocabulary import Vocabulary
from discoparse.system.constraints import ConstraintError, Constraints


@dataclass(slots=True)
class Limits:
    """The constraints on one sentence in the ids of a model. Required constituent k is `required[k]`, a bit mask; the
    whole sentence is always among them. Lists of label ids are shared with others: nothing may change them."""

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
    everything = limits.required[0]
    for mask, entry in constraints.by_mask.items():
        code = 0 if entry.labels is None else _chain_code(entry.labels, vocabulary, spells)
        wanted = [] if entry.label is None else _ids_with(entry.label, vocabulary)
        if mask == everything:
            limits.codes[0], limits.wanted[0] = code, wanted
        else:
            limits.required.append(mask)
            limits.codes.append(code)
            limits.wanted.append(wanted)
    if constraints.forbidden:
        limits.forbidden.extend(constraints.forbidden_masks)
    for token, tag in constraints.tags.items():
        if tag not in vocabulary.tag_ids:
            raise ConstraintError(
                f"the model has no tag {tag!r} (of token {token}).{did_you_mean(tag, vocabulary.tags)}"
            )
        limits.tags[token] = vocabulary.tag_ids[tag]
    return limits


def _ids_with(label: str, vocabulary: Vocabulary) -> list[int]:
    """The labels of the labeller that have a label, maybe among others."""
    found = vocabulary.ids_with.get(label)
    if found is None:
        raise ConstraintError(_unknown_label(label, vocabulary))
    return found


def _chain_code(labels: tuple[str, ...], vocabulary: Vocabulary, spells: bool) -> int:
    """The code of a whole chain, see `labelling.spell_code`."""
    ids = vocabulary.label_ids
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
