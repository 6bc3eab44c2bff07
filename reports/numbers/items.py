"""Which raters' lists are held against each other: people among themselves, judges with people, judges with gold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from reports.data.arrays import Filters, QuestionData, StudyData
from reports.data.label_table import RaterEntry
from reports.stats.answers import Answers
from reports.stats.items import ItemsAgreement, items_agreement

MOST_PAIRS = 60  # of raters; a study of many annotators is told by its first ones


@dataclass(frozen=True)
class TwoParsers:
    a: RaterEntry
    b: RaterEntry
    found: ItemsAgreement


def two_parsers(data: QuestionData, of: StudyData, filters: Filters) -> tuple[TwoParsers, ...]:
    """Each two raters who share a list; of a question of the kind `items`. A judge comes first, and is what people,
    or the gold, edit; `MOST_PAIRS` at most."""
    assert data.values is not None
    own = data.spec.items
    assert own is not None
    arguments = filters.intervals.arguments
    made: list[TwoParsers] = []
    for (a, of_a), (b, of_b) in _pairs(data, of):
        found = items_agreement(
            of_a, of_b, own, data.values.examples, raters=(len(made), len(made)), **(arguments or {})
        )
        if found is not None:
            made.append(TwoParsers(a, b, found))
        if len(made) == MOST_PAIRS:
            break
    return tuple(made)


Rater = tuple[RaterEntry, Answers]


def _pairs(data: QuestionData, of: StudyData) -> Iterator[tuple[Rater, Rater]]:
    people = [(rater, data.people.where(data.people.rater == place)) for place, rater in enumerate(of.people)]
    judges = [(judge, data.judges[judge.code]) for judge in of.judges if judge.code in data.judges]
    golds = [(gold, data.golds[gold.code]) for gold in of.golds if gold.code in data.golds]
    yield from combinations(people, 2)
    yield from ((judge, person) for judge in judges for person in people)
    yield from combinations(judges, 2)
    yield from ((rater, gold) for rater in (*judges, *people) for gold in golds)
