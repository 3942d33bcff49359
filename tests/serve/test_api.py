"""The API: what each endpoint answers, the same as the library, and what it refuses."""

from __future__ import annotations

import gzip
import json
from urllib.parse import quote, unquote

import pytest
from serving import error, post, running, small_catalogue

from discoparse.serve.settings import Settings

WORDS = ["What", "did", "you", "say", "?"]


# -- parse --------------------------------------------------------------------------------------------------------


def test_text_is_parsed_as_by_the_library(client, catalogue):
    answer = post(client, "parse", text="What did you say? I see.", model="two").json()
    trees = catalogue.models["two"].parser.parse("What did you say? I see.")
    assert list(answer) == ["model", "trees"]
    assert answer["model"] == "two"
    assert len(trees) == 2
    assert answer["trees"] == [{"id": str(k), **tree.to_json()} for k, tree in enumerate(trees, 1)]


def test_many_texts(client):
    answer = post(client, "parse", text=["Go on. I see.", "", "What?"], model="one").json()
    assert answer["texts"] == [2, 0, 1]
    assert len(answer["trees"]) == 3


def test_tokens_one_sentence_or_many(client, catalogue):
    one = post(client, "parse", tokens=WORDS, model="one").json()["trees"]
    many = post(client, "parse", tokens=[WORDS, ["Go"]], model="one").json()["trees"]
    expected = [tree.to_json() for tree in catalogue.models["one"].parser.parse_tokens([WORDS, ["Go"]])]
    assert many == [{"id": str(k), **tree} for k, tree in enumerate(expected, 1)]
    assert one == many[:1]


def test_other_formats_have_the_trees_of_the_library(client, catalogue):
    """Of text, where trees know it; pictures of them are made of trees, JSON is not."""
    trees = catalogue.models["one"].parser.parse("What did you say? I see.")
    answer = post(client, "parse", text="What did you say? I see.", model="one", format="jsonl").text
    assert [json.loads(line) for line in answer.splitlines()] == [
        {"id": str(k), **tree.to_json()} for k, tree in enumerate(trees, 1)
    ]


@pytest.mark.parametrize("format", ["discbracket", "export", "tigerxml", "json", "jsonl", "tree", "svg", "tikz"])
def test_any_format(client, format):
    answer = post(client, "parse", tokens=WORDS, model="one", format=format)
    assert answer.status_code == 200
    assert answer.headers["discoparse-model"] == "one"
    assert "say" in answer.text


@pytest.mark.parametrize("format", ["svg", "tree", "text", "tikz", "forest"])
def test_of_no_sentence_there_is_no_picture(client, format):
    assert "no trees to draw" in error(post(client, "parse", text=" ", model="one", format=format), 422)


@pytest.mark.parametrize(
    ("format", "written"),
    [("json", '{"model":"one","trees":[]}'), ("jsonl", ""), ("discbracket", ""), ("alpino", "</treebank>\n")],
)
def test_of_no_sentence_there_are_no_trees(client, format, written):
    answer = post(client, "parse", text="", model="one", format=format)
    assert answer.status_code == 200
    assert answer.text.endswith(written)
    assert bool(answer.text) == bool(written)


def test_the_model_in_a_header(tmp_path):
    """Its name is that of a directory, and a header has room for ASCII only."""
    with running(small_catalogue(tmp_path, "模型", "nl-large_2.0~x")) as (client, _):
        for name in ("模型", "nl-large_2.0~x"):
            answer = post(client, "parse", tokens=WORDS, model=name)
            assert answer.status_code == 200, answer.text
            assert answer.json()["model"] == unquote(answer.headers["discoparse-model"]) == name
            assert client.get(f"/api/v1/models/{quote(name)}").json()["name"] == name
        assert answer.headers["discoparse-model"] == "nl-large_2.0~x"


def test_options_of_pictures(client):
    def drawn(**options):
        return post(client, "parse", tokens=WORDS, model="one", format="svg", **options).text

    assert drawn() != drawn(style="slanted") != drawn(tags=False)


def test_constraints_are_met(client):
    constraints = {"constituents": [[0, 3]], "tags": {"4": "."}}
    tree = post(client, "parse", tokens=WORDS, model="one", constraints=constraints).json()["trees"][0]
    spans = {frozenset(_yield(tree, k)) for k in range(len(tree["nodes"]))}
    assert {0, 3} in spans
    assert tree["tokens"][4]["tag"] == "."


def _yield(tree, node):
    below = {node} | {k for k, n in enumerate(tree["nodes"]) if _under(tree, k, node)}
    return [k for k, token in enumerate(tree["tokens"]) if token["parent"] in below]


def _under(tree, k, node):
    while k is not None:
        k = tree["nodes"][k]["parent"]
        if k == node:
            return True
    return False


def test_constrained_sentences_are_not_parsed_together_with_others(catalogue, monkeypatch):
    with running(catalogue) as (client, app):
        jobs = []
        at_once = app.api.queue.at_once
        monkeypatch.setattr(app.api.queue, "at_once", lambda job: jobs.append(job) or at_once(job))
        post(client, "parse", tokens=WORDS, model="one")
        post(client, "parse", tokens=WORDS, model="one", constraints={"forbidden": [[0, 1]]})
        post(client, "parse", tokens=WORDS, model="one", constraints=[None])
    assert jobs[0].method != jobs[1].method
    assert jobs[0].method == jobs[2].method


def test_tokens_count_with_the_spaces_between_them(catalogue):
    """So that many short words are not taken for a short sentence."""
    with running(catalogue, Settings(characters=20)) as (client, _):
        assert post(client, "parse", tokens=["a"] * 10, model="one").status_code == 200
        assert "has 22 characters" in error(post(client, "parse", tokens=["a"] * 11, model="one"), 413)


def test_constraints_that_clash_are_named(client):
    answer = post(client, "parse", tokens=WORDS, model="one", constraints={"constituents": [[0, 1], [1, 2]]})
    assert "overlap" in error(answer, 422)
    assert len(answer.json()["pair"]) == 2


def test_probabilities_by_sampling(client):
    tree = post(client, "parse", tokens=WORDS, model="one", probabilities=8).json()["trees"][0]
    assert all(0 <= node["probability"] <= 1 for node in tree["nodes"])
    assert tree["nodes"][0]["label_probability"] <= 1
    assert post(client, "parse", tokens=WORDS, model="one", consensus=True).status_code == 200
    error(post(client, "parse", tokens=WORDS, model="one", probabilities=10_000), 422)


def test_the_best_trees(client, catalogue):
    answer = post(client, "parse", text=["Go on. I see.", "What?"], model="one", best=3).json()
    expected = catalogue.models["one"].parser.parse_tokens(
        [["Go", "on", "."], ["I", "see", "."], ["What", "?"]], best=3
    )
    assert [tree["id"] for tree in answer["trees"]] == [
        f"{number}.{rank}" for number, trees in enumerate(expected, 1) for rank in range(1, len(trees) + 1)
    ]
    found = [tree["probability"] for tree in answer["trees"]]
    assert found == pytest.approx([tree.probability for trees in expected for tree in trees], abs=1e-5)
    assert len(expected[0]) == 3
    assert answer["texts"] == [2, 1]
    lines = post(client, "parse", tokens=WORDS, model="one", best=2, format="discbracket").text.splitlines()
    assert len([line for line in lines if line.startswith("(")]) == 2
    for wrong in (0, 65, "3", True):
        error(post(client, "parse", tokens=WORDS, model="one", best=wrong), 422)


@pytest.mark.parametrize(
    "fields",
    [
        {"constraints": {"forbidden": [[0, 1]]}, "probabilities": 8},
        {"constraints": {"forbidden": [[0, 1]]}, "best": 2},
        {"consensus": True, "best": 2},
    ],
)
def test_what_excludes_each_other(client, fields):
    assert "one of them at a time" in error(post(client, "parse", tokens=WORDS, model="one", **fields), 422)


def test_the_model_is_named_or_chosen(client):
    assert "one, two" in error(post(client, "parse", tokens=WORDS, model="three"), 422)
    assert post(client, "parse", tokens=WORDS, language="en").status_code == 200
    assert "language" in error(post(client, "parse", tokens=WORDS, language="fi"), 422)
    answer = post(client, "parse", text="Xyzzy plugh.")
    assert error(answer, 422)
    assert answer.json()["choose_model"] is True


@pytest.mark.parametrize("model", ["../two", "/etc/passwd", "", "one/", "."])
def test_no_model_by_path(client, catalogue, model):
    error(post(client, "parse", tokens=WORDS, model=model), 422)
    assert list(catalogue.models) == ["one", "two"]


@pytest.mark.parametrize(
    ("fields", "status", "said"),
    [
        ({}, 422, "either text"),
        ({"text": "a", "tokens": ["a"]}, 422, "either text"),
        ({"text": 5}, 422, "text must be a string"),
        ({"text": ["a", 5]}, 422, "text[1] must be a string"),
        ({"text": "\ud800"}, 422, "surrogate"),
        ({"text": "a" * 5001}, 413, "5,001 characters"),
        ({"text": "Go. " * 21}, 422, "more than 20 sentences"),
        ({"tokens": ["a"] * 41}, 422, "41 tokens"),
        ({"tokens": []}, 422, "not empty"),
        ({"tokens": [["a"], []]}, 422, "0 words"),
        ({"tokens": ["a", ""]}, 422, "empty"),
        ({"tokens": ["a", 1]}, 422, "tokens[1] must be a string"),
        ({"tokens": ["a"], "format": "png"}, 422, "format must be one of"),
        ({"tokens": ["a"], "width": 10**400}, 422, "a huge number"),
        ({"tokens": ["a"], "tags": "yes"}, 422, "tags must be true or false"),
        ({"tokens": ["a"], "colour": True}, 422, "no field 'colour'"),
        ({"tokens": ["a"], "constraints": [None, None]}, 422, "one entry for each of the 1"),
        ({"text": "a", "constraints": {}}, 422, "constraints are about tokens"),
        ({"tokens": ["a"], "constraints": {"tags": {"9" * 5000: "NN"}}}, 422, f"tokens, and '{'9' * 38}… is not one"),
    ],
)
def test_what_parse_refuses(client, fields, status, said):
    body = json.dumps({"model": "one", **fields})
    assert said in error(client.post("/api/v1/parse", content=body), status)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b'{"text": NaN}', "NaN"),
        (b"\xff", "not UTF-8"),
        (b"[" * 9000, "not JSON"),
        (b'{"a":' * 3000 + b"1" + b"}" * 3000, "nested too deeply"),
        (b"1" * 5000, "not JSON"),
    ],
)
def test_bodies_that_are_not_json(client, body, said):
    assert said in error(client.post("/api/v1/parse", content=body), 400) or said == "not JSON"


def test_large_bodies_are_refused_unread(client):
    answer = client.post("/api/v1/parse", content=b" " * 20_001)
    assert "20,000 bytes" in error(answer, 413)
    assert answer.headers["connection"] == "close"

    def pieces():
        for _ in range(30):
            yield b" " * 1000

    error(client.post("/api/v1/parse", content=pieces()), 413)


def test_a_body_of_another_kind_is_refused(client):
    assert "Content-Type" in error(client.post("/api/v1/parse", data={"text": "a"}), 415)


def test_a_compressed_body_is_refused(client):
    body = json.dumps({"tokens": WORDS, "model": "one"}).encode()
    packed = client.post("/api/v1/parse", content=gzip.compress(body), headers={"Content-Encoding": "gzip"})
    assert "Content-Encoding 'gzip': send it uncompressed" in error(packed, 415)
    assert client.post("/api/v1/parse", content=body, headers={"Content-Encoding": "identity"}).status_code == 200


# -- the other endpoints ------------------------------------------------------------------------------------------


def test_models_and_cards(client, catalogue):
    listed = client.get("/api/v1/models").json()
    assert [model["name"] for model in listed["models"]] == ["one", "two"]
    model = client.get("/api/v1/models/two").json()
    assert model["card"] == catalogue.models["two"].card
    assert "NP" in model["labels"]
    assert "NN" in model["tags"]
    error(client.get("/api/v1/models/three"), 404)
    error(client.get("/api/v1/models/..%2ftwo"), 404)


def test_health_and_metrics(client):
    health = client.get("/api/v1/health").json()
    assert (health["status"], health["models"], health["limits"]["tokens"]) == ("ok", ["one", "two"], 40)
    before = _metric(client, "discoparse_sentences_total")
    post(client, "parse", tokens=[WORDS, ["Go"]], model="one")
    assert _metric(client, "discoparse_sentences_total") == before + 2
    assert _metric(client, 'discoparse_request_seconds_bucket{le="+Inf"}') == _metric(
        client, "discoparse_request_seconds_count"
    )


def _metric(client, name):
    lines = client.get("/api/v1/metrics").text.splitlines()
    return float(next(line.rpartition(" ")[2] for line in lines if line.startswith(name)))


def test_the_description_has_every_endpoint_and_field(client):
    document = client.get("/api/v1/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method == "get":
                assert client.get(f"/api/v1{path.format(name='one')}").status_code == 200
            elif method == "post":
                media = operation["requestBody"]["content"]["application/json"]
                answer = client.post(
                    f"/api/v1{path}",
                    json={"model": "one", **media["example"]} if path in ("/parse", "/derive") else media["example"],
                )
                assert answer.status_code in (200, 422), (path, answer.text)
                # A field that the endpoint does not have is refused with a list of those it has.
                refused = client.post(
                    f"/api/v1{path}",
                    json={**media["example"], "language": "en", "nonsense": 1}
                    if path in ("/parse", "/derive")
                    else {**media["example"], "nonsense": 1},
                )
                known = set(refused.json()["error"].rpartition("fields are ")[2].split(", "))
                assert known - {"tree", "from", "system"} == set(media["schema"]["properties"]) - {
                    "tree",
                    "from",
                    "system",
                }


# -- the server as a whole ----------------------------------------------------------------------------------------


def test_unknown_places_and_methods(client):
    assert "/api/v1/docs" in error(client.get("/api/v1/nothing"), 404)
    error(client.get("/../../etc/passwd"), 404)
    error(client.get("/%2e%2e/%2e%2e/etc/passwd"), 404)
    error(client.get("/page/../index.html%00"), 404)
    answer = client.get("/api/v1/parse")
    assert "POST" in error(answer, 405)
    assert answer.headers["allow"] == "POST"
    assert client.head("/api/v1/health").status_code == 200


def test_headers_of_every_answer(client):
    for answer in (client.get("/"), client.get("/api/v1/health"), client.get("/nothing"), post(client, "parse")):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in answer.headers


def test_a_token_is_wanted(catalogue):
    with running(catalogue, Settings(token="secret")) as (client, _):
        assert "Bearer" in error(post(client, "parse", tokens=WORDS), 401)
        for wrong in ("Bearer other", "Basic secret", "secret", "Bearer"):
            error(client.get("/api/v1/models", headers={"Authorization": wrong}), 401)
        assert client.get("/api/v1/models", headers={"Authorization": "Bearer secret"}).status_code == 200
        assert client.get("/api/v1/health").json()["token"] is True
        assert "secret" not in client.get("/api/v1/health").text


def test_files_of_the_page_are_asked_for_again(client):
    first = client.get("/style.css")
    assert first.headers["content-type"] == "text/css; charset=utf-8"
    again = client.get("/style.css", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert "content-type" not in again.headers
    assert client.get("/style.css", headers={"If-None-Match": '"other"'}).content == first.content
