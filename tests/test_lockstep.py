"""The lockstep machine and its oracle decide as `transition` and `oracle` do, in the same configurations."""

from __future__ import annotations

import random

import pytest
import torch
from walks import random_gold

from discoparse.constituents import tree_constituents
from discoparse.lockstep import Lockstep, LockstepOracle, gold_tensors, run_with_oracle
from discoparse.oracle import DynamicOracle, static_derivation
from discoparse.transition import Action, Combine, Configuration, Label, NoLabel, Shift
from discoparse.treebank import read_trees

LABELS = ["X", "Y", "Z"]


def mask_of(indexes) -> int:
    return sum(1 << i for i in indexes)


def label_ids(gold) -> dict[str, int]:
    return {label: k for k, label in enumerate(sorted({label for label, _ in gold}), 1)}


def batch_oracle(golds, lengths) -> tuple[Lockstep, LockstepOracle, list[dict[str, int]]]:
    machine = Lockstep(torch.tensor(lengths))
    ids = [label_ids(gold) for gold in golds]
    rows = [[(ids[b][label], mask_of(s)) for label, s in gold] for b, gold in enumerate(golds)]
    return machine, LockstepOracle(gold_tensors(rows, lengths), machine), ids


def slot_of(action: Action, configuration: Configuration) -> int:
    return configuration.next_token if isinstance(action, Shift) else min(action.item)


def action_of(slot: int, configuration: Configuration) -> Action:
    if slot == configuration.next_token:
        return Shift()
    (item,) = (item for item in configuration.memory if min(item) == slot)
    return Combine(item)


def slots(mask: torch.Tensor) -> set[int]:
    return set(torch.nonzero(mask).flatten().tolist())


@pytest.mark.parametrize("seed", range(12))
def test_random_walks_see_what_the_reference_sees(seed):
    """Batches of random trees of different lengths, advanced by random legal actions: focus, gap, memory, gold label
    and both oracle sets and preferences agree at every step of every sentence."""
    chance = random.Random(seed)
    lengths = [chance.randint(1, 12 if seed else 70) for _ in range(8)]
    golds = [random_gold(chance, n) for n in lengths]
    machine, oracle, ids = batch_oracle(golds, lengths)
    references = [DynamicOracle(gold) for gold in golds]
    configurations = [Configuration.initial(n).apply(Shift()) for n in lengths]
    for _ in range(2 * machine.width - 2):
        labels = oracle.gold_label()
        wanted = {complete: oracle.optimal(complete) for complete in (False, True)}
        preferred = {complete: oracle.preferred(best) for complete, best in wanted.items()}
        legal = machine.legal()
        chosen = machine.left.clone()
        for b, c in enumerate(configurations):
            if c.is_final:
                continue
            (gold_action,) = references[b].best_actions(c)
            expected = ids[b][gold_action.label] if isinstance(gold_action, Label) else 0
            assert labels[b] == expected
            c = c.apply(gold_action)
            if c.is_final:
                configurations[b] = c
                assert not legal[b].any()
                continue
            gap = [i for i in range(min(c.focus), max(c.focus)) if i not in c.focus]
            nil = machine.width
            assert machine.focus[b].tolist() == [
                min(c.focus),
                max(c.focus),
                min(gap, default=nil),
                max(gap, default=nil),
            ]
            assert slots(machine.memory[b]) == {min(item) for item in c.memory}
            assert slots(legal[b]) == {slot_of(a, c) for a in c.legal_actions(LABELS)}
            assert slots(wanted[False][b]) == {slot_of(a, c) for a in references[b].best_actions(c)}
            assert slots(wanted[True][b]) == {slot_of(a, c) for a in references[b].optimal_actions(c)}
            for complete in (False, True):
                assert preferred[complete][b] == slot_of(references[b].preferred(c, complete), c)
            action = action_of(chance.choice(sorted(slots(legal[b]))), c)
            chosen[b] = slot_of(action, c)
            configurations[b] = c.apply(action)
        oracle.advance(chosen)
        machine.advance(chosen)


def test_a_wrong_label_changes_nothing():
    """Labels play no part in the structure: a focus passed over without its gold label is gone all the same."""
    gold = {("S", frozenset({0, 1})), ("N", frozenset({0}))}
    oracle = DynamicOracle(gold)
    labelled = Configuration.initial(2).apply(Shift()).apply(Label("N"))
    passed = Configuration.initial(2).apply(Shift()).apply(NoLabel())
    assert oracle.optimal_actions(labelled) == oracle.optimal_actions(passed)


@pytest.mark.parametrize("name", ["de_pcc", "nl_alpino"])
def test_the_oracle_leads_to_the_static_derivation(shared, name):
    """On real trees the complete set with its preferences takes the static derivation, labels included."""
    trees = list(read_trees(shared / "data" / name / "dev.discbracket.gz"))[:200]
    golds = [tree_constituents(tree) for tree in trees]
    machine, oracle, ids = batch_oracle(golds, [len(tree) for tree in trees])
    trace = run_with_oracle(machine, oracle, complete=True)
    for b, gold in enumerate(golds):
        c = Configuration.initial(len(trees[b]))
        derivation = static_derivation(gold)
        for t, (structural, labelling) in enumerate(zip(derivation[::2], derivation[1::2], strict=True)):
            assert trace.action[b, t] == slot_of(structural, c)
            assert trace.label[b, t] == (ids[b][labelling.label] if isinstance(labelling, Label) else 0)
            c = c.apply(structural).apply(labelling)
