"""What the engines of `discoparse corpus` cost, against the parser alone, in turns on one machine:

python scripts/corpus_overhead.py TEXT [--model nl] [--megabytes 3] [--repeats 3] [--workers 2]

TEXT has a paragraph on each line; twenty make a document. There are two figures for each run. `CPU` is tokens for each
second of CPU time that workers spend on their units (from documents to files), which other programs on the machine
disturb little. `wall` is tokens a second of time, workers that start and load the model included. `trees` is the parser
alone, in one process, from text in memory to trees.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from discoparse.corpus.run import Engine, parse_corpus
from discoparse.files import open_bytes
from discoparse.parser import load
from discoparse.parser.passages import read_text

_PARAGRAPHS = 20  # of a document


def write_corpus(text: Path, size: int, target: Path) -> list[str]:
    """The beginning of a text as JSON lines; the documents."""
    with open_bytes(str(text)) as stream:
        lines = stream.read(size).decode("utf-8", "ignore").split("\n")
    documents = ["\n\n".join(lines[k : k + _PARAGRAPHS]) for k in range(0, len(lines), _PARAGRAPHS)]
    target.write_text("".join(json.dumps({"text": document}) + "\n" for document in documents), encoding="utf-8")
    return documents


def trees_alone(model: str, documents: list[str]) -> tuple[float, float]:
    """Tokens a second of CPU time and of time, for the parser in this process."""
    parser = load(model, "cpu", 1)
    began, spent = time.perf_counter(), time.process_time()
    passages = (p for document in documents for p in read_text([document], parser.language, lambda message: None))
    tokens = sum(len(tree) for tree in parser.parse_passages(passages, all_there=True) if tree is not None)
    return tokens / (time.process_time() - spent), tokens / (time.perf_counter() - began)


def corpus_rate(corpus: Path, folder: Path, model: str, engine: Engine, to: str) -> tuple[float, float]:
    """The same for a job."""
    output = folder / "out"
    result = parse_corpus([str(corpus)], str(output), model, engine=engine, to=to)
    shutil.rmtree(output)
    return result.total("tokens") / result.total("cpu_seconds"), result.total("tokens") / result.seconds


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("text", type=Path)
    arguments.add_argument("--model", default="nl")
    arguments.add_argument("--megabytes", type=float, default=3)
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--workers", type=int, default=2)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = folder / "corpus.jsonl"
        documents = write_corpus(given.text, int(given.megabytes * 1e6), corpus)

        def job(engine: str, workers: int, to: str = "parquet") -> Callable[[], tuple[float, float]]:
            return lambda: corpus_rate(corpus, folder, given.model, Engine(engine, workers), to)

        runs: dict[str, Callable[[], tuple[float, float]]] = {"trees": lambda: trees_alone(given.model, documents)}
        for workers in sorted({1, given.workers}):
            runs[f"local, {workers}"] = job("local", workers)
            runs[f"ray, {workers}"] = job("ray", workers)
        runs["local, 1, jsonl"] = job("local", 1, "jsonl")
        rates: dict[str, list[tuple[float, float]]] = {run: [] for run in runs}
        for _ in range(given.repeats):
            for run, measure in runs.items():
                rates[run].append(measure())
                print(f"{run}: {rates[run][-1][0]:,.0f} CPU, {rates[run][-1][1]:,.0f} wall", flush=True)
    for figure, name in enumerate(("CPU", "wall")):
        alone = statistics.median(rate[figure] for rate in rates["trees"])
        for run, found in rates.items():
            figures = sorted(rate[figure] for rate in found)
            middle = statistics.median(figures)
            extent = f"{figures[0]:,.0f} to {figures[-1]:,.0f}"
            print(f"{name:4} {run:16} {middle:9,.0f} tokens/s ({extent}), {middle / alone:.2f} of trees")


if __name__ == "__main__":
    main()
