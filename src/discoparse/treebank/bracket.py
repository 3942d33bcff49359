"""Penn Treebank brackets, and those of the Penn-Helsinki family: `( (S (NP (DT the) (NN dog)) …) (ID …))`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from discoparse.errors import Problem, TreebankError
from discoparse.tree import ROOT, Node, Token, Tree
from discoparse.treebank import capacity
from discoparse.treebank.bracket_blocks import ROOTS, Blocks
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
METADATA = "METADATA"  # the node of the Penn-Helsinki family with author, letter and so on
_OUTER = ("", *ROOTS)  # labels of the outer bracket, which may have an id beside the tree
_NO_LEMMA = re.compile(r"0$|\*([A-Za-z]*\*)?(-\d+)?$|[{<]")  # empty elements, codes and markup


def read(stream: TextIO, reading: Reading, lemmas: bool = False) -> Iterator[Tree]:
    """The trees of a file, over one or many lines; with `lemmas`, leaves are `word-lemma`."""
    for line, text in Blocks(stream, reading):
        found = pieces(text)
        damaged = bad_bytes(text, line)  # once: all trees of a file may stand on one line
        start = 0  # the offset whose line is `line`
        while True:
            parser = _Sentence(lemmas, reading)
            try:
                root, wordless = parse_brackets(found, parser.add_leaf)
            except BracketError as error:
                place = line + text.count("\n", start, error.offset)
                if error.begin is None:
                    reading.problem(str(error), place)
                else:
                    reading.sentence(parser.id, line)
                    reading.accept([*([damaged] if damaged else []), Defect(str(error), place)], parser.id)
                resume = error.resume(text)
                found = pieces(text, resume)
                line += text.count("\n", start, resume)
                start = resume
                continue
            if root is None:
                break
            reading.sentence(parser.id, line)
            defects = parser.defects(wordless, line)
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

    def __init__(self, lemmas: bool, reading: Reading) -> None:
        self.lemmas = lemmas
        self.reading = reading
        self.tokens: list[Token] = []
        self.id: str | None = None

    def add_leaf(self, tag: str, leaf: str, above: list[Node]) -> int | None:
        """A word, or what the outer bracket has beside the tree: the sentence id, or where the text is from."""
        if tag == ID and len(above) == 1 and above[0].label in _OUTER:
            if self.id is not None:
                raise ValueError(f"the sentence has two ids, {self.id} and {leaf}")
            self.id = unescape(leaf)
            return None
        if len(above) > 1 and _is_metadata(above[1].label, above[0].label):
            self.reading.not_read("bracket", f"entries of {METADATA}")
            return None
        if not tag:
            raise ValueError(f"the word {leaf!r} has no part-of-speech tag")
        word, lemma = split_lemma(unescape(leaf)) if self.lemmas else (unescape(leaf), None)
        self.tokens.append(Token(word, unescape(tag, tag=True), lemma))
        return len(self.tokens) - 1

    def defects(self, wordless: list[list[str]], line: int) -> list[Defect]:
        """What is wrong with phrases without words. An outer bracket around nothing is a sentence without words."""
        found = []
        for top, *inner in wordless:
            label = inner[-1] if inner else top
            if _is_metadata(inner[0], top) if inner else top in _OUTER:
                continue
            if any(character.isalpha() for character in label):
                found.append(Defect(f"the phrase {label} has no words", line, repairable=True))
            else:
                found.append(Defect(f"({label}) has no word: it may be one that has lost its tag", line))
        return found

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


def _is_metadata(label: str, top: str) -> bool:
    """Whether a node below the top is METADATA beside the tree."""
    return label == METADATA and top in _OUTER


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
        has_id = tree.id is not None and tree.root.label in ROOTS and (ids or ID in tree.root.features)
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
    root = tree.root.label
    for child in tree.root.children if root in ROOTS else ():
        if isinstance(child, Node):
            if child.label == METADATA:
                return f"trees with a phrase {METADATA} under {root}, which would not be read"
        elif tree.tokens[child].tag == ID:
            return f"trees with a word tagged {ID} under {root}, which would be read as the sentence id"
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
