"""The shapes of parameters that are told without making the network are those of the network."""

from __future__ import annotations

import random

import pytest

from discoparse.neural.network import Network, NetworkConfig
from discoparse.neural.shapes import parameter_shapes


@pytest.mark.parametrize(("chains", "tag_both"), [(True, False), (False, False), (False, True)])
def test_shapes_are_those_of_the_network(chains, tag_both):
    chance = random.Random(int(chains))
    for _ in range(10):
        sizes = [chance.randint(1, 9) for _ in range(10)]
        config = NetworkConfig(*sizes, chains=chains, tag_both=tag_both)
        made = {name: tuple(tensor.shape) for name, tensor in Network(config).state_dict().items()}
        assert parameter_shapes(config) == made
