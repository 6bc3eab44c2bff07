"""Label Studio's JSON of a study whose downloads have its texts. Its tasks were blank there, and marked words came as
JSON in a field of text."""

from __future__ import annotations

import json
import tracemalloc
import uuid
import zipfile
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from annotation import actions as annotating
from annotation.actions import Answer
from annotation.evidence.blocks import Block
from annotation.exchange.json_tables import open_labels, open_rows
from annotation.exchange.label_imports import LabelImport, import_labels
from annotation.exchange.rows_and_columns import import_rows
from annotation.models import Label, Question, Rater, Row, Study
from reports import actions, queries
from reports.data.arrays import Filters
from reports.exports import labels as long_form
from reports.exports.making import path_of
from reports.models import Export
from tests import builders
from tests.databases import made_once
from tests.reports.studies import rater

pytestmark = [pytest.mark.django_db, pytest.mark.once]

SCHEME = """\
key: texts
version: 1
title: Texts
sections:
  - key: text
    title: The text
    questions:
      - {key: urgent, title: Urgent, kind: flag}
      - key: names
        title: Names
        kind: items
        items: {fields: [{key: words, required: true}, {key: type, completions: [person]}, {key: at, place: true}]}
"""
BLOCKS = ("In Gdansk <Lech> spoke.", "“Nobody” heard 🙂 Ann.")
GDANSK = {"words": "Gdansk", "type": "city & port", "at": "0:3-9"}
ANN = {"words": "Ann", "type": "person", "at": "1:17-20"}
BOTH = {"words": "Lech and Ann", "type": "", "at": "0:11-15 1:17-20"}
NOWHERE = {"words": "Somebody", "type": "", "at": ""}


@pytest.fixture(autouse=True)
def _folder(settings: Settings, tmp_path: Path) -> None:
    settings.PALATE_EXPORTS = tmp_path / "exports"


@made_once
def study() -> Study:
    """Four rows; what A1 and a judge find in each. The last text is empty."""
    study = builders.study("texts", of=builders.scheme(SCHEME))
    sheet = annotating.add_sheet(study=study, title="One", columns={})
    for name, blocks in (("T1", BLOCKS), ("T2", BLOCKS), ("T3", BLOCKS[:1]), ("T4", ())):
        annotating.add_row(sheet=sheet, name=name, evidence=[Block("paragraph", text) for text in blocks])
    found = {"A1": [[GDANSK, ANN], [BOTH, GDANSK], [], [NOWHERE]], "J1": [[ANN], [ANN, NOWHERE], [GDANSK], []]}
    for code, of_rows in found.items():
        who = rater(study, code, Rater.Kind.JUDGE if code == "J1" else Rater.Kind.PERSON)
        for work, records in zip(
            annotating.assign(rater=who, rows=list(sheet.rows.order_by("position"))), of_rows, strict=True
        ):
            names = Question.objects.get(section__scheme=study.scheme, key="names")
            told = Answer(column=sheet.columns.get(), question=names, value=records, note="as read")
            annotating.record(assignment=work, answers=[told], key=uuid.uuid4())
    annotating.change_study(study=study, publishes_texts=True)
    return study


def exported(study: Study, form: str = "label-studio", **of: Any) -> bytes:
    asked = actions.ask_for_export(study=study, form=form, filters=Filters(), by=None, **of)
    actions.make_export(export_id=asked.pk)
    asked.refresh_from_db()
    assert asked.state == Export.State.FINISHED, asked.error
    return path_of(asked).read_bytes()


def said(study: Study) -> set[tuple[str, str, str, str]]:
    labels = Label.objects.filter(assignment__rater__study=study)
    told = labels.values_list("assignment__row__name", "assignment__rater__code", "note", "value")
    return {(row, code, note, json.dumps(value)) for row, code, note, value in told}


def test_tasks_have_their_texts_and_marked_words(study: Study) -> None:
    tasks = {task["data"]["row"]: task for task in json.loads(exported(study))}
    whole = "\n".join(BLOCKS)
    assert [tasks[row]["data"]["text"] for row in ("T1", "T2", "T3", "T4")] == [whole, whole, BLOCKS[0], ""]
    [annotation] = tasks["T1"]["annotations"]
    assert [(one["type"], one["from_name"], one["value"]) for one in annotation["result"]] == [
        ("labels", "text__names", {"start": 3, "end": 9, "text": "Gdansk", "labels": ["city & port"]}),
        ("labels", "text__names", {"start": 41, "end": 44, "text": "Ann", "labels": ["person"]}),
    ]
    assert {one["meta"]["rater"] for one in annotation["result"]} == {"A1"}
    [of_judge] = tasks["T2"]["predictions"]
    assert [(one["type"], one["from_name"]) for one in of_judge["result"]] == [("textarea", "text__names__entries")]
    ids = [one["id"] for task in tasks.values() for by in task["annotations"] for one in by["result"]]
    assert len(ids) == len(set(ids))


def test_without_the_setting_it_is_as_it_was(study: Study) -> None:
    annotating.change_study(study=study, publishes_texts=False)
    with zipfile.ZipFile(BytesIO(exported(study, "zip"))) as archive:
        tasks = json.loads(archive.read("labels/label-studio.json"))
        config = archive.read("labels/label-studio.xml").decode()
        assert "Its tasks show no text" in archive.read("README.md").decode()
    assert not {"text", "block_starts"} & {name for task in tasks for name in task["data"]}
    results = [one for task in tasks for by in task["annotations"] for one in by["result"]]
    assert {(one["type"], one["from_name"]) for one in results} == {("textarea", "text__names")}
    assert "$text" not in config
    assert "<Labels" not in config


def test_the_configuration_shows_the_text_and_has_each_label(study: Study) -> None:
    with zipfile.ZipFile(BytesIO(exported(study, "zip"))) as archive:
        config = ET.fromstring(archive.read("labels/label-studio.xml"))
        tasks = json.loads(archive.read("labels/label-studio.json"))
        assert "Its tasks show no text" not in archive.read("README.md").decode()
    assert [(text.attrib["name"], text.attrib["value"]) for text in config.iter("Text")] == [("row", "$text")]
    results = [one for task in tasks for by in task["annotations"] + task["predictions"] for one in by["result"]]
    controls = {of.attrib["name"]: of for of in config.iter() if "toName" in of.attrib}
    kinds = {name: control.tag.casefold() for name, control in controls.items()}
    assert {one["from_name"]: one["type"] for one in results}.items() <= kinds.items()
    labels = {label.attrib["value"] for label in controls["text__names"]}
    assert labels == {"person", "city & port", "Names"}
    assert {label for one in results for label in one["value"].get("labels", ())} <= labels


def test_it_comes_in_again(study: Study, tmp_path: Path) -> None:
    """With rows, which have their texts, and all entries where they were."""
    file = tmp_path / "tasks.json"
    file.write_bytes(exported(study))
    twin = builders.study("twin", of=study.scheme)
    call_command("import_labels", "twin", file, "--create", stdout=StringIO())
    assert said(twin) == said(study)

    other = builders.study("other", of=study.scheme)
    with file.open("rb") as stream:
        made = import_rows(study=other, rows=open_rows(stream, name="tasks.json", max_bytes=2**20))
        assert made.rows == 4
        import_labels(
            study=other,
            table=open_labels(stream, name="tasks.json", max_bytes=2**20),
            how=LabelImport(create=True),
        )
    assert said(other) == said(study)
    texts = [
        [[block.text for block in row.blocks] for row in Row.objects.filter(sheet__study=one).order_by("name")]
        for one in (study, other)
    ]
    assert texts[0] == texts[1]


def test_what_was_marked_elsewhere_comes_in_line_by_line(study: Study) -> None:
    """A file of somebody else's says nothing of blocks: they are the lines that a file of rows makes blocks of."""
    value = {"start": 12, "end": 15, "text": "Ann", "labels": ["person"]}
    results = [{"from_name": "names", "to_name": "text", "type": "labels", "value": value}]
    tasks = [
        {
            "id": 7,
            "data": {"text": "Nobody.\n\n  Ann came.", "row": "T9"},
            "annotations": [{"completed_by": "ann", "result": results}],
        }
    ]
    stream = BytesIO(json.dumps(tasks).encode())
    table = open_labels(stream, name="tasks.json", max_bytes=2**20)
    import_labels(study=study, table=table, how=LabelImport(create=True))
    of_ann = Label.objects.get(assignment__rater__code="ann")
    # The third line begins at 9, with the blanks that a block keeps.
    assert of_ann.value == [{"words": "Ann", "type": "person", "at": "1:3-6"}]


def test_a_frozen_one_has_the_texts_of_rows_that_are_still_there(study: Study) -> None:
    frozen = actions.freeze(study=study, title="Then", filters=Filters(), by=None)
    Row.objects.filter(name="T1").update(name="Another", position=99)
    tasks = {task["data"]["row"]: task for task in json.loads(exported(study, report=frozen))}
    assert (tasks["T1"]["data"]["text"], tasks["T2"]["data"]["text"]) == ("", "\n".join(BLOCKS))
    assert {one["type"] for one in tasks["T1"]["annotations"][0]["result"]} == {"textarea"}


def test_the_texts_stream(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are read some rows at a time, and let go."""
    monkeypatch.setattr(queries, "_FEW", 2)
    sheet = study.sheets.get()
    blocks = [{"kind": "paragraph", "text": "x" * 200_000}]
    Row.objects.bulk_create(
        [Row(sheet=sheet, name=f"R{n}", position=10 + n, evidence=blocks) for n in range(20)], batch_size=5
    )
    table = queries.label_table(study, Filters())
    with CaptureQueriesContext(connection) as asked:
        found = queries.blocks_of_rows(study, table)
        assert next(found) == BLOCKS
    assert len(asked) == 2
    tracemalloc.start()
    assert sum(len(of_row[0]) for of_row in found if of_row) > 20 * 200_000
    _now, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2_500_000
    assert "".join(long_form.label_studio(table, texts=queries.blocks_of_rows(study, table))).count('"text"') >= 4
