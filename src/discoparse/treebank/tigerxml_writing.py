"""Writing TIGER-XML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from discoparse.tree import ROOT, Node, Tree
from discoparse.treebank import capacity
from discoparse.treebank.capacity import note_losses
from discoparse.treebank.report import Report
from discoparse.treebank.xmlblocks import attributes_text

HOLDS = frozenset(
    {
        capacity.IDS,
        capacity.LEMMAS,
        capacity.MORPHOLOGY,
        capacity.NODE_MORPHOLOGY,
        capacity.EDGES,
        capacity.SECONDARY_EDGES,
    }
)
START = """<?xml version="1.0" encoding="utf-8" standalone="yes"?>
<corpus id="corpus">
<head>
<annotation>
<feature name="word" domain="T"/>
<feature name="lemma" domain="T"/>
<feature name="pos" domain="T"/>
<feature name="morph" domain="T"/>
<feature name="cat" domain="NT"/>
<edgelabel/>
<secedgelabel/>
</annotation>
</head>
<body>
"""
END = "</body>\n</corpus>\n"


def write(trees: Iterable[Tree], report: Report) -> Iterator[str]:
    """A corpus with the trees as its sentences; those without an id are s1, s2, …"""
    yield START
    for number, tree in enumerate(trees, 1):
        note_losses(tree, "tigerxml", HOLDS, report, attributes=None, root_attributes=None)
        yield _Sentence(tree, f"s{number}" if tree.id is None else tree.id, report).text()
    yield END


class _Sentence:
    """One tree on its way into XML."""

    def __init__(self, tree: Tree, id: str, report: Report) -> None:
        self.tree, self.id, self.report = tree, id, report
        self.virtual = tree.root if tree.root.label == ROOT else None
        self.used: set[str] = set()
        self.names: dict[Node | int, str] = {}
        tokens = [(k, f"{id}_{k + 1}", token.features) for k, token in enumerate(tree.tokens)]
        nodes = [node for node in tree.postorder() if node is not self.virtual]
        named: list[tuple[Node | int, str, dict[str, str]]] = [*tokens]
        named += [(node, f"{id}_{500 + k}", node.features) for k, node in enumerate(nodes)]
        for end, _, features in named:  # ids that the source gave come first, new ones keep clear of them
            own = features.get("id")
            if own is not None and own not in self.used:
                self.name(end, own)
        for end, name, _ in named:
            if end not in self.names:
                self.name(end, self.unused(name))
        self.nodes = nodes
        self.graph_root = self.choose_root()
        self.secondary = self.secondary_edges()

    def name(self, end: Node | int, name: str) -> None:
        self.names[end] = name
        self.used.add(name)

    def unused(self, name: str) -> str:
        return name if name not in self.used else self.unused(name + "x")

    def choose_root(self) -> str:
        """The root of the graph: the only top node, the one that the source named, or a VROOT."""
        if self.virtual is None:
            self.report.not_written(
                "tigerxml", "a root other than ROOT (a ROOT is added when the tree is read)"
            )
            return self.names[self.tree.root]
        root = self.virtual
        named = {self.names[child] for child in root.children}
        source = root.features.get("graph.root")
        is_parent = any(edge.parent is root for edge in self.tree.secondary_edges)
        if source in named and not is_parent:
            return str(source)
        if len(root.children) == 1 and "id" not in root.features and root.morph is None and not is_parent:
            return next(iter(named))
        own = root.features.get("id", f"{self.id}_VROOT")
        self.name(root, self.unused(own))
        self.nodes.append(root)
        return self.names[root]

    def secondary_edges(self) -> dict[Node | int, list[str]]:
        """The <secedge> elements of each child."""
        found: dict[Node | int, list[str]] = {}
        for edge in self.tree.secondary_edges:
            values = {"label": self.value(edge.label), "idref": self.names[edge.parent]}
            if edge.child not in self.names:
                self.report.not_written("tigerxml", "secondary edges from ROOT")
            else:
                found.setdefault(edge.child, []).append(f"<secedge{self.attributes(values)}/>\n")
        return found

    def text(self) -> str:
        """The <s> element."""
        features = self.tree.root.features if self.virtual else {}
        outer = {"id": self.id}
        inner = {"root": self.graph_root}
        for key, value in features.items():
            place, dot, name = key.partition(".")
            if dot and place == "s":
                outer[name] = value
            elif key == "graph.root":
                if value != self.graph_root:
                    self.report.not_written("tigerxml", "a root of the graph that is no longer one")
            elif dot and place == "graph":
                inner[name] = value
            elif self.virtual not in self.names:
                self.report.not_written("tigerxml", f"the attribute {key} of the root")
        if self.tree.root.edge is not None or (
            self.tree.root.morph is not None and self.virtual not in self.names
        ):
            self.report.not_written("tigerxml", capacity.ROOT_EDGE)
        lines = [f"<s{self.attributes(outer)}>\n<graph{self.attributes(inner)}>\n<terminals>\n"]
        for index, token in enumerate(self.tree.tokens):
            values = {"id": self.names[index], "word": token.word, "lemma": self.value(token.lemma)}
            values |= {"pos": token.tag, "morph": self.value(token.morph)} | _others(token.features)
            lines.append(self.element("t", values, self.secondary.get(index, [])))
        lines.append("</terminals>\n<nonterminals>\n")
        lines += [self.nonterminal(node) for node in self.nodes]
        lines.append("</nonterminals>\n</graph>\n</s>\n")
        return "".join(lines)

    def nonterminal(self, node: Node) -> str:
        """The <nt> element of a node, with its edges."""
        values = {"id": self.names[node], "cat": "VROOT" if node is self.virtual else node.label}
        if node.morph is not None:
            values["morph"] = self.value(node.morph)
        own = _others(node.features)
        if node is self.virtual:
            own = {key: value for key, value in own.items() if "." not in key}
        edges = []
        for child in node.children:
            label = self.tree.tokens[child].edge if isinstance(child, int) else child.edge
            values_of_edge = {"label": self.value(label), "idref": self.names[child]}
            edges.append(f"<edge{self.attributes(values_of_edge)}/>\n")
        return self.element("nt", values | own, edges + self.secondary.get(node, []))

    def element(self, tag: str, values: dict[str, str], inner: list[str]) -> str:
        start = f"<{tag}{self.attributes(values)}"
        return f"{start}>\n{''.join(inner)}</{tag}>\n" if inner else f"{start}/>\n"

    def attributes(self, values: dict[str, str]) -> str:
        return attributes_text(values, "tigerxml", self.report)

    def value(self, text: str | None) -> str:
        """A value that may be absent."""
        if text == "--":
            self.report.not_written("tigerxml", "the value -- (it means absent)")
        return "--" if text is None else text


def _others(features: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in features.items() if name != "id"}
