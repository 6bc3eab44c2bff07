"""Where the faults that a rater has named stand in a text. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Piece:
    """A stretch of a text; `reason`: why it is wrong, "" where nobody says so."""

    text: str
    reason: str = ""


def pieces(text: str, faults: Sequence[tuple[str, str]]) -> Iterator[Piece]:
    """`text` in stretches that together are the text. `faults`: words and reason; whatever their letter case, the first
    place where the words stand is marked, and of two faults that overlap the one that begins first.

    >>> [(piece.text, piece.reason) for piece in pieces("Dry it on paper.", [("on paper", "it tears")])]
    [('Dry it ', ''), ('on paper', 'it tears'), ('.', '')]
    """
    lowered = text.lower()
    if len(lowered) != len(text):  # letters that become two: places would not fit
        lowered = text
    places = sorted(
        (place, len(wanted), reason or "?")
        for words, reason in faults
        if (wanted := " ".join(words.split()).lower()) and (place := lowered.find(wanted)) >= 0
    )
    end = 0
    for place, length, reason in places:
        if place < end:
            continue
        if place > end:
            yield Piece(text[end:place])
        yield Piece(text[place : place + length], reason)
        end = place + length
    if end < len(text):
        yield Piece(text[end:])
