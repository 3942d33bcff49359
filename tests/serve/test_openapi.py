"""The description of the API: what it allows is what the server takes, and answers are as it says."""

from __future__ import annotations

import random
from urllib.parse import urljoin

import pytest
from api_schemas import Described, jsonschema
from hostile_requests import ENDPOINTS, SOUND, value
from serving import post, running

from discoparse.serve.pictures import FORMATS, PICTURES
from discoparse.serve.settings import Settings

WORDS = ["What", "did", "you", "say", "?"]
WAKE = "(S (VP (V 0=wake) (P 2=up)) (N 1=them))"
FLAT = "(S (V 0=wake) (N 1=them) (P 2=up))"
TREE = {"tokens": [{"word": "a", "tag": "X", "parent": 0}], "nodes": [{"label": "S", "parent": None}]}


@pytest.fixture(scope="module")
def described(client):
    return Described(client)


def test_its_schemas_are_schemas(described):
    for schema in described.schemas():
        jsonschema.Draft202012Validator.check_schema(schema)


# -- answers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("endpoint", "fields"),
    [
        ("parse", {"tokens": WORDS}),
        ("parse", {"text": ["What did you say? Go!", ""]}),
        ("parse", {"text": "What did you say?", "probabilities": 4}),
        ("parse", {"text": "What did you say?", "consensus": True}),
        ("parse", {"text": "What did you say?", "best": 3}),
        ("parse", {"tokens": WORDS, "constraints": {"constituents": [[0, 1], [1, 2]]}}),
        ("parse", {"tokens": WORDS, "constraints": {"tags": {"0": "no such tag"}}}),
        ("parse", {"text": "Xyzzy plugh.", "model": None}),
        ("parse", {"text": "a" * 5001}),
        ("derive", {"text": "What did you say?"}),
        ("derive", {"text": "What did you say?", "sentence": 2}),
        *(("parse", {"tokens": WORDS, "format": format}) for format in FORMATS),
        *(("convert", {"tree": WAKE, "format": format}) for format in FORMATS),
        *(("draw", {"tree": WAKE, "format": format}) for format in PICTURES),
        ("derive", {"tree": WAKE}),
        ("evaluate", {"gold": WAKE, "predicted": FLAT, "by": ["label"], "errors": 3, "sentences": True}),
        ("evaluate", {"gold": WAKE, "predicted": "("}),
    ],
)
def test_answers_are_as_described(client, described, endpoint, fields):
    parsing = endpoint == "parse" or (endpoint == "derive" and "tree" not in fields)
    described.check(endpoint, post(client, endpoint, **({"model": "one"} if parsing else {}) | fields))


def test_answers_to_other_bodies_are_as_described(client, described):
    place = "/api/v1/parse"
    for content, headers, status in (
        (b"{", {}, 400),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"{}", {"Content-Encoding": "gzip"}, 415),
        (b" " * 20_001, {}, 413),
    ):
        answer = client.post(place, content=content, headers=headers)
        assert answer.status_code == status
        described.check("parse", answer)


def test_what_it_says_of_others(client, described):
    """Statuses of places and methods that it does not describe."""
    for operation in (described.operation(name) for name in ("parse", "models", "health")):
        assert {"404", "405"} <= set(operation["responses"]["default"]["description"].replace(",", "").split())
    for endpoint in ("models", "health", "metrics", "openapi.json"):
        described.check(endpoint, client.get(f"/api/v1/{endpoint}"))
    for name in ("one", "three"):
        described.check("models/{name}", client.get(f"/api/v1/models/{name}"))


def test_who_needs_a_token(catalogue):
    with running(catalogue, Settings(token="secret")) as (client, _):
        described = Described(client)
        for endpoint in ("parse", "models", "metrics"):
            answer = client.request("POST" if endpoint == "parse" else "GET", f"/api/v1/{endpoint}")
            assert answer.status_code == 401
            described.check(endpoint, answer)
        for endpoint in ("health", "openapi.json"):
            assert described.operation(endpoint)["security"] == []
            described.check(endpoint, client.get(f"/api/v1/{endpoint}"))


def test_where_the_server_is(described):
    """Relative to the description, so that it holds behind a proxy, too."""
    (server,) = described.document["servers"]
    assert urljoin("http://a/parser/api/v1/openapi.json", server["url"]) == "http://a/parser/api/v1"
    assert urljoin("http://a/api/v1/openapi.json", server["url"]) == "http://a/api/v1"


def test_each_field_is_described(described):
    fields = described.document["components"]["schemas"]["Constraints"]["properties"]
    for path in described.document["paths"]:
        operation = described.operation(path[1:])
        if "requestBody" in operation:
            fields = fields | operation["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert [name for name, field in fields.items() if not field.get("description")] == []


@pytest.mark.parametrize("prefix", ["", "/parser"])
def test_the_page_of_the_description(open_page, address, prefix):
    """With the path of a proxy where there is one; fields have their bounds, and what they refer to is there."""
    page = open_page()

    def forward(route):
        route.fulfill(response=route.fetch(url=route.request.url.replace(f"{prefix}/", "/", 1)))

    if prefix:
        page.route(f"{address}{prefix}/**", forward)
    page.goto(f"{address}{prefix}/api/v1/docs")
    page.locator(".component").nth(3).wait_for()
    assert f"{address}{prefix}/api/v1/parse" in page.locator(".endpoint pre").first.inner_text()
    shown = page.locator("main").text_content()
    assert [cell for cell in page.locator("td").all_text_contents() if cell.rstrip().endswith(" or")] == []
    assert "integer from 1 to 64" in shown
    assert "Constraints or list of Constraints" in page.locator("td").all_text_contents()
    assert "Sets of tokens that must not be a constituent." in shown
    assert "null" not in shown.replace("null for the root", "")


# -- bodies -------------------------------------------------------------------------------------------------------

_TAKEN = [
    ("parse", {"tokens": WORDS, "best": 64}),
    ("parse", {"tokens": WORDS, "probabilities": 256}),
    ("parse", {"tokens": [WORDS, ["Go"]], "constraints": [None, {"forbidden": [], "tags": {"0": "NN"}}]}),
    ("parse", {"tokens": WORDS, "constraints": {"constituents": [[0, 3], {"tokens": [1, 2], "label": None}]}}),
    ("parse", {"tokens": WORDS, "width": 80.0, "scale": 1, "format": "tree"}),
    ("parse", {"tokens": WORDS, "text": None, "constraints": None, "best": None, "format": None, "width": None}),
    ("parse", {"text": [], "tokens": None, "lines": None, "probabilities": 0, "roof": None, "gloss": None}),
    ("derive", {"text": "Go!", "tokens": None, "sentence": None}),
    ("derive", {"tree": WAKE, "system": "gap", "from": None}),
    ("draw", {"tree": TREE, "compare": None, "format": None, "font": None, "hide": None}),
    ("draw", {"tree": [TREE], "compare": [TREE], "hide": ["root"]}),
    ("convert", {"tree": WAKE}),
    ("evaluate", {"gold": WAKE, "predicted": FLAT, "errors": 1000, "by": None, "predicted_from": None}),
]
_REFUSED = [
    ("parse", {}),
    ("parse", {"text": None}),
    ("parse", {"text": "Go!", "tokens": ["Go"]}),
    ("parse", {"text": "Go!", "constraints": {}}),
    ("parse", {"text": "Go!", "best": 65}),
    ("parse", {"text": "Go!", "best": 0}),
    ("parse", {"text": "Go!", "probabilities": 257}),
    ("parse", {"text": "Go!", "width": 39}),
    ("parse", {"text": "Go!", "width": 80.5}),
    ("parse", {"text": "Go!", "scale": 0}),
    ("parse", {"text": "Go!", "sentence": 1}),
    ("parse", {"text": "Go!", "format": "png"}),
    ("parse", {"text": "a" * 5001}),
    ("parse", {"tokens": []}),
    ("parse", {"tokens": [[]]}),
    ("parse", {"tokens": [["a"], []]}),
    ("parse", {"tokens": ["a", ""]}),
    ("parse", {"tokens": ["a"] * 41}),
    ("parse", {"tokens": [["a"]] * 21}),
    ("parse", {"tokens": ["a"], "constraints": {"constituents": [[]]}}),
    ("parse", {"tokens": ["a"], "constraints": {"constituents": [{"label": "NP"}]}}),
    ("parse", {"tokens": ["a"], "constraints": {"forbidden": [{"tokens": [0], "label": "NP"}]}}),
    ("parse", {"tokens": ["a"], "constraints": {"tags": {"first": "NN"}}}),
    ("parse", {"tokens": ["a"], "constraints": {"colour": "red"}}),
    ("derive", {}),
    ("derive", {"tree": None}),
    ("derive", {"tree": WAKE, "text": "Go!"}),
    ("derive", {"text": "Go!", "system": "set"}),
    ("derive", {"text": "Go!", "sentence": 21}),
    ("draw", {}),
    ("draw", {"tree": None}),
    ("draw", {"tree": []}),
    ("draw", {"tree": {"tokens": []}}),
    ("draw", {"tree": WAKE, "format": "export"}),
    ("convert", {"format": "export"}),
    ("convert", {"tree": ""}),
    ("evaluate", {"gold": WAKE}),
    ("evaluate", {"gold": WAKE, "predicted": FLAT, "errors": 1001}),
    ("evaluate", {"gold": WAKE, "predicted": FLAT, "errors": 0}),
    ("evaluate", {"gold": WAKE, "predicted": FLAT, "by": ["colour"]}),
]


@pytest.mark.parametrize(
    ("endpoint", "fields", "taken"),
    [*((*case, True) for case in _TAKEN), *((*case, False) for case in _REFUSED)],
)
def test_it_allows_what_the_server_takes(client, described, endpoint, fields, taken):
    if endpoint == "parse" or (endpoint == "derive" and "tree" not in fields):
        fields = {"model": "one"} | fields
    answer = post(client, endpoint, **fields)
    assert (answer.status_code == 200) is taken, answer.text
    assert described.takes(endpoint, fields) is taken


def test_whatever_the_server_takes_is_allowed(client, described):
    """Fields of any type and of any value."""
    chance = random.Random(1)
    taken = 0
    for _ in range(1000):
        endpoint = chance.choice(list(ENDPOINTS))
        fields = {**SOUND[endpoint], chance.choice(ENDPOINTS[endpoint]): value(chance)}
        try:
            answer = post(client, endpoint, **fields)
        except ValueError:  # half a surrogate pair, which cannot be sent
            continue
        if answer.status_code == 200:
            taken += 1
            assert described.takes(endpoint, fields), fields
    assert taken > 50
