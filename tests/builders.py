"""Small builders of state, by actions alone, so that no test holds a state that the product cannot reach.

The domain is clauses of contracts, far from recipes:

    Lease      duties: Pay rent · Insure          one question (stated)
               acts:   Give notice (by: tenant)   three questions (act, party, strictness); the last two are not asked
                       Inspect     (by nobody)    when the act is absent; party is preset where the column names none
    rows       Clause 1, Clause 2, …
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.test import Client
from rest_framework.test import APIClient

from annotation import actions
from annotation.actions import Answer
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import HEADING, PARAGRAPH
from annotation.models import Assignment, Column, Rater, Role, Row, Scheme, Sheet, Study, User
from annotation.scheme.spec import load_scheme

# A browser, and a program, of somebody who is logged in: the fixtures `client_of` and `api_of`.
ClientOf = Callable[[User], Client]
ApiOf = Callable[[User], APIClient]

SCHEME = """\
key: contracts
version: 1
title: Contract clauses
words: {sheet: contract, sheets: contracts, row: clause, rows: clauses}
sections:
  - key: duties
    title: Duties
    column: {title: Duty, facets: [duty]}
    questions:
      - key: stated
        title: Stated
        about: duty
        options:
          - {key: stated, label: Stated, definition: The clause says it in so many words.}
          - {key: implied, label: Implied}
          - {key: absent, label: Not stated, sign: "–"}
  - key: acts
    title: Acts
    column: {title: Act, facets: [act, party]}
    questions:
      - key: act
        title: Act
        about: act
        options:
          - {key: found, label: Found}
          - {key: reworded, label: Other words}
          - {key: absent, label: Absent}
      - key: party
        title: Party
        about: party
        ask_unless: {act: [absent]}
        preset: {when_empty: party, option: no-party}
        options:
          - {key: same, label: Same}
          - {key: other, label: Other}
          - {key: no-party, label: No party, blank: true}
      - key: strictness
        title: Strictness
        kind: scale
        min: 1
        max: 3
        ask_unless: {act: [absent]}
"""
DUTIES = ("Pay rent", "Insure")
ACTS = (("Give notice", "tenant"), ("Inspect", ""))
# Every question of a row of the sheet that `sheet` makes by default: what `label` needs to finish it.
COMPLETE: Mapping[tuple[str, str], str] = {
    ("Pay rent", "stated"): "stated",
    ("Insure", "stated"): "implied",
    ("Give notice · tenant", "act"): "found",
    ("Give notice · tenant", "party"): "same",
    ("Give notice · tenant", "strictness"): "2",
    ("Inspect", "act"): "absent",
}


def user(name: str, *, superuser: bool = False) -> User:
    """An account; its password is its name."""
    return User.objects.create_user(
        name, email=f"{name}@example.org", password=name, is_staff=superuser, is_superuser=superuser
    )


_loaded = lru_cache(maxsize=64)(load_scheme)  # most tests have one of a few, and nobody can change what was read


def scheme(text: str = SCHEME) -> Scheme:
    return actions.store_scheme(spec=_loaded(text), source=text)


def study(slug: str = "leases", *, of: Scheme | None = None, by: User | None = None) -> Study:
    return actions.create_study(slug=slug, title=slug.title(), scheme=of or scheme(), by=by)


def sheet(
    study: Study,
    title: str = "Lease",
    *,
    duties: Sequence[str] = DUTIES,
    acts: Sequence[tuple[str, str]] = ACTS,
    n_rows: int = 2,
) -> Sheet:
    columns = {
        "duties": [{"duty": duty} for duty in duties],
        "acts": [{"act": act, "party": party} for act, party in acts],
    }
    made = actions.add_sheet(study=study, title=title, columns=columns)
    for number in range(1, n_rows + 1):
        row(made, f"Clause {number}")
    return made


def row(sheet: Sheet, name: str) -> Row:
    evidence = [
        Block(HEADING, f"{name} of {sheet.title}"),
        Block(PARAGRAPH, "The tenant pays the rent monthly and gives notice in writing."),
    ]
    return actions.add_row(
        sheet=sheet, name=name, title=f"{sheet.title}, {name}", url="https://law.example/", evidence=evidence
    )


def rater(study: Study, of: User) -> Rater:
    """`of` as an annotator of the study."""
    actions.add_member(study=study, user=of, role=Role.ANNOTATOR)
    return study.raters.get(user=of)


def judge(study: Study, code: str = "J1") -> Rater:
    return Rater.objects.create(study=study, kind=Rater.Kind.JUDGE, code=code)


def plan_for_judge(leases: Leases, judge: str, rows: list[int], *, sections: list[str] | None = None) -> None:
    """A plan that gives a judge these rows, and nobody else anything."""
    actions.apply_design(
        study=leases.study,
        design=None,
        request=None,
        raters=[],
        sheets=[leases.sheet],
        by=leases.manager,
        sections=sections or [],
        judges={judge: rows},
    )


def assignments(rater: Rater, sheet: Sheet) -> list[Assignment]:
    return actions.assign(rater=rater, rows=sheet.rows.all())


def answer(sheet: Sheet, column: str, question: str, option: str | None, *, note: str | None = None) -> Answer:
    """An answer by names: of the column, of the question in its section; and the answer's code (None clears)."""
    return answers(sheet, {(column, question): option}, note=note)[0]


def answers(sheet: Sheet, given: Mapping[tuple[str, str], str | None], *, note: str | None = None) -> list[Answer]:
    """The same of several, {(column name, question key): code}. Three queries."""
    by_name: dict[str, list[Column]] = {}
    names = {name for name, _question in given}
    found = sheet.columns.filter(name__in=names).select_related("section__scheme")
    for column in found.prefetch_related("section__questions__options"):
        by_name.setdefault(column.name, []).append(column)
    return [_answer(*by_name[name], question, code, note) for (name, question), code in given.items()]


def _answer(column: Column, question: str, code: str | None, note: str | None) -> Answer:
    asked = column.section.by_key[question]
    if code is None or asked.by_key:
        return Answer(column=column, question=asked, option=None if code is None else asked.by_key[code], note=note)
    return Answer.of_code(column, asked, code, spec=asked.spec, note=note)


def label(
    assignment: Assignment,
    given: Mapping[tuple[str, str], str | None] = COMPLETE,
    *,
    key: uuid.UUID | None = None,
    note: str | None = None,
) -> actions.Recorded:
    """Record {(column name, question key): option key}."""
    told = answers(assignment.row.sheet, given, note=note)
    return actions.record(assignment=assignment, answers=told, key=key or uuid.uuid4())


def standing(assignment: Assignment) -> dict[tuple[str, str], str]:
    """What `label` takes: the labels that stand in the database."""
    return {
        (label.column.name, label.question.key): label.option.key
        for label in assignment.labels.select_related("column", "question", "option")
    }


@dataclass(frozen=True)
class Leases:
    """A study with everybody in it: Anna and Boris label both clauses of the one sheet, and so does the judge J1."""

    study: Study
    sheet: Sheet
    anna: User
    boris: User
    manager: User
    researcher: User
    stranger: User
    annas: list[Assignment]
    boriss: list[Assignment]
    judges: list[Assignment]


def leases() -> Leases:
    manager, researcher, anna, boris = user("mara"), user("rene"), user("anna"), user("boris")
    made = study(by=manager)
    actions.add_member(study=made, user=researcher, role=Role.RESEARCHER)
    lease = sheet(made)
    return Leases(
        study=made,
        sheet=lease,
        anna=anna,
        boris=boris,
        manager=manager,
        researcher=researcher,
        stranger=user("sam"),
        annas=assignments(rater(made, anna), lease),
        boriss=assignments(rater(made, boris), lease),
        judges=assignments(judge(made), lease),
    )
