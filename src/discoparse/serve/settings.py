"""What one server allows: sizes of requests, how many may wait, who may ask."""

from __future__ import annotations

from dataclasses import dataclass

# What numbers in requests may be, on every server: from the first to the second.
BEST = 1, 64  # trees of a sentence
SAMPLES = 0, 256  # by which probabilities are estimated
MISTAKES = 1, 1000  # of each kind that are listed
WIDTH = 40, 100_000  # of a picture
SCALE = 0.05, 50.0  # of a picture


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
