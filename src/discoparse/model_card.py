"""The README.md of a model: what it is, what it was trained on, how good it is, what to use it for."""

from __future__ import annotations

from typing import Any

from discoparse.model_info import ModelInfo


def model_card(info: ModelInfo) -> str:
    """The card as Markdown."""
    facts = [
        ("Language", info.language),
        ("Trained on", ", ".join(info.treebanks) or None),
        ("Licence", info.licence or "not stated: that of the treebanks it was trained on applies"),
        ("Made with", ", ".join(f"{name} {version}" for name, version in info.versions.items()) or None),
    ]
    lines = [
        f"# {info.name}",
        "",
        "A discontinuous constituency parser: the transition system, the oracle and the network of Coavoux and Cohen",
        "(2019), *Discontinuous Constituency Parsing with a Stack-Free Transition System and a Dynamic Oracle*.",
        "",
        *(f"- {name}: {fact}" for name, fact in facts if fact),
        "",
        "## Scores",
        "",
        *_scores(info.metrics.get("dev")),
        "",
        "## Use",
        "",
        "    discoparse parse --model DIRECTORY --input sentences.txt",
        "",
        "It was trained on text of the kinds its treebanks hold, and is less reliable on other kinds. Tags and labels",
        "are those of the treebanks. `SHA256SUMS` has the checksums of all files; loading verifies them.",
        "",
    ]
    return "\n".join(lines)


def _scores(dev: dict[str, Any] | None) -> list[str]:
    if not dev:
        return ["It was not evaluated."]
    columns = [("F1", "f1"), ("disc. F1", "disc_f1"), ("POS", "pos"), ("exact match", "exact_match")]
    there = [(title, dev[key]) for title, key in columns if dev.get(key) is not None]
    return [
        f"On the development set ({dev.get('sentences', '?')} sentences), punctuation and root ignored:",
        "",
        "| " + " | ".join(title for title, _ in there) + " |",
        "|" + " --- |" * len(there),
        "| " + " | ".join(f"{value:.2f}" for _, value in there) + " |",
    ]
