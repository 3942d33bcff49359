"""What a user knows about a tree before it is parsed: constituents, sets that are not one, labels and tags.

    {"constituents": [{"tokens": [0, 3], "label": "VP"}, {"tokens": [1, 2]}],
     "forbidden": [[2, 3]], "tags": {"0": "WP"}}

docs/guides/constraints.md describes the format; `Constraints.check` refuses what no tree can meet, with the pair that
clashes. How a parser keeps within constraints is in docs/reference/oracle.md and `discoparse.neural.constraints`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import index
from typing import Any, NamedTuple

from discoparse.errors import DiscoparseError
from discoparse.transform.unary import chains_of
from discoparse.tree import ROOT, Tree, indexes

UNSPECIFIED = "_"  # as a label or tag of a partial tree: not known
_NONE: frozenset[int] = frozenset()


class ConstraintError(DiscoparseError, ValueError):
    """Constraints that no tree can meet; `pair` has the two that clash, as JSON, where two do."""

    def __init__(self, message: str, pair: tuple[Any, Any] | None = None) -> None:
        super().__init__(message)
        self.pair = pair


@dataclass(frozen=True)
class Required:
    """Tokens that must be a constituent. With `label`, one of the nodes over them has it; with `labels`, the nodes over
    them are exactly these, from the top down."""

    tokens: frozenset[int]
    label: str | None = None
    labels: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """The inverse of what `Constraints.from_json` reads."""
        data: dict[str, Any] = {"tokens": sorted(self.tokens)}
        if self.label is not None:
            data["label"] = self.label
        if self.labels is not None:
            data["labels"] = list(self.labels)
        return data


class _Facts(NamedTuple):
    by_mask: dict[int, Required]
    label_clash: tuple[Required, Required] | None  # two requirements with the same tokens but different labels
    nested: bool  # of any two sets, one contains the other or they are disjoint


@dataclass(frozen=True)
class Constraints:
    """What the tree of one sentence must be like."""

    constituents: tuple[Required, ...] = ()
    forbidden: tuple[frozenset[int], ...] = ()  # sets of tokens that must not be a constituent
    tags: Mapping[int, str] = field(default_factory=dict)  # by token
    words: tuple[str, ...] | None = None  # of the sentence that is meant; compared with the sentence if given

    @classmethod
    def from_json(cls, data: object) -> Constraints:
        """Constraints from JSON, or from Python data of the same form; `ConstraintError` says what is wrong with it.

        >>> Constraints.from_json({"constituents": [[1, 2]], "tags": {"0": "WP"}}).constituents
        (Required(tokens=frozenset({1, 2}), label=None, labels=None),)
        """
        fields = _fields(data, ("constituents", "forbidden", "tags", "words"), "constraints")
        words = fields.get("words")
        return cls(
            tuple(_required(entry) for entry in _list(fields.get("constituents", ()), "constituents")),
            tuple(_forbidden(entry) for entry in _list(fields.get("forbidden", ()), "forbidden")),
            _tags(fields.get("tags", {})),
            None if words is None else tuple(_name(word, "words") for word in _list(words, "words")),
        )

    @classmethod
    def from_tree(cls, tree: Tree, *, tags: bool = False) -> Constraints:
        """All constituents of a tree that may be partial, with their labels, and with `tags` its tags.

        A label or tag `_` is not known; within a unary chain it stands for nothing. Of nodes over the whole sentence
        only the lowest label counts, and `ROOT` does not: formats that need a root add it.

        >>> from discoparse.treebank.discbracket import parse_tree
        >>> Constraints.from_tree(parse_tree("(ROOT (_ (_ 0=what) (VB 2=do)) (TO 1=to))"), tags=True).to_json()
        {'constituents': [{'tokens': [0, 2]}], 'tags': {'1': 'TO', '2': 'VB'}}
        """
        required: list[Required] = []
        for labels, mask in chains_of(tree):
            tokens = frozenset(indexes(mask))
            known = tuple(label for label in labels if label != UNSPECIFIED)
            if len(tokens) == len(tree):
                lowest = [label for label in known if label != ROOT][-1:]
                required.extend(Required(tokens, label) for label in lowest)
            elif len(known) > 1:
                required.append(Required(tokens, labels=known))
            else:
                required.append(Required(tokens, known[0] if known else None))
        given = {k: token.tag for k, token in enumerate(tree.tokens) if tags and token.tag != UNSPECIFIED}
        return cls(tuple(required), tags=given)

    def to_json(self) -> dict[str, Any]:
        """The constraints as data that `from_json` reads; what is absent is left out."""
        data: dict[str, Any] = {
            "constituents": [entry.to_json() for entry in self.constituents],
            "forbidden": [sorted(tokens) for tokens in self.forbidden],
            "tags": {str(token): tag for token, tag in self.tags.items()},
            "words": None if self.words is None else list(self.words),
        }
        return {key: value for key, value in data.items() if value}

    def __bool__(self) -> bool:
        """Whether anything is constrained."""
        return bool(self.constituents or self.forbidden or self.tags)

    def check(self, words: Sequence[str]) -> None:
        """Refuse constraints that no tree over these words can meet, or that are about other words."""
        if self.words is not None and list(self.words) != list(words):
            raise ConstraintError(f"the constraints are for the sentence {_quoted(self.words)}, not {_quoted(words)}")
        first, last = self._extent
        if first < 0 or last >= len(words):  # before bit masks are made of them
            self._refuse_tokens(chain.from_iterable(self._token_sets()), words)
        if self.tags:
            self._refuse_tokens(self.tags, words)
        for entry in self.constituents:
            _refuse_names(entry.label, entry.labels)
        facts = self._facts
        if 0 in facts.by_mask:
            raise ConstraintError("a constituent without tokens is required")
        if facts.label_clash is not None:
            entry, other = facts.label_clash
            raise ConstraintError(
                f"{_shown(entry, words)} and {_shown(other, words)} have the same tokens but different labels; for "
                'nodes above each other, give all of them as "labels", from the top down',
                (entry.to_json(), other.to_json()),
            )
        if self.forbidden:
            self._check_forbidden(words)
        if not facts.nested:
            entry, other = self._overlap()
            raise ConstraintError(
                f"{_shown(entry, words)} and {_shown(other, words)} overlap, and neither contains the other",
                (entry.to_json(), other.to_json()),
            )

    @staticmethod
    def _refuse_tokens(tokens: Iterable[int], words: Sequence[str]) -> None:
        for token in tokens:
            if not 0 <= token < len(words):
                number = _kind(index(token))
                raise ConstraintError(f"there is no token {number}: the sentence has tokens 0 to {len(words) - 1}")

    # What depends on nothing but the constraints is found once, however often sentences are parsed with them.

    @property
    def by_mask(self) -> dict[int, Required]:
        """One requirement for each set of tokens, by its bit mask: the most specific one, as `check` lets only one have
        labels. Only for constraints that `check` has found to be possible."""
        return self._facts.by_mask

    @cached_property
    def forbidden_masks(self) -> list[int]:
        """The forbidden sets as bit masks, in the same way."""
        return list(map(_mask, self.forbidden))

    def _token_sets(self) -> list[frozenset[int]]:
        """All sets of tokens, required or forbidden."""
        return [*[entry.tokens for entry in self.constituents], *self.forbidden]

    @cached_property
    def _extent(self) -> tuple[int, int]:
        """The lowest and the highest number of a token in any set; no token at all fits every sentence."""
        tokens = _NONE.union(*self._token_sets())
        return (min(tokens), max(tokens)) if tokens else (0, -1)

    @cached_property
    def _facts(self) -> _Facts:
        """What is true of the required constituents, whatever sentence they are for. Makes bit masks: see `check`."""
        by_mask: dict[int, Required] = {}
        clash = None
        for entry in self.constituents:
            mask = _mask(entry.tokens)
            before = by_mask.setdefault(mask, entry)
            if before is entry or (entry.label is None and entry.labels is None):
                continue
            if before.label is None and before.labels is None:
                by_mask[mask] = entry
            elif _spelled(entry) != _spelled(before):
                clash = clash or (entry, before)
            elif entry.labels is not None:
                by_mask[mask] = entry
        return _Facts(by_mask, clash, _nested(by_mask))

    def _check_forbidden(self, words: Sequence[str]) -> None:
        for tokens, mask in zip(self.forbidden, self.forbidden_masks, strict=True):
            if len(tokens) == len(words):
                raise ConstraintError("the whole sentence is forbidden, but it is always a constituent")
            entry = self.by_mask.get(mask)
            if entry is not None:
                raise ConstraintError(
                    f"{_shown(entry, words)} is both required and forbidden",
                    (entry.to_json(), {"forbidden": sorted(tokens)}),
                )

    def _overlap(self) -> tuple[Required, Required]:
        """Two requirements that overlap: two constituents of a tree are disjoint, or one contains the other."""
        largest_first = sorted(self.constituents, key=lambda entry: -len(entry.tokens))
        lowest: dict[int, Required] = {}  # the smallest requirement so far around each token
        for entry in largest_first:
            around = [lowest[token] for token in entry.tokens if token in lowest]
            other = min(around, key=lambda one: len(one.tokens), default=None)
            if other is not None and not entry.tokens <= other.tokens:
                return entry, other
            lowest.update(dict.fromkeys(entry.tokens, entry))
        raise AssertionError("of sets that are not nested, some two overlap")


def _mask(tokens: frozenset[int]) -> int:
    mask = 0
    for token in tokens:
        mask |= 1 << index(token)  # numbers of other kinds, such as NumPy's, may be too small for a mask
    return mask


def _nested(masks: Iterable[int]) -> bool:
    """Whether of any two sets, one contains the other or they are disjoint. Fast, but does not say which two clash.

    >>> _nested([0b1010, 0b0101, 0b0001]), _nested([0b0110, 0b0011])
    (True, False)
    """
    tops: dict[int, int] = {}  # the sets so far that no other contains, by their first token
    covered = 0
    for mask in sorted(masks):  # a set comes after all sets within it
        rest = mask & covered  # the union of some of these sets, unless one is only partly in this set
        while rest:
            top = tops.pop(rest & -rest, 0)
            if not top:
                return False
            rest ^= top  # if some of it is not in this set, that is left over, and no set begins there
        tops[mask & -mask] = mask
        covered |= mask
    return True


def _spelled(entry: Required) -> tuple[str, ...]:
    return entry.labels if entry.labels is not None else (entry.label or "",)


def _shown(entry: Required, words: Sequence[str]) -> str:
    """A requirement for a message: its label, its tokens, and its words."""
    label = _short("+".join(_spelled(entry))) or "a constituent"
    tokens = sorted(entry.tokens)
    numbers = _short(", ".join(map(str, tokens)), 100)
    return f"{label} over the tokens {numbers} {_quoted([words[k] for k in tokens])}"


def _quoted(words: Sequence[str]) -> str:
    return repr(_short(" ".join(words)))


def _short(text: str, most: int = 50) -> str:
    """The beginning of a text that is too long for a message."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _fields(data: object, known: Sequence[str], what: str) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise ConstraintError(f"{what} must be an object with {', '.join(known)}, not {_kind(data)}")
    for key in data:
        if key not in known:
            raise ConstraintError(f"{what} have no {_kind(key)}: they have {', '.join(known)}")
    return data


def _required(entry: object) -> Required:
    if not isinstance(entry, Mapping):
        return Required(_tokens(entry, "a constituent"))
    fields = _fields(entry, ("tokens", "label", "labels"), "constituents")
    label, labels = fields.get("label"), fields.get("labels")
    _refuse_names(label, None if labels is None else _list(labels, "labels"))
    return Required(
        _tokens(fields.get("tokens"), "a constituent"),
        None if label is None else _name(label, "label"),
        None if labels is None else tuple(_name(part, "labels") for part in labels),
    )


def _refuse_names(label: object, labels: Sequence[object] | None) -> None:
    """Refuse what a requirement cannot say of its labels, in JSON or in Python."""
    if labels is None:
        return
    if label is not None:
        raise ConstraintError('a constituent has either "label" (one of its nodes) or "labels" (all of them), not both')
    if not labels:
        raise ConstraintError('"labels" is empty: to say that tokens are not a constituent, put them under "forbidden"')


def _forbidden(entry: object) -> frozenset[int]:
    if isinstance(entry, Mapping):
        entry = _fields(entry, ("tokens",), "forbidden sets").get("tokens")
    return _tokens(entry, "a forbidden set")


def _tokens(value: object, what: str) -> frozenset[int]:
    tokens = list(value) if isinstance(value, list | tuple | set | frozenset | range) else []
    if not tokens or any(type(token) is not int for token in tokens):
        raise ConstraintError(f"the tokens of {what} must be a list of numbers, counted from 0, not {_kind(value)}")
    return frozenset(tokens)


def _tags(value: object) -> dict[int, str]:
    if not isinstance(value, Mapping):
        raise ConstraintError(f'tags must be an object such as {{"0": "WP"}}, not {_kind(value)}')
    found: dict[int, str] = {}
    for token, tag in value.items():
        number = _number(token)
        _name(tag, "tags")
        if found.setdefault(number, tag) != tag:
            raise ConstraintError(f"token {_kind(number)} has two tags, {_kind(found[number])} and {_kind(tag)}")
    return found


def _number(token: object) -> int:
    """The number of a token that is a key, and as that text in JSON."""
    if type(token) is int:
        return token
    if isinstance(token, str) and token.isdecimal():
        with suppress(ValueError):  # Python reads no number of thousands of digits
            return int(token)
    raise ConstraintError(f"tags are given by the numbers of tokens, and {_kind(token)} is not one")


def _list(value: object, what: str) -> Sequence[Any]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ConstraintError(f"{what} must be a list, not {_kind(value)}")
    return value


def _name(value: object, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise ConstraintError(f"{what} must be text, not {_kind(value)}")
    return value


def _kind(value: object) -> str:
    """A value for a message, which is short whatever the value is."""
    try:
        shown = repr(value)
    except ValueError:  # Python writes no number of thousands of digits
        return "a huge number"
    return _short(shown, 40)
