"""The words under a tree: as the treebank has them or as they are written in running text, with glosses below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discoparse.drawing.options import Options
from discoparse.errors import DiscoparseError
from discoparse.transform.spelling import plain_word
from discoparse.tree import Token, Tree

CLITIC = "$"  # where IcePaHC splits a word: kennar$ $inn is written kennarinn


@dataclass(frozen=True)
class Word:
    """What is written under the tokens from `first` to `last`, mostly one."""

    first: int
    last: int
    text: str
    gloss: str | None = None


def words_of(tree: Tree, options: Options, source: Tree, kept: Sequence[int | None]) -> list[Word]:
    """The words of a tree from left to right. `kept` has the place of its tokens in the sentence `source`, None for
    what stands for a gap.

    >>> from discoparse.treebank.discbracket import parse_tree
    >>> tree = parse_tree("(NP (N 0=kennar$) (D 1=$inn) (-LRB- 2=-LRB-))")
    >>> [word.text for word in words_of(tree, Options(surface=True), tree, [0, 1, 2])]
    ['kennarinn', '(']
    """
    groups: list[list[int]] = []
    for i, token in enumerate(tree.tokens):
        if options.surface and i and _is_split(tree.tokens[i - 1].word, token.word):
            groups[-1].append(i)
        else:
            groups.append([i])
    texts = [_text([tree.tokens[i] for i in group], options.surface) for group in groups]
    glosses = _glosses(tree, groups, options.gloss, source, kept)
    return [Word(group[0], group[-1], text, gloss) for group, text, gloss in zip(groups, texts, glosses, strict=True)]


def _is_split(word: str, following: str) -> bool:
    return len(word) > 1 < len(following) and word.endswith(CLITIC) and following.startswith(CLITIC)


def _text(tokens: Sequence[Token], surface: bool) -> str:
    if not surface:
        return tokens[0].word
    if len(tokens) == 1:
        return plain_word(tokens[0].word)
    middle = (token.word[1:-1] for token in tokens[1:-1])
    return "".join([tokens[0].word[:-1], *middle, tokens[-1].word[1:]])


def _glosses(
    tree: Tree,
    groups: Sequence[Sequence[int]],
    wanted: str | Sequence[str] | None,
    source: Tree,
    kept: Sequence[int | None],
) -> Sequence[str | None]:
    """A gloss for each group of tokens that is one word; the glosses of its tokens are joined by hyphens."""
    if wanted is None:
        return [None] * len(groups)
    if isinstance(wanted, str):
        if not any(_field(token, wanted) for token in source.tokens):
            raise DiscoparseError(f"no token has {wanted!r} to show as a gloss: does the treebank have it?")
        of_token = [_field(token, wanted) for token in tree.tokens]
    else:
        real = [group for group in groups if kept[group[0]] is not None]
        if len(wanted) == len(source):
            of_token = [wanted[i] if i is not None else "" for i in kept]
        elif len(wanted) == sum(map(len, real)):
            rest = iter(wanted)
            of_token = [next(rest) if i is not None else "" for i in kept]
        elif len(wanted) == len(real):
            rest = iter(wanted)
            return [next(rest) if kept[group[0]] is not None else "" for group in groups]
        else:
            shown = f" ({len(real)} words of it drawn)" if len(real) < len(source) else ""
            raise DiscoparseError(
                f"there are {len(wanted)} glosses for {len(source)} tokens{shown}: {' '.join(source.words)}"
            )
    return ["-".join(filter(None, (of_token[i] for i in group))) for group in groups]


def _field(token: Token, name: str) -> str:
    """A gloss that the treebank has: the lemma, the morphology, or another feature of a token."""
    fields = {"lemma": token.lemma, "morph": token.morph}
    return (fields[name] if name in fields else token.features.get(name)) or ""


def joined(words: Sequence[Word], first: int, last: int) -> list[Word]:
    """The same words, but those of the tokens from `first` to `last` as one line, if they make up whole words."""
    inside = [word for word in words if first <= word.first <= word.last <= last]
    if (inside[0].first, inside[-1].last) != (first, last) if inside else True:
        return list(words)
    line = Word(first, last, " ".join(word.text for word in inside))
    return [*(w for w in words if w.last < first), line, *(w for w in words if w.first > last)]


def split_glosses(line: str) -> list[str]:
    """The glosses in a line, separated by tabs if it has any, otherwise by blanks.

    >>> split_glosses("I\\tgave up\\t\\n"), split_glosses("I see it\\n")
    (['I', 'gave up', ''], ['I', 'see', 'it'])
    """
    line = line.rstrip("\r\n")
    return line.split("\t") if "\t" in line else line.split()
