"""`discoparse derive`, and the derivations of real treebanks."""

from __future__ import annotations

import json
from itertools import islice

import pytest
from click.testing import CliRunner
from command_line import run_main

from discoparse.cli import cli
from discoparse.system.constituents import constituents_tree, tree_constituents
from discoparse.system.derivation_lengths import SYSTEMS
from discoparse.system.gap import GapConfiguration
from discoparse.system.oracle import static_derivation
from discoparse.system.swap import SwapConfiguration
from discoparse.system.transition import Configuration
from discoparse.transform.unary import collapse_unaries
from discoparse.treebank import read_trees

PAPER = (
    "(SBARQ (RB 0=So) (SQ (VP (VP (WHNP (WP 1=what)) (VB 6=do)) (TO 5=to)) (VBZ 2='s)"
    " (NP (DT 3=a) (NN 4=parent))) (. 7=?))\n"
)

# Table 2 as printed, but for a slip of the paper: one of its rows writes {so …} for {So …}.
TABLE_2 = [
    ("", "{}", "none", "So what 's a parent to do ?", ""),
    ("SH", "{}", "{So}", "what 's a parent to do ?", "NO-LABEL"),
    ("SH", "{{So}_0}", "{what}", "'s a parent to do ?", "LABEL-WHNP"),
    ("SH", "{{So}_0, {what}_1}", "{'s}", "a parent to do ?", "NO-LABEL"),
    ("SH", "{{So}_0, {what}_1, {'s}_2}", "{a}", "parent to do ?", "NO-LABEL"),
    ("SH", "{{So}_0, {what}_1, {'s}_2, {a}_3}", "{parent}", "to do ?", "NO-LABEL"),
    ("COMB-3", "{{So}_0, {what}_1, {'s}_2}", "{a parent}", "to do ?", "LABEL-NP"),
    ("COMB-2", "{{So}_0, {what}_1}", "{'s a parent}", "to do ?", "NO-LABEL"),
    ("SH", "{{So}_0, {what}_1, {'s a parent}_2}", "{to}", "do ?", "NO-LABEL"),
    ("SH", "{{So}_0, {what}_1, {'s a parent}_2, {to}_5}", "{do}", "?", "NO-LABEL"),
    ("COMB-1", "{{So}_0, {'s a parent}_2, {to}_5}", "{what do}", "?", "LABEL-VP"),
    ("COMB-5", "{{So}_0, {'s a parent}_2}", "{what to do}", "?", "LABEL-VP"),
    ("COMB-2", "{{So}_0}", "{what 's a parent to do}", "?", "LABEL-SQ"),
    ("COMB-0", "{}", "{So what 's a parent to do}", "?", "NO-LABEL"),
    ("SH", "{{So what 's a parent to do}_0}", "{?}", "", "NO-LABEL"),
    ("COMB-0", "{}", "{So what 's a parent to do ?}", "", "LABEL-SBARQ"),
]


@pytest.fixture
def paper_file(tmp_path):
    path = tmp_path / "paper.discbracket"
    path.write_text("(NP (N 0=tea))\n" + PAPER, encoding="utf-8")
    return str(path)


def run(*arguments, **options):
    return CliRunner().invoke(cli, ["derive", *arguments], **options)


def test_the_papers_example_comes_out_as_table_2(paper_file):
    """Lines are cut into cells at fixed columns: so they are aligned, too."""
    lines = run(paper_file, "--sentence", "2").output.splitlines()
    assert lines[0].split("  ")[0] == "Even action"
    assert len(lines) == len(TABLE_2) + 1
    width = {"action": 11, "memory": max(len(row[1]) for row in TABLE_2), "focus": 29, "buffer": 27}
    for line, (action, memory, focus, buffer, label) in zip(lines[1:], TABLE_2, strict=True):
        cells, start = [], 0
        for size in width.values():
            cells.append(line[start : start + size].strip())
            start += size + 2
        cells.append(line[start:])
        even, odd = (f"⇒ {action} ⇒", f"⇒ {label}") if action else ("", "")
        assert cells == [even, memory, focus, buffer, odd]


def test_json_has_the_same_rows_as_token_indexes(paper_file):
    result = json.loads(run(paper_file, "--sentence", "2", "--json").output)
    assert result["transitions"] == 4 * 8 - 2
    assert len(result["rows"]) == len(TABLE_2)
    assert result["rows"][10] == {
        "action": "COMB-1",
        "memory": [[0], [2, 3, 4], [5]],
        "focus": [1, 6],
        "buffer": [7],
        "label": "LABEL-VP",
    }


@pytest.mark.parametrize(("system", "transitions", "columns"), [("swap", 22, "Stack"), ("gap", 18, "Deque")])
def test_the_other_systems_print_their_own_table(paper_file, system, transitions, columns):
    lines = run(paper_file, "--sentence", "2", "--system", system).output.splitlines()
    assert columns in lines[0]
    assert len(lines) == 2 + transitions  # the header, the initial configuration
    assert "⇒ REDUCE-SBARQ ⇒" in lines[-1]
    data = json.loads(run(paper_file, "--sentence", "2", "--system", system, "--json").output)
    assert data["transitions"] == transitions


def test_unary_chains_are_one_label(tmp_path):
    result = run("-", "--from", "discbracket", input="(ROOT (S (NP (N 0=dogs)) (VP (V 1=bark))))\n")
    assert "⇒ LABEL-ROOT+S" in result.output
    assert "⇒ LABEL-VP" in result.output


def test_columns_are_aligned_in_the_cells_of_a_terminal():
    """Wide characters take two; what would move the cursor is replaced."""
    output = run("-", "--from", "discbracket", input="(S (V 0=日本) (N 1=a\x1b[1m))\n").output
    rows = output.splitlines()[2:]
    starts = [row[: row.rindex("⇒")] for row in rows]  # what stands before the labelling actions
    assert len({len(start) + sum(start.count(wide) for wide in "日本") for start in starts}) == 1
    assert "\x1b" not in output


def test_a_sentence_that_is_not_there_is_wrong_use(paper_file):
    from discoparse.errors import UsageError

    result = run(paper_file, "--sentence", "3")
    assert isinstance(result.exception, UsageError)
    assert "no sentence 3" in str(result.exception)
    assert run(paper_file, "--sentence", "0").exit_code == 2


def real_files(shared, name):
    return sorted((shared / "data").glob(f"*/{name}.discbracket.gz"))


def test_constituents_are_those_of_the_collapsed_tree_and_give_the_tree_back(shared):
    for path in real_files(shared, "dev"):
        for number, tree in enumerate(read_trees(path)):
            if number % 20 == 0:
                constituents = tree_constituents(tree)
                assert sorted(constituents, key=str) == sorted(collapse_unaries(tree).constituents(), key=str)
                assert str(constituents_tree(tree.tokens, constituents)) == format_without_comments(tree)


def format_without_comments(tree):
    tree.comments.clear()
    return str(tree)


@pytest.mark.parametrize(("part", "every"), [("dev", 1), ("train", 4)])
def test_the_static_derivation_rebuilds_the_trees_of_every_treebank(shared, part, every):
    """In exactly 4n-2 steps, by the reference transition system: all of `dev`, every fourth one of `train`."""
    for path in real_files(shared, part):
        for tree in islice(read_trees(path), 0, None, every):
            gold = tree_constituents(tree)
            actions = static_derivation(gold)
            assert len(actions) == 4 * len(tree) - 2
            c = Configuration.initial(len(tree))
            for action in actions:
                c = c.apply(action)
            assert c.is_final
            assert c.constituents == gold


def test_swap_and_gap_rebuild_real_trees(shared):
    initial = {"swap": SwapConfiguration.initial, "gap": GapConfiguration.initial}
    for path in real_files(shared, "dev"):
        for number, tree in enumerate(read_trees(path)):
            if number % 10 == 0:
                gold = tree_constituents(tree)
                for system, start in initial.items():
                    c = start(len(tree))
                    for action in SYSTEMS[system](gold):
                        c = c.apply(action)
                    assert c.is_final
                    assert c.constituents == gold


def test_sentences_whose_table_would_be_huge_are_refused(tmp_path):
    """Every row lists every token: the memory and the output grow with the square of the length."""
    flat = "(S " + " ".join(f"(T {k}=w)" for k in range(1001)) + ")"
    (tmp_path / "long.discbracket").write_text("(S (T 0=w))\n" + flat + "\n")
    status, output, errors = run_main("derive", str(tmp_path / "long.discbracket"), "--sentence", "2")
    assert (status, output) == (1, "")
    assert "sentence 2" in errors
    assert "1,001 tokens" in errors
    assert run_main("derive", str(tmp_path / "long.discbracket"))[0] == 0
