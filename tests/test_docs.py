"""The documentation: links lead somewhere, commands can be called as they are written, pages agree with the program."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from document_options import BEGIN, END, PAGES, options_table, with_options

import discoparse
from discoparse.cli import COMMANDS, cli
from discoparse.parser.finding import installed_models

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("docs", "models", "research", "scripts", "src", "tests")
MARKDOWN = [
    path
    for path in sorted([*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))])
    if "build" not in path.parts  # copies that `pip install ./models/nl` leaves there
]
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
GENERATED = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


# -- links -------------------------------------------------------------------------------------------------------------


def links(text: str) -> list[str]:
    """The targets of all links and images, code left out."""
    prose = re.sub(r"`[^`\n]*`", "`code`", FENCE.sub("", text))
    return re.findall(r"\]\(([^)\s]+)\)", prose)


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to headings."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.*?) *#*$", FENCE.sub("", text), re.MULTILINE):
        shown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        numbered = (f"{anchor}-{k}" for k in range(1, len(found) + 1))
        found.add(anchor if anchor not in found else next(name for name in numbered if name not in found))
    return found


def broken_links(page: Path) -> list[str]:
    """Relative links of a page to files or headings that do not exist."""
    broken = []
    for link in links(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):  # https:, mailto:
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", MARKDOWN, ids=name_of)
def test_links_lead_somewhere(page):
    assert broken_links(page) == []


def test_broken_links_are_found(tmp_path):
    (tmp_path / "other.md").write_text("# One thing, and `another`\n# Twice\n# Twice\n")
    page = tmp_path / "page.md"
    good = "[a](other.md) [b](other.md#one-thing-and-another) [c](other.md#twice-1) [d](#here) [e](https://no.where)"
    page.write_text(f"# Here\n{good}\n`[f](gone.md)`\n```\n[g](gone.md)\n```\n[h](gone.md) ![i](gone.svg) [j](#there)")
    assert broken_links(page) == ["gone.md", "gone.svg", "#there"]


# -- commands ----------------------------------------------------------------------------------------------------------


class CommandLine(NamedTuple):
    """A call of the program in a page."""

    line: int
    arguments: list[str]


def command_lines(text: str) -> Iterator[CommandLine]:
    """Calls of `discoparse` in code, blocks and spans alike; tables of options are left to their own test."""
    text = GENERATED.sub(lambda match: "\n" * match[0].count("\n"), text)
    fenced = False
    for number, line in enumerate(text.replace("\\\n", "  ").splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            continue
        codes = [line] if fenced or line.startswith("    ") else re.findall(r"`([^`]+)`", line)
        for code in codes:
            if re.search(r"(^|[\s/])discoparse( |$)", code):
                yield from (CommandLine(number, call) for call in calls(code))


def calls(code: str) -> Iterator[list[str]]:
    """The arguments of each call of the program in a line of shell."""
    if '"' in code and code.count('"') % 2:  # a line of output, not of shell
        return
    lexer = shlex.shlex(code.replace("'", "\\'"), posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if set(word) <= set("|&;<>"):
            if (start := next((k for k, w in enumerate(words) if w.split("/")[-1] == "discoparse"), None)) is not None:
                arguments = [w.strip("[]") for w in words[start + 1 :]]  # of what may be left out, too
                yield [w for w in arguments if w not in ("…", "...")]
            words = []
        else:
            words.append(word)


def complaint(arguments: list[str]) -> str | None:
    """What the program would say to options or commands that it does not know."""
    command: click.Command = cli
    context = click.Context(cli)
    while isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
        found = command.get_command(context, arguments[0])
        if found is None:
            if any(isinstance(parameter, click.Argument) for parameter in command.params):
                break  # as in `models nl`, beside `models package`
            return f"no command {arguments[0]}"
        arguments = arguments[1:]
        command, context = found, click.Context(found, parent=context)
    try:
        values, _, _ = command.make_parser(context).parse_args(list(arguments))
        for parameter in command.params:
            if isinstance(parameter.type, click.Choice) and parameter.name in values:
                parameter.type_cast_value(context, values[parameter.name])
    except click.UsageError as error:
        return error.format_message()
    return None


@pytest.mark.parametrize("page", MARKDOWN, ids=name_of)
def test_commands_are_understood(page):
    found = [(call, complaint(call.arguments)) for call in command_lines(page.read_text(encoding="utf-8"))]
    assert [f"{name_of(page)}:{call.line}: {problem}" for call, problem in found if problem] == []


def test_wrong_commands_are_found():
    page = (
        "Say `discoparse pars`, or `discoparse parse` and `discoparse draw FILE --sentence 1`.\n\n"
        "    $ cat a.txt | .venv/bin/discoparse parse - --modle nl > b  # no such option\n\n"
        "```sh\ndiscoparse convert a b --punct shift && discoparse stats b --top 3\n```\n"
    )
    found = [(call.line, complaint(call.arguments)) for call in command_lines(page)]
    assert [line for line, _ in found] == [1, 1, 1, 3, 6, 6]
    problems = [problem for _, problem in found if problem]
    assert problems[0] == "no command pars"
    assert "--modle" in problems[1]
    assert "'shift' is not one of" in problems[2]
    assert len(problems) == 3


# -- transcripts -------------------------------------------------------------------------------------------------------


class Transcript(NamedTuple):
    """A command in a page after `$`, and the output that the page shows, `…` for anything."""

    command: str
    output: str


def transcripts(text: str) -> list[Transcript]:
    """What follows `$` in blocks of code, up to the next `$` or the end of the block."""
    found: list[tuple[str, list[str]]] = []
    fenced = inside = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced, inside = not fenced, False
        elif not fenced and line and not line.startswith("    "):
            inside = False
        else:
            code = line if fenced else line[4:]
            if code.startswith("$ "):
                found.append((code[2:], []))
                inside = True
            elif inside:
                found[-1][1].append(code)
    return [Transcript(command, "\n".join(output)) for command, output in found]


def alike(shown: str, output: str) -> bool:
    """Whether a page shows the output of a command, white space aside."""
    parts = [re.escape(" ".join(part.split())) for part in shown.split("…")]
    return re.fullmatch(" ?" + ".*".join(parts) + " ?", " ".join(output.split())) is not None


PAGES_WITH_TRANSCRIPTS = [  # not benchmark.md, which shows how fast a machine is
    *(f"commands/{name}.md" for name in ("convert", "derive", "draw", "evaluate", "stats", "validate")),
    "reference/formats.md",
]


@pytest.mark.parametrize("page", PAGES_WITH_TRANSCRIPTS)
def test_transcripts_show_what_happens(page, tmp_path):
    """A file that is shown with `cat` is made by that, so that the page has all that its commands need."""
    program = f'discoparse() {{ "{sys.executable}" -m discoparse "$@"; }};'
    found = transcripts((ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert found
    (tmp_path / "src").symlink_to(ROOT / "src")  # with the example sentences
    for command, shown in found:
        if (made := re.fullmatch(r"cat (\S+)", command)) is not None:
            (tmp_path / made[1]).write_text(shown + "\n", encoding="utf-8")
            continue
        ran = subprocess.run(
            ["bash", "-c", program + command],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        assert alike(shown, ran.stdout), f"{page}: {command}\n{ran.stdout}"


def test_a_wrong_transcript_is_found():
    page = "    $ echo one two\n    one  two\n\n```\n$ echo a; echo b; echo c\na\n…\nc\nd\n```\n"
    first, second = transcripts(page)
    assert alike(first.output, "one two\n")
    assert not alike(first.output, "one\n")
    assert not alike(second.output, "a\nb\nc\n")
    assert alike(second.output, "a\nb\nc\nd\n")


# -- pages that repeat what the program says ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_of_a_command_has_all_its_options(name):
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    up_to_date = with_options(page, options_table(name))
    assert page == up_to_date, "the options have changed: run scripts/document_options.py"


def test_every_page_in_the_folder_of_commands_is_of_a_command():
    assert {path.stem for path in PAGES.glob("*.md")} == set(COMMANDS)


@pytest.mark.parametrize("page", ["results", "grid", "paper-recipe", "variants"])
def test_the_results_contain_their_notes(page):
    """The page is written by `discoparse experiment` with these notes; corrections must be made to both."""
    heading, _, notes = (ROOT / "research" / f"{page}-notes.md").read_text(encoding="utf-8").partition("\n")
    text = (ROOT / "research" / f"{page}.md").read_text(encoding="utf-8")
    assert re.findall(r"^# .*", text, flags=re.M) == [heading]
    assert notes.strip() in text


def test_the_promised_names_are_on_their_page():
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    assert [name for name in discoparse.__all__ if f"`discoparse.{name}" not in page] == []


def test_the_citation_names_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [discoparse.__version__]


# -- the README, and examples in Python --------------------------------------------------------------------------------


def blocks(page: str, language: str) -> list[str]:
    """The fenced code of a language in a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 100


def test_the_readme_begins_with_two_commands():
    """One line each: the first sets up and parses, the second sets up and tests, as continuous integration does."""
    first, second = blocks("README.md", "sh")[:2]
    assert "discoparse parse" in first
    assert "pytest" in second
    assert first.count("\n") == second.count("\n") == 1


@pytest.mark.parametrize(
    ("page", "model", "output"),
    [
        ("README.md", "de", "(VP (PROAV 0=Daran) (ADV 2=gestern) (VVPP 4=gedacht))"),
        ("docs/start/first-steps.md", "en", "VP ['What', 'want', 'to', 'tell', 'me']"),
        ("docs/reference/oracle.md", None, "7 LABEL-VP\n8 COMB-1\n9 LABEL-S\n[0, 1, 2, 0, 1]\n[0, 0, 0, 2, 1]"),
    ],
)
def test_examples_in_python_run(page, model, output, monkeypatch, capsys):
    """Those that are not doctests; `test_api.py` has the others."""
    if model is not None and model not in installed_models():
        pytest.skip(f"this installation has no model {model}")
    monkeypatch.chdir(ROOT)
    for example in blocks(page, "python"):
        exec(compile(example, page, "exec"), {})
    assert output in capsys.readouterr().out
