"""Two models side by side on sentences of one's own, judged without knowing which tree is whose.

    python scripts/blind_trial.py sheet sentences.txt OLD NEW --seed 7 > trial.sheet        (one sentence per line)
    python scripts/blind_trial.py resolve trial.sheet [trial.sheet …]

In the sheet, the two trees of a sentence are called A and B, in an order that depends on the seed. What only one of
them has is listed below; trees that are the same appear once, as AB. After each `verdict:` the reader writes one of

    both right, A right, B right      wholly right, tags included; a tree that is not named is wrong
    both wrong, A better, B better    neither is right; equally bad, or one of them is closer to the truth

and anything after `note:`. `resolve` gives the trees back to their models: how many are right, in how many sentences
each model was better, the two-sided p value of a sign test on these (ties left out), and what differs.
"""

from __future__ import annotations

import math
import random
import re
import sys
from collections import Counter
from pathlib import Path

import click

from discoparse import DiscoparseError, Tree, load

VERDICTS = ("both right", "both wrong", "A right", "B right", "A better", "B better")


def old_is_a(seed: int, sentence: str) -> bool:
    """The key. There is no file with it, and it does not depend on the other sentences of the sheet."""
    return random.Random(f"{seed} {sentence}").random() < 0.5


def parts(trees: list[Tree]) -> Counter[str]:
    """The constituents and tags of a sentence, in words."""
    nodes = [f"{node.label} [{node.text}]" for tree in trees for node in tree.preorder()]
    return Counter(nodes + [f"{token.tag} {token.word}" for tree in trees for token in tree.tokens])


def entry(sentence: str, a: list[Tree], b: list[Tree]) -> str:
    """One sentence of a sheet; a line of text may have been split into several sentences."""
    lines = [f"## {sentence}"]
    if a == b:
        lines.append(f"AB: {' '.join(map(str, a))}")
    else:
        lines += [f"{name}: {' '.join(map(str, trees))}" for name, trees in (("A", a), ("B", b))]
        for name, more in (("A", parts(a) - parts(b)), ("B", parts(b) - parts(a))):
            lines.append(f"only {name}: {'; '.join(more.elements())}")
    return "\n".join([*lines, "verdict:", "note:", ""])


def read_verdicts(path: Path) -> list[tuple[str, str, str]]:
    """The sentences of a sheet, each with the verdict, in terms of old and new, and the note."""
    head, *entries = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    seed = re.match(r"# seed: (\d+)\n", head)
    if not seed:
        raise DiscoparseError(f"{path} is not a sheet of this script: its first line must be '# seed: N'")
    found = []
    for one in entries:
        sentence, _, rest = one.partition("\n")
        fields = dict(line.partition(":")[::2] for line in rest.splitlines() if ":" in line)
        verdict = fields.get("verdict", "").strip()
        if verdict not in VERDICTS or ("AB" in fields and not verdict.startswith("both")):
            choice = ", ".join(VERDICTS[:2] if "AB" in fields else VERDICTS)
            raise DiscoparseError(f"{path}: the verdict on {sentence!r} is {verdict!r}, not one of {choice}")
        names = ("old", "new") if old_is_a(int(seed[1]), sentence) else ("new", "old")
        for letter, name in zip("AB", names, strict=True):
            verdict = verdict.replace(f"{letter} ", f"{name} ")
        found.append((sentence, verdict, fields.get("note", "").strip()))
    return found


def sign_test(old: int, new: int) -> float:
    """The probability of a split at least as uneven, if either model is equally likely to be the better one."""
    n = old + new
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(max(old, new), n + 1)) / 2**n)


@click.group()
def main() -> None:
    pass


@main.command()
@click.argument("sentences", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("old")
@click.argument("new")
@click.option("--seed", default=1, show_default=True, help="Decides which tree is A.")
def sheet(sentences: Path, old: str, new: str, seed: int) -> None:
    """Print the sheet of SENTENCES, parsed with the models OLD and NEW."""
    lines = [line for line in sentences.read_text(encoding="utf-8").splitlines() if line.strip()]
    trees = zip(*(load(model).parse(lines, lines=True) for model in (old, new)), strict=True)
    print(f"# seed: {seed}\n")
    for line, pair in zip(lines, trees, strict=True):
        print(entry(line, *(pair if old_is_a(seed, line) else pair[::-1])))


@main.command()
@click.argument("sheets", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def resolve(sheets: tuple[Path, ...]) -> None:
    """Count the verdicts of SHEETS."""
    for path in sheets:
        judged = read_verdicts(path)
        said = Counter(verdict for _, verdict, _ in judged)
        old, new = (said[f"{name} right"] + said[f"{name} better"] for name in ("old", "new"))
        right = [said["both right"] + said[f"{name} right"] for name in ("old", "new")]
        print(
            f"{path.name}: {len(judged)} sentences; right: old {right[0]}, new {right[1]}; "
            f"better: old {old}, new {new}, p = {sign_test(old, new):.2f}"
        )
        for sentence, verdict, note in judged:
            if not verdict.startswith("both"):
                print(f"  {verdict}: {sentence} {f'({note})' if note else ''}".rstrip())


if __name__ == "__main__":
    try:
        main()
    except DiscoparseError as error:
        sys.exit(f"Error: {error}")
