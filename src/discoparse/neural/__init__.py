"""The network of the paper (Section 3), and how it decides for many sentences at once.

`network` is Sections 3.1 to 3.3; `lockstep` is the transition system for a batch as tensors; `decoder` puts them
together. Nothing here trains: see `discoparse.training`.
"""

from typing import TYPE_CHECKING

from discoparse._lazy import lazy_names

if TYPE_CHECKING:
    from discoparse.neural.config import NetworkConfig
    from discoparse.neural.decisions import Decoded, LabelledYields
    from discoparse.neural.decoder import Decoder
    from discoparse.neural.lockstep import Lockstep, LockstepOracle
    from discoparse.neural.network import Network
    from discoparse.neural.vocabulary import Vocabulary

__all__ = [
    "Decoded",
    "Decoder",
    "LabelledYields",
    "Lockstep",
    "LockstepOracle",
    "Network",
    "NetworkConfig",
    "Vocabulary",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Decoded": "decisions",
        "Decoder": "decoder",
        "LabelledYields": "decisions",
        "Lockstep": "lockstep",
        "LockstepOracle": "lockstep",
        "Network": "network",
        "NetworkConfig": "config",
        "Vocabulary": "vocabulary",
    },
)
