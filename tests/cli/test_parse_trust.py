"""`discoparse parse` within constraints, with probabilities and with several trees for a sentence."""

from __future__ import annotations

import gzip
import json
import re

import pytest
from click.testing import CliRunner, Result
from command_line import run_main
from installed_models import Packages
from random_model import save_random_model

import discoparse
from discoparse.cli import cli
from discoparse.errors import DiscoparseError, UsageError
from discoparse.parser.finding import installed_models
from discoparse.treebank.discbracket import parse_tree


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("models") / "random"
    save_random_model(folder)
    return str(folder)


@pytest.fixture
def parse(model):
    def run(*arguments: str, input: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(cli, ["parse", "--model", model, *arguments], input=input)
        assert result.exception is None or isinstance(result.exception, SystemExit | DiscoparseError), result.exc_info
        return result

    return run


def constraint_file(tmp_path, *lines: object) -> str:
    path = tmp_path / "constraints.jsonl"
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return str(path)


def yields_of(line: str) -> list[set[int]]:
    return [set(tokens) for _, tokens in parse_tree(line).constituents()]


def test_constraints_line_by_line(parse, tmp_path):
    """A line of constraints for each line of text, blank and refused ones included; what clashes is named."""
    file = constraint_file(
        tmp_path,
        {"constituents": [{"tokens": [0, 3], "label": "NP"}]},
        "null\n",
        {"constituents": [[0, 1], [1, 2]]},
        "{\n",
        "\n",
        {"words": ["The", "cat"], "constituents": [[0]]},
    )
    text = "What did you see ?\n\nThe dog barks\nThe dog\nThe dog\nThe dog\n"
    result = parse("--pretokenized", "--constraints", file, input=text)
    lines = result.stdout.splitlines()
    assert {0, 3} in yields_of(lines[0])
    assert lines[1] == lines[2] == lines[3] == lines[5] == ""
    assert len(lines) == 6
    assert lines[4]
    assert f"{file}:3: the sentence is left out: a constituent over the tokens 1, 2 'dog barks' and" in result.stderr
    assert f"{file}:4: the sentence is left out: not JSON (column 2: " in result.stderr
    assert (
        f"{file}:6: the sentence is left out: the constraints are for the sentence 'The cat', not 'The dog'"
        in result.stderr
    )
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (0, "has 0 lines, and there are more"),
        (1, "has 1 line, and there are more"),
        (3, "has 1 more line than"),
        (4, "has 2 more lines than"),
    ],
)
def test_as_many_constraints_as_sentences(parse, tmp_path, lines, message):
    file = constraint_file(tmp_path, *["{}\n"] * lines)
    result = parse("--constraints", file, "What did you see? The dog barks.")
    assert len(result.stdout.splitlines()) == 2
    assert message in result.stderr
    assert result.exit_code == 1
    file = constraint_file(tmp_path, "{}\n{}\n")
    assert parse("--constraints", file, "What did you see? No.").exit_code == 0
    result = parse("--constraints", file, "--pretokenized", input="What did you see ?\nNo .\n\n")
    assert (result.exit_code, result.stderr) == (0, "")
    assert [bool(line) for line in result.stdout.splitlines()] == [True, True, False]
    assert parse("--constraints", file, "--pretokenized", input="Yes .\nNo .\n\nYes .\n").exit_code == 1


def test_constraints_from_standard_input(parse, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("The dog barks\nNo .\n")
    result = parse("--pretokenized", "--input", str(text), "--constraints", "-", input="{\n")
    assert [bool(line) for line in result.stdout.splitlines()] == [False, True]
    assert "standard input:1: the sentence is left out: not JSON" in result.stderr
    assert "standard input has 1 line, and there are more sentences" in result.stderr


def test_constraints_of_blank_text(tmp_path):
    """No model is chosen, and yet there is a line of constraints for each line."""
    file = constraint_file(tmp_path, "{\n", "null\n")
    for lines, left in ((0, "2 more lines than there are sentences (0)"), (1, "1 more line than"), (2, ""), (3, "")):
        status, output, told = run_main(
            "parse", "--pretokenized", "--constraints", file, "--input", blank(tmp_path, lines)
        )
        assert (status, output) == (bool(left), "\n" * lines)
        assert left in told
        assert bool(told) == bool(left)
    status, _, told = run_main("parse", "--from", "discbracket", "--constraints", file, "--input", blank(tmp_path, 0))
    assert (status, "2 more lines than there are sentences (0)" in told) == (1, True)


def blank(tmp_path, lines: int) -> str:
    path = tmp_path / "blank.txt"
    path.write_text("\n" * lines)
    return str(path)


def test_damaged_files_of_constraints_and_of_glosses_are_named(model, tmp_path):
    """As the program runs: not an interrupt, for which Click takes an `EOFError`."""
    path = tmp_path / "cut"
    path.write_bytes(gzip.compress(b'{"constituents":[[0,1]]}\n')[:30])
    for option in (["--constraints", str(path)], ["--gloss", str(path), "--to", "tree"]):
        status, output, told = run_main("parse", "--model", model, "--pretokenized", *option, "I saw it .")
        assert (status, output) == (1, "")
        assert told.startswith(f"discoparse: {path}: the compressed file is cut off or damaged (")


def test_a_partial_treebank_is_completed(parse, tmp_path):
    file = tmp_path / "partial.discbracket"
    file.write_text(
        "(ROOT (NP (_ 0=What) (VB 3=see)) (_ 1=did) (_ 2=you) (. 4=?))\n(ROOT (XX (_ 0=a) (_ 1=b)) (_ 2=c))\n"
    )
    arguments = ("--from", "discbracket", "--input", str(file), "--to", "discbracket")
    result = parse(*arguments, "--keep", "brackets,tags")
    first, second = result.stdout.splitlines()
    assert "(VB 3=see)" in first
    assert {0, 3} in yields_of(first)
    assert second == ""
    assert "sentence 2 is refused: the model has no label 'XX'" in result.stderr
    assert parse(*arguments, "--keep", "tags").stdout.count("(VB 3=see)") == 1
    free = parse(*arguments)
    assert free.exit_code == 0
    assert len(free.stdout.splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--keep", "tags", "Go!"], "--keep is for a treebank"),
        (["--keep", "tags", "--constraints", "x", "--from", "export"], "not both"),
        (["--constraints", "-"], "standard input cannot be both"),
    ],
)
def test_wrong_uses_of_constraints(parse, arguments, message):
    result = parse(*arguments)
    assert isinstance(result.exception, UsageError)
    assert message in str(result.exception)


def test_probabilities_in_json(parse):
    result = parse("--probabilities", "5", "--to", "jsonl", "What did you see? The dog barks.")
    for line in result.stdout.splitlines():
        tree = json.loads(line)
        assert 0 <= tree["probability"] <= 1
        assert 0 <= tree["expected_f1"] <= 1
        assert all(0 <= token["probability"] <= 1 for token in tree["tokens"])
        assert all(0 <= node["probability"] <= 1 and "label_probability" in node for node in tree["nodes"])
    assert "no place" not in result.stderr
    assert (
        "discbracket has no place for the probabilities: add --to jsonl" in parse("--probabilities", "2", "No.").stderr
    )
    assert "no place" not in parse("--probabilities", "2", "--mark-below", "5", "No.").stderr
    plain = json.loads(parse("--to", "jsonl", "What did you see?").stdout)
    assert "probability" not in plain
    assert all("probability" not in node and "label_probability" in node for node in plain["nodes"])


def test_a_consensus(parse):
    text = "What did you see? The old dog barks at cats."
    strict = parse("--consensus", "--share", "0.95", text).stdout
    assert strict != parse(text).stdout
    assert len(strict.splitlines()) == 2
    assert len(strict) < len(parse("--consensus", "--share", "0.1", text).stdout)


def test_the_best_trees_one_after_another(parse, tmp_path):
    result = parse("--best", "3", "What did you see? The dog barks.")
    lines = result.stdout.splitlines()
    assert len(set(lines)) == len(lines) == 6
    values = [float(line.rpartition("probability ")[2]) for line in lines]
    assert values[:3] == sorted(values[:3], reverse=True)
    assert result.stderr == ""
    found = [
        json.loads(line) for line in parse("--best", "2", "--to", "jsonl", "What did you see? Go!").stdout.splitlines()
    ]
    assert [tree["id"] for tree in found] == ["1.1", "1.2", "2.1", "2.2"]
    file = tmp_path / "gold.export"
    parse("--output", str(file), "What did you see?")
    again = parse("--best", "2", "--from", "export", "--input", str(file), "--to", "jsonl").stdout
    assert [json.loads(line)["id"] for line in again.splitlines()] == ["1.1", "1.2"]
    lines = parse("--best", "2", "--pretokenized", "--to", "jsonl", input="a b\n\nc d\n").stdout.splitlines()
    assert [line == "null" for line in lines] == [False, False, True, False, False]


@pytest.mark.parametrize("options", [["--lines"], ["--pretokenized"]])
def test_the_best_trees_of_texts_in_several_languages(tmp_path, monkeypatch, options):
    """Sentences are counted on from text to text, whatever the model and the number of processes."""
    packages = Packages(tmp_path / "site", monkeypatch)
    packages.add("en", "en")
    packages.add("xx", "xx", mirrored=True)
    texts = ["The dog barks .\nWhat did you see ?", "\n", "ehT god skrab .", "\n", "The dog barks ."]
    numbers = [1, 2, 4, 6] if options == ["--pretokenized"] else [1, 2, 3, 4]
    for jobs in ("1", "2"):
        status, output, told = run_main("parse", "--best", "2", "--to", "jsonl", "--jobs", jobs, *options, *texts)
        assert (status, "--model en and xx" in told) == (0, True)
        ids = [tree["id"] for tree in map(json.loads, output.splitlines()) if tree is not None]
        assert ids == [f"{number}.{rank}" for number in numbers for rank in (1, 2)]


def test_the_best_trees_of_a_long_sentence_have_probabilities(parse, tmp_path):
    """In comments as in JSON, from which they are read again."""
    long = " ".join(["What did you see"] * 12)
    (line,) = parse("--best", "1", "--pretokenized", input=long).stdout.splitlines()
    value = line.rpartition("probability ")[2]
    file = tmp_path / "best.jsonl"
    parse("--best", "1", "--pretokenized", "--to", "jsonl", "--output", str(file), input=long)
    [tree] = discoparse.read_trees(file)
    assert 0 < tree.probability < 1e-9
    assert value == f"{tree.probability:.3e}"


def test_doubtful_sentences(parse):
    text = "What did you see? The dog barks."
    skipped = parse("--skip-below", "100", text)
    assert skipped.stdout == "\n\n"
    assert "2 of 2 sentences have an expected F1 below 100: left out" in skipped.stderr
    assert skipped.exit_code == 0
    marked = parse("--mark-below", "100", text)
    assert marked.stdout.count("\tdoubtful: expected F1 ") == 2
    assert parse("--skip-below", "0", text).stdout == parse(text).stdout


@pytest.mark.parametrize("output", ["tree", "svg", "tikz", "folder", "file", "jobs"])
def test_pictures_where_all_sentences_are_left_out(parse, tmp_path, output):
    """The status is that of other formats; there is no picture."""
    folder, file = f"{tmp_path / 'pictures'}/", tmp_path / "a.svg"
    where = {"folder": ["-o", folder], "file": ["-o", str(file)], "jobs": ["--to", "tree", "--jobs", "2"]}
    result = parse("--skip-below", "100", *where.get(output, ["--to", output]), "What did you see? The dog barks.")
    assert (result.exit_code, result.stdout) == (0, "")
    unwritten = f": {file} is not written" if output == "file" else ""
    assert f"there are no trees to draw{unwritten}\n" in result.stderr
    assert "2 of 2 sentences have an expected F1 below 100: left out" in result.stderr
    assert not file.exists()


def test_there_are_no_pictures_of_no_text(parse):
    """Also where none of it was left out. What else there is to tell is told."""
    for options in ([], ["--skip-below", "0"], ["--mark-below", "100"]):
        result = parse("--to", "tree", *options, input="\n")
        assert (result.exit_code, result.stdout) == (1, "")
        assert "there are no trees to draw\n" in result.stderr
        assert ("0 of 0 sentences" in result.stderr) == bool(options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--share", "0.3"], "--share is for --consensus"),
        (["--skip-below", "9", "--mark-below", "9"], "not both"),
        (["--constraints", "x", "--best", "2"], "within constraints"),
        (["--constraints", "x", "--probabilities", "2"], "within constraints"),
        (["--best", "2", "--consensus"], "--best gives the probabilities"),
        (["--best", "2", "--model", "other"], "of one model"),
    ],
)
def test_options_that_do_not_go_together(parse, arguments, message):
    result = parse(*arguments, "Go!")
    assert isinstance(result.exception, UsageError)
    assert message in str(result.exception)


def test_a_language_that_the_model_does_not_know(installed_english):
    """Also where the model was chosen for want of a better one. English is not warned of."""

    def told(text: str) -> str:
        result = CliRunner().invoke(cli, ["parse", "--model", "en", text])
        assert result.exit_code == 0
        return result.stderr

    french = "Le président a déclaré hier que la situation économique du pays restait difficile pour tout le monde."
    assert "warning: the text seems to be in a language that the model 'en' does not know" in told(french)
    assert "a script that the model 'en' does not know" in told("Я не знаю.")
    assert told("The president said yesterday that the economic situation of the country was still difficult.") == ""


@pytest.fixture
def installed_english() -> None:
    if "en" not in installed_models():
        pytest.skip("the model en is not installed")


def test_pictures_say_which_of_the_best_trees_they_are(parse, tmp_path):
    """Above each, and in the names of files; blank lines count as sentences."""
    text = "a b\n\nc d\n"
    shown = parse("--best", "2", "--pretokenized", "--to", "tree", input=text).stdout
    heads = re.findall(r"^(\d\.\d): probability [\d.e-]+$", shown, re.MULTILINE)
    assert heads == ["1.1", "1.2", "3.1", "3.2"]
    tikz = parse("--best", "2", "--pretokenized", "--to", "tikz", input=text).stdout
    assert re.findall(r"^% (\d\.\d): probability [\d.e-]+: (\w \w)$", tikz, re.MULTILINE) == [
        *[("1.1", "a b"), ("1.2", "a b"), ("3.1", "c d"), ("3.2", "c d")]
    ]
    folder = tmp_path / "pictures"
    parse("--best", "2", "--pretokenized", "--to", "svg", "--output", f"{folder}/", input=text)
    assert sorted(path.name for path in folder.iterdir()) == [f"{head}.svg" for head in heads]
    assert ">3.2: probability " in (folder / "3.2.svg").read_text()
    treebank = tmp_path / "t.export"
    treebank.write_text("#BOS x/9\na\t--\tX\t--\t--\t0\nb\t--\tX\t--\t--\t0\n#EOS x/9\n".replace("x/9", "9"))
    again = tmp_path / "again"
    parse("--best", "2", "--from", "export", "--input", str(treebank), "--to", "svg", "--output", f"{again}/")
    assert sorted(path.name for path in again.iterdir()) == ["1.1.svg", "1.2.svg"]
    tikz = parse("--best", "2", "--from", "export", "--input", str(treebank), "--to", "tikz").stdout
    assert re.findall(r"^% (.*): probability", tikz, re.MULTILINE) == ["1.1 (9.1)", "1.2 (9.2)"]


def test_pictures_of_doubtful_sentences_are_marked(parse, tmp_path):
    """Others have nothing above them, nor have plain pictures."""
    text = "The dog barks.\nWhat did you see?\n"
    plain = parse("--lines", "--to", "tree", input=text).stdout
    marked = parse("--lines", "--mark-below", "100", "--to", "tree", input=text).stdout
    assert re.sub(r"^doubtful: expected F1 [\d.]+\n", "", marked, flags=re.MULTILINE) == plain
    assert marked.count("doubtful: expected F1") == 2
    assert "\n\n\n" not in plain
    tikz = parse("--lines", "--mark-below", "100", "--to", "tikz", input=text).stdout
    heads = re.findall(r"^% (\d): doubtful: expected F1 [\d.]+: (The|What)", tikz, re.MULTILINE)
    assert heads == [("1", "The"), ("2", "What")]
    assert parse("--lines", "--mark-below", "0", "--to", "tree", input=text).stdout == plain
    folder = tmp_path / "pictures"
    parse("--lines", "--mark-below", "100", "--to", "svg", "--output", f"{folder}/", input=text)
    assert all(">doubtful: expected F1 " in (folder / f"{k}.svg").read_text() for k in (1, 2))
