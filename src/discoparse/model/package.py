"""A model as a package that pip installs: `discoparse-model-NAME`, found by its name wherever it is installed.

    pyproject.toml   name, version, licence, and the entry point that the model is found by
    NOTICE           what the parameters were computed from, with its makers and licences
    LICENSES/        texts of licences
    src/discoparse_model_NAME/   the model, sealed as it was; its card is what package indexes show

It depends on nothing: the model's format version tells whether a parser can read it, and installing a model never
replaces the discoparse that is there.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from discoparse.errors import DiscoparseError, UsageError
from discoparse.files.sealed import CHECKSUMS, write_sealed
from discoparse.model.info import CARD, ModelFiles, ModelInfo
from discoparse.model.licences import check_expression, identifiers, needs_text, spdx_expression
from discoparse.model.model import info_files, load_model
from discoparse.model.names import GROUP, check_name, distribution, module

FIRST_VERSION = "0.1.0"
_TEXTS = "LICENSES"
_PYPROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = {distribution}
version = {version}
description = {description}
readme = {readme}
requires-python = ">=3.10"
license = {licence}
license-files = {licence_files}

[project.entry-points.{group}]
{name} = "{module}"

[tool.setuptools]
package-dir = {{ "" = "src" }}
packages = ["{module}"]

[tool.setuptools.package-data]
{module} = {files}
"""


@dataclass(frozen=True)
class Package:
    """A package of a model, made but not yet built or installed."""

    name: str
    version: str
    licence: str  # SPDX
    directory: Path
    without_text: list[str]  # licences that ask for their text to go along, which it does not
    other_licences: list[str]  # of what it was made from, where they are not the same


def package_model(
    model: str | Path,
    name: str,
    output: str | Path | None = None,
    *,
    version: str = FIRST_VERSION,
    licence: str | None = None,
    licence_files: Sequence[str | Path] = (),
) -> Package:
    """Make a package of a model, or of the output directory of a training, in a new directory.

    `licence` is an SPDX expression; it need not be given where the card has one. `licence_files` are texts of licences.
    """
    check_name(name)
    directory = Path(output if output is not None else distribution(name))
    if directory.exists():
        raise UsageError(f"{directory} is there already, and a package needs a new directory: name another --output")
    version = _checked_version(version)
    texts = _read_texts(licence_files)
    info = load_model(model).info  # which checks all of it
    expression = _licence(info, licence)
    files = ModelFiles(model)
    contents = {file: files.read(file) for file in files.names}
    named = dataclasses.replace(info, name=name, licence=info.licence or expression)
    if named != info:
        contents |= info_files(named, files.config["network"], files.config["format_version"])
    package = Package(
        name, version, expression, directory, _without_text(expression, texts), _other_licences(info, expression)
    )
    unfinished = directory.with_name(f"{directory.name}.{os.getpid()}.unfinished")
    try:
        inner = unfinished / "src" / module(name)
        write_sealed(inner, contents)
        _write(inner / "__init__.py", f'"""The model {name} of discoparse: files, no code."""\n')
        _write(unfinished / "pyproject.toml", _pyproject(package, named, [*contents, CHECKSUMS], bool(texts)))
        _write(unfinished / "NOTICE", _notice(package, named, texts))
        for file, text in texts.items():
            _write(unfinished / _TEXTS / file, text)
        unfinished.rename(directory)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return package


def _checked_version(version: str) -> str:
    try:
        return str(Version(version))
    except InvalidVersion:
        raise UsageError(f"{version!r} is not a version as packages have it: write 1.0 or 0.2.1") from None


def _licence(info: ModelInfo, given: str | None) -> str:
    """The licence as an SPDX expression: the one given, if it does not contradict the card, or the card's."""
    stated = spdx_expression(info.licence) if info.licence else None
    if given is None:
        if stated is None:
            card = f"its card says {info.licence!r}" if info.licence else "its card has none"
            raise UsageError(
                f"the licence of the model is not clear ({card}): name it with --licence, as SPDX writes it "
                "(CC-BY-4.0), or LicenseRef-NAME with its text as --licence-file"
            )
        return stated
    expression = check_expression(given)
    if stated is not None and stated != expression:
        raise UsageError(f"--licence {expression} is not what the model's card says ({info.licence})")
    return expression


def _read_texts(paths: Iterable[str | Path]) -> dict[str, str]:
    """Texts of licences by the names of their files."""
    texts: dict[str, str] = {}
    for path in map(Path, paths):
        if path.name in texts:
            raise UsageError(f"two licence files are called {path.name}")
        try:
            texts[path.name] = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise DiscoparseError(f"{path}: not text as UTF-8, which a package needs for a licence") from None
    return texts


def _without_text(expression: str, texts: Iterable[str]) -> list[str]:
    there = {Path(file).stem for file in texts}
    return [licence for licence in identifiers(expression) if needs_text(licence) and licence not in there]


def _other_licences(info: ModelInfo, expression: str) -> list[str]:
    """Licences of data and origins, as their entries state them, that are not among the package's."""
    ours = set(identifiers(expression))
    stated = dict.fromkeys(entry["licence"] for entry in (*info.data, *info.origins) if "licence" in entry)
    return [one for one in stated if not (known := spdx_expression(one)) or not ours.issuperset(identifiers(known))]


def _pyproject(package: Package, info: ModelInfo, files: Sequence[str], texts: bool) -> str:
    language = f" for {info.language}" if info.language else ""
    fields: dict[str, object] = {
        "distribution": distribution(package.name),
        "version": package.version,
        "description": f"A model{language} of the discontinuous constituency parser discoparse",
        "readme": f"src/{module(package.name)}/{CARD}",
        "licence": package.licence,
        "licence_files": ["NOTICE", *[f"{_TEXTS}/*"] * texts],
        "group": GROUP,
        "files": sorted(files),
    }
    # Strings and lists of JSON are TOML, too, but for one control character that no name of ours has.
    written = {key: json.dumps(value, ensure_ascii=False) for key, value in fields.items()}
    return _PYPROJECT.format(name=package.name, module=module(package.name), **written)


def _notice(package: Package, info: ModelInfo, texts: Iterable[str]) -> str:
    """What licences ask for: where the data is from, who made it, what was done with it, where the terms are."""
    lines = [f"{distribution(package.name)}: parameters of a parser, computed from treebanks", ""]
    if info.origins:
        lines[0] += " and from what it started from"
    for entry in (*info.data, *info.origins):
        lines += [
            entry.get("name") or entry["set"],
            *(f"    {entry[key]}" for key in ("attribution", "url") if key in entry),
            f"    Licence: {entry.get('licence', 'not stated')}",
            "",
        ]
    if not info.data:
        lines += [*info.treebanks, ""]
    lines.append(f"Licence of this package: {package.licence}")
    there = {Path(text).stem: f"{_TEXTS}/{text}" for text in texts}
    for licence in identifiers(package.licence):
        known = "see the card" if licence.startswith("LicenseRef-") else f"https://spdx.org/licenses/{licence}.html"
        lines.append(f"    {licence}: {there.get(licence, known)}")
    return "\n".join(lines) + "\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
