"""Calibration: what is judged, the figures, the table, the page; and the fit of a parser's probabilities."""

from __future__ import annotations

import dataclasses
import json
import math
import random

import numpy as np
import pytest
from click.testing import CliRunner
from random_model import random_parser, save_random_model

from discoparse.cli import cli
from discoparse.errors import DiscoparseError
from discoparse.evaluation import evaluate, html_report
from discoparse.evaluation.calibration import Judged, area, calibrate, judge, reliability
from discoparse.evaluation.reliability import calibration_table, diagrams
from discoparse.model.info import read_info
from discoparse.neural.calibration import Calibration
from discoparse.parser.calibrating import FEWEST, fit, fit_map, fit_power, fit_tags
from discoparse.parser.calibrating import calibrate as calibrate_model
from discoparse.parser.finding import load_parser
from discoparse.tree import Tree
from discoparse.treebank import write_trees
from discoparse.treebank.discbracket import parse_tree

GOLD = "(ROOT (S (VP (WP 0=what) (VB 3=do)) (MD 1=should) (NP (PRP 2=I))) (. 4=.))"
FOUND = "(ROOT (S (VP (WP 0=what) (VB 3=do)) (NP (MD 1=should) (PRP 2=I))) (. 4=.))"


def believed(line: str, **probabilities: float) -> Tree:
    """A tree whose nodes have probabilities by their labels."""
    tree = parse_tree(line)
    for node in tree.preorder():
        node.probability = probabilities.get(node.label)
    return tree


def test_what_is_judged():
    """Scored constituents, by what is scored: not ROOT, not punctuation; each with its own probability."""
    found = believed(FOUND, ROOT=0.99, S=0.9, VP=0.6, NP=0.3)
    judged = judge(evaluate([parse_tree(GOLD)], [found]))
    assert sorted(judged, key=lambda one: one.probability) == [
        Judged(0.3, False, "NP", 0),
        Judged(0.6, True, "VP", 1),
        Judged(0.9, True, "S", 0),
    ]
    assert judge(evaluate([parse_tree(GOLD)], [found]), "label_probability") == []


def test_a_chain_of_one_label_is_judged_node_by_node():
    gold = parse_tree("(ROOT (NP (NP (N 0=a) (N 1=b))))")
    found = parse_tree("(ROOT (NP (NP (NP (N 0=a) (N 1=b)))))")
    for k, node in enumerate(found.preorder()):
        node.probability = k / 10
    judged = judge(evaluate([gold], [found]))
    assert sorted(one.probability for one in judged) == [0.1, 0.2, 0.3]
    assert sum(one.right for one in judged) == 2


@pytest.mark.parametrize("seed", range(5))
def test_figures_by_their_definitions(seed):
    rng = random.Random(seed)
    judged = [Judged(rng.choice([rng.random(), 0.5, 1.0, 0.0]), rng.random() < 0.6, "X", 0) for _ in range(60)]
    found = reliability(judged)
    error = 0.0
    for k in range(10):
        inside = [
            one for one in judged if k / 10 <= one.probability < (k + 1) / 10 or (k == 9 and one.probability == 1)
        ]
        if inside:
            gap = sum(one.probability for one in inside) - sum(one.right for one in inside)
            error += abs(gap) / len(judged)
    assert found.error == pytest.approx(error)
    assert sum(b.count for b in found.bins) == len(judged)
    pairs = [(a.probability, b.probability) for a in judged for b in judged if a.right and not b.right]
    wins = sum(a > b for a, b in pairs) + 0.5 * sum(a == b for a, b in pairs)
    assert found.auc == pytest.approx(wins / len(pairs))


def test_no_area_where_all_are_right():
    assert area(np.array([0.1, 0.9]), np.array([True, True])) is None


@pytest.fixture
def result():
    rng = random.Random(3)
    gold, found = [], []
    for k in range(30):
        gold.append(parse_tree(GOLD))
        tree = parse_tree(GOLD if rng.random() < 0.7 else FOUND)
        for node in tree.preorder():
            node.probability, node.label_probability = round(rng.random(), 3), 0.9
        tree.expected_f1, tree.probability = 0.5 + k / 100, 0.25
        found.append(tree)
    return evaluate(gold, found)


def test_groups_and_sentences(result):
    figures = calibrate(result)
    assert set(figures.kinds) == {"probability", "label_probability"}
    assert list(figures.gaps) == ["discontinuous", "0", "1"]
    assert figures.gaps["discontinuous"] == figures.gaps["1"]
    assert set(figures.labels) == {"S", "VP", "NP"}
    assert sum(one.count for one in figures.labels.values()) == figures.kinds["probability"].count
    one = figures.sentences
    assert one is not None
    assert one.expected_f1 == pytest.approx(64.5)
    reached = [200 * s.counts.matched / (s.counts.gold + s.counts.predicted) for s in result.sentences]
    assert one.f1 == pytest.approx(sum(reached) / 30)
    assert one.exact == pytest.approx(sum(value == 100 for value in reached) / 30)
    assert one.probability == 0.25


def test_sentences_without_scored_constituents_can_be_right():
    """And where there is nothing else, the message does not say that probabilities are missing."""
    bare, other = "(ROOT (UH 0=Yes))", "(ROOT (NP (UH 0=Yes)))"
    gold = [parse_tree(line) for line in (bare, bare, other, GOLD)]
    found = [parse_tree(line) for line in (bare, other, bare, GOLD)]
    for tree in found:
        tree.expected_f1 = 0.9
        for node in tree.preorder():
            node.probability = 0.9
    assert calibrate(evaluate(gold, found)).sentences.f1 == pytest.approx((100 + 0 + 0 + 100) / 4)
    with pytest.raises(DiscoparseError, match="no constituents that are scored"):
        calibrate(evaluate(gold[::2], found[::2]))
    for node in found[1].preorder():
        node.probability = None
    with pytest.raises(DiscoparseError, match="have no probabilities"):
        calibrate(evaluate(gold[:2], found[:2]))


def test_the_table_and_the_page(result):
    figures = calibrate(result)
    table = calibration_table(figures)
    for part in ("label probability", "by gap degree", "  discontinuous", "by label", "  VP", "expected F1 64.50"):
        assert part in table
    page = html_report(result, "gold", ["found"], calibrated=figures)
    assert "How far to trust the probabilities" in page
    assert page.count('<svg class="chart"') == html_report(result, "gold", ["found"]).count('<svg class="chart"') + len(
        diagrams(figures)
    )
    assert "How far to trust" not in html_report(result, "gold", ["found"])


def test_trees_without_probabilities_are_refused():
    trees = [parse_tree(GOLD)]
    with pytest.raises(DiscoparseError, match="have no probabilities"):
        calibrate(evaluate(trees, trees))


def test_on_the_command_line(tmp_path, result):
    write_trees([s.gold for s in result.sentences], tmp_path / "gold.jsonl")
    write_trees([s.predicted for s in result.sentences], tmp_path / "found.jsonl")
    files = [str(tmp_path / "gold.jsonl"), str(tmp_path / "found.jsonl")]
    shown = CliRunner().invoke(cli, ["evaluate", *files, "--calibration", "--html", str(tmp_path / "page.html")])
    assert shown.exit_code == 0, shown.output
    assert calibration_table(calibrate(result)) in shown.stdout
    assert "How far to trust" in (tmp_path / "page.html").read_text()
    figures = json.loads(CliRunner().invoke(cli, ["evaluate", *files, "--calibration", "--json"]).stdout)
    assert figures["calibration"] == json.loads(json.dumps(calibrate(result).to_json()))
    assert "calibration" not in json.loads(CliRunner().invoke(cli, ["evaluate", *files, "--json"]).stdout)


# -- the fit ----------------------------------------------------------------------------------------------------------


def test_the_map_is_found_again():
    """From constituents that are right as often as a known map says."""
    true = Calibration(curve=0.03, slope=0.7, offset=-0.5, gap_slope=0.2, gap_offset=0.6)
    rng = np.random.default_rng(1)
    share, gapped = rng.uniform(0.02, 0.99, 40_000), rng.random(40_000) < 0.3
    right = rng.random(40_000) < true.probability(share, gapped)
    judged = [Judged(float(p), bool(r), "X", int(g)) for p, r, g in zip(share, right, gapped, strict=True)]
    loss, found = fit_map(judged)
    fitted = dataclasses.replace(true, **found)
    for gap in (False, True):
        grid = np.linspace(0.05, 0.98, 30)
        assert np.abs(fitted.probability(grid, gap) - true.probability(grid, gap)).max() < 0.03
    chance = true.probability(share, gapped)
    entropy = -np.mean(chance * np.log(chance) + (1 - chance) * np.log(1 - chance))
    assert loss == pytest.approx(entropy, abs=0.01)


@pytest.mark.filterwarnings("error")
def test_a_map_that_fits_badly_overflows_nowhere():
    """Certain and wrong, doubtful and right: the first steps go far."""
    judged = [Judged(p, right, "X", 0) for p, right in ((1.0, False), (0.0, True), (1.0, False))] * 40
    loss, found = fit_map(judged)
    assert np.isfinite([loss, *found.values()]).all()


def test_the_power_of_trees_is_found_again():
    rng = np.random.default_rng(2)
    raw = rng.random(20_000)
    assert fit_power(raw.tolist(), (rng.random(20_000) < raw**1.8).tolist()) == pytest.approx(1.8, rel=0.06)


def test_a_parser_is_fitted_and_left_as_it_was(monkeypatch):
    monkeypatch.setattr("discoparse.parser.calibrating.STRUCTURE", (1.0, 2.0))
    monkeypatch.setattr("discoparse.parser.calibrating.LABELS", (1.0,))
    parser = random_parser()
    before = parser.calibration
    gold = parser.parse_tokens([["The", "dog", f"w{k}", "see"] for k in range(FEWEST)])
    told: list[str] = []
    found = fit(parser, gold, told.append)
    assert parser.calibration is before
    assert len(told) == 2
    assert found.structure in (1.0, 2.0)
    # All of these trees are right, as far as the scorer can see: fitted probabilities are higher than the usual ones.
    high = found.probability(np.array([0.5]), np.array([False]))
    assert high > Calibration(structure=found.structure).probability(np.array([0.5]), np.array([False]))
    with pytest.raises(DiscoparseError, match="too few"):
        fit(parser, gold[:3])


def test_temperatures_are_tried_on_some_of_the_sentences_and_probabilities_fitted_to_all(monkeypatch):
    """The trees of the others, which are wrong, make all less probable."""
    monkeypatch.setattr("discoparse.parser.calibrating.STRUCTURE", (1.0, 2.0))
    monkeypatch.setattr("discoparse.parser.calibrating.LABELS", (1.0,))
    monkeypatch.setattr("discoparse.parser.calibrating.TRIED", FEWEST)
    parser = random_parser()
    counts: list[int] = []
    parse = parser.parse_tokens

    def counting(sentences, **options):
        counts.append(len(sentences))
        return parse(sentences, **options)

    parser.parse_tokens = counting
    right = parse([["The", "dog", f"w{k}", "see"] for k in range(FEWEST)])
    wrong = [parse_tree("(ROOT (X (N 0=The) (N 1=dog)) (Y (N 2=w) (N 3=see)))") for _ in right]
    told: list[str] = []
    every_other = [tree for pair in zip(right, wrong, strict=True) for tree in pair]
    mixed = fit(parser, every_other, told.append)
    assert counts == [FEWEST, FEWEST, 2 * FEWEST]  # two temperatures, and then all sentences
    assert f"all {2 * FEWEST} sentences" in told[-1]
    alone = fit(parser, right)  # what is tried of them all
    half, no = np.array([0.5]), np.array([False])
    assert mixed.probability(half, no) < alone.probability(half, no)


def test_the_best_temperatures_are_those_of_the_final_fit(monkeypatch):
    losses = {(1.0, 1.5): 0.3, (1.0, 1.25): 0.2, (2.0, 1.5): 0.1, (2.0, 1.25): 0.4}
    asked = []

    def shares(parser, gold, raw):
        asked.append((len(gold), raw.structure, raw.labels))
        return losses[raw.structure, raw.labels], dataclasses.replace(raw, offset=float(len(gold)))

    module = "discoparse.parser.calibrating"
    monkeypatch.setattr(f"{module}.STRUCTURE", (1.0, 2.0))
    monkeypatch.setattr(f"{module}.LABELS", (1.5, 1.25))
    monkeypatch.setattr(f"{module}.TRIED", FEWEST)
    monkeypatch.setattr(f"{module}._fit_shares", shares)
    monkeypatch.setattr(f"{module}.fit_tags", lambda parser, gold: float(len(gold)))
    gold = [parse_tree(GOLD)] * (3 * FEWEST)
    found = fit(random_parser(), gold)
    assert asked[-1] == (len(gold), 2.0, 1.5)
    assert all(number == FEWEST for number, _, _ in asked[:-1])
    assert (found.structure, found.labels, found.offset, found.tags) == (2.0, 1.5, len(gold), len(gold))
    few = fit(random_parser(), gold[:FEWEST])  # all of which were tried
    assert (few.structure, few.labels, few.offset) == (2.0, 1.5, FEWEST)
    assert len(asked) == 4 + 1 + 4


def test_a_model_is_fitted_to_as_many_sentences_as_one_wishes(tmp_path, monkeypatch):
    model = tmp_path / "model"
    save_random_model(model)
    numbers = []

    def fitted(parser, gold, notice):
        numbers.append(len(gold))
        return Calibration(offset=0.5)

    monkeypatch.setattr("discoparse.parser.calibrating.fit", fitted)
    gold = [parse_tree(GOLD)] * 30
    for most in (7, 30, 31):
        calibrate_model(model, gold, "cpu", None, most)
    assert numbers == [6, 30, 30]
    assert read_info(model).calibration["offset"] == 0.5


def test_the_temperature_of_tags_is_the_best_of_those_tried():
    """Gold tags that are all the parser's own are most likely at the lowest temperature; random ones at the highest."""
    parser = random_parser()
    words = [["The", "dog", "barks"], ["What", "see"]]
    trees = parser.parse_tokens(words)
    assert fit_tags(parser, trees) == 0.5
    for tree in trees:
        for token in tree.tokens:
            token.tag = next(tag for tag in parser.vocabulary.tags if tag != token.tag)
    assert fit_tags(parser, trees) > 2
    losses = parser.decoder.tag_losses(words, [["XX"] * 3, ["XX"] * 2], [1.0])
    assert losses == [0.0]


def test_a_model_keeps_its_calibration(tmp_path, monkeypatch):
    monkeypatch.setattr("discoparse.parser.calibrating.STRUCTURE", (0.9,))
    monkeypatch.setattr("discoparse.parser.calibrating.LABELS", (1.1,))
    save_random_model(tmp_path / "model")
    assert read_info(tmp_path / "model").calibration == {}
    assert load_parser(tmp_path / "model").calibration == Calibration()
    trees = random_parser().parse_tokens([["The", "dog", f"w{k}"] for k in range(30)])
    write_trees(trees, tmp_path / "dev.discbracket")
    arguments = ["models", "calibrate", str(tmp_path / "model"), str(tmp_path / "dev.discbracket"), "--device", "cpu"]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    stored = read_info(tmp_path / "model").calibration
    assert (stored["structure"], stored["labels"]) == (0.9, 1.1)
    assert load_parser(tmp_path / "model").calibration == Calibration(**stored)
    assert "structure   0.9" in done.stdout
    assert math.isclose(stored["slope"], load_parser(tmp_path / "model").calibration.slope)


def test_nothing_to_fit_to():
    """Trees that are nothing but a root, which is not scored."""
    parser = random_parser()
    parser.parse_tokens = lambda sentences, **_: [parse_tree("(ROOT (N 0=a))") for _ in sentences]
    with pytest.raises(DiscoparseError, match="no constituents to fit"):
        fit(parser, [parse_tree("(ROOT (N 0=a))")] * 20)
