"""What a judge that is hired would take over now, what goes to people, and what is given back to them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from django.db.models import Count, QuerySet

from annotation.models import Assignment, Column, ExperimentSeat, Label, Rater
from annotation.queries import free_rows
from judges.models import UnreadableAnswer
from reports.data.label_table import canonical_json, unpacked
from reports.hiring.cells import REPEATS, judge_cells
from reports.hiring.documents import used_cells
from reports.hiring.queries.labels import question_name, study_table
from reports.hiring.queries.splitting import rank, row_names
from reports.models import Accepted, Certificate, TakeoverRow


@dataclass(frozen=True)
class WorkToDo:
    """What a certificate would take over now.

    cells: (assignment, column, code, score) that are accepted. rows: the documents that it is about. rest: of these
    the ones with a cell that is not accepted. drawn: those that chance gives to people, of all, so that they also say
    what the others are like. lacking: how many fewer these are than the share, since in the rest somebody is shown the
    judge's answers. unread: documents that nobody has and the judge has not labelled yet, or fewer than `times` times:
    as often as documents of the test.
    """

    cells: tuple[tuple[int, int, str, float], ...]
    rows: tuple[int, ...]
    rest: frozenset[int]
    drawn: frozenset[int]
    lacking: int
    unread: int
    times: int = 1

    @property
    def to_people(self) -> frozenset[int]:
        return self.rest | self.drawn

    @property
    def digest(self) -> str:
        return hashlib.sha256(
            canonical_json([[list(cell) for cell in self.cells], sorted(self.rest), sorted(self.drawn)])
        ).hexdigest()


def work_to_do(certificate: Certificate, *, share: int, seed: int) -> WorkToDo:
    """What the judge labelled and nobody has: accepted by the threshold; the rest, and a drawn share, for people."""
    study, question = certificate.study, certificate.question
    name, section = question_name(question), question.section
    sheets = list(study.sheets.order_by("position"))
    free = [row for of_sheet in free_rows(sheets, [section.key]).values() for row in of_sheet]
    taken = set(_taken_over(certificate).values_list("row_id", flat=True)) | set(
        Label.objects.filter(
            question=question, assignment__row__in=free, assignment__rater__kind=Rater.Kind.PERSON
        ).values_list("assignment__row_id", flat=True)
    )
    open_rows = [row for row in free if row not in taken]
    submitted = Assignment.objects.filter(rater=certificate.rater, row__in=open_rows, state=Assignment.State.SUBMITTED)
    times = times_tested(certificate)
    assignment_of = dict(submitted.filter(repeat=1).values_list("row_id", "pk"))
    if times > 1:  # answers that are too few are always alike
        n_of = Counter(submitted.values_list("row_id", flat=True))
        assignment_of = {row: pk for row, pk in assignment_of.items() if n_of[row] >= times}
    table = study_table(study, judges=[certificate.rater.code], question=name)
    made = judge_cells(table, certificate.rater.code, name)
    pk_of = {name: pk for pk, name in row_names(study).items()}
    of_place = [pk_of.get((table.sheets[row.sheet], row.name), 0) for row in table.rows]
    columns = {
        (sheet, position): pk
        for sheet, position, pk in Column.objects.filter(sheet__study=study, section=section).values_list(
            "sheet__title", "position", "pk"
        )
    }
    accepted: list[tuple[int, int, str, float]] = []
    answered: dict[int, int] = defaultdict(int)
    sure: dict[int, int] = defaultdict(int)
    for row_place, column_place, label, score in zip(
        made.row.tolist(), made.column.tolist(), made.label.tolist(), made.score.tolist(), strict=True
    ):
        row = of_place[row_place]
        if row not in assignment_of:
            continue
        answered[row] += 1
        if score >= certificate.threshold:
            entry = table.columns[column_place]
            column = columns[table.sheets[entry.sheet], entry.position]
            accepted.append((assignment_of[row], column, table.code_of(label), round(score, 12)))
            sure[row] += 1
    rows = tuple(row for row in open_rows if row in assignment_of)
    asked = _cells_asked(rows, certificate)
    rest = frozenset(row for row in rows if sure[row] < max(answered[row], asked[row]))
    # Whoever is shown the judge's answers there does not supervise it. Chance said where, so the others are a sample.
    shown = ExperimentSeat.objects.filter(shown=True, assignment__row__in=rows).exclude(
        assignment__state=Assignment.State.WITHDRAWN
    )
    seen = set(shown.values_list("assignment__row_id", flat=True))
    by_chance = sorted((row for row in rows if row not in seen), key=lambda row: rank(seed, f"supervised {row}"))
    wanted = -(-len(rows) * share // 100)
    return WorkToDo(
        cells=tuple(sorted(accepted)),
        rows=rows,
        rest=rest,
        drawn=frozenset(by_chance[:wanted]),
        lacking=max(0, wanted - len(by_chance)),
        unread=len(open_rows) - len(rows),
        times=times,
    )


def times_tested(certificate: Certificate) -> int:
    """How often the judge had labelled each document that the certificate rests on, the most of any; 1 where its
    score is not how far its answers are alike."""
    if json.loads(certificate.document)["score"] != REPEATS:
        return 1
    table = unpacked(bytes(certificate.labels))
    used = np.unique(used_cells(table, certificate.request).row)
    work = table.assignments
    is_judge = np.array([rater.code == certificate.request["judge"] for rater in table.raters])
    done = is_judge[work.rater] & work.are(Assignment.State.SUBMITTED)
    n_of = np.bincount(work.row[done], minlength=len(table.rows))
    return int(n_of[used].max(initial=1))


def _cells_asked(rows: Collection[int], certificate: Certificate) -> dict[int, int]:
    """Row -> cells of the question that the judge answered, so that it could be read or not. Two queries."""
    asked: dict[int, int] = defaultdict(int)
    unreadable = UnreadableAnswer.objects.filter(
        assignment__rater=certificate.rater,
        assignment__row__in=rows,
        question=certificate.question,
        assignment__repeat=1,
    )
    labels = Label.objects.filter(
        assignment__rater=certificate.rater,
        assignment__row__in=rows,
        question=certificate.question,
        assignment__repeat=1,
        preset=False,
    )
    for found in (unreadable, labels):
        for row, n in found.order_by().values_list("assignment__row_id").annotate(n=Count("pk")):
            asked[row] += n
    return asked


def to_give_back(certificate: Certificate) -> list[int]:
    """Rows with cells that were accepted under it, that nobody at work has, and no judge has taken over since. Four
    queries."""
    mine = set(Accepted.objects.filter(takeover__certificate=certificate).values_list("assignment__row_id", flat=True))
    mine -= set(_taken_over(certificate).exclude(takeover__certificate=certificate).values_list("row_id", flat=True))
    free = free_rows(certificate.study.sheets.all(), [certificate.question.section.key])
    return sorted(row for of_sheet in free.values() for row in of_sheet if row in mine)


def _taken_over(certificate: Certificate) -> QuerySet[TakeoverRow]:
    """What judges have taken over on the same question, under certificates that are not revoked."""
    return TakeoverRow.objects.filter(
        takeover__certificate__study=certificate.study_id,
        takeover__certificate__question=certificate.question_id,
        takeover__certificate__revocation=None,
    )
