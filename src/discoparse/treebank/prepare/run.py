"""Making the sets of a treebank: written, checked against the published counts, then put in place."""

from __future__ import annotations

import os

from discoparse.errors import DiscoparseError, UsageError
from discoparse.files import replacing_together
from discoparse.treebank import Report, write_trees
from discoparse.treebank.prepare.reader import Reader
from discoparse.treebank.prepare.sources import SPLITS
from discoparse.treebank.prepare.splits import STANDARD_SPLITS

ENDINGS = {"export3": "export"}


def prepare(
    treebank: str,
    source: str,
    folder: str,
    *,
    reader: Reader | None = None,
    format: str = "discbracket",
    force: bool = False,
    report: Report | None = None,
) -> dict[str, int]:
    """Write train, dev and test of a treebank into a folder; the numbers of their sentences.

    Where they are not the published ones, nothing is written and `DiscoparseError` says so, unless `force`.
    """
    if treebank not in STANDARD_SPLITS:
        raise UsageError(f"unknown treebank {treebank!r}: choose from {', '.join(STANDARD_SPLITS)}")
    if not os.path.exists(source):
        raise UsageError(f"{source} does not exist")
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise UsageError(f"{folder} is a file: name a folder for the sets")
    counts = dict.fromkeys(SPLITS, 0)
    with replacing_together(folder) as unfinished:
        for split, trees in STANDARD_SPLITS[treebank].parts(source, reader or Reader()):
            counts[split] = write_trees(trees, unfinished / file_name(split, format), format, report=report)
        if not force:
            check_counts(treebank, counts)
        elif not any(counts.values()):
            raise DiscoparseError(f"{source} has no sentence of any of the {treebank} sets. Nothing was written")
    return counts


def file_name(split: str, format: str) -> str:
    """The name of the file of a set.

    >>> file_name("dev", "export3")
    'dev.export'
    """
    return f"{split}.{ENDINGS.get(format, format)}"


def check_counts(treebank: str, counts: dict[str, int]) -> None:
    """Compare with the published numbers of sentences."""
    published = STANDARD_SPLITS[treebank].counts
    wrong = [
        f"{split} has {counts[split]:,} sentences, not {published[split]:,}"
        for split in SPLITS
        if counts[split] != published.get(split, counts[split])
    ]
    if wrong:
        raise DiscoparseError(
            f"the {treebank} sets are not those of the literature: {'; '.join(wrong)}. Nothing was written. "
            "Is the source complete, and the right release? --force writes what there is"
        )
