"""Models of a server: by name, by language, by the words of a text; counters that workers share."""

from __future__ import annotations

import multiprocessing
import shutil
from types import SimpleNamespace

import pytest
from installed_models import Packages

from discoparse.errors import DiscoparseError, UsageError
from discoparse.files.sealed import read_sealed, write_sealed
from discoparse.model.info import FILES
from discoparse.serve.catalogue import Catalogue, Served
from discoparse.serve.metrics import Metrics
from discoparse.serve.problems import Refusal


def served(language, *words):
    vocabulary = SimpleNamespace(ranks={word: rank for rank, word in enumerate(words, 1)})
    return Served(SimpleNamespace(language=language, vocabulary=vocabulary), None, "")


CATALOGUE = Catalogue(
    {
        "nl": served("nl", "wat", "heb", "je", "gezegd"),
        "nl-large": served("nl", "wat", "heb", "je", "gezegd"),
        "en": served("en", "what", "did", "you", "say"),
    }
)


@pytest.mark.parametrize(
    ("name", "language", "text", "found"),
    [
        ("nl-large", None, "", "nl-large"),
        (None, "nl", "", "nl"),
        (None, "EN", "", "en"),
        (None, "nl-large", "", "nl-large"),
        (None, None, "Wat heb je gezegd?", "nl"),
        (None, None, "What did you say?", "en"),
    ],
)
def test_which_model(name, language, text, found):
    assert CATALOGUE.choose(name, language, text)[0] == found


@pytest.mark.parametrize(("name", "language", "text"), [("de", None, ""), (None, "de", ""), (None, None, "Quoi ?")])
def test_no_model(name, language, text):
    with pytest.raises(Refusal) as refusal:
        CATALOGUE.choose(name, language, text)
    assert refusal.value.status == 422
    assert "nl, nl-large, en" in refusal.value.message


def test_one_model_is_for_everything():
    assert Catalogue({"x": served(None)}).choose(None, None, "Quoi ?")[0] == "x"


def test_models_with_a_transformer_are_served_by_name(tmp_path, monkeypatch):
    """They take memory, time and an extra: a server starts without them unless told otherwise."""
    packages = Packages(tmp_path / "site", monkeypatch)
    packages.add("en", "en")
    heavy = packages.add("en-heavy", "en")
    files = {**read_sealed(heavy, FILES, "model"), "encoder-1.safetensors": b"not read"}
    shutil.rmtree(heavy)
    write_sealed(heavy, files)
    (heavy / "__init__.py").touch()
    told: list[str] = []
    assert list(Catalogue.load([], "cpu", notice=told.append).models) == ["en"]
    assert told == [
        "not served, since a transformer takes memory and time: en-heavy (--model en --model en-heavy serves all)"
    ]
    with pytest.raises(DiscoparseError) as asked_for:  # and broken
        Catalogue.load(["en-heavy"], "cpu")
    shutil.rmtree(packages.folder / "discoparse_model_en-1.0.dist-info")
    told.clear()
    with pytest.raises(DiscoparseError) as alone:  # there is nothing else, so that it is served
        Catalogue.load([], "cpu", notice=told.append)
    assert str(alone.value) == str(asked_for.value)
    assert told == []


def test_nothing_to_serve():
    with pytest.raises(UsageError, match="no model to serve"):
        Catalogue({})


def test_two_directories_of_one_name(tmp_path):
    from tiny_models import tiny_model

    for folder in "ab":
        tiny_model(tmp_path / folder / "same")
    with pytest.raises(UsageError, match="two models are called 'same'"):
        Catalogue.load([str(tmp_path / folder / "same") for folder in "ab"], "cpu")


def test_workers_count_together():
    metrics = Metrics(2)

    def work():
        metrics.become(1)
        metrics.add("sentences_total", 5)

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join()
    metrics.add("sentences_total", 2)
    assert metrics.value("sentences_total") == 7


def test_the_format_of_prometheus():
    metrics = Metrics()
    for seconds in (0.001, 0.03, 100.0):
        metrics.answered("parse", 200, seconds)
    metrics.answered("parse", 422, 0.5)
    lines = metrics.exposition().splitlines()
    assert 'discoparse_requests_total{endpoint="parse",status="2xx"} 3' in lines
    assert 'discoparse_requests_total{endpoint="parse",status="4xx"} 1' in lines
    assert 'discoparse_request_seconds_bucket{le="0.005"} 1' in lines
    assert 'discoparse_request_seconds_bucket{le="0.05"} 2' in lines
    assert 'discoparse_request_seconds_bucket{le="10"} 2' in lines
    assert 'discoparse_request_seconds_bucket{le="+Inf"} 3' in lines
    assert "discoparse_request_seconds_count 3" in lines
    for line in lines:
        assert line.startswith("# ") or len(line.rsplit(" ", 1)) == 2
    assert len([line for line in lines if line.startswith("# TYPE")]) == len(
        {line.split()[2] for line in lines if line.startswith("# TYPE")}
    )
