"""Reports of a study as it stood at a moment, by the history of its labels."""

from __future__ import annotations

import csv
import io
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import hypothesis
import pytest
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotation import actions as annotating
from annotation.actions import Answer, Refused
from annotation.labels import history
from annotation.lens import lens
from annotation.models import Label, LabelEvent, PastSubmission, Study
from reports import actions, queries
from reports.contents import contents_of, read_contents
from reports.data.arrays import INCLUDE, Filters, as_moment
from reports.data.label_table import LabelTable
from reports.frozen.comparison import compare
from reports.frozen.recomputing import recompute
from reports.models import Report
from reports.numbers.report import compute
from tests import builders
from tests.annotation.importing import labels_in
from tests.builders import ApiOf, ClientOf, Leases, label

pytestmark = pytest.mark.django_db
RENT = ("Pay rent", "stated")
CELLS = [
    *((RENT, code) for code in ("stated", "implied", "absent")),
    *((("Insure", "stated"), code) for code in ("stated", "absent", None)),
    *((("Give notice · tenant", "act"), code) for code in ("found", "reworded", "absent")),
    *((("Give notice · tenant", "party"), code) for code in ("same", "other")),
    *((("Inspect", "act"), code) for code in ("found", "absent", None)),
    *((("Inspect", "strictness"), code) for code in ("1", "3")),
]


def edits(*kinds: str) -> st.SearchStrategy[list[tuple[Any, ...]]]:
    """Changes by which a study is brought from one state to another: what, whose, in which row, which answer."""
    one = st.tuples(st.sampled_from(kinds), st.integers(0, 2), st.integers(0, 1), st.sampled_from(CELLS))
    return st.lists(one, max_size=12)


def do(leases: Leases, change: tuple[Any, ...], began: datetime) -> None:
    """Make a change; what is not to be done in this state is not."""
    kind, who, row, (cell, code) = change
    assignment = (leases.annas, leases.boriss, leases.judges)[who][row]
    user = (leases.anna, leases.boris, leases.anna)[who]
    try:
        with transaction.atomic():
            if kind == "label":
                label(assignment, {cell: code}, note="Unsure." if who else None)
            elif kind == "skip":
                at = builders.answer(leases.sheet, *cell, None)
                answer = Answer(at.column, at.question, None, skip="Cut off.")
                annotating.record(assignment=assignment, answers=[answer], key=uuid.uuid4())
            elif kind == "submit":
                annotating.submit(assignment=assignment, allow_open=True)
            elif kind == "reopen":
                annotating.reopen(assignment=assignment)
            elif kind == "draft":
                annotating.draft(assignment=assignment, rater=leases.judges[0].rater, key=uuid.uuid4())
            elif kind == "confirm":
                annotating.confirm(assignment=assignment, key=uuid.uuid4())
            elif kind == "look":
                annotating.note_look(sheet=leases.sheet, user=user)
            elif kind == "restore":
                restore(leases, began + (timezone.now() - began) / 2)
            else:
                at = builders.answer(leases.sheet, *cell, code)
                annotating.adjudicate(
                    row=assignment.row,
                    column=at.column,
                    question=at.question,
                    option=at.option,
                    value=at.value,
                    reason="So it is.",
                    by=leases.manager,
                )
    except Refused:
        pass


def content(leases: Leases, **filters: Any) -> bytes:
    return queries.label_table(leases.study, Filters(**filters), notes=True).content


def as_it_stood(leases: Leases, moment: datetime, **filters: Any) -> bytes:
    return content(leases, as_of=as_moment(moment), **filters)


@hypothesis.settings(
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
    # A failing example is small enough, and each step of making it smaller takes a report.
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.reuse, hypothesis.Phase.generate],
    max_examples=10,
)
@given(
    edits("label", "label", "label", "skip", "submit", "look", "decide", "reopen", "draft", "confirm", "restore"),
    edits("label", "label", "skip", "submit", "look", "decide", "reopen", "draft", "confirm", "restore"),
    st.sampled_from([{}, {"exposure": INCLUDE}, {"submitted_only": True}]),
)
def test_what_was_frozen_at_a_moment_is_what_stood_at_it(
    leases: Leases, before: Sequence[tuple[Any, ...]], after: Sequence[tuple[Any, ...]], chosen: Mapping[str, Any]
) -> None:
    with transaction.atomic():
        began = timezone.now()
        for judged in leases.judges:
            label(judged)
            annotating.submit(assignment=judged, allow_open=True)
        for change in before:
            do(leases, change, began)
        try:
            frozen = actions.freeze(study=leases.study, title="Then", filters=Filters(**chosen), by=None)
        except Refused:  # these filters leave no label
            hypothesis.reject()
        table = content(leases, **chosen)
        moment = timezone.now()
        for change in after:
            do(leases, change, moment)

        assert as_it_stood(leases, moment, **chosen) == table
        assert numbers_as_of(leases.study, frozen, moment) == []
        transaction.set_rollback(True)


def numbers_as_of(study: Study, frozen: Report, moment: datetime) -> list[Any]:
    """What differs from a frozen report in one of the same filters as of a moment."""
    filters = Filters.from_json({**frozen.filters, "as_of": as_moment(moment)})
    made = contents_of(compute(queries.load(study, filters, frequent=True), filters))
    return list(compare(read_contents(frozen.results), made).changes)


# --- what is known of then, and what is not --------------------------------------------------------------------------


def test_what_was_changed_or_cleared_since_comes_back_as_it_was(leases: Leases) -> None:
    for assignment in leases.judges:
        label(assignment)
    label(leases.annas[0], note="Hm.")
    moment, then = timezone.now(), content(leases)
    label(leases.annas[0], {RENT: "absent", ("Insure", "stated"): None, ("Give notice · tenant", "act"): "absent"})
    label(leases.annas[0], {RENT: "implied"}, note="")
    assert content(leases) != then
    assert as_it_stood(leases, moment) == then


def test_work_that_was_submitted_empty_and_taken_back_was_begun(leases: Leases) -> None:
    for assignment in leases.judges:
        label(assignment)
    annotating.submit(assignment=leases.annas[0], allow_open=True)
    annotating.reopen(assignment=leases.annas[0])
    moment, then = timezone.now(), content(leases)
    label(leases.annas[0])
    assert as_it_stood(leases, moment) == then


def test_what_was_blind_stays_blind_and_what_was_not_does_not(leases: Leases) -> None:
    """Anna chooses, looks, and chooses the same again: that is no answer after a look. Another one is."""
    for assignment in (leases.annas[0], *leases.judges):
        label(assignment, {RENT: "stated"})
    annotating.note_look(sheet=leases.sheet, user=leases.anna)
    label(leases.annas[0], {RENT: "stated"})
    blind, then = timezone.now(), content(leases)
    label(leases.annas[0], {RENT: "absent"})
    seen, later = timezone.now(), content(leases)
    label(leases.annas[0], {RENT: None})
    assert as_it_stood(leases, blind) == then
    assert as_it_stood(leases, seen) == later
    tables = [queries.label_table(leases.study, Filters(as_of=as_moment(at))) for at in (blind, seen)]
    assert [table.labels[0, 5] for table in tables] == [0, 1]


def test_what_a_restore_brought_back_is_as_blind_as_it_was(leases: Leases) -> None:
    """An answer from before a look was one after it, where it had been brought back to a moment after the look."""
    for assignment in leases.judges:
        label(assignment)
    label(leases.annas[0], {RENT: "stated"})
    annotating.note_look(sheet=leases.sheet, user=leases.anna)
    to = timezone.now()
    label(leases.annas[0], {RENT: "absent"})
    restore(leases, to)
    moment, then = timezone.now(), content(leases)
    label(leases.annas[0], {RENT: "implied"})
    assert as_it_stood(leases, moment) == then
    assert table_of(leases, moment).labels[0, 5] == 0


def restore(leases: Leases, to: datetime) -> None:
    todo = history.preview(history.changes(leases.sheet, to=to), submitted=False).done
    annotating.restore(sheet=leases.sheet, to=to, shown=lens.digest(todo), by=leases.manager)


def test_who_cleared_what_was_clear_had_not_begun(leases: Leases) -> None:
    """Such a row was open, and started as of then."""
    for assignment in leases.judges:
        label(assignment)
    label(leases.annas[0], {RENT: None})
    moment, then = timezone.now(), content(leases)
    assert as_it_stood(leases, moment) == then


def test_a_submission_that_was_taken_back_since_stands_as_of_then(leases: Leases) -> None:
    """It counted as not submitted, from its first moment on. By each way that takes one back."""
    for assignment in leases.judges:
        label(assignment)
    for assignment in leases.annas:
        label(assignment)
        annotating.submit(assignment=assignment)
    mine = leases.annas[0]

    def again(take_back: Callable[[], object]) -> None:
        """Submitted, taken back, and submitted once more: as of each of these moments it is what it was."""
        submitted, then = timezone.now(), content(leases, submitted_only=True)
        take_back()
        mine.refresh_from_db()
        assert mine.state == "started"
        taken_back, meanwhile = timezone.now(), content(leases, submitted_only=True)
        annotating.submit(assignment=mine)
        assert as_it_stood(leases, submitted, submitted_only=True) == then
        assert as_it_stood(leases, taken_back, submitted_only=True) == meanwhile
        assert then != meanwhile

    again(lambda: annotating.reopen(assignment=mine))
    answer = builders.answer(leases.sheet, *RENT, "absent")
    again(lambda: annotating.record(assignment=mine, answers=[answer], key=uuid.uuid4(), reopen=True))
    past = list(PastSubmission.objects.filter(assignment=mine).values_list("submitted_at", "until"))
    assert all(begun < until for begun, until in past)
    assert len(past) == 2


def test_what_is_decided_or_reopened_twice_leaves_one_record(leases: Leases) -> None:
    """Gold is opened and closed with each decision, which are its history."""
    label(leases.annas[0])
    annotating.submit(assignment=leases.annas[0])
    for _n in range(2):
        annotating.reopen(assignment=leases.annas[0])
        at = builders.answer(leases.sheet, *RENT, "absent")
        annotating.adjudicate(
            row=leases.annas[0].row,
            column=at.column,
            question=at.question,
            option=at.option,
            reason="It is not there.",
            by=leases.manager,
        )
    assert PastSubmission.objects.count() == 1


def test_a_restore_of_what_was_submitted_is_known_as_of_before(leases: Leases) -> None:
    for assignment in leases.judges:
        label(assignment)
    label(leases.annas[0], {RENT: "stated"})
    to = timezone.now()
    label(leases.annas[0])
    annotating.submit(assignment=leases.annas[0])
    moment, then = timezone.now(), content(leases, submitted_only=True)
    todo = history.preview(history.changes(leases.sheet, to=to), submitted=True).done
    annotating.restore(sheet=leases.sheet, to=to, shown=lens.digest(todo), submitted=True, by=leases.manager)
    leases.annas[0].refresh_from_db()
    assert leases.annas[0].state == "started"
    assert as_it_stood(leases, moment, submitted_only=True) == then


def table_of(leases: Leases, moment: datetime, **filters: Any) -> LabelTable:
    return queries.label_table(leases.study, Filters(as_of=as_moment(moment), **filters))


def test_rows_that_were_withdrawn_since_are_there_with_the_work_that_went_with_them(leases: Leases) -> None:
    label(leases.annas[0])
    label(leases.judges[0])
    label(leases.judges[1])
    moment, then = timezone.now(), content(leases)
    annotating.withdraw_row(row=leases.annas[1].row, reason="Gone.", by=leases.manager)
    assert as_it_stood(leases, moment) == then
    assert [row.withdrawn for row in queries.label_table(leases.study, Filters()).rows] == [False, True]


def test_who_has_work_since_is_not_there(leases: Leases) -> None:
    """Neither a judge and a person of a file, nor what a plan gave."""
    for assignment in (*leases.annas, *leases.judges):
        label(assignment)
    moment, then = timezone.now(), content(leases)
    builders.plan_for_judge(leases, "J2", [leases.annas[0].row_id])
    lines = "sheet,row,rater,section,column,question,answer\nLease,Clause 1,F1,duties,Pay rent,stated,absent\n"
    labels_in(leases.study, lines)
    assert {"F1", "J2"} <= {rater.code for rater in queries.label_table(leases.study, Filters()).raters}
    assert as_it_stood(leases, moment) == then


def test_scores_are_those_of_labels_that_stand_as_they_stood(leases: Leases) -> None:
    label(leases.annas[0], {RENT: "stated"})
    score = {"logprob": -1.0, "n_tokens": 1, "n_characters": 6, "unconditional": None}
    stored = {"options": {"stated": score, "absent": score}, "normalisation": "none"}
    for assignment in leases.judges:
        at = builders.answer(leases.sheet, *RENT, "stated")
        told = Answer(at.column, at.question, at.option, scores=stored)
        annotating.record(assignment=assignment, answers=[told], key=uuid.uuid4())
    moment = timezone.now()
    assert len(table_of(leases, moment).scored) == 2
    label(leases.judges[1], {RENT: "absent"})
    then = table_of(leases, moment)
    assert [then.labels[place, 0] for place in then.scored.tolist()] == [then.labels[1, 0]]
    assert then.labels[:, 3].tolist() == [0, 0, 0]


# --- pages, files, programs ------------------------------------------------------------------------------------------


@pytest.fixture
def changed(leases: Leases) -> datetime:
    """Two hours ago Anna had answered both clauses and Boris one; an hour after this moment, which is one of a whole
    second, Anna thought otherwise of one cell and cleared another."""
    for assignment in (*leases.annas, leases.boriss[0]):
        label(assignment)
    moment = timezone.now().replace(microsecond=0) - timedelta(hours=1)
    LabelEvent.objects.update(at=moment - timedelta(hours=1))
    Label.objects.update(updated_at=moment - timedelta(hours=1))
    Study.objects.filter(pk=leases.study.pk).update(created_at=moment - timedelta(days=1))
    leases.study.refresh_from_db()
    label(leases.annas[0], {RENT: "absent", ("Insure", "stated"): None})
    return moment


def test_both_sides_of_a_comparison_have_a_moment(leases: Leases, changed: datetime, client_of: ClientOf) -> None:
    reader = client_of(leases.researcher)
    asked = {"a-as_of": f"{changed:%Y-%m-%dT%H:%M:%S}", "b-exposure": "leave_out"}
    page = reader.get(reverse("reports:compare-live", args=["leases"]), asked)
    first, second = (page.context[side] for side in ("first", "second"))
    assert first.title == f"as it stood on {changed:%Y-%m-%d %H:%M:%S} UTC".replace(":00 UTC", " UTC")
    assert page.context["names"] == (first.title, "as the study stands")
    assert (first.contents.n_labels, second.contents.n_labels) == (18, 17)
    assert [said.name for said in page.context["said"] if said.differs] == ["As it stood on"]
    assert not page.context["compared"].equal
    content = page.content.decode()
    assert content.count('name="a-as_of"') == content.count('name="b-as_of"') == 1


def test_the_page_says_of_when_it_is(leases: Leases, changed: datetime, client_of: ClientOf) -> None:
    reader = client_of(leases.researcher)
    page = reader.get(reverse("reports:report", args=["leases"]), {"as_of": changed.isoformat()})
    assert page.context["live"].n_labels == 18
    assert "This is as the study stood on" in page.content.decode()
    assert "This is as the study stood on" not in reader.get(page.request["PATH_INFO"]).content.decode()


@pytest.mark.parametrize("zone", ["UTC", "Europe/Prague", "America/New_York"])
def test_a_time_without_an_offset_is_one_of_the_site(
    leases: Leases, changed: datetime, api_of: ApiOf, zone: str
) -> None:
    program, address = api_of(leases.researcher), reverse("api:report", args=["leases"])
    with timezone.override(zone):
        local = timezone.localtime(changed)
        told = program.get(address, {"as_of": f"{local:%Y-%m-%dT%H:%M:%S}"}).json()
        with_offset = program.get(address, {"as_of": local.isoformat()}).json()
    assert told["filters"]["as_of"] == with_offset["filters"]["as_of"] == as_moment(changed.astimezone(UTC))
    [who] = [table for table in told["tables"] if table["key"] == "raters"]
    assert sum(row["labels"] for row in who["rows"]) == 18


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("9999-12-31T23:59:59-14:00", "This moment is still to come."),
        ("2020-01-01T00:00:00", "nothing stood in it before."),
        ("0001-01-01T00:00:00+14:00", "nothing stood in it before."),
        ("yesterday", "Enter a valid date/time."),
    ],
)
def test_no_other_moment_is_taken(
    leases: Leases, changed: datetime, client_of: ClientOf, api_of: ApiOf, asked: str, said: str
) -> None:
    refused = api_of(leases.researcher).get(reverse("api:report", args=["leases"]), {"as_of": asked})
    assert (refused.status_code, said in refused.content.decode()) == (400, True)
    address = reverse("reports:compare-live", args=["leases"])
    page = client_of(leases.researcher).get(address, {"a-as_of": asked})
    assert said in page.content.decode()
    assert "first" not in page.context
    assert "<details open><summary>What goes in" not in page.content.decode()


def test_a_frozen_report_has_no_other_moment(leases: Leases, changed: datetime, client_of: ClientOf) -> None:
    """It was compared as it was frozen, and nothing said that the moment did not count."""
    frozen = actions.freeze(study=leases.study, title="Then", filters=Filters(), by=None)
    reader, address = client_of(leases.researcher), reverse("reports:compare-live", args=["leases"])
    page = reader.get(address, {"a-moment": str(frozen.pk), "b-as_of": f"{changed:%Y-%m-%dT%H:%M:%S}"})
    assert page.context["first"].frozen == frozen
    page = reader.get(address, {"a-moment": str(frozen.pk), "a-as_of": f"{changed:%Y-%m-%dT%H:%M:%S}"})
    assert "A frozen report stays as it was frozen: leave this empty." in page.content.decode()
    assert "first" not in page.context


def test_a_time_with_an_offset_stands_in_the_field_too(leases: Leases, changed: datetime, client_of: ClientOf) -> None:
    """A browser's field of a time takes none with an offset: it was empty, and the next filter lost the moment."""
    local = timezone.localtime(changed)
    page = client_of(leases.researcher).get(
        reverse("reports:report", args=["leases"]), {"as_of": changed.astimezone(UTC).isoformat()}
    )
    assert f'value="{local:%Y-%m-%dT%H:%M:%S}"' in page.content.decode()


def test_files_of_labels_have_those_of_then(leases: Leases, changed: datetime, client_of: ClientOf) -> None:
    reader, address = client_of(leases.researcher), reverse("reports:labels", args=["leases"])
    now, then = (
        list(csv.DictReader(io.StringIO(b"".join(reader.get(address, asked)).decode("utf-8-sig"))))
        for asked in ({}, {"as_of": changed.isoformat()})
    )
    assert (len(now), len(then)) == (17, 18)
    assert now[0].keys() - then[0].keys() == {"updated_at"}
    wanted = {"rater": "A1", "row": "Clause 1", "column": "Pay rent"}
    answers = [[line["answer"] for line in lines if wanted.items() <= line.items()] for lines in (now, then)]
    assert answers == [["absent"], ["stated"]]


def test_one_can_be_frozen_and_comes_out_the_same(leases: Leases, changed: datetime) -> None:
    filters = Filters(as_of=as_moment(changed))
    frozen = actions.freeze(study=leases.study, title="Then", filters=filters, by=None)
    label(leases.annas[1], {RENT: None})
    assert recompute(frozen).equal
    assert numbers_as_of(leases.study, frozen, changed) == []


def test_filters_of_the_study_as_it_stands_are_written_as_they_always_were() -> None:
    assert "as_of" not in Filters().to_json()
    assert Filters.from_json(Filters().to_json()) == Filters()
