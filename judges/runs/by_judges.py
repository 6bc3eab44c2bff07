"""The judge that weighs other judges of its study together, at one row."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from django.utils.translation import gettext as _

from annotation.actions import Answer
from annotation.models import Assignment, Label, Rater
from judges.methods import cloze, stacking
from judges.methods.answers import Why
from judges.methods.cloze import Scores
from judges.runs.asking import Asked, AtRow, Labelled, RowFailed, Unread

# Of a cell's column and question: a judge's code, what was stored, and the option that it chose.
_Said = dict[tuple[int, str], dict[str, tuple[object, str]]]


def label(row: AtRow) -> Labelled:
    """The option of each cell that the judges which the prompt names choose together. Where one of them has no answer,
    the others' stand; a cell that none has answered is unreadable. One query.

    Raises:
        RowFailed: one of them has not labelled this row.
    """
    said, there = _said(row)
    wanted = {code for cell in row.asked if cell.prompt.stacker for code in cell.prompt.stacker.judges}
    if missing := sorted(wanted - there):
        raise RowFailed(
            _("These judges, which it weighs, have not labelled this row: %(judges)s. Run them, then resume it.")
            % {"judges": ", ".join(missing)}
        )
    answers, unread = [], []
    for cell in row.asked:
        of_cell = said.get(cell.key, {})
        if cell.prompt.stacker and not of_cell.keys().isdisjoint(cell.prompt.stacker.judges):
            answers.append(_chosen(cell, of_cell, drawn_by=f"{row.assignment.row_id}/{cell.column}/{cell.question}"))
        else:
            unread.append(Unread(cell.column, cell.question, Why.EMPTY, ""))
    return Labelled(answers, tokens=0, unread=unread)


def _said(row: AtRow) -> tuple[_Said, set[str]]:
    """What judges said at this row, and the codes of those that have labelled it."""
    submitted = Assignment.objects.filter(
        row=row.assignment.row_id,
        rater__kind=Rater.Kind.JUDGE,
        repeat=1,
        state=Assignment.State.SUBMITTED,
    )
    there = dict(submitted.values_list("pk", "rater__code"))
    labels = Label.objects.filter(assignment__in=there, option__isnull=False, preset=False).order_by()
    said: _Said = {}
    for assignment, column, question, scores, option in labels.values_list(
        "assignment_id", "column_id", "question__key", "scores", "option__key"
    ):
        said.setdefault((column, question), {})[there[assignment]] = (scores, option)
    return said, set(there.values())


def _chosen(cell: Asked, of_cell: dict[str, tuple[object, str]], *, drawn_by: str) -> Answer:
    """Of equal options one is drawn, the same at each run: the first of the scheme would win wherever a judge's arms
    contradict each other, and their average would like it."""
    rule = cell.prompt.stacker
    assert rule is not None
    keys = list(rule.options)
    numbers = {code: stacking.numbers(*of_cell[code], keys) for code in rule.judges if code in of_cell}
    of_options = stacking.option_scores(numbers, rule)
    # In the scheme's order.
    keys = [option.key for option in cell.spec.options if option.key in of_options]
    scores = [of_options[key] for key in keys]
    choice = cloze.chosen(keys, scores, "none", cell.calibration)
    if choice.tie and cell.calibration is None:
        best = max(score.logprob for score in scores)
        equal = [n for n, score in enumerate(scores) if score.logprob == best]
        choice = replace(choice, index=min(equal, key=lambda n: sha256(f"{drawn_by}/{keys[n]}".encode()).digest()))
    return Answer(
        cell.column,
        cell.question,
        cell.options[keys[choice.index]],
        scores=Scores.of(keys, scores, choice, "none", cell.calibration),
    )
