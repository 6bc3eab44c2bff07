"""Taking back what was done by mistake: what nobody has built on goes, everything else is put away and stays."""

from __future__ import annotations

import uuid
from collections import defaultdict

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.adjudication import close_gold
from annotation.actions.base import Refused, lock_study, refuse_while_shown
from annotation.actions.deleting import refuse_at_work
from annotation.actions.labels import record
from annotation.actions.trust import note
from annotation.labels.answer import Answer
from annotation.labels.batch import Batch
from annotation.labels.writer import Writer
from annotation.lens import lens
from annotation.models import (
    Assignment,
    AuditEvent,
    Column,
    Decision,
    Label,
    LabelEvent,
    Plan,
    Question,
    Rater,
    Row,
    Sheet,
    Study,
    User,
)
from annotation.queries import undoing
from annotation.webhooks.outbox import completing


@transaction.atomic
def rename_sheet(*, sheet: Sheet, title: str) -> Sheet:
    """
    Raises:
        Refused: another sheet of the study has that title.
        Sheet.DoesNotExist: it was deleted meanwhile; so do all of these.
    """
    lock_study(sheet.study_id)
    if Sheet.objects.filter(study=sheet.study_id, title=title).exclude(pk=sheet.pk).exists():
        raise Refused(_("“%(title)s” is there already.") % {"title": title})
    Sheet.objects.filter(pk=sheet.pk).update(title=title)
    sheet.refresh_from_db()
    return sheet


@transaction.atomic
def delete_sheet(*, sheet: Sheet, by: User) -> None:
    """Delete a sheet with its rows and columns; the audit log keeps that it was, by its number.

    Raises:
        Refused: somebody has worked on it.
    """
    lock_study(sheet.study_id)
    sheet.refresh_from_db()
    along = undoing.of_sheet(sheet)
    if not along.may_go:
        raise Refused(
            _("“%(sheet)s” cannot be deleted: work was begun on it. It can be archived.") % {"sheet": sheet.title}
        )
    counted = "".join(f", {n} {what}" for what, n in along.goes)
    note(AuditEvent.Kind.DELETION, by=by, study=sheet.study, what=f"sheet #{sheet.pk}{counted}")
    sheet.delete()


@transaction.atomic
def archive_sheet(*, sheet: Sheet, by: User) -> Sheet:
    """Close a sheet and take it off the lists of work and off new plans; its labels stay, in reports and downloads too.

    Work on it that nobody has begun is taken back.
    """
    lock_study(sheet.study_id)
    now = timezone.now()
    Sheet.objects.filter(pk=sheet.pk, archived_at=None).update(archived_at=now)
    Sheet.objects.filter(pk=sheet.pk, closed_at=None).update(closed_at=now, closed_by=by)
    open_ones = Assignment.objects.filter(row__sheet=sheet, state=Assignment.State.OPEN)
    # In the order of who writes in several of them.
    list(open_ones.select_for_update(of=("self",)).order_by("pk").values_list("pk"))
    open_ones.update(state=Assignment.State.WITHDRAWN)
    sheet.refresh_from_db()
    return sheet


@transaction.atomic
def unarchive_sheet(*, sheet: Sheet) -> Sheet:
    """Bring an archived sheet back, open. Work that was taken back is given again by a plan. One that is not archived
    stays as it is."""
    lock_study(sheet.study_id)
    archived = Sheet.objects.filter(pk=sheet.pk, archived_at__isnull=False)
    archived.update(archived_at=None, closed_at=None, closed_by=None)
    sheet.refresh_from_db()
    return sheet


@transaction.atomic
def archive_study(*, study: Study, by: User) -> Study:
    """Put a study by: it leaves the lists, its sheets are closed, and nothing is changed in it (`people.access`).

    Raises:
        Refused: something is at work in it.
    """
    lock_study(study.pk)
    refuse_at_work(study)
    now = timezone.now()
    if Study.objects.filter(pk=study.pk, archived_at=None).update(archived_at=now, archived_by=by):
        Sheet.objects.filter(study=study, closed_at=None).update(closed_at=now, closed_by=by)
        note(AuditEvent.Kind.ADMIN, by=by, study=study, what="study archived")
    study.refresh_from_db()
    return study


@transaction.atomic
def unarchive_study(*, study: Study, by: User) -> Study:
    """Bring an archived study back; the sheets that were closed with it are open again."""
    lock_study(study.pk)
    study.refresh_from_db()
    if study.archived_at is not None:
        Sheet.objects.filter(study=study, closed_at=study.archived_at).update(closed_at=None, closed_by=None)
        Study.objects.filter(pk=study.pk).update(archived_at=None, archived_by=None)
        note(AuditEvent.Kind.ADMIN, by=by, study=study, what="study brought back")
        study.refresh_from_db()
    return study


@transaction.atomic
def undo_plan(*, plan: Plan) -> int:
    """Take a plan back as if it had not been applied. Returns how many assignments that were.

    Raises:
        Refused: somebody else has taken it back; some of its work was begun, or it added to work that stood before.
    """
    lock_study(plan.study_id)
    if not Plan.objects.filter(pk=plan.pk).exists():
        raise Refused(_("Somebody has taken this plan back meanwhile."))
    mine = plan.assignments.all()
    with completing(plan.study_id, Row.objects.filter(assignments__in=mine)):
        # Who labels waits for no lock of the study: what is begun by now is seen then.
        list(mine.select_for_update().order_by("pk").values_list("pk", flat=True))
        if not undoing.may_undo(plan):
            raise Refused(
                _(
                    "This plan cannot be taken back any more: some of its work was begun. Use “Reassign work” for the "
                    "rest."
                )
            )
        given = set(mine.values_list("row", "rater"))
        handed = Assignment.objects.filter(row__in={row_id for row_id, _rater in given}, handed_to__isnull=False)
        unhanded = [
            pk for pk, row_id, rater_id in handed.values_list("pk", "row", "handed_to") if (row_id, rater_id) in given
        ]
        Assignment.objects.filter(pk__in=unhanded).update(handed_to=None)
        n = mine.count()
        mine.delete()
        plan.delete()
    return n


@transaction.atomic
def take_back_accepted(*, sheet: Sheet, batch: uuid.UUID, by: User) -> int:
    """Take back what was accepted at once; cells that were decided again since stay as they are.

    Returns how many cells are undecided again. The decisions stay in the history.
    """
    lock_study(sheet.study_id)
    standing = dict(undoing.accepted(sheet)).get(str(batch), [])
    of_assignment: dict[int, list[Decision]] = defaultdict(list)
    for decision in standing:
        of_assignment[decision.assignment_id].append(decision)
    assignments = Assignment.objects.select_related("row__sheet__study__scheme", "rater").in_bulk(of_assignment)
    Assignment.objects.filter(pk__in=of_assignment).update(state=Assignment.State.STARTED, submitted_at=None)
    columns = Column.objects.in_bulk({one.column_id for one in standing})
    asked = Question.objects.filter(pk__in={one.question_id for one in standing})
    questions = asked.select_related("section__scheme").prefetch_related("options").in_bulk()
    undone = []
    for pk, decisions in of_assignment.items():
        assignment = assignments[pk]
        assignment.refresh_from_db(fields=["state", "submitted_at"])
        answers = [Answer(columns[one.column_id], questions[one.question_id]) for one in decisions]
        record(assignment=assignment, answers=answers, key=uuid.uuid4(), by=by)
        undone += [
            Decision(assignment=assignment, column_id=one.column_id, question_id=one.question_id, seen=one.seen, by=by)
            for one in decisions
        ]
    Decision.objects.bulk_create(undone, batch_size=500)
    close_gold(assignments.values())
    return len(undone)


@transaction.atomic
def take_back_gold(*, study: Study, key: uuid.UUID, shown: str, by: User) -> int:
    """Take back what the import of this key said of the gold: its cells are undecided again, or what they were before.
    Cells that somebody has changed since stay as they are.

    `shown` is the digest of the cells that `by` was shown. Returns how many answers went.

    Raises:
        Refused: it would be other cells by now, or an import is being shown.
    """
    lock_study(study.pk)
    refuse_while_shown(study.pk)
    golden = Assignment.objects.filter(rater__study=study, rater__kind=Rater.Kind.GOLD)
    list(golden.select_for_update().order_by("pk").values_list("pk"))
    found = undoing.gold_of_import(study, key)
    if not found.cells or lens.digest(found.cells) != shown:
        raise Refused(
            _(
                "The gold has changed since you looked. Nothing was taken back: look again. "
                "If it was sent before, it may be done already."
            )
        )
    of_assignment: dict[int, list[undoing.GoldCell]] = defaultdict(list)
    for cell in found.cells:
        of_assignment[cell.assignment_id].append(cell)
    golden.filter(pk__in=of_assignment).update(state=Assignment.State.STARTED, submitted_at=None)
    assignments = golden.select_related("row__sheet", "rater").defer("row__evidence").in_bulk(of_assignment)
    columns = Column.objects.in_bulk({cell.column_id for cell in found.cells})
    asked = Question.objects.filter(pk__in={cell.question_id for cell in found.cells})
    questions = asked.select_related("section__scheme").prefetch_related("options").in_bulk()
    batch = Batch(uuid.uuid4(), by=by)
    for pk, cells in of_assignment.items():
        answers = [Answer(columns[cell.column_id], questions[cell.question_id]) for cell in cells]
        writer = Writer(assignments[pk], answers, batch, exposed=False, has_skips=True)
        for cell, answer in zip(cells, answers, strict=True):
            writer.put(answer.column, answer.question, _as_said(assignments[pk], answer, cell.then))
        writer.leave()
    batch.flush()
    close_gold(assignments.values())
    return found.goes


def _as_said(assignment: Assignment, at: Answer, then: LabelEvent | None) -> Label | None:
    if then is None or not then.code_after:
        return None
    said = {"option": then.after, "value": then.value_after, "note": then.note, "preset": then.preset}
    return Label(assignment=assignment, column=at.column, question=at.question, **said)
