"""The history of a sheet, and restoring a moment of it."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

import pytest
from django import forms
from django.urls import reverse
from django.utils import timezone
from pytest_django.asserts import assertHTMLEqual

from annotation import actions
from annotation.actions import Answer, Refused
from annotation.labels import history
from annotation.lens import lens
from annotation.models import Assignment, Label, LabelEvent, Look, Rater, Skip, User
from annotation.views.history import HistoryForm
from tests import builders
from tests.builders import COMPLETE, ClientOf, Leases, label, standing

RENT, INSURE = ("Pay rent", "stated"), ("Insure", "stated")
NOTICE, PARTY = ("Give notice · tenant", "act"), ("Give notice · tenant", "party")


def a_moment() -> datetime:
    """Now, with everything before it clearly earlier and everything after it clearly later."""
    LabelEvent.objects.filter(at__gte=timezone.now() - timedelta(minutes=1)).update(
        at=timezone.now() - timedelta(minutes=2)
    )
    return timezone.now() - timedelta(minutes=1)


def skip(assignment: Assignment, of: tuple[str, str], reason: str) -> None:
    cell = builders.answer(assignment.row.sheet, *of, None)
    answer = Answer(cell.column, cell.question, None, skip=reason)
    actions.record(assignment=assignment, answers=[answer], key=uuid.uuid4())


def restore(
    leases: Leases, moment: datetime, *, rater: Rater | None = None, submitted: bool = False, by: User | None = None
) -> int:
    differs = history.changes(leases.sheet, to=moment, rater=rater)
    shown = lens.digest(history.preview(differs, submitted=submitted).done)
    return actions.restore(
        sheet=leases.sheet, to=moment, rater=rater, submitted=submitted, shown=shown, by=by or leases.manager
    )


# --- restoring ------------------------------------------------------------------------------------------------------


def test_restore_brings_back_changed_cleared_and_new_cells(leases: Leases) -> None:
    mine = leases.annas[0]
    label(mine, {RENT: "stated", INSURE: "implied"}, note="sure")
    moment = a_moment()
    label(mine, {RENT: "absent"}, note="not so sure")
    label(mine, {INSURE: None, NOTICE: "found"})

    n = restore(leases, moment)

    assert (n, standing(mine)) == (3, {RENT: "stated", INSURE: "implied"})
    assert list(mine.labels.values_list("note", flat=True)) == ["sure", "sure"]


def test_restore_brings_back_what_a_rule_had_cleared_and_a_preset(leases: Leases) -> None:
    mine = leases.annas[0]
    label(mine, {NOTICE: "found", PARTY: "same", ("Inspect", "act"): "found"})
    before = standing(mine)
    moment = a_moment()
    label(mine, {NOTICE: "absent", ("Inspect", "act"): "absent"})

    restore(leases, moment)

    assert standing(mine) == before
    assert mine.labels.get(column__name="Inspect", question__key="party").preset


def test_label_skip_label_can_be_told_and_restored(leases: Leases) -> None:
    mine = leases.annas[0]
    label(mine, {RENT: "stated"})
    first = a_moment()
    skip(mine, RENT, "torn page")
    LabelEvent.objects.filter(skip_after="torn page").update(at=first + timedelta(seconds=10))
    second = first + timedelta(seconds=20)
    label(mine, {RENT: "absent"})

    told = [(s.event.before, s.event.skip_after, s.event.after) for s in history.steps(leases.sheet, mine.events.all())]
    assert [(str(before), skipped, str(after)) for before, skipped, after in told] == [
        ("None", "", "Stated"),
        ("Stated", "torn page", "None"),
        ("None", "", "Not stated"),
    ]
    restore(leases, second)
    assert (standing(mine), Skip.objects.get().reason) == ({}, "torn page")
    restore(leases, first)
    assert (standing(mine), Skip.objects.exists()) == ({RENT: "stated"}, False)


def test_restore_only_adds_to_the_history_and_says_who_did_it(leases: Leases) -> None:
    label(leases.annas[0], {RENT: "stated"})
    moment = a_moment()
    label(leases.annas[0], {RENT: "absent"})
    before = list(LabelEvent.objects.values_list("pk", flat=True))

    restore(leases, moment)

    (added,) = LabelEvent.objects.exclude(pk__in=before)
    assert LabelEvent.objects.filter(pk__in=before).count() == 2
    assert (str(added.before), str(added.after), added.by, added.restored_to) == (
        "Not stated",
        "Stated",
        leases.manager,
        moment,
    )


def test_a_restore_can_be_restored_from(leases: Leases) -> None:
    label(leases.annas[0], {RENT: "stated"})
    first = a_moment()
    label(leases.annas[0], {RENT: "absent"})
    LabelEvent.objects.filter(after__key="absent").update(at=first + timedelta(seconds=1))
    restore(leases, first)

    restore(leases, first + timedelta(seconds=2))

    assert standing(leases.annas[0]) == {RENT: "absent"}


def test_restore_of_one_rater_leaves_the_others(leases: Leases) -> None:
    moment = a_moment()
    label(leases.annas[0], {RENT: "stated"})
    label(leases.boriss[0], {RENT: "absent"})

    restore(leases, moment, rater=leases.annas[0].rater)

    assert (standing(leases.annas[0]), standing(leases.boriss[0])) == ({}, {RENT: "absent"})


def test_restore_leaves_judges_gold_and_withdrawn_work(leases: Leases) -> None:
    moment = a_moment()
    label(leases.judges[0], {RENT: "stated"})
    rent = builders.answer(leases.sheet, *RENT, "stated")
    actions.adjudicate(
        row=leases.annas[0].row, column=rent.column, question=rent.question, option=rent.option, by=leases.manager
    )
    label(leases.boriss[0], {RENT: "absent"})
    actions.withdraw(rater=leases.boriss[0].rater)

    assert restore(leases, moment) == 0
    assert Label.objects.count() == 3


def test_work_that_somebody_lost_is_not_offered_to_be_restored(leases: Leases, client_of: ClientOf) -> None:
    moment = a_moment()
    label(leases.boriss[0], {RENT: "absent"})
    actions.withdraw(rater=leases.boriss[0].rater)
    manager = client_of(leases.manager)

    history = manager.get(reverse("annotation:history", args=[leases.sheet.pk])).content.decode()
    asked = {"moment": moment.strftime("%Y-%m-%dT%H:%M:%S")}
    restored = manager.get(reverse("annotation:restore", args=[leases.sheet.pk]), asked).content.decode()

    assert "work taken away" in history
    assert "to before this" not in history
    assert "Nothing would change." in restored
    assert "1 cell has changed since in work that its rater does not have any more; it stays as it is." in restored


def test_restore_leaves_submitted_rows_unless_told(leases: Leases) -> None:
    moment = a_moment()
    label(leases.annas[0], COMPLETE)
    actions.submit(assignment=leases.annas[0])
    label(leases.annas[1], {RENT: "stated"})

    assert restore(leases, moment) == 1
    assert standing(leases.annas[0]) == COMPLETE

    assert restore(leases, moment, submitted=True) == len(COMPLETE)
    leases.annas[0].refresh_from_db()
    assert (standing(leases.annas[0]), leases.annas[0].state) == ({}, Assignment.State.STARTED)


def test_restore_does_only_what_was_shown(leases: Leases) -> None:
    moment = a_moment()
    label(leases.annas[0], {RENT: "stated"})
    shown = lens.digest(history.changes(leases.sheet, to=moment))
    label(leases.annas[0], {INSURE: "stated"})

    with pytest.raises(Refused, match="have changed since you looked"):
        actions.restore(sheet=leases.sheet, to=moment, shown=shown, by=leases.manager)

    assert standing(leases.annas[0]) == {RENT: "stated", INSURE: "stated"}


def test_what_is_no_digest_is_not_what_was_shown(leases: Leases, client_of: ClientOf) -> None:
    label(leases.annas[0], {RENT: "stated"})
    address = reverse("annotation:restore", args=[leases.sheet.pk])

    page = client_of(leases.manager).post(address, {"moment": "2020-01-01T00:00:00", "shown": "x" * 300})

    assert "have changed since you looked" in page.content.decode()
    assert standing(leases.annas[0]) == {RENT: "stated"}


def test_a_closed_sheet_is_not_restored(leases: Leases) -> None:
    moment = a_moment()
    label(leases.annas[0], {RENT: "stated"})
    actions.close_sheet(sheet=leases.sheet, by=leases.manager)

    with pytest.raises(Refused, match="is closed"):
        restore(leases, moment)


def test_a_restored_label_is_exposed_if_it_was(leases: Leases) -> None:
    label(leases.annas[0], {RENT: "stated"})
    moment = a_moment()
    actions.note_look(sheet=leases.sheet, user=leases.anna)
    label(leases.annas[0], {RENT: "absent"})
    assert Label.objects.get().exposed

    restore(leases, moment)

    assert not Label.objects.get().exposed


def test_a_restored_label_that_was_chosen_again_after_a_look_is_as_independent_as_it_was(leases: Leases) -> None:
    label(leases.annas[0], {RENT: "stated"})
    LabelEvent.objects.update(at=timezone.now() - timedelta(minutes=9))
    actions.note_look(sheet=leases.sheet, user=leases.anna)
    Look.objects.update(at=timezone.now() - timedelta(minutes=5))
    label(leases.annas[0], {RENT: "stated"}, note="still")
    assert not Label.objects.get().exposed
    moment = a_moment()
    label(leases.annas[0], {RENT: "absent"})

    restore(leases, moment)

    assert (Label.objects.get().note, Label.objects.get().exposed) == ("still", False)


def test_a_restored_preset_is_nobodys_answer_after_a_look(leases: Leases) -> None:
    """It follows from its column, and counted as chosen after the look that came before it."""
    actions.note_look(sheet=leases.sheet, user=leases.anna)
    Look.objects.update(at=timezone.now() - timedelta(minutes=5))
    label(leases.annas[0], {("Inspect", "act"): "found"})
    moment = a_moment()
    label(leases.annas[0], {("Inspect", "act"): None})

    restore(leases, moment)

    assert sorted(Label.objects.values_list("preset", "exposed")) == [(False, True), (True, False)]


# --- the pages ------------------------------------------------------------------------------------------------------


def test_the_history_tells_who_changed_what_and_is_filtered(leases: Leases, client_of: ClientOf) -> None:
    label(leases.annas[0], {RENT: "stated"})
    label(leases.annas[0], {RENT: "absent"})
    label(leases.boriss[1], {INSURE: "implied"})
    client, url = client_of(leases.researcher), reverse("annotation:history", args=[leases.sheet.pk])

    page = client.get(url)
    assert [
        (s.event.assignment.rater.code, str(s.event.before), str(s.event.after)) for s in page.context["steps"]
    ] == [
        ("A2", "None", "Implied"),
        ("A1", "Stated", "Not stated"),
        ("A1", "None", "Stated"),
    ]
    assert "anna" not in page.content.decode()

    for asked, n in (
        ({"rater": leases.annas[0].rater_id}, 2),
        ({"row": leases.annas[1].row_id}, 1),
        ({"column": leases.sheet.columns.get(name="Insure").pk}, 1),
        ({"rater": leases.annas[0].rater_id, "row": leases.annas[1].row_id}, 0),
        ({"rater": 999}, 0),
    ):
        assert len(client.get(url, asked).context["steps"]) == n, asked


def test_the_rows_to_choose_from_are_written_as_django_does(leases: Leases) -> None:
    leases.sheet.rows.filter(pk=leases.sheet.rows.all()[0].pk).update(name='<b>"1" & one')
    chosen = leases.sheet.rows.all()[1].pk
    for asked in ({}, {"row": str(chosen)}, {"row": "x"}):
        field = HistoryForm(asked, sheet=leases.sheet)["row"]
        usual = forms.Select(choices=field.field.choices)  # type: ignore[attr-defined]
        assertHTMLEqual(str(field), field.as_widget(usual))
    assert HistoryForm({"row": str(chosen)}, sheet=leases.sheet).is_valid()
    assert not HistoryForm({"row": "0"}, sheet=leases.sheet).is_valid()


def test_the_history_comes_in_pages(leases: Leases, client_of: ClientOf) -> None:
    for n in range(101):
        label(leases.annas[0], {RENT: "stated" if n % 2 else "absent"})
    client, url = client_of(leases.researcher), reverse("annotation:history", args=[leases.sheet.pk])

    assert len(client.get(url).context["steps"]) == 100
    assert len(client.get(url, {"page": 2}).context["steps"]) == 1


@pytest.mark.parametrize("moment", ["", "yesterday", "2026-02-30T10:00:00", "0001-01-01T00:00:00+14:00"])
def test_a_moment_that_is_none_restores_nothing(leases: Leases, client_of: ClientOf, moment: str) -> None:
    label(leases.annas[0], {RENT: "stated"})

    url = reverse("annotation:restore", args=[leases.sheet.pk])
    page = client_of(leases.manager).post(url, {"moment": moment, "shown": "x"})

    assert page.context["form"].errors["moment"]
    assert standing(leases.annas[0]) == {RENT: "stated"}


def test_restoring_shows_before_it_does(leases: Leases, client_of: ClientOf) -> None:
    moment = a_moment()
    label(leases.annas[0], COMPLETE)
    label(leases.boriss[0], COMPLETE)
    actions.submit(assignment=leases.boriss[0])
    client, url = client_of(leases.manager), reverse("annotation:restore", args=[leases.sheet.pk])
    asked = {"moment": moment.strftime("%Y-%m-%dT%H:%M:%S")}

    page = client.get(url, asked)
    said = " ".join(page.content.decode().split())
    assert "6 cells would change." in said
    assert "6 more cells have changed since, in clauses that are submitted; they stay as they are." in said
    assert [(one.rater.code, one.rows, one.cells, one.left) for one in page.context["raters"]] == [
        ("A1", 1, 6, 0),
        ("A2", 0, 0, 6),
    ]
    assert standing(leases.annas[0]) == COMPLETE

    client.post(url, {**asked, "shown": page.context["digest"]})
    assert (standing(leases.annas[0]), standing(leases.boriss[0])) == ({}, COMPLETE)

    again = client.post(url, {**asked, "submitted": "on", "shown": page.context["digest"]})
    assert "have changed since you looked" in again.content.decode()
    assert standing(leases.boriss[0]) == COMPLETE


# --- telling whose labels they are ----------------------------------------------------------------------------------


def test_a_rater_is_told_of_a_restore_until_they_have_read_it(leases: Leases, client_of: ClientOf) -> None:
    first = a_moment()
    label(leases.annas[0], COMPLETE)
    actions.submit(assignment=leases.annas[0])
    label(leases.boriss[0], {RENT: "absent"})
    anna, boris = client_of(leases.anna), client_of(leases.boris)
    work, sheet = reverse("annotation:my-work"), reverse("annotation:sheet", args=[leases.sheet.pk])
    told = "mara brought your labels back to how they were at"

    assert told not in anna.get(work).content.decode()
    restore(leases, first, rater=leases.annas[0].rater, submitted=True)

    for url in (work, sheet):
        said = " ".join(anna.get(url).content.decode().split())
        assert f"{told} {timezone.localtime(first):%Y-%m-%d %H:%M:%S}. 6 cells changed." in said
        assert told not in boris.get(url).content.decode()

    seen = reverse("annotation:restore-seen", args=[leases.sheet.pk])
    assert anna.post(seen, {"on_sheet": "1"}).headers["Location"] == sheet
    assert told not in anna.get(work).content.decode()
    assert told not in anna.get(sheet).content.decode()

    # The next one is told again, and only that one.
    again = a_moment()
    label(leases.annas[0], {RENT: "stated"})
    restore(leases, again)
    page = anna.get(work).content.decode()
    assert page.count(told) == 1
    assert "1 cell changed." in page


def test_who_restores_their_own_labels_is_not_told(leases: Leases, client_of: ClientOf) -> None:
    moment = a_moment()
    label(leases.annas[0], {RENT: "stated"})
    restore(leases, moment, by=leases.anna)

    assert "brought your labels back" not in client_of(leases.anna).get(reverse("annotation:my-work")).content.decode()
