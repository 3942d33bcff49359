"""`discoparse parse` end to end: every way in, every way out, and whatever may be in the text."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import threading
import time

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_model import random_parser, save_random_model

from discoparse import Token, Tree, read_trees, write_trees
from discoparse.cli import cli, main
from discoparse.errors import DiscoparseError, UsageError
from discoparse.parser.tokens import LONGEST_SENTENCE
from discoparse.parser.writing import OUTPUTS

TEXT = "What did you see? The dog (old) isn't “here”…\r\n\r\nCats bark 🎉 at 10 %."
WORDS = [
    ["What", "did", "you", "see", "?"],
    ["The", "dog", "(", "old", ")", "is", "n't", '"', "here", '"', "..."],
    ["Cats", "bark", "🎉", "at", "10", "%", "."],
]


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("models") / "random"
    save_random_model(folder)
    return str(folder)


@pytest.fixture
def parse(model):
    def run(*arguments: str, input: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(cli, ["parse", "--model", model, *arguments], input=input)
        assert result.exception is None or isinstance(result.exception, SystemExit | DiscoparseError), result.exc_info
        return result

    return run


def test_text_as_arguments_a_file_and_standard_input_gives_the_same_trees(parse, tmp_path):
    file = tmp_path / "text.txt"
    file.write_bytes(TEXT.encode())
    compressed = tmp_path / "text.gz"
    compressed.write_bytes(gzip.compress(TEXT.encode()))
    outputs = [
        parse(TEXT).stdout,
        parse("--input", str(file)).stdout,
        parse("--input", str(compressed)).stdout,
        parse(input=TEXT.encode()).stdout,
        parse("--input", "-", input=TEXT.encode()).stdout,
        parse("-", input=TEXT.encode()).stdout,
    ]
    assert len(set(outputs)) == 1
    path = tmp_path / "trees.discbracket"
    path.write_text(outputs[0])
    assert [tree.words for tree in read_trees(path)] == WORDS


def test_the_sentences_of_a_treebank_are_parsed_anew(parse, tmp_path):
    """Words and ids are the treebank's, trees the parser's; `evaluate` takes the two files."""
    gold = tmp_path / "gold.export"
    trees = [Tree.from_constituents([Token(w, "X") for w in words], [("ROOT", range(len(words)))]) for words in WORDS]
    for number, tree in enumerate(trees, 7):
        tree.id = str(number)
    write_trees(trees, gold)
    predicted = tmp_path / "predicted.export"
    result = parse("--from", "export", "--input", str(gold), "--output", str(predicted))
    assert result.exit_code == 0, result.output
    found = list(read_trees(predicted))
    assert [(tree.id, tree.words) for tree in found] == [(tree.id, tree.words) for tree in trees]
    assert [tree.key()[1:] for tree in found] != [tree.key()[1:] for tree in trees]
    assert "give its file with --input" in str(parse("--from", "export", "text").exception)
    mixed = parse("--from", "export", "--pretokenized", "--input", str(gold))
    assert "--pretokenized and --lines are for text" in str(mixed.exception)


@pytest.mark.parametrize("options", [[], ["--lines"], ["--pretokenized"]])
def test_a_treebank_is_not_parsed_as_text(parse, tmp_path, options):
    """From a file or standard input, compressed or not; unless it is said to be text."""
    gold = tmp_path / "gold.txt"
    write_trees([Tree.from_constituents([Token(w, "X") for w in WORDS[1]], [("NP", [0, 1])])] * 3, gold, "export")
    compressed = tmp_path / "gold.gz"
    compressed.write_bytes(gzip.compress(gold.read_bytes()))
    for path, input, name in (
        (gold, None, gold),
        (compressed, None, compressed),
        ("-", gold.read_bytes(), "standard input"),
    ):
        result = parse("--input", str(path), *options, input=input)
        assert isinstance(result.exception, UsageError)
        assert f"{name} looks like a treebank: add --from export" in str(result.exception)
    result = parse("--input", str(gold), "--from", "text", *options)
    assert result.exit_code == 0
    assert "=#BOS)" in result.stdout


def test_a_treebank_in_a_live_pipe_is_recognised(model):
    """Though nobody knows how much of it is there."""
    command = [sys.executable, "-m", "discoparse", "parse", "--model", model]
    treebank = "(ROOT (S (NP (DT 0=The) (NN 1=dog)) (VP (VB 2=barks))) (. 3=.))\n" * 3
    done = subprocess.run(command, input=treebank, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout) == (2, "")
    assert "standard input looks like a treebank: add --from discbracket" in done.stderr


def test_the_name_of_a_file_is_not_parsed_as_text(parse, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my text.txt").write_text("The dog barks.")
    (tmp_path / "dog").mkdir()
    result = parse("Cats bark.", "my text.txt")
    assert isinstance(result.exception, UsageError)
    assert "'my text.txt' is a file: did you mean --input 'my text.txt'?" in str(result.exception)
    assert "0=dog" in parse("dog").stdout  # a folder
    assert "text.txt" in parse("--input", "-", input="my text.txt").stdout


@pytest.mark.parametrize("options", [[], ["--to", "json"], ["--to", "tree"], ["--pretokenized"]])
@pytest.mark.parametrize("text", ["", "\n", " \n\n" * 200])
def test_empty_input_ends_alike_with_and_without_a_model(parse, options, text):
    with_model = parse(*options, input=text)
    without = CliRunner().invoke(cli, ["parse", *options], input=text)
    assert str(without.exception) == str(with_model.exception)
    assert (without.exit_code, without.output) == (with_model.exit_code, with_model.output)


def test_an_empty_treebank_needs_no_model(parse, tmp_path):
    (tmp_path / "none.export").write_text("#FORMAT 4\n")
    options = ["--from", "export", "--input", str(tmp_path / "none.export")]
    without = CliRunner().invoke(cli, ["parse", *options])
    assert (without.exit_code, without.output) == (0, "") == (parse(*options).exit_code, parse(*options).output)


def test_no_model_is_chosen_for_what_follows_a_flood_of_blank_lines():
    result = CliRunner().invoke(cli, ["parse"], input="\n" * 20_000 + "The dog barks.")
    assert isinstance(result.exception, UsageError)
    assert "name it with --model" in str(result.exception)


@pytest.mark.parametrize("options", [[], ["--pretokenized"]])
def test_a_live_pipe_is_parsed_as_text_comes(model, options):
    """The first tree is there before the second sentence."""
    command = [sys.executable, "-m", "discoparse", "parse", "--model", model, *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        patience = threading.Timer(120, process.kill)  # should it wait for more, the output ends here
        patience.start()
        for word in (b"one", b"two"):
            process.stdin.write(word + b" dog .\n\n")
            process.stdin.flush()
            line = next((line for line in process.stdout if line.strip()), b"")  # the blank line has a result, too
            assert b"0=" + word in line
        patience.cancel()
        process.stdin.close()
        assert process.stdout.read().strip() == b""
    assert process.returncode == 0


def test_termination_leaves_nothing_half_written(model, tmp_path):
    """SIGTERM clears away the unfinished file, as Ctrl-C does."""
    output = tmp_path / "trees.discbracket"
    command = [sys.executable, "-m", "discoparse", "parse", "--model", model, "--output", str(output)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(b"A dog .\n\n")
        process.stdin.flush()
        for _ in range(600):
            if list(tmp_path.iterdir()):
                break
            time.sleep(0.1)
        assert list(tmp_path.iterdir())
        process.terminate()
        assert process.wait(60) == 143
    assert list(tmp_path.iterdir()) == []


def test_each_argument_is_a_text_of_its_own(parse):
    trees = json.loads(parse("--to", "json", "The dog", "Cats bark").stdout)
    assert [tree["text"] for tree in trees] == ["The dog", "Cats bark"]
    assert [tree["tokens"][0]["span"] for tree in trees] == [[0, 3], [0, 4]]


def test_json_places_every_constituent_in_the_text(parse):
    """Offsets are those of the file as it is, CRLF line ends included; discontinuous nodes have several spans."""
    trees = json.loads(parse("--to", "json", input=TEXT.encode()).stdout)
    gaps = 0
    for tree in trees:
        tokens = tree["tokens"]
        assert tree["text"] == TEXT[tokens[0]["span"][0] : tokens[-1]["span"][1]]
        assert all(token["tag"] for token in tokens)
        for node in tree["nodes"]:
            assert 0 <= node["label_probability"] <= 1
            assert node["label"]
            covered = "".join(TEXT[start:end] for start, end in node["spans"]).split()
            expected = "".join(TEXT[slice(*tokens[i]["span"])] for i in node["tokens"])
            assert "".join(covered) == expected
            gaps += len(node["spans"]) - 1
    assert gaps, "no discontinuous constituent: the test shows nothing"


@pytest.mark.parametrize("format", ["discbracket", "export", "tigerxml", "alpino", "json", "jsonl"])
def test_what_is_written_can_be_read(parse, tmp_path, format):
    path = tmp_path / f"trees.{format}"
    assert parse(TEXT, "--to", format, "--output", str(path)).exit_code == 0
    parser = random_parser()
    trees = list(read_trees(path, format))
    assert [tree.words for tree in trees] == WORDS
    assert [[c for c in t.constituents() if c[0] != "ROOT"] for t in trees] == [
        [c for c in t.constituents() if c[0] != "ROOT"] for t in parser.parse(TEXT)
    ]


def test_pictures(parse, tmp_path):
    drawn = parse("The dog barks.", "--to", "tree").stdout
    assert "The" in drawn.split("\n")[-3]
    for name, start in {"a.svg": "<svg", "a.tex": "%", "a.txt": " "}.items():
        parse(TEXT, "-o", str(tmp_path / name))
        assert (tmp_path / name).read_text().lstrip("\n").startswith(start)
    parse(TEXT, "-o", str(tmp_path / "a.svg.gz"))
    assert gzip.decompress((tmp_path / "a.svg.gz").read_bytes()) == (tmp_path / "a.svg").read_bytes()
    parse(TEXT, "-o", str(tmp_path / "pictures") + "/", "--to", "tikz")
    assert sorted(path.name for path in (tmp_path / "pictures").iterdir()) == ["1.tex", "2.tex", "3.tex"]


def test_pictures_have_the_options_of_draw(parse, tmp_path):
    """`parse` draws what `draw` draws of the same trees; `text` is another name for `tree`."""
    trees = tmp_path / "trees.discbracket"
    parse(TEXT, "-o", str(trees))
    for options in (
        ["--to", "tree", "--no-tags", "--width", "60"],
        ["--to", "svg", "--style", "slanted", "--roof", "NP"],
        ["--to", "tikz", "--subtree", "1-2", "--standalone"],
    ):
        drawn = CliRunner().invoke(cli, ["draw", str(trees), "--sentence", "1", *options]).stdout
        assert parse("What did you see?", *options).stdout.rstrip() == drawn.rstrip()
    assert parse(TEXT, "--to", "text").stdout == parse(TEXT, "--to", "tree").stdout
    assert "--roof is for pictures" in str(parse(TEXT, "--to", "json", "--roof", "NP").exception)


@pytest.mark.parametrize(("name", "start"), [("a.pdf", b"%PDF"), ("a.png", b"\x89PNG")])
def test_pictures_in_bytes(parse, tmp_path, name, start):
    pytest.importorskip("cairosvg")
    assert parse(TEXT, "-o", str(tmp_path / name)).exit_code == 0
    assert (tmp_path / name).read_bytes().startswith(start)


def test_pretokenized_lines_stay_aligned(parse):
    """One line out for each line in, blank or not; words come back as they came, -LRB- included."""
    lines = "The dog -LRB- old -RRB- barks .\n\n  \na=b #LRB# ( \\/\n"
    output = parse("--pretokenized", "--to", "jsonl", input=lines).stdout.splitlines()
    found = [json.loads(line) for line in output]
    assert [tree and [token["word"] for token in tree["tokens"]] for tree in found] == [
        line.split() or None for line in lines.splitlines()
    ]
    assert [tree["id"] for tree in found if tree] == ["1", "4"]
    brackets = parse("--pretokenized", input=lines).stdout.split("\n")
    assert [bool(line) for line in brackets] == [True, False, False, True, False]
    assert "=-LRB-)" in brackets[0]


def test_lines_end_sentences_if_asked(parse):
    text = "the dog\nbarks"
    assert len(parse(text).stdout.splitlines()) == 1
    assert len(parse(text, "--lines").stdout.splitlines()) == 2


def test_hostile_text_is_parsed_and_the_rest_of_the_stream_too(parse):
    """Bad bytes, controls, emoji, empty lines, a line of 100,000 characters: a message where needed, and it goes on."""
    text = b"The dog barks.\n\n\xff\xfe bad \x00\x07 bytes.\n\n" + "👩‍👩‍👧 ok.\n\n".encode() + b"x" * 100_000 + b"\n\n"
    text += b"The dog barks. " * 6_700 + b"\n\n" + b"word " * 2_100 + b"\n\nCats bark."
    result = parse("--to", "jsonl", input=text)
    trees = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 0
    assert len(trees) == 4 + 6_700 + 2 + 1
    assert trees[0]["text"] == "The dog barks."
    assert trees[-1]["text"] == "Cats bark."
    assert "2 bytes that cannot be decoded are read as U+FFFD, the first on line 3" in result.stderr
    assert "has 2,100 tokens, more than 2,000: cut into 2 parts" in result.stderr


# UTF-16, and what gzip and xz make: none of it is read as lines of UTF-8.
OTHER_THAN_LINES = (b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"\xfd7zXZ\x00")


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)), st.booleans(), st.sampled_from(OUTPUTS))
def test_any_bytes_are_parsed_without_a_traceback(parse, content, pretokenized, format):
    """Whatever comes in, and whatever format goes out: no exception, and with --pretokenized a line for each line."""
    result = parse("--to", format, *["--pretokenized"] * pretokenized, input=content)
    assert result.exit_code in (0, 1)
    if pretokenized and format == "jsonl" and not content.startswith(OTHER_THAN_LINES):
        lines = content.decode("utf-8", "replace").split("\n")
        assert len(result.stdout.split("\n")) - 1 == len(lines) - (lines[-1] == "")


def test_what_is_refused_is_told_and_shows_in_the_exit_status(parse):
    lines = "The dog\n" + "word " * (LONGEST_SENTENCE + 1) + "\nCats bark\n"
    result = parse("--pretokenized", input=lines)
    assert result.exit_code == 1
    assert "line 2 is refused: it has 2,001 tokens, more than 2,000" in result.stderr
    first, second, third = result.stdout.splitlines()
    assert ("The" in first, second, "Cats" in third) == (True, "", True)


def test_traces_are_parsed_as_words_with_a_warning(parse, tmp_path):
    path = tmp_path / "traces.mrg"
    path.write_text("(S (NP (-NONE- *)) (VP (VBZ barks)))\n" * 3)
    result = parse("--from", "bracket", "--input", str(path))
    assert result.stderr.count("sentences have empty elements, which are parsed as words") == 1
    assert len(result.stdout.splitlines()) == 3


def test_a_damaged_file_is_parsed_up_to_the_damage(parse, tmp_path):
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress("".join(f"The dog barks {k} times.\n\n" for k in range(5000)).encode())[:-200])
    result = parse("--input", str(path))
    assert result.exit_code == 1
    assert "cut off or damaged" in result.stderr
    assert len(result.stdout.splitlines()) > 4800


def test_bracket_leaves_out_what_it_cannot_hold(parse):
    result = parse(TEXT, "--to", "bracket")
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 3
    assert "discontinuous" in result.stderr


def test_other_encodings(parse):
    assert "Þá=" not in parse(input="Þá".encode("latin-1")).stdout
    assert "0=Þá" in parse("--encoding", "latin-1", input="Þá".encode("latin-1")).stdout
    assert "0=Þá" in parse(input="Þá".encode("utf-16")).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "a", "text"], "not both"),
        (["--input", "no such file"], "No such file"),
        (["--encoding", "nonsense"], "'nonsense' is not a text encoding"),
        (["--pretokenized", "--lines", "text"], "--lines is for raw text"),
        (
            ["text", "--output", "trees.foo"],
            f"cannot tell the format from the name trees.foo: name it with --to {'|'.join(OUTPUTS)}",
        ),
        (["text", "--output", "trees.xml"], "trees.xml may be of several formats"),
        (["text", "--output", "/", "--to", "export"], "for pictures only"),
        (["text", "--model", "no model"], "there is no model 'no model'"),
    ],
)
def test_wrong_use_is_explained(model, arguments, message, capsys, monkeypatch):
    """As the program runs: an error and a status, never a traceback."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"text")))
    with pytest.raises(SystemExit) as ended:
        main(["parse", "--model", model, *arguments])
    assert ended.value.code in (1, 2)
    assert message in capsys.readouterr().err


def test_a_terminal_shows_drawn_trees_and_a_file_gets_a_progress_bar(model, tmp_path):
    """What depends on where the output goes, seen on a real terminal."""
    pytest.importorskip("pty")
    assert "─" in _on_a_terminal("parse", "--model", model, "What did you see?")
    file = tmp_path / "text.txt"
    file.write_text("The dog barks. " * 100)
    shown = _on_a_terminal("parse", "--model", model, "--input", str(file), "--output", str(tmp_path / "x.export"))
    assert "100%" in shown
    assert (tmp_path / "x.export").read_text().count("#EOS") == 100


def _on_a_terminal(*arguments: str) -> str:
    """What the program writes on a terminal of 100 columns."""
    import fcntl
    import pty
    import struct
    import termios

    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        os.execv(sys.executable, [sys.executable, "-c", "from discoparse.cli import main; main()", *arguments])
    written = b""
    try:
        while block := os.read(terminal, 4096):
            written += block
    except OSError:  # on Linux, the end
        pass
    assert os.waitpid(process, 0)[1] == 0
    return written.decode()
