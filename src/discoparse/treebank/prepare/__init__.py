"""Published treebanks: from what a licensee holds to the train, dev and test sets of the literature."""

from discoparse.treebank.prepare.recipes import RECIPES, Recipe
from discoparse.treebank.prepare.run import prepare

__all__ = ["RECIPES", "Recipe", "prepare"]
