"""A job that was stopped goes on, and ends with the rows of one that was not; another job does not take its place."""

from __future__ import annotations

import json
import shutil
import signal

import pytest
from command_line import run_main
from small_corpora import DOCUMENTS, run_elsewhere, stored_rows, write_json_lines

import discoparse.corpus.plan
from discoparse.corpus.documents import Fields
from discoparse.corpus.job import Record
from discoparse.corpus.run import Engine, parse_corpus
from discoparse.errors import UsageError

pytest.importorskip("pyarrow", reason="needs the extra arrow")

pytestmark = pytest.mark.usefixtures("small_units")


@pytest.mark.parametrize("to", ["parquet", "jsonl"])
def test_a_killed_job_goes_on(tmp_path, corpus, model, expected, to):
    output = tmp_path / "out"
    arguments = ("corpus", str(corpus), str(output), "-m", model, "--num-workers", "2", "--to", to)
    assert run_elsewhere(*arguments, die_after=3).returncode == -signal.SIGKILL
    journal = (output / ".job" / "journal.jsonl").read_text().splitlines()
    assert len(journal) == 3
    units = json.loads((output / ".job" / "manifest.json").read_text())["units"]
    assert len(list(output.glob("part-*"))) < len(units)
    undone = {f"part-{unit:05}.{to}" for unit in range(9)} - {
        f"part-{json.loads(line)['unit']:05}.{to}" for line in journal
    }
    (output / min(undone)).write_text("a file that is not in the journal")
    (output / f".part-00009.{to}.0123.unfinished").write_text("what a killed worker leaves")
    with (output / ".job" / "journal.jsonl").open("a") as stream:
        stream.write('{"unit": 4, "docum')  # cut off in the middle
    status, printed, errors = run_main(*arguments, "--resume", "--num-workers", "1", "--json")
    assert status == 0, errors
    assert f"3 of {json.loads(printed)['units']} units are done already" in errors
    assert json.loads(printed)["units_resumed"] == 3
    assert json.loads(printed)["sentences"] == len(expected)
    assert stored_rows(output) == expected
    assert not list(output.glob(".part-*"))
    again = parse_corpus([str(corpus)], str(output), to=to, resume=True)  # the journal is sound
    assert len(again.before) == again.units


def test_a_file_that_is_gone_or_cut_is_made_again(tmp_path, corpus, model, expected):
    output = tmp_path / "out"
    parse_corpus([str(corpus)], str(output), model, engine=Engine(workers=1))
    (output / "part-00001.parquet").unlink()
    (output / "part-00002.parquet").write_bytes((output / "part-00002.parquet").read_bytes()[:-1])
    result = parse_corpus([str(corpus)], str(output), model, engine=Engine(workers=1), resume=True)
    assert [outcome.unit for outcome in result.done] == [1, 2]
    assert stored_rows(output) == expected


def test_a_finished_job_needs_no_worker_to_go_on(tmp_path, corpus, model, monkeypatch):
    output = str(tmp_path / "out")
    first = parse_corpus([str(corpus)], output, model, engine=Engine(workers=1))
    monkeypatch.setattr("discoparse.corpus.run.LocalPool", None)
    again = parse_corpus([str(corpus)], output, resume=True)
    assert again.total("sentences") == first.total("sentences")
    assert len(again.before) == first.units


def test_a_job_does_not_read_its_own_files(tmp_path, corpus, model, expected):
    """The output may lie within the input: `discoparse corpus . out`, and again to go on."""
    folder = tmp_path / "news"
    folder.mkdir()
    shutil.copy(corpus, folder / "a.jsonl")
    (folder / "out-of-date").mkdir()
    (folder / "out-of-date" / "b.jsonl").write_text('{"id": "late", "text": ""}\n', encoding="utf-8")
    for _ in range(2):
        result = parse_corpus([str(folder)], str(folder / "out"), model, engine=Engine(workers=1), resume=True)
        assert result.complete
        assert result.total("documents") == len(DOCUMENTS) + 1
        assert stored_rows(folder / "out") == expected
    with pytest.raises(UsageError, match="all files of the input are in the output's folder"):
        parse_corpus([str(folder / "out")], str(folder / "out"), model, engine=Engine(workers=1), resume=True)


def test_resume_begins_where_there_is_nothing(tmp_path, corpus, model, expected):
    parse_corpus([str(corpus)], str(tmp_path / "out"), model, engine=Engine(workers=1), resume=True)
    assert stored_rows(tmp_path / "out") == expected


def test_without_resume_a_job_is_not_touched(tmp_path, corpus, model, monkeypatch):
    output = str(tmp_path / "out")
    parse_corpus([str(corpus)], output, model, engine=Engine(workers=1))
    monkeypatch.setattr("discoparse.corpus.run.LocalPool", None)
    with pytest.raises(UsageError, match="go on with it by --resume"):
        parse_corpus([str(corpus)], output, model)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").touch()
    with pytest.raises(UsageError, match="other files in it"):
        parse_corpus([str(corpus)], str(tmp_path / "full"), model)
    with pytest.raises(UsageError, match="is a file"):
        parse_corpus([str(corpus)], str(corpus), model)


@pytest.fixture
def begun(tmp_path, corpus, model):
    """A job of which a part is done."""
    output = tmp_path / "out"
    parse_corpus([str(corpus)], str(output), model, engine=Engine(workers=1))
    (output / "part-00001.parquet").unlink()
    return output


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"to": "jsonl"}, "--to is 'jsonl' now and was 'parquet'"),
        ({"lines": True}, "--lines is True now and was False"),
        ({"pretokenized": True}, "--pretokenized is True now"),
        ({"fields": Fields(id="year")}, "--id-field is 'year' now and was None"),
        ({"fields": Fields(text="year")}, "--text-field is 'year' now and was 'text'"),
        ({"engine": Engine(gpus_per_worker=1)}, "the device (by --gpus-per-worker) is 'cuda' now and was 'cpu'"),
    ],
)
def test_other_options_are_refused(begun, corpus, model, changes, complaint):
    with pytest.raises(UsageError, match="cannot go on, since it was begun differently") as caught:
        parse_corpus([str(corpus)], str(begun), model, resume=True, **changes)
    assert complaint in str(caught.value)


def test_another_input_is_refused(begun, corpus, model):
    before = corpus.read_text()
    corpus.write_text(before.replace("dog", "cow", 1))
    with pytest.raises(UsageError, match=r"the file corpus\.jsonl of the input was changed"):
        parse_corpus([str(corpus)], str(begun), model, resume=True)
    corpus.write_text(before)  # with a new time, which does not matter
    more = write_json_lines(corpus.with_name("more.jsonl"), {"m": "More."})
    with pytest.raises(UsageError, match=r"the input has a new file more\.jsonl"):
        parse_corpus([str(corpus), str(more)], str(begun), model, resume=True)
    with pytest.raises(UsageError, match=r"lacks the file corpus\.jsonl"):
        parse_corpus([str(more)], str(begun), model, resume=True)
    assert parse_corpus([str(corpus)], str(begun), model, engine=Engine(workers=1), resume=True).complete


def test_another_model_is_refused_but_not_another_place_for_it(begun, corpus, model, tmp_path):
    from random_model import save_random_model

    save_random_model(tmp_path / "other" / "model", "nl")
    with pytest.raises(UsageError, match="the content of --model is"):
        parse_corpus([str(corpus)], str(begun), str(tmp_path / "other" / "model"), resume=True)
    shutil.copytree(model, tmp_path / "moved")
    engine = Engine(workers=1)
    assert parse_corpus([str(corpus)], str(begun), str(tmp_path / "moved"), engine=engine, resume=True).complete


def test_another_version_is_refused(begun, corpus, model, monkeypatch):
    monkeypatch.setattr(discoparse, "__version__", "9.9", raising=False)
    with pytest.raises(UsageError, match=r"the version of discoparse is '9\.9' now and was"):
        parse_corpus([str(corpus)], str(begun), model, resume=True)


def test_two_programs_do_not_work_on_one_job(tmp_path, corpus, model):
    output = tmp_path / "out"
    with Record(output).held(resume=False), pytest.raises(UsageError, match="another process is working"):
        parse_corpus([str(corpus)], str(output), model)
