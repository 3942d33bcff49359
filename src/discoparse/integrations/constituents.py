"""The constituents of spaCy documents: what the component stores, and the attributes under `._` that read it.

A sentence's tree is stored as plain lists in `doc.user_data`, under the characters of the sentence, as spaCy stores
attributes of spans. So it is kept by `DocBin`, `Doc.to_bytes`, pickle, and between the processes of `nlp.pipe`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from spacy.tokens import Doc, Span, SpanGroup, Token

from discoparse import tree as trees
from discoparse.errors import DiscoparseError, UsageError
from discoparse.tree import Node, Tree, blocks, indexes
from discoparse.treebank.bracket_syntax import escape, format_brackets

STORE = "discoparse"  # the attribute of sentences that holds their trees


class NotParsed(DiscoparseError):
    """The sentence has no tree."""


class NonConstituent(DiscoparseError):
    """A span is not a constituent of its sentence."""


def parsed_tokens(sentence: Span) -> list[Token]:
    """The tokens of a sentence that are parsed: all but white space."""
    return [token for token in sentence if not token.is_space]


def store(sentence: Span, tree: Tree) -> None:
    """Keep the tree of a sentence in its document."""
    numbers = {node: k for k, node in enumerate(tree.preorder())}
    above = {child: numbers[parent] for child, parent in tree.parents().items()}
    sentence._.set(
        STORE,
        {
            "labels": [node.label for node in numbers],
            "parents": [above.get(node, -1) for node in numbers],
            "label_probabilities": [node.label_probability for node in numbers],
            "tags": tree.tags,
            "token_parents": [above[index] for index in range(len(tree))],
        },
    )


class ParsedSentence:
    """A sentence of a document with its tree."""

    def __init__(self, sentence: Span) -> None:
        data = sentence._.get(STORE)
        if data is None:
            raise NotParsed(f"no tree for the sentence {shortened(sentence)}: add `discoparse` to the pipeline")
        self.doc: Doc = sentence.doc
        self.tokens = parsed_tokens(sentence)
        nodes = [
            Node(label, [], label_probability=probability)
            for label, probability in zip(data["labels"], data["label_probabilities"], strict=True)
        ]
        for node, parent in zip(nodes, data["parents"], strict=True):
            if parent >= 0:
                nodes[parent].children.append(node)
        for index, parent in enumerate(data["token_parents"]):
            nodes[parent].children.append(index)
        words = [
            trees.Token(token.text, tag, span=(token.idx, token.idx + len(token)))
            for token, tag in zip(self.tokens, data["tags"], strict=True)
        ]
        text = self.doc.text[self.tokens[0].idx : self.tokens[-1].idx + len(self.tokens[-1])]
        self.tree = Tree(words, nodes[0], text=text)
        self.tree.sort()
        self.masks = self.tree.masks()
        self.parents = self.tree.parents()

    def constituent(self, child: Node | int) -> Constituent:
        """The constituent of a node or token, with all nodes above and below that have the same tokens."""
        chain: list[Node] = []
        parent = self.parents.get(child)
        while parent is not None and len(parent.children) == 1:
            chain.insert(0, parent)
            parent = self.parents.get(parent)
        while isinstance(child, Node):
            chain.append(child)
            if len(child.children) > 1:
                return Constituent(self, tuple(chain), self.masks[child])
            (child,) = child.children
        return Constituent(self, tuple(chain), 1 << child)

    def find(self, span: Span) -> Constituent:
        """The constituent that has just the tokens of a span, white space aside."""
        places = {token.i for token in span if not token.is_space}
        mask = sum(1 << index for index, token in enumerate(self.tokens) if token.i in places)
        if mask.bit_count() == len(places):
            if mask.bit_count() == 1:
                return self.constituent(mask.bit_length() - 1)
            for node, yielded in self.masks.items():
                if yielded == mask:
                    return self.constituent(node)
        raise NonConstituent(f"not a constituent: {shortened(span)}")


@dataclass(frozen=True, eq=False, repr=False)
class Constituent:
    """A set of tokens that is a constituent, and the labels of the nodes that have just these tokens.

    Single tokens are constituents, too, with no label if no node has only them. `constituent._` is the constituent, so
    code that expects spans with attributes (`constituent._.labels`) works.
    """

    sentence: ParsedSentence
    nodes: tuple[Node, ...]  # top to bottom
    mask: int  # of tokens in the sentence, without white space

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of its nodes, top to bottom: usually one."""
        return tuple(node.label for node in self.nodes)

    @property
    def label_probabilities(self) -> tuple[float | None, ...]:
        """How sure the parser was of each label, given the tokens."""
        return tuple(node.label_probability for node in self.nodes)

    @property
    def tokens(self) -> list[Token]:
        """Its tokens, those in gaps left out."""
        return [self.sentence.tokens[index] for index in indexes(self.mask)]

    @property
    def spans(self) -> SpanGroup:
        """Its tokens as spans: one, or several if it is discontinuous."""
        tokens = self.sentence.tokens
        found = [self.doc[tokens[first].i : tokens[last].i + 1] for first, last in blocks(self.mask)]
        return SpanGroup(self.doc, name="+".join(self.labels), spans=found)

    @property
    def gaps(self) -> list[Span]:
        """The spans between its parts, which are not part of it; none if it is continuous."""
        spans = list(self.spans)
        return [self.doc[left.end : right.start] for left, right in pairwise(spans)]

    @property
    def span(self) -> Span:
        """From its first to its last token, with what is in the gaps."""
        tokens = self.tokens
        return self.doc[tokens[0].i : tokens[-1].i + 1]

    @property
    def is_discontinuous(self) -> bool:
        """Whether there are gaps."""
        return len(blocks(self.mask)) > 1

    @property
    def doc(self) -> Doc:
        """The document."""
        return self.sentence.doc

    @property
    def text(self) -> str:
        """Its text; `…` stands for gaps."""
        return self.sentence.tree.text_of(self.mask)

    @property
    def parent(self) -> Constituent | None:
        """The next larger constituent."""
        top = self.nodes[0] if self.nodes else self.mask.bit_length() - 1
        above = self.sentence.parents.get(top)
        return None if above is None else self.sentence.constituent(above)

    @property
    def children(self) -> Iterator[Constituent]:
        """Its immediate parts, in the order of their first tokens."""
        if self.mask.bit_count() > 1:
            yield from map(self.sentence.constituent, self.nodes[-1].children)

    @property
    def constituents(self) -> Iterator[Constituent]:
        """Itself and all constituents in it, parents before children."""
        waiting = [self]
        while waiting:
            constituent = waiting.pop()
            yield constituent
            waiting.extend(reversed(list(constituent.children)))

    @property
    def parse_string(self) -> str:
        """Its part of the tree as discbracket; the numbers of tokens are those of the sentence."""
        tokens = self.sentence.tree.tokens

        def leaf(index: int) -> str:
            return f"{escape(tokens[index].tag, tag=True)} {index}={escape(tokens[index].word)}"

        if not self.nodes:
            return f"({leaf(self.mask.bit_length() - 1)})"
        return format_brackets(self.nodes[0], lambda node: escape(node.label), leaf)

    @property
    def _(self) -> Constituent:
        return self

    def __len__(self) -> int:
        return self.mask.bit_count()

    def __iter__(self) -> Iterator[Token]:
        return iter(self.tokens)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constituent) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[Any, ...]:
        return id(self.doc), tuple(token.i for token in self.tokens), self.labels

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{'+'.join(self.labels) or 'token'} {self.text}>"


def of_span(span: Span) -> Constituent:
    """The constituent that a span is."""
    return ParsedSentence(span.sent).find(span)


def of_token(token: Token) -> Constituent:
    """The constituent that consists of one token."""
    return of_span(token.doc[token.i : token.i + 1])


def around(token: Token) -> list[Constituent]:
    """All constituents with a token, from the token itself up to the whole sentence."""
    found = []
    constituent: Constituent | None = of_token(token)
    while constituent is not None:
        found.append(constituent)
        constituent = constituent.parent
    return found


def in_document(doc: Doc) -> Iterator[Constituent]:
    """The constituents of all sentences; sentences without a tree are skipped."""
    for sentence in doc.sents:
        if sentence._.get(STORE) is not None:
            yield from of_span(sentence).constituents


def tree_of(sentence: Span) -> Tree:
    """The tree of a sentence."""
    parsed = ParsedSentence(sentence.sent)
    parsed.find(sentence)  # only a whole sentence has a tree
    if len(parsed.tokens) != len(parsed_tokens(sentence)):
        raise NonConstituent(f"not a whole sentence: {shortened(sentence)}")
    return parsed.tree


def _of(find: Callable[[Any], Constituent], name: str) -> Callable[[Any], Any]:
    """A getter for an attribute of the constituent that a span or token is."""
    return lambda item: getattr(find(item), name)


# The names of benepar, and their relatives.
_SHARED = ("labels", "parse_string", "parent")
_GETTERS: dict[Any, dict[str, Callable[[Any], Any]]] = {
    Doc: {"constituents": in_document},
    Span: {
        **{name: _of(of_span, name) for name in (*_SHARED, "constituents", "children")},
        "constituent": of_span,
        "tree": tree_of,
    },
    Token: {**{name: _of(of_token, name) for name in _SHARED}, "constituents": around, "constituent": of_token},
}


def register() -> None:
    """Define the attributes under `._` unless they are defined. Components do; stored documents need a call."""
    if not Span.has_extension(STORE):
        taken = [
            f"{kind.__name__.lower()}._.{name}"
            for kind, getters in _GETTERS.items()
            for name in getters
            if kind.has_extension(name)
        ]
        if taken:
            raise UsageError(f"another component (benepar?) has already defined {', '.join(taken)}: use one of the two")
        Span.set_extension(STORE, default=None)
        for kind, getters in _GETTERS.items():
            for name, getter in getters.items():
                kind.set_extension(name, getter=getter)


def shortened(span: Span) -> str:
    """The text of a span for messages."""
    text = str(span)
    return repr(text if len(text) <= 50 else text[:49] + "…")
