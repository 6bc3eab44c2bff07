"""Words that entries of lists are tied to, in a report: nobody said how far raters agree on them."""

from __future__ import annotations

import csv
import io
import uuid
from typing import Any

import pytest
from django.urls import reverse

from annotation import actions
from annotation.actions import Answer
from annotation.evidence.blocks import Block
from annotation.models import Question, Rater, Study
from reports import actions as report_actions
from reports import queries
from reports.data.arrays import Filters
from reports.frozen.recomputing import recompute
from reports.numbers.report import compute
from reports.tables import ReportTable
from reports.tables import tables as tables_of
from tests import builders
from tests.builders import ClientOf
from tests.databases import made_once
from tests.reports.test_values import CLOSED, researcher

pytestmark = pytest.mark.once

SCHEME = """\
key: names
version: 1
title: Names
sections:
  - key: text
    title: Text
    questions:
      - key: names
        title: Names
        kind: items
        items:
          fields: [{key: words}, {key: type, options: [person, location]}, {key: at, place: true}]
      - {key: note, title: Note, kind: items, items: {fields: [{key: note}, {key: at, place: true}]}, optional: true}
"""
TEXT = "Lech Walesa flew from Gdansk to New York."
WALESA, GDANSK, YORK = "Lech Walesa | person | 0:0-11", "Gdansk | location | 0:22-28", "New York | location | 0:32-40"
# Of three pages; None leaves a page open, "|" says that it has no names.
SAID: dict[str, tuple[str | None, ...]] = {
    "A1": (f"{WALESA}\n{GDANSK}\n{YORK}", "|", GDANSK),
    # Walesa alone and another type; on the second page one more; the third is open.
    "A2": (f"Walesa | location | 0:5-11\n{GDANSK}\n{YORK}", GDANSK, None),
    # What it says of Oslo is nowhere in the text. Its New York lies elsewhere by a character.
    "J1": (f"{WALESA}\nNew York | location | 0:31-40\nOslo | location |", "|", GDANSK),
    "G1": (f"{WALESA}\n{GDANSK}\n{YORK}", "|", GDANSK),
}


@made_once
def study() -> Study:
    return made_study(SCHEME, SAID)


def made_study(scheme: str, said: dict[str, tuple[str | None, ...]]) -> Study:
    study = builders.study("names", of=builders.scheme(scheme))
    sheet = actions.add_sheet(study=study, title="News", columns={"text": [{}]})
    column = sheet.columns.get()
    for number in range(1, 1 + max(map(len, said.values()))):
        actions.add_row(sheet=sheet, name=f"Page {number}", evidence=[Block("paragraph", TEXT)])
    question = Question.objects.get(section__scheme=study.scheme, key="names")
    for code, lists in said.items():
        kind = {"A": "person", "J": "judge", "G": "gold"}[code[0]]
        rater = Rater.objects.create(study=study, kind=kind, code=code)
        rows = list(sheet.rows.order_by("position"))
        for assignment, written in zip(actions.assign(rater=rater, rows=rows), lists, strict=True):
            if written is not None:
                answer = Answer(column=column, question=question, value=written)
                actions.record(assignment=assignment, answers=[answer], key=uuid.uuid4())
    return study


def made(study: Study, **filters: Any) -> dict[str, ReportTable]:
    chosen = Filters(**filters)
    return {table.key: table for table in tables_of(compute(queries.load(study, chosen), chosen))}


def lines_of(table: ReportTable) -> dict[tuple[Any, ...], dict[str, Any]]:
    keys = [head.key for head in table.heads]
    return {(*row[:2], row[2]): dict(zip(keys, row, strict=True)) for row in table.rows}


def test_people_are_held_against_each_other_and_judges_against_people(study: Study) -> None:
    """Two pages are shared, one of them empty to A1: 3 spans and 4. Two are the same, Walesa shares 6 characters."""
    lines = lines_of(made(study)["text.names.spans"])

    people = lines["People", "People", "place"]
    assert (people["pairs"], people["lists"], people["spans_a"], people["spans_b"]) == (1, 2, 3, 4)
    assert people["exact_f1"] == pytest.approx(2 * 2 / 7)
    assert people["overlap_f1"] == pytest.approx(2 * 3 / 7)
    assert people["characters_f1"] == pytest.approx(2 * (6 + 6 + 8) / (25 + 20 + 6))
    typed = lines["People", "People", "place, Type"]
    assert (typed["exact_f1"], typed["overlap_f1"]) == pytest.approx((4 / 7, 4 / 7))
    assert lines["People", "People", "Type: location"]["exact_f1"] == pytest.approx(2 * 2 / 6)
    assert lines["People", "People", "Type: person"]["exact_f1"] == 0

    # With A1 all three pages, 3 spans and 4 of which 2 are the same; with A2 two pages, 2 and 4, none the same.
    judge = lines["J1", "People", "place"]
    assert (judge["pairs"], judge["lists"], judge["spans_a"], judge["spans_b"]) == (2, 5, 5, 8)
    assert (judge["without_a"], judge["without_b"]) == (2, 0)  # Oslo, once with each
    assert judge["exact_f1"] == pytest.approx((2 * 2 / 7 + 0) / 2)
    assert judge["overlap_f1"] == pytest.approx((2 * 3 / 7 + 2 * 2 / 6) / 2)
    assert judge["because"] == ""


def test_everybody_is_held_against_gold_with_precision_and_recall(study: Study) -> None:
    lines = lines_of(made(study)["text.names.spans-gold"])

    judge = lines["J1", "G1", "place"]
    assert (judge["exact_precision"], judge["exact_recall"]) == pytest.approx((2 / 3, 2 / 4))
    assert (judge["overlap_precision"], judge["overlap_recall"]) == pytest.approx((3 / 3, 3 / 4))
    assert (judge["characters_precision"], judge["characters_recall"]) == pytest.approx((25 / 26, 25 / 31))
    assert lines["A1", "G1", "place"]["exact_f1"] == 1
    assert lines["A2", "G1", "place"]["exact_precision"] == pytest.approx(2 / 4)
    assert {key[0] for key in lines} == {"J1", "A1", "A2"}


def test_lists_that_differ_in_their_places_alone_are_not_the_same_spans(db: None) -> None:
    """Such lists are one answer to the question, and have one number among its answers."""
    first, other = "Gdansk | location | 0:22-28", "Gdansk | location | 0:0-6"
    lines = lines_of(made(made_study(SCHEME, {"A1": (first,) * 3, "A2": (other,) * 3}))["text.names.spans"])

    assert lines["People", "People", "place"]["characters_f1"] == 0


def test_where_nobody_marked_anything_it_says_so(db: None) -> None:
    tables = made(made_study(SCHEME, {"A1": ("|", "Oslo | location |", None), "A2": ("|", "|", "|")}))
    [people] = [line for key, line in lines_of(tables["text.names.spans"]).items() if key[2] == "place"]

    assert (people["exact_f1"], people["lists"], people["without_a"]) == (None, 2, 1)
    assert people["because"] == "neither rater marked any words"
    assert "text.names.spans-gold" not in tables


def test_intervals_stand_beside_all_spans_where_they_are_asked_for(study: Study) -> None:
    table = made(study, by="document")["text.names.spans"]

    assert {"exact_f1_low", "overlap_f1_high", "characters_f1_low"} <= {head.key for head in table.heads}
    assert "No intervals: too little data to draw from" in table.how


def test_each_option_has_intervals_since_methods_15(db: None) -> None:
    said = dict.fromkeys(("A1", "A2"), (f"{WALESA}\n{GDANSK}",) * 12)
    said["A2"] = (*[f"{WALESA}\n{GDANSK}"] * 8, *[GDANSK] * 4)
    study = made_study(SCHEME, said)
    for methods, is_there in ((14, False), (15, True)):
        lines = lines_of(made(study, methods=methods, by="document")["text.names.spans"])
        line = lines["People", "People", "Type: person"]
        assert line["exact_f1"] == 2 * 8 / 20
        assert (line["exact_f1_low"] is not None) == is_there
    assert line["exact_f1_low"] < line["exact_f1"] < line["exact_f1_high"]


def test_what_nobody_answered_has_no_such_table(study: Study) -> None:
    assert "text.note.spans" not in made(study)


def test_lists_without_places_have_no_such_table(db: None) -> None:
    tables = made(made_study(CLOSED, dict.fromkeys(("A1", "A2"), ("Gdansk | place",) * 3)))
    assert "text.names.entries" in tables
    assert not [key for key in tables if "spans" in key]


def test_a_pair_that_marked_nothing_is_not_counted_among_those_that_a_mean_is_over(db: None) -> None:
    """A3 marked a person and A1 and A2 none: of persons two pairs of three have an F1, and two are counted."""
    said = dict.fromkeys(("A1", "A2"), (GDANSK, "|", "|"))
    study = made_study(SCHEME, {**said, "A3": (f"{WALESA}\n{GDANSK}", "|", "|")})
    for methods, pairs in ((13, 3), (14, 2)):
        lines = lines_of(made(study, methods=methods)["text.names.spans"])
        assert lines["People", "People", "place"]["pairs"] == 3
        persons = lines["People", "People", "Type: person"]
        assert (persons["exact_f1"], persons["pairs"], persons["lists"]) == (0, pairs, 9)


def test_reports_of_methods_before_have_no_such_tables(study: Study) -> None:
    before = made(study, methods=12)
    assert "text.names.entries" in before
    assert not [key for key in before if "spans" in key]


def test_page_and_downloads_have_them_and_a_frozen_report_recomputes(study: Study, client_of: ClientOf) -> None:
    client = client_of(researcher(study))
    page = client.get(reverse("reports:question", args=["names", "text.names"]))
    assert page.status_code == 200
    assert "Marked words held against each other" in page.content.decode()
    assert "#span-f1" in page.content.decode()
    for key in ("text.names.spans", "text.names.spans-gold"):
        at = client.get(reverse("reports:at", args=["names"]), {"table": key})
        assert at.status_code == 302
        response = client.get(reverse("reports:table", args=["names"]), {"table": key})
        assert response.status_code == 200
        content = b"".join(response) if response.streaming else response.content
        [first, *_rest] = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
        assert len(set(first)) == len(first)
    for name in ("csv", "xlsx"):
        assert client.get(reverse(f"reports:{name}", args=["names"])).status_code == 200
    frozen = report_actions.freeze(study=study, title="Names", filters=Filters(by="document"), by=None)
    assert recompute(frozen).equal
