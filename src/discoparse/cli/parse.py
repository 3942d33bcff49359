"""`discoparse parse`: text in, trees out."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import chain, islice
from typing import TYPE_CHECKING

import click
from tqdm import tqdm

from discoparse.cli.drawing_options import DrawingOptions, PictureKind, drawing_options
from discoparse.cli.options import Number, device_option, require_folder, tell, tell_namesakes
from discoparse.cli.parse_jobs import Jobs, ModelName
from discoparse.cli.trust_options import TrustOptions, trust_options
from discoparse.drawing.options import BINARY, EXTENSIONS, is_folder
from discoparse.errors import NothingToDrawError, UsageError
from discoparse.files.streams import STANDARD, open_for_writing, suffix, uncompressed
from discoparse.parser.choice import ModelChoice, look_ahead
from discoparse.parser.documents import parse_documents, parse_treebank
from discoparse.parser.finding import load_several
from discoparse.parser.jobs.texts import IN_PARTS, Part
from discoparse.parser.processes import keep_what_is_loaded
from discoparse.parser.reading import CleanText, LivePieces, beginning, file_pieces, is_live
from discoparse.parser.writing import OUTPUTS, numbered, output_pieces, picked
from discoparse.transform.empty import has_empty
from discoparse.tree import Tree
from discoparse.treebank import FORMATS, READABLE, WRITABLE, Report, looks_like_treebank, read_trees
from discoparse.treebank.formats import output_format

if TYPE_CHECKING:
    from discoparse.parser.parser import Parser

_SAMPLE = 50  # sentences of a treebank by which its model is chosen
Model = ModelName
_TEXT = "text"  # what --from calls input that is not a treebank


@click.command()
@click.argument("text", nargs=-1)
@click.option("-i", "--input", "input_", metavar="FILE", help="Parse this file; - is standard input.")
@click.option(
    "-m",
    "--model",
    "models_given",
    metavar="NAME|DIR",
    multiple=True,
    callback=tell_namesakes,
    help="A shipped model or a directory [by the language of the text]. Given several times: they parse together.",
)
@click.option(
    "--agreement",
    type=Number(0, 100),
    metavar="F1",
    help="With several models: leave out sentences about which their own trees agree less than this.",
)
@click.option(
    "--to", type=PictureKind(WRITABLE), help="Output [a terminal: tree; a file: by its name; else discbracket]."
)
@click.option("-o", "--output", default=STANDARD, help="File, or folder/ for a picture per sentence [standard output].")
@click.option(
    "--from",
    "from_",
    type=click.Choice([_TEXT, *READABLE]),
    help="Format of the input: a treebank's sentences are parsed again [text].",
)
@click.option("--pretokenized", is_flag=True, help="A line is a sentence, with spaces between its tokens.")
@click.option("--lines", is_flag=True, help="Raw text: every line end ends a sentence, not only a blank line.")
@trust_options
@device_option
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="CPU cores to use.")
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes that parse; each has --threads."
)
@click.option("--encoding", help="Encoding of the input [UTF-8, or UTF-16 with a byte order mark].")
@drawing_options
@click.pass_context
def command(
    ctx: click.Context,
    text: tuple[str, ...],
    input_: str | None,
    models_given: tuple[str, ...],
    agreement: float | None,
    to: str | None,
    output: str,
    from_: str | None,
    pretokenized: bool,
    lines: bool,
    device: str,
    threads: int,
    jobs: int,
    encoding: str | None,
    trust: TrustOptions,
    drawing: DrawingOptions,
) -> None:
    """Parse TEXT, or the text in a file or on standard input, and show or write the trees of its sentences."""
    if text == (STANDARD,):
        text, input_ = (), input_ or STANDARD
    if text and input_ is not None:
        raise UsageError("give the text as arguments or with --input, not both")
    if pretokenized and lines:
        raise UsageError("--lines is for raw text: with --pretokenized every line is a sentence anyway")
    treebank = from_ if from_ != _TEXT else None
    if treebank and text:
        raise UsageError(
            f"--from {treebank} reads a treebank: give its file with --input, since {text[0]!r} is text here"
        )
    if treebank and (pretokenized or lines):
        raise UsageError("--pretokenized and --lines are for text: a treebank has its own sentences and tokens")
    trust.check(treebank is not None, not text and input_ in (None, STANDARD), len(models_given) > 1)
    _refuse_file_names(text)
    folder = is_folder(output)
    if not folder and output != STANDARD:
        require_folder(output)
    format = to or ("svg" if folder else _default_format(output))
    if folder and format not in EXTENSIONS:
        raise UsageError(f"{output} is a folder, for pictures only: name a file for --to {format}")
    if trust.only_probabilities and format not in ("json", "jsonl"):
        tell(f"{format} has no place for the probabilities: add --to jsonl")
    options = drawing.for_output(format, output)
    model = models_given[0] if len(models_given) == 1 else models_given or None
    if agreement is not None and not isinstance(model, tuple):
        raise UsageError("--agreement is for several models: give --model more than once")
    refused: list[str] = []

    def refuse(message: str) -> None:
        refused.append(message)
        tell(message)

    wish, screen = trust.wish(refuse, tell), trust.screen()
    source = input_ or STANDARD
    if not text and source == STANDARD and sys.stdin.isatty():
        tell("type text, and end it with Ctrl-D; or see discoparse parse --help")
    report, documents, live = Report(), [], None
    # Several processes, or this one without building trees where nobody needs them.
    plain = trust.plain and agreement is None and format in IN_PARTS
    parallel = Jobs(jobs, format, device, threads, trust, agreement, tell, refuse, report, screen)
    if jobs > 1:
        parallel.check()
    parts: Generator[Part, None, None] | None = None
    results: Iterator[Tree | None] = iter(())
    with ExitStack() as stack, _progress(source if not text and treebank is None else None, output) as counted:
        if treebank is not None:
            gold = _warned_of_traces(read_trees(source, treebank, encoding=encoding), source)
            gold, model = _model_for_treebank(gold, model)
            if model is not None and (plain or jobs > 1):
                parts = parallel.treebank(model, gold, source != STANDARD)
            elif model is not None:
                parser = _load_all([model], device, threads)[model]
                keep, all_there = trust.keep or (), source != STANDARD
                results = parse_treebank(parser, gold, refuse, keep=keep, wish=wish, all_there=all_there)
                results = results if agreement is None else _agreeing(parser, results, parallel)
            else:
                wish.finish()  # constraints may be left
        else:
            sources: list[Iterable[str]] = [[part] for part in text]
            if not text:
                live = LivePieces(encoding, refuse) if is_live(source) else None
                pieces = live or file_pieces(source, encoding, refuse)
                sources = [pieces if from_ == _TEXT else _refuse_treebank(pieces, source, live)]
            models: list[Model | None] = [model] * len(sources) if model is not None else _choose_models(sources)
            documents = [CleanText(pieces) for pieces in sources]
            named = [(name, counted(document)) for name, document in zip(models, documents, strict=True)]
            idle = live.idle if live else None
            if (plain or jobs > 1) and any(models):
                parts = parallel.texts(named, pretokenized=pretokenized, lines=lines, idle=idle)
            else:
                parsers = _load_all(models, device, threads)
                trees = parse_documents(
                    [(None if name is None else parsers[name], document) for name, document in named],
                    pretokenized=pretokenized,
                    lines=lines,
                    notice=tell,
                    refuse=refuse,
                    idle=idle,
                    all_there=live is None,
                    wish=wish,
                )
                if agreement is not None and isinstance(model, tuple):
                    trees = _agreeing(parsers[model], trees, parallel)
                results = numbered(trees, format)
        if parts is not None:
            parts = stack.enter_context(closing(parts))  # whatever happens, no process stays behind
            results = chain.from_iterable(part.trees for part in parts)
            results = results if treebank is not None else numbered(results, format)
        if screen is not None:
            results = screen(results)
        try:
            if folder or format in BINARY:
                from discoparse.drawing.pages import remark, write_pictures  # here: other output needs nothing of it

                write_pictures(picked(results, trust.best is not None), format, options, output, remark)
            else:
                written = output_pieces(results, format, options, report, refuse, trust.best is not None)
                if parts is not None and format in IN_PARTS:
                    written = parallel.pieces(parts)
                with open_for_writing(output) as stream:
                    for piece in written:
                        stream.write(piece)
                        if live:
                            stream.flush()
        except NothingToDrawError as error:
            wanted = parallel.left_out or (screen is not None and screen.doubtful)  # as with formats of treebanks
            unwritten = "" if folder or output == STANDARD else f": {output} is not written"
            (tell if wanted else refuse)(f"{error}{unwritten}")
    if agreement is not None:
        kept, left_out = _counted(parallel.kept, "tree"), _counted(parallel.left_out, "sentence")
        tell(f"{kept} kept; {left_out} left out, about which the models agree less than {agreement:g}")
    screened = [screen.message()] if screen is not None else []
    for message in [*(document.message() for document in documents), *screened, *report.messages()]:
        if message:
            tell(message)
    if refused:
        ctx.exit(1)


def _refuse_file_names(text: tuple[str, ...]) -> None:
    """A text that is the name of a file is hardly meant to be parsed."""
    for part in text:
        if os.path.isfile(part):
            raise UsageError(
                f"{part!r} is a file: did you mean --input {shlex.quote(part)}? (To parse the name itself, "
                "give it on standard input.)"
            )


def _refuse_treebank(pieces: Iterable[str], source: str, live: LivePieces | None) -> Iterable[str]:
    """The same pieces, unless they begin like a treebank, whose markup would be parsed as words."""
    sample, pieces = beginning(pieces, live.idle if live else None)
    format = looks_like_treebank(sample.encode("utf-8", "surrogateescape"))
    if format is not None:
        name = "standard input" if source == STANDARD else source
        raise UsageError(
            f"{name} looks like a treebank: add --from {format} to parse its sentences, or --from {_TEXT} if it is text"
        )
    return pieces


def _warned_of_traces(trees: Iterable[Tree], source: str) -> Iterator[Tree]:
    """The same trees, with a warning at the first whose empty elements would be parsed as words."""
    warned = False
    for tree in trees:
        if not warned and has_empty(tree):
            warned = True
            tell(
                f"warning: {source}: sentences have empty elements, which are parsed as words: see discoparse convert "
                "--traces"
            )
        yield tree


def _model_for_treebank(gold: Iterator[Tree], model: Model | None) -> tuple[Iterator[Tree], Model | None]:
    """The trees, and the model for their sentences; none is needed for no trees."""
    if model is not None:
        return gold, model
    first = list(islice(gold, _SAMPLE))
    if not first:
        return iter(()), None
    model = ModelChoice(tell).choose(" ".join(word for tree in first for word in tree.words))
    _tell_choice([model])
    return chain(first, gold), model


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def _agreeing(parser: Parser, trees: Iterable[Tree | None], counts: Jobs) -> Iterator[Tree | None]:
    """The trees that several models agree about; `counts` gets how many these are, and how many others."""
    from discoparse.parser.ensemble import Ensemble

    assert isinstance(parser, Ensemble)
    assert counts.agreement is not None
    for tree, agreement in parser.with_agreement(tree for tree in trees if tree is not None):
        if agreement >= counts.agreement:
            counts.kept += 1
            yield tree
        else:
            counts.left_out += 1


def _load_all(models: Iterable[Model | None], device: str, threads: int) -> dict[Model, Parser]:
    """The parsers of models by name, or of several models by their names."""
    parsers = {name: load_several(name, device, threads) for name in dict.fromkeys(models) if name is not None}
    keep_what_is_loaded()
    return parsers


def _choose_models(sources: list[Iterable[str]]) -> list[Model | None]:
    """A model for each text, by its words, and none for a blank one; the texts can still be read from the start."""
    models: list[Model | None] = []
    choice = ModelChoice(tell)
    for k, pieces in enumerate(sources):
        sample, sources[k] = look_ahead(pieces)
        models.append(choice.choose(sample) if sample.strip() else None)
    _tell_choice(name for name in models if isinstance(name, str))
    return models


def _tell_choice(models: Iterable[str]) -> None:
    names = list(dict.fromkeys(models))
    if names:
        tell(f"parsing with --model {' and '.join(names)}")


def _default_format(output: str) -> str:
    if output == STANDARD:
        return "tree" if sys.stdout.isatty() else "discbracket"
    ending = suffix(output)
    picture = next((name for name, usual in EXTENSIONS.items() if usual == ending), None)
    if picture is None and not any(ending in entry.suffixes for entry in FORMATS.values()):
        raise UsageError(f"cannot tell the format from the name {output}: name it with --to {'|'.join(OUTPUTS)}")
    return picture or output_format(output).name


@contextmanager
def _progress(source: str | None, output: str) -> Iterator[Callable[[Iterable[str]], Iterator[str]]]:
    """A bar on standard error that grows as text is read, unless trees are shown there or nobody would see it."""
    shown = sys.stderr.isatty() and not (output == STANDARD and sys.stdout.isatty())
    plain_file = source is not None and os.path.isfile(source) and uncompressed(source) == source
    total = os.path.getsize(source) if source is not None and plain_file else None
    with tqdm(total=total, unit="B", unit_scale=True, disable=not shown) as bar:

        def counted(pieces: Iterable[str]) -> Iterator[str]:
            for piece in pieces:
                yield piece
                bar.update(len(piece.encode("utf-8", "replace")))

        yield counted
