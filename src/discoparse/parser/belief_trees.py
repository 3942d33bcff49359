"""Trees that say how sure the parser is of them, from what `discoparse.neural.belief` believes."""

from __future__ import annotations

from discoparse.neural.belief import UNSCORED, Belief, agreed
from discoparse.neural.codes import Chains
from discoparse.neural.replay import build_tree, replay
from discoparse.parser.doubt import Doubt
from discoparse.tree import Token, Tree, indexes


def believed_tree(tokens: list[Token], belief: Belief, chains: Chains, doubt: Doubt) -> Tree:
    """The tree of a belief: the greedy one, or the consensus."""
    for token, probability in zip(tokens, belief.tag_probabilities, strict=True):
        token.probability = round(probability, 6)
    if doubt.consensus is not None:
        tree = _consensus(tokens, belief, chains)
    else:
        labels = [chains[code] for code in belief.codes]
        tree = build_tree(tokens, replay(belief.actions), labels, belief.label_probabilities, belief.probabilities)
        tree.probability = significant(belief.probability)
    tree.expected_f1 = round(_expected_f1(tree, belief), 6)
    return tree


def significant(probability: float) -> float:
    """The probability of a whole tree with six significant digits: of a long sentence, even that of the best is tiny.

    >>> significant(0.9615384615), significant(1.23456789e-12)
    (0.961538, 1.23457e-12)
    """
    return float(f"{probability:.6g}")


def _consensus(tokens: list[Token], belief: Belief, chains: Chains) -> Tree:
    """The constituents that enough samples have; where they clash, as they may below a half, the largest share wins.

    The whole sentence has the labels of the greedy tree.
    """
    everything = (1 << len(tokens)) - 1
    top = zip(chains[belief.codes[-1]], belief.probabilities[-1], strict=True)
    taken = [*((label, everything, value) for label, value in top), *agreed(belief.shared)]
    tree = Tree.from_constituents(tokens, [(label, indexes(mask)) for label, mask, _ in taken])
    values: dict[tuple[str, int], list[float]] = {}
    for label, mask, value in taken:
        values.setdefault((label, mask), []).append(value)
    masks = tree.masks()
    for node in tree.preorder():  # of one yield from the top down, as they were given
        node.probability = round(values[node.label, masks[node]].pop(0), 6)
    return tree


def _expected_f1(tree: Tree, belief: Belief) -> float:
    """Of a tree against one that is drawn from the parser: twice the expected matches, by the expected sum of sizes.

    A tree without constituents that count is right where the drawn one has none, either: it has one at most as often
    as it has on average.
    """
    values = [node.probability or 0.0 for node in tree.preorder() if node.label not in UNSCORED]
    if not values:
        return max(0.0, 1 - belief.expected_size)
    return min(1.0, 2 * sum(values) / (len(values) + belief.expected_size))
