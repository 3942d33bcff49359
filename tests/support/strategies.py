"""Random discontinuous trees for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from discoparse.tree import ROOT, Node, Token, Tree

# Labels and words that files find hard: brackets, the separators of every format, escapes, look-alikes of ids.
PLAIN_LABELS = ["S", "NP", "VP", "PP", "SBAR", "CNP", "AP"]
AWKWARD_WORDS = ["(", ")", "=", "a=b", "#500", "%%", "-LRB-", "$", "\\/", "&", "<", '"', "'", "0", "*", "#BOS", "é"]


@st.composite
def tree_shapes(draw, max_tokens: int = 8, labels: list[str] | None = None, unaries: bool = True) -> Node:
    """A node over tokens 0..n-1, built by joining random items bottom-up: gaps and ill-nested yields are common."""
    names = st.sampled_from(labels or PLAIN_LABELS)
    n = draw(st.integers(1, max_tokens))
    items: list[Node | int] = list(range(n))
    while len(items) > 1 and draw(st.booleans()):
        size = draw(st.integers(2, len(items)))
        chosen = draw(st.permutations(range(len(items))))[:size]
        node = Node(draw(names), [items[k] for k in sorted(chosen)])
        items = [item for k, item in enumerate(items) if k not in chosen] + [node]
    if unaries:
        for k, item in enumerate(items):
            if draw(st.integers(0, 3)) == 0:
                items[k] = Node(draw(names), [item])
    return Node(ROOT, items)


@st.composite
def trees(draw, max_tokens: int = 8, words: st.SearchStrategy[str] | None = None, **options) -> Tree:
    """A tree with a ROOT on top, words and tags."""
    root = draw(tree_shapes(max_tokens, **options))
    n = sum(1 for _ in _leaves(root))
    word = st.sampled_from(["the", "dog", "barks", "loudly", *AWKWARD_WORDS]) if words is None else words
    tag = st.sampled_from(["NN", "VB", "DT", "$,", "$(", "-LRB-", "."])
    tree = Tree([Token(draw(word), draw(tag)) for _ in range(n)], root)
    tree.sort()
    return tree


def _leaves(node: Node):
    for child in node.children:
        if isinstance(child, int):
            yield child
        else:
            yield from _leaves(child)


@st.composite
def drawn_trees(draw, max_tokens: int = 9, **options) -> tuple[Tree, dict]:
    """A tree with split words and punctuation, and options for drawing it that change what is shown."""
    words = st.sampled_from(["a", "word", "stem$", "$ending", "$mid$", ",", "-LRB-", "sesquipedalian", "日本"])
    tree = draw(trees(max_tokens, words=words, **options))
    for item in [*tree.tokens, *tree.preorder()]:
        item.edge = draw(st.sampled_from([None, "SB", "PRED"]))
    labels = sorted({node.label for node in tree.preorder()})
    chosen = {
        "roof": draw(st.lists(st.sampled_from(labels), max_size=2)),
        "hide": draw(st.lists(st.sampled_from(["root", "punct"]), max_size=2, unique=True)),
        "subtree": draw(st.none() | st.sampled_from(labels)),
        "surface": draw(st.booleans()),
        "gloss": draw(st.none() | st.just([token.word.upper() for token in tree.tokens])),
        "functions": draw(st.booleans()),
        "tags": draw(st.booleans()),
    }
    return tree, chosen
