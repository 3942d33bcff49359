"""Published treebanks: from what a licensee holds to the train, dev and test sets of the literature."""

from discoparse.treebank.prepare.reader import Reader
from discoparse.treebank.prepare.run import prepare
from discoparse.treebank.prepare.splits import STANDARD_SPLITS, StandardSplit

__all__ = ["STANDARD_SPLITS", "Reader", "StandardSplit", "prepare"]
