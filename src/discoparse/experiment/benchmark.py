"""How fast training and parsing are: rates, the encoder's share, latency of single sentences, memory.

Every figure is the median of several repeats after a warm-up, and a GPU is waited for before the clock is read.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
import torch

from discoparse.files.environment import environment, peak_memory
from discoparse.neural.decoder import Decoder
from discoparse.neural.device import choose_device
from discoparse.parser.finding import load
from discoparse.parser.parser import Parser
from discoparse.parser.processes import keep_what_is_loaded
from discoparse.training.loop import Trainer
from discoparse.training.recipe import RECIPES, Recipe
from discoparse.tree import Node, Token, Tree
from discoparse.treebank import read_trees

LATENCY_TOKENS = 20
_LEAST_TRAINING = 1.0  # seconds of training where there is no model, so that parsing has something to go by
_WARMUP_STEPS = 4  # of training on a CPU; a GPU gets a whole epoch, in which kernels are compiled
Words = Sequence[str]


@dataclass(frozen=True)
class Effort:
    """How long to measure."""

    repeats: int = 3  # of every parse
    latency_repeats: int = 100  # single sentences
    training_seconds: float = 10.0  # at least, after the warm-up


def run_benchmark(
    trees: Sequence[Tree],
    *,
    model: str | None = None,
    sentences: int | None = None,
    recipe: str = "fast",
    settings: Sequence[str] = (),
    device: str = "auto",
    threads: int = 1,
    effort: Effort | None = None,
    progress: Callable[[str], None] = lambda message: None,
) -> dict[str, Any]:
    """Measure everything on some trees; without a model, parsing is measured with the network just trained."""
    effort = effort or Effort()
    where = choose_device(device)
    figures: dict[str, Any] = {
        "trees": len(trees),
        "tokens": sum(map(len, trees)),
        "model": model,
        "device": where.type,
        "training": None,
    }
    with using_threads(threads) as figures["threads"]:
        parser = None if model is None else load(model, where.type)
        if parser is None or effort.training_seconds:
            progress("training")
            chosen = RECIPES[recipe].override(list(settings))
            seconds = max(effort.training_seconds, _LEAST_TRAINING if parser is None else 0.0)
            figures["training"], trainer = measure_training(chosen, trees, where, seconds)
            figures["training"]["recipe"] = recipe
            parser = parser or Parser(trainer.network, trainer.vocabulary, where)
            del trainer
        text = repeated([tree.words for tree in trees], sentences)
        progress("parsing")
        figures["parsing"] = measure_parsing(parser, text, effort.repeats)
        progress("single sentences")
        figures["latency"] = measure_latency(parser, text, effort.latency_repeats)
        figures["memory"] = memory(where)
    return {**figures, "environment": environment(where.type)}


@contextmanager
def using_threads(number: int | None) -> Iterator[int]:
    """Set the number of CPU cores that PyTorch may use while this is entered."""
    before = torch.get_num_threads()
    if number is not None:
        torch.set_num_threads(number)
    try:
        yield torch.get_num_threads()
    finally:
        torch.set_num_threads(before)


def timed(function: Callable[[], object], device: torch.device) -> float:
    """Seconds that a call takes, the device's work included."""
    _wait(device)
    start = time.perf_counter()
    function()
    _wait(device)
    return time.perf_counter() - start


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def measure_parsing(parser: Parser, sentences: Sequence[Words], repeats: int) -> dict[str, Any]:
    """Rates from token lists to trees and to labelled yields, and the encoder's part, on the same batches.

    Word forms are encoded anew in every repeat, as for a text that was never seen.
    """
    device = parser.device
    decoder = parser.decoder
    batches = [[sentences[k] for k in chosen] for chosen in decoder.batches(sentences)]
    tasks: dict[str, Callable[[], object]] = {
        "encoder": lambda: encode(decoder, batches),
        "yields": lambda: decoder.labelled_yields(sentences),
        "trees": lambda: parser.parse_tokens(sentences),
    }
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    keep_what_is_loaded()  # as `discoparse parse` does once the model is loaded
    for repeat in range(repeats + 1):
        for name, task in tasks.items():  # in turn, so that a slow spell of the machine hits all alike
            parser.forget_forms()
            spent = timed(task, device)
            if repeat:
                seconds[name].append(spent)
    median = {name: statistics.median(values) for name, values in seconds.items()}
    tokens = sum(map(len, sentences))
    return {
        "sentences": len(sentences),
        "tokens": tokens,
        "repeats": repeats,
        "seconds": median["trees"],
        "sentences_per_second": len(sentences) / median["trees"],
        "tokens_per_second": tokens / median["trees"],
        "yields_sentences_per_second": len(sentences) / median["yields"],
        "yields_tokens_per_second": tokens / median["yields"],
        "encoder_seconds": median["encoder"],
        "times_encoder": median["trees"] / median["encoder"],
        "yields_times_encoder": median["yields"] / median["encoder"],
    }


@torch.inference_mode()
def encode(decoder: Decoder, batches: Sequence[Sequence[Words]]) -> None:
    """The encoder's forward pass alone, by whatever the decoder uses."""
    compiled = decoder.compiled
    encoder = compiled.encode if compiled is not None and compiled.network.has_encoder else decoder.encode
    for sentences in batches:
        encoder(sentences)


def measure_latency(parser: Parser, sentences: Sequence[Words], repeats: int) -> dict[str, Any]:
    """Milliseconds for sentences of 20 tokens, one at a time: median and 95th percentile."""
    examples = sentences_of(LATENCY_TOKENS, sentences)
    parser.parse_tokens(examples[:1])
    turns = itertools.islice(itertools.cycle(examples), repeats)
    spent = [1000 * timed(lambda s=sentence: parser.parse_tokens([s]), parser.device) for sentence in turns]  # type: ignore[misc]
    return {
        "tokens": LATENCY_TOKENS,
        "repeats": repeats,
        "median_ms": statistics.median(spent),
        "p95_ms": float(np.quantile(spent, 0.95)),
    }


def sentences_of(length: int, sentences: Sequence[Words], most: int = 50) -> list[Words]:
    """Sentences of exactly this length, or pieces of the text if there are none.

    >>> sentences_of(2, [["a"], ["b", "c", "d"], ["e", "f"]])
    [['e', 'f']]
    >>> sentences_of(3, [["a"], ["b", "c"], ["d"]])
    [['a', 'b', 'c']]
    """
    found = [sentence for sentence in sentences if len(sentence) == length][:most]
    if found:
        return found
    text = list(itertools.islice((word for sentence in sentences for word in sentence), length * most))
    text *= -(-length // max(1, len(text)))  # a very short text is repeated
    return [text[k : k + length] for k in range(0, len(text) - length + 1, length)]


def measure_training(
    recipe: Recipe, trees: Sequence[Tree], device: torch.device, least_seconds: float, seed: int = 1
) -> tuple[dict[str, Any], Trainer]:
    """Rates of training steps, oracle and exploration included, and the network that they made."""
    start = time.perf_counter()
    recipe = recipe.replace(exploration_start=0.0)  # the rate once exploration has begun
    trainer = Trainer(recipe, trees, device, seed)
    _wait(device)
    prepared = time.perf_counter() - start
    steps = _training_steps(trainer)
    warm_up = _WARMUP_STEPS
    if device.type == "cuda":  # explore batches of every length, so that the kernel is compiled for each of them
        warm_up = len(trainer.batches)
        trainer.recipe = recipe.replace(exploration=1.0)
    for _ in range(warm_up):
        next(steps)
    trainer.recipe = recipe.replace(exploration=0.0)
    next(steps)  # makes the oracle's own derivations, once for the whole training
    trainer.recipe = recipe
    sentences = tokens = batches = 0
    _wait(device)
    start = time.perf_counter()
    while time.perf_counter() - start < least_seconds:
        chosen = next(steps)
        sentences += len(chosen)
        tokens += int(trainer.corpus.lengths[chosen].sum())
        batches += 1
        if batches % 16 == 0:
            _wait(device)  # the clock must not run ahead of the device
    _wait(device)
    seconds = time.perf_counter() - start
    figures = {
        "oracle": recipe.oracle,
        "exploration": recipe.exploration,
        "batch_tokens": trainer.batch_tokens,
        "batches": batches,
        "seconds": seconds,
        "sentences_per_second": sentences / seconds,
        "tokens_per_second": tokens / seconds,
        "preparation_seconds": prepared,
    }
    return figures, trainer


def _training_steps(trainer: Trainer) -> Iterator[np.ndarray]:
    """Train for ever; yields the sentences of each batch once it is trained on."""
    while True:
        trainer.start_epoch()
        batches = list(trainer.batches)
        for chosen, _ in zip(batches, trainer.steps(), strict=True):
            yield chosen


def memory(device: torch.device) -> dict[str, int | None]:
    """Peaks in bytes of this process: of main memory, and of PyTorch on the GPU."""
    peak = torch.cuda.max_memory_allocated(device) if device.type == "cuda" else None
    return {"peak_bytes": peak_memory(), "peak_gpu_bytes": peak}


def own_trees(count: int, seed: int = 1) -> list[Tree]:
    """Trees for a benchmark without a treebank: one to six of our example sentences under one root, words varied."""
    examples = list(read_trees(str(resources.files("discoparse") / "examples" / "sentences.discbracket")))
    random = np.random.default_rng(seed)
    trees = []
    for _ in range(count):
        parts = [examples[k] for k in random.integers(len(examples), size=random.integers(1, 7))]
        tokens: list[Token] = []
        children: list[Node | int] = []
        for part in parts:
            children.append(_shifted(part.root, len(tokens)))
            # A few forms are frequent and many are rare, as in any text.
            suffixes = random.zipf(1.6, size=len(part)) % 10_000
            tokens += [
                Token(f"{t.word}{n if n > 1 else ''}", t.tag) for t, n in zip(part.tokens, suffixes, strict=True)
            ]
        trees.append(Tree(tokens, Node("ROOT", children)))
    return trees


def _shifted(root: Node, offset: int) -> Node:
    """A copy of a subtree whose tokens start later. The examples are shallow, so this may recurse."""
    return Node(root.label, [c + offset if isinstance(c, int) else _shifted(c, offset) for c in root.children])


def repeated(sentences: Sequence[Words], count: int | None) -> list[Words]:
    """The sentences, repeated until there are `count`."""
    return list(sentences) if count is None else list(itertools.islice(itertools.cycle(sentences), count))
