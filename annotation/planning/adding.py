"""More people for documents that somebody has: which documents, what each of them lacks, and who gets it.

Nobody who has a document loses it. The same state and seed always give the same people, and a larger number of
documents holds the smaller one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from annotation.planning.replanning import Document, Seat, replan
from annotation.planning.sampling import Described, RowChoice, drawn_rows

# What a rater new to a sheet costs, as a part of the documents that each taker would get: it says which sheets a rater
# gets, and moves nobody's load. By the size of a sheet alone, all of a small sample went to one person.
_LEARNING = 0.25

Sections = tuple[str, ...]  # their keys; none named means all


class Held(NamedTuple):
    """One person's place at a document."""

    document: Document
    rater: int
    sections: Sections = ()


class Added(NamedTuple):
    """A place that a document lacks; `rater` None where nobody can take it."""

    document: Document
    rater: int | None
    sections: Sections = ()


def drawn(rows: Sequence[int], *, share: int | None, size: int | None, seed: int) -> frozenset[int]:
    """So many of some rows, or such a share of them in per cent, rounded up; all of them where neither is given."""
    if share is not None:
        size = -(-len(rows) * share // 100)
    return drawn_rows([Described(row, "", {}) for row in rows], RowChoice(size=size, seed=seed)).rows


def lacking(held: Sequence[Sections], people: int, every: Sequence[str]) -> list[Sections]:
    """The sections of each place that a document lacks until so many people have each section that somebody has.

    held: of each who has it. every: the keys of all sections.

    >>> lacking([("duties",), ()], 2, ["duties", "acts"])
    [('acts',)]
    """
    have = [sum(not of_one or section in of_one for of_one in held) for section in every]
    lacks = [people - n if n else 0 for n in have]
    places = []
    for place in range(max(lacks, default=0)):
        sections = tuple(section for section, lack in zip(every, lacks, strict=True) if lack > place)
        # All that there are, without a name where somebody has them so.
        places.append(() if len(sections) == len(every) and () in held else sections)
    return places


def more_people(
    held: Sequence[Held],
    documents: Collection[Document],
    *,
    people: int,
    takers: Collection[int],
    every: Sequence[str],
    seed: int = 0,
) -> list[Added]:
    """What these documents lack until so many people have each, given to the takers.

    All that is held counts as load. Nobody gets a document twice; loads stay level, and pairs share equally.
    """
    at: dict[Document, list[Sections]] = defaultdict(list)
    for one in held:
        at[one.document].append(one.sections)
    places = [
        (document, sections)
        for document in documents
        if document in at
        for sections in lacking(at[document], people, every)
    ]
    seats = [Seat(one.document, one.rater, open=False) for one in held]
    seats += [Seat(document, None) for document, _sections in places]
    learning = _LEARNING * len(places) / max(len(takers), 1)
    after = replan(seats, takers=takers, seed=seed, learning=learning).after[len(held) :]
    return [Added(document, rater, sections) for (document, sections), rater in zip(places, after, strict=True)]
