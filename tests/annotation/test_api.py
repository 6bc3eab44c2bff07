"""The API: what it shows to whom, and that it writes as the grid does."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import Settings
from rest_framework.test import APIClient

from annotation import actions
from annotation.models import Assignment, AuditEvent
from tests import builders
from tests.builders import COMPLETE, ApiOf, ClientOf, Leases, label, standing

RENT = ("Pay rent", "stated")
NOTICE_ACT = ("Give notice · tenant", "act")
NOTICE_PARTY = ("Give notice · tenant", "party")
# Words that stand nowhere else: whoever finds them has seen another rater's label.
NOTE_OF_BORIS = "zebra-note-of-boris"
NOTE_OF_JUDGE = "walrus-note-of-judge"


def get(client: APIClient, name: str, *args: object, **query: Any) -> Any:
    response = client.get(reverse(f"api:{name}", args=args), query)
    assert response.status_code == 200, response.content
    return response.json()


def change(leases: Leases, answers: dict[tuple[str, str], str | None], key: uuid.UUID | None = None) -> dict[str, Any]:
    """The body of a request that answers cells, by their names."""
    columns = {column.name: column.pk for column in leases.sheet.columns.all()}
    return {
        "key": str(key or uuid.uuid4()),
        "answers": [
            {"column": columns[column], "question": question, "option": option}
            for (column, question), option in answers.items()
        ],
    }


def post(client: APIClient, name: str, pk: int, body: object = None) -> Any:
    return client.post(reverse(f"api:{name}", args=[pk]), body, format="json")


# --- doors ---


def test_what_is_not_there_is_told_in_words_of_ours(leases: Leases, api_of: ApiOf) -> None:
    """In the language that is asked for, and without the names of classes."""
    api, nowhere = api_of(leases.manager), reverse("api:study", args=["nowhere"])
    assert api.get(nowhere).json() == {"detail": "There is nothing at this address, or not for you."}
    run = reverse("api:run", args=[leases.study.slug, 99])
    assert api.get(run).json() == {"detail": "There is nothing at this address, or not for you."}


def test_what_is_sent_to_an_address_without_its_slash_is_written(
    leases: Leases, api_of: ApiOf, settings: Settings
) -> None:
    api, body = api_of(leases.anna), change(leases, {RENT: "stated"})
    address = reverse("api:assignment-labels", args=[leases.annas[0].pk]).removesuffix("/")
    settings.DEBUG = True  # where Django would fail at it

    response = api.post(address, body, format="json")
    assert (response.status_code, response.headers["Location"]) == (308, f"{address}/")

    followed = api.post(f"{address}?via=cli", body, format="json", follow=True)
    assert followed.redirect_chain == [(f"{address}/?via=cli", 308)]
    assert followed.json()["cells"][0]["option"] == "stated"
    assert standing(leases.annas[0])[RENT] == "stated"


def test_a_password_buys_a_token(leases: Leases) -> None:
    client = APIClient()

    response = client.post(reverse("api:token"), {"username": "anna", "password": "anna"})
    client.credentials(HTTP_AUTHORIZATION=f"Token {response.json()['token']}")

    assert [study["slug"] for study in get(client, "studies")] == ["leases"]


def test_a_wrong_password_buys_nothing(leases: Leases) -> None:
    response = APIClient().post(reverse("api:token"), {"username": "anna", "password": "boris"})

    assert response.status_code == 400
    assert "token" not in response.json()


def test_passwords_are_not_guessed_fast(leases: Leases) -> None:
    cache.clear()

    def guess(address: str, claimed: str) -> int:
        client = APIClient(REMOTE_ADDR=address, HTTP_X_FORWARDED_FOR=claimed)
        return int(client.post(reverse("api:token"), {"username": "anna", "password": "boris"}).status_code)

    # Another address may still ask; one that the client only claims is not another one.
    assert [guess("192.0.2.1", f"198.51.100.{n}") for n in range(12)] == [400] * 10 + [429] * 2
    assert guess("192.0.2.2", "198.51.100.1") == 400


def test_a_wrong_token_opens_nothing(leases: Leases) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION="Token 0123456789012345678901234567890123456789")

    assert client.get(reverse("api:studies")).status_code == 401


def test_a_session_opens_the_api(leases: Leases, client_of: ClientOf) -> None:
    assert client_of(leases.anna).get(reverse("api:studies")).status_code == 200


def test_a_session_writes_only_with_its_csrf_token(leases: Leases) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(leases.anna)

    assert post(client, "reopen", leases.annas[0].pk).status_code == 403


def test_the_schema_describes_every_resource(leases: Leases, api_of: ApiOf) -> None:
    response = api_of(leases.anna).get(reverse("api:schema"), HTTP_ACCEPT="application/vnd.oai.openapi+json")

    paths = response.json()["paths"]
    assert {"/api/v1/studies/", "/api/v1/studies/{slug}/labels/", "/api/v1/assignments/{id}/labels/"} <= set(paths)
    assert {p["name"] for p in paths["/api/v1/studies/{slug}/labels/"]["get"]["parameters"]} == {
        "slug",
        "sheet",
        "rater",
        "question",
        "limit",
        "offset",
    }


# --- studies, sheets, rows ---


@pytest.mark.parametrize(("name", "kind"), [("hits-csv", "text/csv"), ("pages-warc", "application/warc")])
def test_a_file_stands_there_for_who_asks_for_its_form(leases: Leases, api_of: ApiOf, name: str, kind: str) -> None:
    answer = api_of(leases.manager).get(reverse(f"api:{name}", args=["leases"]), HTTP_ACCEPT=kind)
    assert (answer.status_code, answer["Content-Type"].partition(";")[0]) == (200, kind)
    event = AuditEvent.objects.get(kind=AuditEvent.Kind.EXPORT)
    assert event.by == leases.manager.pk
    assert answer["Content-Disposition"] == f'attachment; filename="{event.what}"'


@pytest.mark.parametrize(("query", "accept"), [({}, "text/csv"), ({"format": "csv"}, "*/*"), ({}, "no type")])
def test_what_has_one_form_is_said_in_it(leases: Leases, api_of: ApiOf, query: dict[str, str], accept: str) -> None:
    api = api_of(leases.anna)
    assert [one["slug"] for one in api.get("/api/v1/studies/", query, HTTP_ACCEPT=accept).json()] == ["leases"]
    refused = api.get("/api/v1/studies/leases/raters/", query, HTTP_ACCEPT=accept)
    assert (refused.status_code, list(refused.json())) == (403, ["detail"])


def test_whatever_page_of_labels_is_asked_for_first_is_in_the_log(leases: Leases, api_of: ApiOf) -> None:
    api = api_of(leases.researcher)
    events = AuditEvent.objects.filter(kind=AuditEvent.Kind.EXPORT, by=leases.researcher.pk)

    get(api, "labels", "leases", offset=1)
    assert [event.what for event in events] == ["API: labels"]
    get(api, "labels", "leases", offset=2)  # which belongs to it
    assert events.all().count() == 1
    get(api, "labels", "leases", limit=1000, offset=0)
    get(api, "labels", "leases")
    assert events.all().count() == 3
    get(api, "history", leases.sheet.pk, offset=1)
    get(api, "lens", leases.sheet.pk)
    assert [event.what for event in events.order_by("pk")][3:] == ["API: history", "API: lens"]


def test_studies_lists_only_mine(leases: Leases, api_of: ApiOf) -> None:
    builders.study("secret", of=leases.study.scheme, by=leases.stranger)

    assert get(api_of(leases.manager), "studies") == [
        {
            "slug": "leases",
            "title": "Leases",
            "scheme": "contracts",
            "scheme_version": 1,
            "roles": ["manager", "researcher"],
        }
    ]


def test_study_tells_what_is_asked(leases: Leases, api_of: ApiOf) -> None:
    study = get(api_of(leases.anna), "study", "leases")

    assert study["roles"] == ["annotator"]
    assert study["counts"] == {"sheets": 1, "rows": 2, "columns": 4, "raters": 3}
    assert [section["key"] for section in study["sections"]] == ["duties", "acts"]
    acts = study["sections"][1]
    assert acts["facets"] == ["act", "party"]
    assert [question["key"] for question in acts["questions"]] == ["act", "party", "strictness"]
    assert acts["questions"][1]["ask_unless"] == {"act": ["absent"]}
    assert [(o["key"], o["value"]) for o in acts["questions"][2]["options"]] == [("1", 1), ("2", 2), ("3", 3)]


def test_sheets_are_counted(leases: Leases, api_of: ApiOf) -> None:
    asked = {"closed_at": None, "archived_at": None, "shows_gold": False}
    assert get(api_of(leases.anna), "sheets", "leases") == [
        {"id": leases.sheet.pk, "title": "Lease", "rows": 2, "columns": 4, **asked}
    ]


def test_sheet_has_columns_and_rows_without_evidence(leases: Leases, api_of: ApiOf) -> None:
    sheet = get(api_of(leases.anna), "sheet", leases.sheet.pk)

    assert [(c["section"], c["name"], c["facets"]) for c in sheet["columns"]] == [
        ("duties", "Pay rent", {"duty": "Pay rent"}),
        ("duties", "Insure", {"duty": "Insure"}),
        ("acts", "Give notice · tenant", {"act": "Give notice", "party": "tenant"}),
        ("acts", "Inspect", {"act": "Inspect", "party": ""}),
    ]
    assert [row["name"] for row in sheet["rows"]] == ["Clause 1", "Clause 2"]
    assert "evidence" not in sheet["rows"][0]


def test_row_has_its_evidence(leases: Leases, api_of: ApiOf) -> None:
    row = get(api_of(leases.anna), "row", leases.sheet.rows.get(name="Clause 1").pk)

    assert (row["name"], row["title"], row["url"]) == ("Clause 1", "Lease, Clause 1", "https://law.example/")
    assert [block["kind"] for block in row["evidence"]] == ["heading", "paragraph"]


# --- everybody's labels ---


def test_raters_go_by_their_codes(leases: Leases, api_of: ApiOf) -> None:
    label(leases.annas[0])
    actions.submit(assignment=leases.annas[0])

    response = api_of(leases.researcher).get(reverse("api:raters", args=["leases"]))

    assert response.json()[0] == {
        "code": "A1",
        "kind": "person",
        "simulated": False,
        "active": True,
        "paused_at": None,
        "rows": 2,
        "submitted": 1,
        "failed": 0,
        "labels": len(COMPLETE),
    }
    assert [rater["code"] for rater in response.json()] == ["A1", "A2", "J1"]
    assert b"anna" not in response.content
    assert b"example.org" not in response.content


def test_labels_are_in_long_form(leases: Leases, api_of: ApiOf) -> None:
    label(leases.annas[0], {("Give notice · tenant", "strictness"): "2"}, note="see line 2")

    page = get(api_of(leases.researcher), "labels", "leases")

    assert (page["count"], page["next"], page["previous"]) == (1, None, None)
    [line] = page["results"]
    assert line.pop("updated_at").startswith("20")
    assert line == {
        "sheet": leases.sheet.pk,
        "sheet_title": "Lease",
        "row": leases.annas[0].row_id,
        "row_name": "Clause 1",
        "section": "acts",
        "column": leases.sheet.columns.get(name="Give notice · tenant").pk,
        "column_name": "Give notice · tenant",
        "facets": {"act": "Give notice", "party": "tenant"},
        "question": "strictness",
        "rater": "A1",
        "rater_kind": "person",
        "simulated": False,
        "repeat": 1,
        "state": "started",
        "option": "2",
        "option_label": "2",
        "value": 2,
        "scores": None,
        "note": "see line 2",
        "preset": False,
        "exposed": False,
        "drafted_from": None,
        "confirmed_at": None,
    }


def test_labels_mark_presets(leases: Leases, api_of: ApiOf) -> None:
    label(leases.annas[0], {("Inspect", "act"): "found"})

    lines = get(api_of(leases.researcher), "labels", "leases")["results"]

    assert {line["question"]: line["preset"] for line in lines} == {"act": False, "party": True}


def test_labels_are_filtered(leases: Leases, api_of: ApiOf) -> None:
    other = builders.sheet(leases.study, "Loan", n_rows=1)
    [on_other] = builders.assignments(leases.annas[0].rater, other)
    label(leases.annas[0], {RENT: "stated", NOTICE_ACT: "found"})
    label(leases.boriss[0], {RENT: "absent"})
    label(on_other, {RENT: "implied"})
    client = api_of(leases.researcher)

    def options(**query: Any) -> list[str]:
        return [line["option"] for line in get(client, "labels", "leases", **query)["results"]]

    assert options() == ["stated", "found", "absent", "implied"]
    assert options(sheet=other.pk) == ["implied"]
    assert options(rater="A2") == ["absent"]
    assert options(question="act") == ["found"]
    assert options(question="duties.stated", rater="A1") == ["stated", "implied"]
    for field, value in (("rater", "NOPE"), ("question", "nope"), ("question", "acts.stated"), ("sheet", 99999)):
        refused = client.get(reverse("api:labels", args=["leases"]), {field: value})
        assert (refused.status_code, list(refused.json())) == (400, [field])
        assert str(value) in refused.json()[field][0]


def test_labels_come_in_pages(leases: Leases, api_of: ApiOf) -> None:
    label(leases.annas[0])
    client = api_of(leases.researcher)

    first = get(client, "labels", "leases", limit=4)
    second = client.get(first["next"]).json()

    assert (first["count"], len(first["results"]), len(second["results"])) == (6, 4, 2)
    assert second["next"] is None


@pytest.mark.parametrize(
    "query",
    [
        {"limit": 1001},
        {"limit": 0},
        {"sheet": "first"},
        {"sheet": 0},
        {"sheet": 2**63},
        {"sheet": 2**63 - 1},
        {"sheet": 99999999999999999999},
        {"offset": -1},
        {"offset": 2**63},
        {"rater": "A\0"},
        {"question": "act\0"},
    ],
    ids=str,
)
def test_labels_refuse_a_query_that_means_nothing(leases: Leases, api_of: ApiOf, query: dict[str, Any]) -> None:
    response = api_of(leases.researcher).get(reverse("api:labels", args=["leases"]), query)

    assert response.status_code == 400
    assert set(response.json()) == set(query)


def test_labels_beyond_all_that_there_is_are_none(leases: Leases, api_of: ApiOf) -> None:
    label(leases.annas[0])

    assert get(api_of(leases.researcher), "labels", "leases", offset=2**63 - 1)["results"] == []


@pytest.mark.parametrize("name", ["sheet", "row", "assignment-labels"])
def test_an_address_with_a_number_beyond_all_ids_is_not_there(leases: Leases, api_of: ApiOf, name: str) -> None:
    assert api_of(leases.anna).get(reverse(f"api:{name}", args=[99999999999999999999])).status_code == 404


def test_labels_cost_the_same_for_few_and_many(leases: Leases, api_of: ApiOf) -> None:
    for assignment in (*leases.annas, *leases.boriss):
        label(assignment)
    client = api_of(leases.researcher)

    costs = []
    for limit in (2, 24):
        with CaptureQueriesContext(connection) as captured:
            page = get(client, "labels", "leases", limit=limit)
        costs.append((len(page["results"]), len(captured)))

    # Token with user, study, roles, count, labels, whether they label here too, whether documents are set aside.
    assert costs == [(2, 8), (24, 8)]


def test_labels_of_another_study_are_not_among_them(leases: Leases, api_of: ApiOf) -> None:
    other = builders.study("other", of=leases.study.scheme, by=leases.stranger)
    sheet = builders.sheet(other)
    [assignment, _] = builders.assignments(builders.rater(other, leases.stranger), sheet)
    label(assignment, {RENT: "stated"})

    assert get(api_of(leases.researcher), "labels", "leases")["count"] == 0
    assert get(api_of(leases.stranger), "labels", "other")["count"] == 1


# --- my own work ---


def test_my_assignments_are_mine(leases: Leases, api_of: ApiOf) -> None:
    mine = get(api_of(leases.anna), "my-assignments")

    assert [(a["id"], a["sheet_title"], a["row_name"], a["state"]) for a in mine] == [
        (leases.annas[0].pk, "Lease", "Clause 1", "open"),
        (leases.annas[1].pk, "Lease", "Clause 2", "open"),
    ]


def test_my_labels_are_shown(leases: Leases, api_of: ApiOf) -> None:
    label(leases.annas[0], {RENT: "stated"})

    lines = get(api_of(leases.anna), "assignment-labels", leases.annas[0].pk)

    assert [(line["column_name"], line["option"]) for line in lines] == [("Pay rent", "stated")]


def test_what_was_skipped_is_read_with_its_reason(leases: Leases, api_of: ApiOf) -> None:
    """It could be written there, and was in no list."""
    body = change(leases, {RENT: None})
    body["answers"][0]["skip"] = "The page is cut off."
    assert post(api_of(leases.anna), "assignment-labels", leases.annas[0].pk, body).status_code == 200

    mine = get(api_of(leases.anna), "assignment-skips", leases.annas[0].pk)
    everybodys = get(api_of(leases.researcher), "skips", "leases", rater="A1", question="stated")

    assert everybodys["results"] == mine
    [line] = mine
    assert (line["row_name"], line["column_name"], line["question"], line["rater"], line["state"], line["reason"]) == (
        *("Clause 1", "Pay rent", "stated", "A1", "started"),
        "The page is cut off.",
    )
    assert get(api_of(leases.researcher), "skips", "leases", rater="A2")["results"] == []
    # The log said that labels were read.
    assert set(AuditEvent.objects.filter(kind="export").values_list("what", flat=True)) == {"API: skips"}


def test_answers_are_recorded_as_in_the_grid(leases: Leases, api_of: ApiOf) -> None:
    body = change(leases, {("Inspect", "act"): "found"})

    response = post(api_of(leases.anna), "assignment-labels", leases.annas[0].pk, body)

    assert response.status_code == 200
    assert response.json()["key"] == body["key"]
    assert response.json()["state"] == "started"
    # the preset is reported with the answer that brought it
    assert [(c["question"], c["option"], c["asked"]) for c in response.json()["cells"]] == [
        ("act", "found", True),
        ("party", "no-party", True),
        ("strictness", None, True),
    ]
    assert leases.annas[0].events.count() == 2


def test_a_whole_row_is_answered_and_submitted(leases: Leases, api_of: ApiOf) -> None:
    client, pk = api_of(leases.anna), leases.annas[0].pk

    assert post(client, "assignment-labels", pk, change(leases, dict(COMPLETE))).status_code == 200
    submitted = post(client, "submit", pk)

    assert submitted.status_code == 200
    assert submitted.json()["state"] == "submitted"
    assert submitted.json()["submitted_at"] is not None
    assert standing(leases.annas[0]) == dict(COMPLETE)
    assert post(client, "reopen", pk).json()["state"] == "started"


def test_the_order_of_answers_does_not_count(leases: Leases, api_of: ApiOf) -> None:
    """The party is asked only since the act is found, which the request says after it."""
    label(leases.annas[0], {NOTICE_ACT: "absent"})

    response = post(
        api_of(leases.anna),
        "assignment-labels",
        leases.annas[0].pk,
        change(leases, {NOTICE_PARTY: "same", NOTICE_ACT: "found"}),
    )

    assert response.status_code == 200
    assert standing(leases.annas[0]) == {NOTICE_ACT: "found", NOTICE_PARTY: "same"}


def test_a_key_stands_for_one_change(leases: Leases, api_of: ApiOf) -> None:
    """Else a program that makes its keys of what it answers would lose what it corrects."""
    client, pk, key = api_of(leases.anna), leases.annas[0].pk, uuid.uuid4()
    whole = change(leases, {RENT: "stated", NOTICE_ACT: "absent"}, key)
    assert post(client, "assignment-labels", pk, whole).status_code == 200
    for other in ({RENT: "absent"}, {RENT: None}, {RENT: "stated", ("Insure", "stated"): "stated"}):
        response = post(client, "assignment-labels", pk, change(leases, other, key))
        assert (response.status_code, response.json()["detail"]) == (
            409,
            "Another change was sent with this key before, and stands. Send what is new with a key of its own.",
        )
    assert standing(leases.annas[0])[RENT] == "stated"
    for same in (whole, change(leases, {RENT: "stated"}, key)):
        assert post(client, "assignment-labels", pk, same).status_code == 200


def test_a_resend_changes_nothing(leases: Leases, api_of: ApiOf) -> None:
    client, pk = api_of(leases.anna), leases.annas[0].pk
    body = change(leases, {RENT: "stated"})
    post(client, "assignment-labels", pk, body)
    post(client, "assignment-labels", pk, change(leases, {RENT: "absent"}))

    again = post(client, "assignment-labels", pk, body)

    assert again.status_code == 200
    assert [cell["option"] for cell in again.json()["cells"]] == ["absent"]
    assert leases.annas[0].events.count() == 2


def test_null_clears(leases: Leases, api_of: ApiOf) -> None:
    label(leases.annas[0], {RENT: "stated"})

    post(api_of(leases.anna), "assignment-labels", leases.annas[0].pk, change(leases, {RENT: None}))

    assert standing(leases.annas[0]) == {}


def test_a_refusal_is_a_conflict_with_its_sentence(leases: Leases, api_of: ApiOf) -> None:
    client, pk = api_of(leases.anna), leases.annas[0].pk
    label(leases.annas[0], {NOTICE_ACT: "absent"})

    response = post(client, "assignment-labels", pk, change(leases, {RENT: "stated", NOTICE_PARTY: "same"}))

    assert response.status_code == 409
    assert response.json() == {"detail": "“Party” is not asked of “Give notice · tenant” here."}
    assert standing(leases.annas[0]) == {NOTICE_ACT: "absent"}  # nothing of the request was written


def test_submitting_too_early_is_a_conflict(leases: Leases, api_of: ApiOf) -> None:
    response = post(api_of(leases.anna), "submit", leases.annas[0].pk)

    assert response.status_code == 409
    assert "8 cells of “Clause 1” are still open" in response.json()["detail"]


def test_a_submitted_row_is_not_changed(leases: Leases, api_of: ApiOf) -> None:
    label(leases.annas[0])
    actions.submit(assignment=leases.annas[0])

    response = post(api_of(leases.anna), "assignment-labels", leases.annas[0].pk, change(leases, {RENT: "absent"}))

    assert response.status_code == 409
    assert standing(leases.annas[0]) == dict(COMPLETE)


MALFORMED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no key": (lambda body: {"answers": body["answers"]}, "key"),
    "a key that is none": (lambda body: body | {"key": "first"}, "key"),
    "no answers": (lambda body: body | {"answers": []}, "answers"),
    "answers that are no list": (lambda body: body | {"answers": "all"}, "answers"),
    "an unknown column": (lambda body: body | {"answers": [body["answers"][0] | {"column": 10**9}]}, "answers"),
    "a column off the scale": (lambda body: body | {"answers": [body["answers"][0] | {"column": 10**30}]}, "answers"),
    "an unknown question": (lambda body: body | {"answers": [body["answers"][0] | {"question": "why"}]}, "answers"),
    "an unknown option": (lambda body: body | {"answers": [body["answers"][0] | {"option": "maybe"}]}, "answers"),
    "an empty option": (lambda body: body | {"answers": [body["answers"][0] | {"option": ""}]}, "answers"),
    "no option": (
        lambda body: body | {"answers": [{k: body["answers"][0][k] for k in ("column", "question")}]},
        "answers",
    ),
    "a cell twice": (lambda body: body | {"answers": body["answers"] * 2}, "answers"),
}  # fmt: skip


@pytest.mark.parametrize(("spoil", "field"), MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_change_says_where(
    leases: Leases, api_of: ApiOf, spoil: Callable[[dict[str, Any]], object], field: str
) -> None:
    body = spoil(change(leases, {RENT: "stated"}))

    response = post(api_of(leases.anna), "assignment-labels", leases.annas[0].pk, body)

    assert response.status_code == 400
    assert field in response.json()
    assert standing(leases.annas[0]) == {}


def test_what_is_wrong_with_an_answer_is_told_by_its_place(leases: Leases, api_of: ApiOf) -> None:
    right, other = change(leases, {RENT: "stated", ("Insure", "stated"): "absent"})["answers"]

    def refused(*answers: dict[str, Any]) -> Any:
        body = change(leases, {RENT: "stated"}) | {"answers": list(answers)}
        return post(api_of(leases.anna), "assignment-labels", leases.annas[0].pk, body).json()

    for wrong, field in (
        ({"column": "x"}, "column"),
        ({"question": "why"}, "question"),
        ({"option": "maybe"}, "option"),
    ):
        said = refused(right, other | wrong)
        assert (list(said["answers"]), list(said["answers"]["1"])) == (["1"], [field])
    assert refused(right, right) == {"answers": {"non_field_errors": ["A cell is answered twice in one request."]}}


def test_a_body_that_is_no_object_is_malformed(leases: Leases, api_of: ApiOf) -> None:
    client, url = api_of(leases.anna), reverse("api:assignment-labels", args=[leases.annas[0].pk])

    assert client.post(url, b"[1, 2", content_type="application/json").status_code == 400
    assert client.post(url, b"[1, 2]", content_type="application/json").status_code == 400


def test_a_column_of_another_sheet_is_malformed(leases: Leases, api_of: ApiOf) -> None:
    other = builders.sheet(leases.study, "Loan")
    body = change(leases, {RENT: "stated"})
    body["answers"][0]["column"] = other.columns.get(name="Pay rent").pk

    response = post(api_of(leases.anna), "assignment-labels", leases.annas[0].pk, body)

    assert response.status_code == 400
    assert "This sheet has no column" in str(response.json())


@pytest.mark.parametrize("name", ["assignment-labels", "submit", "reopen"])
def test_another_persons_work_does_not_exist(leases: Leases, api_of: ApiOf, name: str) -> None:
    body = change(leases, {RENT: "stated"})

    assert post(api_of(leases.anna), name, leases.boriss[0].pk, body).status_code == 404
    assert leases.boriss[0].labels.count() == 0


def test_recording_costs_the_same_for_few_answers_and_many(leases: Leases, api_of: ApiOf) -> None:
    builders.label(leases.annas[0], {("Inspect", "act"): "absent"})
    client, pk = api_of(leases.anna), leases.annas[0].pk
    few = change(leases, {RENT: "stated", NOTICE_ACT: "found"})
    many = change(leases, {cell: option for cell, option in COMPLETE.items() if cell[0] != "Inspect"})
    label(leases.annas[0], {RENT: "absent"})

    costs = []
    for body in (few, many):
        with CaptureQueriesContext(connection) as captured:
            assert post(client, "assignment-labels", pk, body).status_code == 200
        costs.append(len(captured))

    assert costs[0] == costs[1]


# --- blindness ---


def test_an_annotator_gets_no_label_of_others_from_any_resource(leases: Leases, api_of: ApiOf) -> None:
    for assignments, note in ((leases.boriss, NOTE_OF_BORIS), (leases.judges, NOTE_OF_JUDGE)):
        for assignment in assignments:
            label(assignment, {RENT: "implied"}, note=note)
    label(leases.annas[0], {RENT: "stated"}, note="mine")
    client = api_of(leases.anna)

    answers = [
        client.get(reverse("api:studies")),
        client.get(reverse("api:study", args=["leases"])),
        client.get(reverse("api:sheets", args=["leases"])),
        client.get(reverse("api:sheet", args=[leases.sheet.pk])),
        client.get(reverse("api:row", args=[leases.annas[0].row_id])),
        client.get(reverse("api:raters", args=["leases"])),
        client.get(reverse("api:labels", args=["leases"])),
        client.get(reverse("api:labels", args=["leases"]), {"rater": "A1"}),
        client.get(reverse("api:my-assignments")),
        *(client.get(reverse("api:assignment-labels", args=[a.pk])) for a in Assignment.objects.order_by("pk")),
    ]

    codes = [answer.status_code for answer in answers]
    # Anna's two rows are hers; Boris' and the judge's are not there.
    assert codes == [200, 200, 200, 200, 200, 403, 403, 403, 200, 200, 200, 404, 404, 404, 404]
    for answer in answers:
        assert NOTE_OF_BORIS.encode() not in answer.content
        assert NOTE_OF_JUDGE.encode() not in answer.content
        assert b'"option":"implied"' not in answer.content
        assert b"boris" not in answer.content


def test_those_who_see_labels_see_no_names(leases: Leases, api_of: ApiOf) -> None:
    label(leases.annas[0])
    label(leases.boriss[0])

    for user in (leases.manager, leases.researcher):
        content = api_of(user).get(reverse("api:labels", args=["leases"])).content
        assert b'"rater":"A2"' in content
        assert b"boris" not in content
        assert b"example.org" not in content


def test_the_api_is_not_led_to_https(leases: Leases, settings: Settings) -> None:
    """A page is; a program would go on to send its key as it does, and nobody would notice."""
    settings.SECURE_SSL_REDIRECT = True
    refused = Client().get("/api/v1/", headers={"Authorization": "Token x"})
    assert refused.status_code == 403
    assert "HTTPS alone" in refused.json()["detail"]
    assert Client().get("/login/")["Location"].startswith("https://")
    assert Client().get("/api/v1/", secure=True).status_code == 401
