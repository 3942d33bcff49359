"""Trees without objects: what a decoder decided about a sentence, written down or listed directly.

A `Tree` costs many small objects. Whoever only writes trees to a file does without them: `Writer` makes the same text
from decisions as the formats in `discoparse.treebank` make from trees, and `outline` lists nodes for tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Any, NamedTuple

from discoparse.neural.replay import build_tree, replay
from discoparse.neural.vocabulary import Vocabulary
from discoparse.parser.passages import Passage, tagged
from discoparse.tree import Tree
from discoparse.treebank import Report
from discoparse.treebank.brackets import HARD, escape, note_changes


class Decisions(NamedTuple):
    """What was decided about one sentence of n words, as lists of Python's numbers."""

    actions: Sequence[int]  # [2n - 1] slots, see `neural.lockstep`
    codes: Sequence[int]  # [2n - 1] of label chains, see `neural.codes`
    tags: Sequence[int]  # [n]
    probabilities: Sequence[float]  # [2n - 1] of the label chains


@dataclass(frozen=True)
class Outline:
    """The nodes of a tree, parents before children and left to right, as in JSON: see docs/reference/formats.md."""

    labels: list[str]
    parents: list[int]  # the number of the node above each; -1 for the root
    label_probabilities: list[float]
    tokens: list[list[int]]  # the yield of each
    token_parents: list[int]  # the number of the node above each token


def outline(decisions: Decisions, chains: Mapping[int, tuple[str, ...]]) -> Outline:
    """The nodes that decisions lead to, without a `Tree`."""
    made: list[tuple[str, float, list[tuple[int, int]], list[int]]] = []  # label, probability, parts, yield
    foci: list[tuple[list[tuple[int, int]], list[int]]] = []  # the parts of each focus and its tokens
    # A part is a child of a node to come: its first token, and the token itself or ~k for the k-th node made.
    parts: list[tuple[int, int]] = []
    members: list[int] = []
    upcoming = 0
    for item, code, probability in zip(
        replay(decisions.actions), decisions.codes, decisions.probabilities, strict=True
    ):
        if item < 0:
            parts, members = [(upcoming, upcoming)], [upcoming]
            upcoming += 1
        else:
            before, others = foci[item]
            parts, members = before + parts, others + members
        if code:
            parts = sorted(parts)
            members = sorted(members)
            rounded = round(probability, 6)
            for label in reversed(chains[code]):
                made.append((label, rounded, parts, members))
                parts = [(members[0], -len(made))]
        foci.append((parts, members))
    return _in_preorder(made, upcoming)


def _in_preorder(made: list[tuple[str, float, list[tuple[int, int]], list[int]]], tokens: int) -> Outline:
    """The nodes, of which the last one is the root, in the order in which they are written."""
    found = Outline([], [], [], [], [0] * tokens)
    above = found.token_parents
    stack = [(-1, len(made) - 1)]  # the number of a node's parent, and the node as it was made
    while stack:
        parent, k = stack.pop()
        label, probability, parts, members = made[k]
        number = len(found.labels)
        found.labels.append(label)
        found.parents.append(parent)
        found.label_probabilities.append(probability)
        found.tokens.append(members)
        for _, part in reversed(parts):
            if part < 0:
                stack.append((number, ~part))
            else:
                above[part] = number
    return found


class Writer:
    """Writes decisions as text: byte for byte what the treebank formats write for the same trees."""

    def __init__(self, vocabulary: Vocabulary, chains: Mapping[int, tuple[str, ...]]) -> None:
        self.chains = chains
        self.tags = tags = vocabulary.tags
        self._tags = [escape(tag, tag=True) for tag in tags]
        self._json_tags = [encode_basestring(tag) for tag in tags]
        self._brackets: dict[int, tuple[str, str]] = {}  # what opens and closes the nodes of a chain, by its code
        # Whether there are names that are not read back as they are written; these are noted for each node.
        probe = Report()
        for tag in tags:
            note_changes(tag, True, "discbracket", probe)
        for label in {label for chain in vocabulary.labels for label in chain}:
            note_changes(label, False, "discbracket", probe)
        self._odd_names = bool(probe.unwritten)

    def tree(self, passage: Passage, decisions: Decisions) -> Tree:
        """The tree itself, for whoever needs one after all."""
        chains = [self.chains[code] for code in decisions.codes]
        tokens = tagged(passage, decisions.tags, self.tags)
        tree = build_tree(tokens, replay(decisions.actions), chains, decisions.probabilities)
        tree.text = passage.text
        return tree

    def discbracket(self, words: Sequence[str], decisions: Decisions, report: Report) -> str:
        """A line of disco-dop's brackets with its end."""
        names = self._tags
        hard = HARD.search("\0".join(words))
        if hard or self._odd_names:
            self._note_changes(words, decisions, report)
        if hard:
            words = [escape(word) for word in words]
        leaves = [f"({names[tag]} {k}={word})" for k, (tag, word) in enumerate(zip(decisions.tags, words, strict=True))]
        brackets = self._brackets
        foci: list[list[tuple[int, str]]] = []  # the parts of each focus, after their first tokens
        focus: list[tuple[int, str]] = []
        upcoming = 0
        for item, code in zip(replay(decisions.actions), decisions.codes, strict=True):
            if item < 0:
                focus = [(upcoming, leaves[upcoming])]
                upcoming += 1
            else:
                focus = foci[item] + focus
            if code:
                opening, closing = brackets.get(code) or self._spell(code)
                if len(focus) == 1:
                    ((first, text),) = focus
                else:
                    focus.sort()  # first tokens differ, so texts are never compared
                    first, text = focus[0][0], " ".join([part for _, part in focus])
                focus = [(first, opening + text + closing)]
            foci.append(focus)
        return focus[0][1] + "\n"

    def _spell(self, code: int) -> tuple[str, str]:
        chain = self.chains[code]
        spelled = "".join(f"({escape(label)} " for label in chain), ")" * len(chain)
        self._brackets[code] = spelled
        return spelled

    def _note_changes(self, words: Sequence[str], decisions: Decisions, report: Report) -> None:
        """In the order in which the format's own writer notes them."""
        for word, tag in zip(words, decisions.tags, strict=True):
            note_changes(word, False, "discbracket", report)
            note_changes(self.tags[tag], True, "discbracket", report)
        for label in outline(decisions, self.chains).labels:
            note_changes(label, False, "discbracket", report)

    def json_data(self, passage: Passage, decisions: Decisions, name: str) -> dict[str, Any]:
        """The data of such an object, for a faster encoder than Python's."""
        found = outline(decisions, self.chains)
        words, tags, spans = passage.words, [self.tags[tag] for tag in decisions.tags], passage.spans
        data: dict[str, Any] = {"id": name}
        nodes = zip(found.labels, found.label_probabilities, found.parents, strict=True)
        if passage.text is not None:
            data["text"] = passage.text
        if spans is None:
            data["tokens"] = [
                {"word": word, "tag": tag, "parent": parent}
                for word, tag, parent in zip(words, tags, found.token_parents, strict=True)
            ]
            data["nodes"] = [
                {"label": label, "label_probability": probability, "parent": None if parent < 0 else parent}
                for label, probability, parent in nodes
            ]
            return data
        data["tokens"] = [
            {"word": word, "tag": tag, "span": span, "parent": parent}
            for word, tag, span, parent in zip(words, tags, spans, found.token_parents, strict=True)
        ]
        data["nodes"] = [
            {
                "label": label,
                "label_probability": probability,
                "tokens": members,
                "spans": _blocks(members, spans),
                "parent": None if parent < 0 else parent,
            }
            for (label, probability, parent), members in zip(nodes, found.tokens, strict=True)
        ]
        return data

    def json_line(self, passage: Passage, decisions: Decisions, name: str | None) -> str:
        """An object of JSON lines with its end; `name` is the sentence's id."""
        found = outline(decisions, self.chains)
        spans, quoted = passage.spans, encode_basestring
        head = "" if name is None else f'"id": {quoted(name)}, '
        if passage.text is not None:
            head += f'"text": {quoted(passage.text)}, '
        places = [""] * len(passage.words) if spans is None else [f', "span": [{a}, {b}]' for a, b in spans]
        tags = self._json_tags
        tokens = ", ".join(
            [
                f'{{"word": {quoted(word)}, "tag": {tags[tag]}{place}, "parent": {parent}}}'
                for word, tag, place, parent in zip(
                    passage.words, decisions.tags, places, found.token_parents, strict=True
                )
            ]
        )
        nodes = ", ".join(
            [
                f'{{"label": {quoted(label)}, "label_probability": {probability}'
                f'{"" if spans is None else _places(members, spans)}, "parent": {"null" if parent < 0 else parent}}}'
                for label, probability, members, parent in zip(
                    found.labels, found.label_probabilities, found.tokens, found.parents, strict=True
                )
            ]
        )
        return f'{{{head}"tokens": [{tokens}], "nodes": [{nodes}]}}\n'


def _places(members: list[int], spans: Sequence[tuple[int, int]]) -> str:
    return f', "tokens": {members}, "spans": {_blocks(members, spans)}'


def _blocks(members: list[int], spans: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The characters of the blocks of a node with these tokens."""
    first, last = members[0], members[-1]
    if last - first == len(members) - 1:
        return [[spans[first][0], spans[last][1]]]
    blocks: list[list[int]] = []
    before = first - 2
    for token in members:
        if token == before + 1:
            blocks[-1][1] = spans[token][1]
        else:
            blocks.append([*spans[token]])
        before = token
    return blocks
