"""A small corpus, a model for it, and the rows that a serial run has."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_corpora import DOCUMENTS, make_model, serial_rows, write_json_lines

import discoparse.corpus.plan


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_model(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def expected(model: str) -> list[dict[str, object]]:
    return serial_rows(model, DOCUMENTS)


@pytest.fixture
def small_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discoparse.corpus.plan, "LEAST_BYTES", 400)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_json_lines(tmp_path / "corpus.jsonl", DOCUMENTS)
