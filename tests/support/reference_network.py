"""The network of Section 3 once more, straight from the paper's equations, and greedy parsing by Table 1.

For one sentence at a time, in double precision, with loops instead of batches and without any code of the package: the
parameters are arrays under the names that a model stores them under, words and labels are looked up in plain lists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray
Yield: TypeAlias = frozenset[int]
Structural: TypeAlias = Yield | None  # COMBINE with this item, or SHIFT


def softmax(scores: Array) -> Array:
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum()


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


@dataclass
class ReferenceNetwork:
    """Parameters by name, and what their rows stand for. Row 0 of the embeddings is the unknown word or character,
    label 0 is NO-LABEL."""

    parameters: Mapping[str, Array]
    words: Sequence[str]
    characters: Sequence[str]
    chains: bool  # whether unary chains are labelled node by node
    layers: int = 2
    tag_both: bool = False

    def _affine(self, name: str, x: Array) -> Array:
        return self.parameters[f"{name}.weight"] @ x + self.parameters[f"{name}.bias"]

    # -- Section 3.1: token representations -----------------------------------------------------------------------

    def lstm(self, name: str, inputs: Sequence[Array]) -> list[Array]:
        """The states after each input. Rows of the matrices are the gates: input, forget, cell, output."""
        w_x, b_x = self.parameters[f"{name}.weight_ih_l0"], self.parameters[f"{name}.bias_ih_l0"]
        w_h, b_h = self.parameters[f"{name}.weight_hh_l0"], self.parameters[f"{name}.bias_hh_l0"]
        size = w_h.shape[1]
        h, c, states = np.zeros(size), np.zeros(size), []
        for x in inputs:
            i, f, g, o = np.split(w_x @ x + b_x + w_h @ h + b_h, 4)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            states.append(h)
        return states

    def bi_lstm(self, name: str, inputs: Sequence[Array]) -> tuple[list[Array], list[Array]]:
        """The states of both directions at each position."""
        ahead = self.lstm(f"{name}.forward_lstm", inputs)
        back = self.lstm(f"{name}.backward_lstm", inputs[::-1])[::-1]
        return ahead, back

    def character_vector(self, word: str) -> Array:
        """c(x): each direction's state once it has read the whole word."""
        table = self.parameters["encoder.character_embedding.weight"]
        ids = [self.characters.index(c) + 1 if c in self.characters else 0 for c in word]
        ahead, back = self.bi_lstm("encoder.character_lstm", [table[k] for k in ids])
        return np.concatenate([ahead[-1], back[0]])

    def word_vector(self, word: str) -> Array:
        """w_x = [c(x); e(x)]."""
        row = self.words.index(word) + 1 if word in self.words else 0
        embedding = self.parameters["encoder.word_embedding.weight"][row]
        return np.concatenate([self.character_vector(word), embedding])

    def token_vectors(self, words: Sequence[str]) -> list[list[Array]]:
        """h(1), h(2), … of every token."""
        vectors, levels = [self.word_vector(word) for word in words], []
        for k in range(self.layers):
            ahead, back = self.bi_lstm(f"encoder.layers.{k}", vectors)
            vectors = [np.concatenate(pair) for pair in zip(ahead, back, strict=True)]
            levels.append(vectors)
        return levels

    # -- Section 3.2: set representations -------------------------------------------------------------------------

    def represent(self, s: Yield, h: Sequence[Array]) -> Array:
        """r(s) from the token vectors of the last layer."""
        gap = [i for i in range(min(s) + 1, max(s)) if i not in s]
        nil = self.parameters["scorers.nil"]
        first, last = (h[min(gap)], h[max(gap)]) if gap else (nil, nil)
        return np.concatenate([h[min(s)], h[max(s)], first, last])

    # -- Section 3.3: action scorer -------------------------------------------------------------------------------

    def _hidden(self, name: str, x: Array) -> Array:
        """Two hidden layers with tanh."""
        return np.tanh(self._affine(f"scorers.{name}_hidden", np.tanh(self._affine(f"scorers.{name}_input", x))))

    def structural_score(self, s: Yield, focus: Yield, h: Sequence[Array]) -> float:
        """FF_s for combining the focus with s; SHIFT is scored with s = {i}."""
        column = np.concatenate([self.represent(s, h), self.represent(focus, h)])
        return float(self._affine("scorers.pair_output", self._hidden("pair", column))[0])

    def structural_scores(self, c: Configuration, h: Sequence[Array]) -> dict[Structural, float]:
        """Of all legal structural actions."""
        scores: dict[Structural, float] = {s: self.structural_score(s, c.focus, h) for s in c.memory}
        if c.i < len(h):
            scores[None] = self.structural_score(frozenset({c.i}), c.focus, h)
        return scores

    def label_scores(self, s: Yield, h: Sequence[Array]) -> Array:
        """FF_l; with chains, for the lowest label."""
        return self._affine("scorers.label_output", self._hidden("label", self.represent(s, h)))

    def label_scores_above(self, s: Yield, below: int, h: Sequence[Array]) -> Array:
        """For the label above one of the same yield; NO-LABEL ends the chain."""
        states = self._hidden("label", self.represent(s, h))
        return self._affine("scorers.above_output", states) + self.parameters["scorers.above_given.weight"][below]

    def label(self, s: Yield, h: Sequence[Array], final: bool, longest: int) -> list[int]:
        """The best labels of a set from the bottom up, none for NO-LABEL, which is illegal at the end."""
        scores = self.label_scores(s, h)
        if final:
            scores[0] = -np.inf
        labels = [int(scores.argmax())]
        while self.chains and labels[-1] and len(labels) < longest:
            scores = self.label_scores_above(s, labels[-1], h)
            if labels[-2:] == 2 * labels[-1:]:  # a label stands twice above itself at most
                scores[labels[-1]] = -np.inf
            labels.append(int(scores.argmax()))
        return [label for label in labels if label]

    # -- Section 3.4: tagger --------------------------------------------------------------------------------------

    def tag_scores(self, levels: Sequence[Sequence[Array]]) -> list[Array]:
        """From h(1); ours may also read h of the last layer."""
        if not self.tag_both:
            return [self._affine("tagger", h) for h in levels[0]]
        return [self._affine("tagger", np.concatenate(pair)) for pair in zip(levels[0], levels[-1], strict=True)]

    # -- greedy parsing -------------------------------------------------------------------------------------------

    def parse(self, words: Sequence[str], longest: int = 6) -> tuple[list[int], dict[Yield, list[int]]]:
        """The best tags, and for every constituent's yield its labels from the bottom up."""
        levels = self.token_vectors(words)
        c, found = Configuration.after_first_shift(), {}
        while True:
            done = c.i == len(words) and not c.memory
            if labels := self.label(c.focus, levels[-1], done, longest):
                found[c.focus] = labels
            if done:
                return [int(scores.argmax()) for scores in self.tag_scores(levels)], found
            scores = self.structural_scores(c, levels[-1])
            c = c.apply(max(scores, key=lambda action: scores[action]))

    # -- Section 3.5: objective -----------------------------------------------------------------------------------

    def losses(
        self, words: Sequence[str], tags: Sequence[int], actions: Sequence[Structural], labels: Sequence[Sequence[int]]
    ) -> tuple[float, float, float]:
        """Negative log-likelihoods of the structural actions after the first SHIFT, of the labels (from the bottom up)
        of every focus, and of the tags."""
        levels = self.token_vectors(words)
        h, c = levels[-1], Configuration.after_first_shift()
        structure = label = 0.0
        for step, chain in enumerate(labels):
            label -= np.log(softmax(self.label_scores(c.focus, h))[chain[0] if chain else 0])
            if self.chains:
                for below, above in zip(chain, [*chain[1:], 0], strict=False):
                    label -= np.log(softmax(self.label_scores_above(c.focus, below, h))[above])
            if step < len(actions):
                scores = self.structural_scores(c, h)
                chances = softmax(np.array(list(scores.values())))
                structure -= np.log(chances[list(scores).index(actions[step])])
                c = c.apply(actions[step])
        tagging = sum(-np.log(softmax(scores)[tag]) for scores, tag in zip(self.tag_scores(levels), tags, strict=True))
        return structure, label, tagging


@dataclass
class Configuration:
    """S, s_f and i of Table 1."""

    memory: frozenset[Yield]
    focus: Yield
    i: int

    @classmethod
    def after_first_shift(cls) -> Configuration:
        return cls(frozenset(), frozenset({0}), 1)

    def apply(self, action: Structural) -> Configuration:
        if action is None:
            return Configuration(self.memory | {self.focus}, frozenset({self.i}), self.i + 1)
        return Configuration(self.memory - {action}, self.focus | action, self.i)
