"""disco-dop's bracket format: one tree per line, leaves are `index=word`, comments may follow a TAB."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from discoparse.tree import Node, Token, Tree
from discoparse.treebank.bracket_syntax import (
    SPACE,
    escape,
    format_brackets,
    note_changes,
    parse_brackets,
    pieces,
    unescape,
)
from discoparse.treebank.capacity import note_losses
from discoparse.treebank.lines import TOO_LONG, numbered_lines
from discoparse.treebank.report import Defect, Reading, Report, bad_bytes

HOLDS = frozenset({"comments"})


def parse_tree(line: str) -> Tree:
    """Read one line; raises ValueError if it is not a tree.

    >>> parse_tree("(S (VP (VB 0=is) (JJ 2==)) (NN 1=#LRB#))\\ta comment").words
    ['is', '(', '=']
    """
    text, tab, rest = line.rstrip("\r\n").partition("\t")
    leaves: dict[int, Token] = {}

    def add_leaf(tag: str, leaf: str, above: list[Node]) -> int:
        number, equals, word = leaf.partition("=")
        if not equals or not number.isascii() or not number.isdigit() or len(number) > 9:
            raise ValueError(f"leaf {leaf!r} is not of the form index=word")
        index = int(number)
        if index in leaves:
            raise ValueError(f"token index {index} is used twice")
        leaves[index] = Token(unescape(word), unescape(tag, tag=True))
        return index

    found = pieces(text)
    root, wordless = parse_brackets(found, add_leaf)
    if root is None:
        raise ValueError("no tree")
    surplus = next(found, None)
    if surplus is not None:
        raise ValueError(f"text after the tree is complete: {text[surplus.start() :][:20]!r}")
    if wordless:
        raise ValueError(f"the node ({wordless[0][-1]}) has no children")
    if max(leaves) != len(leaves) - 1:
        missing = next(i for i in range(len(leaves)) if i not in leaves)
        raise ValueError(f"token index {missing} is missing")
    tree = Tree([leaves[i] for i in range(len(leaves))], root, comments=rest.split("\t") if tab else [])
    tree.sort()
    return tree


def format_tree(tree: Tree) -> str:
    """One line without its end; the inverse of `parse_tree`, except for white space inside words (`_`)."""
    tokens = tree.tokens

    def leaf(index: int) -> str:
        return f"{escape(tokens[index].tag, tag=True)} {index}={escape(tokens[index].word)}"

    line = format_brackets(tree.root, lambda node: escape(node.label), leaf)
    return "\t".join([line, *(_one_line(comment) for comment in tree.comments)])


def _one_line(comment: str) -> str:
    return comment.translate({ord(c): " " for c in "\t\r\n"})


def read(stream: TextIO, reading: Reading) -> Iterator[Tree]:
    """The trees of a file; blank lines are skipped."""
    for number, line in numbered_lines(stream):
        if line is None:
            reading.sentence(None, number)
            reading.skip(TOO_LONG, number)
            continue
        if not line.strip(SPACE):
            continue
        reading.sentence(None, number)
        damaged = bad_bytes(line, number)
        try:
            tree = parse_tree(line)
        except ValueError as error:
            hint = "" if line.endswith("\n") else " (the file may be cut off)"
            reading.accept([d for d in (damaged, Defect(str(error) + hint, number)) if d])
        else:
            if damaged is None or reading.accept([damaged]):
                yield tree


def write(trees: Iterable[Tree], report: Report) -> Iterator[str]:
    """One line per tree."""
    for tree in trees:
        note_losses(tree, "discbracket", HOLDS, report)
        for token in tree.tokens:
            note_changes(token.word, False, "discbracket", report)
            note_changes(token.tag, True, "discbracket", report)
        for node in tree.preorder():
            note_changes(node.label, False, "discbracket", report)
        if any(_one_line(comment) != comment for comment in tree.comments):
            report.not_written("discbracket", "tabs and line ends in comments (written as spaces)")
        yield format_tree(tree) + "\n"
