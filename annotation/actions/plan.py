"""Who labels what."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.db.models import Exists, Max, OuterRef
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import queries
from annotation.actions.base import Refused, lock_study, refuse_while_shown, take_back
from annotation.models import (
    Arrival,
    Assignment,
    Label,
    Plan,
    Rater,
    Row,
    Sheet,
    Skip,
    Study,
    User,
)
from annotation.planning import Design, OverlapRequest, RowChoice
from annotation.webhooks.outbox import Event, completing, tell_of_rows

State = Assignment.State


@transaction.atomic
def apply_design(
    *,
    study: Study,
    design: Design | None,
    request: OverlapRequest | None,
    raters: Sequence[Rater],
    sheets: Sequence[Sheet],
    by: User | None,
    rows: Sequence[Sequence[int]] | None = None,
    sections: Sequence[str] = (),
    own_order: bool = False,
    choice: RowChoice | None = None,
    among: Collection[int] | None = None,
    judges: Mapping[str, Sequence[int]] | None = None,
) -> Plan:
    """Assign rows as the design says: its numbers are places in `sheets`, in a sheet's free rows, and in `raters`.

    `rows` are the numbers of the rows of each sheet that the design was drawn for; without them, those free now.
    `choice`: which rows the plan is about; None means all. `among`: it is about no others than these. `sections`:
    which are asked, by key; none means all. `own_order`: each rater sees the rows of a sheet in an order of their own,
    which the seed gives. `judges`: code -> the numbers of the rows that this judge is to label.

    Raises:
        Refused: other rows are free by now, or somebody is no rater any more. Nothing is changed then.
    """
    lock_study(study.pk)
    refuse_while_shown(study.pk)
    plan = Plan(study=study, applied_by=by, request={"sections": list(sections), "own_order": own_order})
    plan.request["judges"] = {code: list(row_ids) for code, row_ids in (judges or {}).items()}
    given: dict[int, dict[int, list[int]]] = {}
    if design is not None and request is not None:
        if choice is not None:
            among = queries.sample(sheets, choice).rows
        free = queries.free_rows(sheets, sections, among=among)
        drawn = [free.get(sheet.pk, []) for sheet in sheets]
        _refuse_changed(study, request, raters, drawn, rows)
        for sheet, row, rater in design.assignments:
            given.setdefault(rater, {}).setdefault(sheet, []).append(drawn[sheet][row])
        plan.request |= asdict(request)
        plan.request |= {
            "share_twice": str(request.share_twice),
            "share_thrice": str(request.share_thrice),
            "sheet_ids": [sheet.pk for sheet in sheets],
            "row_ids": drawn,
            "rater_codes": [rater.code for rater in raters],
        }
    if choice is not None:
        told = asdict(choice)
        if choice.within is None:
            del told["within"], told["deviation"]
        plan.request["choice"] = told
    plan.save()
    extended, reopened = 0, list[int]()
    for place, by_sheet in given.items():
        orders: dict[int, int] = {}
        for sheet, of_one in by_sheet.items():
            if own_order and request is not None:
                orders |= _own_order(raters[place], sheets[sheet].pk, of_one, seed=request.seed)
        row_ids = [row_id for of_one in by_sheet.values() for row_id in of_one]
        extended += _give(raters[place], row_ids, reopened, sections=sections, plan=plan, orders=orders)
        # Whose rows these were before does not lack a successor any more.
        Assignment.objects.filter(
            row__in=row_ids, rater__kind=Rater.Kind.PERSON, state=State.WITHDRAWN, handed_to=None
        ).update(handed_to=raters[place])
    for code, for_judge in (judges or {}).items():
        extended += _give(_judges_rater(study, code), for_judge, reopened, sections=sections, plan=plan)
    plan.request["extended"] = extended  # a plan that added to earlier work cannot be undone
    plan.save(update_fields=["request"])
    tell_of_rows(Event.ROW_REOPENED, reopened)
    return plan


def _refuse_changed(
    study: Study,
    request: OverlapRequest,
    raters: Sequence[Rater],
    free: Sequence[Sequence[int]],
    drawn_for: Sequence[Sequence[int]] | None,
) -> None:
    """Refuse a design whose rows are not those that are free now, or of whose raters one is none any more."""
    same_rows = drawn_for is None or [list(of_sheet) for of_sheet in drawn_for] == free
    present = study.raters.given_more().filter(pk__in=[rater.pk for rater in raters]).count()
    if not same_rows or tuple(map(len, free)) != tuple(request.sheets) or present != len(raters):
        raise Refused(
            _(
                "The study has changed since this plan was drawn. Nothing was assigned: look at it and apply it "
                "again. If it was sent before, it may be done already."
            )
        )


def _own_order(rater: Rater, sheet_id: int, row_ids: Sequence[int], *, seed: int) -> dict[int, int]:
    """Row -> its place among those that the rater has on this sheet; the new ones come after the old ones."""
    rng = random.Random(f"{seed}:{rater.code}:{sheet_id}")  # noqa: S311  an order, not a secret
    places = list(row_ids)
    rng.shuffle(places)
    last = rater.assignments.filter(row__sheet=sheet_id).aggregate(last=Max("order"))["last"]
    first = 0 if last is None else last + 1
    return {row_id: first + place for place, row_id in enumerate(places)}


def _judges_rater(study: Study, code: str) -> Rater:
    rater, _created = Rater.objects.get_or_create(study=study, code=code, defaults={"kind": Rater.Kind.JUDGE})
    if rater.kind != Rater.Kind.JUDGE:
        raise Refused(_("Another rater of this study has the code “%(code)s”.") % {"code": code})
    return rater


@transaction.atomic
def assign(
    *,
    rater: Rater,
    rows: Iterable[Row],
    sections: Sequence[str] = (),
    repeat: int = 1,
    order_seed: int | None = None,
) -> list[Assignment]:
    """Give rows to a rater; rows that it has already are left as they are, withdrawn ones are given again.

    `order_seed`: the rater sees those of a sheet in an order of its own, which the seed gives.
    """
    rows, orders = list(rows), dict[int, int]()
    if order_seed is not None:
        for sheet_id in sorted({row.sheet_id for row in rows}):
            of_sheet = [row.pk for row in rows if row.sheet_id == sheet_id]
            orders |= _own_order(rater, sheet_id, of_sheet, seed=order_seed)
    _give(rater, [row.pk for row in rows], [], sections=sections, repeat=repeat, orders=orders)
    return list(rater.assignments.filter(repeat=repeat, row__in=rows))


def _give(
    rater: Rater,
    row_ids: Sequence[int],
    reopened: list[int],
    *,
    sections: Sequence[str] = (),
    repeat: int = 1,
    plan: Plan | None = None,
    orders: Mapping[int, int] | None = None,
) -> int:
    """Returns how many assignments stood before and were given more, or were withdrawn with work in them. Those that
    are open again by that are added to `reopened`, and told once no more is to be locked.

    Raises:
        Refused: an import is arriving with work of the rater on one of these rows.
    """
    mine = rater.assignments.filter(repeat=repeat, row__in=row_ids)
    orders = orders or {}
    of_it = {"assignment": OuterRef("pk")}
    begun = Exists(Label.objects.filter(**of_it)) | Exists(Skip.objects.filter(**of_it))
    # Locked: who labels waits for no lock of the study, and may submit one of them, or take it back, by now.
    have = {assignment.row_id: assignment for assignment in mine.select_for_update(no_key=True).order_by("pk")}
    again = [assignment for assignment in have.values() if assignment.state == State.WITHDRAWN]
    coming = any(assignment.handed_to_id == rater.pk for assignment in again)
    if coming and Arrival.objects.filter(study=rater.study_id).exists():
        raise Refused(
            _("A file with labels of “%(rater)s” is being imported. Nothing was assigned: wait for its end.")
            % {"rater": rater.code}
        )
    begun_again = set(mine.filter(begun, state=State.WITHDRAWN).values_list("pk", flat=True)) if again else set()
    for assignment in again:
        assignment.state = State.STARTED if assignment.pk in begun_again else State.OPEN
        assignment.sections, assignment.plan, assignment.handed_to = list(sections), plan, None
        assignment.order = orders.get(assignment.row_id)
    Assignment.objects.bulk_update(again, ["state", "sections", "plan", "handed_to", "order"], batch_size=200)
    Assignment.objects.bulk_create(
        Assignment(rater=rater, row_id=pk, repeat=repeat, sections=list(sections), plan=plan, order=orders.get(pk))
        for pk in row_ids
        if pk not in have
    )
    return len(begun_again) + (_ask_more(have.values(), sections, plan, reopened) if plan is not None else 0)


def _ask_more(assignments: Iterable[Assignment], sections: Sequence[str], plan: Plan, reopened: list[int]) -> int:
    """Add sections to what is given already. What was submitted is open again then; its labels stay."""
    lacking = [one for one in assignments if one.sections and not (sections and set(sections) <= set(one.sections))]
    reopened += [assignment.pk for assignment in take_back(lacking)]
    for assignment in lacking:
        assignment.sections = sorted({*assignment.sections, *sections}) if sections else []
        assignment.plan = plan
    Assignment.objects.bulk_update(lacking, ["sections", "plan"], batch_size=200)
    return len(lacking)


@transaction.atomic
def apply_replan(*, study: Study, request: queries.ReplanRequest, drawn: str, by: User | None) -> Plan:
    """Hand open work on as `queries.draw_replan` says. `drawn` is the digest of what was shown.

    Raises:
        Refused: it would move something else by now, or nothing. Nothing is changed then.
    """
    lock_study(study.pk)
    replan = queries.draw_replan(study, request)
    moves = [(move, move.after) for move in replan.moves if move.after is not None]
    # Locked: who labels waits for no lock of the study, and may have begun one of them by now.
    to_move = Assignment.objects.select_for_update().filter(pk__in=[move.assignment_id for move, _to in moves])
    was = {assignment.pk: assignment for assignment in to_move.order_by("pk")}
    begun = any(move.before is not None and was[move.assignment_id].state != State.OPEN for move, _to in moves)
    if begun or replan.digest != drawn:
        raise Refused(
            _(
                "The study has changed since this was drawn. Nothing was moved: look at it and apply it again. "
                "If it was sent before, it may be done already."
            )
        )
    if not moves:
        raise Refused(_("Nothing would move. Choose whose work is reassigned."))
    raters = study.raters.in_bulk()
    plan = Plan.objects.create(
        study=study,
        applied_by=by,
        request={
            "replan": asdict(request),
            "moves": [[m.row_id, raters[m.before].code if m.before else "", raters[to].code] for m, to in moves],
        },
    )
    sheet_of = dict(Row.objects.filter(pk__in=[move.row_id for move, _to in moves]).values_list("pk", "sheet_id"))
    given: dict[tuple[int, int, tuple[str, ...]], list[queries.Move]] = {}
    reopened: list[int] = []
    for move, rater_id in moves:
        given.setdefault((rater_id, sheet_of[move.row_id], move.sections), []).append(move)
    for (rater_id, sheet_id, sections), of_sheet in given.items():
        to = raters[rater_id]
        orders: dict[int, int] = {}
        had_order = any(was[move.assignment_id].order is not None for move in of_sheet)
        if _has_own_order(to, sheet_id, otherwise=had_order):
            row_ids = [move.row_id for move in of_sheet]
            orders = _own_order(to, sheet_id, row_ids, seed=request.seed)
        Assignment.objects.filter(pk__in=[move.assignment_id for move in of_sheet]).update(
            state=State.WITHDRAWN, handed_to=to
        )
        _give(to, [move.row_id for move in of_sheet], reopened, sections=sections, plan=plan, orders=orders)
    tell_of_rows(Event.ROW_REOPENED, reopened)
    return plan


def _has_own_order(rater: Rater, sheet_id: int, *, otherwise: bool) -> bool:
    """`otherwise`: where the rater has nothing of the sheet yet."""
    there = rater.assignments.filter(row__sheet=sheet_id).exclude(state=State.WITHDRAWN)
    return there.filter(order__isnull=False).exists() if there.exists() else otherwise


@transaction.atomic
def give_to_more(*, study: Study, request: queries.MoreRequest, drawn: str, by: User | None) -> Plan:
    """Give rows that somebody has to more people, as `queries.draw_more` says. `drawn` is the digest of what was shown.

    Raises:
        Refused: somebody would get something else by now, or nobody anything. Nothing is changed then.
    """
    lock_study(study.pk)
    refuse_while_shown(study.pk)
    had = queries.had(study)
    more = queries.draw_more(study, request, had)
    if more.digest != drawn:
        raise Refused(
            _(
                "The study has changed since this was drawn. Nothing was assigned: look at it and apply it again. "
                "If it was sent before, it may be done already."
            )
        )
    if not more.given:
        raise Refused(_("Nothing would be assigned."))
    raters = study.raters.in_bulk()
    given: dict[tuple[int, int, tuple[str, ...]], list[int]] = {}
    for seat in more.given:
        given.setdefault((seat.rater_id, had.rows.sheet_of[seat.row_id], seat.sections), []).append(seat.row_id)
    asked: dict[str, Any] = {"more": asdict(request)}
    asked |= {"given": [[seat.row_id, raters[seat.rater_id].code] for seat in more.given]}
    rows = {seat.row_id for seat in more.given}
    taken_back = _taken_back(rows)
    # What somebody had before comes back as it was left: a plan with any of that cannot be undone.
    asked["extended"] = sum((seat.rater_id, seat.row_id) in taken_back for seat in more.given)
    plan = Plan.objects.create(study=study, applied_by=by, request=asked)
    in_order, reopened = _in_own_order(rows), list[int]()
    for (rater_id, sheet_id, sections), row_ids in given.items():
        to, orders = raters[rater_id], {}
        if _has_own_order(to, sheet_id, otherwise=not in_order.isdisjoint(row_ids)):
            orders = _own_order(to, sheet_id, row_ids, seed=request.seed)
        _give(to, row_ids, reopened, sections=sections, plan=plan, orders=orders)
    # Whose rows these were before does not lack a successor any more.
    lost = Assignment.objects.in_bulk(more.instead_of)
    for pk, rater_id in more.instead_of.items():
        lost[pk].handed_to = raters[rater_id]
    Assignment.objects.bulk_update(lost.values(), ["handed_to"], batch_size=200)
    tell_of_rows(Event.ROW_REOPENED, reopened)
    return plan


def _taken_back(row_ids: Collection[int]) -> set[tuple[int, int]]:
    """(person, row) of what was withdrawn of some rows. One query."""
    of_people = Assignment.objects.filter(row__in=row_ids, rater__kind=Rater.Kind.PERSON, repeat=1)
    return set(of_people.filter(state=State.WITHDRAWN).values_list("rater_id", "row_id"))


def _in_own_order(row_ids: Collection[int]) -> set[int]:
    """Those of some rows that somebody has at a place in an order of their own. One query."""
    at = Assignment.objects.filter(row__in=row_ids, rater__kind=Rater.Kind.PERSON, order__isnull=False)
    return set(at.exclude(state=State.WITHDRAWN).values_list("row_id", flat=True))


@transaction.atomic
def withdraw(*, rater: Rater) -> int:
    """Take back what a rater has not submitted; its labels stay stored. Returns how many assignments that were."""
    unfinished = rater.assignments.filter(state__in=[State.OPEN, State.STARTED])
    with completing(rater.study_id, Row.objects.filter(assignments__in=unfinished)):
        return unfinished.update(state=State.WITHDRAWN)


@transaction.atomic
def withdraw_row(*, row: Row, reason: str, by: User | None) -> int:
    """Ask nobody else to label a row: its page is gone, say. What is begun stays, with its labels.

    Returns:
        How many assignments were withdrawn.
    """
    lock_study(row.sheet.study_id)
    mine = Row.objects.filter(pk=row.pk)
    with completing(row.sheet.study_id, mine):
        mine.filter(withdrawn_at=None).update(withdrawn_at=timezone.now(), withdrawn_by=by, withdrawn_reason=reason)
        return row.assignments.filter(state=State.OPEN).update(state=State.WITHDRAWN)


@transaction.atomic
def restore_row(*, row: Row) -> None:
    """Let a row be labelled again. Who had it before gets it back by planning or replanning. One that an import is
    bringing stays as it is until the end of that."""
    study_id = row.sheet.study_id
    lock_study(study_id)
    mine = Row.objects.filter(pk=row.pk).exclude(queries.coming_rows(study_id))
    mine.update(withdrawn_at=None, withdrawn_by=None, withdrawn_reason="")


@transaction.atomic
def pause(*, rater: Rater, by: User | None) -> None:
    """Give a person no new work until `go_on`; what they have stays theirs, and they read that they are paused."""
    Rater.objects.filter(pk=rater.pk, paused_at=None).update(paused_at=timezone.now(), paused_by=by)


@transaction.atomic
def go_on(*, rater: Rater) -> None:
    Rater.objects.filter(pk=rater.pk).update(paused_at=None, paused_by=None)
