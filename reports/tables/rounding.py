"""One rule by which numbers are rounded, wherever they are read: half up, from the ten digits that reports keep."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

# Sums in another order, as another machine's processor makes them, differ in the sixteenth digit.
DIGITS = 10


def kept(value: float) -> float:
    """A number as reports keep it: 0.39249999999999996 and 0.3925 are one number."""
    return float(f"{value:.{DIGITS}g}")


def rounded(value: float, places: int, *, per_cent: bool = False) -> Decimal:
    """
    >>> rounded(0.39249999999999996, 3), rounded(0.0625, 3), rounded(0.00125, 1, per_cent=True)
    (Decimal('0.393'), Decimal('0.063'), Decimal('0.1'))
    """
    number = Decimal(repr(kept(value))) * (100 if per_cent else 1)
    return number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
