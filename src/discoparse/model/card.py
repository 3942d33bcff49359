"""The README.md of a model: its data, licence and figures, what to use it for, and how it was made."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

from discoparse.model.info import ModelInfo

_WIDTH = 120
_FIGURES = (
    ("sentences", "sentences"),
    ("F1", "f1"),
    ("disc. precision", "disc_precision"),
    ("disc. recall", "disc_recall"),
    ("disc. F1", "disc_f1"),
    ("POS", "pos"),
    ("exact match", "exact_match"),
)
_NOTES = (("Good for", "good_for"), ("Not good for", "not_good_for"), ("Annotation", "conventions"))


def model_card(info: ModelInfo) -> str:
    """The card as Markdown."""
    sections = [("Data", _data(info))]
    sections += [("Started from", _bullets(map(_origin, info.origins)))] if info.origins else []
    sections += [("Figures", _figures(info))]
    sections += [(title, _bullets(info.notes[key])) for title, key in _NOTES if info.notes.get(key)]
    sections += [("Use", _use(info)), ("How it was made", _making(info))]
    introduction = [
        *_paragraph(
            "A discontinuous constituency parser: the transition system of Coavoux and Cohen (2019), *Discontinuous "
            "Constituency Parsing with a Stack-Free Transition System and a Dynamic Oracle*, and a network after "
            "theirs."
        ),
        "",
        *_facts(
            ("Language", info.language),
            ("Licence", info.licence or "not stated: that of the treebanks it was trained on applies"),
        ),
    ]
    lines = [f"# {info.name}", "", *introduction]
    for title, body in sections:
        lines += ["", f"## {title}", "", *body]
    return "\n".join(lines) + "\n"


def encoder_card(info: ModelInfo, use: str) -> str:
    """The card of a pretrained encoder as Markdown; `use` says what kind it is and how to train with it."""
    held_out = info.metrics.get("held_out", {})
    figures = "It was not evaluated."
    if "perplexity" in held_out:
        figures = (
            f"Perplexity {held_out['perplexity']:.1f} on {held_out['guessed']:,} hidden words or pieces of held-out "
            f"sentences, {100 * held_out['accuracy']:.1f}% guessed right, after reading {held_out['read']:,}."
        )
    lines = [f"# {info.name}", "", *_paragraph(use), ""]
    lines += _facts(("Language", info.language), ("Licence", info.licence or "not stated: that of the text applies"))
    for title, body in (("Data", _data(info)), ("Figures", _paragraph(figures)), ("How it was made", _making(info))):
        lines += ["", f"## {title}", "", *body]
    return "\n".join(lines) + "\n"


def _data(info: ModelInfo) -> list[str]:
    """Each treebank with its size and, where somebody stated them, its licence and its makers."""
    if not info.data:
        return _paragraph(f"Trained on: {', '.join(info.treebanks) or 'not stated'}.")
    bullets = []
    for entry in info.data:
        size = f"{entry['sentences']:,} sentences, {entry['tokens']:,} tokens for training"
        size += ", with trees that a parser made" if entry.get("silver") else ""
        size += f", each counted {entry['times']:g} times" if entry["times"] != 1 else ""
        title = f"**{entry['name']}** (`{entry['set']}`)" if "name" in entry else f"`{entry['set']}`"
        bullets.append(" ".join([f"{title}: {size}.", *_stated(entry)]))
    return _bullets(bullets)


def _origin(entry: dict[str, Any]) -> str:
    return " ".join([f"**{entry['name']}**.", *_stated(entry)])


def _stated(entry: dict[str, Any]) -> list[str]:
    """What somebody stated about data: licence, kind, makers, address."""
    stated = [f"Licence: {entry['licence']}." if "licence" in entry else ""]
    stated += [_sentence(entry.get(field, "")) for field in ("text", "attribution")] + [entry.get("url", "")]
    return [part for part in stated if part]


def _figures(info: ModelInfo) -> list[str]:
    """A row for each development set, and one for all where there are several."""
    sets = info.dev_sets
    if not sets:
        return ["It was not evaluated."]
    rows = {f"`{name}`": scores for name, scores in sets.items()}
    dev = info.metrics.get("dev", {})
    if len(dev.get("sets", ())) > 1:
        rows["together"] = dev
    columns = [(title, key) for title, key in _FIGURES if any(scores.get(key) is not None for scores in rows.values())]
    table = [["set", *(title for title, _ in columns)], ["---"] * (len(columns) + 1)]
    table += [[name, *(_cell(scores.get(key)) for _, key in columns)] for name, scores in rows.items()]
    return [
        *_paragraph(
            "On the development sets, in percent, punctuation and root ignored; disc.: of the discontinuous "
            "constituents alone. The parameters were chosen by F1 on these sets: expect a little less on new text of "
            "the same kind."
        ),
        "",
        *(f"| {' | '.join(row)} |" for row in table),
    ]


def _use(info: ModelInfo) -> list[str]:
    general = "It was trained on text of the kinds its treebanks hold, and is less reliable on other kinds. Tags and "
    general += "labels are those of the treebanks. "
    return [
        "    discoparse parse --model DIRECTORY --input text.txt",
        "",
        *_paragraph(
            f"DIRECTORY is where this card lies; a model that is installed as a package goes by its name. "
            f"{'' if info.notes else general}"
            "`SHA256SUMS` has the checksums of all files; loading verifies them."
        ),
    ]


def _making(info: ModelInfo) -> list[str]:
    """The command, what it ran on, and every setting of the recipe."""
    made, dev = info.training, info.metrics.get("dev", {})
    lines = ["    " + " \\\n        ".join(made["command"]), ""] if "command" in made else []
    machine = [
        made.get("gpu"),
        made.get("cpu"),
        f"{made['cores']} cores" if "cores" in made else "",
        made.get("system"),
    ]
    seconds, epoch = dev.get("seconds"), dev.get("epoch")
    time = None if seconds is None or epoch is None else f"{seconds / 60:.1f} minutes, epoch {round(epoch)}"
    versions = [f"{name} {version}" for name, version in info.versions.items()]
    versions += [f"commit {made['commit']}"] if "commit" in made else []
    seed = made.get("seed", info.metrics.get("seed"))
    return [
        *lines,
        *_facts(
            ("Recipe", made.get("recipe")),
            ("Started from", made.get("start")),
            ("Seed", None if seed is None else str(seed)),
            ("Time to these parameters", time),
            ("Hardware", ", ".join(filter(None, machine))),
            ("Made with", ", ".join(versions)),
            ("Settings", ", ".join(f"{name} {value}" for name, value in info.recipe.items())),
        ),
    ]


def _cell(value: float | int | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


def _sentence(text: str) -> str:
    """With a full stop, unless it has an end.

    >>> _sentence("By many (not all)"), _sentence("Why not?"), _sentence("")
    ('By many (not all).', 'Why not?', '')
    """
    return f"{text}." if text and text[-1] not in ".!?" else text


def _facts(*facts: tuple[str, str | None]) -> list[str]:
    return _bullets(f"{name}: {fact}" for name, fact in facts if fact)


def _bullets(texts: Iterable[str]) -> list[str]:
    return [line for text in texts for line in _wrap(text, "- ", "  ")]


def _paragraph(text: str) -> list[str]:
    return _wrap(text, "", "")


def _wrap(text: str, first: str, others: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=first, subsequent_indent=others, break_long_words=False, break_on_hyphens=False
    )
