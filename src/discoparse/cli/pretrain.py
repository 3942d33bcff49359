"""`discoparse pretrain`: an encoder from raw text, with live progress; it can be interrupted and resumed."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

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
)
from discoparse.cli.several import SeveralValues
from discoparse.files.streams import printable
from discoparse.model.facts import read_facts
from discoparse.pretraining import RECIPES

if TYPE_CHECKING:
    from discoparse.model.info import ModelInfo
    from discoparse.pretraining.corpus import TextCorpus

# For the command on the card: how much of each path to show, and what has no effect on the encoder.
_PATHS = {"text_files": 2, "vocabulary_files": 2, "output": 1, "card": 2}
_NOT_REPEATED = ("resume", "quiet", "as_json", "show_recipe", "cache", "threads")


@click.command(cls=SeveralValues, several=("--text", "--vocabulary-from"))
@click.option(
    "--text",
    "text_files",
    multiple=True,
    metavar="FILE [FILE …]",
    help="Raw text as UTF-8, plain or compressed (.gz, .xz).",
)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), help="Directory for encoder, state, log, curves and text."
)
@click.option(
    "--recipe",
    "recipe_name",
    type=click.Choice(list(RECIPES)),
    default="bilstm",
    show_default=True,
    help="What to train.",
)
@settings_option
@click.option("--show-recipe", is_flag=True, help="Print the recipe with all changes, and stop.")
@click.option(
    "--vocabulary-from",
    "vocabulary_files",
    multiple=True,
    metavar="TREEBANK [TREEBANK …]",
    help="Keep the words of these treebanks, however rare they are in the text.",
)
@click.option("--language", metavar="CODE", help="ISO 639-1 code of the language, by which the text is split.")
@click.option("--pretokenized", is_flag=True, help="The text has a sentence a line, its words between spaces.")
@click.option("--lines", is_flag=True, help="Every line of the text ends a sentence.")
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where the text is kept as numbers, for other runs on the same text [within --output].",
)
@click.option("--epochs", type=click.IntRange(min=1), help="Read the text N times [the recipe's].", metavar="N")
@click.option(
    "--minutes",
    type=Number(min=0, min_open=True),
    help="Train for M minutes in all, however many epochs that are.",
    metavar="M",
)
@click.option("--resume", is_flag=True, help="Continue the pretraining in --output, if there is one.")
@seed_option
@device_option
@click.option("--threads", type=click.IntRange(min=1), help="CPU cores to use [all to read, half to train].")
@card_options("encoder", "the text")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.option("--json", "as_json", is_flag=True, help="Print the final figures as JSON.")
@reading_options
@click.pass_context
def command(
    ctx: click.Context,
    text_files: tuple[str, ...],
    output: Path | None,
    recipe_name: str,
    settings: tuple[str, ...],
    show_recipe: bool,
    vocabulary_files: tuple[str, ...],
    language: str | None,
    pretokenized: bool,
    lines: bool,
    cache: Path | None,
    epochs: int | None,
    minutes: float | None,
    resume: bool,
    seed: int,
    device: str,
    threads: int | None,
    name: str | None,
    licence: str | None,
    card: Path | None,
    quiet: bool,
    as_json: bool,
    reading: ReadingOptions,
) -> None:
    """Train an encoder on raw text: it learns to guess hidden words.

    A parser that starts from it (discoparse train --init for bilstm, --encoder for transformer) knows many more words
    than its treebank has. --output gets the encoder, the state to continue from (latest), a record of every evaluation
    (log.jsonl), a picture of it (curves.svg) and the text as numbers. Ctrl-C stops the pretraining and loses nothing:
    --resume continues it.
    """
    started = time.monotonic()
    recipe = RECIPES[recipe_name].override(list(settings))
    if epochs is not None:
        recipe = recipe.replace(epochs=epochs)
    if show_recipe:
        click.echo(recipe.describe())
        return
    if not text_files or output is None:
        raise click.UsageError("pretraining needs --text and --output")
    check_language(language)

    from discoparse.neural.device import choose_device
    from discoparse.pretraining import pretrain
    from discoparse.training.description import describe_making

    chosen = choose_device(device)
    facts = read_facts(card) if card is not None else None
    words = {word for path in vocabulary_files for tree in reading.trees(path) for word in tree.words}
    stated = {"name": name, "language": language, "licence": licence}
    if name is None and (facts is None or "name" not in facts.identity):
        stated["name"] = printable(output.resolve().name)
    made = {"command": invocation(ctx, _PATHS, _NOT_REPEATED), "recipe": recipe_name, "seed": seed}

    def info(corpus: TextCorpus) -> ModelInfo:
        return describe_making(corpus.describe(text_files), facts, stated, made, chosen.type)

    outcome = pretrain(
        text_files,
        output,
        recipe,
        vocabulary=words,
        language=language,
        pretokenized=pretokenized,
        lines=lines,
        cache=cache,
        device=chosen,
        seed=seed,
        minutes=minutes,
        threads=threads,
        resume=resume,
        info=info,
        show_progress=not quiet,
        started=started,
        told=_Told(quiet),
        notice=tell,
    )
    if not outcome.finished:
        tell("continue with --resume")
        raise click.exceptions.Abort
    if outcome.earlier:
        tell(f"the pretraining in {output} had ended before, so there was nothing to do")
    figures = outcome.figures
    if as_json:
        click.echo(json.dumps({**figures, "total_seconds": outcome.seconds}, indent=2))
    else:
        click.echo(
            f"held-out perplexity {figures['perplexity']:.2f}, {100 * figures['accuracy']:.1f}% right "
            f"({outcome.seconds / 60:.1f} minutes): {output / 'encoder'}"
        )


class _Told:
    """Says now and then how much text was read."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.last = time.monotonic()

    def __call__(self, words: int) -> None:
        if not self.quiet and time.monotonic() - self.last > 10:
            self.last = time.monotonic()
            tell(f"{words:,} words read")
