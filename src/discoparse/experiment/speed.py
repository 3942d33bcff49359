"""Table 6: how fast a trained run parses the development set, on one core and on the GPU where there is one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from discoparse.experiment.plan import FinishedRun, Treebank
from discoparse.files.atomic import replace_file
from discoparse.files.environment import environment
from discoparse.files.sealed import encode_json
from discoparse.model.info import MODEL

_MOST_SENTENCES = {"cpu": 1000, "cuda": 20_000}  # evenly chosen from larger sets
_REPEATS = 3


def measure_speed(
    treebank: Treebank, runs: Sequence[FinishedRun], folder: Path, progress: Callable[[str], None]
) -> None:
    """Measure on every device of this machine that was not measured before, with a model that was trained here."""
    import torch

    from discoparse.experiment.benchmark import measure_parsing, using_threads
    from discoparse.parser.finding import load_parser

    with_models = [run for run in reversed(runs) if (run.directory / MODEL).is_dir()]
    model = min(with_models, key=lambda run: run.run.recipe != "fast", default=None)
    devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    for device in devices:
        path = speed_path(folder, device)
        if model is None or path.exists():
            continue
        progress(f"{treebank.name}: measuring the speed of parsing, {device}")
        sentences = [tree.words for tree in treebank.trees("dev")]
        sentences = sentences[:: -(-len(sentences) // _MOST_SENTENCES[device])]
        with using_threads(1):
            figures = measure_parsing(load_parser(model.directory, device), sentences, _REPEATS)
        about = {"device": device, "threads": 1, "run": model.run.name, "environment": environment(device)}
        replace_file(path, encode_json({**about, **figures}))


def speed_path(folder: Path, device: str) -> Path:
    return folder / f"speed-{device}.json"


def measured_speeds(folder: Path) -> list[dict[str, Any]]:
    """What was measured, on whichever machine."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in speed_files(folder)]


def speed_files(folder: Path) -> list[Path]:
    """The files with what was measured."""
    return [path for device in _MOST_SENTENCES if (path := speed_path(folder, device)).exists()]
