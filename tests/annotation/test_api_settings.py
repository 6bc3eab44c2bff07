"""A program reads and changes the settings of a study and its scheme, as the pages do."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from annotation import actions
from annotation.models import Role, Study
from annotation.scheme.spec import load_scheme
from tests import builders
from tests.builders import ApiOf, ClientOf, Leases

FORM = """\
questions:
  - key: years
    title: Years of practice
    kind: number
    number: {min: 0, max: 60}
"""


@pytest.fixture
def program(leases: Leases, api_of: ApiOf) -> APIClient:
    """Of a manager."""
    return api_of(leases.manager)


def post(program: APIClient, body: dict[str, Any], form: str = "json") -> Any:
    return program.post(reverse("api:settings", args=["leases"]), body, format=form)


def settings_of(study: Study) -> dict[str, object]:
    now = Study.objects.get(pk=study.pk)
    names = ("title", "slug", "guideline", "consent", "background", "licence", "publishes_texts")
    names += ("contact", "contact_address", "publishes_contact", "submit_complete", "shows_setup")
    return {name: getattr(now, name) for name in names}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("title", "Leases of today"),
        ("slug", "leases-of-today"),
        ("guideline", "Read it twice."),
        ("guideline", ""),
        ("consent", "I take part."),
        ("background", FORM.strip()),
        ("licence", "CC-BY-4.0"),
        ("publishes_texts", True),
        ("contact", "Anna Novak, study coordinator"),
        ("contact_address", "study@example.org"),
        ("contact_address", "https://lab.example/contact"),
        ("contact_address", ""),
        ("publishes_contact", True),
        ("submit_complete", True),
        ("shows_setup", False),
    ],
)
@pytest.mark.parametrize("form", ["json", "multipart"])
def test_what_is_sent_is_changed_and_the_rest_stays(
    leases: Leases, program: APIClient, name: str, value: object, form: str
) -> None:
    actions.change_study(study=leases.study, guideline="Read it.", consent="You may stop.", contact_address="a@b.org")
    before = program.get(reverse("api:settings", args=["leases"])).json()
    assert before == settings_of(leases.study)

    told = post(program, {name: value}, form)

    assert (told.status_code, told.json()) == (200, {**before, name: value})
    assert settings_of(leases.study) == {**before, name: value}


def test_two_who_change_different_things_do_not_undo_each_other(leases: Leases) -> None:
    """The second one has read the study before the first one changed it."""
    early = Study.objects.get(pk=leases.study.pk)
    actions.change_study(study=leases.study, title="Leases of today")
    actions.change_study(study=early, guideline="Read it twice.")

    now = Study.objects.get(pk=leases.study.pk)
    assert (now.title, now.guideline) == ("Leases of today", "Read it twice.")


def test_nothing_sent_changes_nothing(leases: Leases, program: APIClient) -> None:
    before = settings_of(leases.study)
    assert (post(program, {}).status_code, settings_of(leases.study)) == (200, before)


@pytest.mark.parametrize(
    ("body", "field", "sentence"),
    [
        ({"title": " "}, "title", "may not be blank"),
        ({"title": "x" * 201}, "title", "no more than 200 characters"),
        ({"slug": "other"}, "slug", "Another study has the address “other”."),
        ({"slug": "no address"}, "slug", "An address has letters without accents, digits and hyphens alone."),
        ({"submit_complete": "perhaps"}, "submit_complete", "Must be a valid boolean."),
        ({"background": "questions: ["}, "background", ""),
        ({"contact": "x" * 201}, "contact", "no more than 200 characters"),
        ({"contact_address": "room 12"}, "contact_address", "neither an e-mail address"),
        ({"guideline": None}, "guideline", "may not be null"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_changed(
    leases: Leases, program: APIClient, body: dict[str, Any], field: str, sentence: str
) -> None:
    builders.study("other", of=leases.study.scheme, by=leases.manager)
    before = settings_of(leases.study)

    refused = post(program, {"consent": "I take part.", **body})

    assert (refused.status_code, list(refused.json())) == (400, [field])
    assert sentence in refused.json()[field][0]
    assert settings_of(leases.study) == before


def test_new_is_the_address_of_the_page_that_makes_studies(leases: Leases, program: APIClient) -> None:
    refused = post(program, {"slug": "new"})
    assert (refused.status_code, settings_of(leases.study)["slug"]) == (409, "leases")
    assert refused.json() == {"detail": "“new” is the address of this page. Choose another."}


def test_a_consent_that_is_changed_is_asked_for_anew_as_by_the_page(
    leases: Leases, program: APIClient, client_of: ClientOf
) -> None:
    post(program, {"consent": "I take part."})
    client_of(leases.anna).post(reverse("annotation:consent", args=["leases"]), {"agree": "yes"})
    assert actions.has_agreed(study=Study.objects.get(pk=leases.study.pk), user=leases.anna)

    post(program, {"consent": "I take part, and may stop."})

    assert not actions.has_agreed(study=Study.objects.get(pk=leases.study.pk), user=leases.anna)


def test_settings_of_an_archived_study_are_read_alone(leases: Leases, program: APIClient) -> None:
    actions.archive_study(study=leases.study, by=leases.manager)
    before = settings_of(leases.study)
    assert program.get(reverse("api:settings", args=["leases"])).json() == before
    assert post(program, {"title": "Other"}).status_code == 403
    assert settings_of(leases.study) == before


# --- the scheme -----------------------------------------------------------------------------------------------------


def new_scheme(program: APIClient, text: str, slug: str = "empty") -> Any:
    return program.post(reverse("api:change-scheme", args=[slug]), {"scheme_text": text}, format="json")


def test_a_study_asks_something_else_while_nothing_is_labelled(leases: Leases, program: APIClient) -> None:
    study = builders.study("empty", of=leases.study.scheme, by=leases.manager)
    text = builders.SCHEME.replace("version: 1", "version: 2", 1).replace("title: Stated", "title: Said", 1)

    told = new_scheme(program, text)

    assert (told.status_code, told.json()["scheme_version"]) == (200, 2), told.content
    assert told.json()["sections"][0]["questions"][0]["title"] == "Said"
    study.refresh_from_db()
    assert (study.scheme.version, study.scheme.source) == (2, text)


def test_what_was_asked_stays_where_something_is_labelled(leases: Leases, program: APIClient) -> None:
    builders.label(leases.annas[0])

    other = builders.SCHEME.replace("version: 1", "version: 2", 1).replace("facets: [duty]", "facets: [duty, by]")
    refused = new_scheme(program, other, "leases")

    assert refused.status_code == 409
    assert refused.json()["detail"].startswith("sections.duties.column.facets cannot change under answers")


@pytest.mark.parametrize("text", ["key: [", "", "key: contracts"])
def test_a_text_that_is_no_scheme_says_what_is_wrong(leases: Leases, program: APIClient, text: str) -> None:
    study = builders.study("empty", of=leases.study.scheme, by=leases.manager)

    refused = new_scheme(program, text)

    assert (refused.status_code, list(refused.json())) == (400, ["scheme_text"])
    study.refresh_from_db()
    assert study.scheme == leases.study.scheme


TYPED = """\
key: typed
version: 1
title: Typed
row: {facets: [topic, {key: writer, hidden: true}]}
sections:
  - key: it
    title: It
    column: {title: Thing, facets: [thing]}
    checks: [{rule: equal-to, question: tool, other: name}]
    questions:
      - {key: minutes, title: Minutes, kind: number, number: {min: 0, step: 0.5, unit: min}}
      - {key: name, title: Name, kind: text}
      - key: tool
        title: Tool
        kind: text
        text: {longest: 40, separator: ";", special: [NA]}
        preset: {when_empty: thing, value: NA}
      - {key: kept, title: Kept, kind: flag}
"""


def test_a_program_reads_what_a_typed_question_takes(leases: Leases, api_of: ApiOf) -> None:
    scheme = actions.store_scheme(spec=load_scheme(TYPED), source=TYPED)
    study = actions.create_study(slug="typed", title="Typed", scheme=scheme, by=leases.manager)
    actions.join(invite=actions.invite(study=study, role=Role.ANNOTATOR, by=leases.manager)[0], user=leases.anna)

    told = api_of(leases.manager).get(reverse("api:study", args=["typed"])).json()

    [section] = told["sections"]
    minutes, _name, tool, kept = section["questions"]
    assert minutes["takes"] == {"min": 0, "max": None, "step": 0.5, "unit": "min"}
    assert {name: tool["takes"][name] for name in ("longest", "separator", "special")} == {
        "longest": 40,
        "separator": ";",
        "special": ["NA"],
    }
    assert (tool["preset"], kept["takes"], kept["preset"]) == (
        {"when_empty": "thing", "option": None, "value": "NA"},
        None,
        None,
    )
    [check] = section["checks"]
    assert (check["rule"], check["question"], check["other"]) == ("equal-to", "tool", "name")
    assert [(one["key"], one["hidden"]) for one in told["row_facets"]] == [("topic", False), ("writer", True)]
    of_anna = api_of(leases.anna).get(reverse("api:study", args=["typed"])).json()
    assert [one["key"] for one in of_anna["row_facets"]] == ["topic"]


def test_a_program_reads_the_scheme_as_a_file(leases: Leases, program: APIClient) -> None:
    told = program.get(reverse("api:change-scheme", args=["leases"])).json()
    assert told == {
        "scheme": "contracts",
        "scheme_version": 1,
        "scheme_text": leases.study.scheme.source,
        "wordings": [],
    }
