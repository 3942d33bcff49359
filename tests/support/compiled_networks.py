"""Random networks, in PyTorch and compiled, to be compared: sizes, sentences and tolerances."""

from __future__ import annotations

import torch

from discoparse.model.packing import pack, unpack
from discoparse.neural.compiled.library import library
from discoparse.neural.compiled.network import CompiledNetwork
from discoparse.neural.config import NetworkConfig
from discoparse.neural.network import Network

# Odd sizes, sizes of one, and sizes beyond a panel of the widest vectors.
CONFIGS = [
    NetworkConfig(9, 7, 3, 5, 3, 4, character_hidden=5, hidden=7, layers=2, scorer_hidden=9, chains=True),
    NetworkConfig(4, 5, 1, 2, 1, 1, character_hidden=1, hidden=1, layers=1, scorer_hidden=1),
    NetworkConfig(30, 20, 70, 90, 70, 33, character_hidden=50, hidden=90, layers=3, scorer_hidden=101, chains=True),
    NetworkConfig(9, 7, 3, 5, word_size=0, character_size=4, character_hidden=64, hidden=33, scorer_hidden=65),
    NetworkConfig(9, 7, 3, 5, word_size=6, character_size=0, hidden=16, scorer_hidden=16),
    NetworkConfig(9, 7, 70, 5, 3, 4, character_hidden=5, hidden=35, scorer_hidden=9, tag_both=True),
]
LENGTHS = [1, 2, 3, 7, 1, 12, 30, 5, 18, 2, 9, 70]  # a set of the longest takes two words of 64 bits
EXACT = {"atol": 2e-5, "rtol": 2e-5}
ROUNDED = {"atol": 4e-3, "rtol": 4e-3}  # inputs of stored matrices have 15 bits


def network_of(config: NetworkConfig, stored: bool, seed: int = 1, spread: float = 0.3) -> Network:
    """A random network; with `stored`, its large matrices are whole numbers times factors, as in a stored model."""
    torch.manual_seed(seed)
    network = Network(config).eval().requires_grad_(False)
    for parameter in network.parameters():
        parameter += spread * torch.randn_like(parameter)
    if stored:
        network.load_state_dict(unpack(pack(network.state_dict())))
    return network


def compiled(network: Network, kind: str) -> CompiledNetwork:
    found = library(kind)
    assert found is not None
    return CompiledNetwork(found, network.config, {name: t.numpy() for name, t in network.state_dict().items()})


def inside(tensor: torch.Tensor) -> torch.Tensor:
    """[B, N, ...] -> [M, ...], without padding."""
    return tensor[torch.arange(tensor.shape[1]) < torch.tensor(LENGTHS)[:, None]]
