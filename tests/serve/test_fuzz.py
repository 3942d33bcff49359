"""Hostile requests get answers that say what is wrong with them; none makes the server fail."""

from __future__ import annotations

import random
from contextlib import suppress

from hostile_requests import check, send
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

_COUNT = 1500  # of tests/support/hostile_requests.py, which can send many more

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def test_hostile_requests(client, capfd):
    for seed in range(_COUNT):
        check(send(client, random.Random(seed)))
    assert "Traceback" not in capfd.readouterr().err
    assert client.get("/api/v1/health").status_code == 200


@given(tokens=st.lists(st.text(), max_size=6), constraints=JSON)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_tokens_and_constraints(client, tokens, constraints):
    check(client.post("/api/v1/parse", json={"tokens": tokens, "model": "one"}))
    with suppress(ValueError):  # what JSON cannot say, the client refuses to send
        fields = {"tokens": ["a", "b", "c"], "model": "one", "constraints": constraints}
        check(client.post("/api/v1/parse", json=fields))


@given(text=st.text(max_size=200))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text(client, text):
    answer = client.post("/api/v1/parse", json={"text": text, "model": "one"})
    check(answer)
    if answer.status_code == 200:
        for tree in answer.json()["trees"]:
            for token in tree["tokens"]:
                start, end = token["span"]
                assert text[start:end].strip()
