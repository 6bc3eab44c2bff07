"""Who else would get rows that somebody has: read from what stands, drawn by `annotation.planning.adding`."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from annotation.models import Assignment, Study
from annotation.planning.adding import Added, Held, drawn, more_people
from annotation.queries.planning import Given, StudyRows, asks, study_rows
from annotation.queries.replanning import StoredSeat, stored_seats

State = Assignment.State


@dataclass(frozen=True)
class MoreRequest:
    """Raters and sheets by primary key.

    people: how many each row shall have in all. share, size: which part of the rows, in per cent, or how many; neither
    means all. submitted: only rows that somebody has submitted.
    """

    takers: tuple[int, ...]
    sheets: tuple[int, ...]
    people: int = 2
    share: int | None = None
    size: int | None = None
    submitted: bool = False
    seed: int = 1


@dataclass(frozen=True)
class Had:
    """What people have now. `live`: all of it; `vacant`: seats at rows that can be labelled which lost their rater."""

    rows: StudyRows
    live: tuple[StoredSeat, ...]
    vacant: tuple[StoredSeat, ...]

    @property
    def rows_of_sheets(self) -> Counter[int]:
        """Sheet -> how many of its rows that can still be labelled somebody has."""
        return Counter(self.rows.sheet_of[row_id] for row_id in {seat.row_id for seat in self.live if not seat.closed})

    @property
    def seats(self) -> tuple[Given, ...]:
        return tuple(
            Given(seat.row_id, seat.rater_id, tuple(seat.sections), began=seat.state != State.OPEN)
            for seat in self.live
        )


def had(study: Study) -> Had:
    """Five queries."""
    rows = study_rows(study)
    live, vacant, _lost = stored_seats(study, rows)
    return Had(rows, tuple(live), tuple(vacant))


@dataclass(frozen=True)
class DrawnMore:
    """What would be given. `digest` stands for all that it follows from.

    fit: rows that the draw is of. drawn: rows that shall have so many people. fewer: those of them that have not.
    lacking: those that will not, since too few may take them. given: the new seats. instead_of: seats that lost their
    rater, each with who comes to the row now.
    """

    fit: int
    drawn: int
    fewer: int
    lacking: int
    given: tuple[Given, ...]
    instead_of: Mapping[int, int]
    before: tuple[Given, ...]
    digest: str

    @property
    def after(self) -> tuple[Given, ...]:
        return (*self.before, *self.given)


def draw_more(study: Study, asked: MoreRequest, had: Had) -> DrawnMore:
    """Who would get what now. One query.

    The rows are drawn of all that somebody has, however many people those are: so the same seed draws the same rows
    once they have been given, and a larger number adds to them.
    """
    plannable = set(study.raters.plannable().order_by().values_list("pk", flat=True))
    takers = [pk for pk in asked.takers if pk in plannable]
    sheets = set(asked.sheets)
    here = [seat for seat in had.live if seat.sheet_id in sheets and not seat.closed]
    fit = dict.fromkeys(seat.row_id for seat in here if not asked.submitted or seat.state == State.SUBMITTED)
    rows = drawn(list(fit), share=asked.share, size=asked.size, seed=asked.seed)
    held = [Held((seat.sheet_id, seat.row_id), seat.rater_id, tuple(seat.sections)) for seat in had.live]
    added = more_people(
        held,
        [(had.rows.sheet_of[row_id], row_id) for row_id in fit if row_id in rows],
        people=asked.people,
        takers=takers,
        every=[section.key for section in study.scheme.parsed.sections],
        seed=asked.seed,
    )
    follows_from = [takers, asked.people, sorted(rows), held, added]
    return DrawnMore(
        fit=len(fit),
        drawn=len(rows),
        fewer=len({one.document for one in added}),
        lacking=len({one.document for one in added if one.rater is None}),
        given=tuple(Given(one.document[1], one.rater, one.sections) for one in added if one.rater is not None),
        instead_of=dict(_instead_of(added, had.vacant)),
        before=had.seats,
        digest=hashlib.sha256(json.dumps(follows_from).encode()).hexdigest(),
    )


def _instead_of(added: Sequence[Added], vacant: Sequence[StoredSeat]) -> Iterator[tuple[int, int]]:
    """One seat that lost its rater for each who is new at its row and gets its sections; who had it has it again."""
    lost: dict[int, list[StoredSeat]] = defaultdict(list)
    for seat in vacant:
        lost[seat.row_id].append(seat)
    back = {(one.document[1], one.rater) for one in added}
    for one in added:
        row_id, rater_id = one.document[1], one.rater
        if rater_id is None or any(seat.rater_id == rater_id for seat in lost[row_id]):
            continue
        for seat in lost[row_id]:
            if (row_id, seat.rater_id) not in back and _covers(one.sections, seat.sections):
                lost[row_id].remove(seat)
                yield seat.pk, rater_id
                break


def _covers(sections: Sequence[str], others: Sequence[str]) -> bool:
    return all(asks(sections, section) for section in others) if others else not sections
