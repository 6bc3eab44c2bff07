"""Programs of others are called when something happens: after it has, by a worker, until they have answered."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from accounts import actions as accounts
from annotation import actions as annotating
from annotation import queries as annotation_queries
from annotation.crowd import actions as crowd
from annotation.labels import history
from annotation.lens import lens
from annotation.models import Assignment, AuditEvent, Delivery, PastSubmission, Plan, Sheet, Study, Webhook
from annotation.planning import Design, OverlapRequest
from annotation.queries import undoing
from annotation.webhooks import actions, delivering, outbox, queries
from tests import builders
from tests.annotation.at_once import in_another_connection, postgresql
from tests.annotation.planning import apply, apply_sections
from tests.annotation.receiving import ORIGIN, Receiver, deliver, later, made_hook, receiver, states
from tests.annotation.test_crowd import made, submit_all
from tests.builders import ApiOf, ClientOf, Leases
from work import actions as machine
from work import queries as work
from work.actions import Held
from work.states import ItemState

DOCS = Path(__file__).parents[2] / "docs" / "webhooks.md"
DAY = timedelta(days=1)


@pytest.fixture
def heard() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


@pytest.fixture
def hook(leases: Leases, heard: Receiver) -> Webhook:
    """Of all events; Anna's and Boris's rows are answered, and nobody has submitted one."""
    for assignment in (*leases.annas, *leases.boriss):
        builders.label(assignment)
    return made_hook(leases.study, heard.address, by=leases.manager)[0]


def fresh(hook: Webhook) -> Webhook:
    return Webhook.objects.select_related("study").get(pk=hook.pk)


def submit(assignment: Assignment) -> None:
    annotating.submit(assignment=assignment)


@pytest.fixture
def verified() -> Callable[..., bool]:
    """The example of the documentation, as it stands there."""
    [example] = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    told: dict[str, Any] = {}
    exec(example, told)
    found: Callable[..., bool] = told["verified"]
    return found


# --- what is told, and when -------------------------------------------------------------------------------------------


def test_a_submitted_row_is_told_and_verified_as_the_documentation_does(
    leases: Leases, heard: Receiver, verified: Callable[..., bool]
) -> None:
    _hook, secret = made_hook(leases.study, heard.address, "row.submitted")
    builders.label(leases.annas[0])
    submit(leases.annas[0])
    assert heard.calls == []  # not by who submits
    assert deliver() == 1
    [call] = heard.calls
    row = leases.annas[0].row
    assert call.path == "/hook"
    assert call.headers["content-type"] == "application/json"
    told = call.told
    assert uuid.UUID(told.pop("id")) == uuid.UUID(call.headers["webhook-id"])
    assert abs(datetime.fromisoformat(told.pop("timestamp")) - timezone.now()) < timedelta(minutes=1)
    assert told == {
        "type": "row.submitted",
        "study": "leases",
        "url": f"{ORIGIN}/api/v1/rows/{row.pk}/",
        "data": {"sheet": row.sheet_id, "row": row.pk, "assignment": leases.annas[0].pk, "rater": "A1"},
    }
    assert verified(call.body, call.headers, secret)
    assert not verified(call.body + b" ", call.headers, secret)
    assert not verified(call.body, call.headers, made_hook(leases.study, heard.address)[1])
    old = str(int(call.headers["webhook-timestamp"]) - 600)
    assert not verified(call.body, call.headers | {"webhook-timestamp": old}, secret)
    [delivery] = Delivery.objects.all()
    assert (delivery.state, delivery.status, delivery.attempts, delivery.error) == ("done", 200, 1, "")


def test_what_is_rolled_back_is_told_to_nobody(leases: Leases, hook: Webhook, heard: Receiver) -> None:
    class Broken(Exception):
        pass

    def broken() -> None:
        with transaction.atomic():
            submit(leases.annas[0])
            assert hook.items.count() == 1
            raise Broken

    with pytest.raises(Broken):
        broken()
    assert (deliver(), heard.calls, hook.items.count()) == (0, [], 0)
    assert fresh(hook).state == Webhook.State.FINISHED


def test_rows_are_told_when_they_come_back_and_the_sheet_when_all_are_in(
    leases: Leases, hook: Webhook, heard: Receiver
) -> None:
    *first, last = [*leases.annas, *leases.boriss]
    for assignment in first:
        submit(assignment)
    annotating.reopen(assignment=first[0])
    annotating.reopen(assignment=first[0])  # it is open by now
    submit(last)
    submit(last)  # and this one submitted
    deliver()
    assert heard.events == ["row.submitted"] * 3 + ["row.reopened", "row.submitted"]
    submit(first[0])
    deliver()
    assert heard.events[5:] == ["row.submitted", "sheet.completed"]
    assert heard.told[-1]["url"] == f"{ORIGIN}/api/v1/sheets/{leases.sheet.pk}/"
    assert heard.told[-1]["data"] == {"sheet": leases.sheet.pk}
    # A correction takes it back, and completes the sheet anew.
    again = {("Pay rent", "stated"): "absent"}
    given = [builders.answer(leases.sheet, *cell, option) for cell, option in again.items()]
    annotating.record(assignment=last, answers=given, key=uuid.uuid4(), reopen=True)
    annotating.record(assignment=last, answers=given, key=uuid.uuid4(), reopen=True)
    submit(last)
    deliver()
    assert heard.events[7:] == ["row.reopened", "row.submitted", "sheet.completed"]


def test_a_sheet_with_a_row_that_nobody_has_is_not_complete(leases: Leases, hook: Webhook, heard: Receiver) -> None:
    extra = builders.row(leases.sheet, "Clause 3")
    for assignment in (*leases.annas, *leases.boriss):
        submit(assignment)
    deliver()
    assert "sheet.completed" not in heard.events
    annotating.reopen(assignment=leases.annas[0])
    annotating.withdraw_row(row=extra, reason="Twice", by=leases.manager)
    submit(leases.annas[0])
    deliver()
    assert heard.events[-1] == "sheet.completed"


def by_withdrawing(leases: Leases) -> None:
    for row in leases.sheet.rows.filter(assignments=leases.boriss[1]):
        annotating.withdraw_row(row=row, reason="Twice", by=leases.manager)


def by_leaving(leases: Leases) -> None:
    annotating.remove_member(membership=leases.study.memberships.get(user=leases.boris), by=leases.manager)


def by_erasing(leases: Leases) -> None:
    accounts.erase(user=leases.boris, by=leases.manager)


@pytest.mark.parametrize("taken_back", [by_withdrawing, by_leaving, by_erasing])
def test_a_sheet_is_complete_when_what_is_left_of_it_is_taken_back(
    leases: Leases, hook: Webhook, heard: Receiver, taken_back: Callable[[Leases], None]
) -> None:
    """Boris has begun nothing of the second row; Anna has submitted both."""
    other = builders.sheet(leases.study, "Loan")
    builders.assignments(leases.annas[0].rater, other)
    builders.assignments(leases.boriss[0].rater, other)
    Assignment.objects.filter(pk=leases.boriss[1].pk).update(state="open", started_at=None)
    for assignment in (*leases.annas, leases.boriss[0]):
        submit(assignment)
    deliver()
    heard.calls.clear()
    taken_back(leases)
    deliver()
    assert [(one["type"], one["data"]) for one in heard.told] == [("sheet.completed", {"sheet": leases.sheet.pk})]
    # It is by now: what else is taken back says nothing new of it.
    taken_back_again = leases.sheet.rows.exclude(assignments=leases.boriss[1]).get()
    annotating.withdraw_row(row=taken_back_again, reason="Twice", by=leases.manager)
    deliver()
    assert len(heard.calls) == 1


def given_to_boris_too(leases: Leases, sheet: Sheet) -> Plan:
    request = annotation_queries.MoreRequest((leases.boriss[0].rater.pk,), (sheet.pk,))
    drawn = annotation_queries.draw_more(leases.study, request, annotation_queries.had(leases.study)).digest
    return annotating.give_to_more(study=leases.study, request=request, drawn=drawn, by=leases.manager)


def test_a_sheet_is_complete_when_the_plan_of_what_is_left_is_undone(
    leases: Leases, hook: Webhook, heard: Receiver
) -> None:
    loan = builders.sheet(leases.study, "Loan", n_rows=2)
    for assignment in builders.assignments(leases.annas[0].rater, loan):
        builders.label(assignment)
        submit(assignment)
    plan = given_to_boris_too(leases, loan)
    assert leases.boriss[0].rater.assignments.filter(row__sheet=loan, state="open").count() == 2
    deliver()
    assert heard.events.count("sheet.completed") == 1  # before Boris was given the same
    annotating.undo_plan(plan=plan)
    deliver()
    assert heard.events.count("sheet.completed") == 2
    assert heard.told[-1]["data"] == {"sheet": loan.pk}


def test_a_sheet_is_complete_when_the_last_place_of_a_crowd_becomes_free(
    leases: Leases, hook: Webhook, heard: Receiver
) -> None:
    sheet = builders.sheet(leases.study, "Crowd", n_rows=2)
    link = made(leases, sheet)
    alba, _bora = (crowd.take_place(link=link, number=number) for number in ("alba", "bora"))
    submit_all(alba)
    deliver()
    assert "sheet.completed" not in heard.events
    link.participants.update(came_at=timezone.now() - timedelta(hours=4))
    assert crowd.free_late_places(link=link) == 1
    deliver()
    assert heard.told[-1]["data"] == {"sheet": sheet.pk}
    assert heard.events[-1] == "sheet.completed"


def test_what_keeps_a_sheet_open_is_not_complete_without_it(leases: Leases, hook: Webhook, heard: Receiver) -> None:
    """A row that was begun is still somebody's after it is withdrawn; a sheet of which nobody has submitted anything
    has nothing to tell, and one that is archived is put away."""
    first, second = leases.sheet.rows.order_by("position")
    for row in (first, second):
        annotating.withdraw_row(row=row, reason="Gone", by=leases.manager)
    annotating.withdraw_row(row=builders.row(leases.sheet, "Clause 3"), reason="Gone", by=leases.manager)
    empty = builders.sheet(leases.study, "Empty", n_rows=1)
    annotating.withdraw_row(row=empty.rows.get(), reason="Gone", by=leases.manager)
    shut = builders.sheet(leases.study, "Shut", n_rows=2)
    [one, _other] = builders.assignments(leases.annas[0].rater, shut)
    builders.label(one)
    submit(one)
    annotating.archive_sheet(sheet=shut, by=leases.manager)
    annotating.withdraw_row(row=shut.rows.latest("position"), reason="Gone", by=leases.manager)
    deliver()
    assert heard.events == ["row.submitted"]
    for assignment in (*leases.annas, *leases.boriss):
        submit(assignment)
    deliver()
    assert heard.events[1:] == ["row.submitted"] * 4 + ["sheet.completed"]


def test_only_the_events_that_are_wanted_are_told_and_none_of_a_judges_rows(leases: Leases, heard: Receiver) -> None:
    made_hook(leases.study, heard.address, "sheet.completed")
    other = builders.study("other", of=leases.study.scheme)
    made_hook(other, heard.address)
    judge = leases.judges[0]
    builders.label(judge)
    annotating.submit(assignment=judge, allow_open=True)
    for assignment in (*leases.annas, *leases.boriss):
        builders.label(assignment)
        submit(assignment)
    deliver()
    assert heard.events == ["sheet.completed"]


def test_a_plan_that_asks_more_of_a_row_takes_it_back(leases: Leases, hook: Webhook, heard: Receiver) -> None:
    loan, anna = builders.sheet(leases.study, "Loan", n_rows=3), leases.annas[0].rater
    apply_sections(leases, loan, anna, ["duties"])
    first, second, _third = given = list(anna.assignments.filter(row__sheet=loan).order_by("pk"))
    for assignment in (first, second):
        builders.label(assignment, {cell: code for cell, code in builders.COMPLETE.items() if cell[1] == "stated"})
        submit(assignment)
    apply_sections(leases, loan, anna, ["acts"])
    deliver()
    assert heard.events == ["row.submitted"] * 2 + ["row.reopened"] * 2
    assert [one["data"]["assignment"] for one in heard.told[2:]] == [one.pk for one in given[:2]]
    # What was submitted before is kept for whoever asks how it stood then.
    kept = PastSubmission.objects.order_by("pk").values_list("assignment", flat=True)
    assert sorted(kept) == [one.pk for one in given[:2]]


def test_a_row_that_is_restored_is_taken_back(leases: Leases, hook: Webhook, heard: Receiver) -> None:
    moment = timezone.now()
    answer = builders.answer(leases.sheet, "Pay rent", "stated", "absent")
    annotating.record(assignment=leases.annas[0], answers=[answer], key=uuid.uuid4())
    submit(leases.annas[0])
    differs = history.changes(leases.sheet, to=moment)
    shown = lens.digest(history.preview(differs, submitted=True).done)
    annotating.restore(sheet=leases.sheet, to=moment, submitted=True, shown=shown, by=leases.manager)
    deliver()
    assert heard.events == ["row.submitted", "row.reopened"]


def test_an_archived_study_tells_nothing(leases: Leases, hook: Webhook, heard: Receiver) -> None:
    submit(leases.annas[0])
    assert undoing.runs_of(leases.study) == []  # it is no work that anybody waits for
    study = annotating.archive_study(study=leases.study, by=leases.manager)
    outbox.tell(Webhook.Event.REPORT_FROZEN, study, name="api:study", args=["leases"], data={})
    deliver()
    assert (heard.calls, hook.items.count()) == ([], 0)
    annotating.unarchive_study(study=study, by=leases.manager)
    submit(leases.boriss[0])
    deliver()
    assert heard.events == ["row.submitted"]


def test_a_study_goes_with_its_webhooks(leases: Leases, heard: Receiver) -> None:
    study = builders.study("short", by=leases.manager)
    hook, _secret = made_hook(study, heard.address)
    actions.try_webhook(hook=hook)
    annotating.delete_study(study=study, by=leases.manager)
    assert not Webhook.objects.exists()
    assert not Delivery.objects.exists()


# --- what it costs who labels -----------------------------------------------------------------------------------------


def counted(act: Callable[[], object]) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        act()
    return [str(query["sql"]) for query in queries]


def test_saving_asks_nothing_of_webhooks_and_submitting_one_small_thing(leases: Leases) -> None:
    anna, judge = leases.annas[0], leases.judges[0]
    saved = counted(lambda: builders.label(anna))
    assert not [sql for sql in saved if "webhook" in sql or "delivery" in sql]
    submitted = counted(lambda: submit(anna))
    assert len([sql for sql in submitted if "webhook" in sql]) == 1
    builders.label(judge)
    assert not [sql for sql in counted(partial(annotating.submit, assignment=judge, allow_open=True)) if "hook" in sql]


def test_taking_work_back_asks_one_small_thing_of_webhooks(leases: Leases) -> None:
    member, row = leases.study.memberships.get(user=leases.anna), leases.sheet.rows.latest("position")
    plan = apply(leases.study, builders.sheet(leases.study, "Loan"), leases.annas[0].rater)
    for take_back in (
        partial(annotating.withdraw_row, row=row, reason="Gone", by=leases.manager),
        partial(annotating.undo_plan, plan=plan),
        partial(annotating.remove_member, membership=member, by=leases.manager),
    ):
        assert len([sql for sql in counted(take_back) if "webhook" in sql]) == 1


def test_a_webhook_costs_who_submits_a_few_statements_however_many_there_are(
    leases: Leases, hook: Webhook, heard: Receiver
) -> None:
    first = counted(lambda: submit(leases.annas[0]))
    for _n in range(3):
        made_hook(leases.study, heard.address, "row.submitted")
    again = counted(lambda: submit(leases.annas[1]))
    assert len(again) <= len(first) + 1


def test_no_queue_is_asked_while_somebody_submits(
    leases: Leases, hook: Webhook, django_capture_on_commit_callbacks: Any
) -> None:
    """A queue that is away would hold them up; the recovery sends what is due."""
    with django_capture_on_commit_callbacks() as callbacks:
        submit(leases.annas[0])
    assert callbacks == []
    with django_capture_on_commit_callbacks() as callbacks:
        machine.recover()
    assert [callback.keywords["batches"] for callback in callbacks] == [[[hook.items.get().pk]]]  # type: ignore[attr-defined]


@postgresql
@pytest.mark.django_db(transaction=True)
def test_of_the_two_last_rows_at_once_one_completes_the_sheet() -> None:
    leases = builders.leases()
    hook, _secret = made_hook(leases.study, "http://127.0.0.1:9")
    for assignment in (*leases.annas, *leases.boriss):
        builders.label(assignment)
    submit(leases.annas[0])
    submit(leases.boriss[0])
    said: list[object] = []
    with transaction.atomic():
        submit(leases.annas[1])
        other = in_another_connection(lambda: submit(leases.boriss[1]), said)
        time.sleep(0.3)
        assert said == []  # it waits for this one's end
    other.join()
    events = list(hook.items.order_by("pk").values_list("event", flat=True))
    assert events.count("sheet.completed") == 1
    assert events[-1] == "sheet.completed"


@postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("first", ["submits", "withdraws"])
def test_of_who_submits_and_who_withdraws_at_once_one_completes_the_sheet(first: str) -> None:
    """Nobody waits for the other one for ever, and the sheet is told once, by who comes last."""
    leases = builders.leases()
    hook, _secret = made_hook(leases.study, "http://127.0.0.1:9")
    for assignment in (*leases.annas, leases.boriss[0]):
        builders.label(assignment)
    submit(leases.annas[0])
    submit(leases.boriss[0])
    row = leases.boriss[1].row
    Assignment.objects.filter(row=row, rater=leases.annas[0].rater).update(state="withdrawn")
    other = builders.row(leases.sheet, "Clause 3")
    [last] = annotating.assign(rater=leases.annas[0].rater, rows=[other])
    builders.label(last)
    deeds = {
        "submits": partial(submit, last),
        "withdraws": partial(annotating.withdraw_row, row=row, reason="Gone", by=leases.manager),
    }
    said: list[object] = []
    with transaction.atomic():
        deeds.pop(first)()
        [deed] = deeds.values()
        thread = in_another_connection(deed, said)
        time.sleep(0.3)
    thread.join()
    events = list(hook.items.order_by("pk").values_list("event", flat=True))
    assert events.count("sheet.completed") == 1
    assert events[-1] == "sheet.completed"


def taken_in_order(first: Assignment, then: Assignment, deed: Callable[[], object]) -> list[object]:
    """What comes of a deed while somebody who writes in two rows has the one and takes the other, as all do: in the
    order of their numbers."""
    assert first.pk < then.pk
    said: list[object] = []
    with transaction.atomic():
        Assignment.objects.select_for_update(no_key=True).get(pk=first.pk)
        thread = in_another_connection(deed, said)
        thread.join(timeout=0.5)
        assert said == []  # it waits
        Assignment.objects.select_for_update(no_key=True).get(pk=then.pk)
    thread.join()
    return said


@postgresql
@pytest.mark.django_db(transaction=True)
def test_who_undoes_a_plan_and_who_writes_in_its_rows_do_not_wait_for_each_other() -> None:
    leases = builders.leases()
    made_hook(leases.study, "http://127.0.0.1:9")
    loan = builders.sheet(leases.study, "Loan", n_rows=1)
    [annas] = builders.assignments(leases.annas[0].rater, loan)
    plan = given_to_boris_too(leases, loan)
    assert taken_in_order(annas, plan.assignments.get(), partial(annotating.undo_plan, plan=plan)) == [1]


@postgresql
@pytest.mark.django_db(transaction=True)
def test_who_archives_a_sheet_and_who_writes_in_its_rows_do_not_wait_for_each_other() -> None:
    leases = builders.leases()
    loan, rater = builders.sheet(leases.study, "Loan", n_rows=2), leases.annas[0].rater
    one, two = (annotating.assign(rater=rater, rows=[row])[0] for row in loan.rows.order_by("-position"))
    Assignment.objects.filter(pk=one.pk).update(active_seconds=1)  # so that it lies behind the other one
    deed = partial(annotating.archive_sheet, sheet=loan, by=leases.manager)
    assert taken_in_order(one, two, deed) == [loan]
    assert set(loan.rows.values_list("assignments__state", flat=True)) == {Assignment.State.WITHDRAWN}


@postgresql
@pytest.mark.django_db(transaction=True)
def test_who_comes_for_a_late_place_and_who_writes_in_its_rows_do_not_wait_for_each_other() -> None:
    leases = builders.leases()
    made_hook(leases.study, "http://127.0.0.1:9")
    sheet = builders.sheet(leases.study, "Crowd", n_rows=1)
    [annas] = builders.assignments(leases.annas[0].rater, sheet)
    link = made(leases, sheet, rows_each=1)
    alba = crowd.take_place(link=link, number="alba")
    link.participants.update(came_at=timezone.now() - timedelta(hours=4))
    assert taken_in_order(annas, alba.rater.assignments.get(), partial(crowd.free_late_places, link=link)) == [1]


@postgresql
@pytest.mark.django_db(transaction=True)
def test_a_plan_that_asks_more_and_who_submits_do_not_wait_for_each_other() -> None:
    """The plan opens Anna's row again, then Boris's, who takes that back at the same moment."""
    leases = builders.leases()
    made_hook(leases.study, "http://127.0.0.1:9")
    raters = [leases.annas[0].rater, leases.boriss[0].rater]
    sheets = [builders.sheet(leases.study, title, n_rows=1) for title in ("Loan", "Mortgage")]
    for rater, sheet in zip(raters, sheets, strict=True):
        apply_sections(leases, sheet, rater, ["duties"])
        of_duties = rater.assignments.select_related("row__sheet").get(row__sheet=sheet)
        annotating.submit(assignment=of_duties, allow_open=True)
    boriss = raters[1].assignments.select_related("row__sheet", "rater").get(row__sheet=sheets[1])
    request = OverlapRequest(raters=2, sheets=(1, 1), raters_per_sheet=1, share_twice=0, seed=1)
    ask_more = partial(
        annotating.apply_design,
        study=leases.study,
        design=Design(request, ((0, 0, 0), (1, 0, 1))),
        request=request,
        raters=raters,
        sheets=sheets,
        by=None,
        sections=["acts"],
    )
    said: list[object] = []
    with transaction.atomic():
        Assignment.objects.select_for_update(no_key=True).get(pk=boriss.pk)
        thread = in_another_connection(ask_more, said)
        thread.join(timeout=0.5)
        assert said == []  # it waits
        annotating.reopen(assignment=boriss)
    thread.join()
    assert len(said) == 1
    assert Delivery.objects.filter(event="row.reopened").count() == 2


@postgresql
@pytest.mark.django_db(transaction=True)
def test_a_webhook_that_is_about_to_end_waits_for_what_comes() -> None:
    """Else the last look of a worker would end it beside a call that is put down, and nobody would send that."""
    leases = builders.leases()
    with receiver() as heard:
        hook, _secret = made_hook(leases.study, heard.address)
        builders.label(leases.annas[0])
        actions.try_webhook(hook=hook)
        said: list[object] = []
        with transaction.atomic():
            submit(leases.annas[0])
            at_work = in_another_connection(lambda: deliver(then=False), said)
            time.sleep(0.5)
        at_work.join()
        assert fresh(hook).state == Webhook.State.RUNNING
        deliver()
        assert heard.events == ["ping", "row.submitted"]
        assert fresh(hook).state == Webhook.State.FINISHED


# --- workers that die, servers that are away --------------------------------------------------------------------------


def test_who_dies_between_the_call_and_its_end_has_it_called_again(
    leases: Leases, hook: Webhook, heard: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    class PowerCut(BaseException):
        pass

    def cut(*_args: object, **_kwargs: object) -> None:
        raise PowerCut

    submit(leases.annas[0])
    machine.recover()
    held = machine.claim(delivering.DELIVERING, hook.items.get().pk)
    assert held is not None
    with monkeypatch.context() as patched:
        patched.setattr(Held, "finishing", cut)
        with pytest.raises(PowerCut):
            delivering.deliver(held)
    assert len(heard.calls) == 1
    assert hook.items.get().state == ItemState.CLAIMED
    assert deliver() == 0  # its lease stands
    Delivery.objects.update(worker="elsewhere/1:4711")
    later(timedelta(minutes=5))
    assert deliver() == 1
    first, second = heard.calls
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    assert states(hook) == [("done", 2, 200)]


def test_a_server_that_is_away_is_called_again_at_growing_distances(
    leases: Leases, hook: Webhook, heard: Receiver
) -> None:
    heard.statuses, heard.says = [503, 503, 200], b"<h1>\x00Busy</h1>\n\x1b[31m " + b"x" * 5000
    submit(leases.annas[0])
    deliver()
    [one] = hook.items.all()
    assert states(hook) == [("queued", 1, 503)]
    assert one.error.startswith("The server answered 503 Service Unavailable. “<h1>Busy</h1> [31m xxx")
    assert len(one.error) < 250
    assert (one.not_before - timezone.now()).total_seconds() == pytest.approx(20, abs=5)
    assert fresh(hook).failing_since is not None
    assert deliver() == 0
    later(timedelta(seconds=21))
    deliver()
    assert (hook.items.get().not_before - timezone.now()).total_seconds() == pytest.approx(120, abs=5)
    later(timedelta(seconds=121))
    assert deliver() == 1
    assert states(hook) == [("done", 3, 200)]
    assert (fresh(hook).failing_since, fresh(hook).rests, fresh(hook).state) == (None, 0, "finished")
    assert len({call.headers["webhook-id"] for call in heard.calls}) == 1
    assert len({call.headers["webhook-timestamp"] for call in heard.calls}) >= 1


def test_a_server_that_is_away_is_not_asked_for_each_call(leases: Leases, hook: Webhook, heard: Receiver) -> None:
    """Workers have other work: after three failures all wait, and what was never tried goes first when it answers."""
    heard.statuses = [500]
    for _n in range(6):
        annotating.reopen(assignment=leases.annas[0])
        submit(leases.annas[0])
    assert hook.items.count() > 6
    deliver()
    assert len(heard.calls) == 3
    rest = fresh(hook).rest_until
    assert rest is not None
    assert all(one.not_before >= rest for one in hook.items.filter(attempts=0))
    submit(leases.annas[1])
    assert deliver() == 0  # what comes meanwhile waits too
    assert len(heard.calls) == 3
    Webhook.objects.update(rests=20)
    later(timedelta(seconds=31))
    deliver()
    assert len(heard.calls) == 4
    rest = fresh(hook).rest_until
    assert rest is not None
    assert (rest - timezone.now()).total_seconds() == pytest.approx(1800, abs=10)
    submit(leases.boriss[0])
    assert deliver() == 0  # half an hour is no clock that was ahead
    assert len(heard.calls) == 4
    later(timedelta(minutes=29, seconds=30))
    heard.statuses = [200]
    later(timedelta(seconds=31))
    deliver()
    assert not hook.items.filter(attempts=0).exists()
    assert fresh(hook).rests == 0


def test_a_call_is_given_up_after_a_day_and_a_webhook_after_three(
    leases: Leases, hook: Webhook, heard: Receiver, client_of: ClientOf
) -> None:
    heard.statuses = [500]
    submit(leases.annas[0])
    passed = timedelta()
    while hook.items.get().state == ItemState.QUEUED:
        deliver()
        wait = (hook.items.get().not_before or timezone.now()) - timezone.now()
        passed += wait
        later(wait + timedelta(seconds=1))
        assert passed < 2 * DAY
    assert len(heard.calls) == len(delivering.WAITS) + 1
    assert timedelta(hours=23) < passed <= DAY
    assert (hook.items.get().state, hook.items.get().attempts) == ("failed", 10)
    assert fresh(hook).is_on  # it is one call
    later(3 * DAY)
    submit(leases.annas[1])
    deliver()
    assert fresh(hook).is_on  # of which nobody knows yet
    Delivery.objects.update(wanted_at=timezone.now() - DAY)
    later(timedelta(minutes=30))
    deliver()
    off = fresh(hook)
    assert off.state == Webhook.State.FAILED
    assert off.error.startswith("No call has got through for 3 days. The server answered 500 Internal Server Error.")
    page = client_of(leases.manager).get(reverse("annotation:study", args=["leases"])).content.decode()
    assert "Palate has switched a webhook off" in page
    n = hook.items.count()
    submit(leases.boriss[0])
    assert hook.items.count() == n  # nobody listens
    heard.statuses = [200]
    actions.switch(hook=off, on=True, by=leases.manager)
    assert (fresh(hook).error, fresh(hook).failing_since) == ("", None)
    submit(leases.boriss[1])
    deliver()
    assert heard.events[-2:] == ["row.submitted", "sheet.completed"]
    assert heard.told[-2]["data"]["assignment"] == leases.boriss[1].pk


def test_managers_get_a_mail_when_their_webhook_is_switched_off(
    leases: Leases, hook: Webhook, heard: Receiver, django_capture_on_commit_callbacks: Any
) -> None:
    heard.statuses = [410]
    submit(leases.annas[0])
    with django_capture_on_commit_callbacks(execute=True):
        deliver()
    assert fresh(hook).state == Webhook.State.FAILED
    assert states(hook) == [("failed", 1, 410)]
    [message] = mail.outbox
    assert message.to == ["mara@example.org"]
    assert message.subject == "A webhook of “Leases” was switched off"
    assert "The server answered 410: it wants no more calls." in message.body
    assert f"{ORIGIN}/studies/leases/settings/webhooks/{hook.pk}/" in message.body


def test_what_waited_while_a_webhook_was_off_is_sent_if_it_is_young(
    leases: Leases, hook: Webhook, heard: Receiver
) -> None:
    submit(leases.annas[0])
    submit(leases.annas[1])
    hook.items.filter(pk=hook.items.order_by("pk")[0].pk).update(wanted_at=timezone.now() - 2 * DAY)
    actions.switch(hook=hook, on=False, by=leases.manager)
    actions.switch(hook=hook, on=False, by=leases.manager)
    assert (deliver(), heard.calls) == (0, [])
    actions.switch(hook=hook, on=True, by=leases.manager)
    deliver()
    assert [state for state, *_rest in states(hook)] == ["failed", "done"]
    done = AuditEvent.objects.filter(what__contains="webhook").order_by("pk").values_list("what", flat=True)
    host = hook.address.split("/")[2]
    assert list(done) == [f"{what}webhook #{hook.pk} {host}" for what in ("+", "off: ", "on: ")]


def test_a_call_that_wears_off_is_seen_by_no_alarm_of_the_queue(leases: Leases, hook: Webhook, heard: Receiver) -> None:
    heard.statuses = [500]
    submit(leases.annas[0])
    Webhook.objects.update(started_at=timezone.now() - 9 * DAY)
    for _n in range(5):
        deliver()
        later((hook.items.get().not_before or timezone.now()) - timezone.now() + timedelta(seconds=1))
        machine.recover()
        assert all(queue.silent < timedelta(minutes=10) for queue in work.standing())


@pytest.mark.parametrize("how", ["it happens", "it is switched on"])
def test_a_webhook_that_slept_for_days_is_seen_by_no_alarm_when_it_wakes(
    leases: Leases, hook: Webhook, heard: Receiver, how: str
) -> None:
    """Its work stood on the queue once, days ago: between two looks of the recovery it was taken for standing there."""
    submit(leases.annas[0])
    if how == "it is switched on":
        actions.switch(hook=hook, on=False, by=None)
    else:
        deliver()
        machine.recover()
        assert fresh(hook).state == Webhook.State.FINISHED
        hook.items.all().delete()
    long_ago = {"started_at": timezone.now() - 9 * DAY, "queued_at": timezone.now() - 5 * DAY}
    Webhook.objects.update(**long_ago, enqueued_at=timezone.now() - 5 * DAY)
    if how == "it is switched on":
        actions.switch(hook=hook, on=True, by=None)
    else:
        submit(leases.annas[1])
    machine.recover()
    [queue] = work.standing()
    assert (queue.waiting, queue.silent < timedelta(minutes=1)) == (1, True)


# --- where it goes ----------------------------------------------------------------------------------------------------


def test_nobody_is_called_by_a_redirect(leases: Leases, hook: Webhook, heard: Receiver) -> None:
    heard.statuses = [302]
    submit(leases.annas[0])
    deliver()
    assert [call.path for call in heard.calls] == ["/hook"]
    assert hook.items.get().error == "The server answered 302 Found: it leads elsewhere, and nobody follows."


def test_the_own_network_is_called_where_the_operator_lets_it_alone(
    leases: Leases, hook: Webhook, heard: Receiver, settings: Settings
) -> None:
    """The setting is looked at with each call: what was let once is refused since."""
    settings.PALATE_WEBHOOK_HOSTS = []
    submit(leases.annas[0])
    deliver()
    assert heard.calls == []
    assert states(hook) == [("failed", 1, None)]
    assert hook.items.get().error == "The address begins with https://."


# --- secrets ----------------------------------------------------------------------------------------------------------


def test_a_secret_is_shown_once_and_lies_encrypted(
    leases: Leases, heard: Receiver, client_of: ClientOf, verified: Callable[..., bool]
) -> None:
    client = client_of(leases.manager)
    made = client.post(
        reverse("annotation:webhooks", args=["leases"]),
        {"address": f"{heard.address}/x", "events": ["row.submitted"]},
        follow=True,
    )
    page = made.content.decode()
    [secret] = re.findall(r"<code class=\"wrap\">(whsec_[\w+/=]+)</code>", page)
    hook = Webhook.objects.get()
    at = hook.get_absolute_url()
    assert made.redirect_chain == [(at, 302)]
    assert "no-store" in made.headers["Cache-Control"]
    assert secret not in client.get(at).content.decode()
    assert secret[6:] not in hook.secret
    assert "whsec_" not in str(list(AuditEvent.objects.values_list("what")))
    client.post(reverse("annotation:try-webhook", args=["leases", hook.pk]))
    deliver(then=False)
    assert verified(heard.calls[0].body, heard.calls[0].headers, secret)


def test_while_a_secret_is_changed_both_sign(
    leases: Leases, heard: Receiver, verified: Callable[..., bool], settings: Settings
) -> None:
    hook, old = made_hook(leases.study, heard.address)
    new = actions.make_secret(hook=hook, by=leases.manager)
    actions.try_webhook(hook=hook)
    deliver()
    assert [verified(heard.calls[0].body, heard.calls[0].headers, one) for one in (old, new)] == [True, True]
    later(timedelta(hours=25))
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-key-of-the-installation"
    actions.try_webhook(hook=hook)
    deliver()
    assert [verified(heard.calls[1].body, heard.calls[1].headers, one) for one in (old, new)] == [False, True]
    settings.SECRET_KEY_FALLBACKS = []
    actions.try_webhook(hook=hook)
    deliver()
    assert len(heard.calls) == 2
    assert hook.items.first().error == "The webhook's secret cannot be read any more: make a new one."  # type: ignore[union-attr]


# --- pages and the API ------------------------------------------------------------------------------------------------


def test_a_manager_tries_a_webhook_looks_at_its_calls_and_sends_one_again(
    leases: Leases, hook: Webhook, heard: Receiver, client_of: ClientOf
) -> None:
    client, at = client_of(leases.manager), hook.get_absolute_url()
    heard.statuses = [404, 200]
    assert client.post(reverse("annotation:try-webhook", args=["leases", hook.pk])).status_code == 302
    waits = client.get(at).content.decode()
    assert "on its way" in waits
    assert 'hx-trigger="every 2s"' in waits
    deliver(then=False)
    part = client.get(at, headers={"HX-Request": "true"}).content.decode()
    assert "The server answered 404 Not Found." in part
    assert "<html" not in part
    [ping] = hook.items.all()
    Delivery.objects.update(state="failed", not_before=None)
    again = reverse("annotation:send-again", args=["leases", hook.pk, ping.pk])
    assert "Send again" in client.get(at).content.decode()
    client.post(again)
    client.post(again)  # it waits already
    deliver(then=False)
    assert heard.events == ["ping", "ping"]
    assert heard.calls[0].headers["webhook-id"] == heard.calls[1].headers["webhook-id"]
    page = client.get(at).content.decode()
    assert "delivered" in page
    assert "every 2s" not in page
    actions.switch(hook=hook, on=False, by=leases.manager)
    for url in (again, reverse("annotation:try-webhook", args=["leases", hook.pk])):
        assert "This webhook is switched off" in client.post(url, follow=True).content.decode()
    assert client.post(again.replace(f"/{ping.pk}/", "/0/")).status_code == 404


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://hooks.example/", "The address begins with https://."),
        ("ftp://hooks.example/", "does not begin with http:// or https://"),
        ("hooks.example", "does not begin with http:// or https://"),
        ("https://", "does not begin with http:// or https://"),
        ("https://name:word@hooks.example/", "carries a name or a password"),
        ("https://10.0.0.1/", "a machine that is not public"),
        ("https://[::1]/", "a machine that is not public"),
        ("https://169.254.169.254/latest", "a machine that is not public"),
        ("https://[fe80::1%25eth9]/", "This is no valid address."),
        ("https://93.184.216.34:8443/", "port 8443, which is none of the web&#x27;s"),
        ("https://hooks.example/#part", "What follows a # is never sent"),
        ("https://hooks.example/" + "x" * 500, "at most 500 characters"),
        ("https://hooks.example/\x00", "Null characters are not allowed"),
    ],
)
def test_an_address_that_cannot_be_called_is_refused_where_it_is_given(
    leases: Leases, client_of: ClientOf, address: str, said: str
) -> None:
    client, at = client_of(leases.manager), reverse("annotation:webhooks", args=["leases"])
    answer = client.post(at, {"address": address, "events": ["row.submitted"]})
    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert not Webhook.objects.exists()


def test_a_webhook_is_changed_and_deleted_and_a_study_has_ten(
    leases: Leases, hook: Webhook, client_of: ClientOf, settings: Settings
) -> None:
    client, at = client_of(leases.manager), hook.get_absolute_url()
    submit(leases.annas[0])
    client.post(at, {"address": "https://hooks.example/in", "events": ["run.failed"]})
    assert (fresh(hook).address, fresh(hook).events) == ("https://hooks.example/in", ["run.failed"])
    assert fresh(hook).origin == "http://testserver"
    assert "This field is required" in client.post(at, {"address": "https://hooks.example/in"}).content.decode()
    for _n in range(actions.MOST - 1):
        made_hook(leases.study, "https://hooks.example")
    assert (
        "A study has at most 10 webhooks"
        in client.get(reverse("annotation:webhooks", args=["leases"])).content.decode()
    )
    more = client.post(
        reverse("annotation:webhooks", args=["leases"]), {"address": "https://a.example/", "events": ["run.failed"]}
    )
    assert "A study has at most 10 webhooks" in more.content.decode()
    assert client.post(reverse("annotation:delete-webhook", args=["leases", hook.pk])).status_code == 302
    assert (leases.study.webhooks.count(), Delivery.objects.count()) == (9, 0)


def test_the_page_of_webhooks_asks_a_fixed_number_of_queries(leases: Leases, client_of: ClientOf) -> None:
    client = client_of(leases.manager)
    at = reverse("annotation:webhooks", args=["leases"])
    client.get(at)
    made_hook(leases.study, "https://a.example")
    one = len(counted(lambda: client.get(at)))
    for _n in range(5):
        actions.try_webhook(hook=made_hook(leases.study, "https://a.example")[0])
    assert len(counted(lambda: client.get(at))) == one
    of_one = Webhook.objects.all()[0].get_absolute_url()
    few = len(counted(lambda: client.get(of_one)))
    for _n in range(60):
        actions.try_webhook(hook=fresh(Webhook.objects.all()[0]))
    assert len(counted(lambda: client.get(of_one))) == few
    assert "The last 50 of 60." in client.get(of_one).content.decode()


def test_the_api_does_what_the_pages_do(
    leases: Leases, heard: Receiver, api_of: ApiOf, verified: Callable[..., bool]
) -> None:
    api, at = api_of(leases.manager), "/api/v1/studies/leases/webhooks/"
    made = api.post(at, {"address": f"{heard.address}/in"}, format="json")
    assert made.status_code == 201
    told = made.json()
    secret, pk = told.pop("secret"), told["id"]
    assert told["events"] == Webhook.Event.values
    assert (told["on"], told["error"], told["waiting"], told["called_at"]) == (True, "", 0, None)
    assert api.get(at).json() == [told]
    ping = api.post(f"{at}{pk}/tried/").json()
    assert (ping["event"], ping["state"], ping["body"]["type"]) == ("ping", "queued", "ping")
    deliver(then=False)
    assert verified(heard.calls[0].body, heard.calls[0].headers, secret)
    calls = api.get(f"{at}{pk}/deliveries/").json()
    assert (calls["count"], calls["results"][0]["id"], calls["results"][0]["status"]) == (1, ping["id"], 200)
    again = api.post(f"{at}{pk}/deliveries/{ping['id']}/sent-again/").json()
    assert (again["state"], again["attempts"]) == ("queued", 0)
    deliver(then=False)
    assert len(heard.calls) == 2
    assert api.get(at).json()[0]["called_at"] is not None
    assert api.post(f"{at}{pk}/secret/").json()["secret"] not in (secret, "")
    assert api.post(f"{at}{pk}/switched/", {"on": False}, format="json").json()["on"] is False
    off = api.post(f"{at}{pk}/tried/")
    assert (off.status_code, off.json()["detail"]) == (409, "This webhook is switched off. Switch it on first.")
    wrong = api.post(at, {"address": "http://10.0.0.1/", "events": ["row.labelled"]}, format="json")
    assert (wrong.status_code, list(wrong.json())) == (400, ["events"])
    inside = api.post(at, {"address": "https://10.0.0.1/"}, format="json")
    assert inside.json() == {"address": ["The address leads to a machine that is not public."]}
    changed = api.post(f"{at}{pk}/", {"events": ["run.failed"]}, format="json").json()
    assert (changed["address"], changed["events"]) == (f"{heard.address}/in", ["run.failed"])
    assert api.get(f"{at}{pk}/").json() == changed
    assert api.post(f"{at}{pk}/", {"events": []}, format="json").status_code == 400
    assert api.post(f"{at}{pk}/deleted/").status_code == 204
    assert api.get(at).json() == []


def test_calls_are_deleted_after_a_month(leases: Leases, hook: Webhook) -> None:
    submit(leases.annas[0])
    deliver()
    later(timedelta(days=actions.KEPT_DAYS))
    submit(leases.annas[1])
    assert actions.clean_webhooks() == 1
    assert [one.event for one in hook.items.all()] == ["row.submitted"]
    assert queries.latest(fresh(hook)).total == 1


def test_a_backup_of_it_knows_no_secret(leases: Leases, heard: Receiver) -> None:
    from operating import tables

    _hook, secret = made_hook(leases.study, heard.address)
    lines = b"".join(stored for stored, _counted in tables.lines(Webhook))
    assert heard.address.encode() in lines
    assert secret.encode() not in lines


def test_who_reads_the_study_hears_nothing_of_its_webhooks(leases: Leases, hook: Webhook, client_of: ClientOf) -> None:
    """What a webhook is sent has neither a label nor a text."""
    study = Study.objects.get(pk=leases.study.pk)
    submit(leases.annas[0])
    body = delivering.body_of(hook.items.get())
    for text in ("tenant", "Pay rent", "stated", "anna", study.title, "Clause"):
        assert text.encode() not in body
    assert client_of(leases.researcher).get(hook.get_absolute_url()).status_code == 403
