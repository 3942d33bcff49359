"""Small corpora for tests, what comes out of them, and jobs in other processes that end at a chosen moment."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from random_model import save_random_model

import discoparse

WORDS = ["dog", "cat", "see", "you", "What", "did", "barks", "old", "the", "a", "unheard-of", "naïve"]
# A program that runs `discoparse`, cuts small units, and after so many of them sends itself a signal; an interrupt goes
# to its workers, too, as that of a terminal does.
_PROGRAM = """
import os, signal, sys
import discoparse.corpus.plan as plan
from discoparse.corpus.job import Journal

plan.LEAST_BYTES, units, number = map(int, sys.argv[1:4])
add, added = Journal.add, []

def add_or_die(journal, outcome):
    add(journal, outcome)
    added.append(outcome)
    if len(added) == units:
        (os.killpg if number == signal.SIGINT else os.kill)(os.getpid(), number)

Journal.add = add_or_die
from discoparse.cli import main
main(sys.argv[4:])
"""


def make_documents(count: int, seed: int = 1) -> dict[str, str]:
    """Texts of some sentences by id; one has no sentence at all."""
    chance = random.Random(seed)

    def sentence() -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(2, 9))).capitalize() + chance.choice(".?!")

    texts = {f"d{k}": " ".join(sentence() for _ in range(chance.randint(1, 6))) for k in range(count)}
    texts[f"d{count // 2}"] = "  "
    return texts


def write_json_lines(path: Path, documents: dict[str, str]) -> Path:
    lines = [json.dumps({"id": name, "text": text, "year": 2019}) for name, text in documents.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def make_model(folder: Path) -> str:
    """A small model on disk."""
    save_random_model(folder / "model")
    return str(folder / "model")


def serial_rows(model: str, documents: dict[str, str]) -> list[dict[str, Any]]:
    """What must come out, in order: the parser in this process, one document after another."""
    parser = discoparse.load(model, "cpu")
    rows = []
    for document, text in documents.items():
        for number, tree in enumerate(parser.parse(text), 1):
            tree.id = f"{document}#{number}"
            rows.append({**tree.to_json(), "document": document, "sentence": number})
    return json.loads(json.dumps(rows))


def stored_rows(output: Path) -> list[dict[str, Any]]:
    """The rows of a job's output, in the order of its files; no other file may be there."""
    rows: list[dict[str, Any]] = []
    files = sorted(path for path in output.iterdir() if path.name != ".job")
    for path in files:
        assert path.name.startswith("part-"), path
        if path.suffix == ".jsonl":
            rows += map(json.loads, path.read_text(encoding="utf-8").splitlines())
        else:
            from pyarrow import parquet

            from discoparse.treebank.parquet_trees import _without_nulls

            for row in map(_without_nulls, parquet.read_table(path).to_pylist()):
                row["nodes"] = [{**node, "parent": node.get("parent")} for node in row["nodes"]]
                rows.append(row)
    return rows


def run_elsewhere(
    *arguments: str, unit_bytes: int = 400, die_after: int = 0, by: int = signal.SIGKILL
) -> subprocess.CompletedProcess[str]:
    """`discoparse` in a process of its own, which after so many units gets a signal, unless that is 0."""
    command = [sys.executable, "-c", _PROGRAM, str(unit_bytes), str(die_after), str(int(by)), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, start_new_session=by == signal.SIGINT
    )


DOCUMENTS = make_documents(24)
