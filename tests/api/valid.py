"""For each operation of the API a request that is done, on a world that has one of everything that the API names."""

from __future__ import annotations

import datetime
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import resolve
from django.utils import timezone
from pytest_django import Settings

from annotation import actions as annotating
from annotation import doors
from annotation.exchange.background import cancel_import, start_import
from annotation.labels import history
from annotation.lens import lens
from annotation.models import Assignment, Column, Deletion, DeletionPart, Rater, Study
from annotation.queries import MoreRequest, draw_more, had, undoing
from annotation.scheme.spec import load_scheme
from judges import actions as judging
from judges.generating import actions as generating
from recipes.cooking import actions as retrieving
from recipes.cooking import mending_queries
from recipes.cooking.models import Hit, Retrieval
from recipes.cooking.retrieval_queries import Asked
from recipes.cooking.web.engines import Result
from recipes.cooking.web.recorded import Recorded
from recipes.ingredient_states import demo_study as soups
from recipes.ingredient_states.recipe_files import to_json
from recipes.memorization.candidates import SCHEME as CANDIDATES
from recipes.pizza_commonsense import actions as baking
from recipes.pizza_commonsense.records import read_json_lines
from reports import actions as reporting
from reports.data.arrays import Filters
from reports.hiring import actions as hiring
from reports.hiring import queries
from reports.models import Certificate, Revocation
from tests import builders, test_access
from tests.judges import generations
from tests.raw_servers import http, server
from tests.recipes.test_documents import SHOWN, page
from tests.recipes.test_pizza_tables import FLAT, PIZZA
from tests.reports.hiring import simulated
from tests.test_access import TABLE, World
from work import actions as work

# What stands in an address where nothing is meant by it yet: it is of the right kind.
NO_ID = str(uuid.UUID(int=0))
OF_A_KIND = {"slug": "leases", "name": "0" * 12, "kind": "paragraph", "key": NO_ID, "number": NO_ID}

UNTIL = datetime.date(2099, 1, 1)
MOMENT = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)  # before the first label

Args = Callable[[World], Sequence[object]]
Data = Callable[[World], dict[str, Any]]


@dataclass(frozen=True)
class Valid:
    """Sent by `who` after `before`, to the address of the table of `tests.test_access`, or to `args`."""

    who: str = "manager"
    body: Data | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    args: Args | None = None
    before: Callable[[World], object] = lambda _world: None
    media_type: str = "application/json"


def furnish(world: World, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside what the pages' world has: a study whose judge can be certified, one of tables of recipes, one of graphs,
    a text that is written, a page that was fetched and others that wait for it, an engine, an import."""
    settings.PALATE_UPLOADS = settings.PALATE_EXPORTS
    users = {"mara": world.leases.manager, "rene": world.leases.researcher, "anna": world.leases.anna}
    study = simulated.world(n_sheets=1, users={**users, "boris": world.leases.boris}).study
    hiring.draw_split(study=study, unit="row", share=60, seed=3, by=None)
    source = doors.shipped_schemes()["pizza-commonsense"].read_text(encoding="utf-8")
    kitchen = test_access.beside_leases(
        world, "pizzas", annotating.store_scheme(spec=load_scheme(source), source=source)
    )
    baking.import_tables(study=kitchen, tables=read_json_lines("\n".join([PIZZA, *map(bread, ("flat", "round"))])))
    test_access.with_graphs(world)
    generations.writes(monkeypatch, "Bake it.")
    generations.work(world.generation)
    monkeypatch.setenv("SEARXNG_URL", "http://127.0.0.1:9/")
    settings.PALATE_FETCH_LOOPBACK, settings.PALATE_FETCH_PAUSE = True, 0.0
    with server(http(status="404 Not Found"), http()) as (at, _asked):  # the first is asked for robots.txt
        run = retrieval(world, "fetched", f"{at}/page")
        while work.take_up(run):
            pass
    assert Hit.objects.get().state == Hit.State.NO_RECIPE
    retrieval(world, "waiting", "https://law.example/1")
    for made in (test_access.a_stored_page, test_access.a_mending, test_access.an_import, test_access.extracted):
        made(world)


def bread(kind: str) -> str:
    return FLAT.replace("a1", kind).replace("flat_bread", f"{kind}_bread")


def retrieval(world: World, query: str, url: str) -> Retrieval:
    """Of results that somebody brought."""
    study, sheet = world.leases.study, world.leases.sheet
    recorded = [Recorded(sheet.title, "paper", query, [Result(1, url, "")])]
    retrieving.record_results(study=study, recorded=recorded, by=None)
    asked = [Asked(sheet, "paper", query)]
    return retrieving.start_retrieval(study=study, asked=asked, documents=1, by=None, enqueue=False)


def short(label: str) -> str:
    return label.replace("/api/v1", "", 1)


def of(label: str) -> Valid:
    """Of an operation; where nothing is said of it, it is asked as it is."""
    return VALID.get(short(label), Valid())


def arguments(template: str, world: World, valid: Valid) -> dict[str, object]:
    """What exists, by the names of an address's parameters."""
    names = re.findall(r"{(\w+)}", template)
    said = re.sub(r"{(\w+)}", lambda name: OF_A_KIND.get(name[1], "1"), template)
    args = (valid.args or TABLE[resolve(said).view_name].args)(world)
    return dict(zip(names, args, strict=True))


def claims(_world: World) -> Sequence[object]:
    return ("claims",)


def pizzas(_world: World) -> Sequence[object]:
    return ("pizzas",)


def a_system_from_a_file(world: World) -> dict[str, object]:
    study = Study.objects.get(slug="pizzas")
    baking.import_tables(study=study, tables=read_json_lines(PIZZA), rater="t6", kind=Rater.Kind.JUDGE)
    return {"system": "t6"}


def certified(_world: World) -> Sequence[object]:
    study = Study.objects.get(slug="claims")
    judge, question = study.raters.get(code="scorer"), study.scheme.sections.get().questions.get()
    found = hiring.certify(
        study=study, rater=judge, question=question, epsilon=0.3, confidence=0.6, until=UNTIL, by=None
    )
    assert found.certificate is not None
    return ("claims", found.certificate.name)


def dismissed(world: World) -> Sequence[object]:
    slug, name = certified(world)
    certificate = Certificate.objects.get(digest__startswith=name)
    todo = queries.work_to_do(certificate, share=50, seed=1)
    people = list(certificate.study.raters.filter(code="A2"))
    hiring.take_over(certificate=certificate, share=50, seed=1, raters=people, shown=todo.digest, by=None)
    hiring.revoke(certificate=certificate, why=Revocation.Why.HAND, reason="Enough.", by=None)
    return (slug, name)


def pay_rent(world: World) -> Column:
    return world.leases.sheet.columns.get(name="Pay rent")


def an_answer(world: World) -> dict[str, Any]:
    return {
        "key": str(uuid.uuid4()),
        "answers": [{"column": pay_rent(world).pk, "question": "stated", "option": "absent"}],
    }


def a_cell(world: World) -> dict[str, Any]:
    return {"column": pay_rent(world).pk, "question": "stated"}


def a_decision(world: World) -> dict[str, Any]:
    return {"row": world.mine.row_id, **a_cell(world), "option": "absent", "reason": "As it stands there."}


def right_answers_are_shown(world: World) -> None:
    gold = Rater.objects.create(study=world.leases.study, kind=Rater.Kind.GOLD, code="as-it-is")
    builders.label(gold.assignments.create(row=world.mine.row))
    Assignment.objects.filter(pk=world.mine.pk).update(state="submitted", submitted_at=timezone.now())
    annotating.show_gold(sheet=world.leases.sheet, shown=True)
    annotating.close_sheet(sheet=world.leases.sheet, by=world.leases.manager)


def lines_of_a_row(world: World) -> dict[str, Any]:
    row = world.mine.row
    lines = [{"kind": block.kind, "text": block.text, "origin": n} for n, block in enumerate(row.blocks)]
    return {"digest": mending_queries.digest_of(row), "lines": lines}


def a_table(_world: World) -> dict[str, Any]:
    return {"text": bread("sweet")}


def what_a_system_wrote(_world: World) -> dict[str, Any]:
    return {"system": "t5", "text": '{"id": "b2", "output": "<in 0> dough <out 0> pizza"}'}


def open_for_boris(world: World) -> None:
    """Work of Boris's in which a judge's answers can be shown, or can be what he starts from."""
    study = Study.objects.get(slug="claims")
    boris = study.raters.get(user=world.leases.boris)
    # All of them: which ones are kept for a test hangs on their numbers, which on PostgreSQL hang on the tests before.
    annotating.assign(rater=boris, rows=study.sheets.get().rows.all())


def clara_is_here(world: World) -> Rater:
    """Somebody who has no work yet."""
    return builders.rater(world.leases.study, builders.user("clara"))


def a_plan_to_undo(world: World) -> Sequence[object]:
    """Of work that nobody has begun."""
    study, clara = world.leases.study, clara_is_here(world)
    request = MoreRequest(takers=(clara.pk,), sheets=(world.leases.sheet.pk,), people=3)
    drawn = draw_more(study, request, had(study)).digest
    return (study.slug, annotating.give_to_more(study=study, request=request, drawn=drawn, by=world.leases.manager).pk)


def fetched_hit(world: World) -> Sequence[object]:
    return (world.leases.study.slug, Hit.objects.exclude(fetched=None).get().pk)


def overruled_hit(world: World) -> Sequence[object]:
    """A hit that a search has fetched, which has no document any more; the next rank waits."""
    test_access.a_retrieval(world)
    for run in Retrieval.objects.filter(study=world.leases.study, state="running"):
        retrieving.cancel_retrieval(run=run)
    return (world.leases.study.slug, Hit.objects.filter(fetched=None)[0].pk)


def a_page(world: World) -> dict[str, Any]:
    return {"sheet": world.leases.sheet.pk, "pages": [page(SHOWN).decode()]}


def a_judge(_world: World) -> dict[str, Any]:
    return {"name": "words", "method": "lexical", "prompt_text": test_access.PROMPT}


def a_recipe(_world: World) -> dict[str, Any]:
    return {"name": "Soup", "ingredients": ["leek"], "steps": ["Boil it."], "tasks": ["boil | pot | leek"]}


def a_mistaken_sheet(world: World) -> Sequence[object]:
    return (builders.sheet(world.leases.study, "Mistake").pk,)


def a_mistaken_judge(world: World) -> Sequence[object]:
    made = judging.create_judge(name="mistake", method="lexical", prompt_text=test_access.PROMPT)
    return (world.leases.study.slug, made.pk)


def a_mistaken_extractor(world: World) -> Sequence[object]:
    return (world.leases.study.slug, judging.create_extractor(name="mistake", parser="schema-org").pk)


def a_mistaken_study(world: World) -> Sequence[object]:
    study = builders.study("mistake", of=world.leases.study.scheme, by=world.leases.manager)
    builders.sheet(study)
    return (study.slug,)


def a_failed_deletion(world: World) -> Sequence[object]:
    study = Study.objects.get(slug=a_mistaken_study(world)[0])
    now = timezone.now()
    run = Deletion.objects.create(
        study=study, title="Mistake", started_by=world.leases.manager, state="failed", error="Why.", ended_at=now
    )
    DeletionPart.objects.create(run=run, state="failed", error="Why.", done_at=now)
    return (run.pk,)


def a_restore(world: World) -> dict[str, Any]:
    digest = lens.digest(history.changes(world.leases.sheet, to=MOMENT))
    return {"moment": MOMENT.isoformat(), "submitted": True, "digest": digest}


def digest_of_a_row(world: World) -> dict[str, Any]:
    return {"digest": mending_queries.digest_of(world.mine.row)}


def rows_of_elsewhere(_world: World) -> dict[str, Any]:
    return {"rows": "sheet,row,evidence\nLoan,Clause 1,Pay.\n"}


def labels_of_elsewhere(_world: World) -> dict[str, Any]:
    lines = "sheet,row,section,column,question,rater,answer\nLoan,1,duties,Sign,stated,X,stated\n"
    return {"labels": lines, "create": "true"}


def of_a_scheme(world: World, key: str) -> Sequence[object]:
    """An empty study of a scheme that comes with Palate."""
    if not Study.objects.filter(slug=key).exists():
        source = doors.shipped_schemes()[key].read_text(encoding="utf-8")
        test_access.beside_leases(world, key, annotating.store_scheme(spec=load_scheme(source), source=source))
    return (key,)


def with_candidates(world: World) -> Sequence[object]:
    return of_a_scheme(world, CANDIDATES)


def benchmark(world: World) -> Sequence[object]:
    return of_a_scheme(world, "cuisine-transfer-ash")


def what_an_engine_found(world: World) -> dict[str, Any]:
    return {"query": world.leases.sheet.title, "results": [{"url": "https://law.example/2", "title": "Law"}]}


def cancelled_import(world: World) -> Sequence[object]:
    study, file = world.leases.study, SimpleUploadedFile("rows.csv", b"sheet,row,evidence\nLoan,Clause 1,Pay.\n")
    made = start_import(study=study, files={"rows": file}, by=world.leases.manager)
    cancel_import(run=made)
    return (study.slug, made.pk)


def cancelled_retrieval(world: World) -> None:
    retrieving.cancel_retrieval(run=test_access.a_retrieval(world))


def run_is_cancelled(world: World) -> None:
    judging.cancel_run(run=world.run)


def extraction_is_cancelled(world: World) -> None:
    judging.cancel_extraction(run=world.extraction)


def cancelled_export(world: World) -> Sequence[object]:
    study = world.leases.study
    made = reporting.ask_for_export(study=study, form="jsonl", filters=Filters(), by=world.leases.manager)
    reporting.cancel_export(run=made)
    return (study.slug, made.pk)


def fewer_texts(world: World) -> Sequence[object]:
    """A run of texts that was cancelled."""
    wanted = generations.wanted(generations.BARE, per_type=1)
    [run] = generating.start(
        study=world.leases.study, models=[generations.model()], wanted=wanted, by=None, enqueue=False
    )
    generating.cancel(run=run)
    return (world.leases.study.slug, run.pk)


def shown_as_agreed(world: World) -> dict[str, Any]:
    return {"judges": True, "digest": lens.digest(lens.agreed(lens.of_sheet(world.leases.sheet), judges=True))}


def accepted_at_once(world: World) -> dict[str, Any]:
    shown = shown_as_agreed(world)["digest"]
    annotating.accept_agreed(sheet=world.leases.sheet, judges=True, shown=shown, by=world.leases.manager)
    return {"batch": undoing.accepted(world.leases.sheet)[0][0]}


def imported_as_gold(world: World) -> dict[str, Any]:
    study, key = world.leases.study, test_access.imported_gold(world)[1]
    return {"digest": lens.digest(undoing.gold_of_import(study, uuid.UUID(str(key))).cells)}


def _named(_world: World) -> dict[str, Any]:
    return {"name": "another"}


VALID: dict[str, Valid] = {
    "POST /assignments/{id}/labels/": Valid("anna", an_answer),
    "GET /assignments/{id}/labels/": Valid("anna"),
    "GET /assignments/{id}/skips/": Valid("anna"),
    "GET /assignments/{id}/notes/": Valid("anna", before=test_access.a_note),
    "POST /assignments/{id}/notes/": Valid("anna", lambda world: {**a_cell(world), "text": "Is it?"}),
    "POST /assignments/{id}/notes/read/": Valid("anna", a_cell),
    "POST /notes/{id}/withdrawn/": Valid("anna"),
    "GET /studies/{slug}/notes/": Valid(before=test_access.a_note),
    "POST /studies/{slug}/notes/{id}/answered/": Valid(body=lambda _world: {"answer": "It is."}),
    "POST /assignments/{id}/reopen/": Valid("anna", before=lambda world: annotating.submit(assignment=world.mine)),
    "POST /assignments/{id}/submit/": Valid("anna", lambda _world: {"confirm": True}),
    "POST /rows/{id}/withdrawn/": Valid(body=lambda _world: {"reason": "The page is gone."}),
    "POST /sheets/{id}/renamed/": Valid(body=lambda _world: {"title": "Another"}),
    "POST /sheets/{id}/gold-shown/": Valid(body=lambda _world: {"shown": True}),
    "GET /my/sheets/{id}/right/": Valid("anna", before=right_answers_are_shown),
    "POST /sheets/{id}/deleted/": Valid(args=a_mistaken_sheet),
    "POST /sheets/{id}/restored/drawn/": Valid(body=lambda _world: {"moment": MOMENT.isoformat(), "rater": "A1"}),
    "POST /sheets/{id}/restored/": Valid(body=a_restore),
    "POST /sheets/{id}/decisions/": Valid(body=a_decision),
    "POST /sheets/{id}/decisions/agreed/": Valid(body=shown_as_agreed),
    "POST /sheets/{id}/decisions/agreed/taken-back/": Valid(body=accepted_at_once),
    "POST /studies/{slug}/imports/gold/{key}/taken-back/": Valid(body=imported_as_gold, args=test_access.imported_gold),
    "GET /studies/{slug}/log/": Valid(query={"kind": "role", "limit": "2"}),
    "POST /studies/{slug}/judges/{id}/renamed/": Valid("root", _named, before=run_is_cancelled),
    "POST /studies/{slug}/judges/{id}/archived/": Valid("root", before=run_is_cancelled),
    "POST /studies/{slug}/judges/{id}/taken-back/": Valid("root"),
    "POST /studies/{slug}/judges/{id}/deleted/": Valid("root", args=a_mistaken_judge),
    "POST /studies/{slug}/extractors/{id}/deleted/": Valid("root", args=a_mistaken_extractor),
    "POST /studies/{slug}/extractors/{id}/renamed/": Valid("root", _named, before=extraction_is_cancelled),
    "POST /studies/{slug}/extractors/{id}/archived/": Valid("root", before=extraction_is_cancelled),
    "POST /studies/{slug}/extractors/{id}/taken-back/": Valid("root"),
    "GET /sheets/{id}/history/": Valid(query={"question": "stated", "limit": "2"}),
    "GET /sheets/{id}/lens/": Valid(query={"kind": "people"}),
    "GET /studies/{slug}/candidates/": Valid(query={"epsilon": "0.2"}, args=claims),
    "POST /studies/{slug}/certificates/": Valid(
        body=lambda _world: {
            "judge": "scorer",
            "question": "claims.made",
            "epsilon": 0.3,
            "confidence": 0.6,
            "until": UNTIL.isoformat(),
        },
        args=claims,
    ),
    "POST /studies/{slug}/archived/": Valid(args=claims),
    "POST /studies/{slug}/deleted/": Valid(body=lambda _world: {"confirm": "mistake"}, args=a_mistaken_study),
    "GET /deletions/{id}/": Valid(args=a_failed_deletion),
    "POST /deletions/{id}/resume/": Valid(args=a_failed_deletion),
    "POST /studies/{slug}/pay/": Valid(body=lambda _world: {"hourly_rate": "12.50", "currency": "EUR"}),
    "GET /studies/{slug}/certificates/cost/": Valid(
        query={"judge": "scorer", "question": "claims.made", "epsilon": "0.3", "confidence": "0.6"}, args=claims
    ),
    "POST /studies/{slug}/certificates/{name}/recomputed/": Valid(args=certified),
    "GET /studies/{slug}/certificates/{name}/takeovers/": Valid(query={"share": "50"}, args=certified),
    "GET /studies/{slug}/certificates/": Valid(args=claims, before=certified),
    "GET /studies/{slug}/certificates/{name}/": Valid(args=certified),
    "POST /studies/{slug}/certificates/{name}/given-back/": Valid(
        body=lambda _world: {"seed": 1, "raters": ["A2"]}, args=dismissed
    ),
    "POST /studies/{slug}/certificates/{name}/revoked/": Valid(body=lambda _w: {"reason": "!"}, args=certified),
    "POST /studies/{slug}/certificates/{name}/takeovers/": Valid(
        body=lambda _world: {"share": 50, "seed": 1, "raters": ["A2"]}, args=certified
    ),
    "POST /studies/{slug}/derive/": Valid(
        "root",
        lambda _world: {
            "deriver": "selected-rows",
            "scheme": "contracts",
            "slug": "again",
            "title": "Again",
            "settings": {"answers": ["duties.stated=stated"]},
        },
    ),
    "POST /studies/{slug}/documents/add-recipe/": Valid(body=a_recipe, args=test_access.slug_with_verdict),
    "POST /studies/{slug}/documents/mendings/{id}/put-back/": Valid(body=digest_of_a_row),
    "POST /studies/{slug}/imports/labels/": Valid(body=labels_of_elsewhere, media_type="multipart/form-data"),
    "POST /studies/{slug}/imports/rows/": Valid(body=rows_of_elsewhere, media_type="multipart/form-data"),
    "POST /studies/{slug}/names/": Valid(body=lambda _world: {"text": "Koshari\nColeslaw"}),
    "POST /studies/{slug}/recipes/": Valid(
        body=lambda _world: {"sheet": "Coleslaw", "text": "Shred the cabbage."}, args=with_candidates
    ),
    "POST /studies/{slug}/instructions/": Valid(body=lambda _world: {"which": "shipped", "size": 2}, args=benchmark),
    "GET /studies/{slug}/instructions/": Valid(args=benchmark),
    "GET /studies/{slug}/words/": Valid(query={"without": "common"}, args=benchmark),
    "POST /studies/{slug}/documents/import/": Valid(body=a_page, media_type="multipart/form-data"),
    "POST /studies/{slug}/documents/{id}/mend/": Valid(body=lines_of_a_row),
    "POST /studies/{slug}/drafts/": Valid(
        body=lambda _world: {"rater": "A2", "drafted_from": "scorer"}, args=claims, before=open_for_boris
    ),
    "POST /studies/{slug}/exports/": Valid(body=lambda _world: {"form": "jsonl"}, query={"question": "duties.stated"}),
    "POST /studies/{slug}/reports/": Valid(body=lambda _world: {"title": "Now"}, query={"voice": "majority"}),
    "GET /studies/{slug}/report/": Valid(query={"question": "duties.stated"}),
    "POST /studies/{slug}/exports/{id}/resume/": Valid(args=cancelled_export),
    "POST /studies/{slug}/extractions/{id}/resume/": Valid(before=extraction_is_cancelled),
    "POST /studies/{slug}/extractions/{id}/rows/{row}/{kind}/": Valid(
        body=lambda _world: {"items": [{"fields": {"paragraph": "Notice"}}]}
    ),
    "POST /studies/{slug}/extractors/{id}/start/": Valid(before=extraction_is_cancelled),
    "POST /studies/{slug}/generations/start/": Valid(
        body=lambda _world: {
            "models": [generations.model().name],
            "own": [{"type": "plain", "wordings": ["Say $name."]}],
        }
    ),
    "POST /studies/{slug}/generations/{id}/resume/": Valid(args=fewer_texts),
    "GET /studies/{slug}/generations/{id}/texts/": Valid(query={"begin": "1"}),
    "GET /studies/{slug}/graphs/": Valid(query={"as": "json"}),
    "POST /studies/{slug}/graphs/": Valid(body=lambda _world: to_json(soups.demo_recipes()[1:2])),
    "POST /studies/{slug}/hits/{id}/decide/": Valid(body=lambda _world: {"is_document": False}, args=fetched_hit),
    "POST /studies/{slug}/hits/{id}/next/": Valid(args=overruled_hit),
    "POST /studies/{slug}/hits/record/": Valid(body=what_an_engine_found),
    "POST /studies/{slug}/imports/{id}/resume/": Valid(args=cancelled_import),
    "POST /studies/{slug}/judges/{id}/start/": Valid(body=lambda _world: {"repeats": 1}, before=run_is_cancelled),
    "GET /studies/{slug}/labels/": Valid(query={"rater": "A1", "question": "duties.stated"}),
    "POST /studies/{slug}/retrievals/start/": Valid(
        before=cancelled_retrieval,
        body=lambda world: {"documents": 2, "engines": ["searxng"], "sheets": [world.leases.sheet.pk]},
    ),
    "POST /studies/{slug}/retrievals/{id}/resume/": Valid(before=cancelled_retrieval),
    "POST /studies/{slug}/runs/{id}/resume/": Valid(before=run_is_cancelled),
    "POST /studies/": Valid("root", lambda _world: {"title": "Soups", "scheme": "recipe-names"}),
    "POST /studies/{slug}/settings/": Valid(body=lambda _world: {"title": "Leases of today"}),
    "POST /studies/{slug}/settings/scheme/": Valid(
        body=lambda _world: {"scheme_text": builders.SCHEME}, args=with_candidates
    ),
    "GET /schemes/": Valid("root"),
    "POST /studies/{slug}/crowd-links/{id}/ended-code/": Valid(body=lambda _world: {"ended_code": "EARLY"}),
    "POST /studies/{slug}/crowd-links/": Valid(body=lambda _world: {"title": "Crowd", "most_people": 3}),
    "POST /studies/{slug}/webhooks/": Valid(body=lambda _world: {"address": "https://hooks.example/in"}),
    "POST /studies/{slug}/webhooks/{id}/switched/": Valid(body=lambda _world: {"on": False}),
    "GET /studies/{slug}/webhooks/{id}/deliveries/": Valid(before=test_access.a_call),
    "POST /studies/{slug}/invites/": Valid(body=lambda _world: {"role": "annotator", "days": 1}),
    "POST /studies/{slug}/plan/": Valid(body=lambda _world: {"judges": {"lexical": "all"}, "raters": []}),
    "POST /studies/{slug}/plan/drawn/": Valid(body=lambda _world: {"judges": {"lexical": "all"}, "raters": []}),
    "GET /studies/{slug}/plan/": Valid(before=a_plan_to_undo),
    "POST /studies/{slug}/plan/{id}/undone/": Valid(args=a_plan_to_undo),
    "POST /studies/{slug}/plan/reassigned/": Valid(body=lambda _world: {"leaving": ["A1"]}, before=clara_is_here),
    "POST /studies/{slug}/plan/reassigned/drawn/": Valid(body=lambda _world: {"leaving": ["A1"]}),
    "POST /studies/{slug}/plan/more/": Valid(body=lambda _world: {"people": 3}, before=clara_is_here),
    "POST /studies/{slug}/plan/more/drawn/": Valid(body=lambda _world: {"people": 3, "share": 50}),
    "POST /studies/{slug}/judges/": Valid("root", a_judge),
    "GET /studies/{slug}/prompts/": Valid("root"),
    "POST /studies/{slug}/extractors/": Valid("root", lambda _world: {"name": "by-schema", "parser": "schema-org"}),
    "POST /studies/{slug}/split/": Valid(
        body=lambda _world: {"unit": "row", "share": 50, "seed": 2}, args=test_access.slug
    ),
    "POST /studies/{slug}/suggestions/": Valid(
        body=lambda _world: {"judge": "scorer", "raters": ["A2"], "seed": 2}, args=claims, before=open_for_boris
    ),
    "POST /studies/{slug}/tables/add/": Valid(body=a_table, args=pizzas),
    "POST /studies/{slug}/tables/add-system/": Valid(body=what_a_system_wrote, args=pizzas),
    "POST /studies/{slug}/tables/remove-system/": Valid(body=a_system_from_a_file, args=pizzas),
    "GET /studies/{slug}/tables/examples/": Valid(query={"systems": "gold"}, args=pizzas),
    "GET /studies/{slug}/tables/export/": Valid(query={"rater": "gold"}, args=pizzas),
    "GET /studies/{slug}/tables/statistics/": Valid(args=pizzas),
    "GET /studies/{slug}/tables/split/": Valid(query={"way": "chance"}, args=pizzas),
    "POST /token/": Valid(body=lambda _world: {"username": "anna", "password": "anna"}),
}
