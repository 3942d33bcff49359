"""Writing TIGER-XML."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from discoparse.tree import ROOT, Node, Tree
from discoparse.treebank import capacity
from discoparse.treebank.capacity import note_losses
from discoparse.treebank.report import ATTRIBUTE, Report
from discoparse.treebank.xmlblocks import attributes_text, free_features

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
VIRTUAL_ROOT = "VROOT"
END = "</body>\n</corpus>\n"


def write(trees: Iterable[Tree], report: Report) -> Iterator[str]:
    """A corpus with the trees as its sentences; those without an id are s1, s2, …"""
    yield START
    for number, tree in enumerate(trees, 1):
        note_losses(tree, "tigerxml", HOLDS, report, attributes=None, root_attributes=None)
        yield _Sentence(tree, f"s{number}" if tree.id is None else tree.id, report).text()
    yield END


def standard_ids(tree: Tree, id: str) -> dict[Node | int, str]:
    """The ids of words and nodes where the source gave none: SENTENCE_1 …, SENTENCE_500 …, SENTENCE_VROOT."""
    ids: dict[Node | int, str] = {k: f"{id}_{k + 1}" for k in range(len(tree))}
    first = max(500, len(tree) + 1)  # after the words, however many there are
    ids |= {node: f"{id}_{k}" for k, node in enumerate(tree.postorder(), first)}
    if tree.root.label == ROOT:
        ids[tree.root] = f"{id}_VROOT"
    return ids


class _Sentence:
    """One tree on its way into XML."""

    def __init__(self, tree: Tree, id: str, report: Report) -> None:
        self.tree, self.id, self.report = tree, id, report
        self.virtual = tree.root if tree.root.label == ROOT else None
        self.used: set[str] = set()
        self.names: dict[Node | int, str] = {}
        self.standard = standard_ids(tree, id)
        ends = [end for end in self.standard if end is not self.virtual]
        for end in ends:  # ids that the source gave come first, new ones keep clear of them
            own = (tree.tokens[end] if isinstance(end, int) else end).features.get("id")
            if own is not None and own not in self.used:
                self.name(end, own)
            elif own is not None:
                report.not_written("tigerxml", "ids that several words or nodes have")
        for end in ends:
            if end not in self.names:
                self.name(end, self.unused(self.standard[end]))
        self.nodes = [end for end in ends if isinstance(end, Node)]
        self.graph_root = self.choose_root()
        self.secondary = self.secondary_edges()

    def name(self, end: Node | int, name: str) -> None:
        self.names[end] = name
        self.used.add(name)

    def unused(self, name: str) -> str:
        """This name or, where it is taken, a new one."""
        if name in self.used:
            self.report.not_written("tigerxml", "the ids of new nodes that others have (x is added)")
        while name in self.used:
            name += "x"
        return name

    def choose_root(self) -> str:
        """The root of the graph: the only top node, the one that the source named, or a VROOT."""
        if self.virtual is None:
            self.report.not_written("tigerxml", "a root other than ROOT (a ROOT is added when the tree is read)")
            return self.names[self.tree.root]
        root = self.virtual
        tops = {self.names[child] for child in root.children}
        is_needed = (
            any(self.edge_label(child) is not None for child in root.children)
            or any(edge.parent is root for edge in self.tree.secondary_edges)
            or any(isinstance(child, Node) and child.label == VIRTUAL_ROOT for child in root.children)
            or root.morph is not None
            or "id" in root.features
        )
        if not is_needed:
            source = root.features.get("graph.root")
            if source in tops or len(tops) == 1:
                return source if source is not None and source in tops else next(iter(tops))
        self.name(root, self.unused(root.features.get("id", self.standard[root])))
        self.nodes.append(root)
        return self.names[root]

    def edge_label(self, child: Node | int) -> str | None:
        """The label of the edge above a word or node."""
        return self.tree.tokens[child].edge if isinstance(child, int) else child.edge

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
        outer = {"id": self.id} | self.beside("s", ("id",))
        inner = {"root": self.graph_root} | self.beside("graph", ("root",))
        for key, value in self.tree.root.features.items():
            place, dot, _ = key.partition(".")
            if key == "graph.root" and value != self.graph_root:
                self.report.not_written("tigerxml", "a root of the graph that is no longer one")
            elif (dot and place not in ("s", "graph")) or (not dot and self.virtual not in self.names):
                self.report.not_written("tigerxml", ATTRIBUTE + key)
        if self.tree.root.edge is not None or (self.tree.root.morph is not None and self.virtual not in self.names):
            self.report.not_written("tigerxml", capacity.ROOT_EDGE)
        lines = [f"<s{self.attributes(outer)}>\n<graph{self.attributes(inner)}>\n<terminals>\n"]
        for index, token in enumerate(self.tree.tokens):
            values = {"id": self.names[index], "word": token.word, "lemma": self.value(token.lemma)}
            values |= {"pos": token.tag, "morph": self.value(token.morph)} | self.others(token.features)
            lines.append(self.element("t", values, self.secondary.get(index, [])))
        lines.append("</terminals>\n<nonterminals>\n")
        lines += [self.nonterminal(node) for node in self.nodes]
        lines.append("</nonterminals>\n</graph>\n</s>\n")
        return "".join(lines)

    def beside(self, place: str, taken: Collection[str]) -> dict[str, str]:
        """The attributes of <s> or <graph>, which the root keeps."""
        features = self.tree.root.features.items()
        kept = {key.partition(".")[2]: value for key, value in features if key.startswith(place + ".")}
        kept.pop("root", None)
        return free_features(kept, taken, "tigerxml", self.report)

    def nonterminal(self, node: Node) -> str:
        """The <nt> element of a node, with its edges."""
        values = {"id": self.names[node], "cat": VIRTUAL_ROOT if node is self.virtual else node.label}
        if node.morph is not None:
            values["morph"] = self.value(node.morph)
        features = node.features
        if node is self.virtual:
            features = {key: value for key, value in features.items() if "." not in key}
        own = self.others(features)
        edges = []
        for child in node.children:
            ends = {"label": self.value(self.edge_label(child)), "idref": self.names[child]}
            edges.append(f"<edge{self.attributes(ends)}/>\n")
        return self.element("nt", values | own, edges + self.secondary.get(node, []))

    def element(self, tag: str, values: dict[str, str], inner: list[str]) -> str:
        start = f"<{tag}{self.attributes(values)}"
        return f"{start}>\n{''.join(inner)}</{tag}>\n" if inner else f"{start}/>\n"

    def others(self, features: dict[str, str]) -> dict[str, str]:
        """Features that stand as attributes beside those with a meaning."""
        others = {name: value for name, value in features.items() if name != "id"}
        return free_features(others, ("word", "lemma", "pos", "morph", "cat"), "tigerxml", self.report)

    def attributes(self, values: dict[str, str]) -> str:
        return attributes_text(values, "tigerxml", self.report)

    def value(self, text: str | None) -> str:
        """A value that may be absent."""
        if text == "--":
            self.report.not_written("tigerxml", "the value -- (it means absent)")
        return "--" if text is None else text
