"""The log of a training: one JSON record a line, for every epoch and every evaluation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from discoparse.files.atomic import replace_file


class Log:
    """Records in memory and in a file; each is on disk before training goes on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: list[dict[str, Any]] = []

    def resume(self, count: int) -> None:
        """Go on after the first `count` records of the file: later ones belong to steps that will be taken again."""
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        self.records = [json.loads(line) for line in lines[:count]]
        replace_file(self.path, "".join(line + "\n" for line in lines[:count]).encode())

    def add(self, kind: str, **values: Any) -> None:
        """Append a record."""
        record = {"type": kind, **values}
        self.records.append(record)
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(record) + "\n")
