"""The input and output of a line as one text, as a facet of a row keeps them. Pure."""

from __future__ import annotations

_BETWEEN = "⟶"


def joined(given: str, made: str) -> str:
    """
    >>> joined("flour; water", "dough"), joined("", "dough"), joined("", "")
    ('flour; water ⟶ dough', '⟶ dough', '⟶')
    """
    return f"{given.replace(_BETWEEN, '→')} {_BETWEEN} {made.replace(_BETWEEN, '→')}".strip()


def apart(text: str) -> tuple[str, str]:
    """What `joined` was made of; "" for what was open.

    >>> apart("flour; water ⟶ dough"), apart("⟶ dough"), apart("⟶")
    (('flour; water', 'dough'), ('', 'dough'), ('', ''))
    """
    given, _between, made = text.partition(_BETWEEN)
    return given.strip(), made.strip()
