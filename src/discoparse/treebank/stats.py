"""What is in a treebank: sentences, words, labels, and how discontinuous the trees are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from discoparse.transform.unary import chains_of
from discoparse.tree import Tree, gap_count


@dataclass
class Statistics:
    """Counts over trees, filled one tree at a time; memory grows with the vocabulary, not with the trees.

    >>> statistics = Statistics()
    >>> from discoparse.treebank.discbracket import parse_tree
    >>> statistics.add(parse_tree("(S (VP (WP 0=what) (VB 2=do)) (TO 1=to))"))
    >>> statistics.discontinuous_trees, statistics.discontinuous_constituents, statistics.constituents
    (1, 1, 2)
    """

    lengths: Counter[int] = field(default_factory=Counter)  # tokens in a sentence
    words: Counter[str] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    discontinuous_labels: Counter[str] = field(default_factory=Counter)
    gap_degrees: Counter[int] = field(default_factory=Counter)  # of constituents
    tree_gap_degrees: Counter[int] = field(default_factory=Counter)
    ill_nested_trees: int = 0
    unary_chains: Counter[str] = field(default_factory=Counter)  # two or more nodes of one yield, top first
    secondary_edges: int = 0

    def add(self, tree: Tree) -> None:
        """Count one tree."""
        self.lengths[len(tree)] += 1
        self.words.update(tree.words)
        self.tags.update(tree.tags)
        worst = 0
        for node, mask in tree.masks().items():
            gaps = gap_count(mask)
            worst = max(worst, gaps)
            self.gap_degrees[gaps] += 1
            self.labels[node.label] += 1
            if gaps:
                self.discontinuous_labels[node.label] += 1
        self.tree_gap_degrees[worst] += 1
        if worst and not tree.is_well_nested:
            self.ill_nested_trees += 1
        self.unary_chains.update(" > ".join(chain) for chain, _ in chains_of(tree) if len(chain) > 1)
        self.secondary_edges += len(tree.secondary_edges)

    def watching(self, trees: Iterable[Tree]) -> Iterator[Tree]:
        """The same trees, counted as they pass."""
        for tree in trees:
            self.add(tree)
            yield tree

    @property
    def sentences(self) -> int:
        return self.lengths.total()

    @property
    def tokens(self) -> int:
        return sum(length * count for length, count in self.lengths.items())

    @property
    def constituents(self) -> int:
        return self.labels.total()

    @property
    def discontinuous_trees(self) -> int:
        return self.sentences - self.tree_gap_degrees[0]

    @property
    def discontinuous_constituents(self) -> int:
        return self.discontinuous_labels.total()

    def length_summary(self) -> dict[str, float]:
        """Shortest, mean, median and longest sentence in tokens."""
        if not self.lengths:
            return {}
        return {
            "min": min(self.lengths),
            "mean": self.tokens / self.sentences,
            "median": _median(self.lengths),
            "max": max(self.lengths),
        }

    def to_json(self) -> dict[str, Any]:
        """Plain data for `--json`; counters most frequent first, except degrees, which go up."""
        return {
            "sentences": self.sentences,
            "tokens": self.tokens,
            "word_types": len(self.words),
            "lengths": self.length_summary(),
            "constituents": self.constituents,
            "labels": dict(self.labels.most_common()),
            "tags": dict(self.tags.most_common()),
            "discontinuous_trees": self.discontinuous_trees,
            "discontinuous_constituents": self.discontinuous_constituents,
            "discontinuous_labels": dict(self.discontinuous_labels.most_common()),
            "gap_degrees": {str(k): self.gap_degrees[k] for k in sorted(self.gap_degrees)},
            "tree_gap_degrees": {str(k): self.tree_gap_degrees[k] for k in sorted(self.tree_gap_degrees)},
            "ill_nested_trees": self.ill_nested_trees,
            "unary_chains": dict(self.unary_chains.most_common()),
            "secondary_edges": self.secondary_edges,
        }


def _median(counts: Counter[int]) -> float:
    """The median of numbers given with their counts.

    >>> _median(Counter([1, 2, 3, 10])), _median(Counter([5, 1, 9]))
    (2.5, 5)
    """
    total = counts.total()
    low_rank, high_rank = (total - 1) // 2, total // 2
    low: int | None = None
    seen = 0
    for number in sorted(counts):
        seen += counts[number]
        if low is None and seen > low_rank:
            low = number
        if low is not None and seen > high_rank:
            return low if low == number else (low + number) / 2
    raise ValueError("no numbers")
