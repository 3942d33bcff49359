"""The rooms of the package and the doors between them: imports go one way, lazy ones included.

`ROWS` is the floor plan of CONTRIBUTING.md, from the ground up. A room may import rooms of the rows before its own, and
within its row only what `WITHIN` names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import discoparse

PACKAGE = Path(discoparse.__file__).parent
ROWS = (
    ("_lazy", "errors"),
    ("tree",),
    ("files",),
    ("transform", "treebank", "system"),  # Section 2 of the paper is `system`
    ("text", "drawing", "evaluation"),
    ("neural",),  # Section 3
    ("model", "parser"),
    ("training",),  # Section 3.5
    ("pretraining",),
    ("experiment", "integrations", "serve", "corpus"),
    ("cli",),
)
WITHIN = {("treebank", "transform"), ("system", "transform"), ("evaluation", "drawing"), ("parser", "model")}
OUTSIDE = {"", "__main__"}  # the package itself, whose names are looked up on first use, and `python -m discoparse`
# Doors that lead the other way, and why.
EXCEPTIONS = {
    ("tree", "treebank"): "a tree prints itself as brackets; looked up on first use",
    ("tree", "drawing"): "a notebook shows a tree as a picture; looked up on first use",
}


class Door(NamedTuple):
    """An import: from which room to which, and where it stands."""

    room: str
    target: str
    place: str


def doors(package: Path, name: str = "discoparse") -> Iterator[Door]:
    """Every import between rooms, at the top of a module, inside a function or under TYPE_CHECKING."""
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        room = "" if parts == ("__init__",) else parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for target in _targets(node, name, package):
                if target != room:
                    yield Door(room, target, f"{path.relative_to(package)}:{node.lineno}")  # type: ignore[attr-defined]


def _targets(node: ast.AST, name: str, package: Path) -> Iterator[str]:
    """The rooms that one statement imports."""
    modules: list[str] = []
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        assert not node.level, "imports are absolute, so that this test can read them"
        modules = [node.module or ""]
        if node.module == name:  # `from discoparse import x`: a room, or a name of the package itself
            modules = [f"{name}.{a.name}" if _is_room(package, a.name) else name for a in node.names]
    for module in modules:
        first, *rest = module.split(".")
        if first == name:
            yield rest[0] if rest else ""


def _is_room(package: Path, name: str) -> bool:
    return (package / name).is_dir() or (package / f"{name}.py").is_file()


def wrong_doors(found: Iterator[Door]) -> list[str]:
    """The imports that the floor plan does not allow, each with its place."""
    row = {room: k for k, rooms in enumerate(ROWS) for room in rooms}
    wrong = []
    for door in found:
        if door.room in OUTSIDE or door.target == "" or (door.room, door.target) in EXCEPTIONS:
            continue
        below = row[door.target] < row[door.room]
        if not below and (door.room, door.target) not in WITHIN:
            wrong.append(f"{door.place}: {door.room} must not import {door.target}")
    return wrong


def test_every_room_is_on_the_plan():
    there = {path.stem if path.suffix == ".py" else path.name for path in PACKAGE.iterdir()}
    there -= {"__init__", "__main__", "__pycache__", "examples", "py.typed"}
    assert there == {room for rooms in ROWS for room in rooms}


def test_the_map_for_contributors_is_this_plan():
    """The table under "The map" in CONTRIBUTING.md: rooms, what is in them, and the doors within a row."""
    page = (Path(__file__).resolve().parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.split("## The map")[1].split("| rooms |")[1].split("\n\n")[0]
    rows = [[re.findall(r"`(\w+)`", cell) for cell in line.split("|")[1:4]] for line in table.splitlines()[2:]]
    assert tuple(tuple(rooms) for rooms, _, _ in rows) == ROWS
    assert {(room, door) for _, _, (door, *rooms) in (row for row in rows if row[2]) for room in rooms} == WITHIN


def test_imports_go_one_way():
    assert wrong_doors(doors(PACKAGE)) == []


def test_no_exception_is_idle():
    used = {(door.room, door.target) for door in doors(PACKAGE)}
    assert used >= {*EXCEPTIONS, *WITHIN}


def test_the_plan_has_no_cycle():
    """Doors within a row lead to rooms that have none back."""
    assert not any((target, room) in WITHIN for room, target in WITHIN)


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        ("from discoparse.cli import main", "tree.py:1: tree must not import cli"),
        ("def late():\n    import discoparse.neural.network", "tree.py:2: tree must not import neural"),
        ("from discoparse import system", "tree.py:1: tree must not import system"),
        ("import discoparse.errors", None),
        ("from discoparse import __version__", None),
    ],
)
def test_a_wrong_door_is_found(tmp_path, statement, complaint):
    for rooms in ROWS:
        for room in rooms:
            (tmp_path / room).mkdir()
    (tmp_path / "tree.py").write_text(statement)
    assert wrong_doors(doors(tmp_path)) == ([complaint] if complaint else [])
