"""Updates of parameters in one row of memory. That they are those of the paper is in test_recipe_paper.py."""

from __future__ import annotations

import pytest
import torch
from tiny_models import OneVector

from discoparse.training.flat_update import FlatUpdate
from discoparse.training.optimisation import Optimisation, learning_rate
from discoparse.training.recipe import RECIPES, Recipe

pytestmark = pytest.mark.usefixtures("one_thread")

PAPER = RECIPES["paper"]


def test_the_average_may_take_two_steps_at_once():
    """As it does for the two updates of a sentence."""
    averages = []
    for averaged in ((1, 1), (0, 2)):
        torch.manual_seed(0)
        network = OneVector(5)
        optimisation = Optimisation(network, Recipe(warmup_steps=1), 10)
        update = FlatUpdate(optimisation, 10)
        update.plan(10)
        for k in range(10):
            update((network.used * torch.randn(5)).sum() * 10, averaged=averaged[k % 2])
        averages.append(optimisation.averaged()["used"])
    torch.testing.assert_close(*averages)


def test_gradients_reach_their_parameters_across_a_gap():
    """Small parameters with a gap behind them that is larger than any of them."""
    network = OneVector(1)
    optimisation = Optimisation(network, PAPER.replace(gradient_noise=0.0), 10)
    update = FlatUpdate(optimisation, 1, comes_last=lambda name: name == "used")
    assert update.gaps == [15, 15]
    update.plan(1)
    update(network.used.sum())
    assert network.used.item() == pytest.approx(-learning_rate(PAPER, 1, 10))
    assert not network.unused.any()
