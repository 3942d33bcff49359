"""Jobs with processes of this machine: the rows of a serial run, whatever happens on the way."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import sys
from multiprocessing import active_children
from pathlib import Path

import pytest
from command_line import run_main
from small_corpora import DOCUMENTS, run_elsewhere, serial_rows, stored_rows, write_json_lines

import discoparse.corpus.plan
from discoparse.corpus.job import Job, Journal, Options
from discoparse.corpus.local_pool import LocalPool
from discoparse.corpus.plan import make_plan
from discoparse.corpus.rows import Sentence
from discoparse.corpus.run import Engine, parse_corpus
from discoparse.corpus.scheduling import Event, Unusable
from discoparse.corpus.shards import open_shard
from discoparse.corpus.sources import find_sources
from discoparse.corpus.work import Worker, model_seal
from discoparse.errors import DiscoparseError, UsageError
from discoparse.parser.jobs.deciding import decisions
from discoparse.parser.outline import Writer
from discoparse.parser.passages import read_text
from discoparse.treebank import read_trees

pytest.importorskip("pyarrow", reason="needs the extra arrow")

pytestmark = pytest.mark.usefixtures("small_units")


def figures(output: Path) -> dict[str, object]:
    return json.loads((output / ".job" / "report.json").read_text())


@pytest.mark.parametrize("to", ["parquet", "jsonl"])
def test_rows_are_those_of_a_serial_run(tmp_path, corpus, model, expected, to):
    output = tmp_path / "out"
    status, printed, errors = run_main(
        *("corpus", str(corpus), str(output), "--model", model, "--num-workers", "2", "--to", to, "--json")
    )
    assert status == 0, errors
    assert stored_rows(output) == expected
    shown = json.loads(printed)
    assert shown["documents"] == len(DOCUMENTS)
    assert shown["sentences"] == len(expected)
    assert shown["tokens"] == sum(len(row["tokens"]) for row in expected)
    assert shown["units"] > 3
    assert shown["workers"] == 2
    assert shown["complete"] is True
    assert shown.items() <= figures(output).items()
    assert f"{len(expected)} sentences" in errors


@pytest.mark.parametrize("to", ["parquet", "jsonl"])
def test_convert_reads_the_output(tmp_path, corpus, model, expected, to):
    parse_corpus([str(corpus)], str(tmp_path / "out"), model, engine=Engine(workers=1), to=to)
    status, _, errors = run_main("convert", str(tmp_path / "out"), str(tmp_path / "trees.export"))
    assert status == 0, errors
    trees = list(read_trees(tmp_path / "trees.export"))
    assert [tree.id for tree in trees] == [row["id"] for row in expected]
    assert [tree.words for tree in trees] == [[token["word"] for token in row["tokens"]] for row in expected]


def test_text_files_in_folders(tmp_path, model):
    folder = tmp_path / "texts"
    (folder / "b").mkdir(parents=True)
    texts = {"a.txt": "The dog barks.\r\nNo.", "b/c.txt.gz": "What did you see?", "b/d.txt": "\ufeffCats."}
    (folder / "a.txt").write_bytes(texts["a.txt"].encode())
    (folder / "b" / "c.txt.gz").write_bytes(gzip.compress(texts["b/c.txt.gz"].encode()))
    (folder / "b" / "d.txt").write_bytes(texts["b/d.txt"].encode())
    (folder / "README.md").write_text("not a part of it")
    parse_corpus([str(folder)], str(tmp_path / "out"), model, engine=Engine(workers=1))
    texts["b/d.txt"] = "Cats."  # without its byte order mark
    assert stored_rows(tmp_path / "out") == serial_rows(model, texts)


def test_pretokenized_and_lines(tmp_path, model):
    text = "The dog barks . No one\nsees\n\nit .\n"
    (tmp_path / "a.txt").write_text(text)
    options = {"engine": Engine(workers=1), "to": "jsonl"}
    parse_corpus([str(tmp_path / "a.txt")], str(tmp_path / "pre"), model, pretokenized=True, **options)
    parse_corpus([str(tmp_path / "a.txt")], str(tmp_path / "lines"), model, lines=True, **options)
    pre, lines = stored_rows(tmp_path / "pre"), stored_rows(tmp_path / "lines")
    assert [row["text"] for row in pre] == ["The dog barks . No one", "sees", "it ."]
    assert [row["text"] for row in lines] == ["The dog barks .", "No one", "sees", "it ."]
    assert [row["sentence"] for row in pre] == [1, 2, 3]
    assert all(text[slice(*token["span"])] == token["word"] for row in pre for token in row["tokens"])


def test_the_model_is_chosen_by_the_text(tmp_path, monkeypatch):
    from installed_models import Packages

    packages = Packages(tmp_path / "packages", monkeypatch)
    packages.add("en", "en")
    packages.add("ne", "ne", mirrored=True)
    (tmp_path / "a.txt").write_text("What did you see? The dog barks.")

    class Nobody:
        """A pool that does nothing: the model is chosen before."""

        def __init__(self, job, gpus):
            raise UsageError(f"chosen: {job.options.model}")

    monkeypatch.setattr("discoparse.corpus.run.LocalPool", Nobody)
    with pytest.raises(UsageError, match="chosen: en"):
        parse_corpus([str(tmp_path / "a.txt")], str(tmp_path / "out"))
    (tmp_path / "empty.txt").write_text(" \n")
    with pytest.raises(UsageError, match="no text to choose a model by"):
        parse_corpus([str(tmp_path / "empty.txt")], str(tmp_path / "out2"))


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_documents_that_cannot_be_read(tmp_path, model, expected):
    """They are left out and named; all others are there."""
    lines = write_json_lines(tmp_path / "corpus.jsonl", DOCUMENTS).read_bytes().splitlines(keepends=True)
    bad = [b'{"id": "x", "text": "caf\xe9"}\n', b'{"id": "y", "text": \n', b'{"id": "z"}\n', b'{"id": 1, "text": 2}\n']
    mixed = [*lines[:3], *bad[:2], *lines[3:], *bad[2:]]
    (tmp_path / "corpus.jsonl").write_bytes(b"".join(mixed))
    status, _, errors = run_main(
        *("corpus", str(tmp_path / "corpus.jsonl"), str(tmp_path / "out"), "--model", model, "--num-workers", "2")
    )
    assert status == 1
    assert stored_rows(tmp_path / "out") == expected
    found = figures(tmp_path / "out")
    assert [entry["place"] for entry in found["problems"]] == [f"corpus.jsonl:{k}" for k in (4, 5, 27, 28)]
    reasons = ["byte 25 (0xe9) is not UTF-8", "this is not JSON", "there is no field 'text'", "'text' is not a string"]
    for reason, entry in zip(reasons, found["problems"], strict=True):
        assert reason in entry["problem"]
        assert f"{entry['place']}: {entry['problem']}" in errors
    assert found["unread_documents"] == 4
    assert found["complete"] is False
    assert "report.json" in errors


def test_a_document_that_makes_the_parser_fail_costs_only_itself(tmp_path, corpus, model, expected, monkeypatch):
    monkeypatch.setattr(discoparse.corpus.plan, "LEAST_BYTES", 1 << 20)
    sources = find_sources([str(corpus)])
    (tmp_path / "out" / ".job").mkdir(parents=True)
    options = Options(model, model_seal(model), "0", to="jsonl")
    worker = Worker(Job(str(tmp_path / "out"), options, sources, make_plan(sources, "text").units))
    decide = discoparse.corpus.work.decisions

    def failing(parser, sentences):
        if any(" ".join(words[:3]) in DOCUMENTS["d5"] for words in sentences):
            raise MemoryError("too much")
        return decide(parser, sentences)

    monkeypatch.setattr("discoparse.corpus.work.decisions", failing)
    monkeypatch.setattr(type(worker.parser), "window_tokens", 8)  # so that there are rows already when it fails
    outcome = worker.run(0)
    assert outcome.problems == [("d5", "it cannot be parsed: MemoryError: too much")]
    assert outcome.documents == len(DOCUMENTS) - 1
    shutil.rmtree(tmp_path / "out" / ".job")
    rows = stored_rows(tmp_path / "out")
    assert rows == [row for row in expected if row["document"] != "d5"]
    assert outcome.sentences == len(rows)


def test_a_killed_worker_is_replaced(tmp_path, corpus, model, expected, monkeypatch):
    add, killed = Journal.add, []

    def add_and_kill(journal, outcome):
        add(journal, outcome)
        if not killed:
            killed.append(active_children()[0].pid)
            os.kill(killed[0], signal.SIGKILL)

    monkeypatch.setattr(Journal, "add", add_and_kill)
    notices: list[str] = []
    output = tmp_path / "out"
    result = parse_corpus([str(corpus)], str(output), model, engine=Engine(workers=1), notice=notices.append)
    assert stored_rows(output) == expected
    assert result.complete
    (lost,) = result.incidents.lost
    assert lost["reason"] == "killed by SIGKILL"
    assert str(killed[0]) in lost["worker"]
    assert figures(output)["lost"] == [lost]
    assert notices == [f"lost a worker ({lost['worker']}): killed by SIGKILL"]
    assert not active_children()


def test_a_file_that_changes_meanwhile_is_noticed(tmp_path, corpus, model, monkeypatch):
    add = Journal.add

    def add_and_write(journal, outcome):
        add(journal, outcome)
        corpus.write_bytes(corpus.read_bytes() + b"\n")

    monkeypatch.setattr(Journal, "add", add_and_write)
    status, _, errors = run_main("corpus", str(corpus), str(tmp_path / "out"), "-m", model, "--num-workers", "1")
    assert status == 1
    assert "corpus.jsonl was changed while the job ran" in errors
    assert figures(tmp_path / "out")["changed"] == ["corpus.jsonl"]


def test_the_end_of_the_program_ends_its_workers(tmp_path, corpus, model):
    """However it ends: nothing may go on writing into the output."""
    ended = run_elsewhere(
        *("corpus", str(corpus), str(tmp_path / "out"), "-m", model, "--num-workers", "2"), die_after=1
    )
    assert ended.returncode == -signal.SIGKILL  # and standard error, which workers inherit, was closed


def test_workers_do_not_finish_their_units_when_the_program_was_killed(tmp_path, model):
    """A program that resumes the job should not have to share the machine with them."""
    long = " ".join(["What did you see in the old house?"] * 100_000)
    corpus = write_json_lines(tmp_path / "corpus.jsonl", {"long": long, "short": "The dog barks."})
    output = tmp_path / "out"
    arguments = ("corpus", str(corpus), str(output), "-m", model, "--num-workers", "2")
    ended = run_elsewhere(*arguments, unit_bytes=1, die_after=1)
    assert ended.returncode == -signal.SIGKILL
    assert [path.name for path in output.glob("part-*")] == ["part-00001.parquet"]


def test_a_worker_that_cannot_start_leaves_nothing_behind(tmp_path, model):
    job = Job(str(tmp_path / "nowhere"), Options(model, model_seal(model), "0"), [], [])
    pool = LocalPool(job)
    pool.start()
    events: list[Event] = []
    while not events:
        events += pool.events(1)
    (event,) = events
    assert isinstance(event, Unusable)
    assert "the output must be in a folder that all nodes share" in event.failure.message
    assert not pool.events(0.1)
    assert not active_children()


@pytest.mark.parametrize("to", ["parquet", "jsonl"])
def test_rows_of_a_file_can_be_dropped(tmp_path, model, monkeypatch, to):
    monkeypatch.setattr("discoparse.corpus.shards._BATCH", 2)
    parser = discoparse.load(model, "cpu")
    passages = list(read_text(["What did you see? The dog barks. No. " * 3], "en", print))
    decided = decisions(parser, [passage.words for passage in passages])
    with open_shard(tmp_path / f"part-0.{to}", to, Writer(parser.vocabulary, parser.chains)) as shard:
        for number, (passage, one) in enumerate(zip(passages, decided, strict=True)):
            shard.add(Sentence("d", number + 1, passage), one)
            if number == 4:
                shard.keep()
            if number == 7:
                shard.drop()
        shard.keep()
        assert not (tmp_path / f"part-0.{to}").exists()
    assert [row["sentence"] for row in stored_rows(tmp_path)] == [1, 2, 3, 4, 5, 9]


@pytest.mark.usefixtures("default_interrupts")
@pytest.mark.parametrize(("by", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_job_says_how_to_go_on(tmp_path, corpus, model, expected, by, status):
    output = tmp_path / "out"
    arguments = ("corpus", str(corpus), str(output), "-m", model, "--num-workers", "2")
    ended = run_elsewhere(*arguments, die_after=2, by=by)
    assert ended.returncode == status, ended.stderr
    assert "what is done is kept: go on with --resume" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not list(output.glob(".part-*"))  # workers had the time to clean up
    assert run_main(*arguments, "--resume")[0] == 0
    assert stored_rows(output) == expected


# -- wrong use ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["only-one"], "corpus needs an input and an output"),
        (["nowhere", "OUT"], "there is no file or directory nowhere"),
        (["IN", "OUT", "--lines", "--pretokenized"], "--lines is for raw text"),
        (["IN", "OUT", "--address", "auto"], "add --engine ray"),
        (["IN", "OUT", "--model", "nonsense"], "there is no model 'nonsense'"),
        (["IN", "OUT", "--model", "de", "--model", "nl"], "several models together are for discoparse parse"),
    ],
)
def test_wrong_use_is_refused(tmp_path, corpus, arguments, complaint):
    named = [{"IN": str(corpus), "OUT": str(tmp_path / "out")}.get(part, part) for part in arguments]
    status, _, errors = run_main("corpus", *named)
    assert (status, complaint in errors) == (2, True), errors
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("library", "extra"), [("ray", "ray"), ("pyarrow", "arrow")])
def test_what_is_not_installed_is_named(tmp_path, corpus, model, monkeypatch, library, extra):
    monkeypatch.setitem(sys.modules, library, None)
    status, _, errors = run_main("corpus", str(corpus), str(tmp_path / "out"), "-m", model, "--engine", "ray")
    assert status == 2
    assert f"pip install 'discoparse[{extra}]'" in errors
    assert not (tmp_path / "out").exists()


def test_schemas_are_printed():
    status, printed, _ = run_main("corpus", "--schema", "json")
    assert status == 0
    assert json.loads(printed)["required"] == ["tokens", "nodes"]
    status, printed, _ = run_main("corpus", "--schema", "arrow")
    assert status == 0
    assert json.loads(printed)["schema"]["fields"][0]["name"] == "id"


def test_a_model_that_workers_do_not_have(tmp_path, corpus, model, monkeypatch):
    monkeypatch.setattr("discoparse.corpus.run.model_seal", lambda name: "another")
    with pytest.raises(DiscoparseError, match=r"no worker can be used: the model .* is not the one of this job"):
        parse_corpus([str(corpus)], str(tmp_path / "out"), model, engine=Engine(workers=2))
