"""Pretraining from Python: `pretrain` takes text files and leaves an encoder in a directory, as the command does."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import torch

from discoparse.errors import DiscoparseError, UsageError, did_you_mean
from discoparse.files import printable, replace_file
from discoparse.model.info import ModelInfo
from discoparse.neural.device import choose_device, training_threads
from discoparse.pretraining.corpus import TextCorpus, prepare_corpus
from discoparse.pretraining.pieces import PieceTask, learn_pieces
from discoparse.pretraining.reading import Splitting
from discoparse.pretraining.recipe import RECIPES, PieceRecipe, WordRecipe
from discoparse.pretraining.session import PretrainingOutcome, PretrainingSession
from discoparse.pretraining.task import Task
from discoparse.pretraining.words import WordTask
from discoparse.training.output import open_output
from discoparse.training.stopping import Clock, Interruption
from discoparse.training.threads import using_threads

_TEXT, _TOKENIZER = "text", "tokenizer.json"  # in the output directory


def pretrain(
    text: Sequence[str],
    output: str | Path,
    recipe: WordRecipe | PieceRecipe | str = "bilstm",
    *,
    vocabulary: Iterable[str] = (),
    language: str | None = None,
    pretokenized: bool = False,
    lines: bool = False,
    cache: str | Path | None = None,
    device: str | torch.device = "auto",
    seed: int = 1,
    minutes: float | None = None,
    threads: int | None = None,
    resume: bool = False,
    info: Callable[[TextCorpus], ModelInfo] | None = None,
    show_progress: bool = True,
    started: float | None = None,
    told: Callable[[int], None] = lambda words: None,
    notice: Callable[[str], None] = lambda message: None,
) -> PretrainingOutcome:
    """Train an encoder to guess hidden words of text files, and leave it in `output`.

    Words of `vocabulary` that occur in the text get an embedding however rare they are. Sentences are split as in
    `language`; with `pretokenized` each line is one, its words between spaces; with `lines` each line ends one. The
    text is kept as numbers in `cache`, by default within `output`, for other runs on the same text. `info` makes what
    the encoder says about itself; `told` hears how many words were read, `notice` of bytes that are not UTF-8. All else
    is as in `discoparse.training.train`.
    """
    output = Path(output)
    if isinstance(recipe, str):
        if recipe not in RECIPES:
            hint = did_you_mean(recipe, RECIPES)
            raise UsageError(f"unknown recipe {recipe!r}: choose one of {', '.join(RECIPES)}.{hint}")
        recipe = RECIPES[recipe]
    recipe = recipe.checked()
    chosen = choose_device(device) if isinstance(device, str) else device
    cores = threads or training_threads()
    clock = Clock(minutes, started)
    folder = output / _TEXT
    with open_output(output, resume) as state, using_threads(cores):
        splitting = Splitting(language, pretokenized, lines)
        corpus = prepare_corpus(Path(cache or folder), text, splitting, threads or os.cpu_count() or 1, told, notice)
        if len(corpus.lengths) < 2:
            raise DiscoparseError("the text has one sentence: too little, since one is held out and none would be left")
        torch.manual_seed(seed)
        task: Task
        if isinstance(recipe, WordRecipe):
            task = WordTask(recipe, corpus, vocabulary, chosen, seed)
        else:
            folder.mkdir(exist_ok=True)
            task = PieceTask(recipe, corpus, folder, _tokenizer(folder, corpus, recipe, state), chosen, seed)
        about = info(corpus) if info is not None else ModelInfo(printable(output.resolve().name), language=language)
        limited = minutes is not None
        session = PretrainingSession(task, recipe, output, chosen, seed, about, corpus.fingerprint, limited)
        if state is not None:
            session.resume(state, clock)
        with Interruption() as interruption:
            return session.run(clock, interruption, show_progress)


def _tokenizer(folder: Path, corpus: TextCorpus, recipe: PieceRecipe, state: Path | None) -> str:
    """The pieces of this pretraining: those that it began with, or new ones."""
    path = folder / _TOKENIZER
    if state is not None and path.exists():
        return path.read_text(encoding="utf-8")
    tokenizer = learn_pieces(corpus, recipe.pieces)
    replace_file(path, tokenizer.encode())
    return tokenizer
