"""Trees as JSON: an object for each, in an array (`json`) or on a line (`jsonl`), as docs/reference/formats.md says.

Nodes name their parents instead of nesting, so depth is not limited and secondary edges need nothing special.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

from discoparse.tree import Node, Span, Token, Tree, blocks
from discoparse.treebank.graph import Graph
from discoparse.treebank.jsonvalues import Values
from discoparse.treebank.report import Defect, Reading, Report, bad_bytes

_TREE_KEYS = {
    *("id", "comments", "text", "probability", "expected_f1", "tokens", "nodes", "secondary_edges"),
    *("document", "sentence"),  # in the output of `discoparse corpus`; not kept, since the id has both
}
_TOKEN_KEYS = {"word", "tag", "probability", "lemma", "morph", "edge", "features", "span", "parent"}
_NODE_KEYS = {"label", "edge", "morph", "features", "probability", "label_probability", "tokens", "spans", "parent"}
_EDGE_KEYS = {"child", "parent", "label"}


def tree_to_json(tree: Tree) -> dict[str, Any]:
    """A tree as plain data; what is absent is left out.

    >>> data = tree_to_json(Tree([Token("Go", "VB", lemma="go")], Node("S", [0])))
    >>> data["tokens"], data["nodes"]
    ([{'word': 'Go', 'tag': 'VB', 'lemma': 'go', 'parent': 0}], [{'label': 'S', 'parent': None}])
    """
    numbers = {node: k for k, node in enumerate(tree.preorder())}
    parents: dict[Node | int, int] = {child: k for node, k in numbers.items() for child in node.children}

    def name(end: Node | int) -> dict[str, int]:
        return {"token": end} if isinstance(end, int) else {"node": numbers[end]}

    edges = [
        {"child": name(e.child), "parent": name(e.parent), **({} if e.label is None else {"label": e.label})}
        for e in tree.secondary_edges
    ]
    doubt = {"probability": tree.probability, "expected_f1": tree.expected_f1}
    head = {"id": tree.id, "comments": tree.comments, "text": tree.text, **doubt}
    data: dict[str, Any] = {key: value for key, value in head.items() if value not in (None, [])}
    data["tokens"] = [_token_to_json(token, parents[k]) for k, token in enumerate(tree.tokens)]
    data["nodes"] = [_node_to_json(node, parents.get(node), places) for node, places in _places(tree, numbers)]
    return data | {"secondary_edges": edges} if edges else data


# Written out key by key, since this is a good part of what a tree costs after it was parsed.


def _token_to_json(token: Token, parent: int) -> dict[str, Any]:
    data: dict[str, Any] = {"word": token.word, "tag": token.tag}
    if token.lemma is not None:
        data["lemma"] = token.lemma
    if token.morph is not None:
        data["morph"] = token.morph
    if token.edge is not None:
        data["edge"] = token.edge
    if token.features:
        data["features"] = token.features
    if token.span is not None:
        data["span"] = list(token.span)
    if token.probability is not None:
        data["probability"] = token.probability
    data["parent"] = parent
    return data


def _node_to_json(node: Node, parent: int | None, places: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = {"label": node.label}
    if node.morph is not None:
        data["morph"] = node.morph
    if node.edge is not None:
        data["edge"] = node.edge
    if node.features:
        data["features"] = node.features
    if node.probability is not None:
        data["probability"] = node.probability
    if node.label_probability is not None:
        data["label_probability"] = node.label_probability
    data |= places
    data["parent"] = parent
    return data


def _places(tree: Tree, nodes: Iterable[Node]) -> Iterator[tuple[Node, dict[str, Any]]]:
    """Nodes, for trees of parsed text with their tokens and characters: for users, not needed to read it again."""
    spans = [token.span for token in tree.tokens if token.span is not None]
    if len(spans) < len(tree.tokens):
        yield from ((node, {}) for node in nodes)
        return
    masks = tree.masks()
    for node in nodes:
        found = blocks(masks[node])
        tokens = [k for first, last in found for k in range(first, last + 1)]
        yield node, {"tokens": tokens, "spans": [[spans[first][0], spans[last][1]] for first, last in found]}


def tree_from_json(data: object) -> tuple[Tree | None, Graph]:
    """The tree that plain data describe (None when they do not), and the graph with its defects."""
    graph = Graph()
    try:
        fields = _object(data, _TREE_KEYS, "a tree")
        comments = [_text(comment, "a comment") for comment in _list(fields, "comments")]
        name, text = _optional(fields, "id"), _optional(fields, "text")
        _optional(fields, "document")
        if type(fields.get("sentence", 1)) is not int:
            raise ValueError(f"sentence must be a number, not {_shown(fields['sentence'])}")
        doubt = _probability(fields, "probability"), _probability(fields, "expected_f1")
        for index, item in enumerate(_list(fields, "tokens")):
            token = _object(item, _TOKEN_KEYS, f"token {index}")
            graph.add_token(("token", index), _token(token))
            graph.add_edge(("token", index), ("node", _index(token.get("parent"))), _optional(token, "edge"))
        for index, item in enumerate(_list(fields, "nodes")):
            entry = _object(item, _NODE_KEYS, f"node {index}")
            node = Node(_text(entry.get("label"), "label"), [], None, _optional(entry, "morph"), _features(entry))
            node.probability = _probability(entry, "probability")
            node.label_probability = _probability(entry, "label_probability")
            graph.add_node(("node", index), node, is_root=index == 0)
            if index:
                graph.add_edge(("node", index), ("node", _index(entry.get("parent"))), _optional(entry, "edge"))
            else:
                node.edge = _optional(entry, "edge")
                if entry.get("parent") is not None:
                    raise ValueError("the first node is the root and has no parent")
        for item in _list(fields, "secondary_edges"):
            edge = _object(item, _EDGE_KEYS, "a secondary edge")
            graph.add_secondary_edge(_end(edge.get("child")), _end(edge.get("parent")), _optional(edge, "label"))
    except ValueError as error:
        graph._defect(str(error), None)
        return None, graph
    if not graph.tokens:
        return None, graph
    if not fields.get("nodes"):
        graph._defect("the tree has no nodes", None)
    tree = graph.tree(name, comments)
    if tree is not None:
        tree.text = text
        tree.probability, tree.expected_f1 = doubt
    return tree, graph


def _token(fields: dict[str, Any]) -> Token:
    word, tag = _text(fields.get("word"), "word"), _text(fields.get("tag"), "tag")
    lemma, morph = _optional(fields, "lemma"), _optional(fields, "morph")
    place, probability = _span(fields.get("span")), _probability(fields, "probability")
    return Token(word, tag, lemma, morph, None, _features(fields), place, probability)


def _object(data: object, keys: set[str], what: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise ValueError(f"{what} must be an object, not {_shown(data)}")
    if not keys.issuperset(data):
        raise ValueError(f"{what} has an unknown key {min(data.keys() - keys)!r}")
    return data


def _list(fields: dict[str, Any], key: str) -> list[Any]:
    value = fields.get(key, [])
    if not isinstance(value, list):
        raise ValueError(f"{key} must be a list, not {_shown(value)}")
    return value


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{what} must be a string, not {_shown(value)}")
    if bad_bytes(value) is not None:
        raise ValueError(f"{what} {value.encode('utf-8', 'backslashreplace').decode()!r} has half a surrogate pair")
    return value


def _optional(fields: dict[str, Any], key: str) -> str | None:
    value = fields.get(key)
    return None if value is None else _text(value, key)


def _features(fields: dict[str, Any]) -> dict[str, str]:
    features = fields.get("features", {})
    if not isinstance(features, dict):
        raise ValueError(f"features must be an object, not {_shown(features)}")
    return {_text(key, "a feature"): _text(value, key) for key, value in features.items()}


def _index(value: object) -> int:
    if type(value) is not int:
        raise ValueError(f"a parent must be the number of a node, not {_shown(value)}")
    return value


def _span(value: object) -> Span | None:
    if value is None:
        return None
    if isinstance(value, list) and len(value) == 2 and all(type(place) is int for place in value):
        return value[0], value[1]
    raise ValueError(f"a span is a list of two numbers, not {_shown(value)}")


def _probability(fields: dict[str, Any], key: str) -> float | None:
    value = fields.get(key)
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1):
        return value
    raise ValueError(f"{key} is a number from 0 to 1, not {_shown(value)}")


def _end(value: object) -> tuple[str, int]:
    if isinstance(value, dict) and len(value) == 1:
        ((kind, index),) = value.items()
        if kind in ("token", "node"):
            return kind, _index(index)
    raise ValueError(f'an end of a secondary edge is {{"token": n}} or {{"node": n}}, not {_shown(value)}')


def _shown(value: object) -> str:
    return repr(value)[:40]


def read(stream: TextIO, reading: Reading) -> Iterator[Tree]:
    """The trees of a file: an array, a single object, or objects one after another, one per line or not."""
    for line, data, twice in Values(stream, reading):
        if data is None:  # written for a sentence without a tree
            reading.treeless()
            continue
        tree = accepted_tree(data, reading, line, twice)
        if tree is not None:
            yield tree


def accepted_tree(data: object, reading: Reading, line: int, twice: Iterable[str] = ()) -> Tree | None:
    """The tree that plain data describe, if it is sound; otherwise `reading` is told what is wrong. `line` is where it
    stands, `twice` has keys that were given twice."""
    tree, graph = tree_from_json(data)
    name = data.get("id") if isinstance(data, dict) else None
    name = name if isinstance(name, str) and bad_bytes(name) is None else None
    reading.sentence(name, line)
    defects = [Defect(f"the key {key!r} appears twice in an object", line) for key in twice]
    defects += [Defect(d.message, line, d.repairable) for d in graph.defects]
    if not defects and not graph.tokens:
        reading.empty()
        return None
    return tree if reading.accept(defects, name) else None


def write(trees: Iterable[Tree | None], report: Report, array: bool = False) -> Iterator[str]:
    """One object per line, which holds everything, or `null`; as an `array`, in brackets and separated by commas."""
    between = "[\n" if array else ""
    for tree in trees:
        data = None if tree is None else tree_to_json(tree)
        yield between + json.dumps(data, ensure_ascii=False)
        between = ",\n" if array else "\n"
    if array:
        yield "[]\n" if between == "[\n" else "\n]\n"
    elif between:
        yield "\n"
