"""How much accuracy parsers lose on damaged text: typos, emoji, letters and whole words in another script.

    python scripts/robustness.py dev.discbracket.gz MODEL [MODEL …] [--share 2 5 10] [--seeds 3] [--json]

A share (in percent) of the letters of a treebank is replaced, the same ones for every model, and the models' trees are
scored against the gold trees. So a model that was trained with unknown characters (`--set unk_characters=0.15`, the
default of `fast`) is compared with one that was not (`--set unk_characters=0`) in one command. Letters of the other
script and emoji are those that none of the models knows.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from discoparse import Parser, Tree, evaluate, load, read_trees

SCRIPTS = "абвгдежзийклмнопрстуфхцчшщъыьэюяαβγδεζηθικλμνξοπρστυφχψωაბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰ"
EMOJI = "😀😂😉😍😎😢😡👍👎👏🙏💪🎉🔥⭐🚀🐶🐱🌍☕"
METRICS = ("f1", "disc_f1", "pos")

Damage = Callable[[str, float, random.Random], str]


def replace(letters: str) -> Damage:
    """Each letter of a word gives way to one of these with the probability `share`."""

    def damage(word: str, share: float, chance: random.Random) -> str:
        return "".join(chance.choice(letters) if c.isalpha() and chance.random() < share else c for c in word)

    return damage


def rewrite(letters: str) -> Damage:
    """All letters of a word give way to these, or none: words in another script."""

    def damage(word: str, share: float, chance: random.Random) -> str:
        return replace(letters)(word, 1.0, chance) if chance.random() < share else word

    return damage


def mistype(letters: str) -> Damage:
    """At a letter, with the probability `share`: it is left out, doubled, swapped with the next one, or another one."""

    def damage(word: str, share: float, chance: random.Random) -> str:
        typed, k = "", 0
        while k < len(word):
            c, following = word[k], word[k + 1 : k + 2]
            kind = chance.choice(["omit", "double", "swap", "other"])
            k += 1
            if not c.isalpha() or chance.random() >= share:
                typed += c
            elif kind == "double":
                typed += c + c
            elif kind == "swap" and following:
                typed += following + c
                k += 1
            elif kind == "other":
                typed += chance.choice(letters)
            elif kind == "swap":
                typed += c
        return typed or word  # a word keeps at least one character

    return damage


def damages(own: set[str], known: set[str]) -> dict[str, Damage]:
    """Each kind of damage by name; `own` are the letters of the treebank, `known` those of the models."""
    foreign = "".join(c for c in SCRIPTS if c not in known)
    emoji = "".join(c for c in EMOJI if c not in known)
    return {
        "letters of another script": replace(foreign),
        "emoji": replace(emoji),
        "typos": mistype("".join(sorted(own))),
        "words in another script": rewrite(foreign),
    }


def damaged(trees: Sequence[Tree], damage: Damage, share: float, seed: int) -> list[Tree]:
    """Copies of the trees with other words."""
    chance = random.Random(seed)
    copies = [tree.copy() for tree in trees]
    for tree in copies:
        for token in tree.tokens:
            token.word = damage(token.word, share, chance)
    return copies


def measure(parser: Parser, gold: Sequence[Tree]) -> dict[str, float]:
    scores = evaluate(gold, parser.parse_tokens([tree.words for tree in gold])).all
    return {"f1": scores.f1 or 0.0, "disc_f1": scores.disc.f1 or 0.0, "pos": scores.pos_accuracy or 0.0}


def compare(
    trees: Sequence[Tree], parsers: dict[str, Parser], shares: Sequence[float], seeds: int
) -> list[dict[str, Any]]:
    """A row for each kind of damage and share, with the mean scores of each parser over the seeds."""
    own = {c for tree in trees for word in tree.words for c in word if c.isalpha()}
    known = {c for parser in parsers.values() for c in parser.vocabulary.characters}
    rows = [{"damage": "none", "percent": 0.0, **{name: measure(parser, trees) for name, parser in parsers.items()}}]
    for kind, damage in damages(own, known).items():
        for percent in shares:
            texts = [damaged(trees, damage, percent / 100, seed) for seed in range(1, seeds + 1)]
            row: dict[str, Any] = {"damage": kind, "percent": percent}
            for name, parser in parsers.items():
                found = [measure(parser, text) for text in texts]
                row[name] = {metric: statistics.fmean(scores[metric] for scores in found) for metric in METRICS}
            rows.append(row)
    return rows


def table(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> str:
    """As Markdown: F1 / discontinuous F1 / tagging accuracy of each model."""
    lines = [f"| damage | % | {' | '.join(names)} |", "| --- | --- |" + " --- |" * len(names)]
    for row in rows:
        cells = [" / ".join(f"{row[name][metric]:.1f}" for metric in METRICS) for name in names]
        lines.append(f"| {row['damage']} | {row['percent']:g} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("treebank", help="gold trees, in any format that discoparse reads")
    options.add_argument("models", nargs="+", metavar="MODEL", help="directories or names of models")
    options.add_argument("--share", nargs="+", type=float, default=[2.0, 5.0, 10.0], help="percent of the letters")
    options.add_argument("--seeds", type=int, default=3, help="texts for each kind and share")
    options.add_argument("--json", action="store_true", help="print all figures as JSON")
    chosen = options.parse_args(arguments)
    parsers = {model: load(model) for model in chosen.models}
    rows = compare(list(read_trees(chosen.treebank)), parsers, chosen.share, chosen.seeds)
    print(json.dumps(rows, indent=2) if chosen.json else table(rows, chosen.models))


if __name__ == "__main__":
    main()
