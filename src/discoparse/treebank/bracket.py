"""Penn Treebank brackets, and those of the Penn-Helsinki family: `( (S (NP (DT the) (NN dog)) …) (ID …))`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from discoparse.errors import Problem, TreebankError
from discoparse.tree import ROOT, Node, Token, Tree
from discoparse.treebank import capacity
from discoparse.treebank.bracket_blocks import Blocks
from discoparse.treebank.bracket_syntax import (
    BracketError,
    escape,
    format_brackets,
    note_changes,
    parse_brackets,
    pieces,
    unescape,
)
from discoparse.treebank.capacity import note_losses
from discoparse.treebank.report import Defect, Reading, Report, bad_bytes

DISCONTINUOUS = "discontinuous trees"
ID = "ID"  # the node that holds the sentence id, and the attribute of the root that remembers there was one
_NO_LEMMA = re.compile(r"0$|\*([A-Za-z]*\*)?(-\d+)?$|[{<]")  # empty elements, codes and markup


def read(stream: TextIO, reading: Reading, lemmas: bool = False) -> Iterator[Tree]:
    """The trees of a file, over one or many lines; with `lemmas`, leaves are `word-lemma`."""
    for line, text in Blocks(stream, reading):
        found = pieces(text)
        damaged = bad_bytes(text, line)  # once: all trees of a file may stand on one line
        while True:
            parser = _Sentence(lemmas)
            try:
                root, wordless = parse_brackets(found, parser.add_leaf)
            except BracketError as error:
                place = line + text.count("\n", 0, error.offset)
                reading.sentence(parser.id, line)
                reading.accept([*([damaged] if damaged else []), Defect(str(error), place)], parser.id)
                break
            if root is None:
                break
            reading.sentence(parser.id, line)
            defects = [Defect(f"the phrase {label} has no words", line, repairable=True) for label in wordless]
            tree = parser.tree(root, line, defects)
            if damaged:
                defects.append(damaged)
            if reading.accept(defects, parser.id):
                if tree is None:
                    reading.empty()
                else:
                    yield tree


class _Sentence:
    """The leaves of one tree as they are met."""

    def __init__(self, lemmas: bool) -> None:
        self.lemmas = lemmas
        self.tokens: list[Token] = []
        self.id: str | None = None

    def add_leaf(self, tag: str, leaf: str, above: list[Node]) -> int | None:
        """A word, or the sentence id if it is in the outer bracket."""
        if tag == ID and len(above) == 1 and above[0].label in ("", ROOT):
            if self.id is not None:
                raise ValueError(f"the sentence has two ids, {self.id} and {leaf}")
            self.id = unescape(leaf)
            return None
        if not tag:
            raise ValueError(f"the word {leaf!r} has no part-of-speech tag")
        word, lemma = split_lemma(unescape(leaf)) if self.lemmas else (unescape(leaf), None)
        self.tokens.append(Token(word, unescape(tag, tag=True), lemma))
        return len(self.tokens) - 1

    def tree(self, root: Node, line: int, defects: list[Defect]) -> Tree | None:
        """The tree below this root; an empty outer bracket is the virtual root."""
        if not self.tokens:
            return None
        tree = Tree(self.tokens, root, self.id)
        if not root.label:
            root.label = ROOT
        if any(not node.label for node in tree.preorder()):
            defects.append(Defect("a bracket inside the tree has no label: one may be missing before it", line))
        if self.id is not None:
            root.features[ID] = self.id
        return tree


def split_lemma(leaf: str) -> tuple[str, str | None]:
    """Word and lemma of a Penn-Helsinki leaf.

    >>> split_lemma("hafi-hafa"), split_lemma("---"), split_lemma("*T*-1"), split_lemma("0"), split_lemma("--")
    (('hafi', 'hafa'), ('-', '-'), ('*T*-1', None), ('0', None), ('--', None))
    """
    if "-" not in leaf or _NO_LEMMA.match(leaf):
        return leaf, None
    if leaf.endswith("--") and leaf != "--":  # the lemma is itself a hyphen
        return leaf[:-2], "-"
    word, _, lemma = leaf.rpartition("-")
    return (word, lemma) if word and lemma else (leaf, None)


def write(trees: Iterable[Tree], report: Report, lemmas: bool = False, ids: bool = False) -> Iterator[str]:
    """One tree per line; `lemmas`: leaves are `word-lemma`; `ids`: (ID …), also where the file had it."""
    for number, tree in enumerate(trees, 1):
        virtual = tree.root.label == ROOT
        has_id = tree.id is not None and virtual and (ids or ID in tree.root.features)
        kind = obstacle(tree)
        if kind is not None:
            message = f"bracket cannot hold {kind}: choose discbracket, export, tigerxml or json"
            remedy = ", or turn gaps into traces with --traces write" if kind == DISCONTINUOUS else ""
            raise TreebankError(Problem(message + remedy, "<output>", None, tree.id or str(number)))
        holds = {capacity.LEMMAS} if lemmas else set()
        if has_id:
            holds.add(capacity.IDS)
        note_losses(tree, "bracket", holds, report, root_attributes={ID} if has_id else capacity.NOTHING)
        text = _format_tree(tree, lemmas, report)
        if has_id:
            text = f"{text[:-1]} (ID {_text(tree.id or '', False, report)}))"
        yield text + "\n"


def obstacle(tree: Tree) -> str | None:
    """What kind of tree this is, if brackets cannot hold its kind."""
    order = 0  # tokens in the order of their leaves must be tokens in the order of the sentence
    stack: list[Node | int] = [tree.root]
    while stack:
        item = stack.pop()
        if isinstance(item, Node):
            stack.extend(reversed(item.children))
        elif item != order:
            return DISCONTINUOUS
        else:
            order += 1
    if tree.root.label == ROOT and any(isinstance(c, int) and tree.tokens[c].tag == ID for c in tree.root.children):
        return "trees with a word tagged ID under ROOT, which would be read as the sentence id"
    return None


def _format_tree(tree: Tree, lemmas: bool, report: Report) -> str:
    virtual = tree.root.label == ROOT

    def label(node: Node) -> str:
        return "" if virtual and node is tree.root else _text(node.label, False, report)

    def leaf(index: int) -> str:
        token = tree.tokens[index]
        return f"{_text(token.tag, True, report)} {_text(_leaf(token, lemmas, report), False, report)}"

    return format_brackets(tree.root, label, leaf)


def _leaf(token: Token, lemmas: bool, report: Report) -> str:
    if not lemmas:
        return token.word
    leaf = token.word if token.lemma is None else f"{token.word}-{token.lemma}"
    if split_lemma(leaf) != (token.word, token.lemma):
        report.not_written("bracket", "words and lemmas whose hyphens make word-lemma ambiguous")
    return leaf


def _text(text: str, tag: bool, report: Report) -> str:
    if not text:
        report.not_written("bracket", "empty words or labels (written --)")
        return "--"
    note_changes(text, tag, "bracket", report)
    return escape(text, tag)
