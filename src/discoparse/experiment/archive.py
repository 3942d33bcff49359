"""Runs to publish: what a report needs of them, without the words of the treebank, which may not be passed on.

In an archive, predictions have `HIDDEN` for every word; a report puts the words of the gold trees in their places, so
it needs the treebank. An archive is laid out as the directory of an experiment (see `plan`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

from discoparse.errors import DiscoparseError
from discoparse.experiment.epochs import COUNTS
from discoparse.experiment.plan import METRICS, FinishedRun, Progress, Treebank, finished_runs, prediction_path
from discoparse.experiment.speed import speed_files
from discoparse.files.atomic import replace_file
from discoparse.training.recipe import ORACLES
from discoparse.tree import Tree
from discoparse.treebank import read_trees, write_trees

HIDDEN = "_"


def archive_runs(treebanks: Sequence[Treebank], output: Path, archive: Path, progress: Progress) -> None:
    """Put the finished runs on some treebanks into an archive; runs that it has already are replaced."""
    for treebank in treebanks:
        source, target = output / treebank.name, archive / treebank.name
        runs = finished_runs(source, ORACLES)
        for run in runs:
            _archive(run, target / run.run.name)
        for path in speed_files(source):
            replace_file(target / path.name, path.read_bytes())
        progress(f"{target}: {len(runs)} runs without the words of {treebank.name}")


def _archive(run: FinishedRun, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("dev", "test"):
        if run.predictions(part).exists():
            write_trees(_hide_words(read_trees(run.predictions(part))), prediction_path(folder, part))
    for name in (COUNTS, METRICS):  # metrics.json last: it says that the run is finished
        if (run.directory / name).exists():
            replace_file(folder / name, (run.directory / name).read_bytes())


def _hide_words(trees: Iterator[Tree]) -> Iterator[Tree]:
    for tree in trees:
        tree.tokens = [dataclasses.replace(token, word=HIDDEN) for token in tree.tokens]
        yield tree


def predicted_trees(run: FinishedRun, part: str, gold: Sequence[Tree]) -> list[Tree]:
    """The predictions of a run for a part of its treebank, with their words."""
    path = run.predictions(part)
    trees = list(read_trees(path))
    if any(token.word != HIDDEN for tree in trees for token in tree.tokens):
        return trees
    if list(map(len, trees)) != list(map(len, gold)):
        raise DiscoparseError(f"{path} has trees of other sentences than {part}: is this the treebank of the runs?")
    for tree, words in zip(trees, gold, strict=True):
        tree.tokens = [
            dataclasses.replace(token, word=given.word) for token, given in zip(tree.tokens, words.tokens, strict=True)
        ]
    return trees
