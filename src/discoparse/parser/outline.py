"""Trees without objects: what a decoder decided about a sentence, written down or listed directly.

A `Tree` costs many small objects. Whoever only writes trees to a file does without them: `Writer` makes the same text
from decisions as the formats in `discoparse.treebank` make from trees, and `outline` lists nodes for tables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Any, NamedTuple

from discoparse.neural.replay import bracketed, build_tree, replay
from discoparse.neural.vocabulary import Vocabulary
from discoparse.parser.passages import Passage, tagged
from discoparse.parser.tokens import LONGEST_SENTENCE
from discoparse.text.sentence import Spans
from discoparse.tree import Tree
from discoparse.treebank import Report
from discoparse.treebank.bracket_syntax import HARD, escape, note_changes


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
    tokens: list[Sequence[int]]  # the yield of each; a `range` where it has no gap
    token_parents: list[int]  # the number of the node above each token


# A child of a node, as a number that sorts by first tokens: the first token, and k + 1 for the k-th node that was made
# or 0 for the token itself. A sentence has at most 2,000 tokens, and 4,000 times the longest chain nodes.
_NODE_BITS = 20
_NODE = (1 << _NODE_BITS) - 1
_Focus = tuple[list[int], int, int]  # children of a node to come (no list of these ever changes), last token, size
_LEAVES: list[_Focus] = [([token << _NODE_BITS], token, 1) for token in range(LONGEST_SENTENCE)]
_Made = tuple[str, float, list[int], int, int]  # a node: label and its probability, children, last token, size


def outline(decisions: Decisions, chains: Mapping[int, tuple[str, ...]]) -> Outline:
    """The nodes that decisions lead to, without a `Tree`."""
    made = _nodes(decisions, chains)
    order, above = _preorder(made, len(decisions.tags))
    found = Outline([], [], [], [], above)
    for parent, k in order:
        label, probability, parts, last, size = made[k]
        first = parts[0] >> _NODE_BITS
        found.labels.append(label)
        found.parents.append(parent)
        found.label_probabilities.append(round(probability, 6))
        found.tokens.append(range(first, last + 1) if last - first == size - 1 else _yield(made, k))
    return found


def _nodes(decisions: Decisions, chains: Mapping[int, tuple[str, ...]]) -> list[_Made]:
    """The nodes that decisions lead to, the root last."""
    made: list[_Made] = []
    foci: list[_Focus] = []
    focus = _LEAVES[0]
    upcoming = 0
    for item, code, probability in zip(
        replay(decisions.actions), decisions.codes, decisions.probabilities, strict=True
    ):
        if item < 0:
            focus = _LEAVES[upcoming]
            upcoming += 1
        else:
            before, _, others = foci[item]
            parts, last, size = focus  # the token that was shifted last is in the focus, so no item ends after it
            focus = before + parts, last, size + others
        if code:
            parts, last, size = focus
            if len(parts) > 1:
                parts = sorted(parts)
            first = parts[0] | _NODE
            for label in reversed(chains[code]):
                made.append((label, probability, parts, last, size))
                parts = [first - _NODE + len(made)]
            focus = parts, last, size
        foci.append(focus)
    return made


def _preorder(made: list[_Made], tokens: int) -> tuple[list[tuple[int, int]], list[int]]:
    """The nodes, of which the last one is the root, in the order in which they are written, each after the number of
    its parent in this order, -1 for the root; and the number of the node above each token."""
    order: list[tuple[int, int]] = []
    above = [0] * tokens
    stack = [(-1, len(made) - 1)]
    while stack:
        node = stack.pop()
        number = len(order)
        order.append(node)
        for part in reversed(made[node[1]][2]):
            child = part & _NODE
            if child:
                stack.append((number, child - 1))
            else:
                above[part >> _NODE_BITS] = number
    return order, above


def _yield(made: list[_Made], k: int) -> list[int]:
    """The tokens of a node."""
    tokens = []
    pending = [k]
    while pending:
        for part in made[pending.pop()][2]:
            child = part & _NODE
            if child:
                pending.append(child - 1)
            else:
                tokens.append(part >> _NODE_BITS)
    return sorted(tokens)


class Writer:
    """Writes decisions as text: byte for byte what the treebank formats write for the same trees."""

    def __init__(self, vocabulary: Vocabulary, chains: Mapping[int, tuple[str, ...]]) -> None:
        self.chains = chains
        self.tags = tags = vocabulary.tags
        self._tags = [f"({escape(tag, tag=True)} " for tag in tags]
        self._json_tags = [encode_basestring(tag) for tag in tags]
        self._brackets = _Brackets(chains)
        self._json_chains = _JsonChains(chains)
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
        leaves = [
            f"{name}{number}{word})"
            for name, number, word in zip(map(names.__getitem__, decisions.tags), _BEFORE_WORDS, words, strict=False)
        ]
        return bracketed(decisions.actions, decisions.codes, leaves, self._brackets) + "\n"

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
        starts, ends = _starts_and_ends(spans)
        data["tokens"] = [
            {"word": word, "tag": tag, "span": (start, end), "parent": parent}
            for word, tag, start, end, parent in zip(words, tags, starts, ends, found.token_parents, strict=True)
        ]
        data["nodes"] = [
            {
                "label": label,
                "label_probability": probability,
                "tokens": list(own),
                "spans": _blocks(own, starts, ends),
                "parent": None if parent < 0 else parent,
            }
            for (label, probability, parent), own in zip(nodes, found.tokens, strict=True)
        ]
        return data

    def json_line(self, passage: Passage, decisions: Decisions, name: str | None) -> str:
        """An object of JSON lines with its end; `name` is the sentence's id."""
        made = _nodes(decisions, self._json_chains)
        order, above = _preorder(made, len(decisions.tags))
        spans, quoted = passage.spans, encode_basestring
        head = "" if name is None else f'"id": {quoted(name)}, '
        if passage.text is not None:
            head += f'"text": {quoted(passage.text)}, '
        words, tags = map(quoted, passage.words), map(self._json_tags.__getitem__, decisions.tags)
        nodes = []
        if spans is None:
            tokens = [
                f'{{"word": {word}, "tag": {tag}, "parent": {parent}}}'
                for word, tag, parent in zip(words, tags, above, strict=True)
            ]
            for parent, k in order:
                nodes.append(f'{made[k][0]}{_rounded(made[k][1])}, "parent": {"null" if parent < 0 else parent}}}')
        else:
            starts, ends = _starts_and_ends(spans)
            tokens = [
                f'{{"word": {word}, "tag": {tag}, "span": [{start}, {end}], "parent": {parent}}}'
                for word, tag, start, end, parent in zip(words, tags, starts, ends, above, strict=True)
            ]
            for parent, k in order:
                label, probability, parts, last, size = made[k]
                first = parts[0] >> _NODE_BITS
                if last - first == size - 1:
                    own = _NUMBERS[_NUMBER_STARTS[first] : _NUMBER_ENDS[last]]
                    blocks = f"[{starts[first]}, {ends[last]}]"
                else:
                    members = _yield(made, k)
                    own, blocks = str(members)[1:-1], str(_blocks(members, starts, ends))[1:-1]
                nodes.append(
                    f'{label}{_rounded(probability)}, "tokens": [{own}], "spans": [{blocks}], '
                    f'"parent": {"null" if parent < 0 else parent}}}'
                )
        return f'{{{head}"tokens": [{", ".join(tokens)}], "nodes": [{", ".join(nodes)}]}}\n'


class _Brackets(dict[int, tuple[str, str]]):
    """By the code of a chain, what opens and closes its nodes in discbracket."""

    def __init__(self, chains: Mapping[int, tuple[str, ...]]) -> None:
        self.chains = chains

    def __missing__(self, code: int) -> tuple[str, str]:
        chain = self.chains[code]
        found = self[code] = "".join([f"({escape(label)} " for label in chain]), ")" * len(chain)
        return found


class _JsonChains(dict[int, tuple[str, ...]]):
    """By the code of a chain, how its nodes begin in JSON, up to the probability of the label."""

    def __init__(self, chains: Mapping[int, tuple[str, ...]]) -> None:
        self.chains = chains

    def __missing__(self, code: int) -> tuple[str, ...]:
        labels = map(encode_basestring, self.chains[code])
        found = self[code] = tuple([f'{{"label": {label}, "label_probability": ' for label in labels])
        return found


def _rounded(probability: float) -> str:
    """`round(probability, 6)` as JSON has it."""
    if 0.0001 <= probability < 0.9999995:
        return f"{probability:.6f}".rstrip("0")  # takes half the time
    return repr(round(probability, 6))


_BEFORE_WORDS = [f"{token}=" for token in range(LONGEST_SENTENCE)]  # of discbracket
# The numbers of the tokens of the longest sentence with commas, where each starts and where each ends: the tokens of a
# node without gaps are a slice.
_NUMBERS = ", ".join(map(str, range(LONGEST_SENTENCE)))
_NUMBER_STARTS = [match.start() for match in re.finditer(r"\d+", _NUMBERS)]
_NUMBER_ENDS = [match.end() for match in re.finditer(r"\d+", _NUMBERS)]


def _starts_and_ends(spans: Sequence[tuple[int, int]]) -> tuple[Sequence[int], Sequence[int]]:
    if isinstance(spans, Spans):
        return spans.places
    starts, ends = zip(*spans, strict=True)
    return starts, ends


def _blocks(own: Sequence[int], starts: Sequence[int], ends: Sequence[int]) -> list[list[int]]:
    """The characters of the blocks of a node with these tokens."""
    first, last = own[0], own[-1]
    if last - first == len(own) - 1:
        return [[starts[first], ends[last]]]
    blocks: list[list[int]] = []
    before = first - 2
    for token in own:
        if token == before + 1:
            blocks[-1][1] = ends[token]
        else:
            blocks.append([starts[token], ends[token]])
        before = token
    return blocks
