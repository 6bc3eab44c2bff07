"""Labels: writing, rules, history, resending, submitting."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation import actions, queries
from annotation.actions import Answer, NotNow, Refused
from annotation.models import Assignment, Label, LabelEvent, Question
from tests import builders
from tests.builders import COMPLETE, Leases, label, standing

NOTICE_ACT = ("Give notice · tenant", "act")
NOTICE_PARTY = ("Give notice · tenant", "party")
NOTICE_STRICTNESS = ("Give notice · tenant", "strictness")
INSPECT_ACT = ("Inspect", "act")
INSPECT_PARTY = ("Inspect", "party")
RENT = ("Pay rent", "stated")


def history(assignment: Assignment) -> list[tuple[str, str, str | None, str | None]]:
    """(column, question, before, after) of each event, oldest first."""
    return [
        (e.column.name, e.question.key, e.before.key if e.before else None, e.after.key if e.after else None)
        for e in LabelEvent.objects.filter(assignment=assignment).select_related(
            "column", "question", "before", "after"
        )
    ]


# --- one cell -------------------------------------------------------------------------------------------------------


def test_record_inserts(leases: Leases) -> None:
    assignment = leases.annas[0]

    label(assignment, {RENT: "stated"}, note="in line 2")

    assert standing(assignment) == {RENT: "stated"}
    stored = assignment.labels.get()
    assert (stored.note, stored.revision, stored.preset, stored.scores) == ("in line 2", 1, False, None)
    assert history(assignment) == [(*RENT, None, "stated")]


def test_record_starts_the_assignment(leases: Leases) -> None:
    assignment = leases.annas[0]

    label(assignment, {RENT: "stated"})

    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.STARTED
    assert assignment.started_at is not None


def test_record_updates(leases: Leases) -> None:
    assignment = leases.annas[0]
    label(assignment, {RENT: "stated"})

    label(assignment, {RENT: "absent"})

    assert standing(assignment) == {RENT: "absent"}
    assert assignment.labels.get().revision == 2
    assert history(assignment) == [(*RENT, None, "stated"), (*RENT, "stated", "absent")]


def test_record_keeps_the_note_of_an_answer_that_changes_without_one(leases: Leases) -> None:
    assignment = leases.annas[0]
    label(assignment, {RENT: "stated"}, note="in line 2")

    label(assignment, {RENT: "absent"})

    assert assignment.labels.get().note == "in line 2"


def test_record_clears_a_note_that_is_sent_empty(leases: Leases) -> None:
    assignment = leases.annas[0]
    label(assignment, {RENT: "stated"}, note="in line 2")

    label(assignment, {RENT: "stated"}, note="")

    assert assignment.labels.get().note == ""


def test_record_clears(leases: Leases) -> None:
    assignment = leases.annas[0]
    label(assignment, {RENT: "stated"})

    label(assignment, {RENT: None})

    assert standing(assignment) == {}
    assert history(assignment)[-1] == (*RENT, "stated", None)


def test_record_clearing_an_empty_cell_leaves_it_empty(leases: Leases) -> None:
    label(leases.annas[0], {RENT: None})

    assert standing(leases.annas[0]) == {}


def test_record_stores_the_scores_of_a_judge(leases: Leases) -> None:
    answer = builders.answer(leases.sheet, *RENT, "stated")
    scored = Answer(answer.column, answer.question, answer.option, scores={"stated": -1.5, "absent": -2.0})

    actions.record(assignment=leases.judges[0], answers=[scored], key=uuid.uuid4())

    assert leases.judges[0].labels.get().scores == {"stated": -1.5, "absent": -2.0}


# --- resending ------------------------------------------------------------------------------------------------------


def test_record_with_a_known_key_changes_nothing(leases: Leases) -> None:
    assignment, key = leases.annas[0], uuid.uuid4()
    label(assignment, {RENT: "stated"}, key=key)
    label(assignment, {RENT: "absent"})

    recorded = label(assignment, {RENT: "stated"}, key=key)

    assert recorded.changed == set()
    assert standing(assignment) == {RENT: "absent"}
    assert len(history(assignment)) == 2


def test_record_acknowledges_a_resend_after_the_submission(leases: Leases) -> None:
    """The answer to the first request was lost on its way; the browser must not be told that its label failed."""
    assignment, key = leases.annas[0], uuid.uuid4()
    label(assignment, key=key)
    actions.submit(assignment=assignment)

    assert label(assignment, key=key).changed == set()


def test_record_does_not_mix_up_keys_of_two_raters(leases: Leases) -> None:
    key = uuid.uuid4()
    label(leases.annas[0], {RENT: "stated"}, key=key)

    label(leases.boriss[0], {RENT: "absent"}, key=key)

    assert standing(leases.boriss[0]) == {RENT: "absent"}


# --- rules ----------------------------------------------------------------------------------------------------------


def test_record_switches_questions_off_and_clears_them(leases: Leases) -> None:
    assignment = leases.annas[0]
    label(assignment, {NOTICE_ACT: "found", NOTICE_PARTY: "same", NOTICE_STRICTNESS: "2"})

    recorded = label(assignment, {NOTICE_ACT: "absent"})

    assert standing(assignment) == {NOTICE_ACT: "absent"}
    assert len(recorded.changed) == 3
    assert set(history(assignment)[3:]) == {
        (*NOTICE_ACT, "found", "absent"),
        (*NOTICE_PARTY, "same", None),
        (*NOTICE_STRICTNESS, "2", None),
    }


def test_record_fills_in_a_preset_and_reports_it(leases: Leases) -> None:
    assignment = leases.annas[0]

    recorded = label(assignment, {INSPECT_ACT: "found"})

    assert standing(assignment) == {INSPECT_ACT: "found", INSPECT_PARTY: "no-party"}
    assert assignment.labels.get(question__key="party").preset
    assert not assignment.labels.get(question__key="act").preset
    column = leases.sheet.columns.get(name="Inspect")
    party = Question.objects.get(key="party")
    assert (column.pk, party.pk) in recorded.changed
    assert (*INSPECT_PARTY, None, "no-party") in history(assignment)


def test_record_fills_in_no_preset_where_it_is_not_asked(leases: Leases) -> None:
    assignment = leases.annas[0]

    label(assignment, {INSPECT_ACT: "absent"})

    assert standing(assignment) == {INSPECT_ACT: "absent"}


def test_record_fills_the_preset_in_again_when_the_question_is_asked_again(leases: Leases) -> None:
    assignment = leases.annas[0]
    label(assignment, {INSPECT_ACT: "found"})
    label(assignment, {INSPECT_ACT: "absent"})

    label(assignment, {INSPECT_ACT: "reworded"})

    assert standing(assignment)[INSPECT_PARTY] == "no-party"


def test_record_lets_a_person_overrule_a_preset(leases: Leases) -> None:
    assignment = leases.annas[0]
    label(assignment, {INSPECT_ACT: "found"})

    label(assignment, {INSPECT_PARTY: "other"})
    label(assignment, {INSPECT_ACT: "reworded"})

    assert standing(assignment)[INSPECT_PARTY] == "other"
    assert not assignment.labels.get(question__key="party").preset


def test_record_lets_a_person_clear_a_preset(leases: Leases) -> None:
    assignment = leases.annas[0]
    label(assignment, {INSPECT_ACT: "found"})

    label(assignment, {INSPECT_PARTY: None})

    assert standing(assignment) == {INSPECT_ACT: "found"}


# --- refusals -------------------------------------------------------------------------------------------------------


def test_record_refuses_a_question_that_is_not_asked(leases: Leases) -> None:
    label(leases.annas[0], {NOTICE_ACT: "absent"})

    with pytest.raises(Refused, match="“Party” is not asked of “Give notice · tenant” here"):
        label(leases.annas[0], {NOTICE_PARTY: "same"})


def test_record_refuses_an_option_of_another_question(leases: Leases) -> None:
    rent, act = builders.answer(leases.sheet, *RENT, "stated"), builders.answer(leases.sheet, *NOTICE_ACT, "found")

    with pytest.raises(Refused, match="“Found” is no answer to “Stated”"):
        actions.record(
            assignment=leases.annas[0], answers=[Answer(rent.column, rent.question, act.option)], key=uuid.uuid4()
        )


def test_record_refuses_a_question_of_another_section(leases: Leases) -> None:
    rent, act = builders.answer(leases.sheet, *RENT, "stated"), builders.answer(leases.sheet, *NOTICE_ACT, "found")

    with pytest.raises(Refused, match="not part of this assignment"):
        actions.record(
            assignment=leases.annas[0], answers=[Answer(rent.column, act.question, act.option)], key=uuid.uuid4()
        )


def test_record_refuses_a_column_of_another_sheet(leases: Leases) -> None:
    other = builders.sheet(leases.study, "Loan")

    with pytest.raises(Refused, match="not part of this assignment"):
        actions.record(assignment=leases.annas[0], answers=[builders.answer(other, *RENT, "stated")], key=uuid.uuid4())


def test_record_refuses_a_section_that_the_assignment_does_not_ask(leases: Leases) -> None:
    extra = builders.row(leases.sheet, "Clause 9")
    rater = leases.annas[0].rater
    [assignment] = actions.assign(rater=rater, rows=[extra], sections=["acts"])

    with pytest.raises(Refused, match="not part of this assignment"):
        label(assignment, {RENT: "stated"})


def test_record_refuses_a_submitted_row(leases: Leases) -> None:
    label(leases.annas[0])
    actions.submit(assignment=leases.annas[0])

    with pytest.raises(Refused, match="“Clause 1” is submitted; take it back first"):
        label(leases.annas[0], {RENT: "absent"})


def corrected(assignment: Assignment, option: str) -> str:
    """The assignment's state after a change of one cell that may open it again."""
    given = replace(builders.answer(assignment.row.sheet, *RENT, option), seen=standing(assignment)[RENT])
    return actions.record(assignment=assignment, answers=[given], key=uuid.uuid4(), reopen=True).state


def test_a_correction_opens_a_submitted_row_with_the_change_itself(leases: Leases) -> None:
    assignment = leases.annas[0]
    label(assignment)
    actions.submit(assignment=assignment)

    assert corrected(assignment, standing(assignment)[RENT]) == "submitted"  # nothing changed
    assert corrected(assignment, "absent") == "started"
    assignment.refresh_from_db()
    assert (assignment.state, assignment.submitted_at) == ("started", None)
    assert standing(assignment)[RENT] == "absent"


def test_a_correction_that_is_refused_leaves_the_row_submitted(leases: Leases) -> None:
    assignment = leases.annas[0]
    label(assignment)
    actions.submit(assignment=assignment)
    actions.close_sheet(sheet=leases.sheet, by=leases.manager)

    with pytest.raises(NotNow):
        corrected(assignment, "absent")
    assignment.refresh_from_db()
    assert assignment.state == "submitted"


def test_record_writes_all_or_nothing(leases: Leases) -> None:
    assignment = leases.annas[0]
    label(assignment, {NOTICE_ACT: "absent"})

    with pytest.raises(Refused):
        label(assignment, {RENT: "stated", INSPECT_ACT: "found", NOTICE_PARTY: "same"})

    assert standing(assignment) == {NOTICE_ACT: "absent"}
    assert len(history(assignment)) == 1


# --- cost -----------------------------------------------------------------------------------------------------------


def _queries_of_recording(leases: Leases, n_duties: int, option: str) -> int:
    wide = builders.sheet(leases.study, f"Wide {n_duties} {option}", duties=[f"Duty {n}" for n in range(40)])
    [assignment, *_] = builders.assignments(leases.annas[0].rater, wide)
    first = {(f"Duty {n}", "stated"): "implied" for n in range(20)}
    label(assignment, first)  # so that the change under test holds updates and clears, and not only inserts
    answers = [builders.answer(wide, f"Duty {20 - n_duties + n}", "stated", option) for n in range(2 * n_duties)]
    with CaptureQueriesContext(
        connection,
    ) as queries_of_it:
        actions.record(assignment=assignment, answers=answers, key=uuid.uuid4())
    assert len(LabelEvent.objects.filter(assignment=assignment)) == 20 + 2 * n_duties
    return len(queries_of_it)


def test_record_costs_the_same_for_few_answers_and_many(leases: Leases) -> None:
    """Each change holds as many updates as inserts: 2 + 2 against 20 + 20."""
    assert _queries_of_recording(leases, 2, "stated") == _queries_of_recording(leases, 20, "stated")


# --- submitting -----------------------------------------------------------------------------------------------------


def test_submit_closes_a_row(leases: Leases) -> None:
    label(leases.annas[0])

    submitted = actions.submit(assignment=leases.annas[0])

    assert submitted.state == Assignment.State.SUBMITTED
    assert submitted.submitted_at is not None


def test_submit_refuses_open_cells_and_names_them(leases: Leases) -> None:
    label(leases.annas[0], {cell: option for cell, option in COMPLETE.items() if cell != RENT})

    with pytest.raises(Refused, match="1 cell of “Clause 1” is still open: Pay rent"):
        actions.submit(assignment=leases.annas[0])

    leases.annas[0].refresh_from_db()
    assert leases.annas[0].state == Assignment.State.STARTED


def test_submit_names_the_question_where_a_column_has_several(leases: Leases) -> None:
    label(leases.annas[0], {cell: option for cell, option in COMPLETE.items() if cell != NOTICE_STRICTNESS})

    with pytest.raises(Refused, match=r"Give notice · tenant \(Strictness\)"):
        actions.submit(assignment=leases.annas[0])


def test_submit_names_the_question_alone_where_a_row_is_asked_about_as_a_whole(leases: Leases) -> None:
    text = """\
key: reviews
version: 1
title: Reviews
sections:
  - key: review
    title: Review
    questions: [{key: rude, title: Rude, kind: flag}, {key: reason, title: Reason in your words, kind: text}]
  - key: whole
    title: As a whole
    questions: [{key: fair, title: Fair, kind: flag}]
"""
    study = builders.study("reviews", of=builders.scheme(text))
    sheet = actions.add_sheet(study=study, title="Shop", columns={})
    actions.add_row(sheet=sheet, name="r8", evidence=[])
    (mine,) = builders.assignments(builders.rater(study, leases.anna), sheet)

    with pytest.raises(Refused, match=r"still open, first Rude, Reason in your words, Fair\.") as refused:
        actions.submit(assignment=mine)

    assert isinstance(refused.value, actions.Unanswered)
    assert [cell.name for cell in refused.value.cells] == ["Rude", "Reason in your words", "Fair"]


def test_submit_counts_the_open_cells(leases: Leases) -> None:
    # 2 duties + 2 acts × 3 questions = 8 cells, all open: a preset is filled in only when its column is answered
    with pytest.raises(Refused, match="8 cells of “Clause 1” are still open"):
        actions.submit(assignment=leases.annas[0])


def test_submit_lets_a_judge_leave_cells_open(leases: Leases) -> None:
    submitted = actions.submit(assignment=leases.judges[0], allow_open=True)

    assert submitted.state == Assignment.State.SUBMITTED


def test_submit_a_second_time_keeps_the_first_time(leases: Leases) -> None:
    label(leases.annas[0])
    first = actions.submit(assignment=leases.annas[0])

    assert actions.submit(assignment=leases.annas[0]).submitted_at == first.submitted_at


def _at_one_go(assignment: Assignment, options: dict[tuple[str, str], str], key: uuid.UUID) -> None:
    given = [builders.answer(assignment.row.sheet, *cell, option) for cell, option in options.items()]
    with transaction.atomic():
        actions.record_and_submit(assignment=assignment, answers=given, key=key)


def _one_after_the_other(assignment: Assignment, options: dict[tuple[str, str], str], key: uuid.UUID) -> None:
    with transaction.atomic():
        label(assignment, options, key=key)
        actions.submit(assignment=assignment, allow_open=True)


@pytest.mark.parametrize("state", Assignment.State)
@pytest.mark.parametrize("options", [{RENT: "stated"}, {}, {NOTICE_ACT: "absent", NOTICE_PARTY: "same"}], ids=len)
@pytest.mark.parametrize("sent", [1, 2])
def test_record_and_submit_leaves_what_both_leave(
    leases: Leases, state: str, options: dict[tuple[str, str], str], sent: int
) -> None:
    """Whatever the assignment's state, also where nothing is answered, it is refused, or it comes a second time."""
    left = []
    for assignment, write in zip(leases.judges, (_one_after_the_other, _at_one_go), strict=True):
        label(assignment, {INSPECT_ACT: "found"})
        Assignment.objects.filter(pk=assignment.pk).update(
            state=state,
            submitted_at=timezone.now() if state == "submitted" else None,
            failure="why" if state == "failed" else "",
            started_at=None,
        )
        key, said = uuid.uuid4(), []
        for _time in range(sent):
            try:
                write(assignment, options, key)
            except Refused as refused:
                said.append((type(refused), str(refused).replace(assignment.row.name, "this row")))
        assignment.refresh_from_db()
        times = [at is not None for at in (assignment.started_at, assignment.submitted_at)]
        left.append((said, assignment.state, assignment.failure, times, standing(assignment), history(assignment)))
    assert left[0] == left[1]


def test_reopen_takes_a_submission_back_with_its_labels(leases: Leases) -> None:
    label(leases.annas[0])
    actions.submit(assignment=leases.annas[0])

    reopened = actions.reopen(assignment=leases.annas[0])

    assert (reopened.state, reopened.submitted_at) == (Assignment.State.STARTED, None)
    assert standing(reopened) == dict(COMPLETE)


def test_reopen_leaves_a_row_alone_that_is_not_submitted(leases: Leases) -> None:
    assert actions.reopen(assignment=leases.annas[0]).state == Assignment.State.OPEN


# --- the grid's reads -----------------------------------------------------------------------------------------------


def test_grid_costs_four_queries_whatever_its_size(leases: Leases) -> None:
    wide = builders.sheet(leases.study, "Wide", duties=[f"Duty {n}" for n in range(30)], n_rows=9)
    for assignment in builders.assignments(leases.annas[0].rater, wide):
        label(assignment, {(f"Duty {n}", "stated"): "stated" for n in range(30)})
    mine = Assignment.objects.of_user(leases.anna)

    counts = []
    for sheet in (leases.sheet, wide):
        fresh = type(sheet).objects.select_related("study__scheme").get(pk=sheet.pk)
        with CaptureQueriesContext(connection) as captured:
            cells = len(list(queries.grid(fresh, mine).cells))
        counts.append((cells, len(captured)))

    # 2 rows × (2 + 2 × 3) cells; 9 rows × (30 + 2 × 3) cells
    assert counts == [(16, 4), (324, 4)]


def test_grid_shows_what_is_asked_preset_and_locked(leases: Leases) -> None:
    label(leases.annas[0], {NOTICE_ACT: "absent"})
    grid = queries.grid(leases.sheet, Assignment.objects.filter(pk=leases.annas[0].pk))

    names = {column.pk: column.name for table in grid.tables for column in table.columns}
    keys = {question.pk: question.key for table in grid.tables for question in table.questions}
    cells = {(names[cell.column_id], keys[cell.question_id]): cell for cell in grid.cells}
    assert not cells[NOTICE_PARTY].asked
    assert not cells[NOTICE_PARTY].open
    assert (cells[INSPECT_PARTY].preset, cells[INSPECT_PARTY].shown) == ("no-party", "No party")
    assert cells[RENT].open
    assert not any(cell.locked for cell in cells.values())


def test_labels_and_events_agree(leases: Leases) -> None:
    """The last event of each cell says what stands in it."""
    assignment = leases.annas[0]
    label(assignment)
    label(assignment, {NOTICE_ACT: "absent", INSPECT_ACT: "reworded", RENT: None})

    last = {(column, question): after for column, question, _before, after in history(assignment)}
    assert {cell: option for cell, option in last.items() if option is not None} == standing(assignment)
    assert Label.objects.filter(assignment=assignment).count() == 4
