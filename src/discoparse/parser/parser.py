"""What users call: a trained parser that turns sentences into trees."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from discoparse.errors import DiscoparseError
from discoparse.model.info import ModelInfo
from discoparse.neural.batching import LONGEST_SENTENCE
from discoparse.neural.decoder import Decoder
from discoparse.neural.network import Network, NetworkConfig
from discoparse.neural.replay import build_tree, replay
from discoparse.neural.vocabulary import Vocabulary
from discoparse.parser.passages import Notice, Passage, read_text
from discoparse.parser.windows import windows
from discoparse.tree import Token, Tree

# Tokens that a stream is read ahead, to be sorted by length.
WINDOW_TOKENS = {"cpu": 16384, "cuda": 131072}


class Parser:
    """A network with its vocabulary. Picklable, and safe to use from several threads."""

    def __init__(
        self,
        network: Network,
        vocabulary: Vocabulary,
        device: str | torch.device = "cpu",
        info: ModelInfo | None = None,
    ) -> None:
        self.device = torch.device(device)
        self.info = info  # of a model that was loaded
        self.network = network.to(self.device).eval()
        self.vocabulary = vocabulary
        self.decoder = Decoder(self.network, vocabulary, self.device)

    def __reduce__(self) -> tuple[Any, ...]:
        """Locks and caches stay at home; on a machine without a GPU, the copy uses the processor."""
        parameters = {name: tensor.cpu() for name, tensor in self.network.state_dict().items()}
        return _revive, (parameters, self.network.config, self.vocabulary, self.device.type, self.info)

    @property
    def language(self) -> str | None:
        """The model's language, by which raw text is split."""
        return None if self.info is None else self.info.language

    # -- what users call ------------------------------------------------------------------------------------------

    def parse(self, text: str, *, lines: bool = False) -> list[Tree]:
        """The trees of a text's sentences. With `lines`, every line end ends a sentence; otherwise blank lines do."""
        if not isinstance(text, str):
            raise TypeError(f"`parse` takes a text, not {type(text).__name__}: `parse_tokens` is for lists of words")
        return _trees(self._parse_window(list(read_text([text], self.language, _warn, lines=lines))))

    def parse_tokens(self, sentences: Iterable[Sequence[str]]) -> list[Tree]:
        """A tree for each sentence, in order; sentences are lists of words."""
        return _trees(self._parse_window(list(_checked(sentences))))

    def stream(self, pieces: Iterable[str], *, lines: bool = False, notice: Notice | None = None) -> Iterator[Tree]:
        """The trees of a text that comes in pieces, as lines of a file, and may be of any length.

        `notice` is told of sentences that had to be cut; without it they are warned of.
        """
        passages = read_text(pieces, self.language, notice or _warn, lines=lines)
        return (tree for tree in self.parse_passages(passages) if tree is not None)

    def stream_tokens(self, sentences: Iterable[Sequence[str]]) -> Iterator[Tree | None]:
        """A tree for each sentence of a stream of any length, in order; None for one without words or with more than
        `LONGEST_SENTENCE`."""
        lists = _word_lists(sentences)
        return self.parse_passages(
            Passage(list(words)) if 0 < len(words) <= LONGEST_SENTENCE else None for words in lists
        )

    def parse_passages(
        self, passages: Iterable[Passage | None], idle: Callable[[], bool] | None = None
    ) -> Iterator[Tree | None]:
        """A tree for each passage of a stream, in order, and None for None; trees know the places of their words.

        Passages are read ahead and parsed together, but not while the stream is `idle`.
        """
        for window in windows(passages, _size, WINDOW_TOKENS[self.device.type], idle):
            yield from self._parse_window(window)

    # -- how it is done -------------------------------------------------------------------------------------------

    def _parse_window(self, window: Sequence[Passage | None]) -> list[Tree | None]:
        """Parse what fits into memory at once, in batches of sentences of like length."""
        trees: list[Tree | None] = [None] * len(window)
        tags = self.vocabulary.tags
        sentences = [[] if passage is None else passage.words for passage in window]
        for chosen, decoded in self.decoder.decode(sentences, probabilities=True):
            assert decoded.probabilities is not None
            for b, k in enumerate(chosen.tolist()):
                passage = window[k]
                assert passage is not None
                tokens = [Token(word, tags[tag]) for word, tag in zip(passage.words, decoded.tags[b], strict=False)]
                for token, span in zip(tokens, passage.spans or (), strict=False):
                    token.span = span
                steps = 2 * len(tokens) - 1
                chains = [self.decoder.chains[code] for code in decoded.labels[b][:steps]]
                tree = build_tree(tokens, replay(decoded.actions[b][:steps]), chains, decoded.probabilities[b])
                tree.text = passage.text
                trees[k] = tree
        return trees


def _trees(found: Iterable[Tree | None]) -> list[Tree]:
    return [tree for tree in found if tree is not None]


def _size(passage: Passage | None) -> int:
    return 0 if passage is None else len(passage.words)


def _checked(sentences: Iterable[Sequence[str]]) -> Iterator[Passage]:
    """Sentences that can be parsed; raises an error for others."""
    for number, words in enumerate(_word_lists(sentences), 1):
        if not 0 < len(words) <= LONGEST_SENTENCE:
            raise DiscoparseError(f"sentence {number} has {len(words):,} words; a tree needs 1 to {LONGEST_SENTENCE:,}")
        yield Passage(list(words))


def _word_lists(sentences: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
    """The sentences, unless one is a string: its characters are no words."""
    for number, words in enumerate(sentences, 1):
        if isinstance(words, str):
            raise TypeError(f"sentence {number} is a string: give lists of words, or call `parse` for raw text")
        yield words


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=2)


def _revive(
    parameters: dict[str, Tensor], config: NetworkConfig, vocabulary: Vocabulary, device: str, info: ModelInfo | None
) -> Parser:
    """A parser from what `Parser.__reduce__` kept."""
    with torch.random.fork_rng(devices=[]):  # as in `load_parser`
        network = Network(config)
    network.load_state_dict(parameters)
    return Parser(network, vocabulary, device if torch.cuda.is_available() else "cpu", info)
