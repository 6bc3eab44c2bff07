"""Experiments: which work can be drawn for one, and what is shown where it was drawn."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q

from annotation.models import Assignment, Experiment, Label, Rater, Sitting, Study
from annotation.queries.codes import CODE, PREFIX


@dataclass(frozen=True)
class Seat:
    """A person's work that nobody has begun, at a row that the judge has labelled."""

    assignment: int
    rater: int
    sheet: int
    row: int


def open_seats(study: Study, judge: Rater, raters: Collection[Rater], *, blind: Collection[int] = ()) -> list[Seat]:
    """In the order of the sheets, leaving out what an experiment has already, and rows that are to stay `blind`. One
    query."""
    labelled = Assignment.objects.filter(rater=judge, repeat=1, state=Assignment.State.SUBMITTED)
    found = Assignment.objects.filter(
        rater__in=raters,
        rater__study=study,
        rater__kind=Rater.Kind.PERSON,
        repeat=1,
        state=Assignment.State.OPEN,
        experiment_seat=None,
        row__in=labelled.values("row"),
        row__withdrawn_at=None,
        labels=None,
    )
    kept = set(blind)
    in_order = found.order_by("rater", "row__sheet__position", "row__sheet", "row__position", "pk")
    return [
        Seat(*values)
        for values in in_order.values_list("pk", "rater_id", "row__sheet_id", "row_id")
        if values[-1] not in kept
    ]


def opened_sheets(experiment: Experiment) -> set[tuple[int, int]]:
    """(rater, sheet) of an experiment in which the rater has begun a row, or whose page they have opened: it tells the
    server so as soon as it stands. One query."""
    seats = experiment.seats.order_by()
    there = Assignment.objects.filter(
        Exists(seats.filter(assignment__rater=OuterRef("rater"), assignment__row__sheet=OuterRef("row__sheet")))
    )
    seen = Exists(Sitting.objects.filter(assignment=OuterRef("pk"))) | Exists(
        Label.objects.filter(assignment=OuterRef("pk"), preset=False)
    )
    begun = there.filter(~Q(state=Assignment.State.OPEN) | seen)
    return set(begun.order_by().values_list("rater_id", "row__sheet_id").distinct())


def drawn_seats(seats: Iterable[Seat], *, seed: int) -> dict[int, bool]:
    """Assignment -> whether the judge's answers are shown there: half of each person's rows, and half of each sheet of
    theirs, as near as numbers allow; chance says which, and who has the odd one."""
    by_rater: dict[int, list[Seat]] = {}
    for seat in seats:
        by_rater.setdefault(seat.rater, []).append(seat)
    drawn: dict[int, bool] = {}
    for rater, mine in by_rater.items():
        sheets: dict[int, float] = {}
        for seat in mine:
            sheets.setdefault(seat.sheet, _chance(seed, rater, "sheet", seat.sheet))
        mine.sort(key=lambda seat: (sheets[seat.sheet], seat.sheet, _chance(seed, rater, "row", seat.row)))
        begins = _chance(seed, rater, "begins", 0) < 0.5
        # Pairs of neighbours: in each of them one is shown, and chance says which.
        for place, seat in enumerate(mine):
            first = _chance(seed, rater, "pair", place // 2) < 0.5
            lonely = place == len(mine) - 1 and not place % 2
            drawn[seat.assignment] = begins if lonely else first == (place % 2 == 0)
    return drawn


def _chance(seed: int, rater: int, what: str, number: int) -> float:
    digest = hashlib.sha256(f"{seed}:{rater}:{what}:{number}".encode()).digest()
    return int.from_bytes(digest[:8]) / 2**64


Shown = dict[tuple[int, int, int], str]  # (assignment, column, question) -> the code with its prefix


def suggested(assignments: Iterable[Assignment]) -> Shown:
    """What judges answered in these people's cells, where an experiment shows it; the assignments have their seats.
    No query where nothing is shown, else one a judge."""
    by_judge: dict[int, dict[int, int]] = {}
    for assignment in assignments:
        seat = getattr(assignment, "experiment_seat", None)
        if seat is not None and seat.shown:
            by_judge.setdefault(seat.experiment.judge_id, {})[assignment.row_id] = assignment.pk
    shown: Shown = {}
    for judge, of_row in by_judge.items():
        labels = Label.objects.filter(
            assignment__rater=judge,
            assignment__row__in=of_row,
            assignment__repeat=1,
            assignment__state=Assignment.State.SUBMITTED,
            preset=False,
        )
        for row, column, question, prefix, code in labels.order_by().values_list(
            "assignment__row_id", "column_id", "question_id", PREFIX, CODE
        ):
            shown[of_row[row], column, question] = prefix + code
    return shown
