"""A transformer made from its configuration alone, which anybody may have written: it is not trusted.

Nothing is fetched, no code but the library's runs, and sizes that would take hours to make are refused.
"""

from __future__ import annotations

import threading
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
    """Without the Hugging Face hub: some architectures look there for a part that they have by default.

    The library has one switch for all threads: the first that comes here turns it, the last that leaves turns it back.
    """
    from huggingface_hub import constants

    with _here.lock:
        if not _here.count:
            _here.before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
        _here.count += 1
    try:
        yield
    finally:
        with _here.lock:
            _here.count -= 1
            if not _here.count:
                constants.HF_HUB_OFFLINE = _here.before


class _Here:
    """How many threads make a transformer, and whether the hub was switched off before."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0
        self.before = False
        self.counts_modules = False  # the hook is there


_here = _Here()
_made = threading.local()  # `left`: how many modules this thread may still make; None where it may make any number


@contextmanager
def _of_limited_size() -> Iterator[None]:
    """Refuse more modules than any transformer has: every architecture has its own name for the number of layers."""
    with _here.lock:
        if not _here.counts_modules:  # it stays: other threads may be going through all hooks when this one is ready
            register_module_module_registration_hook(_count_module)
            _here.counts_modules = True
    _made.left = _MOST_MODULES
    try:
        yield
    finally:
        _made.left = None


def _count_module(*_: Any) -> None:
    left = getattr(_made, "left", None)
    if left is None:
        return
    if not left:
        raise ValueError(f"it has more than {_MOST_MODULES:,} parts")
    _made.left = left - 1
