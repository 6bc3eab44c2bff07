"""A study that is deleted: at once, or by a worker where a page would wait for long."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.base import Refused, lock_study, lock_to_resume
from annotation.actions.trust import note
from annotation.models import (
    Arrival,
    Assignment,
    AuditEvent,
    Column,
    Deletion,
    DeletionPart,
    Label,
    LabelEvent,
    Membership,
    Rater,
    Row,
    Sheet,
    Study,
    User,
)
from annotation.queries import undoing
from work import actions as work
from work.actions import Held
from work.kinds import Kind

# Rows of all tables together up to which a page deletes a study by itself, within a second or two.
AT_ONCE = 20_000
# Rows that one transaction of a worker deletes, with what hangs on them.
_FEW = 500
# Longer than what is left takes once the many are gone.
_REST = timedelta(minutes=30)


@transaction.atomic
def delete_study(*, study: Study, by: User) -> Deletion | None:
    """Delete a study with all that is in it; the audit log keeps that it was.

    A large one is gone for everybody at once, and a worker deletes it by parts: that run is returned.

    Raises:
        Refused: something is frozen in it or at work in it; somebody has worked on it, and `by` is no owner.
    """
    lock_study(study.pk)
    along = undoing.of_study(study)
    if along.frozen:
        raise Refused(
            _("“%(study)s” cannot be deleted, by nobody: what is frozen or certified stays with its study. Archive it.")
            % {"study": study.title}
        )
    if along.built and not by.is_superuser:
        raise Refused(
            _("“%(study)s” cannot be deleted: it was labelled. Archive it, or ask an owner of the installation.")
            % {"study": study.title}
        )
    refuse_at_work(study)
    counted = ", ".join(f"{n} {what}" for what, n in (*along.goes, *along.built))
    note(AuditEvent.Kind.DELETION, by=by, study=study, what=f"study {study.slug}: {counted}")
    given = Assignment.objects.filter(rater__study=study).count()
    if given + sum(n for _what, n in (*along.goes, *along.built)) > AT_ONCE:
        return _hidden(study, by)
    # The many go by a statement each; what is left is few enough to be looked at one by one.
    LabelEvent.objects.filter(column__sheet__study=study).delete()
    Label.objects.filter(column__sheet__study=study).delete()
    study.delete()
    return None


def refuse_at_work(study: Study) -> None:
    runs = undoing.runs_of(study)
    if runs:
        raise Refused(
            _("“%(run)s” is at work in this study. Cancel it, or wait for its end; then try again.")
            % {"run": runs[0].maker}
        )
    if Arrival.objects.filter(study=study).exists():  # of an import that is no run, such as a command's
        raise Refused(_("A file is being imported into this study. Try again at its end."))


def _hidden(study: Study, by: User) -> Deletion:
    """Nobody has anything to do with it any more, and its address is free."""
    now = timezone.now()
    Study.objects.filter(pk=study.pk).update(
        deleted_at=now, archived_at=study.archived_at or now, slug=f"deleted-{study.pk}-{secrets.token_hex(4)}"
    )
    Study.objects.filter(derived_from=study).update(derived_from=None)
    Membership.objects.filter(study=study).delete()
    study.invites.all().delete()
    Rater.objects.filter(study=study).exclude(user=None).update(user=None, active=False)
    Sheet.objects.filter(study=study, closed_at=None).update(closed_at=now)
    made = Deletion.objects.create(study=study, title=study.title, started_by=by)
    work.start(made, [DeletionPart(run=made)])
    return made


@transaction.atomic
def resume_deletion(*, run: Deletion) -> None:
    """Go on with a deletion that has failed, where it was.

    Raises:
        Refused: it is done, or at work.
    """
    lock_to_resume(run)
    if not work.resume(run):
        raise Refused(_("It is done already."))


def _delete(held: Held[DeletionPart]) -> None:
    """By parts, each for good: who takes it up after a dead worker goes on with what is left."""
    study = held.item.run.study
    if study is None:
        with held.finishing():
            return
    for many in _many(study):
        rows = many.order_by()
        while pks := list(rows.values_list("pk", flat=True)[:_FEW]):
            held.beat()
            with transaction.atomic():
                rows.filter(pk__in=pks).delete()
    held.hold(_REST)
    with held.finishing():
        study.delete()


def _many(study: Study) -> Iterator[QuerySet[Any]]:
    """What may be many, each after what hangs on it."""
    yield LabelEvent.objects.filter(column__sheet__study=study)
    yield Label.objects.filter(column__sheet__study=study)
    yield Assignment.objects.filter(rater__study=study)
    yield Row.objects.filter(sheet__study=study)
    yield Column.objects.filter(sheet__study=study)


DELETING = Kind(
    DeletionPart,
    _delete,
    name=lambda part: f"Deletion {part.run_id}",
    related=("run__study",),
    fails_the_run=True,
)
