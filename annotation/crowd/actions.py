"""Links for a crowd: made, closed, and what becomes of who comes by them."""

from __future__ import annotations

import math
import random
import secrets
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions import Refused, add_member, assign, lock_study, note, refuse_while_shown
from annotation.crowd.checks import golden_rows
from annotation.crowd.queries import checks_for, lets_in, place_of, places, rows_with_room
from annotation.models import Assignment, AuditEvent, CrowdLink, Participant, Rater, Role, Row, Sheet, Study, User
from annotation.webhooks.outbox import completing

_DRAW = secrets.SystemRandom()
# Of so many assignments one statement can tell.
_FEW = 10_000


class Full(Refused):
    """No place is left."""


class Elsewhere(Refused):
    """Somebody has begun with this id in another browser, and it is one that others may know."""


@transaction.atomic
def make_link(
    *,
    study: Study,
    title: str,
    sheets: Sequence[Sheet],
    rows_each: int,
    people_per_row: int,
    most_people: int,
    hours: int,
    asks_for: str,
    completion_code: str,
    completion_url: str,
    ended_code: str = "",
    checks_each: int = 0,
    by: User | None,
) -> CrowdLink:
    """`checks_each`: of the rows of each person so many are checks, of those that have gold now (`golden_rows`)."""
    made = CrowdLink.objects.create(
        study=study,
        title=title,
        token=secrets.token_urlsafe(24),
        rows_each=rows_each,
        checks_each=checks_each,
        people_per_row=people_per_row,
        most_people=most_people,
        hours=hours,
        asks_for=asks_for,
        completion_code=completion_code,
        completion_url=completion_url,
        ended_code=ended_code,
        created_by=by,
    )
    made.sheets.set(sheets)
    if checks_each:
        made.check_rows.set(row for rows in golden_rows(study, sheets).values() for row in rows)
    note(AuditEvent.Kind.INVITE, by=by, study=study, what=f"+crowd #{made.pk}")
    return made


@transaction.atomic
def set_closed(*, link: CrowdLink, closed: bool, by: User | None) -> None:
    """Let nobody new come by a link, or somebody again. Who is at work goes on."""
    if (link.closed_at is not None) == closed:
        return
    link.closed_at = timezone.now() if closed else None
    link.save(update_fields=["closed_at"])
    note(AuditEvent.Kind.INVITE, by=by, study=link.study, what=f"{'-' if closed else '+'}crowd #{link.pk}")


@transaction.atomic
def set_ended_code(*, link: CrowdLink, code: str, by: User | None) -> None:
    """The code of those who have begun and cannot go on: it is often wanted once a sheet is to be closed."""
    if link.ended_code != code:
        link.ended_code = code
        link.save(update_fields=["ended_code"])
        note(AuditEvent.Kind.INVITE, by=by, study=link.study, what=f"=crowd #{link.pk}")


@transaction.atomic
def end_early(*, participant: Participant) -> None:
    """Somebody is through with work that was closed while they were at it. They stay so when it is opened again.

    Raises:
        Refused: they can go on.
    """
    lock_study(participant.link.study_id)
    found = Participant.objects.select_related("link", "rater").get(pk=participant.pk)
    if found.ended_at is not None:
        return
    if not place_of(found).is_ended:
        raise Refused(_("Nothing was closed: you can go on."))
    found.ended_at = timezone.now()
    found.save(update_fields=["ended_at"])


@transaction.atomic
def take_place(*, link: CrowdLink, number: str, me: User | None = None) -> Participant:
    """A place for somebody new: an account without a password, and rows that have room. Who has come by another link
    of the study is the same rater again. Places of those whose time is over become free first.

    `me`: who is logged in where they come from.

    Raises:
        Elsewhere: the id is that of somebody else's place of another link of the study, and does not let in by itself.
        Full: as many people as are wanted are here, no row has room for this one, the link is closed, the study
            archived, or annotators need a second factor.
        Refused: an import is being shown.
    """
    lock_study(link.study_id)
    refuse_while_shown(link.study_id)
    link = CrowdLink.objects.select_related("study").get(pk=link.pk)
    if there := link.participants.filter(number=number).first():
        return there  # the other one of two requests
    needs_more = Role.ANNOTATOR in settings.PALATE_SECOND_FACTOR  # since the link was made
    if link.closed_at is not None or link.study.archived_at is not None or needs_more:
        raise Full(_("Nobody can take part by this link any more."))
    free_late_places(link=link)
    if link.participants.there().count() >= link.most_people:
        raise Full(_("All places are taken."))
    before = Participant.objects.filter(link__study=link.study_id, number=number).select_related("rater__user").first()
    if before is not None and before.user != me and not lets_in(number):
        raise Elsewhere(_("Somebody has begun with this id in another browser."))
    rater = before.rater if before else None
    golden = checks_for(link, rater) if link.checks_each else {}
    n_checks = min(link.checks_each, sum(map(len, golden.values())))
    room = rows_with_room(link, rater)
    rows = _drawn(room, link.rows_each - n_checks)
    if not rows or (rater is not None and (not rater.active or rater.paused_at is not None)):
        raise Full(_("All places are taken."))
    user = rater.user if rater else None
    if rater is None or user is None:
        user = User.objects.create_user(f"crowd-{link.pk}-{secrets.token_hex(4)}")  # its password cannot be used
        note(AuditEvent.Kind.ACCOUNT, by=user, of=user, study=link.study, what=f"made by crowd #{link.pk}")
        add_member(study=link.study, user=user, role=Role.ANNOTATOR, by=user)
        rater = Rater.objects.select_related("user").get(study=link.study_id, user=user)
    near = {sheet for sheet, of_sheet in room.items() if not of_sheet.keys().isdisjoint(rows)}
    # Who gets fewer of the others gets fewer checks too: as many for each as everybody.
    n_checks = math.ceil(n_checks * len(rows) / (link.rows_each - n_checks))
    checks = draw_checks(golden, n_checks, near=near, rng=_DRAW)
    rows += checks
    # Among the others in an order of their own, checks stand at no place of their own. Who has such an order on one of
    # the sheets already gets what is new after it.
    had_order = rater.assignments.filter(row__sheet__rows__in=rows, order__isnull=False)
    order_seed = _DRAW.getrandbits(32) if link.checks_each or (before and had_order.exists()) else None
    assign(rater=rater, rows=Row.objects.filter(pk__in=rows), order_seed=order_seed)
    return Participant.objects.create(link=link, number=number, user=user, rater=rater, rows=rows, checks=checks)


def _drawn(room: Mapping[int, Mapping[int, int]], n: int) -> list[int]:
    """So many rows of few sheets: the sheet with most rows that have room comes first, and of its rows those with the
    fewest people; equal ones by chance."""
    drawn: list[int] = []
    by_need = sorted(room.values(), key=lambda rows: (-len(rows), _DRAW.random()))
    for rows in by_need:
        drawn += sorted(rows, key=lambda row: (rows[row], _DRAW.random()))[: n - len(drawn)]
    return drawn


def draw_checks(golden: Mapping[int, Sequence[int]], n: int, *, near: Collection[int], rng: random.Random) -> list[int]:
    """So many rows with gold, by chance alone: of the sheets `near` first, then of others. `golden`: {sheet: rows}."""
    here = [row for sheet, rows in golden.items() if sheet in near for row in rows]
    drawn = rng.sample(here, min(n, len(here)))
    elsewhere = [row for sheet, rows in golden.items() if sheet not in near for row in rows]
    return drawn + rng.sample(elsewhere, min(n - len(drawn), len(elsewhere)))


@transaction.atomic
def free_late_places(*, link: CrowdLink) -> int:
    """Give up the places of those whose time is over before they were done, or who were through with what was closed:
    what they have not submitted is taken back, its labels stay stored. Returns how many."""
    over = timezone.now() - timedelta(hours=link.hours)
    given = Assignment.objects.filter(rater=OuterRef("rater"), repeat=1)
    submitted = Q(state=Assignment.State.SUBMITTED)
    # Who has submitted all that they were ever given is done, and there are many of them.
    is_left = Exists(given.exclude(submitted)) | ~Exists(given.filter(submitted))
    out_of_time = (Q(came_at__lt=over) & is_left) | Q(ended_at__isnull=False)
    late = list(link.participants.filter(out_of_time, freed_at=None).select_related("link", "rater"))
    if not late:
        return 0
    open_ones = [Assignment.State.OPEN, Assignment.State.STARTED]
    unfinished = Assignment.objects.filter(rater__in={one.rater_id for one in late}, repeat=1, state__in=open_ones)
    with completing(link.study_id, Row.objects.filter(assignments__in=unfinished)):
        # Who submits the last row just now is waited for, and is done then.
        locked = list(unfinished.select_for_update().order_by("pk").values_list("pk", "rater", "row"))
        left = [place for place in places(late) if not place.is_done]
        freed, now = [place.participant for place in left], timezone.now()
        # It was no fault of theirs, and stays so.
        ended = [place.participant.pk for place in left if place.is_ended]
        link.participants.filter(pk__in=ended, ended_at=None).update(ended_at=now)
        link.participants.filter(pk__in=[one.pk for one in freed]).update(freed_at=now)
        theirs = {(one.rater_id, row) for one in freed for row in one.rows}
        back = [pk for pk, rater, row in locked if (rater, row) in theirs]
        for first in range(0, len(back), _FEW):
            few = Assignment.objects.filter(pk__in=back[first : first + _FEW])
            few.update(state=Assignment.State.WITHDRAWN)
    return len(freed)
