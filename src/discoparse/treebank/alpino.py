"""Alpino XML: nested nodes with spans, `rel` as edge label, co-indexed empty nodes as secondary edges.

Categories are in upper case in trees and in lower case in files; the node `top` is the virtual root. What
has no place of its own in a tree is kept in `features`; ids, spans and index numbers follow from the tree.
What belongs to the sentence is kept in the features of the root under `ELEMENT.NAME`.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from pathlib import Path
from typing import TextIO

from discoparse.files.streams import uncompressed
from discoparse.tree import ROOT, Node, SecondaryEdge, Token, Tree
from discoparse.treebank.alpino_spans import Extent
from discoparse.treebank.alpino_writing import VERSION, contradicts, write
from discoparse.treebank.report import Defect, Reading
from discoparse.treebank.xmlblocks import Element, Sentences, damaged_tags

__all__ = ["read", "write"]

_STRUCTURE = frozenset(("id", "begin", "end", "index", "rel"))  # follow from the tree
_OF_PHRASES, _OF_UNITS = _STRUCTURE | {"cat"}, _STRUCTURE | {"word"}
_OF_WORDS = _OF_UNITS | {"lemma", "postag"}
_INNER = ("node", "sentence", "comments", "comment", "metadata", "meta")
_WITHOUT_TEXT = ("alpino_ds", "node", "comments", "metadata", "meta")


def read(stream: TextIO, reading: Reading) -> Iterator[Tree]:
    """The sentences of a file: one, or <alpino_ds> after <alpino_ds>, with or without an outer element."""
    previous: tuple[Tree | None, _Sentence] | None = None
    alone = True
    sentences = Sentences(stream, "alpino_ds", _INNER, reading)
    for element in sentences:
        sentence = _Sentence(element)
        reading.sentence(sentence.id, element.line)
        if previous is not None:
            alone = False
            yield from _kept(*previous, reading)
        previous = (sentence.tree(), sentence)
    if previous is not None:
        tree, sentence = previous
        if alone and not sentences.is_wrapped and tree is not None and tree.id is None:
            # One sentence per file: the name of the file is its id.
            tree.id = Path(uncompressed(reading.file)).stem
        yield from _kept(tree, sentence, reading)


def _kept(tree: Tree | None, sentence: _Sentence, reading: Reading) -> Iterator[Tree]:
    for what in sentence.unread:
        reading.not_read("alpino", what)
    if not sentence.defects and not sentence.words:
        reading.empty()
    elif reading.accept(sentence.defects, sentence.id) and tree is not None:
        yield tree


class _Sentence:
    """One <alpino_ds> element on its way into a tree."""

    def __init__(self, element: Element) -> None:
        self.element = element
        self.defects: list[Defect] = []
        self.unread: list[str] = []
        self.words: dict[int, Token] = {}
        self.antecedents: dict[str, Node | int] = {}
        self.traces: list[tuple[str, Node, str | None]] = []  # index, parent and rel of empty nodes
        self.extents: dict[Node, Extent] = {}
        self.wrong_spans: list[Defect] = []  # reported last, since they may follow from others
        self.comments: list[str] = []
        text = element.find("sentence")
        self.text = "" if text is None else text.text
        self.text_line = element.line if text is None else text.line
        other = element.attributes.get("id")
        self.id = other if text is None else text.attributes.get("sentid", other)

    def tree(self) -> Tree | None:
        """The tree, or None if there are no words or something is wrong."""
        tops = [child for child in self.element.children if child.tag == "node"]
        if len(tops) != 1:
            self.defect(f"<alpino_ds> has {len(tops)} top nodes, not one", self.element.line)
            return None
        top = tops[0]
        virtual = Node(ROOT, [])
        self.add(top, virtual)
        root = virtual
        if top.attributes.get("cat") == "top" and len(virtual.children) == 1:
            (child,) = virtual.children
            assert isinstance(child, Node)
            root = child
            root.label = ROOT
            root.edge = None if root.edge == "top" else root.edge
        self.sentence_attributes(root)
        self.check_words()
        self.defects += damaged_tags(self.element, _WITHOUT_TEXT) + self.wrong_spans
        if not self.words or any(not defect.repairable for defect in self.defects):
            return None
        tree = Tree([self.words[i] for i in range(len(self.words))], root, self.id, self.comments)
        tree.secondary_edges = self.secondary_edges(tree)
        tree.sort()
        return tree

    def add(self, top: Element, above: Node) -> None:
        """Put the nodes of the element below `above`; those without words vanish."""
        made: list[tuple[Node, Node, Element]] = []  # node, parent and element, parents first
        extents = self.extents = {above: Extent()}
        stack = [(top, above)]
        while stack:
            element, parent = stack.pop()
            if element.tag != "node":
                self.defect(f"<{element.tag}> is not expected in <node>", element.line)
                continue
            attributes = element.attributes
            edge = _value(attributes.get("rel"))
            if "cat" in attributes and "word" in attributes:
                self.defect("<node> has both a cat and a word", element.line)
            elif "cat" not in attributes and element.find("node") is not None:
                self.defect("<node> has nodes in it but no cat", element.line)
            elif "cat" in attributes:
                node = Node(attributes["cat"].upper(), [], edge, features=_others(attributes, _OF_PHRASES))
                made.append((node, parent, element))
                extents[node] = Extent()
                self.remember(element, node)
                stack.extend((child, node) for child in reversed(element.children))
            elif "word" in attributes:
                self.add_words(element, parent, edge)
            elif "index" in attributes:
                self.traces.append((attributes["index"], parent, edge))
                span = self.span(element)
                if span is None:
                    extents[parent].certain = False
                else:
                    extents[parent].add_empty(*span)
                if not attributes.keys() <= _STRUCTURE:
                    self.unread.append("attributes of empty nodes")
            else:
                self.defect("<node> has neither cat nor word nor index", element.line)
        for node, parent, element in reversed(made):
            if node.children:
                parent.children.append(node)
            extent, span = extents[node], self.span(element)
            extents[parent].add(extent)
            if span is not None and not extent.admits(*span):
                words = f"its words span {extent.first} to {extent.last}"
                message = f"{element.attributes['cat']} spans {span[0]} to {span[1]}, but {words}"
                self.wrong_spans.append(Defect(message, element.line))

    def add_words(self, element: Element, parent: Node, edge: str | None) -> None:
        """A word, or several under a node MWU."""
        attributes = element.attributes
        self.unread += [f"<{child.tag}> in words" for child in element.children]
        try:
            begin, end = int(attributes.get("begin", "")), int(attributes.get("end", ""))
        except ValueError:
            self.defect(f"the word {attributes['word']!r} has no begin and end", element.line)
            return
        words = [attributes["word"]] if end - begin == 1 else attributes["word"].split(" ")
        if len(words) != end - begin or begin < 0:
            self.defect(f"{attributes['word']!r} is not {end - begin} words, as begin and end say", element.line)
            return
        if any(i in self.words for i in range(begin, end)):
            self.defect(f"two words begin at {begin}", element.line)
            return
        self.extents[parent].add_word(begin, end)
        token = _token(attributes, edge)
        if len(words) == 1:
            self.words[begin] = token
            parent.children.append(begin)
            self.remember(element, begin)
            return
        unit = Node("MWU", list(range(begin, end)), edge, features=_others(attributes, _OF_UNITS))
        parent.children.append(unit)
        self.remember(element, unit)
        for i, word in enumerate(words, begin):
            self.words[i] = Token(word, token.tag, edge="mwp")

    def span(self, element: Element) -> tuple[int, int] | None:
        """The begin and end that a phrase or an empty node states."""
        begin, end = element.attributes.get("begin"), element.attributes.get("end")
        if begin is None or end is None:
            return None
        try:
            return int(begin), int(end)
        except ValueError:
            self.defect("begin and end of <node> are not numbers", element.line)
            return None

    def remember(self, element: Element, end: Node | int) -> None:
        """The antecedent of an index; if there are two, the first counts."""
        index = element.attributes.get("index")
        if index is not None and self.antecedents.setdefault(index, end) is not end:
            message = f"two nodes that are not empty have the index {index}"
            self.defects.append(Defect(message, element.line, repairable=True))

    def check_words(self) -> None:
        """All positions must have a word, and the words must be those of the sentence."""
        expected = max([*self.words, -1]) + 1
        missing = next((i for i in range(expected) if i not in self.words), None)
        if missing is not None:
            self.defect(f"no node holds the word at position {missing}", self.element.line)
            return
        words = " ".join(self.words[i].word for i in range(expected)).split()
        stated = self.text.split()
        if 0 < len(words) < len(stated):
            self.defect(f"the sentence has {len(stated)} words, its nodes only {len(words)}", self.element.line)
        elif contradicts(self.text, words):
            pairs = zip(words, stated, strict=False)
            differs = next((f": {word!r} is {other!r} there" for word, other in pairs if word != other), "")
            message = f"the words of the nodes are not those of <sentence>{differs}"
            self.defects.append(Defect(message, self.text_line, repairable=True))

    def secondary_edges(self, tree: Tree) -> list[SecondaryEdge]:
        """An edge from each empty node's antecedent to its parent, if both have words."""
        kept = set(tree.preorder())
        edges = []
        for index, parent, label in self.traces:
            child = self.antecedents.get(index)
            if child is None or parent not in kept or (isinstance(child, Node) and child not in kept):
                self.unread.append("co-indexed nodes whose antecedent or parent has no words")
            else:
                edges.append(SecondaryEdge(child, parent, label))
        return edges

    def sentence_attributes(self, root: Node) -> None:
        """Keep what is beside the nodes."""
        known = {"version": VERSION, "id": self.id}
        for key, value in self.element.attributes.items():
            if known.get(key) != value and not key.startswith("xml") and ":" not in key:
                root.features[f"alpino_ds.{key}"] = value
        for part in self.element.children:
            if part.tag == "comments":
                self.comments += [comment.text for comment in part.children if comment.tag == "comment"]
            elif part.tag == "metadata":
                for meta in part.children:
                    values = meta.attributes
                    key = f"metadata.{values.get('type', 'text')}.{values.get('name', '')}"
                    self.keep(root, key, values.get("value", ""))
            elif part.tag not in ("node", "sentence"):
                if part.children or part.text.strip():
                    self.unread.append(f"the content of <{part.tag}>")
                for key, value in part.attributes.items():
                    self.keep(root, f"{part.tag}.{key}", value)
            elif part.tag == "sentence":
                for key, value in part.attributes.items():
                    if key != "sentid":
                        self.keep(root, f"sentence.{key}", value)
        words = " ".join(self.words[i].word for i in sorted(self.words))
        if words not in (self.text, self.text.strip()):
            root.features["sentence"] = self.text

    def keep(self, root: Node, key: str, value: str) -> None:
        """Keep a value beside the nodes; a name has one, but Alpino's metadata may give it several."""
        if key in root.features:
            self.unread.append("further values of the same name beside the nodes")
        else:
            root.features[key] = value

    def defect(self, message: str, line: int) -> None:
        """Something that cannot be repaired."""
        self.defects.append(Defect(message, line))


def _token(attributes: dict[str, str], edge: str | None) -> Token:
    """The tag is `pt`, else `pos`; the lemma `lemma`, else `root`; the morphology `postag`."""
    features = _others(attributes, _OF_WORDS)
    tag = features.pop("pt" if features.get("pt") else "pos", "")
    lemma = attributes.get("lemma", attributes.get("root"))
    return Token(attributes["word"], tag, lemma, attributes.get("postag"), edge, features)


def _others(attributes: dict[str, str], known: Set[str]) -> dict[str, str]:
    return {name: value for name, value in attributes.items() if name not in known}


def _value(text: str | None) -> str | None:
    return None if text == "--" else text
