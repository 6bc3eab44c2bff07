"""Reads for calibrations: a judge's stored scores, people's labels on development documents, what was fitted."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.db.models import Exists, OuterRef, QuerySet

from annotation import doors
from annotation.models import Assignment, Label, Rater, Row, Sheet, Study
from annotation.scheme.spec import QuestionSpec
from judges.methods import SCORES, cloze
from judges.methods.fitting import Cells
from judges.models import FittedCalibration, Judge

_CELL = ("assignment__row_id", "column_id", "question__section__key", "question__key")
_NOT_SCORED = (np.nan, np.nan, np.nan, np.nan)


@dataclass(frozen=True)
class Gathered:
    """What a judge's calibration is fitted to.

    Attributes:
        cells: of each question that the judge scored, by its name; options in the scheme's order.
        its_own: the normalisation under which the judge chose.
        scores_sha256, labels_sha256: of all of it, in the order of rows, columns and questions.
        left_out: documents that would be among them, were they not shown to the judge as examples.
    """

    cells: dict[str, Cells]
    its_own: str
    scores_sha256: str
    labels_sha256: str
    documents: tuple[int, ...] = field(default=())
    left_out: tuple[int, ...] = field(default=())


def scored_raters(study: Study) -> QuerySet[Rater]:
    """The judges of a study whose labels have scores of all options."""
    return study.raters.filter(kind=Rater.Kind.JUDGE, runs__judge__method__in=SCORES).distinct()


def judge_of(rater: Rater) -> Judge:
    """The judge behind a rater that had a run."""
    return Judge.objects.select_related("prompt", "model").get(name=rater.code)


def calibrations_of(rater: Rater) -> QuerySet[FittedCalibration]:
    return FittedCalibration.objects.filter(rater=rater).select_related("rater", "study", "fitted_by")


def calibrations_in(study: Study) -> dict[str, list[FittedCalibration]]:
    """What was fitted in a study, by the judge's code, the last first. One query."""
    found: dict[str, list[FittedCalibration]] = {}
    for one in study.calibrations.select_related("rater"):
        found.setdefault(one.rater.code, []).append(one)
    return found


def sheets_with_labels(study: Study, shown: Collection[int] = ()) -> list[Sheet]:
    """The sheets of a study, with `n_labelled`, of how many of their documents a fit would use labels of people, and
    `n_shown`, of how many more it would if they were not `shown` to the judge as examples. Two queries, and what it
    takes to know the rows."""
    rows = rows_to_fit(study, rows_of(study, []))
    said = Exists(_said_by_people().filter(assignment=OuterRef("pk")))
    by_people = Assignment.objects.filter(said, rater__study=study).order_by()
    labelled: Counter[int] = Counter()
    left_out: Counter[int] = Counter()
    for row, of in by_people.values_list("row_id", "row__sheet_id").distinct():
        if row in rows:
            (left_out if row in shown else labelled)[of] += 1
    sheets = list(study.sheets.order_by("position"))
    for sheet in sheets:
        sheet.n_labelled, sheet.n_shown = labelled[sheet.pk], left_out[sheet.pk]  # type: ignore[attr-defined]
    return sheets


def rows_of(study: Study, sheets: Sequence[Sheet]) -> set[int]:
    """The development documents: those of these sheets, and of them only what was set aside, where something was."""
    rows = Row.objects.filter(sheet__study=study, withdrawn_at=None)
    if sheets:
        rows = rows.filter(sheet__in=sheets)
    found = set(rows.values_list("pk", flat=True))
    aside = doors.example_rows(study)
    return found if aside is None else found & aside


def rows_to_fit(study: Study, rows: Collection[int]) -> set[int]:
    """Of these rows those to whose labels something may be fitted: not what people have because of what a judge is
    sure of, for it is harder or easier than others."""
    return set(rows) - doors.rows_not_alike(study)


def gathered(rater: Rater, rows: Collection[int], *, shown: Collection[int] = ()) -> Gathered:
    """A judge's scores in its whole study, with people's answers on those of `rows` that are `rows_to_fit`: what they
    submitted without a look at others' labels and without a draft. An answer that the judge was not offered counts as
    what the question's merge for judges makes of it; else it is left out. Three queries.

    `shown`: rows that its prompt shows as examples. There it has read people's answers, so neither its scores nor these
    are in it.
    """
    spec = rater.study.scheme.parsed
    questions = {
        f"{section.key}.{question.key}": question for section in spec.sections for question in section.questions
    }
    submitted = Label.objects.filter(assignment__state=Assignment.State.SUBMITTED, assignment__repeat=1).order_by()
    scored = submitted.filter(assignment__rater=rater, scores__isnull=False).values_list(
        *_CELL, "scores", "option__key"
    )
    values: dict[str, dict[tuple[int, int], Mapping[str, Any]]] = {}
    chose: dict[str, dict[tuple[int, int], str]] = {}
    its_own = "none"
    for row, column, section, key, scores, option in scored:
        if (options := cloze.stored_options(scores)) is not None:
            values.setdefault(f"{section}.{key}", {})[row, column] = options
            chose.setdefault(f"{section}.{key}", {})[row, column] = option
            its_own = scores["normalisation"]
    known = peoples_labels(rater.study, rows_to_fit(rater.study, rows))
    labels = known.values_list(*_CELL, "option__key", "assignment__rater__code")
    said: dict[str, dict[tuple[int, int], list[str]]] = {}
    lines = []
    left_out: set[int] = set()
    for row, column, section, key, option, code in labels:
        name = f"{section}.{key}"
        if (row, column) not in values.get(name, {}):
            continue
        if row in shown:
            left_out.add(row)
        else:
            said.setdefault(name, {}).setdefault((row, column), []).append(option)
            lines.append([row, column, name, code, option])
    kept = {
        name: {cell: of for cell, of in of_cells.items() if cell[0] not in shown} for name, of_cells in values.items()
    }
    values = {name: of_cells for name, of_cells in kept.items() if of_cells}
    made = {name: _cells(questions[name], values[name], said.get(name, {}), chose[name]) for name in sorted(values)}
    all_scores = [[*cell, name, of] for name, of_cells in values.items() for cell, of in of_cells.items()]
    return Gathered(
        cells=made,
        its_own=its_own,
        scores_sha256=sha256_of(all_scores),
        labels_sha256=sha256_of(lines),
        documents=tuple(sorted({line[0] for line in lines})),
        left_out=tuple(sorted(left_out)),
    )


def peoples_labels(study: Study, rows: Collection[int]) -> QuerySet[Label]:
    """The options that people chose on these rows, submitted, without a look at others' labels and without a draft."""
    return _said_by_people().filter(assignment__rater__study=study, assignment__row__in=rows)


def _said_by_people() -> QuerySet[Label]:
    return Label.objects.filter(
        assignment__state=Assignment.State.SUBMITTED,
        assignment__repeat=1,
        assignment__rater__kind=Rater.Kind.PERSON,
        option__isnull=False,
        exposed=False,
        drafted_from=None,
        preset=False,
    ).order_by()


def _cells(
    question: QuestionSpec,
    values: Mapping[tuple[int, int], Mapping[str, Any]],
    said: Mapping[tuple[int, int], Sequence[str]],
    chose: Mapping[tuple[int, int], str],
) -> Cells:
    keys = [option.key for option in question.options]
    offered = {key for of_cell in values.values() for key in of_cell}
    in_order = sorted(values)
    people = np.zeros((len(in_order), len(keys)), dtype=np.int64)
    numbers = np.zeros((len(in_order), len(keys), 4))
    for at, cell in enumerate(in_order):
        of_cell = values[cell]
        numbers[at] = [
            [np.nan if of_cell[key][name] is None else of_cell[key][name] for name in _NAMES]
            if key in of_cell
            else _NOT_SCORED
            for key in keys
        ]
        for option in said.get(cell, ()):
            counted = counted_as(question, option, offered)
            if counted in offered:
                people[at, keys.index(counted)] += 1
    return Cells(
        numbers,
        people,
        document=np.array([row for row, _column in in_order], dtype=np.int64),
        chosen=np.array([keys.index(chose[cell]) for cell in in_order], dtype=np.int64),
    )


def counted_as(question: QuestionSpec, option: str, offered: Collection[str]) -> str:
    """What a person's option counts as where only some are offered: what the question's merge for judges makes of it,
    else itself."""
    return option if option in offered else question.for_judges(option)


_NAMES = ("logprob", "n_tokens", "n_characters", "unconditional")


def sha256_of(lines: list[list[Any]]) -> str:
    in_order = sorted(lines, key=lambda line: json.dumps(line[:4], sort_keys=True))
    return hashlib.sha256(json.dumps(in_order, sort_keys=True).encode()).hexdigest()
