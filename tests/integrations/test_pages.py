"""The examples in the pages on other libraries run and show what they print."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from discoparse.parser.finding import installed_models

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("page", "libraries", "model"),
    [("spacy", ["spacy"], "en"), ("nltk", ["nltk"], "en"), ("tables", ["pandas", "pyarrow"], None)],
)
def test_examples_run(page, libraries, model, tmp_path, monkeypatch):
    for library in libraries:
        pytest.importorskip(library, reason=f"{library} is not installed")
    if model is not None and model not in installed_models():
        pytest.skip(f"this installation has no model {model}")
    (tmp_path / "src").symlink_to(ROOT / "src")  # with the example sentences
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failures, examples = doctest.testfile(
        str(ROOT / "docs" / "guides" / f"{page}.md"), module_relative=False, optionflags=flags
    )
    assert examples
    assert not failures
