"""`discoparse experiment` from end to end on a tiny treebank: runs, resuming, and a report whose numbers are true."""

from __future__ import annotations

import csv
import json
import re
import shutil
from importlib import resources
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from discoparse.cli import cli
from discoparse.evaluation import evaluate
from discoparse.treebank import read_trees, write_trees

SIZES = {"word_size": 8, "character_size": 8, "character_hidden": 8, "hidden": 24, "scorer_hidden": 24}
SETTINGS = {**SIZES, "epochs": 0, "updates": 20, "evaluate_every": 10, "warmup_steps": 1, "learning_rate": 0.02}
ORACLES, SEEDS = ("static", "complete"), 2
RUNS = {f"fast-{oracle}-{seed}" for oracle in ORACLES for seed in (1, 2)}


def make_treebank(folder: Path) -> Path:
    """Our example sentences a few times over: train as discbracket, dev as export, test as a folder of files."""
    examples = read_trees(str(resources.files("discoparse") / "examples" / "sentences.discbracket"))
    trees = [tree for tree in examples if tree.root.label == "ROOT"]  # export has no other roots
    folder.mkdir()
    write_trees(trees * 4, folder / "train.discbracket.gz")
    write_trees(trees * 2, folder / "dev.export")
    (folder / "dev.raw.export").write_text("not a treebank\n")
    (folder / "test").mkdir()
    write_trees(trees, folder / "test" / "1.discbracket")
    return folder


def experiment(treebank: Path, output: Path, *arguments: str, **changes: object) -> Result:
    settings = [part for pair in {**SETTINGS, **changes}.items() for part in ("--set", "{}={}".format(*pair))]
    options = ["--oracles", ",".join(ORACLES), "--seeds", str(SEEDS), "--device", "cpu", *settings]
    command = ["experiment", str(treebank), "--output", str(output), *options, *arguments]
    return CliRunner().invoke(cli, command)


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_treebank(tmp_path_factory.mktemp("treebanks") / "own")


@pytest.fixture(scope="module")
def output(treebank: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole experiment, two trainings at a time."""
    folder = tmp_path_factory.mktemp("output")
    outcome = experiment(treebank, folder, "--jobs", "2")
    assert outcome.exit_code == 0, outcome.output
    return folder


def trained(outcome: Result) -> list[str]:
    return re.findall(r"own/(\S+): training", outcome.stderr)


def results(output: Path) -> dict:
    return json.loads((output / "own" / "results.json").read_text())


def rows(output: Path, name: str) -> list[dict[str, str]]:
    with (output / "report" / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_run_keeps_what_the_report_needs(output: Path) -> None:
    """Predictions, metrics, log and model lie in each run's folder; the state to resume from is gone."""
    folders = {path.name for path in (output / "own").iterdir() if path.is_dir()}
    assert folders == RUNS
    for name in RUNS:
        files = {path.name for path in (output / "own" / name).iterdir()}
        assert files >= {"metrics.json", "log.jsonl", "model", "dev.discbracket.gz", "test.discbracket.gz"}
        assert "latest" not in files


def test_scores_are_those_of_the_predictions(treebank: Path, output: Path) -> None:
    """The report's scores can be had again from the predictions, for dev and test, and the model is the best one."""
    for part, path in (("dev", treebank / "dev.export"), ("test", treebank / "test")):
        gold = list(read_trees(path))
        for system in results(output)[part]["systems"]:
            assert system["seeds"] == [1, 2]
            for seed, f1 in zip(system["seeds"], system["scores"]["f1"]["values"], strict=True):
                folder = output / "own" / f"fast-{system['oracle']}-{seed}"
                scores = evaluate(gold, read_trees(folder / f"{part}.discbracket.gz")).all
                assert f1 == pytest.approx(scores.f1 or 0.0)
                if part == "dev":
                    metrics = json.loads((folder / "metrics.json").read_text())
                    assert f1 == pytest.approx(metrics["dev"]["f1"])
                    assert f1 == pytest.approx(max(point["f1"] for point in metrics["curve"]))


def test_tables_have_the_figures_of_the_json_file(output: Path) -> None:
    """Markdown, CSV and JSON say the same: means and deviations over seeds."""
    page = (output / "report.md").read_text(encoding="utf-8")
    scores_of_dev = page[page.index("## Scores") :].splitlines()
    for system, row in zip(results(output)["dev"]["systems"], rows(output, "scores-dev"), strict=True):
        scores = system["scores"]["f1"]
        first, second = scores["values"]
        assert float(row["F1"]) == pytest.approx((first + second) / 2)
        assert float(row["F1 sd"]) == pytest.approx(abs(first - second) / 2**0.5)
        line = next(line for line in scores_of_dev if line.startswith(f"| own | fast | {system['oracle']} | 2 | "))
        assert line.split(" | ")[4] == f"{scores['mean']:.1f} ± {scores['sd']:.1f}"
    tex = (output / "report" / "tables.tex").read_text(encoding="utf-8")
    assert tex.count(r"\begin{tabular}") == tex.count(r"\end{tabular}") >= 10
    assert re.search(r"[^\\]%", tex) is None, "an unescaped % hides the rest of a line from LaTeX"


def test_markdown_tables_are_well_formed(output: Path) -> None:
    """Every row of a table has as many cells as its head, and every picture is there and is XML."""
    page = (output / "report.md").read_text(encoding="utf-8")
    for block in re.findall(r"(?:^\|.*\n)+", page, flags=re.M):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1, block
    linked = re.findall(r"\]\((report/\S+\.svg)\)", page)
    assert len(linked) == 4
    for name in linked:
        assert ElementTree.parse(output / name).getroot().tag.endswith("svg")
    for word in ("Tables 3 and 7", "Figure 3", "Table 6", "gap degree", "length of the constituent", "4n-2", "p value"):
        assert word in page


def test_memory_and_transitions(output: Path) -> None:
    """Every configuration is counted once, and the set-based system takes 2n-1 structural transitions always."""
    figures = results(output)
    points = figures["transitions"]["points"]
    assert all(row[1] == 2 * row[0] - 1 and min(row[2:]) >= row[1] for row in points)
    configurations = sum(2 * row[0] - 1 for row in points)
    for row in figures["memory"]:
        seeds = 1 if row["recipe"] is None else SEEDS
        assert sum(count for _, count in row["distribution"]) == seeds * configurations
        assert 0 <= row["at_most_7"] <= row["at_most_11"] <= 1


def test_the_page_says_how_to_run_it_again(output: Path) -> None:
    """Settings, oracles, seeds, versions and hardware stand in the report."""
    page = (output / "report.md").read_text(encoding="utf-8")
    command = next(line for line in page.splitlines() if line.startswith("discoparse experiment own --output runs"))
    assert "--oracles static,complete --seeds 2" in command
    for name, value in SIZES.items():
        assert f"--set {name}={value}" in command
    assert '"torch":' in page
    assert '"cpu":' in page


def test_only_what_is_missing_is_trained(treebank: Path, output: Path, tmp_path: Path) -> None:
    """A deleted run is trained again, to the same scores, and no other; without anything missing, nothing is."""
    copy = tmp_path / "copy"
    shutil.copytree(output, copy)
    before = results(copy)["dev"]["systems"]
    shutil.rmtree(copy / "own" / "fast-static-2")
    outcome = experiment(treebank, copy, "--jobs", "2")  # as many threads as before
    assert outcome.exit_code == 0, outcome.output
    assert trained(outcome) == ["fast-static-2"]
    assert results(copy)["dev"]["systems"] == before
    assert trained(experiment(treebank, copy)) == []


def test_runs_with_and_without_a_time_limit_are_told_apart(treebank: Path, output: Path, tmp_path: Path) -> None:
    """Both are kept, with a word, and the page has a command for each."""
    copy = tmp_path / "copy"
    shutil.copytree(output, copy)
    path = copy / "own" / "fast-static-2" / "metrics.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "limit_minutes": 5.5}))
    outcome = experiment(treebank, copy)
    assert outcome.exit_code == 0, outcome.output
    assert "own/fast-static-2: kept as it is; it was trained with a limit of 5.5 minutes" in outcome.stderr
    lines = (copy / "report.md").read_text(encoding="utf-8").splitlines()
    commands = [line for line in lines if line.startswith("discoparse experiment own --output runs --recipe")]
    assert ["--minutes 5.5" in command for command in commands] == [False, True]


def test_report_elsewhere_with_notes_and_without_models(treebank: Path, output: Path, tmp_path: Path) -> None:
    """Runs made elsewhere are reported on without their models, with hand-written notes kept in a file of their own."""
    copy = tmp_path / "copy"
    shutil.copytree(output, copy, ignore=shutil.ignore_patterns("model", "report*"))
    page = tmp_path / "docs" / "results.md"
    page.parent.mkdir()
    page.with_name("results-notes.md").write_text("# Mine\n\n## Reading\n\nTiny, and **only** a test.\n")
    outcome = experiment(treebank, copy, "--report-only", "--report", str(page))
    assert outcome.exit_code == 0, outcome.output
    assert trained(outcome) == []
    text = page.read_text(encoding="utf-8")
    assert "Tiny, and **only** a test." in text
    assert re.findall(r"^# .*", text, flags=re.M) == ["# Mine"]
    assert "\n# Results\n" in (output / "report.md").read_text(encoding="utf-8")
    assert (page.parent / "results" / "own-memory.svg").exists()
    assert "](results/own-memory.svg)" in text
    assert [text.count(f"\n## {head}\n") for head in ("Learning curves", "The memory")] == [1, 1]
    assert not (copy / "report.md").exists()


def test_an_archive_has_no_words_and_gives_the_same_report(treebank: Path, output: Path, tmp_path: Path) -> None:
    """What is published of the runs has every figure of the report, and no word of the treebank."""
    archive = tmp_path / "archive"
    command = ["experiment", str(treebank), "--report-only", "--output"]
    outcome = CliRunner().invoke(cli, [*command, str(output), "--archive", str(archive)])
    assert outcome.exit_code == 0, outcome.output
    assert {path.name for path in (archive / "own").iterdir()} == {*RUNS, "speed-cpu.json"}
    for name in RUNS:
        kept = {path.name for path in (archive / "own" / name).iterdir()}
        assert kept == {"metrics.json", "dev-counts.npz", "dev.discbracket.gz", "test.discbracket.gz"}
        for part in ("dev", "test"):
            hidden = list(read_trees(archive / "own" / name / f"{part}.discbracket.gz"))
            assert {word for tree in hidden for word in tree.words} == {"_"}
    before = results(output)
    outcome = CliRunner().invoke(cli, [*command, str(archive)])
    assert outcome.exit_code == 0, outcome.output
    assert results(archive) == before
    assert (archive / "report.md").read_text(encoding="utf-8") == (output / "report.md").read_text(encoding="utf-8")


def test_an_archive_is_of_one_treebank(treebank: Path, output: Path, tmp_path: Path) -> None:
    """Words of other sentences are not put into archived trees."""
    command = ["experiment", str(treebank), "--report-only", "--output"]
    CliRunner().invoke(cli, [*command, str(output), "--archive", str(tmp_path / "archive")])
    other = tmp_path / "own"
    shutil.copytree(treebank, other)
    trees = list(read_trees(other / "dev.export"))
    write_trees([trees[1], trees[0], *trees[2:]], other / "dev.export")
    assert len(trees[0]) != len(trees[1])
    command = ["experiment", str(other), "--report-only", "-o", str(tmp_path / "archive")]
    assert "dev had other trees when this run was made" in str(CliRunner().invoke(cli, command).exception)
    for name in RUNS:  # as an earlier version wrote them
        path = tmp_path / "archive" / "own" / name / "metrics.json"
        metrics = json.loads(path.read_text())
        del metrics["fingerprints"]
        path.write_text(json.dumps(metrics))
    assert "trees of other sentences than dev" in str(CliRunner().invoke(cli, command).exception)


def test_runs_are_not_archived_where_they_are(treebank: Path, output: Path) -> None:
    """Their predictions would lose their words."""
    outcome = experiment(treebank, output, "--archive", str(output))
    assert "archive them in another directory" in str(outcome.exception)


def test_a_report_on_nothing_but_variants(output: Path, tmp_path: Path) -> None:
    """Runs of a plan whose settings all differ from the recipe's: tables have them, also those of effects over all
    variants; pictures are of plain runs."""
    copy = tmp_path / "copy"
    shutil.copytree(output, copy, ignore=shutil.ignore_patterns("model", "report*"))
    for oracle, seed in (run.split("-")[1:] for run in RUNS):
        run = copy / "own" / f"fast-{oracle}-{seed}"
        metrics = json.loads((run / "metrics.json").read_text())
        variant = f"hidden={24 * int(seed)}"
        changed = {**metrics, "run": {**metrics["run"], "variant": variant}}
        (run / "metrics.json").write_text(json.dumps(changed))
        run.rename(run.with_name(f"fast-{oracle}-{variant}-{seed}"))
    command = ["experiment", str(tmp_path / "own"), "--output", str(copy), "--report-only"]
    make_treebank(tmp_path / "own")
    outcome = CliRunner().invoke(cli, command)
    assert outcome.exit_code == 0, outcome.output
    page = (copy / "report.md").read_text(encoding="utf-8")
    systems = {f"{oracle}, hidden={hidden}" for oracle in ORACLES for hidden in (24, 48)}
    assert {row["oracle"] for row in rows(copy, "scores-dev")} == systems
    for part in ("dev", "dev_held_out"):
        found = [(row["oracle"], row["what"], row["runs"]) for row in rows(copy, f"effects-{part}")]
        assert set(found) == {("static → complete", "over 2 variants", "4")}
    assert page.count("What settings and oracles add to scores on") >= 2
    assert "own-memory.svg" in page
    assert "Learning curves" not in page


@pytest.mark.parametrize("part", ["train", "dev"])
@pytest.mark.parametrize("options", [["--report-only"], ["--dry-run"], []])
def test_other_trees_are_refused(treebank: Path, output: Path, tmp_path: Path, part: str, options: list[str]) -> None:
    """Runs before and after a correction of the treebank are not seeds of one system."""
    corrected = tmp_path / "own"
    shutil.copytree(treebank, corrected)
    (path,) = corrected.glob(f"{part}.[de]*")
    trees = list(read_trees(path))
    trees[0].root.children[0].label = "NEW"
    write_trees(trees, path)
    outcome = experiment(corrected, output, *options)
    assert f"{part} had other trees when this run was made" in str(outcome.exception)
    assert not trained(outcome)


def test_names_with_spaces(treebank: Path, output: Path, tmp_path: Path) -> None:
    """Pictures are found, and the commands on the page are one word for a treebank."""
    named = tmp_path / "my <own>"
    shutil.copytree(treebank, named)
    (tmp_path / "out").mkdir()
    shutil.copytree(output / "own", tmp_path / "out" / "my <own>", ignore=shutil.ignore_patterns("model", "report*"))
    outcome = CliRunner().invoke(cli, ["experiment", str(named), "--report-only", "-o", str(tmp_path / "out")])
    assert outcome.exit_code == 0, outcome.output
    page = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "](report/my%20%3Cown%3E-memory.svg)" in page
    commands = [line for line in page.splitlines() if line.startswith("discoparse experiment")]
    assert len(commands) == 2
    assert all("experiment 'my <own>' --output" in line for line in commands)


def test_other_settings_are_refused(treebank: Path, output: Path) -> None:
    """Runs of different settings never end up in one row of a table."""
    outcome = experiment(treebank, output, updates=21)
    assert "updates was 20 and is 21" in str(outcome.exception)


def test_interrupting_goes_on_later(treebank: Path, tmp_path: Path) -> None:
    """When time is up the command says that runs are unfinished, and ends with status 1 and no report."""
    outcome = experiment(treebank, tmp_path / "out", "--stop-after", "0.08", updates=100_000)
    assert outcome.exit_code == 1
    assert "run the same command again" in outcome.stderr
    assert trained(outcome) == ["fast-static-1"]
    assert not list((tmp_path / "out").glob("own/*/metrics.json"))
    assert not (tmp_path / "out" / "report.md").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--oracles", "best"], "'best' is not one of static, dynamic, even, complete"),
        (["--set", "hiden=3"], "Did you mean hidden?"),
        (["--report-only"], "no finished run"),
        (["--report-only", "--report", "page"], "name a page with an ending, as page.md"),
    ],
)
def test_wrong_use(treebank: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    """Mistakes are told in a sentence before anything is trained."""
    outcome = CliRunner().invoke(cli, ["experiment", str(treebank), "-o", str(tmp_path / "out"), *arguments])
    assert message in f"{outcome.output}{outcome.exception}"
    assert outcome.exit_code


def test_a_directory_without_dev(tmp_path: Path) -> None:
    """The message says which set is missing and how it may be called."""
    folder = tmp_path / "bank"
    folder.mkdir()
    (folder / "train.export").write_text("")
    outcome = CliRunner().invoke(cli, ["experiment", str(folder), "-o", str(tmp_path / "out")])
    assert "no dev set here; expected dev.export" in str(outcome.exception)
