"""What rooms export: every name is there, and the lower rooms do not need PyTorch."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

import discoparse

ROOMS = [info.name for info in pkgutil.iter_modules(discoparse.__path__) if info.ispkg and info.name != "cli"]
LIGHT = ["files", "transform", "treebank", "treebank.prepare"]


def test_all_rooms_are_looked_at() -> None:
    assert {"files", "transform", "treebank", "system", "neural", "training"} <= set(ROOMS)


@pytest.mark.parametrize("room", [*ROOMS, "treebank.prepare"])
def test_every_name_is_there(room: str) -> None:
    module = import_module(f"discoparse.{room}")
    assert module.__doc__
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    assert not hasattr(module, "no_such_name")


def test_lower_rooms_do_not_load_pytorch() -> None:
    imports = "; ".join(f"from discoparse.{room} import *" for room in LIGHT)
    code = f"import sys; {imports}; print('torch' in sys.modules, 'nltk' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
