"""Parsing within constraints: the lockstep loop, the kernel's way, labels and tags; and the labeller's chains."""

from __future__ import annotations

import random

import pytest
import torch
from random_model import random_parser
from walks import random_gold

import discoparse.neural.chains as chains_module
import discoparse.neural.constraints as constraints_module
import discoparse.parser.constraining as constraining_module
from discoparse.errors import DiscoparseError
from discoparse.neural.chains import ChainScores
from discoparse.neural.codes import longest_chain
from discoparse.neural.constraints import LimitBatch, Within, _has_one, forbidden_foci, run_within
from discoparse.neural.labelling import label_codes
from discoparse.neural.limits import Limits, free, limits_for
from discoparse.neural.lockstep import BITS, Lockstep
from discoparse.neural.network import Network
from discoparse.neural.replay import replay, yields
from discoparse.neural.vocabulary import Vocabulary
from discoparse.parser.parser import Parser
from discoparse.system.constraints import ConstraintError, Constraints, Required
from discoparse.tree import Tree
from discoparse.treebank.discbracket import parse_tree


@pytest.fixture
def parser(every_network: str) -> Parser:
    return random_parser()


def whole_chain_parser() -> Parser:
    """A parser whose labels are whole chains."""
    trees = [
        parse_tree("(ROOT (S (NP (DT 0=The) (NN 1=dog)) (VP (VB 2=barks))) (. 3=.))"),
        parse_tree("(ROOT (S (NP (N 0=cats)) (VP (VB 1=bark))))"),
    ]
    vocabulary = Vocabulary.from_trees(trees, chains=False)
    spelling = random_parser()
    sizes = {"words": len(vocabulary.words) + 1, "characters": len(vocabulary.characters) + 1}
    sizes |= {"tags": len(vocabulary.tags), "labels": len(vocabulary.labels) + 1, "chains": False}
    torch.manual_seed(1)
    network = Network(type(spelling.network.config)(**{**vars(spelling.network.config), **sizes}))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(3)
    return Parser(network, vocabulary)


@pytest.fixture
def whole_chains(every_network: str) -> Parser:
    return whole_chain_parser()


@pytest.fixture(params=[random_parser, whole_chain_parser])
def either_parser(request: pytest.FixtureRequest, every_network: str) -> Parser:
    return request.param()


def mask_of(tokens) -> int:
    return sum(1 << token for token in tokens)


def _random_yields(rng: random.Random, length: int) -> list[frozenset[int]]:
    """Those of a random tree, in an order that does not depend on the hash seed."""
    return sorted((tokens for _, tokens in random_gold(rng, length)), key=sorted)


def some_constraints(rng: random.Random, length: int, parser: Parser) -> Constraints:
    """Some constituents of a random tree, some with labels; sets that are not among them; some tags."""
    names = sorted({label for chain in parser.vocabulary.labels for label in chain})
    gold = [tokens for tokens in _random_yields(rng, length) if rng.random() < 0.5]
    entries = [Required(tokens, rng.choice([None, *names])) for tokens in gold]
    others = [frozenset(rng.sample(range(length), rng.randint(1, length))) for _ in range(4)]
    forbidden = [tokens for tokens in others if tokens not in gold and len(tokens) < length]
    tags = {k: rng.choice(parser.vocabulary.tags) for k in range(length) if rng.random() < 0.3}
    return Constraints(tuple(entries), tuple(forbidden), tags)


def assert_met(tree: Tree, constraints: Constraints) -> None:
    found = {}
    for label, tokens in tree.constituents():
        found.setdefault(tokens, []).append(label)
    for entry in constraints.constituents:
        assert entry.tokens in found
        assert entry.label is None or entry.label in found[entry.tokens]
        assert entry.labels is None or entry.labels == tuple(found[entry.tokens])
    assert not found.keys() & set(constraints.forbidden)
    assert all(tree.tokens[k].tag == tag for k, tag in constraints.tags.items())


def sentences(rng: random.Random, count: int) -> list[list[str]]:
    words = ["The", "dog", "barks", "see", *(f"w{k}" for k in range(30))]
    return [[rng.choice(words) for _ in range(rng.randint(1, 14))] for _ in range(count)]


@pytest.mark.parametrize("seed", range(5))
def test_trees_meet_their_constraints(seed, either_parser):
    parser = either_parser
    rng = random.Random(seed)
    given = sentences(rng, 30)
    constraints = [some_constraints(rng, len(words), parser) for words in given]
    for tree, wanted in zip(parser.parse_tokens(given, constraints=constraints), constraints, strict=True):
        assert_met(tree, wanted)
    assert any(one.forbidden for one in constraints)


@pytest.mark.parametrize("make", [random_parser, whole_chain_parser])
def test_labels_are_the_same_without_asking_which_are_to_change(make, pytorch_network, monkeypatch):
    """A GPU goes through all constituents with labels, since asking it for those that need a change takes longer."""
    parser = make()
    rng = random.Random(11)
    given = sentences(rng, 200)
    constraints = []
    for tree in parser.parse_tokens(given):
        some = some_constraints(rng, len(tree), parser)
        whole = Constraints.from_tree(tree).constituents
        met = [Required(entry.tokens, rng.choice(entry.labels or [entry.label])) for entry in whole]
        constraints.append(rng.choice([some, Constraints(whole[:2]), Constraints(tuple(met)), Constraints()]))
    before = parser.parse_tokens(given, constraints=constraints)
    asked = []
    for module in (constraints_module, chains_module):
        monkeypatch.setattr(module, "cheap_to_ask", lambda tensor: bool(asked.append(tensor)))
    after = parser.parse_tokens(given, constraints=constraints)
    assert asked
    assert after == before
    for tree, other in zip(after, before, strict=True):
        for node, same in zip(tree.preorder(), other.preorder(), strict=True):
            assert node.label_probability == pytest.approx(same.label_probability, abs=1e-5)


def test_constraints_that_the_free_tree_meets_change_nothing(either_parser):
    """Greedy search among fewer actions takes the same ones where they are among them; sentences without constraints
    are not touched by their neighbours."""
    parser = either_parser
    rng = random.Random(7)
    given = sentences(rng, 40)
    trees = parser.parse_tokens(given)
    half = [Constraints.from_tree(tree, tags=True) if k % 2 else None for k, tree in enumerate(trees)]
    again = parser.parse_tokens(given, constraints=half)
    assert again == trees
    for tree, before in list(zip(again, trees, strict=True))[::2]:
        for node, other in zip(tree.preorder(), before.preorder(), strict=True):
            assert node.label_probability == pytest.approx(other.label_probability, abs=1e-5)


def test_one_sentence_and_a_batch_agree(parser):
    rng = random.Random(3)
    given = sentences(rng, 12)
    constraints = [some_constraints(rng, len(words), parser) for words in given]
    together = parser.parse_tokens(given, constraints=constraints)
    for words, one, tree in zip(given, constraints, together, strict=True):
        assert parser.parse_tokens([words], constraints=[one]) == [tree]


def test_a_whole_chain_can_be_fixed(parser):
    words = ["The", "dog", "barks"]
    for labels in (("NP",), ("S", "VP"), ("S", "NP", "VP")):
        (tree,) = parser.parse_tokens(
            [words], constraints=[{"constituents": [{"tokens": [0, 2], "labels": list(labels)}]}]
        )
        assert [label for label, tokens in tree.constituents() if tokens == {0, 2}] == list(labels)
        (node,) = [node for node, tokens in tree.yields().items() if tokens == {0, 2} and node.label == labels[0]]
        assert 0 <= node.label_probability < 1


def test_fixed_labels_have_their_own_probability(parser):
    """All labels of one set of tokens together are at most certain, whichever of them the parser would choose."""
    total = 0.0
    for (label,) in parser.vocabulary.labels:
        given = [{"constituents": [{"tokens": [0, 2], "labels": [label]}]}]
        (tree,) = parser.parse_tokens([["The", "dog", "barks"]], constraints=given)
        total += next(node.label_probability for node, tokens in tree.yields().items() if tokens == {0, 2})
    assert 0.5 < total <= 1.0001


def test_a_chain_that_was_never_a_label_is_refused(whole_chains):
    with pytest.raises(ConstraintError, match="no label 'VP\\+S'"):
        whole_chains.parse_tokens(
            [["The", "dog"]], constraints=[{"constituents": [{"tokens": [0], "labels": ["VP", "S"]}]}]
        )
    (tree,) = whole_chains.parse_tokens(
        [["The", "dog"]], constraints=[{"constituents": [{"tokens": [0, 1], "labels": ["ROOT", "S"]}]}]
    )
    assert [label for label, tokens in tree.constituents() if len(tokens) == 2] == ["ROOT", "S"]


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (
            {"constituents": [{"tokens": [0], "label": "Np"}]},
            "sentence 2: the model has no label 'Np'. Did you mean NP",
        ),
        ({"tags": {"0": "vb"}}, "sentence 2: the model has no tag 'vb' .of token 0.. Did you mean VB"),
        ({"constituents": [[0, 1], [1, 2]]}, "sentence 2: .* overlap"),
        ({"constituents": [{"tokens": [0], "labels": ["NP"] * 9}]}, "9 nodes; the parser stacks at most 6"),
    ],
)
def test_what_cannot_be_met_is_refused(parser, constraints, message):
    with pytest.raises(ConstraintError, match=message):
        parser.parse_tokens([["The"], ["The", "dog", "barks"]], constraints=[None, constraints])


@pytest.mark.parametrize("plain", [True, False])  # together with others, or looked at alone
def test_many_sentences_have_the_limits_of_each(parser, plain, monkeypatch):
    """Constraints as objects and as data, sentences without any, one of a hundred words, and which one is wrong."""
    rng = random.Random(5)
    if not plain:
        monkeypatch.setattr(constraining_module, "plain_limits", lambda constraints, *_: [None] * len(constraints))
    lengths = [3, 5, 100, 7, 2, 64, 63]
    words = [["dog"] * length for length in lengths]
    given = [some_constraints(rng, length, parser) for length in lengths]
    given[2] = Constraints((Required(frozenset({1, 99})), Required(frozenset({1, 64, 99}))))
    mixed = [one.to_json() if k % 2 else one for k, one in enumerate(given)]
    mixed[4] = None
    expected = [None if one is None else parser.limits(w, one) for w, one in zip(words, mixed, strict=True)]
    assert [passage.limits for passage in parser._passages(words, mixed)] == expected
    clash = Constraints((Required(frozenset({0, 1})), Required(frozenset({1, 2}))))
    for wrong, message in ((clash, "overlap"), ({"constituents": "?"}, "must be a list")):
        with pytest.raises(ConstraintError, match=f"sentence 4: .*{message}") as caught:
            parser.parse_tokens(words, constraints=[*mixed[:3], wrong, {"what": 1}, *mixed[5:]])
        assert (caught.value.pair is None) == (wrong is not clash)


def test_plain_constraints_are_looked_at_together(parser, monkeypatch):
    asked: list[object] = []
    monkeypatch.setattr(Parser, "limits", lambda self, words, one: asked.append(one))
    plain = {"constituents": [{"tokens": [0, 2], "label": parser.vocabulary.labels[0][0]}]}
    forbidding = {"forbidden": [[0, 2]]}
    parser._passages([["a", "b", "c"]] * 3, [plain, forbidding, None])
    assert asked == [Constraints.from_json(forbidding)]


def test_sentences_that_cannot_be_parsed_come_before_their_constraints(parser):
    with pytest.raises(DiscoparseError, match="sentence 1 cannot be parsed: it has 0 words"):
        parser.parse_tokens([[]], constraints=[{"constituents": [[0]]}])


def test_a_list_of_another_length_is_refused(parser):
    with pytest.raises(DiscoparseError, match="0 constraints for 1 sentences"):
        parser.parse_tokens([["The"]], constraints=[])
    with pytest.raises(ValueError, match="sentence 1") as caught:
        parser.parse_tokens([["The"]], constraints=[{"constituents": [[3]]}])
    assert caught.value.pair is None
    with pytest.raises(Exception, match="2 constraints for 1 sentences"):
        parser.parse_tokens([["The"]], constraints=[None, None])


@pytest.mark.parametrize("seed", range(6))
def test_any_policy_builds_what_is_required(seed):
    """Random policies, among the allowed actions: every required set is a focus, at the step that has its number."""
    rng = random.Random(seed)
    lengths = [rng.randint(1, 12 if seed else 70) for _ in range(8)]
    limits = []
    for n in lengths:
        one = free(n)
        masks = {mask_of(tokens) for tokens in _random_yields(rng, n) if rng.random() < 0.5} - set(one.required)
        limits.append(
            Limits(n, [*one.required, *sorted(masks)], [0] * (len(masks) + 1), [[]] * (len(masks) + 1), [], {})
        )
    batch = LimitBatch.of(limits, 3, torch.device("cpu"))
    generator = torch.Generator().manual_seed(seed)

    def policy(machine: Lockstep, slots: torch.Tensor) -> torch.Tensor:
        return torch.rand(slots.shape, generator=generator).masked_fill(~slots, -1).argmax(1)

    within = run_within(Lockstep(torch.tensor(lengths)), batch.gold, policy)
    for b, one in enumerate(limits):
        steps = 2 * one.length - 1
        foci = yields(replay(within.action[b, :steps].tolist()))
        numbers = within.number[b, :steps].tolist()
        assert [one.required.index(focus) + 1 if focus in one.required else 0 for focus in foci] == numbers
        assert set(one.required) <= set(foci)
        assert not within.number[b, steps:].any()


def test_a_wanted_label_may_be_anywhere_in_a_chain():
    """Also at the top of the longest one."""
    count = 7
    for length in range(1, longest_chain(count) + 1):
        for place in range(length):
            code = sum((5 if k == place else 3) * count**k for k in range(length))
            wanted = torch.zeros(2, count, dtype=torch.bool)
            wanted[0, 5] = wanted[:, 4] = True
            assert _has_one(torch.tensor([code, code]), wanted).tolist() == [True, False]


def test_a_batch_of_limits_says_what_each_of_them_says():
    rng = random.Random(4)
    limits = []
    for n in (9, 1, 70, 12):
        masks = [(1 << n) - 1, *(rng.randrange(1, 1 << n) for _ in range(n - 1))]
        codes = [rng.choice([0, 0, 5, 12]) for _ in masks]
        wanted = [rng.sample(range(1, 7), rng.choice([0, 1, 3])) for _ in masks]
        forbidden = [rng.randrange(1, 1 << n) for _ in range(rng.randint(0, 3) if n > 1 else 0)]
        limits.append(Limits(n, masks, codes, wanted, forbidden, {k: rng.randrange(9) for k in range(0, n, 5)}))
    batch = LimitBatch.of(limits, 7, torch.device("cpu"))
    assert batch.forbidden is not None
    assert batch.tags is not None
    for b, one in enumerate(limits):
        entries = [(k, code, set(ids)) for k, (code, ids) in enumerate(zip(one.codes, one.wanted, strict=True), 1)]
        found = [
            (k, code, set(torch.nonzero(row).flatten().tolist()))
            for (sentence, k), code, row in zip(
                batch.labelled.t().tolist(), batch.codes.tolist(), batch.wanted, strict=True
            )
            if sentence == b
        ]
        assert found == [entry for entry in entries if entry[1] or entry[2]]
        rows = [mask_of(torch.nonzero(row).flatten().tolist()) for row in batch.forbidden[b]]
        assert rows == one.forbidden + [0] * (len(rows) - len(one.forbidden))
        assert {token: tag for sentence, token, tag in batch.tags.t().tolist() if sentence == b} == one.tags
    nothing = LimitBatch.of([free(3), free(2)], 7, torch.device("cpu"))
    assert nothing.forbidden is None
    assert nothing.tags is None
    assert nothing.codes.shape == (0,)
    assert nothing.wanted.shape == (0, 7)


def test_forbidden_foci():
    lengths = torch.tensor([4, 2])
    action = torch.tensor([[0, 1, 2, 0, 3, 1, 0], [0, 1, 0, 0, 0, 0, 0]])  # foci 1 2 4 5 8 10 15; 1 2 3
    sets = torch.tensor([[[1, 0, 1, 0], [0, 1, 0, 1]], [[0, 1, 0, 0], [0, 0, 0, 0]]]).bool()
    within = Within(action, torch.zeros_like(action))
    found = forbidden_foci(within, lengths, sets)
    assert found[0].tolist() == [False, False, False, True, False, True, False]
    assert found[1, :3].tolist() == [False, True, False]


@pytest.mark.parametrize("count", [BITS - 1, BITS, BITS + 1])
def test_as_many_constituents_as_fill_a_word_of_bits(count, parser):
    """With the whole sentence, which is always required, `count` of them."""
    words = ["dog"] * (count + 1)
    required = tuple(Required(frozenset(range(k + 1)), "NP") for k in range(1, count))
    (tree,) = parser.parse_tokens([words], constraints=[Constraints(required)])
    found = {(tokens, label) for label, tokens in tree.constituents()}
    assert {(entry.tokens, entry.label) for entry in required} <= found


@pytest.mark.parametrize("make", [random_parser, whole_chain_parser])
def test_greedy_codes_have_the_probability_that_chains_give_them(make):
    scorers = make().network.scorers
    torch.manual_seed(2)
    with torch.inference_mode():
        states = torch.randn(3, 4, scorers.label_hidden.out_features)
        final = torch.zeros(3, 4, dtype=torch.bool)
        final[:, -1] = True
        codes, probability = label_codes(scorers, states, final)
        scores = ChainScores(scorers, states.flatten(0, 1), final.flatten())
        assert scores.longest == (longest_chain(scores.count) if make is random_parser else 1)
        found = scores.of_codes(torch.arange(12), codes.flatten())
    torch.testing.assert_close(found.exp().view(3, 4), probability)


def test_labels_of_whole_chains_are_found_by_each_of_their_nodes():
    chains = [("S",), ("NP", "N"), ("NP", "NP"), ("N",)]
    vocabulary = Vocabulary([], [], ["DT"], chains, rare=1)
    ids = {"S": [1], "NP": [2, 3], "N": [2, 4]}
    for label, expected in ids.items():
        constraints = Constraints((Required(frozenset({0}), label),))
        assert limits_for(constraints, ["a", "b"], vocabulary, spells=False).wanted == [[], expected]
    whole = Constraints((Required(frozenset({0, 1}), labels=("NP", "NP")),))
    limits = limits_for(whole, ["a", "b"], vocabulary, spells=False)
    assert (limits.codes, limits.wanted) == ([3], [[]])


def test_limits_name_ids(parser):
    vocabulary = parser.vocabulary
    constraints = Constraints.from_json({"constituents": [{"tokens": [0, 1], "label": "NP"}], "tags": {"0": "DT"}})
    limits = limits_for(constraints, ["The", "dog", "."], vocabulary, spells=True)
    assert limits.required == [7, 3]
    assert limits.wanted == [[], [vocabulary.labels.index(("NP",)) + 1]]
    assert limits.tags == {0: vocabulary.tags.index("DT")}
