"""Recipes: everything that decides how a parser is trained, as data.

`paper` follows Section 3.5, Section 4.2 and Appendix B of Coavoux and Cohen (2019); docs/commands/train.md lists what
they leave open and what we do differently. `fast`, the default, reached the best scores in the least time
(research/lab-notebook.md).
"""

from __future__ import annotations

from dataclasses import dataclass

from discoparse.errors import UsageError
from discoparse.neural.pieces import POOLING
from discoparse.training.settings import Settings, in_range, one_of

# What each oracle teaches, at structural steps; labelling steps always have one right answer. Sentences that are not
# explored take a derivation of the gold tree, explored ones a derivation sampled from the parser (Section 3.5).
#
# static    the static derivation (Section 2.2.1); nothing is explored
# dynamic   as the paper reads: unexplored sentences follow the static derivation, and only explored ones ask o_even
#           (Section 2.2.2). The two disagree about 9 to 20% of the structural actions on gold derivations.
# even      o_even's preferred actions on every sentence, so that the same configuration always has the same answer
# complete  the preferred action of the complete set of optimal actions (docs/reference/oracle.md) on every sentence;
#           on gold derivations that is the static derivation
ORACLES = ("static", "dynamic", "even", "complete")
OPTIMIZERS = ("asgd", "adamw")


@dataclass(frozen=True)
class Recipe(Settings):
    """A training recipe; the defaults are the paper's."""

    # Network sizes (Table 5)
    word_size: int = in_range(32, 0, 4096)  # 0: no word embeddings, with a pretrained encoder
    character_size: int = in_range(100, 0, 4096)  # 0: no characters, likewise
    character_hidden: int = in_range(50, 1, 4096)
    hidden: int = in_range(200, 1, 4096)
    layers: int = in_range(2, 0, 8)  # 0: no bi-LSTM over the sentence, likewise
    scorer_hidden: int = in_range(200, 1, 4096)
    chains: bool = False  # label unary chains node by node, so that unseen chains can be produced
    tag_both: bool = False  # the tagger reads the last bi-LSTM layer beside the first

    # Vocabulary
    min_frequency: int = in_range(1, 1, 10**6)  # rarer words have no embedding of their own
    unk_probability: float = in_range(0.3, 0, 1)  # how often UNK stands in for a rare word
    unk_share: float = in_range(2 / 3, 0, 1)  # share of word types, the least frequent ones, that count as rare
    unk_characters: float = in_range(0.0, 0, 1)  # share of a batch's word forms that get unknown characters

    # Dropout
    dropout_tagger: float = in_range(0.5, 0, 0.99)  # input of the tagger
    dropout_scorer: float = in_range(0.2, 0, 0.99)  # input of the scorers, one mask per prediction
    dropout_embedding: float = in_range(0.0, 0, 0.99)  # the character vector or the embedding of a token, as a whole
    dropout_hidden: float = in_range(0.0, 0, 0.99)  # output of each bi-LSTM layer, one mask per sentence
    dropout_scorer_hidden: float = in_range(0.0, 0, 0.99)  # first hidden layer of the scorers

    # Oracle and exploration
    oracle: str = one_of("dynamic", ORACLES)
    optimal_set: bool = False  # reward the whole set of optimal actions instead of the preferred one
    exploration: float = in_range(0.15, 0, 1)  # probability of exploring
    explore_whole_batches: bool = False  # explore batches right before they are used, not sentences before each epoch
    exploration_start: float = in_range(0.0, 0, 1)  # share of the training that comes before the first exploration
    gap_weight: float = in_range(1.0, 0.01, 100)  # of structural decisions that make a discontinuous constituent

    # Optimisation
    epochs: int = in_range(100, 0, 10**6)  # at least this many,
    updates: int = in_range(0, 0, 10**9)  # and enough for this many updates
    batch_tokens: int = in_range(1, 1, 10**6)  # tokens per batch, with padding; a longer sentence is a batch of its own
    most_batch_tokens: int = in_range(1, 1, 10**6)  # larger treebanks have larger batches, up to this
    optimizer: str = one_of("asgd", OPTIMIZERS)
    learning_rate: float = in_range(0.01, 1e-9, 10)
    decay: float = in_range(1e-7, 0, 1)  # asgd: the rate of step t is learning_rate / (1 + decay t)
    warmup_steps: int = in_range(1000, 0, 10**7)
    final_rate: float = in_range(0.0, 0, 1)  # adamw: the share of the learning rate that the cosine schedule ends at
    weight_decay: float = in_range(0.0, 0, 10)  # adamw
    beta2: float = in_range(0.999, 0, 1 - 1e-9)  # adamw
    average_decay: float = in_range(0.0, 0, 1)  # adamw: moving average of the parameters; asgd averages all steps
    clip_norm: float = in_range(100.0, 1e-6, 1e6)
    gradient_noise: float = in_range(0.01, 0, 100)  # the variance of the noise is this / (1 + t)^0.55
    alternate: bool = True  # a step for the tagger, then a step for the parser, instead of their sum
    tagging_weight: float = in_range(1.0, 0, 1000)  # of the tagger's loss in the sum; a step of its own has none
    sentence_graphs: bool = True  # asgd on a GPU: the updates of a sentence as a CUDA graph; the same, but fast

    # A pretrained encoder, where training starts with one
    encoder_layers: int = in_range(0, 0, 1000)  # the lowest layers that are kept; 0 for all
    encoder_pooling: str = one_of("first", POOLING)  # which pieces stand for a word: first, last or mean
    encoder_mix: bool = False  # a weighted sum of all layers instead of the last one
    encoder_frozen: int = in_range(0, 0, 1000)  # embeddings and layers, from the bottom up, that are not trained
    encoder_rate: float = in_range(1e-4, 0, 1)  # its learning rate at the top
    encoder_layer_decay: float = in_range(1.0, 0, 1)  # what the rate is multiplied by with each layer further down
    encoder_half: bool = True  # bfloat16 on a GPU
    encoder_graphs: bool = True  # CUDA graphs on a GPU, without checkpointing
    encoder_checkpointing: bool = False  # less memory, a third more time
    hidden_pieces: float = in_range(0.0, 0, 1)  # share of its pieces that are masked at first; falls to none
    dropout_pretrained: float = in_range(0.0, 0, 0.99)  # output of the encoder

    # A start from a pretrained encoder of ours or from a model (--init)
    start_rate: float = in_range(1.0, 0, 1)  # learning rate of the encoder, as a share of the recipe's
    start_frozen: int = in_range(0, 0, 9)  # embeddings and characters, and bi-LSTM layers above, that are not trained

    # Silver trees, which another parser made (--silver)
    silver_weight: float = in_range(1.0, 0, 1000)  # of their losses; those of gold trees have 1
    silver_ratio: float = in_range(1.0, 0, 10**6)  # how many of them an epoch has for each gold tree, at most
    silver_until: float = in_range(1.0, 0, 1)  # share of the training after which only gold trees are left
    silver_frequency: int = in_range(5, 1, 10**6)  # words that are rarer, and not in gold trees, have no embedding

    # Evaluation
    evaluate_every: int = in_range(4, 1, 10**6)  # epochs
    quantize: bool = False  # round large matrices to eight bits, for evaluation and on disk

    def checked(self) -> Recipe:
        """Itself, if its values make sense, each alone and all together."""
        super().checked()
        if not self.epochs and not self.updates:
            raise UsageError("a recipe needs a number of epochs or of updates")
        if self.tag_both and self.layers < 2:
            raise UsageError(f"tag_both needs two bi-LSTM layers or more, and layers = {self.layers}")
        if self.alternate and self.tagging_weight != 1:
            raise UsageError("tagging_weight is for losses that are added up: set alternate=no, or leave it out")
        explores_sentences = self.exploration and not self.explore_whole_batches
        if self.optimal_set and self.oracle in ("even", "complete") and explores_sentences:
            raise UsageError(
                f"optimal_set with the oracle {self.oracle} explores whole batches: set explore_whole_batches=yes"
            )
        return self


RECIPES = {
    "paper": Recipe(),
    "fast": Recipe(
        hidden=300,
        chains=True,
        unk_characters=0.15,
        dropout_tagger=0.2,
        dropout_scorer=0.0,
        dropout_embedding=0.3,
        dropout_hidden=0.3,
        dropout_scorer_hidden=0.2,
        oracle="complete",
        exploration=0.5,
        explore_whole_batches=True,
        exploration_start=0.3,
        epochs=60,
        updates=4000,
        batch_tokens=500,
        most_batch_tokens=8000,
        optimizer="adamw",
        learning_rate=3e-3,
        warmup_steps=100,
        weight_decay=1e-2,
        beta2=0.98,
        average_decay=0.998,
        clip_norm=5.0,
        gradient_noise=0.0,
        alternate=False,
        evaluate_every=5,
        quantize=True,
    ),
}
# From a model to one's own treebank, which may be small: a lower rate, and fewer updates since little is new.
RECIPES["finetune"] = RECIPES["fast"].replace(epochs=20, updates=600, learning_rate=1e-3, warmup_steps=50)
RECIPES["pretrained"] = RECIPES["fast"].replace(
    dropout_tagger=0.3,
    dropout_pretrained=0.3,
    hidden_pieces=0.15,
    gap_weight=3.0,
    epochs=16,
    updates=0,
    batch_tokens=1000,
    most_batch_tokens=4000,
    learning_rate=1e-3,
    warmup_steps=300,
    encoder_rate=1.5e-4,
    encoder_layer_decay=0.9,
    evaluate_every=2,
)


def default_recipe(*, transformer: bool = False, model: bool = False) -> str:
    """The recipe where none is named: with a transformer, or from a model, or neither."""
    return "pretrained" if transformer else "finetune" if model else "fast"
