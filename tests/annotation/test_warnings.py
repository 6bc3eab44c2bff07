"""Warnings of the scheme's checks: counted by rater on the board, and found in the lens."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import actions, queries
from annotation.scheme.spec import SectionSpec, load_scheme
from tests.annotation.workshop import CUT, GLUE, STOOL, Workshop, answer, fill, workshop
from tests.builders import ApiOf, ClientOf, Leases

# Anna takes oak, which comes from nowhere, and drops the seat on the way; a number stands in the input.
ANNAS = {(CUT, "input"): ':"oak"', (GLUE, "input"): ':"foot; 2 nails"', (CUT, "output"): ':"seat"'}
# oak; nails, and the number in them: two cells
WARNED = {(CUT, "input"), (GLUE, "input")}


@pytest.fixture
def wood(db: None) -> Workshop:
    made = workshop()
    fill(made.stool, ANNAS)
    fill(made.judges_stool, {cell: code for cell, code in STOOL.items() if cell[1] != "change"})
    return made


def test_cells_with_warnings_are_counted_by_rater(wood: Workshop) -> None:
    with CaptureQueriesContext(connection) as few:
        anna, judge = queries.warned(wood.study)
    assert (anna.rater.code, anna.cells, anna.answers) == ("A1", 2, 3)
    assert anna.by_sheet == ((wood.sheet, 2, wood.stool.row_id),)
    assert (judge.rater.code, judge.cells, judge.by_sheet) == ("J1", 0, ())

    fill(wood.bench, ANNAS)
    fill(wood.boriss_stool, ANNAS)
    with CaptureQueriesContext(connection) as many:
        assert [(one.rater.code, one.cells) for one in queries.warned(wood.study)] == [("A1", 4), ("A2", 2), ("J1", 0)]
    assert len(many) == len(few) == 5


def test_the_board_leads_to_them_in_the_lens(wood: Workshop, client_of: ClientOf, api_of: ApiOf) -> None:
    manager = client_of(wood.manager)
    board = manager.get(reverse("annotation:board", args=[wood.study.slug])).content.decode()
    url = reverse("annotation:warnings", args=[wood.study.slug])
    panel = manager.get(url).content.decode()
    lens = reverse("annotation:lens", args=[wood.sheet.pk])
    page = manager.get(lens).content.decode()

    assert f'hx-get="{url}"' in board
    assert f'href="{lens}?row={wood.stool.row_id}&amp;kind=warned&amp;rater=A1"' in panel
    assert (page.count(" warned-0"), page.count(" warned-1"), page.count(" warned-2")) == (2, 0, 0)
    # What somebody answered is warned of, whoever decides it.
    asked = answer(wood.sheet, CUT, "input", "")
    place = {"row": wood.stool.row_id, "column": asked.column.pk, "question": asked.question.pk}
    assert (
        "This comes from nowhere: oak."
        in manager.get(reverse("annotation:lens-cell", args=[wood.sheet.pk]), place).content.decode()
    )
    decided = manager.post(
        reverse("annotation:lens-decide", args=[wood.sheet.pk]), {**place, "text": "plank", "reason": "it is"}
    ).json()
    assert sum("warned-0" in html for *_cell, html in decided["cells"]) == 1
    found = (
        api_of(wood.manager).get(reverse("api:lens", args=[wood.sheet.pk]), {"kind": "warned", "rater": "A1"}).json()
    )
    names = dict(wood.sheet.columns.values_list("pk", "name"))
    assert {(names[cell["column"]], cell["question"]) for cell in found["cells"]} == WARNED
    assert [cell["warnings"] for cell in found["cells"] if names[cell["column"]] == CUT] == [
        {"A1": ["This comes from nowhere: oak."]}
    ]


QUIET = """\
key: quiet
version: 1
title: Quiet
sections:
  - key: things
    title: Things
    column: {title: Thing, facets: [thing]}
    questions:
      - {key: weight, title: Weight, kind: number}
      - {key: remark, title: Remark, kind: text, text: {patterns: [{pattern: x, message: No x., level: refuse}]}}
      - {key: parts, title: Parts, kind: items, items: {fields: [{key: part}]}}
"""


def section(text: str) -> SectionSpec:
    return load_scheme(text).sections[0]


def test_only_checks_patterns_and_transitions_warn(wood: Workshop) -> None:
    assert section(QUIET).never_warns
    assert section(QUIET.replace(", level: refuse", "")).warnable == {"remark"}
    checked = QUIET.replace("    questions:", "    checks: [{rule: no-number, question: parts}]\n    questions:")
    assert section(checked).warnable == {"parts"}
    # Checks are about the first two, and transitions can contradict each other; nothing is said of minutes and tools.
    assert wood.study.scheme.parsed.sections[0].warnable == {"input", "output", "change"}


def test_answers_that_nothing_warns_of_are_not_counted(wood: Workshop) -> None:
    [before, _judge] = queries.warned(wood.study)
    fill(wood.stool, {(CUT, "minutes"): ":2.5", (CUT, "work"): "cut", (CUT, "remark"): ':"slowly"'})

    assert queries.warned(wood.study)[0].answers == before.answers


def test_a_study_that_cannot_warn_costs_nothing(leases: Leases, client_of: ClientOf) -> None:
    board = client_of(leases.manager).get(reverse("annotation:board", args=[leases.study.slug])).content.decode()

    assert reverse("annotation:warnings", args=[leases.study.slug]) not in board
    assert (
        "warned"
        not in client_of(leases.manager).get(reverse("annotation:lens", args=[leases.sheet.pk])).content.decode()
    )
    assert queries.warned(leases.study) == []


def test_the_lens_filters_rows_by_facets(wood: Workshop, client_of: ClientOf, api_of: ApiOf) -> None:
    facets = {"parts": ["plank", "foot", "glue"], "writer": "M2"}
    shelf = actions.add_row(sheet=wood.sheet, name="Shelf", evidence=[], facets=facets)
    actions.assign(rater=wood.stool.rater, rows=[shelf])
    url = reverse("api:lens", args=[wood.sheet.pk])

    page = client_of(wood.manager).get(reverse("annotation:lens", args=[wood.sheet.pk])).content.decode()
    rows = {
        word: {cell["row"] for cell in api_of(wood.manager).get(url, {"facet.writer": word}).json()["cells"]}
        for word in ("M1", "M2", "-")
    }

    assert 'name="facet.writer"' in page
    assert 'name="facet.parts"' not in page  # the same of both rows
    assert rows == {"M1": {wood.stool.row_id, wood.bench.row_id}, "M2": {shelf.pk}, "-": set()}

    unknown = api_of(wood.manager).get(url, {"facet.zz": "M1"})
    assert (unknown.status_code, unknown.json()) == (400, {"facet.zz": ["No rows can be chosen by a facet “zz”."]})
