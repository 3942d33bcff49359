"""Round trips: what was written reads as the same tree, or the report names what the format cannot hold."""

from __future__ import annotations

import gzip
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich_trees import check_sound, rich_trees
from strategies import trees

from discoparse.errors import TreebankError
from discoparse.transform.spelling import plain_word
from discoparse.tree import ROOT, Node, SecondaryEdge, Token, Tree
from discoparse.treebank import FORMATS, Report, read_trees, write_trees

FOLDER = TemporaryDirectory()
ALL = sorted(FORMATS)
DISCONTINUOUS = [name for name in ALL if name != "bracket"]


def there_and_back(written: list[Tree], format: str, **options) -> tuple[list[Tree], Report]:
    path, report = Path(FOLDER.name) / "trees", Report()
    assert write_trees(written, path, format, report=report, **options) == len(written)
    reading = {"lemmas": True} if options.get("lemmas") else {}
    return list(read_trees(path, format, **reading)), report


def continuous(tree: Tree) -> Tree:
    """The same tree over its tokens in the order of its leaves."""
    stack: list[Node | int] = [tree.root]
    order: list[int] = []
    while stack:
        item = stack.pop()
        if isinstance(item, int):
            order.append(item)
        else:
            stack.extend(reversed(item.children))
    place = {token: k for k, token in enumerate(order)}
    for node in list(tree.preorder()):
        node.children = [place[c] if isinstance(c, int) else c for c in node.children]
    for edge in tree.secondary_edges:
        edge.child, edge.parent = (place[e] if isinstance(e, int) else e for e in (edge.child, edge.parent))
    tree.tokens = [tree.tokens[k] for k in order]
    tree.sort()
    return tree


@pytest.mark.parametrize("format", ALL)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_is_not_reported_is_kept(format: str, data) -> None:
    """Whatever a tree holds, it comes back the same, or the report says by name what could not be written."""
    tree = data.draw(rich_trees())
    if format == "bracket":
        tree = continuous(tree)
    options = {"lemmas": True, "ids": True} if format == "bracket" else {}
    (back,), report = there_and_back([tree], format, **options)
    check_sound(back)
    if tree.id is None and format in ("export", "tigerxml"):
        back.id = None  # both need an id: sentences are numbered
    if format == "bracket":
        back.root.features.pop("ID", None)  # remembers that an (ID …) stood there
        tree.root.features.pop("ID", None)
    if not report.unwritten:
        assert back == tree
    assert [t.word for t in back.tokens] == tree.words or report.unwritten


@pytest.mark.parametrize("format", ALL)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_plain_trees_lose_nothing(format: str, data) -> None:
    """Words with brackets, numbers with hashes, $( and the like are no loss in any format."""
    written = data.draw(st.lists(trees(), max_size=3))
    for number, tree in enumerate(written):
        tree.id = f"s{number}" if format in ("export", "tigerxml", "alpino", "json", "jsonl") else None
        if format == "bracket":
            continuous(tree)
    back, report = there_and_back(written, format)
    assert back == written
    assert report.messages() == []


@settings(max_examples=100, deadline=None)
@given(rich_trees())
def test_json_holds_everything(tree: Tree) -> None:
    for format in ("json", "jsonl"):
        back, report = there_and_back([tree, tree], format)
        assert back == [tree, tree]
        assert report.messages() == []


def rich_example() -> Tree:
    """A tree with one of everything that export, TIGER-XML and Alpino have in common."""
    tokens = [
        Token("Was", "PWS", "was", "Nom", "OA"),
        Token("wird", "VAFIN", "werden", None, "HD"),
        Token("er", "PPER", None, "3.Sg", "SB"),
        Token("tun", "VVINF", "tun", None, "HD"),
        Token("?", "$.", "?"),
    ]
    phrase = Node("VP", [0, 3], "OC")
    clause = Node("S", [phrase, 1, 2])
    edge = SecondaryEdge(2, phrase, "SB")
    tree = Tree(tokens, Node(ROOT, [clause, 4]), "s1", secondary_edges=[edge, SecondaryEdge(phrase, clause, "X")])
    tree.sort()
    return tree


@pytest.mark.parametrize("format", ["export", "tigerxml", "alpino", "json", "jsonl"])
def test_rich_tree_is_held_whole(format: str) -> None:
    """Lemmas, morphology, edge labels, ids and secondary edges of words and nodes survive."""
    tree = rich_example()
    back, report = there_and_back([tree], format)
    assert back == [tree]
    assert report.messages() == []


def test_losses_are_told_once_by_name() -> None:
    _, report = there_and_back([rich_example()] * 3, "discbracket")
    (message,) = report.messages()
    for what in ("sentence ids", "lemmas", "morphology", "edge labels", "secondary edges"):
        assert message.count(what) == 1
    _, report = there_and_back([rich_example()], "export", version=3)
    assert report.messages() == ["export cannot hold: lemmas (4)"]


def test_discontinuous_tree_is_refused_by_bracket() -> None:
    """The error names the sentence and the way out, and leaves no file behind."""
    path = Path(FOLDER.name) / "refused.mrg"
    with pytest.raises(TreebankError, match=r"sentence s1: bracket cannot hold discontinuous trees.*--traces write"):
        write_trees([rich_example()], path)
    assert not list(Path(FOLDER.name).glob("refused*"))


def test_deep_trees_pass_through_every_format() -> None:
    """A chain of 5,000 nodes: nothing recurses."""
    node = Node("X", [0])
    for _ in range(5000):
        node = Node("X", [node])
    tree = Tree([Token("a", "T")], Node(ROOT, [node]), "s1")
    for format in ALL:
        (back,), _ = there_and_back([tree], format)
        assert sum(1 for _ in back.preorder()) == 5002


@pytest.mark.parametrize("format", ["export", "tigerxml", "alpino", "json", "jsonl"])
def test_long_sentences_lose_nothing(format: str) -> None:
    """Words and nodes are numbered apart, also where there are more than 500 words."""
    evens = Node("A", list(range(0, 1200, 2)))
    odds = Node("B", list(range(1, 1200, 2)))
    tree = Tree([Token(f"w{k}", "T") for k in range(1200)], Node(ROOT, [evens, odds]), "s1")
    back, report = there_and_back([tree], format)
    assert back == [tree]
    assert report.messages() == []


@pytest.mark.parametrize("format", ALL)
def test_no_trees(format: str) -> None:
    assert there_and_back([], format)[0] == []


def test_gzip_is_transparent() -> None:
    path = Path(FOLDER.name) / "trees.export.gz"
    write_trees([rich_example()], path)
    assert gzip.decompress(path.read_bytes()).startswith(b"%% word")
    assert list(read_trees(path)) == [rich_example()]


def test_shared_treebanks_are_written_as_they_were_read(shared: Path) -> None:
    """Byte for byte for discbracket and export, whatever their version."""
    files = [*shared.glob("data/*/dev*.gz"), *shared.glob("raw/*/expected.*")]
    checked = 0
    for file in files:
        if ".ids" in file.name:
            continue
        source = file.read_bytes()
        source = gzip.decompress(source) if file.suffix == ".gz" else source
        format = "discbracket" if "discbracket" in file.name else "export"
        options = {"version": 3} if format == "export" and not source.startswith(b"%%") else {}
        copy, report = Path(FOLDER.name) / "copy", Report()
        beginning = islice(read_trees(file), 200)
        assert write_trees(beginning, copy, format, report=report, **options) > 100
        assert source.startswith(copy.read_bytes()), file
        assert report.messages() == []
        checked += 1
    assert checked >= 15


@pytest.mark.parametrize(
    ("folder", "format", "options"),
    [
        ("alpino", "alpino", {}),
        ("pcc", "tigerxml", {}),
        ("craft", "bracket", {}),
        ("icepahc", "bracket", {"lemmas": True}),
    ],
)
def test_shared_originals_round_trip(shared: Path, folder: str, format: str, options: dict) -> None:
    """All words, nodes and attributes of the original files survive in their own format and in JSON."""
    written = list(read_trees(shared / "raw" / folder, format, **options))
    for target in (format, "json"):
        back, report = there_and_back(written, target, **(options if target == format else {}))
        assert back == written
        assert report.messages() == []


@pytest.mark.parametrize(("folder", "format"), [("alpino", "alpino"), ("pcc", "tigerxml")])
def test_shared_originals_become_the_expected_trees(shared: Path, folder: str, format: str) -> None:
    """Words, tags, edge labels and constituents are those of disco-dop's export."""

    def content(tree: Tree):
        tokens = [(plain_word(t.word), t.tag, t.edge) for t in tree.tokens]
        yields = tree.yields()
        return tokens, sorted((n.label, n.edge or "--", sorted(yields[n])) for n in tree.preorder())

    found = list(read_trees(shared / "raw" / folder, format))
    expected = list(read_trees(shared / "raw" / folder / "expected.export"))
    assert [content(tree) for tree in found] == [content(tree) for tree in expected]
    ids = (shared / "raw" / folder / "expected.ids").read_text().split()
    assert all(full.endswith(tree.id or "?") for full, tree in zip(ids, found, strict=True))
