"""An environment with packages of models in it, as pip leaves them, and no others."""

from __future__ import annotations

import importlib
import shutil
from functools import partial
from importlib.metadata import distributions
from pathlib import Path

import pytest
from random_model import save_random_model

import discoparse.parser.finding
from discoparse.model.names import GROUP, distribution, module


class Packages:
    """A folder of installed packages, the only ones in which models are found."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        folder.mkdir()
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.setattr(discoparse.parser.finding, "distributions", partial(distributions, path=[str(folder)]))

    def add(self, name: str, language: str | None, mirrored: bool = False) -> Path:
        """Install a small model of a language, in the package that `discoparse models package` would make."""
        directory = self.folder / module(name)
        save_random_model(directory, language, mirrored)
        (directory / "__init__.py").write_text("raise SystemExit('the code of a model ran')\n")
        self.announce(distribution(name), f"{name} = {module(name)}")
        return directory

    def announce(self, package: str, entry: str | bytes, metadata: str | None = "") -> None:
        """What pip writes about a package that says it brings a model."""
        about = self.folder / f"{package.replace('-', '_')}-1.0.dist-info"
        about.mkdir()
        if metadata is not None:
            (about / "METADATA").write_text(metadata or f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        text = entry if isinstance(entry, bytes) else f"[{GROUP}]\n{entry}\n".encode()
        (about / "entry_points.txt").write_bytes(text)
        importlib.invalidate_caches()

    def remove(self, name: str) -> None:
        shutil.rmtree(self.folder / module(name))
        shutil.rmtree(self.folder / f"{module(name)}-1.0.dist-info")
        importlib.invalidate_caches()
