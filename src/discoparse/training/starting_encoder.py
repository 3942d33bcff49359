"""A pretrained encoder that training starts with: read from disk, put into a network, its learning rates."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from discoparse.errors import UsageError
from discoparse.files.sealed import CHECKSUMS, read_sealed
from discoparse.model.encoder import is_own_encoder
from discoparse.model.info import CONFIG, PARAMETERS, TOKENIZER, encoder_directory
from discoparse.neural.config import PRETRAINED, PretrainedConfig
from discoparse.neural.network import Network
from discoparse.neural.pieces import PieceVocabulary
from discoparse.neural.pretrained import layer_of, read_pretrained
from discoparse.training.recipe import Recipe

_PREFIX = f"{PRETRAINED}transformer."


@dataclass(frozen=True)
class StartingEncoder:
    """A transformer as it was found."""

    source: str  # its name or directory
    config: PretrainedConfig
    pieces: PieceVocabulary
    parameters: dict[str, Tensor]
    mask: int | None  # the piece that stood for hidden ones when it was pretrained

    def fingerprint(self) -> str:
        """Tells one encoder from another, for a training that is resumed."""
        digest = hashlib.sha256(self.pieces.tokenizer.encode())
        for name, tensor in sorted(self.parameters.items()):
            digest.update(f"{name} {list(tensor.shape)} {tensor.double().sum().item()}".encode())
        return digest.hexdigest()

    def prepare(self, network: Network, recipe: Recipe, device: torch.device) -> None:
        """Give a fresh network the encoder's parameters, and freeze what the recipe does not train."""
        encoder = network.encoder.pretrained
        assert encoder is not None
        encoder.transformer.load_state_dict(self.parameters)
        encoder.half_precision = recipe.encoder_half and device.type == "cuda"
        if recipe.encoder_checkpointing:
            encoder.transformer.gradient_checkpointing_enable()
        for name, parameter in encoder.transformer.named_parameters():
            if layer_of(name, encoder.transformer.config.num_hidden_layers) < recipe.encoder_frozen:
                parameter.requires_grad_(False)


def read_encoder(source: str | Path, recipe: Recipe) -> StartingEncoder:
    """The encoder of a name or directory, as the recipe wants it; that of a pretraining may be given by its output."""
    place = encoder_directory(source)
    if is_own_encoder(place):
        raise UsageError(f"{place} is not a transformer but an encoder of discoparse pretrain: give it to --init")
    if (place / CHECKSUMS).exists():
        read_sealed(place, (CONFIG, PARAMETERS, TOKENIZER), "encoder", also=".*")
    found = read_pretrained(
        place if place.is_dir() else source,
        layers=recipe.encoder_layers or None,
        pooling=recipe.encoder_pooling,
        mix=recipe.encoder_mix,
    )
    return StartingEncoder(str(source), *found)


def rate_of(name: str, network: Network, recipe: Recipe) -> float:
    """The learning rate of a parameter, as a share of the recipe's."""
    if not name.startswith(_PREFIX):
        return 1.0
    pretrained = network.encoder.pretrained
    assert pretrained is not None
    layers = int(pretrained.transformer.config.num_hidden_layers)
    below = layers + 1 - layer_of(name.removeprefix(_PREFIX), layers)
    return recipe.encoder_rate / recipe.learning_rate * recipe.encoder_layer_decay**below
