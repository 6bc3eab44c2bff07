"""Words that are frequent in the texts of rows, as who knows the texts tells them. Pure: no database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class FrequentEntry(NamedTuple):
    """The words that a generator writes most, in the rows with a word at a facet, both "" for all rows. `words`: each
    with how often it stands in the texts, and in how many of them. `names`: the facet whose words are left out, beside
    stop words; "" in what was frozen when those of all names of instructions were, and of any list of steps."""

    facet: str
    word: str
    generator: str
    texts: int
    words: tuple[tuple[str, int, int], ...]
    names: str = ""


# Of a study and the keys of the rows that a report reads.
Read = Callable[[Any, Sequence[int]], Sequence[FrequentEntry]]
_reads: list[Read] = []


def register(read: Read) -> None:
    _reads.append(read)


def frequent_words(study: Any, rows: Sequence[int]) -> tuple[FrequentEntry, ...]:
    return tuple(entry for read in _reads for entry in read(study, rows))
