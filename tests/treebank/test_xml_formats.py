"""What the readers of the two XML formats must understand, on files written for the purpose."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from treebank_files import alpino, problems, read, sentence, tiger

from discoparse.errors import TreebankError
from discoparse.treebank import Report, format_trees
from discoparse.treebank.discbracket import parse_tree

# -- TIGER-XML --------------------------------------------------------------------------------------------------


TWO_PARENTS = (
    '<nt id="s1_500" cat="NP"><edge label="NK" idref="s1_1"/></nt>\n'
    '<nt id="s1_501" cat="S"><edge label="SB" idref="s1_500"/>\n<edge label="OA" idref="s1_1"/></nt>'
)


def test_tiger_node_with_two_parents(tmp_path: Path) -> None:
    text = tiger(sentence("a b", TWO_PARENTS, "s1_501"))
    with pytest.raises(TreebankError, match=r"sentence s1: s1_1 has two parents, s1_500 and s1_501 \(edge OA\)"):
        read(tmp_path, text, "tigerxml")
    trees, found, report = problems(tmp_path, text, "tigerxml", on_error="skip")
    assert (trees, len(found), report.skipped) == ([], 1, 1)
    (tree,), found, report = problems(tmp_path, text, "tigerxml", on_error="repair")
    assert str(tree) == "(ROOT (S (NP (T 0=a))) (T 1=b))"
    assert (tree.tokens[0].edge, len(found), report.repaired, found[0].line) == ("NK", 1, 1, 11)


def test_tiger_roots(tmp_path: Path) -> None:
    """A root that is a word; parentless words; an explicit VROOT."""
    (tree,) = read(tmp_path, tiger(sentence("a", "", "s1_1")), "tigerxml")
    assert str(tree) == "(ROOT (T 0=a))"
    (tree,) = read(
        tmp_path, tiger(sentence("a b", '<nt id="s1_500" cat="X"><edge idref="s1_2"/></nt>', "s1_500")), "tigerxml"
    )
    assert str(tree) == "(ROOT (T 0=a) (X (T 1=b)))"
    vroot = '<nt id="s1_VROOT" cat="VROOT"><edge label="--" idref="s1_1"/><edge label="P" idref="s1_2"/></nt>'
    (tree,) = read(tmp_path, tiger(sentence("a b", vroot, "s1_VROOT")), "tigerxml")
    assert str(tree) == "(ROOT (T 0=a) (T 1=b))"
    assert [token.edge for token in tree.tokens] == [None, "P"]


def test_tiger_attributes_secedges_and_encoding(tmp_path: Path) -> None:
    text = """<?xml version="1.0" encoding="ISO-8859-1"?>
<corpus><body><!-- <s id="not this one"/> --><s id="s1" art_id="9"><graph root="s1_500"><terminals>
<t id="s1_1" word="Mädchen &amp; &quot;Co&quot;" pos="NN" lemma="--" morph="Nom" case="n">
<secedge label="SB" idref="s1_500"/></t>
</terminals><nonterminals><nt id="s1_500" cat="NP" x="y"><edge label="NK" idref="s1_1"/>
<secedge label="OA" idref="s1_500"/></nt></nonterminals></graph></s></body></corpus>"""
    (tree,) = read(tmp_path, text.encode("latin-1"), "tigerxml")
    assert tree.words == ['Mädchen & "Co"']
    assert (tree.tokens[0].lemma, tree.tokens[0].morph, tree.tokens[0].features) == (None, "Nom", {"case": "n"})
    assert tree.root.features == {"s.art_id": "9"}
    assert [(e.child == 0, e.label) for e in tree.secondary_edges] == [(True, "SB"), (False, "OA")]


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ('<nt id="s1_500" cat="X"><edge idref="s1_9"/></nt>', "s1_500 has a child s1_9, which does not exist"),
        ('<nt id="s1_1" cat="X"><edge idref="s1_1"/></nt>', "s1_1 is defined twice"),
        ('<nt id="s1_500"/>', "<nt> lacks id or cat"),
        ('<foo id="s1_500"/>', "<foo> is not expected"),
        ('<nt id="s1_500" cat="X"><edge idref="s1_1"></nt>', "not well-formed"),
    ],
)
def test_tiger_defects(tmp_path: Path, nodes: str, message: str) -> None:
    with pytest.raises(TreebankError, match=message):
        read(tmp_path, tiger(sentence("a", nodes, "s1_500")), "tigerxml")


def test_tiger_cut_off(tmp_path: Path) -> None:
    text = tiger(sentence("a", "", "s1_1"))
    _, found, _ = problems(tmp_path, text[: text.index("</body>")], "tigerxml", on_error="skip")
    assert "cut off" in str(found[0])


def test_tags_in_comments_and_cdata_are_text(tmp_path: Path) -> None:
    text = tiger("<!-- <s> -->", sentence("a", "", "s1_1")).replace("<head/>", "<head><![CDATA[ <s id='x'> ]]></head>")
    assert [tree.words for tree in read(tmp_path, text, "tigerxml")] == [["a"]]
    _, found, _ = problems(tmp_path, text.replace("-->", ""), "tigerxml", on_error="skip")
    assert found, "a comment that does not end hides sentences"


@pytest.mark.parametrize("format", ["tigerxml", "alpino"])
@pytest.mark.parametrize("text", ["#BOS 1\na\tT\t--\t--\t0\n#EOS 1\n", "some words\n", "(S (A 0=a))\n"])
def test_what_is_no_xml_is_not_taken_for_an_empty_treebank(tmp_path: Path, format: str, text: str) -> None:
    with pytest.raises(TreebankError, match="text outside of any XML element"):
        read(tmp_path, text, format)


@pytest.mark.parametrize("format", ["tigerxml", "alpino"])
@pytest.mark.parametrize("text", ["", " \n"])
def test_a_file_without_xml_is_no_treebank(tmp_path: Path, format: str, text: str) -> None:
    with pytest.raises(TreebankError, match="no XML in it"):
        read(tmp_path, text, format)


def test_alpino_is_not_taken_for_an_empty_tiger_file(tmp_path: Path) -> None:
    with pytest.raises(TreebankError, match="<alpino_ds> is outside of any <s>"):
        read(tmp_path, "<treebank><alpino_ds/></treebank>", "tigerxml")


@pytest.mark.parametrize("format", ["tigerxml", "alpino"])
def test_sentences_whose_names_have_a_prefix_are_a_problem(tmp_path: Path, format: str) -> None:
    """Otherwise such a file would be a treebank without sentences."""
    text, name = (tiger(sentence("a", "", "s1_1")), "s") if format == "tigerxml" else (COINDEXED, "alpino_ds")
    text = (
        text.replace("</", "</x:").replace(f"<{name} ", f"<x:{name} xmlns:x='y' ").replace(f"<{name}>", f"<x:{name}>")
    )
    with pytest.raises(TreebankError, match=rf"<x:{name}> is not read: take the prefix .* out"):
        read(tmp_path, text, format)


@pytest.mark.parametrize("format", ["tigerxml", "alpino"])
def test_what_is_written_needs_no_namespaces(format: str) -> None:
    """Attributes with a prefix cannot be written without its declaration, which is not kept."""
    tree = parse_tree("(ROOT (T 0=a))")
    tree.tokens[0].features = {"a:m": "1", "xml:lang": "de", "x": "2"}
    report = Report()
    (word,) = (e for e in ElementTree.fromstring("".join(format_trees([tree], format, report))).iter() if e.get("word"))
    assert (word.get("x"), word.get("{http://www.w3.org/XML/1998/namespace}lang")) == ("2", "de")
    assert report.messages() == [f"{format} cannot hold: the attributes a:m"]


def test_what_a_word_of_tigerxml_lacks_is_named(tmp_path: Path) -> None:
    text = tiger(sentence("a b", "", "s1_1").replace('word="b" pos="T"', 'word="b"'))
    _, found, _ = problems(tmp_path, text, "tigerxml", on_error="skip")
    assert "<t> s1_2 lacks pos" in str(found[0])


# -- Alpino -----------------------------------------------------------------------------------------------------


COINDEXED = alpino(
    '<node cat="smain" rel="--"><node begin="0" end="1" word="ze" pt="vnw" pos="pron" root="zij" rel="su" index="1"/>'
    '<node cat="inf" rel="vc"><node rel="su" index="1"/>'
    '<node begin="2" end="4" word="in elkaar" pos="fixed" rel="svp"/></node>'
    '<node begin="1" end="2" word="zet" pt="ww" lemma="zetten" rel="hd"/>'
    '<node cat="np" rel="x"><node rel="y" index="1"/></node></node>',
    "ze zet in elkaar",
)


def test_alpino(tmp_path: Path) -> None:
    """Tags, lemmas, a terminal of two words, a co-indexed node, and a phrase without words, which vanishes."""
    (tree,), found, report = problems(tmp_path, COINDEXED, "alpino")
    assert found == []
    expected = "(ROOT (SMAIN (vnw 0=ze) (ww 1=zet) (INF (MWU (fixed 2=in) (fixed 3=elkaar)))))"
    assert str(tree).split("\t")[0] == expected
    assert [token.lemma for token in tree.tokens] == ["zij", "zetten", None, None]
    assert tree.tokens[0].features == {"pos": "pron", "root": "zij"}
    (edge,) = tree.secondary_edges
    assert (edge.child, edge.label, getattr(edge.parent, "label", None)) == (0, "su", "INF")
    assert tree.comments == ["a remark"]
    assert "antecedent or parent has no words" in report.messages()[0]


@pytest.mark.parametrize(("sentid", "id"), [("", "7"), (' sentid="8"', "8")])
def test_the_attributes_of_an_alpino_sentence(tmp_path: Path, sentid: str, id: str) -> None:
    """`id` is the sentence's, unless `sentid` is there; others are features, and come back."""
    text = COINDEXED.replace('version="1.3"', 'version="1.2" id="7" x="y"').replace("<sentence", f"<sentence{sentid}")
    (tree,) = read(tmp_path, text, "alpino", report=Report())
    expected = {"alpino_ds.version": "1.2", "alpino_ds.x": "y"} | ({"alpino_ds.id": "7"} if sentid else {})
    assert (tree.id, tree.root.features) == (id, expected)
    (back,) = read(tmp_path, "".join(format_trees([tree], "alpino", Report())), "alpino", report=Report())
    assert (back.id, back.root.features) == (id, expected)


def test_alpino_concatenated(tmp_path: Path) -> None:
    declared = '<?xml version="1.0" encoding="UTF-8"?>\n' + COINDEXED
    for text in (COINDEXED * 3, declared * 3, f"<treebank>\n{COINDEXED * 3}</treebank>"):
        assert len(read(tmp_path, text, "alpino", report=Report())) == 3
    (tree,) = read(tmp_path, declared, "alpino", report=Report())
    assert tree.id == "file"  # one sentence a file: its name


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ('<node begin="0" end="1" word="a" pt="n"/>', "has 2 words, its nodes only 1"),
        ('<node begin="1" end="2" word="b" pt="n"/>', "no node holds the word at position 0"),
        ('<node begin="0" end="1" word="a" pt="n"/><node begin="0" end="1" word="b" pt="n"/>', "begin at 0"),
        ('<node begin="0" end="3" word="a b" pt="n"/>', "is not 3 words"),
        ('<node begin="0" word="a" pt="n"/>', "no begin and end"),
        ("<node/>", "neither cat nor word nor index"),
    ],
)
def test_alpino_defects(tmp_path: Path, nodes: str, message: str) -> None:
    with pytest.raises(TreebankError, match=message):
        read(tmp_path, alpino(nodes, "a b"), "alpino")


def test_metadata_with_a_name_that_stands_twice(tmp_path: Path) -> None:
    """Alpino writes one element for each value; a tree has room for one, and the report tells of the others."""
    entries = "".join(f'<meta type="text" name="colour" value="{value}"/>' for value in ("red", "blue"))
    text = COINDEXED.replace("<node", f"<metadata>{entries}</metadata><node", 1)
    (tree,), found, report = problems(tmp_path, text, "alpino")
    assert (tree.root.features["metadata.text.colour"], found) == ("red", [])
    assert report.unread["alpino"]["further values of the same name beside the nodes"] == 1


def test_an_attribute_that_would_be_read_as_the_id_is_not_written(tmp_path: Path) -> None:
    tree = parse_tree("(ROOT (NP (N 0=hond) (V 1=blaft)))")
    tree.root.features["alpino_ds.id"] = "7"
    report = Report()
    text = "".join(format_trees([tree], "alpino", report)) * 2  # of one sentence alone, the file's name is the id
    assert [back.id for back in read(tmp_path, text, "alpino", report=Report())] == [None, None]
    assert "the attributes id" in report.messages()[0]
