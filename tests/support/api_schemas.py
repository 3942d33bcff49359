"""What the description of the API says of bodies and answers, to be held against real ones."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")


class Described:
    """The description of a server."""

    def __init__(self, client: httpx.Client) -> None:
        self.document = client.get("/api/v1/openapi.json").json()

    def operation(self, endpoint: str) -> dict[str, Any]:
        """The only one of its path."""
        (operation,) = self.document["paths"][f"/{endpoint}"].values()
        return operation

    def takes(self, endpoint: str, fields: Any) -> bool:
        """Whether a body is allowed."""
        (media,) = self.operation(endpoint)["requestBody"]["content"].values()
        return not list(self._problems(media["schema"], fields))

    def check(self, endpoint: str, answer: httpx.Response) -> None:
        """The answer has a status and a media type that are described, and is as the schema of these says."""
        responses = self.operation(endpoint)["responses"]
        contents = responses[str(answer.status_code)]["content"]
        kind = answer.headers["content-type"].partition(";")[0]
        assert kind in contents, (kind, list(contents))
        data = json.loads(answer.text) if kind == "application/json" else answer.text
        assert list(self._problems(contents[kind]["schema"], data)) == []

    def schemas(self) -> list[dict[str, Any]]:
        """All schemas of bodies, answers and components."""
        found = list(self.document["components"]["schemas"].values())
        for methods in self.document["paths"].values():
            for operation in methods.values():
                places = [operation.get("requestBody", {"content": {}}), *operation["responses"].values()]
                found += [media["schema"] for place in places for media in place["content"].values()]
        return found

    def _problems(self, schema: dict[str, Any], data: Any) -> Any:
        whole = {**schema, "components": self.document["components"]}  # references are from the top
        return jsonschema.Draft202012Validator(whole).iter_errors(data)
