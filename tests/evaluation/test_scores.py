"""The figures are those that disco-dop prints; wrong input is refused with a message that names the place."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from command_line import run_main

from discoparse.cli import main
from discoparse.cli.evaluate import command
from discoparse.errors import DiscoparseError
from discoparse.evaluation import Parameters, evaluate, read_parameters, standard_parameters
from discoparse.evaluation.parameters import parse_parameters
from discoparse.tree import Tree
from discoparse.treebank.discbracket import parse_tree

GOLD = "(ROOT (S (NP (N 0=dogs)) (VP (V 1=chase) (NP (N 2=cats)))) (. 3=.))"
WH = "(S (VP (WP 0=what) (VB 3=do)) (MD 1=should) (PRP 2=I) (. 4=?))"


def parse(*lines: str) -> list[Tree]:
    return [parse_tree(line) for line in lines]


def printed_by_disco_dop(path: Path) -> list[tuple[bool, str, str, str]]:
    """(discontinuous only, name of the figure, column, what is printed) of a saved summary."""
    found = []
    for k, run in enumerate(path.read_text(encoding="utf-8").split("$ ")[1:]):
        for name, short, full in re.findall(r"^(.*?):\s+(\S+)\s+(\S+)$", run, re.MULTILINE):
            found += [(k == 1, name, "cutoff", short), (k == 1, name, "all", full)]
    return found


CASES = [f"{language}-noise{noise}" for language in ("de", "en", "is", "nl") for noise in (10, 50)]


@pytest.mark.parametrize("case", CASES)
def test_every_figure_of_the_reference(shared: Path, case: str) -> None:
    """All that disco-dop printed for real trees with noise, to the digit."""
    files = [str(shared / "eval" / f"{case}.{kind}.discbracket") for kind in ("gold", "pred")]
    run = CliRunner().invoke(command, [*files, "--json"], catch_exceptions=False)
    figures = json.loads(run.stdout)
    expected = printed_by_disco_dop(shared / "eval" / f"{case}.discodop.txt")
    assert len(expected) >= 44
    for only_disc, name, column, text in expected:
        whole = figures[column]
        scores = whole["disc"] if only_disc else whole
        value = {
            "number of sentences": scores["sentences"],
            "longest sentence": whole["longest_sentence"],
            "gold brackets": scores["brackets"]["gold_distinct"],
            "cand. brackets": scores["brackets"]["predicted_distinct"],
            "disc. gold brackets": whole["disc"]["brackets"]["gold"],
            "disc. cand. brackets": whole["disc"]["brackets"]["predicted"],
            "labeled recall": scores["recall"],
            "labeled precision": scores["precision"],
            "labeled f-measure": scores["f1"],
            "exact match": scores["exact_match"],
            "pos accuracy": whole["pos_accuracy"],
            "function tags": scores["function_tags"],
        }[name]
        assert (f"{value:.2f}" if "." in text else str(value)) == text, (name, column, only_disc)


EDGE = {  # F1 and POS accuracy that disco-dop gives for eval/edge
    "dup": (88.89, 100.0),
    "func": (100.0, 100.0),
    "noroot": (100.0, 100.0),
    "punctdisc": (100.0, 100.0),
    "punctnp": (100.0, 100.0),
    "rootroot": (100.0, 100.0),
    "short": (100.0, 100.0),
    "tagpunct": (100.0, 66.67),
}


@pytest.mark.parametrize("name", EDGE)
def test_edge_cases(shared: Path, name: str) -> None:
    folder = shared / "eval" / "edge"
    gold, predicted = ([parse_tree(x) for x in (folder / f).read_text().splitlines()] for f in ("gold", f"{name}.pred"))
    scores = evaluate(gold, predicted).all
    assert (round(scores.f1, 2), round(scores.pos_accuracy, 2)) == EDGE[name]


def test_our_parameters_are_the_standard_ones(shared: Path) -> None:
    assert standard_parameters() == read_parameters(shared / "eval" / "proper.prm")


def test_over_nothing_is_null() -> None:
    """The reference prints nan and 0DIV! there; exact match over a sentence without brackets is still 100."""
    figures = evaluate(parse("(ROOT (. 0=.))"), parse("(ROOT (. 0=.))")).to_json()["all"]
    assert [figures[k] for k in ("precision", "recall", "f1", "pos_accuracy")] == [None] * 4
    assert figures["exact_match"] == 100
    assert figures["disc"]["exact_match"] is None
    nothing = evaluate([], []).to_json()
    assert nothing["all"]["exact_match"] is None
    assert nothing["all"]["sentences"] == nothing["cutoff"]["sentences"] == 0


def test_f1_is_null_where_nothing_matches() -> None:
    scores = evaluate(parse(GOLD), parse("(ROOT (X (N 0=dogs) (V 1=chase)) (N 2=cats) (. 3=.))")).all
    assert (scores.precision, scores.recall, scores.f1) == (0, 0, None)


def test_discontinuity_is_judged_without_punctuation() -> None:
    """A gap that holds only a comma is no gap."""
    tree = "(S (NP (N 0=a) (N 2=b)) ($, 1=,) (V 3=c))"
    assert evaluate(parse(tree), parse(tree)).all.disc.sentences == 0
    assert evaluate(parse(tree), parse(tree), Parameters()).all.disc.sentences == 1


def test_cutoff_counts_punctuation() -> None:
    result = evaluate(parse(GOLD, WH), parse(GOLD, WH), parse_parameters(["CUTOFF_LEN 4"]))
    assert (result.cutoff.sentences, result.all.sentences, result.all.longest) == (1, 2, 5)


@pytest.mark.parametrize(
    ("lines", "gold", "brackets"),
    [
        (["LABELED 0"], [("", 0b11), ("", 0b1)], 2),
        (["DELETE_LABEL A"], [("B", 0b1)], 1),
        (["DELETE_ROOT_PRETERMS 1"], [("A", 0b1), ("B", 0b1)], 2),
        (["EQ_LABEL C B", "EQ_LABEL D C"], [("A", 0b11), ("C", 0b1)], 2),
    ],
)
def test_parameters(lines: list[str], gold: list[tuple[str, int]], brackets: int) -> None:
    result = evaluate(parse("(A (B (N 0=x)) (N 1=y))"), parse("(A (B (N 0=x)) (N 1=y))"), parse_parameters(lines))
    assert sorted(result.sentences[0].gold_brackets) == sorted(gold)
    assert result.all.matched == brackets


def test_length_without_some_tags() -> None:
    parameters = parse_parameters(["DELETE_LABEL_FOR_LENGTH $[", "CUTOFF_LEN 1"])
    trees = parse("(S (N 0=a) ($[ 1=-))")
    assert evaluate(trees, trees, parameters).cutoff.sentences == 1


def test_equal_words() -> None:
    gold, predicted = (
        parse("(S (N 0=-LRB-) (N 1=b))", "(S (N 0=a))"),
        parse("(S (N 0=#LRB#) (N 1=b))", "(S (N 0=a))"),
    )
    assert evaluate(gold, predicted).all.f1 == 100


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("DELETE_LABLE X", r"f\.prm:2: 'DELETE_LABLE X' is not a parameter"),
        ("CUTOFF_LEN ten", r"f\.prm:2: CUTOFF_LEN needs a whole number"),
        ("DEBUG 1", r"f\.prm:2: DEBUG is given twice"),
        ("EQ_LABEL A", r"f\.prm:2: EQ_LABEL needs two values"),
        ("DELETE_WORD", "is not a parameter"),
    ],
)
def test_bad_parameters_name_the_line(line: str, message: str) -> None:
    with pytest.raises(DiscoparseError, match=message):
        parse_parameters(["DEBUG 0", line], "f.prm")


def test_different_words_name_sentence_and_words() -> None:
    other = GOLD.replace("cats", "mice")
    with pytest.raises(DiscoparseError, match=r"sentence 2: .* 'cats' \(word 3\), the prediction has 'mice'"):
        evaluate(parse(GOLD, GOLD), parse(GOLD, other))
    longer = "(S (N 0=dogs) (V 1=chase) (N 2=cats) (. 3=.) (N 4=too))"
    with pytest.raises(DiscoparseError, match=r"the prediction has 'too' \(word 5\)"):
        evaluate(parse(GOLD), parse(longer))
    with pytest.raises(DiscoparseError, match="the prediction ends"):
        evaluate(parse(GOLD), parse("(S (N 0=dogs) (V 1=chase))"))


def test_missing_sentences_are_refused_by_name() -> None:
    """The reference leaves them out without a word."""
    with pytest.raises(
        DiscoparseError, match=r"2 gold and 1 predicted .* gold sentence 2, 'what should I do \?', has no"
    ):
        evaluate(parse(GOLD, WH), parse(GOLD))
    with pytest.raises(DiscoparseError, match=r"gold sentence 1, .* first that differs: predicted 'what"):
        evaluate(parse(GOLD, WH), parse(WH))
    with pytest.raises(DiscoparseError, match=r"predicted sentence 2, .* is one too many"):
        evaluate(parse(GOLD), parse(GOLD, WH), allow_missing=True)


def test_missing_predictions_are_scored_as_empty() -> None:
    """By words where there are no ids: the first, a middle or the last may be missing."""
    for missing in range(3):
        gold = parse(GOLD, WH, GOLD.replace("dogs", "cows"))
        predicted = [tree for k, tree in enumerate(gold) if k != missing]
        result = evaluate(gold, predicted, allow_missing=True)
        assert result.missing == 1
        assert result.sentences[missing].predicted is None
        assert result.all.precision == 100
        lost = result.sentences[missing].counts
        assert result.all.recall == pytest.approx(100 * (1 - lost.gold / result.all.gold))
        assert result.all.correct_tags == result.all.tokens - lost.tokens
    with pytest.raises(DiscoparseError, match="predicted sentence 1 has the words of no gold sentence"):
        evaluate(parse(GOLD, GOLD), parse(WH), allow_missing=True)


def test_ids_pair_sentences() -> None:
    gold, predicted = parse(GOLD, WH), parse(WH, GOLD)
    for trees, ids in ((gold, "ab"), (predicted, "ba")):
        for tree, name in zip(trees, ids, strict=True):
            tree.id = name
    assert evaluate(gold, predicted).all.exact_match == 100
    with pytest.raises(DiscoparseError, match=r"gold sentence 1 \(id a\), .* has no prediction"):
        evaluate(gold, predicted[:1])
    assert evaluate(gold, predicted[:1], allow_missing=True).sentences[0].predicted is None


def test_deep_trees() -> None:
    """Depth is not limited by recursion."""
    deep = parse("(X " * 5000 + "(N 0=a)" + ")" * 5000)
    scores = evaluate(deep, deep).all
    assert (scores.gold, scores.gold_distinct, scores.f1) == (5000, 1, 100)


def write(path: Path, *lines: str) -> str:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(path)


def test_command_line(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.discbracket", GOLD, WH)
    predicted = write(
        tmp_path / "predicted.discbracket",
        GOLD,
        WH.replace("(VP (WP 0=what) (VB 3=do))", "(WP 0=what) (VB 3=do)"),
    )
    run = CliRunner().invoke(command, [gold, predicted, "--json"], catch_exceptions=False)
    figures = json.loads(run.stdout)
    assert figures["all"]["sentences"] == figures["cutoff"]["sentences"] == 2
    assert figures["all"]["recall"] == pytest.approx(100 * 5 / 6)
    assert figures["all"]["disc"]["recall"] == 0
    assert figures["all"]["disc"]["precision"] is None
    keys = {"sentences", "precision", "recall", "f1", "exact_match"}
    assert keys | {"pos_accuracy", "disc"} <= figures["all"].keys()
    assert keys <= figures["cutoff"]["disc"].keys()
    table = CliRunner().invoke(command, [gold, predicted], catch_exceptions=False).stdout
    assert re.search(r"^labelled recall +83\.33 +83\.33$", table, re.MULTILINE)
    assert re.search(r"^labelled precision +- +-$", table, re.MULTILINE)


@pytest.mark.parametrize(
    ("lines", "options", "status", "message"),
    [
        ([GOLD], [], 1, "gold sentence 2, 'what should I do ?', has no prediction; --allow-missing"),
        ([GOLD], ["--allow-missing"], 0, "1 of 2 predictions are missing"),
        ([], ["--allow-missing"], 0, "2 of 2 predictions are missing"),
        (["this is", "no treebank"], [], 1, "predicted.discbracket:1: "),
        ([GOLD, WH.replace("do)", "say)")], [], 1, "sentence 2: where the gold has 'do' (word 4)"),
        ([GOLD, WH], ["--by", "colour"], 2, "'colour' is not one of label"),
        ([GOLD, WH], ["--html", "-"], 2, "the figures go to standard output: name a file for the page of --html"),
    ],
)
def test_messages_and_exit_status(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    lines: list[str],
    options: list[str],
    status: int,
    message: str,
) -> None:
    gold = write(tmp_path / "gold.discbracket", GOLD, WH)
    predicted = write(tmp_path / "predicted.discbracket", *lines)
    with pytest.raises(SystemExit) as end:
        main(["evaluate", gold, predicted, *options])
    captured = capfd.readouterr()
    assert (end.value.code, "Traceback" in captured.err) == (status, False)
    assert message in captured.err


@pytest.mark.parametrize("files", [["-", "-"], ["-", "a", "--compare", "-"], ["a", "-", "--compare", "-"]])
def test_standard_input_has_one_set_of_trees(files: list[str]) -> None:
    run = CliRunner().invoke(command, files, input=f"{GOLD}\n")
    assert "standard input cannot have several sets of trees" in str(run.exception)


def test_two_formats(tmp_path: Path) -> None:
    """Gold and prediction are read each in its own format; `$(` and `$[` are one tag."""
    from discoparse.treebank import write_trees

    trees = parse("(ROOT (S (VP (NN 0=Bier) (VVPP 2=getrunken)) (VAFIN 1=hat)) ($[ 3=-))")
    write_trees(trees, str(tmp_path / "gold.export"))
    predicted = write(tmp_path / "predicted.discbracket", str(trees[0]))
    run = CliRunner().invoke(command, [str(tmp_path / "gold.export"), predicted, "--json"], catch_exceptions=False)
    figures = json.loads(run.stdout)["all"]
    assert (figures["f1"], figures["disc"]["f1"], figures["pos_accuracy"]) == (100, 100, 100)
    assert figures["tokens"]["scored"] == 3


def test_lemmas_are_for_bracketed_files(tmp_path):
    """Wrong use, not a problem in the data."""
    (tmp_path / "gold.psd").write_text("( (IP-MAT (PRO-N hann-hann) (VBPI fer-fara)) (ID X,1))\n")
    (tmp_path / "parsed.discbracket").write_text("(IP-MAT (PRO-N 0=hann) (VBPI 1=fer))\n")
    files = [str(tmp_path / "gold.psd"), str(tmp_path / "parsed.discbracket")]
    status, _, errors = run_main("evaluate", "--lemmas", *files)
    assert status == 2
    assert "'lemmas' is not for the format discbracket, only for bracket" in errors


def test_a_parameter_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "windows.prm"
    path.write_bytes("\ufeffCUTOFF_LEN 7\r\nDELETE_LABEL ROOT\r\n".encode())
    parameters = read_parameters(path)
    assert (parameters.cutoff, parameters.delete_labels) == (7, {"ROOT"})
