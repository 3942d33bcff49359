"""Trees from rows that name their parents, as in export, TIGER-XML and JSON, and all that can be wrong."""

from __future__ import annotations

from collections.abc import Hashable

from discoparse.tree import ROOT, Node, SecondaryEdge, Token, Tree
from discoparse.treebank.report import Defect


class Graph:
    """Words, nodes and edges of a sentence under the names that a file gives them (words may go by index).

    Add them in any order, then ask for the `tree`; what is wrong collects in `defects`. Things without a
    parent hang from a `ROOT` node.

    >>> graph = Graph()
    >>> graph.add_token("w1", Token("Go", "VB"))
    >>> graph.add_node("n1", Node("S", []))
    >>> graph.add_edge("w1", "n1", "HD")
    >>> print(graph.tree(), graph.defects)
    (ROOT (S (VB 0=Go))) []
    """

    def __init__(self) -> None:
        self.tokens: list[Token] = []
        self.defects: list[Defect] = []
        self.root = Node(ROOT, [])
        self._ends: dict[Hashable, Node | int] = {}
        self._lines: dict[Hashable, int | None] = {}
        self._parents: dict[Hashable, tuple[Hashable, int | None]] = {}
        self._edge_labels: dict[Hashable, str | None] = {}
        self._secondary: list[tuple[Hashable, Hashable, str | None, int | None]] = []

    def add_token(self, name: Hashable, token: Token, line: int | None = None) -> None:
        """The next word of the sentence."""
        self._add(name, len(self.tokens), line)
        self.tokens.append(token)

    def add_node(self, name: Hashable, node: Node, line: int | None = None, is_root: bool = False) -> None:
        """A node; `is_root` makes it the root itself."""
        self._add(name, node, line)
        if is_root:
            self.root = node

    def add_edge(self, child: Hashable, parent: Hashable, label: str | None, line: int | None = None) -> None:
        """An edge of the tree; if a child has two parents, the first counts."""
        if child in self._parents:
            first = self._shown(self._parents[child][0])
            second = f"{self._shown(parent)} (edge {label or '--'})"
            message = f"{self._shown(child)} has two parents, {first} and {second}"
            self._defect(message, line, repairable=True)
            return
        self._parents[child] = (parent, line)
        self._edge_labels[child] = label

    def add_secondary_edge(self, child: Hashable, parent: Hashable, label: str | None, line: int | None = None) -> None:
        """An edge beside the tree; a parent of None is the root."""
        self._secondary.append((child, parent, label, line))

    def tree(self, id: str | None = None, comments: list[str] | None = None) -> Tree | None:
        """The tree, its repairable defects repaired; None if there are no words or a defect cannot be repaired."""
        self._link()
        edges = [edge for edge in map(self._secondary_edge, self._secondary) if edge is not None]
        if not self.tokens or any(not defect.repairable for defect in self.defects):
            return None
        kept = self._without_childless()
        edges = [e for e in edges if all(isinstance(end, int) or end in kept for end in (e.child, e.parent))]
        tree = Tree(self.tokens, self.root, id, comments or [], edges)
        tree.sort()
        return tree

    def _add(self, name: Hashable, end: Node | int, line: int | None) -> None:
        if name in self._ends:
            self._defect(f"{self._shown(name)} is defined twice", line)
        self._ends[name] = end
        self._lines[name] = line

    def _defect(self, message: str, line: int | None, repairable: bool = False) -> None:
        self.defects.append(Defect(message, line, repairable))

    def _shown(self, name: Hashable) -> str:
        """How a message names it: as the file does or, for words without a name, by position."""
        if isinstance(name, int):
            return f"word {name + 1} ({self.tokens[name].word})"
        return " ".join(map(str, name)) if isinstance(name, tuple) else str(name)

    def _link(self) -> None:
        """Give every node its children; find unknown names and cycles."""
        for name, end in self._ends.items():
            parent_name, line = self._parents.get(name, (None, None))
            if end is self.root:
                if parent_name is not None:
                    self._defect(f"the root {self._shown(name)} has a parent, {self._shown(parent_name)}", line)
                continue
            parent = self.root if parent_name is None else self._ends.get(parent_name)
            if not isinstance(parent, Node):
                what = "does not exist" if parent is None else "is a word"
                self._defect(f"the parent of {self._shown(name)} is {self._shown(parent_name)}, which {what}", line)
                continue
            parent.children.append(end)
            if isinstance(end, int):
                self.tokens[end].edge = self._edge_labels.get(name)
            else:
                end.edge = self._edge_labels.get(name)
        for name, (parent_name, line) in self._parents.items():
            if name not in self._ends:
                self._defect(f"{self._shown(parent_name)} has a child {name}, which does not exist", line)
        self._find_cycles()

    def _find_cycles(self) -> None:
        safe: set[Hashable] = {None}
        for start in self._ends:
            path: list[Hashable] = []
            on_path: set[Hashable] = set()
            name: Hashable = start
            while name not in safe and name not in on_path:
                path.append(name)
                on_path.add(name)
                name = self._parents.get(name, (None, None))[0]
            if name in on_path:
                cycle = path[path.index(name) :]
                shown = " under ".join(self._shown(n) for n in [*cycle, cycle[0]])
                self._defect(f"the nodes form a cycle: {shown}", self._lines.get(name))
            safe.update(path)

    def _without_childless(self) -> set[Node]:
        """Take out nodes without words, which are defects; the nodes that stay."""
        names = {end: name for name, end in self._ends.items() if isinstance(end, Node)}
        order: list[Node] = []
        stack = [self.root]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(child for child in node.children if isinstance(child, Node))
        empty: set[Node] = set()
        for node in reversed(order):
            if empty:
                node.children = [c for c in node.children if isinstance(c, int) or c not in empty]
            if not node.children and node is not self.root:
                empty.add(node)
                name = names[node]
                self._defect(f"{self._shown(name)} ({node.label}) has no words", self._lines[name], repairable=True)
        return set(order) - empty

    def _secondary_edge(self, edge: tuple[Hashable, Hashable, str | None, int | None]) -> SecondaryEdge | None:
        child_name, parent_name, label, line = edge
        child = self._ends.get(child_name)
        parent = self.root if parent_name is None else self._ends.get(parent_name)
        if child is None or parent is None:
            missing = child_name if child is None else parent_name
            self._defect(
                f"a secondary edge ({label or '--'}) names {self._shown(missing)}, which does not exist",
                line,
                repairable=True,
            )
            return None
        return SecondaryEdge(child, parent, label)
