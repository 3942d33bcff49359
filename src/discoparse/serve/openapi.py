"""The description of the API in the OpenAPI format, made for one server: its models and its limits are in it.

What a schema of a body allows is what the server takes, as far as it can be told without the text itself: the numbers
are those that the endpoints check with.
"""

from __future__ import annotations

from collections.abc import Iterable

from discoparse import __version__
from discoparse.drawing.options import HIDEABLE, STYLES
from discoparse.evaluation import CLASSIFIERS
from discoparse.serve.catalogue import Catalogue
from discoparse.serve.openapi_schemas import STRING, Schema, components, list_of, or_null, reference, told
from discoparse.serve.pictures import FORMATS, PICTURES, media_type
from discoparse.serve.settings import BEST, MISTAKES, SAMPLES, SCALE, WIDTH, Settings
from discoparse.system.derivation_table import ROWS
from discoparse.treebank import FORMATS as TREEBANKS

_STRINGS = list_of(STRING)
_OBJECT: Schema = {"type": "object"}


def description(catalogue: Catalogue, settings: Settings) -> Schema:
    """The whole document."""
    models = _choice(catalogue.models, "Without a model or language, the words of the text decide.")
    sentences = _sentences(models, settings)
    trees: Schema = {
        "tree": _trees(settings, "Trees as parse gives them, or a treebank file's text."),
        "from": _choice(TREEBANKS, "Format of a treebank's text; without it, its beginning decides."),
    }
    number = {"sentence": _number((1, settings.sentences), "Which sentence; the first is 1.")}
    system = {"system": _choice(ROWS, "Of a tree's derivation. Default: set.")}
    paths: Schema = {
        "/parse": _post(
            "Parse text or tokens",
            {
                **sentences,
                "probabilities": _number(
                    SAMPLES, "Samples by which constituents, tags and trees get probabilities. Default: 0."
                ),
                "consensus": _flag("Trees of what more than half of the samples have."),
                "best": _number(BEST, "The most probable trees of each sentence, up to that many, with ids as 1.2."),
                "format": _choice(FORMATS, "Default: json."),
                **_pictures(),
            },
            {"text": "Wat heb je gezegd?"},
            f"JSON with the trees; other formats as they are. At most {settings.sentences:,} sentences of "
            f"{settings.tokens:,} tokens and {settings.characters:,} characters. Constraints, probabilities (or "
            "consensus) and best exclude each other",
            _contents(FORMATS, reference("ParseAnswer")),
            {"oneOf": _TEXT_OR_TOKENS},
        ),
        "/derive": _post(
            "Every configuration of a derivation",
            {**sentences, **trees, **number, **system},
            {"tokens": ["Wat", "heb", "je", "gezegd", "?"], "language": "nl"},
            "Of text or tokens: the parser's own derivation, with the probability of each action and label and of the "
            f"alternatives. Of a tree: the canonical one. At most {settings.derived} tokens",
            {"application/json": _OBJECT},
            {
                "oneOf": [
                    *({**one, "propertyNames": {"enum": [*sentences, *number]}} for one in _TEXT_OR_TOKENS),
                    {
                        "required": ["tree"],
                        "properties": {"tree": {"not": {"type": "null"}}},
                        "propertyNames": {"enum": [*trees, *number, *system]},
                    },
                ]
            },
        ),
        "/draw": _post(
            "Draw trees",
            {
                **trees,
                "compare": _trees(settings, "Predicted trees, to mark the differences."),
                "format": _choice(PICTURES, "Default: svg."),
                **_pictures(),
            },
            {"tree": "(S (VP (V 0=wake) (P 2=up)) (N 1=them))"},
            "The picture",
            _contents(PICTURES),
            {"required": ["tree"]},
        ),
        "/convert": _post(
            "Trees in another format",
            {**trees, "format": _choice(FORMATS, "Default: discbracket."), **_pictures()},
            {"tree": "(S (VP (V 0=wake) (P 2=up)) (N 1=them))", "format": "export"},
            "The trees",
            _contents(FORMATS, list_of(reference("Tree"))),
            {"required": ["tree"]},
        ),
        "/evaluate": _post(
            "Scores of predicted against gold trees",
            {
                "gold": _trees(settings, "Trees, or a treebank file's text."),
                "predicted": _trees(settings, "The same sentences as a parser has them."),
                "from": _choice(TREEBANKS, "Format of both."),
                "predicted_from": _choice(TREEBANKS, "Format of the predicted trees, if it is another."),
                "by": told(list_of({"enum": list(CLASSIFIERS)}), "Scores per group."),
                "errors": _number(MISTAKES, "The most frequent mistakes of each kind."),
                "sentences": _flag("Each sentence with its trees and the differences."),
                "allow_missing": _flag("Missing predictions are scored as empty."),
            },
            {"gold": "(S (VP (V 0=wake) (P 2=up)) (N 1=them))", "predicted": "(S (V 0=wake) (P 2=up) (N 1=them))"},
            "The figures of `discoparse evaluate --json`",
            {"application/json": _OBJECT},
            {"required": ["gold", "predicted"]},
        ),
        "/models": _get("The models", "Name, language, treebanks, licence and scores of each."),
        "/models/{name}": _get("A model with its card", "Also its labels and tags.", models=models),
        "/health": _get("Whether the server answers", "Its version, models and limits.", open=True),
        "/metrics": _get("Counters", "In the format of Prometheus.", "text/plain"),
        "/openapi.json": _get("This description", "OpenAPI 3.1.", open=True),
    }
    document: Schema = {
        "openapi": "3.1.0",
        "info": {"title": "discoparse", "version": __version__, "description": "Discontinuous constituency parsing."},
        "servers": [{"url": "../v1"}],  # from the place of this document: there may be a proxy, with a path of its own
        "paths": paths,
        "components": {"schemas": components()},
    }
    if settings.token is not None:
        _with_token(document)
    return document


def _with_token(document: Schema) -> None:
    """What differs on a server that wants a token."""
    document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"token": []}]
    for methods in document["paths"].values():
        for operation in methods.values():
            if "security" not in operation:
                operation["responses"]["401"] = _error("The token is missing or wrong.")


# -- fields -----------------------------------------------------------------------------------------------------------

_WORD: Schema = {"type": "string", "minLength": 1}
# One of the two is there; what constraints are about are tokens.
_TEXT_OR_TOKENS: list[Schema] = [
    {
        "required": ["text"],
        "properties": {
            "text": {"type": ["string", "array"]},
            "tokens": {"type": "null"},
            "constraints": {"type": "null"},
        },
    },
    {"required": ["tokens"], "properties": {"tokens": {"type": "array"}, "text": {"type": "null"}}},
]


def _sentences(models: Schema, settings: Settings) -> Schema:
    """The fields of sentences to parse."""
    text = {"type": "string", "maxLength": settings.characters}
    words = list_of(_WORD, minItems=1, maxItems=settings.tokens)
    constraints = {"oneOf": [reference("Constraints"), {"type": "null"}]}
    return {
        "text": told({"oneOf": [text, list_of(text, maxItems=settings.sentences)]}, "Raw text, one or many."),
        "tokens": told(
            {"oneOf": [words, list_of(words, minItems=1, maxItems=settings.sentences)]},
            "Instead of text: a sentence as a list of words, or a list of sentences.",
        ),
        "lines": _flag("Every line end of the text ends a sentence."),
        "model": models,
        "language": told(STRING, "As nl or de."),
        "constraints": told(
            {"oneOf": [reference("Constraints"), list_of(constraints, minItems=1, maxItems=settings.sentences)]},
            "With tokens: what the trees must be like, one entry for each sentence.",
        ),
    }


def _trees(settings: Settings, what: str) -> Schema:
    """A field with trees, as data or as text."""
    tree = reference("Tree")
    return told({"oneOf": [tree, list_of(tree, minItems=1, maxItems=settings.sentences), _WORD]}, what)


def _pictures() -> Schema:
    """The options of pictures, by the names that they have on the command line."""
    return {
        "width": _number(WIDTH, "Pictures that are wider go on below."),
        "scale": _number(SCALE, "Size of the picture. Default: 1.", "number"),
        "style": _choice(STYLES, "Edges."),
        "roof": told(_STRINGS, "Labels of phrases that are drawn as triangles."),
        "hide": told(list_of({"enum": list(HIDEABLE)}), "What is not drawn."),
        "subtree": told(STRING, "One node: NP, NP:2, or the smallest over tokens 3-5,8."),
        "gloss": told({"oneOf": [STRING, _STRINGS]}, "lemma, morph or a feature; or a gloss for each token."),
        "font": told(STRING, "The font of the words."),
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


def _flag(what: str) -> Schema:
    return {"type": "boolean", "description": what}


def _choice(names: Iterable[str], what: str) -> Schema:
    return {"type": "string", "enum": list(names), "description": what}


def _number(bounds: tuple[float, float], what: str, kind: str = "integer") -> Schema:
    return {"type": kind, "minimum": bounds[0], "maximum": bounds[1], "description": what}


# -- answers ----------------------------------------------------------------------------------------------------------

_ERRORS = {
    "400": "The body is not JSON.",
    "408": "The body did not arrive in time.",
    "413": "The body or the text is too large.",
    "415": "The body is compressed, or by its Content-Type not JSON.",
    "422": "A field is wrong, or something has too many tokens or sentences.",
    "503": "Too many requests are waiting; Retry-After says when to try again.",
}
_OTHERS = "Any other error: 404 where there is nothing, 405 for another method, 500 for a failure of the server."


def _error(what: str) -> Schema:
    return {"description": what, "content": {"application/json": {"schema": reference("Error")}}}


def _contents(formats: Iterable[str], data: Schema | None = None) -> Schema:
    """Schemas by media type: of `data`, and of text in the other formats."""
    kinds = dict.fromkeys(media_type(format).partition(";")[0] for format in formats)
    return {kind: data if data is not None and kind == "application/json" else STRING for kind in kinds}


def _post(summary: str, fields: Schema, example: Schema, answer: str, contents: Schema, rules: Schema) -> Schema:
    """An endpoint that takes fields; by the `rules`, some of them must be there."""
    required = rules.get("required", ())
    properties = {name: schema if name in required else or_null(schema) for name, schema in fields.items()}
    body = {"type": "object", "properties": properties, "additionalProperties": False, **rules}
    found: Schema = {
        "description": answer + ".",
        "content": {kind: {"schema": schema} for kind, schema in contents.items()},
    }
    if "model" in fields and len(contents) > 1:
        found["headers"] = {"Discoparse-Model": told({"schema": STRING}, "The model, percent-encoded in UTF-8.")}
    return {
        "post": {
            "summary": summary,
            "requestBody": {"required": True, "content": {"application/json": {"schema": body, "example": example}}},
            "responses": {
                "200": found,
                **{status: _error(what) for status, what in _ERRORS.items()},
                "default": _error(_OTHERS),
            },
        }
    }


def _get(
    summary: str, answer: str, kind: str = "application/json", *, models: Schema | None = None, open: bool = False
) -> Schema:
    """An endpoint that only tells; of one of the `models`, if they are given. What is `open` needs no token."""
    schema = _OBJECT if kind == "application/json" else STRING
    responses: Schema = {"200": {"description": answer, "content": {kind: {"schema": schema}}}}
    operation: Schema = {"summary": summary, "responses": responses}
    if models is not None:
        operation["parameters"] = [
            {"name": "name", "in": "path", "required": True, "schema": {**models, "description": "Which model."}}
        ]
        responses["404"] = _error("There is no such model.")
    responses["default"] = _error(_OTHERS)
    if open:
        operation["security"] = []
    return {"get": operation}
