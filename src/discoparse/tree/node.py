"""What a tree is made of: tokens, labelled nodes and secondary edges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discoparse.tree.tree import Tree

Span = tuple[int, int]  # characters start..end-1 of a text


@dataclass(slots=True)
class Token:
    """A word of the sentence, with whatever the treebank says about it."""

    word: str
    tag: str
    lemma: str | None = None
    morph: str | None = None
    edge: str | None = None  # label of the edge to the parent (grammatical function)
    features: dict[str, str] = field(default_factory=dict)  # further attributes of the source format
    span: Span | None = field(default=None, compare=False)  # where it stands in the text that was parsed
    probability: float | None = field(default=None, compare=False)  # of the tag, by the parser that gave it


class _Member:
    """The place for the tree that a node is in, which `Tree.sort` fills. Not a field: `asdict` would go round in it."""

    __slots__ = ("_tree",)
    _tree: Tree


@dataclass(slots=True, eq=False)
class Node(_Member):
    """A labelled constituent; children are nodes or, for leaves, token indexes. Compared by identity.

    Parsers say how sure they are: `probability` that these tokens are a constituent with this label,
    `label_probability` of the label given that they are one (see docs/guides/probabilities.md). Like spans, neither
    counts when trees are compared.
    """

    label: str
    children: list[Node | int]
    edge: str | None = None
    morph: str | None = None
    features: dict[str, str] = field(default_factory=dict)
    probability: float | None = None
    label_probability: float | None = None

    @property
    def parent(self) -> Node | None:
        """The node above this one, None for the root. `Tree.parents` has those of all nodes at once, which is faster
        for many."""
        tree = self._in_tree()
        if self is tree.root:
            return None
        above = tree.parents().get(self)
        if above is None:
            raise ValueError(f"{self!r} is no longer in the tree that it was in")
        return above

    @property
    def text(self) -> str:
        """The text of this node's tokens: as it was parsed, or else the words with spaces between them. A gap is ` … `.

        >>> from discoparse.tree import Tree
        >>> words = [Token("Wake", "VB"), Token("us", "PRP"), Token("up", "RP")]
        >>> Tree(words, Node("S", [Node("VP", [0, 2]), 1])).root.children[0].text
        'Wake … up'
        """
        mask, inside = 0, [self]
        for node in inside:  # which grows meanwhile
            for child in node.children:
                if isinstance(child, int):
                    mask |= 1 << child
                else:
                    inside.append(child)
        return self._in_tree().text_of(mask)

    def _in_tree(self) -> Tree:
        try:
            return self._tree
        except AttributeError:
            raise ValueError(f"{self!r} is not in a tree; after adding nodes to one, call its `sort`") from None

    def __repr__(self) -> str:
        return f"<Node {self.label}, {len(self.children)} children>"

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies of single nodes, which are in no tree."""
        fields = self.label, self.children, self.edge, self.morph, self.features
        return Node, (*fields, self.probability, self.label_probability)


@dataclass(slots=True, eq=False)
class SecondaryEdge:
    """An edge beside the tree: `child` has `parent` as a further parent (Tiger's secedge, Alpino's co-index)."""

    child: Node | int
    parent: Node | int
    label: str | None = None
