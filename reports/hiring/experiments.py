"""What an experiment with a judge's suggestions would find, and what it found: reads alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from django.db.models import Q

from annotation.models import Assignment, Column, Experiment, ExperimentSeat, Label, Question, Rater, Study
from annotation.queries.experiments import Seat
from reports.hiring import queries
from reports.hiring.cells import judge_cells, part_of
from reports.hiring.documents import judged_of
from reports.models import Split, TakeoverRow

if TYPE_CHECKING:
    from reports.stats.hiring.exposure import Effect, Exposure, ExposureSize

# Where nobody has labelled beside the judge yet; docs/hiring.md names them.
AGREEMENT, ICC = 0.7, 0.2


def questions_of(study: Study) -> list[Question]:
    """Those with options. One query."""
    found = Question.objects.filter(section__scheme=study.scheme).select_related("section__scheme")
    return [question for question in found.order_by("section__position", "position") if question.spec.has_options]


def kept_blind(study: Study) -> set[int]:
    """Rows that no suggestion may be shown in: of the test part, and of those that supervise a judge at work. Three
    queries."""
    supervised = TakeoverRow.objects.filter(takeover__certificate__study=study, drawn=True)
    return {row for row, test in queries.parts_of(study).items() if test} | set(
        supervised.values_list("row_id", flat=True)
    )


@dataclass(frozen=True)
class Planned:
    """Of one question: what is known beforehand, the shift that these documents would find, and the documents that each
    person needs for a shift of 5 points. `assumed`: nobody has labelled beside the judge, so that agreement and its
    likeness within a document are taken as usual."""

    question: Question
    cells: float
    agreement: float
    icc: float
    assumed: bool
    detectable: float | None
    size: ExposureSize


def plan(study: Study, judge: Rater, seats: Collection[Seat]) -> list[Planned]:
    """What an experiment over these seats would find with 80 % power."""
    from reports.stats.hiring.clusters import intraclass_correlation, totals
    from reports.stats.hiring.exposure import detectable_shift, documents_for_shift

    n_raters = len({seat.rater for seat in seats})
    if not n_raters:
        return []
    n_documents = len(seats) // n_raters
    sheets = Counter(seat.sheet for seat in seats)
    columns = Counter(Column.objects.filter(sheet__in=sheets).values_list("sheet", "section"))
    table = queries.study_table(study, judges=[judge.code])
    test, left_out = queries.test_names(study), queries.left_out_names(study)
    found = []
    for question in questions_of(study):
        n_cells = sum(n * columns[sheet, question.section_id] for sheet, n in sheets.items()) / len(seats)
        if n_cells < 1:
            continue
        made = judge_cells(table, judge.code, queries.question_name(question))
        # As where a judge is chosen: the test part is not looked at here.
        hidden = part_of(made.row, table, test) | part_of(made.row, table, left_out)
        known = made.at(made.known & ~hidden)
        agreement, icc, assumed = AGREEMENT, ICC, not known.row.size
        if known.row.size:
            counts = totals(judged_of(known, Split.Unit.ROW))
            agreement = float(np.clip(1 - known.wrong.mean(), 0.02, 0.98))
            of_data = intraclass_correlation(counts)
            icc = ICC if of_data is None else of_data
        size = documents_for_shift(n_raters=n_raters, cells=n_cells, agreement=agreement, icc=icc)
        detectable = (
            detectable_shift(n_raters=n_raters, n_documents=n_documents, cells=n_cells, agreement=agreement, icc=icc)
            if n_documents >= 2
            else None
        )
        found.append(Planned(question, n_cells, agreement, icc, assumed, detectable, size))
    return found


@dataclass(frozen=True)
class Found:
    """Of one question, the effects of seeing the judge's answers."""

    question: Question
    effects: Exposure


@dataclass(frozen=True)
class Result:
    """What an experiment says so far. `time`: of a document, by all its questions together."""

    experiment: Experiment
    n_shown: int
    n_hidden: int
    n_submitted: int
    questions: tuple[Found, ...]
    time: Effect


def results(experiments: Sequence[Experiment]) -> list[Result]:
    """Effects over submitted documents, of experiments of one study. Two queries, and three a question of each.

    Answers that are preset, or drafted from somebody's, say nothing of whoever was shown something. What is right is
    gold where it is decided, else what most of the *other* people said who saw no suggestion; a tie is nobody's.
    """
    if not experiments:
        return []
    seats = ExperimentSeat.objects.filter(experiment__in=experiments).select_related("assignment")
    of_experiments: dict[int, list[ExperimentSeat]] = defaultdict(list)
    for seat in seats.exclude(assignment__state=Assignment.State.WITHDRAWN).order_by("assignment"):
        of_experiments[seat.experiment_id].append(seat)
    questions = questions_of(experiments[0].study)
    return [_result(experiment, of_experiments[experiment.pk], questions) for experiment in experiments]


def result(experiment: Experiment) -> Result:
    """`results` of one."""
    [found] = results([experiment])
    return found


def _result(experiment: Experiment, seats: Sequence[ExperimentSeat], questions: Sequence[Question]) -> Result:
    from reports.stats.hiring.exposure import time_ratio

    done = [seat for seat in seats if seat.assignment.state == Assignment.State.SUBMITTED]
    shown, rater, row = (
        np.array([value(seat) for seat in done], dtype=kind)
        for value, kind in ((_shown, bool), (_rater, np.int64), (_row, np.int64))
    )
    seconds = np.array([seat.assignment.active_seconds for seat in done], dtype=np.float64)
    return Result(
        experiment=experiment,
        n_shown=sum(seat.shown for seat in seats),
        n_hidden=sum(not seat.shown for seat in seats),
        n_submitted=len(done),
        questions=tuple(
            Found(question, effects)
            for question in questions
            if (effects := _effects(experiment, done, question)) is not None
        ),
        time=time_ratio(seconds, shown, rater, row),
    )


def _shown(seat: ExperimentSeat) -> bool:
    return seat.shown


def _rater(seat: ExperimentSeat) -> int:
    return seat.assignment.rater_id


def _row(seat: ExperimentSeat) -> int:
    return seat.assignment.row_id


def _effects(experiment: Experiment, done: list[ExperimentSeat], question: Question) -> Exposure | None:
    from reports.stats.hiring.exposure import exposure

    seat_of = {seat.assignment_id: seat for seat in done}
    rows = {seat.assignment.row_id for seat in done}
    spec = question.spec
    numbers = {option.key: number for number, option in enumerate(spec.options)}

    def code(option: str | None) -> int:
        return numbers[queries.answer_key(spec, option, None)] if option is not None else -1

    of_question = Label.objects.filter(question=question, assignment__row__in=rows, option__isnull=False, preset=False)
    said = of_question.filter(assignment__experiment_seat__experiment=experiment, drafted_from=None)
    answers = [
        (seat_of[assignment], column, code(option))
        for assignment, column, option in said.order_by("pk").values_list("assignment_id", "column_id", "option__key")
        if assignment in seat_of
    ]
    if not answers:
        return None
    judged = of_question.filter(
        assignment__rater=experiment.judge, assignment__repeat=1, assignment__state=Assignment.State.SUBMITTED
    )
    of_judge = {
        (row, column): code(option)
        for row, column, option in judged.values_list("assignment__row_id", "column_id", "option__key")
    }
    gold: dict[tuple[int, int], int] = {}
    blind: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    others = of_question.filter(
        Q(assignment__rater__kind=Rater.Kind.PERSON, exposed=False) | Q(assignment__rater__kind=Rater.Kind.GOLD),
        assignment__state=Assignment.State.SUBMITTED,
        assignment__repeat=1,
        drafted_from=None,
    )
    for kind, who, row, column, option in others.values_list(
        "assignment__rater__kind", "assignment__rater_id", "assignment__row_id", "column_id", "option__key"
    ):
        if kind == Rater.Kind.GOLD:
            gold[row, column] = code(option)
        else:
            blind[row, column].append((who, code(option)))
    right = [
        gold[place] if place in gold else _most([said for who, said in blind[place] if who != seat.assignment.rater_id])
        for seat, column, _said in answers
        for place in ((seat.assignment.row_id, column),)
    ]
    return exposure(
        [said for _seat, _column, said in answers],
        [of_judge.get((seat.assignment.row_id, column), -1) for seat, column, _said in answers],
        [seat.shown for seat, _column, _said in answers],
        [seat.assignment.rater_id for seat, _column, _said in answers],
        [seat.assignment.row_id for seat, _column, _said in answers],
        right=right,
    )


def _most(said: list[int]) -> int:
    """What most said, -1 for a tie or nothing."""
    first = Counter(said).most_common(2)
    return first[0][0] if first and (len(first) == 1 or first[0][1] > first[1][1]) else -1
