"""Imports of rows and columns, exports, and the commands and the page of both."""

from __future__ import annotations

import csv
import io
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client, override_settings
from django.urls import reverse
from openpyxl import Workbook

from annotation import actions
from annotation.evidence.blocks import Block
from annotation.exchange import rows_and_columns
from annotation.exchange.exports import exported_labels, label_header, safe_lines
from annotation.exchange.row_imports import ImportRefused
from annotation.models import Assignment, AuditEvent, Column, Label, Rater, Row, Study
from annotation.scheme.spec import load_scheme
from tests import builders
from tests.annotation.importing import ACTS, QUESTIONS, answers, counts, labels_in, rows_in
from tests.builders import ApiOf, ClientOf, Leases

pytestmark = pytest.mark.django_db


# --- another domain, from files alone -------------------------------------------------------------------------------


def test_a_study_of_another_domain_is_made_of_a_scheme_file_and_tables_and_labelled() -> None:
    manager, anna = builders.user("mara"), builders.user("anna")
    spec = load_scheme(QUESTIONS)
    study = actions.create_study(
        slug="clauses", title="Clauses", scheme=actions.store_scheme(spec=spec, source=QUESTIONS), by=manager
    )
    rows_in(
        study,
        "sheet,row,title,url,language,heading,text\n"
        'Lease,§ 1,Rent,https://law.example/1,en,Rent,"The rent is due.\nMonthly."\n'
        "Lease,§ 2,Notice,,en,,Six weeks.\nSale,§ 1,Price,,en,,Ten.\n",
        "question\nWhen is it due?\nWho pays?\n",
    )
    lease = study.sheets.get(title="Lease")
    rater = builders.rater(study, anna)
    (first, _second) = builders.assignments(rater, lease)
    builders.label(first, {("When is it due?", "answered"): "answers", ("Who pays?", "answered"): "silent"})
    actions.submit(assignment=first)

    assert [(sheet.title, sheet.rows.count()) for sheet in study.sheets.all()] == [("Lease", 2), ("Sale", 1)]
    assert first.row.blocks == [
        Block("heading", "Rent"),
        Block("paragraph", "The rent is due."),
        Block("paragraph", "Monthly."),
    ]
    assert builders.standing(first) == {("When is it due?", "answered"): "answers", ("Who pays?", "answered"): "silent"}


# --- rows and columns -----------------------------------------------------------------------------------------------


def test_import_rows_without_columns_leaves_one_blank_column_a_section(simple: Study) -> None:
    imported = rows_in(simple, "row,text\nA,one\nB,two\n")
    sheet = simple.sheets.get()
    assert (sheet.title, [column.name for column in sheet.columns.all()]) == ("Simple", [""])
    assert (imported.sheets, imported.rows, imported.columns) == (1, 2, 0)


def test_rows_whose_text_stands_under_another_heading_are_told_to_be_empty(simple: Study, client: Client) -> None:
    """60 mails came in without their texts, and a green line ended in “Not read: body.”"""
    client.force_login(builders.user("root", superuser=True))
    file = SimpleUploadedFile("mails.csv", b"id,body\nA,Hello\nB,Bye\n")

    page = client.post("/studies/simple/import/rows/", {"rows": file}, follow=True)

    assert (
        "New: 1 contract, 2 clauses. Not read: body. They came without a text, which stands under a heading such as "
        "“text”. Import the file again with one, and they get it."
    ) in page.content.decode()
    assert [message.level_tag for message in page.context["messages"]] == ["warning"]
    assert rows_in(simple, "id,text\nA,Hello\nB,Bye\n").filled == 2


@pytest.mark.parametrize("rows", ["row\nA\n", "row,text,more\nA,,x\n"], ids=["names alone", "a text left empty"])
def test_rows_that_are_to_have_no_text_are_not_complained_of(simple: Study, rows: str) -> None:
    assert not rows_in(simple, rows).lacks_texts


def test_import_rows_again_adds_nothing_and_says_so(simple: Study) -> None:
    rows, columns = "row,text\nA,one\n", "question\nWhat?\n"
    rows_in(simple, rows, columns)
    before = counts()
    again = rows_in(simple, rows, columns)
    assert counts() == before
    assert (again.nothing_new, again.unchanged) == (True, 2)


@pytest.mark.parametrize("large", [False, True])
def test_rows_that_came_with_their_labels_get_their_text_afterwards(
    leases: Leases, monkeypatch: pytest.MonkeyPatch, large: bool
) -> None:
    builders.label(leases.annas[0])
    other = builders.study("other", of=leases.study.scheme)
    labels_in(other, exported(leases.study))
    Row.objects.filter(sheet__study=other).update(title="", url="")  # as files of before have it
    sheet, (first, *rest) = other.sheets.get(), list(Row.objects.filter(sheet__study=other).order_by("position"))
    assert not first.evidence
    labels = answers(other)
    monkeypatch.setattr(rows_and_columns, "is_large", lambda _table: large)
    heading, of_sheet = "sheet,row,title,language,text\n", sheet.title
    file = f"{heading}{of_sheet},{first.name},The lease,en,The rent is due.\n{of_sheet},New,,,Text\n"

    imported = rows_in(other, file)

    assert (imported.filled, imported.rows, imported.nothing_new) == (1, 1, False)
    assert "Rows that were there, and have what they lacked from the file now: 1." in imported.sentences()
    first.refresh_from_db()
    assert (first.title, first.language, first.withdrawn_at) == ("The lease", "en", None)
    assert [block.text for block in first.blocks] == ["The rent is due."]
    assert answers(other) == labels
    assert not Row.objects.filter(pk__in=[row.pk for row in rest]).exclude(evidence=[]).exists()
    assert rows_in(other, file).nothing_new
    # What has a text by now keeps it, and a row that says something else is another.
    with pytest.raises(ImportRefused, match="1 problem"):
        rows_in(other, f"sheet,row,title,language,text\n{sheet.title},{first.name},The lease,en,Another text.\n")
    Row.objects.filter(pk=first.pk).update(evidence=[])
    with pytest.raises(ImportRefused, match="1 problem"):
        rows_in(other, f"sheet,row,title,text\n{sheet.title},{first.name},Another title,The rent is due.\n")


def test_rows_that_came_with_their_labels_are_described_by_files_that_say_nothing_of_their_titles(db: None) -> None:
    scheme = builders.scheme(builders.SCHEME.replace("sections:", "row: {facets: [topic, system]}\nsections:", 1))
    study = builders.study(of=scheme)
    sheet = builders.sheet(study)
    Row.objects.filter(sheet=sheet).update(evidence=[], title="As labelled", url="https://example.org/")
    first, second = sheet.rows.order_by("position")

    def said(row: Row) -> tuple[str, str, list[str], dict[str, str]]:
        row.refresh_from_db()
        return row.title, row.language, [block.text for block in row.blocks], row.facets

    file = f"row,topic,system,text\n{first.name},rent,S1,The rent is due.\n"
    assert rows_in(study, file).filled == 1
    assert said(first) == ("As labelled", "", ["The rent is due."], {"topic": "rent", "system": "S1"})
    assert rows_in(study, file).nothing_new
    assert rows_in(study, f"row,language,topic\n{first.name},en,rent\n{second.name},en,\n").filled == 2
    assert said(first) == ("As labelled", "en", ["The rent is due."], {"topic": "rent", "system": "S1"})
    assert said(second) == ("As labelled", "en", [], {})
    assert rows_in(study, f"row,topic\n{second.name},notice\n").filled == 1
    assert said(second) == ("As labelled", "en", [], {"topic": "notice"})
    with pytest.raises(ImportRefused) as refused:
        rows_in(study, f"row,title,topic,system\n{first.name},,heating,S1\n")
    assert "that differs in: title, topic. Give" in refused.value.problems[0]


def test_import_rows_adds_to_what_is_there_in_the_order_of_the_file(simple: Study) -> None:
    rows_in(simple, "row\nB\n", "question\nWhat?\n")
    rows_in(simple, "row\nB\nC\nA\n", "question\nWho?\n")
    sheet = simple.sheets.get()
    assert [row.name for row in sheet.rows.order_by("position")] == ["B", "C", "A"]
    assert [column.name for column in sheet.columns.order_by("position")] == ["What?", "Who?"]


def test_import_rows_lists_the_problems_of_both_files_and_writes_nothing(simple: Study) -> None:
    rows_in(simple, "row,text\nold,one\n")
    before = counts()
    with pytest.raises(ImportRefused) as refused:
        rows_in(
            simple,
            f"sheet,row,url,text\nSimple,old,,another\nSimple,A,javascript:alert(1),\nSimple,B,,\nSimple,B,,\n,C,,\n"
            f"Simple,{'x' * 201},,\n",
            "section,question,querstion\nquestions,What?,\nquestions,What?,\nquestions,,\nothers,Who?,\nquestions,,x\n",
        )
    assert counts() == before
    assert refused.value.total == 9
    starts = [problem[: problem.index(":")] for problem in refused.value.problems]
    assert starts == [f"rows.csv, line {n}" for n in (2, 3, 5, 6, 7)] + [f"columns.csv, line {n}" for n in (3, 4, 5, 6)]


def test_import_rows_adds_no_columns_to_a_sheet_that_is_being_labelled(leases: Leases) -> None:
    with pytest.raises(ImportRefused, match="1 problem"):
        rows_in(leases.study, None, "sheet,section,duty\nLease,duties,Repair\n")


def test_import_rows_reads_more_rows_than_a_batch(simple: Study) -> None:
    imported = rows_in(simple, "row\n" + "".join(f"{n}\n" for n in range(1201)))
    assert imported.rows == 1201
    assert [row.name for row in Row.objects.order_by("position")[:3]] == ["0", "1", "2"]


# --- export and back ------------------------------------------------------------------------------------------------


def exported(study: Study) -> str:
    return "".join(safe_lines(label_header(study), exported_labels(study)))


def test_gold_that_was_decided_in_the_lens_is_exposed_where_it_is_brought(leases: Leases) -> None:
    """It counted there as gold from a file, though whoever decided had seen what the judge said."""
    builders.label(leases.judges[0], {("Pay rent", "stated"): "stated"})
    label = Label.objects.get()
    gold = Rater.objects.create(study=leases.study, kind=Rater.Kind.GOLD, code="gold")
    builders.label(builders.assignments(gold, leases.sheet)[1], {("Pay rent", "stated"): "stated"})
    cell = {"row": label.assignment.row, "column": label.column, "question": label.question}
    actions.adjudicate(**cell, option=label.option, by=leases.manager)
    other = builders.study("other", of=leases.study.scheme)

    labels_in(other, exported(leases.study))

    golden = Label.objects.filter(assignment__rater__study=other, assignment__rater__kind=Rater.Kind.GOLD)
    assert list(golden.order_by("assignment__row__position").values_list("exposed", flat=True)) == [True, False]


def test_an_export_reads_back_as_the_same_labels(leases: Leases) -> None:
    builders.label(leases.annas[0], note="=HYPERLINK(1)")
    builders.label(leases.boriss[0], {("Inspect", "act"): "found", ("Inspect", "strictness"): "1"})
    builders.label(leases.judges[1], {("Pay rent", "stated"): "implied"})
    # Boris takes the preset back: the import must not fill it in again.
    builders.label(leases.boriss[0], {("Inspect", "party"): None})
    Label.objects.filter(assignment=leases.boriss[0]).update(exposed=True)
    other = builders.study("other", of=leases.study.scheme)

    labels_in(other, exported(leases.study))

    assert answers(other) == answers(leases.study)
    assert Label.objects.filter(assignment__rater__study=other, exposed=True).count() == 2
    assert Counter(other.raters.values_list("code", "kind")) == Counter(leases.study.raters.values_list("code", "kind"))
    assert list(Column.objects.filter(sheet__study=other).values_list("section__key", "position", "name")) == list(
        Column.objects.filter(sheet__study=leases.study)
        .exclude(labels=None)
        .distinct()
        .values_list("section__key", "position", "name")
    )


def test_an_export_tells_columns_of_one_name_apart() -> None:
    study = builders.study("twins", of=builders.scheme(QUESTIONS))
    sheet = actions.add_sheet(
        study=study, title="S", columns={"questions": [{"question": "Who?"}, {"question": "Who?"}]}
    )
    row, rater = builders.row(sheet, "A"), Rater.objects.create(study=study, kind="person", code="ann")
    (assignment,) = actions.assign(rater=rater, rows=[row])
    second = sheet.columns.get(position=1)
    asked = second.section.questions.get()
    said = actions.Answer(column=second, question=asked, option=asked.options.get(key="partly"))
    actions.record(assignment=assignment, answers=[said], key=uuid.uuid4())
    other = builders.study("other", of=study.scheme)
    labels_in(other, exported(study))
    assert [column.position for column in Column.objects.filter(sheet__study=other)] == [1]


def test_simulated_labels_stay_marked_through_export_and_import(simple: Study) -> None:
    labels_in(simple, "rater,row,answer,simulated\nS1,A,answers,yes\n")
    other = builders.study("other", of=simple.scheme)
    labels_in(other, exported(simple))
    assert other.has_simulated_raters


def test_an_export_makes_formulas_harmless_and_says_nothing_of_people(leases: Leases) -> None:
    builders.label(leases.annas[0], note="=cmd|' /C calc'!A0")
    text = exported(leases.study)
    notes = {line["note"] for line in csv.DictReader(io.StringIO(text))}
    assert notes == {"'=cmd|' /C calc'!A0"}
    assert leases.anna.username not in text


def test_an_export_leaves_withdrawn_work_out(leases: Leases) -> None:
    builders.label(leases.annas[0])
    Assignment.objects.filter(pk=leases.annas[0].pk).update(state=Assignment.State.WITHDRAWN)
    assert list(exported_labels(leases.study)) == []


# --- the commands ---------------------------------------------------------------------------------------------------


def test_commands_import_export_and_import_again(simple: Study, tmp_path: Path) -> None:
    rows, columns, labels, out = (tmp_path / name for name in ("rows.csv", "columns.csv", "labels.csv", "out.csv"))
    rows.write_text("row,text\nA,one\n", encoding="utf-8")
    columns.write_text("question\nWhat?\n", encoding="utf-8")
    labels.write_text("who,row,answer\nann,A,partly\n", encoding="utf-8")
    call_command("import_rows", "simple", str(rows), "--columns", str(columns), verbosity=0, stdout=io.StringIO())
    said = io.StringIO()
    call_command("import_labels", "simple", str(labels), "--rater", "who", "--create", stdout=said)
    call_command("export_labels", "simple", "--out", str(out), stdout=io.StringIO())
    assert AuditEvent.objects.get(kind=AuditEvent.Kind.EXPORT).what == "export_labels"
    call_command("import_labels", "simple", str(out), stdout=said)
    assert said.getvalue().splitlines() == [
        "New: 1 rater, 1 label.",
        "Nothing new: all that the file says is in the study already. Not read: updated_at.",
    ]
    for name, text in ((rows, "row,text\n"), (labels, "who,row,answer\n"), (labels, "who,row,answer\nann,A,\n")):
        name.write_text(text, encoding="utf-8")
        command = ["import_rows", "simple", str(name)] if name is rows else ["import_labels", "simple", str(name)]
        said = io.StringIO()
        call_command(*command, *([] if name is rows else ["--rater", "who"]), stdout=said)
        assert said.getvalue().startswith("Nothing came in: below its headings the file says nothing.")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["import_labels", "nowhere", "FILE"], "There is no study “nowhere”"),
        (["import_labels", "simple", "missing.csv"], "missing.csv cannot be read"),
        (["import_labels", "simple", "FILE"], "file.csv, line 2: The study has no sheet “Simple”"),
        (["import_labels", "simple", "FILE", "--answer", "x"], "No column is headed “x”"),
        (["import_labels", "new", "FILE", "--new-study", "N", "--manager", "nobody"], "There is no account “nobody”"),
        (["import_rows", "nowhere", "FILE"], "There is no study “nowhere”"),
        (["export_labels", "nowhere"], "There is no study “nowhere”"),
    ],
)
def test_commands_answer_with_a_sentence(simple: Study, tmp_path: Path, arguments: list[str], sentence: str) -> None:
    file = tmp_path / "file.csv"
    file.write_text("rater,row,answer\nann,A,partly\n", encoding="utf-8")
    with pytest.raises(CommandError, match=sentence):
        call_command(*[str(file) if text == "FILE" else text for text in arguments])


# --- the page -------------------------------------------------------------------------------------------------------


def upload(text: str | bytes, name: str = "labels.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode() if isinstance(text, str) else text)


def test_the_page_imports_labels_and_says_what_came_in(leases: Leases, client_of: ClientOf) -> None:
    text = ACTS + "ann,Clause 1,duties,Insure,stated,implied\n"
    response = client_of(leases.manager).post(
        f"/studies/{leases.study.slug}/import/labels/", {"labels": upload(text), "create": "on"}, follow=True
    )
    assert "New: 1 rater, 1 label." in response.content.decode()


def test_the_page_lists_problems_and_writes_nothing(leases: Leases, client_of: ClientOf) -> None:
    before = counts()
    text = ACTS + "ann,Clause 1,duties,Insure,stated,<b>\n"
    response = client_of(leases.manager).post(
        f"/studies/{leases.study.slug}/import/labels/", {"labels": upload(text), "create": "on"}
    )
    page = response.content.decode()
    assert "The import has 1 problem, so nothing was changed." in page
    assert "labels.csv, line 2: “&lt;b&gt;” is no answer to “Stated”" in page
    assert counts() == before


def test_the_page_imports_rows_and_columns(simple: Study, client_of: ClientOf) -> None:
    manager = builders.user("mara")
    actions.add_member(study=simple, user=manager, role=builders.Role.MANAGER)
    files = {"rows": upload("row,text\nA,one\n"), "columns": upload("question\nWhat?\n")}
    response = client_of(manager).post("/studies/simple/import/rows/", files, follow=True)
    assert "New: 1 contract, 1 clause, 1 column." in response.content.decode()


def test_the_page_imports_rows_of_a_workbook(leases: Leases, client_of: ClientOf) -> None:
    book, made = Workbook(), io.BytesIO()
    for line in (["row", "text"], ["Clause 9", "Die Miete ist „fällig“;\nsofort."]):
        book.worksheets[0].append(line)
    book.save(made)
    files = {"rows": upload(made.getvalue(), "rows.xlsx")}
    response = client_of(leases.manager).post(f"/studies/{leases.study.slug}/import/rows/", files, follow=True)
    assert "New: 1 clause." in response.content.decode()
    assert [block.text for block in Row.objects.get(name="Clause 9").blocks] == ["Die Miete ist „fällig“;", "sofort."]


def test_a_workbook_brings_its_sheet_of_columns_too(leases: Leases, client_of: ClientOf, tmp_path: Path) -> None:
    book, file = Workbook(), tmp_path / "both.xlsx"
    for line in (["sheet", "row", "text"], ["Loan", "Clause 1", "You pay."]):
        book.worksheets[0].append(line)
    columns = book.create_sheet("Columns")
    for line in (["sheet", "section", "act", "party"], ["Loan", "acts", "Sign", "tenant"]):
        columns.append(line)
    book.save(file)
    sent = {"rows": upload(file.read_bytes(), "both.xlsx")}
    page = client_of(leases.manager).post(f"/studies/{leases.study.slug}/import/rows/", sent, follow=True)
    assert "New: 1 contract, 1 clause, 1 column." in page.content.decode()
    said = io.StringIO()
    call_command("import_rows", leases.study.slug, str(file), stdout=said)
    assert "Nothing new" in said.getvalue()
    assert leases.study.sheets.get(title="Loan").columns.filter(facets__act="Sign").exists()


def test_the_page_asks_for_no_columns_where_rows_are_asked_about_as_a_whole(simple: Study, client_of: ClientOf) -> None:
    manager = builders.user("mara")
    actions.add_member(study=simple, user=manager, role=builders.Role.MANAGER)
    text = QUESTIONS.replace("    column: {title: Question, facets: [question]}\n", "").replace(
        "version: 1", "version: 2"
    )
    whole = builders.study("whole", of=builders.scheme(text), by=manager)
    said = [
        client_of(manager).get(f"/studies/{study.slug}/import/").content.decode().count("<pre>sheet,section,")
        for study in (simple, whole)
    ]
    assert said == [1, 0]


def test_the_page_names_no_kinds_of_evidence_of_other_studies(leases: Leases, client_of: ClientOf) -> None:
    page = client_of(leases.manager).get(f"/studies/{leases.study.slug}/import/").content.decode()
    assert ("<code>paragraph</code>" in page, "<code>ingredient</code>" in page) == (True, False)


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({}, "Choose a file of rows, a file of columns, or both."),
        (
            {"rows": upload(b"title,text\nA,B\n")},
            "needs a column headed “row” or “id”, with the name of each. This one has: title",
        ),
        ({"rows": upload(b'{"text": "B"}\n')}, "needs a column headed “row” or “id”"),
        ({"rows": upload(b'{"row": "A", "text": "B"}\nC\n')}, "Line 2 of “labels.csv” is no JSON object"),
        ({"rows": upload(b"row\n\xff\xfe\n")}, "is not UTF-8 text"),
        ({"rows": upload(b"x" * 3_000_000)}, "at most 2 MB go in at once"),
    ],
    ids=["nothing", "no heading", "JSON without a name", "no JSON from line 2 on", "no text", "too large"],
)
@override_settings(PALATE_MAX_IMPORT_BYTES=2 * 2**20)
def test_the_page_says_why_a_file_is_refused(
    leases: Leases, client_of: ClientOf, files: dict[str, Any], sentence: str
) -> None:
    response = client_of(leases.manager).post(f"/studies/{leases.study.slug}/import/rows/", files)
    assert sentence in response.content.decode()


def test_tasks_of_another_program_become_rows(leases: Leases, client_of: ClientOf) -> None:
    tasks = '[{"id": 5, "data": {"text": "The tenant pays.", "lang": "en"}}]'
    page = client_of(leases.manager).post(
        f"/studies/{leases.study.slug}/import/rows/", {"rows": upload(tasks, "tasks.json")}, follow=True
    )

    assert "New: 1 clause." in page.content.decode()
    row = leases.sheet.rows.get(name="5")
    assert [block["text"] for block in row.evidence] == ["The tenant pays."]


def test_rows_come_with_their_facets(db: None) -> None:
    text = builders.SCHEME.replace("sections:", "row: {facets: [engine, {key: writer, hidden: true}]}\nsections:", 1)
    study = builders.study(of=builders.scheme(text))
    file = "row,facet_engine,writer,facet_rank\nA,Google,W1,1\nB, Bing  Web ,,2\n"

    imported = rows_in(study, file)

    assert imported.unread == ("facet_rank",)
    assert dict(Row.objects.values_list("name", "facets")) == {
        "A": {"engine": "Google", "writer": "W1"},
        "B": {"engine": "Bing Web"},
    }
    assert rows_in(study, file).nothing_new
    assert rows_in(study, "row\nA\n").nothing_new  # a file that says nothing of them takes nothing back
    with pytest.raises(ImportRefused) as refused:
        rows_in(study, "row,engine\nA,Bing\n")
    assert "“A” that differs in: engine." in refused.value.problems[0]


def test_of_two_files_under_one_name_none_is_read(leases: Leases, api_of: ApiOf) -> None:
    files = [SimpleUploadedFile(f"{n}.csv", b"row,text\nA,one\n") for n in (1, 2)]
    response = api_of(leases.manager).post(reverse("api:import-rows", args=[leases.study.slug]), {"rows": files})

    sentence = "2 files were sent under this name, and one is read at a time."
    assert (response.status_code, response.json()) == (400, {"rows": [sentence]})


def test_labels_that_are_given_as_rows_are_told_where_they_belong(leases: Leases, client_of: ClientOf) -> None:
    text = "sheet,row,rater,question,answer\n" + "Lease,Clause 1,ann,stated,stated\n" * 3
    file = SimpleUploadedFile("labels.csv", text.encode())
    url = reverse("annotation:import-rows", args=[leases.study.slug])
    shown = client_of(leases.manager).post(url, {"rows": file}).content.decode()
    assert "This is a file of labels: it has the columns “rater” and “answer”. Give it under “Labels”." in shown
    assert "has the row “Clause 1” on line" not in shown
