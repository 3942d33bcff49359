"""`discoparse benchmark`: measure the speed of training and parsing on this machine."""

from __future__ import annotations

import json
from typing import Any

import click

from discoparse.cli.options import (
    Number,
    ReadingOptions,
    device_option,
    reading_options,
    settings_option,
    tell,
    tell_namesake,
)
from discoparse.errors import DiscoparseError
from discoparse.files.text_table import text_table
from discoparse.training.recipe import RECIPES


@click.command()
@click.option(
    "--model", callback=tell_namesake, help="Name or directory of a model [a network trained for a few seconds]."
)
@click.option("--treebank", metavar="FILE", help="Trees to train on and sentences to parse [example sentences].")
@click.option("--sentences", type=click.IntRange(min=1), help="Repeat the sentences until there are this many.")
@click.option("--recipe", type=click.Choice(list(RECIPES)), default="fast", show_default=True, help="How to train.")
@settings_option
@device_option
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, help="CPU cores to use.")
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True, help="How often to parse.")
@click.option(
    "--training-seconds",
    type=Number(min=0),
    default=10.0,
    show_default=True,
    help="How long to train; 0 with --model: not at all.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@reading_options
def command(
    model: str | None,
    treebank: str | None,
    sentences: int | None,
    recipe: str,
    settings: tuple[str, ...],
    device: str,
    threads: int,
    repeats: int,
    training_seconds: float,
    as_json: bool,
    reading: ReadingOptions,
) -> None:
    """Measure training and parsing: sentences and tokens per second, share of the encoder, latency, memory."""
    from discoparse.experiment import benchmark

    trees = list(reading.trees(treebank)) if treebank else benchmark.own_trees(400)
    if not trees:
        raise DiscoparseError(f"{treebank}: no trees, nothing to measure")
    effort = benchmark.Effort(repeats=repeats, training_seconds=training_seconds)
    figures = benchmark.run_benchmark(
        trees,
        model=model,
        sentences=sentences,
        recipe=recipe,
        settings=list(settings),
        device=device,
        threads=threads,
        effort=effort,
        progress=tell,
    )
    figures = {"treebank": treebank or "example sentences", **figures}
    click.echo(json.dumps(figures, indent=2) if as_json else format_figures(figures))


def format_figures(figures: dict[str, Any]) -> str:
    """One figure a line."""
    where = figures["environment"]
    lines = [f"{figures['treebank']}: {figures['trees']:,} trees, {figures['tokens']:,} tokens"]
    machine = where["gpu"] or where["cpu"]
    lines.append(f"{figures['device']} ({machine}), {figures['threads']} thread(s), PyTorch {where['torch']}")
    rows = []
    if training := figures["training"]:
        of = f"({training['oracle']} oracle, batches of {training['batch_tokens']} tokens)"
        rows.append(("training", f"{_rate(training)}  {of}"))
    parsing = figures["parsing"]
    rows.append(("parsing", f"{_rate(parsing)}  to trees, {parsing['times_encoder']:.2f} times the encoder alone"))
    yields = {name.removeprefix("yields_"): value for name, value in parsing.items() if name.startswith("yields_")}
    rows.append(("", f"{_rate(yields)}  to labelled yields, {yields['times_encoder']:.2f} times the encoder alone"))
    latency = figures["latency"]
    times = f"{latency['median_ms']:.1f} ms median, {latency['p95_ms']:.1f} ms 95%"
    rows.append(("latency", f"{times}, sentences of {latency['tokens']} tokens"))
    peaks = [f"{figures['memory'][name] / 2**30:.2f} GiB {of}" for name, of in _PEAKS if figures["memory"][name]]
    rows.append(("memory", f"{', '.join(peaks)} (peak of the whole run)"))
    return "\n".join([*lines, text_table(rows, minimum=[9])])


_PEAKS = (("peak_bytes", "of main memory"), ("peak_gpu_bytes", "of the GPU's"))


def _rate(figures: dict[str, Any]) -> str:
    return f"{figures['sentences_per_second']:9,.0f} sentences/s {figures['tokens_per_second']:11,.0f} tokens/s"
