"""A program deletes a study, as the page does: its address is sent again, and a large one is left to a worker."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from annotation import actions
from annotation.actions import deleting
from annotation.models import AuditEvent, Deletion, Label, Sheet, Study, User
from judges import actions as judging
from judges.models import Judge
from reports import actions as reporting
from reports.data.arrays import Filters
from tests import builders
from tests.builders import ApiOf, ClientOf, Leases
from tests.judges.helpers import LEXICAL
from work import actions as work
from work.states import RunState


@pytest.fixture
def program(leases: Leases, api_of: ApiOf) -> APIClient:
    """Of a manager."""
    return api_of(leases.manager)


@pytest.fixture
def owner(leases: Leases) -> User:
    return builders.user("olga", superuser=True)


@pytest.fixture
def mistake(leases: Leases) -> Study:
    study = builders.study("mistake", of=leases.study.scheme, by=leases.manager)
    builders.sheet(study, n_rows=3)
    return study


def address(slug: str = "leases") -> str:
    return reverse("api:delete-study", args=[slug])


def deleted(program: APIClient, slug: str = "leases", confirm: object = None) -> Any:
    return program.post(address(slug), {"confirm": slug if confirm is None else confirm}, format="json")


def test_an_empty_study_says_what_goes_and_goes(leases: Leases, program: APIClient, mistake: Study) -> None:
    told = program.get(address("mistake")).json()
    assert told.pop("goes").items() >= {"sheets": 1, "rows": 3}.items()
    assert told == {"may_go": True, "built": {}, "frozen": {}, "at_work": []}

    gone = deleted(program, "mistake")

    assert (gone.status_code, gone.content) == (204, b"")
    assert Study.objects.get() == leases.study
    assert not Sheet.objects.filter(study=mistake.pk).exists()
    event = AuditEvent.objects.get(kind=AuditEvent.Kind.DELETION)
    assert event.by == leases.manager.pk
    assert event.what.startswith("study mistake: ")
    assert deleted(program, "mistake").status_code == 404


@pytest.mark.parametrize(
    "body", [{}, {"confirm": ""}, {"confirm": "leases"}, {"confirm": "MISTAKE"}, {"confirm": True}]
)
def test_its_address_is_sent_again_or_nothing_goes(program: APIClient, mistake: Study, body: dict[str, object]) -> None:
    refused = program.post(address("mistake"), body, format="json")

    assert (refused.status_code, list(refused.json())) == (400, ["confirm"])
    if body.get("confirm") == "leases":
        assert refused.json() == {"confirm": ["That is not the address of this study."]}
    assert Study.objects.filter(pk=mistake.pk).exists()


def test_a_labelled_study_is_deleted_by_an_owner_alone(
    leases: Leases, program: APIClient, api_of: ApiOf, owner: User
) -> None:
    builders.label(leases.annas[0])
    told = program.get(address()).json()
    assert (told["may_go"], told["built"]["labels"]) == (False, Label.objects.count())

    refused = deleted(program)

    assert refused.status_code == 409
    assert refused.json()["detail"].startswith("“Leases” cannot be deleted: it was labelled.")
    assert Label.objects.exists()
    assert api_of(owner).get(address()).json()["may_go"]
    assert deleted(api_of(owner)).status_code == 204
    assert not Study.objects.exists()


def test_what_is_frozen_stays_with_its_study(leases: Leases, api_of: ApiOf, owner: User) -> None:
    builders.label(leases.annas[0])
    reporting.freeze(study=leases.study, title="For the paper", filters=Filters(), by=leases.manager)
    told = api_of(owner).get(address()).json()
    assert (told["may_go"], told["frozen"]) == (False, {"frozen reports": 1})

    refused = deleted(api_of(owner))

    assert refused.status_code == 409
    assert "stays with its study" in refused.json()["detail"]
    assert Study.objects.exists()


def test_what_is_at_work_holds_a_study_up(leases: Leases, api_of: ApiOf, owner: User) -> None:
    judge = judging.create_judge(name="J", method=Judge.Method.LEXICAL, prompt_text=LEXICAL)
    builders.plan_for_judge(leases, "J", [row.pk for row in leases.sheet.rows.all()])
    run = judging.start_run(study=leases.study, judge=judge, by=leases.manager)
    told = api_of(owner).get(address()).json()
    assert (told["may_go"], told["at_work"]) == (False, [str(run.maker)])

    refused = deleted(api_of(owner))

    assert refused.status_code == 409
    assert "is at work in this study" in refused.json()["detail"]
    judging.cancel_run(run=run)
    assert deleted(api_of(owner)).status_code == 204


@pytest.mark.parametrize(("who", "status"), [("anna", 403), ("researcher", 403), ("stranger", 404)])
def test_others_neither_delete_nor_see_what_would_go(leases: Leases, api_of: ApiOf, who: str, status: int) -> None:
    """The stranger manages another study."""
    builders.study("other", of=leases.study.scheme, by=leases.stranger)
    program = api_of(getattr(leases, who))
    assert (deleted(program).status_code, program.get(address()).status_code) == (status, status)
    assert Study.objects.filter(pk=leases.study.pk).exists()


def test_an_archived_study_is_deleted_too(program: APIClient, mistake: Study, leases: Leases) -> None:
    actions.archive_study(study=mistake, by=leases.manager)
    assert deleted(program, "mistake").status_code == 204


# --- by a worker ----------------------------------------------------------------------------------------------------


@pytest.fixture
def large(leases: Leases, mistake: Study, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.setattr(deleting, "AT_ONCE", 2)
    return mistake


def test_a_large_study_is_gone_at_once_and_deleted_by_a_worker(
    leases: Leases, program: APIClient, api_of: ApiOf, owner: User, large: Study
) -> None:
    begun = deleted(program, "mistake")

    assert (begun.status_code, begun["Location"]) == (202, begun.json()["url"])
    run = Deletion.objects.get()
    assert (begun.json()["id"], begun.json()["state"], begun.json()["title"]) == (run.pk, "running", "Mistake")
    assert begun.json()["progress"]["waiting"] == 1
    assert program.get(reverse("api:study", args=["mistake"])).status_code == 404
    [listed] = program.get(reverse("api:deletions")).json()
    assert listed["id"] == run.pk
    assert [one["id"] for one in api_of(owner).get(reverse("api:deletions")).json()] == [run.pk]
    for other in (leases.researcher, leases.stranger):
        assert api_of(other).get(reverse("api:deletions")).json() == []
        assert api_of(other).get(begun.json()["url"]).status_code == 404
        assert api_of(other).post(reverse("api:resume-deletion", args=[run.pk])).status_code == 404

    assert work.take_up(run)

    done = program.get(begun.json()["url"]).json()
    assert (done["state"], done["progress"]["done"]) == ("finished", 1)
    assert program.get(reverse("api:deletions")).json() == []
    assert not Study.objects.filter(pk=large.pk).exists()


def test_a_deletion_that_failed_is_taken_up_again_once(
    program: APIClient, large: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    resume = reverse("api:resume-deletion", args=[deleted(program, "mistake").json()["id"]])
    run = Deletion.objects.get()

    def broken(_study: Study) -> Any:
        raise ValueError("out of order")

    with monkeypatch.context() as wrong:
        wrong.setattr(deleting, "_many", broken)
        work.take_up(run)
    [failed] = program.get(reverse("api:deletions")).json()
    assert (failed["state"], "out of order" in failed["error"]) == ("failed", True)

    again = program.post(resume)

    assert (again.status_code, again.json()["state"], again.json()["error"]) == (200, "running", "")
    twice = program.post(resume)
    assert (twice.status_code, twice.json()) == (409, {"detail": "It is at work already."})
    run.refresh_from_db()
    assert work.take_up(run)
    run.refresh_from_db()
    assert run.state == RunState.FINISHED
    late = program.post(resume)
    assert (late.status_code, late.json()) == (409, {"detail": "It is done already."})


# --- while somebody else does something in it -------------------------------------------------------------------------


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("doing", ["delete_study", "archive_study"])
def test_who_comes_a_moment_later_finds_nothing(
    leases: Leases,
    program: APIClient,
    client_of: ClientOf,
    mistake: Study,
    monkeypatch: pytest.MonkeyPatch,
    doing: str,
    large: bool,
) -> None:
    monkeypatch.setattr(deleting, "AT_ONCE", 0 if large else 10_000)
    delete, do = actions.delete_study, getattr(actions, doing)

    def late(*, study: Study, by: User) -> Any:
        if Study.objects.filter(pk=study.pk, deleted_at=None).exists():
            delete(study=Study.objects.get(pk=study.pk), by=by)
        return do(study=study, by=by)

    monkeypatch.setattr(actions, doing, late)
    of_pages, of_programs, body = {
        "delete_study": ("annotation:delete-study", "api:delete-study", {"address": "mistake", "confirm": "mistake"}),
        "archive_study": ("annotation:archive-study", "api:archive-study", {}),
    }[doing]
    response = program.post(reverse(of_programs, args=["mistake"]), body, format="json")
    assert (response.status_code, response.json()) == (404, {"detail": "There is nothing at this address."})
    assert Deletion.objects.count() == large

    builders.sheet(builders.study("another", of=leases.study.scheme, by=leases.manager))
    body = dict.fromkeys(body, "another")
    assert client_of(leases.manager).post(reverse(of_pages, args=["another"]), body).status_code == 404


@pytest.mark.parametrize("name", ["close", "rename", "archive", "delete"])
def test_of_a_sheet_too(
    leases: Leases, program: APIClient, mistake: Study, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    do = getattr(actions, f"{name}_sheet")

    def late(*, sheet: Sheet, **how: Any) -> Any:
        Sheet.objects.get(pk=sheet.pk).delete()
        return do(sheet=sheet, **how)

    monkeypatch.setattr(actions, f"{name}_sheet", late)
    at = reverse(f"api:{name}-sheet", args=[mistake.sheets.get().pk])
    response = program.post(at, {"title": "Other"}, format="json")
    assert (response.status_code, response.json()) == (404, {"detail": "There is nothing at this address."})
