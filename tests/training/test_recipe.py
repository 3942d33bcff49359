"""Recipes as data: every number has a range, and what does not make sense is refused with a sentence."""

from __future__ import annotations

import dataclasses
import math

import pytest

from discoparse.errors import UsageError
from discoparse.training.recipe import ORACLES, RECIPES, Recipe

NUMBERS = [field for field in dataclasses.fields(Recipe) if type(field.default) in (int, float)]


def test_the_recipes_are_sound():
    for recipe in RECIPES.values():
        assert recipe.checked() is recipe
        for oracle in ORACLES:
            recipe.replace(oracle=oracle).checked()


@pytest.mark.parametrize("field", NUMBERS, ids=lambda field: field.name)
def test_every_number_has_a_range(field):
    """Both ends are allowed, and nothing beyond them; NaN is nowhere in it."""
    least, most = field.metadata["range"]
    assert least <= field.default <= most
    beyond = (least - 1, most + 1, math.nan, math.inf)
    for value in beyond:
        with pytest.raises(UsageError, match=rf"{field.name} = .* is out of range: choose a value from .* to"):
            Recipe().replace(**{field.name: value}).checked()
    for value in (least, most):
        changed = Recipe(alternate=False).replace(**{field.name: value})
        if changed.epochs or changed.updates:
            changed.checked()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("layers=100000", "layers = 100000 is out of range: choose a value from 0 to 8"),
        ("hidden=-1", "hidden = -1 is out of range"),
        ("learning_rate=nan", "learning_rate = nan is out of range"),
        ("learning-rate=1", "there is no setting learning-rate. Did you mean learning_rate?"),
        ("zzz=1", "there is no setting zzz. The settings are: word_size, character_size"),
        ("hidden", "expected NAME=VALUE"),
        ("oracle=Even", "unknown oracle 'Even': choose one of static, dynamic, even, complete. Did you mean even?"),
        ("optimizer=adam", "unknown optimizer 'adam': choose one of asgd, adamw. Did you mean adamw?"),
        ("epochs=0", "needs a number of epochs or of updates"),
        ("tag_both=yes,layers=1", "tag_both needs two bi-LSTM layers or more, and layers = 1"),
        ("tagging_weight=2", "tagging_weight is for losses that are added up"),
        ("chains=maybe", "chains takes yes or no"),
    ],
)
def test_what_makes_no_sense_is_refused(setting, message):
    with pytest.raises(UsageError) as caught:
        RECIPES["paper"].override(setting.split(","))
    assert message in str(caught.value)


@pytest.mark.parametrize("oracle", ["even", "complete"])
def test_the_whole_set_needs_whole_batches(oracle):
    """What was explored before an epoch would never be used."""
    recipe = RECIPES["paper"].replace(oracle=oracle, optimal_set=True)
    with pytest.raises(UsageError, match="explore_whole_batches=yes"):
        recipe.checked()
    recipe.replace(explore_whole_batches=True).checked()
    recipe.replace(exploration=0.0).checked()
