"""Intervals of shares. Pure."""

from __future__ import annotations

import math


def wilson_interval(hits: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's (1927) interval of a share of independent trials.

    >>> [round(end, 3) for end in wilson_interval(5, 10)]
    [0.237, 0.763]
    """
    from scipy.special import ndtri  # only who asks for an interval loads it

    z = float(ndtri((1 + confidence) / 2))
    centre = (hits + z**2 / 2) / (n + z**2)
    half = z / (n + z**2) * math.sqrt(hits * (n - hits) / n + z**2 / 4)
    return max(centre - half, 0.0), min(centre + half, 1.0)
