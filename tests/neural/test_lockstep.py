"""The lockstep machine and its oracle decide as `transition` and `oracle` do, in the same configurations."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
import torch
from oracle_batches import batch_oracle
from walks import random_gold

from discoparse.neural import lockstep
from discoparse.neural.lockstep import (
    GoldBatch,
    Lockstep,
    LockstepOracle,
    Policy,
    Trace,
    given,
    gold_arrays,
    gold_tensors,
    run,
    run_with_oracle,
)
from discoparse.system.constituents import tree_constituents
from discoparse.system.dynamic_oracle import DynamicOracle
from discoparse.system.oracle import static_derivation
from discoparse.system.transition import Action, Combine, Configuration, Label, NoLabel, Shift
from discoparse.tree import gap_tokens
from discoparse.treebank import read_trees

LABELS = ["X", "Y", "Z"]


def slot_of(action: Action, configuration: Configuration) -> int:
    return configuration.next_token if isinstance(action, Shift) else min(action.item)


def action_of(slot: int, configuration: Configuration) -> Action:
    if slot == configuration.next_token:
        return Shift()
    (item,) = (item for item in configuration.memory if min(item) == slot)
    return Combine(item)


def slots(mask: torch.Tensor) -> set[int]:
    return set(torch.nonzero(mask).flatten().tolist())


def random_batch(seed: int) -> tuple[list, list[int]]:
    """Gold trees of different lengths, the first batch of long sentences."""
    chance = random.Random(seed)
    lengths = [chance.randint(1, 12 if seed else 70) for _ in range(8)]
    return [random_gold(chance, n) for n in lengths], lengths


def random_policy(seed: int) -> Policy:
    """Any of the slots to choose from, each as likely as the others."""
    generator = torch.Generator().manual_seed(seed)

    def policy(machine: Lockstep, slots: torch.Tensor) -> torch.Tensor:
        return torch.rand(slots.shape, generator=generator).masked_fill(~slots, -1).argmax(1)

    return policy


def replay(trace: Trace, golds, lengths, ids) -> Iterator[tuple[int, int, Configuration]]:
    """The sentence, the step t, and the reference's configuration at the structural step after step t of the trace,
    for every step but the last. Labels are those of the trace; at the end they must be the gold tree's."""
    for b, (gold, length) in enumerate(zip(golds, lengths, strict=True)):
        names = {number: Label(label) for label, number in ids[b].items()}
        c = Configuration.initial(length)
        for t in range(2 * length - 1):
            c = c.apply(action_of(int(trace.action[b, t]), c))
            c = c.apply(names.get(int(trace.label[b, t]), NoLabel()))
            if not c.is_final:
                yield b, t, c
        assert c.is_final
        assert c.constituents == gold


@pytest.mark.parametrize("bits", [lockstep.BITS, 3])
@pytest.mark.parametrize("seed", range(12))
def test_random_walks_see_what_the_reference_sees(seed, bits, monkeypatch):
    """Batches of random trees of different lengths, advanced by random legal actions: focus, gap, memory, gold label
    and both oracle sets and preferences agree at every step of every sentence. With few bits a word, the gold
    constituents of a sentence fill several."""
    monkeypatch.setattr(lockstep, "BITS", bits)
    chance = random.Random(seed)
    golds, lengths = random_batch(seed)
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
            gap = gap_tokens(c.focus)
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


@pytest.mark.parametrize("bits", [lockstep.BITS, 3])
@pytest.mark.parametrize("seed", range(3))
def test_a_batch_has_the_bits_of_its_sentences(seed, bits, monkeypatch):
    """And nothing where a sentence has no token or no constituent."""
    monkeypatch.setattr(lockstep, "BITS", bits)
    golds, lengths = random_batch(seed)
    rows = [[(k + 1, sum(1 << i for i in tokens)) for k, (_, tokens) in enumerate(gold)] for gold in golds]
    batch = gold_tensors(rows, lengths)
    assert batch.count.tolist() == [len(gold) for gold in golds]
    for b, (row, n) in enumerate(zip(rows, lengths, strict=True)):
        one = gold_arrays(row, n)
        words = one.member.shape[1]
        for whole, part in ((batch.member[b], one.member), (batch.before[b], one.before)):
            assert whole[: len(part), :words].tolist() == part.tolist()
            assert not whole[len(part) :].any()
            assert not whole[:, words:].any()
        assert batch.packed[b].tolist() == one.packed.tolist() + [0] * (batch.packed.shape[1] - len(row))


def test_a_wrong_label_changes_nothing():
    """Labels play no part in the structure: a focus passed over without its gold label is gone all the same."""
    gold = {("S", frozenset({0, 1})), ("N", frozenset({0}))}
    oracle = DynamicOracle(gold)
    labelled = Configuration.initial(2).apply(Shift()).apply(Label("N"))
    passed = Configuration.initial(2).apply(Shift()).apply(NoLabel())
    assert oracle.optimal_actions(labelled) == oracle.optimal_actions(passed)


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_stay_takes_only_optimal_actions_and_rebuilds_the_gold_tree(seed, complete):
    """A random policy that must stay chooses all over the oracle's set, which is the reference's at every step."""
    golds, lengths = random_batch(seed)
    machine, oracle, ids = batch_oracle(golds, lengths)
    policy = random_policy(seed)
    trace = run_with_oracle(machine, oracle, policy, complete=complete, single=False, stay=True)
    others = 0
    for b, t, c in replay(trace, golds, lengths, ids):
        reference = DynamicOracle(golds[b])
        wanted = reference.optimal_actions(c) if complete else reference.best_actions(c)
        assert slots(trace.optimal[b, t]) == {slot_of(action, c) for action in wanted}
        taken = action_of(int(trace.action[b, t + 1]), c)
        assert taken in wanted
        others += taken != reference.preferred(c, complete)
    assert others  # it does not just follow the preferred action


@pytest.mark.parametrize("seed", range(4))
def test_the_trace_names_what_the_memory_holds(seed):
    """An item is named by the step that made it; without a single choice or `stay`, any legal action may be taken."""
    golds, lengths = random_batch(seed)
    machine, oracle, _ = batch_oracle(golds, lengths)
    trace = run_with_oracle(machine, oracle, random_policy(seed), complete=True)
    for b, length in enumerate(lengths):
        c, made = Configuration.initial(length), []
        for t in range(2 * length - 1):
            c = c.apply(action_of(int(trace.action[b, t]), c))
            made.append(c.focus)
            c = c.apply(NoLabel() if t < 2 * length - 2 else Label("S"))
            held = {slot: made[step] for slot, step in enumerate(trace.entered[b, t].tolist()) if step >= 0}
            assert held == {min(item): item for item in c.memory}
            assert trace.next[b, t] == (c.next_token if c.next_token < length else -1)


@pytest.mark.parametrize("seed", range(4))
def test_given_actions_are_followed(seed):
    """Derivations that were recorded, taken again without an oracle."""
    golds, lengths = random_batch(seed)
    machine, oracle, _ = batch_oracle(golds, lengths)
    trace = run_with_oracle(machine, oracle, random_policy(seed))
    again = Lockstep(torch.tensor(lengths))
    assert torch.equal(run(again, given(trace.action)), trace.action)
    assert torch.equal(again.focus, machine.focus)
    assert torch.equal(again.owner, machine.owner)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("seed", range(4))
def test_a_gpu_sees_what_a_processor_sees(seed):
    """The same random walk on both: one record of it, up to the last step of each sentence."""
    golds, lengths = random_batch(seed)
    machine, oracle, _ = batch_oracle(golds, lengths)
    trace = run_with_oracle(machine, oracle, random_policy(seed), complete=True, single=False)
    there = Lockstep(torch.tensor(lengths, device="cuda"))
    gold = GoldBatch(*(tensor.cuda() for tensor in oracle.gold.tensors()))
    again = run_with_oracle(there, LockstepOracle(gold, there), given(trace.action.cuda()), complete=True, single=False)
    for b, length in enumerate(lengths):
        for ours, theirs in zip(trace.tensors(), again.tensors(), strict=True):
            assert torch.equal(ours[b, : 2 * length - 1], theirs[b, : 2 * length - 1].cpu())


def assert_static(trace: Trace, b: int, gold, length: int, ids: dict[str, int]) -> None:
    """The trace of a sentence is its static derivation, labels included."""
    c = Configuration.initial(length)
    derivation = static_derivation(gold)
    for t, (structural, labelling) in enumerate(zip(derivation[::2], derivation[1::2], strict=True)):
        assert trace.action[b, t] == slot_of(structural, c)
        assert trace.label[b, t] == (ids[labelling.label] if isinstance(labelling, Label) else 0)
        c = c.apply(structural).apply(labelling)


def test_more_constituents_than_a_word_has_bits():
    """A binary tree of 150 tokens, with gaps, between a single token and an ordinary sentence."""
    chance = random.Random(1)
    items, yields = [frozenset({i}) for i in range(150)], []
    while len(items) > 1:
        first = chance.randrange(len(items) - 1)
        second = min(first + chance.randint(1, 3), len(items) - 1)
        yields.append(items.pop(second) | items.pop(first))
        items.insert(first, yields[-1])
    golds = [{("X", s) for s in yields}, {("N", frozenset({0}))}, random_gold(chance, 20)]
    assert len(golds[0]) > 2 * lockstep.BITS
    lengths = [150, 1, 20]
    machine, oracle, ids = batch_oracle(golds, lengths)
    trace = run_with_oracle(machine, oracle, complete=True)
    for b, (gold, length) in enumerate(zip(golds, lengths, strict=True)):
        assert_static(trace, b, gold, length, ids[b])


@pytest.mark.parametrize("name", ["de_pcc", "nl_alpino"])
def test_the_oracle_leads_to_the_static_derivation(shared, name):
    """On real trees the complete set with its preferences takes the static derivation, labels included."""
    trees = list(read_trees(shared / "data" / name / "dev.discbracket.gz"))[:200]
    golds = [tree_constituents(tree) for tree in trees]
    machine, oracle, ids = batch_oracle(golds, [len(tree) for tree in trees])
    trace = run_with_oracle(machine, oracle, complete=True)
    for b, gold in enumerate(golds):
        assert_static(trace, b, gold, len(trees[b]), ids[b])
