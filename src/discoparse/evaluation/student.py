"""Student's t distribution: two-sided p values and quantiles, for any positive degrees of freedom."""

from __future__ import annotations

import math

_TINY = 1e-300


def two_sided_p(t: float, freedom: float) -> float:
    """How probable a value at least this far from 0 is.

    >>> round(two_sided_p(12.706, 1), 4), round(two_sided_p(-2.228, 10), 4)
    (0.05, 0.05)
    """
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def two_sided_quantile(p: float, freedom: float) -> float:
    """The t whose two-sided p value is `p`.

    >>> round(two_sided_quantile(0.05, 4), 3)
    2.776
    """
    low, high = 0.0, 1.0
    while two_sided_p(high, freedom) > p:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided_p(middle, freedom) > p else (low, middle)
    return high


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction on the side where that converges fast."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    front = math.exp(logarithm)
    if x < (a + 1) / (a + b + 2):
        return front * _continued_fraction(a, b, x) / a
    return 1 - front * _continued_fraction(b, a, 1 - x) / b


def _continued_fraction(a: float, b: float, x: float) -> float:
    """Lentz's method."""
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or _TINY)
    value = d
    for m in range(1, 10_000):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / ((1 + numerator * d) or _TINY)
            c = (1 + numerator / c) or _TINY
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value
