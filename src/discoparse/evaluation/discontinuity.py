"""What made each gap of a constituent: extraction, extraposition, verb clusters … (`gap_rules` has the rules)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from discoparse.evaluation.brackets import cut_label
from discoparse.evaluation.gap_rules import OTHER, POSITIONS, SCHEMES, Rule, Scheme
from discoparse.evaluation.structure import ScoredNode
from discoparse.tree import Tree, blocks, indexes


def recognise_scheme(trees: Iterable[Tree]) -> Scheme:
    """The annotation scheme of some trees, by their labels and tags.

    `POSITIONS` where fewer than a twentieth of these are of any: schemes share their most frequent labels.
    """
    names: Counter[str] = Counter()
    for tree in trees:
        names.update(cut_label(node.label)[0] for node in tree.preorder())
        names.update(token.tag for token in tree.tokens)
    votes = {
        scheme.name: sum(n for name, n in names.items() if _fits(scheme.labels, name) or _fits(scheme.tags, name))
        for scheme in SCHEMES
    }
    best = max(SCHEMES, key=lambda scheme: votes[scheme.name])
    return best if votes[best.name] * 20 >= max(1, sum(names.values())) else POSITIONS


def gap_kinds(node: ScoredNode, everything: Sequence[ScoredNode], tags: Sequence[str], scheme: Scheme) -> list[str]:
    """The kinds of the gaps of a constituent, each once, in the order of the gaps; none if it has no gap.

    `tags` are those of the tokens that are scored, `everything` are all constituents of the tree.
    """
    runs = blocks(node.mask)
    kinds: dict[str, None] = {}
    for _, last in runs[:-1]:
        gap = _Gap(_maker(node, last + 1), everything, tags, scheme, last + 1)
        kinds[next((rule.kind for rule in scheme.rules if gap.fits(rule)), OTHER)] = None
    return list(kinds)


def _maker(node: ScoredNode, token: int) -> ScoredNode:
    """The lowest constituent that has tokens on both sides of the gap with this token."""
    below = (1 << token) - 1
    for child in node.children:
        if child.mask & below and child.mask & ~below:
            return _maker(child, token)
    return node


@dataclass
class _Gap:
    """A gap of the constituent that makes it, as rules look at it."""

    node: ScoredNode
    everything: Sequence[ScoredNode]
    tags: Sequence[str]
    scheme: Scheme
    token: int  # one that is in the gap

    def __post_init__(self) -> None:
        runs = blocks(self.node.mask)
        k = next(k for k, (first, _) in enumerate(runs) if first > self.token)
        self.left, self.right = runs[k - 1], runs[k]
        self.mask = (1 << self.right[0]) - (1 << self.left[1] + 1)

    def fits(self, rule: Rule) -> bool:
        """Whether all that a rule asks for holds."""
        left, right = self.left_parts, self.right_parts
        first_two = self.tags[self.left[0] : self.left[1] + 1][:2]
        return (
            _fits(rule.node, self.node.label)
            and (not rule.single or len(left if rule.single == "left" else right) == 1)
            and _fits(rule.left, left[0])
            and _fits(rule.right, right[-1])
            and _fits(rule.right_start, right[0])
            and (not rule.left_tags or any(_fits(rule.left_tags, tag) for tag in first_two))
            and all(_fits(rule.right_tags, tag) for tag in self.tags[self.right[0] : self.right[1] + 1])
            and all(_fits(rule.gap_tags, self.tags[i]) for i in indexes(self.mask))
            and (not rule.gap_phrase or any(_fits(rule.gap_phrase, label) for label in self.gap_phrases))
            and (not rule.clause or (self.clause is not None and _fits(rule.clause, self.clause.label)))
            and (rule.starts_clause is None or rule.starts_clause == self.starts_clause)
        )

    @cached_property
    def left_parts(self) -> list[str]:
        return self._parts(self.left)

    @cached_property
    def right_parts(self) -> list[str]:
        return self._parts(self.right)

    def _parts(self, run: tuple[int, int]) -> list[str]:
        """Labels of the children and tags of the tokens that begin in a block, in the order of their first tokens."""
        inside = (1 << run[1] + 1) - (1 << run[0])
        found = [(i, self.tags[i]) for i in indexes(self.node.own_tokens & inside)]
        for child in self.node.children:
            if child.mask & inside:
                here = child.mask & inside
                found.append(((here & -here).bit_length() - 1, child.label))
        return [name for _, name in sorted(found)]

    @cached_property
    def gap_phrases(self) -> list[str]:
        return [other.label for other in self.everything if other.mask == self.mask]

    @cached_property
    def clause(self) -> ScoredNode | None:
        """The nearest clause above."""
        above = self.node.parent
        while above is not None and not _fits(self.scheme.clauses, above.label):
            above = above.parent
        return above

    @property
    def starts_clause(self) -> bool:
        """Whether nothing of the clause stands before the left block, except a conjunction that joins it to another."""
        if self.clause is None:
            return False
        before = indexes(self.clause.mask & ((1 << self.left[0]) - 1))
        return all(_fits(self.scheme.conjunctions, self.tags[i]) for i in before)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _fits(pattern: str, name: str) -> bool:
    """Whether a pattern is empty or matches a whole name."""
    return not pattern or _compiled(pattern).fullmatch(name) is not None
