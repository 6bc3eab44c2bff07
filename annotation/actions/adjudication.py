"""Gold: what somebody decided after seeing what everybody says."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import lens, queries
from annotation.actions.base import Refused, lock_study
from annotation.actions.labels import Answer, record
from annotation.actions.plan import assign
from annotation.models import (
    Assignment,
    Column,
    Decision,
    Label,
    Option,
    Question,
    Rater,
    Row,
    Sheet,
    Study,
    User,
)

GOLD = "gold"


@transaction.atomic
def adjudicate(
    *, row: Row, column: Column, question: Question, option: Option | None, reason: str = "", by: User
) -> Decision:
    """Decide what is right in a cell, or take a decision back (`option` None). Earlier decisions stay in the history.

    The gold of a row follows the scheme's rules as a rater's labels do.

    Raises:
        Refused: all people say the same, the decision is another, and no reason is given; the gold's other answers of
            the column switch the question off; there is no decision to take back.
    """
    sheet = row.sheet
    lock_study(sheet.study_id)
    seen = lens.of_sheet(sheet, rows=[row.pk], columns=[column.pk])
    cell = next((cell for cell in seen.cells if cell.question_id == question.pk), None)
    if cell is None or (option is None and cell.gold is None):
        raise Refused(_("There is no decision here that could be taken back."))
    if option is not None and len(cell.by_people) == 1 and option.key not in cell.by_people and not reason.strip():
        raise Refused(_("All people who answered say something else here. Give a reason for deciding otherwise."))
    assignment = _opened(sheet.study, [row])[row.pk]
    record(
        assignment=assignment,
        answers=[Answer(column, question, option, note=reason.strip())],
        key=uuid.uuid4(),
        by=by,
    )
    _close([assignment])
    return Decision.objects.create(
        assignment=assignment,
        column=column,
        question=question,
        option=option,
        reason=reason.strip(),
        seen=cell.labels,
        by=by,
    )


@transaction.atomic
def accept_agreed(*, sheet: Sheet, judges: bool, shown: str, by: User) -> int:
    """Make gold of what at least two people say alike, with `judges` only where no judge says otherwise.

    `shown` is the digest of the cells that `by` was shown. Returns how many decisions were made.

    Raises:
        Refused: other cells are agreed on by now.
    """
    lock_study(sheet.study_id)
    found = lens.agreed(lens.of_sheet(sheet), judges=judges)
    if lens.digest(found) != shown:
        raise Refused(_("The labels have changed since you looked. Nothing was decided: look again."))
    columns = sheet.columns.in_bulk()
    options = Option.objects.filter(question__in={cell.question_id for cell in found}).select_related("question")
    by_key = {(option.question_id, option.key): option for option in options}
    of_row: dict[int, list[lens.Agreed]] = defaultdict(list)
    for cell in found:
        of_row[cell.row_id].append(cell)
    opened = _opened(sheet.study, list(sheet.rows.filter(pk__in=of_row).defer("evidence")))
    decisions = []
    for row_id, assignment in opened.items():
        answers = []
        for cell in of_row[row_id]:
            option = by_key[cell.question_id, cell.option]
            answers.append(Answer(columns[cell.column_id], option.question, option))
            decisions.append(
                Decision(
                    assignment=assignment,
                    column_id=cell.column_id,
                    question_id=cell.question_id,
                    option=option,
                    seen=dict(cell.seen),
                    by=by,
                )
            )
        record(assignment=assignment, answers=answers, key=uuid.uuid4(), by=by)
    Decision.objects.bulk_create(decisions, batch_size=500)
    _close(opened.values())
    return len(found)


def _opened(study: Study, rows: Sequence[Row]) -> dict[int, Assignment]:
    """Row -> the gold's assignment, ready to be written to."""
    rater = lens.gold_rater(study)
    if rater is None:
        taken = study.raters.filter(code=GOLD).exists()
        code = queries.free_code(study, prefix=GOLD) if taken else GOLD
        rater = Rater.objects.create(study=study, kind=Rater.Kind.GOLD, code=code)
    opened = {assignment.row_id: assignment for assignment in assign(rater=rater, rows=rows)}
    of_rater = rater.assignments.filter(pk__in=[assignment.pk for assignment in opened.values()])
    of_rater.update(state=Assignment.State.STARTED, submitted_at=None, sections=[])
    return opened


def _close(assignments: Iterable[Assignment]) -> None:
    """Between decisions the gold of a row counts as submitted: whoever reads submitted work alone wants it."""
    decided = Exists(Label.objects.filter(assignment=OuterRef("pk")))
    of_gold = Assignment.objects.filter(decided, pk__in=[assignment.pk for assignment in assignments])
    of_gold.update(state=Assignment.State.SUBMITTED, submitted_at=timezone.now())
