"""Learn which Icelandic words IcePaHC splits, for `clitics`.

`python scripts/learn_clitics.py TREEBANK > src/discoparse/text/clitics.is.txt` makes the table anew.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from discoparse.text.clitics import LONGEST, WHOLE
from discoparse.treebank import read_trees

MIN_WORDS = 3  # an ending must have been seen on so many words


def learn(words: Iterable[tuple[str, ...]]) -> dict[str, int]:
    """The table for words given in their pieces: endings that decide otherwise than the next shorter one."""
    counts: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for pieces in words:
        counts["".join(pieces).lower()][len(pieces[-1]) if len(pieces) > 1 else 0] += 1
    endings: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for word, lengths in counts.items():
        for start in range(max(0, len(word) - LONGEST), len(word)):
            endings[word[start:]].update(dict.fromkeys(lengths, 1))
    table: dict[str, int] = {}
    decisions = {"": 0}
    for ending in sorted(endings, key=len):
        shorter = decisions[ending[1:]]
        seen = endings[ending]
        best = max(seen, key=lambda length: (seen[length], length == shorter))
        enough = seen.total() >= MIN_WORDS and seen[best] * 2 > seen.total()
        decisions[ending] = best if enough else shorter
        if decisions[ending] != shorter:
            table[ending] = decisions[ending]
    for word, lengths in counts.items():
        best = lengths.most_common(1)[0][0]
        if best != decisions[word[-LONGEST:]]:
            table[WHOLE + word] = best
    return table


def _pieces(tokens: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Words in their pieces: a token that ends in `$` goes on in the next, which starts with one."""
    pieces: list[str] = []
    for token in tokens:
        goes_on = len(token) > 1 and token.endswith("$")
        pieces.append(token.strip("$") if len(token) > 1 else token)
        if not goes_on:
            yield tuple(pieces)
            pieces = []


def main(path: str) -> None:
    """Learn the table from a treebank file and write it to standard output."""
    table = learn(word for tree in read_trees(path) for word in _pieces(tree.words))
    print("# Length of the clitic, and the endings that have it; learnt from IcePaHC (CC BY 4.0).")
    for length in sorted(set(table.values())):
        print(length, " ".join(sorted(ending for ending in table if table[ending] == length)), sep="\t")


if __name__ == "__main__":
    main(sys.argv[1])
