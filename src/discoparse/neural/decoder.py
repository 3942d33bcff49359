"""The decoder: sentences in, decisions out. Everything between words and trees happens here.

It sorts sentences into batches of like length and has the compiled network decide, where there is one. Otherwise it
encodes them, chooses between the three ways to the structural actions (single sentences on a CPU, a batch in lockstep,
the GPU kernel), labels the foci and tags the words.
Shapes: B sentences, N tokens, T structural steps, D token vector.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from discoparse.neural.batching import BATCH_PIECES, BATCH_TOKENS, chunks, length_batches
from discoparse.neural.codes import Chains
from discoparse.neural.compiled.decoder import CompiledDecoder, Encode
from discoparse.neural.config import PRETRAINED
from discoparse.neural.constraints import LimitBatch, constrained_codes, constrained_pass
from discoparse.neural.decisions import Decoded, LabelledYields, Words, labelled_yields
from discoparse.neural.device import to_device
from discoparse.neural.few import FEW, FewScorers, few_pass
from discoparse.neural.forms import FormCache
from discoparse.neural.labelling import label_codes
from discoparse.neural.limits import Limits, free
from discoparse.neural.network import Network
from discoparse.neural.pieces import piece_batch
from discoparse.neural.pretrained import Pieces
from discoparse.neural.scoring import FoldedScorers
from discoparse.neural.structure import structural_pass
from discoparse.neural.vocabulary import Vocabulary

# Rows times tokens that are searched at once, where a sentence has several rows: a step costs less, the more share it.
ROW_TOKENS = {"cpu": 12288, "cuda": 1 << 20}


class Pending:
    """Decisions on their way to the host, while a GPU goes on with the next batch."""

    def __init__(self, decisions: Sequence[Tensor]) -> None:
        self.decisions = [tensor.to("cpu", non_blocking=True) for tensor in decisions]
        self.arrival = None
        if decisions[0].is_cuda:
            self.arrival = torch.cuda.Event()
            self.arrival.record()

    def arrays(self) -> list[np.ndarray]:
        """The decisions, once they have arrived: actions and codes [B, T], tags [B, N], probabilities [B, T] if any."""
        if self.arrival is not None:
            self.arrival.synchronize()
        return [tensor.numpy() for tensor in self.decisions]

    def wait(self) -> Decoded:
        """The same as lists."""
        actions, labels, tags, *probabilities = (array.tolist() for array in self.arrays())
        return Decoded(actions, labels, tags, probabilities[0] if probabilities else None)


class Decoder:
    """Greedy decoding with one network. Safe to use from several threads."""

    compiled: CompiledDecoder | None = None

    def __init__(
        self,
        network: Network,
        vocabulary: Vocabulary,
        device: torch.device,
        compiled: CompiledDecoder | None = None,
    ) -> None:
        """`compiled` is of the same network, if there is one already."""
        self.network = network.to(device).eval()
        if network.encoder.pretrained is not None:
            network.encoder.pretrained.half_precision = device.type == "cuda" and torch.cuda.is_bf16_supported()
        self.vocabulary = vocabulary
        self.device = device
        self.chains = Chains(vocabulary)
        self._start(compiled)

    def reset(self) -> None:
        """Forget what was computed from the network's parameters; call it after changing them."""
        self._start(None)

    def _start(self, compiled: CompiledDecoder | None) -> None:
        self.compiled = compiled
        if compiled is None and self.device.type == "cpu":
            state = self.network.state_dict().items()
            parameters = {name: tensor.numpy() for name, tensor in state if not name.startswith(PRETRAINED)}
            self.compiled = CompiledDecoder.of(self.network.config, parameters, self.vocabulary)
        self._forms = FormCache(self.network, self.vocabulary, self.device)
        with torch.inference_mode():
            self.fast_scorers = (
                FoldedScorers.of(self.network.scorers) if self.device.type == "cpu" else None
            )  # for CPUs
            self._few = None if self.fast_scorers is None else FewScorers(self.fast_scorers)

    @torch.inference_mode()
    def decode(
        self,
        sentences: Sequence[Words],
        probabilities: bool = False,
        limits: Sequence[Limits | None] | None = None,
    ) -> Iterator[tuple[np.ndarray, Decoded]]:
        """Batches of decisions: the indexes of the sentences [B] and what was decided; empty sentences are left out.

        `limits` are constraints on the sentences, None where a sentence has none.
        """
        if self.compiled is not None:
            yield from self.compiled.decode(sentences, self.batches(sentences), self.encode_for_compiled, limits)
            return
        for chosen, pending in self._decode_ahead(sentences, probabilities, limits):
            yield chosen, pending.wait()

    @torch.inference_mode()
    def decode_arrays(self, sentences: Sequence[Words]) -> Iterator[tuple[np.ndarray, list[np.ndarray]]]:
        """As `decode`, by PyTorch and with probabilities: the decisions as `Pending.arrays` gives them."""
        for chosen, pending in self._decode_ahead(sentences, True, None):
            yield chosen, pending.arrays()

    def _decode_ahead(
        self, sentences: Sequence[Words], probabilities: bool, limits: Sequence[Limits | None] | None
    ) -> Iterator[tuple[np.ndarray, Pending]]:
        """Batches whose decisions are on their way, each of them when the next one was started."""
        before: tuple[np.ndarray, Pending] | None = None
        for chosen in self.batches(sentences):
            # A GPU starts on this batch while the host unpacks the previous one.
            words = [sentences[k] for k in chosen]
            within = [limits[k] for k in chosen] if limits is not None else []
            if any(one is not None for one in within):
                started = self._constrained_batch(words, within)
            else:
                started = self._decode_batch(words, probabilities)
            if before is not None:
                yield before
            before = chosen, started
        if before is not None:
            yield before

    def batches(self, sentences: Sequence[Words]) -> list[np.ndarray]:
        """Indexes of sentences of like length, shortest first, in batches; empty sentences are left out."""
        lengths, budget = np.array([len(sentence) for sentence in sentences]), BATCH_TOKENS[self.device.type]
        if self.vocabulary.pieces is not None:  # most of the time goes into these
            pieces, budget = self.vocabulary.pieces, BATCH_PIECES[self.device.type]
            lengths = np.array([sum(len(pieces.pieces(word)) for word in sentence) for sentence in sentences])
        return length_batches(lengths, budget)

    def chunks(self, lengths: Sequence[int], rows: int) -> Iterator[tuple[int, int]]:
        """Ranges of the sentences of a batch that are searched together, with so many rows each."""
        return chunks(lengths, rows, ROW_TOKENS[self.device.type])

    def encode(self, sentences: Sequence[Words]) -> tuple[Tensor, Tensor, Tensor]:
        """The token vectors of one batch, h(1) and h of the last layer [B, N, D], and the lengths [B]."""
        rows, vectors, words = self._forms.look_up(sentences)
        padded = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
        for target, row in zip(padded, rows, strict=True):
            target[: len(row)] = row
        # Without waiting: else the host would prepare a batch only when the GPU has done the one before.
        index, lengths = to_device(padded, self.device), to_device(np.array(list(map(len, rows))), self.device)
        pieces = self._pieces(sentences, padded.shape[1])
        first, last = self.network.encoder.token_vectors(words[index], vectors[index], lengths, pieces)
        return first, last, lengths

    @property
    def encode_for_compiled(self) -> Encode | None:
        """Gives the compiled network its token vectors, if it does not compute them itself."""
        return None if self.compiled is None or self.compiled.network.has_encoder else self._packed_vectors

    def _packed_vectors(self, sentences: Sequence[Words]) -> tuple[np.ndarray, np.ndarray]:
        """What `encode` gives, without padding: [M, D] twice for the M tokens of all sentences."""
        with torch.inference_mode():  # in whatever thread this runs
            first, last, lengths = self.encode(sentences)
            inside = torch.arange(first.shape[1]) < lengths[:, None]
            return first[inside].numpy(), last[inside].numpy()

    def _pieces(self, sentences: Sequence[Words], width: int) -> Pieces | None:
        """What a pretrained encoder reads of sentences of at most `width` words."""
        known, pretrained = self.vocabulary.pieces, self.network.config.pretrained
        if known is None or pretrained is None:
            return None
        batch = piece_batch([known.sentence(words) for words in sentences], width, known, pretrained.pooling)
        return Pieces.of(batch, self.device)

    def _decode_batch(self, sentences: Sequence[Words], probabilities: bool) -> Pending:
        first, last, lengths = self.encode(sentences)
        actions, states = self._structure(last, lengths)
        codes, probability = label_codes(self.network.scorers, states, last_steps(actions, lengths))
        decisions = [actions, codes, self.network.tag_scores(first, last).argmax(-1)]
        return Pending([*decisions, probability] if probabilities else decisions)

    def _constrained_batch(self, sentences: Sequence[Words], limits: Sequence[Limits | None]) -> Pending:
        """`_decode_batch` within constraints, with probabilities."""
        first, last, lengths = self.encode(sentences)
        scorers, tags = self.network.scorers, self.network.tag_scores(first, last).argmax(-1)
        known = [one or free(len(words)) for one, words in zip(limits, sentences, strict=True)]
        within = LimitBatch.of(known, self.network.config.labels, self.device)
        derived, states = constrained_pass(scorers, last, lengths, within.gold, self.fast_scorers)
        final = last_steps(derived.action, lengths)
        codes, probability = constrained_codes(scorers, states, final, derived, within, lengths)
        if within.tags is not None:
            sentence, token, tag = within.tags
            tags[sentence, token] = tag
        return Pending([derived.action, codes, tags, probability])

    def _structure(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The structural actions of a batch [B, T] and the labeller's states [B, T, H]."""
        if self._few is not None and len(tokens) <= FEW:
            return few_pass(self._few, tokens, lengths)
        return structural_pass(self.network.scorers, tokens, lengths, self.fast_scorers)

    @torch.inference_mode()
    def tag_losses(
        self, sentences: Sequence[Words], tags: Sequence[Sequence[str]], temperatures: Sequence[float]
    ) -> list[float]:
        """The cross-entropy of these tags at each of some temperatures; words whose tag is not known do not count."""
        known = {tag: k for k, tag in enumerate(self.vocabulary.tags)}
        totals = [0.0] * len(temperatures)
        for chosen in self.batches(sentences):
            first, last, _ = self.encode([sentences[k] for k in chosen])
            scores = self.network.tag_scores(first, last)
            gold = torch.full(scores.shape[:2], -1)
            for b, k in enumerate(chosen.tolist()):
                gold[b, : len(tags[k])] = torch.tensor([known.get(tag, -1) for tag in tags[k]])
            gold = gold.to(self.device).flatten()
            for number, temperature in enumerate(temperatures):
                flat = (scores / temperature).flatten(0, 1)
                totals[number] += float(F.cross_entropy(flat, gold, ignore_index=-1, reduction="sum"))
        return totals

    def labelled_yields(self, sentences: Sequence[Words]) -> LabelledYields:
        """The constituents and tags of sentences as arrays, without building trees."""
        return labelled_yields(sentences, self.decode(sentences), self.chains, self.vocabulary.tags)


def last_steps(actions: Tensor, lengths: Tensor) -> Tensor:
    """Where the whole sentence is the focus [B, T]: NO-LABEL is illegal there (Table 1)."""
    return torch.arange(actions.shape[1], device=actions.device) == (2 * lengths - 2)[:, None]
