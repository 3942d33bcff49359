"""The shapes of a network's parameters, to check a model before memory is allocated for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from discoparse.neural.config import NetworkConfig

Shape = tuple[int, ...]

_MOST_TABLES = 1_000_000_000  # bytes that are not on disk, as of masks: their size says nothing about the file's


def parameter_shapes(config: NetworkConfig) -> dict[str, Shape]:
    """The shapes in `Network(config).state_dict()`, in its order; a ValueError for a network that cannot be made.

    >>> shapes = parameter_shapes(NetworkConfig(words=10**9, characters=60, tags=12, labels=25))
    >>> shapes["encoder.word_embedding.weight"], shapes["scorers.pair_input.weight"]
    ((1000000000, 32), (200, 3200))
    """
    if config.pretrained is not None:
        return _shapes_by_pytorch(config)
    used = {"hidden", "scorer_hidden", "labels", "tags", "words"}
    if config.character_size:
        used |= {"character_hidden", "characters"}
    if unused := [name for name in sorted(used) if getattr(config, name) < 1]:
        raise ValueError(f"{unused[0]} is 0")
    if not config.input_size:
        raise ValueError("it reads neither words nor characters")
    return dict(_own_shapes(config))


def _own_shapes(config: NetworkConfig) -> Iterator[tuple[str, Shape]]:
    size, hidden = 2 * config.hidden, config.scorer_hidden
    if config.character_size:
        yield "encoder.character_embedding.weight", (config.characters, config.character_size)
        yield from _lstm_shapes("encoder.character_lstm", config.character_size, config.character_hidden)
    if config.word_size:
        yield "encoder.word_embedding.weight", (config.words, config.word_size)
    for k in range(config.layers):
        yield from _lstm_shapes(f"encoder.layers.{k}", size if k else config.input_size, config.hidden)
    if not config.layers:
        yield from _linear_shapes("encoder.projection", config.input_size, size)
    yield "scorers.nil", (size,)
    yield from _linear_shapes("scorers.pair_input", 8 * size, hidden)
    yield from _linear_shapes("scorers.pair_hidden", hidden, hidden)
    yield from _linear_shapes("scorers.pair_output", hidden, 1)
    yield from _linear_shapes("scorers.label_input", 4 * size, hidden)
    yield from _linear_shapes("scorers.label_hidden", hidden, hidden)
    yield from _linear_shapes("scorers.label_output", hidden, config.labels)
    if config.chains:
        yield from _linear_shapes("scorers.above_output", hidden, config.labels)
        yield "scorers.above_given.weight", (config.labels, config.labels)
    yield from _linear_shapes("tagger", config.tagger_size, config.tags)


def _linear_shapes(name: str, inputs: int, outputs: int) -> Iterator[tuple[str, Shape]]:
    yield f"{name}.weight", (outputs, inputs)
    yield f"{name}.bias", (outputs,)


def _lstm_shapes(name: str, inputs: int, hidden: int) -> Iterator[tuple[str, Shape]]:
    """Of both directions; the four gates stand in one matrix."""
    for direction in ("forward_lstm", "backward_lstm"):
        yield f"{name}.{direction}.weight_ih_l0", (4 * hidden, inputs)
        yield f"{name}.{direction}.weight_hh_l0", (4 * hidden, hidden)
        yield f"{name}.{direction}.bias_ih_l0", (4 * hidden,)
        yield f"{name}.{direction}.bias_hh_l0", (4 * hidden,)


def _shapes_by_pytorch(config: NetworkConfig) -> dict[str, Shape]:
    """The network is made without memory for its parameters: what a transformer has, only its code says."""
    import torch
    from torch.overrides import TorchFunctionMode

    from discoparse.neural.network import Network

    class NoInitialValues(TorchFunctionMode):
        """Skips the functions of `torch.nn.init`: without memory they do nothing, but load a second's worth of
        modules."""

        def __torch_function__(
            self,
            func: Callable[..., Any],
            types: Iterable[type],
            args: Any = (),
            kwargs: Mapping[str, Any] | None = None,
        ) -> Any:
            kwargs = kwargs or {}
            if getattr(func, "__module__", None) == torch.nn.init.__name__:
                return kwargs.get("tensor", args[0] if args else None)
            return func(*args, **kwargs)

    with torch.device("meta"), NoInitialValues():
        network = Network(config)
    tables = sum(buffer.nbytes for buffer in network.buffers())
    if tables > _MOST_TABLES:
        raise ValueError(f"it computes tables of {tables:,} bytes from its settings")
    return {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
