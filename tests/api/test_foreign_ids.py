"""Ids of another study's objects in what is sent: refused in a sentence, with nothing changed and nothing told of them.

Each field of a body that names an object stands in `NAMED`; each other field of the API in `NAMES_NOTHING`. A new field
that stands in neither fails here.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator
from pytest_django import DjangoDbBlocker, Settings
from rest_framework.test import APIClient

from annotation import actions
from annotation.lens import lens
from annotation.models import Assignment, Column, Rater, Row, Study, User
from annotation.queries import undoing
from operating import queries as keeping
from operating import tables
from reports import actions as reporting
from reports.data.arrays import Filters
from reports.hiring import actions as hiring
from tests import builders
from tests.databases import kept
from tests.recipes.test_documents import SHOWN, page
from tests.reports.hiring import simulated

pytestmark = [pytest.mark.django_db, pytest.mark.once]
OF_LOOKS = {"annotation.look", "annotation.auditevent", "reports.testlook"}
NOWHERE = 9_999_999


@dataclass(frozen=True)
class World:
    """A study that is labelled and split, and another one, of which its manager knows nothing."""

    own: simulated.World
    other: Study
    fiona: Rater
    judge: Rater
    certificate: str
    report: int
    other_report: int
    batch: str  # of what was accepted at once in the other study

    @property
    def mine(self) -> Assignment:
        """Boris's open work on the first document."""
        return Assignment.objects.get(rater=self.own.people[1])

    @property
    def row(self) -> Row:
        return self.own.rows[0]

    @property
    def column(self) -> Column:
        return self.own.columns[self.row.sheet_id][0]

    @property
    def other_row(self) -> Row:
        return Row.objects.filter(sheet__study=self.other)[0]

    @property
    def other_column(self) -> Column:
        return Column.objects.filter(sheet__study=self.other)[0]


@pytest.fixture(scope="module")
def furnished(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    with kept(furnish, django_db_blocker) as world:
        yield world


@pytest.fixture
def world(furnished: World, db: None, settings: Settings, tmp_path: Any) -> World:
    settings.PALATE_EXPORTS = tmp_path
    return deepcopy(furnished)


def furnish() -> World:
    own = simulated.world(n_sheets=1, n_rows=10, n_labelled=6, unsure=0.0)
    own.manager.user_permissions.add(Permission.objects.get(codename="add_study"))
    hiring.draw_split(study=own.study, unit="row", share=50, seed=3, by=own.manager)
    own.assign(own.people[1], own.rows[:1])
    otto = builders.user("otto")
    other = builders.study("other", by=otto)
    sheet = builders.sheet(other, "Hidden sheet")
    fiona = builders.rater(other, builders.user("fiona"))
    Rater.objects.filter(pk=fiona.pk).update(code="F9")  # a code that the other study alone has
    fiona.refresh_from_db()
    [work, _second] = builders.assignments(fiona, sheet)
    [alike, _second] = builders.assignments(builders.rater(other, builders.user("fred")), sheet)
    for one in (work, alike):
        builders.label(one)
    shown = lens.digest(lens.agreed(lens.of_sheet(sheet), judges=False))
    actions.accept_agreed(sheet=sheet, judges=False, shown=shown, by=otto)
    judge = builders.judge(other, "HiddenJudge")
    builders.assignments(judge, sheet)
    reports = [reporting.freeze(study=one, title="First", filters=Filters(), by=None).pk for one in (own.study, other)]
    certificate = simulated.bare_certificate(own.study, own.rater, own.question)
    [(batch, _decisions)] = undoing.accepted(sheet)
    return World(own, other, fiona, judge, certificate.name, *reports, batch)


@dataclass(frozen=True)
class Operation:
    """`body`: one that is taken, unless nothing can be `taken` here; sent as `kind`. named: path of a field -> an id of
    the other study and one of nobody's."""

    name: str
    args: Callable[[World], list[object]]
    body: Callable[[World], dict[str, Any]]
    named: Mapping[str, tuple[Callable[[World], object], object]]
    by: Callable[[World], User] = field(default=lambda world: world.own.manager)
    taken: bool = True
    kind: str = "json"


def _slug(world: World) -> list[object]:
    return [world.own.study.slug]


FIONA = (lambda world: world.fiona.code, "nobody-at-all")
JUDGE = (lambda world: world.judge.code, "nobody-at-all")
ROW = (lambda world: world.other_row.pk, NOWHERE)
COLUMN = (lambda world: world.other_column.pk, NOWHERE)
NAMED: dict[tuple[str, str], Operation] = {
    ("post", "/api/v1/assignments/{id}/labels/"): Operation(
        "assignment-labels",
        lambda world: [world.mine.pk],
        lambda world: {
            "key": str(uuid.uuid4()),
            "answers": [{"column": world.column.pk, "question": "made", "option": "made"}],
        },
        {
            "answers.[].column": COLUMN,
            "answers.[].question": (lambda _world: "stated", "no-such-question"),
            "answers.[].option": (lambda _world: "stated", "no-such-option"),
        },
        by=lambda world: User.objects.get(username="boris"),
    ),
    **{
        ("post", f"/api/v1/assignments/{{id}}/notes/{address}"): Operation(
            name,
            lambda world: [world.mine.pk],
            lambda world: {"column": world.column.pk, "question": "made", "text": "Is it?"},
            {"column": COLUMN, "question": (lambda _world: "stated", "no-such-question")},
            by=lambda world: User.objects.get(username="boris"),
        )
        for address, name in (("", "assignment-notes"), ("read/", "read-notes"))
    },
    ("post", "/api/v1/sheets/{id}/decisions/"): Operation(
        "decisions",
        lambda world: [world.row.sheet_id],
        lambda world: {
            "row": world.row.pk,
            "column": world.column.pk,
            "question": "made",
            "option": "made",
            "reason": "Yes.",
        },
        {
            "row": ROW,
            "column": COLUMN,
            "question": (lambda _world: "stated", "no-such-question"),
            "option": (lambda _world: "stated", "no-such-option"),
        },
    ),
    ("post", "/api/v1/sheets/{id}/decisions/agreed/taken-back/"): Operation(
        "take-back-agreed",
        lambda world: [world.row.sheet_id],
        lambda world: {"batch": str(uuid.uuid4())},
        {"batch": (lambda world: world.batch, str(uuid.uuid4()))},
        taken=False,  # nothing was accepted at once
    ),
    ("post", "/api/v1/studies/{slug}/certificates/"): Operation(
        "certificates",
        _slug,
        lambda world: {
            "judge": world.own.rater.code,
            "question": "claims.made",
            "epsilon": 0.2,
            "confidence": 0.8,
            "until": (timezone.localdate() + timedelta(days=30)).isoformat(),
        },
        {"judge": JUDGE, "question": (lambda _world: "duties.stated", "no.such")},
    ),
    ("post", "/api/v1/studies/{slug}/certificates/{name}/takeovers/"): Operation(
        "takeovers",
        lambda world: [world.own.study.slug, world.certificate],
        lambda world: {"share": 10, "seed": 1, "raters": [world.own.people[0].code]},
        {"raters.[]": FIONA},
    ),
    ("post", "/api/v1/studies/{slug}/certificates/{name}/given-back/"): Operation(
        "give-back",
        lambda world: [world.own.study.slug, world.certificate],
        lambda world: {"seed": 1, "raters": [world.own.people[0].code]},
        {"raters.[]": FIONA},
        taken=False,  # the certificate is not revoked
    ),
    ("post", "/api/v1/studies/{slug}/derive/"): Operation(
        "derive",
        _slug,
        lambda world: {
            "deriver": "selected-rows",
            "scheme": "claims",
            "slug": "derived",
            "title": "Derived",
            "rater": world.own.people[0].code,
            "settings": {"answers": ["claims.made=made"], "columns": ["any"]},
        },
        {"rater": FIONA},
    ),
    ("post", "/api/v1/studies/{slug}/drafts/"): Operation(
        "drafts",
        _slug,
        lambda world: {
            "rater": world.own.people[1].code,
            "drafted_from": world.own.people[0].code,
            "rows": [world.row.pk],
        },
        {"rater": FIONA, "drafted_from": JUDGE, "rows.[]": ROW},
    ),
    ("post", "/api/v1/studies/{slug}/exports/"): Operation(
        "exports",
        _slug,
        lambda world: {"form": "jsonl", "report": world.report},
        {"report": (lambda world: world.other_report, NOWHERE)},
    ),
    ("post", "/api/v1/studies/{slug}/retrievals/start/"): Operation(
        "start-retrieval",
        _slug,
        lambda world: {"sheets": [world.row.sheet_id]},
        {
            "sheets.[]": (lambda world: world.other_row.sheet_id, NOWHERE),
            "columns.[]": COLUMN,
            "raters.[]": FIONA,
        },
        taken=False,
    ),
    ("post", "/api/v1/studies/{slug}/hits/record/"): Operation(
        "record-results",
        _slug,
        lambda world: {"results": [{"url": "https://a.example/", "query": world.row.sheet.title, "sheet": ""}]},
        {
            "results.[].sheet": (lambda _world: "hidden sheet", "no such sheet"),
            "results.[].query": (lambda _world: "hidden sheet", "no such sheet"),
        },
    ),
    ("post", "/api/v1/studies/{slug}/documents/import/"): Operation(
        "import-documents",
        _slug,
        lambda world: {"sheet": world.row.sheet_id, "pages": [SimpleUploadedFile("a.html", page(SHOWN))]},
        {"sheet": (lambda world: world.other_row.sheet_id, NOWHERE)},
        kind="multipart",
    ),
    ("post", "/api/v1/studies/{slug}/crowd-links/"): Operation(
        "crowd-links",
        _slug,
        lambda world: {"title": "Crowd", "most_people": 3, "sheets": [world.row.sheet_id]},
        {"sheets.[]": (lambda world: world.other_row.sheet_id, NOWHERE)},
    ),
    **{
        ("post", f"/api/v1/studies/{{slug}}/plan/{address}"): Operation(
            name,
            _slug,
            lambda world: {"raters": [world.own.people[1].code], "raters_per_sheet": 1, "share_twice": 0},
            {"raters.[]": FIONA, "sheets.[]": (lambda world: world.other_row.sheet_id, NOWHERE)},
        )
        for address, name in (("", "plan"), ("drawn/", "draw-plan"))
    },
    **{
        ("post", f"/api/v1/studies/{{slug}}/plan/reassigned/{address}"): Operation(
            name,
            _slug,
            lambda world: {"leaving": [world.own.people[1].code], "takers": [world.own.people[0].code]},
            {"leaving.[]": FIONA, "takers.[]": FIONA},
            taken=taken,
        )
        for address, name, taken in (("", "reassign", False), ("drawn/", "draw-reassigned", True))
    },
    **{
        ("post", f"/api/v1/studies/{{slug}}/plan/more/{address}"): Operation(
            name,
            _slug,
            lambda world: {"takers": [world.own.people[1].code], "people": 3},
            {"takers.[]": FIONA, "sheets.[]": (lambda world: world.other_row.sheet_id, NOWHERE)},
        )
        for address, name in (("", "more-raters"), ("drawn/", "draw-more-raters"))
    },
    **{
        ("post", f"/api/v1/sheets/{{id}}/restored/{address}"): Operation(
            name,
            lambda world: [world.row.sheet_id],
            lambda world: {
                "moment": timezone.now().isoformat(),
                "rater": world.own.people[0].code,
                "digest": "another",
            },
            {"rater": FIONA},
            taken=taken,
        )
        for address, name, taken in (("", "restore", False), ("drawn/", "draw-restore", True))
    },
    ("post", "/api/v1/studies/{slug}/tables/remove-system/"): Operation(
        "pizza-remove-system",
        _slug,
        lambda _world: {"system": "t5"},
        {"system": JUDGE},
        taken=False,  # no answers came in files
    ),
    ("post", "/api/v1/studies/{slug}/suggestions/"): Operation(
        "suggestions",
        _slug,
        lambda world: {"judge": world.own.rater.code, "raters": [world.own.people[1].code], "seed": 1},
        {"judge": JUDGE, "raters.[]": FIONA},
        taken=False,
    ),
}
# Fields by their last name that name no object of a study: numbers and texts, what belongs to the whole installation
# (schemes, language models), a rater who may be new, and settings, which are choices of a deriver's form.
NAMES_NOTHING = {
    "key", "value", "note", "skip", "confirm", "reason", "epsilon", "confidence", "until", "share", "seed", "deriver",
    "scheme", "version", "slug", "title", "settings", "digest", "lines", "kind", "text", "origin", "form",
    "most_tokens", "most_cost", "items", "fields", "was", "models", "types", "own", "type", "wordings", "answer",
    "per_type", "temperature", "max_new_tokens", "chat_template", "together", "recipes", "is_document", "repeats",
    "words", "engines", "documents", "unit", "example", "replace", "username", "password", "answers", "rows", "raters",
    "sheets", "columns", "corrected", "pages", "results", "url", "engine", "rank", "query",
    "name", "ingredients", "steps", "tasks", "written_by", "prompt", "which", "size", "labels", "create", "wide",
    "pseudonyms", "gold", "ignore", "scheme_text", "guideline", "role", "email", "days", "bound", "judges", "sections",
    "raters_per_sheet", "share_twice", "share_thrice", "raters_per_row", "own_order", "facets", "by", "each", "method",
    "normalisation", "evidence", "shipped", "parser", "backend", "location", "served_name", "api_key_env",
    "leaving", "takers", "level", "make_up", "people", "submitted", "consent", "background", "submit_complete",
    "rows_each", "checks_each", "people_per_row", "most_people", "hours", "asks_for", "completion_code",
    "completion_url", "ended_code", "closed",
    "address", "events", "on",
    "shows_setup", "licence", "publishes_texts", "shown", "moment", "hourly_rate", "currency",
    "contact", "contact_address", "publishes_contact",
    "requests_per_minute", "price_read", "price_written", "revision", "gguf_file", "dtype", "device", "prompt_text",
    "prompt_sha256",
}  # fmt: skip
# Raters and sheets that are made where the study has none of that name; and headings of a file.
MADE_WHERE_MISSING = {
    "/api/v1/studies/{slug}/names/": {"sheet"},
    "/api/v1/studies/{slug}/recipes/": {"sheet"},
    "/api/v1/studies/{slug}/imports/labels/": {"rater", "row", "answer", "gold", "every_rater", "every_question"},
    "/api/v1/studies/{slug}/tables/add/": {"rater"},
    "/api/v1/studies/{slug}/tables/add-system/": {"system"},
}


def _fields(schema: Mapping[str, Any], known: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Paths of all fields of a body; those of a list end in []."""
    if "$ref" in schema:
        schema = known[schema["$ref"].rpartition("/")[2]]
    for part in schema.get("allOf", ()):
        yield from _fields(part, known, path)
    if schema.get("type") == "array":
        yield f"{path}.[]"
        yield from _fields(schema["items"], known, f"{path}.[]")
    for name, inner in schema.get("properties", {}).items():
        below = f"{path}.{name}".lstrip(".")
        if not inner.get("readOnly"):
            yield below
            yield from _fields(inner, known, below)


def _bodies() -> Iterator[tuple[tuple[str, str], set[str]]]:
    found = SchemaGenerator().get_schema(request=None, public=True)
    known = found["components"]["schemas"]
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            if isinstance(operation, dict) and "requestBody" in operation:
                content = operation["requestBody"]["content"].values()
                yield (method, path), {one for each in content for one in _fields(each["schema"], known)}


def test_each_field_of_each_body_is_known_to_name_an_object_or_nothing() -> None:
    bodies = dict(_bodies())
    assert len(bodies) > 20
    unknown = {
        (operation, path)
        for operation, paths in bodies.items()
        for path in paths
        if not (operation in NAMED and path in NAMED[operation].named)
        and path not in MADE_WHERE_MISSING.get(operation[1], ())
        and path.removesuffix(".[]").rpartition(".")[2] not in NAMES_NOTHING
    }
    lists = {
        (operation, path)
        for operation, paths in bodies.items()
        for path in paths
        if path.endswith(".[]")
        and path.removesuffix(".[]") in ("rows", "raters", "sheets", "columns", "leaving", "takers")
        and not (operation in NAMED and path in NAMED[operation].named)
    }

    assert not unknown | lists
    assert all(set(NAMED[operation].named) <= bodies[operation] for operation in NAMED)


def _with(body: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """`body` with another value at a path; in a list it is the only one."""
    made = deepcopy(body)
    *before, last = path.split(".")
    if last == "[]":
        *before, name = before
        last, value = name, [value]
    place: Any = made
    for step in before:
        place = place[0] if step == "[]" else place[step]
    place[last] = value
    return made


def _tables() -> dict[str, Any]:
    return {name: keeping.table_part(name) for name in tables.every() if name not in OF_LOOKS}


@pytest.mark.parametrize("operation", NAMED.values(), ids=lambda one: one.name)
def test_the_api_refuses_ids_of_another_study(world: World, operation: Operation) -> None:
    api = APIClient()
    api.force_authenticate(operation.by(world))
    address = reverse(f"api:{operation.name}", args=operation.args(world))
    if operation.taken:  # else its refusals below would say nothing
        with transaction.atomic():
            taken = api.post(address, operation.body(world), format=operation.kind)
            transaction.set_rollback(True)
        assert taken.status_code < 300, taken.content
    before = _tables()

    for path, (foreign, nobodys) in operation.named.items():
        told = []
        for value in (foreign(world), nobodys):
            answer = api.post(address, _with(operation.body(world), path, value), format=operation.kind)
            assert answer.status_code in (400, 404, 409), (path, value, answer.content)
            text = answer.content.decode()
            assert "Hidden sheet" not in text
            assert len(text) > 20, (path, text)
            told.append((answer.status_code, text.replace(str(value), "…")))
        assert told[0] == told[1], path  # what is elsewhere is as what is nowhere

    assert _tables() == before


@dataclass(frozen=True)
class Posted:
    """A form of a page: what is sent, and which of it is of the other study."""

    name: str
    data: Callable[[World], dict[str, Any]]
    named: Mapping[str, Callable[[World], object]]
    args: Callable[[World], list[object]] = _slug


FORMS = [
    Posted(
        "annotation:drafts",
        lambda world: {
            "rater": world.own.people[1].pk, "source": world.own.people[0].pk, "sheet": "", "work": [world.mine.pk],
        },
        {
            "rater": lambda world: world.fiona.pk,
            "source": lambda world: world.judge.pk,
            "sheet": lambda world: world.other_row.sheet_id,
            "work": lambda world: Assignment.objects.filter(rater=world.fiona)[0].pk,
        },
    ),
    Posted(
        "annotation:replan",
        lambda world: {"leaving": [world.own.people[1].pk], "takers": [world.own.people[0].pk], "seed": 1},
        {"leaving": lambda world: world.fiona.pk, "takers": lambda world: world.fiona.pk},
    ),
    Posted(
        "annotation:more-raters",
        lambda world: {
            "takers": [world.own.people[0].pk], "sheets": [world.row.sheet_id], "people": 2, "seed": 1,
        },
        {"takers": lambda world: world.fiona.pk, "sheets": lambda world: world.other_row.sheet_id},
    ),
    Posted(
        "annotation:derive",
        lambda world: {"title": "Derived", "slug": "derived", "scheme": world.own.study.scheme_id},
        {"rater": lambda world: world.fiona.pk},
    ),
    Posted(
        "reports:certify",
        lambda world: {
            "judge": world.own.rater.code, "question": world.own.question.pk, "epsilon": 20, "confidence": 80,
            "until": (timezone.localdate() + timedelta(days=30)).isoformat(),
        },
        {"judge": lambda world: world.judge.code, "question": lambda _world: _question_of_leases()},
    ),
    Posted(
        "reports:suggestions",
        lambda world: {"judge": world.own.rater.code, "raters": [world.own.people[1].pk], "seed": 1},
        {"judge": lambda world: world.judge.code, "raters": lambda world: world.fiona.pk},
    ),
    Posted(
        "reports:take-over",
        lambda world: {"share": 10, "raters": [world.own.people[0].pk], "seed": 1},
        {"raters": lambda world: world.fiona.pk},
        lambda world: [world.own.study.slug, world.certificate],
    ),
    Posted(
        "reports:give-back",
        lambda world: {"raters": [world.own.people[0].pk], "seed": 1},
        {"raters": lambda world: world.fiona.pk},
        lambda world: [world.own.study.slug, world.certificate],
    ),
    Posted(
        "judges:stack",
        lambda world: {"judge": [world.own.rater.pk], "sheet": [world.row.sheet_id]},
        {"judge": lambda world: world.judge.pk, "sheet": lambda world: world.other_row.sheet_id},
    ),
]  # fmt: skip


def _question_of_leases() -> int:
    from annotation.models import Question

    return Question.objects.filter(section__scheme__slug="contracts")[0].pk


@pytest.mark.parametrize("form", FORMS, ids=lambda one: one.name)
def test_a_form_refuses_ids_of_another_study(world: World, form: Posted) -> None:
    client = Client()
    client.force_login(world.own.manager)
    address = reverse(form.name, args=form.args(world))
    before = _tables()

    for name, foreign in form.named.items():
        for value in (foreign(world), NOWHERE):
            data = form.data(world)
            data[name] = [*data[name], value] if isinstance(data.get(name), list) else value
            answer = client.post(address, data, follow=True)
            assert answer.status_code in (200, 400, 404), (name, value)
            text = answer.content.decode()
            for told in ("Hidden sheet", "HiddenJudge", "fiona"):
                assert told not in text.replace(f'value="{value}"', "").replace(str(value), ""), (name, told)
            assert _tables() == before, (name, value)
