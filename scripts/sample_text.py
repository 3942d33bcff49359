"""Draw sentences from tokenized text, for a teacher to parse.

    python scripts/sample_text.py TEXT/en/*.txt.gz --sentences 80000 > sample.txt

A line of a file is a sentence, its tokens between spaces. Every file gives the same number as far as it has them, so
that large ones do not crowd out the others; sentences of fewer than 5 or more than 40 tokens are not drawn.
"""

from __future__ import annotations

import argparse
import gzip
import random
import sys
from collections.abc import Sequence
from pathlib import Path

SHORTEST, LONGEST = 5, 40  # tokens


def sample(files: Sequence[Path], count: int, seed: int) -> list[str]:
    """The sentences that were drawn, in random order."""
    random_numbers = random.Random(seed)
    stocks = []
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") as stream:
            stocks.append([line for line in stream if SHORTEST <= len(line.split()) <= LONGEST])
    drawn: list[str] = []
    for left, stock in zip(range(len(files), 0, -1), sorted(stocks, key=len), strict=True):
        drawn += random_numbers.sample(stock, min(len(stock), (count - len(drawn)) // left))
    random_numbers.shuffle(drawn)
    return drawn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="tokenized text, compressed with gzip")
    parser.add_argument("--sentences", type=int, default=80_000, help="to draw in all [80000]")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    sys.stdout.writelines(sample(options.files, options.sentences, options.seed))


if __name__ == "__main__":
    main()
