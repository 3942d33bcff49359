"""Writing the NeGra export format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import count

from discoparse.tree import ROOT, Node, Tree
from discoparse.treebank import capacity
from discoparse.treebank.capacity import note_losses
from discoparse.treebank.report import ATTRIBUTE, Report

# As disco-dop writes it; it says that there are lemmas.
HEADER = "%% word\tlemma\ttag\tmorph\tedge\tparent\tsecedge\n"
HOLDS = frozenset(
    {
        capacity.IDS,
        capacity.COMMENTS,
        capacity.MORPHOLOGY,
        capacity.NODE_MORPHOLOGY,
        capacity.EDGES,
        capacity.SECONDARY_EDGES,
    }
)
_BOS_FIELDS = ("editor", "date", "origin")
_BLANK = re.compile(r"[ \t\r\n]+")
_BREAKS = re.compile(r"[\t\r\n]+")


def write(trees: Iterable[Tree], report: Report, version: int = 4) -> Iterator[str]:
    """#BOS, a row for each word and node, #EOS; version 3 has no lemmas. Trees without an id are numbered."""
    holds = HOLDS | {capacity.LEMMAS} if version == 4 else HOLDS
    attributes = {"comment", "lemma"} if version == 4 else {"comment"}
    if version == 4:
        yield HEADER
    for number, tree in enumerate(trees, 1):
        note_losses(tree, "export", holds, report, attributes, set(_BOS_FIELDS))
        yield _Sentence(tree, number, version, report).text()


def _first_number(last_word: str, nodes: int) -> int:
    """The number of the first node: 500, or beyond that of a last word which would look like one of the nodes.

    >>> _first_number("dog", 3), _first_number("#501", 3), _first_number("#503", 3)
    (500, 503, 500)
    """
    looks = re.fullmatch(r"#(\d{3,9})", last_word, re.ASCII)
    number = int(looks.group(1)) if looks else 0
    return number + 2 if 500 <= number < 500 + nodes else 500


class _Sentence:
    """One tree on its way into rows."""

    def __init__(self, tree: Tree, number: int, version: int, report: Report) -> None:
        self.tree, self.version, self.report = tree, version, report
        self.id = str(number) if tree.id is None else self.field(tree.id)
        self.virtual = tree.root if tree.root.label == ROOT else None
        if self.virtual is None:
            report.not_written("export", "a root other than ROOT (a ROOT is added when the tree is read)")
        written = [node for node in tree.postorder() if node is not self.virtual]
        first = _first_number(tree.tokens[-1].word, len(written))
        self.numbers: dict[Node, int] = dict(zip(written, count(first), strict=False))
        self.secondary: dict[Node | int, list[str]] = {}
        for edge in tree.secondary_edges:
            if isinstance(edge.parent, int) or edge.child is self.virtual:
                report.not_written("export", "secondary edges to a word or from ROOT")
            else:
                pair = [self.value(edge.label), str(self.numbers.get(edge.parent, 0))]
                self.secondary.setdefault(edge.child, []).extend(pair)

    def text(self) -> str:
        """The lines from #BOS to #EOS."""
        tree = self.tree
        parents = tree.parents()
        rows = [self.head()]
        for index, token in enumerate(tree.tokens):
            fields = [token.word, token.lemma, token.tag, token.morph, token.edge]
            rows.append(self.row(fields, parents[index], token.features, index))
        for node, number in self.numbers.items():
            fields = [f"#{number}", node.features.get("lemma"), node.label, node.morph, node.edge]
            rows.append(self.row(fields, parents.get(node), node.features, node))
        rows.append(f"#EOS {self.id}\n")
        return "\n".join(rows)

    def head(self) -> str:
        """The #BOS line: number, editor, date, origin if known, comments."""
        features = self.tree.root.features if self.virtual else {}
        parts = [f"#BOS {self.id}"]
        for position, name in enumerate(_BOS_FIELDS, 1):
            if name in features:
                if len(parts) == position and not features[name].startswith("%%"):
                    parts.append(self.field(features[name]))
                else:  # the fields before it cannot be left out
                    self.report.not_written("export", ATTRIBUTE + name)
        if self.tree.comments:
            if any(" %% " in f" {comment} " for comment in self.tree.comments):
                self.report.not_written("export", "comments with %% inside (read as several)")
            parts.append("%% " + " %% ".join(map(self.comment, self.tree.comments)))
        return " ".join(parts)

    def row(self, fields: list[str | None], parent: Node | None, features: dict[str, str], key: Node | int) -> str:
        """One row; `fields` are word, lemma, tag, morph and edge."""
        word, lemma, tag, morph, edge = fields
        if isinstance(key, int) and "lemma" in features:  # a feature of that name: only nodes have room for it
            self.report.not_written("export", ATTRIBUTE + "lemma")
        written = [self.field(word), self.value(lemma), self.field(tag), self.value(morph), self.value(edge)]
        if self.version == 3:
            del written[1]
        written.append(str(self.numbers[parent]) if parent is not None and parent is not self.virtual else "0")
        written += self.secondary.get(key, [])
        if "comment" in features:
            written.append(f"%% {self.comment(features['comment'])}".rstrip())
        return "\t".join(written)

    def value(self, text: str | None) -> str:
        """A lemma, morphology or edge label, which may be absent."""
        if text is None:
            return "--"
        if text == "--":
            self.report.not_written("export", "the value -- (it means absent)")
        return self.field(text)

    def field(self, text: str | None) -> str:
        """A word or label without white space."""
        if not text:
            self.report.not_written("export", "empty words, labels or values (written --)")
            return "--"
        if _BLANK.search(text):
            self.report.not_written("export", "white space in words, labels or values (written _)")
            return _BLANK.sub("_", text)
        return text

    def comment(self, text: str) -> str:
        """A comment on one line."""
        if _BREAKS.search(text) or text != text.strip():
            self.report.not_written("export", "tabs, line ends or outer spaces in comments")
            return _BREAKS.sub(" ", text).strip()
        return text
