"""Recipes for pretraining an encoder on raw text, as data.

`bilstm` trains the encoder of Section 3.1 to guess hidden words: a parser that starts from it is as fast and as small
as one from scratch. `transformer` trains a small masked language model to put in front of the parser.
"""

from __future__ import annotations

from dataclasses import dataclass

from discoparse.errors import UsageError
from discoparse.training.recipe import Recipe
from discoparse.training.settings import Settings, in_range


@dataclass(frozen=True)
class PretrainingRecipe(Settings):
    """What both kinds have in common."""

    hidden_share: float = in_range(0.2, 0.01, 0.9)  # of the words, which are to be guessed
    held_out: int = in_range(2000, 1, 10**6)  # sentences to measure the perplexity on, at most 2% of all

    # Optimisation: AdamW, a linear warm-up, then a cosine
    epochs: int = in_range(10, 1, 10**6)  # without a limit on the time
    learning_rate: float = in_range(2e-3, 0, 10)
    warmup_steps: int = in_range(500, 0, 10**7)
    final_rate: float = in_range(0.01, 0, 1)  # the share of the learning rate that the schedule ends at
    weight_decay: float = in_range(0.01, 0, 10)
    beta2: float = in_range(0.98, 0, 1 - 1e-9)
    clip_norm: float = in_range(1.0, 1e-6, 1e6)
    evaluate_every: int = in_range(1000, 1, 10**7)  # updates

    def optimisation(self) -> Recipe:
        """The same settings for `Optimisation`."""
        return Recipe(
            optimizer="adamw",
            learning_rate=self.learning_rate,
            warmup_steps=self.warmup_steps,
            final_rate=self.final_rate,
            weight_decay=self.weight_decay,
            beta2=self.beta2,
            average_decay=0.0,  # the schedule ends with so small a rate that there is nothing to average
            clip_norm=self.clip_norm,
            gradient_noise=0.0,
        )


@dataclass(frozen=True)
class WordRecipe(PretrainingRecipe):
    """Our own encoder: words, characters, bi-LSTM layers."""

    # Network sizes, as in a training recipe
    word_size: int = in_range(32, 1, 4096)
    character_size: int = in_range(100, 1, 4096)
    character_hidden: int = in_range(50, 1, 4096)
    hidden: int = in_range(300, 1, 4096)
    layers: int = in_range(2, 1, 8)

    # Vocabulary
    min_frequency: int = in_range(2, 1, 10**6)  # rarer words have no embedding of their own, unless a treebank has them
    most_words: int = in_range(60_000, 1, 10**7)  # likewise beyond these
    unk_probability: float = in_range(0.1, 0, 1)  # how often UNK stands in for a rare word
    unk_share: float = in_range(2 / 3, 0, 1)  # share of word types, the least frequent ones, that count as rare
    unk_characters: float = in_range(0.0, 0, 1)  # share of a batch's word forms that get unknown characters

    # What is guessed
    outputs: int = in_range(30_000, 1, 10**7)  # the most frequent words, among which hidden ones are guessed
    endings: int = in_range(0, 0, 10**6)  # the most frequent endings of words, guessed as well; 0: none
    ending_length: int = in_range(3, 1, 20)  # characters
    span_length: float = in_range(1.0, 1, 20)  # mean number of neighbours that are hidden together
    hidden_characters: float = in_range(1.0, 0, 1)  # share of the hidden words whose characters are hidden, too
    head_size: int = in_range(300, 1, 4096)  # units between the last layer and the outputs

    dropout_embedding: float = in_range(0.0, 0, 0.99)  # see `discoparse.training.recipe.Recipe`
    dropout_hidden: float = in_range(0.1, 0, 0.99)
    batch_tokens: int = in_range(16_384, 1, 10**7)  # with padding
    longest: int = in_range(100, 2, 2000)  # tokens; longer sentences are read in parts


@dataclass(frozen=True)
class PieceRecipe(PretrainingRecipe):
    """A small transformer that reads pieces of words (BERT)."""

    pieces: int = in_range(24_000, 300, 10**6)  # in the vocabulary
    layers: int = in_range(6, 1, 48)
    size: int = in_range(384, 1, 4096)
    heads: int = in_range(6, 1, 64)
    inner_size: int = in_range(1536, 1, 16384)
    positions: int = in_range(256, 8, 8192)  # pieces that it can read at once
    whole_words: bool = True  # hide all pieces of a word together
    dropout: float = in_range(0.1, 0, 0.9)
    sequence: int = in_range(128, 8, 8192)  # pieces in a sequence
    batch_pieces: int = in_range(65_536, 1, 10**8)  # in a batch
    half: bool = True  # bfloat16 on a GPU
    compile: bool = False  # compile the network for the GPU: a slow first minute, then faster

    def checked(self) -> PieceRecipe:
        """Itself, if its values make sense, each alone and all together."""
        super().checked()
        if self.size % self.heads:
            raise UsageError(f"a transformer of size {self.size} cannot have {self.heads} heads: choose a divisor")
        if self.sequence > self.positions:
            raise UsageError(f"sequences of {self.sequence} pieces need as many positions, not {self.positions}")
        return self


RECIPES: dict[str, WordRecipe | PieceRecipe] = {
    "bilstm": WordRecipe(),
    "transformer": PieceRecipe(learning_rate=1e-3, warmup_steps=1000, weight_decay=0.05),
}
