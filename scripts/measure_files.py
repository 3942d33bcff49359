"""How fast text becomes files of trees: raw text in, the text of a format out, by one process or several.

    python scripts/measure_files.py --model nl --device cuda --jobs 15 --sentences 200000
    python scripts/measure_files.py --model nl --jobs 1 --jobs 2 --text corpus.txt
    python scripts/measure_files.py --model nl --stages --raw-text corpus.txt

Without --text, the example sentences of the package are repeated, each with a number in it so that words vary. Every
row is one run; the clock starts when the first part of the output is there (`start` says how long that took) and
what is in that part does not count. `deciding` is the share of this time in which the process with the GPU decides.

With --stages, one process parses with the compiled network, and rows are stages: CPU time for each token, in a first
pass over the text, when all is new, and in a second one.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

from discoparse.files.text_table import text_table
from discoparse.neural.compiled.network import CompiledNetwork
from discoparse.neural.device import device_name
from discoparse.parser.finding import find_model, load
from discoparse.parser.jobs import texts
from discoparse.parser.jobs.tasks import TASK_TOKENS, SegmentTask, segment_tasks
from discoparse.parser.jobs.texts import IN_PARTS, TextJob, TextWork, parse_parts
from discoparse.parser.parser import Parser
from discoparse.parser.processes import keep_what_is_loaded


def lines_of(text: Path | None, count: int) -> Iterator[str]:
    """A text with about `count` sentences, one on each line."""
    if text is not None:
        with open(text, encoding="utf-8") as stream:
            found = stream.readlines()
    else:
        found = [
            "What did he say to the {} people who were waiting outside in the rain ?\n",
            "On Monday the committee met again, but {} of its members had already left the town.\n",
            "Nobody knows that better than you do.\n",
        ]
    for number, line in enumerate(itertools.islice(itertools.cycle(found), count)):
        yield line.format(number) if text is None else line


def measure(model: str | Parser, language: str | None, options: argparse.Namespace, jobs: int, form: str) -> list[str]:
    """One run: a row of the table."""
    deciding = 0.0
    decide = texts.packed_decisions

    def timed(*arguments):  # type: ignore[no-untyped-def]
        nonlocal deciding
        before = time.perf_counter()
        found = decide(*arguments)
        deciding += time.perf_counter() - before
        return found

    texts.packed_decisions = timed
    size = TASK_TOKENS if jobs > 1 or not isinstance(model, Parser) else model.window_tokens
    tasks = segment_tasks(0, lines_of(options.text, options.sentences), language, print, lines=True, size=size)
    begun = time.perf_counter()
    parts = parse_parts(TextWork([model], form), tasks, jobs, notice=print, refuse=print)
    next(parts)
    first, decided_before = time.perf_counter(), deciding
    count = characters = 0
    with open("/dev/null", "w", encoding="utf-8") as output:
        for part in parts:
            count += part.count
            characters += len(part.text)
            output.write(part.text)
    spent = max(1e-9, time.perf_counter() - first)
    texts.packed_decisions = decide
    share = (deciding - decided_before) / spent
    return [
        form,
        str(jobs),
        f"{count / spent:,.0f}",
        f"{characters / spent / 1e6:.1f}",
        f"{first - begun:.1f}",
        f"{share:.0%}",
    ]


def stages(parser: Parser, lines: list[str], form: str) -> list[list[str]]:
    """The CPU time of each stage in two passes over a text: rows of a table."""
    spent: dict[str, float] = {}
    inside = 0.0  # of stages that are part of others

    def timed(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal inside
            outer, inside, begun = inside, 0.0, time.process_time()
            found = function(*arguments, **options)
            took = time.process_time() - begun
            spent[stage] = spent.get(stage, 0.0) + took - inside
            inside = outer + took
            return found

        return call

    passes = []
    with ExitStack() as stack:
        for owner, name, stage in (
            *((CompiledNetwork, name, "the network") for name in ("forms", "encode", "decide")),
            (SegmentTask, "passages", "splitting into sentences and tokens"),
            (texts, "decisions", "word forms and decisions from and to Python"),
            (TextJob, "finish", f"writing {form}"),
        ):
            stack.enter_context(mock.patch.object(owner, name, timed(stage, getattr(owner, name))))
        for _ in range(2):
            spent.clear()
            tokens, begun = 0, time.process_time()
            job = TextWork([parser], form).prepare()
            for task in segment_tasks(0, lines, parser.language, print, size=parser.window_tokens):
                _, state = job.begin(task)
                tokens += sum(len(passage.words) for passage in state.passages if passage is not None)
                job.finish(state, (0, 0, None))
            total = time.process_time() - begun
            rest = total - sum(spent.values())
            passes.append({**spent, "the rest: finding paragraphs, freeing memory": rest})
            around = (total - spent["the network"]) / total
            passes[-1] = {name: f"{1e6 * value / tokens:.2f} µs" for name, value in passes[-1].items()}
            passes[-1]["around the network"] = f"{around:.1%}"
    return [[name, *(one[name] for one in passes)] for name in passes[0]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="nl")
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    parser.add_argument("--jobs", type=int, action="append", help="may be given several times [1]")
    parser.add_argument("--sentences", type=int, default=20_000)
    parser.add_argument("--format", action="append", choices=IN_PARTS, help="may be given several times [discbracket]")
    parser.add_argument("--text", type=Path, help="a text with a sentence on each line")
    parser.add_argument("--stages", action="store_true", help="where the CPU time goes")
    parser.add_argument("--raw-text", type=Path, help="a text for --stages, with a blank line between paragraphs")
    options = parser.parse_args()
    where = "cpu" if options.stages else device_name(options.device)
    loaded = load(options.model, where, 1)
    if options.stages:
        keep_what_is_loaded()  # as `discoparse parse` does
        given = options.raw_text
        lines = list(lines_of(None, options.sentences)) if given is None else given.open(newline="").readlines()
        for form in options.format or ["discbracket"]:
            print(text_table([[options.model, "first pass", "second pass"], *stages(loaded, lines, form)]))
        return
    if loaded.runs_on_gpu:  # compile the kernels for all lengths before the clock starts
        loaded.parse_tokens([["word"] * length for length in range(1, 80)] * 20)
    rows = [["format", "jobs", "sentences/s", "MB/s", "start", "deciding"]]
    for form in options.format or ["discbracket"]:
        for jobs in options.jobs or [1]:
            model = str(find_model(options.model)) if jobs > 1 and not loaded.runs_on_gpu else loaded
            rows.append(measure(model, loaded.language, options, jobs, form))
    print(f"{options.model} on {where}, {options.sentences:,} sentences")
    print(text_table(rows))


if __name__ == "__main__":
    main()
