"""Downloads for programs that mark words: what they hold, and that it comes back."""

from __future__ import annotations

import io
import json
import uuid
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.urls import reverse
from pytest_django import Settings

from annotation import actions as annotating
from annotation.actions import Answer, Refused
from annotation.evidence.blocks import Block
from annotation.exchange.tables import TableError
from annotation.models import Label, Question, Rater, Role, Study
from reports import actions
from reports.data.arrays import Filters
from reports.exports.making import file_name, path_of
from reports.models import Export
from tests import builders
from tests.annotation.marked import studies
from tests.annotation.marked.studies import BLOCKS, ENTRIES, TEXT, UNITS, bring, bring_rows, lines, packed, said
from tests.builders import ApiOf, ClientOf
from tests.databases import made_once
from tests.reports.studies import rater

pytestmark = [pytest.mark.django_db, pytest.mark.once]

# A second row: one entry over both blocks, one of them with a line break and white space of its own.
ODD = ("Ann\n met", " Lech.")
OVER = {"words": "met Lech", "type": "", "at": "0:5-8 1:0-5"}


@pytest.fixture(autouse=True)
def _folder(settings: Settings, tmp_path: Path) -> None:
    settings.PALATE_EXPORTS = tmp_path / "exports"


@made_once
def study() -> Study:
    """Two rows; a person with an odd name and another one, a judge and the gold."""
    study = studies.study()
    bring_rows(study, lines({"id": 7, "text": TEXT, "label": []}))
    sheet = study.sheets.get()
    annotating.add_row(sheet=sheet, name="8", evidence=[Block("paragraph", text) for text in ODD])
    people = {
        "an/na": ("person", ENTRIES, [OVER], "glad"),
        "ben": ("person", ENTRIES[:2], [], "sad"),
        "J1": ("judge", [], ENTRIES[:0], "glad"),
        "gold": ("gold", ENTRIES, [OVER], "sad"),
    }
    questions = {question.key: question for question in Question.objects.filter(section__scheme=study.scheme)}
    options = {option.key: option for option in questions["mood"].options.all()}
    for code, (kind, first, second, mood) in people.items():
        who = rater(study, code, Rater.Kind(kind))
        for work, names in zip(
            annotating.assign(rater=who, rows=list(sheet.rows.order_by("position"))), (first, second), strict=True
        ):
            told = [
                Answer(column=sheet.columns.get(), question=questions["names"], value=names, note="as read"),
                Answer(column=sheet.columns.get(), question=questions["mood"], option=options[mood]),
            ]
            annotating.record(assignment=work, answers=told, key=uuid.uuid4())
    annotating.change_study(study=study, publishes_texts=True)
    return study


def exported(study: Study, form: str, **of: Any) -> bytes:
    asked = actions.ask_for_export(study=study, form=form, filters=Filters(), by=None, **of)
    actions.make_export(export_id=asked.pk)
    asked.refresh_from_db()
    assert asked.state == Export.State.FINISHED, asked.error
    return path_of(asked).read_bytes()


def notes(study: Study) -> set[str]:
    names = Label.objects.filter(assignment__rater__study=study, question__key="names")
    return set(names.values_list("note", flat=True))


def test_prodigy_has_a_task_for_each_answer(study: Study) -> None:
    tasks = [json.loads(line) for line in exported(study, "prodigy").splitlines()]
    assert len(tasks) == 16
    names = next(t for t in tasks if (t["row"], t["question"], t["_annotator_id"]) == ("7", "names", "ben"))
    whole = "\n".join(BLOCKS)
    assert names["text"] == whole
    assert names["spans"] == [{"start": 2, "end": 6, "label": "PER"}, {"start": 11, "end": 14, "label": "PER"}]
    assert (names["answer"], names["_view_id"]) == ("accept", "ner_manual")
    assert [whole[span["start"] : span["end"]] for span in names["spans"]] == ["Lech", "Ann"]
    mood = next(t for t in tasks if (t["question"], t["_annotator_id"]) == ("mood", "ben"))
    assert (mood["accept"], [option["id"] for option in mood["options"]]) == (["sad"], ["glad", "sad"])
    assert mood["_view_id"] == "choice"


def test_doccano_has_a_file_for_each_rater(study: Study) -> None:
    with zipfile.ZipFile(io.BytesIO(exported(study, "doccano"))) as archive:
        assert sorted(archive.namelist()) == sorted(
            f"{question}/{who}.jsonl" for question in ("mood", "names") for who in ("an-na", "ben", "J1", "gold")
        )
        of_ben = [json.loads(line) for line in archive.read("names/ben.jsonl").splitlines()]
        assert [(of["row"], of["label"]) for of in of_ben] == [("7", [[3, 7, "PER"], [12, 15, "PER"]]), ("8", [])]
        [first, _second] = [json.loads(line) for line in archive.read("mood/ben.jsonl").splitlines()]
        assert first["label"] == ["Sad"]


def test_inception_has_a_file_for_each_text_and_rater(study: Study) -> None:
    with zipfile.ZipFile(io.BytesIO(exported(study, "inception"))) as archive:
        assert sorted(archive.namelist()) == sorted(
            [
                *(f"annotation/{row}/{who}.json" for row in "78" for who in ("an-na", "ben", "J1")),
                *(f"curation/{row}/CURATION_USER.json" for row in "78"),
                *(f"source/{row}" for row in "78"),
                "palate.jsonl",
            ]
        )
        whole = "\n".join(BLOCKS)
        assert archive.read("source/7").decode() == whole
        cas = json.loads(archive.read("annotation/7/ben.json"))
    [sofa, _about, *entities] = cas["%FEATURE_STRUCTURES"]
    assert sofa["sofaString"] == whole
    assert [(of["begin"], of["end"], of["value"]) for of in entities] == [(3, 7, "PER"), (12, 15, "PER")]
    assert cas["%VIEWS"]["_InitialView"] == {"%SOFA": 1, "%MEMBERS": [2, 3, 4]}


def test_a_document_of_inception_by_another_name_is_read_as_its_folders_say(study: Study) -> None:
    """What comes back by way of INCEpTION has no `palate.jsonl`."""
    with zipfile.ZipFile(io.BytesIO(exported(study, "inception"))) as archive:
        files = {path: archive.read(path) for path in archive.namelist() if path.startswith(("annotation/7", "cur"))}
    other = studies.study("other", studies.SCHEME.replace("key: news", "key: other"))
    bring_rows(other, packed(files), "project.zip")
    bring(other, packed(files), "project.zip")
    assert said(other)["7", "an-na", "names"] == said(study)["7", "an/na", "names"]
    assert said(other)["7", "gold", "names"] == said(study)["7", "gold", "names"]
    assert Rater.objects.get(study=other, code="J1").kind == Rater.Kind.PERSON


def test_several_questions_and_rows_of_one_name_are_apart_for_inception() -> None:
    """Names that programs hide or that mean something in an export are written with a line before them."""
    scheme = studies.SCHEME.replace("key: news", "key: two") + studies.SCHEME[
        studies.SCHEME.index("      - key: names") :
    ].replace("names", "places").replace("Names", "Places")
    two = studies.study("two", scheme)
    for sheet in ("A", "B"):
        bring_rows(two, lines({"row": ".7", "sheet": sheet, "text": TEXT, "label": []}))
        for question, units in (("names", UNITS), ("places", [])):
            of = {"row": ".7", "sheet": sheet, "text": TEXT, "label": units, "question": question}
            bring(two, lines({**of, "origin": {"by": "anna", "rater": "anna"}}))
    assert Label.objects.filter(assignment__rater__study=two).count() == 4
    annotating.change_study(study=two, publishes_texts=True)
    Rater.objects.filter(study=two).update(code="CURATION_USER")
    data = exported(two, "inception")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert sorted(path for path in archive.namelist() if "annotation" in path) == [
            f"{question}/annotation/_.7{n}/_CURATION_USER.json" for question in ("names", "places") for n in ("-2", "")
        ]
    again = bring(two, data, "two-inception.zip")
    assert (again.nothing_new, again.unchanged) == (True, 4)


def test_conll_has_a_file_of_tags_for_each_rater(study: Study) -> None:
    """What somebody has marked over two lines has no tags."""
    data = exported(study, "conll")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.namelist() == ["J1.conll", "an-na.conll", "ben.conll", "gold.conll", "palate.jsonl"]
        of_ben = archive.read("ben.conll").decode()
    assert of_ben.startswith("-DOCSTART- -X- O O\n\n🙂 -X- O O\nLech -X- O B-PER\nmet -X- O O\nAnn -X- O B-PER\n")
    assert ". -X- O O\n\nIn -X- O O\n" in of_ben


def test_all_have_the_same_tokens_though_somebody_cuts_one(study: Study) -> None:
    """Labels with blanks are read as they were."""
    for code, span in (("cid", [3, 5, "PER"]), ("dan", [3, 5, "PER"])):
        bring(study, lines({"id": 7, "text": TEXT, "label": [span]}), f"{code}.jsonl")
    scheme = studies.SCHEME.replace("key: news", "key: blanks").replace("PER, ORG", "a b, a_b, ORG")
    blanks = studies.study("blanks", scheme)
    bring_rows(blanks, lines({"id": 7, "text": TEXT, "label": []}))
    bring(blanks, lines({"id": 7, "text": TEXT, "label": [[3, 5, "a b"], [8, 11, "a_b"]]}), "cid.jsonl")
    annotating.change_study(study=blanks, publishes_texts=True)
    for of in (study, blanks):
        data = exported(of, "conll")
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = [archive.read(path).decode() for path in archive.namelist() if path.endswith(".conll")]
        tokens = {tuple(line.split(" ")[0] for line in file.split("-DOCSTART-")[1].split("\n")) for file in files}
        assert len(tokens) == 1
        assert {"Le", "ch"} < set(tokens.pop())
        assert bring(of, data, "conll.zip").nothing_new
    assert "Le -X- O B-a_b\n" in files[0]
    assert "met -X- O B-a_b_\n" in files[0]


# What each of them is called, and how many answers it has.
FORMS = [
    ("prodigy", "news-prodigy.jsonl", 16),
    ("doccano", "news-doccano.zip", 16),
    ("inception", "news-inception.zip", 8),
    ("conll", "news-conll.zip", 6),
]


@pytest.mark.parametrize(("form", "name", "n"), FORMS)
def test_what_goes_out_comes_back(study: Study, form: str, name: str, n: int) -> None:
    """Into the same study without a change; into another one, whose rows come by the same file, whole."""
    data = exported(study, form)
    again = bring(study, data, name)
    assert (again.nothing_new, again.unchanged, again.unread) == (True, n, ())
    other = studies.study("other", studies.SCHEME.replace("key: news", "key: other"))
    assert bring_rows(other, data, name).rows == 2
    Row = study.sheets.get().rows.model
    row = Row.objects.get(sheet__study=other, name="8")  # in a file, a line is a block
    row.evidence = [{"kind": "paragraph", "text": text} for text in ODD]
    row.save(update_fields=["evidence"])
    bring(other, data, name)
    there = {of: value for of, value in said(study).items() if n == 16 or of[2] == "names"}
    assert said(other) == {of: value for of, value in there.items() if form != "conll" or value != [OVER]}
    assert notes(other) == {"as read"}
    kinds = {who.code: who.kind for who in Rater.objects.filter(study=other)}
    assert kinds == {"an/na": "person", "ben": "person", "J1": "judge", "gold": "gold"}


def test_what_somebody_else_labelled_there_is_theirs(study: Study) -> None:
    """Prodigy and doccano keep what else a line says."""
    [task] = [
        t
        for line in exported(study, "prodigy").splitlines()
        if ((t := json.loads(line))["row"], t["question"], t["_annotator_id"]) == ("7", "names", "J1")
    ]
    bring(study, lines({**task, "_annotator_id": "cid", "_session_id": "cid"}), "back.jsonl")
    assert said(study)["7", "cid", "names"] == []
    assert Rater.objects.get(study=study, code="cid").kind == Rater.Kind.PERSON
    began = "2026-01-02_03-04-05"  # a session without a name
    with pytest.raises(TableError, match="does not say who marked its words"):
        bring(study, lines({**task, "_annotator_id": began, "_session_id": began}), "back.jsonl")
    with zipfile.ZipFile(io.BytesIO(exported(study, "doccano"))) as archive:
        bring(study, archive.read("names/J1.jsonl"), "dan.jsonl")
    assert Rater.objects.get(study=study, code="dan").kind == Rater.Kind.PERSON


@pytest.mark.parametrize(
    "lost",
    [
        {"words": "Lech", "type": "PER", "at": ""},
        {"words": "Lech W.", "type": "PER", "at": "0:2-6"},
        {"words": "Lech Ann", "type": "PER", "at": "0:2-6 0:11-14"},
    ],
    ids=["nowhere", "other words", "apart"],
)
def test_an_answer_that_would_lose_something_is_left_out(study: Study, lost: dict[str, str]) -> None:
    label = Label.objects.get(assignment__rater__code="ben", assignment__row__name="7", question__key="names")
    told = Answer(column=label.column, question=label.question, value=[lost])
    annotating.record(assignment=label.assignment, answers=[told], key=uuid.uuid4())
    tasks = [json.loads(line) for line in exported(study, "prodigy").splitlines()]
    assert len(tasks) == 15
    with zipfile.ZipFile(io.BytesIO(exported(study, "inception"))) as archive:
        assert "annotation/7/ben.json" not in archive.namelist()


def test_overlapping_words_are_for_spans_manual(study: Study) -> None:
    bring(study, lines({"id": 7, "text": TEXT, "label": [*UNITS, [3, 15, "ORG"]]}), "cid.jsonl")
    tasks = [json.loads(line) for line in exported(study, "prodigy").splitlines()]
    assert [t["_view_id"] for t in tasks if t["_annotator_id"] == "cid"] == ["spans_manual"]


def test_they_need_the_texts_and_questions_that_they_know(study: Study, client_of: ClientOf, api_of: ApiOf) -> None:
    annotating.change_study(study=study, publishes_texts=False)
    with pytest.raises(Refused, match="take labels with their texts"):
        actions.ask_for_export(study=study, form="prodigy", filters=Filters(), by=None)
    user = builders.user("rosa")
    annotating.add_member(study=study, user=user, role=Role.RESEARCHER)
    page = client_of(user).post(reverse("reports:ask", args=["news"]), {"form": "doccano"}, follow=True)
    assert "take labels with their texts" in page.content.decode()
    assert 'value="prodigy"' in client_of(user).get(reverse("reports:report", args=["news"])).content.decode()
    for form in ("doccano", "inception", "conll"):
        refused = api_of(user).post(reverse("api:exports", args=["news"]), {"form": form})
        assert refused.status_code == 409
    frozen = actions.freeze(study=study, title="Then", filters=Filters(), by=None)
    page = client_of(user).post(
        reverse("reports:ask", args=["news"]), {"form": "doccano", "report": frozen.pk}, follow=True
    )
    assert page.redirect_chain[-1][0] == reverse("reports:frozen", args=["news", frozen.pk])


def test_a_study_without_marked_words_has_nothing_for_inception() -> None:
    scheme = studies.SCHEME[: studies.SCHEME.index("      - key: names")]
    study = studies.study("moods", scheme.replace("key: news", "key: moods"))
    annotating.change_study(study=study, publishes_texts=True)
    with pytest.raises(Refused, match="this study asks for none"):
        actions.ask_for_export(study=study, form="inception", filters=Filters(), by=None)
    page = render_to_string("reports/_ask.html", {"study": study})
    assert 'value="doccano"' in page
    assert 'value="inception"' not in page


def test_a_frozen_report_has_its_own(study: Study) -> None:
    frozen = actions.freeze(study=study, title="Then", filters=Filters(), by=None)
    bring(study, lines({"id": 7, "text": TEXT, "label": UNITS}), "cid.jsonl")
    asked = actions.ask_for_export(study=study, form="prodigy", filters=Filters(), by=None, report=frozen)
    assert file_name(asked) == f"news-report-{frozen.pk}-prodigy.jsonl"
    assert len(exported(study, "prodigy", report=frozen).splitlines()) == 16
    assert len(exported(study, "prodigy").splitlines()) == 17


@pytest.mark.parametrize("code", ["all", "ALL", "palate", ".ann", "ann (1)", "2026-01-02_03-04-05"])
@pytest.mark.parametrize(("form", "name", "n"), FORMS)
def test_whatever_somebody_is_called_their_work_comes_back_as_theirs(
    study: Study, form: str, name: str, n: int, code: str
) -> None:
    Rater.objects.filter(study=study, code="ben").update(code=code)
    again = bring(study, exported(study, form), name)
    assert (again.nothing_new, again.unchanged) == (True, n)
