"""scripts/sample_text.py: how many sentences each file gives, and which."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import sample_text


def write(path: Path, lengths: list[int]) -> Path:
    """Sentences of these lengths; the first word says where each is from."""
    lines = [f"{path.stem}{k} " + "x " * (length - 1) for k, length in enumerate(lengths)]
    path.write_bytes(gzip.compress("".join(line.rstrip() + "\n" for line in lines).encode()))
    return path


def test_files_give_equally_as_far_as_they_can(tmp_path: Path) -> None:
    small, middle, large = (write(tmp_path / name, [9] * count) for name, count in (("s", 3), ("m", 40), ("l", 90)))
    drawn = sample_text.sample([large, small, middle], 43, 1)
    assert len(set(drawn)) == len(drawn) == 43
    assert [sum(line.startswith(name) for line in drawn) for name in "sml"] == [3, 20, 20]
    assert "l" in "".join(line[0] for line in drawn[:20])  # mixed: the largest file does not come last


def test_lengths_and_seeds(tmp_path: Path) -> None:
    text = write(tmp_path / "t", [4, 5, 40, 41])
    assert {len(line.split()) for line in sample_text.sample([text], 100, 1)} == {5, 40}
    many = write(tmp_path / "u", [7] * 200)
    assert sample_text.sample([many], 50, 1) == sample_text.sample([many], 50, 1)
    assert sample_text.sample([many], 50, 1) != sample_text.sample([many], 50, 2)


def test_the_program_writes_lines(tmp_path: Path) -> None:
    text = write(tmp_path / "t", [6] * 20)
    command = [sys.executable, sample_text.__file__, str(text), "--sentences", "5"]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    assert len(made.stdout.splitlines()) == 5
