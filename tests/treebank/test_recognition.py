"""Treebanks are recognised by their content, and text is not taken for one."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from discoparse.tree import Tree
from discoparse.treebank import WRITABLE, Report, looks_like_treebank, write_trees
from discoparse.treebank.discbracket import parse_tree

LINES = [
    "(ROOT (S (NP (PRP 0=You)) (VP (VBP 1=do) (NP (DT 2=that)))) (. 3=.))",
    "(ROOT (NP (NNP 0=Þór) (CD 1=1,000)))",
]


def corpus(length: int = 2) -> list[Tree]:
    return [parse_tree(LINES[k % 2]) for k in range(length)]


@pytest.mark.parametrize("format", WRITABLE)
@pytest.mark.parametrize("length", [1, 2, 2000])
def test_every_format_is_recognised(tmp_path: Path, format: str, length: int) -> None:
    """Whatever the name of the file, short or longer than what is looked at, compressed or not."""
    path, expected = tmp_path / "file.txt", format.removesuffix("3")
    write_trees(corpus(length), path, format, report=Report())
    assert looks_like_treebank(path) == expected
    data = path.read_bytes()
    assert looks_like_treebank(data) == expected
    assert looks_like_treebank(b"\xef\xbb\xbf\n" + data) == expected
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(data))
    assert looks_like_treebank(packed) == expected


@pytest.mark.parametrize("format", ["export", "discbracket", "bracket", "tigerxml"])
@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_other_encodings(tmp_path: Path, format: str, encoding: str) -> None:
    path = tmp_path / "file"
    write_trees(corpus(), path, format, encoding=encoding, report=Report())
    assert looks_like_treebank(path) == format


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("*x*x*x*x* a header\n\n( (S (NP-SBJ (DT the) (NN dog)) (VP (VBZ barks))))\n", "bracket"),
        ("/~*\na remark\n*~/\n( (IP-MAT (NP (N hundur))) (ID A,1.2))\n", "bracket"),
        ("(TOP (UH Yes))\n(TOP (UH No))\n(TOP (NP (NN dog)))\n", "bracket"),
        ("(ROOT\n  (S\n    (NP (DT the)\n        (NN dog))\n    (VP (VBZ barks))))\n", "bracket"),
        ("%% word\ttag\tmorph\tedge\tparent\n#BOS 1\na\tT\t--\t--\t0\n#EOS 1\n", "export"),
        ("#FORMAT 3\n#BOS 1\na T -- -- 0\n#EOS 1\n", "export"),
        ('<?xml version="1.0"?>\n<!-- made by hand -->\n<!DOCTYPE corpus SYSTEM "TigerXML.dtd">\n<corpus id="c">\n'
         "<head><annotation>", "tigerxml"),
        ('<s id="s1">\n<graph root="s1_1"><terminals>', "tigerxml"),
        ("PAR1\x15\x04\x15\x10\x15\x14L\x15\x02", "parquet"),
        ('<alpino_ds version="1.3">\n  <metadata>', "alpino"),
        ('<treebank><alpino_ds><node cat="top"', "alpino"),
    ],
)  # fmt: skip
def test_beginnings_of_treebanks(text: str, format: str) -> None:
    assert looks_like_treebank(text.encode()) == format


def test_a_treebank_with_some_damage_is_still_one() -> None:
    text = "\n".join([*LINES * 5, "(S (A 0=a)", *LINES * 5])
    assert looks_like_treebank(text.encode()) == "discbracket"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "Was soll ich tun?\n",
        "(Smith 2003)\n",
        "(The dog barked.) Nobody knew why.\n",
        "(see (Chomsky 1957) (Ross 1967))\n",
        "(See (Chomsky 1957)) This was the beginning.\n",
        "(laughter)\n(applause)\n",
        "(1) Wen hast du gesehen?\n(2) Wen glaubst du, dass er sieht?\n",
        "(S (NP (DT the) (NN dog)) (VP (VBZ barks))) is how the Penn Treebank\nwrites a tree. It has brackets\n"
        "around words and phrases.\n",
        "(a) first, (b) second\n",
        ":-) (-: hello\n",
        "* a list\n* of things\n",
        "/* a comment in C */\nint main(void) { return 0; }\n",
        "# A heading\n\nSome text in Markdown.\n",
        "#BOS is the tag of Boston on Twitter.\n#EOS too\n",
        "#500 is a number\n",
        "PAR1 is a protein.\n",
        "PAR1\n",
        "%% LaTeX begins comments so\n\\section{One}\n",
        "%%\n%%\n",
        "<p>A paragraph of <b>HTML</b>.</p>\n",
        "<!DOCTYPE html>\n<html><head><title>x</title></head><body><s id='a'>old price</s> new price</body></html>",
        "<s>old price</s> new price\n",
        "<body> is an element of HTML, <s> another.\n",
        "<corpus> and <alpino_ds> are elements of treebanks.\n",
        "<s> Ein Satz . </s>\n<s> Noch einer . </s>\n",
        '<?xml version="1.0"?>\n<TEI><text><body><s id="1"><w>Ein</w> <w>Satz</w></s></body></text></TEI>\n',
        "<3 I love this <s>song</s>\n",
        '<corpus><document id="1"><s id="1">Text without trees.</s></document></corpus>\n',
        "{\\it Emphasis} in old \\TeX.\n",
        "{curly} words\n",
        '{"text": "Was soll ich tun?"}\n{"text": "Nichts."}\n',
        '[{"text": "Was soll ich tun?"}]\n',
        "[1] A. Author. A title.\n[2] B. Author.\n",
        "[]\n",
        "{}\n",
        "\x1f\x8bnot gzip at all",
    ],
)  # fmt: skip
def test_text_is_not_taken_for_a_treebank(tmp_path: Path, text: str) -> None:
    assert looks_like_treebank(text.encode()) is None
    assert looks_like_treebank((text * 5).encode()) is None
    path = tmp_path / "text.txt"
    path.write_text(text)
    assert looks_like_treebank(path) is None


def test_real_treebanks_and_prose(shared: Path) -> None:
    names = {".export": "export", ".discbracket": "discbracket", ".tree": "bracket", ".psd": "bracket"}
    for path in sorted((shared / "raw").rglob("*.*")) + sorted((shared / "data").rglob("*.gz")):
        ending = Path(path.name.removesuffix(".gz")).suffix
        if ending in (".md", ".ids"):
            continue
        expected = names.get(ending) or {"alpino": "alpino", "pcc": "tigerxml"}[path.parent.name]
        assert looks_like_treebank(path) == expected, path
    for path in [*shared.glob("*.md"), *(shared / "paper").iterdir()]:
        assert looks_like_treebank(path) is None, path


@pytest.mark.parametrize(
    "text",
    [
        "(" * 70000,
        "<!DOCTYPE " + " " * 70000,
        "<s id=" * 12000,
        "<!--" * 20000,
        "[" * 70000,
        "( (a" * 20000,
        "<" * 70000,
    ],
)
def test_rubbish_is_refused_quickly(text: str) -> None:
    """None of these may take time that grows with the square of the sample."""
    assert looks_like_treebank(text.encode()) is None
