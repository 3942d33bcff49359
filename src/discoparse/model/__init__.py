"""Models on disk: parameters, vocabulary, facts and card, sealed; and models as packages."""

from typing import TYPE_CHECKING

from discoparse._lazy import lazy_names

if TYPE_CHECKING:
    from discoparse.model.facts import read_facts
    from discoparse.model.info import ModelInfo, read_card, read_info
    from discoparse.model.model import Model, load_model, replace_info, save_model

__all__ = ["Model", "ModelInfo", "load_model", "read_card", "read_facts", "read_info", "replace_info", "save_model"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Model": "model",
        "ModelInfo": "info",
        "load_model": "model",
        "read_card": "info",
        "read_facts": "facts",
        "read_info": "info",
        "replace_info": "model",
        "save_model": "model",
    },
)
