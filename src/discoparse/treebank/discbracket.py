"""disco-dop's bracket format: one tree a line, leaves are `index=word`, a comment may follow a TAB."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from discoparse.errors import Problem, TreebankError
from discoparse.tree import Node, Token, Tree

# An opening bracket with its label, a leaf with the bracket that closes it, or a closing bracket.
_PIECE = re.compile(r"\(([^\s()]*)\s*|([^\s()]+)\s*\)\s*|(\))\s*|(\S)")


def parse_tree(line: str) -> Tree:
    """Read one line.

    >>> parse_tree("(S (VP (VB 0=is) (JJ 2==)) (NN 1=#LRB#))\\ta comment").words
    ['is', '(', '=']
    """
    text, _, comment = line.rstrip("\r\n").partition("\t")
    stack: list[Node] = []
    leaves: dict[int, Token] = {}
    root: Node | None = None
    for match in _PIECE.finditer(text):
        label, leaf, close, other = match.groups()
        if root is not None:
            raise ValueError(f"text after the tree is complete: {text[match.start():][:20]!r}")
        if label is not None:
            stack.append(Node(unescape(label, tag=False), []))
        elif leaf is not None and stack:
            number, equals, word = leaf.partition("=")
            if not equals or not number.isdecimal():
                raise ValueError(f"leaf {leaf!r} is not of the form index=word")
            preterminal = stack.pop()
            if preterminal.children or not stack:
                raise ValueError(f"leaf {leaf!r} must stand alone under a part-of-speech tag inside the tree")
            index = int(number)
            if index in leaves:
                raise ValueError(f"token index {index} is used twice")
            leaves[index] = Token(unescape(word, tag=False), unescape(preterminal.label, tag=True))
            stack[-1].children.append(index)
        elif close is not None and stack:
            node = stack.pop()
            if not node.children:
                raise ValueError(f"node {node.label} has no children")
            if stack:
                stack[-1].children.append(node)
            else:
                root = node
        else:
            raise ValueError(f"unexpected {(close or leaf or other)!r} at column {match.start() + 1}")
    if root is None:
        raise ValueError("the brackets do not close")
    if sorted(leaves) != list(range(len(leaves))):
        missing = next(i for i in range(len(leaves)) if i not in leaves)
        raise ValueError(f"token index {missing} is missing")
    tree = Tree([leaves[i] for i in range(len(leaves))], root, comments=[comment] if comment else [])
    tree.sort()
    return tree


def format_tree(tree: Tree) -> str:
    """One line without its end; the inverse of `parse_tree`."""
    pieces: list[str] = []
    stack: list[Node | int | None] = [tree.root]  # None closes a bracket
    while stack:
        item = stack.pop()
        if item is None:
            pieces.append(")")
            continue
        if pieces:
            pieces.append(" ")
        if isinstance(item, int):
            token = tree.tokens[item]
            pieces.append(f"({escape(token.tag, tag=True)} {item}={escape(token.word, tag=False)})")
        else:
            pieces.append(f"({escape(item.label, tag=False)}")
            stack.append(None)
            stack.extend(reversed(item.children))
    comment = "\t" + " ".join(tree.comments) if tree.comments else ""
    return "".join(pieces) + comment


def escape(text: str, tag: bool) -> str:
    """Hide brackets: `$(` becomes `$[` as in disco-dop's files, others `#LRB#` and `#RRB#`."""
    if tag and text == "$(":
        return "$["
    if "(" in text or ")" in text:
        return text.replace("(", "#LRB#").replace(")", "#RRB#")
    return text


def unescape(text: str, tag: bool) -> str:
    """The inverse of `escape`; `-LRB-` stays the word that the Penn Treebank writes."""
    if tag and text == "$[":
        return "$("
    if "#" in text:
        return text.replace("#LRB#", "(").replace("#RRB#", ")")
    return text


def read(lines: Iterable[str], file: str | None = None) -> Iterator[Tree]:
    """Trees from lines; blank lines are passed over."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield parse_tree(line)
            except ValueError as error:
                raise TreebankError(Problem(str(error), file, number)) from None
