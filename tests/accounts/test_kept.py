"""What is kept: the audit log, tokens, consent, and what becomes of somebody who wants to be forgotten."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from accounts import actions as accounts
from accounts.models import ApiToken
from accounts.tasks import clean_sessions
from annotation import actions
from annotation.actions import Refused
from annotation.models import (
    AuditEvent,
    Background,
    Consent,
    CrowdLink,
    Invite,
    Participant,
    Rater,
    Role,
    SchemeRevision,
    User,
)
from llm.models import LanguageModel
from reports import actions as reporting
from reports.data.arrays import Filters
from tests import builders
from tests.accounts.test_getting_in import again
from tests.annotation.at_once import in_another_connection, postgresql
from tests.annotation.test_saving import change, together
from tests.builders import ApiOf, ClientOf, Leases

pytestmark = pytest.mark.django_db


def events(**of: object) -> list[str]:
    return [f"{e.kind} {e.what}".strip() for e in AuditEvent.objects.filter(**of).order_by("pk")]


# --- the audit log --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE annotation_auditevent SET what = ''",
        "DELETE FROM annotation_auditevent",
        "TRUNCATE annotation_auditevent",
    ],
)
def test_nobody_changes_the_audit_log(leases: Leases, statement: str) -> None:
    if connection.vendor == "sqlite" and "TRUNCATE" in statement:
        pytest.skip("SQLite has no such statement")
    before = events()
    assert before

    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)

    assert events() == before


@pytest.mark.django_db(transaction=True)
def test_who_empties_the_whole_database_empties_the_audit_log_too_and_it_is_guarded_again(leases: Leases) -> None:
    assert events()

    call_command("flush", interactive=False, verbosity=0)

    assert not events()
    AuditEvent.objects.create(kind="login")
    statement = "DELETE FROM" if connection.vendor == "sqlite" else "TRUNCATE"
    with pytest.raises(DatabaseError, match="never changed"), connection.cursor() as cursor:
        cursor.execute(f"{statement} annotation_auditevent")


def test_after_a_year_events_go(leases: Leases) -> None:
    [old] = AuditEvent.objects.bulk_create([AuditEvent(kind="login")])
    n = AuditEvent.objects.count()
    with connection.cursor() as cursor:  # as if it had been written then
        if connection.vendor == "sqlite":
            cursor.execute("DROP TRIGGER audit_unchanged")
        else:
            cursor.execute("ALTER TABLE annotation_auditevent DISABLE TRIGGER audit_unchanged")
        cursor.execute(
            "UPDATE annotation_auditevent SET at = %s WHERE id = %s",
            [(timezone.now() - timedelta(days=367)).isoformat(" ", "microseconds")[:26], old.pk],
        )
        if connection.vendor != "sqlite":
            cursor.execute("ALTER TABLE annotation_auditevent ENABLE TRIGGER audit_unchanged")

    assert actions.clean_audit() == 1
    assert AuditEvent.objects.count() == n - 1


def test_the_manager_reads_of_the_own_study_and_the_owner_of_all(leases: Leases, client_of: ClientOf) -> None:
    builders.study("other", of=leases.study.scheme, by=leases.stranger)
    log = reverse("annotation:audit-log", args=["leases"])
    page = client_of(leases.manager).get(log).content.decode()
    owner = client_of(builders.user("root", superuser=True))
    lines = b"".join(owner.get(reverse("accounts:owner-log-csv"))).decode().splitlines()  # type: ignore[arg-type]

    own = b"".join(client_of(leases.manager).get(reverse("annotation:audit-log-csv", args=["leases"])))  # type: ignore[arg-type]

    assert "+annotator" in page
    assert {line.split(",")[4] for line in own.decode().splitlines()[1:]} == {"leases"}
    assert lines[0] == "at,event,by,of,study,what,address"
    name = leases.stranger.username
    assert [line for line in lines if f",role,{name},{name},other,'+manager," in line]
    assert client_of(leases.anna).get(log).status_code == 403


def test_roles_and_exports_are_noted(leases: Leases, client_of: ClientOf) -> None:
    builders.label(leases.annas[0])
    manager = client_of(leases.manager)
    b"".join(manager.get(reverse("reports:labels", args=["leases"])))  # type: ignore[arg-type]
    reporting.ask_for_export(study=leases.study, form="jsonl", filters=Filters(), by=leases.manager)
    reporting.freeze(study=leases.study, title="First", filters=Filters(), by=leases.manager)
    membership = leases.anna.memberships.get()
    manager.post(reverse("annotation:remove-member", args=["leases", membership.pk]))

    assert events(study=leases.study, by=leases.manager.pk, kind="export") == [
        "export leases-labels.csv",
        "export jsonl",
    ]
    assert events(study=leases.study, of=leases.anna.pk, kind="role") == ["role +annotator", "role -annotator"]


def test_the_own_workbook_is_noted_without_the_code(leases: Leases, client_of: ClientOf) -> None:
    file = client_of(leases.anna).get(reverse("annotation:spreadsheet-file", args=[leases.sheet.pk]))

    assert 'filename="lease-a1.xlsx"' in file["Content-Disposition"]
    assert events(by=leases.anna.pk, kind="export") == ["export lease.xlsx, their own work"]


def test_changes_of_ones_addresses_are_noted_without_the_address(leases: Leases, client_of: ClientOf) -> None:
    """Who finds a browser open has mails for a new password sent to themselves, and nobody could read when."""
    page, anna = reverse("account_email"), client_of(leases.anna)
    asked = anna.post(page, {"action_add": "", "email": "other@example.org"})
    assert asked["Location"].startswith(reverse("account_reauthenticate"))
    assert not EmailAddress.objects.filter(email="other@example.org").exists()
    again(anna, "anna")
    for action in ("action_add", "action_primary", "action_remove"):
        if action == "action_remove":
            anna.post(page, {"action_primary": "", "email": leases.anna.email})
        anna.post(page, {action: "", "email": "other@example.org"})
    told = AuditEvent.objects.filter(kind="account", of=leases.anna.pk, by=leases.anna.pk).order_by("pk")
    assert list(told.values_list("what", flat=True)) == ["+e-mail", "e-mail changed", "e-mail changed", "-e-mail"]


def test_the_name_of_a_key_is_noted_where_a_run_uses_it(leases: Leases) -> None:
    model = LanguageModel(name="lab", api_key_env="LAB_API_KEY")
    actions.note_key(model=model, study=leases.study, by=leases.manager)
    actions.note_key(model=LanguageModel(name="ours"), study=leases.study, by=leases.manager)

    assert events(kind="key") == ["key LAB_API_KEY: lab"]


# --- tokens ---------------------------------------------------------------------------------------------------------


def test_a_token_is_made_shown_once_and_withdrawn(leases: Leases, client_of: ClientOf) -> None:
    anna, page = client_of(leases.anna), reverse("accounts:account")
    asked = anna.post(page, {"name": "laptop", "days": "30"})
    assert not ApiToken.objects.exists()  # this log-in was not by a password, or long ago
    shown = anna.post(asked["Location"], {"password": "anna"}, follow=True)
    key = shown.context["key"]
    program = APIClient()
    program.credentials(HTTP_AUTHORIZATION=f"Token {key}")

    assert key in shown.content.decode()
    assert key not in anna.get(page).content.decode()
    assert key not in json.dumps(list(ApiToken.objects.values()), default=str)
    root = program.get(reverse("api:root"))
    assert root.json()["user"] == "anna"
    anna.post(reverse("accounts:withdraw-token", args=[ApiToken.objects.get().pk]))
    assert program.get(reverse("api:root")).status_code == 401
    assert events(kind="token") == [f"token +{key[:6]}…", f"token -{key[:6]}…"]


def test_a_token_ends_with_its_time_and_with_its_account(leases: Leases) -> None:
    token, key = accounts.make_token(user=leases.anna, name="x", days=1)
    assert (len(bytes.fromhex(key)), token.beginning) == (32, key[:6])
    program = APIClient()
    program.credentials(HTTP_AUTHORIZATION=f"Token {key}")
    assert program.get(reverse("api:root")).status_code == 200
    User.objects.filter(pk=leases.anna.pk).update(is_active=False)
    assert program.get(reverse("api:root")).status_code == 401
    User.objects.filter(pk=leases.anna.pk).update(is_active=True)
    ApiToken.objects.filter(pk=token.pk).update(expires_at=timezone.now())
    assert program.get(reverse("api:root")).status_code == 401


def test_the_page_of_the_api_has_every_operation(leases: Leases, client_of: ClientOf, api_of: ApiOf) -> None:
    schema = api_of(leases.anna).get(reverse("api:schema"), HTTP_ACCEPT="application/vnd.oai.openapi+json").json()
    page = client_of(leases.anna).get(reverse("accounts:api-docs")).content.decode()

    operations = [
        one["operationId"] for item in schema["paths"].values() for one in item.values() if "operationId" in one
    ]
    assert [one for one in operations if f'id="{one}"' not in page] == []


# --- consent --------------------------------------------------------------------------------------------------------


def test_consent_is_asked_for_before_the_first_label(leases: Leases, client_of: ClientOf, api_of: ApiOf) -> None:
    leases.study.consent = "Your labels are published."
    leases.study.save()
    sheet, page = reverse("annotation:sheet", args=[leases.sheet.pk]), reverse("annotation:consent", args=["leases"])
    anna = client_of(leases.anna)
    assert anna.get(sheet)["Location"].partition("?")[0] == page
    assert anna.get(reverse("annotation:spreadsheet", args=[leases.sheet.pk]))["Location"].partition("?")[0] == page
    body = {"key": "5f0f6a3e-1111-4222-8333-444455556666", "answers": []}
    labels = reverse("api:assignment-labels", args=[leases.annas[0].pk])
    assert api_of(leases.anna).post(labels, body, format="json").status_code == 409
    assert anna.post(page, {}).status_code == 400
    assert not Consent.objects.exists()

    anna.post(page, {"agree": "yes"})

    given = Consent.objects.get()
    assert (given.user, given.text) == (leases.anna, "Your labels are published.")
    assert anna.get(sheet).status_code == 200
    assert given.agreed_at.strftime("%Y-%m-%d") in client_of(leases.manager).get(page).content.decode()
    # Another text is another agreement.
    leases.study.consent += " Under your code."
    leases.study.save()
    assert anna.get(sheet)["Location"].partition("?")[0] == page
    anna.post(page, {"agree": "yes"})
    assert [given.withdrawn_at is None for given in Consent.objects.order_by("pk")] == [False, True]


@pytest.mark.parametrize("asks", ["consent", "background"])
def test_a_page_that_was_open_before_saves_nothing_until_it_is_filled_in(
    leases: Leases, client_of: ClientOf, asks: str
) -> None:
    form = "questions:\n  - {key: years, title: Years, kind: number, number: {min: 0, max: 90}}\n"
    anna, mine = client_of(leases.anna), leases.annas[0]
    actions.agree(study=leases.study, user=leases.anna)  # to the text that stood there when the page was opened
    edit = change((mine, ("Pay rent", "stated"), "stated", ""))
    setattr(leases.study, asks, {"consent": "Your labels are published.", "background": form}[asks])
    leases.study.save()

    [answer] = together(anna, leases.sheet, edit).json()["answers"]
    submitted = anna.post(reverse("annotation:submit", args=[mine.pk]))

    assert (answer["key"], answer["held"]) == (edit["key"], [mine.pk])  # so that the browser keeps it
    assert "waits in this browser" in answer["message"]
    assert (submitted.status_code, submitted.json()["message"]) == (409, answer["message"])
    several = together(anna, leases.sheet, edit, change((mine, ("Insure", "stated"), "implied", ""))).json()
    assert [answer["held"] for answer in several["answers"]] == [[mine.pk]] * 2
    assert not mine.labels.exists()

    if asks == "consent":
        anna.post(reverse("annotation:consent", args=["leases"]), {"agree": "yes"})
    else:
        actions.tell_background(study=leases.study, user=leases.anna, answers={})
    [answer] = together(anna, leases.sheet, edit).json()["answers"]

    assert "message" not in answer
    assert mine.labels.get().option.key == "stated"
    with CaptureQueriesContext(connection) as asking:
        together(anna, leases.sheet, change((mine, ("Insure", "stated"), "implied", "")))
    type(leases.study).objects.filter(pk=leases.study.pk).update(consent="", background="")
    with CaptureQueriesContext(connection) as not_asking:
        together(anna, leases.sheet, change((mine, ("Insure", "stated"), "absent", "implied")))
    assert len(asking) == len(not_asking)
    assert mine.labels.count() == 2


# --- leaving --------------------------------------------------------------------------------------------------------


def test_who_is_forgotten_leaves_the_labels(leases: Leases, client_of: ClientOf) -> None:
    builders.label(leases.annas[0])
    n = leases.annas[0].labels.count()
    accounts.make_token(user=leases.anna, name="laptop", days=None)
    anna = client_of(leases.anna)
    where = actions.asked_from.set("192.0.2.9")
    actions.note(AuditEvent.Kind.ACCOUNT, by=leases.manager, of=leases.anna, what="opened")
    actions.note(AuditEvent.Kind.LOGIN, by=leases.anna)
    actions.asked_from.reset(where)
    waiting, _link = actions.invite(
        study=leases.study, role=Role.RESEARCHER, by=leases.manager, email="Anna@example.org", bound=True
    )
    LogEntry.objects.create(
        user=leases.manager, content_type=ContentType.objects.get_for_model(User), object_id=str(leases.anna.pk),
        object_repr="anna", action_flag=2,
    )  # fmt: skip
    kept = json.loads(anna.get(reverse("accounts:my-data")).content)
    said = {(event["kind"], event["what"]): event.get("address") for event in kept["audit_log"]}
    assert (said["account", "opened"], said["login", ""]) == (None, "192.0.2.9")
    assert kept["account"]["email"] == "anna@example.org"
    assert kept["raters"][0]["code"] == "A1"
    assert kept["raters"][0]["label_events"]["count"] >= n

    accounts.erase(user=leases.anna, by=leases.anna)

    gone = User.objects.get(pk=leases.anna.pk)
    rater = Rater.objects.get(pk=leases.annas[0].rater_id)
    assert (gone.username, gone.email, gone.is_active, gone.has_usable_password()) == (
        f"erased-{gone.pk}",
        "",
        False,
        False,
    )
    assert (rater.code, rater.user, rater.active) == ("A1", None, False)
    assert leases.annas[0].labels.count() == n
    assert not ApiToken.objects.filter(user=gone).exists()
    assert not gone.memberships.exists()
    waiting.refresh_from_db()
    assert (waiting.email, waiting.state) == ("", "revoked")
    assert LogEntry.objects.get().object_repr == ""
    assert anna.get("/").status_code == 302
    assert "deletion account erased" in events(of=gone.pk)


# What still names an account that is erased, with the reason; it is an empty one then, known by its number.
_STAYS = {
    "annotation.Consent.user": "that they agreed must be shown as long as there is the study",
    # What somebody did as a manager or an owner, to others' work: a study says who decided and who computed what.
    **dict.fromkeys(
        [
            "annotation.Study.archived_by",
            "annotation.Sheet.closed_by",
            "annotation.Row.withdrawn_by",
            "annotation.Rater.paused_by",
            "annotation.Invite.created_by",
            "annotation.Invite.revoked_by",
            "annotation.Plan.applied_by",
            "annotation.CrowdLink.created_by",
            "annotation.Webhook.started_by",
            "annotation.SchemeRevision.changed_by",
            "annotation.Note.answered_by",
            "annotation.Experiment.drawn_by",
            "annotation.Import.started_by",
            "annotation.LabelEvent.by",  # only where it was somebody else than the rater
            "annotation.Decision.by",
            "judges.FittedCalibration.fitted_by",
            "judges.Correction.by",
            "annotation.Deletion.started_by",
            "judges.ExtractionRun.started_by",
            "judges.GenerationRun.started_by",
            "judges.Trial.started_by",
            "judges.Run.started_by",
            "reports.Split.drawn_by",
            "reports.TestLook.by",
            "reports.Certificate.created_by",
            "reports.Revocation.by",
            "reports.Takeover.by",
            "reports.Report.created_by",
            "reports.Export.started_by",
            "recipes.Mending.by",
            "recipes.Search.asked_by",
            "recipes.Hit.decided_by",
            "recipes.Retrieval.started_by",
            "memorization.FrozenVerdict.created_by",
        ],
        "what they did for the study stands there",
    ),
}


def naming(user: User) -> dict[str, int]:
    """How many rows of each table name an account."""
    found = {}
    for model in apps.get_models(include_auto_created=True):
        for field in model._meta.local_fields:
            if field.related_model is User and not model._meta.proxy and not model.__module__.startswith("tests."):
                found[f"{model._meta.app_label}.{model.__name__}.{field.name}"] = model._base_manager.filter(
                    **{field.name: user}
                ).count()
    return found


def test_nothing_that_an_annotator_left_names_the_erased_account(leases: Leases) -> None:
    study = builders.study("other", of=leases.study.scheme, by=leases.stranger)
    invite, _link = actions.invite(study=study, role=Role.ANNOTATOR, by=leases.stranger)
    anna, assignment = leases.anna, leases.annas[0]
    actions.join(invite=invite, user=anna)
    browser = Client()
    browser.post(reverse("login"), {"username": "anna", "password": "anna"})
    browser.get("/")
    builders.label(assignment)
    cell = builders.answer(leases.sheet, "Pay rent", "stated", None)
    note = actions.ask(assignment=assignment, column=cell.column, question=cell.question, text="Is it?", by=anna)
    actions.note_look(sheet=leases.sheet, user=anna)
    actions.agree(study=leases.study, user=anna)
    accounts.make_token(user=anna, name="laptop", days=1)
    Background.objects.create(study=leases.study, user=anna)
    link = CrowdLink.objects.create(study=leases.study, rows_each=1, people_per_row=1, most_people=1, hours=1)
    Participant.objects.create(link=link, number="4711", user=anna, rater=assignment.rater, rows=[])
    revision = SchemeRevision.objects.create(scheme=leases.study.scheme, version=0, spec={}, source="")
    revision.read_by.add(anna)
    Token.objects.create(user=anna)
    EmailAddress.objects.create(user=anna, email="anna@example.org")
    SocialAccount.objects.create(user=anna, provider="sso", uid="4711")
    Authenticator.objects.create(user=anna, type="recovery_codes", data={})
    anna.groups.add(Group.objects.create(name="people"))
    anna.user_permissions.add(Permission.objects.earliest("pk"))
    LogEntry.objects.create(user=anna, action_flag=2, object_repr="x")
    before = naming(anna)
    assert [name for name, n in before.items() if not n and name not in _STAYS] == [], "make one of these too"
    assert set(_STAYS) <= set(before)

    accounts.erase(user=anna, by=anna)

    assert [name for name, n in naming(anna).items() if n] == ["annotation.Consent.user"]
    assert not Participant.objects.filter(number="4711").exists()
    note.refresh_from_db()
    assert (note.text, note.author, note.assignment.rater.code) == ("Is it?", None, "A1")
    page = Client()
    page.force_login(leases.stranger)
    assert "that account is erased" in page.get(reverse("annotation:people", args=["other"])).content.decode()


def test_who_asks_gets_all_that_they_answered_and_nothing_of_others(leases: Leases, client_of: ClientOf) -> None:
    anna, boris = leases.annas[0], leases.boriss[0]
    builders.label(anna)
    builders.label(boris)
    cell = builders.answer(leases.sheet, "Insure", "stated", None)
    actions.record(assignment=leases.annas[1], answers=[replace(cell, skip="torn")], key=uuid.uuid4())
    for assignment, by in ((anna, leases.anna), (boris, leases.boris)):
        actions.ask(assignment=assignment, column=cell.column, question=cell.question, text=f"By {by}?", by=by)
        actions.note_look(sheet=leases.sheet, user=by)
    study = builders.study("other", of=leases.study.scheme, by=leases.stranger)
    invite, _link = actions.invite(study=study, role=Role.RESEARCHER, by=leases.stranger, email="anna@example.org")
    actions.join(invite=invite, user=leases.anna)

    kept = json.loads(client_of(leases.anna).get(reverse("accounts:my-data")).content)

    where = ["Leases", "Lease", "Clause 1", "Pay rent", "Stated"]
    assert [*kept["labels"][0].values()][:6] == [*where, "stated"]
    assert len(kept["labels"]) == anna.labels.count()
    assert len(kept["history"]) == anna.events.count() + 1
    assert [(skip["assignment__row__name"], skip["reason"]) for skip in kept["skips"]] == [("Clause 2", "torn")]
    assert [note["text"] for note in kept["notes"]] == ["By anna?"]
    assert [look["sheet__title"] for look in kept["looks"]] == ["Lease"]
    assert [(used["study__title"], used["email"]) for used in kept["invitations"]] == [("Other", "anna@example.org")]
    assert (kept["named_by"]["annotation.Note.author"], kept["named_by"]["annotation.Invite.used_by"]) == (1, 1)
    of_manager = json.loads(client_of(leases.stranger).get(reverse("accounts:my-data")).content)["named_by"]
    assert of_manager == {"annotation.Invite.created_by": 1}


def test_who_asks_gets_the_submissions_that_they_took_back(leases: Leases, client_of: ClientOf) -> None:
    for assignment in (leases.annas[0], leases.boriss[0]):
        builders.label(assignment)
        actions.submit(assignment=assignment, allow_open=True)
        actions.reopen(assignment=assignment)

    [kept] = json.loads(client_of(leases.anna).get(reverse("accounts:my-data")).content)["submissions_taken_back"]

    assert [*kept.values()][:3] == ["Leases", "Lease", "Clause 1"]
    assert kept["submitted_at"] < kept["until"]


def test_somebody_erases_the_own_account_after_typing_the_name(leases: Leases, client: Client) -> None:
    client.post(reverse("login"), {"username": "boris", "password": "boris"})
    leave = reverse("accounts:leave")
    asked = client.post(leave, {"username": "boriss"})
    assert asked["Location"].startswith(reverse("account_reauthenticate"))
    wrong = client.post(asked["Location"], {"password": "boris"}, follow=True)
    assert "not the user name of this account" in wrong.content.decode()
    assert User.objects.filter(username="boris").exists()
    client.post(leave, {"username": "boris"})

    assert not User.objects.filter(username="boris").exists()
    assert client.get("/").status_code == 302


def test_the_last_manager_and_the_last_owner_stay(leases: Leases) -> None:
    root = builders.user("root", superuser=True)
    with pytest.raises(Refused, match="last manager"):
        accounts.erase(user=leases.manager, by=root)
    with pytest.raises(Refused, match="last owner"):
        accounts.erase(user=root, by=root)
    with pytest.raises(Refused, match="last owner"):
        accounts.make_owner(user=root, owner=False, by=root)
    assert User.objects.filter(username="mara", is_active=True).exists()


@postgresql
@pytest.mark.django_db(transaction=True)
def test_of_two_owners_who_see_each_other_off_at_once_one_stays() -> None:
    ada, ben = (builders.user(name, superuser=True) for name in ("ada", "ben"))
    said: list[object] = []
    with transaction.atomic():
        accounts.make_owner(user=ben, owner=False, by=ada)
        other = in_another_connection(lambda: accounts.set_active(user=ada, active=False, by=ben), said)
        other.join(timeout=1)
        assert said == []  # it waits
    other.join(timeout=20)

    assert [str(one) for one in said] == [str(accounts.LAST_OWNER)]
    assert [user.username for user in User.objects.filter(is_superuser=True, is_active=True)] == ["ada"]


@postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("how", ["unticked", "deleted", "deleted with others"])
def test_of_two_owners_who_see_each_other_off_at_once_in_the_administration_one_stays(
    client_of: ClientOf, how: str
) -> None:
    ada, ben = (builders.user(name, superuser=True) for name in ("ada", "ben"))
    sent: dict[str, dict[str, object]] = {
        "unticked": {"username": "ada", "date_joined_0": "2026-01-01", "date_joined_1": "10:00:00", "is_active": "on"},
        "deleted": {"post": "yes"},
        "deleted with others": {"action": "delete_selected", "post": "yes", "_selected_action": [ada.pk]},
    }
    page = {
        "unticked": reverse("admin:annotation_user_change", args=[ada.pk]),
        "deleted": reverse("admin:annotation_user_delete", args=[ada.pk]),
        "deleted with others": reverse("admin:annotation_user_changelist"),
    }[how]
    client, said = client_of(ben), list[object]()
    with transaction.atomic():
        accounts.make_owner(user=ben, owner=False, by=ada)
        other = in_another_connection(lambda: client.post(page, sent[how]).content.decode(), said)
        other.join(timeout=1)
        assert said == []  # it waits
    other.join(timeout=20)

    assert "This is the last owner of the installation." in str(said[0])
    assert [user.username for user in User.objects.filter(is_superuser=True, is_active=True)] == ["ada"]


@pytest.mark.parametrize("unticked", ["is_superuser", "is_active"])
def test_the_last_owner_stays_one_in_the_administration(leases: Leases, client_of: ClientOf, unticked: str) -> None:
    root = builders.user("root", superuser=True)
    page = reverse("admin:annotation_user_change", args=[root.pk])
    ticked = {"is_active": "on", "is_staff": "on", "is_superuser": "on"}
    sent = {"username": "root", "date_joined_0": "2026-01-01", "date_joined_1": "10:00:00", **ticked}
    client = client_of(root)

    refused = client.post(page, {name: said for name, said in sent.items() if name != unticked})
    assert "This is the last owner of the installation." in refused.content.decode()
    assert User.objects.get(pk=root.pk).is_superuser
    assert User.objects.get(pk=root.pk).is_active
    assert client.post(page, sent).status_code == 302

    other = builders.user("other", superuser=True)
    User.objects.filter(pk=other.pk).update(is_active=False)
    assert client.post(page, {name: said for name, said in sent.items() if name != unticked}).status_code == 200
    User.objects.filter(pk=other.pk).update(is_active=True)
    assert client.post(page, {name: said for name, said in sent.items() if name != unticked}).status_code == 302
    assert not getattr(User.objects.get(pk=root.pk), unticked)
    told = {"is_superuser": "-owner", "is_active": "closed"}
    assert [event for event in events(of=root.pk, by=root.pk) if event.endswith(told[unticked])]


def test_the_log_has_who_became_an_owner_in_the_administration(leases: Leases, client_of: ClientOf) -> None:
    root = builders.user("root", superuser=True)
    page = reverse("admin:annotation_user_change", args=[leases.anna.pk])
    sent = {"username": "anna", "date_joined_0": "2026-01-01", "date_joined_1": "10:00:00", "is_active": "on"}
    client = client_of(root)
    assert client.post(page, {**sent, "is_superuser": "on"}).status_code == 302
    assert client.post(page, {**sent, "is_superuser": "on", "first_name": "Anna"}).status_code == 302
    of_owners = [event for event in events(of=leases.anna.pk, by=root.pk) if "owner" in event]
    assert len(of_owners) == 1
    assert "+owner" in of_owners[0]


def test_the_administration_deletes_owners_while_there_is_another(db: None, client_of: ClientOf) -> None:
    root, other = builders.user("root", superuser=True), builders.user("other", superuser=True)
    third, client = builders.user("third"), client_of(root)
    page, people = reverse("admin:annotation_user_delete", args=[root.pk]), reverse("admin:annotation_user_changelist")

    def chosen(*users: User) -> dict[str, object]:
        return {"action": "delete_selected", "post": "yes", "_selected_action": [user.pk for user in users]}

    assert "last owner" in client.post(people, chosen(root, other, third)).content.decode()
    assert User.objects.count() == 3
    assert client.post(people, chosen(other, third)).status_code == 302
    assert "last owner" in client.post(page, {"post": "yes"}).content.decode()
    assert User.objects.get() == root


def test_a_session_that_is_not_listed_ends_too(leases: Leases, client_of: ClientOf) -> None:
    anna, boris = client_of(leases.anna), client_of(leases.boris)  # without a request: allauth does not know of them
    token = accounts.make_token_by_password(user=leases.anna)

    accounts.reset_factors(user=leases.anna, by=leases.manager)

    assert [one.get("/work/").status_code for one in (anna, boris)] == [302, 200]
    assert ApiToken.objects.get(beginning=token[:6]).state == "withdrawn"


def test_from_where_somebody_came_is_kept_until_the_session_ends(leases: Leases, settings: Settings) -> None:
    """Rows of sessions that were over stayed for good, and with them the addresses of all who never came back."""
    clients = [Client(HTTP_USER_AGENT=f"Browser {n}") for n in range(3)]
    for client in clients:
        client.post(reverse("login"), {"username": "anna", "password": "anna"})
    assert (Session.objects.count(), UserSession.objects.count()) == (3, 3)

    clients[0].post(reverse("logout"))
    assert [one.user_agent for one in UserSession.objects.order_by("pk")] == ["Browser 1", "Browser 2"]

    key = clients[1].session.session_key
    Session.objects.filter(session_key=key).update(expire_date=timezone.now() - timedelta(minutes=1))
    UserSession.objects.update(created_at=timezone.now() - timedelta(days=14))
    assert settings.CELERY_BEAT_SCHEDULE["clean-sessions"]["task"] == clean_sessions.name
    clean_sessions()
    assert [one.session_key for one in Session.objects.all()] == [clients[2].session.session_key]
    assert [one.user_agent for one in UserSession.objects.all()] == ["Browser 2"]
    assert clients[2].get(reverse("accounts:account")).status_code == 200


def test_an_owner_closes_an_account_and_its_sessions(leases: Leases) -> None:
    root = builders.user("root", superuser=True)
    owner, anna = Client(), Client()
    owner.post(reverse("login"), {"username": "root", "password": "root"})
    anna.post(reverse("login"), {"username": "anna", "password": "anna"})
    person = reverse("accounts:owner-person", args=[leases.anna.pk])
    asked = owner.post(person, {"do": "close"})
    owner.post(asked["Location"], {"password": "root"})
    owner.post(person, {"do": "close"})

    assert anna.get("/").status_code == 302
    assert "account closed" in events(of=leases.anna.pk, by=root.pk)
    owner.post(person, {"do": "owner"})
    assert User.objects.get(username="anna").is_superuser
    assert actions.add_member(study=leases.study, user=root, role=Role.RESEARCHER)


def test_by_links_of_somebody_whose_account_is_closed_nobody_comes_in(leases: Leases, client_of: ClientOf) -> None:
    """Who was shut out made a new account by a link of their own."""
    root, links = builders.user("root", superuser=True), []
    for shut in ("close", "administer", "erase", "no owner"):
        who = builders.user(f"who-{shut.replace(' ', '-')}", superuser=shut == "no owner")
        if shut != "no owner":
            actions.add_member(study=leases.study, user=who, role=Role.MANAGER)
        links.append(actions.invite(study=leases.study, role=Role.MANAGER, by=who)[0])
        match shut:
            case "close":
                accounts.set_active(user=who, active=False, by=root)
            case "administer":
                sent = {"username": who.username, "date_joined_0": "2026-01-01", "date_joined_1": "10:00:00"}
                client_of(root).post(reverse("admin:annotation_user_change", args=[who.pk]), sent)
            case "erase":
                accounts.erase(user=who, by=root)
            case "no owner":
                accounts.make_owner(user=who, owner=False, by=root)

    assert [Invite.objects.get(pk=link.pk).state for link in links] == ["revoked"] * 4
    assert AuditEvent.objects.filter(kind="invite", what__startswith="-manager", by=root.pk).count() == 4
