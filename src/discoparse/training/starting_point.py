"""Where a training starts if not from scratch (`--init`): a pretrained encoder, or a whole model that is trained on.

Names of the treebank that are new are added behind those that are there, so every row of a parameter keeps its place.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor

from discoparse.errors import UsageError
from discoparse.files.streams import printable
from discoparse.model.encoder import is_own_encoder, load_encoder
from discoparse.model.info import CONFIG, ModelInfo, encoder_directory
from discoparse.model.model import load_model
from discoparse.neural.config import PRETRAINED, NetworkConfig
from discoparse.neural.network import Network
from discoparse.neural.vocabulary import UNKNOWN, Vocabulary
from discoparse.parser.finding import find_model
from discoparse.training.recipe import Recipe, default_recipe
from discoparse.training.starting_encoder import StartingEncoder

_ENCODER_SIZES = ("word_size", "character_size", "character_hidden", "hidden", "layers")
_MODEL_SIZES = (*_ENCODER_SIZES, "scorer_hidden", "chains", "tag_both")
_EMBEDDINGS = ("encoder.word_embedding.weight", "encoder.character_embedding.weight")
_TAGGER = "tagger.weight"
_TRANSFORMER = f"{PRETRAINED}transformer."
_NOT_STATED = "not stated"
_MASKS = ("[MASK]", "<mask>")  # what the piece that stands for hidden ones is called
_Name = TypeVar("_Name")


@dataclass(frozen=True)
class StartingPoint:
    """An encoder or a model as it was found."""

    source: str  # as the user named it
    config: NetworkConfig
    vocabulary: Vocabulary
    parameters: Mapping[str, Tensor]  # as a network calls them; of an encoder, those of the network's encoder
    info: ModelInfo
    whole: bool  # a model, and not only an encoder

    def default_recipe(self) -> str:
        """The recipe that suits it, by its name."""
        return default_recipe(transformer=self.config.pretrained is not None, model=self.whole)

    def adapt(self, recipe: Recipe, stated: Collection[str] = ()) -> Recipe:
        """The recipe with the sizes that are there; those in `stated` are the user's and must be the same."""
        sizes = {name: getattr(self.config, name) for name in (_MODEL_SIZES if self.whole else _ENCODER_SIZES)}
        if self.whole and recipe.tag_both and "tag_both" in stated:
            sizes["tag_both"] = True  # a tagger can learn to read more, see `prepare`
        if self.config.pretrained is not None:
            sizes |= {f"encoder_{name}": getattr(self.config.pretrained, name) for name in ("pooling", "mix")}
        for name, size in sizes.items():
            if name in stated and getattr(recipe, name) != size:
                raise UsageError(
                    f"{name} = {getattr(recipe, name)} does not fit {self.source}, which has {size}: leave that "
                    "setting out, or start from something else"
                )
        return recipe.replace(**sizes).checked()

    def fit(self, recipe: Recipe) -> Recipe:
        """A recipe whose sizes are all meant, refused if they are others; a tagger reads no less than it did."""
        return self.adapt(recipe, [name for name in _MODEL_SIZES if name != "tag_both" or recipe.tag_both])

    def extend(self, names: Vocabulary) -> Vocabulary:
        """What is known already, and then the names of a treebank that are new."""
        ours = self.vocabulary
        words = _joined(ours.words, names.words)
        # An encoder has read more text than a treebank has, so what it does not know is seldom.
        new = self.whole and len(words) > len(ours.words)
        return dataclasses.replace(
            ours,
            words=words,
            added=(*ours.added, len(ours.words)) if new else ours.added,
            characters=_joined(ours.characters, names.characters),
            tags=_joined(ours.tags, names.tags),
            labels=_joined(ours.labels, names.labels),
        )

    def encoder(self) -> StartingEncoder | None:
        """The pretrained transformer in a model, if it has one."""
        if self.config.pretrained is None or self.vocabulary.pieces is None:
            return None
        parameters = {
            name.removeprefix(_TRANSFORMER): tensor
            for name, tensor in self.parameters.items()
            if name.startswith(_TRANSFORMER)
        }
        pieces = self.vocabulary.pieces
        mask = next((k for k in map(pieces.piece_id, _MASKS) if k is not None), None)
        return StartingEncoder(self.source, self.config.pretrained, pieces, parameters, mask)

    @torch.no_grad()
    def prepare(self, network: Network, recipe: Recipe) -> None:
        """Give a fresh network the parameters that are there, and freeze what the recipe does not train.

        New words and characters start as the unknown one; new tags and labels as in any fresh network. A tagger that
        is to read the last layer as well pays no attention to it at first.
        """
        for name, parameter in network.named_parameters():
            known = self.parameters.get(name)
            if known is None:
                continue
            if name in _EMBEDDINGS:
                parameter.copy_(known[UNKNOWN].expand_as(parameter))
            elif name == _TAGGER:
                parameter[: len(known), known.shape[1] :] = 0.0
            parameter[tuple(slice(0, size) for size in known.shape)] = known
        for name, parameter in network.named_parameters():
            level = _level(name)
            if level is not None and level < recipe.start_frozen:
                parameter.requires_grad_(False)

    def fingerprint(self) -> str:
        """Tells one start from another, for a training that is resumed."""
        digest = hashlib.sha256(repr(self.vocabulary.to_json()).encode("utf-8", "surrogatepass"))
        for name, tensor in sorted(self.parameters.items()):
            digest.update(f"{name} {list(tensor.shape)} {tensor.double().sum().item()}".encode())
        return digest.hexdigest()

    def describe(self) -> str:
        """For the card of what is made from it."""
        info = self.info
        data = ", ".join(entry.get("name", entry["set"]) for entry in info.data) or ", ".join(info.treebanks)
        licence = f"; licence: {info.licence}" if info.licence else ""
        ours = f"the {'model' if self.whole else 'encoder'} {info.name}" + (f" ({data}{licence})" if data else licence)
        before = info.training.get("start")
        return f"{ours}, which started from {before}" if before else ours

    def origins(self) -> list[dict[str, str]]:
        """What it is and what it learnt from, for the card of what is made from it: all of their licences apply."""
        info = self.info
        kind = "model" if self.whole else "encoder"
        itself = {
            "name": f"The {kind} {info.name}",
            "text": "where training began",
            "licence": info.licence or _NOT_STATED,
            "attribution": "made from the data below" if info.data or info.origins else _NOT_STATED,
        }
        data = [
            {
                "name": entry.get("name", entry["set"]),
                "text": entry.get("text", f"data that the {kind} {info.name} learnt from"),
                "licence": entry.get("licence", _NOT_STATED),
                "attribution": entry.get("attribution", _NOT_STATED),
                **({"url": entry["url"]} if "url" in entry else {}),
            }
            for entry in info.data
        ]
        return [itself, *data, *info.origins]


def read_start(source: str | Path) -> StartingPoint:
    """The encoder in a directory, or a model by its name or directory."""
    name = printable(source)
    folder = encoder_directory(source)
    if is_own_encoder(folder):
        stored = load_encoder(folder)
        return StartingPoint(name, stored.config, stored.vocabulary, stored.parameters, stored.info, whole=False)
    if (folder / "tokenizer.json").exists() and not (folder / "vocabulary.json").exists():
        raise UsageError(f"{name} is a transformer: give it to --encoder")
    directory = find_model(source)
    if not (directory / CONFIG).exists():
        raise UsageError(f"{name} is neither a model nor a pretrained encoder")
    model = load_model(directory)
    return StartingPoint(
        name, model.network.config, model.vocabulary, dict(model.network.state_dict()), model.info, whole=True
    )


def rate_of_start(name: str, recipe: Recipe) -> float:
    """The learning rate of a parameter that has a start, as a share of the recipe's."""
    return recipe.start_rate if _level(name) is not None else 1.0


def _level(name: str) -> int | None:
    """How far up in our own encoder a parameter stands: 0 for embeddings and characters, None elsewhere.

    >>> [_level(f"{part}.weight") for part in ("encoder.word_embedding", "encoder.layers.1.lstm", "tagger")]
    [0, 2, None]
    """
    if not name.startswith("encoder.") or name.startswith(PRETRAINED):
        return None
    parts = name.split(".")
    return int(parts[2]) + 1 if parts[1] == "layers" else 0


def _joined(known: list[_Name], names: list[_Name]) -> list[_Name]:
    """The known names, and then those that are new, in their order."""
    there = set(known)
    return [*known, *(name for name in names if name not in there)]
