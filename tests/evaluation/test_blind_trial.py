"""scripts/blind_trial.py: nobody can tell whose tree is whose, and verdicts go back to the right model."""

from __future__ import annotations

import re
from pathlib import Path

import blind_trial
import pytest
from click.testing import CliRunner
from tiny_models import tiny_model

from discoparse import DiscoparseError, load

ROOT = Path(__file__).resolve().parents[2]
SENTENCES = [f"Das ist Satz {k}." for k in range(12)]


def run(*arguments: object) -> str:
    result = CliRunner().invoke(blind_trial.main, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("models")
    for seed in (1, 2):
        tiny_model(folder / str(seed), seed=seed)
    return folder / "1", folder / "2"


@pytest.fixture
def sentences(tmp_path) -> Path:
    path = tmp_path / "sentences.txt"
    path.write_text("\n".join([*SENTENCES, "", ""]), encoding="utf-8")
    return path


def judge(sheet: str, verdict) -> str:
    """The sheet with a verdict on each sentence, which may depend on what is written of it."""
    head, *entries = sheet.split("## ")
    return "## ".join([head, *(one.replace("verdict:", f"verdict: {verdict(one)}") for one in entries)])


def test_trees_of_the_old_model_are_named_at_random_and_found_again(models, sentences, tmp_path):
    sheet = run("sheet", sentences, *models, "--seed", 3)
    assert sheet == run("sheet", sentences, *models, "--seed", 3)
    assert sheet != run("sheet", sentences, *models, "--seed", 4)
    assert not any(str(model) in sheet for model in models)
    old = [f"A: {trees[0]}" for trees in load(str(models[0])).parse(SENTENCES)]
    named_a = [tree in sheet for tree in old]
    assert len(set(named_a)) == 2

    path = tmp_path / "trial.sheet"
    path.write_text(judge(sheet, lambda one: "A right" if any(t in one for t in old) else "B right"), encoding="utf-8")
    assert [verdict for _, verdict, _ in blind_trial.read_verdicts(path)] == ["old right"] * len(SENTENCES)
    assert "12 sentences; right: old 12, new 0; better: old 12, new 0, p = 0.00\n" in run("resolve", path)
    path.write_text(
        judge(sheet, lambda one: "B better" if any(t in one for t in old) else "A better"), encoding="utf-8"
    )
    assert "right: old 0, new 0; better: old 0, new 12, p = 0.00\n  new better: Das ist Satz 0.\n" in run(
        "resolve", path
    )


def test_trees_that_are_the_same_appear_once(models, sentences, tmp_path):
    sheet = run("sheet", sentences, models[0], models[0])
    assert re.findall(r"^(AB|A|B|only A|only B):", sheet, re.MULTILINE) == ["AB"] * len(SENTENCES)
    path = tmp_path / "trial.sheet"
    path.write_text(judge(sheet, lambda one: "both right" if "Satz 3" in one else "both wrong"), encoding="utf-8")
    assert run("resolve", path) == "trial.sheet: 12 sentences; right: old 1, new 1; better: old 0, new 0, p = 1.00\n"
    path.write_text(judge(sheet, lambda one: "A right"), encoding="utf-8")
    with pytest.raises(DiscoparseError, match=r"'Das ist Satz 0\.' is 'A right', not one of both right, both wrong$"):
        blind_trial.read_verdicts(path)


def test_what_only_one_tree_has_is_listed_with_gaps():
    from discoparse.treebank import parse_tree

    a = parse_tree("(ROOT (S (VP (PWS 0=Was) (VVPP 3=getan)) (VAFIN 1=hast) (PPER 2=du)))")
    b = parse_tree("(ROOT (S (PWS 0=Was) (VAFIN 1=hast) (PPER 2=du) (VVINF 3=getan)))")
    entry = blind_trial.entry("Was hast du getan", [a], [b])
    assert "only A: VP [Was … getan]; VVPP getan\nonly B: VVINF getan\n" in entry


def test_missing_verdicts_and_other_files_are_refused(models, sentences, tmp_path):
    path = tmp_path / "trial.sheet"
    path.write_text(run("sheet", sentences, *models), encoding="utf-8")
    with pytest.raises(DiscoparseError, match=r"trial\.sheet: the verdict on 'Das ist Satz 0\.' is '', not one of"):
        blind_trial.read_verdicts(path)
    with pytest.raises(DiscoparseError, match=r"sentences\.txt is not a sheet"):
        blind_trial.read_verdicts(sentences)


@pytest.mark.parametrize(("old", "new", "p"), [(0, 0, 1.0), (3, 3, 1.0), (0, 5, 0.0625), (5, 0, 0.0625), (1, 6, 0.125)])
def test_sign_test(old, new, p):
    assert blind_trial.sign_test(old, new) == pytest.approx(p)


def test_the_page_has_the_figures_of_the_sheets():
    page = (ROOT / "research" / "trial.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `([a-z-]+)` \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| ([\d.]+) \|$", page, re.MULTILINE
    )
    assert [row[0] for row in rows] == ["de", "nl", "nl-large", "en", "is"]
    for name, same, *figures in rows:
        path = ROOT / "research" / "trial" / f"{name}.sheet"
        sheet, sentences = path.read_text(encoding="utf-8"), path.with_name(f"{name[:2]}.txt")
        assert [one for one, _, _ in blind_trial.read_verdicts(path)] == sentences.read_text(
            encoding="utf-8"
        ).splitlines()
        assert int(same) == len(re.findall(r"^AB:", sheet, re.MULTILINE))
        expected = "right: old {}, new {}; better: old {}, new {}, p = {}".format(*figures)
        assert run("resolve", path).splitlines()[0] == f"{name}.sheet: 40 sentences; {expected}"
