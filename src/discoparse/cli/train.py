"""`discoparse train`: train a parser on treebanks, with live progress; it can be interrupted and resumed."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from discoparse.cli.invocation import invocation
from discoparse.cli.options import (
    Number,
    ReadingOptions,
    card_options,
    check_language,
    device_option,
    reading_options,
    seed_option,
    settings_option,
    tell,
    tell_namesake,
)
from discoparse.cli.several import SeveralValues
from discoparse.errors import DiscoparseError
from discoparse.files.streams import printable
from discoparse.model.facts import read_facts
from discoparse.model.info import ModelFiles
from discoparse.training import ORACLES, RECIPES, Recipe
from discoparse.training.description import describe_training
from discoparse.training.recipe import default_recipe
from discoparse.training.treebanks import read_treebanks, trees_by_name
from discoparse.transform.empty import has_empty
from discoparse.tree import Tree

# For the command on the card: how much of each path to show, and what has no effect on the model.
_PATHS = {"train_files": 2, "dev_files": 2, "silver_files": 2, "output": 1, "card": 2, "init": 1, "encoder": 2}
# Of a model whose probabilities are fitted: the samples of one that has hardly learnt differ so much that it takes
# minutes.
_LEAST_F1 = 30.0
_NOT_REPEATED = ("resume", "quiet", "as_json", "show_recipe")


@click.command(cls=SeveralValues, several=("--train", "--dev", "--silver"))
@click.option("--train", "train_files", multiple=True, metavar="FILE [FILE …]", help="Treebanks to train on.")
@click.option("--dev", "dev_files", multiple=True, metavar="FILE [FILE …]", help="Treebanks to choose the best by.")
@click.option(
    "--silver",
    "silver_files",
    multiple=True,
    metavar="FILE [FILE …]",
    help="Treebanks made by a parser, to train on beside --train.",
)
@click.option(
    "--silver-weight",
    type=Number(min=0),
    metavar="W",
    help="Weight of --silver; that of --train is 1 [the recipe's].",
)
@click.option("--output", "-o", type=click.Path(path_type=Path), help="Directory for model, state, log and curves.")
@click.option(
    "--recipe",
    "recipe_name",
    type=click.Choice(list(RECIPES)),
    help="[default: fast; from a model finetune; with a transformer pretrained]",
)
@click.option("--oracle", type=click.Choice(ORACLES), help="The oracle to learn from [the recipe's].")
@settings_option
@click.option(
    "--encoder",
    metavar="NAME|DIR",
    help="A pretrained transformer to start with: a directory, or a name on the Hugging Face hub.",
)
@click.option(
    "--init",
    metavar="DIR|MODEL",
    callback=tell_namesake,
    help="Start from an encoder that discoparse pretrain made, or from a model, by its name or directory.",
)
@click.option("--show-recipe", is_flag=True, help="Print the recipe with all changes, and stop.")
@click.option("--epochs", type=click.IntRange(min=1), help="Train for exactly N epochs [the recipe's].", metavar="N")
@click.option("--minutes", type=Number(min=0, min_open=True), help="Stop after M minutes in all.", metavar="M")
@click.option("--resume", is_flag=True, help="Continue the training in --output, if there is one.")
@seed_option
@device_option
@click.option("--threads", type=click.IntRange(min=1), help="CPU cores to use [half of all].")
@click.option("--language", metavar="CODE", help="ISO 639-1 code of the language, by which raw text is split.")
@card_options("model", "data and use")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.option("--json", "as_json", is_flag=True, help="Print the final scores as JSON.")
@reading_options
@click.pass_context
def command(
    ctx: click.Context,
    train_files: tuple[str, ...],
    dev_files: tuple[str, ...],
    silver_files: tuple[str, ...],
    silver_weight: float | None,
    output: Path | None,
    recipe_name: str | None,
    oracle: str | None,
    settings: tuple[str, ...],
    encoder: str | None,
    init: str | None,
    show_recipe: bool,
    epochs: int | None,
    minutes: float | None,
    resume: bool,
    seed: int,
    device: str,
    threads: int | None,
    language: str | None,
    name: str | None,
    licence: str | None,
    card: Path | None,
    quiet: bool,
    as_json: bool,
    reading: ReadingOptions,
) -> None:
    """Train a parser.

    --output gets the best model so far (model), the state to continue from (latest), a record of every epoch
    and evaluation (log.jsonl) and a picture of it (curves.svg). Ctrl-C stops the training and loses nothing: --resume
    continues it.
    """
    started = time.monotonic()
    start = None
    if init is not None:
        from discoparse.training.starting_point import read_start

        start = read_start(init)
    default = default_recipe(transformer=encoder is not None) if start is None else start.default_recipe()
    recipe_name = recipe_name or default
    recipe = _recipe(recipe_name, oracle, epochs, settings)
    if silver_weight is not None:
        recipe = recipe.replace(silver_weight=silver_weight).checked()
    if start is not None:
        recipe = start.adapt(recipe, [setting.partition("=")[0] for setting in settings])
    if show_recipe:
        click.echo(recipe.describe())
        return
    if not train_files or not dev_files or output is None:
        raise click.UsageError("training needs --train, --dev and --output")
    if silver_weight is not None and not silver_files:
        raise click.UsageError("--silver-weight is for --silver")
    check_language(language)

    from discoparse.neural.device import choose_device
    from discoparse.training import train

    chosen = choose_device(device)
    facts = read_facts(card) if card is not None else None
    train_treebanks = read_treebanks(train_files, reading.trees)
    silver = read_treebanks(silver_files, reading.trees)
    for treebank in (*train_treebanks, *silver):
        if traces := sum(map(has_empty, treebank.trees)):
            share = f"{traces:,} of {len(treebank.trees):,} trees"
            tell(
                f"warning: {treebank.path}: {share} have empty elements, which will be learnt as words: see discoparse "
                "convert --traces"
            )
    stated = {"name": name, "language": language, "licence": licence}
    if name is None and (facts is None or "name" not in facts.identity):
        stated["name"] = printable(output.resolve().name)
    known = start.info.language if start is not None else None
    if known and language is None and (facts is None or "language" not in facts.identity):
        stated["language"] = known
        if not quiet:
            tell(f"the language is {known!r}, as that of {init}: say so with --language if it is another")
    made = {"command": invocation(ctx, _PATHS, _NOT_REPEATED), "recipe": recipe_name, "seed": seed}
    if start is not None:
        made["start"] = start.describe()
    origins = start.origins() if start is not None else []
    info = describe_training(train_treebanks, silver, facts, stated, made, chosen.type, origins)
    dev = trees_by_name(read_treebanks(dev_files, reading.trees))
    outcome = train(
        [tree for treebank in train_treebanks for tree in treebank.trees],
        dev,
        output,
        recipe,
        encoder=encoder,
        init=start,
        silver=[tree for treebank in silver for tree in treebank.trees],
        device=chosen,
        seed=seed,
        minutes=minutes,
        threads=threads,
        resume=resume,
        info=info,
        show_progress=not quiet,
        started=started,
    )
    if not outcome.finished:
        tell("continue with --resume")
        raise click.exceptions.Abort
    assert outcome.best is not None
    if outcome.earlier:
        tell(f"the training in {output} had ended before, so there was nothing to do: to train on, --init {output}")
    gold = [tree for trees in dev.values() for tree in trees]
    uncalibrated = _calibrate(output / "model", outcome.best["f1"], gold, str(chosen), threads)
    if uncalibrated and not quiet:
        tell(
            f"the model's probabilities are not calibrated: {uncalibrated} (discoparse models calibrate does it later)"
        )
    if as_json:
        click.echo(json.dumps({**outcome.best, "total_seconds": outcome.seconds}, indent=2))
    else:
        scores = outcome.best
        click.echo(
            f"F1 {scores['f1']:.2f}, disc. F1 {scores['disc_f1']:.2f}, POS {scores['pos']:.2f} "
            f"(epoch {scores['epoch']:g}, {outcome.seconds / 60:.1f} minutes): {output / 'model'}"
        )


def _calibrate(model: Path, f1: float, gold: list[Tree], device: str, threads: int | None) -> str:
    """Fit the model's probabilities to the development set, unless that was done when the training ended before.
    Returns why it was not done, or nothing."""
    from discoparse.parser.calibrating import calibrate

    files = ModelFiles(model)
    if files.info().calibration:
        return ""
    if files.encoder_files and device == "cpu":
        return "with a transformer, that takes a CPU minutes"
    if f1 < _LEAST_F1:
        return f"its F1 is below {_LEAST_F1:g}"
    try:
        calibrate(model, gold, device, threads)
    except DiscoparseError as error:
        return str(error)
    return ""


def _recipe(name: str, oracle: str | None, epochs: int | None, settings: tuple[str, ...]) -> Recipe:
    """The recipe with the options that change it; --set overrides --oracle, and --epochs is exact."""
    recipe = RECIPES[name]
    if oracle is not None:
        recipe = recipe.replace(oracle=oracle)
    recipe = recipe.override(list(settings))
    return recipe if epochs is None else recipe.replace(epochs=epochs, updates=0).checked()
