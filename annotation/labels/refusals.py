"""What is said to whoever asked for something that cannot be done."""

from __future__ import annotations


class Refused(Exception):
    """What was asked for cannot be done; `str()` is the sentence for the person who asked."""


class NotNow(Refused):
    """It cannot be done now, and may be later: a submission can be taken back, a closed sheet opened."""


class SheetClosed(NotNow):
    pass
