"""What replanning would move: read from what stands, drawn by `annotation.planning.replanning`."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import QuerySet

from annotation.models import Assignment, Rater, Study
from annotation.planning.replanning import Seat, replan
from annotation.queries.people import rater_ids
from annotation.queries.planning import Given, StudyRows, all_rows, study_rows

State = Assignment.State


@dataclass(frozen=True)
class ReplanRequest:
    """Raters by primary key.

    `make_up`: for each seat of a withdrawn row beyond its first, add one to another row of the same sheet that one
    rater has alone.
    """

    takers: tuple[int, ...]
    leaving: tuple[int, ...] = ()
    level: bool = False
    make_up: bool = True
    seed: int = 1


@dataclass(frozen=True)
class Move:
    """A seat that changes hands. `assignment_id`: what is withdrawn, or was before; `before` None: nobody has it now.

    `after` None: nobody can take it.
    """

    assignment_id: int
    row_id: int
    sections: tuple[str, ...]
    before: int | None
    after: int | None


@dataclass(frozen=True)
class DrawnReplan:
    """`before`, `after`: all live seats; `digest` stands for all that the moves follow from."""

    rows: StudyRows
    moves: tuple[Move, ...]
    before: tuple[Given, ...]
    after: tuple[Given, ...]
    digest: str

    @property
    def stuck(self) -> int:
        return sum(move.after is None for move in self.moves)

    @property
    def n_moves(self) -> int:
        """Without those that nobody can take."""
        return len(self.moves) - self.stuck


@dataclass(frozen=True)
class Vacancies:
    """Seats that lost their rater and have no other yet."""

    seats: int  # at rows that can be labelled
    made_up: int  # withdrawn rows that several raters had


def vacancies(study: Study, rows: StudyRows | None = None) -> Vacancies:
    """`rows`: the study's, where they have been read already.

    Two queries; more where work was withdrawn that nobody has instead.
    """
    gone = list(_given(study).filter(state=State.WITHDRAWN).order_by().values_list("row_id", flat=True))
    if not gone:
        return Vacancies(0, 0)
    rows = rows or study_rows(study)
    seats = sum(row_id in rows.to_label for row_id in gone)
    if not any(row_id in rows.withdrawn and rows.sheet_of[row_id] not in rows.closed for row_id in gone):
        return Vacancies(seats, 0)
    live, vacant, lost = stored_seats(study, rows)
    return Vacancies(len(vacant), len({seat.row_id for seat in _lost_seats(live, lost)}))


class StoredSeat(NamedTuple):
    pk: int
    sheet_id: int
    row_id: int
    rater_id: int
    sections: list[str]
    state: str
    closed: bool
    facets: dict[str, Any]

    @property
    def open(self) -> bool:
        """Whether it can still move."""
        return self.state == State.OPEN and not self.closed


def _given(study: Study) -> QuerySet[Assignment]:
    """What people have or had, but for what was handed on. One query, and one for whoever asks it."""
    return Assignment.objects.filter(rater__in=rater_ids(study, Rater.Kind.PERSON), repeat=1, handed_to=None)


def stored_seats(study: Study, rows: StudyRows) -> tuple[list[StoredSeat], list[StoredSeat], list[StoredSeat]]:
    """Live seats; seats of rows that can be labelled which lost their rater; of withdrawn rows too; by their rows, in
    their order. Three queries.

    Rows are looked up here: joined to them, SQLite goes through all rows of all studies for each rater.
    """
    given = list(_given(study).order_by("pk").values_list("pk", "row_id", "rater_id", "sections", "state"))
    facets_of = dict(all_rows(study, rows.sheets).order_by().values_list("pk", "facets"))
    place_of_sheet = {pk: place for place, pk in enumerate(rows.sheets)}
    place_of = {pk: (place_of_sheet[sheet_id], place) for place, (pk, sheet_id) in enumerate(rows.sheet_of.items())}
    live: list[StoredSeat] = []
    vacant: list[StoredSeat] = []
    lost: list[StoredSeat] = []
    known = [seat for seat in given if seat[1] in place_of]  # no row that has come meanwhile
    for pk, row_id, rater_id, sections, state in sorted(known, key=lambda seat: place_of[seat[1]]):
        sheet_id, withdrawn = rows.sheet_of[row_id], row_id in rows.withdrawn
        closed = withdrawn or sheet_id in rows.closed
        seat = StoredSeat(pk, sheet_id, row_id, rater_id, sections, state, closed, facets_of[row_id])
        if seat.state != State.WITHDRAWN:
            live.append(seat)
        elif sheet_id not in rows.closed:
            (lost if withdrawn else vacant).append(seat)
    return live, vacant, lost


def _lost_seats(live: Sequence[StoredSeat], lost: Sequence[StoredSeat]) -> list[StoredSeat]:
    """Of the seats of withdrawn rows those beyond the first of each row: what was to be labelled several times."""
    there = Counter(seat.row_id for seat in live)
    again = []
    for seat in lost:
        there[seat.row_id] += 1
        if there[seat.row_id] > 1:
            again.append(seat)
    return again


def draw_replan(study: Study, asked: ReplanRequest) -> DrawnReplan:
    """What replanning would do now. Five queries."""
    rows = study_rows(study)
    live, vacant, lost = stored_seats(study, rows)
    stored = [*live, *vacant]
    seats = [Seat((seat.sheet_id, seat.row_id), seat.rater_id, open=seat.open) for seat in live]
    seats += [Seat((seat.sheet_id, seat.row_id), None) for seat in vacant]
    if asked.make_up:
        for was, row_id in _made_up(live, _lost_seats(live, lost)):
            stored.append(was)
            seats.append(Seat((was.sheet_id, row_id), None))
    after = replan(seats, takers=asked.takers, leaving=asked.leaving, level=asked.level, seed=asked.seed).after
    moves, end = [], []
    for seat, was, rater_id in zip(seats, stored, after, strict=True):
        row_id, sections = seat.document[1], tuple(was.sections)
        if rater_id != seat.rater or rater_id is None:
            moves.append(Move(was.pk, row_id, sections, seat.rater, rater_id))
        if (stays := seat.rater if rater_id is None else rater_id) is not None:
            end.append(Given(row_id, stays, sections, began=not seat.open))
    before = tuple(
        Given(seat.row_id, seat.rater_id, tuple(seat.sections), began=seat.state != State.OPEN) for seat in live
    )
    follows_from = [list(asked.takers), list(asked.leaving), stored, after]
    digest = hashlib.sha256(json.dumps(follows_from).encode()).hexdigest()
    return DrawnReplan(rows, tuple(moves), before, tuple(end), digest)


def _made_up(live: Sequence[StoredSeat], lost: Sequence[StoredSeat]) -> Iterator[tuple[StoredSeat, int]]:
    """For each lost seat another row of its sheet that one rater has alone: of those that are most alike by their
    facets preferably one that is not begun, and that whoever lost the seat can take."""
    raters_of: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    begun = {seat.row_id for seat in live if not seat.open}
    gone = {seat.row_id for seat in lost}
    facets_of = {seat.row_id: seat.facets for seat in live}
    for seat in live:
        raters_of[seat.sheet_id][seat.row_id].append(seat.rater_id)
    for seat in lost:
        here = raters_of[seat.sheet_id]
        alone = [row_id for row_id, raters in here.items() if len(raters) == 1 and row_id not in gone]
        if alone:

            def least(row: int, seat: StoredSeat = seat, raters: Mapping[int, list[int]] = here) -> tuple[object, ...]:
                return _differing(seat.facets, facets_of[row]), row in begun, seat.rater_id in raters[row], row

            row_id = min(alone, key=least)
            here[row_id].append(0)  # whoever will have it
            yield seat, row_id


def _differing(a: Mapping[str, Any], b: Mapping[str, Any]) -> int:
    """How many facets say something else."""
    return sum(a.get(facet) != b.get(facet) for facet in a.keys() | b.keys())
