"""How often significance tests reject where nothing differs: the figures in docs/commands/experiment.md.

python scripts/simulate_tests.py [--repetitions 400]

Simulated experiments have two systems with the same expected score. Sentences differ in difficulty, each system finds
some a little easier, and seeds are better or worse by a given standard deviation (of the logit of the probability that
a constituent is right; 0.1 is about 1.7 F1).
"""

from __future__ import annotations

import click
import numpy as np

from discoparse.evaluation.counts import Counts
from discoparse.evaluation.seed_significance import compare_seeds

_DRAWN = 200  # samples of each bootstrap


def simulated(rng: np.random.Generator, sentences: int, seeds: int, deviation: float) -> list[np.ndarray]:
    """The counts [seed, sentence, count] of both systems."""
    gold = rng.poisson(9, sentences) + 1
    easy = rng.normal(1.2, 0.8, sentences)
    systems = []
    for _ in range(2):
        liked = easy + rng.normal(0, 0.15, sentences)
        counts = np.zeros((seeds, sentences, len(Counts._fields)), dtype=np.int64)
        for run in counts:
            logit = liked + rng.normal(0, deviation) + rng.normal(0, 0.4, sentences)
            matched = rng.binomial(gold, 1 / (1 + np.exp(-logit)))
            run[:, Counts._fields.index("matched")] = matched
            run[:, Counts._fields.index("gold")] = gold
            run[:, Counts._fields.index("predicted")] = np.maximum(matched, gold + rng.integers(-1, 2, sentences))
        systems.append(counts)
    return systems


def bootstrap_p(systems: list[np.ndarray], rng: np.random.Generator, seeds_too: bool) -> float:
    """Twice the share of samples in which the other system is ahead; sentences are drawn again, and seeds if wanted."""
    columns = [Counts._fields.index(name) for name in ("matched", "gold", "predicted")]
    differences = []
    for _ in range(_DRAWN):
        n = systems[0].shape[1]
        times = np.bincount(rng.integers(0, n, n), minlength=n)
        means = []
        for counts in systems:
            runs = rng.integers(0, len(counts), len(counts)) if seeds_too else np.arange(len(counts))
            matched, gold, predicted = (times @ counts[runs][:, :, columns]).T  # [seed] each
            means.append(np.mean(200 * matched / (gold + predicted)))
        differences.append(means[1] - means[0])
    ahead = np.array(differences)
    return float(min(1.0, 2 * (min((ahead <= 0).sum(), (ahead >= 0).sum()) + 1) / (_DRAWN + 1)))


@click.command()
@click.option("--repetitions", default=400, show_default=True, help="Experiments of each kind; bootstraps get 150.")
def command(repetitions: int) -> None:
    """Share of p values below 0.05 for three tests."""
    print("sentences  seeds  deviation  t over both  bootstrap over both  bootstrap over sentences")
    for sentences in (219, 700):
        for seeds in (3, 5):
            for deviation in (0.0, 0.03, 0.1):
                rng = np.random.default_rng(1)
                found: list[list[float]] = [[], [], []]
                for number in range(repetitions):
                    systems = simulated(rng, sentences, seeds, deviation)
                    p = compare_seeds(list(systems[0]), list(systems[1]), ["f1"])[0].p
                    found[0].append(1.0 if p is None else p)
                    if number < 150:
                        found[1].append(bootstrap_p(systems, rng, seeds_too=True))
                        found[2].append(bootstrap_p(systems, rng, seeds_too=False))
                shares = [100 * (np.array(values) < 0.05).mean() for values in found]
                print(
                    f"{sentences:9} {seeds:6} {deviation:10} {shares[0]:11.1f}% {shares[1]:19.1f}% {shares[2]:24.1f}%"
                )


if __name__ == "__main__":
    command()
