"""Judging without knowing whose work it is: orders that are drawn, and facets that no rater is shown. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TypeVar

from annotation.deriving.making import DerivingRefused, Settings
from annotation.scheme.spec import SchemeSpec
from base.sentences import gettext as _

T = TypeVar("T")
SEED = "seed"  # the setting of derivers that draw an order


def seed_of(settings: Settings) -> str:
    """What orders are drawn by; “1” where nobody says otherwise."""
    return next(iter(settings.get(SEED, ())), "1")


def drawn(things: Iterable[tuple[object, T]], *, seed: str) -> list[T]:
    """Things in an order that is drawn by the seed and what each is called, and by nothing else.

    >>> drawn([(1, "a"), (2, "b")], seed="1") == drawn([(2, "b"), (1, "a")], seed="1")
    True
    """
    return [thing for _name, thing in sorted(things, key=lambda pair: _place(seed, pair[0]))]


def _place(seed: str, name: object) -> bytes:
    return hashlib.sha256(f"{seed}:{name}".encode()).digest()


def refuse_shown(scheme: SchemeSpec, facets: Sequence[str]) -> None:
    """Refuse a scheme whose raters would see in these facets of rows who wrote what they judge.

    Raises:
        DerivingRefused: with the facet.
    """
    hidden = {facet.key for facet in scheme.row.facets if facet.hidden}
    if shown := [facet for facet in facets if facet in scheme.row.keys and facet not in hidden]:
        raise DerivingRefused(
            _("The new scheme shows raters who wrote a text: hide the facet “%(facet)s”.") % {"facet": shown[0]}
        )
