"""The published figures that the report stands beside are those of their sources."""

from __future__ import annotations

import re
from pathlib import Path

from discoparse.experiment.published import paper_scores, paper_times, peer_measurements, peer_scores


def numbers(text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in re.findall(r"\d[\d,]*\.?\d*", text)]


def test_scores_are_the_papers(shared: Path) -> None:
    """Table 7, row by row, and Table 3, which repeats its F1 and POS."""
    paper = (shared / "paper" / "coavoux-cohen-2019.tex").read_text(encoding="utf-8")
    details = paper[paper.index(r"\section{Detailed Results}") :]
    rows = [numbers(line) for line in details.splitlines() if re.search(r"& (static|dynamic) +&", line)]
    assert [list(row[3:]) for row in paper_scores().rows] == rows
    for oracle in ("static", "dynamic"):
        line = next(line for line in paper.splitlines() if re.match(rf"\s+{oracle} +&", line))
        ours = [row for row in paper_scores().rows if row[0] == "dev" and row[2] == oracle]
        assert [row[k] for row in ours for k in (3, 6, 9)] == numbers(line)


def test_times_are_the_papers(shared: Path) -> None:
    """Table 6, row by row."""
    paper = (shared / "paper" / "coavoux-cohen-2019.tex").read_text(encoding="utf-8")
    table = paper[paper.index("Parser ") : paper.index(r"\caption{Parsing times")]
    lines = [line.split("CPU", 1)[1] for line in table.splitlines() if "CPU" in line]
    assert [[cell for cell in row[2:] if cell is not None] for row in paper_times().rows] == list(map(numbers, lines))


def test_peers_are_those_that_were_collected(shared: Path) -> None:
    """Every score of another system stands in the collection that it was taken from."""
    peers = (shared / "PEERS.md").read_text(encoding="utf-8")
    for row in peer_scores().rows:
        first, second, third = (f"{row[k]} / {row[k + 1]}" for k in (1, 3, 5))
        assert f"| {first} | {second} | {third} |" in peers
    for row in peer_measurements().rows:
        if row[4] is not None:
            assert f"{row[4]} / {row[5]}" in peers
