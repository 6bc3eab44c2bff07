"""Whether somebody waits for the numbers: a page leaves out what an encoder takes minutes for, a worker does not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_nobody = ContextVar("nobody waits", default=False)


def nobody_waits() -> bool:
    return _nobody.get()


@contextmanager
def in_a_worker() -> Iterator[None]:
    """Compute without the limits of a page."""
    before = _nobody.set(True)
    try:
        yield
    finally:
        _nobody.reset(before)
