"""Traces: reattached as in DPTB, written for continuous formats, and back; checked on hand-made trees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import PLAIN_LABELS, trees

from discoparse.transform.empty import has_empty, remove_empty, spell_out_empty
from discoparse.transform.functions import functions_to_edges, join_label, remove_functions, split_label
from discoparse.transform.spelling import escape_word, unescape_word
from discoparse.transform.trace_writing import write_traces
from discoparse.transform.traces import reattach_traces
from discoparse.tree import SecondaryEdge, Tree
from discoparse.treebank.discbracket import parse_tree


def reattached(line: str) -> str:
    return str(reattach_traces(parse_tree(line)))


@st.composite
def annotated_trees(draw: st.DrawFn) -> Tree:
    tree = draw(trees(labels=[*PLAIN_LABELS, "IP-SUB", "-ODD-"]))
    for node in tree.preorder():
        edges = [None, "SUB", "SUB-SPE"] if node.label == "IP-SUB" else [None, "SBJ", "LOC-PRD"]
        node.edge = draw(st.sampled_from(edges))
        node.edge = "SUB" if node.label == "IP-SUB" and node.edge is None else node.edge
    for token in tree.tokens:
        token.word = unescape_word(token.word)
        token.lemma = "x"  # so that 0 and * are words whatever the scheme of the labels
    ends = st.sampled_from([*tree.preorder(), *range(len(tree))])
    tree.secondary_edges = draw(st.lists(st.builds(SecondaryEdge, ends, ends), max_size=2))
    return tree


@given(annotated_trees())
def test_reattaching_inverts_writing(tree: Tree) -> None:
    written = write_traces(tree)
    assert not written.is_discontinuous
    written.sort()
    assert reattach_traces(written, pytest.fail) == tree


@st.composite
def tangled_trees(draw: st.DrawFn) -> Tree:
    """Trees in which anything may be a trace or an antecedent, of anything, around or inside of it."""
    tree = draw(trees(max_tokens=12, labels=["S-1", "NP-1", "NP-2", "PRN", "PRN-2", "VP", "S=1", "X-3"]))
    for token in tree.tokens:
        if draw(st.integers(0, 2)):
            token.tag = "-NONE-"
            token.word = draw(st.sampled_from(["*T*-1", "*ICH*-2", "*T*", "*RNR*-1", "*EXP*-3", "0", "*-1"]))
        else:
            token.word, token.tag = "w", "W"
    return tree


@given(tangled_trees())
def test_reattaching_keeps_every_word_of_any_tangle(tree: Tree) -> None:
    result = reattach_traces(tree)
    words = tree.words.count("w")
    if result is None:
        assert words == 0
    else:
        leaves = [c for n in result.preorder() for c in n.children if isinstance(c, int)]
        assert sorted(leaves) == list(range(words)) == list(range(len(result)))
        assert all(node.children for node in result.preorder())


@given(trees())
def test_continuous_trees_get_no_traces(tree: Tree) -> None:
    assert ("-NONE-" in write_traces(tree).tags) == tree.is_discontinuous


@given(st.text() | st.text("\\/*a"))
def test_words_are_escaped_once_and_without_loss(word: str) -> None:
    escaped = escape_word(word)
    assert escape_word(escaped) == escaped
    assert unescape_word(escaped) in (word, unescape_word(word))
    if "\\" not in word:
        assert unescape_word(escaped) == word


def test_empty_elements_that_are_there_already_stay() -> None:
    line = "(S (NP-1 (A 0=a\\/b)) (VP (B 1=b) (NP (-NONE- 2=*T*-1))))"
    assert str(write_traces(parse_tree(line))) == line


CATEGORIES = st.sampled_from(["NP", "-LRB-", "CP-REL", "IP-MAT"])


@given(CATEGORIES, st.sampled_from([None, "SBJ"]), st.none() | st.integers(0))
def test_labels_come_apart_as_joined(category: str, function: str | None, coindex: int | None) -> None:
    if category[:3] in ("CP-", "IP-"):
        function = f"{category[3:]}-{function}" if function else category[3:]
    assert split_label(join_label(category, function, coindex)) == (category, function, coindex)


def test_index_on_the_trace_and_on_its_phrase() -> None:
    expected = "(S (VP (WHNP (WP 0=what)) (VB 2=do)) (NP (PRP 1=you)))"
    for trace in ["(NP (-NONE- 3=*T*-1))", "(NP-1 (-NONE- 3=*T*))", "(-NONE- 3=*T*-1)"]:
        line = f"(S (WHNP-1 (WP 0=what)) (NP (PRP 1=you)) (VP (VB 2=do) {trace}))"
        assert reattached(line) == expected


def test_functions_become_edge_labels() -> None:
    tree = reattach_traces(parse_tree("(S (NP-TPC-SBJ-1=2 (A 0=a)) (VP=2 (B 1=b) (NP (-NONE- 2=*T*-1))))"))
    assert tree is not None
    assert [(n.label, n.edge) for n in tree.preorder()] == [("S", None), ("VP", None), ("NP", "TPC-SBJ")]


def test_right_node_raising_goes_to_the_nearest_trace() -> None:
    line = (
        "(S (S (A 0=a) (NP (-NONE- 1=*RNR*-1))) (CC 2=and) (S (B 3=b) (NP (-NONE- 4=*RNR*-1)) (C 5=c)) (NP-1 (D 6=d)))"
    )
    assert reattached(line) == "(S (S (A 0=a)) (CC 1=and) (S (B 2=b) (C 3=c) (NP (D 4=d))))"


def test_nearest_antecedent_that_does_not_dominate_the_trace() -> None:
    line = "(S-1 (NP-1 (A 0=a)) (NP-1 (B 1=b)) (X (C 2=c)) (VP (V 3=v) (NP (-NONE- 4=*T*-1))))"
    assert reattached(line) == "(S (NP (A 0=a)) (VP (NP (B 1=b)) (V 3=v)) (X (C 2=c)))"


def test_parenthetical_changes_places_with_its_antecedent() -> None:
    line = (
        "(ROOT (S-1 (NP (A 0=a)) (PRN (, 1=,) (S (NP (H 2=he)) (VP (V 3=said) (SBAR (-NONE- 4=0) "
        "(S (-NONE- 5=*T*-1))))) (, 6=,)) (VP (B 7=b))))"
    )
    expected = "(ROOT (PRN (S (VP (SBAR (S (NP (A 0=a)) (VP (B 5=b)))) (V 3=said)) (NP (H 2=he))) (, 1=,) (, 4=,)))"
    assert reattached(line) == expected


def test_other_cycles_are_left_alone() -> None:
    line = "(ROOT (S-1 (NP (A 0=a)) (VP (B 1=b) (S (-NONE- 2=*T*-1)))))"
    assert reattached(line) == "(ROOT (S (NP (A 0=a)) (VP (B 1=b))))"


def test_moves_that_would_form_a_cycle_together_keep_every_word() -> None:
    line = "(ROOT (S-1 (A 0=a) (X (-NONE- 1=*T*-2))) (S-2 (B 2=b) (X (-NONE- 3=*T*-1))))"
    assert reattached(line) == "(ROOT (S (S (A 0=a)) (B 1=b)))"


def test_gapping_is_no_antecedent_and_empty_antecedents_do_not_move() -> None:
    warnings: list[str] = []
    traces = "(NP (-NONE- 3=*T*-1)) (NP (-NONE- 4=*T*-2))"
    line = f"(S (NP=1 (A 0=a)) (WHNP-2 (-NONE- 1=0)) (VP (B 2=b) {traces}))"
    assert str(reattach_traces(parse_tree(line), warnings.append)) == "(S (NP (A 0=a)) (VP (B 1=b)))"
    assert warnings == ["no phrase has the index 1 of a trace"]


def test_trace_without_index_is_told() -> None:
    warnings: list[str] = []
    tree = parse_tree("(S (A 0=a) (NP (-NONE- 1=*T*)))")
    assert str(reattach_traces(tree, warnings.append)) == "(S (A 0=a))"
    assert warnings == ["the trace *T* (element 2) has no index"]


def test_star_and_zero_are_words_in_the_penn_treebank() -> None:
    line = "(S (SYM 0=*) (CD 1=0) (NN 2=1\\/2) (-NONE- 3=*))"
    assert reattached(line) == "(S (SYM 0=*) (CD 1=0) (NN 2=1/2))"


def test_penn_helsinki_elements_stand_in_their_phrases() -> None:
    line = (
        "(ROOT (IP-MAT (NP-OB1-1 (PRO 0=what)) (CODE 1={COM:x}) (LB 2=|) (MD 3=will) (C 4=0) "
        "(NP-SBJ 5=*pro*) (IP-INF (CONJ-2 6=both) (VB 7=do) (NP 8=*ICH*-1))))"
    )
    expected = "(ROOT (IP-MAT (IP-INF (NP (PRO 0=what)) (CONJ 2=both) (VB 3=do)) (MD 1=will)))"
    assert reattached(line) == expected
    assert spell_out_empty(parse_tree(line)).tags.count("-NONE-") == 5


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (  # Keyaki: kinds of empty elements in Japanese
            "(ROOT (IP-MAT (PP (NP (N 0=工事)) (P 1=を)) (NP-OB1 2=*を*) (NP-SBJ 3=*speaker+pro*) (VB 4=始まっ)))",
            "(ROOT (IP-MAT (PP (NP (N 0=工事)) (P 1=を)) (VB 2=始まっ)))",
        ),
        ("(IP-MAT (PRO 0=hann) (LB 1=|-|) (MD 2=skal) (LB 3=blíva))", "(IP-MAT (PRO 0=hann) (MD 1=skal) (LB 2=blíva))"),
        ("(IP-MAT (D 0=das) (N 1={vart}) (X 2={COM:sic}))", "(IP-MAT (D 0=das) (N 1={vart}))"),
    ],
)
def test_signs_and_words_of_other_penn_helsinki_treebanks(line: str, expected: str) -> None:
    assert reattached(line) == str(remove_empty(parse_tree(line))) == expected


def test_a_word_with_an_index_stays_where_it_is() -> None:
    """As in IcePaHC's prepared sets; its tag loses the index, with traces removed as well."""
    line = "(IP-MAT (NCPL-1 0=Murs) (VJ 1=out) (NP-ACC (NCPL 2=*ICH*-1) (ADJP (ADJ 3=bons))))"
    warnings: list[str] = []
    assert str(reattach_traces(parse_tree(line), warnings.append)).startswith("(IP-MAT (NCPL 0=Murs) (VJ 1=out)")
    assert warnings == ["no phrase has the index 1 of a trace"]
    assert str(remove_empty(parse_tree(line))) == "(IP-MAT (NCPL 0=Murs) (VJ 1=out) (NP-ACC (ADJP (ADJ 2=bons))))"


@pytest.mark.parametrize(
    ("line", "empty"),
    [
        ("(IP-MAT (NP-OB1 0=*を*) (VB 1=始まっ))", True),
        ("(S (NP (SYM 0=*wow*)) (VP (VBZ 1=is)))", False),  # not of the Penn-Helsinki family: it may be a word
        ("(S (NP (-NONE- 0=*)) (VP (VBZ 1=is)))", True),
        ("(S (NP 0=*T*-1) (VP (VBZ 1=is)))", True),
        ("(IP-MAT (NP (N 0=*)) (VB 1=er))", False),
    ],
)
def test_trees_with_empty_elements_are_told(line: str, empty: bool) -> None:
    assert has_empty(parse_tree(line)) == empty


def test_nothing_but_empty_elements_leaves_no_tree() -> None:
    tree = parse_tree("(S (NP (-NONE- 0=*)) (VP (-NONE- 1=*?*)))")
    assert reattach_traces(tree) is None
    assert remove_empty(tree) is None


def test_removing_empty_elements_keeps_functions_and_drops_indexes() -> None:
    tree = parse_tree("(S (NP-SBJ-1 (A 0=a)) (VP (B 1=b) (NP (-NONE- 2=*-1))))")
    assert str(remove_empty(tree)) == "(S (NP-SBJ (A 0=a)) (VP (B 1=b)))"


def test_functions_are_cut_or_removed() -> None:
    tree = parse_tree("(S (NP-SBJ-1 (-LRB- 0=a)) (CP-REL-SPE (N-A 1=b)))")
    tree.tokens[0].edge = "HD"
    cut, bare = functions_to_edges(tree), remove_functions(tree)
    assert str(cut) == str(bare) == "(S (NP (-LRB- 0=a)) (CP-REL (N-A 1=b)))"
    assert [n.edge for n in cut.preorder()] == [None, "SBJ", "REL-SPE"]
    assert [n.edge for n in bare.preorder()] == [None] * 3
    assert (cut.tokens[0].edge, bare.tokens[0].edge) == ("HD", None)
