"""What the reader of each format but XML must understand, on files written for the purpose."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from treebank_files import problems, read

from discoparse.errors import TreebankError
from discoparse.tree import Node, Token, Tree
from discoparse.treebank import FORMATS, Report, format_trees, jsonvalues, read_trees, write_trees
from discoparse.treebank.discbracket import format_tree, parse_tree


@pytest.mark.parametrize("format", [name for name, entry in FORMATS.items() if not entry.binary])
def test_half_a_surrogate_pair_is_written_as_no_character(tmp_path: Path, format: str) -> None:
    """Emoji are cut in two by programs that count in UTF-16, and come back from JSON like that."""
    tree = Tree([Token("\ud83d", "X"), Token("🙂", "X")], Node("ROOT", [0, 1]), text="\ud83d🙂")
    report = Report()
    write_trees([tree], tmp_path / "file", format, report=report)
    (back,) = read_trees(tmp_path / "file", format)
    assert back.words == ["\ufffd", "🙂"]
    assert back.text in (None, "\ufffd🙂")
    assert any("(written \ufffd)" in message for message in report.messages())


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


@pytest.mark.parametrize("indent", [None, 0, 1, 4, "\t"])
@pytest.mark.parametrize("array", [True, False])
@pytest.mark.parametrize("chunk", [5, 1 << 18])
def test_broken_json_costs_one_tree_however_it_is_indented(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, indent: int | str | None, array: bool, chunk: int
) -> None:
    monkeypatch.setattr(jsonvalues, "CHUNK", chunk)
    values = [json.loads(ONE.replace('"a"', f'"{word}"')) for word in "abcd"]
    text = json.dumps(values, indent=indent) if array else "\n".join(json.dumps(v, indent=indent) for v in values)
    if array and indent is None:
        text = text.replace('}, {"tokens', '},\n{"tokens')
    for word, kept in (("a", "bcd"), ("b", "acd"), ("d", "abc")):
        trees, found, _ = problems(tmp_path, text.replace(f'"{word}"', f'"{word}" x'), "json", on_error="skip")
        assert ["".join(tree.words) for tree in trees] == list(kept)
        assert "not JSON" in found[0].message


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
