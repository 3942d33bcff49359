"""Requests that nobody should send: fields of wrong types, half of a JSON text, deep nesting, odd characters and paths.

`python tests/support/hostile_requests.py 100000` sends that many to a server with small models.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

_SENTENCES = ("text", "tokens", "model", "language", "lines", "constraints")
_TREES = ("tree", "from")
_PICTURES = (
    *("format", "width", "scale", "style", "roof", "hide", "subtree", "gloss", "font", "tags", "functions", "surface"),
    *("highlight", "color", "standalone"),
)
ENDPOINTS = {
    "parse": (*_SENTENCES, "probabilities", "consensus", "best", *_PICTURES),
    "derive": (*_SENTENCES, *_TREES, "sentence", "system"),
    "draw": (*_TREES, "compare", *_PICTURES),
    "convert": (*_TREES, *_PICTURES),
    "evaluate": ("gold", "predicted", "from", "predicted_from", "by", "errors", "sentences", "allow_missing"),
}
SOUND = {
    "parse": {"tokens": ["What", "did", "you", "say"], "model": "one"},
    "derive": {"text": "What did you say?", "model": "two"},
    "draw": {"tree": "(S (VP (V 0=wake) (P 2=up)) (N 1=them))"},
    "convert": {"tree": "(S (VP (V 0=wake) (P 2=up)) (N 1=them))", "format": "export"},
    "evaluate": {"gold": "(S (V 0=wake) (N 1=them))", "predicted": "(S (V 0=wake) (N 1=them))"},
}
STRINGS = (
    *("", " ", "\0", "\ud800", "a\udfffb", "\u202e\u0300", "A" * 300, "💥", "<script>", "../../etc/passwd", "one"),
    *("svg", "json", "export", "tigerxml", "NP:99999999999999999999", "1-99999999999", "(", ")", "(S (N 0=a))"),
    *("(S (N 5=a))", '{"tokens":[]}', "#BOS 1\n", "<corpus><s>", '<!DOCTYPE a [<!ENTITY b "c">]><s>&b;</s>', "%"),
    *(
        "What did you say? I see.",
        "(S (VP (V 0=wake) (P 2=up)) (N 1=them))",
        "lemma",
        "elbow",
        "set",
        "label",
        "root",
        "slanted",
        "tikz",
        "forest",
        "tree",
    ),
)
NUMBERS = (0, 1, 2, -1, 3.5, 1e308, -0.0, 10**30, 10**400, 2**31, 2**63, 5)
TREE = {
    "tokens": [{"word": "a", "tag": "X", "parent": 0}, {"word": "b", "tag": "Y", "parent": 1}],
    "nodes": [{"label": "S", "parent": None}, {"label": "NP", "parent": 0, "probability": 0.5}],
}
PATHS = ("", "/", "//", "/..", "/%2e%2e/", "/parse", "/parse/", "/models/%00", "/models/../one", "/docs", "/%ff")
HEADERS = ("Content-Type", "Authorization", "X-Forwarded-For", "Accept", "Range", "If-None-Match", "Expect", "Cookie")


def value(chance: random.Random, depth: int = 3) -> Any:
    """Some JSON, often of the right shape."""
    kind = chance.randrange(10 if depth else 5)
    if kind < 3:
        return chance.choice(STRINGS)
    if kind == 3:
        return chance.choice(NUMBERS)
    if kind == 4:
        return chance.choice([None, True, False])
    if kind < 8:
        return [value(chance, depth - 1) for _ in range(chance.randrange(4))]
    if kind == 8:
        return damaged_tree(chance, depth)
    keys = (
        "tokens",
        "nodes",
        "constituents",
        "forbidden",
        "tags",
        "words",
        "label",
        "labels",
        "parent",
        "0",
        "-1",
        "x",
    )
    return {chance.choice(keys): value(chance, depth - 1) for _ in range(chance.randrange(4))}


def damaged_tree(chance: random.Random, depth: int) -> Any:
    tree = json.loads(json.dumps(TREE))
    for _ in range(chance.randrange(3)):
        part = chance.choice([tree, chance.choice(tree["tokens"]), chance.choice(tree["nodes"])])
        if isinstance(part, dict) and part:
            part[chance.choice([*part, "span", "features", "secondary_edges"])] = value(chance, max(0, depth - 1))
            if not all(isinstance(tree.get(key), list) and tree[key] for key in ("tokens", "nodes")):
                break
    return tree


def body(chance: random.Random, endpoint: str) -> bytes:
    """The body of a request: mostly a sound one with some fields changed, sometimes cut or overwritten."""
    kind = chance.randrange(14)
    if kind == 0:
        return chance.randbytes(chance.randrange(40))
    if kind == 1:
        return chance.choice([b"[", b'{"a":', b'{"text":[']) * chance.randrange(3000)
    fields = dict(SOUND[endpoint])
    for _ in range(chance.randrange(1, 4)):
        fields[chance.choice(ENDPOINTS[endpoint] if chance.random() < 0.95 else ["nonsense", "", "\0"])] = value(chance)
    raw = json.dumps(fields, ensure_ascii=chance.random() < 0.7).encode("utf-8", "surrogatepass")
    if kind == 2:
        return raw[: chance.randrange(len(raw) + 1)]
    if kind == 3:
        place = chance.randrange(len(raw))
        return raw[:place] + chance.randbytes(2) + raw[place + 1 :]
    return raw


def send(client: Any, chance: random.Random) -> Any:
    """One hostile request, and its answer."""
    if chance.random() < 0.1:
        method = chance.choice(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
        headers = {chance.choice(HEADERS): chance.choice(["a", "bytes=0-", "\x7f", "x" * 999, "*/*", "100-continue"])}
        headers.pop("Expect", None)
        return client.request(method, "/api/v1" + chance.choice(PATHS), headers=headers, content=b"")
    endpoint = chance.choice(list(ENDPOINTS))
    return client.post(f"/api/v1/{endpoint}", content=body(chance, endpoint))


def check(answer: Any) -> None:
    """Never an error of the server, never a traceback."""
    assert answer.status_code < 500, (answer.request.url, answer.request.content, answer.text)
    assert "Traceback" not in answer.text
    if answer.status_code >= 400 and answer.request.method != "HEAD":
        assert answer.json()["error"]


def main() -> None:
    from serving import running, small_catalogue

    count = int(sys.argv[1])
    statuses: dict[int, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        catalogue = small_catalogue(Path(folder), "one", "two")
        with running(catalogue) as (client, _):
            for seed in range(count):
                answer = send(client, random.Random(seed))
                check(answer)
                statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
                if seed % 10_000 == 0 or seed == count - 1:
                    pages = int(Path("/proc/self/statm").read_text().split()[1])
                    print(f"{seed + 1} requests, {pages * 4096 / 1e6:.0f} MB", statuses, flush=True)


if __name__ == "__main__":
    main()
