from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.work import toy
from tests.work.models import Piece
from tests.workers import Site
from work.actions import Held


@pytest.fixture
def site(bare_site: Site) -> Site:
    bare_site.program, bare_site.table = "tests.work.site", "toy_piece"
    return bare_site


@pytest.fixture
def meanwhile() -> Iterator[Callable[[Callable[[Held[Piece]], None]], None]]:
    """Put something between the claim of a number and its being written down."""
    before = len(toy.meanwhile)
    yield toy.meanwhile.append
    del toy.meanwhile[before:]
