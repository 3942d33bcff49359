"""Kinds of constituents that linguists ask about, derived from yields and labels, without tables for each language.

A constituent with one gap has a left and a right block. Its *parts* are its children, tokens included.

- fronting: the left block is one part, the rest follows the gap: [what] … [do], [das Buch] … [ihm geben].
- fronting in a question: the same in a sentence that ends with a question mark (mostly wh-movement).
- extraposition: the right block is one part: [a man] … [who laughs].
- split words: both blocks are single words: a verb and its particle, a preposition and its pronoun.
- inherited gap: a child has the gap already, so this constituent did not make it.
- other gap: several parts, or one phrase, on both sides.

Independent of these: several gaps, the number of gap tokens, ill-nested (its tokens alternate with a disjoint
constituent's, a b a b), coordination (two or more child phrases of one label L below L, below `C` + L as in
CNP over NP, or below CONJ as in Alpino), unary (one phrase as only child), continuous (no gap).
"""

from __future__ import annotations

from collections.abc import Sequence

from discoparse.evaluation.structure import ScoredNode
from discoparse.tree import Tree, gap_count, interleave

FRONTING, QUESTION, EXTRAPOSITION = "fronting", "fronting in a question", "extraposition"
SPLIT_WORDS, INHERITED, OTHER = "split words", "inherited gap", "other gap"
SEVERAL, SHORT_GAP, MIDDLE_GAP, LONG_GAP = "several gaps", "gap of 1", "gap of 2 to 4", "gap of 5 or more"
ILL_NESTED, COORDINATION, UNARY, CONTINUOUS = "ill-nested", "coordination", "unary", "continuous"

PHENOMENA = (
    FRONTING,
    QUESTION,
    EXTRAPOSITION,
    SPLIT_WORDS,
    INHERITED,
    OTHER,
    SEVERAL,
    SHORT_GAP,
    MIDDLE_GAP,
    LONG_GAP,
    ILL_NESTED,
    COORDINATION,
    UNARY,
    CONTINUOUS,
)


def phenomena(node: ScoredNode, everything: Sequence[ScoredNode], sentence: Tree) -> list[str]:
    """The kinds that a constituent belongs to, given all constituents of its tree."""
    found = []
    if not gap_count(node.mask):
        found.append(CONTINUOUS)
    else:
        found.extend(_gap_kinds(node, everything, sentence))
    if len(node.children) == 1 and not node.own_tokens:
        found.append(UNARY)
    labels = [child.label for child in node.children]
    if any(labels.count(label) > 1 and node.label in (label, f"C{label}", "CONJ") for label in set(labels)):
        found.append(COORDINATION)
    return found


def _gap_kinds(node: ScoredNode, everything: Sequence[ScoredNode], sentence: Tree) -> list[str]:
    found = []
    if gap_count(node.mask) > 1:
        found.append(SEVERAL)
    else:
        kind = _displacement(node)
        found.append(kind)
        if kind == FRONTING and _is_question(sentence):
            found.append(QUESTION)
    size = node.mask.bit_length() - (node.mask & -node.mask).bit_length() + 1 - node.mask.bit_count()
    found.append(SHORT_GAP if size == 1 else MIDDLE_GAP if size < 5 else LONG_GAP)
    apart = [other.mask for other in everything if not other.mask & node.mask]
    if any(interleave(node.mask, mask) for mask in apart):
        found.append(ILL_NESTED)
    return found


def _displacement(node: ScoredNode) -> str:
    """Which side of the only gap was moved away, judged by which side is a single part."""
    low = node.mask & -node.mask
    left = ((node.mask + low) ^ node.mask) & node.mask  # the first block: where adding its lowest bit carries
    right = node.mask & ~left
    if any(child.mask & left and child.mask & right for child in node.children):
        return INHERITED
    phrases = [sum(1 for child in node.children if child.mask & side) for side in (left, right)]
    words = [(node.own_tokens & side).bit_count() for side in (left, right)]
    single_left, single_right = (p + w == 1 for p, w in zip(phrases, words, strict=True))
    if single_left and single_right:
        moved = {(1, 0): FRONTING, (0, 1): EXTRAPOSITION, (0, 0): SPLIT_WORDS}  # a phrase moves from a word
        return moved.get((phrases[0], phrases[1]), OTHER)
    if single_left:
        return FRONTING
    return EXTRAPOSITION if single_right else OTHER


def _is_question(sentence: Tree) -> bool:
    """Whether a question mark is among the last three tokens (quotation marks and brackets may follow it)."""
    return "?" in sentence.words[-3:]
