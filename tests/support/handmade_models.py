"""Models as somebody writes them by hand: any content, with checksums that fit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from discoparse.files.sealed import CHECKSUMS
from discoparse.model.info import FILES


def seal(path: Path) -> None:
    """Write checksums that fit the files as they are now."""
    lines = [f"{hashlib.sha256((path / name).read_bytes()).hexdigest()}  {name}\n" for name in sorted(FILES)]
    (path / CHECKSUMS).write_text("".join(lines))


def edit(path: Path, file: str, change: Callable[[Any], Any]) -> None:
    """Change a JSON file of a model (in place, or by what `change` returns), and seal it."""
    value = json.loads((path / file).read_bytes())
    changed = change(value)
    (path / file).write_text(json.dumps(value if changed is None else changed))
    seal(path)
