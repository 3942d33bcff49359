"""What users call: a trained parser that turns sentences into trees."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from discoparse.errors import DiscoparseError, UsageError
from discoparse.model.info import ModelInfo
from discoparse.neural.belief import Belief
from discoparse.neural.calibration import Calibration
from discoparse.neural.codes import Chains
from discoparse.neural.compiled.decoder import CompiledDecoder
from discoparse.neural.config import StoredNetwork
from discoparse.neural.decisions import Decoded
from discoparse.neural.device import use_threads
from discoparse.neural.limits import Limits, limits_for
from discoparse.neural.replay import build_tree, replay
from discoparse.neural.vocabulary import Vocabulary
from discoparse.parser.belief_trees import believed_tree, significant
from discoparse.parser.constraining import all_limits
from discoparse.parser.doubt import Doubt
from discoparse.parser.passages import Notice, Passage, passage_size, read_text, tagged
from discoparse.parser.processes import PROCESS, use_threads_elsewhere
from discoparse.parser.tokens import texts, unparsable, word_lists
from discoparse.parser.windows import WINDOW_TOKENS, windows
from discoparse.system.constraints import Constraints
from discoparse.tree import Token, Tree

if TYPE_CHECKING:
    import torch

    from discoparse.neural.decoder import Decoder
    from discoparse.neural.network import Network

MOST_TREES = 1000  # of one sentence


class Parser:
    """A network with its vocabulary. Picklable, and safe to use from several threads and after a fork.

    PyTorch is only imported where the compiled network is not enough: `network` and `decoder` are made when asked for.
    """

    def __init__(
        self,
        network: Network | StoredNetwork,
        vocabulary: Vocabulary,
        device: str | torch.device = "cpu",
        info: ModelInfo | None = None,
        threads: int | None = None,
    ) -> None:
        self._network = network
        self._device = str(device)
        self.vocabulary = vocabulary
        self.info = info  # of a model that was loaded
        self.calibration = Calibration.from_json({} if info is None else info.calibration)
        self.threads = threads  # what `load` was told, for copies in other processes
        self.chains = Chains(vocabulary)
        self._compiled: CompiledDecoder | None = None
        if isinstance(network, StoredNetwork) and self._device == "cpu" and CompiledDecoder.suits(network.config):
            self._compiled = CompiledDecoder.of(network.config, network.parameters, vocabulary, threads)
        if self._compiled is None:
            _ = self.decoder  # made now, so that parsing need not wait for it

    @cached_property
    def device(self) -> torch.device:
        """Where the network is."""
        import torch

        return torch.device(self._device)

    @cached_property
    def network(self) -> Network:
        """The network as PyTorch's module."""
        if not isinstance(self._network, StoredNetwork):
            return self._network.to(self.device).eval()
        from discoparse.neural.network import network_of

        if self.threads is not None:
            use_threads(self.threads)
        return network_of(self._network).to(self.device).eval()

    @cached_property
    def decoder(self) -> Decoder:
        """All that can be done with the network; greedy parsing does without where the network is compiled."""
        from discoparse.neural.decoder import Decoder

        return Decoder(self.network, self.vocabulary, self.device, self._compiled)

    def forget_forms(self) -> None:
        """Encode word forms anew, as for a text that was never seen: for measurements."""
        (self.decoder.reset if self._compiled is None else self._compiled.forget_forms)()

    @property
    def runs_on_gpu(self) -> bool:
        """Whether the network is on a GPU."""
        return self._device.startswith("cuda")

    @property
    def is_compiled(self) -> bool:
        """Whether the compiled network does all of the work."""
        return self._compiled is not None

    @property
    def window_tokens(self) -> int:
        """How many tokens of a stream are read ahead."""
        return WINDOW_TOKENS["compiled" if self.is_compiled else self._device.partition(":")[0]]

    def decode(
        self, sentences: Sequence[Sequence[str]], limits: Sequence[Limits | None] | None = None
    ) -> Iterator[tuple[np.ndarray, Decoded]]:
        """Batches of greedy decisions with probabilities, as `Decoder.decode` gives them."""
        if self._compiled is not None:
            return self._compiled.decode(sentences, limits=limits)
        return self.decoder.decode(sentences, probabilities=True, limits=limits)

    def _believe(self, sentences: Sequence[Sequence[str]], doubt: Doubt) -> Iterator[tuple[int, Belief]]:
        if self._compiled is not None:
            return self._compiled.believe(sentences, doubt.samples, self.calibration, doubt.least)
        from discoparse.neural.torch_belief import believe

        return believe(self.decoder, sentences, doubt.samples, self.calibration, doubt.least)

    def __repr__(self) -> str:
        if self.info is None:
            what = f"{len(self.vocabulary.labels)} labels, {len(self.vocabulary.tags)} tags"
        else:
            facts = {"language": self.info.language, "trained on": ", ".join(self.info.treebanks)}
            what = ", ".join([repr(self.info.name), *(f"{name} {fact}" for name, fact in facts.items() if fact)])
        return f"<Parser {what}, on {self._device}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Locks and caches stay behind; on a machine without a GPU, the copy uses the CPU."""
        network = self._network
        if not isinstance(network, StoredNetwork):
            state = {name: tensor.float().cpu().numpy() for name, tensor in self.network.state_dict().items()}
            pretrained = network.encoder.pretrained
            network = StoredNetwork(network.config, state, pretrained is not None and pretrained.eight_bits)
        threads = self.threads, PROCESS
        return _revive, (network, self.vocabulary, self._device.partition(":")[0], self.info, threads)

    @property
    def language(self) -> str | None:
        """The model's language, by which raw text is split."""
        return None if self.info is None else self.info.language

    # -- what users call ------------------------------------------------------------------------------------------

    @overload
    def parse(self, text: str, *, lines: bool = False) -> list[Tree]: ...  # type: ignore[overload-overlap]

    @overload
    def parse(self, text: Iterable[str], *, lines: bool = False) -> list[list[Tree]]: ...

    def parse(self, text: str | Iterable[str], *, lines: bool = False) -> list[Tree] | list[list[Tree]]:
        """The trees of a text's sentences; of a list of texts, which are parsed together, a list of trees for each.

        A blank line ends a sentence; with `lines`, every line end does. Spans are those of each text.
        """
        if isinstance(text, str):
            return self.parse_all(read_text([text], self.language, _warn, lines=lines))
        passages, counts = [], []
        for number, part in enumerate(texts(text), 1):
            notice = partial(_warn_of_text, number)
            found = list(read_text([part], self.language, notice, lines=lines))
            passages += found
            counts.append(len(found))
        trees = iter(self.parse_all(passages))
        return [list(islice(trees, count)) for count in counts]

    @overload
    def parse_tokens(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        constraints: Sequence[Constraints | Mapping[str, Any] | None] | None = None,
        probabilities: int = 0,
        consensus: bool | float = False,
        best: None = None,
    ) -> list[Tree]: ...

    @overload
    def parse_tokens(self, sentences: Iterable[Sequence[str]], *, best: int) -> list[list[Tree]]: ...

    def parse_tokens(
        self,
        sentences: Iterable[Sequence[str]],
        *,
        constraints: Sequence[Constraints | Mapping[str, Any] | None] | None = None,
        probabilities: int = 0,
        consensus: bool | float = False,
        best: int | None = None,
    ) -> list[Tree] | list[list[Tree]]:
        """A tree for each sentence, in order; sentences are lists of words.

        `constraints` has one entry for each sentence: None, `Constraints`, or data of the same form as in JSON
        (docs/guides/constraints.md). Those that no tree can meet are a `ConstraintError`.

        `probabilities` is a number of samples, by which constituents, tags and trees get probabilities
        (docs/guides/probabilities.md). With `consensus`, trees consist of the constituents that more than half of the
        samples have, or more than that share.

        With `best`, there is a list of up to so many different trees for each sentence, the most probable first;
        `Tree.probability` is the sum over the derivations of a tree that were found.
        """
        doubt = Doubt.asked(probabilities, consensus)
        if best is not None:
            if doubt or constraints is not None:
                raise UsageError(
                    "the best trees have probabilities of their own, and no constraints: ask for one thing"
                )
            return list(self.stream_best(self._passages(sentences), best))
        if doubt and constraints is not None:
            raise UsageError("probabilities of trees within constraints are not available: ask for one of the two")
        return self.parse_all(self._passages(sentences, constraints), doubt)

    def stream_best(
        self, passages: Iterable[Passage | None], count: int, idle: Callable[[], bool] | None = None
    ) -> Iterator[list[Tree]]:
        """Up to `count` different trees of each passage of a stream, the most probable first; none for None."""
        from discoparse.neural.beam import best_trees

        self.require_one_model()
        if type(count) is not int or not 1 <= count <= MOST_TREES:
            raise UsageError(f"the number of best trees is 1 to {MOST_TREES}, not {count!r}")
        for window in windows(passages, passage_size, WINDOW_TOKENS[self.device.type], idle):
            found: list[list[Tree]] = [[] for _ in window]
            words = [[] if passage is None else passage.words for passage in window]
            for k, ranked, tags in best_trees(self.decoder, words, count, self.calibration):
                passage = window[k]
                assert passage is not None
                for one in ranked:
                    chains = [self.decoder.chains[code] for code in one.codes]
                    tree = build_tree(
                        self._tokens(passage, tags),
                        replay(one.actions),
                        chains,
                        one.label_probabilities,
                    )
                    tree.text, tree.probability = passage.text, significant(one.probability)
                    found[k].append(tree)
            yield from found

    def require_one_model(self) -> None:
        """Refuse what several models cannot do together."""

    def limits(self, words: Sequence[str], constraints: Constraints | Mapping[str, Any] | None) -> Limits | None:
        """Constraints on the tree of a sentence as a `Passage` takes them; a `ConstraintError` where they clash or name
        what the model does not know."""
        if constraints is None:
            return None
        self.require_one_model()
        if not isinstance(constraints, Constraints):
            constraints = Constraints.from_json(constraints)
        return limits_for(constraints, words, self.vocabulary, self._network.config.chains)

    def stream(
        self, pieces: Iterable[str], *, lines: bool = False, notice: Notice | None = None, jobs: int = 1
    ) -> Iterator[Tree]:
        """The trees of a text that comes in pieces, such as the lines of a file, and may be of any length.

        `notice` is told of sentences that had to be cut; without it there is a warning for each. With several `jobs`,
        that many processes parse (docs/guides/many-cores.md).
        """
        if jobs != 1:
            from discoparse.parser.jobs.streams import stream_text

            return stream_text(self, pieces, lines, notice or _warn, jobs)
        passages = read_text(pieces, self.language, notice or _warn, lines=lines)
        return (tree for tree in self.parse_passages(passages) if tree is not None)

    def stream_tokens(
        self, sentences: Iterable[Sequence[str]], *, all_there: bool = False, jobs: int = 1
    ) -> Iterator[Tree | None]:
        """A tree for each sentence of a stream of any length, in order; None for a sentence that `parse_tokens` would
        refuse: without words, with too many, or with a word that is empty or absurdly long.

        The first trees come soon. If the sentences are all there, as in a file, `all_there` saves some time. `jobs` as
        for `stream`."""
        if jobs != 1:
            from discoparse.parser.jobs.streams import stream_words

            return stream_words(self, sentences, all_there, _warn, jobs)
        passages = (Passage(words) if unparsable(words) is None else None for words in word_lists(sentences))
        return self.parse_passages(passages, all_there=all_there)

    def parse_passages(
        self,
        passages: Iterable[Passage | None],
        idle: Callable[[], bool] | None = None,
        doubt: Doubt | None = None,
        *,
        all_there: bool = False,
    ) -> Iterator[Tree | None]:
        """A tree for each passage of a stream, in order, and None for None; trees know the places of their words.

        Passages are read ahead and parsed together, but not while the stream is `idle`. With `doubt`, trees have
        probabilities. If it is a file, with `all_there`, nobody waits for the first trees, so that many are parsed
        together from the start.
        """
        for window in windows(passages, passage_size, self.window_tokens, idle, slow_start=not all_there):
            yield from self._parse_window(window, doubt)

    def parse_all(self, passages: Iterable[Passage], doubt: Doubt | None = None) -> list[Tree]:
        """The trees of passages that all fit into memory, parsed together."""
        return [tree for tree in self._parse_window(list(passages), doubt) if tree is not None]

    # -- how it is done -------------------------------------------------------------------------------------------

    def _passages(
        self,
        sentences: Iterable[Sequence[str]],
        constraints: Sequence[Constraints | Mapping[str, Any] | None] | None = None,
    ) -> list[Passage]:
        """Sentences as passages, with their limits, if all of them can be parsed."""
        lists = []
        for number, words in enumerate(word_lists(sentences), 1):
            problem = unparsable(words)
            if problem is not None:
                raise DiscoparseError(f"sentence {number} cannot be parsed: {problem}")
            lists.append(words)
        if constraints is None:
            return [Passage(words) for words in lists]
        limits = all_limits(self, lists, constraints)
        return [Passage(words, limits=within) for words, within in zip(lists, limits, strict=True)]

    def _parse_window(self, window: Sequence[Passage | None], doubt: Doubt | None = None) -> list[Tree | None]:
        """Parse what fits into memory at once, in batches of sentences of like length."""
        trees: list[Tree | None] = [None] * len(window)
        sentences = [[] if passage is None else passage.words for passage in window]
        if doubt is not None:
            self.require_one_model()
            for k, belief in self._believe(sentences, doubt):
                passage = window[k]
                assert passage is not None
                tree = believed_tree(self._tokens(passage, belief.tags), belief, self.chains, doubt)
                tree.text = passage.text
                trees[k] = tree
            return trees
        limits = [None if passage is None else passage.limits for passage in window]
        for chosen, decoded in self.decode(sentences, limits):
            assert decoded.probabilities is not None
            for b, k in enumerate(chosen.tolist()):
                passage = window[k]
                assert passage is not None
                tokens = self._tokens(passage, decoded.tags[b])
                steps = 2 * len(tokens) - 1
                chains = [self.chains[code] for code in decoded.labels[b][:steps]]
                tree = build_tree(tokens, replay(decoded.actions[b][:steps]), chains, decoded.probabilities[b])
                tree.text = passage.text
                trees[k] = tree
        return trees

    def _tokens(self, passage: Passage, tags: Sequence[int]) -> list[Token]:
        return tagged(passage, tags, self.vocabulary.tags)


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=2)


def _warn_of_text(number: int, message: str) -> None:
    _warn(f"text {number}: {message}")


def _revive(
    network: StoredNetwork,
    vocabulary: Vocabulary,
    device: str,
    info: ModelInfo | None,
    threads: tuple[int | None, bytes],
) -> Parser:
    """A parser from what `Parser.__reduce__` kept."""
    count, process = threads
    if device != "cpu":
        import torch

        device = device if torch.cuda.is_available() else "cpu"
    parser = Parser(network, vocabulary, device, info, count)
    if process != PROCESS:
        use_threads_elsewhere(count)  # after PyTorch was imported, if it is needed
    return parser
