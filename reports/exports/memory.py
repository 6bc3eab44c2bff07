"""Memory that was used for a moment, given back to the system: a worker that made one large download lives on."""

from __future__ import annotations

import contextlib
import ctypes

_MMAP_THRESHOLD = -3  # of mallopt(3)


def keep_little() -> None:
    """Let arrays of a megabyte and more go back to the system as soon as they are freed.

    By itself the C library raises that bound with the largest one that was freed, and keeps what lies below it: the
    labels of a large study then take up twice their room. Does nothing where the library is not GNU's.
    """
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, 2**20)


def give_back() -> None:
    """Give back what is free now among what is in use. Does nothing where the library is not GNU's."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
