"""Our own encoder (Section 3.1) learns to guess hidden words from what stands around them.

Shapes: K hidden words, D = 2 x hidden units of the encoder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from discoparse.errors import DiscoparseError
from discoparse.model.encoder import encoder_files
from discoparse.model.info import ModelInfo
from discoparse.neural.config import NetworkConfig
from discoparse.neural.network import Dropout, Encoder, initialise, look_up
from discoparse.neural.vocabulary import Vocabulary
from discoparse.pretraining.corpus import TextCorpus
from discoparse.pretraining.recipe import WordRecipe
from discoparse.pretraining.task import Guesses, digest, held_out_figures
from discoparse.pretraining.word_batches import FormTables, HiddenWords, WordBatches
from discoparse.training.unknown import replace_characters, replace_rare_words
from discoparse.transform.spelling import plain_word

_RARE_CHARACTER = 5  # occurrences; rarer characters are unknown ones
_IGNORED = -100  # a hidden word that is not among those that can be guessed
_HELD_OUT, _BATCH = 1, 2  # what random numbers are for


def text_vocabulary(corpus: TextCorpus, wanted: Iterable[str], recipe: WordRecipe) -> Vocabulary:
    """The words and characters of a text that get embeddings: the frequent ones, and the `wanted` ones that occur."""
    words: Counter[str] = Counter()
    for form, count in zip(corpus.forms, corpus.counts.tolist(), strict=True):
        words[plain_word(form)] += count
    characters: Counter[str] = Counter()
    for word, count in words.items():
        for character in set(word):
            characters[character] += count
    keep = {plain_word(word) for word in wanted}
    ranked = sorted(words, key=lambda word: (-words[word], word))
    kept = [
        word
        for rank, word in enumerate(ranked)
        if (words[word] >= recipe.min_frequency and rank < recipe.most_words) or word in keep
    ]
    known = {character for word in keep & words.keys() for character in word}
    known |= {character for character, count in characters.items() if count >= _RARE_CHARACTER}
    rare = len(kept) - round(recipe.unk_share * len(kept)) + 1
    return Vocabulary(kept, sorted(known, key=lambda c: (-characters[c], c)), [], [], rare)


class WordNetwork(nn.Module):
    """The encoder, and a head that guesses words, and perhaps endings, from its last layer."""

    def __init__(self, config: NetworkConfig, recipe: WordRecipe, outputs: int, endings: int) -> None:
        super().__init__()
        self.encoder = Encoder(config, Dropout(embedding=recipe.dropout_embedding, hidden=recipe.dropout_hidden))
        initialise(self)
        self.head = nn.Sequential(
            nn.Linear(2 * config.hidden, recipe.head_size), nn.GELU(), nn.LayerNorm(recipe.head_size)
        )
        self.words = nn.Linear(recipe.head_size, outputs)
        self.endings = nn.Linear(recipe.head_size, endings) if endings else None

    def states(self, batch: HiddenWords) -> Tensor:
        """What the head makes of the encoder's vectors of hidden words: [K, head size]."""
        inputs = batch.inputs
        forms = look_up(self.encoder.form_vectors(inputs.characters, inputs.form_lengths), inputs.forms)
        forms = forms.masked_fill(batch.characters_hidden[:, :, None], 0.0)
        _, last = self.encoder.token_vectors(inputs.words, forms, inputs.lengths, hidden=batch.hidden)
        hidden: Tensor = self.head(last.flatten(0, 1).index_select(0, batch.place))
        return hidden


class WordTask:
    """Guess hidden words with the encoder of Section 3.1."""

    unit = "tokens"

    def __init__(
        self, recipe: WordRecipe, corpus: TextCorpus, wanted: Iterable[str], device: torch.device, seed: int
    ) -> None:
        self.recipe, self.device, self.seed, self.epoch = recipe, device, seed, 0
        self.vocabulary = text_vocabulary(corpus, wanted, recipe)
        self.config = NetworkConfig(
            words=len(self.vocabulary.words) + 1,
            characters=len(self.vocabulary.characters) + 1,
            tags=0,
            labels=0,
            word_size=recipe.word_size,
            character_size=recipe.character_size,
            character_hidden=recipe.character_hidden,
            hidden=recipe.hidden,
            layers=recipe.layers,
        )
        outputs = min(recipe.outputs, len(self.vocabulary.words))
        if not outputs:
            raise DiscoparseError(
                f"too little text: no word occurs {recipe.min_frequency} times, so there is none to guess"
            )
        endings = _endings(corpus, recipe)
        self.network = WordNetwork(self.config, recipe, outputs, int(endings.max(initial=-1)) + 1).to(device)
        forms = FormTables(corpus.forms, self.vocabulary, device)
        # Words are ranked by frequency, so the outputs are the first ids; 0 is the unknown word.
        self.word_targets = torch.where((forms.words > 0) & (forms.words <= outputs), forms.words - 1, _IGNORED)
        self.ending_targets = torch.from_numpy(endings).to(device)
        held_out = corpus.held_out(recipe.held_out)
        self.text = WordBatches(corpus, ~held_out, forms, recipe)
        self.held_out = WordBatches(corpus, held_out, forms, recipe)
        self.held_out.shuffle(np.random.default_rng([seed, _HELD_OUT]))

    def start_epoch(self, epoch: int) -> int:
        self.epoch = epoch
        self.text.shuffle(np.random.default_rng([self.seed, 0, epoch]))
        return len(self.text.batches)

    def guess(self, number: int) -> Guesses:
        batch = self.text.hide(number, np.random.default_rng([self.seed, _BATCH, self.epoch, number]))
        replace_rare_words(batch.inputs, self.vocabulary.rare, self.recipe.unk_probability)
        if self.recipe.unk_characters:
            replace_characters(batch.inputs, self.recipe.unk_characters)
        return self._guess(batch)

    def _guess(self, batch: HiddenWords) -> Guesses:
        states = self.network.states(batch)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            scores = self.network.words(states)  # [K, outputs]
            ending_scores = None if self.network.endings is None else self.network.endings(states)
        target = self.word_targets[batch.form]
        count = (target != _IGNORED).sum()
        likelihood = F.cross_entropy(scores.float(), target, ignore_index=_IGNORED, reduction="sum")
        loss = likelihood / count.clamp(min=1)
        if ending_scores is not None:
            endings = self.ending_targets[batch.form]
            missed = F.cross_entropy(ending_scores.float(), endings, ignore_index=_IGNORED, reduction="sum")
            loss = loss + missed / (endings != _IGNORED).sum().clamp(min=1)
        right = (scores.detach().argmax(1) == target).sum()
        return Guesses(loss, likelihood.detach(), right, count, batch.tokens)

    @torch.no_grad()
    def guess_held_out(self) -> tuple[float, float, int]:
        self.network.eval()
        random = np.random.default_rng([self.seed, _HELD_OUT])  # the same words are hidden every time
        guesses = [self._guess(self.held_out.hide(k, random)) for k in range(len(self.held_out.batches))]
        self.network.train()
        return held_out_figures(guesses)

    def identity(self) -> dict[str, Any]:
        return {"vocabulary": digest("\n".join([*self.vocabulary.words, *self.vocabulary.characters]))}

    def encoder_files(self, info: ModelInfo) -> dict[str, bytes]:
        parameters = {name: tensor for name, tensor in self.network.state_dict().items() if name.startswith("encoder.")}
        return encoder_files(parameters, self.config, self.vocabulary, info)


def _endings(corpus: TextCorpus, recipe: WordRecipe) -> np.ndarray:
    """For each form the number of its ending among the most frequent ones [forms]."""
    if not recipe.endings:
        return np.full(len(corpus.forms), _IGNORED)
    endings = [plain_word(form)[-recipe.ending_length :].lower() for form in corpus.forms]
    counts: Counter[str] = Counter()
    for ending, count in zip(endings, corpus.counts.tolist(), strict=True):
        counts[ending] += count
    frequent = sorted(counts, key=lambda ending: (-counts[ending], ending))[: recipe.endings]
    number = {ending: k for k, ending in enumerate(frequent)}
    return np.array([number.get(ending, _IGNORED) for ending in endings])
