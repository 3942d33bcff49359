"""A derivation step by step, as data and as the table that the paper prints (Table 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from discoparse.files.text_table import text_table
from discoparse.files.widths import visible
from discoparse.system import gap, swap
from discoparse.system.constituents import tree_constituents
from discoparse.system.oracle import Gold, static_derivation
from discoparse.system.transition import Action, Configuration, Item
from discoparse.tree import Tree

Row = dict[str, Any]
Rows = Callable[[Gold, int], list[Row]]


def set_rows(gold: Gold, length: int) -> list[Row]:
    """The rows of the canonical derivation, see `derivation_rows`."""
    return derivation_rows(static_derivation(gold), length)


def derivation_rows(derivation: Sequence[Action], length: int) -> list[Row]:
    """One row for each structural action and the labelling action after it; first the initial
    configuration."""
    c = Configuration.initial(length)
    rows = [_set_row(c, None, None)]
    for structural, labelling in zip(derivation[::2], derivation[1::2], strict=True):
        c = c.apply(structural)
        rows.append(_set_row(c, str(structural), str(labelling)))
        c = c.apply(labelling)
    return rows


def _set_row(c: Configuration, structural: str | None, labelling: str | None) -> Row:
    return {
        "action": structural,
        "memory": [sorted(item) for item in sorted(c.memory, key=min)],
        "focus": None if c.focus is None else sorted(c.focus),
        "buffer": list(range(c.next_token, c.length)),
        "label": labelling,
    }


def swap_rows(gold: Gold, length: int) -> list[Row]:
    """One row for each transition; items of stack and buffer in their order there."""
    c = swap.SwapConfiguration.initial(length)
    rows: list[Row] = [{"action": None, "stack": [], "buffer": _ordered(c.buffer)}]
    for action in swap.static_derivation(gold):
        c = c.apply(action)
        rows.append({"action": str(action), "stack": _ordered(c.stack), "buffer": _ordered(c.buffer)})
    return rows


def gap_rows(gold: Gold, length: int) -> list[Row]:
    """One row for each transition; items of stack and deque in their order there, tops last."""
    c = gap.GapConfiguration.initial(length)
    rows: list[Row] = [{"action": None, "stack": [], "deque": [], "buffer": list(range(length))}]
    for action in gap.static_derivation(gold):
        c = c.apply(action)
        buffer = list(range(c.next_token, length))
        row = {"action": str(action), "stack": _ordered(c.stack), "deque": _ordered(c.deque), "buffer": buffer}
        rows.append(row)
    return rows


def _ordered(items: Iterable[Item]) -> list[list[int]]:
    return [sorted(item) for item in items]


ROWS: dict[str, Rows] = {"set": set_rows, "swap": swap_rows, "gap": gap_rows}

# What each column shows: its key in a row, its title, and its alignment (for the set as in the paper).
COLUMNS = {
    "set": [
        ("action", "Even action", ">"),
        ("memory", "Set (S)", ">"),
        ("focus", "Focus (s_f)", "^"),
        ("buffer", "Buffer", "<"),
        ("label", "Odd action", "<"),
    ],
    "swap": [("action", "Action", ">"), ("stack", "Stack", ">"), ("buffer", "Buffer", "<")],
    "gap": [
        ("action", "Action", ">"),
        ("stack", "Stack", ">"),
        ("deque", "Deque", "<"),
        ("buffer", "Buffer", "<"),
    ],
}


def derivation_json(tree: Tree, system: str = "set") -> dict[str, Any]:
    """The derivation as data: sets are lists of token indexes; the first row is the initial configuration."""
    rows = ROWS[system](tree_constituents(tree), len(tree))
    transitions = sum((row["action"] is not None) + (row.get("label") is not None) for row in rows)
    return {"id": tree.id, "system": system, "words": tree.words, "transitions": transitions, "rows": rows}


def derivation_table(tree: Tree, system: str = "set") -> str:
    """The derivation as a table with words for token indexes.

    >>> from discoparse.treebank.discbracket import parse_tree
    >>> print(derivation_table(parse_tree("(S (VP (V 0=wake) (P 2=up)) (N 1=them))"), "gap"))
           Action                 Stack  Deque               Buffer
                                     []  []                  wake them up
           ⇒ SH ⇒                    []  [{wake}_0]          them up
           ⇒ SH ⇒            [{wake}_0]  [{them}_1]          up
           ⇒ SH ⇒  [{wake}_0, {them}_1]  [{up}_2]
          ⇒ GAP ⇒            [{wake}_0]  [{them}_1, {up}_2]
    ⇒ REDUCE-VP ⇒            [{them}_1]  [{wake up}_0]
     ⇒ REDUCE-S ⇒                    []  [{wake them up}_0]
    """
    words = tree.words
    columns = COLUMNS[system]
    rows = [[title for _, title, _ in columns]]
    for row in ROWS[system](tree_constituents(tree), len(tree)):
        rows.append([visible(_cell(key, row[key], words)) for key, _, _ in columns])
    return text_table(rows, "".join(align for _, _, align in columns))


def _cell(key: str, value: Any, words: Sequence[str]) -> str:
    """A cell of the table: an action with arrows, a set or a sequence of items, the focus, or the buffer."""
    if key == "action":
        return "" if value is None else f"⇒ {value} ⇒"
    if key == "label":
        return "" if value is None else f"⇒ {value}"
    if key == "focus":
        return "none" if value is None else _item(value, words)
    if key == "memory":
        return "{" + ", ".join(f"{_item(item, words)}_{item[0]}" for item in value) + "}"
    if key == "buffer":
        return " ".join(words[item] if isinstance(item, int) else _queued(item, words) for item in value)
    return "[" + ", ".join(f"{_item(item, words)}_{item[0]}" for item in value) + "]"


def _item(item: list[int], words: Sequence[str]) -> str:
    return "{" + " ".join(words[i] for i in item) + "}"


def _queued(item: list[int], words: Sequence[str]) -> str:
    """An item in the buffer of the swap system: a word, or what was built before it was swapped."""
    return words[item[0]] if len(item) == 1 else f"{_item(item, words)}_{item[0]}"
