"""Chance that depends on a seed and on what is drawn for, and on nothing else. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def drawn(seed: int, *about: object) -> float:
    """A number from 0 to below 1."""
    digest = hashlib.sha256("\x1f".join(map(str, (seed, *about))).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def one_of(among: Sequence[int], seed: int, *about: object) -> int:
    return among[int(drawn(seed, "one", *about) * len(among))]


def shuffled(among: Sequence[T], seed: int, *about: object) -> list[T]:
    digest = hashlib.shake_128("\x1f".join(map(str, (seed, *about))).encode()).digest(8 * len(among))
    return [among[place] for place in sorted(range(len(among)), key=lambda place: digest[8 * place : 8 * place + 8])]
