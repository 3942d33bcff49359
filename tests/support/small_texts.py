"""Small texts to pretrain on, and recipes for small networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tiny_models import toy_treebank

from discoparse.pretraining import RECIPES, PieceRecipe, PretrainingOutcome, WordRecipe, pretrain

WORDS: dict[str, Any] = {
    "word_size": 6,
    "character_size": 4,
    "character_hidden": 3,
    "hidden": 8,
    "head_size": 10,
    "batch_tokens": 100,
    "min_frequency": 1,
}
PIECES: dict[str, Any] = {
    "pieces": 300,
    "layers": 2,
    "size": 12,
    "heads": 2,
    "inner_size": 16,
    "positions": 32,
    "sequence": 16,
    "batch_pieces": 96,
}
COMMON: dict[str, Any] = {"epochs": 2, "evaluate_every": 4, "warmup_steps": 2, "held_out": 6}


def small_recipe(kind: str, **changes: Any) -> WordRecipe | PieceRecipe:
    """A recipe with a small network and few steps."""
    return RECIPES[kind].replace(**{**COMMON, **(WORDS if kind == "bilstm" else PIECES), **changes})


def write_text(path: Path, sentences: int = 120, seed: int = 0) -> str:
    """A text of toy sentences, one a line, words between spaces."""
    lines = [" ".join(tree.words) for tree in toy_treebank(sentences, seed)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def small_pretraining(folder: Path, kind: str, output: str = "out", **options: Any) -> PretrainingOutcome:
    """Pretrain on a small text, on one core and without a word."""
    text = folder / "text.txt"
    if not text.exists():
        write_text(text)
    recipe = options.pop("recipe", None) or small_recipe(kind)
    settings: dict[str, Any] = {"pretokenized": True, "device": "cpu", "threads": 1, "show_progress": False, **options}
    return pretrain([str(text)], folder / output, recipe, **settings)
