"""The description of the API in the OpenAPI format, made for one server: its models and its limits are in it."""

from __future__ import annotations

from typing import Any

from discoparse import __version__
from discoparse.drawing.options import HIDEABLE, STYLES
from discoparse.evaluation import CLASSIFIERS
from discoparse.serve.catalogue import Catalogue
from discoparse.serve.pictures import FORMATS, PICTURES
from discoparse.serve.settings import Settings
from discoparse.system.derivation_table import ROWS
from discoparse.treebank import FORMATS as TREEBANKS

Schema = dict[str, Any]

_STRING: Schema = {"type": "string"}
_ANYTHING: Schema = {"type": "object"}
_STRINGS: Schema = {"type": "array", "items": _STRING}
_WORDS: Schema = {"oneOf": [_STRINGS, {"type": "array", "items": _STRINGS}]}
_TREE = {
    "oneOf": [{"$ref": "#/components/schemas/Tree"}, {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}]
}


def description(catalogue: Catalogue, settings: Settings) -> Schema:
    """The whole document."""
    models: Schema = {"type": "string", "enum": list(catalogue.models)}
    sentences: Schema = {
        "text": _told({"oneOf": [_STRING, _STRINGS]}, "Raw text, one or many."),
        "tokens": _told(_WORDS, "Instead of text: a sentence as a list of words, or a list of sentences."),
        "lines": _flag("Every line end of the text ends a sentence."),
        "model": _told(models, "Without a model or language, the words of the text decide."),
        "language": _told(_STRING, "As nl or de."),
        "constraints": _told(
            {"oneOf": [_ANYTHING, {"type": "array", "items": {"type": ["object", "null"]}}]},
            "With tokens: what the trees must be like, one entry for each sentence.",
        ),
    }
    trees: Schema = {
        "tree": _told({"oneOf": [*_TREE["oneOf"], _STRING]}, "Trees as parse gives them, or a treebank file's text."),
        "from": _choice(TREEBANKS, "Format of a treebank's text; without it, its beginning decides."),
    }
    number = {"sentence": {"type": "integer", "minimum": 1, "description": "Which sentence; the first is 1."}}
    paths: Schema = {
        "/parse": _post(
            "Parse text or tokens",
            {
                **sentences,
                "probabilities": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "Samples by which constituents, tags and trees get probabilities. Default: 0.",
                },
                "consensus": _flag("Trees of what more than half of the samples have."),
                "best": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "The most probable trees of each sentence, up to that many, with ids as 1.2.",
                },
                "format": _choice(FORMATS, "Default: json."),
                **_pictures(),
            },
            {"text": "Wat heb je gezegd?"},
            f"JSON with the trees; other formats as they are. At most {settings.sentences:,} sentences of "
            f"{settings.tokens:,} tokens and {settings.characters:,} characters.",
            "ParseAnswer",
        ),
        "/derive": _post(
            "Every configuration of a derivation",
            {**sentences, **trees, **number, "system": _choice(ROWS, "Of a tree's derivation. Default: set.")},
            {"tokens": ["Wat", "heb", "je", "gezegd", "?"], "language": "nl"},
            "Of text or tokens: the parser's own derivation, with the probability of each action and label and of the "
            f"alternatives. Of a tree: the canonical one. At most {settings.derived} tokens.",
        ),
        "/draw": _post(
            "Draw trees",
            {
                **trees,
                "compare": _told({"oneOf": [*_TREE["oneOf"], _STRING]}, "Predicted trees, to mark the differences."),
                "format": _choice(PICTURES, "Default: svg."),
                **_pictures(),
            },
            {"tree": "(S (VP (V 0=wake) (P 2=up)) (N 1=them))"},
            "The picture.",
        ),
        "/convert": _post(
            "Trees in another format",
            {**trees, "format": _choice(FORMATS, "Default: discbracket."), **_pictures()},
            {"tree": "(S (VP (V 0=wake) (P 2=up)) (N 1=them))", "format": "export"},
            "The trees.",
        ),
        "/evaluate": _post(
            "Scores of predicted against gold trees",
            {
                "gold": _told({"oneOf": [*_TREE["oneOf"], _STRING]}, "Trees, or a treebank file's text."),
                "predicted": {"oneOf": [*_TREE["oneOf"], _STRING]},
                "from": _choice(TREEBANKS, "Format of both."),
                "predicted_from": _choice(TREEBANKS, "Format of the predicted trees, if it is another."),
                "by": {"type": "array", "items": {"enum": list(CLASSIFIERS)}, "description": "Scores per group."},
                "errors": {"type": "integer", "minimum": 1, "description": "The most frequent mistakes of each kind."},
                "sentences": _flag("Each sentence with its trees and the differences."),
                "allow_missing": _flag("Missing predictions are scored as empty."),
            },
            {"gold": "(S (VP (V 0=wake) (P 2=up)) (N 1=them))", "predicted": "(S (V 0=wake) (P 2=up) (N 1=them))"},
            "The figures of `discoparse evaluate --json`.",
        ),
        "/models": _get("The models", "Name, language, treebanks, licence and scores of each."),
        "/models/{name}": {
            **_get("A model with its card", "Also its labels and tags."),
            "parameters": [{"name": "name", "in": "path", "required": True, "schema": models}],
        },
        "/health": _get("Whether the server answers", "Its version, models and limits."),
        "/metrics": _get("Counters", "In the format of Prometheus.", "text/plain"),
        "/openapi.json": _get("This description", "OpenAPI 3.1."),
    }
    document: Schema = {
        "openapi": "3.1.0",
        "info": {"title": "discoparse", "version": __version__, "description": "Discontinuous constituency parsing."},
        "servers": [{"url": "/api/v1"}],
        "paths": paths,
        "components": {"schemas": _SCHEMAS},
    }
    if settings.token is not None:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
    return document


def _pictures() -> Schema:
    """The options of pictures, by the names that they have on the command line."""
    return {
        "width": {"type": "integer", "description": "Pictures that are wider go on below."},
        "scale": {"type": "number"},
        "style": _choice(STYLES, "Edges."),
        "roof": _told(_STRINGS, "Labels of phrases that are drawn as triangles."),
        "hide": {"type": "array", "items": {"enum": list(HIDEABLE)}},
        "subtree": _told(_STRING, "One node: NP, NP:2, or the smallest over tokens 3-5,8."),
        "gloss": _told({"oneOf": [_STRING, _STRINGS]}, "lemma, morph or a feature; or a gloss for each token."),
        "font": _STRING,
        **{name: _flag(what) for name, what in _FLAGS.items()},
    }


_FLAGS = {
    "tags": "Show tags (default).",
    "functions": "Show edge labels.",
    "surface": "Words as written in running text.",
    "highlight": "Colour discontinuous nodes (default).",
    "color": "Colours in text.",
    "standalone": "LaTeX: a whole document.",
}


def _told(schema: Schema, what: str) -> Schema:
    return {**schema, "description": what}


def _flag(what: str) -> Schema:
    return {"type": "boolean", "description": what}


def _choice(names: Any, what: str) -> Schema:
    return {"type": "string", "enum": list(names), "description": what}


def _error(status: str) -> Schema:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {"description": _ERRORS[status], "content": content}


_ERRORS = {
    "400": "The body is not JSON.",
    "413": "The body or the text is too large.",
    "422": "A field is wrong, or something has too many tokens or sentences.",
    "503": "Too many requests are waiting; Retry-After says when to try again.",
}


def _post(summary: str, fields: Schema, example: Schema, answer: str, schema: str | None = None) -> Schema:
    body: Schema = {"type": "object", "properties": fields, "additionalProperties": False}
    found: Schema = {"$ref": f"#/components/schemas/{schema}"} if schema else {}
    content = {"application/json": {"schema": found}}
    return {
        "post": {
            "summary": summary,
            "requestBody": {"required": True, "content": {"application/json": {"schema": body, "example": example}}},
            "responses": {
                "200": {"description": answer, "content": content},
                **{status: _error(status) for status in _ERRORS},
            },
        }
    }


def _get(summary: str, answer: str, kind: str = "application/json") -> Schema:
    return {"get": {"summary": summary, "responses": {"200": {"description": answer, "content": {kind: {}}}}}}


_INDEXES: Schema = {"type": "array", "items": {"type": "integer"}}
_SCHEMAS: Schema = {
    "Error": {
        "type": "object",
        "required": ["error", "status"],
        "properties": {"error": _told(_STRING, "What is wrong and what to do."), "status": {"type": "integer"}},
    },
    "ParseAnswer": {
        "type": "object",
        "required": ["model", "trees"],
        "properties": {
            "model": _STRING,
            "trees": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
            "texts": _told(_INDEXES, "Of several texts, the number of trees of each."),
        },
    },
    "Tree": {
        "type": "object",
        "required": ["tokens", "nodes"],
        "properties": {
            "id": _STRING,
            "text": _told(_STRING, "The sentence as it stood in the text."),
            "tokens": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["word", "tag", "parent"],
                    "properties": {
                        "word": _STRING,
                        "tag": _STRING,
                        "parent": _told({"type": "integer"}, "The number of its node."),
                        "span": _told(_INDEXES, "First character and the one after the last."),
                    },
                },
            },
            "nodes": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["label", "parent"],
                    "properties": {
                        "label": _STRING,
                        "parent": _told({"type": ["integer", "null"]}, "The number of its node; null for the root."),
                        "probability": _told({"type": "number"}, "Of the constituent, if asked for."),
                        "label_probability": _told({"type": "number"}, "Of the label, given its words."),
                        "tokens": _INDEXES,
                        "spans": {"type": "array", "items": _INDEXES},
                    },
                },
            },
        },
    },
}
