"""What annotators tell about themselves: asked once, exported under their code, erased with them."""

from __future__ import annotations

import html
import json
import re
import uuid
import zipfile
from pathlib import Path

import pytest
from django.core.exceptions import PermissionDenied
from django.urls import reverse
from pytest_django import Settings

from accounts import actions as accounts
from accounts.views.account import personal_data
from annotation import actions
from annotation.models import AuditEvent, Background, Note, Question, Sitting
from annotation.people.access import row_for_reader
from annotation.scheme.background import load_background
from annotation.scheme.problems import SchemeError
from annotation.scheme.spec import Kind
from reports import actions as reporting
from reports.data.arrays import Filters
from reports.exports.making import path_of
from reports.models import Export
from tests import builders
from tests.builders import ApiOf, ClientOf, Leases

FORM = """\
questions:
  - key: tongue
    title: Mother tongue
    kind: choice
    options: [{key: cs, label: Czech}, {key: other, label: Another}]
  - key: years
    title: Years of cooking
    kind: number
    number: {min: 0, max: 90}
  - key: skill
    title: How well do you cook?
    kind: scale
    min: 1
    max: 5
  - key: job
    title: Job
    kind: text
"""


@pytest.fixture
def asked(leases: Leases) -> Leases:
    leases.study.background = FORM
    leases.study.save()
    return leases


def test_it_is_asked_once_before_the_first_label(asked: Leases, client_of: ClientOf, api_of: ApiOf) -> None:
    asked.study.consent = "Your labels are published."
    asked.study.save()
    anna, sheet = client_of(asked.anna), reverse("annotation:sheet", args=[asked.sheet.pk])
    page = reverse("annotation:background", args=["leases"])
    # Consent comes first.
    assert anna.get(sheet)["Location"].partition("?")[0] == reverse("annotation:consent", args=["leases"])
    actions.agree(study=asked.study, user=asked.anna)
    assert anna.get(sheet)["Location"].partition("?")[0] == page
    assert anna.get(reverse("annotation:spreadsheet", args=[asked.sheet.pk]))["Location"].partition("?")[0] == page
    told = api_of(asked.anna).post(
        reverse("api:assignment-labels", args=[asked.annas[0].pk]), {"key": "x", "answers": []}, format="json"
    )
    assert "background form" in json.dumps(told.json())

    refused = anna.post(page, {"tongue": "cs", "years": "200", "skill": "9"})
    assert refused.status_code == 400
    assert not Background.objects.exists()
    anna.post(page, {"tongue": "cs", "years": "12", "skill": "", "job": "=cook, baker"})
    assert Background.objects.get().answers == {"tongue": "cs", "years": 12, "job": "=cook, baker"}
    assert anna.get(sheet).status_code == 200
    anna.post(page, {"tongue": "other"})
    assert Background.objects.get().answers["tongue"] == "cs"  # once
    assert "filled this form in" in anna.get(page).content.decode()
    # Who does not label is not asked.
    client_of(asked.manager).post(page, {"tongue": "cs"})
    assert Background.objects.count() == 1


def test_nothing_opens_and_nothing_is_saved_before_both(asked: Leases, client_of: ClientOf, api_of: ApiOf) -> None:
    asked.study.consent = "Your labels are published."
    asked.study.save()
    anna, api, mine = client_of(asked.anna), api_of(asked.anna), asked.annas[0]
    column, question = asked.sheet.columns.all()[0], Question.objects.filter(section__scheme=asked.study.scheme)[0]
    cell = [mine.pk, column.pk, question.pk]
    to_sheet = {"column": column.pk, "question": question.key, "text": "Which?"}
    beat = {"page": uuid.uuid4(), "seconds": json.dumps({mine.pk: 30})}
    of_grid = [
        lambda: anna.get(reverse("annotation:evidence", args=[mine.pk])),
        lambda: anna.get(reverse("annotation:states", args=[mine.pk])),
        lambda: anna.post(reverse("annotation:reopen", args=[mine.pk])),
        lambda: anna.post(reverse("annotation:notes-of-cell", args=cell), {"text": "Which?"}),
        lambda: anna.post(reverse("annotation:beat", args=[asked.sheet.pk]), beat),
    ]
    of_programs = [
        lambda: api.get(reverse("api:sheet", args=[asked.sheet.pk])),
        lambda: api.get(reverse("api:row", args=[mine.row_id])),
        lambda: api.post(reverse("api:reopen", args=[mine.pk])),
        lambda: api.post(reverse("api:assignment-notes", args=[mine.pk]), to_sheet, format="json"),
    ]
    for waits in ("consent", "about you|background"):
        for ask in of_grid:
            assert (answer := ask()).status_code == 409
            assert re.search(waits, answer.json()["message"])
        for ask in of_programs:
            assert (answer := ask()).status_code == 409
            assert re.search(waits, answer.json()["detail"])
        assert anna.get(reverse("annotation:spreadsheet-file", args=[asked.sheet.pk])).status_code == 302
        with pytest.raises(PermissionDenied, match=waits):
            row_for_reader(asked.anna, mine.row_id)
        actions.agree(study=asked.study, user=asked.anna)
    assert not Note.objects.exists()
    assert not Sitting.objects.exists()

    actions.tell_background(study=asked.study, user=asked.anna, answers={})
    assert 409 not in {ask().status_code for ask in (*of_grid[:2], *of_grid[3:], *of_programs[:2])}
    assert row_for_reader(asked.anna, mine.row_id).pk == mine.row_id
    # Who reads by their role is not asked.
    assert api_of(asked.researcher).get(reverse("api:row", args=[mine.row_id])).status_code == 200
    assert row_for_reader(asked.manager, mine.row_id).pk == mine.row_id


def test_consent_and_form_lead_on_to_what_was_opened(asked: Leases, client_of: ClientOf) -> None:
    asked.study.consent = "Your labels are published."
    asked.study.save()
    anna, sheet = client_of(asked.anna), f"{reverse('annotation:sheet', args=[asked.sheet.pk])}?assignment=1"
    consent = anna.get(sheet)["Location"]
    assert anna.get(consent).status_code == 200
    # Whoever goes to the form first comes to it after the consent.
    form = reverse("annotation:background", args=["leases"], query={"next": sheet})
    assert anna.get(form)["Location"] == consent
    assert anna.post(consent, {}).status_code == 400
    assert anna.post(consent, {"agree": "yes"})["Location"] == sheet
    assert anna.get(sheet)["Location"] == form
    assert anna.post(form, {"tongue": "cs"})["Location"] == sheet
    assert anna.get(sheet).status_code == 200


@pytest.mark.parametrize("named", ["", "https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_they_lead_to_no_page_of_others(asked: Leases, client_of: ClientOf, named: str) -> None:
    asked.study.consent = "Your labels are published."
    asked.study.save()
    anna = client_of(asked.anna)
    for name, told in (("consent", {"agree": "yes"}), ("background", {"tongue": "cs"})):
        page = reverse(f"annotation:{name}", args=["leases"], query={"next": named})
        assert anna.post(page, told)["Location"] == reverse("annotation:my-work")


def test_it_is_exported_by_code_and_erased_with_the_person(asked: Leases, client_of: ClientOf) -> None:
    actions.tell_background(study=asked.study, user=asked.anna, answers={"tongue": "cs", "years": 12, "job": "=1+1"})
    file = client_of(asked.researcher).get(reverse("annotation:background-csv", args=["leases"])).content.decode()

    assert file.splitlines() == ["rater,tongue,years,skill,job", "A1,cs,12,,'=1+1"]
    assert [one.what for one in AuditEvent.objects.filter(kind="export")] == ["leases-background.csv"]
    assert client_of(asked.boris).get(reverse("annotation:background-csv", args=["leases"])).status_code == 403
    assert personal_data(asked.anna)["backgrounds"][0]["answers"]["years"] == 12  # type: ignore[index]
    accounts.erase(user=asked.anna, by=None)
    assert not Background.objects.exists()
    actions.tell_background(study=asked.study, user=asked.boris, answers={})
    with pytest.raises(actions.Refused, match="already"):
        actions.tell_background(study=asked.study, user=asked.boris, answers={"tongue": "cs"})


@pytest.mark.django_db(transaction=True)  # files go once it is committed
def test_downloads_that_have_it_go_with_the_person(asked: Leases, settings: Settings, tmp_path: Path) -> None:
    """They lay for a week, to be fetched by any researcher of the study."""
    settings.PALATE_EXPORTS = tmp_path / "exports"
    builders.label(asked.annas[0])
    actions.tell_background(study=asked.study, user=asked.anna, answers={"job": "the only luthier of Brno"})
    report = reporting.freeze(study=asked.study, title="First", filters=Filters(), by=asked.researcher)
    made = []
    for form, of in (("zip", None), ("zip", report), ("jsonl", None)):
        export = reporting.ask_for_export(study=asked.study, form=form, filters=Filters(), by=None, report=of)
        reporting.make_export(export_id=export.pk)
        made.append(Export.objects.get(pk=export.pk))
    with zipfile.ZipFile(path_of(made[0])) as archive:
        assert "luthier" in archive.read("labels/background.csv").decode()

    accounts.erase(user=asked.anna, by=None)

    assert [path_of(export).exists() for export in made] == [False, True, True]
    assert list(Export.objects.order_by("pk")) == made[1:]


def test_the_settings_show_a_form_to_begin_from(leases: Leases, client_of: ClientOf) -> None:
    page = client_of(leases.manager).get(reverse("annotation:settings", args=["leases"])).content.decode()

    shown = html.unescape(page.split('<pre class="copied">')[1].split("</pre>")[0])
    assert {question.kind for question in load_background(shown).questions} == {
        Kind.FLAG, Kind.CHOICE, Kind.NUMBER, Kind.SCALE, Kind.TEXT
    }  # fmt: skip


def test_a_form_that_cannot_be_is_refused_with_its_line(leases: Leases, client_of: ClientOf) -> None:
    manager, settings = client_of(leases.manager), reverse("annotation:settings", args=["leases"])
    sent = {"title": "Leases", "slug": "leases", "guideline": "", "consent": "", "background": FORM}
    manager.post(settings, sent)
    leases.study.refresh_from_db()
    assert leases.study.background.split() == FORM.split()

    page = manager.post(settings, sent | {"background": FORM.replace("kind: text", "kind: transitions")})
    assert "no questions of the kind “transitions”" in page.content.decode()
    for wrong, why in (
        ("- 1", "should begin with"),
        ("questions: []", "at least 1"),
        (FORM.replace("key: job", "key: years"), "two questions have the key"),
        (FORM.replace("kind: text", "kind: text\n    ask_unless: {tongue: [cs]}"), "no rules"),
        ("questions: [{key: a", "line 1"),
    ):
        with pytest.raises(SchemeError, match=why):
            load_background(wrong)
