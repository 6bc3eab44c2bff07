"""What a judge was asked at a cell that it has answered: made again from what the judge, the run and the row hold. Asks
no model, writes nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.answers import shown_code
from annotation.models import Assignment, Column, Label, Question, Row, Study
from judges import trying
from judges.models import Run, UnreadableAnswer, WorkItem
from judges.runs import labelling
from judges.runs.asking import Asked
from judges.runs.hearing import Overheard
from llm.engine.prompt import Generated


@dataclass(frozen=True)
class Retraced:
    """What a model was given at one cell.

    Attributes:
        prompt: as it was asked; in a chat form the user's message.
        options: what was scored behind it, in its order; empty where the model wrote.
        without: the prompt without evidence behind which the options were scored, too; "" for none.
        as_asked: whether it is what the model got in the run, letter by letter; None where the run kept nothing to tell
            that by.
    """

    prompt: str
    options: tuple[str, ...] = ()
    without: str = ""
    as_asked: bool | None = None


def _labelled(study: Study) -> QuerySet[WorkItem]:
    """What judges with a model have labelled, and what was not withdrawn since."""
    by_models = WorkItem.objects.filter(run__study=study, run__judge__model__isnull=False, state=WorkItem.State.DONE)
    there = by_models.exclude(assignment__state=Assignment.State.WITHDRAWN)
    return there.filter(Q(cells__gt=0) | Q(unreadable__gt=0))


def _with_all_that_was_asked(items: QuerySet[WorkItem]) -> WorkItem | None:
    """The last of them, with what it takes to make a prompt again. One query."""
    return (
        items.select_related(
            "run__judge__model", "run__judge__prompt", "run__judge__evidence", "assignment__row__sheet__study__scheme"
        )
        .order_by("-done_at")
        .first()
    )


def work_at(study: Study, assignment: int) -> WorkItem | None:
    """What labelled an assignment, where that was a judge with a model. One query."""
    return _with_all_that_was_asked(_labelled(study).filter(assignment=assignment))


def work_of(run: Run, row: Row, repeat: int) -> WorkItem | None:
    """What a run of a judge with a model has labelled in that repeat of a row. One query."""
    labelled = _labelled(run.study).filter(run=run, assignment__row=row, assignment__repeat=repeat)
    return _with_all_that_was_asked(labelled)


def cell_at(item: WorkItem | None, column: int, question: str) -> tuple[WorkItem, Column, Question]:
    """A cell of an item, with its section and scheme. Two queries.

    Raises:
        Http404: there is no such cell, or no item.
    """
    if item is None:
        raise Http404(_("No judge with a model has answered here."))
    columns = Column.objects.select_related("section__scheme")
    of_column = get_object_or_404(columns, sheet=item.assignment.row.sheet, pk=column)
    of_question = get_object_or_404(Question, section=of_column.section, key=question)
    of_question.section = of_column.section
    return item, of_column, of_question


def pages_at(study: Study, column: int, question: str, assignments: Collection[int]) -> dict[int, str]:
    """By assignment the address of the page with what its judge was asked at a cell; nothing of judges without a
    model. One query."""
    labelled = _labelled(study).filter(assignment__in=assignments).order_by()
    return {
        pk: reverse("judges:asked", args=[study.slug, pk, column, question])
        for pk in labelled.values_list("assignment", flat=True).distinct()
    }


def retraced(item: WorkItem, cell: trying.Cell) -> Retraced | None:
    """What was asked about a cell, None where it is none of the judge's.

    Raises:
        RowFailed, BackendError: as `labelling.label_row`.
    """
    judge, assignment = item.run.judge, item.assignment
    asked = labelling.cells_asked(judge, assignment)
    about = trying.cells_with(judge, asked, cell)
    if not about:
        return None
    heard = Overheard()
    given = given_to(item, cell, asked)
    labelling.label_row(
        judge, assignment, heard, None, given.corrected, only=about | given.above, replies=given.replies
    )
    as_asked = heard.digests[-1] in item.asked if item.asked else None
    if not heard.rows:
        return Retraced(heard.shown[-1], as_asked=as_asked)
    (of_cell,) = heard.rows[-1].cells
    return Retraced(heard.shown[-1], of_cell.options, of_cell.unconditional or "", as_asked)


def given_to(item: WorkItem, cell: trying.Cell, asked: Sequence[Asked] | None = None) -> trying.Given:
    """What an item's judge was given at a cell beside its own prompt: in a table that is written line by line, what it
    had written in the lines above. Two queries there, three where `asked` is to be found."""
    judge, assignment = item.run.judge, item.assignment
    asked = labelling.cells_asked(judge, assignment) if asked is None else asked
    above = trying.lines_above(judge, asked, cell)
    written = _written(assignment, above) if above else {}
    return trying.Given(assignment, item.run.corrected, written, frozenset(above) if written else frozenset())


def _written(assignment: Assignment, cells: Collection[trying.Cell]) -> dict[trying.Cell, Generated]:
    columns = {column for column, _question in cells}
    labels = Label.objects.filter(assignment=assignment, column__in=columns).select_related("question")
    said = {(label.column_id, label.question.key): label.scores for label in labels}
    written = {
        cell: Generated(scores["answer"], cut=bool(scores.get("cut")))
        for cell, scores in said.items()
        if cell in cells and isinstance(scores, Mapping) and "answer" in scores
    }
    unread = UnreadableAnswer.objects.filter(assignment=assignment, column__in=columns).select_related("question")
    # Of what one answer holds all cells have the same text, and one of them says that it was cut.
    cut = {(one.column_id, one.raw) for one in unread if one.why == UnreadableAnswer.Why.CUT_OFF}
    cut |= {(column, answer.text) for (column, _question), answer in written.items() if answer.cut}
    for one in unread:
        was_cut = (one.column_id, one.raw) in cut
        written.setdefault((one.column_id, one.question.key), Generated(one.raw, cut=was_cut))
    return written


def described(item: WorkItem) -> dict[str, Any]:
    """The judge of an item, for a trial that asks it again what it was asked then."""
    return {**trying.described_as_stored(item.run.judge), "again": item.assignment_id}


def answer_at(assignment: Assignment, cell: trying.Cell) -> dict[str, Any]:
    """What stands in the cell, as it is read: `answer` and `note`, or `unread`; and what the model wrote, as `raw`.
    Empty where nothing stands there. Two queries at most."""
    here = {"assignment": assignment, "column": cell[0], "question__key": cell[1]}
    label = Label.objects.filter(**here).select_related("option", "question__section__scheme").first()
    if label is not None:
        shown = label.option.label if label.option else shown_code(label.question.spec, label.code)
        raw = label.scores.get("answer", "") if isinstance(label.scores, Mapping) else ""
        return {"answer": str(shown), "note": label.note, "raw": raw}
    unread = UnreadableAnswer.objects.filter(**here).first()
    return {"unread": unread, "raw": unread.raw} if unread is not None else {}
