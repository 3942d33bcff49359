"""The network of Section 3: token vectors, set representations, the two action scorers and the tagger.

Sizes default to the paper's (Table 5). Shapes: B sentences of at most N tokens, U distinct word forms of at most L
characters, D = 2 x hidden, H units in the scorers' hidden layers, F focus items, R pairs of an item and a focus.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from discoparse.neural import kernels
from discoparse.neural.config import NetworkConfig, StoredNetwork
from discoparse.neural.pretrained import Pieces, Pretrained

_SHORT = 4  # sequences so short or shorter are of like length
POSITIONS = 4  # a set is represented by min(s), max(s) and the first and last token of its gap (Section 3.2)


@dataclass(frozen=True)
class Dropout:
    """Probabilities of dropping units while training. `tagger` and `scorer` are the paper's."""

    tagger: float = 0.0  # input of the tagger
    scorer: float = 0.0  # input of the action scorers, with a mask of its own for each prediction
    embedding: float = 0.0  # the character vector or the embedding of a token, each as a whole
    hidden: float = 0.0  # output of each bi-LSTM layer, one mask a sentence
    scorer_hidden: float = 0.0  # first hidden layer of the action scorers
    pretrained: float = 0.0  # output of a pretrained encoder


@dataclass
class Inputs:
    """A batch of sentences as ids."""

    words: Tensor  # [B, N]
    forms: Tensor  # [B, N] rows of `characters`
    characters: Tensor  # [U, L]
    form_lengths: Tensor  # [U]
    lengths: Tensor  # [B]
    pieces: Pieces | None = None  # for a pretrained encoder


class BiLSTM(nn.Module):
    """A bi-LSTM layer over padded sequences: the backward LSTM reads each sequence reversed within its own length."""

    def __init__(self, input_size: int, hidden: int) -> None:
        super().__init__()
        self.forward_lstm = nn.LSTM(input_size, hidden, batch_first=True)
        self.backward_lstm = nn.LSTM(input_size, hidden, batch_first=True)
        self.few = False  # on a GPU, use kernels for few sequences, in CUDA graphs

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """[B, N, input] -> [B, N, 2 x hidden]."""
        if x.is_cuda and kernels.available():
            return self._states(x, lengths).flatten(2)
        mirror = _mirror(lengths, x.shape[1])
        ahead, _ = self.forward_lstm(x)
        back, _ = self.backward_lstm(_take(x, mirror))
        return torch.cat([ahead, _take(back, mirror)], -1)

    def ends(self, x: Tensor, lengths: Tensor) -> Tensor:
        """The state of each direction after its last element: [B, N, input] -> [B, 2 x hidden]."""
        if x.is_cuda:
            return both_ends(self._states(x, lengths), lengths) if kernels.available() else self._ends(x, lengths)
        # A CPU takes as long for padding as for the rest: sequences of like length go together.
        order = lengths.argsort()
        shortest_first, sorted_lengths = look_up(x.flatten(1), order).view(x.shape), lengths[order]
        counts = _of_like_length(sorted_lengths.tolist())
        parts = zip(shortest_first.split(counts), sorted_lengths.split(counts), strict=True)
        ends = [self._ends(part[:, : int(part_lengths[-1])], part_lengths) for part, part_lengths in parts]
        return look_up(torch.cat(ends), order.argsort())

    def _ends(self, x: Tensor, lengths: Tensor) -> Tensor:
        """`ends`, with all padding."""
        ahead, _ = self.forward_lstm(x)
        back, _ = self.backward_lstm(_take(x, _mirror(lengths, x.shape[1])))
        last = (lengths - 1)[:, None]
        return torch.cat([_take(ahead, last), _take(back, last)], -1).squeeze(1)

    def _states(self, x: Tensor, lengths: Tensor) -> Tensor:
        """The states of both directions by the kernel: [B, N, input] -> [B, N, 2, hidden]."""
        from discoparse.neural.kernels import narrow, recurrence, stepwise

        pairs = zip(self.forward_lstm.all_weights[0], self.backward_lstm.all_weights[0], strict=True)
        input_weight, weight, input_bias, bias = (stacked(*pair) for pair in pairs)  # [2, 4 x hidden, ...] each
        inputs = F.linear(x, input_weight.flatten(0, 1), (input_bias + bias).flatten())
        compute = recurrence.recurrence
        if self.few and weight.shape[2] <= narrow.WIDEST:
            compute = narrow.narrow
        elif self.few and len(x) == 1:
            compute = stepwise.stepwise
        return compute(inputs.unflatten(-1, (2, -1)), weight, lengths)


class _Adjacent(torch.autograd.Function):
    """Two tensors that lie side by side in memory, as one."""

    @staticmethod
    def forward(ctx: Any, one: Tensor, other: Tensor) -> Tensor:
        return one.detach().as_strided((2, *one.shape), (one.numel(), *one.stride()))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        return gradient[0], gradient[1]


def stacked(one: Tensor, other: Tensor) -> Tensor:
    """`torch.stack` of two parameters of one shape; nothing is copied where they lie side by side in memory."""
    same = one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()
    side_by_side = same and other.storage_offset() == one.storage_offset() + one.numel()
    if side_by_side and one.is_contiguous() and other.is_contiguous():
        adjacent: Tensor = _Adjacent.apply(one, other)  # type: ignore[no-untyped-call]
        return adjacent
    return torch.stack([one, other])


def _of_like_length(lengths: list[int]) -> list[int]:
    """Cut sorted lengths where one is more than half as long again as the first: how many there are of each sort.

    >>> _of_like_length([1, 4, 6, 7, 10, 11])
    [3, 2, 1]
    """
    counts: list[int] = []
    most = 0.0
    for length in lengths:
        if length > most:
            counts.append(0)
            most = 1.5 * max(length, _SHORT)
        counts[-1] += 1
    return counts


def both_ends(states: Tensor, lengths: Tensor) -> Tensor:
    """Where each direction has read all: [B, N, 2, hidden] -> [B, 2 x hidden]."""
    batch, width = states.shape[:2]
    first = torch.arange(0, 2 * batch * width, 2 * width, device=states.device)  # [B] rows of a sequence's first states
    return look_up(states.flatten(0, 2), torch.stack([first + 2 * (lengths - 1), first + 1], 1)).flatten(1)


def _mirror(lengths: Tensor, width: int) -> Tensor:
    """Positions [B, N] that reverse every sequence and leave its padding in place."""
    position = torch.arange(width, device=lengths.device)
    reverse = lengths[:, None] - 1 - position
    return torch.where(reverse < 0, position, reverse)


def _take(x: Tensor, index: Tensor) -> Tensor:
    """Elements `index` of each sequence: [B, N, D], [B, K] -> [B, K, D]."""
    return look_up(x.flatten(0, 1), index + torch.arange(len(x), device=x.device)[:, None] * x.shape[1])


def look_up(table: Tensor, index: Tensor) -> Tensor:
    """`table[index]` for rows of a matrix, with a gradient that adds instead of sorting: [...] -> [..., D]."""
    return table.index_select(0, index.flatten()).view(*index.shape, table.shape[1])


class Encoder(nn.Module):
    """Section 3.1: a character bi-LSTM and word embeddings, then bi-LSTM layers over the sentence.

    A pretrained transformer's vector of each token may stand beside these two, or instead of them: a size of 0 leaves
    characters or words out. Without bi-LSTM layers a linear layer brings the vectors to their size.
    """

    def __init__(self, config: NetworkConfig, dropout: Dropout) -> None:
        super().__init__()
        self.config = config
        self.dropout = dropout
        if config.character_size:
            self.character_embedding = nn.Embedding(config.characters, config.character_size)
            self.character_lstm = BiLSTM(config.character_size, config.character_hidden)
        if config.word_size:
            self.word_embedding = nn.Embedding(config.words, config.word_size)
        self.pretrained = Pretrained(config.pretrained) if config.pretrained is not None else None
        sizes = [config.input_size] + [2 * config.hidden] * (config.layers - 1)
        self.layers = nn.ModuleList(BiLSTM(size, config.hidden) for size in sizes[: config.layers])
        self.projection = nn.Linear(config.input_size, 2 * config.hidden) if not config.layers else None

    def expect_few(self, few: bool) -> None:
        """Whether a batch will be one sentence, in a CUDA graph: which kernels a GPU uses for the recurrences."""
        for layer in self.modules():
            if isinstance(layer, BiLSTM):
                layer.few = few

    def form_vectors(self, characters: Tensor, lengths: Tensor) -> Tensor:
        """c(x) of distinct word forms: [U, L] -> [U, form size]."""
        if not self.config.character_size:
            return torch.empty(len(characters), 0, device=characters.device)
        return self.character_lstm.ends(look_up(self.character_embedding.weight, characters), lengths)

    def token_vectors(
        self,
        words: Tensor,
        form_vectors: Tensor,
        lengths: Tensor,
        pieces: Pieces | None = None,
        hidden: Tensor | None = None,
        depth: int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """h(1) and h of the last layer, from [B, N] and [B, N, form size].

        The embeddings of `hidden` words [B, N] are zero: they are to be guessed (see `discoparse.pretraining`). With
        `depth`, only that many bi-LSTM layers are computed: the tagger may need no more than one.
        """
        own = [form_vectors] if self.config.character_size else []
        if self.config.word_size:
            embedding = look_up(self.word_embedding.weight, words)
            own.append(embedding if hidden is None else embedding.masked_fill(hidden[:, :, None], 0.0))
        vectors = [*self._drop(*own)]
        if self.pretrained is not None:
            assert pieces is not None
            vector = self.pretrained(pieces, *words.shape)
            vectors.append(F.dropout(vector, self.dropout.pretrained, self.training))
        x = torch.cat(vectors, -1)
        if self.projection is not None:
            x = self.projection(x)
            return x, x
        first = None
        for layer in self.layers[:depth]:
            x = layer(x, lengths)
            if self.training and self.dropout.hidden:
                x = x * F.dropout(torch.ones_like(x[:, :1]), self.dropout.hidden)  # one mask a sentence
            first = x if first is None else first
        assert first is not None
        return first, x

    def _drop(self, *vectors: Tensor) -> tuple[Tensor, ...]:
        """Drop some tokens' c(x) and some tokens' w(x), each as a whole, so that either learns to do without the other.

        What is left is scaled up to the usual size: [B, N, size] for each of the vectors.
        """
        if not self.training or not self.dropout.embedding or not vectors:
            return vectors
        kept = torch.rand(len(vectors), *vectors[0].shape[:2], 1, device=vectors[0].device) >= self.dropout.embedding
        scaled = kept * (len(vectors) / kept.sum(0).clamp(min=1))
        return tuple(vector * mask for vector, mask in zip(vectors, scaled, strict=True))

    def forward(self, inputs: Inputs, depth: int | None = None) -> tuple[Tensor, Tensor]:
        vectors = look_up(self.form_vectors(inputs.characters, inputs.form_lengths), inputs.forms)
        return self.token_vectors(inputs.words, vectors, inputs.lengths, inputs.pieces, depth=depth)


class Scorers(nn.Module):
    """Sections 3.2 and 3.3: FF_s scores pairs of an item and the focus, FF_l the labels of a focus.

    The first layer is linear in the token vectors at the set's four positions. `project` therefore multiplies every
    token once, and a set costs a sum of four rows: exactly what `structural` and `labels` compute from r(s).
    """

    def __init__(self, config: NetworkConfig, dropout: Dropout) -> None:
        super().__init__()
        size, hidden = 2 * config.hidden, config.scorer_hidden
        self.nil = nn.Parameter(torch.empty(size))
        self.pair_input = nn.Linear(2 * POSITIONS * size, hidden)  # [r(s); r(s_f)]
        self.pair_hidden = nn.Linear(hidden, hidden)
        self.pair_output = nn.Linear(hidden, 1)
        self.label_input = nn.Linear(POSITIONS * size, hidden)
        self.label_hidden = nn.Linear(hidden, hidden)
        self.label_output = nn.Linear(hidden, config.labels)
        # For chains: the label above the one just given, or NO-LABEL where the chain ends.
        self.above_output = nn.Linear(hidden, config.labels) if config.chains else None
        self.above_given = nn.Embedding(config.labels, config.labels) if config.chains else None
        self.dropout = dropout

    def with_nil(self, tokens: Tensor) -> Tensor:
        """[B, N, D] -> [B x N + 1, D]: one row a token, then the vector of nil."""
        return torch.cat([tokens.flatten(0, 1), self.nil[None]])

    # -- the plain way: representations, then feed-forward networks -----------------------------------------------

    def represent(self, rows: Tensor, positions: Tensor) -> Tensor:
        """r(s) from rows of `with_nil` and the four positions of each set: [F, 4] -> [F, 4 D]."""
        return look_up(rows, positions).flatten(1)

    def pair_first(self, items: Tensor, foci: Tensor) -> Tensor:
        """The first layer of FF_s before its tanh, for pairs of r(s) and r(s_f): [R, 4 D] twice -> [R, H]."""
        return self.pair_input(F.dropout(torch.cat([items, foci], 1), self.dropout.scorer, self.training))

    def label_first(self, foci: Tensor) -> Tensor:
        """The first layer of FF_l before its tanh: [F, 4 D] -> [F, H]."""
        return self.label_input(F.dropout(foci, self.dropout.scorer, self.training))

    # -- the factored way: project tokens once, then add rows ------------------------------------------------------

    def blocks(self) -> tuple[Tensor, Tensor]:
        """The first layers' weights by position as [4 x 3H, D], and their biases [3H]."""
        size = len(self.nil)
        pair = self.pair_input.weight.view(-1, 2, POSITIONS, size)  # [H, item or focus, position, D]
        label = self.label_input.weight.view(-1, 1, POSITIONS, size)
        weights = torch.cat([pair, label], 1).permute(2, 1, 0, 3).reshape(-1, size)
        return weights, self.projection_bias

    def project(self, rows: Tensor) -> Tensor:
        """Every token at every position: [M, D] -> [M x 4, 3H], thirds for item, focus and labeller."""
        return F.linear(rows, self.blocks()[0]).view(len(rows) * POSITIONS, -1)

    @property
    def projection_bias(self) -> Tensor:
        """[3H], to be added to the sum of a set's four rows."""
        return torch.cat([torch.zeros_like(self.pair_input.bias), self.pair_input.bias, self.label_input.bias])

    def pair_scores(self, first: Tensor) -> Tensor:
        """Scores from the first layer's pre-activations: [..., H] -> [...]."""
        x = F.dropout(torch.tanh(first), self.dropout.scorer_hidden, self.training)
        return self.pair_output(torch.tanh(self.pair_hidden(x))).squeeze(-1)

    def label_hidden_states(self, first: Tensor) -> Tensor:
        """Hidden states from the first layer's pre-activations: [..., H] -> [..., H]."""
        x = F.dropout(torch.tanh(first), self.dropout.scorer_hidden, self.training)
        return torch.tanh(self.label_hidden(x))


class Network(nn.Module):
    """Encoder, scorers and tagger."""

    def __init__(self, config: NetworkConfig, dropout: Dropout | None = None) -> None:
        super().__init__()
        dropout = dropout or Dropout()
        self.config = config
        self.dropout = dropout
        self.encoder = Encoder(config, dropout)
        self.scorers = Scorers(config, dropout)
        self.tagger = nn.Linear(config.tagger_size, config.tags)
        initialise(self)

    @property
    def tagger_depth(self) -> int | None:
        """How many bi-LSTM layers the tagger needs; None for all."""
        return None if self.config.tag_both else 1

    def tag_scores(self, first: Tensor, last: Tensor) -> Tensor:
        """From h(1), as in the paper, or beside it h of the last layer: [B, N, D] twice -> [B, N, tags]."""
        vectors = torch.cat([first, last], -1) if self.config.tag_both else first
        return self.tagger(F.dropout(vectors, self.dropout.tagger, self.training))


def initialise(network: nn.Module) -> None:
    """Appendix B: U(-0.1, 0.1) for embeddings (and the vector of nil), Xavier for matrices; biases start at 0."""
    for name, parameter in network.named_parameters():
        if ".pretrained." in name:  # has parameters of its own
            continue
        if name.endswith("above_given.weight"):
            nn.init.zeros_(parameter)
        elif "embedding" in name or name.endswith("nil"):
            nn.init.uniform_(parameter, -0.1, 0.1)
        elif parameter.dim() == 1:
            nn.init.zeros_(parameter)
        elif "lstm" in name or ".layers." in name:  # four gates stand in one matrix
            for gate in parameter.chunk(4):
                nn.init.xavier_uniform_(gate)
        else:
            nn.init.xavier_uniform_(parameter)


def network_of(stored: StoredNetwork) -> Network:
    """The network with these parameters. The random initial values leave no trace in PyTorch's generator."""
    with torch.random.fork_rng(devices=[]):
        network = Network(stored.config)
    network.load_state_dict({name: torch.from_numpy(array) for name, array in stored.parameters.items()})
    if network.encoder.pretrained is not None:
        if stored.eight_bits:
            network.encoder.pretrained.use_eight_bits()
        network.encoder.pretrained.try_out()
    return network
