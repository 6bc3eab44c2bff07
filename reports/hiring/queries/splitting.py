"""The split of a study into development and test: which row is in which part, and who has looked at the test."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.models import Assignment, Label, Rater, Row, Study
from annotation.queries.gold import with_decider
from judges.lineage.queries import examples_of, origins_behind, rows_behind
from judges.models import FittedCalibration, Judge, Origin
from reports.models import Split, TakeoverRow, TestLook

Name = tuple[str, str]  # title of a sheet, name of a row


def split_of(study: Study) -> Split | None:
    """One query."""
    return Split.objects.filter(study=study).select_related("drawn_by").first()


def parts_of(study: Study, split: Split | None = None) -> dict[int, bool]:
    """Row -> whether it is for the test; empty where the study is not split. Two queries, three without `split`.

    A row that came after the split has the part of its sheet or item where these were drawn, else the one that the
    seed and its own number give it.
    """
    split = split or split_of(study)
    if split is None:
        return {}
    parts = dict(split.rows.values_list("row_id", "test"))
    groups = groups_of(study, split.unit)
    of_group: dict[str, bool] = {}
    for pk, group in groups.items():
        if pk in parts:
            of_group.setdefault(group, parts[pk])
    for pk, group in groups.items():
        if pk not in parts:
            parts[pk] = of_group.get(group, rank(split.seed, group) < split.share / 100)
    return parts


def groups_of(study: Study, unit: str, *, among: QuerySet[Any] | None = None) -> dict[int, str]:
    """Row -> the name of what is drawn with it as a whole: its sheet, the item of its two texts, or itself. One query.

    `among`: the keys of the rows that are asked about; None means all.
    """
    comparison = study.scheme.parsed.comparison if unit == Split.Unit.ITEM else None
    rows = Row.objects.filter(sheet__study=study).order_by("pk")
    if among is not None:
        rows = rows.filter(pk__in=among)
    if unit == Split.Unit.SHEET:
        return {pk: f"sheet {sheet}" for pk, sheet in rows.values_list("pk", "sheet_id")}
    if comparison is None:
        return {pk: str(pk) for pk in rows.values_list("pk", flat=True)}
    items = ((pk, comparison.item_of(facets)) for pk, facets in rows.values_list("pk", "facets"))
    return {pk: f"item {item}" if item else str(pk) for pk, item in items}


def units_of(study: Study) -> list[Split.Unit]:
    """What can be drawn in a study, the usual one first. Where rows are two texts for an item, no rows by themselves:
    another pair of an item's texts tells of this one."""
    comparison = study.scheme.parsed.comparison
    by_item = comparison is not None and comparison.item is not None
    return [Split.Unit.ITEM if by_item else Split.Unit.ROW, Split.Unit.SHEET]


def rank(seed: int, name: str) -> float:
    """0 to 1, by the seed and a name alone (permanent random numbers)."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{name}".encode()).digest()[:8]) / 2**64


def development_rows(study: Study) -> frozenset[int] | None:
    """The rows that examples, calibration and every choice may come from; None where the study is not split, so that
    all may."""
    split = split_of(study)
    return None if split is None else frozenset(pk for pk, test in parts_of(study, split).items() if not test)


def fitted_rows(study: Study) -> set[int]:
    """The rows that anything was fitted to (calibrations, examples, judges weighed together), so that they can test
    none. Two queries, three where there are any, and one of each judge whose rows were not kept."""
    lineages = FittedCalibration.objects.filter(study=study).values_list("lineage", flat=True)
    named = {pk for lineage in lineages for pk in lineage["rows"]}
    named |= rows_behind(Origin.objects.filter(study=study))
    return set(Row.objects.filter(sheet__study=study, pk__in=named).values_list("pk", flat=True)) if named else set()


@dataclass(frozen=True)
class SeenRows:
    """How many test rows a judge, or what it came from, was fitted to. `kept`: of these it is known; the others are all
    that people had when it was made, since its rows were not kept then."""

    all: int
    kept: int


def seen_test_rows(judge: Judge, split: Split) -> SeenRows:
    """What was made since the split was drawn, and whose rows were not kept, had development rows alone. Two queries a
    version, and two more where there are rows."""
    origins = origins_behind(judge)
    kept = rows_behind(origin for origin in origins if origin.rows is not None)
    seen = kept | rows_behind(origin for origin in origins if origin.rows is None and origin.at <= split.drawn_at)
    test = {pk for pk, is_test in parts_of(split.study, split).items() if is_test} if seen else set()
    return SeenRows(len(test & seen), len(test & kept))


@dataclass(frozen=True)
class PartCount:
    """`labelled`: rows of which people say what is right, as choices and tests of judges use it."""

    rows: int
    labelled: int

    def share_of(self, other: PartCount) -> int:
        """Per cent that these are of both."""
        return round(100 * self.rows / max(self.rows + other.rows, 1))


def part_counts(study: Study, split: Split) -> tuple[PartCount, PartCount]:
    """Of development and test, without what is withdrawn. Five queries."""
    labelled = _labelled(study)
    standing = set(Row.objects.filter(sheet__study=study, withdrawn_at=None).values_list("pk", flat=True))
    parts = {pk: is_test for pk, is_test in parts_of(study, split).items() if pk in standing}
    development, test = (
        PartCount(
            sum(is_test == part for is_test in parts.values()),
            sum(is_test == part for pk, is_test in parts.items() if pk in labelled),
        )
        for part in (False, True)
    )
    return development, test


def _labelled(study: Study) -> set[int]:
    """The rows with an answer by which a judge can be chosen or tested: gold from a file, or what a person submitted
    without a look at others' labels and without a draft. Two queries."""
    said = Label.objects.filter(assignment=OuterRef("pk"), preset=False)
    by_people = Q(Exists(said.filter(exposed=False, drafted_from=None)), rater__kind=Rater.Kind.PERSON)
    gold = Q(Exists(with_decider(said).filter(exposed=False, decided_by=None)), rater__kind=Rater.Kind.GOLD)
    known = Assignment.objects.filter(by_people | gold, rater__study=study, state=Assignment.State.SUBMITTED, repeat=1)
    return set(known.values_list("row_id", flat=True)) - rows_left_out(study)


@dataclass(frozen=True)
class FittedCount:
    """Rows that something was fitted to; of these those in the test part, where they got before this was looked at;
    and what is left to draw a test part from."""

    rows: int
    in_test: int
    left: PartCount


def fitted_count(study: Study, split: Split | None) -> FittedCount:
    """Seven queries, nine where the study is split."""
    fitted = fitted_rows(study)
    left = set(Row.objects.filter(sheet__study=study, withdrawn_at=None).values_list("pk", flat=True)) - fitted
    test = {pk for pk, is_test in parts_of(study, split).items() if is_test} if split else set()
    return FittedCount(len(fitted), len(fitted & test), PartCount(len(left), len(left & _labelled(study))))


@dataclass(frozen=True)
class Looks:
    """How often the test part was looked at."""

    tests: int
    others: int

    @property
    def all(self) -> int:
        return self.tests + self.others


def looks_at(study: Study) -> Looks:
    """One query."""
    counted = dict(TestLook.objects.filter(study=study).order_by().values_list("what").annotate(n=Count("pk")))
    tests = counted.pop(TestLook.What.TEST, 0)
    return Looks(tests, sum(counted.values()))


def test_names(study: Study) -> set[Name]:
    """The test rows by sheet and name; none where the study is not split."""
    parts = parts_of(study)
    return {name for pk, name in row_names(study).items() if parts.get(pk)}


def left_out_names(study: Study) -> set[Name]:
    """Rows that a judge took over, and chance did not draw. People have those that it was not sure of, which are harder
    than others; where they got the others too, since it works no more, these are easier. Neither says anything of
    rows that are drawn like those of the test."""
    return names_not_drawn(study, TakeoverRow.objects.filter(takeover__certificate__study=study))


def shown_names(study: Study, judge: Judge | None) -> set[Name]:
    """Rows that the prompt of a judge, or of one that it weighs, shows it with their answers. What it says of them
    tells nothing of others. No query where it shows none."""
    shown = examples_of([judge]) if judge is not None else set()
    if not shown:
        return set()
    return set(Row.objects.filter(sheet__study=study, pk__in=shown).values_list("sheet__title", "name"))


def rows_left_out(study: Study) -> set[int]:
    """`left_out_names` by their numbers in the database. One query."""
    rows = TakeoverRow.objects.filter(takeover__certificate__study=study, drawn=False)
    return set(rows.values_list("row_id", flat=True))


def names_not_drawn(study: Study, rows: QuerySet[TakeoverRow]) -> set[Name]:
    """Two queries."""
    names = row_names(study)
    return {names[pk] for pk in rows.filter(drawn=False).values_list("row_id", flat=True) if pk in names}


def row_names(study: Study) -> dict[int, Name]:
    """One query."""
    rows = Row.objects.filter(sheet__study=study).values_list("pk", "sheet__title", "name")
    return {pk: (sheet, name) for pk, sheet, name in rows}
