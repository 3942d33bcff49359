"""What the two bracketed formats share: their syntax, and how brackets hide inside words.

Three spellings of a bracket exist. Files written by disco-dop hide `(` as `#LRB#`: that is syntax, decoded
when read. The Penn Treebank writes the token `-LRB-`: that is the word as the treebank has it, and it
stays. `transform.spelling.plain_word` is the one place that says which spellings mean the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from discoparse.tree import ROOT, Node
from discoparse.treebank.report import Report

SPACE = " \t\r\n"  # what separates; other white space, as a no-break space, is part of a word
_SPACES = re.compile(r"[ \t\r\n]+")
_BRACKET = re.compile(r"[()]")
HARD = re.compile(r"[() \t\r\n]|#[LR]RB#")  # what text may have that is not written as it is

# An opening bracket with its label, a leaf with the bracket that closes it, a closing bracket, or anything
# else.
_PIECE = re.compile(r"\(([^ \t\r\n()]*)[ \t\r\n]*|([^ \t\r\n()]+)[ \t\r\n]*\)[ \t\r\n]*|(\))[ \t\r\n]*|([^ \t\r\n()]+)")


def escape(text: str, tag: bool = False) -> str:
    """Hide brackets: `$(` becomes `$[` as in disco-dop's files, others `#LRB#`, `#RRB#`; spaces become `_`.

    >>> escape("$(", tag=True), escape(":-)"), escape("New York")
    ('$[', ':-#RRB#', 'New_York')
    """
    if tag and text == "$(":
        return "$["
    if HARD.search(text):
        return _SPACES.sub("_", text.replace("(", "#LRB#").replace(")", "#RRB#"))
    return text


def unescape(text: str, tag: bool = False) -> str:
    """The inverse of `escape`; `-LRB-` stays the word that the Penn Treebank writes."""
    if tag and text == "$[":
        return "$("
    if "#" in text:
        return text.replace("#LRB#", "(").replace("#RRB#", ")")
    return text


def note_changes(text: str, tag: bool, format: str, report: Report) -> None:
    """Note text that is not read back as it was written."""
    if (tag and text == "$[") or (HARD.search(text) and unescape(escape(text, tag), tag) != text):
        what = "white space in words or labels (written _)" if _SPACES.search(text) else f"the spelling {text}"
        report.not_written(format, what)


class BracketError(ValueError):
    """Text that is not a tree: the offset of the error, and where its tree begins (None outside of trees)."""

    def __init__(self, message: str, offset: int, begin: int | None) -> None:
        super().__init__(message)
        self.offset, self.begin = offset, begin

    def resume(self, text: str) -> int:
        """Where the next tree of the text may begin: after the brackets of this one, or at the next bracket.

        >>> BracketError("", 8, 5).resume("(A a)(B b (C c)) (D d)")
        16
        """
        if self.begin is None:
            found = text.find("(", self.offset)
            return len(text) if found < 0 else found
        depth = 0
        for match in _BRACKET.finditer(text, self.begin):
            depth += 1 if match.group() == "(" else -1
            if depth == 0:
                return match.end()
        return len(text)


def pieces(text: str, start: int = 0) -> Iterator[re.Match[str]]:
    """The brackets, labels and leaves of a text, for `parse_brackets`."""
    return _PIECE.finditer(text, start)


# Called with the tag and the text of a leaf and the nodes above, top first: the token index, or None to drop the leaf.
AddLeaf = Callable[[str, str, list[Node]], "int | None"]


def parse_brackets(found: Iterator[re.Match[str]], add_leaf: AddLeaf) -> tuple[Node | None, list[list[str]]]:
    """The next tree of the pieces of a text (None at its end), and each node without words: the labels down to it.

    Nodes without words are left out of the tree; when nothing is left of it, its root is one of them. A
    tree that is only a word with its tag gets a `ROOT`.
    """
    stack: list[Node] = []
    wordless: list[list[str]] = []
    match, begin = None, 0
    for match in found:
        label, leaf, close, other = match.groups()
        if label is not None:
            if not stack:
                begin = match.start()
            stack.append(Node(unescape(label), []))
        elif leaf is not None and stack and not stack[-1].children:
            preterminal = stack.pop()
            try:
                index = add_leaf(preterminal.label, leaf, stack)
            except ValueError as error:
                raise BracketError(str(error), match.start(), begin) from None
            if not stack:
                return Node(ROOT, [] if index is None else [index]), wordless
            if index is not None:
                stack[-1].children.append(index)
        elif close is not None and stack:
            node = stack.pop()
            if not node.children:
                wordless.append([above.label for above in (*stack, node)])
            if not stack:
                return node, wordless
            if node.children:
                stack[-1].children.append(node)
        elif stack:
            word = leaf or other
            raise BracketError(f"the word {word!r} must stand alone under a part-of-speech tag", match.start(), begin)
        else:
            raise BracketError(f"{(close or leaf or other)[:40]!r} is outside of any tree", match.start(), None)
    if stack:
        what = "1 bracket is" if len(stack) == 1 else f"{len(stack)} brackets are"
        raise BracketError(f"{what} not closed", match.start() if match else 0, begin)
    return None, wordless


def format_brackets(root: Node, label: Callable[[Node], str], leaf: Callable[[int], str]) -> str:
    """A tree in brackets, given what is written of a node after its bracket, and of a token (tag and word)."""
    written: list[str] = []
    stack: list[Node | int | None] = [root]  # None closes a bracket
    while stack:
        item = stack.pop()
        if item is None:
            written.append(")")
            continue
        if written:
            written.append(" ")
        if isinstance(item, int):
            written.append(f"({leaf(item)})")
        else:
            written.append(f"({label(item)}")
            stack.append(None)
            stack.extend(reversed(item.children))
    return "".join(written)
