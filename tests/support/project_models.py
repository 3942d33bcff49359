"""The models of this project as they are in the repository."""

from __future__ import annotations

from pathlib import Path

from discoparse.model.facts import Facts, read_facts

MODELS = Path(__file__).resolve().parents[2] / "models"


def project_facts(name: str) -> Facts:
    """The facts for a model's card: its own, or those of the model that is called like its language."""
    own = MODELS / name / "facts.json"
    return read_facts(own if own.exists() else MODELS / name.partition("-")[0] / "facts.json")
