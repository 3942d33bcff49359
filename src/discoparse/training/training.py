"""Training from Python: `train` takes trees and leaves a model in a directory, as `discoparse train` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from discoparse.errors import DiscoparseError, UsageError, did_you_mean
from discoparse.files import printable
from discoparse.model.info import ModelInfo
from discoparse.neural.device import choose_device, training_threads
from discoparse.parser.tokens import LONGEST_SENTENCE
from discoparse.training.checkpoint import Checkpoint
from discoparse.training.output import open_output
from discoparse.training.recipe import RECIPES, Recipe, default_recipe
from discoparse.training.session import Outcome, Session, Watch
from discoparse.training.starting_encoder import read_encoder
from discoparse.training.starting_point import StartingPoint, read_start
from discoparse.training.stopping import Clock, Interruption
from discoparse.training.threads import using_threads
from discoparse.tree import Tree


def train(
    train_trees: Sequence[Tree],
    dev_trees: Sequence[Tree] | Mapping[str, Sequence[Tree]],
    output: str | Path,
    recipe: Recipe | str | None = None,
    *,
    encoder: str | Path | None = None,
    init: str | Path | StartingPoint | None = None,
    silver: Sequence[Tree] = (),
    device: str | torch.device = "auto",
    seed: int = 1,
    minutes: float | None = None,
    threads: int | None = None,
    resume: bool = False,
    info: ModelInfo | None = None,
    show_progress: bool = True,
    started: float | None = None,
    watch: Watch | None = None,
) -> Outcome:
    """Train a model and leave it in `output`; defaults are those of the command line.

    The best by F1 on all of `dev_trees` is kept. Where these are sets by name, each gets figures of its own as well.
    `recipe` is a recipe or its name, by default that of `default_recipe`; `info` is what the model says about itself,
    by default the name of `output`, and the language of `init`.
    `encoder` is a pretrained transformer to start with, by its directory or its name on the Hugging Face hub. `init` is
    what else to start from: an encoder that `discoparse pretrain` made, by its directory, or a model, by its name or
    directory. Sizes are then those that are there: a recipe with others is refused, a recipe's name stands for any.
    `silver` are trees that another parser made, to train on beside the others (see the recipe's silver settings).
    `threads` are the CPU cores to use for the time of the training, by default half of all. `minutes` limits the time
    since `started` (`time.monotonic()`, by default now), earlier parts of a resumed training included. Ctrl-C and
    SIGTERM stop it between two steps; with `resume` it then goes on. `watch` is called after every evaluation, with the
    number of updates and the `Result` on `dev_trees`.
    """
    output = Path(output)
    if init is not None and encoder is not None:
        raise UsageError("a training starts with an encoder or from --init, not with both")
    start = read_start(init) if isinstance(init, str | Path) else init
    named = recipe or (start.default_recipe() if start else default_recipe(transformer=encoder is not None))
    recipe = _recipe(named)
    if start is not None:
        recipe = start.adapt(recipe) if isinstance(named, str) else start.fit(recipe)
    transformer = read_encoder(encoder, recipe) if encoder is not None else start.encoder() if start else None
    if transformer is None and not (recipe.layers and recipe.word_size and recipe.character_size):
        raise UsageError("layers, word_size and character_size may be 0 only with a pretrained encoder: see --encoder")
    chosen = choose_device(device) if isinstance(device, str) else device
    dev_sets = None
    if isinstance(dev_trees, Mapping):
        dev_sets = {name: len(trees) for name, trees in dev_trees.items()}
        dev_trees = [tree for trees in dev_trees.values() for tree in trees]
    _check("training", train_trees)
    _check("development", dev_trees)
    if silver:
        _check("silver", silver)
    clock = Clock(minutes, started)
    with open_output(output, resume) as state, using_threads(threads or training_threads()):
        checkpoint = None if state is None else Checkpoint(state)
        info = info or ModelInfo(printable(output.resolve().name), language=start.info.language if start else None)
        session = Session(
            recipe, train_trees, dev_trees, output, chosen, seed, info, dev_sets, transformer, start, silver, watch
        )
        if checkpoint is not None:
            session.resume(checkpoint, clock)
        else:
            session.save(clock)  # so that what is in the directory can be resumed, whenever the program dies
        with Interruption() as interruption:
            return session.run(clock, interruption, show_progress)


def _recipe(recipe: Recipe | str) -> Recipe:
    if isinstance(recipe, Recipe):
        return recipe.checked()
    if recipe not in RECIPES:
        hint = did_you_mean(recipe, RECIPES)
        raise UsageError(f"unknown recipe {recipe!r}: choose one of {', '.join(RECIPES)}.{hint}")
    return RECIPES[recipe]


def _check(what: str, trees: Sequence[Tree]) -> None:
    """Refuse what cannot be trained on or evaluated with, before any work is done."""
    if not trees:
        raise DiscoparseError(f"the {what} treebank has no trees: there is nothing to work with")
    for number, tree in enumerate(trees, 1):
        if len(tree) > LONGEST_SENTENCE:
            name = f" ({tree.id})" if tree.id else ""
            raise DiscoparseError(
                f"{what} sentence {number}{name} has {len(tree):,} tokens, and the parser takes at most "
                f"{LONGEST_SENTENCE:,}: leave it out"
            )
