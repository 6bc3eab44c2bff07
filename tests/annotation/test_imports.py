"""Imports into the study of `tests.builders` and into others. The file of crowd labels is read where it is present."""

from __future__ import annotations

import csv
import io
import os
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db.models import F
from django.test import Client, override_settings

from annotation import actions
from annotation.evidence import Block
from annotation.exports import exported_labels, label_header, safe_lines
from annotation.imports import Imported, ImportRefused, import_rows
from annotation.label_imports import import_labels, study_from_labels
from annotation.label_reading import LabelImport
from annotation.models import Assignment, Column, Label, LabelEvent, Rater, Row, Sheet, Study, User
from annotation.scheme import load_scheme
from annotation.tables import Table, TableError, open_table
from tests import builders
from tests.builders import Leases

pytestmark = pytest.mark.django_db

QUESTIONS = """\
key: clause-questions
version: 1
title: Questions to contracts
words: {sheet: contract, sheets: contracts, row: clause, rows: clauses}
sections:
  - key: questions
    title: Questions
    column: {title: Question, facets: [question]}
    questions:
      - key: answered
        title: Does the clause answer it?
        options:
          - {key: answers, label: Answers}
          - {key: partly, label: Answers in part}
          - {key: silent, label: Silent}
"""
NUMBER_OF = (Sheet, Row, Column, Rater, Assignment, Label, LabelEvent)


def table(text: str, name: str = "file.csv") -> Table:
    return open_table(io.BytesIO(text.encode()), name=name, max_bytes=2**20)


def rows_in(study: Study, rows: str | None, columns: str | None = None) -> Imported:
    return import_rows(
        study=study,
        rows=table(rows, "rows.csv") if rows else None,
        columns=table(columns, "columns.csv") if columns else None,
    )


def labels_in(study: Study, text: str, **how: Any) -> Imported:
    return import_labels(study=study, table=table(text), how=LabelImport(**{"create": True, **how}))


def problems_of(study: Study, text: str, **how: Any) -> list[str]:
    """The sentences of a refused import, that nothing was written included."""
    before = counts()
    with pytest.raises(ImportRefused) as refused:
        labels_in(study, text, **how)
    assert counts() == before
    return refused.value.problems


def counts() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in NUMBER_OF}


def answers(study: Study) -> set[tuple[str, ...]]:
    """All labels of a study by names: sheet, row, rater, column, question, option, note, preset and exposed or not."""
    labels = Label.objects.filter(assignment__rater__study=study).values_list(
        "column__sheet__title",
        "assignment__row__name",
        "assignment__rater__code",
        "column__name",
        "question__key",
        "option__key",
        "note",
        "preset",
        "exposed",
    )
    return {tuple(str(value) for value in label) for label in labels}


@pytest.fixture
def simple() -> Study:
    """A study of one question with three options, nothing in it."""
    return builders.study("simple", of=builders.scheme(QUESTIONS))


@pytest.fixture
def contracts() -> Study:
    """The clauses of `tests.builders` without anybody: one sheet, two rows, two sections."""
    made = builders.study("contracts")
    builders.sheet(made)
    return made


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


def test_import_rows_again_adds_nothing_and_says_so(simple: Study) -> None:
    rows, columns = "row,text\nA,one\n", "question\nWhat?\n"
    rows_in(simple, rows, columns)
    before = counts()
    again = rows_in(simple, rows, columns)
    assert counts() == before
    assert (again.nothing_new, again.unchanged) == (True, 2)


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


# --- labels ---------------------------------------------------------------------------------------------------------


def test_import_labels_creates_what_is_missing(simple: Study) -> None:
    imported = labels_in(simple, "rater,row,answer,note\nann,A,Answers,so\nbob,A,SILENT,\nann,B,partly,\n")
    assert answers(simple) == {
        ("Simple", "A", "ann", "", "answered", "answers", "so", "False", "False"),
        ("Simple", "A", "bob", "", "answered", "silent", "", "False", "False"),
        ("Simple", "B", "ann", "", "answered", "partly", "", "False", "False"),
    }
    assert (imported.sheets, imported.rows, imported.raters, imported.labels) == (1, 2, 2, 3)


def test_imported_work_is_submitted_and_has_its_history(simple: Study) -> None:
    labels_in(simple, "rater,row,answer\nann,A,Answers\n")
    (event,) = LabelEvent.objects.all()
    assert (event.before, event.after and event.after.key) == (None, "answers")
    assert event.assignment.state == Assignment.State.SUBMITTED


def test_imported_raters_have_no_login_and_get_no_new_work(simple: Study) -> None:
    labels_in(simple, "rater,row,answer\nann,A,Answers\n")
    rater = simple.raters.get()
    assert (rater.kind, rater.user, rater.active, rater.simulated) == ("person", None, False, False)


def test_import_labels_without_create_names_what_is_missing(contracts: Study) -> None:
    text = (
        "rater,sheet,row,section,column,question,answer\nann,Sale,Clause 1,duties,Insure,stated,stated\n"
        "ann,Lease,Clause 9,duties,Insure,stated,stated\nann,Lease,Clause 1,duties,Repair,stated,stated\n"
        "ann,Lease,Clause 1,duties,Insure,stated,stated\n"
    )
    assert problems_of(contracts, text, create=False) == [
        "file.csv, line 2: The study has no sheet “Sale”. Correct the name, or let the import create it.",
        "file.csv, line 3: “Lease” has no row “Clause 9”. Correct the name, or let the import create it.",
        "file.csv, line 4: “Lease” has no column “Repair”. Correct the name, or let the import create it.",
        "file.csv, line 5: The study has no rater “ann”. Correct the name, or let the import create it.",
    ]


def test_import_labels_names_answers_questions_and_sections_that_do_not_exist(contracts: Study) -> None:
    text = (
        "rater,row,section,column,question,answer\nann,Clause 1,duties,Insure,stated,perhaps\n"
        "ann,Clause 1,duties,Insure,who,stated\nann,Clause 1,rights,Insure,stated,stated\n"
        "ann,Clause 1,,Insure,,stated\n"
        "ann,Clause 1,acts,Inspect,,found\n"
    )
    assert problems_of(contracts, text) == [
        "file.csv, line 2: “perhaps” is no answer to “Stated”; it takes: Stated, Implied, Not stated.",
        "file.csv, line 3: “who” is no question of “duties”; its questions are: stated.",
        "file.csv, line 4: “rights” is no section of this study; its sections are: duties, acts.",
        "file.csv, line 5: The study has several sections, and a column “section” must say which: duties, acts.",
        "file.csv, line 6: “acts” has several questions. A column “question” must say which: act, party, strictness.",
    ]


def test_import_labels_takes_a_scale_by_its_numbers(contracts: Study) -> None:
    head = "rater,row,section,column,question,answer\n"
    labels_in(contracts, head + "ann,Clause 1,acts,Inspect,act,found\nann,Clause 1,acts,Inspect,strictness,3.0\n")
    assert Label.objects.get(question__key="strictness").option.value == 3


def test_import_labels_names_the_second_answer_of_a_rater_to_a_cell(simple: Study) -> None:
    text = "rater,row,answer\nann,A,answers\nbob,A,answers\nann,A,silent\n"
    assert problems_of(simple, text) == [
        "file.csv, line 4: “ann” answers “Does the clause answer it?” of “A” on line 2 already."
    ]


def test_import_labels_takes_repeats_apart(simple: Study) -> None:
    labels_in(simple, "rater,row,answer,repeat\nann,A,answers,1\nann,A,silent,2\n")
    assert sorted(Assignment.objects.values_list("repeat", flat=True)) == [1, 2]


def test_import_labels_counts_every_problem_and_lists_the_first_fifty(simple: Study) -> None:
    with pytest.raises(ImportRefused) as refused:
        labels_in(simple, "rater,row,answer\n" + "".join(f"ann,{n},wrong {n}\n" for n in range(70)))
    assert (refused.value.total, len(refused.value.problems), refused.value.left) == (70, 50, 20)


def test_import_labels_folds_a_problem_that_many_lines_share(simple: Study) -> None:
    (problem,) = problems_of(simple, "rater,row,answer\n" + "".join(f"ann,{n},wrong\n" for n in range(70)))
    assert problem.startswith("file.csv, 70 lines (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …): “wrong” is no answer")


def test_import_labels_leaves_out_and_counts_what_was_not_answered(simple: Study) -> None:
    imported = labels_in(simple, "rater,row,answer\nann,A,\nann,B,NA\nann,C,answers\n")
    assert (imported.labels, imported.empty, imported.rows) == (1, 2, 1)


def test_import_labels_of_the_wide_form(simple: Study) -> None:
    imported = labels_in(simple, "item;ann;bob\nA;answers;silent\nB;;partly\n", wide=True)
    assert (imported.labels, imported.empty) == (3, 1)
    assert {(row, rater, option) for _s, row, rater, _c, _q, option, *_ in answers(simple)} == {
        ("A", "ann", "answers"),
        ("A", "bob", "silent"),
        ("B", "bob", "partly"),
    }


def test_gold_becomes_a_rater_of_its_kind(simple: Study) -> None:
    labels_in(simple, "rater,row,answer,gold\nann,A,answers,silent\nbob,A,partly,silent\n")
    gold = simple.raters.get(kind=Rater.Kind.GOLD)
    assert (gold.code, [label.option.key for label in Label.objects.filter(assignment__rater=gold)]) == (
        "gold",
        ["silent"],
    )


def test_contradictory_gold_is_refused(simple: Study) -> None:
    text = "rater,row,answer,gold\nann,A,answers,silent\nbob,A,partly,answers\n"
    assert problems_of(simple, text) == ["file.csv, line 3: The gold of “A” is “answers” here and “silent” on line 2."]


def test_import_labels_makes_columns_by_name_in_place_of_the_blank_one(simple: Study) -> None:
    labels_in(simple, "rater,row,column,answer\nann,A,What?,answers\nann,A,Who?,silent\n")
    assert [(column.name, column.facets) for column in simple.sheets.get().columns.all()] == [
        ("What?", {"question": "What?"}),
        ("Who?", {"question": "Who?"}),
    ]


def test_a_blank_column_that_the_file_answers_too_stays(simple: Study) -> None:
    labels_in(simple, "rater,row,column,answer\nann,A,,answers\nann,A,Who?,silent\n")
    assert sorted(column.name for column in simple.sheets.get().columns.all()) == ["", "Who?"]


def test_a_column_of_several_facets_needs_them_to_be_made(contracts: Study) -> None:
    head = "rater,row,section,column,question,answer"
    assert problems_of(contracts, f"{head}\nann,Clause 1,acts,Sue · tenant,act,found\n") == [
        "file.csv, line 2: To make the column “Sue · tenant”, the file needs these columns: facet_act, facet_party."
    ]
    labels_in(contracts, f"{head},facet_act,facet_party\nann,Clause 1,acts,Sue · tenant,act,found,Sue,tenant\n")
    assert Column.objects.get(name="Sue · tenant").facets == {"act": "Sue", "party": "tenant"}


# --- labels and the rules of the scheme -----------------------------------------------------------------------------

ACTS = "rater,row,section,column,question,answer\n"


def test_an_answer_that_is_not_asked_is_refused(contracts: Study) -> None:
    text = (
        ACTS + "ann,Clause 1,acts,Give notice · tenant,act,absent\nann,Clause 1,acts,Give notice · tenant,party,same\n"
    )
    assert problems_of(contracts, text) == [
        "file.csv, line 3: “Party: Give notice · tenant” is not asked when “Act” is “Absent”."
    ]


def test_a_preset_is_filled_in_where_the_file_says_nothing(contracts: Study) -> None:
    imported = labels_in(contracts, ACTS + "ann,Clause 1,acts,Inspect,act,found\n")
    preset = Label.objects.get(preset=True)
    assert (preset.question.key, preset.option.key, imported.labels, imported.presets) == ("party", "no-party", 1, 1)


def test_no_preset_is_filled_in_where_it_is_not_asked(contracts: Study) -> None:
    assert labels_in(contracts, ACTS + "ann,Clause 1,acts,Inspect,act,absent\n").presets == 0


def test_a_rule_holds_across_files(contracts: Study) -> None:
    labels_in(contracts, ACTS + "ann,Clause 1,acts,Give notice · tenant,act,absent\n")
    assert problems_of(contracts, ACTS + "ann,Clause 1,acts,Give notice · tenant,strictness,2\n") == [
        "file.csv, line 2: “Strictness: Give notice · tenant” is not asked when “Act” is “Absent”."
    ]


# --- a second import ------------------------------------------------------------------------------------------------


def test_the_same_file_again_adds_nothing_and_says_so(contracts: Study) -> None:
    text = ACTS + "ann,Clause 1,acts,Inspect,act,found\nann,Clause 2,duties,Insure,stated,implied\n"
    labels_in(contracts, text)
    before = counts()
    again = labels_in(contracts, text)
    assert counts() == before
    assert again.sentences() == ["Nothing new: all that the file says is in the study already."]


def test_a_further_question_of_the_same_raters_is_added(contracts: Study) -> None:
    labels_in(contracts, ACTS + "ann,Clause 1,acts,Give notice · tenant,act,found\n")
    imported = labels_in(contracts, ACTS + "ann,Clause 1,acts,Give notice · tenant,party,same\n")
    assert (imported.labels, Assignment.objects.count()) == (1, 1)


def test_a_finished_answer_that_differs_is_refused_and_the_sentence_says_how_to_go_on(simple: Study) -> None:
    labels_in(simple, "rater,row,answer\nann,A,answers\n")
    assert problems_of(simple, "rater,row,answer\nann,A,silent\n") == [
        "file.csv, line 2: “ann” has answered “Does the clause answer it?” of “A” with “Answers”; the file says "
        "“Silent”. A finished answer is kept: correct the line, or let the import replace answers."
    ]


def test_replace_changes_the_answer_keeps_its_history_and_clears_what_is_not_asked_any_more(contracts: Study) -> None:
    labels_in(contracts, ACTS + "ann,Clause 1,acts,Inspect,act,found\nann,Clause 1,acts,Inspect,strictness,2\n")
    imported = labels_in(contracts, ACTS + "ann,Clause 1,acts,Inspect,act,absent\n", replace=True)
    (label,) = Label.objects.all()
    assert (label.option.key, label.revision) == ("absent", 2)
    # the strictness, and the party that was preset
    assert (imported.changed, imported.cleared) == (1, 2)
    changes = LabelEvent.objects.filter(before__isnull=False).values_list("question__key", "before__key", "after__key")
    assert set(changes) == {("act", "found", "absent"), ("strictness", "2", None), ("party", "no-party", None)}


@pytest.mark.parametrize("replace", [False, True])
def test_a_file_does_not_speak_for_a_person_with_a_login(leases: Leases, replace: bool) -> None:
    builders.label(leases.annas[0])
    actions.submit(assignment=leases.annas[0])
    text = ACTS + "A1,Clause 1,duties,Insure,stated,absent\nA1,Clause 2,duties,Insure,stated,absent\n"
    problems = problems_of(leases.study, text, replace=replace)
    assert [problem[: problem.index("login")] for problem in problems] == [
        "file.csv, line 2: “A1” labels here with a ",
        "file.csv, line 3: “A1” labels here with a ",
    ]


def test_a_file_that_says_what_a_person_said_here_changes_nothing(leases: Leases) -> None:
    builders.label(leases.annas[0])
    actions.submit(assignment=leases.annas[0])
    assert labels_in(leases.study, ACTS + "A1,Clause 1,duties,Insure,stated,implied\n").nothing_new


def test_a_file_adds_nothing_to_a_judge_of_the_study(leases: Leases) -> None:
    (problem,) = problems_of(leases.study, ACTS + "J1,Clause 1,duties,Insure,stated,absent\n")
    assert "is a judge of this study already" in problem


def test_a_file_makes_no_column_on_a_sheet_where_people_work(leases: Leases) -> None:
    (problem,) = problems_of(leases.study, ACTS + "x,Clause 1,duties,Repair,stated,absent\n")
    assert "“Lease” is being labelled, so its columns stay as they are, and “Repair” is none of them" in problem


# --- raters ---------------------------------------------------------------------------------------------------------


def test_pseudonyms_number_the_raters_in_the_order_of_the_file(simple: Study) -> None:
    labels_in(simple, "rater,row,answer,gold\nzoe,A,answers,silent\nann,A,silent,silent\n", pseudonyms=True)
    labels = {(rater, option) for _s, _r, rater, _c, _q, option, *_ in answers(simple)}
    assert labels == {("R1", "answers"), ("R2", "silent"), ("gold", "silent")}


def test_pseudonyms_of_the_same_file_again_add_nothing(simple: Study) -> None:
    text = "rater,row,answer\nzoe,A,answers\nann,A,silent\n"
    labels_in(simple, text, pseudonyms=True)
    assert labels_in(simple, text, pseudonyms=True).nothing_new


def test_pseudonyms_of_another_file_are_refused_for_they_could_mix_up_people(simple: Study) -> None:
    labels_in(simple, "rater,row,answer\nzoe,A,answers\n", pseudonyms=True)
    (problem,) = problems_of(simple, "rater,row,answer\nann,B,answers\n", pseudonyms=True)
    assert problem.startswith("file.csv: The study has raters R1, R2, … already")


def test_a_rater_keeps_its_kind(simple: Study) -> None:
    text = "rater,row,answer,rater_kind\nann,A,answers,person\nann,B,answers,judge\n"
    assert problems_of(simple, text) == [
        "file.csv, line 3: “ann” is of the kind “person” already. Give one of the two another name."
    ]


def test_names_that_are_too_long_are_refused(simple: Study) -> None:
    assert problems_of(simple, f"rater,row,answer\n{'r' * 81},A,answers\nann,{'x' * 201},answers\n") == [
        f"file.csv, line 2: “{'r' * 40}…” is too long: at most 80 characters fit.",
        f"file.csv, line 3: “{'x' * 40}…” is too long: at most 200 characters fit.",
    ]


# --- a new study ----------------------------------------------------------------------------------------------------


def new_study(text: str, **how: Any) -> tuple[Study, Imported]:
    return study_from_labels(slug="new", title="New", table=table(text), how=LabelImport(**how), by=None)


def test_study_from_labels_asks_one_question_of_the_answers_found() -> None:
    study, imported = new_study("worker,item,response\nann,A,1\nbob,A,2\n")
    section = study.scheme.parsed.sections[0]
    assert (section.questions[0].title, [o.value for o in section.questions[0].options]) == ("Response", [1, 2])
    assert (imported.labels, [sheet.title for sheet in study.sheets.all()]) == (2, ["New"])


def test_study_from_labels_of_a_file_that_is_refused_leaves_nothing() -> None:
    before = counts()
    with pytest.raises(ImportRefused):
        new_study("worker,item,response\nann,A,1\nbob,A,2\nann,A,2\n")
    assert (counts(), Study.objects.count()) == (before, 0)


def test_study_from_labels_refuses_several_questions() -> None:
    with pytest.raises(actions.Refused, match="several questions"):
        new_study("rater,row,question,answer\nann,A,one,1\nann,A,two,2\n")


def test_study_from_labels_refuses_too_many_answers() -> None:
    with pytest.raises(TableError, match="more than 10 different answers"):
        new_study("rater,row,answer\n" + "".join(f"ann,{n},{n * 10}\n" for n in range(11)))


def test_study_from_labels_refuses_an_address_that_is_taken(simple: Study) -> None:
    with pytest.raises(actions.Refused, match="There is a study “simple” already"):
        study_from_labels(
            slug="simple", title="New", table=table("rater,row,answer\na,A,1\nb,A,2\n"), how=LabelImport(), by=None
        )


# --- export and back ------------------------------------------------------------------------------------------------


def exported(study: Study) -> str:
    return "".join(safe_lines(label_header(study), exported_labels(study)))


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
    call_command("import_labels", "simple", str(out), stdout=said)
    assert said.getvalue().splitlines() == [
        "New: 1 rater, 1 label.",
        "Nothing new: all that the file says is in the study already.",
    ]


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

ClientOf = Callable[[User], Client]


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
    assert "New: 1 sheet, 1 row, 1 column." in response.content.decode()


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({}, "Choose a file of rows, a file of columns, or both."),
        ({"rows": upload(b"row\n\xff\xfe\n")}, "is not UTF-8 text"),
        ({"rows": upload(b"x" * 3_000_000)}, "at most 2 MB go in at once"),
    ],
    ids=["nothing", "no text", "too large"],
)
@override_settings(PALATE_MAX_IMPORT_BYTES=2 * 2**20)
def test_the_page_says_why_a_file_is_refused(
    leases: Leases, client_of: ClientOf, files: dict[str, Any], sentence: str
) -> None:
    response = client_of(leases.manager).post(f"/studies/{leases.study.slug}/import/rows/", files)
    assert sentence in response.content.decode()


# --- a real file ----------------------------------------------------------------------------------------------------


def crowd_file() -> Path:
    folders: Sequence[Path] = [
        Path(os.environ.get("PALATE_SHARED_DATA", "")),
        *(parent / "shared" / "data" for parent in Path(__file__).resolve().parents),
    ]
    for folder in folders:
        if (file := folder / "crowd-labels" / "temp.standardized.tsv").is_file():
            return file
    pytest.skip("the crowd labels are not here: set PALATE_SHARED_DATA to the folder that holds crowd-labels")


def test_the_crowd_labels_go_in_by_one_command_and_a_second_time_nothing_changes() -> None:
    file = crowd_file()
    call_command("import_labels", "rte", str(file), "--new-study", "Order in time", stdout=io.StringIO())

    study = Study.objects.get(slug="rte")
    people = Label.objects.filter(assignment__rater__study=study, assignment__rater__kind="person")
    gold = Label.objects.filter(assignment__rater__study=study, assignment__rater__kind="gold")
    assert Row.objects.filter(sheet__study=study).count() == 462
    assert study.raters.people().count() == 76
    assert (people.count(), gold.count()) == (4620, 462)
    assert set(Counter(people.values_list("assignment__row", flat=True)).values()) == {10}
    right = people.filter(
        assignment__row__assignments__rater__kind="gold",
        assignment__row__assignments__labels__option=F("option"),
    )
    with file.open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream, delimiter="\t"))
    assert people.filter(option__value=2).count() == sum(line["response"] == "2" for line in lines) == 2442
    assert right.count() == sum(line["response"] == line["gold"] for line in lines)

    before, said = counts(), io.StringIO()
    call_command("import_labels", "rte", str(file), stdout=said)
    assert counts() == before
    assert said.getvalue().startswith("Nothing new")
