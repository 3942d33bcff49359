"""The tables of scripts/cautious_tests.py, which research/oracle-figures.md quotes."""

from __future__ import annotations

from pathlib import Path

from cautious_tests import tables

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_quotes_the_cautious_tests() -> None:
    rows = [line.split(" | ") for line in tables(ROOT / "research/runs/nl_alpino").splitlines() if " | " in line]
    page = (ROOT / "research/oracle-figures.md").read_text(encoding="utf-8")
    for what, score in (("dynamic → complete", "F1"), ("static → dynamic", "F1")):
        found = [row for row in rows if what in row and score in row]
        assert found
        quoted = [row[row.index(score) + 3].replace(" to ", ", ") for row in found]
        assert any(f"[{interval}]" in page for interval in quoted), (what, quoted)
