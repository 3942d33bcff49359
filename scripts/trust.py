"""The figures about trust in docs/guides and research/trust.md: what constraints, probabilities and several trees give.

python scripts/trust.py constraints nl TREEBANK      F1 on the rest when some gold constituents are given
python scripts/trust.py calibration nl TREEBANK      fitted on one half of the sentences, measured on the other
python scripts/trust.py second-opinion nl TREEBANK --second nl-large    can another model tell what is right?
python scripts/trust.py sentences nl TREEBANK        F1 of the sentences with the lowest expected F1, and of the others
python scripts/trust.py consensus nl TREEBANK        greedy trees against consensus trees
python scripts/trust.py best nl TREEBANK             the best of K trees; a beam against samples
python scripts/trust.py speed nl TREEBANK [--device cuda]            times of all of these
python scripts/trust.py speed-without-best nl TREEBANK               the same but for the best of K, which takes longest
"""

from __future__ import annotations

import gc
import math
import random
import time
from collections.abc import Callable, Sequence
from functools import partial

import click
import numpy as np
import torch

from discoparse import Tree, evaluate, load, read_trees
from discoparse.evaluation.calibration import KINDS, area, calibrate, judge, reliability, scored_nodes
from discoparse.evaluation.counts import f1_score
from discoparse.neural.beam import Derivations, _Ranking, search
from discoparse.neural.lockstep import Lockstep
from discoparse.neural.marginals import labeller_states
from discoparse.neural.sampling import SharedScores, distinct_foci, sample
from discoparse.parser.calibrating import fit
from discoparse.parser.parser import Parser
from discoparse.system.constraints import Constraints
from discoparse.tree import gap_count

_RUNS = 9  # of each measurement of speed
_LONE = 20  # times that a lone sentence is parsed in each


def constraints(parser: Parser, gold: Sequence[Tree], samples: int) -> None:
    """What an annotator gains: F1 over the constituents that were not given."""
    words = [tree.words for tree in gold]
    print("given     F1 of the rest   discontinuous   all")
    for share in (0, 0.1, 0.25, 0.5):
        rng = random.Random(1)
        given = []
        for tree in gold:
            every = Constraints.from_tree(tree)
            given.append(Constraints(tuple(one for one in every.constituents if rng.random() < share)))
        trees = parser.parse_tokens(words, constraints=given)
        result = evaluate(gold, trees)
        known = evaluate(gold, [_only(tree, one) for tree, one in zip(gold, given, strict=True)]).all
        scores = result.all
        rest = [
            f1_score(part.matched - less.matched, part.gold - less.matched, part.predicted - less.matched) or 0.0
            for part, less in ((scores, known), (scores.disc, known.disc))
        ]
        print(f"{share:4.0%} {rest[0]:15.2f} {rest[1]:15.2f} {scores.f1:10.2f}")

    print("corrected   wrong brackets   gone beside the corrected ones   F1")
    free = evaluate(gold, parser.parse_tokens(words)).sentences
    for most in (0, 1, 2, 3):
        rng = random.Random(1)
        given, missed = [], 0
        for tree, scored in zip(gold, free, strict=True):
            assert scored.predicted is not None
            found = set(scored.predicted.constituents())
            every = [one for one in Constraints.from_tree(tree).constituents if (one.label, one.tokens) not in found]
            every = [one for one in every if one.label is not None and len(one.tokens) < len(tree)]
            some = rng.sample(every, min(most, len(every)))
            missed += len(some)
            given.append(Constraints(tuple(some)))
        result = evaluate(gold, parser.parse_tokens(words, constraints=given))
        wrong = sum(sentence.wrong for sentence in result.sentences)
        before = sum(sentence.wrong for sentence in free)
        print(f"{most} a sentence {wrong:10} {before - wrong - missed:18} (of {missed} given) {result.all.f1:15.2f}")


def _only(tree: Tree, given: Constraints) -> Tree:
    """The tree with nothing but the constituents that were given."""
    kept = [(label, one.tokens) for one in given.constituents for label in one.labels or (one.label or "",)]
    return Tree.from_constituents(tree.tokens, kept)


def calibration(parser: Parser, gold: Sequence[Tree], samples: int) -> None:
    """Cross-fitted: every constituent has a probability that was fitted to the other half of the sentences."""
    judged = {kind: [] for kind in KINDS}
    for fitted, measured in ((gold[::2], gold[1::2]), (gold[1::2], gold[::2])):
        parser.calibration = fit(parser, fitted)
        print(parser.calibration)
        trees = parser.parse_tokens([tree.words for tree in measured], probabilities=samples)
        result = evaluate(measured, trees)
        print(f"  half: ECE {reliability(judge(result)).error:.4f}; {calibrate(result).sentences}")
        for kind in KINDS:
            judged[kind] += judge(result, kind)
    for kind, every in judged.items():
        for name, some in (("all", every), ("discontinuous", [one for one in every if one.gaps])):
            one = reliability(some)
            print(f"{kind:18} {name:14} {one.count:6} mean {one.probability:.3f} right {one.right:.3f}", end=" ")
            print(f"ECE {one.error:.4f} AUC {one.auc:.3f}")


def second_opinion(parser: Parser, gold: Sequence[Tree], samples: int, second: Parser) -> None:
    """How well probabilities by a second parser tell which constituents of the first one are right.

    The second one's are those of its greedy and of its consensus trees, of whatever share; 0 for what is in neither.
    """
    words = [tree.words for tree in gold]
    opinions: dict[tuple[int, str, int], float] = {}
    for share in ({}, {"consensus": 0.02}):
        trees = second.parse_tokens(words, probabilities=samples, **share)
        for place, node, _ in scored_nodes(evaluate(gold, trees)):
            opinions[place] = max(opinions.get(place, 0.0), node.probability or 0.0)
    rows = []
    for place, node, right in scored_nodes(evaluate(gold, parser.parse_tokens(words, probabilities=samples))):
        own, other = _log_odds(node.probability), _log_odds(opinions.get(place, 0.0))
        rows.append((right, gap_count(place[2]) > 0, node.label_probability, own, other, own + other))
    table = np.array(rows, dtype=float)
    for name, column in (("labeller", 2), ("the model", 3), ("the second model", 4), ("both", 5)):
        areas = [area(part[:, column], part[:, 0] > 0) for part in (table, table[table[:, 1] > 0])]
        print(f"{name:18} AUC {areas[0]:.3f}, discontinuous {areas[1]:.3f}, of {len(table)} constituents")


def _log_odds(probability: float | None) -> float:
    bounded = min(max(probability or 0.0, 0.005), 0.995)
    return math.log(bounded / (1 - bounded))


def sentences(parser: Parser, gold: Sequence[Tree], samples: int) -> None:
    """With probabilities fitted to the other half of the sentences."""
    pairs: list[tuple[float, Tree, Tree]] = []
    for fitted, measured in ((gold[::2], gold[1::2]), (gold[1::2], gold[::2])):
        parser.calibration = fit(parser, fitted)
        trees = parser.parse_tokens([tree.words for tree in measured], probabilities=samples)
        pairs += [(tree.expected_f1 or 0.0, right, tree) for tree, right in zip(trees, measured, strict=True)]
    pairs.sort(key=lambda pair: pair[0])
    for share in (0.05, 0.1, 0.2, 0.5):
        cut = round(share * len(pairs))
        parts = [evaluate([g for _, g, _ in part], [t for _, _, t in part]).all for part in (pairs[:cut], pairs[cut:])]
        threshold = 100 * pairs[cut][0]
        print(
            f"lowest {share:4.0%}: expected F1 below {threshold:.1f}: "
            f"F1 {parts[0].f1:.2f}, the others {parts[1].f1:.2f}"
        )


def consensus(parser: Parser, gold: Sequence[Tree], samples: int) -> None:
    words = [tree.words for tree in gold]
    trees = {"greedy": parser.parse_tokens(words)}
    for share in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        trees[f"> {share}"] = parser.parse_tokens(words, probabilities=samples, consensus=share)
    print("           F1  precision  recall   disc. F1  disc. precision  exact")
    for name, found in trees.items():
        all_ = evaluate(gold, found).all
        values = (all_.f1, all_.precision, all_.recall, all_.disc.f1, all_.disc.precision, all_.exact_match)
        print(f"{name:8}" + " ".join(f"{value or 0:9.2f}" for value in values))


def best(parser: Parser, gold: Sequence[Tree], samples: int) -> None:
    words = [tree.words for tree in gold]
    _row("greedy", gold, parser.parse_tokens(words))
    lists = parser.parse_tokens(words, best=10)
    scored = [evaluate(gold, [trees[min(k, len(trees) - 1)] for trees in lists]).sentences for k in range(10)]
    for count in (1, 2, 5, 10):
        chosen = []
        for number, trees in enumerate(lists):
            counts = [scored[k][number].counts for k in range(min(count, len(trees)))]
            values = [f1_score(one.matched, one.gold, one.predicted) or 0.0 for one in counts]
            chosen.append(trees[values.index(max(values))])
        _row(f"best of {count}", gold, chosen)
    print("probability mass of the 10 best trees that are found, and seconds:")
    for name, derive in {
        **{f"beam {width}": _beam(width) for width in (8, 16, 32)},
        **{f"{count} samples": _samples(count) for count in (16, 32, 64, 128)},
    }.items():
        started = time.perf_counter()
        mass = _mass(parser, words, derive)
        print(f"{name:12} {mass:.4f} {time.perf_counter() - started:7.2f}")


def _row(name: str, gold: Sequence[Tree], trees: Sequence[Tree]) -> None:
    scores = evaluate(gold, trees).all
    print(f"{name:12} F1 {scores.f1:.2f}  disc. F1 {scores.disc.f1:.2f}  exact {scores.exact_match:.2f}")


Derive = Callable[[Parser, torch.Tensor, torch.Tensor], Derivations]


def _beam(width: int) -> Derive:
    return lambda parser, tokens, lengths: search(
        parser.decoder.fast_scorers, tokens, lengths, width, parser.calibration.structure
    )


def _samples(count: int) -> Derive:
    """Samples with the probabilities of their derivations, equal ones once."""

    def derive(parser: Parser, tokens: torch.Tensor, lengths: torch.Tensor) -> Derivations:
        temperature, folded = parser.calibration.structure, parser.decoder.fast_scorers
        seeds = np.arange(len(lengths))
        found = distinct_foci(sample(parser.network.scorers, folded, tokens, lengths, count, temperature, seeds))
        copies = count + 1
        repeated = lengths.repeat_interleave(copies)
        machine, shared = Lockstep(repeated, tokens.shape[1]), SharedScores(folded, tokens, lengths, copies)
        total = torch.zeros(len(repeated))
        for t, slot in enumerate(found.action[:, 1:].unbind(1)):
            rows, slots, scores = shared(machine, machine.legal())
            every = torch.full((len(repeated), tokens.shape[1]), -torch.inf)
            every[rows, slots] = scores / temperature
            step = every.log_softmax(1).gather(1, slot[:, None]).squeeze(1)
            total = total + torch.where(machine.last > t, step, 0.0)
            machine.advance(slot)
        seen: set[tuple[int, ...]] = set()
        for row, actions in enumerate(found.action.tolist()):
            key = (row // copies, *actions)
            if key in seen:
                total[row] = -math.inf
            seen.add(key)
        return Derivations(found, total)

    return derive


@torch.inference_mode()
def _mass(parser: Parser, sentences: Sequence[Sequence[str]], derive: Derive) -> float:
    """The mean over sentences of the probability of the ten best trees that are found, as the network has it."""
    decoder, total = parser.decoder, 0.0
    for chosen in decoder.batches(sentences):
        _, last, lengths = decoder.encode([sentences[k] for k in chosen])
        for start, end in decoder.chunks(lengths.tolist(), 32):
            some = lengths[start:end]
            tokens = last[start:end, : int(some.max())]
            found = derive(parser, tokens, some)
            states = labeller_states(decoder.fast_scorers, tokens, some, found.found)
            ranking = _Ranking(found, decoder.network.scorers, states, parser.calibration)
            ranking.power = 1.0
            width = len(found.log_probability) // len(some)
            for b, n in enumerate(some.tolist()):
                total += sum(one.probability for one in ranking.best(range(b * width, (b + 1) * width), n, 10))
    return total / len(sentences)


def speed(parser: Parser, gold: Sequence[Tree], samples: int, best: bool = True) -> None:
    """Times as multiples of greedy parsing of the same sentences in the same turn: the median, and the range. On a CPU
    it is CPU time, whatever else keeps the machine busy. The `best` trees take longer than all else together."""
    given = {"one": [], "half": []}
    rng = random.Random(1)
    for tree in gold:
        every = Constraints.from_tree(tree).constituents
        given["one"].append(Constraints(tuple(rng.sample(every, min(1, len(every))))))
        given["half"].append(Constraints(tuple(one for one in every if rng.random() < 0.5)))
    print(f"{len(gold)} sentences together:")
    _compare(parser, [tree.words for tree in gold], given, samples, best, 1)
    lone = sorted(range(len(gold)), key=lambda k: len(gold[k]))[len(gold) // 2 :: len(gold)]
    print(f"one sentence of {len(gold[lone[0]])} words, {_LONE} times:")
    some = {name: [every[k] for k in lone] for name, every in given.items()}
    _compare(parser, [gold[k].words for k in lone], some, samples, best, _LONE)


def _compare(
    parser: Parser, words: list[list[str]], given: dict[str, list[Constraints]], samples: int, best: bool, times: int
) -> None:
    ways: dict[str, Callable[[], object]] = {"greedy": lambda: parser.parse_tokens(words)}
    for name, constraints in given.items():
        ways[f"{name} of the constituents given"] = partial(_within, parser, words, constraints)
    for count in sorted({16, samples}):
        ways[f"{count} samples"] = partial(parser.parse_tokens, words, probabilities=count)
    if best:
        ways["5 best"] = lambda: parser.parse_tokens(words, best=5)
    clock = time.process_time if parser.device.type == "cpu" else time.perf_counter
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(_RUNS):  # in turns, since other work on the machine comes and goes
        for name, way in ways.items():
            way()  # the one before leaves caches and memory as it wants them
            gc.collect()
            gc.disable()  # as `timeit` does: whom it hits is chance
            started = clock()
            for _ in range(times):
                way()
            seconds[name].append((clock() - started) / times)
            gc.enable()
    for name, runs in seconds.items():
        ratios = sorted(one / greedy for one, greedy in zip(runs, seconds["greedy"], strict=True))
        spread = f"x {ratios[len(ratios) // 2]:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        print(f"{name:32} {1000 * min(runs):8.2f} ms  {spread}")


def _within(parser: Parser, words: list[list[str]], given: list[Constraints]) -> list[Tree]:
    """The constraints are new objects, which remember nothing of the turn before."""
    return parser.parse_tokens(words, constraints=[Constraints(one.constituents) for one in given])


MEASUREMENTS = {
    "constraints": constraints,
    "calibration": calibration,
    "sentences": sentences,
    "consensus": consensus,
    "best": best,
    "speed": speed,
    "speed-without-best": partial(speed, best=False),
}


@click.command()
@click.argument("what", type=click.Choice([*MEASUREMENTS, "second-opinion"]))
@click.argument("model")
@click.argument("treebank")
@click.option("--sentences", "limit", default=10**9, help="Every n-th sentence, so that there are about so many.")
@click.option("--samples", default=64)
@click.option("--device", default="cpu")
@click.option("--second", help="A model, for `second-opinion`.")
def main(what: str, model: str, treebank: str, limit: int, samples: int, device: str, second: str | None) -> None:
    gold = list(read_trees(treebank))
    gold = gold[:: -(-len(gold) // limit)]
    parser = load(model, device, threads=1)
    parser.parse_tokens([tree.words for tree in gold[:100]])
    if what == "second-opinion":
        if second is None:
            raise click.UsageError("name the second model: --second MODEL")
        second_opinion(parser, gold, samples, load(second, device, threads=1))
    else:
        MEASUREMENTS[what](parser, gold, samples)


if __name__ == "__main__":
    main()
