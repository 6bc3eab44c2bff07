"""Labels in wide form: a line for each rater and row, a column for each question. The long form alone had to be turned
round by whoever wanted a column for each question."""

from __future__ import annotations

import csv
import io
import tracemalloc
import uuid
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from annotation import actions as annotating
from annotation.actions import Answer
from annotation.evidence.blocks import Block
from annotation.exchange.tables import unsafe_cell
from annotation.models import Label, Look, Question, Rater, Role, Row, Study
from annotation.scheme.spec import load_scheme
from reports import actions, queries
from reports.data.arrays import Filters
from reports.exports import labels as long_form
from reports.exports.making import file_name, path_of
from reports.exports.wide import wide
from reports.models import Export
from tests import builders
from tests.builders import ApiOf, ClientOf, Leases
from tests.reports import studies
from tests.reports.studies import answered, rater, sheet

pytestmark = [pytest.mark.django_db, pytest.mark.once]

# One section asks about each text as a whole; two questions have one key.
SCHEME = """\
key: texts
version: 1
title: Texts
row: {facets: [{key: source, hidden: true}]}
sections:
  - key: text
    title: The text
    questions:
      - {key: urgent, title: Urgent, kind: flag}
      - {key: remark, title: Remark, kind: text, text: {longest: 90}}
  - key: tone
    title: Tone
    questions:
      - {key: calm, title: Calm, kind: flag}
      - {key: remark, title: Remark, kind: text, text: {longest: 90}}
"""


@pytest.fixture(autouse=True)
def _folder(settings: Settings, tmp_path: Path) -> None:
    settings.PALATE_EXPORTS = tmp_path / "exports"


def read(file: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file.decode("utf-8-sig"), newline="")))


def of_page(client: Client, study: Study, **query: object) -> list[dict[str, str]]:
    response = client.get(reverse("reports:labels-wide", args=[study.slug]), query)
    assert response.status_code == 200, response.content.decode()
    return read(response.getvalue())


def exported(study: Study, form: str = "wide", **of: object) -> Path:
    filters = of.pop("filters", Filters())
    asked = actions.ask_for_export(study=study, form=form, filters=filters, by=None, **of)  # type: ignore[arg-type]
    actions.make_export(export_id=asked.pk)
    asked.refresh_from_db()
    assert asked.state == Export.State.FINISHED, asked.error
    return path_of(asked)


def said(lines: list[dict[str, str]], *names: str) -> list[tuple[str, ...]]:
    return [tuple(line[name] for name in names) for line in lines]


@pytest.fixture
def texts(db: None) -> Study:
    """Two texts. A1 answers all of the first and a part of the second, A2 one question of the first."""
    study = builders.study("texts", of=builders.scheme(SCHEME))
    made = annotating.add_sheet(study=study, title="One", columns={})
    for number in (1, 2):
        row = annotating.add_row(sheet=made, name=f"T{number}", evidence=[Block("paragraph", "Come at once.")])
        Row.objects.filter(pk=row.pk).update(facets={"source": "web"}, title=f"Text {number}")
    given = {
        "A1": [
            {"text.urgent": "yes", "text.remark": "=now", "tone.calm": "no", "tone.remark": "b"},
            {"tone.calm": "yes"},
        ],
        "A2": [{"text.urgent": "no"}, {}],
    }
    for code, of_rows in given.items():
        works = annotating.assign(rater=rater(study, code), rows=list(made.rows.order_by("position")))
        for work, answers in zip(works, of_rows, strict=True):
            told = [answer(study, work.row.sheet.columns, name, value) for name, value in answers.items()]
            annotating.record(assignment=work, answers=told, key=uuid.uuid4())
    return study


def answer(study: Study, columns: object, name: str, value: str) -> Answer:
    section, _dot, key = name.partition(".")
    question = Question.objects.get(section__scheme=study.scheme, section__key=section, key=key)
    column = columns.get(section__key=section)  # type: ignore[attr-defined]
    option = question.options.filter(key=value).first()
    return Answer(column=column, question=question, option=option, value=None if option else value)


@pytest.fixture
def reader(texts: Study, client_of: ClientOf) -> Client:
    user = builders.user("rene")
    annotating.add_member(study=texts, user=user, role=Role.RESEARCHER)
    return client_of(user)


def test_a_row_and_a_rater_are_a_line(texts: Study, reader: Client) -> None:
    lines = of_page(reader, texts)
    assert list(lines[0]) == [
        *("sheet", "row", "rater", "rater_kind", "simulated", "repeat"),
        *("urgent", "text__remark", "calm", "tone__remark"),
        *("state", "exposed", "drafted_from", "confirmed", "row_title", "row_url"),
    ]
    assert said(lines, "row", "rater", "urgent", "text__remark", "calm", "tone__remark", "row_title") == [
        ("T1", "A1", "yes", "'=now", "no", "b", "Text 1"),
        ("T1", "A2", "no", "", "", "", "Text 1"),
        ("T2", "A1", "", "", "yes", "", "Text 2"),
    ]


def test_the_worker_the_zip_and_the_page_say_the_same(texts: Study, reader: Client) -> None:
    """What is made of the table has facets of rows, hidden ones too, as labels.csv has them there."""
    of_form = read(exported(texts).read_bytes())
    with zipfile.ZipFile(exported(texts, "zip")) as archive:
        of_zip = read(archive.read("labels/labels-wide.csv"))
        assert "labels/labels-wide.csv" in archive.read("README.md").decode()
    frozen = actions.freeze(study=texts, title="Then", filters=Filters(), by=None)
    of_frozen = read(exported(texts, report=frozen).read_bytes())
    assert of_form == of_zip == of_frozen
    assert {line.pop("row_facet_source") for line in of_form} == {"web"}
    assert of_form == of_page(reader, texts)


def test_filters_hold(texts: Study, reader: Client) -> None:
    assert said(of_page(reader, texts, person="A2"), "row", "rater") == [("T1", "A2")]
    [first, *more] = of_page(reader, texts, question="text.urgent")
    assert "urgent" in first
    assert not {"calm", "remark", "text__remark"} & first.keys()
    assert len(more) == 1  # T2 has no answer to it
    of_form = read(exported(texts, filters=Filters(questions=("text.remark",))).read_bytes())
    assert said(of_form, "rater", "remark") == [("A1", "'=now")]
    refused = reader.get(reverse("reports:labels-wide", args=[texts.slug]), {"person": "nobody"})
    assert (refused.status_code, "Nothing is downloaded" in refused.content.decode()) == (400, True)


def test_a_look_is_noted(texts: Study, reader: Client) -> None:
    of_page(reader, texts)
    assert [look.user.username for look in Look.objects.all()] == ["rene"]


def test_it_is_offered_beside_the_others(texts: Study, reader: Client) -> None:
    page = reader.get(reverse("reports:report", args=[texts.slug])).content.decode()
    assert reverse("reports:labels-wide", args=[texts.slug]) in page
    frozen = actions.freeze(study=texts, title="Then", filters=Filters(), by=None)
    page = reader.get(reverse("reports:frozen", args=[texts.slug, frozen.pk])).content.decode()
    assert 'value="wide"' in page


def test_the_api_makes_it(texts: Study, api_of: ApiOf) -> None:
    user = builders.user("mia")
    annotating.add_member(study=texts, user=user, role=Role.MANAGER)
    asked = api_of(user).post(reverse("api:exports", args=[texts.slug]) + "?person=A2", {"form": "wide"})
    assert (asked.status_code, asked.json()["name"]) == (202, "texts-labels-wide.csv")
    actions.make_export(export_id=asked.json()["id"])
    assert len(read(path_of(Export.objects.get()).read_bytes())) == 1


def test_a_frozen_one_is_called_after_its_report(texts: Study) -> None:
    frozen = actions.freeze(study=texts, title="Then", filters=Filters(), by=None)
    asked = actions.ask_for_export(study=texts, form="wide", filters=Filters(), by=None, report=frozen)
    assert file_name(asked) == f"texts-report-{frozen.pk}-labels-wide.csv"


# --- columns, repeats, marks ---


def test_each_column_of_a_sheet_is_a_line(leases: Leases, client_of: ClientOf) -> None:
    builders.label(leases.annas[0])
    lines = of_page(client_of(leases.researcher), leases.study)
    names = ("section", "column", "column_number", "facet_duty", "facet_act", "stated", "act", "party")
    assert said(lines, *names) == [
        ("duties", "Pay rent", "1", "Pay rent", "", "stated", "", ""),
        ("duties", "Insure", "2", "Insure", "", builders.COMPLETE["Insure", "stated"], "", ""),
        *(
            ("acts", name, number, "", act, "", *(builders.COMPLETE.get((name, key), "") for key in ("act", "party")))
            for name, number, act in (("Give notice · tenant", "1", "Give notice"), ("Inspect", "2", "Inspect"))
        ),
    ]


def test_repeats_are_lines_and_marks_are_of_the_whole_line(texts: Study, reader: Client) -> None:
    made = texts.sheets.get()
    again = annotating.assign(rater=texts.raters.get(code="A2"), rows=[made.rows.get(name="T1")], repeat=2)
    told = [answer(texts, made.columns, "text.urgent", "yes"), answer(texts, made.columns, "tone.calm", "yes")]
    annotating.record(assignment=again[0], answers=told, key=uuid.uuid4())
    Label.objects.filter(assignment=again[0], question__key="calm").update(
        exposed=True, drafted_from=texts.raters.get(code="A1"), confirmed_at=timezone.now()
    )
    Label.objects.filter(assignment=again[0], question__key="urgent").update(drafted_from=texts.raters.get(code="A1"))
    names = ("rater", "repeat", "urgent", "calm", "exposed", "drafted_from", "confirmed")
    assert said(of_page(reader, texts, person="A2"), *names) == [
        ("A2", "1", "no", "", "no", "", ""),
        ("A2", "2", "yes", "yes", "yes", "A1", "no"),
    ]


def test_a_skipped_cell_is_empty(texts: Study, reader: Client) -> None:
    [work] = texts.raters.get(code="A2").assignments.filter(row__name="T1")
    urgent = answer(texts, work.row.sheet.columns, "tone.calm", "yes")
    skip = Answer(urgent.column, urgent.question, None, skip="I cannot tell")
    annotating.record(assignment=work, answers=[skip], key=uuid.uuid4())
    assert said(of_page(reader, texts, person="A2"), "row", "urgent", "calm") == [("T1", "no", "")]


@pytest.mark.parametrize("risky", ["=1+1", "+1+1", "@SUM(A1)", "\t=1"])
def test_no_cell_is_a_formula(texts: Study, reader: Client, risky: str) -> None:
    Rater.objects.filter(code="A1").update(code=risky)
    Row.objects.update(title=risky)
    for lines in (of_page(reader, texts), read(exported(texts).read_bytes())):
        assert not [cell for line in lines for cell in line.values() if cell.startswith(("=", "+", "@", "\t"))]
        assert risky in {unsafe_cell(line["rater"]) for line in lines}


def test_the_moment_holds(texts: Study, reader: Client) -> None:
    """Before anything was labelled there is nothing but headings."""
    then = timezone.now()
    work = texts.raters.get(code="A2").assignments.get(row__name="T2")
    told = [answer(texts, work.row.sheet.columns, "text.urgent", "yes")]
    annotating.record(assignment=work, answers=told, key=uuid.uuid4())
    Study.objects.update(created_at=then.replace(year=then.year - 1))
    assert (len(of_page(reader, texts)), len(of_page(reader, texts, as_of=then.isoformat()))) == (4, 3)


# --- memory ---


def many(n: int) -> Iterator[tuple[str, ...]]:
    """Labels in the form of `long_form.records`, so many rows of two questions."""
    at = {name: place for place, name in enumerate(long_form.TEXT_COLUMNS)}
    for row in range(n):
        for question in ("urgent", "remark"):
            record = [""] * len(at)
            for name, value in {"row": str(row), "section": "text", "question": question, "answer": "a" * 50}.items():
                record[at[name]] = value
            record[at["column_number"]] = "1"
            yield tuple(record)


def test_it_streams() -> None:
    """Memory does not depend on how many labels there are."""
    scheme = load_scheme(SCHEME)

    def peak(n: int) -> int:
        tracemalloc.start()
        lines = sum(1 for _line in wide(scheme, long_form.TEXT_COLUMNS, many(n)).lines)
        _now, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert lines == n
        return most

    few, lots = peak(100), peak(5000)
    assert lots < 1.5 * few


def test_a_study_of_other_columns_and_no_labels_has_headings_alone(db: None) -> None:
    study = studies.study()
    soup = sheet(study, items=1)
    table = queries.label_table(study, Filters())
    assert len("".join(long_form.wide_csv(table)).splitlines()) == 1
    answered(rater(study, "A1"), soup, ["f"])
    assert len("".join(long_form.wide_csv(queries.label_table(study, Filters()))).splitlines()) == 2
