"""How far a kappa is called large: the labels of Landis and Koch, which are a convention and no test."""

from __future__ import annotations

# The lower end of each level and its key, the highest first. Below 0 agreement is "poor".
LEVELS: tuple[tuple[float, str], ...] = (
    (0.81, "almost-perfect"),
    (0.61, "substantial"),
    (0.41, "moderate"),
    (0.21, "fair"),
    (0.0, "slight"),
)


def landis_koch(kappa: float) -> str:
    """The level of a kappa, rounded to two digits as the levels are given.

    >>> [landis_koch(kappa) for kappa in (-0.1, 0.2, 0.41, 0.604, 0.61, 0.81, 1.0)]
    ['poor', 'slight', 'moderate', 'moderate', 'substantial', 'almost-perfect', 'almost-perfect']

    Source: Landis and Koch (1977), The measurement of observer agreement for categorical data, Biometrics 33.
    """
    return next((key for low, key in LEVELS if round(kappa, 2) >= low), "poor")
