"""TIGER-XML: terminals, nonterminals with edges to children, secondary edges from child to further parent.

Attributes without a place of their own in a tree are kept in `features`, those of `<s>` and `<graph>` in the
features of the root under `s.NAME` and `graph.NAME`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from discoparse.tree import ROOT, Node, Token, Tree
from discoparse.treebank.graph import Graph
from discoparse.treebank.report import Defect, Reading
from discoparse.treebank.tigerxml_writing import VIRTUAL_ROOT, standard_ids, write
from discoparse.treebank.xmlblocks import Element, Sentences, damaged_tags

__all__ = ["read", "write"]

ABSENT = "--"
_INNER = ("graph", "terminals", "nonterminals", "t", "nt", "edge", "secedge", "alpino_ds")  # the last by mistake


def read(stream: TextIO, reading: Reading) -> Iterator[Tree]:
    """The sentences of a file."""
    for sentence in Sentences(stream, "s", _INNER, reading):
        name = sentence.attributes.get("id")
        reading.sentence(name, sentence.line)
        for child in sentence.children:
            if child.tag != "graph":
                reading.not_read("tigerxml", f"<{child.tag}> in sentences")
        graph = _Reader(sentence)
        if graph.is_empty:
            reading.empty()
            continue
        tree = graph.tree(name)
        if reading.accept(graph.defects, name) and tree is not None:
            _drop_standard_names(tree)
            yield tree


def _drop_standard_names(tree: Tree) -> None:
    """Keep only ids, and the root of the graph, that would not be written anyway."""
    features = {
        end: (tree.tokens[end] if isinstance(end, int) else end).features
        for end in [*range(len(tree)), *tree.preorder()]
    }
    own, tops = tree.root.features, tree.root.children
    top = own if "id" in own else features[tops[0]] if len(tops) == 1 else {}
    if "id" in top and own.get("graph.root") == top["id"]:
        del own["graph.root"]
    for end, name in standard_ids(tree, tree.id or "").items():
        if features[end].get("id") == name:
            del features[end]["id"]


class _Reader(Graph):
    """The graph of one sentence."""

    def __init__(self, sentence: Element) -> None:
        super().__init__()
        self.sentence = sentence
        found = sentence.find("graph")
        self.graph = Element("graph", {}, sentence.line) if found is None else found
        if "id" not in sentence.attributes:
            self._defect("<s> has no id", sentence.line)
        self.defects += damaged_tags(sentence, ("s", *_INNER))
        for part in self.graph.children:
            for element in part.children:
                if (part.tag, element.tag) == ("terminals", "t"):
                    self.terminal(element)
                elif (part.tag, element.tag) == ("nonterminals", "nt"):
                    self.nonterminal(element)
                else:
                    self._defect(f"<{element.tag}> is not expected in <{part.tag}>", element.line)
            if part.tag not in ("terminals", "nonterminals"):
                self._defect(f"<{part.tag}> is not expected in <graph>", part.line)
        self.attributes_of_sentence()

    @property
    def is_empty(self) -> bool:
        """Whether the sentence has neither words nor nodes."""
        return all(not part.children for part in self.graph.children)

    def terminal(self, element: Element) -> None:
        """A word."""
        attributes = dict(element.attributes)
        if lacking := [name for name in ("id", "word", "pos") if name not in attributes]:
            named = f" {attributes['id']}" if "id" in attributes else ""
            self._defect(f"<t>{named} lacks {' and '.join(lacking)}", element.line)
            return
        name, word, tag = attributes["id"], attributes.pop("word"), attributes.pop("pos")
        lemma, morph = _value(attributes.pop("lemma", None)), _value(attributes.pop("morph", None))
        self.add_token(name, Token(word, tag, lemma, morph, features=attributes), element.line)
        for child in element.children:
            self.edge(name, child)

    def nonterminal(self, element: Element) -> None:
        """A node and its edges."""
        attributes = dict(element.attributes)
        if not {"id", "cat"} <= attributes.keys():
            self._defect("<nt> lacks id or cat", element.line)
            return
        name, label, morph = attributes["id"], attributes.pop("cat"), _value(attributes.pop("morph", None))
        is_root = label == VIRTUAL_ROOT and name == self.graph.attributes.get("root")
        node = Node(ROOT if is_root else label, [], morph=morph, features=attributes)
        self.add_node(name, node, element.line, is_root)
        for child in element.children:
            self.edge(name, child)

    def edge(self, name: str, element: Element) -> None:
        """An edge to a child, or a secondary edge to a further parent."""
        other = element.attributes.get("idref")
        label = _value(element.attributes.get("label"))
        if other is None or element.tag not in ("edge", "secedge"):
            self._defect(f"<{element.tag}> is not an edge with an idref", element.line)
        elif element.tag == "secedge":
            self.add_secondary_edge(name, other, label, element.line)
        else:
            self.add_edge(other, name, label, element.line)

    def attributes_of_sentence(self) -> None:
        """Keep what stands on <s> and <graph> on the root."""
        features = self.root.features
        for key, value in self.sentence.attributes.items():
            if key != "id" and not key.startswith("xmlns"):
                features[f"s.{key}"] = value
        for key, value in self.graph.attributes.items():
            features[f"graph.{key}"] = value
        root = self.graph.attributes.get("root")
        if root is not None and root not in self._ends:
            message = f"the root {root} of the graph does not exist"
            self.defects.append(Defect(message, self.graph.line, repairable=True))
            del features["graph.root"]
        elif root in self._parents and self._ends[root] is not self.root:
            message = f"the root {root} of the graph has a parent, {self._parents[root][0]}"
            self.defects.append(Defect(message, self.graph.line, repairable=True))
            del features["graph.root"]
        if not self.tokens and not self.defects and self._ends:
            self._defect("the sentence has nodes but no words", self.sentence.line)


def _value(text: str | None) -> str | None:
    return None if text == ABSENT else text
