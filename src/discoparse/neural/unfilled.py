"""A transformer made from its configuration alone, which anybody may have written: it is not trusted.

Nothing is fetched, no code but the library's runs, and sizes that would take hours to make are refused.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torch.nn.modules.module import register_module_module_registration_hook

if TYPE_CHECKING:
    from transformers import PreTrainedModel

_MOST_MODULES = 5000  # large transformers have one or two thousand
# What does not change the vectors: where parts could be fetched from, how the library computes (many are published in
# half precision), what it returns beside them, and names for the outputs of a head (which it makes, if it is told how
# many).
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
    with _offline, _limit:
        return AutoModel.from_config(AutoConfig.for_model(config["model_type"], **settings))  # type: ignore[no-any-return, no-untyped-call, unused-ignore]


def _kept(value: Any) -> Any:
    """A configuration, with those of its parts, without what is left out.

    >>> _kept({"auto_map": {}, "text_config": {"return_dict": False, "hidden_size": 8}})
    {'text_config': {'hidden_size': 8}}
    """
    if isinstance(value, Mapping):
        return {name: _kept(part) for name, part in value.items() if name not in _LEFT_OUT}
    return value


class _HubSwitch:
    """While it is entered, the library asks nothing of the Hugging Face hub: some architectures look there for a part
    that they have by default. All threads share the library's setting: the first changes it, the last changes it back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entered = 0
        self._before = False

    def __enter__(self) -> None:
        from huggingface_hub import constants

        with self._lock:
            if not self._entered:
                self._before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
            self._entered += 1

    def __exit__(self, *error: object) -> None:
        from huggingface_hub import constants

        with self._lock:
            self._entered -= 1
            if not self._entered:
                constants.HF_HUB_OFFLINE = self._before


class _ModuleLimit(threading.local):
    """While it is entered, refuses more modules than any transformer has: every architecture has its own name for the
    number of layers. It counts those of its own thread."""

    left: int | None = None  # modules that may still be made

    def __enter__(self) -> None:
        _watch_modules()
        self.left = _MOST_MODULES

    def __exit__(self, *error: object) -> None:
        self.left = None

    def count(self, *_: Any) -> None:
        if self.left is None:
            return
        if not self.left:
            raise ValueError(f"it has more than {_MOST_MODULES:,} parts")
        self.left -= 1


_offline = _HubSwitch()
_limit = _ModuleLimit()
_lock = threading.Lock()
_watched = False


def _watch_modules() -> None:
    """Let PyTorch tell of every module from now on: to take that back would disturb threads that make some."""
    global _watched
    with _lock:
        if not _watched:
            register_module_module_registration_hook(_limit.count)
            _watched = True
