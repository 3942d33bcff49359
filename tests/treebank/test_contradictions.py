"""Files that contradict themselves: a problem with its place, never a tree that was changed in silence."""

from __future__ import annotations

from pathlib import Path

import pytest
from treebank_files import alpino, problems, read, sentence, tiger

from discoparse.errors import TreebankError
from discoparse.treebank import Report, format_trees, read_trees


def test_export_node_that_stands_twice(tmp_path: Path) -> None:
    """It is a problem in its line, whether the two rows agree or not; neither becomes a word."""
    row = "#500\tX\t--\t--\t0"
    for other in (row, "#500\tY\t--\tHD\t0"):
        for rows in ([row, other], [other, row], [other, row, "#501\tZ\t--\t--\t0"]):
            text = "#BOS 1\na\tT\t--\t--\t500\nb\tT\t--\t--\t501\n" + "\n".join(rows) + "\n#EOS 1\n"
            trees, found, _ = problems(tmp_path, text, "export", on_error="repair")
            assert trees == []
            assert "#500 is defined twice" in str(found[0])
            assert (found[0].line, found[0].sentence) == (4, "1")


@pytest.mark.parametrize("tag", ["t", "nt", "edge", "secedge"])
def test_tiger_damaged_tags(tmp_path: Path, tag: str) -> None:
    """What was a tag is text now, which must not go unnoticed; other text does no harm."""
    inner = '<edge idref="s1_1"/>\n<edge idref="s1_2"/><secedge idref="s1_500"/></nt>'
    text = tiger(sentence("a b c", f'<nt id="s1_500" cat="X">{inner}<nt id="s1_501" cat="Y"/>', "s1_500"))
    at = text.rindex(f"<{tag} ")
    trees, found, _ = problems(tmp_path, f"{text[:at]};{text[at + 1 :]}", "tigerxml", on_error="repair")
    assert trees == []
    assert "has a damaged tag in it" in str(found[0])
    assert (found[0].line, found[0].sentence) == (text.count("\n", 0, at) + 1, "s1")
    text = tiger(sentence("a", "", "s1_1")).replace("<t ", "\n+<t ")
    assert [tree.words for tree in read(tmp_path, text, "tigerxml")] == [["a"]]


@pytest.mark.parametrize("root", ["s1_1", "s1_500"])
def test_tiger_root_with_a_parent(tmp_path: Path, root: str) -> None:
    nodes = '<nt id="s1_500" cat="NP"><edge idref="s1_1"/></nt><nt id="s1_501" cat="S"><edge idref="s1_500"/></nt>'
    text = tiger(sentence("a", nodes, root))
    with pytest.raises(TreebankError, match=rf"file:5: sentence s1: the root {root} of the graph has a parent, s1_50"):
        read(tmp_path, text, "tigerxml")
    (tree,), _, report = problems(tmp_path, text, "tigerxml", on_error="repair")
    assert (str(tree), report.repaired, tree.root.features) == ("(ROOT (S (NP (T 0=a))))", 1, {})


ZE = '<node begin="0" end="1" word="ze" pt="vnw" rel="su"/>'
ZET = '<node begin="1" end="2" word="zet" pt="ww" rel="hd"/>'
KOFFIE = '<node begin="2" end="3" word="koffie" pt="n" rel="obj1"/>'


def phrase(category: str, begin: int | None, end: int | None, *nodes: str) -> str:
    span = "" if begin is None else f'begin="{begin}" end="{end}" '
    return f'<node {span}cat="{category}" rel="x">\n{"".join(nodes)}</node>\n'


@pytest.mark.parametrize(
    ("nodes", "line", "message"),
    [
        (phrase("np", 0, 1, ZE, ZET) + KOFFIE, 1, "np spans 0 to 1, but its words span 0 to 2"),
        (phrase("np", 0, 2, ZE) + ZET + KOFFIE, 1, "np spans 0 to 2, but its words span 0 to 1"),
        (phrase("s", 0, 3, ZE, phrase("np", 2, 3, ZET), KOFFIE), 2, "np spans 2 to 3, but its words span 1 to 2"),
        (phrase("s", 1, 3, '<node index="1"/>', ZE, ZET) + KOFFIE, 1, "s spans 1 to 3, but its words span 0 to 2"),
        (
            phrase("s", 0, 3, ZE, ZET, KOFFIE).replace('end="3" cat', 'end="x" cat'),
            1,
            "begin and end .* are not numbers",
        ),
        (ZE + KOFFIE + ZET.replace("zet", "niet"), 1, "not those of <sentence>: 'niet' is 'zet' there"),
        (
            ZE.replace("ze", "zet") + ZET.replace("zet", "ze") + KOFFIE,
            1,
            "not those of <sentence>: 'zet' is 'ze' there",
        ),
        (ZE + ZET + "\n" + KOFFIE.replace("word=", 'cat="np" word='), 2, "<node> has both a cat and a word"),
        (ZE.replace("/>", f">{ZET}</node>") + KOFFIE, 1, "<node> has nodes in it but no cat"),
        (ZE + f'<node index="1" rel="su">{ZET}</node>' + KOFFIE, 1, "<node> has nodes in it but no cat"),
        (ZE + ZET.replace("rel", 'index="1" rel') + "\n" + KOFFIE.replace("rel", 'index="1" rel'), 2, "index 1"),
        (ZE + ZET + "\n" + ';node index="1"/>' + KOFFIE, 2, "<node> has a damaged tag in it: ';node index="),
    ],
)
def test_alpino_contradictions(tmp_path: Path, nodes: str, line: int, message: str) -> None:
    with pytest.raises(TreebankError, match=f"file:{line}: .*{message}"):
        read(tmp_path, alpino(nodes, "ze zet koffie"), "alpino")


@pytest.mark.parametrize(
    "nodes",
    [
        phrase("s", 0, 3, ZE, ZET, KOFFIE),
        phrase("s", None, None, ZE, ZET, KOFFIE),
        ZE + phrase("vp", 0, 3, '<node begin="0" end="1" index="1" rel="su"/>', ZET, KOFFIE),
        ZE + phrase("vp", 1, 3, '<node begin="0" end="1" index="1" rel="su"/>', ZET, KOFFIE),
        ZE + phrase("vp", 0, 3, '<node index="1" rel="su"/>', ZET, KOFFIE),
        ZE + phrase("vp", 1, 3, '<node index="1" rel="su"/>', ZET, KOFFIE),
        ZET + phrase("np", 0, 3, ZE, KOFFIE),
        ZE + ZET + KOFFIE + phrase("np", 0, 1, '<node begin="0" end="1" index="1" rel="su"/>'),
        ZE.replace("/>", '><ud upos="PRON">\n<dep/></ud></node>') + ZET + KOFFIE,
    ],
)
def test_alpino_variants_that_are_sound(tmp_path: Path, nodes: str) -> None:
    """Phrases with or without spans, spans that count empty nodes or not, discontinuous phrases, further elements."""
    (tree,), found, _ = problems(
        tmp_path, alpino(nodes.replace('rel="su"/', 'rel="su" index="1"/', 1), "ze zet koffie"), "alpino"
    )
    assert found == []
    assert tree.words == ["ze", "zet", "koffie"]


def test_alpino_sentences_that_are_not_tokenized(tmp_path: Path) -> None:
    """White space in <sentence> does not matter; an empty one says nothing."""
    for text in ("ze zetkoffie", "  ze\nzet  koffie ", ""):
        file = alpino(ZE + ZET + KOFFIE, "ze zet koffie").replace("ze zet koffie", text)
        (tree,) = read(tmp_path, file, "alpino")
        assert tree.root.features["sentence"] == text  # kept as it is


def test_alpino_repairs(tmp_path: Path) -> None:
    """The words of the nodes count, and the first of two antecedents; other contradictions have no repair."""
    nodes = ZE + ZET + KOFFIE
    (tree,), found, report = problems(tmp_path, alpino(nodes, "ze drinkt koffie"), "alpino", on_error="repair")
    assert (tree.words, report.repaired, len(found)) == (["ze", "zet", "koffie"], 1, 1)
    assert tree.root.features["sentence"] == "ze drinkt koffie"
    losses = Report()
    assert ">ze zet koffie</sentence>" in "".join(format_trees([tree], "alpino", losses))
    assert "the attributes sentence" in losses.messages()[0]
    trace = phrase("vp", None, None, ZET.replace("rel", 'index="1" rel'), '<node index="1" rel="su"/>')
    nodes = ZE.replace("rel", 'index="1" rel') + trace + KOFFIE
    (tree,), found, _ = problems(tmp_path, alpino(nodes, "ze zet koffie"), "alpino", on_error="repair")
    assert [edge.child for edge in tree.secondary_edges] == [0]
    assert len(found) == 1


ONE = '{"id": "s1", "tokens": [{"word": "a", "tag": "T", "parent": 0}], "nodes": [{"label": "X"}]}'


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('"word": "a"', '"word": "a", "word": "b"', "word"),
        ('"label": "X"', '"label": "X", "label": "X"', "label"),
        ('"id": "s1"', '"id": "s1", "tokens": []', "tokens"),
        ('"parent": 0', '"parent": 0, "features": {"x": "1", "x": "2"}', "x"),
    ],
)
def test_json_key_that_stands_twice(tmp_path: Path, old: str, new: str, key: str) -> None:
    for text in (f"{ONE}\n{ONE.replace(old, new)}\n{ONE}", f"[{ONE},\n{ONE.replace(old, new)},\n{ONE}]"):
        trees, found, _ = problems(tmp_path, text, "json", on_error="repair")
        assert len(trees) == 2
        assert [(problem.line, problem.sentence) for problem in found] == [(2, "s1")]
        assert f"the key '{key}' appears twice in an object" in str(found[0])


def test_real_treebanks_do_not_contradict_themselves(shared: Path) -> None:
    for folder, format in (("alpino", "alpino"), ("pcc", "tigerxml"), ("craft", "bracket"), ("icepahc", "bracket")):
        assert sum(1 for _ in read_trees(shared / "raw" / folder, format, report=Report())) > 100
    for file in shared.glob("data/*/dev.*export.gz"):
        assert sum(1 for _ in read_trees(file)) > 100
