"""Texts that other programs take for “nothing” are texts here: out in every form, and in again."""

from __future__ import annotations

import io
import uuid
import zipfile
from pathlib import Path

import openpyxl
import pyarrow.parquet as pq
import pytest
from django.core.management import call_command
from pytest_django import Settings

from annotation import actions as labelling
from annotation.actions import Answer
from annotation.exchange.exports import exported_labels, label_header, safe_lines
from annotation.exchange.rows_and_columns import import_rows
from annotation.exchange.tables import open_table
from annotation.models import Column, Label, Question, Row, Study
from reports import actions
from reports.data.arrays import Filters
from reports.exports import making
from reports.models import Export
from tests import builders
from tests.databases import made_once
from tests.reports.studies import rater

pytestmark = [pytest.mark.django_db, pytest.mark.once]

WORDS = (
    "NaN", "nan", "NA", "na", "N/A", "n/a", "#N/A", "#NA", "None", "none", "null", "NULL", "nil", "inf", "-inf",
    "Infinity", "1.#IND", "<NA>", "-", "True", "no", "1e5", "007", "1.0", "#REF!",
)  # fmt: skip
SCHEME = """\
key: remarks
version: 1
title: Remarks
row: {facets: [kind]}
sections:
  - key: remarks
    title: Remarks
    column: {title: Thing, facets: [thing]}
    questions:
      - {key: says, title: Says, kind: text}
      - {key: parts, title: Parts, kind: items, items: {fields: [{key: part}, {key: of}]}}
      - {key: sort, title: Sort, options: [{key: na, label: NA}, {key: other, label: Other}]}
"""


@pytest.fixture(autouse=True)
def _folder(settings: Settings, tmp_path: Path) -> None:
    settings.PALATE_EXPORTS = tmp_path / "exports"


@made_once
def study() -> Study:
    """Each word is a row, a column, a facet, a note, a text and a record's part; “NA” is an option, too."""
    study = builders.study("remarks", of=builders.scheme(SCHEME))
    sheet = labelling.add_sheet(study=study, title="NaN", columns={"remarks": [{"thing": word} for word in WORDS]})
    for word in WORDS:
        labelling.add_row(sheet=sheet, name=word, facets={"kind": word}, evidence=[])
    questions = {question.key: question for question in Question.objects.all()}
    columns = {column.name: column for column in Column.objects.all()}
    for at, assignment in enumerate(builders.assignments(rater(study, "NA"), sheet)):
        word = WORDS[at]
        said = [
            Answer(columns[word], questions["says"], value=word, note=word),
            Answer(columns[word], questions["parts"], value=[{"part": word, "of": ""}, {"part": "a", "of": word}]),
            Answer(columns[word], questions["sort"], option=questions["sort"].options.get(key="na")),
        ]
        labelling.record(assignment=assignment, answers=said, key=uuid.uuid4())
    return study


def standing(study: Study) -> set[tuple[str, ...]]:
    labels = Label.objects.filter(assignment__rater__study=study).select_related(
        "column__sheet", "question", "option", "assignment__row", "assignment__rater"
    )
    return {
        (
            label.column.sheet.title,
            label.assignment.row.name,
            label.assignment.rater.code,
            label.column.name,
            label.question.key,
            label.code,
            label.note,
        )
        for label in labels
    }


def report(study: Study) -> zipfile.ZipFile:
    asked = actions.ask_for_export(study=study, form="zip", filters=Filters(), by=None)
    actions.make_export(export_id=asked.pk)
    return zipfile.ZipFile(making.path_of(Export.objects.get(pk=asked.pk)))


@pytest.mark.parametrize(
    "name", ["labels/labels.csv", "labels/labels.jsonl", "labels/label-studio.json", "report.xlsx", "export_labels"]
)
@pytest.mark.sample(2)
def test_texts_that_read_as_nothing_come_back(study: Study, tmp_path: Path, name: str) -> None:
    before = standing(study)
    file = tmp_path / Path(name).name
    if name == "export_labels":
        file.write_text("".join(safe_lines(label_header(study), exported_labels(study))), newline="")
    else:
        with report(study) as archive:
            file.write_bytes(archive.read(name))
    twin = builders.study("twin", of=study.scheme)
    call_command("import_labels", "twin", file, "--create", stdout=io.StringIO())
    assert sorted(before - standing(twin)) == []
    assert standing(twin) == before


def test_the_other_forms_have_the_texts_too(study: Study) -> None:
    said = {code for *_cell, question, code, _note in standing(study) if question == "says"}
    with report(study) as archive:
        book = openpyxl.load_workbook(io.BytesIO(archive.read("report.xlsx")))
        labels = pq.read_table(io.BytesIO(archive.read("labels/labels.parquet"))).to_pylist()
        rows = io.BytesIO(archive.read("rows.csv"))
    assert {f':"{line["answer"]}"' for line in labels if line["question"] == "says"} == said
    assert {line["note"] for line in labels} >= set(WORDS)
    assert {line["row_facet_kind"] for line in labels} == set(WORDS)
    assert {cell.data_type for of_sheet in book for line in of_sheet.iter_rows() for cell in line} <= {"n", "s"}

    twin = builders.study("twin", of=study.scheme)
    import_rows(study=twin, rows=open_table(rows, name="rows.csv", max_bytes=2**20))
    assert set(Row.objects.filter(sheet__study=twin).values_list("name", flat=True)) == set(WORDS)
