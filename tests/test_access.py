"""Every URL × every kind of visitor. A URL that is not in the table fails the test: say there who may go in.

What each outcome means, and how a page and the API say it:

    YES      it is done, or shown, or the form comes back   2xx, 3xx, 400
    LOGIN    log in first                                   a redirect to the login page; 401
    HIDDEN   there is no such thing, for you                404
    FORBID   you are here with the wrong role               403
    REFUSED  not yours to change                            409
    METHOD   not with this method                           405
"""

from __future__ import annotations

import copy
import gzip
import html
import io
import json
import shutil
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.conf import settings as of_django
from django.contrib import admin
from django.db import connection, transaction
from django.http.response import HttpResponseBase
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings
from django.urls import URLPattern, URLResolver, get_resolver, resolve, reverse
from django.utils import timezone
from pytest_django import DjangoDbBlocker, Settings

from accounts import actions as accounts
from annotation import actions
from annotation.crowd import actions as crowd
from annotation.models import (
    Assignment,
    CrowdLink,
    Deletion,
    Delivery,
    Experiment,
    Invite,
    Label,
    LabelEvent,
    Note,
    Participant,
    Question,
    Role,
    Row,
    Scheme,
    Study,
    User,
    Webhook,
)
from annotation.queries import undoing
from annotation.scheme.spec import load_scheme
from annotation.webhooks import actions as webhooks
from judges import actions as judging
from judges import trying
from judges.generating import actions as generating
from judges.models import Extraction, ExtractionRun, FittedCalibration, GenerationRun, Judge, Run, WorkItem
from llm import actions as storing
from recipes.cooking import actions as retrieving
from recipes.cooking import mending_queries
from recipes.cooking.models import Document, Mending, Retrieval
from recipes.cooking.pages.mending import Line
from recipes.cooking.retrieval_queries import Asked
from recipes.cooking.web.engines import Result
from recipes.cooking.web.recorded import Recorded
from recipes.ingredient_states import actions as graphing
from recipes.ingredient_states import demo_study as soups
from recipes.ingredient_states.models import Picture
from recipes.memorization import demo_study as slaws
from recipes.memorization.actions import freeze_verdict
from recipes.memorization.models import FrozenVerdict
from reports import actions as reporting
from reports.data.arrays import Filters
from reports.hiring import actions as hiring
from reports.models import Export, Report, Split, TestLook
from tests import builders
from tests.annotation.importing import labels_in
from tests.builders import Leases
from tests.databases import kept
from tests.judges import generations
from tests.judges.helpers import CLOZE
from tests.reports.hiring.simulated import bare_certificate

pytestmark = pytest.mark.once

YES, LOGIN, HIDDEN, FORBID, REFUSED, METHOD = "yes", "login", "hidden", "forbid", "refused", "method"


class Who(NamedTuple):
    """The outcome for each visitor. Anna is the annotator whose work the addresses name."""

    anonymous: str
    stranger: str
    annotator: str
    manager: str
    researcher: str
    superuser: str


ANYBODY = Who(YES, YES, YES, YES, YES, YES)
LOGGED_IN = Who(LOGIN, YES, YES, YES, YES, YES)
MEMBERS = Who(LOGIN, HIDDEN, YES, YES, YES, YES)
READERS = Who(LOGIN, HIDDEN, FORBID, YES, YES, YES)
MANAGERS = Who(LOGIN, HIDDEN, FORBID, YES, FORBID, YES)
# They may, and are told that there is nothing to do: the world's run is at work already, and its download ready.
MANAGERS_IN_VAIN = Who(LOGIN, HIDDEN, FORBID, REFUSED, FORBID, REFUSED)
READERS_IN_VAIN = Who(LOGIN, HIDDEN, FORBID, REFUSED, REFUSED, REFUSED)
ANNA = Who(LOGIN, HIDDEN, YES, HIDDEN, HIDDEN, HIDDEN)
SUPERUSERS_IN_VAIN = Who(LOGIN, HIDDEN, FORBID, FORBID, FORBID, REFUSED)
SUPERUSERS = Who(LOGIN, FORBID, FORBID, FORBID, FORBID, YES)
MAKERS = Who(LOGIN, HIDDEN, FORBID, FORBID, FORBID, YES)  # managers who may make judges
OWNERS = Who(LOGIN, HIDDEN, HIDDEN, HIDDEN, HIDDEN, YES)  # and who began it
OWNERS_IN_VAIN = OWNERS._replace(superuser=REFUSED)
NOT_THERE = Who(LOGIN, HIDDEN, FORBID, HIDDEN, HIDDEN, HIDDEN)  # for whom it could be there
NOBODY = Who(LOGIN, METHOD, METHOD, METHOD, METHOD, METHOD)
METHODS = Who(*[METHOD] * 6)
NEVER = Who(*[HIDDEN] * 6)
NOTHING_OF_MINE = Who(LOGIN, HIDDEN, HIDDEN, HIDDEN, HIDDEN, HIDDEN)


@dataclass(frozen=True)
class World:
    """What addresses are made of: the leases, all of Anna's first row labelled, and a lexical judge with its run."""

    leases: Leases
    superuser: User
    judge: Judge
    run: Run
    extraction: ExtractionRun
    generation: GenerationRun
    report: Report
    export: Export
    logged_in: Mapping[int, str]  # user -> the key of their session

    @property
    def mine(self) -> Assignment:
        return self.leases.annas[0]


Args = Callable[[World], Sequence[object]]
Data = Callable[[World], dict[str, Any]]


def nothing(world: World) -> Sequence[object]:
    return ()


def slug(world: World) -> Sequence[object]:
    return (world.leases.study.slug,)


def sheet(world: World) -> Sequence[object]:
    return (world.leases.sheet.pk,)


def row(world: World) -> Sequence[object]:
    return (world.mine.row_id,)


def sheet_of_study(world: World) -> Sequence[object]:
    return (world.leases.study.slug, world.leases.sheet.pk)


def a_plan(world: World) -> Sequence[object]:
    """One that gave nothing, and cannot be undone."""
    study = world.leases.study
    return (study.slug, (study.plans.first() or study.plans.create(request={})).pk)


def a_note(world: World) -> Note:
    """A question of Anna's that nobody has answered."""
    cell = builders.answer(world.leases.sheet, "Pay rent", "stated", None)
    return actions.ask(
        assignment=world.mine, column=cell.column, question=cell.question, text="Is it?", by=world.leases.anna
    )


def a_noted_cell(world: World) -> Sequence[object]:
    note = a_note(world)
    return (world.mine.pk, note.column_id, note.question_id)


def an_import(world: World) -> Sequence[object]:
    """Of files that wait for a worker."""
    study = world.leases.study
    made = study.imports.first() or study.imports.create(what="rows", files={"rows": ["rows.csv", "0"]}, language="en")
    return (study.slug, made.pk)


def imported_gold(world: World) -> Sequence[object]:
    study = world.leases.study
    if not undoing.has_imported_gold(study):
        head = "rater,rater_kind,row,section,column,question,answer\n"
        labels_in(study, f"{head}gold,gold,Clause 1,duties,Pay rent,stated,absent\n")
    return (study.slug, undoing.gold_imports(study)[0].key)


def a_deletion(world: World) -> Sequence[object]:
    """Of a large study, which has failed."""
    made = Deletion.objects.first() or Deletion.objects.create(
        title="Large", state="failed", error="Why.", ended_at=timezone.now()
    )
    return (made.pk,)


def a_stored_page(world: World) -> Sequence[object]:
    Document.objects.get_or_create(
        row=world.mine.row, defaults={"html_gz": gzip.compress(b"<p>Stir.</p>"), "source": "a.html", "sha256": "0"}
    )
    return (world.mine.row_id,)


def a_mending(world: World) -> Mending:
    row = world.mine.row
    lines = [Line(block, i) for i, block in enumerate(row.blocks)]
    return retrieving.mend(row=row, lines=lines, seen=mending_queries.digest_of(row), by=world.leases.manager)


def a_retrieval(world: World) -> Retrieval:
    """Of a hit that waits to be fetched."""
    leases = world.leases
    if (found := leases.study.retrievals.first()) is None:
        recorded = Recorded(leases.sheet.title, "paper", "lease", [Result(1, "https://law.example/1", "")])
        [search] = retrieving.record_results(study=leases.study, recorded=[recorded], by=None).searches
        asked = Asked(leases.sheet, search.engine, search.query)
        found = retrieving.start_retrieval(study=leases.study, asked=[asked], documents=1, by=None)
    return found


def retrieval(world: World) -> Sequence[object]:
    return (world.leases.study.slug, a_retrieval(world).pk)


def hit(world: World) -> Sequence[object]:
    [search] = a_retrieval(world).searches.all()
    return (world.leases.study.slug, search.hits.get().pk)


def beside_leases(world: World, slug: str, scheme: Scheme) -> Study:
    """Another study of the same people."""
    made = builders.study(slug, of=scheme, by=world.leases.manager)
    actions.add_member(study=made, user=world.leases.researcher, role=Role.RESEARCHER)
    builders.rater(made, world.leases.anna)
    return made


def with_graphs(world: World) -> Study:
    """A study of states: one recipe that two have annotated, which Anna is to annotate too."""
    if (found := Study.objects.filter(slug="soups").first()) is None:
        source = (soups.ROOT / "schemes" / "ingredient-states.yaml").read_text(encoding="utf-8")
        found = beside_leases(world, "soups", actions.store_scheme(spec=load_scheme(source), source=source))
        graphing.import_recipes(study=found, recipes=soups.demo_recipes()[:1])
        builders.assignments(found.raters.get(user=world.leases.anna), found.sheets.get())
    return found


def slug_with_graphs(world: World) -> Sequence[object]:
    return (with_graphs(world).slug,)


def row_with_graphs(world: World) -> Sequence[object]:
    return (with_graphs(world).sheets.get().rows.get().pk,)


def my_graph(world: World) -> Sequence[object]:
    return (Assignment.objects.get(row__sheet__study=with_graphs(world), rater__user=world.leases.anna).pk,)


def a_picture(world: World) -> Sequence[object]:
    Picture.objects.get_or_create(row=world.mine.row, defaults={"media_type": "image/png", "data": b"dot"})
    return (world.mine.row_id,)


def with_verdict(world: World) -> Study:
    """A study of a recipe of which Anna has found one ingredient in two documents."""
    if (found := Study.objects.filter(slug="slaws").first()) is None:
        found = beside_leases(world, "slaws", slaws.paper_scheme())
        columns = {"ingredients": [{"ingredient": "cabbage"}]}
        sheet = actions.add_sheet(study=found, title="Coleslaw", columns=columns)
        for name in ("Google 1", "Google 2"):  # as many as the figure of documents needs
            builders.row(sheet, name)
        for assignment in builders.assignments(found.raters.get(user=world.leases.anna), sheet):
            builders.label(assignment, {("cabbage", "presence"): "found"})
    return found


def slug_with_verdict(world: World) -> Sequence[object]:
    return (with_verdict(world).slug,)


def frozen_verdict(world: World) -> Sequence[object]:
    study = with_verdict(world)
    found: FrozenVerdict = study.frozen_verdicts.first() or freeze_verdict(
        study=study, title="First", filters=Filters(), examination=None, by=world.leases.manager
    )
    return (study.slug, found.pk)


def mine(world: World) -> Sequence[object]:
    return (world.mine.pk,)


def scored(world: World) -> Sequence[object]:
    """A judge that has scores."""
    study = world.leases.study
    prompt = "encoder: characters\nquestions:\n  duties.stated:\n    embedding:\n"
    rule = "      {in: [paragraph], thresholds: {stated: 0.5}, none: absent}\n"
    if not study.raters.filter(code="near").exists():
        near = judging.create_judge(name="near", method=Judge.Method.EMBEDDING, prompt_text=prompt + rule)
        judging.start_run(study=study, judge=near, by=None, enqueue=False)
    return (study.slug, study.raters.get(code="near").pk)


def calibration(world: World) -> Sequence[object]:
    slug, rater = scored(world)
    made = FittedCalibration.objects.create(
        study=world.leases.study,
        rater_id=rater,
        questions={},
        lineage={"rows": [], "n_documents": 1, "labels_sha256": "0" * 64},
    )
    return (slug, made.pk)


def annas_role(world: World) -> Sequence[object]:
    study = world.leases.study
    return (study.slug, world.leases.anna.memberships.get(study=study).pk)


def judge(world: World) -> Sequence[object]:
    return (world.leases.study.slug, world.judge.pk)


def trial(world: World) -> Sequence[object]:
    row = world.leases.study.sheets.earliest("pk").rows.earliest("pk")
    described = trying.described({"name": "x", "method": "lexical", "prompt_text": PROMPT})
    made = judging.start_trial(study=world.leases.study, described=described, row=row, cell=None, by=None)
    return (world.leases.study.slug, made.pk)


def model_answer(world: World) -> WorkItem:
    """Of a judge with a model, at one row."""
    study = world.leases.study
    if (done := WorkItem.objects.filter(run__study=study, run__judge__name="model").first()) is None:
        made = judging.create_judge(name="model", method=Judge.Method.CLOZE, location="nobody/model", prompt_text=CLOZE)
        done = judging.start_run(study=study, judge=made, by=None, enqueue=False).items.earliest("pk")
        WorkItem.objects.filter(pk=done.pk).update(state="done", cells=1, done_at=timezone.now())
    return done


def asked_cell(world: World) -> Sequence[object]:
    column = (done := model_answer(world)).assignment.row.sheet.columns.earliest("pk")
    question = column.section.questions.earliest("pk")
    return (world.leases.study.slug, done.assignment_id, column.pk, question.key)


def cell_of_run(world: World) -> Sequence[object]:
    slug, _assignment, *cell = asked_cell(world)
    return (slug, (done := model_answer(world)).run_id, done.assignment.row_id, *cell)


def run(world: World) -> Sequence[object]:
    return (world.leases.study.slug, world.run.pk)


def extractor(world: World) -> Sequence[object]:
    return (world.leases.study.slug, world.extraction.extractor_id)


def extraction(world: World) -> Sequence[object]:
    return (world.leases.study.slug, world.extraction.pk)


def extracted(world: World) -> Sequence[object]:
    row = world.mine.row_id
    by = world.extraction.extractor
    Extraction.objects.get_or_create(extractor=by, row_id=row, kind="paragraph", refused="no list")
    return (*extraction(world), row, "paragraph")


def generation(world: World) -> Sequence[object]:
    return (world.leases.study.slug, world.generation.pk)


def a_text(world: World) -> Sequence[object]:
    return (*generation(world), world.generation.items.first().pk)


def a_generation(world: World) -> Sequence[object]:
    return (world.leases.study.slug, world.generation.items.first().generation_id)


def rater(world: World) -> Sequence[object]:
    return (world.leases.study.slug, world.mine.rater_id)


def coded(world: World) -> Sequence[object]:
    return (world.leases.study.slug, world.mine.rater.code)


def a_token(world: World) -> Sequence[object]:
    return (accounts.make_token(user=world.leases.anna, name="laptop", days=1)[0].pk,)


def a_model(world: World) -> Sequence[object]:
    return (storing.store_model(location="lab/never-worked").pk,)


def an_invite(world: World) -> tuple[Invite, str]:
    return actions.invite(study=world.leases.study, role=Role.ANNOTATOR, by=world.leases.manager)


def a_crowd_link(world: World) -> CrowdLink:
    return crowd.make_link(
        study=world.leases.study,
        title="Crowd",
        sheets=[world.leases.sheet],
        rows_each=1,
        people_per_row=9,
        most_people=9,
        hours=1,
        asks_for="",
        completion_code="",
        completion_url="",
        by=world.leases.manager,
    )


def a_webhook(world: World) -> Webhook:
    """Without calling anybody."""
    study = world.leases.study
    address, events = "https://hooks.example/in", Webhook.Event.values
    made = study.webhooks.first()
    if made is None:
        made, _secret = webhooks.make_webhook(
            study=study, address=address, events=events, origin="https://palate.example", by=world.leases.manager
        )
    return made


def webhook(world: World) -> Sequence[object]:
    return (world.leases.study.slug, a_webhook(world).pk)


def a_call(world: World) -> Delivery:
    return webhooks.try_webhook(hook=a_webhook(world))


def a_hooks_address(world: World) -> dict[str, object]:
    return {"address": "https://hooks.example/in", "events": ["row.submitted"]}


def crowd_link(world: World) -> Sequence[object]:
    return (world.leases.study.slug, a_crowd_link(world).pk)


def a_place(world: World) -> Sequence[object]:
    """Anna's."""
    rater = world.leases.annas[0].rater
    made = Participant.objects.create(
        link=a_crowd_link(world), number="1", user=world.leases.anna, rater=rater, rows=[world.leases.annas[0].row_id]
    )
    return (made.pk,)


def frozen(world: World) -> Sequence[object]:
    return (world.leases.study.slug, world.report.pk)


def export(world: World) -> Sequence[object]:
    return (world.leases.study.slug, world.export.pk)


def slug_with_split(world: World) -> Sequence[object]:
    study = world.leases.study
    if not Split.objects.filter(study=study).exists():
        hiring.draw_split(study=study, unit="row", share=50, seed=1, by=None)
    return (study.slug,)


def experiment(world: World) -> Sequence[object]:
    """Without a seat: who may see it is all that is asked."""
    study = world.leases.study
    return (study.slug, Experiment.objects.get_or_create(study=study, judge=world.run.rater, seed=1)[0].pk)


def certificate(world: World) -> Sequence[object]:
    """Of the judge that is at work."""
    study = world.leases.study
    question = Question.objects.select_related("section__scheme").get(section__scheme=study.scheme, key="stated")
    return (study.slug, bare_certificate(study, world.run.rater, question).name)


def a_failed_test(world: World) -> Sequence[object]:
    """Of which there is no certificate."""
    slug, name = certificate(world)
    look = TestLook.objects.get(certificate__digest__startswith=name)
    look.pk = None
    look.save()
    return (slug, look.pk)


BEHIND = {
    "cell.question": "duties.stated",
    "cell.judge": "lexical",
    "cell.person": "stated",
    "cell.chosen": "absent",
}


def no_data(world: World) -> dict[str, Any]:
    return {}


def a_cell(world: World) -> dict[str, Any]:
    answer = builders.answer(world.leases.sheet, "Pay rent", "stated", "absent")
    cell = [world.mine.pk, answer.column.pk, answer.question.pk, "absent", "stated"]
    return {"key": uuid.uuid4(), "changes": json.dumps([cell])}


def a_decision(world: World) -> dict[str, Any]:
    answer = builders.answer(world.leases.sheet, "Pay rent", "stated", "absent")
    question = answer.question.pk
    return {
        "row": world.mine.row_id,
        "column": answer.column.pk,
        "question": question,
        "option": "absent",
        "reason": "!",
    }


@dataclass(frozen=True)
class Url:
    """Who may GET and POST a URL, made of `args` and `query`; `data` is posted. A failing form counts as let in."""

    get: Who
    post: Who = NOBODY
    args: Args = nothing
    data: Data = field(default=no_data)
    query: Mapping[str, str] = field(default_factory=dict)


Posted = partial(Url, NOBODY)

TABLE = {
    # config
    "healthz": Url(ANYBODY, METHODS),
    "readyz": Url(ANYBODY, METHODS),
    "metrics": Url(ANYBODY, METHODS),  # of this machine, or with the token: tests/operating/test_seen.py
    "login": Url(ANYBODY, ANYBODY),
    "account_login": Url(ANYBODY, ANYBODY),
    "set_language": Url(ANYBODY, ANYBODY, data=lambda world: {"language": "cs"}),
    "logout": Posted(LOGGED_IN),
    "password_change": Url(LOGGED_IN, LOGGED_IN),
    # accounts: one's own
    "accounts:account": Url(LOGGED_IN, LOGGED_IN),
    "accounts:withdraw-token": Posted(ANNA, args=a_token),
    "accounts:my-data": Url(LOGGED_IN),
    "accounts:leave": Url(LOGGED_IN, LOGGED_IN),
    "accounts:api-docs": Url(LOGGED_IN),
    "account_logout": Url(ANYBODY, ANYBODY),
    "account_signup": Url(ANYBODY, ANYBODY),
    "account_inactive": Url(ANYBODY, METHODS),
    "account_reauthenticate": Url(LOGGED_IN, LOGGED_IN),
    "account_email": Url(LOGGED_IN, LOGGED_IN),
    "account_email_verification_sent": Url(ANYBODY, METHODS),
    "account_confirm_email": Url(ANYBODY, NEVER, args=lambda world: ("no-key",)),
    "account_change_password": Url(LOGGED_IN, LOGGED_IN),
    "account_set_password": Url(LOGGED_IN, LOGGED_IN),
    "account_reset_password": Url(ANYBODY, ANYBODY),
    "account_reset_password_done": Url(ANYBODY, METHODS),
    "account_reset_password_from_key_done": Url(ANYBODY, METHODS),
    "account_reset_password_from_key": Url(ANYBODY, ANYBODY, args=lambda world: ("1", "no-key")),
    "mfa_index": Url(LOGGED_IN),
    "mfa_authenticate": Url(ANYBODY, ANYBODY),  # in the middle of logging in; others are sent to its beginning
    "mfa_reauthenticate": Url(LOGGED_IN, LOGGED_IN),
    "mfa_activate_totp": Url(LOGGED_IN, LOGGED_IN),
    "mfa_deactivate_totp": Url(NOTHING_OF_MINE, NOTHING_OF_MINE),
    "mfa_view_recovery_codes": Url(NOTHING_OF_MINE),
    "mfa_generate_recovery_codes": Url(LOGGED_IN, LOGGED_IN),
    "mfa_download_recovery_codes": Url(NOTHING_OF_MINE, NOTHING_OF_MINE),
    "mfa_list_webauthn": Url(LOGGED_IN),
    "mfa_add_webauthn": Url(LOGGED_IN, LOGGED_IN),
    "mfa_reauthenticate_webauthn": Url(LOGGED_IN, LOGGED_IN),
    # The password is asked again before it is said that there is no such key.
    "mfa_remove_webauthn": Url(LOGGED_IN, LOGGED_IN, args=lambda world: (1,)),
    "mfa_edit_webauthn": Url(LOGGED_IN, LOGGED_IN, args=lambda world: (1,)),
    "usersessions_list": Url(LOGGED_IN, LOGGED_IN),
    "socialaccount_connections": Url(LOGGED_IN, LOGGED_IN),
    "socialaccount_signup": Url(ANYBODY, ANYBODY),
    "socialaccount_login_cancelled": Url(ANYBODY, METHODS),
    "socialaccount_login_error": Url(Who(*[LOGIN] * 6), METHODS),
    # Where no single sign-on is set up.
    "openid_connect_login": Url(NEVER, NEVER, args=lambda world: ("sso",)),
    "openid_connect_callback": Url(NEVER, NEVER, args=lambda world: ("sso",)),
    # accounts: the owner's
    "accounts:owner": Url(SUPERUSERS),
    "accounts:owner-delete-model": Posted(SUPERUSERS, args=a_model),
    "accounts:owner-people": Url(SUPERUSERS),
    "accounts:owner-person": Url(SUPERUSERS, SUPERUSERS, args=lambda world: (world.leases.anna.pk,)),
    "accounts:owner-withdraw-token": Posted(SUPERUSERS, args=a_token),
    "accounts:owner-log": Url(SUPERUSERS),
    "accounts:owner-log-csv": Url(SUPERUSERS),
    # annotation: my work
    "annotation:home": Url(LOGGED_IN),
    "annotation:my-work": Url(LOGGED_IN),
    "annotation:demo": Url(Who(LOGIN, *[HIDDEN] * 5)),  # this is no demo
    "annotation:demo-login": Url(Who(*[METHOD] * 6), Who(*[HIDDEN] * 6), args=lambda world: ("manager",)),
    "annotation:sheet": Url(ANNA, args=sheet),
    "annotation:spreadsheet": Url(ANNA, ANNA, args=sheet),
    "annotation:results": Url(NOTHING_OF_MINE, args=sheet),  # it is open: tests/annotation/test_results.py
    "annotation:spreadsheet-file": Url(ANNA, args=sheet),
    "annotation:script": Url(ANYBODY, Who(*[METHOD] * 6), args=lambda world: ("grid", "any")),
    "annotation:styles": Url(ANYBODY, Who(*[METHOD] * 6), args=lambda world: ("grid", "any")),
    "annotation:record-cells": Posted(Who(LOGIN, REFUSED, YES, REFUSED, REFUSED, REFUSED), args=sheet, data=a_cell),
    "annotation:evidence": Url(ANNA, args=mine),
    "annotation:states": Url(ANNA, args=my_graph),
    "annotation:submit": Posted(ANNA, args=mine),
    "annotation:reopen": Posted(ANNA, args=mine),
    "annotation:beat": Posted(ANNA, args=sheet, data=lambda world: {"page": uuid.uuid4(), "seconds": "{}"}),
    "annotation:restore-seen": Posted(ANNA, args=sheet),
    "annotation:read-wording": Posted(ANNA, args=sheet),
    "annotation:notes-of-cell": Url(ANNA, ANNA, args=a_noted_cell, data=lambda world: {"text": "Is it?"}),
    "annotation:read-notes": Posted(ANNA, args=a_noted_cell),
    "annotation:withdraw-note": Posted(ANNA, args=lambda world: (a_note(world).pk,)),
    # annotation: everybody's labels of a sheet
    "annotation:lens": Url(READERS, args=sheet),
    "annotation:lens-cell": Url(READERS, args=sheet, data=a_decision),
    "annotation:lens-decide": Posted(MANAGERS, args=sheet, data=a_decision),
    "annotation:lens-accept": Url(MANAGERS, MANAGERS, args=sheet),
    "annotation:take-back-accepted": Posted(MANAGERS, args=sheet, data=lambda world: {"batch": str(uuid.uuid4())}),
    "annotation:row-evidence": Url(READERS, args=row),
    "annotation:history": Url(READERS, args=sheet),
    "annotation:restore": Url(MANAGERS, MANAGERS, args=sheet),
    "annotation:row-states": Url(READERS, args=row_with_graphs),
    # annotation: studies
    "annotation:help": Url(LOGGED_IN),
    "annotation:help-page": Url(LOGGED_IN, args=lambda world: ("judges/runs",)),
    "annotation:studies": Url(LOGGED_IN),
    "annotation:new-study": Url(SUPERUSERS, SUPERUSERS),
    "annotation:scheme-example": Url(LOGGED_IN),
    "annotation:scheme-to-begin-from": Url(SUPERUSERS),
    "annotation:change-scheme": Url(MANAGERS, MANAGERS, args=slug),
    "annotation:check-scheme": Posted(SUPERUSERS),
    "annotation:check-study-scheme": Posted(MANAGERS, args=slug),
    "annotation:wordings": Url(READERS, args=slug),
    "annotation:scheme-file": Url(READERS, args=lambda world: (world.leases.study.slug, 1)),
    "annotation:study": Url(MEMBERS, args=slug),
    "annotation:settings": Url(MANAGERS, MANAGERS, args=slug),
    "annotation:put-setup-away": Posted(MANAGERS, args=slug),
    "annotation:archive-study": Posted(MANAGERS, args=slug),
    "annotation:delete-study": Url(MANAGERS, MANAGERS, args=slug),
    "annotation:resume-deletion": Posted(OWNERS, args=a_deletion),
    "annotation:lineage": Url(READERS, args=slug),
    "annotation:derive": Url(SUPERUSERS, SUPERUSERS, args=slug),
    "annotation:plan": Url(MANAGERS, MANAGERS, args=slug),
    "annotation:people": Url(MANAGERS, MANAGERS, args=slug),
    "annotation:replan": Url(MANAGERS, MANAGERS, args=slug),
    "annotation:more-raters": Url(MANAGERS, MANAGERS, args=slug),
    "annotation:drafts": Url(MANAGERS, MANAGERS, args=slug),
    "annotation:warnings": Url(MANAGERS, args=slug),
    "annotation:withdraw-row": Posted(
        MANAGERS, args=slug, data=lambda world: {"row": world.mine.row_id, "reason": "gone"}
    ),
    "annotation:restore-row": Posted(MANAGERS, args=lambda world: (world.leases.study.slug, world.mine.row_id)),
    "annotation:board": Url(MANAGERS, args=slug),
    "annotation:remind": Posted(MANAGERS, args=rater),
    "annotation:pause": Posted(MANAGERS, args=rater),
    "annotation:go-on": Posted(MANAGERS, args=rater),
    "annotation:revoke-invite": Posted(MANAGERS, args=lambda world: (world.leases.study.slug, an_invite(world)[0].pk)),
    # An invitation lets in whoever has it, also who has another role already; the annotator is one already.
    "annotation:join": Url(ANYBODY, ANYBODY, args=lambda world: (an_invite(world)[1],)),
    "annotation:crowd": Url(MANAGERS, MANAGERS, args=slug),
    "annotation:close-crowd": Posted(MANAGERS, args=crowd_link),
    "annotation:crowd-people": Url(MANAGERS, args=crowd_link),
    "annotation:crowd-ended-code": Posted(MANAGERS, args=crowd_link),
    "annotation:crowd-participants": Url(MANAGERS, args=crowd_link),
    "annotation:take-part": Url(ANYBODY, ANYBODY, args=lambda world: (a_crowd_link(world).token,)),
    "annotation:crowd-done": Url(ANNA, ANNA, args=a_place),
    "annotation:webhooks": Url(MANAGERS, MANAGERS, args=slug, data=a_hooks_address),
    "annotation:webhook": Url(MANAGERS, MANAGERS, args=webhook, data=a_hooks_address),
    "annotation:try-webhook": Posted(MANAGERS, args=webhook),
    "annotation:webhook-secret": Posted(MANAGERS, args=webhook),
    "annotation:switch-webhook": Posted(MANAGERS, args=webhook),
    "annotation:delete-webhook": Posted(MANAGERS, args=webhook),
    "annotation:send-again": Posted(MANAGERS, args=lambda world: (*webhook(world), a_call(world).pk)),
    "annotation:audit-log": Url(MANAGERS, args=slug),
    "annotation:audit-log-csv": Url(MANAGERS, args=slug),
    "annotation:consent": Url(MEMBERS, MEMBERS, args=slug),
    "annotation:background": Url(MEMBERS, MEMBERS, args=slug),
    "annotation:background-csv": Url(READERS, args=slug),
    "annotation:remove-member": Posted(MANAGERS, args=annas_role),
    "annotation:notes": Url(MANAGERS, args=slug),
    "annotation:answer-note": Posted(
        MANAGERS,
        args=lambda world: (world.leases.study.slug, a_note(world).pk),
        data=lambda world: {"answer": "Yes."},
    ),
    "annotation:sheet-settings": Url(MANAGERS, MANAGERS, args=sheet_of_study),
    "annotation:delete-sheet": Posted(MANAGERS, args=sheet_of_study),
    "annotation:archive-sheet": Posted(MANAGERS, args=sheet_of_study),
    "annotation:follows": Url(MANAGERS, args=slug),
    "annotation:undo-plan": Posted(MANAGERS, args=a_plan),
    "annotation:close-sheet": Posted(MANAGERS, args=sheet_of_study),
    "annotation:open-sheet": Posted(MANAGERS, args=sheet_of_study),
    "annotation:time": Url(MANAGERS, args=slug),
    "annotation:pay": Posted(MANAGERS, args=slug, data=lambda world: {"hourly_rate": "10"}),
    # annotation: tables in
    "annotation:import": Url(MANAGERS, args=slug),
    "annotation:import-rows": Url(MANAGERS, MANAGERS, args=slug),
    "annotation:import-labels": Url(MANAGERS, MANAGERS, args=slug),
    "annotation:gold-imports": Url(MANAGERS, args=slug),
    "annotation:gold-import": Url(MANAGERS, MANAGERS, args=imported_gold),
    "annotation:import-run": Url(MANAGERS, args=an_import),
    "annotation:cancel-import": Posted(MANAGERS, args=an_import),
    "annotation:resume-import": Posted(MANAGERS, args=an_import),
    # recipes
    "recipes:stored-page": Url(MEMBERS, args=a_stored_page),
    "recipes:documents": Url(READERS, args=slug),
    "recipes:document": Url(READERS, args=lambda world: (world.leases.study.slug, world.mine.row_id)),
    "recipes:mend": Url(MANAGERS, MANAGERS_IN_VAIN, args=lambda world: (world.leases.study.slug, world.mine.row_id)),
    "recipes:put-back": Posted(MANAGERS, args=lambda world: (world.leases.study.slug, a_mending(world).pk)),
    "recipes:add-recipe": Url(MANAGERS, MANAGERS, args=slug),
    "recipes:import-documents": Url(MANAGERS, MANAGERS, args=slug),
    "benchmark:instructions": Url(READERS, args=slug),
    "benchmark:add-instructions": Url(MANAGERS, MANAGERS, args=slug),
    "benchmark:words": Url(READERS, args=slug),
    "benchmark:words-csv": Url(READERS, args=slug),
    "memorization:names": Url(READERS, args=slug),
    "memorization:add-names": Url(MANAGERS, MANAGERS, args=slug),
    "memorization:steps": Url(READERS, args=slug),
    # Only who may add judges; and the leases are no step of a chain.
    "memorization:by-judge": Posted(Who(LOGIN, FORBID, FORBID, FORBID, FORBID, HIDDEN), args=slug),
    "memorization:myself": Posted(MANAGERS, args=slug),
    # The leases are neither candidates nor taken apart.
    "memorization:paste": Url(
        Who(LOGIN, HIDDEN, FORBID, HIDDEN, FORBID, HIDDEN),
        Who(LOGIN, HIDDEN, FORBID, HIDDEN, FORBID, HIDDEN),
        args=slug,
    ),
    # The leases are no candidates.
    "memorization:beside": Url(Who(LOGIN, HIDDEN, HIDDEN, HIDDEN, HIDDEN, HIDDEN), args=sheet),
    # The leases are no tables of recipes.
    "pizza_commonsense:tables": Url(NOT_THERE, args=slug),
    "pizza_commonsense:export": Url(NOT_THERE, args=slug),
    "pizza_commonsense:split": Url(NOT_THERE, args=slug),
    "pizza_commonsense:statistics": Url(NOT_THERE, args=slug),
    "pizza_commonsense:statistics-file": Url(NOT_THERE, args=lambda world: (world.leases.study.slug, "csv")),
    "pizza_commonsense:examples": Url(NOT_THERE, args=slug),
    "pizza_commonsense:add": Url(MANAGERS, Who(LOGIN, HIDDEN, FORBID, HIDDEN, FORBID, HIDDEN), args=slug),
    "pizza_commonsense:add-system": Url(MANAGERS, Who(LOGIN, HIDDEN, FORBID, HIDDEN, FORBID, HIDDEN), args=slug),
    "pizza_commonsense:split-long": Posted(MANAGERS, args=slug),
    "pizza_commonsense:remove-system": Posted(MANAGERS, args=slug),
    "ingredient_states:graphs": Url(READERS, args=slug_with_graphs),
    "ingredient_states:bring": Url(MANAGERS, MANAGERS, args=slug_with_graphs),
    "ingredient_states:probing": Url(READERS, args=slug_with_graphs),
    "ingredient_states:probing-file": Url(READERS, args=lambda world: (*slug_with_graphs(world), "csv")),
    # The graphs are no task.
    "ingredient_states:probing-instances": Url(NOT_THERE, args=slug_with_graphs),
    "ingredient_states:download": Url(READERS, args=lambda world: (*slug_with_graphs(world), "json")),
    "ingredient_states:picture": Url(MEMBERS, args=a_picture),
    "recipes:searches": Url(READERS, args=slug),
    "recipes:new-search": Url(MANAGERS, MANAGERS, args=slug),
    "recipes:search-items": Url(MANAGERS, MANAGERS, args=slug),
    "recipes:record-results": Url(MANAGERS, MANAGERS, args=slug),
    "recipes:hits": Url(READERS, args=sheet_of_study),
    "recipes:hits-csv": Url(READERS, args=slug),
    "recipes:pages-warc": Url(READERS, args=slug),
    "recipes:decide": Posted(MANAGERS, args=hit),
    "recipes:fetch-next": Posted(MANAGERS, args=hit),
    "recipes:retrieval": Url(READERS, args=retrieval),
    "recipes:cancel-retrieval": Posted(MANAGERS, args=retrieval),
    "recipes:resume-retrieval": Posted(MANAGERS, args=retrieval),
    # judges
    "memorization:verdict": Url(READERS, args=slug),
    "memorization:verdict-item": Url(
        Who(LOGIN, HIDDEN, FORBID, HIDDEN, HIDDEN, HIDDEN),  # of a study that looks for nothing, no item has a verdict
        args=lambda world: (world.leases.study.slug, world.leases.sheet.columns.first().pk),  # type: ignore[union-attr]
    ),
    "memorization:verdict-file": Url(READERS, args=lambda world: (world.leases.study.slug, "csv")),
    "memorization:compare-verdicts": Url(READERS, args=slug),
    "memorization:compared-verdicts-file": Url(READERS, args=lambda world: (with_verdict(world).slug, "csv")),
    "memorization:verdict-figure": Url(
        Who(LOGIN, HIDDEN, FORBID, HIDDEN, HIDDEN, HIDDEN),
        args=lambda world: (world.leases.study.slug, "ingredients.verdict-recipe", "svg"),
    ),
    "memorization:freeze-verdict": Posted(READERS, args=slug_with_verdict, data=lambda world: {"title": "Another"}),
    "memorization:frozen-verdicts": Url(READERS, args=slug_with_verdict),
    "memorization:frozen-verdict": Url(READERS, args=frozen_verdict),
    "memorization:recompute-verdict": Url(READERS, READERS, args=frozen_verdict),
    "memorization:frozen-verdict-file": Url(READERS, args=lambda world: (*frozen_verdict(world), "zip")),
    "memorization:frozen-verdict-figure": Url(
        READERS, args=lambda world: (*frozen_verdict(world), "ingredients.verdict-documents", "svg")
    ),
    "judges:runs": Url(READERS, args=slug),
    "judges:board": Url(MANAGERS, args=slug),
    "judges:new-judge": Url(SUPERUSERS, SUPERUSERS, args=slug),
    "judges:prompt-text": Url(SUPERUSERS, args=slug),
    "judges:cells": Url(SUPERUSERS, args=slug),
    "judges:try": Posted(SUPERUSERS, args=slug),
    "judges:trial": Url(MANAGERS, args=trial),
    "judges:cancel-trial": Posted(MANAGERS, args=trial),
    "judges:asked": Url(READERS, args=asked_cell),
    "judges:ask-again": Posted(SUPERUSERS, args=asked_cell),
    "judges:judge": Url(READERS, args=judge),
    "judges:rename-judge": Posted(SUPERUSERS, args=judge),
    "judges:archive-judge": Posted(SUPERUSERS, args=judge),
    "judges:take-back-judge": Posted(SUPERUSERS, args=judge),
    "judges:delete-judge": Posted(SUPERUSERS, args=judge),
    "judges:start": Posted(MANAGERS, args=judge),
    "judges:shown-documents": Posted(MAKERS, args=judge),
    "judges:make-arms": Posted(MAKERS, args=judge),
    "judges:make-candidate-arms": Posted(MAKERS, args=judge),
    "judges:count-as-arm": Posted(MAKERS, args=judge),
    "judges:average-arms": Posted(MAKERS, args=judge),
    "judges:run": Url(READERS, args=run),
    "judges:unreadable": Url(READERS, args=run),
    "judges:cancel": Posted(MANAGERS, args=run),
    "judges:resume": Posted(MANAGERS, args=run),
    "judges:new-extractor": Url(SUPERUSERS, SUPERUSERS, args=slug),
    "judges:extractor": Url(READERS, args=extractor),
    "judges:rename-extractor": Posted(SUPERUSERS, args=extractor),
    "judges:archive-extractor": Posted(SUPERUSERS, args=extractor),
    "judges:take-back-extractor": Posted(SUPERUSERS, args=extractor),
    "judges:delete-extractor": Posted(SUPERUSERS, args=extractor),
    "judges:start-extraction": Posted(MANAGERS, args=extractor),
    "judges:extraction": Url(READERS, args=extraction),
    "judges:cancel-extraction": Posted(MANAGERS, args=extraction),
    "judges:resume-extraction": Posted(MANAGERS, args=extraction),
    "judges:extracted": Url(READERS, args=lambda world: (*extraction(world), world.mine.row_id)),
    "judges:correct-extracted": Posted(MANAGERS, args=extracted),
    "judges:calibrations": Url(READERS, MANAGERS, args=scored),
    "judges:examples": Posted(MAKERS, args=scored),
    "judges:stack": Url(MANAGERS, MANAGERS, args=slug),
    "judges:new-calibrated-judge": Posted(MAKERS, args=calibration),
    "judges:generations": Url(READERS, args=slug),
    "judges:new-generation": Url(MANAGERS, MANAGERS, args=slug),
    "judges:estimate-generation": Posted(MANAGERS, args=slug),
    "judges:new-model": Url(SUPERUSERS, SUPERUSERS, args=slug),
    "judges:generation": Url(READERS, args=generation),
    "judges:cancel-generation": Posted(MANAGERS, args=generation),
    "judges:resume-generation": Posted(MANAGERS, args=generation),
    "judges:generated-texts": Url(READERS, args=generation),
    "judges:download-texts": Url(READERS, args=lambda world: (*generation(world), "csv")),
    "judges:generated-text": Url(READERS, args=a_text),
    "judges:write-again": Posted(MANAGERS, args=a_text),
    # reports
    "reports:report": Url(READERS, args=slug),
    "reports:questions": Url(READERS, args=slug),
    "reports:question": Url(READERS, args=lambda world: (world.leases.study.slug, "duties.stated")),
    "reports:judges": Url(READERS, args=slug),
    "reports:judges-on": Url(READERS, args=lambda world: (world.leases.study.slug, "duties.stated")),
    "reports:people": Url(READERS, args=slug),
    "reports:coverage": Url(READERS, args=slug),
    "reports:methods": Url(READERS, args=slug),
    "reports:glossary": Url(READERS, args=slug),
    "reports:whole": Url(READERS, args=slug),
    "reports:compare-live": Url(READERS, args=slug),
    "reports:compare-live-csv": Url(READERS, args=slug, query={"a-by": "", "b-by": "document"}),
    "reports:at": Url(READERS, args=slug, query={"table": "duties.stated.agreement"}),
    "reports:table": Url(READERS, args=slug, query={"table": "duties.stated.agreement"}),
    "reports:board": Url(READERS, args=slug),
    "reports:gold-board": Url(READERS, args=slug),
    "reports:csv": Url(READERS, args=slug),
    "reports:xlsx": Url(READERS, args=slug),
    "reports:labels": Url(READERS, args=slug),
    "reports:labels-wide": Url(READERS, args=slug),
    "reports:figure": Url(READERS, args=lambda world: (world.leases.study.slug, "duties.stated.matrix", "svg")),
    "reports:cells": Url(READERS, args=slug, query=BEHIND),
    "reports:cells-csv": Url(READERS, args=slug, query=BEHIND),
    "reports:evidence": Url(READERS, args=lambda world: (world.leases.study.slug, world.mine.row_id)),
    "reports:freeze": Posted(READERS, args=slug, data=lambda world: {"title": "Another"}),
    "reports:frozen-list": Url(READERS, args=slug),
    "reports:frozen": Url(READERS, args=frozen),
    "reports:frozen-answers": Url(READERS, args=frozen),
    "reports:recompute": Url(READERS, READERS, args=frozen),
    "reports:compare": Url(READERS, args=frozen),
    "reports:compare-csv": Url(READERS, args=frozen),
    "reports:frozen-table": Url(READERS, args=frozen, query={"table": "duties.stated.agreement"}),
    "reports:frozen-cells": Url(READERS, args=frozen, query=BEHIND),
    "reports:frozen-cells-csv": Url(READERS, args=frozen, query=BEHIND),
    "reports:frozen-figure": Url(READERS, args=lambda world: (*frozen(world), "duties.stated.matrix", "svg")),
    "reports:ask": Posted(READERS, args=slug, data=lambda world: {"form": "jsonl"}),
    "reports:download": Url(READERS, args=export),
    "reports:cancel-download": Posted(READERS, args=export),
    "reports:resume-download": Posted(READERS, args=export),
    "reports:download-file": Url(READERS, args=export),
    "reports:hiring": Url(READERS, args=slug),
    "reports:hiring-board": Url(READERS, args=slug),
    "reports:hiring-split": Url(READERS, args=slug),
    "reports:draw-split": Url(MANAGERS, MANAGERS, args=slug),
    "reports:choose-judge": Url(READERS, args=slug),
    "reports:choose-judge-csv": Url(READERS, args=slug),
    "reports:suggestions": Url(READERS, MANAGERS, args=slug),
    "reports:suggestions-panel": Url(READERS, args=slug),
    "reports:suggestions-effects": Url(READERS, args=slug),
    "reports:suggestions-csv": Url(READERS, args=experiment),
    "reports:end-suggestions": Posted(MANAGERS, args=experiment),
    "reports:certify": Url(MANAGERS, MANAGERS, args=slug_with_split),
    "reports:test-outcome": Url(READERS, args=a_failed_test),
    "reports:certificate": Url(READERS, args=certificate),
    "reports:certificate-json": Url(READERS, args=certificate),
    "reports:recompute-certificate": Url(READERS, READERS, args=certificate),
    "reports:revoke-certificate": Url(MANAGERS, MANAGERS, args=certificate),
    "reports:take-over": Url(MANAGERS, MANAGERS, args=certificate),
    "reports:give-back": Posted(MANAGERS, args=certificate),
    # the API
    "api:token": Url(Who(METHOD, METHOD, METHOD, METHOD, METHOD, METHOD), ANYBODY),
    "api:root": Url(LOGGED_IN),
    "api:schema": Url(LOGGED_IN),
    "api:schemes": Url(SUPERUSERS),
    "api:studies": Url(LOGGED_IN, SUPERUSERS),
    "api:study": Url(MEMBERS, args=slug),
    "api:archive-study": Posted(MANAGERS_IN_VAIN, args=slug),  # a run is at work in it
    "api:bring-study-back": Posted(MANAGERS, args=slug),
    "api:delete-study": Url(MANAGERS, MANAGERS_IN_VAIN, args=slug, data=lambda world: {"confirm": "leases"}),
    "api:deletions": Url(LOGGED_IN),
    "api:deletion": Url(OWNERS, args=a_deletion),
    "api:resume-deletion": Posted(OWNERS_IN_VAIN, args=a_deletion),  # nothing of it is left
    "api:settings": Url(MANAGERS, MANAGERS, args=slug),
    "api:change-scheme": Url(READERS, MANAGERS, args=slug),
    "api:sheets": Url(MEMBERS, args=slug),
    "api:lineage": Url(READERS, args=slug),
    "api:drafts": Posted(
        MANAGERS_IN_VAIN,
        args=slug,
        data=lambda world: {"rater": "A1", "drafted_from": "J1", "rows": [world.mine.row_id]},
    ),
    "api:derive": Posted(
        SUPERUSERS_IN_VAIN,
        args=slug,
        data=lambda world: {
            "deriver": "selected-rows",
            "scheme": "contracts",
            "slug": world.leases.study.slug,
            "title": "Again",
        },
    ),
    "api:sheet": Url(MEMBERS, args=sheet),
    "api:row": Url(MEMBERS, args=row),
    "api:withdraw-row": Posted(MANAGERS, args=row, data=lambda world: {"reason": "gone"}),
    "api:restore-row": Posted(MANAGERS, args=row),
    "api:close-sheet": Posted(MANAGERS, args=sheet),
    "api:open-sheet": Posted(MANAGERS, args=sheet),
    "api:rename-sheet": Posted(MANAGERS, args=sheet, data=lambda world: {"title": "Another"}),
    "api:show-gold": Posted(MANAGERS, args=sheet, data=lambda world: {"shown": True}),
    "api:archive-sheet": Posted(MANAGERS, args=sheet),
    "api:bring-sheet-back": Posted(MANAGERS, args=sheet),
    "api:delete-sheet": Url(MANAGERS, MANAGERS_IN_VAIN, args=sheet),  # it was labelled
    "api:lens": Url(READERS, args=sheet),
    "api:decisions": Url(READERS, MANAGERS, args=sheet),
    "api:history": Url(READERS, args=sheet),
    "api:draw-restore": Posted(MANAGERS, args=sheet, data=lambda world: {"moment": timezone.now().isoformat()}),
    "api:restore": Posted(
        MANAGERS_IN_VAIN, args=sheet, data=lambda world: {"moment": timezone.now().isoformat(), "digest": "another"}
    ),
    "api:raters": Url(READERS, args=slug),
    "api:pause": Posted(MANAGERS, args=coded),
    "api:go-on": Posted(MANAGERS, args=coded),
    "api:remind": Posted(MANAGERS, args=coded),
    "api:pay": Url(MANAGERS, MANAGERS, args=slug, data=lambda world: {"hourly_rate": "10"}),
    "api:labels": Url(READERS, args=slug),
    "api:skips": Url(READERS, args=slug),
    "api:my-assignments": Url(LOGGED_IN),
    "api:right-answers": Url(NOTHING_OF_MINE, args=sheet),  # as above
    "api:crowd-links": Url(MANAGERS, MANAGERS, args=slug),
    "api:close-crowd-link": Posted(MANAGERS, args=crowd_link),
    "api:crowd-ended-code": Posted(MANAGERS, args=crowd_link),
    "api:crowd-participants": Url(MANAGERS, args=crowd_link),
    "api:webhooks": Url(MANAGERS, MANAGERS, args=slug, data=a_hooks_address),
    "api:webhook": Url(MANAGERS, MANAGERS, args=webhook),
    "api:try-webhook": Posted(MANAGERS, args=webhook),
    "api:webhook-secret": Posted(MANAGERS, args=webhook),
    "api:switch-webhook": Posted(MANAGERS, args=webhook, data=lambda world: {"on": False}),
    "api:delete-webhook": Posted(MANAGERS, args=webhook),
    "api:webhook-deliveries": Url(MANAGERS, args=webhook),
    "api:send-again": Posted(MANAGERS, args=lambda world: (*webhook(world), a_call(world).number)),
    "api:invites": Url(MANAGERS, MANAGERS, args=slug),
    "api:revoke-invite": Posted(MANAGERS, args=lambda world: (world.leases.study.slug, an_invite(world)[0].pk)),
    "api:plan": Url(MANAGERS, MANAGERS_IN_VAIN, args=slug),  # all rows are given
    "api:draw-plan": Posted(MANAGERS_IN_VAIN, args=slug),
    "api:undo-plan": Posted(MANAGERS_IN_VAIN, args=a_plan),
    "api:reassign": Posted(MANAGERS_IN_VAIN, args=slug),  # everybody has all rows, and nobody leaves
    "api:draw-reassigned": Posted(MANAGERS, args=slug),
    "api:more-raters": Posted(MANAGERS_IN_VAIN, args=slug),  # everybody has all rows
    "api:draw-more-raters": Posted(MANAGERS, args=slug),
    "api:judges": Url(READERS, MAKERS, args=slug),
    "api:prompts": Url(MAKERS, args=slug),
    "api:start-run": Posted(MANAGERS_IN_VAIN, args=judge),
    "api:runs": Url(READERS, args=slug),
    "api:run": Url(READERS, args=run),
    "api:asked": Url(READERS, args=cell_of_run),
    "api:cancel-run": Posted(MANAGERS, args=run),
    "api:resume-run": Posted(MANAGERS_IN_VAIN, args=run),
    "api:import-rows": Posted(MANAGERS, args=slug),
    "api:import-labels": Posted(MANAGERS, args=slug),
    "api:imports": Url(MANAGERS, args=slug),
    "api:import": Url(MANAGERS, args=an_import),
    "api:cancel-import": Posted(MANAGERS, args=an_import),
    "api:resume-import": Posted(MANAGERS_IN_VAIN, args=an_import),
    "api:extractors": Url(READERS, MAKERS, args=slug),
    "api:start-extraction": Posted(MANAGERS_IN_VAIN, args=extractor),
    "api:extractions": Url(READERS, args=slug),
    "api:extraction": Url(READERS, args=extraction),
    "api:cancel-extraction": Posted(MANAGERS, args=extraction),
    "api:resume-extraction": Posted(MANAGERS_IN_VAIN, args=extraction),
    "api:correct-extracted": Posted(MANAGERS, args=extracted),
    "api:start-generation": Posted(MANAGERS, args=slug),
    "api:generations": Url(READERS, args=slug),
    "api:generation": Url(READERS, args=generation),
    "api:cancel-generation": Posted(MANAGERS, args=generation),
    "api:resume-generation": Posted(MANAGERS_IN_VAIN, args=generation),
    "api:generated-texts": Url(READERS, args=generation),
    "api:write-again": Posted(MANAGERS_IN_VAIN, args=a_generation),
    "api:hits": Url(READERS, args=slug),
    "api:hits-csv": Url(READERS, args=slug),
    "api:pages-warc": Url(READERS, args=slug),
    "api:verdict": Url(READERS, args=slug),
    "api:record-results": Posted(MANAGERS, args=slug),
    "api:fetch-next": Posted(MANAGERS_IN_VAIN, args=hit),
    "api:documents": Url(READERS, args=slug),
    "api:import-documents": Posted(MANAGERS, args=slug),
    "api:add-recipe": Posted(MANAGERS_IN_VAIN, args=slug),  # the leases have no ingredients
    "api:put-mending-back": Posted(MANAGERS, args=lambda world: (world.leases.study.slug, a_mending(world).pk)),
    "api:names": Url(READERS, MANAGERS, args=slug),
    # The leases are neither candidates nor taken apart.
    "api:add-text": Posted(Who(LOGIN, HIDDEN, FORBID, HIDDEN, FORBID, HIDDEN), args=slug),
    "api:instructions": Url(READERS, MANAGERS, args=slug),
    "api:words": Url(READERS, args=slug),
    "api:mendings": Url(READERS, args=slug),
    "api:mend-document": Posted(MANAGERS, args=lambda world: (world.leases.study.slug, world.mine.row_id)),
    "api:decide-hit": Posted(MANAGERS_IN_VAIN, args=hit, data=lambda world: {"is_document": True}),
    "api:pizza-add": Posted(MANAGERS, args=slug),
    "api:pizza-add-system": Posted(MANAGERS, args=slug),
    "api:pizza-remove-system": Posted(MANAGERS, args=slug),
    "api:pizza-export": Url(READERS, args=slug),
    "api:pizza-split": Url(READERS, args=slug),
    "api:pizza-statistics": Url(READERS, args=slug, query={"rater": ""}),
    "api:pizza-examples": Url(READERS, args=slug),
    # What is posted here is no file of recipes.
    "api:graphs": Url(READERS, MANAGERS_IN_VAIN, args=slug_with_graphs),
    "api:start-retrieval": Posted(MANAGERS, args=slug),
    "api:retrievals": Url(READERS, args=slug),
    "api:retrieval": Url(READERS, args=retrieval),
    "api:cancel-retrieval": Posted(MANAGERS, args=retrieval),
    "api:resume-retrieval": Posted(MANAGERS_IN_VAIN, args=retrieval),
    "api:report": Url(READERS, args=slug),
    "api:reports": Url(READERS, READERS, args=slug, data=lambda world: {"title": "Another"}),
    "api:frozen-report": Url(READERS, args=frozen),
    "api:recompute-report": Posted(READERS, args=frozen),
    "api:compare-reports": Url(READERS, args=lambda world: (*frozen(world), world.report.pk)),
    "api:exports": Url(READERS, READERS, args=slug, data=lambda world: {"form": "jsonl"}),
    "api:export": Url(READERS, args=export),
    "api:cancel-export": Posted(READERS, args=export),
    "api:resume-export": Posted(READERS_IN_VAIN, args=export),
    "api:export-file": Url(READERS, args=export),
    "api:split": Url(READERS, MANAGERS, args=slug_with_split),
    "api:candidates": Url(READERS, args=slug),
    "api:suggestions": Url(READERS, MANAGERS, args=slug),
    "api:certificates": Url(READERS, MANAGERS, args=slug),
    "api:certificate-tests": Url(READERS, args=slug),
    "api:certificate": Url(READERS, args=certificate),
    "api:certificate-cost": Url(MANAGERS, args=slug),
    "api:recompute-certificate": Posted(READERS, args=certificate),
    "api:takeovers": Url(MANAGERS, MANAGERS, args=certificate),
    "api:give-back": Posted(MANAGERS, args=certificate),
    "api:revoke-certificate": Posted(MANAGERS, args=certificate),
    "api:assignment-labels": Url(ANNA, ANNA, args=mine),
    "api:assignment-skips": Url(ANNA, args=mine),
    "api:assignment-notes": Url(ANNA, ANNA, args=mine),
    "api:members": Url(MANAGERS, args=slug),
    "api:remove-member": Posted(MANAGERS, args=annas_role),
    "api:audit-log": Url(MANAGERS, args=slug),
    "api:gold-imports": Url(MANAGERS, args=slug),
    "api:gold-import": Url(MANAGERS, args=imported_gold),
    "api:take-back-gold": Posted(MANAGERS_IN_VAIN, args=imported_gold, data=lambda world: {"digest": "0" * 64}),
    "api:agreed": Url(MANAGERS, MANAGERS, args=sheet),
    "api:take-back-agreed": Posted(MANAGERS, args=sheet, data=lambda world: {"batch": str(uuid.uuid4())}),
    "api:archived-judges": Url(READERS, args=slug),
    "api:rename-judge": Posted(SUPERUSERS_IN_VAIN, args=judge, data=lambda world: {"name": "renamed"}),
    "api:archive-judge": Posted(SUPERUSERS_IN_VAIN, args=judge),
    "api:take-back-judge": Posted(MAKERS, args=judge),
    "api:delete-judge": Posted(SUPERUSERS_IN_VAIN, args=judge),
    "api:archived-extractors": Url(READERS, args=slug),
    "api:rename-extractor": Posted(SUPERUSERS_IN_VAIN, args=extractor, data=lambda world: {"name": "renamed"}),
    "api:archive-extractor": Posted(SUPERUSERS_IN_VAIN, args=extractor),
    "api:take-back-extractor": Posted(MAKERS, args=extractor),
    "api:delete-extractor": Posted(SUPERUSERS_IN_VAIN, args=extractor),
    "api:read-notes": Posted(ANNA, args=mine),
    "api:withdraw-note": Posted(ANNA, args=lambda world: (a_note(world).pk,)),
    "api:notes": Url(MANAGERS, args=slug),
    "api:answer-note": Posted(
        MANAGERS,
        args=lambda world: (world.leases.study.slug, a_note(world).pk),
        data=lambda world: {"answer": "Yes."},
    ),
    "api:submit": Posted(ANNA, args=mine),
    "api:reopen": Posted(ANNA, args=mine),
}
PROMPT = """\
questions:
  duties.stated:
    lexical: {in: [paragraph], same: stated, part: implied, none: absent}
"""


@pytest.fixture(scope="module")
def furnished(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[World, Path]]:
    """A world and its files, once for the tests of a module: each undoes what it does to the database, which then is
    as it was here."""
    files = tmp_path_factory.mktemp("exports")

    def made() -> World:
        with override_settings(PALATE_EXPORTS=files):
            return furnish(builders.leases())

    with kept(made, django_db_blocker) as world:
        yield world, files


@pytest.fixture
def world(furnished: tuple[World, Path], db: None, settings: Settings, tmp_path: Path) -> World:
    made, files = furnished
    settings.PALATE_EXPORTS = tmp_path / "exports"
    shutil.copytree(files, settings.PALATE_EXPORTS)
    return copy.deepcopy(made)


def furnish(leases: Leases) -> World:
    for assignments in (leases.annas, leases.boriss):
        builders.label(assignments[0])
    # Its worker has been there already, and the file lies where it is fetched.
    export = reporting.ask_for_export(study=leases.study, form="jsonl", filters=Filters(), by=leases.manager)
    reporting.make_export(export_id=export.pk)
    export.refresh_from_db()
    judge = judging.create_judge(name="lexical", method=Judge.Method.LEXICAL, prompt_text=PROMPT)
    extractor = judging.create_extractor(name="schema", parser="schema-org")
    (generation,) = generating.start(
        study=leases.study, models=[generations.model()], wanted=generations.wanted(), by=leases.manager
    )
    superuser = builders.user("root", superuser=True)
    visiting = [leases.stranger, leases.anna, leases.manager, leases.researcher, superuser]
    return World(
        leases=leases,
        superuser=superuser,
        judge=judge,
        run=judging.start_run(study=leases.study, judge=judge, by=leases.manager),
        extraction=judging.start_extraction(study=leases.study, extractor=extractor, by=leases.manager),
        generation=generation,
        report=reporting.freeze(study=leases.study, title="First", filters=Filters(), by=leases.manager),
        export=export,
        logged_in={user.pk: key_of_a_session(user) for user in visiting},
    )


def key_of_a_session(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies[of_django.SESSION_COOKIE_NAME].value


def browser(world: World, user: User | None) -> Client:
    """One in which they have logged in before."""
    client = Client()
    if user is not None:
        client.cookies[of_django.SESSION_COOKIE_NAME] = world.logged_in[user.pk]
    return client


def visitors(world: World) -> dict[str, User | None]:
    people = world.leases
    return {
        "anonymous": None,
        "stranger": people.stranger,
        "annotator": people.anna,
        "manager": people.manager,
        "researcher": people.researcher,
        "superuser": world.superuser,
    }


def outcome(response: HttpResponseBase) -> str:
    if response.status_code == 302 and "/login/?next=" in response["Location"]:
        return LOGIN
    refusals = {401: LOGIN, 403: FORBID, 404: HIDDEN, 405: METHOD, 409: REFUSED}
    assert response.status_code < 500
    return refusals.get(response.status_code, YES)


def url_names(patterns: Sequence[URLPattern | URLResolver], space: str = "") -> Iterator[str]:
    """All URLs of the project as `reverse` knows them, but for the admin's, which have a test of their own."""
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            yield f"{space}{pattern.name or pattern.pattern}"
        elif pattern.namespace != "admin":
            yield from url_names(pattern.url_patterns, f"{space}{pattern.namespace}:" if pattern.namespace else space)


def test_every_url_is_in_the_table() -> None:
    names = list(url_names(get_resolver().url_patterns))

    assert sorted(set(names) - set(TABLE)) == [], "say in TABLE who may go there"
    assert sorted(set(TABLE) - set(names)) == [], "these are in TABLE and are no URLs"


@pytest.mark.once  # on another database they are asked what is hostile and what the schema says
@pytest.mark.parametrize("name", TABLE)
def test_each_url_lets_in_whom_the_table_says(world: World, name: str) -> None:
    url = TABLE[name]
    address = reverse(name, args=url.args(world), query=url.query)

    for method, expected in (("get", url.get), ("post", url.post)):
        met = {}
        for kind, user in visitors(world).items():
            client = browser(world, user)
            # Whatever a visitor does is undone before the next one comes.
            before = transaction.savepoint()
            response = getattr(client, method)(address, url.data(world) if method == "post" else {})
            met[kind] = outcome(response)
            if response.streaming:
                b"".join(response)  # read to its end, the client closes its file and leaves the database's connection
            transaction.savepoint_rollback(before)

        assert met == expected._asdict(), f"{method.upper()} {name}"


def test_an_address_of_one_study_does_not_reach_into_another(world: World) -> None:
    """The manager of another study names objects of this one under the address of the own one."""
    own = builders.study("own", of=world.leases.study.scheme, by=world.leases.stranger)
    client = Client()
    client.force_login(world.leases.stranger)

    for name in TABLE:
        args = TABLE[name].args(world)
        # Judges and extractors belong to no study; the ending of a file and a scheme's version are no objects.
        if (
            len(args) == 2
            and args[1] not in ("csv", "json", "duties.stated")
            and name != "annotation:scheme-file"
            and args[0] in (world.leases.study.slug, "slaws")
            and TABLE[name].args not in (judge, extractor)
            and not name.split(":")[-1].startswith("start")
        ):
            address = reverse(name, args=(own.slug, args[1]))
            is_posted = TABLE[name].get is NOBODY or hasattr(resolve(address).func, "posted_from")
            assert (client.post if is_posted else client.get)(address).status_code == 404, name


def test_no_address_shows_an_annotator_a_hidden_facet(world: World) -> None:
    """All pages, files and answers of the API, those to what is posted included; the manager's lens has it."""
    scheme = world.leases.study.scheme
    facets = [{"key": "source"}, {"key": "writer", "title": "Ghost writer", "hidden": True}]
    type(scheme).objects.filter(pk=scheme.pk).update(spec={**scheme.spec, "row": {"facets": facets}})
    Row.objects.update(facets={"source": "a public register", "writer": "the landlord’s nephew"})
    a_note(world)

    def seen(user: User, names: Sequence[str]) -> dict[str, str]:
        client, said = Client(), {}
        client.force_login(user)
        for name in names:
            url = TABLE[name]
            address = reverse(name, args=url.args(world), query=url.query)
            for method, data in (("get", {}), ("post", url.data(world))):
                if name not in ("logout", "account_logout"):
                    before = transaction.savepoint()
                    said[f"{method} {name}"] = text_of(getattr(client, method)(address, data))
                    transaction.savepoint_rollback(before)
        return said

    to_anna = seen(world.leases.anna, list(TABLE))
    assert [name for name, text in to_anna.items() if "nephew" in text or "Ghost" in text or "writer" in text] == []
    # What is not hidden is shown, and who may see all of it does: the walk finds what there is.
    assert "Source: a public register" in to_anna["get annotation:evidence"]
    to_manager = seen(world.leases.manager, ["annotation:row-evidence", "annotation:lens"])
    assert "Ghost writer: the landlord’s nephew" in to_manager["get annotation:row-evidence"]
    assert "nephew" in to_manager["get annotation:lens"]


def text_of(response: HttpResponseBase) -> str:
    """All that an answer says: its headers and its text; of a workbook or another archive all that is in it."""
    content = b"".join(response) if response.streaming else response.content  # type: ignore[attr-defined]
    if content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            content = b"\n".join(archive.read(name) for name in archive.namelist())
    return "\n".join([*response.headers.values(), html.unescape(content.decode(errors="replace"))])


def test_pages_forbid_inline_script(world: World) -> None:
    client = Client()
    client.force_login(world.leases.manager)

    response = client.get(reverse("annotation:people", args=slug(world)))

    policy = dict(part.strip().split(" ", 1) for part in response["Content-Security-Policy"].split(";"))
    assert policy["script-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"


# --- the admin ---


MODELS = [model._meta for model in admin.site._registry]


@pytest.mark.parametrize("meta", MODELS, ids=lambda meta: meta.label_lower)
def test_the_admin_is_for_superusers(world: World, meta: Any) -> None:
    address = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")

    met = {}
    for kind, user in visitors(world).items():
        client = Client()
        if user is not None:
            client.force_login(user)
        met[kind] = outcome(client.get(address))

    assert met == Who(LOGIN, LOGIN, LOGIN, LOGIN, LOGIN, YES)._asdict()


def test_the_admin_forbids_staff_without_permissions(world: World) -> None:
    staff = User.objects.create_user("staff", is_staff=True)
    client = Client()
    client.force_login(staff)

    assert client.get(reverse("admin:annotation_label_changelist")).status_code == 403


@pytest.mark.parametrize("meta", MODELS, ids=lambda meta: meta.label_lower)
def test_the_admin_shows_every_object(world: World, meta: Any) -> None:
    """List, search and detail of each table that the world fills."""
    client = Client()
    client.force_login(world.superuser)
    changelist = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")

    assert client.get(changelist).status_code == 200
    assert client.get(changelist, {"q": "lease"}).status_code == 200
    if first := meta.model._default_manager.first():
        detail = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[first.pk])
        assert client.get(detail).status_code == 200


@pytest.mark.parametrize("model", [Label, LabelEvent, Assignment, Row], ids=lambda model: model.__name__)
def test_an_admin_list_costs_the_same_for_few_objects_and_many(world: World, model: Any) -> None:
    client = Client()
    client.force_login(world.superuser)
    address = reverse(f"admin:annotation_{model._meta.model_name}_changelist")

    def cost() -> tuple[int, int]:
        with CaptureQueriesContext(connection) as captured:
            page = client.get(address)
        return len(page.context["cl"].result_list), len(captured)

    few, cost_of_few = cost()
    loan = builders.sheet(world.leases.study, "Loan", n_rows=6)
    for assignment in builders.assignments(world.leases.annas[0].rater, loan):
        builders.label(assignment)
    many, cost_of_many = cost()

    assert many > few
    assert cost_of_many == cost_of_few


@pytest.mark.parametrize("model", ["label", "labelevent"])
def test_labels_and_their_history_are_read_only_in_the_admin(world: World, model: str) -> None:
    client = Client()
    client.force_login(world.superuser)
    label = Label.objects.first()
    event = LabelEvent.objects.first()
    assert label is not None
    assert event is not None
    pk = label.pk if model == "label" else event.pk

    assert client.get(reverse(f"admin:annotation_{model}_add")).status_code == 403
    assert client.post(reverse(f"admin:annotation_{model}_change", args=[pk]), {"note": "x"}).status_code == 403
    assert client.post(reverse(f"admin:annotation_{model}_delete", args=[pk]), {"post": "yes"}).status_code == 403


def test_a_role_given_in_the_admin_makes_a_rater(world: World) -> None:
    client = Client()
    client.force_login(world.superuser)
    study, stranger = world.leases.study, world.leases.stranger

    response = client.post(
        reverse("admin:annotation_membership_add"), {"study": study.pk, "user": stranger.pk, "role": "annotator"}
    )

    assert response.status_code == 302
    assert stranger.memberships.get().study == study
    assert study.raters.filter(user=stranger).exists()
