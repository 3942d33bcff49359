"""`discoparse stats`: count what is in a treebank."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Any

import click

from discoparse.cli.options import ReadingOptions, reading_options, with_progress
from discoparse.files.text_table import text_table
from discoparse.system.derivation_lengths import DerivationStatistics, derivation_statistics, format_statistics
from discoparse.treebank import Statistics


@click.command("stats")
@click.argument("files", nargs=-1, required=True)
@reading_options
@click.option("--derivations", is_flag=True, help="Also report lengths of derivations and sizes of the memory.")
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="How many labels, tags and unary chains to list.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(files: tuple[str, ...], reading: ReadingOptions, derivations: bool, top: int, as_json: bool) -> None:
    """Count sentences, tokens, labels, tags, lengths and discontinuities in treebank FILES.

    FILES may be directories, or - for standard input. Constituents are all nodes above the part-of-speech
    tags, the root included.
    """
    statistics = Statistics()
    trees = statistics.watching(with_progress(reading.trees(files)))
    derived: DerivationStatistics | None = None
    if derivations:
        derived = derivation_statistics(trees)
    else:
        for _ in trees:
            pass
    if as_json:
        data = statistics.to_json() | ({"derivations": derived.to_json()} if derived else {})
        click.echo(json.dumps(data, ensure_ascii=False, indent=2))
        return
    click.echo(text_table(list(_rows(statistics, top)), gap=" "))
    if derived:
        click.echo(f"\n{format_statistics(derived)}")


def _rows(statistics: Statistics, top: int) -> Iterable[tuple[str, str]]:
    """The table as it is printed: name and value."""
    yield "sentences", f"{statistics.sentences:,}"
    yield "tokens", f"{statistics.tokens:,}"
    yield "word types", f"{len(statistics.words):,}"
    lengths = statistics.length_summary()
    if lengths:
        shown = "min {min:g}, mean {mean:.1f}, median {median:g}, max {max:g}".format(**lengths)
        yield "sentence lengths", shown
    yield "constituents", f"{statistics.constituents:,}"
    trees = _share(statistics.discontinuous_trees, statistics.sentences)
    yield "discontinuous trees", trees
    yield "discontinuous constituents", _share(statistics.discontinuous_constituents, statistics.constituents)
    yield "ill-nested trees", _share(statistics.ill_nested_trees, statistics.sentences)
    yield "gap degrees of trees", _degrees(statistics.tree_gap_degrees)
    yield "gap degrees of constituents", _degrees(statistics.gap_degrees)
    yield "secondary edges", f"{statistics.secondary_edges:,}"
    yield "labels", _most_common(statistics.labels, top)
    yield "discontinuous labels", _most_common(statistics.discontinuous_labels, top)
    yield "tags", _most_common(statistics.tags, top)
    yield "unary chains", f"{statistics.unary_chains.total():,}; {_most_common(statistics.unary_chains, top)}"


def _share(part: int, whole: int) -> str:
    return f"{part:,} ({100 * part / whole:.1f}%)" if whole else "0"


def _degrees(counts: Counter[int]) -> str:
    return ", ".join(f"{degree}: {counts[degree]:,}" for degree in sorted(counts))


def _most_common(counts: Counter[Any], top: int) -> str:
    listed: list[tuple[Hashable, int]] = counts.most_common(top)
    shown = ", ".join(f"{name} {count:,}" for name, count in listed)
    return f"{len(counts):,} kinds: {shown}{', …' if len(counts) > top else ''}" if counts else "none"
