"""The tree itself. Leaves are token indexes, inner nodes are `Node` objects; the yield of a node is a set of token
indexes that need not be contiguous.

Children are in the order of their first token (`Tree.sort`), so trees compare equal in whatever order a file listed
them. All traversals are iterative: depth is not limited.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from discoparse.tree.masks import blocks, gap_count, indexes, interleave
from discoparse.tree.node import Node, SecondaryEdge, Span, Token
from discoparse.tree.records import Record, records

if TYPE_CHECKING:
    import nltk

ROOT = "ROOT"  # label of the virtual root, as in disco-dop's files
GAP = " … "  # between the parts of a discontinuous constituent's text

Constituent = tuple[str, frozenset[int]]  # the paper's instantiated constituent (X, s), Section 2.1


@dataclass(slots=True, eq=False)
class Tree:
    """A sentence and its tree. Trees can change, so they have no hash: put `tree.key()` into sets and dictionaries.

    >>> tree = Tree.from_constituents(
    ...     [Token("what", "WP"), Token("to", "TO"), Token("do", "VB")],
    ...     [("S", {0, 1, 2}), ("VP", {0, 2})])
    >>> print(tree)
    (S (VP (WP 0=what) (VB 2=do)) (TO 1=to))
    >>> tree.is_discontinuous, tree.gap_degree, tree.block_degree
    (True, 1, 2)
    """

    tokens: list[Token]
    root: Node
    id: str | None = None
    comments: list[str] = field(default_factory=list)
    secondary_edges: list[SecondaryEdge] = field(default_factory=list)
    text: str | None = None  # the sentence as it stood in the text that was parsed, first token to last
    probability: float | None = None  # that all of it is right, by the parser
    expected_f1: float | None = None  # of its constituents, 0 to 1, by the parser

    def __post_init__(self) -> None:
        self._link()

    # -- construction -------------------------------------------------------------------------------------------

    @classmethod
    def from_constituents(
        cls, tokens: Sequence[Token], constituents: Iterable[tuple[str, Iterable[int]]], root: str = ROOT
    ) -> Tree:
        """The tree over `tokens` whose nodes are `constituents`, in any order; nodes of one yield stand in the
        order given, the first on top. A `root` node is added when no constituent covers the whole sentence."""
        spans = [(label, frozenset(s)) for label, s in constituents]
        everything = frozenset(range(len(tokens)))
        if not any(s == everything for _, s in spans):
            spans.append((root, everything))
        spans.sort(key=lambda c: -len(c[1]))  # stable: equal yields keep their order
        top: Node | None = None
        owner: list[Node | None] = [None] * len(tokens)  # the smallest node so far over each token
        for label, s in spans:
            if not s or not s <= everything:
                raise ValueError(f"constituent {label} {sorted(s)} does not lie in a sentence of {len(tokens)} tokens")
            node = Node(label, [])
            parents = {id(owner[i]): owner[i] for i in s}
            if len(parents) != 1:
                raise ValueError(f"constituent {label} {sorted(s)} overlaps another without containing it")
            (parent,) = parents.values()
            if parent is None:
                top = node
            else:
                parent.children.append(node)
            for i in s:
                owner[i] = node
        assert top is not None
        for i, lowest in enumerate(owner):
            assert lowest is not None
            lowest.children.append(i)
        tree = cls(list(tokens), top)
        tree.sort()
        return tree

    def copy(self) -> Tree:
        """A deep copy, secondary edges included."""
        twins: dict[int, Node] = {}
        for node in self.postorder():
            children = [twins[id(c)] if isinstance(c, Node) else c for c in node.children]
            twin_node = Node(node.label, children, node.edge, node.morph, dict(node.features))
            twin_node.probability, twin_node.label_probability = node.probability, node.label_probability
            twins[id(node)] = twin_node

        def twin(end: Node | int) -> Node | int:
            return twins[id(end)] if isinstance(end, Node) else end

        return Tree(
            [dataclasses.replace(token, features=dict(token.features)) for token in self.tokens],
            twins[id(self.root)],
            self.id,
            list(self.comments),
            [SecondaryEdge(twin(e.child), twin(e.parent), e.label) for e in self.secondary_edges],
            self.text,
            self.probability,
            self.expected_f1,
        )

    def sort(self) -> None:
        """Put the children of every node in the order of their first token. Call it after changing the tree: it also
        tells new nodes that they are in this tree, which `Node.parent` and `Node.text` need."""
        first: dict[Node, int] = {}
        for node in reversed(self._link()):
            firsts = [child if isinstance(child, int) else first[child] for child in node.children]
            in_order = sorted(firsts)
            first[node] = in_order[0]
            if firsts != in_order:
                node.children.sort(key=lambda child: child if isinstance(child, int) else first[child])

    def _link(self) -> list[Node]:
        """Tell every node that it is in this tree; the nodes, parents before children."""
        nodes = [self.root]
        for node in nodes:  # which grows meanwhile
            node._tree = self  # type: ignore[misc]  # mypy overlooks inherited slots
            for child in node.children:
                if not isinstance(child, int):
                    nodes.append(child)
        return nodes

    # -- traversal and yields -----------------------------------------------------------------------------------

    def preorder(self) -> Iterator[Node]:
        """All nodes, parents before children, left to right."""
        stack = [self.root]
        while stack:
            node = stack.pop()
            yield node
            for child in reversed(node.children):
                if not isinstance(child, int):
                    stack.append(child)

    def postorder(self) -> Iterator[Node]:
        """All nodes, children before parents, left to right."""
        order: list[Node] = []
        stack = [self.root]
        while stack:
            node = stack.pop()
            order.append(node)
            for child in node.children:
                if not isinstance(child, int):
                    stack.append(child)
        return reversed(order)

    def masks(self) -> dict[Node, int]:
        """The yield of every node as a bit mask: bit i is token i. Children come before their parents."""
        masks: dict[Node, int] = {}
        for node in self.postorder():
            mask = 0
            for child in node.children:
                mask |= 1 << child if isinstance(child, int) else masks[child]
            masks[node] = mask
        return masks

    def yields(self) -> dict[Node, frozenset[int]]:
        """The yield of every node as a set of token indexes."""
        return {node: frozenset(indexes(mask)) for node, mask in self.masks().items()}

    def spans(self) -> dict[Node, list[Span]]:
        """The characters of every node in the text that was parsed: a span for each contiguous block of its tokens.

        >>> tree = Tree([Token("Go", "VB", span=(0, 2)), Token("!", ".", span=(2, 3))], Node("S", [0, 1]))
        >>> tree.spans()[tree.root]
        [(0, 3)]
        """
        places = [token.span for token in self.tokens]
        if None in places:
            raise ValueError("the tree was not parsed from text: its tokens have no spans")
        known = [place for place in places if place is not None]
        return {
            node: [(known[first][0], known[last][1]) for first, last in blocks(mask)]
            for node, mask in self.masks().items()
        }

    def parents(self) -> dict[Node | int, Node]:
        """The parent of every node and every token index; the root has none."""
        return {child: node for node in self.preorder() for child in node.children}

    def find(self, label: str) -> list[Node]:
        """The nodes with this label, parents before children, left to right.

        >>> tree = Tree([Token("Go", "VB"), Token("on", "RP")], Node("S", [Node("VP", [0, Node("PRT", [1])])]))
        >>> [node.text for node in tree.find("PRT")], tree.find("NP")
        (['on'], [])
        """
        self._link()
        return [node for node in self.preorder() if node.label == label]

    def constituents(self) -> list[Constituent]:
        """Label and yield of every node, parents before children; unary chains from the top down."""
        yields = self.yields()
        return [(node.label, yields[node]) for node in self.preorder()]

    # -- discontinuity ------------------------------------------------------------------------------------------

    @property
    def gap_degree(self) -> int:
        """The largest number of gaps in a yield."""
        return max(gap_count(mask) for mask in self.masks().values())

    @property
    def block_degree(self) -> int:
        """The largest number of contiguous blocks in a yield: gap degree plus one (LCFRS fan-out)."""
        return self.gap_degree + 1

    @property
    def is_discontinuous(self) -> bool:
        """Whether some yield has a gap."""
        return any(gap_count(mask) for mask in self.masks().values())

    @property
    def is_well_nested(self) -> bool:
        """Whether no two disjoint yields interleave as a … b … a … b."""
        masks = [m for m in set(self.masks().values()) if gap_count(m)]
        return not any(a & b == 0 and interleave(a, b) for k, a in enumerate(masks) for b in masks[k + 1 :])

    # -- the rest -----------------------------------------------------------------------------------------------

    @property
    def words(self) -> list[str]:
        return [token.word for token in self.tokens]

    @property
    def tags(self) -> list[str]:
        return [token.tag for token in self.tokens]

    def text_of(self, mask: int) -> str:
        """The text of a yield, given as a bit mask: see `Node.text`."""
        start, end = self.tokens[0].span, self.tokens[-1].span
        text = self.text
        if text is None or start is None or end is None or end[1] - start[0] != len(text):  # tokens may be removed
            return GAP.join(" ".join(self.words[first : last + 1]) for first, last in blocks(mask))
        places = [(self.tokens[first].span, self.tokens[last].span) for first, last in blocks(mask)]
        return GAP.join(text[a[0] - start[0] : b[1] - start[0]] for a, b in places if a and b)

    def __len__(self) -> int:
        """Number of tokens."""
        return len(self.tokens)

    def key(self) -> tuple[object, ...]:
        """Everything that two equal trees share, as data that can be compared and hashed (children in canonical
        order)."""
        numbers = {node: k for k, node in enumerate(self.preorder())}

        def name(end: Node | int) -> tuple[str, int]:
            return ("token", end) if isinstance(end, int) else ("node", numbers[end])

        nodes = tuple(
            (n.label, n.edge, n.morph, tuple(sorted(n.features.items())), tuple(name(c) for c in n.children))
            for n in numbers
        )
        tokens = tuple(
            (t.word, t.tag, t.lemma, t.morph, t.edge, tuple(sorted(t.features.items()))) for t in self.tokens
        )
        edges = tuple(sorted((name(e.child), name(e.parent), e.label or "") for e in self.secondary_edges))
        return (self.id, tuple(self.comments), tokens, nodes, edges)

    def __eq__(self, other: object) -> bool:  # which also takes the hash away
        return isinstance(other, Tree) and self.key() == other.key()

    def __str__(self) -> str:
        from discoparse.treebank.discbracket import format_tree

        return format_tree(self)

    def __repr__(self) -> str:
        return f"<Tree {self}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle, which would not reach the bottom of deep trees: nodes in a list, in which ~k names node k."""
        names: dict[Node | int, int] = {node: ~k for k, node in enumerate(self.preorder())}
        nodes = [
            (
                *(n.label, [names.get(c, c) for c in n.children], n.edge, n.morph, n.features),
                *(n.probability, n.label_probability),
            )
            for n in self.preorder()
        ]
        edges = [(names.get(e.child, e.child), names.get(e.parent, e.parent), e.label) for e in self.secondary_edges]
        doubt = self.probability, self.expected_f1
        return _unpickle, (self.tokens, nodes, self.id, self.comments, edges, self.text, *doubt)

    # -- as something else --------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The tree as data that `json.dumps` takes, as docs/reference/formats.md describes it."""
        from discoparse.treebank.jsontrees import tree_to_json

        return tree_to_json(self)

    def to_nltk(self) -> nltk.Tree:
        """The tree as an `nltk.Tree`, see `discoparse.treebank.nltk_trees`. Needs the package `nltk`."""
        from discoparse.treebank.nltk_trees import to_nltk

        return to_nltk(self)

    def to_records(self) -> list[Record]:
        """A flat row for each node and each token, for a table: see `discoparse.tree.records`."""
        return records(self)

    def _repr_svg_(self) -> str:
        """The picture that a notebook shows."""
        from discoparse.drawing import draw_svg

        return draw_svg(self)


def _unpickle(
    tokens: list[Token],
    nodes: list[Any],
    name: str | None,
    comments: list[str],
    edges: list[Any],
    text: str | None,
    probability: float | None,
    expected_f1: float | None,
) -> Tree:
    """The inverse of `Tree.__reduce__`."""
    made = [Node(*fields) for fields in nodes]

    def named(end: int) -> Node | int:
        return made[~end] if end < 0 else end

    for node in made:
        node.children = [named(child) for child in node.children]  # type: ignore[arg-type]
    secondary = [SecondaryEdge(named(child), named(parent), label) for child, parent, label in edges]
    return Tree(tokens, made[0], name, comments, secondary, text, probability, expected_f1)
