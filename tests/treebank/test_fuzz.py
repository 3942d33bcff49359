"""Damaged files: readers answer with problems or sound trees, never with a traceback, a hang or a changed tree."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from rich_trees import check_sound

from discoparse.errors import DiscoparseError
from discoparse.tree import ROOT, Node, SecondaryEdge, Token, Tree
from discoparse.treebank import FORMATS, Report, read_trees, write_trees
from discoparse.treebank.discbracket import parse_tree

INPUTS = 310  # damaged files for each format: more than 2,000 in all
LINES = [
    "(ROOT (S (VP (PWS 0=Was) (VVINF 3=tun)) (VAFIN 1=wird) (PPER 2=er)) ($. 4=?))",
    "(ROOT (S (NP (ART 0=die) (ADJA 1=große) (NN 2=Straße)) (VVFIN 3=endet) ($[ 4=-) (ADV 5=hier)))",
    "(ROOT (NP (CARD 0=#500) (NN 1=%%) (XY 2=a=b)) ($[ 3=#LRB#) ($. 4=-RRB-))",
    "(ROOT (CS (S (NP (NN 0=Äpfel)) (VP (VP (VVPP 1=geschält))))) ($, 2=,) (KON 3=und) (X (Y 4=&) (Z 5=<)))",
    "(ROOT (S (VP (NP (NN 0=Bücher)) (VVINF 2=lesen)) (VMFIN 1=will) (NP (PPER 3=sie))))",
]


def sample(continuous: bool) -> list[Tree]:
    """Trees with lemmas, edges and secondary edges, discontinuous where the format can hold that."""
    trees = []
    for number, line in enumerate(LINES * 2):
        tree = parse_tree(line)
        if continuous and tree.is_discontinuous:
            tree = Tree(tree.tokens, Node(ROOT, [Node("S", list(range(len(tree))))]))
        tree.id = f"s{number}"
        tree.tokens[0].lemma, tree.tokens[0].edge = "lemma", "SB"
        nodes = list(tree.preorder())
        tree.secondary_edges = [SecondaryEdge(0, nodes[-1], "OA")]
        trees.append(tree)
    return trees


def cut(data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randrange(len(data))]


def flip(data: bytes, dice: random.Random) -> bytes:
    damaged = bytearray(data)
    for _ in range(dice.choice([1, 1, 2, 20])):
        damaged[dice.randrange(len(damaged))] = dice.choice([dice.randrange(256), *b'()<>"#\t\n =0/'])
    return bytes(damaged)


def shuffle(data: bytes, dice: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    place, length = dice.randrange(len(lines)), dice.choice([2, 5, len(lines)])
    part = lines[place : place + length]
    dice.shuffle(part)
    return b"".join(lines[:place] + part + lines[place + length :])


def duplicate(data: bytes, dice: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    place = dice.randrange(len(lines))
    return b"".join(lines[: place + dice.randrange(1, 4)] + lines[place:])


def delete(data: bytes, dice: random.Random) -> bytes:
    start = dice.randrange(len(data))
    return data[:start] + data[start + dice.choice([1, 3, 40, 400]) :]


def insert(data: bytes, dice: random.Random) -> bytes:
    place = dice.randrange(len(data))
    rubbish = [
        b"\xff\xfe",
        b"\0",
        b"((((",
        b"))",
        b"<!--",
        b"<![CDATA[",
        b"&x;",
        b"#BOS 7\n",
        b"#EOS 3\n",
        b"[{",
        b"\xe4",
    ]
    return data[:place] + dice.choice(rubbish) + data[place:]


DAMAGES: list[Callable[[bytes, random.Random], bytes]] = [cut, flip, shuffle, duplicate, delete, insert]


def skeleton(tree: Tree) -> tuple[list[str], list[object]]:
    return tree.words, sorted((label, sorted(s)) for label, s in tree.constituents())


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_damaged_files(format: str, tmp_path: Path) -> None:
    written, original = sample(format == "bracket"), tmp_path / "original"
    write_trees(written, original, format, report=Report())
    data = original.read_bytes()
    known = [skeleton(tree) for tree in read_trees(original, format)]
    assert len(known) == len(written)
    dice = random.Random(format)
    damaged, again = tmp_path / "damaged", tmp_path / "again"
    refused = kept = 0
    for number in range(INPUTS):
        damage = DAMAGES[number % len(DAMAGES)]
        damaged.write_bytes(damage(data, dice))
        problems: list[object] = []
        report = Report(on_problem=problems.append)
        trees = list(read_trees(damaged, format, on_error=dice.choice(["skip", "repair"]), report=report))
        for tree in trees:
            check_sound(tree)
        if damage is cut:  # what is left is what was there
            assert all(skeleton(tree) in known for tree in trees)
        if damage is cut and not problems and not report.empty:
            assert [skeleton(tree) for tree in trees] == known[: len(trees)]
        losses = Report()
        write_trees(trees, again, format, report=losses)
        back = list(read_trees(again, format))
        assert len(back) == len(trees)
        if not losses.unwritten:
            assert back == trees
        refused += bool(problems)
        kept += bool(trees)
        if problems:
            with pytest.raises(DiscoparseError):
                list(read_trees(damaged, format))
    assert refused > INPUTS / 4
    assert kept > INPUTS / 4


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_rubbish(format: str, tmp_path: Path) -> None:
    """Files that were never treebanks, read as each format: problems or nothing, quickly."""
    rubbish = [
        b"",
        b"\n\n",
        b"\0" * 100,
        b"\xff" * 50,
        b"(" * 20000,
        b"[" * 20000,
        b"<s " * 5000,
        b"<alpino_ds>" * 3000,
    ]
    rubbish += [
        b"<s id='1'>" * 3000,
        b"<!--" * 3000,
        b"(S\n" * 20000,
        b"#BOS 1\n" * 3000,
        b'{"a":' * 5000,
        b"hello\n" * 500,
    ]
    rubbish += [b"\x1f\x8b\x08\x00nonsense", b"<?xml version='1.0'?><!DOCTYPE a [" + b"<" * 5000]
    # Each of these took minutes when the time grew with the square of the length.
    rubbish += [b"<!DOCTYPE " * 60000, b"<s " + b"a" * 30_000_000, b"<x a='" + b"> " * 10_000_000, b"<s " * 20000]
    path = tmp_path / "rubbish"
    for content in rubbish:
        path.write_bytes(content)
        assert list(read_trees(path, format, on_error="repair", report=Report())) == []


def test_entities_do_not_expand(tmp_path: Path) -> None:
    """A DOCTYPE can neither blow up memory nor fetch files."""
    path = tmp_path / "bomb.xml"
    levels = "".join(f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 12))
    secret = tmp_path / "secret"
    secret.write_text("secret")
    path.write_text(
        f'<?xml version="1.0"?><!DOCTYPE corpus [<!ENTITY a0 "ha">{levels}<!ENTITY x SYSTEM "{secret}">]>\n'
        '<corpus id="c"><body>&a11;<s id="s1"><graph root="s1_1"><terminals><t id="s1_1" word="&a11;" pos="X"/>'
        '</terminals><nonterminals/></graph></s><s id="s2"><graph root="s2_1"><terminals>'
        '<t id="s2_1" word="&x;" pos="X"/></terminals><nonterminals/></graph></s></body></corpus>'
    )
    problems: list[object] = []
    trees = list(read_trees(path, on_error="skip", report=Report(on_problem=problems.append)))
    assert trees == []
    assert sum("undefined entity" in str(problem) for problem in problems) >= 2


def test_one_bad_sentence_costs_one_sentence(tmp_path: Path) -> None:
    """The sentences before and after the damage are read in every format."""
    for format in sorted(FORMATS):
        path = tmp_path / "trees"
        written = [Tree([Token(word, "T")], Node(ROOT, [Node("X", [0])]), word) for word in ("one", "two", "tri")]
        write_trees(written, path, format, report=Report())
        text = path.read_bytes()
        middle = text.index(b"two")
        path.write_bytes(text[: middle + 1] + b"\xe4" + text[middle + 1 :])
        report = Report()
        trees = list(read_trees(path, format, on_error="skip", report=report))
        assert [tree.words for tree in trees] == [["one"], ["tri"]], format
        assert report.skipped == 1
