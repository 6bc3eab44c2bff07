"""Labels made elsewhere, into studies that are there and new ones. The file of crowd labels is read where it lies."""

from __future__ import annotations

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db.models import F
from django.urls import reverse

from annotation import actions
from annotation.exchange.json_tables import open_labels
from annotation.exchange.label_imports import import_labels
from annotation.exchange.label_reading import LabelImport
from annotation.exchange.new_studies import study_from_labels
from annotation.exchange.row_imports import Imported, ImportRefused
from annotation.models import Assignment, Column, Label, LabelEvent, Question, Rater, Row, Study
from tests import builders
from tests.annotation.importing import ACTS, answers, counts, labels_in, problems_of, table
from tests.builders import ApiOf, Leases

pytestmark = pytest.mark.django_db

SORTS = """\
key: sorts
version: 1
title: Sorts
sections:
  - key: sorts
    title: Sorts
    column: {title: About, facets: [about]}
    questions:
      - {key: sort, title: Sort, options: [{key: na, label: NA}, {key: other, label: Other}]}
      - {key: sure, title: Sure, options: [{key: "yes", label: "Yes"}, {key: "no", label: "No"}]}
"""


# --- labels ---------------------------------------------------------------------------------------------------------


def test_import_labels_creates_what_is_missing(simple: Study) -> None:
    imported = labels_in(simple, "rater,row,answer,note\nann,A,Answers,so\nbob,A,SILENT,\nann,B,partly,\n")
    assert answers(simple) == {
        ("Simple", "A", "ann", "", "answered", "answers", "so", "False", "False"),
        ("Simple", "A", "bob", "", "answered", "silent", "", "False", "False"),
        ("Simple", "B", "ann", "", "answered", "partly", "", "False", "False"),
    }
    assert (imported.sheets, imported.rows, imported.raters, imported.labels) == (1, 2, 2, 3)


def test_a_file_that_says_neither_who_nor_what_is_told_so(api_of: ApiOf, tmp_path: Path) -> None:
    """As doccano has it: an object a line, with a text and a label."""
    lines = '{"id": 1, "text": "…", "label": "yes"}\n{"id": 2, "text": "…", "label": "no"}\n'
    study = builders.study("sorts", of=builders.scheme(SORTS), by=builders.user("mara"))
    how = LabelImport(create=True, headings={"row": "id"}, every={"rater": "doc", "question": "Sure"})
    stream = io.BytesIO(lines.encode())
    imported = import_labels(study=study, table=open_labels(stream, name="d.jsonl", max_bytes=2**20), how=how)
    said = {("1", "doc", "sure", "yes"), ("2", "doc", "sure", "no")}
    assert {(row, rater, question, option) for _s, row, rater, _c, question, option, *_ in answers(study)} == said
    assert (imported.labels, imported.unread) == (2, ("text",))

    def again(**sent: str) -> Any:
        file = SimpleUploadedFile("d.jsonl", lines.encode())
        address = reverse("api:import-labels", args=["sorts"])
        return api_of(study.memberships.earliest("pk").user).post(
            address, {"labels": file, "row": "id", **sent}, format="multipart"
        )

    told = again(every_rater="doc", every_question="sure")
    assert (told.status_code, told.json()["labels"]) == (201, 0)
    twice = again(every_rater="doc", rater="text")
    assert (twice.status_code, list(twice.json())) == (400, ["every_rater"])
    (tmp_path / "d.jsonl").write_text(lines, encoding="utf-8")
    asked = ["--row", "id", "--every-rater", "other", "--every-question", "sure", "--create"]
    call_command("import_labels", "sorts", str(tmp_path / "d.jsonl"), *asked, stdout=io.StringIO())
    assert len(answers(study)) == 4


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


def test_gold_may_be_an_option_that_is_called_as_nothing_is_elsewhere() -> None:
    """“NA” of a cell that has such an option is its gold; of one that has not, nothing."""
    text = (
        "rater,row,question,answer,gold\nann,A,sort,NA,NA\nbob,A,sort,other,NA\nann,A,sure,yes,NA\nbob,A,sure,yes,yes\n"
    )
    study = builders.study("sorts", of=builders.scheme(SORTS))
    imported = labels_in(study, text)
    gold = Label.objects.filter(assignment__rater__kind=Rater.Kind.GOLD)
    assert {(label.question.key, label.code) for label in gold} == {("sort", "na"), ("sure", "yes")}
    assert (imported.labels, imported.empty) == (6, 1)


def test_import_labels_of_the_wide_form(simple: Study) -> None:
    imported = labels_in(simple, "item;ann;bob\nA;answers;silent\nB;;partly\n", wide=True)
    assert (imported.labels, imported.empty) == (3, 1)
    assert {(row, rater, option) for _s, row, rater, _c, _q, option, *_ in answers(simple)} == {
        ("A", "ann", "answers"),
        ("A", "bob", "silent"),
        ("B", "bob", "partly"),
    }


def study_of(scheme: str) -> Study:
    return builders.study("sorts", of=builders.scheme(scheme))


def said(study: Study) -> set[tuple[str, ...]]:
    """Row, rater, question, option and note of each label."""
    return {(row, rater, question, option, note) for _s, row, rater, _c, question, option, note, *_ in answers(study)}


@pytest.mark.parametrize("sort", ["sort", "Sort", "sorts__sort"])
def test_each_question_may_have_a_column_of_its_own(sort: str) -> None:
    """As other programs export: a line is a rater at an item."""
    text = f"worker,item,{sort},Sure,comment,lead_time\nann,A,,yes,because,12\nbob,A,other,no,,3\n"
    study = study_of(SORTS)
    imported = labels_in(study, text)

    assert (imported.labels, imported.empty, imported.unread) == (3, 1, ("lead_time",))
    assert said(study) == {
        ("A", "ann", "sure", "yes", "because"),
        ("A", "bob", "sort", "other", ""),
        ("A", "bob", "sure", "no", ""),
    }


def test_a_question_goes_before_another_meaning_of_its_heading() -> None:
    study = study_of(SORTS.replace("key: sort,", "key: rating,").replace("key: sure,", "key: reason,"))
    labels_in(study, "worker,item,rating,reason\nann,A,other,no\n")
    assert said(study) == {("A", "ann", "rating", "other", ""), ("A", "ann", "reason", "no", "")}


def test_where_a_column_has_the_answers_no_other_one_has() -> None:
    study = study_of(SORTS)
    imported = labels_in(study, "rater,row,question,answer,sort\nann,A,sure,no,other\n")
    assert (said(study), imported.unread) == ({("A", "ann", "sure", "no", "")}, ("sort",))


def test_a_line_of_answers_by_nobody_is_a_problem() -> None:
    assert problems_of(study_of(SORTS), "rater,row,sort,sure\n,A,other,no\n") == [
        "file.csv, line 2: This line names no rater."
    ]


def from_label_studio(study: Study, *controls: str) -> Imported:
    """Import one task, of which ann said “Other” at each of these controls."""
    results = [{"from_name": name, "type": "choices", "value": {"choices": ["Other"]}} for name in controls]
    tasks = [{"id": 7, "data": {"text": "A text."}, "annotations": [{"completed_by": "ann", "result": results}]}]
    file = open_labels(io.BytesIO(json.dumps(tasks).encode()), name="tasks.json", max_bytes=2**20)
    return import_labels(study=study, table=file, how=LabelImport(create=True))


@pytest.mark.parametrize("control", ["sort", "Sort", "sorts__sort"])
def test_a_control_of_label_studio_is_the_question_that_it_is_called_as(control: str) -> None:
    study = study_of(SORTS)
    from_label_studio(study, control)
    assert said(study) == {("7", "ann", "sort", "other", "")}


def test_a_control_of_label_studio_may_have_an_underscore_where_the_question_has_a_hyphen() -> None:
    study = study_of(SORTS.replace("key: sort,", "key: sort-of-it,").replace("title: Sort,", "title: Which,"))
    from_label_studio(study, "sort_of_it")
    assert said(study) == {("7", "ann", "sort-of-it", "other", "")}


def test_a_control_of_label_studio_that_no_question_is_called_as_is_named() -> None:
    with pytest.raises(ImportRefused) as refused:
        from_label_studio(study_of(SORTS), "mood")
    assert "“mood” is no question of “sorts”; its questions are: sort, sure." in refused.value.problems[0]


def test_a_line_with_a_problem_several_times_is_named_once() -> None:
    with pytest.raises(ImportRefused) as refused:
        from_label_studio(study_of(SORTS), "mood", "mood")
    [problem] = refused.value.problems
    assert problem.startswith("tasks.json, line 1: “mood” is no question")


def test_the_only_control_of_label_studio_is_the_only_question(simple: Study) -> None:
    study = study_of(SORTS[: SORTS.index("      - {key: sure")])
    from_label_studio(study, "label")
    assert said(study) == {("7", "ann", "sort", "other", "")}


def test_a_section_need_not_be_named_where_it_alone_has_the_question(contracts: Study) -> None:
    text = "rater,row,column_number,question,answer\nann,A,1,stated,implied\n"
    labels_in(contracts, text)
    assert said(contracts) == {("A", "ann", "stated", "implied", "")}


def test_a_rater_of_the_name_gold_is_the_gold(simple: Study) -> None:
    labels_in(simple, "rater,row,answer\nann,A,answers\ngold,A,silent\n", pseudonyms=True)
    assert {(rater.code, rater.kind) for rater in simple.raters.all()} == {("R1", "person"), ("gold", "gold")}


def test_gold_is_one_rater_however_files_write_it(simple: Study) -> None:
    labels_in(simple, "rater,row,answer,rater_kind\nGOLD,A,silent,\nGold,B,partly,gold\n")
    labels_in(simple, "rater,row,answer\ngold,C,silent\n")
    labels_in(simple, "rater,row,answer,gold\nann,D,silent,partly\n")
    gold = simple.raters.get(kind=Rater.Kind.GOLD)
    assert (gold.code, gold.assignments.count()) == ("gold", 4)
    Rater.objects.filter(pk=gold.pk).update(code="GOLD")  # as a file of before has made it
    labels_in(simple, "rater,row,answer\ngold,E,silent\n")
    assert (simple.raters.get(kind=Rater.Kind.GOLD), gold.assignments.count()) == (gold, 5)


def test_gold_becomes_a_rater_of_its_kind(simple: Study) -> None:
    labels_in(simple, "rater,row,answer,gold\nann,A,answers,silent\nbob,A,partly,silent\n")
    gold = simple.raters.get(kind=Rater.Kind.GOLD)
    assert (gold.code, [label.option.key for label in Label.objects.filter(assignment__rater=gold)]) == (
        "gold",
        ["silent"],
    )


def test_gold_that_somebody_decided_is_not_replaced(simple: Study) -> None:
    """Gold that came in a file is."""
    labels_in(simple, "rater,row,answer,gold\nann,A,answers,silent\nann,B,answers,silent\n")
    by, row = builders.user("mara"), Row.objects.get(name="A")
    question = Question.objects.get(section__scheme=simple.scheme)
    option, column = question.options.get(key="partly"), Column.objects.get()
    actions.adjudicate(row=row, column=column, question=question, option=option, reason="So it says.", by=by)

    replacing = "rater,row,answer\ngold,A,answers\ngold,B,answers\n"
    assert problems_of(simple, replacing, replace=True) == [
        "file.csv, line 2: “Does the clause answer it?” of “A” was decided here by mara, and a file does not decide it "
        "anew. Decide it on the page, or leave the line out."
    ]
    assert labels_in(simple, "rater,row,answer\ngold,A,partly\ngold,B,answers\n", replace=True).changed == 1


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


def test_replace_of_a_note_alone_keeps_the_scores(contracts: Study) -> None:
    text = "rater,row,section,column,question,answer,note\nann,Clause 1,acts,Inspect,act,{}\n"
    labels_in(contracts, text.format("found,so"))
    Label.objects.update(scores={"options": {"found": {"logprob": -0.5}}})

    labels_in(contracts, text.format("found,otherwise"), replace=True)
    (label,) = Label.objects.filter(question__key="act")
    assert (label.note, label.scores) == ("otherwise", {"options": {"found": {"logprob": -0.5}}})

    labels_in(contracts, text.format("reworded,otherwise"), replace=True)
    assert Label.objects.get(question__key="act").scores is None  # they were another answer's


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
    builders.plan_for_judge(leases, "J2", [leases.judges[0].row_id])
    (problem,) = problems_of(leases.study, ACTS + "J2,Clause 2,duties,Insure,stated,absent\n")
    assert "is a judge of this study already" in problem


def test_a_file_goes_on_with_a_judge_that_came_in_a_file(simple: Study) -> None:
    text = "rater,row,answer,rater_kind\ngpt,{},{},judge\n"
    labels_in(simple, text.format("A", "answers"))
    labels_in(simple, text.format("B", "answers"))
    (problem,) = problems_of(simple, text.format("A", "silent"))
    assert "A finished answer is kept" in problem
    assert labels_in(simple, text.format("A", "silent"), replace=True).changed == 1


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


def new_study(text: str, slug: str = "made", **how: Any) -> tuple[Study, Imported]:
    return study_from_labels(slug=slug, title="New", table=table(text), how=LabelImport(**how), by=None)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("javascript:alert(1)", "is no address of a web page"),
        ("https://example.org/" + 2000 * "x", "is too long"),
    ],
)
def test_an_address_that_leads_nowhere_is_refused(simple: Study, url: str, said: str) -> None:
    [problem] = problems_of(simple, f"rater,row,answer,row_url\nA1,1,answers,{url}\n")
    assert said in problem


def test_the_wide_form_gives_titles_and_addresses_too(simple: Study) -> None:
    labels_in(simple, "row,row_title,row_url,A1\n1,First,https://example.org/1,answers\n", wide=True)
    assert Row.objects.values_list("name", "title", "url").get() == ("1", "First", "https://example.org/1")
    assert list(simple.raters.values_list("code", flat=True)) == ["A1"]


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


def test_study_from_labels_of_many_different_answers_asks_for_a_number_or_a_text() -> None:
    """Ten answers are options; of eleven, each is written as a value."""
    study, imported = new_study("rater,row,answer\n" + "".join(f"ann,{n},{n * 10}\n" for n in range(11)))
    question = study.scheme.parsed.sections[0].questions[0]
    assert (question.kind, question.options, imported.labels) == ("number", (), 11)
    assert not Label.objects.filter(assignment__row__sheet__study=study, option__isnull=False).exists()

    study, _ = new_study("rater,row,answer\n" + "".join(f"ann,{n},word {n}\n" for n in range(11)), slug="words")
    assert study.scheme.parsed.sections[0].questions[0].kind == "text"


def test_study_from_labels_refuses_an_address_that_is_taken(simple: Study) -> None:
    with pytest.raises(actions.Refused, match="There is a study “simple” already"):
        study_from_labels(
            slug="simple", title="New", table=table("rater,row,answer\na,A,1\nb,A,2\n"), how=LabelImport(), by=None
        )


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
