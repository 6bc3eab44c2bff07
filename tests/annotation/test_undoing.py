"""What was done by mistake: nothing that somebody has built on is lost, and all else can be taken back."""

from __future__ import annotations

import uuid
from fractions import Fraction

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import actions, queries
from annotation.actions import Refused
from annotation.lens import lens
from annotation.models import Assignment, AuditEvent, Decision, Label, Plan, Rater, Sheet
from annotation.planning import OverlapRequest, balanced_design
from annotation.queries import undoing
from tests import builders
from tests.annotation.importing import labels_in
from tests.builders import ClientOf, Leases


def empty_sheet(leases: Leases) -> Sheet:
    return builders.sheet(leases.study, "Mistake", duties=["Pay"], n_rows=3)


def apply_plan(leases: Leases, sheet: Sheet) -> None:
    raters = list(leases.study.raters.plannable())
    request = OverlapRequest(raters=len(raters), sheets=(3,), raters_per_sheet=2, share_twice=Fraction(0), seed=1)
    design = balanced_design(request)
    actions.apply_design(
        study=leases.study, design=design, request=request, raters=raters, sheets=[sheet], by=leases.manager
    )


def test_a_sheet_made_by_mistake_says_what_goes_along_and_goes(leases: Leases, client_of: ClientOf) -> None:
    sheet = empty_sheet(leases)
    apply_plan(leases, sheet)
    manager = client_of(leases.manager)
    page = manager.get(reverse("annotation:sheet-settings", args=["leases", sheet.pk])).content.decode()
    assert "rows: 3" in page
    assert "assignments: 3" in page
    manager.post(reverse("annotation:delete-sheet", args=["leases", sheet.pk]))
    assert not Sheet.objects.filter(pk=sheet.pk).exists()
    [event] = AuditEvent.objects.filter(kind=AuditEvent.Kind.DELETION)
    assert (event.by, event.study) == (leases.manager.pk, leases.study)
    assert event.what.startswith(f"sheet #{sheet.pk}, 3 assignments, ")  # no title: the log has no text of people


def test_a_sheet_with_labels_is_archived_instead_and_keeps_them(leases: Leases, client_of: ClientOf) -> None:
    builders.label(leases.annas[0])
    n, manager, anna = Label.objects.count(), client_of(leases.manager), client_of(leases.anna)
    manager.post(reverse("annotation:delete-sheet", args=["leases", leases.sheet.pk]))
    assert Label.objects.count() == n
    manager.post(reverse("annotation:archive-sheet", args=["leases", leases.sheet.pk]))
    assert Label.objects.count() == n
    assert leases.sheet.title not in anna.get(reverse("annotation:my-work")).content.decode()
    assert not queries.work_given(leases.study).sheets
    assert "Archived: 1" in manager.get(reverse("annotation:study", args=["leases"])).content.decode()
    manager.post(reverse("annotation:archive-sheet", args=["leases", leases.sheet.pk]))
    assert leases.sheet.title in anna.get(reverse("annotation:my-work")).content.decode()


def test_a_sheet_that_is_not_archived_stays_closed_when_it_is_brought_back(leases: Leases) -> None:
    """Of two managers who bring it back, the second comes when the first has closed it again."""
    actions.archive_sheet(sheet=leases.sheet, by=leases.manager)
    assert actions.unarchive_sheet(sheet=leases.sheet).closed_at is None
    actions.close_sheet(sheet=leases.sheet, by=leases.manager)

    assert actions.unarchive_sheet(sheet=leases.sheet).closed_at is not None


def test_two_sheets_cannot_have_one_title(leases: Leases, client_of: ClientOf) -> None:
    sheet = empty_sheet(leases)
    address = reverse("annotation:sheet-settings", args=["leases", sheet.pk])
    refused = client_of(leases.manager).post(address, {"title": leases.sheet.title}).content.decode()
    assert "is there already" in refused
    client_of(leases.manager).post(address, {"title": "Meant"})
    sheet.refresh_from_db()
    assert sheet.title == "Meant"


def test_a_plan_is_taken_back_until_somebody_has_begun(leases: Leases) -> None:
    sheet = empty_sheet(leases)
    apply_plan(leases, sheet)
    before = Assignment.objects.exclude(row__sheet=sheet).count()
    assert actions.undo_plan(plan=leases.study.plans.get()) == 3
    assert Assignment.objects.count() == before

    apply_plan(leases, sheet)
    mine = Assignment.objects.filter(row__sheet=sheet).first()
    assert mine is not None
    builders.label(mine, {("Pay", "stated"): "stated"})
    with pytest.raises(Refused, match="some of its work was begun"):
        actions.undo_plan(plan=leases.study.plans.get())
    assert Assignment.objects.filter(row__sheet=sheet).count() == 3


def test_who_takes_a_plan_back_after_somebody_else_is_told_so(leases: Leases) -> None:
    apply_plan(leases, empty_sheet(leases))
    shown_to_both = [leases.study.plans.get() for _ in range(2)]
    actions.undo_plan(plan=shown_to_both[0])
    with pytest.raises(Refused, match="Somebody has taken this plan back meanwhile"):
        actions.undo_plan(plan=shown_to_both[1])


def test_whether_a_plan_may_be_undone_takes_as_long_for_few_rows_as_for_many(leases: Leases) -> None:
    counted = []
    for title, n in (("Short", 3), ("Long", 30)):
        sheet = builders.sheet(leases.study, title, duties=["Pay"], n_rows=n)
        actions.assign(rater=leases.annas[0].rater, rows=sheet.rows.all())
        plan = Plan.objects.create(study=leases.study, request={"extended": 0})
        Assignment.objects.filter(row__sheet=sheet).update(plan=plan)
        with CaptureQueriesContext(connection) as asked:
            assert undoing.may_undo(plan)
        counted.append(len(asked))
    assert counted == [3, 3]
    [column] = sheet.columns.filter(section__key="duties")
    question = column.section.questions.get()
    mine = Assignment.objects.filter(plan=plan).first()
    assert mine is not None
    actions.ask(assignment=mine, column=column, question=question, text="Which one?", by=leases.anna)
    assert not undoing.may_undo(plan)


def test_a_plan_of_which_a_row_was_withdrawn_is_taken_back_and_one_that_was_handed_on_is_not(leases: Leases) -> None:
    sheet = empty_sheet(leases)
    apply_plan(leases, sheet)
    row = sheet.rows.all()[0]
    assert actions.withdraw_row(row=row, reason="The page is gone.", by=None) == 1
    assert undoing.may_undo(leases.study.plans.get())
    assert actions.undo_plan(plan=leases.study.plans.get()) == 3
    assert not Assignment.objects.filter(row__sheet=sheet).exists()

    actions.restore_row(row=row)
    apply_plan(leases, sheet)
    plan = leases.study.plans.get()
    handed = plan.assignments.all()[0]
    other = leases.study.raters.plannable().exclude(pk=handed.rater_id).get()
    asked = queries.ReplanRequest(takers=(other.pk,), leaving=(handed.rater_id,))
    actions.apply_replan(
        study=leases.study, request=asked, drawn=queries.draw_replan(leases.study, asked).digest, by=None
    )
    assert not undoing.may_undo(plan)


def test_gold_that_was_imported_over_what_was_accepted_stays(leases: Leases) -> None:
    for assignment in (leases.annas[0], leases.boriss[0]):
        builders.label(assignment, {("Pay rent", "stated"): "stated", ("Insure", "stated"): "stated"})
    shown = lens.digest(lens.agreed(lens.of_sheet(leases.sheet), judges=False))
    actions.accept_agreed(sheet=leases.sheet, judges=False, shown=shown, by=leases.manager)
    head = "rater,rater_kind,row,section,column,question,answer\n"
    labels_in(leases.study, f"{head}gold,gold,Clause 1,duties,Pay rent,stated,absent\n", replace=True)

    [(batch, standing)] = undoing.accepted(leases.sheet)
    assert [decision.column.name for decision in standing] == ["Insure"]
    assert actions.take_back_accepted(sheet=leases.sheet, batch=uuid.UUID(batch), by=leases.manager) == 1
    [left] = Label.objects.filter(assignment__rater__kind=Rater.Kind.GOLD)
    assert (left.column.name, left.code) == ("Pay rent", "absent")


def test_what_was_accepted_at_once_is_taken_back_but_for_what_was_decided_since(
    leases: Leases, client_of: ClientOf
) -> None:
    for assignment in (leases.annas[0], leases.boriss[0]):
        builders.label(assignment)
    manager = client_of(leases.manager)
    address = reverse("annotation:lens-accept", args=[leases.sheet.pk])
    shown = manager.get(address).context["choices"][1]["shown"]
    manager.post(address, {"shown": shown})
    gold = Rater.objects.get(kind=Rater.Kind.GOLD)
    n = Label.objects.filter(assignment__rater=gold).count()
    decided = Decision.objects.filter(question__key="stated").order_by("pk")[0]
    other = decided.question.options.exclude(pk=decided.option_id)[0]
    actions.adjudicate(
        row=decided.assignment.row,
        column=decided.column,
        question=decided.question,
        option=other,
        reason="It says otherwise.",
        by=leases.manager,
    )
    [(batch, standing)] = undoing.accepted(leases.sheet)
    assert len(standing) == n - 1
    manager.post(reverse("annotation:take-back-accepted", args=[leases.sheet.pk]), {"batch": batch})
    assert Label.objects.get(assignment__rater=gold).option == other
    assert undoing.accepted(leases.sheet) == []
