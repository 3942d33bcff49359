"""What programs that parse a lot tell Python's garbage collector."""

from __future__ import annotations

import gc

import pytest
from command_line import run_main
from random_model import save_random_model

from discoparse.parser.processes import keep_what_is_loaded


def test_the_collector_keeps_what_is_loaded_and_comes_less_often():
    before = gc.get_threshold()
    try:
        gc.set_threshold(700, *before[1:])
        keep_what_is_loaded()
        assert gc.get_freeze_count() > 1000
        assert gc.get_threshold()[0] > 10_000
        assert gc.get_threshold()[1:] == before[1:]
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


@pytest.mark.parametrize(("format", "place"), [("discbracket", "parse_jobs"), ("export", "parse")])
def test_the_program_does_so_once_models_are_loaded(tmp_path, monkeypatch, format, place):
    save_random_model(tmp_path / "model")
    called = []
    monkeypatch.setattr(f"discoparse.cli.{place}.keep_what_is_loaded", lambda: called.append(place))
    assert run_main("parse", "--model", str(tmp_path / "model"), "--to", format, "Go.")[0] == 0
    assert called == [place]
