"""Reads of this pack."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import F

from annotation.answers import kind_of, shown_code
from annotation.deriving.queries import chosen
from annotation.evidence.blocks import Block
from annotation.models import Assignment, Label, Row, Sheet, Study, User
from recipes.memorization.candidates import FAULTS


@dataclass(frozen=True)
class Dish:
    """A name in a list. `answers`: of its questions, the chosen ones as people read them, "" for none."""

    sheet: str
    name: str
    region: str
    answers: tuple[str, ...]
    n_texts: int


def dishes(study: Study) -> list[Dish]:
    """The dishes of a study with what was said of them. Seven queries."""
    source = chosen(study, with_texts=True).source
    asked = [(section.key, question) for section in source.scheme.sections for question in section.questions]
    found = []
    for sheet in source.sheets:
        for row in sheet.rows:
            said = {(answer.section, answer.question): answer.code for answer in row.answers}
            shown = (
                shown_code(question, said[section, question.key]) if (section, question.key) in said else ""
                for section, question in asked
            )
            region = row.facets.get("region", "")
            found.append(Dish(sheet.title, row.name, str(region), tuple(shown), len(row.texts)))
    return found


@dataclass(frozen=True)
class Beside:
    """A candidate beside the others. `faults`: what the rater who looks has marked in it: the words, and why."""

    row: Row
    blocks: list[Block]
    faults: tuple[tuple[str, str], ...]


def candidates_beside(sheet: Sheet, user: User, *, may_see_all: bool) -> list[Beside]:
    """The candidates of a sheet that a person labels, in that person's own order; who labels none sees all of them, if
    they may. Two queries."""
    mine = (
        Assignment.objects.of_user(user)
        .filter(row__sheet=sheet)
        .select_related("row")
        .order_by(F("order").asc(nulls_first=True), "row__position")
    )
    if not (assigned := list(mine)):
        rows = sheet.rows.filter(withdrawn_at=None) if may_see_all else sheet.rows.none()
        return [Beside(row, row.blocks, ()) for row in rows]
    section, question = FAULTS.split(".")
    labels = Label.objects.filter(
        assignment__in=assigned, column__section__key=section, question__key=question
    ).select_related("question")
    marked: dict[int, list[tuple[str, str]]] = {}
    for label in labels:
        spec = sheet.study.scheme.parsed.section(section).question(question)
        records = kind_of(spec).value(spec, label.code)
        assert isinstance(records, list)
        found = marked.setdefault(label.assignment_id, [])
        found += [(str(one.get("words", "")), str(one.get("reason", ""))) for one in records]
    return [Beside(one.row, one.row.blocks, tuple(marked.get(one.pk, ()))) for one in assigned]
