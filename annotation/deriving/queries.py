"""Reads of this room: the chosen answers of a study, and lineage in both directions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from annotation import doors
from annotation.answers import kind_of, shown_code
from annotation.answers.codes import value_code
from annotation.deriving.choosing import Choice, How, Vote, choose, last_rounds
from annotation.deriving.making import Answered, Given, Source, SourceColumn, SourceRow, SourceSheet, SourceText
from annotation.models import Assignment, Column, Label, Lineage, Role, Row, Scheme, Study, User
from annotation.queries import roles


@dataclass(frozen=True)
class Chosen:
    """A study with the chosen answer of each cell.

    `counts`: cells by the rule that chose their answer; `ties`: sheet, row, column, question and answers of the cells
    in which several answers were given equally often, and none was chosen.
    """

    source: Source
    counts: dict[str, int]
    ties: list[dict[str, Any]]


def chosen(study: Study, *, rater: str = "", with_texts: bool = False, with_raters: bool = False) -> Chosen:
    """The chosen answers of a study; see `choosing.choose`. Five queries, one more for the texts of its rows.

    `with_raters`: with what each rater has given, too.

    Withdrawn rows and assignments do not count, and of drafted answers only those that their rater confirmed.
    """
    scheme = study.scheme.parsed
    specs = {(section.key, question.key): question for section in scheme.sections for question in section.questions}
    votes: dict[tuple[int, int, str, str], list[Vote]] = {}
    meant: dict[tuple[str, str, str], str] = {}  # many answers are the same
    for section, question, row_id, column, option, value, *of_rater, assignment, repeat in _standing(study):
        key, code = (section, question), option or ("" if value is None else value_code(value))
        if (said := meant.get((*key, code))) is None:
            kind, spec = kind_of(specs[key]), specs[key]
            said = meant[*key, code] = kind.key(spec, kind.value(spec, code))
        rater_code, rater_kind = of_rater
        vote = Vote(rater_code, rater_kind, key=said, code=code, assignment=assignment, repeat=repeat)
        votes.setdefault((row_id, column, *key), []).append(vote)
    choices = {cell: choose(of_cell, rater=rater) for cell, of_cell in votes.items()}
    texts = doors.texts_of(study) if with_texts else {}
    given = _given(votes) if with_raters else {}
    sheets: list[SourceSheet] = []
    ties: list[dict[str, Any]] = []
    for sheet in study.sheets.order_by("position").prefetch_related("columns__section", "rows"):
        columns = sorted(sheet.columns.all(), key=lambda column: (column.section.position, column.position))
        rows = []
        for row in sorted(sheet.rows.all(), key=lambda row: row.position):
            if row.withdrawn_at is not None:
                continue
            answers = []
            for column in columns:
                for question in scheme.section(column.section.key).questions:
                    choice = choices.get((row.pk, column.pk, column.section.key, question.key), Choice())
                    if choice.code:
                        answers.append(Answered(row.pk, column.pk, column.section.key, question.key, choice))
                    elif choice.tied:
                        ties.append(
                            {
                                "sheet": sheet.title,
                                "row": row.name,
                                "column": column.name,
                                "question": f"{column.section.key}.{question.key}",
                                "answers": [shown_code(question, code) for code in choice.tied],
                            }
                        )
            rows.append(_row(row, answers, texts.get(row.pk, ()), given.get(row.pk, ())))
        sheets.append(SourceSheet(sheet.title, [_column(column) for column in columns], rows))
    how = Counter(str(choice.how) for choice in choices.values() if choice.code)
    return Chosen(Source(scheme, sheets), dict(sorted(how.items())), ties)


def _standing(study: Study) -> Iterable[tuple[Any, ...]]:
    """Each label as section, question, row, column, option, value, its rater's code and kind, assignment, round. Not as
    models: six for each label took most of the time."""
    return (
        Label.objects.filter(assignment__rater__study=study, assignment__row__withdrawn_at=None)
        .filter(Q(drafted_from=None) | Q(confirmed_at__isnull=False))
        .exclude(assignment__state=Assignment.State.WITHDRAWN)
        .order_by("pk")
        .values_list(
            *("column__section__key", "question__key", "assignment__row_id", "column_id", "option__key", "value"),
            *("assignment__rater__code", "assignment__rater__kind", "assignment_id", "assignment__repeat"),
        )
    )


def _given(votes: Mapping[tuple[int, int, str, str], Sequence[Vote]]) -> dict[int, list[Given]]:
    """What each rater says in each cell, by row; of several rounds the last."""
    given: dict[int, list[Given]] = {}
    for (row, column, section, question), of_cell in votes.items():
        for vote in last_rounds(of_cell):
            choice = Choice(vote.code, How.RATER, (vote,))
            given.setdefault(row, []).append(Given(vote.rater, column, section, question, choice))
    return given


def _row(row: Row, answers: Sequence[Answered], texts: Sequence[SourceText], given: Sequence[Given] = ()) -> SourceRow:
    facets = row.facets
    return SourceRow(row.pk, row.name, row.title, row.url, row.language, row.blocks, facets, answers, texts, given)


def _column(column: Column) -> SourceColumn:
    return SourceColumn(column.pk, column.section.key, column.facets)


# --- lineage ---


@dataclass(frozen=True)
class Rest:
    """What a made row or column rests on: a row of the study before, or the answer of one rater to one of its cells.

    `answer`: as the cell shows it; `now`: what that rater answers today, "" for nothing; both "" where it is a row.
    """

    lineage: Lineage
    answer: str
    now: str

    @property
    def changed(self) -> bool:
        return self.answer != self.now


def lineage_in(study: Study, *, begin: int = 0, most: int = 500) -> list[Rest]:
    """What the rows and columns of a derived study rest on, a page of it. Three queries."""
    return _rests(study.lineage.all()[begin : begin + most])


def made_of(study: Study, user: User, *, begin: int = 0, most: int = 500) -> list[Rest]:
    """What was made of a study in those derived from it that `user` has a role in, a page of it. Four queries."""
    seen = Study.objects.visible_to(user).filter(derived_from=study)
    return _rests(Lineage.objects.filter(study__in=seen).order_by("study", "pk")[begin : begin + most])


def _rests(found: QuerySet[Lineage]) -> list[Rest]:
    rests = list(
        found.select_related(
            "study",
            "made_row__sheet",
            "made_column__section",
            "made_column__sheet",
            "row__sheet__study",
            "assignment__rater",
            "column__section",
            "question__section",
        ).defer("made_row__evidence", "row__evidence")
    )
    return list(_told(rests))


def _told(rests: list[Lineage]) -> Iterable[Rest]:
    assignments = {rest.assignment_id for rest in rests if rest.assignment_id}
    standing: dict[tuple[int | None, int | None, int | None], str] = {
        (label.assignment_id, label.column_id, label.question_id): label.code
        for label in Label.objects.filter(assignment__in=assignments).select_related("option")
    }
    asked = [rest.question for rest in rests if rest.question is not None]
    schemes = Scheme.objects.in_bulk({question.section.scheme_id for question in asked})
    for rest in rests:
        if rest.question is None:
            yield Rest(rest, "", "")
            continue
        section = rest.question.section
        spec = schemes[section.scheme_id].parsed.section(section.key).question(rest.question.key)
        now = standing.get((rest.assignment_id, rest.column_id, rest.question_id), "")
        yield Rest(rest, shown_code(spec, rest.code), shown_code(spec, now) if now else "")


def may_read_before(study: Study, user: User) -> bool:
    """Whether `user` may read everybody's answers in the study that this one was made of. Two queries."""
    before = study.derived_from
    return before is not None and bool(roles(user, before) & {Role.MANAGER, Role.RESEARCHER})


def may_derive(study: Study, user: User) -> bool:
    """Whether `user`, whose roles `study` has, may make a study of this one."""
    return Role.MANAGER in study.roles and user.has_perm("annotation.add_study")


def derived_studies(study: Study, user: User) -> list[Study]:
    """The studies that were made of this one and that `user` has a role in. One query."""
    return list(Study.objects.visible_to(user).filter(derived_from=study).order_by("title"))
