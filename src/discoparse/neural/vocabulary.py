"""What a model knows by name: words, characters, tags and labels, and how sentences become ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

from discoparse.neural.pieces import PieceVocabulary
from discoparse.transform.spelling import plain_word
from discoparse.transform.unary import Chain, chains_of
from discoparse.tree import Tree

UNKNOWN = 0  # id of the UNK word and of the unknown character
LONGEST_FORM = 40  # characters of a word that the network reads; of longer words, both ends


@dataclass(frozen=True)
class Vocabulary:
    """Names in the order of their ids. Label 0 is NO-LABEL, word and character 0 are the unknown ones."""

    words: list[str]
    characters: list[str]
    tags: list[str]
    labels: list[Chain]  # what the labeller chooses from; single labels where it spells chains node by node
    rare: int  # words from this id on are the least frequent word types, which UNK stands in for while training
    pieces: PieceVocabulary | None = None  # of a pretrained encoder
    added: tuple[int, ...] = ()  # where the words begin that treebanks added to those of a trained model
    _word_ids: dict[str, int] = field(init=False, repr=False, compare=False)
    _character_ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_word_ids", {word: k for k, word in enumerate(self.words, 1)})
        object.__setattr__(self, "_character_ids", {character: k for k, character in enumerate(self.characters, 1)})

    @classmethod
    def from_trees(
        cls, trees: Iterable[Tree], chains: bool, min_frequency: int = 1, rare_share: float = 2 / 3
    ) -> Vocabulary:
        """Count what is in a treebank. With `chains`, the labeller spells unary chains node by node."""
        words: Counter[str] = Counter()
        characters: Counter[str] = Counter()
        tags: Counter[str] = Counter()
        labels: Counter[Chain] = Counter()
        for tree in trees:
            words.update(tree.words)
            tags.update(tree.tags)
            if chains:
                labels.update((node.label,) for node in tree.preorder())
            else:
                labels.update(chain for chain, _ in chains_of(tree))
        words = _plain(words)
        for word, count in words.items():
            characters.update(dict.fromkeys(word, count))
        ranked = [word for word, _ in _ranked(words)]
        kept = [word for word in ranked if words[word] >= min_frequency]
        frequent = len(ranked) - round(rare_share * len(ranked))
        return cls(
            kept,
            [character for character, _ in _ranked(characters)],
            [tag for tag, _ in _ranked(tags)],
            [label for label, _ in _ranked(labels)],
            rare=min(frequent, len(kept)) + 1,
        )

    @cached_property
    def ranks(self) -> Mapping[str, int]:
        """See `word_ranks`."""
        return word_ranks(self.words, self.added) if self.added else self._word_ids

    def word_id(self, word: str) -> int:
        return self._word_ids.get(plain_word(word), UNKNOWN)

    def character_ids(self, word: str) -> list[int]:
        """Ids of the characters of a word; at least one."""
        word = plain_word(word) or " "
        if len(word) > LONGEST_FORM:
            word = word[: LONGEST_FORM // 2] + word[-LONGEST_FORM // 2 :]
        ids = self._character_ids
        return [ids.get(character, UNKNOWN) for character in word]

    @cached_property
    def tag_ids(self) -> dict[str, int]:
        """The id of each tag."""
        return {tag: k for k, tag in enumerate(self.tags)}

    @cached_property
    def label_ids(self) -> dict[Chain, int]:
        """The id of each of the labeller's labels, which may be chains."""
        return {chain: k for k, chain in enumerate(self.labels, 1)}

    @cached_property
    def ids_with(self) -> dict[str, list[int]]:
        """The ids of the labeller's labels that have a label, maybe among others."""
        found: dict[str, list[int]] = {}
        for chain, k in self.label_ids.items():
            for label in dict.fromkeys(chain):
                found.setdefault(label, []).append(k)
        return found

    def to_json(self) -> dict[str, object]:
        """For `from_json`."""
        return {
            "words": self.words,
            "characters": self.characters,
            "tags": self.tags,
            "labels": [list(chain) for chain in self.labels],
            "rare": self.rare,
            **({"added": list(self.added)} if self.added else {}),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Vocabulary:
        labels = [tuple(chain) for chain in data["labels"]]
        added = tuple(data.get("added", ()))
        return cls(data["words"], data["characters"], data["tags"], labels, data["rare"], added=added)


def word_ranks(words: Sequence[str], added: Sequence[int] = ()) -> dict[str, int]:
    """How frequent words are: the most frequent one has 1. Those that a treebank added are ranked by themselves, since
    it may be of another language than the words before.

    >>> word_ranks(["og", "er", "eða", "ella"], [3])
    {'og': 1, 'er': 2, 'eða': 3, 'ella': 1}
    """
    starts = [0, *added, len(words)]
    return {word: rank for start, end in pairwise(starts) for rank, word in enumerate(words[start:end], 1)}


def _plain(words: Counter[str]) -> Counter[str]:
    """Count the spellings of a bracket as one word."""
    plain: Counter[str] = Counter()
    for word, count in words.items():
        plain[plain_word(word)] += count
    return plain


def _ranked(counts: Counter[Any]) -> list[tuple[Any, int]]:
    """By frequency, then by name: the same order whatever the order of the trees."""
    return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
