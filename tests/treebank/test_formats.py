"""What each format's reader must understand, on files written for the purpose."""

from __future__ import annotations

from pathlib import Path

import pytest
from treebank_files import alpino, problems, read, sentence, tiger

from discoparse.errors import TreebankError
from discoparse.tree import Node, Token, Tree
from discoparse.treebank import Report, format_trees
from discoparse.treebank.discbracket import format_tree, parse_tree

# -- export -----------------------------------------------------------------------------------------------------

EXPORT = """#FORMAT 4
#BOT ORIGIN
0\tnowhere
#EOT ORIGIN
%% a remark between sentences
#BOS 7 2 870885223 1 %% first %% second
%%\t%%\tNN\t--\tHD\t500
#500\t--\tCARD\t--\tNK\t500\t%% looks like a node
Haus\tHaus\tNN\tNom\tNK\t501\tSB\t500\tOA\t501
#500\t--\tNP\t--\tSB\t501
#501\t--\tS\t--\t--\t0
#EOS 7
"""


def test_export_with_everything(tmp_path: Path) -> None:
    (tree,), found, report = problems(tmp_path, EXPORT, "export")
    assert found == []
    assert str(tree).startswith("(ROOT (S (NP (NN 0=%%) (CARD 1=#500)) (NN 2=Haus)))")
    assert tree.id == "7"
    assert tree.comments == ["first", "second"]
    assert tree.root.features == {"editor": "2", "date": "870885223", "origin": "1"}
    assert tree.tokens[1].features == {"comment": "looks like a node"}
    assert [edge.label for edge in tree.secondary_edges] == ["SB", "OA"]
    assert list(report.unread["export"]) == [
        "the table ORIGIN (#BOT … #EOT)",
        "comment lines between sentences (%%)",
    ]
    _, text = format_trees([tree], "export", report)
    assert text.splitlines() == EXPORT.splitlines()[5:]


def test_export_3_with_padding_and_spaces(tmp_path: Path) -> None:
    """Several tabs between fields, as in the original corpora, and files whose tabs became spaces."""
    tabs = "#BOS 1\nDas\t\t\tART\tNom\tNK\t500\nHaus\t\tNN\t--\tNK\t500\n#500\t\tNP\t--\t--\t0\n#EOS 1\n"
    for text in (tabs, tabs.replace("\t", " "), tabs.replace("\n", "\r\n")):
        (tree,) = read(tmp_path, text, "export")
        assert str(tree) == "(ROOT (NP (ART 0=Das) (NN 1=Haus)))"
        assert tree.tokens[0].morph == "Nom"


def test_export_words_like_control_lines(tmp_path: Path) -> None:
    text = "#BOS 1\n#BOS\tX\t--\t--\t0\n#EOS\tX\t--\t--\t0\n#500\tX\t--\t--\t0\n#EOS 1\n"
    (tree,) = read(tmp_path, text, "export")
    assert tree.words == ["#BOS", "#EOS", "#500"]


def test_export_nodes_in_any_order(tmp_path: Path) -> None:
    rows = "a\tT\t--\t--\t501\nb\tT\t--\t--\t500\n#501\tX\t--\t--\t0\n#500\tY\t--\t--\t501"
    (tree,) = read(tmp_path, f"#BOS 1\n{rows}\n#EOS 1\n", "export")
    assert str(tree) == "(ROOT (X (T 0=a) (Y (T 1=b))))"


@pytest.mark.parametrize("last", ["#500", "#501", "#502", "#503", "#999999999"])
def test_export_last_word_like_a_node(tmp_path: Path, last: str) -> None:
    """The nodes get numbers that keep the word apart from them."""
    line = f"(ROOT (S (NP (D 0=a) (X 1=#501) (N 2={last})) (V 3=#500)) (CARD 4={last}))"
    text = "".join(format_trees([parse_tree(line)], "export", Report()))
    assert [str(tree) for tree in read(tmp_path, text, "export")] == [line]


def test_export_encoding(tmp_path: Path) -> None:
    text = "#BOS 1\nMädchen\tNN\t--\t--\t0\n#EOS 1\n".encode("latin-1")
    with pytest.raises(TreebankError, match=r"file:2: sentence 1: bytes .*0xe4.*--encoding"):
        read(tmp_path, text, "export")
    (tree,) = read(tmp_path, text, "export", encoding="ISO-8859-1")
    assert tree.words == ["Mädchen"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a\tT\t--\t--\t500\n#500\tX\t--\t--\t501\n#501\tY\t--\t--\t500", "cycle: #500 under #501 under #500"),
        ("a\tT\t--\t--\t507", r"the parent of word 1 \(a\) is #507, which does not exist"),
        ("a\tT\t--\t0", "has 5 or 6 fields"),
        ("a\tT\t--\t--\tx", "has 5 fields"),
        ("a\tT\t--\t--\t0\nb\tb\tT\t--\t--\t0", "has 5 fields"),
        ("a\tT\t--\t--\t500\n#500\tX\t--\t--\t0\n#501\tY\t--\t--\t0", r"#501 \(Y\) has no words"),
    ],
)
def test_export_defects(tmp_path: Path, rows: str, message: str) -> None:
    with pytest.raises(TreebankError, match=message):
        read(tmp_path, f"#BOS 1\n{rows}\n#EOS 1\n", "export")


def test_empty_sentences_are_counted(tmp_path: Path) -> None:
    text = "#BOS 1\n#EOS 1\n#BOS 2\na\tT\t--\t--\t0\n#EOS 2\n"
    trees, found, report = problems(tmp_path, text, "export")
    assert ([tree.id for tree in trees], found, report.empty) == (["2"], [], 1)


# -- discbracket ------------------------------------------------------------------------------------------------


def test_discbracket_leaves(tmp_path: Path) -> None:
    """Out of order, with equals signs, both spellings of brackets, no-break spaces, comments."""
    line = "(S (X 2=a=b) (Y 0==) ($[ 1=#LRB#) (Z (-LRB- 3=-LRB-) (W 4=10\u00a0000)))\tone\ttwo"
    (tree,) = read(tmp_path, line + "\n", "discbracket")
    assert tree.words == ["=", "(", "a=b", "-LRB-", "10\u00a0000"]
    assert tree.tags[1] == "$("
    assert tree.comments == ["one", "two"]
    assert parse_tree(format_tree(tree)) == tree


def test_word_alone_gets_a_root() -> None:
    assert str(parse_tree("(UH 0=yes)")) == "(ROOT (UH 0=yes))"


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
@pytest.mark.parametrize("text", [EXPORT, "some words\n", "(S (A 0=a))\n"])
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


# -- bracket ----------------------------------------------------------------------------------------------------

PENN = """*x*x*x* a header
( (S
    (NP-SBJ-1 (NNP Mr.) (NNP O'Neill) )
    (VP=2 (VBD said) (SBAR (-NONE- 0) (S (-NONE- *T*-1) )) (CD 1\\/2) (SYM \\*) )
    (. .) ))
(TOP (S (-LRB- -LRB-) (NN x)))(TOP (UH no))
"""


def test_penn_brackets(tmp_path: Path) -> None:
    """Trees over many lines or two on one, traces, function tags, gapping, escapes: all as they stand."""
    trees, _, report = problems(tmp_path, PENN, "bracket")
    assert report.messages() == ["not kept from bracket: lines of comment (1)"]
    assert [tree.root.label for tree in trees] == ["ROOT", "TOP", "TOP"]
    assert trees[0].words == ["Mr.", "O'Neill", "said", "0", "*T*-1", "1\\/2", "\\*", "."]
    assert [node.label for node in trees[0].preorder()] == ["ROOT", "S", "NP-SBJ-1", "VP=2", "SBAR", "S"]
    assert trees[1].words == ["-LRB-", "x"]


def test_penn_helsinki(tmp_path: Path) -> None:
    text = (
        "/~*\na (remark\n*~/\n( (IP-MAT (N-N hundur-hundur) (NP *T*-1) (, ---)) (ID A,1.2))\n"
        "( (CODE {COM:note}) (ID A,1.3))\n( (ID A,1.4))\n"
    )
    trees, found, report = problems(tmp_path, text, "bracket", lemmas=True)
    assert found == []
    assert [tree.id for tree in trees] == ["A,1.2", "A,1.3"]
    assert [(t.word, t.lemma) for t in trees[0].tokens] == [("hundur", "hundur"), ("*T*-1", None), ("-", "-")]
    assert (report.empty, list(report.unread["bracket"])) == (1, ["lines of comment"])
    written = "".join(format_trees(trees, "bracket", report, lemmas=True))
    assert written.splitlines()[0] == "( (IP-MAT (N-N hundur-hundur) (NP *T*-1) (, ---)) (ID A,1.2))"


def test_id_is_a_word_elsewhere(tmp_path: Path) -> None:
    (tree,) = read(tmp_path, "(S (X y) (ID 3))", "bracket")
    assert (tree.tags, tree.id) == (["X", "ID"], None)


@pytest.mark.parametrize("line", ["(ROOT (ID 0=x))", "(ROOT (ID 0=x) (NP (N 1=y)))", "(ROOT (NP (N 0=y)) (ID 1=x))"])
def test_words_that_would_be_read_as_ids_are_refused(line: str) -> None:
    """Rather than to lose a word, or the whole sentence, when the file is read."""
    with pytest.raises(TreebankError, match="sentence 1: bracket cannot hold trees with a word tagged ID under ROOT"):
        list(format_trees([parse_tree(line)], "bracket", Report()))
    inner = parse_tree(line.replace("ROOT", "S"))
    assert "".join(format_trees([inner], "bracket", Report())).startswith("(S ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(NP the dog)", "'the' must stand alone"),
        ("( (S (NP (DT the) dog)))", "'dog' must stand alone"),
        ("hello (S (X y))", "'hello' is outside of any tree"),
        ("(S (X y)))", r"'\)' is outside of any tree"),
        ("( (S (X y) (NP )))", "the phrase NP has no words"),
        ("( (S ( (X y))))", "has no label"),
        ("( (S (X y)) (ID 1) (ID 2))", "two ids, 1 and 2"),
    ],
)
def test_bracket_defects(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TreebankError, match=message):
        read(tmp_path, text, "bracket")


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


def test_what_a_word_of_tigerxml_lacks_is_named(tmp_path: Path) -> None:
    text = tiger(sentence("a b", "", "s1_1").replace('word="b" pos="T"', 'word="b"'))
    _, found, _ = problems(tmp_path, text, "tigerxml", on_error="skip")
    assert "<t> s1_2 lacks pos" in str(found[0])


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


# -- JSON -------------------------------------------------------------------------------------------------------

ONE = '{"tokens": [{"word": "a", "tag": "T", "parent": 0}], "nodes": [{"label": "X"}]}'


def test_json_shapes(tmp_path: Path) -> None:
    """An array, one object, objects on lines, objects over several lines."""
    for text in (f"[{ONE}, {ONE}]", f"{ONE}\n{ONE}\n", ONE.replace(" ", "\n") * 2):
        assert [str(tree) for tree in read(tmp_path, text, "json")] == ["(X (T 0=a))"] * 2
    assert len(read(tmp_path, ONE, "json")) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ONE.replace('"parent": 0', '"parent": 4'), "the parent of token 0 is node 4, which does not exist"),
        (ONE.replace('"parent": 0', '"parent": true'), "must be the number of a node"),
        (ONE.replace('"tag"', '"tga"'), "unknown key 'tga'"),
        (ONE.replace('"a"', '"\\ud800"'), "half a surrogate pair"),
        (ONE[:-1], "not JSON.*cut off"),
        (f"[{ONE},", "array is not closed"),
        ("[3]", "a tree must be an object"),
        (ONE[:-1] + ', "secondary_edges": [{"child": 1, "parent": 2}]}', "an end of a secondary edge is"),
    ],
)
def test_json_defects(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TreebankError, match=message):
        read(tmp_path, text, "json")


def test_json_keeps_what_the_parser_adds(tmp_path: Path) -> None:
    """Places in the text and probabilities, which are no part of what makes trees equal."""
    tree = parse_tree("(S (X 0=Go) (Y 1=!))")
    tree.text, tree.root.probability, tree.root.label_probability = "Go!", 0.75, 0.875
    tree.probability, tree.expected_f1, tree.tokens[1].probability = 0.25, 0.5, 0.125
    tree.tokens[0].span, tree.tokens[1].span = (4, 6), (6, 7)
    (back,) = read(tmp_path, "".join(format_trees([tree], "jsonl", Report())), "jsonl")
    assert (back.text, back.root.probability, [token.span for token in back.tokens]) == ("Go!", 0.75, [(4, 6), (6, 7)])
    assert (back.root.label_probability, back.probability, back.expected_f1) == (0.875, 0.25, 0.5)
    assert [token.probability for token in back.tokens] == [None, 0.125]


def test_json_of_parsed_text_has_the_places_of_nodes():
    tokens = [Token(word, "X", span=span) for word, span in (("wake", (0, 4)), ("them", (5, 9)), ("up", (10, 12)))]
    data = Tree(tokens, Node("S", [Node("VP", [0, 2]), 1])).to_json()
    assert data["nodes"] == [
        {"label": "S", "tokens": [0, 1, 2], "spans": [[0, 12]], "parent": None},
        {"label": "VP", "tokens": [0, 2], "spans": [[0, 4], [10, 12]], "parent": 0},
    ]
    assert [token["parent"] for token in data["tokens"]] == [1, 0, 1]
