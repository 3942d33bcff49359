"""Models changed at random, with right checksums: an error in a sentence or a parser that parses, nothing else."""

from __future__ import annotations

import copy
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from command_line import run_main
from handmade_models import edit, seal
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tiny_models import tiny_model

from discoparse.errors import DiscoparseError
from discoparse.model.info import read_info
from discoparse.model.model import replace_info
from discoparse.parser.finding import load_parser

SENTENCES = [["what", "to", "do", "?"], ["x"]]


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("models") / "sound"
    tiny_model(path)
    return path


ODD = st.sampled_from(
    [None, True, -1, 0, 1, 2.5, 10**30, 1e308, "", "\ud800", "\x00", "a", [], {}, [[]], [1], {"a": []}]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to every part of a value."""
    found = [path]
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        found += places(part, (*path, key))
    return found


def mutated(value: Any, chance: random.Random, new: Any) -> Any:
    """A copy with one part replaced, removed, doubled, or exchanged with another."""
    value = copy.deepcopy(value)
    path = chance.choice(places(value)[:400])  # of a vocabulary, mostly its beginning
    if not path:
        return new
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    kind = chance.choice(["replace", "remove", "double", "exchange"])
    if kind == "replace":
        holder[path[-1]] = new
    elif kind == "remove":
        del holder[path[-1]]
    elif kind == "double" and isinstance(holder, list):
        holder.append(holder[path[-1]])
    else:
        other = chance.choice(list(value.values()))
        holder[path[-1]] = copy.deepcopy(other)
    return value


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["config.json", "metrics.json", "vocabulary.json"]),
    st.integers(0, 2**32),
    st.lists(ODD, min_size=1, max_size=3),
)
@example("vocabulary.json", 0, [["a", "b"]])
def test_a_model_works_or_is_refused(sound, tmp_path_factory, file, seed, values):
    """Random changes of the JSON files with right checksums: an error in a sentence, or a parser that parses."""
    path = Path(shutil.copytree(sound, tmp_path_factory.mktemp("fuzz") / "model"))
    chance = random.Random(seed)

    def change(value: Any) -> Any:
        for new in values:
            if isinstance(value, dict) and value:
                value = mutated(value, chance, new)
        return value

    edit(path, file, change)
    try:
        parser = load_parser(path)
    except DiscoparseError:
        pass
    else:
        trees = parser.parse_tokens(SENTENCES)
        assert [tree.words for tree in trees] == SENTENCES
        "\n".join(map(str, trees)).encode()
        replace_info(path, read_info(path))
        assert load_parser(path).parse_tokens(SENTENCES) == trees
    for arguments in (["models", str(path)], ["models", str(path), "--json"]):
        status, _, errors = run_main(*arguments)
        assert status in (0, 1)
        assert "Traceback" not in errors
    shutil.rmtree(path.parent)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32))
def test_parameters_work_or_are_refused(sound, tmp_path_factory, seed):
    """Random changes of the names, types and places in model.safetensors, with right checksums."""
    path = Path(shutil.copytree(sound, tmp_path_factory.mktemp("fuzz") / "model"))
    chance = random.Random(seed)
    content = (path / "model.safetensors").read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    types = ["F16", "F32", "F64", "BF16", "I8", "I64", "U8", "BOOL", "F8_E4M3", "F4", "C64", "X", 3]
    for entry in chance.sample(sorted(header), 2):
        kind = chance.randrange(4)
        if kind == 0:
            header[entry]["dtype"] = chance.choice(types)
        elif kind == 1:
            header[entry]["shape"] = [chance.choice([0, 1, 2**62, -1, 16]) for _ in range(chance.randrange(4))]
        elif kind == 2:
            header[entry]["data_offsets"] = [chance.randrange(-1, len(content)) for _ in range(2)]
        else:
            header[chance.choice(["x", "__metadata__", entry[::-1]])] = header.pop(entry)
    rewritten = json.dumps(header).encode()
    (path / "model.safetensors").write_bytes(len(rewritten).to_bytes(8, "little") + rewritten + content[8 + length :])
    seal(path)
    try:
        parser = load_parser(path)
    except DiscoparseError:
        pass
    else:
        assert len(parser.parse_tokens(SENTENCES)) == 2
    shutil.rmtree(path.parent)
