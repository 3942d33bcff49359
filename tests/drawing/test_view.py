"""What is shown of a tree: subtrees, roots, punctuation, roofs, words as they are written, glosses."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import drawn_trees, trees

from discoparse.drawing import draw_text
from discoparse.drawing.options import Options
from discoparse.drawing.view import GAP, View, find_subtree, views_of
from discoparse.errors import DiscoparseError, UsageError
from discoparse.transform.punctuation import is_punctuation, remove_punctuation
from discoparse.tree import Tree
from discoparse.treebank.discbracket import parse_tree

SENTENCE = (
    "(ROOT (S (VP (NP-OBJ (DT 0=which) (NN 1=house)) (PP (P 4=in) (NP (NN 5=town))) (VB 6=buy)) "
    "(MD 2=must) (NP (PRP 3=we))) (. 7=?))"
)


def view(tree: Tree, **options) -> View:
    (found,), _ = views_of(tree, None, Options(**options))
    return found


def shown(tree: Tree, **options) -> str:
    return str(view(tree, **options).tree)


@settings(max_examples=200, deadline=None)
@given(trees(max_tokens=8))
def test_the_tree_itself_is_left_alone(tree: Tree) -> None:
    before = tree.copy()
    labels = [node.label for node in tree.preorder()]
    draw_text(tree, roof=labels, hide=["root", "punct"], surface=True, gloss=tree.words, subtree=labels[-1])
    assert tree == before


@settings(max_examples=200, deadline=None)
@given(trees(max_tokens=8))
def test_hidden_punctuation_is_that_of_the_transform(tree: Tree) -> None:
    expected = remove_punctuation(tree) or tree  # a sentence of nothing else keeps it
    assert shown(tree, hide=["punct"]) == str(expected)


def test_a_hidden_root_leaves_what_stood_below_it() -> None:
    tree = parse_tree(SENTENCE)
    assert shown(tree, hide=["root", "punct"]).startswith("(S (VP ")
    loose = view(tree, hide=["root"])
    assert loose.rootless
    text = draw_text(tree, hide=["root"])
    assert "ROOT" not in text
    assert text.split("\n")[-1].split()[-1] == "?"


def test_only_roots_that_hold_a_sentence_together_are_hidden() -> None:
    assert shown(parse_tree("(S (A 0=a) (B 1=b))"), hide=["root"]) == "(S (A 0=a) (B 1=b))"
    assert draw_text(parse_tree("(TOP (A 0=a))"), hide=["root"]) == "A\na"


@pytest.mark.parametrize(
    ("wanted", "label", "words"),
    [
        ("VP", "VP", ["which", "house", GAP, "in", "town", "buy"]),
        ("NP", "NP-OBJ", ["which", "house"]),
        ("NP:2", "NP", ["town"]),
        ("NP-OBJ", "NP-OBJ", ["which", "house"]),
        ("5-6", "PP", ["in", "town"]),
        ("1,7", "VP", ["which", "house", GAP, "in", "town", "buy"]),
        ("4", "NP", ["we"]),
        ("4,8", "ROOT", ["which", "house", "must", "we", "in", "town", "buy", "?"]),
    ],
)
def test_subtrees_are_found_by_label_and_by_tokens(wanted: str, label: str, words: list[str]) -> None:
    tree = parse_tree(SENTENCE)
    assert find_subtree(tree, wanted).label == label
    assert view(tree, subtree=wanted).tree.words == words


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("XP", "no subtree XP: the tree has 0 nodes XP"),
        ("NP:4", "no subtree NP:4: the tree has 3 nodes NP"),
        ("NP:0", "no subtree NP:0"),
        ("7-9", "no tokens 7-9: the sentence has 8"),
        ("0", "no tokens 0"),
        ("5-3", "no tokens 5-3"),
    ],
)
def test_a_subtree_that_is_not_there_is_an_error(wanted: str, message: str) -> None:
    with pytest.raises(DiscoparseError, match=message):
        find_subtree(parse_tree(SENTENCE), wanted)


@settings(max_examples=200, deadline=None)
@given(trees(max_tokens=9), st.data(), st.booleans())
def test_a_subtree_is_the_nodes_below_it_with_its_gaps(tree: Tree, data: st.DataObject, hide: bool) -> None:
    node = data.draw(st.sampled_from(list(tree.preorder())))
    tokens = sorted(tree.yields()[node])
    found = view(tree, subtree=",".join(str(i + 1) for i in tokens), hide=["punct"] if hide else [])
    visible = [i for i in tokens if not (hide and is_punctuation(tree.tokens[i]))] or tokens
    words = [tree.tokens[i].word for i in visible]
    assert [word for word in found.tree.words if word != GAP] == words
    hidden = [i for i in range(len(tree)) if is_punctuation(tree.tokens[i])] if hide else []
    if set(tokens) <= set(hidden):  # what is nothing but punctuation keeps it, and what is between
        hidden = []
    gap = [i for i in range(visible[0], visible[-1]) if i not in tokens and i not in hidden]
    assert (GAP in found.tree.words) == found.rootless == bool(gap)


def test_a_subtree_is_drawn_alone() -> None:
    tree = parse_tree(SENTENCE)
    with pytest.raises(UsageError, match="a subtree is drawn alone"):
        draw_text(tree, compare=tree, subtree="VP")


# -- roofs ----------------------------------------------------------------------------------------


def test_roofs_stand_over_the_uppermost_phrases_with_these_labels() -> None:
    tree = parse_tree(SENTENCE)
    found = view(tree, roof=["NP", "PP"])
    assert sorted(node.label for node in found.roofs) == ["NP", "NP-OBJ", "PP"]
    assert [word.text for word in found.words] == ["which house", "must", "we", "in town", "buy", "?"]
    assert view(tree, roof=["ROOT", "S"], subtree="S").roofs == frozenset(), "the top keeps its branches"


def test_a_roof_over_a_gap_is_one_for_each_part() -> None:
    found = view(parse_tree(SENTENCE), roof=["VP"])
    assert [node.label for node in found.roofs] == ["", ""]
    text = draw_text(parse_tree(SENTENCE), roof=["VP"])
    assert text.count("VP") == 1
    assert "╱────┴────╲" in text
    assert text.count("╱") == 2
    coloured = draw_text(parse_tree(SENTENCE), roof=["VP"], color=True)
    assert coloured.count("\x1b[0;36m╱") == 2, "the parts have the colour of the whole"
    assert "which house  must   we  in town buy  ?" in text


def test_roofs_do_not_hide_differences() -> None:
    gold, predicted = parse_tree(SENTENCE), parse_tree(SENTENCE.replace("(NP (NN 5=town))", "(NN 5=town)"))
    views, _ = views_of(gold, predicted, Options(roof=["PP", "NP"]))
    assert [sorted(node.label for node in v.roofs) for v in views] == [["NP", "NP", "NP-OBJ"], ["NP", "NP-OBJ"]]
    same, _ = views_of(gold, gold, Options(roof=["PP", "NP"]))
    assert [sorted(node.label for node in v.roofs) for v in same] == [["NP", "NP-OBJ", "PP"]] * 2


@settings(max_examples=300, deadline=None)
@given(drawn_trees(max_tokens=9))
def test_roofs_keep_words_and_hide_what_is_below(drawn: tuple[Tree, dict]) -> None:
    tree, options = drawn
    found, bare = view(tree, **options), view(tree, **options | {"roof": []})
    assert found.tree.words == bare.tree.words
    assert " ".join(word.text for word in found.words) == " ".join(word.text for word in bare.words)
    for roof in found.roofs:
        assert all(isinstance(child, int) for child in roof.children)
        assert all(found.tree.tokens[child].tag == "" for child in roof.children if isinstance(child, int))
    labels = {node.label for node in found.tree.preorder() if node is not found.tree.root}
    below = [n for roof in found.roofs for n in bare.tree.preorder() if n.label in options["roof"]]
    assert not found.roofs or below
    if not set(options["roof"]) & labels:
        assert not found.roofs


# -- words ----------------------------------------------------------------------------------------


def test_words_that_the_treebank_splits_are_written_as_one() -> None:
    tree = parse_tree("(S (N 0=kennar$) (D 1=$inn) (V 2=gef$) (P 3=$ur$) (Q 4=$ðu) (X 5=US$) (Y 6=$) (Z 7=-LRB-))")
    words = [word.text for word in view(tree, surface=True).words]
    assert words == ["kennarinn", "gefurðu", "US$", "$", "("]
    assert [word.text for word in view(tree).words] == tree.words
    rows = draw_text(tree, surface=True).split("\n")
    assert rows[-2].split() == list("NDVPQXYZ")
    assert rows[-1].split() == words


def test_glosses_come_from_a_list_or_from_the_treebank() -> None:
    tree = parse_tree("(S (N 0=kennar$) (D 1=$inn) (V 2=sá) (. 3=.))")
    for token, lemma in zip(tree.tokens, ["kennari", "hinn", "sjá", None], strict=True):
        token.lemma = lemma
    tree.tokens[2].features["gloss"] = "saw"

    def glosses(**options) -> list[str | None]:
        return [word.gloss for word in view(tree, **options).words]

    assert glosses() == [None] * 4
    assert glosses(gloss="lemma") == ["kennari", "hinn", "sjá", ""]
    assert glosses(gloss="lemma", surface=True) == ["kennari-hinn", "sjá", ""]
    assert glosses(gloss="gloss") == ["", "", "saw", ""]
    assert glosses(gloss=["teacher", "the", "saw", "."]) == ["teacher", "the", "saw", "."]
    assert glosses(gloss=["teacher", "the", "saw"], hide=["punct"]) == ["teacher", "the", "saw"]
    assert glosses(gloss=["the teacher", "saw"], hide=["punct"], surface=True) == ["the teacher", "saw"]
    with pytest.raises(DiscoparseError, match="no token has 'morph' to show as a gloss"):
        glosses(gloss="morph")
    with pytest.raises(DiscoparseError, match=r"there are 5 glosses for 4 tokens: kennar\$ "):
        glosses(gloss=["x"] * 5)


def test_glosses_of_a_subtree_may_be_those_of_its_words() -> None:
    found = view(parse_tree(SENTENCE), subtree="VP", gloss=["welch", "Haus", "in", "Stadt", "kaufen"])
    assert [word.gloss for word in found.words] == ["welch", "Haus", "", "in", "Stadt", "kaufen"]


@settings(max_examples=200, deadline=None)
@given(trees(max_tokens=7, words=st.sampled_from(["a", "word", "sesquipedalian"])), st.integers(20, 60))
def test_glosses_stand_under_their_words(tree: Tree, width: int) -> None:
    """Below all lines of words that are broken, and where nothing is, in the same columns."""
    for panel in draw_text(tree, gloss=["1"] * len(tree), width=width).split("\n\n"):
        lines = panel.split("\n")
        words = [k for k, line in enumerate(lines) if any(character.islower() for character in line)]
        (glosses,) = [k for k, line in enumerate(lines) if "1" in line]
        assert glosses == max(words) + 1
    wide = draw_text(tree, gloss=[word.upper() for word in tree.words]).split("\n")
    assert wide[-1] == wide[-2].upper()


def test_what_cannot_be_hidden_is_wrong_use() -> None:
    with pytest.raises(UsageError, match="choose from root, punct"):
        draw_text(parse_tree(SENTENCE), hide=["tags"])
    with pytest.raises(UsageError, match="cannot be scaled by 0"):
        draw_text(parse_tree(SENTENCE), scale=0)
