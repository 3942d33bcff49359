"""What one server allows: sizes of requests, how many may wait, who may ask."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """The limits of a server. A request beyond `body` or `characters` is answered with 413, beyond the others with 422;
    one that finds `queue` others waiting with 503."""

    body: int = 4 << 20  # bytes of a request
    characters: int = 200_000  # of the texts of a request
    sentences: int = 1000  # of a request
    tokens: int = 400  # of a sentence
    nodes: int = 4000  # of a tree that is drawn
    derived: int = 150  # tokens of a sentence whose derivation is shown: each of its rows lists all of them
    queue: int = 512  # requests that may wait
    body_seconds: float = 20.0  # that the body of a request may take to arrive
    token: str | None = None  # what clients must send, if anything
