"""Pretrained transformers as encoders: any that `AutoModel` of the package `transformers` loads, optional.

Shapes: W windows of at most P pieces, B sentences of at most N tokens, E units of the transformer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from discoparse.errors import DiscoparseError, UsageError
from discoparse.neural.config import PretrainedConfig
from discoparse.neural.device import to_device
from discoparse.neural.eight_bit import EightBitLinear
from discoparse.neural.graphs import Graphs
from discoparse.neural.pieces import PieceBatch, PieceVocabulary, panics_told
from discoparse.neural.unfilled import transformer_of

INSTALL = "pip install 'discoparse[transformers]'"
_WIDEST_WINDOW = 512  # pieces; attention costs their square, and few sentences have more
_POSITIONS_AFTER_PADDING = ("roberta", "mpnet", "camembert", "xlm-roberta", "longformer", "data2vec-text")


@dataclass
class Pieces:
    """A `PieceBatch` on a device."""

    ids: Tensor  # [W, P]
    lengths: Tensor  # [W]
    place: Tensor  # [K]
    word: Tensor  # [K]

    @classmethod
    def of(cls, batch: PieceBatch, device: torch.device) -> Pieces:
        arrays = (batch.ids, batch.lengths, batch.place, batch.word)
        return cls(*(to_device(array, device) for array in arrays))


class Pretrained(nn.Module):
    """A transformer that gives every word a vector."""

    def __init__(self, config: PretrainedConfig) -> None:
        super().__init__()
        self.config = config
        require_transformers()
        self.transformer = _without_head(transformer_of(config.transformer))
        if config.transformer["model_type"] == "mpnet":
            from discoparse.neural.mpnet import fuse_attention

            fuse_attention(self.transformer)
        if _hidden_size(self.transformer) != config.size:
            raise ValueError(f"the encoder has {_hidden_size(self.transformer)} units, not {config.size}")
        layers = _layer_count(self.transformer)
        self.mixture = nn.Parameter(torch.zeros(layers + 1)) if config.mix else None
        self.half_precision = False  # bfloat16 on a GPU
        self.eight_bits = False  # in products on a CPU
        self.graphs: Graphs | None = None  # while it is trained on a GPU

    def try_out(self) -> None:
        """Refuse a transformer that cannot be computed, whatever its parameters; before any sentence is read."""
        ids = (*self.config.pieces["prefix"], self.config.pieces["unknown"], *self.config.pieces["suffix"])
        training = self.training
        try:
            if self.config.pieces["window"] > (most := _window(self.transformer)):
                raise ValueError(f"it reads {most} pieces at once, not {self.config.pieces['window']}")
            with torch.inference_mode():
                found = self.eval()._states(torch.tensor([ids]), torch.tensor([len(ids)]))
            if found.shape != (1, len(ids), self.config.size):
                raise ValueError(f"its vectors are {list(found.shape)}")
        except Exception as error:  # all that the library raises for settings that make no sense
            raise DiscoparseError(f"the pretrained encoder of this model does not work: {_first_line(error)}") from None
        finally:
            self.train(training)

    def use_eight_bits(self) -> None:
        """Compute with eight-bit matrices on a CPU: for a transformer whose matrices are kept like that."""
        self.eight_bits = True
        for layer in self.transformer.modules():
            if type(layer) is nn.Linear:
                layer.__class__ = EightBitLinear

    def use_graphs(self, budget: int) -> None:
        """Train by CUDA graphs, in batches of so many pieces with padding."""
        trained = [parameter for parameter in self.parameters() if parameter.requires_grad]
        self.graphs = Graphs(self._states, trained, self.config.pieces["padding"], budget)

    def forward(self, pieces: Pieces, batch: int, width: int) -> Tensor:
        """[W, P] pieces -> [B, N, E]; zero where a sentence has ended."""
        states = self.piece_states(pieces).flatten(0, 1)  # [W P, E]
        chosen = states.index_select(0, pieces.place)  # [K, E]
        total = states.new_zeros(batch * width, states.shape[1]).index_add(0, pieces.word, chosen)
        if self.config.pooling == "mean":
            ones = torch.ones(len(pieces.word), device=states.device)
            counts = ones.new_zeros(batch * width).index_add(0, pieces.word, ones)
            total = total / counts.clamp(min=1)[:, None]
        return total.view(batch, width, -1)

    def piece_states(self, pieces: Pieces) -> Tensor:
        """The transformer's own vectors [W, P, E]."""
        if self.graphs is not None and self.training and torch.is_grad_enabled():
            return self.graphs(pieces.ids, pieces.lengths)
        return self._states(pieces.ids, pieces.lengths)

    def _states(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """[W, P] ids, [W] lengths -> [W, P, E]."""
        there = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]  # [W, P]
        mask = there.long()
        if self.config.bidirectional or self.graphs is not None:  # a mask with four dimensions is used as it is
            mask = _open_mask(there, self.transformer.dtype)
        # Casts of the parameters are not kept: graphs could not use them, and nothing else uses them twice.
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=self.half_precision, cache_enabled=False):
            output = self.transformer(input_ids=ids, attention_mask=mask, output_hidden_states=self.mixture is not None)
        if self.mixture is None:
            last: Tensor = output.last_hidden_state.float()
            return last
        weights = self.mixture.softmax(0)
        return torch.stack([w * state.float() for w, state in zip(weights, output.hidden_states, strict=True)]).sum(0)


def _open_mask(there: Tensor, dtype: torch.dtype) -> Tensor:
    """[W, P] -> [W, 1, P, P]: every piece sees all pieces of its window."""
    closed = torch.finfo(dtype).min
    mask = torch.zeros(there.shape, dtype=dtype, device=there.device).masked_fill(~there, closed)
    return mask[:, None, None, :].expand(-1, 1, there.shape[1], -1)


# -- from disk ------------------------------------------------------------------------------------------------------


def require_transformers() -> None:
    """Say how to install the extra where it is missing."""
    try:
        import tokenizers
        import transformers
    except ImportError as error:
        raise UsageError(f"a pretrained encoder needs the package transformers ({error}): {INSTALL}") from None
    assert tokenizers
    found = transformers.__version__
    if int(found.partition(".")[0]) < 5:
        raise UsageError(f"a pretrained encoder needs transformers 5 or newer, not {found}: {INSTALL}")


def read_pretrained(
    source: str | Path, *, layers: int | None = None, pooling: str = "first", mix: bool = False
) -> tuple[PretrainedConfig, PieceVocabulary, dict[str, Tensor], int | None]:
    """A transformer by its name on the Hugging Face hub or its directory: configuration, pieces, parameters, and the id
    of its mask, if it has one.

    With `layers`, only so many of the lowest layers are kept.
    """
    require_transformers()
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    source = str(source)
    is_path = source.startswith((".", "/", "~")) or source.count("/") > 1  # names on the hub have one at most
    if is_path and not Path(source).is_dir():
        raise DiscoparseError(f"there is no directory {source}: --encoder takes one, or a name on the Hugging Face hub")
    options = {"trust_remote_code": False}
    about = ". Give the directory of a transformer that was saved with its tokenizer, or a name on the Hugging Face hub"
    try:
        config = AutoConfig.from_pretrained(source, **options)
        tokenizer = AutoTokenizer.from_pretrained(source, use_fast=True, add_prefix_space=True, **options)
        if layers is not None:
            _set_layers(config, layers)
        with _quiet():
            model, report = AutoModel.from_pretrained(
                source, config=config, dtype=torch.float32, output_loading_info=True, **options
            )
    except UsageError:
        raise
    except Exception as error:  # those of the library, of safetensors, of the unpickler
        raise DiscoparseError(f"the encoder {source} cannot be loaded: {_first_line(error)}{about}") from None
    if not getattr(tokenizer, "is_fast", False):
        raise DiscoparseError(f"the encoder {source} has no fast tokenizer (tokenizer.json), which is needed here")
    if not set(tokenizer.get_vocab().values()) - set(tokenizer.all_special_ids):  # what the library makes of no file
        raise DiscoparseError(f"the encoder {source} has no tokenizer: there are no pieces of words in it{about}")
    named = dict(model.named_parameters(remove_duplicate=False))
    transformer = _without_head(model).eval()
    _check_parameters(source, transformer, [named[name] for name in report["missing_keys"] if name in named])
    causal = not _sees_later_pieces(transformer, None)
    if causal and not _sees_later_pieces(transformer, _open_mask):
        raise DiscoparseError(
            f"the encoder {source} reads from left to right only, and its attention cannot be opened: a word would not "
            "know what follows it. Choose an encoder, or a decoder that takes a four-dimensional attention mask"
        )
    try:
        with panics_told():
            pieces = _piece_vocabulary(tokenizer, transformer)
    except DiscoparseError as error:
        raise DiscoparseError(f"the tokenizer of {source} does not work: {_first_line(error)}") from None
    pretrained = PretrainedConfig(
        transformer=config.to_diff_dict() | {"model_type": config.model_type},
        size=_hidden_size(transformer),
        pooling=pooling,
        mix=mix,
        bidirectional=causal,
        pieces=pieces.to_json(),
    )
    return pretrained, pieces, dict(transformer.state_dict()), tokenizer.mask_token_id


def _check_parameters(source: str, transformer: nn.Module, missing: list[nn.Parameter]) -> None:
    """Refuse what the library would fill up with random numbers, as weights of another architecture."""
    missed = {id(parameter) for parameter in missing}
    for name, parameter in transformer.named_parameters():
        if id(parameter) in missed:
            raise DiscoparseError(f"the encoder {source} is not complete: its files have no {name}")
        if not bool(parameter.isfinite().all()):
            raise DiscoparseError(f"the encoder {source} cannot be used: {name} has values that are not numbers")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the library's progress bar and its table of parameters that were left out on purpose."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()  # type: ignore[no-untyped-call, unused-ignore]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call, unused-ignore]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call, unused-ignore]
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call, unused-ignore]


def _without_head(model: Any) -> Any:
    """The encoder of an encoder-decoder, and no pooler: neither is used."""
    if getattr(model.config, "is_encoder_decoder", False):
        model = model.get_encoder()
    if getattr(model, "pooler", None) is not None:
        model.pooler = None
    return model


def _piece_vocabulary(tokenizer: Any, transformer: Any) -> PieceVocabulary:
    """What `PieceVocabulary` keeps of a tokenizer of `transformers`."""
    known = transformer.get_input_embeddings().num_embeddings
    cut = _with_embeddings(tokenizer.backend_tokenizer, known)
    cut.no_padding()
    cut.no_truncation()
    _cut_as_after_a_space(cut, tokenizer.unk_token_id)
    alone = tokenizer("a", add_special_tokens=False)["input_ids"]
    whole = tokenizer("a")["input_ids"]
    before = next(k for k in range(len(whole)) if whole[k : k + len(alone)] == alone)
    padding = next((k for k in (tokenizer.pad_token_id, tokenizer.eos_token_id) if k is not None), 0)
    unknown = next((k for k in (tokenizer.unk_token_id, tokenizer.mask_token_id) if k is not None), padding)
    prefix, suffix = tuple(whole[:before]), tuple(whole[before + len(alone) :])
    pieces = PieceVocabulary(cut.to_str(), prefix, suffix, padding, unknown, _window(transformer))
    if pieces.largest_id() >= known:
        raise ValueError(f"it has pieces up to {pieces.largest_id()}, the encoder {known} embeddings: it is another's")
    pieces.try_out()
    return pieces


def _with_embeddings(cut: Any, known: int) -> Any:
    """A tokenizer without the tokens that were added to it but not to the encoder, as those for pictures."""
    from tokenizers import Tokenizer

    data = json.loads(cut.to_str())
    added = [token for token in data["added_tokens"] if token["id"] < known]
    if len(added) == len(data["added_tokens"]):
        return cut
    return Tokenizer.from_str(json.dumps(data | {"added_tokens": added}))


_PROBES = ("a", "de", "in", "the", "и", "の")  # frequent words: a tokenizer knows some of them


def _cut_as_after_a_space(cut: Any, unknown: int | None) -> None:
    """Let a tokenizer cut words as in a text: many have `add_prefix_space`, others get the space itself.

    Not where the space would be a piece of its own, which would then stand for every word. Only words that the
    tokenizer knows can tell.
    """
    from tokenizers import normalizers

    def alone() -> list[list[int]]:
        return [cut.encode([word], is_pretokenized=True, add_special_tokens=False).ids for word in _PROBES]

    def as_in_text(pieces: list[list[int]]) -> int:
        text = [cut.encode(f"{word} {word}", add_special_tokens=False).ids for word in _PROBES]
        return sum(found == 2 * one for found, one in zip(text, pieces, strict=True))

    before, plain = cut.normalizer, alone()
    agreeing = as_in_text(plain)
    cut.normalizer = normalizers.Sequence([normalizers.Prepend(" "), *([before] if before else [])])
    spaced = alone()
    known = [k for k, pieces in enumerate(plain) if unknown not in pieces]
    apart = all(len(spaced[k]) > len(plain[k]) for k in known)
    if apart or as_in_text(spaced) <= agreeing:
        cut.normalizer = before


def _window(transformer: Any) -> int:
    """The pieces that a transformer reads at once."""
    config = transformer.config
    positions = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
    if not isinstance(positions, int) or positions <= 0:  # relative positions: any number
        return _WIDEST_WINDOW
    if config.model_type in _POSITIONS_AFTER_PADDING:  # positions are counted from the padding's id on
        positions -= (getattr(config, "pad_token_id", None) or 0) + 1
    return min(positions, _WIDEST_WINDOW)


def _sees_later_pieces(transformer: Any, mask: Callable[[Tensor, torch.dtype], Tensor] | None) -> bool:
    """Whether the first piece's vector depends on the last piece."""
    ids = torch.tensor([[3, 4, 5, 6], [3, 4, 5, 7]])
    there = torch.ones_like(ids, dtype=torch.bool)
    try:
        with torch.inference_mode():
            given = there.long() if mask is None else mask(there, transformer.dtype)
            first, second = transformer(input_ids=ids, attention_mask=given).last_hidden_state[:, 0]
    except (RuntimeError, ValueError, IndexError, TypeError):
        return False
    return not torch.equal(first, second)


def _hidden_size(transformer: Any) -> int:
    return int(transformer.config.hidden_size)  # also where an architecture has another name for it


def _layer_count(transformer: Any) -> int:
    return int(transformer.config.num_hidden_layers)


def _set_layers(config: Any, layers: int) -> None:
    """Keep the lowest layers of a configuration."""
    there = int(config.num_hidden_layers)
    if not 1 <= layers <= there:
        raise UsageError(f"{layers} layers of an encoder that has {there}: choose 1 to {there}")
    config.num_hidden_layers = layers
    if isinstance(getattr(config, "layer_types", None), list):
        config.layer_types = config.layer_types[:layers]


def layer_of(name: str, layers: int) -> int:
    """The layer of a transformer's parameter by its name: 0 for embeddings, `layers` + 1 for what follows the last.

    >>> names = ["embeddings.word_embeddings.weight", "encoder.layer.2.output.bias", "norm.bias"]
    >>> [layer_of(name, 6) for name in names]
    [0, 3, 7]
    """
    if "embed" in name or name.startswith(("wte", "wpe")):
        return 0
    numbers = [int(part) for part in name.split(".") if part.isdigit()]
    return numbers[0] + 1 if numbers else layers + 1
