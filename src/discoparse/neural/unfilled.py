"""A transformer made from its configuration alone, which anybody may have written: it is not trusted.

Nothing is fetched, no code but the library's runs, and sizes that would take hours to make are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from torch.nn.modules.module import register_module_module_registration_hook

if TYPE_CHECKING:
    from transformers import PreTrainedModel

_MOST_MODULES = 5000  # large transformers have one or two thousand
# What does not change the vectors: where parts could be fetched from, how the library computes, what it returns beside
# them, and names for the outputs of a head (which it makes, if it is told how many).
_LEFT_OUT = {
    *("auto_map", "backbone", "backbone_kwargs", "use_pretrained_backbone", "use_timm_backbone"),
    *("attn_implementation", "_attn_implementation", "experts_implementation", "_experts_implementation"),
    *("chunk_size_feed_forward", "dtype", "torch_dtype", "quantization_config"),
    *("return_dict", "output_attentions", "output_hidden_states", "num_labels", "id2label", "label2id"),
}


def transformer_of(config: Mapping[str, Any]) -> PreTrainedModel:
    """A transformer in single precision with parameters that are yet to be filled in.

    Raises whatever the library raises for a configuration that makes no sense.
    """
    from transformers import AutoConfig, AutoModel

    settings = {name: value for name, value in _kept(config).items() if name != "model_type"}
    with _offline(), _of_limited_size():
        model = AutoModel.from_config(AutoConfig.for_model(config["model_type"], **settings))  # type: ignore[no-untyped-call, unused-ignore]
    return model.float()  # type: ignore[no-any-return, unused-ignore] # it may have been published in half precision


def _kept(value: Any) -> Any:
    """A configuration, with those of its parts, without what is left out.

    >>> _kept({"auto_map": {}, "text_config": {"return_dict": False, "hidden_size": 8}})
    {'text_config': {'hidden_size': 8}}
    """
    if isinstance(value, Mapping):
        return {name: _kept(part) for name, part in value.items() if name not in _LEFT_OUT}
    return value


@contextmanager
def _offline() -> Iterator[None]:
    """Without the Hugging Face hub: some architectures look there for a part that they have by default."""
    from huggingface_hub import constants

    before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


@contextmanager
def _of_limited_size() -> Iterator[None]:
    """Refuse more modules than any transformer has: every architecture has its own name for the number of layers."""
    made = 0

    def count(*_: Any) -> None:
        nonlocal made
        made += 1
        if made > _MOST_MODULES:
            raise ValueError(f"it has more than {_MOST_MODULES:,} parts")

    hook = register_module_module_registration_hook(count)
    try:
        yield
    finally:
        hook.remove()
