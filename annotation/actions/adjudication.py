"""Gold: what somebody decided after seeing what everybody says."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import queries
from annotation.actions.base import Refused, lock_study
from annotation.actions.labels import record
from annotation.actions.plan import assign
from annotation.answers import AnswerRefused, Value, kind_of
from annotation.labels.answer import Answer
from annotation.lens import lens
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
    *,
    row: Row,
    column: Column,
    question: Question,
    option: Option | None = None,
    value: Value | None = None,
    reason: str = "",
    by: User,
) -> Decision:
    """Decide what is right in a cell, or take a decision back (no option and no value).

    Earlier decisions stay in the history.

    The gold of a row follows the scheme's rules as a rater's labels do.

    Raises:
        Refused: all people say the same, the decision is another, and no reason is given; the gold's other answers of
            the column switch the question off; there is no decision to take back.
    """
    sheet = row.sheet
    lock_study(sheet.study_id)
    seen = lens.of_sheet(sheet, rows=[row.pk], columns=[column.pk])
    cell = next((cell for cell in seen.cells if cell.question_id == question.pk), None)
    answer = _decided(column, question, option, value, reason.strip())
    if cell is None or (answer.is_empty and cell.gold is None):
        raise Refused(_("There is no decision here that could be taken back."))
    if not answer.is_empty and len(cell.by_people) == 1 and not answer.note and _key(answer) not in cell.by_people:
        raise Refused(_("All people who answered say something else here. Give a reason for deciding otherwise."))
    assignment = _opened(sheet.study, [row])[row.pk]
    record(assignment=assignment, answers=[answer], key=uuid.uuid4(), by=by)
    close_gold([assignment])
    return Decision.objects.create(
        assignment=assignment,
        column=column,
        question=question,
        option=answer.option,
        value=answer.value,
        reason=reason.strip(),
        seen=cell.labels,
        by=by,
    )


def _decided(column: Column, question: Question, option: Option | None, value: Value | None, note: str) -> Answer:
    """The decision as an answer, with a value in its canonical form."""
    if value is not None:
        try:
            value = kind_of(question.spec).canonical(question.spec, value)
        except AnswerRefused as refused:
            raise Refused(str(refused)) from refused
    return Answer(column, question, option, value=value, note=note)


def _key(answer: Answer) -> str:
    """What the decision is compared with people's answers by."""
    spec = answer.question.spec
    return answer.code if spec.has_options else lens.answered(spec, answer.code).key


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
        raise Refused(
            _(
                "The labels have changed since you looked. Nothing was decided: look again. "
                "If it was sent before, it may be done already."
            )
        )
    columns = sheet.columns.in_bulk()
    asked = Question.objects.filter(pk__in={cell.question_id for cell in found})
    questions = asked.select_related("section__scheme").prefetch_related("options").in_bulk()
    of_row: dict[int, list[lens.Agreed]] = defaultdict(list)
    for cell in found:
        of_row[cell.row_id].append(cell)
    opened = _opened(sheet.study, list(sheet.rows.filter(pk__in=of_row).defer("evidence")))
    decisions, batch = [], uuid.uuid4()
    for row_id, assignment in opened.items():
        answers = []
        for cell in of_row[row_id]:
            question = questions[cell.question_id]
            answer = Answer.of_code(columns[cell.column_id], question, cell.code, spec=question.spec)
            answers.append(answer)
            decisions.append(
                Decision(
                    assignment=assignment,
                    column_id=cell.column_id,
                    question_id=cell.question_id,
                    option=answer.option,
                    value=answer.value,
                    seen=dict(cell.seen),
                    by=by,
                    batch=batch,
                )
            )
        record(assignment=assignment, answers=answers, key=uuid.uuid4(), by=by)
    Decision.objects.bulk_create(decisions, batch_size=500)
    close_gold(opened.values())
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


def close_gold(assignments: Iterable[Assignment]) -> None:
    """Between decisions the gold of a row counts as submitted: whoever reads submitted work alone wants it."""
    decided = Exists(Label.objects.filter(assignment=OuterRef("pk")))
    of_gold = Assignment.objects.filter(decided, pk__in=[assignment.pk for assignment in assignments])
    of_gold.update(state=Assignment.State.SUBMITTED, submitted_at=timezone.now())
