"""Our evaluator prints the same figures as a naive one over random pairs of trees of all kinds."""

from __future__ import annotations

import naive_evaluation as naive
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discoparse.evaluation import evaluate, read_parameters
from discoparse.evaluation.parameters import STANDARD
from discoparse.tree import Node, Token, Tree

LABELS = ["S", "NP", "VP", "NP-SBJ", "NP-SBJ-1", "NP=2", "ROOT", "TOP", "NOPARSE", "ADVP", "PRT", "$,"]
LABELS += ["-X-Y", "=A-B", "S-"]
ROOTS = ["ROOT", "TOP", "VROOT", "S", "ADVP", "PRT-X", "ROOT-X"]
TAGS = ["N", "V", "N-A", "$,", "$(", "$,-X", ".", "-LRB-", "-NONE-", "ADVP", "PRT", "ROOT"]
WORDS = ["a", "b", "c", ".", ",", "(", "-LRB-", "...", "&"]


@st.composite
def random_tree(draw, words: list[str]) -> Tree:
    """Random items are joined bottom-up; unary chains, with doubled labels, grow anywhere."""
    items: list[Node | int] = list(range(len(words)))
    while len(items) > 1 and draw(st.integers(0, 4)):
        chosen = set(draw(st.lists(st.sampled_from(range(len(items))), min_size=1, max_size=4, unique=True)))
        node = Node(draw(st.sampled_from(LABELS)), [item for k, item in enumerate(items) if k in chosen])
        items = [item for k, item in enumerate(items) if k not in chosen] + [node]
    root = Node(draw(st.sampled_from(ROOTS)), items)
    for _ in range(draw(st.integers(0, 2))):  # chains on top, often of one label
        root = Node(draw(st.sampled_from([root.label, *ROOTS])), [root])
    tree = Tree([Token(word, draw(st.sampled_from(TAGS))) for word in words], root)
    tree.sort()
    return tree


@st.composite
def pair(draw) -> tuple[Tree, Tree]:
    """Two trees over the same words; now and then the same tree, or a long sentence, or punctuation only."""
    alphabet = draw(st.sampled_from([WORDS, WORDS[3:6]]))
    words = draw(st.lists(st.sampled_from(alphabet), min_size=1, max_size=9))
    words *= draw(st.sampled_from([1, 1, 1, 6]))
    gold = draw(random_tree(words))
    return gold, gold.copy() if draw(st.integers(0, 3)) == 0 else draw(random_tree(words))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(pair(), max_size=4))
def test_same_figures_as_the_naive_evaluator(pairs: list[tuple[Tree, Tree]]) -> None:
    gold, predicted = [g for g, _ in pairs], [p for _, p in pairs]
    expected = naive.evaluate(gold, predicted, naive.read(STANDARD))
    found = evaluate(gold, predicted, read_parameters(STANDARD)).as_dict()
    for part in ("all", "cutoff"):
        assert found[part]["pos_accuracy"] == pytest.approx(expected[part]["pos_accuracy"])
        for ours, theirs in ((found[part], expected[part]), (found[part]["disc"], expected[part]["disc"])):
            for name in ("sentences", "precision", "recall", "f1", "exact_match"):
                assert ours[name] == pytest.approx(theirs[name]), (part, name)
            for name in ("gold_distinct", "predicted_distinct"):
                assert ours["brackets"][name] == theirs[name], (part, name)


def test_figures_of_real_treebanks_with_heavy_noise(shared) -> None:
    """A prediction with another sentence's tree: nothing is left of the gold structure but the words."""
    import gzip

    from discoparse.treebank.discbracket import parse_tree

    for name in ("de_pcc", "nl_alpino"):
        with gzip.open(shared / "data" / name / "dev.discbracket.gz", "rt", encoding="utf-8") as lines:
            gold = [parse_tree(line) for _, line in zip(range(120), lines, strict=False)]
        by_length = {len(tree): tree for tree in gold}
        predicted = [Tree(g.tokens, by_length[len(g)].root) for g in gold]
        expected = naive.evaluate(gold, predicted, naive.read(STANDARD))
        found = evaluate(gold, predicted).as_dict()
        assert 0 < found["all"]["f1"] < 90
        for part in ("all", "cutoff"):
            for key in ("precision", "recall", "f1", "exact_match"):
                assert found[part][key] == pytest.approx(expected[part][key])
                assert found[part]["disc"][key] == pytest.approx(expected[part]["disc"][key])
