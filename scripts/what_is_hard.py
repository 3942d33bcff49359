"""The tables of research/what-is-hard.md, and samples of errors to read.

python scripts/what_is_hard.py tables de=DATA/de_pcc nl=DATA/nl_alpino …    MODEL=DIRECTORY of a treebank, with dev
python scripts/what_is_hard.py errors de=DATA/de_pcc [--count 50 --seed 22]

`tables` scores discontinuous constituents by kind, gap degree and length of the gap. `errors` draws discontinuous
constituents at random that were missed or predicted in error, and prints each with its nearest counterpart; for those
missed, also what their first and last blocks are attached to instead.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from discoparse import evaluate, load
from discoparse.evaluation import CLASSIFIERS, Result, break_down
from discoparse.evaluation.brackets import Bracket, cut_label
from discoparse.evaluation.breakdown import matched_flags
from discoparse.evaluation.counts import ScoredSentence
from discoparse.evaluation.discontinuity import recognise_scheme
from discoparse.experiment.plan import find_treebank
from discoparse.experiment.tables import Cell, Table, markdown
from discoparse.tree import blocks, gap_count

GROUPINGS = {"discontinuity": "kind", "gap-degree": "gap degree", "gap-length": "tokens in the gaps"}
_AROUND = 4  # tokens shown on either side of a constituent


def parsed(pair: str) -> tuple[str, str, Result]:
    """The names of the model and of the treebank of MODEL=DIRECTORY, and the model's result on dev."""
    model, separator, directory = pair.partition("=")
    if not separator:
        raise click.UsageError(f"{pair}: give MODEL=DIRECTORY")
    gold = find_treebank(directory).trees("dev")
    trees = load(model, device="cpu").parse_tokens([tree.words for tree in gold])
    return model, Path(directory).resolve().name, evaluate(gold, trees)


@click.group()
def cli() -> None:
    """What is hard for the models."""


@cli.command()
@click.argument("pairs", nargs=-1, required=True, metavar="MODEL=DIRECTORY...")
def tables(pairs: Sequence[str]) -> None:
    """Scores of discontinuous constituents by kind, gap degree and length of the gap."""
    results = [parsed(pair) for pair in pairs]
    rows: list[list[Cell]] = []
    for model, treebank, result in results:
        disc, whole = result.all.disc, result.all
        scheme = recognise_scheme(sentence.gold for sentence in result.sentences).name
        rows.append(
            [model, treebank, scheme, whole.f1, disc.gold, disc.predicted, disc.recall, disc.precision, disc.f1]
        )
    heads = ["model", "treebank", "scheme", "F1", "gold", "predicted", "recall", "precision", "disc. F1"]
    print(markdown(Table("all", "All discontinuous constituents of dev", heads, rows, text_columns=3)), end="\n\n")
    for by, name in GROUPINGS.items():
        rows = []
        for model, treebank, result in results:
            for group in break_down(result, by):
                if group.group != "0":  # no gap
                    scores = [group.recall, group.precision, group.f1]
                    rows.append([model, treebank, group.group, group.gold, group.predicted, *scores])
        heads = ["model", "treebank", name, "gold", "predicted", "recall", "precision", "F1"]
        print(markdown(Table(by, f"By {name}", heads, rows, text_columns=3)), end="\n\n")


@cli.command()
@click.argument("pair", metavar="MODEL=DIRECTORY")
@click.option("--count", default=50, show_default=True, help="Errors to print.")
@click.option("--seed", default=22, show_default=True, help="Of the sample.")
def errors(pair: str, count: int, seed: int) -> None:
    """A random sample of missed and wrongly predicted discontinuous constituents."""
    _, _, result = parsed(pair)
    classify = CLASSIFIERS["discontinuity"](result)
    found = [(s, k, missed) for s in result.sentences for k, missed in _wrong(s)]
    for number, (sentence, k, missed) in enumerate(random.Random(seed).sample(found, min(count, len(found))), 1):
        ours, theirs = sentence.gold_brackets, sentence.predicted_brackets
        tree = sentence.gold if missed else sentence.predicted
        if not missed:
            ours, theirs = theirs, ours
        assert tree is not None
        kinds = ", ".join(classify(sentence, tree, ours)[k])
        what = "missed" if missed else "predicted in error"
        print(f"{number}. sentence {sentence.number + 1}: {ours[k][0]} {what} ({kinds})")
        print(f"   {'gold' if missed else 'predicted'}  {_shown(sentence, ours[k], ours[k][1])}")
        near = _nearest(ours[k], theirs)
        if near is not None:
            print(f"   {'predicted' if missed else 'gold'}  {near[0]} {_shown(sentence, near, ours[k][1])}")
        for where in _attachments(ours[k], theirs) if missed else []:
            print(f"   attached below {where[0]} {_shown(sentence, where, ours[k][1])}")
        print(f"   {_tag_errors(sentence)}", end="\n\n")


def _wrong(sentence: ScoredSentence) -> Iterator[tuple[int, bool]]:
    """Positions of wrong discontinuous brackets, gold ones (True) and predicted ones."""
    pair = sentence.gold_brackets, sentence.predicted_brackets
    for ours, theirs, missed in ((*pair, True), (*pair[::-1], False)):
        for k, right in enumerate(matched_flags(ours, theirs)):
            if not right and gap_count(ours[k][1]):
                yield k, missed


def _nearest(bracket: Bracket, others: Sequence[Bracket]) -> Bracket | None:
    """The bracket with the most similar yield, the same label first."""

    def likeness(other: Bracket) -> tuple[float, bool]:
        return (bracket[1] & other[1]).bit_count() / (bracket[1] | other[1]).bit_count(), bracket[0] == other[0]

    return max(
        others, key=lambda other: (other[0] == bracket[0] and likeness(other)[0] > 0.3, likeness(other)), default=None
    )


def _attachments(bracket: Bracket, others: Sequence[Bracket]) -> list[Bracket]:
    """Where the first and the last block of a constituent are attached in the other tree: the smallest that is more."""
    found = []
    for first, last in (blocks(bracket[1])[0], blocks(bracket[1])[-1]):
        block = (1 << last + 1) - (1 << first)
        above = [other for other in others if other[1] & block == block != other[1]]
        found.extend(sorted(above, key=lambda other: other[1].bit_count())[:1])
    return found


def _shown(sentence: ScoredSentence, bracket: Bracket, around: int) -> str:
    """The words from shortly before to shortly after a yield, those of the bracket in brackets."""
    words = {bit: token.word for token, bit in zip(sentence.gold.tokens, sentence.gold_bits, strict=True) if bit}
    both = around | bracket[1]
    first = max(0, (both & -both).bit_length() - 1 - _AROUND)
    shown = []
    for place in range(first, min(len(words), both.bit_length() + _AROUND)):
        word = words[1 << place]
        shown.append(f"[{word}]" if bracket[1] >> place & 1 else word)
    return " ".join(shown)


def _tag_errors(sentence: ScoredSentence) -> str:
    """Words with another tag than in the gold tree."""
    assert sentence.predicted is not None
    pairs = zip(sentence.gold.tokens, sentence.predicted.tokens, strict=True)
    wrong = [f"{g.word} {g.tag}>{p.tag}" for g, p in pairs if cut_label(g.tag)[0] != cut_label(p.tag)[0]]
    return "tags: " + ("; ".join(wrong) or "right")


if __name__ == "__main__":
    cli()
