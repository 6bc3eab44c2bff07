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
from annotation.models import Assignment, AuditEvent, Decision, Label, LabelEvent, Plan, Question, Rater, Sheet
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


# --- gold of an import ------------------------------------------------------------------------------------------------

GOLD = "rater,rater_kind,row,section,column,question,answer,note\n"


def gold_of(leases: Leases, *cells: str, **how: bool) -> uuid.UUID:
    """Import gold, a cell each: row, section, column, question, answer, note. Returns the import's key."""
    before = {one.key for one in undoing.gold_imports(leases.study)}
    labels_in(leases.study, GOLD + "".join(f"gold,gold,{cell}\n" for cell in cells), **how)
    return next(one.key for one in undoing.gold_imports(leases.study) if one.key not in before)


def gold_now(leases: Leases) -> dict[tuple[str, str, str], tuple[str, str]]:
    found = Label.objects.filter(assignment__rater__kind=Rater.Kind.GOLD, assignment__rater__study=leases.study)
    return {(one.assignment.row.name, one.column.name, one.question.key): (one.code, one.note) for one in found}


def decided(leases: Leases, column: str, question: str, option: str | None) -> None:
    asked = Question.objects.get(section__scheme=leases.study.scheme, key=question)
    actions.adjudicate(
        row=leases.sheet.rows.get(name="Clause 1"),
        column=leases.sheet.columns.get(name=column),
        question=asked,
        option=asked.options.get(key=option) if option else None,
        reason="because",
        by=leases.manager,
    )


def test_gold_that_was_imported_by_mistake_goes_at_once_but_for_what_was_changed_since(
    leases: Leases, client_of: ClientOf
) -> None:
    earlier = gold_of(leases, "Clause 2,duties,Insure,stated,implied,as it says")
    key = gold_of(
        leases,
        "Clause 1,duties,Pay rent,stated,absent,",
        "Clause 1,duties,Insure,stated,absent,",
        "Clause 2,duties,Pay rent,stated,stated,",
        "Clause 2,duties,Insure,stated,absent,no",
        replace=True,
    )
    decided(leases, "Insure", "stated", "absent")  # the same, but by somebody
    manager = client_of(leases.manager)
    assert (
        reverse("annotation:gold-imports", args=["leases"]) in manager.get("/studies/leases/import/").content.decode()
    )
    listed = manager.get(reverse("annotation:gold-imports", args=["leases"])).context["imports"]
    assert [(one.key, one.n, one.as_they_came) for one in listed] == [(key, 4, 3), (earlier, 1, 0)]

    address = reverse("annotation:gold-import", args=["leases", key])
    page = manager.get(address)
    said = page.content.decode()
    assert "2 cells would be undecided again." in said
    assert "1 cell would have the answer again that the import replaced." in said
    assert "1 answer stays" in said
    assert "Take 3 answers back" in said
    told = manager.post(address, {"shown": page.context["shown"]}, follow=True).content.decode()
    assert "3 answers are taken back." in told

    assert gold_now(leases) == {
        ("Clause 1", "Insure", "stated"): ("absent", "because"),
        ("Clause 2", "Insure", "stated"): ("implied", "as it says"),
    }
    states = dict(Assignment.objects.filter(rater__kind=Rater.Kind.GOLD).values_list("row__name", "state"))
    assert states == {"Clause 1": "submitted", "Clause 2": "submitted"}
    assert LabelEvent.objects.filter(key=key).count() == 4  # the history keeps it
    # Sent again it does nothing more, and who looked before something changed is told to look again.
    again = manager.post(address, {"shown": page.context["shown"]}, follow=True).content.decode()
    assert "Nothing was taken back: look again." in again
    assert "Take " not in manager.get(address).content.decode().split("<h2>")[1]
    assert len(gold_now(leases)) == 2


def test_gold_that_hangs_together_goes_or_stays_as_a_column(leases: Leases) -> None:
    """An act that is undecided again would take along the strictness that somebody decided since."""
    key = gold_of(
        leases,
        "Clause 1,acts,Give notice · tenant,act,found,",
        "Clause 1,acts,Give notice · tenant,party,same,",
        "Clause 1,acts,Inspect,act,found,",
        "Clause 2,acts,Inspect,act,absent,",
    )
    assert gold_now(leases)["Clause 1", "Inspect", "party"] == ("no-party", "")  # follows by itself
    decided(leases, "Give notice · tenant", "strictness", "2")

    found = undoing.gold_of_import(leases.study, key)
    assert (found.undecided, found.before, found.stay) == (2, 0, 2)
    shown = lens.digest(found.cells)
    assert actions.take_back_gold(study=leases.study, key=key, shown=shown, by=leases.manager) == 2
    assert gold_now(leases) == {
        ("Clause 1", "Give notice · tenant", "act"): ("found", ""),
        ("Clause 1", "Give notice · tenant", "party"): ("same", ""),
        ("Clause 1", "Give notice · tenant", "strictness"): ("2", "because"),
    }


def test_what_an_import_of_gold_switched_off_comes_back_with_it(leases: Leases) -> None:
    cells = [f"Clause 1,acts,Give notice · tenant,{said}," for said in ("act,found", "party,same", "strictness,3")]
    gold_of(leases, *cells)
    before = gold_now(leases)
    key = gold_of(leases, "Clause 1,acts,Give notice · tenant,act,absent,", replace=True)
    assert len(gold_now(leases)) == 1

    found = undoing.gold_of_import(leases.study, key)
    assert (found.undecided, found.before, found.stay) == (0, 3, 0)
    actions.take_back_gold(study=leases.study, key=key, shown=lens.digest(found.cells), by=leases.manager)
    assert gold_now(leases) == before


def test_gold_of_another_study_is_none_of_this(leases: Leases, client_of: ClientOf) -> None:
    key = gold_of(leases, "Clause 1,duties,Pay rent,stated,absent,")
    other = builders.study("other", of=leases.study.scheme, by=leases.manager)
    address = reverse("annotation:gold-import", args=["other", key])
    assert client_of(leases.manager).get(address).status_code == 404
    shown = lens.digest(undoing.gold_of_import(leases.study, key).cells)
    with pytest.raises(Refused):
        actions.take_back_gold(study=other, key=key, shown=shown, by=leases.manager)
    assert len(gold_now(leases)) == 1


def test_many_plans_are_told_in_as_many_queries_as_one(leases: Leases) -> None:
    asked = []
    for n in (1, 4):
        for number in range(n):
            sheet = builders.sheet(leases.study, f"Planned {n} {number}", n_rows=3)
            apply_plan(leases, sheet)
        with CaptureQueriesContext(connection) as queries:
            told = undoing.applied_plans(list(leases.study.plans.all()))
        asked.append(len(queries))
    assert [(one.n, one.may_undo) for one in told] == [(3, True)] * 5
    assert asked[0] == asked[1]
    begun = told[0].plan.assignments.first()
    assert begun is not None
    builders.label(begun, {("Pay rent", "stated"): "absent"})
    again = undoing.applied_plans([one.plan for one in told])
    assert [one.may_undo for one in again] == [False, True, True, True, True]
