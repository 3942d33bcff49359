"""What a parser meets and has never seen, while it is trained: known words and characters give way to unknown ones."""

from __future__ import annotations

import torch

from discoparse.neural.network import Inputs
from discoparse.neural.pieces import PieceVocabulary
from discoparse.neural.vocabulary import UNKNOWN


def replace_rare_words(inputs: Inputs, rare: int, probability: float) -> None:
    """Replace words from id `rare` on by UNK, each occurrence with this probability (Appendix B)."""
    replaced = torch.rand(inputs.words.shape, device=inputs.words.device) < probability
    inputs.words = inputs.words.masked_fill((inputs.words >= rare) & replaced, UNKNOWN)


def replace_characters(inputs: Inputs, share: float) -> None:
    """Replace characters of a `share` of the distinct word forms by the unknown one.

    A form that is chosen loses any part of its characters, from none to all, since that is what a typo, an emoji or a
    word in another script do. Where it lost one it cannot be a known word, so its tokens get the UNK embedding.
    """
    forms, longest = inputs.characters.shape
    device = inputs.characters.device
    part = torch.rand(forms, 1, device=device)  # of each form's characters, if it is chosen
    chosen = torch.rand(forms, 1, device=device) < share
    there = torch.arange(longest, device=device) < inputs.form_lengths[:, None]
    replaced = there & chosen & (torch.rand(forms, longest, device=device) < part)  # [U, L]
    inputs.characters = inputs.characters.masked_fill(replaced, UNKNOWN)
    inputs.words = inputs.words.masked_fill(replaced.any(1)[inputs.forms], UNKNOWN)


def hide_pieces(inputs: Inputs, known: PieceVocabulary, mask: int, share: float) -> None:
    """Replace a `share` of the pieces that a pretrained encoder reads by its mask, as when it was pretrained.

    What surrounds a word must then do, which keeps a large encoder from learning a small treebank by heart.
    """
    assert inputs.pieces is not None
    ids, lengths = inputs.pieces.ids, inputs.pieces.lengths
    column = torch.arange(ids.shape[1], device=ids.device)
    inside = (column >= len(known.prefix)) & (column < (lengths - len(known.suffix))[:, None])  # [W, P]
    inputs.pieces.ids = ids.masked_fill(inside & (torch.rand(ids.shape, device=ids.device) < share), mask)
