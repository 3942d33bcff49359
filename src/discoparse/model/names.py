"""Names of models: those that this project publishes, and what the package of a model is called.

The model `nl-large` is in the distribution `discoparse-model-nl-large` (what pip installs), whose entry point
`nl-large` in the group `discoparse.models` names the Python package `discoparse_model_nl_large` with its files.
"""

from __future__ import annotations

import re

from discoparse.errors import UsageError

GROUP = "discoparse.models"
# The models of this project, each in models/NAME of the repository, and what they are for.
PUBLISHED = {
    "de": "German",
    "en": "English",
    "en-large": "English, with a pretrained encoder",
    "is": "Icelandic",
    "nl": "Dutch",
    "nl-large": "Dutch, larger and slower",
}
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LONGEST = 60  # characters; file names have some 250


def is_name(name: str) -> bool:
    """Whether a model can be called so, as a package that pip installs can.

    >>> [is_name(name) for name in ("nl-large", "nl_large", "NL", "nl--large", "", "../nl")]
    [True, False, False, False, False, False]
    """
    return bool(_NAME.fullmatch(name)) and len(name) <= _LONGEST


def check_name(name: str) -> None:
    """Refuse a name that a model cannot have, with one that it can have."""
    if is_name(name):
        return
    proposal = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST].strip("-")
    hint = f", as in {proposal}" if proposal else ""
    raise UsageError(
        f"a model cannot be called {name[: 2 * _LONGEST]!r}: use up to {_LONGEST} lower-case ASCII letters and digits, "
        f"with single hyphens between them{hint}"
    )


def distribution(name: str) -> str:
    """What pip installs."""
    return f"discoparse-model-{name}"


def module(name: str) -> str:
    """The Python package with the model's files."""
    return distribution(name).replace("-", "_")


def installation(name: str) -> str:
    """How to install a model of this project, for messages."""
    return f"pip install {distribution(name)} (or, in a checkout of discoparse, pip install ./models/{name})"
