"""Models as packages: what `discoparse models package` makes is built, installed, found and used."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest
from click.testing import CliRunner
from command_line import run_main
from project_models import MODELS, project_facts
from tiny_models import example_trees, tiny_model

from discoparse.cli import cli
from discoparse.errors import DiscoparseError, UsageError
from discoparse.files.sealed import CHECKSUMS
from discoparse.model.card import model_card
from discoparse.model.info import FILES, ModelInfo, read_card, read_info
from discoparse.model.licences import check_expression, spdx_expression
from discoparse.model.model import replace_info
from discoparse.model.names import PUBLISHED, check_name, distribution, module
from discoparse.model.package import package_model
from discoparse.parser.finding import load_parser

NOT_PACKAGED = ("facts.json", "build", "dist")  # what the card is made from, and what building leaves behind
WRONG_NAMES = (
    "",
    "..",
    "../nl",
    "/tmp/nl",
    "a/b",
    "a\\b",
    "NL",
    "nl_large",
    "nl.large",
    "-nl",
    "nl-",
    "n--l",
    "é",
    "a b",
    "nl\n",
)
DATA = {"set": "toys", "sentences": 3, "tokens": 12, "times": 1.0}


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    """The output of a training."""
    tiny_model(tmp_path / "trained" / "model")
    return tmp_path / "trained"


def contents(directory: Path) -> dict[str, bytes]:
    """Every file of a package by its path."""
    files = (path for path in directory.rglob("*") if path.is_file())
    named = {path.relative_to(directory).as_posix(): path for path in files}
    return {
        name: path.read_bytes()
        for name, path in named.items()
        if not name.startswith(NOT_PACKAGED) and ".egg-info" not in name and "__pycache__" not in name
    }


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_packages_of_this_project_are_what_the_command_makes(name, tmp_path):
    """Nothing in them was written by hand, and their cards are what the program writes now."""
    package, inner = MODELS / name, MODELS / name / "src" / module(name)
    texts = sorted((package / "LICENSES").glob("*"))
    (line,) = [line for line in (package / "pyproject.toml").read_text().splitlines() if line.startswith("version")]
    made = package_model(inner, name, tmp_path / "made", version=json.loads(line.split("=")[1]), licence_files=texts)
    assert contents(tmp_path / "made") == contents(package)
    assert made.without_text == []
    assert read_info(inner).name == name


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_cards_of_this_project_are_what_the_program_writes(name):
    """With the notes of the file of facts; `replace_info(path, read_info(path))` makes a card anew."""
    path = MODELS / name / "src" / module(name)
    info = read_info(path)
    facts = project_facts(name)
    assert read_card(path) == model_card(info)
    assert info.notes == facts.notes
    assert list(info.origins) == facts.origins
    assert info.licence == facts.identity["licence"]
    assert [{key: entry[key] for key in ("name", "text", "licence", "attribution", "url")} for entry in info.data] == [
        facts.sources[entry["set"]] for entry in info.data
    ]


def test_a_package_has_a_licence_a_notice_and_the_model(trained, tmp_path):
    """Whatever its parameters were called before, the model has the name of its package; nothing else changes."""
    notes = {"good_for": ["dogs"]}
    data = ({**DATA, "name": "Toys", "attribution": "Made by A.", "licence": "MIT", "url": "http://a.b"}, DATA)
    origins = ({"name": "Encoder", "text": "Small", "licence": "Apache-2.0", "attribution": "By B."},)
    info = ModelInfo("out", "nl", ("toys",), "CC BY 4.0 (toys), MIT (more)", data=data, origins=origins, notes=notes)
    replace_info(trained, info)
    (tmp_path / "MIT.txt").write_text("Permission is hereby granted …", encoding="utf-8")
    output = tmp_path / "out"
    status, said, errors = run_main(
        *["models", "package", str(trained), "--name", "my-toys", "--output", str(output)],
        *["--version", "1.2", "--licence-file", str(tmp_path / "MIT.txt")],
    )
    assert status == 0
    assert "it was made from what has other licences (Apache-2.0): check that it may have CC-BY-4.0 AND MIT" in errors
    assert errors.count("\n") == 1
    assert f"pip install {output}" in said
    assert f"pip wheel --no-deps {output}" in said
    assert "discoparse-model-my-toys 1.2, licence CC-BY-4.0 AND MIT" in said
    inner = "src/discoparse_model_my_toys"
    expected = {*(f"{inner}/{file}" for file in (*FILES, CHECKSUMS, "__init__.py")), "pyproject.toml", "NOTICE"}
    assert set(contents(output)) == {*expected, "LICENSES/MIT.txt"}
    pyproject = (output / "pyproject.toml").read_text()
    for line in (
        'name = "discoparse-model-my-toys"',
        'version = "1.2"',
        'license = "CC-BY-4.0 AND MIT"',
        'license-files = ["NOTICE", "LICENSES/*"]',
        'my-toys = "discoparse_model_my_toys"',
        f'readme = "{inner}/README.md"',
    ):
        assert line in pyproject.splitlines()
    assert "dependencies" not in pyproject
    notice = (output / "NOTICE").read_text()
    assert "Toys\n    Made by A.\n    http://a.b\n    Licence: MIT\n" in notice
    assert "toys\n    Licence: not stated\n" in notice
    assert "computed from treebanks and from what it started from\n" in notice
    assert "Encoder\n    By B.\n    Licence: Apache-2.0\n" in notice
    assert "CC-BY-4.0: https://spdx.org/licenses/CC-BY-4.0.html\n" in notice
    assert "MIT: LICENSES/MIT.txt\n" in notice
    packaged = read_info(output / inner)
    assert (packaged.name, packaged.licence, packaged.notes) == ("my-toys", info.licence, notes)
    assert read_info(trained).name == "out"
    words = [tree.words for tree in example_trees()[:3]]
    assert load_parser(output / inner).parse_tokens(words) == load_parser(trained).parse_tokens(words)


def test_a_model_that_is_called_so_already_is_copied_as_it_is(trained, tmp_path):
    package_model(trained, "tiny", tmp_path / "out")
    for file in (*FILES, CHECKSUMS):
        copied = tmp_path / "out" / "src" / "discoparse_model_tiny" / file
        assert copied.read_bytes() == (trained / "model" / file).read_bytes()


@pytest.mark.parametrize("name", [*WRONG_NAMES, "x" * 61])
def test_names_that_cannot_be_those_of_a_package_are_refused(trained, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError, match="a model cannot be called"):
        package_model(trained, name)
    assert sorted(tmp_path.rglob("*")) == before
    assert run_main("models", "package", str(trained), "--name", name)[0] == 2


def test_the_nearest_name_is_proposed():
    with pytest.raises(UsageError, match=r"as in nl-large$"):
        check_name("../NL_Large!")


def test_nothing_is_overwritten(trained, tmp_path, monkeypatch):
    """Not a file, not a folder, not a package of before; what fails leaves nothing behind."""
    monkeypatch.chdir(tmp_path)
    package_model(trained, "tiny")
    made = contents(tmp_path / "discoparse-model-tiny")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("mine")
    for output in (None, "folder", "file", str(trained), "discoparse-model-tiny/src"):
        with pytest.raises(UsageError, match="is there already"):
            package_model(trained, "tiny", output)
    assert contents(tmp_path / "discoparse-model-tiny") == made
    with pytest.raises(UsageError, match="is not a version"):
        package_model(trained, "tiny", "new", version="one")
    (trained / "model" / "README.md").write_text("other")
    with pytest.raises(DiscoparseError, match=r"README\.md is not what was written"):
        package_model(trained, "tiny", "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["discoparse-model-tiny", "file", "folder", "trained"]


def test_an_interruption_leaves_nothing_behind(trained, tmp_path, monkeypatch):
    def rename(self: Path, target: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(KeyboardInterrupt):
        package_model(trained, "tiny", tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["trained"]


def test_a_package_needs_a_licence(trained, tmp_path):
    """From the card if that is clear, otherwise from the option; the two must not contradict each other."""
    replace_info(trained, ModelInfo("tiny"))
    with pytest.raises(UsageError, match=r"not clear \(its card has none\): name it with --licence"):
        package_model(trained, "tiny", tmp_path / "a")
    package_model(trained, "tiny", tmp_path / "a", licence="cc-by-4.0")
    assert read_info(tmp_path / "a" / "src" / "discoparse_model_tiny").licence == "CC-BY-4.0"
    replace_info(trained, ModelInfo("tiny", licence="ask me"))
    with pytest.raises(UsageError, match=r"its card says 'ask me'"):
        package_model(trained, "tiny", tmp_path / "b")
    with pytest.raises(UsageError, match="'free' is not a licence as SPDX writes it"):
        package_model(trained, "tiny", tmp_path / "b", licence="free")
    own = package_model(trained, "tiny", tmp_path / "b", licence="LicenseRef-Mine")
    assert own.without_text == ["LicenseRef-Mine"]
    assert "LicenseRef-Mine: see the card" in (tmp_path / "b" / "NOTICE").read_text()
    assert read_info(tmp_path / "b" / "src" / "discoparse_model_tiny").licence == "ask me"
    replace_info(trained, ModelInfo("tiny", licence="CC BY 4.0"))
    with pytest.raises(UsageError, match=r"--licence MIT is not what the model's card says \(CC BY 4\.0\)"):
        package_model(trained, "tiny", tmp_path / "c", licence="MIT")


def test_texts_of_licences_are_asked_for(trained, tmp_path):
    """Where a link is not enough; they must be texts."""
    assert package_model(trained, "tiny", tmp_path / "a").without_text == ["MIT"]
    said = run_main("models", "package", str(trained), "--name", "tiny", "-o", str(tmp_path / "b"))[2]
    assert "the text of MIT is not in the package" in said
    (tmp_path / "MIT.txt").write_bytes(b"\xff")
    with pytest.raises(DiscoparseError, match=r"MIT\.txt: not text as UTF-8"):
        package_model(trained, "tiny", tmp_path / "c", licence_files=[tmp_path / "MIT.txt"])
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "MIT.txt").write_text("a")
    (tmp_path / "MIT.txt").write_text("b")
    with pytest.raises(UsageError, match=r"two licence files are called MIT\.txt"):
        package_model(
            trained, "tiny", tmp_path / "c", licence_files=[tmp_path / "MIT.txt", tmp_path / "other" / "MIT.txt"]
        )
    assert run_main("models", "package", str(trained), "--name", "tiny", "--licence-file", "nowhere.txt")[0] == 1


@pytest.mark.parametrize(
    ("licence", "expression"),
    [
        ("CC BY-SA 4.0", "CC-BY-SA-4.0"),
        ("mit", "MIT"),
        ("Apache 2.0", "Apache-2.0"),
        ("CC BY 3.0 US (a), CC BY 3.0 (b), CC BY 3.0 (c)", "CC-BY-3.0-US AND CC-BY-3.0"),
        ("CC BY 4.0, of my own", None),
        ("", None),
        (",", None),
        ("(all rights reserved)", None),
        ("LicenseRef-Mine", "LicenseRef-Mine"),
    ],
)
def test_licences_of_cards_as_spdx(licence, expression):
    assert spdx_expression(licence) == expression


def test_expressions_are_spelled_as_usual():
    assert check_expression("mit or (apache-2.0 and cc0-1.0)") == "MIT OR (Apache-2.0 AND CC0-1.0)"


def test_models_still_lists_and_shows(trained, tmp_path, monkeypatch):
    """`package` is a command only as the first argument; --help tells of it."""
    card = run_main("models", str(trained))[1]
    (tmp_path / "package").symlink_to(trained)
    monkeypatch.chdir(tmp_path)
    assert run_main("models", "./package")[1] == card
    assert json.loads(run_main("models", "--json", str(trained))[1])[0]["name"] == "tiny"
    assert json.loads(run_main("models", str(trained), "--json")[1])[0]["name"] == "tiny"
    assert run_main("models")[0] == 0
    assert run_main("models", str(trained), "package")[0] == 2, "one model at a time"
    usage = CliRunner().invoke(cli, ["models", "--help"]).stdout
    assert "models [OPTIONS] [MODEL]" in usage
    assert "  package    Make" in usage
    usage = CliRunner().invoke(cli, ["models", "package", "--help"]).stdout
    assert "models package [OPTIONS] DIR" in usage
    assert run_main("models", "package")[0] == 2
    assert run_main("models", "package", str(trained))[0] == 2
    status, _, errors = run_main("models", "package", "nowhere", "--name", "tiny")
    assert status == 2
    assert "no model 'nowhere'" in errors


# -- built and installed -----------------------------------------------------------------------------------------------


def pip(*arguments: str) -> None:
    """Run pip without a network."""
    command = [sys.executable, "-m", "pip", *arguments, "--no-index", "--no-deps", "--disable-pip-version-check", "-q"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(find_spec("pip") is None or find_spec("setuptools") is None, reason="needs pip and setuptools")
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_a_package_is_built_installed_found_and_parses(trained, tmp_path, kind):
    """As anybody would publish and use it, in an environment where nothing else has this name."""
    words = [tree.words for tree in example_trees()[:2]]
    expected = [str(tree) for tree in load_parser(trained).parse_tokens(words)]
    source, dist = tmp_path / "package", tmp_path / "dist"
    package_model(trained, "tiny-toys", source)
    made = contents(source)
    dist.mkdir()
    if kind == "wheel":
        pip("wheel", "--no-build-isolation", "-w", str(dist), str(source))
        (archive,) = dist.glob("*.whl")
        names = ZipFile(archive).namelist()
    else:
        build = f"from setuptools.build_meta import build_sdist; build_sdist({str(dist)!r})"
        subprocess.run([sys.executable, "-c", build], cwd=source, check=True, capture_output=True)
        (archive,) = dist.glob("*.tar.gz")
        with tarfile.open(archive) as members:
            names = members.getnames()
        assert {f"discoparse_model_tiny_toys-0.1.0/{name}" for name in made} <= set(names)
    for file in (*FILES, CHECKSUMS, "NOTICE"):
        assert any(name.endswith(f"/{file}") for name in names), file
    site = tmp_path / "site"
    pip("install", "--no-build-isolation", "--target", str(site), str(archive))
    metadata = (site / "discoparse_model_tiny_toys-0.1.0.dist-info" / "METADATA").read_text()
    assert "License-Expression: MIT\n" in metadata
    assert "Requires-Dist" not in metadata
    assert "# tiny-toys" in metadata, "the card is what an index shows"
    shutil.rmtree(source)
    program = (
        "import discoparse, json, sys\n"
        "parser = discoparse.load('tiny-toys', device='cpu')\n"
        "print(json.dumps([str(tree) for tree in parser.parse_tokens(json.loads(sys.argv[1]))]))\n"
        "assert 'discoparse_model_tiny_toys' not in sys.modules, 'code of the package ran'\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-c", program, json.dumps(words)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected
    listed = subprocess.run(
        [sys.executable, "-m", "discoparse", "models"], capture_output=True, text=True, env=environment, cwd=tmp_path
    )
    assert any(line.startswith("tiny-toys ") for line in listed.stdout.splitlines())
    assert distribution("tiny-toys") in metadata
