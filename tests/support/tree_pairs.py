"""Random pairs of a gold and a predicted tree, with every label, tag and word that the evaluation treats specially."""

from __future__ import annotations

from hypothesis import strategies as st

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
