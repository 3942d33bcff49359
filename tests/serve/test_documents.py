"""What the documentation shows of the server works: curl, Python; and the Dockerfile fits the repository."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from serving import running, small_catalogue

from discoparse.cli import cli

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "commands" / "serve.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8000"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


CURLS = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("curl ")]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with running(small_catalogue(tmp_path_factory.mktemp("documented"), "nl")) as (client, _):
        yield str(client.base_url).rstrip("/")


@pytest.mark.parametrize("line", CURLS, ids=range(len(CURLS)))
def test_curl(address, line):
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    done = subprocess.run([*shlex.split(line.replace(ADDRESS, address)), "-sSf"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_python(address, capsys):
    (code,) = blocks("python")
    exec(compile(code.replace(ADDRESS, address), "serve.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) >= 1 + 9  # labels, then 2n - 1 rows


def test_the_limits_are_as_described(address):
    import httpx

    limits = httpx.get(f"{address}/api/v1/health").json()["limits"]
    assert limits["body"] == 4 << 20
    assert f"{limits['characters']:,} characters" in PAGE
    assert f"{limits['sentences']:,} sentences" in PAGE


def test_the_dockerfile():
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    for line in re.findall(r"^COPY (.*)$", text, re.MULTILINE):
        *sources, _ = line.split()
        assert [source for source in sources if not (ROOT / source).exists()] == []
    program, name, *options = json.loads(re.search(r"^CMD (.*)$", text, re.MULTILINE)[1])
    assert program == "discoparse"
    command = cli.get_command(None, name)
    command.make_context(name, options, resilient_parsing=False)
    assert "serve" in re.search(r'"\.\[(.*)\]"', text)[1]


def test_the_health_check_of_the_dockerfile(address):
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    _, _, code = json.loads(re.search(r"^HEALTHCHECK CMD (.*)$", text, re.MULTILINE)[1])
    assert ADDRESS in code
    exec(code.replace(ADDRESS, address), {})
