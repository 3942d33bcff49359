"""Plan files, runs with settings of their own, and scores whose epoch was chosen on other sentences."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from discoparse.cli import cli
from discoparse.errors import DiscoparseError, UsageError
from discoparse.evaluation import evaluate
from discoparse.evaluation.counts import Counts
from discoparse.experiment.epochs import COUNTS, EvaluationCounts, best_evaluation, held_out_counts
from discoparse.experiment.plan import FinishedRun, Run
from discoparse.experiment.planfile import read_plan
from discoparse.experiment.sections import holm
from discoparse.treebank import read_trees

from .test_experiment import SETTINGS, make_treebank

REPOSITORY = Path(__file__).parents[2]


def write_plan(folder: Path, plan: object) -> Path:
    path = folder / "plan.json"
    path.write_text(json.dumps(plan))
    return path


# -- plan files --------------------------------------------------------------------------------------------------


def test_an_entry_is_every_combination_of_what_it_lists(tmp_path: Path) -> None:
    plan = [{"oracles": ["static", "even"], "seeds": 2, "set": {"exploration": [0.1, 0.2], "gap_weight": 2}}]
    runs = read_plan(write_plan(tmp_path, plan), ["a", "b"])
    assert len(runs) == len(set(runs)) == 2 * 2 * 2 * 2
    assert ("b", Run("fast", "even", 2, "exploration=0.2,gap_weight=2.0")) in runs
    assert [run.seed for _, run in runs] == [1] * 8 + [2] * 8  # what is there early can be compared


def test_settings_that_the_recipe_has_anyway_make_no_variant(tmp_path: Path) -> None:
    """Entries overlap in the plain run, which is trained once, and spelling does not tell runs apart."""
    plan = [
        {"oracles": ["complete"], "seeds": 1},
        {"oracles": ["complete"], "seeds": 2, "set": {"exploration": [0.5, "0.50", 0.15], "optimal_set": False}},
    ]
    runs = read_plan(write_plan(tmp_path, plan), ["a"])
    assert [run.name for _, run in runs] == [
        "fast-complete-1",
        "fast-complete-exploration=0.15-1",
        "fast-complete-2",
        "fast-complete-exploration=0.15-2",
    ]


def test_entries_for_other_treebanks_are_left_out(tmp_path: Path) -> None:
    plan = [{"treebanks": ["a"], "seeds": 1, "oracles": ["static"]}, {"treebanks": ["c"]}]
    path = write_plan(tmp_path, plan)
    said: list[str] = []
    assert read_plan(path, ["b", "a"], progress=said.append) == [("a", Run("fast", "static", 1))]
    assert said == [f"{path}: left out, since they are not among the treebanks given: c"]
    with pytest.raises(UsageError, match="no runs on b"):
        read_plan(path, ["b"])


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({}, "list of objects"),
        ([{"oracle": ["static"]}], "entry 1: unknown key 'oracle'.* Did you mean oracles"),
        ([{}, {"oracles": ["best"]}], "entry 2: unknown oracle 'best'"),
        ([{"oracles": "static"}], "oracles is a list of names"),
        ([{"treebanks": [3]}], "treebanks is a list of names"),
        ([{"seeds": 0}], "seeds is a number"),
        ([{"seeds": True}], "seeds is a number"),
        ([{"recipe": "quick"}], "unknown recipe 'quick'"),
        ([{"set": ["exploration"]}], "set is an object"),
        ([{"set": {"explore": [0.1]}}], "there is no setting explore"),
        ([{"set": {"exploration": [7]}}], "out of range"),
        ([{"set": {"oracle": ["even"]}}], "under oracles"),
    ],
)
def test_wrong_plans(tmp_path: Path, plan: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_plan(write_plan(tmp_path, plan), ["a"])


def test_a_plan_that_is_not_json(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text("[{")
    with pytest.raises(UsageError, match="not JSON"):
        read_plan(path, ["a"])


def test_the_published_grid() -> None:
    """What research/ says was run: seven systems on five treebanks, and 28 ways of exploring beside the recipe's."""
    names = ["de_pcc", "nl_alpino", "en_masc", "en_craft", "is_icepahc"]
    runs = read_plan(REPOSITORY / "research" / "claims-grid.json", names)
    explored = [planned for planned in runs if "exploration" in planned[1].variant]
    assert len(explored) == 3 * 2 * 2 * 7
    systems = {
        name: {run.system for bank, run in runs if bank == name and "explor" not in run.variant} for name in names
    }
    assert all(len(found) == 7 for found in systems.values())
    assert len(runs) - len(explored) == 7 * (2 * 5 + 3 * 3)
    paper = read_plan(REPOSITORY / "research" / "claims-paper.json", names)
    assert {(run.recipe, run.oracle) for _, run in paper} == {("paper", o) for o in ("static", "dynamic", "complete")}


# -- from end to end ---------------------------------------------------------------------------------------------


def experiment(treebank: Path, output: Path, *arguments: str) -> Result:
    settings = [part for pair in SETTINGS.items() for part in ("--set", "{}={}".format(*pair))]
    command = ["experiment", str(treebank), "--output", str(output), "--device", "cpu", *settings, *arguments]
    return CliRunner().invoke(cli, command)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Treebank, output and plan file of an experiment with a variant."""
    folder = tmp_path_factory.mktemp("planned")
    treebank = make_treebank(folder / "own")
    plan = write_plan(folder, [{"oracles": ["complete"], "seeds": 2, "set": {"gap_weight": [1, 3]}}])
    listed = experiment(treebank, folder / "out", "--plan", str(plan), "--dry-run")
    assert listed.exit_code == 0, listed.output
    assert not (folder / "out").exists()
    assert listed.stdout.splitlines() == [f"own/fast-complete-{v}{s}" for s in (1, 2) for v in ("", "gap_weight=3.0-")]
    outcome = experiment(treebank, folder / "out", "--plan", str(plan), "--jobs", "2")
    assert outcome.exit_code == 0, outcome.output
    return treebank, folder / "out", plan


def test_variants_have_rows_of_their_own(finished: tuple[Path, Path, Path]) -> None:
    treebank, output, plan = finished
    figures = json.loads((output / "own" / "results.json").read_text())
    systems = {system["oracle"]: system["seeds"] for system in figures["dev"]["systems"]}
    assert systems == {"complete": [1, 2], "complete, gap_weight=3.0": [1, 2]}
    assert {run["settings"]["gap_weight"] for run in figures["runs"] if run["variant"]} == {3.0}
    assert {run["settings"]["gap_weight"] for run in figures["runs"] if not run["variant"]} == {1.0}
    assert {row["oracle"] for row in figures["dev"]["breakdowns"]["label"]} == {"complete"}
    tests = figures["dev"]["seed_tests"]
    assert {(t["first_oracle"], t["second_oracle"]) for t in tests} == {("complete", "complete, gap_weight=3.0")}
    listed = experiment(treebank, output, "--plan", str(plan), "--dry-run")
    assert listed.stdout.count("finished") == 4


def test_the_page_has_the_plan_of_its_variants(finished: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """The plan on the page stands for the runs that there are, and the command has the other settings."""
    page = (finished[1] / "report.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```json\n(.*?)\n```", page, flags=re.S)
    path = tmp_path / "plan.json"
    path.write_text(block)
    assert {run.name for _, run in read_plan(path, ["own"])} == {f"fast-complete-gap_weight=3.0-{s}" for s in (1, 2)}
    command = next(line for line in page.splitlines() if "--plan plan.json" in line)
    assert "--set hidden=24" in command
    assert "gap_weight" not in command
    for part in ("dev", "dev_held_out"):
        tests = (finished[1] / "report" / f"seed-tests-{part}.csv").read_text().splitlines()
        assert len(tests) == 1 + 6  # F1, precision and recall, of all and of discontinuous constituents
    held_out = page[page.index("**Scores on dev, with the epoch chosen on its other half") :]
    assert held_out.index("over seeds and sentences**") > 0
    rows = re.findall(
        r"^\| own \| fast \| complete → complete, gap_weight=3.0 \| ([^|]+) \| 2 \+ 2", held_out, flags=re.M
    )
    assert rows == ["F1", "disc. F1"]
    assert "with the epoch chosen on its other half" in page


def test_the_page_has_a_plan_for_each_set_of_options(finished: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Variants with another limit on their time, or trained with other settings for all, need another command."""
    treebank, output, _ = finished
    copy = tmp_path / "copy"
    shutil.copytree(output, copy, ignore=shutil.ignore_patterns("model", "report*"))
    path = copy / "own" / "fast-complete-gap_weight=3.0-2" / "metrics.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "limit_minutes": 5.0}))
    outcome = CliRunner().invoke(cli, ["experiment", str(treebank), "--output", str(copy), "--report-only"])
    assert outcome.exit_code == 0, outcome.output
    page = (copy / "report.md").read_text(encoding="utf-8")
    commands = [line for line in page.splitlines() if "--plan plan-" in line]
    assert [("--minutes 5" in line, "--set hidden=24" in line) for line in commands] == [(False, True), (True, True)]
    assert len(re.findall(r"^`plan-[12]\.json` has runs", page, flags=re.M)) == 2


def test_the_counts_are_those_of_the_evaluations(finished: tuple[Path, Path, Path]) -> None:
    """At the best epoch they are those of the predictions that the run keeps."""
    folder = finished[1] / "own" / "fast-complete-1"
    curve = json.loads((folder / "metrics.json").read_text())["curve"]
    stored = np.load(folder / COUNTS)
    assert stored["epochs"].tolist() == [point["epoch"] for point in curve]
    gold = list(read_trees(finished[0] / "dev.export"))
    predicted = evaluate(gold, read_trees(folder / "dev.discbracket.gz")).counts
    best = best_evaluation(stored["counts"])
    assert curve[best]["f1"] == max(point["f1"] for point in curve)
    assert (stored["counts"][best] == predicted).all()
    assert not (folder / "evaluations").exists()


def test_a_setting_is_the_plan_s_or_the_user_s(finished: tuple[Path, Path, Path]) -> None:
    """Otherwise a cell of the grid would be trained with another value than the one that it is named after."""
    outcome = experiment(finished[0], finished[1], "--plan", str(finished[2]), "--set", "gap_weight=2")
    assert "set has gap_weight, and so has --set" in str(outcome.exception)


def test_a_dry_run_refuses_what_a_run_refuses(finished: tuple[Path, Path, Path], tmp_path: Path) -> None:
    shutil.copytree(finished[0], tmp_path / "own")
    outcome = experiment(finished[0], finished[1], str(tmp_path / "own"), "--dry-run")
    assert "two of the treebanks have the same name" in str(outcome.exception)


@pytest.mark.parametrize("option", [["--seeds", "2"], ["--oracles", "static"], ["--recipe", "fast"]])
def test_a_plan_stands_alone(finished: tuple[Path, Path, Path], option: list[str]) -> None:
    outcome = experiment(finished[0], finished[1], "--plan", str(finished[2]), *option)
    assert outcome.exit_code == 2
    assert f"{option[0]} cannot be combined with --plan" in outcome.output


# -- the choice of the epoch -------------------------------------------------------------------------------------


def run_with(folder: Path, matched: list[list[int]]) -> FinishedRun:
    """A run whose evaluations matched these numbers of ten constituents of each sentence."""
    counts = np.zeros((len(matched), len(matched[0]), len(Counts._fields)), dtype=np.int32)
    for name in ("gold", "predicted"):
        counts[:, :, Counts._fields.index(name)] = 10
    counts[:, :, Counts._fields.index("matched")] = matched
    np.savez(folder / COUNTS, counts=counts, epochs=np.arange(len(matched)))
    return FinishedRun(Run("fast", "static", 1), folder, {})


def test_a_half_is_scored_at_the_epoch_that_is_best_on_the_other(tmp_path: Path) -> None:
    """Even sentences (5, 9, 1) like the second epoch, odd ones (7, 2, 2) the first; each is scored at the other's."""
    run = run_with(tmp_path, [[5, 7, 5, 7], [9, 2, 9, 2], [1, 2, 1, 2]])
    counts = held_out_counts(run)
    assert counts[:, Counts._fields.index("matched")].tolist() == [5, 2, 5, 2]


def test_of_equal_epochs_the_first_is_chosen(tmp_path: Path) -> None:
    counts = held_out_counts(run_with(tmp_path, [[1, 5, 2], [3, 5, 0]]))
    assert counts[:, Counts._fields.index("matched")].tolist() == [1, 5, 2]


def test_counts_that_cannot_be_read(tmp_path: Path) -> None:
    run = run_with(tmp_path, [[1, 2]])
    (tmp_path / COUNTS).write_bytes(b"PK\x03\x04 broken")
    with pytest.raises(DiscoparseError, match=r"dev-counts.npz cannot be used .* delete the run's folder"):
        held_out_counts(run)


def test_a_training_that_an_earlier_version_began_has_no_counts(tmp_path: Path) -> None:
    """Evaluations before the change are missing; those after it are not passed off as all."""
    kept = EvaluationCounts(tmp_path)
    result = evaluate(*[list(read_trees(_examples()))] * 2)
    kept(20, result)
    kept.pack([{"step": 10, "epoch": 1}, {"step": 20, "epoch": 2}])
    assert not (tmp_path / COUNTS).exists()
    kept(10, result)
    kept.pack([{"step": 10, "epoch": 1}, {"step": 20, "epoch": 2}])
    assert np.load(tmp_path / COUNTS)["counts"].shape == (2, len(result.sentences), len(Counts._fields))
    kept.pack([{"step": 10, "epoch": 1}])  # once more after an interruption
    assert (tmp_path / COUNTS).exists()


def _examples() -> str:
    from importlib import resources

    return str(resources.files("discoparse") / "examples" / "sentences.discbracket")


def test_holm() -> None:
    assert holm([0.01, 0.02, 0.9]) == pytest.approx([0.03, 0.04, 0.9])
    assert holm([0.5, 0.4]) == [0.8, 0.8]
    assert holm([None]) == [None]
