"""Writing Alpino XML: one <alpino_ds> after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from discoparse.tree import ROOT, Node, SecondaryEdge, Tree
from discoparse.treebank import capacity
from discoparse.treebank.capacity import note_losses
from discoparse.treebank.report import ATTRIBUTE, Report
from discoparse.treebank.xmlblocks import attributes_text, element_text, free_features

VERSION = "1.3"
_MEANINGFUL = ("cat", "begin", "end", "id", "index", "rel", "word")
DEEPEST = 50  # levels of indentation: deep trees must not make endless lines
START = '<?xml version="1.0" encoding="UTF-8"?>\n<treebank>\n'
END = "</treebank>\n"
HOLDS = frozenset(
    {
        capacity.IDS,
        capacity.COMMENTS,
        capacity.LEMMAS,
        capacity.MORPHOLOGY,
        capacity.EDGES,
        capacity.SECONDARY_EDGES,
    }
)


def write(trees: Iterable[Tree], report: Report) -> Iterator[str]:
    """All sentences in one <treebank>."""
    yield START
    for tree in trees:
        note_losses(tree, "alpino", HOLDS, report, attributes=None, root_attributes=None)
        yield _Sentence(tree, report).text()
    yield END


def contradicts(text: str, words: Sequence[str]) -> bool:
    """Whether the text of <sentence> has other words, however they are separated; an empty one says nothing.

    >>> contradicts("ja , nee", ["ja", ",", "nee"]), contradicts("ja, nee", ["ja", ",", "nee"]), contradicts("", ["ja"])
    (False, False, False)
    >>> contradicts("nee , ja", ["ja", ",", "nee"])
    True
    """
    return bool(text.strip()) and "".join(text.split()) != "".join("".join(words).split())


class _Sentence:
    """One tree on its way into XML."""

    def __init__(self, tree: Tree, report: Report) -> None:
        self.tree, self.report = tree, report
        self.masks = tree.masks()
        self.traces: dict[Node, list[SecondaryEdge]] = {}
        self.indexes: dict[Node | int, str] = {}
        for edge in tree.secondary_edges:
            if isinstance(edge.parent, int) or edge.child is tree.root:
                report.not_written("alpino", "secondary edges to a word or from the root")
            else:
                self.traces.setdefault(edge.parent, []).append(edge)
                self.indexes.setdefault(edge.child, str(len(self.indexes) + 1))
        self.count = 0

    def text(self) -> str:
        """The <alpino_ds> element."""
        own = {key[10:]: value for key, value in self.tree.root.features.items() if key.startswith("alpino_ds.")}
        taken = ("id",) if self.tree.id is None else ()  # it would be read as the id of the sentence
        own = {"version": VERSION} | free_features(own, taken, "alpino", self.report)
        lines = [f"<alpino_ds{self.attributes(own)}>\n"]
        lines += self.beside(before=True)
        if self.tree.root.label == ROOT:
            lines += self.nodes()
        else:
            self.report.not_written("alpino", "a root other than ROOT (a ROOT is added when the tree is read)")
            lines += self.nodes()
        lines += self.beside(before=False)
        lines.append("</alpino_ds>\n")
        return "".join(lines)

    def nodes(self) -> list[str]:
        """The nested <node> elements, a co-indexed empty one for each secondary edge."""
        lines: list[str] = []
        stack: list[tuple[Node | int | SecondaryEdge | None, int]] = [(self.tree.root, 1)]  # None closes a node
        while stack:
            item, depth = stack.pop()
            indent = "  " * min(depth, DEEPEST)
            if item is None:
                lines.append(f"{indent}</node>\n")
            elif isinstance(item, Node):
                lines.append(f"{indent}<node{self.attributes(self.phrase(item))}>\n")
                stack.append((None, depth))
                inner: list[Node | int | SecondaryEdge] = [*item.children, *self.traces.get(item, [])]
                stack.extend((child, depth + 1) for child in reversed(inner))
            else:
                values = self.trace(item) if isinstance(item, SecondaryEdge) else self.word(item)
                lines.append(f"{indent}<node{self.attributes(values)}/>\n")
        return lines

    def place(self, item: Node | int, edge: str | None) -> dict[str, str]:
        """Span, id, index and relation."""
        if isinstance(item, int):
            begin, end = item, item + 1
        else:
            mask = self.masks[item]
            begin, end = (mask & -mask).bit_length() - 1, mask.bit_length()
        if edge == "--":
            self.report.not_written("alpino", "the relation -- (it means absent)")
        values = {
            "begin": str(begin),
            "end": str(end),
            "id": str(self.count),
            "rel": "--" if edge is None else edge,
        }
        self.count += 1
        return values

    def phrase(self, node: Node) -> dict[str, str]:
        """The attributes of a phrase."""
        is_top = node is self.tree.root and node.label == ROOT
        edge = "top" if is_top and node.edge is None else node.edge
        if (is_top and node.edge == "top") or (node is self.tree.root and node.morph is not None):
            self.report.not_written("alpino", capacity.ROOT_EDGE)
        if not is_top and node.label != node.label.lower().upper():
            self.report.not_written("alpino", "lower case in labels")
        values = self.place(node, edge) | {"cat": "top" if is_top else node.label.lower()}
        if node in self.indexes:
            values["index"] = self.indexes[node]
        others = node.features
        if node is self.tree.root:
            others = {k: v for k, v in others.items() if "." not in k and k != "sentence"}
        return self.distinct(values, others)

    def word(self, index: int) -> dict[str, str]:
        """The attributes of a word."""
        token = self.tree.tokens[index]
        values = self.place(index, token.edge) | {"word": token.word}
        if index in self.indexes:
            values["index"] = self.indexes[index]
        if token.lemma is not None:
            values["lemma"] = token.lemma
        if token.morph is not None:
            values["postag"] = token.morph
        has_pt = token.features.get("pt") == ""  # then pos is the tag
        values["pt" if "pos" in token.features and not has_pt else "pos"] = token.tag
        if not token.tag and "pos" in token.features:
            self.report.not_written("alpino", "empty tags")
        if token.lemma is None and "root" in token.features:
            self.report.not_written("alpino", "the lack of a lemma beside a root")
        taken = ("lemma", "postag") if has_pt else ("lemma", "postag", "pt")
        others = free_features(token.features, taken, "alpino", self.report)
        return self.distinct(values, others)

    def trace(self, edge: SecondaryEdge) -> dict[str, str]:
        """The attributes of an empty node."""
        return self.distinct(self.place(edge.child, edge.label) | {"index": self.indexes[edge.child]}, {})

    def distinct(self, values: dict[str, str], features: dict[str, str]) -> dict[str, str]:
        """Both together, sorted by name; features whose name means something else in Alpino give way."""
        others = free_features(features, {*values, *_MEANINGFUL}, "alpino", self.report)
        return dict(sorted((others | values).items()))

    def beside(self, before: bool) -> list[str]:
        """What precedes the nodes (metadata, parser) or follows them (the sentence, comments)."""
        features = self.tree.root.features
        groups: dict[str, dict[str, str]] = {}
        for key, value in features.items():
            place, dot, name = key.partition(".")
            if dot:
                groups.setdefault(place, {})[name] = value
        groups.pop("alpino_ds", None)
        if before:
            return [self.group(place, values) for place, values in groups.items() if place != "sentence"]
        own = free_features(groups.get("sentence", {}), ("sentid",), "alpino", self.report)
        if self.tree.id is not None:
            own["sentid"] = self.tree.id
        words = " ".join(self.tree.words)
        stated = features.get("sentence", words)
        if contradicts(stated, self.tree.words):
            self.report.not_written("alpino", ATTRIBUTE + "sentence")
            stated = words
        text = element_text(stated, "alpino", self.report)
        lines = [f"  <sentence{self.attributes(own)}>{text}</sentence>\n"]
        if self.tree.comments:
            texts = [element_text(comment, "alpino", self.report) for comment in self.tree.comments]
            comments = "".join(f"    <comment>{text}</comment>\n" for text in texts)
            lines.append(f"  <comments>\n{comments}  </comments>\n")
        return lines

    def group(self, place: str, values: dict[str, str]) -> str:
        """<metadata> with its entries, or another element with attributes only."""
        if place in ("node", "comments") or not free_features({place: ""}, (), "alpino", self.report):
            self.report.not_written("alpino", ATTRIBUTE + place)
            return ""
        if place != "metadata":
            values = free_features(values, (), "alpino", self.report)
            return f"  <{place}{self.attributes(values)}/>\n"
        entries = []
        for key, value in values.items():
            kind, dot, name = key.partition(".")
            if not dot:
                self.report.not_written("alpino", f"{ATTRIBUTE}metadata.{key}")
            entries.append(f"    <meta{self.attributes({'type': kind, 'name': name, 'value': value})}/>\n")
        return f"  <metadata>\n{''.join(entries)}  </metadata>\n"

    def attributes(self, values: dict[str, str]) -> str:
        return attributes_text(values, "alpino", self.report)
