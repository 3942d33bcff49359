"""The schemas that the description of the API refers to: trees as they are published, constraints, answers, errors."""

from __future__ import annotations

import json
from typing import Any

from discoparse.treebank.arrow_schema import schema_text

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
_NAME: Schema = {"type": "string", "minLength": 1}
_PLACE = "#/components/schemas/"


def told(schema: Schema, what: str) -> Schema:
    """A schema with a description."""
    return {**schema, "description": what}


def reference(name: str) -> Schema:
    """What stands for a schema of `components`."""
    return {"$ref": _PLACE + name}


def list_of(schema: Schema, **limits: int) -> Schema:
    """Lists, maybe with `minItems` or `maxItems`."""
    return {"type": "array", "items": schema, **limits}


def or_null(schema: Schema) -> Schema:
    """The schema of a field that may also be null, which is as if it were not there."""
    if "oneOf" in schema:
        return {**schema, "oneOf": [*schema["oneOf"], {"type": "null"}]}
    if "enum" in schema:
        schema = {**schema, "enum": [*schema["enum"], None]}
    return {**schema, "type": [schema["type"], "null"]}


def components() -> Schema:
    """All of them by name."""
    return {**_tree_schemas(), **_CONSTRAINTS, **_ANSWERS}


def _tree_schemas() -> Schema:
    """The published schema of a sentence with its tree, in as many parts as it has."""
    sentence = json.loads(schema_text("json"))
    names = {f"#/$defs/{name}": _component(name) for name in sentence["$defs"]}

    def moved(part: Any) -> Any:
        if isinstance(part, list):
            return [moved(one) for one in part]
        if not isinstance(part, dict):
            return part
        return {key: _PLACE + names[value] if key == "$ref" else moved(value) for key, value in part.items()}

    parts = {_component(name): moved(part) for name, part in sentence.pop("$defs").items()}
    del sentence["$schema"], sentence["title"]
    return {"Tree": told(moved(sentence), "A sentence and its tree. What is absent is left out."), **parts}


def _component(name: str) -> str:
    """The name that a part of the published schema has here.

    >>> _component("secondary_edge")
    'SecondaryEdge'
    """
    return name.title().replace("_", "")


_ONE_SET = {"type": "object", "required": ["tokens"], "additionalProperties": False}
_CONSTRAINTS: Schema = {
    "Constraints": {
        "type": "object",
        "description": "What the tree of one sentence must be like.",
        "additionalProperties": False,
        "properties": {
            "constituents": told(
                list_of({"oneOf": [reference("TokenSet"), reference("RequiredConstituent")]}),
                "Sets of tokens that must be constituents, with or without their labels.",
            ),
            "forbidden": told(
                list_of(
                    {"oneOf": [reference("TokenSet"), {**_ONE_SET, "properties": {"tokens": reference("TokenSet")}}]}
                ),
                "Sets of tokens that must not be a constituent.",
            ),
            "tags": {
                "type": "object",
                "propertyNames": {"pattern": r"^\d+$"},
                "additionalProperties": _NAME,
                "description": 'Tags by the numbers of tokens, as {"0": "WP"}.',
            },
            "words": or_null(told(list_of(_NAME), "The words of the sentence, to be compared with it.")),
        },
    },
    "RequiredConstituent": {
        **_ONE_SET,
        "properties": {
            "tokens": told(reference("TokenSet"), "The tokens of the constituent."),
            "label": or_null(told(_NAME, "One of the nodes over these tokens has this label.")),
            "labels": or_null(
                told(
                    list_of(_NAME, minItems=1),
                    "Instead of label: the nodes over these tokens have exactly these labels, from the top down.",
                )
            ),
        },
    },
    "TokenSet": told(
        list_of({"type": "integer", "minimum": 0}, minItems=1), "Tokens by their numbers from 0; there may be gaps."
    ),
}
_ANSWERS: Schema = {
    "ParseAnswer": {
        "type": "object",
        "required": ["model", "trees"],
        "additionalProperties": False,
        "properties": {
            "model": told(STRING, "The model that parsed."),
            "trees": list_of(reference("Tree")),
            "texts": told(list_of({"type": "integer", "minimum": 0}), "Of several texts, the sentences of each."),
        },
    },
    "Error": {
        "type": "object",
        "required": ["error", "status"],
        "additionalProperties": False,
        "properties": {
            "error": told(STRING, "What is wrong and what to do."),
            "status": {"type": "integer"},
            "pair": told(list_of({"type": "object"}, minItems=2, maxItems=2), "The two constraints that clash."),
            "choose_model": told({"type": "boolean"}, "Which model to use cannot be told from the text: name one."),
        },
    },
}
