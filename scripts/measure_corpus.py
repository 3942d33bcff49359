"""How fast `discoparse corpus` turns documents into files of rows once its workers run:

    python scripts/measure_corpus.py TEXT --model nl --workers 15 --gpus-per-worker 0.06 --sentences 400000

TEXT has a sentence on each line; sixty make a document, and the text is repeated until there are enough. The clock
starts when as many units are done as there are workers, so that all of them have started, and ends when that many are
still to do, so that none is idle. `whole` is the rate from the start of the first worker to the end of the job.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from itertools import cycle, islice
from pathlib import Path

from discoparse.corpus.run import Engine, parse_corpus

_LINES = 60  # of a document
_LOOK = 0.02  # seconds between looks at the journal


def write_documents(text: Path, sentences: int, target: Path) -> None:
    """Documents of a text, as JSON lines."""
    lines = islice(cycle(text.read_text(encoding="utf-8").splitlines()), sentences)
    with open(target, "w", encoding="utf-8") as stream:
        while document := list(islice(lines, _LINES)):
            stream.write(json.dumps({"text": "\n".join(document)}) + "\n")


class Watch(threading.Thread):
    """Reads a job's journal while the job runs: when each unit was done, and with how many sentences."""

    def __init__(self, journal: Path) -> None:
        super().__init__(daemon=True)
        self.journal = journal
        self.done: list[tuple[float, int]] = []
        self.over = threading.Event()

    def run(self) -> None:
        """Look until the job is over, and once more then."""
        while not self.over.wait(_LOOK):
            self.look()
        self.look()

    def look(self) -> None:
        """Note what is new."""
        if not self.journal.exists():
            return
        now = time.perf_counter()
        lines = self.journal.read_text(encoding="utf-8").split("\n")[:-1]  # the last line may be half written
        for line in lines[len(self.done) :]:
            self.done.append((now, json.loads(line).get("sentences", 0)))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("text", type=Path)
    arguments.add_argument("--model", default="nl")
    arguments.add_argument("--workers", type=int, default=2)
    arguments.add_argument("--gpus-per-worker", type=float, default=0)
    arguments.add_argument("--sentences", type=int, default=100_000)
    arguments.add_argument("--to", default="parquet", choices=["parquet", "jsonl"])
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        corpus, output = Path(folder, "corpus.jsonl"), Path(folder, "out")
        write_documents(options.text, options.sentences, corpus)
        watch = Watch(output / ".job" / "journal.jsonl")
        watch.start()
        engine = Engine(workers=options.workers, gpus_per_worker=options.gpus_per_worker)
        result = parse_corpus([str(corpus)], str(output), options.model, engine=engine, to=options.to, lines=True)
        watch.over.set()
        watch.join()
        files = sum(file.stat().st_size for file in output.glob("part-*"))
    done, workers = watch.done, result.workers
    if len(done) <= 2 * workers:
        raise SystemExit(f"{len(done)} units are too few for {workers} workers: raise --sentences")
    (began, _), (ended, _) = done[workers - 1], done[-workers - 1]
    steady = sum(sentences for _, sentences in done[workers:-workers]) / max(ended - began, _LOOK)
    sentences, spent = result.total("sentences"), result.total("cpu_seconds")
    print(f"{sentences:,.0f} sentences in {len(done)} units, {workers} workers, {files:,} bytes of {options.to}")
    print(f"steady {steady:,.0f} sentences/s; whole {sentences / result.seconds:,.0f} sentences/s")
    print(f"CPU time of the workers: {1e6 * spent / sentences:,.0f} µs a sentence")


if __name__ == "__main__":
    main()
