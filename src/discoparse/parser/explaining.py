"""How a parser came to its tree: the derivation step by step, with probabilities and alternatives, as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discoparse.neural.alternatives import Course, Step, course
from discoparse.neural.limits import Limits
from discoparse.neural.replay import build_tree, replay
from discoparse.parser.parser import Parser
from discoparse.system.derivation_table import derivation_rows
from discoparse.system.transition import Action, Combine, Item, Label, NoLabel, Shift
from discoparse.tree import Token, Tree

_DIGITS = 6
_LEAST = 0.0005  # alternatives that are less probable are left out, but for those that were taken


def explain(parser: Parser, words: Sequence[str], limits: Limits | None = None) -> tuple[dict[str, Any], Tree]:
    """The derivation of a sentence as `discoparse derive --json` prints derivations, with probabilities; and its tree.

    Each row after the first also has `action_probability`, `label_probability`, `actions` and `labels`: what was
    possible, the most probable first. Probabilities of actions are among the legal ones; where constraints excluded
    one, it has `"allowed": false`.
    """
    parser.require_one_model()
    found = course(parser.decoder, words, limits)
    taken, items = _actions(found)
    rows = derivation_rows(taken, len(words))
    for row, step, memory in zip(rows[1:], found.steps, items, strict=True):
        row |= _considered(step, memory, str(row["action"]))
    joined = replay([step.slot for step in found.steps])
    chains = [step.labels for step in found.steps]
    tokens = [Token(word, tag) for word, tag in zip(words, found.tags, strict=True)]
    tree = build_tree(tokens, joined, chains, [step.label_probability for step in found.steps])
    data = {"system": "set", "words": list(words), "transitions": 4 * len(words) - 2, "rows": rows}
    return data, tree


def _actions(found: Course) -> tuple[list[Action], list[dict[int, Item]]]:
    """The actions of a derivation, and before each structural one the items of the memory by their left index."""
    actions: list[Action] = []
    before: list[dict[int, Item]] = []
    memory: dict[int, Item] = {}
    focus: Item = frozenset()
    upcoming = 0
    for step in found.steps:
        before.append(dict(memory))
        if step.slot == upcoming:
            if focus:
                memory[min(focus)] = focus
            focus = frozenset({upcoming})
            upcoming += 1
            actions.append(Shift())
        else:
            item = memory.pop(step.slot)
            focus |= item
            actions.append(Combine(item))
        actions.append(Label("+".join(step.labels)) if step.labels else NoLabel())
    return actions, before


def _considered(step: Step, memory: dict[int, Item], taken: str) -> dict[str, Any]:
    """What was possible at a step."""
    actions = []
    for option in step.options:
        item = memory.get(option.slot)
        name = str(Shift()) if item is None else str(Combine(item))
        if option.probability < _LEAST and name != taken:
            continue
        entry: dict[str, Any] = {"action": name, "probability": round(option.probability, _DIGITS)}
        if item is not None:
            entry["item"] = sorted(item)
        if not option.allowed:
            entry["allowed"] = False
        actions.append(entry)
    chance = next(option.probability for option in step.options if option.slot == step.slot)
    return {
        "action_probability": round(chance, _DIGITS),
        "actions": actions,
        "label_probability": round(step.label_probability, _DIGITS),
        "labels": [
            {"label": str(Label("+".join(chain)) if chain else NoLabel()), "probability": round(probability, _DIGITS)}
            for chain, probability in step.chains
            if probability >= _LEAST or chain == step.labels
        ],
    }
