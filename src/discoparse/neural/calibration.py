"""From scores to probabilities that mean something: temperatures, and a logistic map of the shares of samples.

Networks are too sure of themselves. `Calibration` holds what was fitted to a development set, so that of constituents
with a probability of 0.8, eight in ten are right. `discoparse.parser.calibrating` fits it; a model keeps it among its
facts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

_SUREST = 0.995  # samples are too few to tell more


@dataclass(frozen=True)
class Calibration:
    """Temperatures, by which scores are divided before they become probabilities, and a map of raw shares p. With
    z = logit p, logit p' = curve · z² + slope · z + offset, and for discontinuous constituents + gap_slope · z +
    gap_offset; where the parabola would fall it stays level, so a larger share never means less.

    The defaults are about those of the models that come with the program: better than none for one that has none.
    """

    structure: float = 0.8
    labels: float = 1.25
    tags: float = 1.25
    curve: float = 0.05
    slope: float = 0.55
    offset: float = -0.3
    gap_slope: float = 0.0
    gap_offset: float = 0.3
    tree_power: float = 1.5  # to which the raw probability of a whole tree is raised

    def probability(self, share: np.ndarray, discontinuous: np.ndarray) -> np.ndarray:
        """The probabilities of constituents from their raw shares, any shape.

        >>> neutral = Calibration(curve=0.0, slope=1.0, offset=0.0, gap_slope=0.0, gap_offset=0.0)
        >>> neutral.probability(np.array([0.0, 0.5, 1.0]), np.array([False, True, False])).round(3).tolist()
        [0.005, 0.5, 0.995]
        """
        z = logit(share)
        slope = self.slope + self.gap_slope * discontinuous
        if self.curve:
            turn = -slope / (2 * self.curve)
            z = np.maximum(z, turn) if self.curve > 0 else np.minimum(z, turn)
        odds = (self.curve * z + slope) * z + self.offset + self.gap_offset * discontinuous
        return np.asarray(1 / (1 + np.exp(-odds)))

    @classmethod
    def from_json(cls, data: Mapping[str, float]) -> Calibration:
        """From the facts of a model; what they do not say is as usual, what is not known is left aside."""
        names = {field.name for field in dataclasses.fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in names})

    def to_json(self) -> dict[str, float]:
        """For the facts of a model."""
        return dataclasses.asdict(self)


RAW = Calibration(1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, tree_power=1.0)  # nothing is fitted


def logit(share: np.ndarray) -> np.ndarray:
    """The log-odds of raw shares, within bounds."""
    bounded = np.clip(share, 1 - _SUREST, _SUREST)
    return np.asarray(np.log(bounded / (1 - bounded)))
