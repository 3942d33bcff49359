"""Which files are read, in which order, as which format and encoding."""

from __future__ import annotations

import gzip
import io
import os
import sys
from pathlib import Path

import pytest

from discoparse.errors import Problem, TreebankError, TreebankWarning, UsageError
from discoparse.transform.spelling import plain_word
from discoparse.treebank import Report, read_trees, write_trees
from discoparse.treebank.discbracket import parse_tree

LINE = "(ROOT (X (T 0={})))\n"
BRACKET = "( (X (T {})))\n"


def words(paths, **options) -> list[str]:
    return [word for tree in read_trees(paths, **options) for word in tree.words]


def test_directory_in_the_order_of_numbers(tmp_path: Path) -> None:
    for name in ("10", "9", "1"):
        (tmp_path / f"{name}.mrg").write_text(BRACKET.format(name))
    assert words(tmp_path) == ["1", "9", "10"]
    (tmp_path / "a.mrg").write_text(BRACKET.format("a"))
    assert words(tmp_path) == ["1", "10", "9", "a"]
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "0.mrg").write_text(BRACKET.format("below"))
    (tmp_path / ".hidden.mrg").write_text("(")
    assert words(tmp_path) == ["1", "10", "9", "a", "below"]


def test_numbers_of_one_format_beside_other_files(tmp_path: Path) -> None:
    for name in ("10", "9"):
        (tmp_path / f"{name}.mrg").write_text(BRACKET.format(name))
    (tmp_path / "all.discbracket").write_text(LINE.format("x"))
    with pytest.raises(UsageError, match=r"several formats \(2 bracket, 1 discbracket\): choose one with --from"):
        words(tmp_path)
    assert words(tmp_path, format="bracket") == ["9", "10"]
    with pytest.raises(UsageError, match="no tigerxml files"):
        words(tmp_path, format="tigerxml")


def test_several_files_and_gzip(tmp_path: Path) -> None:
    first, second = tmp_path / "a.discbracket", tmp_path / "b.dbr.gz"
    first.write_text(LINE.format("a"))
    second.write_bytes(gzip.compress(LINE.format("b").encode()))
    assert words([second, first]) == ["b", "a"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x", LINE.format("w")),
        ("x.txt", BRACKET.format("w")),
        ("x.xml", '<?xml version="1.0"?>\n<corpus><body><s id="1"><graph root="1_1"><terminals>'
                  '<t id="1_1" word="w" pos="T"/></terminals></graph></s></body></corpus>'),
        ("x.xml", '<!-- a remark --><alpino_ds><node cat="top" rel="top"><node begin="0" end="1" word="w" pt="T"/>'
                  "</node></alpino_ds>"),
        ("x", "#BOS 1\nw\tT\t--\t--\t0\n#EOS 1\n"),
        ("x", '{"tokens": [{"word": "w", "tag": "T", "parent": 0}], "nodes": [{"label": "X"}]}'),
        ("x", '[{"tokens": [{"word": "w", "tag": "T", "parent": 0}], "nodes": [{"label": "X"}]}]'),
    ],
)  # fmt: skip
def test_format_from_content(tmp_path: Path, monkeypatch, name: str, text: str) -> None:
    """Where the name does not tell, and for standard input, compressed or not."""
    path = tmp_path / name
    path.write_text(text)
    assert words(path) == ["w"]
    for data in (text.encode(), gzip.compress(text.encode())):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert words("-") == ["w"]


def test_unknown_format(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader,")
    with pytest.raises(UsageError, match=r"cannot tell the format of .*letter.txt: name it with --from"):
        words(path)
    with pytest.raises(UsageError, match="may be of several formats: name one with --to tigerxml or --to alpino"):
        write_trees([], tmp_path / "x.xml")


def test_utf16_and_byte_order_marks(tmp_path: Path) -> None:
    for encoding in ("utf-16", "utf-8-sig"):
        path = tmp_path / "x.discbracket"
        path.write_text(LINE.format("é"), encoding=encoding)
        assert words(path) == ["é"]


def test_problems_can_be_printed_whatever_bytes_they_quote(tmp_path: Path) -> None:
    path = tmp_path / "x.mrg"
    path.write_bytes(b"( (S (A a)) (ID caf\xe9))\n")
    problems: list[Problem] = []
    assert list(read_trees(path, on_error="skip", report=Report(on_problem=problems.append))) == []
    assert problems[0].sentence == r"caf\xe9"
    assert str(problems[0]).isascii()


def test_cut_gzip_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "x.discbracket.gz"
    path.write_bytes(gzip.compress(b"".join(LINE.format(os.urandom(9).hex()).encode() for _ in range(5000)))[:-2000])
    with pytest.raises(TreebankError, match=r"x.discbracket.gz: the compressed file is cut off or damaged"):
        words(path)


ALPINO = (
    '<alpino_ds version="1.3"><node begin="0" cat="top" end="1" rel="top"><node begin="0" end="1" pt="n" word="w{}"/>'
    "</node><sentence>w{}</sentence></alpino_ds>"
)


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "short"])
@pytest.mark.parametrize("bad", [0, 1, 2])
def test_a_damaged_file_in_a_directory(tmp_path: Path, damage: str, bad: int) -> None:
    """It is one problem, with its name, wherever it stands; the others are read."""
    for number in range(3):
        data = gzip.compress(ALPINO.replace("{}", str(number)).encode())
        if number == bad:
            half = len(data) // 2
            changed = bytes([data[half] ^ 255])
            data = {
                "cut": data[:half],
                "changed": data[:half] + changed + data[half + 1 :],
                "empty": b"",
                "short": data[:5],
            }[damage]
        (tmp_path / f"{number}.xml.gz").write_bytes(data)
    problems: list[Problem] = []
    trees = list(read_trees(tmp_path, on_error="skip", report=Report(on_problem=problems.append)))
    assert [tree.words for tree in trees] == [[f"w{k}"] for k in range(3) if k != bad]
    assert [problem.file for problem in problems] == [str(tmp_path / f"{bad}.xml.gz")]


def test_a_directory_whose_format_no_file_tells(tmp_path: Path) -> None:
    (tmp_path / "1.xml").write_text("")
    (tmp_path / "2.xml.gz").write_bytes(gzip.compress(b"<treebank/>")[:12])
    with pytest.raises(UsageError, match=r"cannot tell the format of .*1.xml and others like it: name it with --from"):
        words(tmp_path)


@pytest.mark.parametrize("codec", ["hex", "rot13", "base64", "zlib", "bz2", "uu", "quopri", "nonsense", "\udce9"])
def test_codecs_that_are_not_text_encodings(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "x.xml"
    path.write_text(ALPINO.replace("{}", "1"))
    with pytest.raises(UsageError, match="is not a text encoding that Python knows"):
        words(path, encoding=codec)
    if codec.isascii():
        path.write_text(f'<?xml version="1.0" encoding="{codec}"?>\n{ALPINO}'.replace("{}", "1"))
        with pytest.raises(
            TreebankError, match=rf"x.xml:1: the file declares {codec}, which is not a known text encoding"
        ):
            words(path)
        assert words(path, encoding="utf-8") == ["w1"]


def test_without_a_report_losses_are_warnings(tmp_path: Path) -> None:
    path = tmp_path / "x.discbracket"
    path.write_text(LINE.format("a") + "(\n")
    with pytest.warns(TreebankWarning, match="x.discbracket:2"):
        assert words(path, on_error="skip") == ["a"]
    tree = parse_tree(LINE.format("a"))
    tree.id = "s1"
    with pytest.warns(TreebankWarning, match="discbracket cannot hold: sentence ids"):
        write_trees([tree], path)


def test_options_belong_to_formats(tmp_path: Path) -> None:
    path = tmp_path / "x.discbracket"
    path.write_text(LINE.format("a"))
    with pytest.raises(UsageError, match="'lemmas' is not for the format discbracket, only for bracket"):
        words(path, lemmas=True)
    with pytest.raises(UsageError, match="on_error is one of"):
        words(path, on_error="ignore")
    with pytest.raises(UsageError, match="unknown format 'negra'"):
        words(path, format="negra")


def test_output_appears_only_when_complete(tmp_path: Path) -> None:
    def failing():
        yield parse_tree(LINE.format("a"))
        raise ValueError("stop")

    path = tmp_path / "x.discbracket"
    path.write_text("before")
    with pytest.raises(ValueError, match="stop"):
        write_trees(failing(), path, report=Report())
    assert [p.name for p in tmp_path.iterdir()] == ["x.discbracket"]
    assert path.read_text() == "before"


def test_links_and_devices_stay_what_they_are(tmp_path: Path) -> None:
    """Output through a link goes to the file behind it; /dev/null is not replaced by a file."""
    link, target = tmp_path / "link.discbracket", tmp_path / "target.discbracket"
    target.write_text("old")
    link.symlink_to(target)
    write_trees([parse_tree("(S (A 0=a))")], link)
    assert link.is_symlink()
    assert target.read_text() == "(S (A 0=a))\n"
    write_trees([parse_tree("(S (A 0=a))")], "/dev/null", "discbracket")
    assert Path("/dev/null").is_char_device()


def test_spellings_of_brackets() -> None:
    spelled = ["(", "-LRB-", "#LRB#", "-RCB-", "-LSB-x", "dog"]
    assert [plain_word(word) for word in spelled] == ["(", "(", "(", "}", "[x", "dog"]
