"""Licences of models: from what a card says to the SPDX expression that a package states."""

from __future__ import annotations

import re

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from discoparse.errors import UsageError

_OPERATORS = ("AND", "OR", "WITH")


def spdx_expression(licence: str) -> str | None:
    """The SPDX expression of a licence as cards state it, or None if it is not clear what is meant.

    A card may name several, each with what it is the licence of in parentheses: all of them apply.

    >>> spdx_expression("CC BY-NC-SA 4.0 (news), Apache-2.0 (talk)"), spdx_expression("LGPL 2.1 or later")
    ('CC-BY-NC-SA-4.0 AND Apache-2.0', 'LGPL-2.1-or-later')
    >>> spdx_expression("MIT OR Apache-2.0"), spdx_expression("ask the authors")
    ('MIT OR Apache-2.0', None)
    """
    if (expression := _canonical(licence)) is not None:
        return expression
    parts = [part.strip() for part in re.sub(r"\([^()]*\)", "", licence).split(",")]
    found = [_canonical(re.sub(r"\s+", "-", part)) for part in parts]
    return " AND ".join(dict.fromkeys(filter(None, found))) if all(found) else None


def check_expression(expression: str) -> str:
    """An SPDX expression in its usual spelling; an error that says how to write one for anything else."""
    canonical = _canonical(expression)
    if canonical is None:
        raise UsageError(
            f"{expression!r} is not a licence as SPDX writes it: take an identifier of https://spdx.org/licenses/, "
            "several with AND, or LicenseRef-NAME for a licence that has none"
        )
    return canonical


def identifiers(expression: str) -> list[str]:
    """The licences in an expression.

    >>> identifiers("(MIT OR Apache-2.0) AND CC-BY-4.0")
    ['MIT', 'Apache-2.0', 'CC-BY-4.0']
    """
    words = re.findall(r"[^\s()]+", expression)
    return list(dict.fromkeys(word for word in words if word not in _OPERATORS))


def needs_text(identifier: str) -> bool:
    """Whether the text of a licence has to go along; for those of Creative Commons a link is enough."""
    return not identifier.startswith("CC")


def _canonical(expression: str) -> str | None:
    try:
        return str(canonicalize_license_expression(expression))
    except InvalidLicenseExpression:
        return None
