"""From a query to documents: an engine and sites of this machine are asked, fetched and read, the hard ones too."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import socket
import uuid
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse
from pytest_django import Settings

from annotation import actions as annotating
from annotation import doors
from annotation.actions import Answer, Refused
from annotation.models import Option, Role, Row, Sheet, Study, User
from benchmarks import recipe_web
from benchmarks.recipe_web import NO_AI, PLAIN, RESERVED, RecipeWeb
from recipes.cooking import actions, extracting
from recipes.cooking import retrieval_queries as queries
from recipes.cooking.actions.visiting import document_of
from recipes.cooking.models import Hit, Retrieval, Search, Site
from recipes.cooking.parsing import parse_recipe
from recipes.cooking.retrieval_queries import Asked
from recipes.cooking.web import archive, engines, recorded
from recipes.cooking.web.engines import Result
from recipes.cooking.web.recorded import Recorded
from recipes.memorization.chain.making import Chain
from recipes.memorization.chain.settings import ChainSettings
from recipes.memorization.demo_study import paper_scheme
from recipes.memorization.verdict import queries as verdicts
from reports.contents import contents_of
from reports.data.arrays import INCLUDE, Filters
from reports.forms import FiltersForm
from reports.numbers.report import compute
from reports.queries import label_table, load
from tests import builders
from tests.builders import ApiOf, ClientOf
from tests.raw_servers import http, server
from work import actions as work
from work.states import ItemState, RunState

CHILI = "Chili\nIngredients\n- beans\n- saffron\nTasks\nfry | pan | onions\n"
PAGES = recipe_web.load(recipe_web.DEMO)
N_CHILI = len(PAGES["chili"])


def free_port() -> int:
    """A port that nobody has, below those that outgoing connections are given."""
    while True:
        with suppress(OSError), socket.create_server(("127.0.0.1", random.randrange(20_000, 30_000))) as probe:
            port: int = probe.getsockname()[1]
            return port


@pytest.fixture
def web(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecipeWeb]:
    """The small web, and an installation that may visit it."""
    settings.PALATE_FETCH_LOOPBACK = True
    settings.PALATE_FETCH_PAUSE = 0.0
    settings.PALATE_FETCH_SECONDS = 5.0
    settings.PALATE_FETCH_MAX_BYTES = 2**21
    for name in (name for kind in engines.ENGINES for name in kind.needs):
        monkeypatch.delenv(name, raising=False)
    with RecipeWeb(PAGES, free_port(), hard=False, pause=0.1).running() as running:
        monkeypatch.setenv("SEARXNG_URL", running.searxng)
        yield running


@pytest.fixture
def manager(db: None) -> User:
    return builders.user("maria")


@pytest.fixture
def study(manager: User) -> Study:
    return annotating.create_study(slug="dishes", title="Dishes", scheme=paper_scheme(), by=manager)


@pytest.fixture
def sheet(study: Study) -> Sheet:
    return actions.add_recipe(study=study, recipe=parse_recipe(CHILI))


def started(sheet: Sheet, n: int, **how: Any) -> Retrieval:
    asked = [Asked(sheet, "searxng", queries.query_of(sheet))]
    return actions.start_retrieval(study=sheet.study, asked=asked, documents=n, by=None, enqueue=False, **how)


def done(run: Retrieval) -> Retrieval:
    """The run with all its work done; nobody waits for the next try of what failed in passing."""
    while True:
        while work.take_up(run):
            pass
        if not run.items.filter(state=ItemState.QUEUED).update(not_before=None):
            break
    run.refresh_from_db()
    return run


def fates(sheet: Sheet) -> dict[str, str]:
    """{what the engine called a hit: its fate}."""
    return dict(Hit.objects.filter(search__sheet=sheet).values_list("title", "state"))


def reason(sheet: Sheet, title: str) -> str:
    return Hit.objects.get(search__sheet=sheet, title=title).reason


# --- the way there --------------------------------------------------------------------------------------------------


def test_each_kind_of_hit_meets_its_fate_and_the_next_rank_comes_up(web: RecipeWeb, sheet: Sheet) -> None:
    web.hard = True
    run = done(started(sheet, 20))

    assert run.state == RunState.FINISHED
    expected = dict.fromkeys([f"chili {n}" for n in range(1, N_CHILI + 1)], "document") | {
        "moved": "duplicate",
        "gone": "dead",
        "forbidden": "refused",
        "the cloud's own": "refused",
        "a way inside": "refused",
        "60 MB": "refused",
        "a gzip bomb": "refused",
        "no recipe": "no_recipe",
        "a PDF file": "refused",
        "a byte a second": "dead",
        "round and round": "dead",
        "slow": "duplicate",
        "a private address": "refused",
        "nobody there": "dead",
    }
    found = fates(sheet)
    # A redirect to a page, and the page: whichever comes first is the document.
    assert {found.pop(title) for title in ("moved", "chili 2")} == {"document", "duplicate"}
    assert {found.pop(title) for title in ("slow", "chili 3")} <= {"document", "duplicate"}
    assert found == {title: fate for title, fate in expected.items() if title in found}
    # A page that an engine names twice is one hit, "the first one again"; the results are kept as they came.
    assert len(found) == len(expected) - 4
    assert len(Search.objects.get(depth=40).results) == len(found) + 5
    assert reason(sheet, "forbidden") == "The site's robots.txt asks programs not to fetch this page."
    assert reason(sheet, "a way inside") == "The address leads to a machine that is not public."
    assert reason(sheet, "60 MB") == "The page is larger than 2 MB."
    assert reason(sheet, "gone") == "The site answered: 410 Gone."
    assert reason(sheet, "nobody there") == "The server could not be connected to."
    assert "holds no recipe" in reason(sheet, "no recipe")

    # No site was asked for anything before its robots.txt, and all were told who asks.
    for host in (PLAIN, NO_AI, RESERVED):
        asked = [one.path for one in web.asked if one.host == host]
        assert asked[0] == "/robots.txt"
        assert asked.count("/robots.txt") == 1
    assert {one.agent.split("/")[0] for one in web.asked if one.host != recipe_web.ENGINE} == {"Palate"}
    assert not any("/forbidden/" in one.path for one in web.asked)


@pytest.mark.once
def test_a_document_has_its_rank_its_record_and_what_its_site_reserves(web: RecipeWeb, sheet: Sheet) -> None:
    done(started(sheet, 3))

    hits = {hit.title: hit for hit in queries.hits(sheet.study).filter(state="document")}
    assert [hit.document.row.name for hit in hits.values() if hit.document] == ["SearXNG 1", "SearXNG 2", "SearXNG 3"]
    kinds = {title: queries.kinds_of(hit.opt_outs) for title, hit in hits.items()}
    sites = {title: hit.url.split("/")[2].split(":")[0] for title, hit in hits.items()}
    assert kinds == {title: {PLAIN: [], NO_AI: ["robots"], RESERVED: ["tdm"]}[site] for title, site in sites.items()}
    [line] = queries.opt_outs(sheet.study)
    assert (line.known, line.any, line.kinds) == (3, 2, {"robots": 1, "tdm": 1, "noai": 0})
    assert sorted(queries.opted_out_rows(sheet.study).values()) == [["robots"], ["tdm"]]
    first = hits["chili 1"]
    [(url, page)] = archive.pages([bytes(first.fetched.record)])
    assert (url, page) == (first.url, PAGES["chili"][0][1])
    assert first.document is not None
    assert (first.document.sha256, first.document.row.url) == (first.fetched.sha256, first.url)


def test_more_documents_come_later_without_touching_what_stands(web: RecipeWeb, sheet: Sheet) -> None:
    done(started(sheet, 2))
    before = list(Row.objects.filter(sheet=sheet).values())
    asked = len(web.asked)

    with pytest.raises(Refused, match="as many documents"):
        started(sheet, 2)
    run = done(started(sheet, 5))

    assert run.state == RunState.FINISHED
    rows = list(Row.objects.filter(sheet=sheet).order_by("position").values())
    assert len(rows) == 5
    assert [row["evidence"] for row in rows[:2]] == [row["evidence"] for row in before]
    assert [row["name"] for row in rows] == [f"SearXNG {n}" for n in range(1, 6)]
    # The engine was asked deep enough the first time, and is not asked again; nor is a page fetched twice.
    later = [one for one in web.asked[asked:] if one.path.startswith("/search")]
    assert later == []
    paths = [(one.host, one.path) for one in web.asked if one.path.startswith("/chili")]
    assert len(paths) == len(set(paths)) == 5
    # All that it has, and no more: the run ends, and says what is missing.
    [thread] = queries.brought(done(started(sheet, 50))).threads
    assert (thread.documents, thread.missing) == (N_CHILI, 50 - N_CHILI)


@pytest.mark.once
def test_an_engine_that_has_more_is_asked_for_more(
    web: RecipeWeb, sheet: Sheet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fifteen dead links come first, and ten results are asked for at first."""
    plain = [(web.url("chili", n), f"chili {n}") for n in range(1, N_CHILI + 1)]
    dead = [(f"http://{PLAIN}:{web.port}/gone/{n}", f"gone {n}") for n in range(15)]
    monkeypatch.setattr(RecipeWeb, "results", lambda _self, _query: dead + plain)

    done(started(sheet, 2))

    assert [search.depth for search in Search.objects.order_by("pk")] == [10, 20]
    assert Hit.objects.filter(state="document").count() == 2
    assert Hit.objects.filter(state="dead").count() == 15
    assert Hit.objects.values("canonical").distinct().count() == Hit.objects.count()


@pytest.mark.once
def test_who_searches_without_an_engine_is_told_what_to_set_up(
    web: RecipeWeb, sheet: Sheet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It named a file of the documentation, which the page does not lead to."""
    monkeypatch.delenv("SEARXNG_URL")
    with pytest.raises(Refused, match="sets SEARXNG_URL, or the key of an engine"):
        actions.search_for_items(study=sheet.study, columns=list(sheet.columns.all()), documents=2, by=None)


@pytest.mark.once
def test_items_are_searched_for_by_name_and_given_to_who_is_to_label_them(web: RecipeWeb, sheet: Sheet) -> None:
    anna = builders.rater(sheet.study, builders.user("anna"))
    columns = list(sheet.columns.filter(name="saffron"))
    run = actions.search_for_items(
        study=sheet.study, columns=columns, documents=2, raters=[anna], by=None, enqueue=False
    )

    done(run)

    assert [search.query for search in run.searches.all()] == ["Chili recipe saffron"]
    assert list(sheet.rows.values_list("name", flat=True)) == ["SearXNG 1, saffron", "SearXNG 2, saffron"]
    assert [(one.row.name, one.sections) for one in anna.assignments.order_by("row")] == [
        ("SearXNG 1, saffron", ["ingredients"]),
        ("SearXNG 2, saffron", ["ingredients"]),
    ]


def test_documents_of_a_search_for_an_item_count_neither_as_coverage_nor_in_the_verdict(
    web: RecipeWeb, sheet: Sheet, manager: User, client_of: ClientOf
) -> None:
    """Two pages of an ordinary search do not have the saffron; one of two that a search for it brings has."""
    study = sheet.study
    anna = builders.rater(study, builders.user("anna"))
    done(started(sheet, 2))
    drawn = list(sheet.rows.values_list("name", flat=True))
    saffron = sheet.columns.get(name="saffron")
    run = actions.search_for_items(study=study, columns=[saffron], documents=2, raters=[], by=None, enqueue=False)
    done(run)
    rows = list(sheet.rows.order_by("position"))
    assert [row.name for row in rows[2:]] == ["SearXNG 3, saffron", "SearXNG 4, saffron"]
    assert doors.rows_apart(study) == {row.pk for row in rows[2:]}
    found = Option.objects.select_related("question").get(question__section=saffron.section, key="found")
    never = Option.objects.select_related("question").get(question__section=saffron.section, key="not-found")
    for assignment, option in zip(annotating.assign(rater=anna, rows=rows), (never, never, never, found), strict=True):
        said = Answer(column=saffron, question=option.question, option=option)
        annotating.record(assignment=assignment, answers=[said], key=uuid.uuid4())

    table = label_table(study, Filters())
    assert [row.name for row in table.rows] == drawn
    assert len(table.labels) == 2
    assert [row.name for row in label_table(study, Filters(apart=INCLUDE)).rows] == [row.name for row in rows]
    verdict = verdicts.load(study, Filters(), None)
    (item,) = (
        item
        for of in verdict.sections
        for item in of.items
        if verdict.data.table.columns[item.column].name == "saffron"
    )
    assert (item.outcome, item.n_documents) == ("unexamined", 2)
    (again,) = verdicts.searched(study, Filters())
    assert again == verdicts.Searched("Chili", "saffron", 2, 2, ("SearXNG 4, saffron",))

    client = client_of(manager)
    page = client.get(reverse("memorization:verdict", args=[study.slug])).content.decode()
    assert "1 item was searched for by its name: somebody has found 1 as it stands" in page
    form = FiltersForm({}, study=study)
    assert form.is_valid()
    about = dict(contents_of(compute(load(study, form.filters()), form.filters())).about)
    assert about["Documents searched for by an item's name"] == "left out"
    form = FiltersForm({"apart": INCLUDE}, study=study)
    assert form.is_valid()
    report = compute(load(study, form.filters()), form.filters())
    assert dict(contents_of(report).about)["Documents searched for by an item's name"] == "counted like the others"
    assert len(report.data.table.rows) == 4
    # What an ordinary search has found as well was drawn with the others.
    first = Hit.objects.get(document__row=rows[2])
    ordinary = Hit.objects.filter(search__column=None).earliest("pk")
    Hit.objects.filter(pk=ordinary.pk).update(same_as=first)
    assert doors.rows_apart(study) == {rows[3].pk}


@pytest.mark.once
def test_a_page_that_another_took_over_is_flagged(web: RecipeWeb, sheet: Sheet) -> None:
    name, page = PAGES["chili"][0]
    copied = page.replace(b"</title>", b" again</title>").replace(b'rel="canonical"', b'rel="original"')
    web.pages = {"chili": [(name, page), (name, copied), PAGES["chili"][1]]}
    done(started(sheet, 3))
    flagged = {hit.title: (hit.near.row.name if hit.near else None) for hit in queries.hits(sheet.study)}
    assert flagged == {"chili 1": None, "chili 2": "SearXNG 1", "chili 3": None}


@pytest.mark.once
def test_the_page_of_an_address_that_another_called_its_own_is_that_page(web: RecipeWeb, sheet: Sheet) -> None:
    """One engine finds the page for telephones first, another the page itself: they are one document. A site that calls
    all its pages by one address has as many as it has."""
    page, other = PAGES["chili"][0][1], PAGES["chili"][1][1]

    def calling_itself(html: bytes, n: int) -> bytes:
        return html.replace(b"<head>", f'<head><link rel="canonical" href="{web.url("chili", n)}">'.encode(), 1)

    web.pages = {"chili": [("a", calling_itself(page, 2)), ("b", page + b"<!-- -->"), ("c", calling_itself(other, 9))]}
    web.pages["chili"].append(("d", calling_itself(PAGES["chili"][2][1], 9)))
    done(started(sheet, 1))
    done(started(sheet, 4))
    assert fates(sheet) == {"chili 1": "document", "chili 2": "duplicate", "chili 3": "document", "chili 4": "document"}
    same = Hit.objects.get(state="duplicate")
    assert (str(same.same_as), same.reason) == ("SearXNG 1", "The sheet has this page: “SearXNG 1”.")


@pytest.mark.once
def test_a_page_that_was_fetched_is_not_given_up_for_one_that_may_fail(web: RecipeWeb, sheet: Sheet) -> None:
    """It was led to the address of the next hit, which is asked again and is gone then."""
    gone = http(status="404 Not Found")
    led, page = http(b"", "301 Moved", Location="/b"), http(PAGES["chili"][0][1])
    with server(gone, gone, led, page, gone) as (at, _asked):
        results = [Result(1, f"{at}/a", ""), Result(2, f"{at}/b", "")]
        actions.record_results(study=sheet.study, recorded=[Recorded("Chili", "google", "chili", results)], by=None)
        asked = [Asked(sheet, "google", "chili")]
        done(actions.start_retrieval(study=sheet.study, asked=asked, documents=2, by=None, enqueue=False))
    assert list(Hit.objects.values_list("rank", "state")) == [(1, "document"), (2, "dead")]


@pytest.mark.once
def test_a_page_whose_server_alone_says_its_encoding_is_read_and_kept_as_it_is(
    web: RecipeWeb, sheet: Sheet, manager: User
) -> None:
    page = (
        "<html><title>Борщ</title><h2>Ингредиенты</h2><ul><li>200 г свеклы<li>100 г капусты<li>1 ч. л. соли</ul>"
        "<h2>Приготовление</h2><ol><li>Нарежьте свеклу.<li>Варите суп один час.</ol></html>"
    ).encode("cp1251")
    robots = http(status="404 Not Found")
    with server(robots, robots, http(page, Content_Type="text/html; charset=Windows-1251")) as (at, _asked):
        of = Recorded("Chili", "google", "borscht", [Result(1, f"{at}/borscht", "")])
        actions.record_results(study=sheet.study, recorded=[of], by=None)
        asked = [Asked(sheet, "google", "borscht")]
        done(actions.start_retrieval(study=sheet.study, asked=asked, documents=1, by=None, enqueue=False))
    hit = Hit.objects.get()
    assert (hit.state, hit.reason) == ("document", "")
    assert hit.document is not None
    row = hit.document.row
    assert (row.title, row.blocks[1].text) == ("Борщ", "200 г свеклы")
    # Whoever reads the kept page again reads the same; the record is as it was sent.
    assert "Нарежьте свеклу." in extracting.shown(row)
    assert document_of(hit).steps[0] == "Нарежьте свеклу."
    [(_url, sent)] = archive.pages([bytes(hit.fetched.record)])
    assert sent == page


# --- a person's word --------------------------------------------------------------------------------------------------


def test_a_person_overrules_the_reader_both_ways(
    web: RecipeWeb, sheet: Sheet, manager: User, client_of: ClientOf
) -> None:
    web.hard = True
    done(started(sheet, 20))
    client = client_of(manager)
    no_recipe = Hit.objects.get(title="no recipe")
    document = Hit.objects.filter(state="document").first()
    assert document is not None
    assert document.document is not None

    def say(hit: Hit, word: str) -> Hit:
        client.post(reverse("recipes:decide", args=["dishes", hit.pk]), {"is_document": word})
        hit.refresh_from_db()
        return hit

    assert say(no_recipe, "yes").state == "document"
    assert no_recipe.document is not None
    assert "We are a family of cooks." in [block.text for block in no_recipe.document.row.blocks]
    assert say(document, "no").state == "no_recipe"
    row = document.document.row
    row.refresh_from_db()
    assert (row.withdrawn_at is not None, row.withdrawn_by) == (True, manager)
    assert say(document, "yes").state == "document"
    row.refresh_from_db()
    assert row.withdrawn_at is None
    dead = Hit.objects.get(title="gone")
    assert say(dead, "yes").state == "dead"


@pytest.mark.once
def test_who_overrules_the_reader_has_the_page_labelled_and_is_told_what_is_missing(
    web: RecipeWeb, sheet: Sheet, manager: User, client_of: ClientOf
) -> None:
    anna, bela = (builders.rater(sheet.study, builders.user(name)) for name in ("anna", "bela"))
    web.pages = {"chili": [("about.html", recipe_web._NO_RECIPE)]}
    done(started(sheet, 1, given=[actions.Given(anna)]))
    no_recipe = Hit.objects.get()
    client = client_of(manager)

    def say(hit: Hit, word: str) -> str:
        at = reverse("recipes:decide", args=["dishes", hit.pk])
        answer = client.post(at, {"is_document": word}, headers={"HX-Request": "true"})
        hit.refresh_from_db()
        return str(answer.content.decode())

    annotating.close_sheet(sheet=sheet, by=manager)
    assert "is closed: nothing is added to it" in say(no_recipe, "yes")
    annotating.open_sheet(sheet=sheet)
    say(no_recipe, "yes")
    assert no_recipe.document is not None
    row = no_recipe.document.row
    assert anna.assignments.get(row=row).state == "open"
    annotating.assign(rater=bela, rows=[row])
    say(no_recipe, "no")
    say(no_recipe, "yes")
    assert [one.state for one in row.assignments.order_by("rater")] == ["open", "withdrawn"]
    say(no_recipe, "no")
    Retrieval.objects.update(raters=[])
    assert "Who had it gets it back by “Reassign work”" in say(no_recipe, "yes")


def test_after_its_end_the_next_rank_takes_the_place_of_an_overruled_one(
    web: RecipeWeb, sheet: Sheet, manager: User, client_of: ClientOf
) -> None:
    run = started(sheet, 2)
    done(run)
    client = client_of(manager)
    document = Hit.objects.filter(state="document").order_by("rank").first()
    assert document is not None
    page = client.post(reverse("recipes:decide", args=["dishes", document.pk]), {"is_document": "no"}, follow=True)
    assert "Fetch the next one in its place" in page.content.decode()
    client.post(reverse("recipes:fetch-next", args=["dishes", document.pk]))
    again = sheet.study.retrievals.exclude(pk=run.pk).get()
    done(again)
    assert again.documents == 2
    assert sorted(Hit.objects.filter(state="document").values_list("rank", flat=True)) == [2, 3]
    # All is there: nothing more is brought.
    refused = client.post(reverse("recipes:fetch-next", args=["dishes", document.pk]), follow=True)
    assert "has as many documents" in refused.content.decode()


def test_a_row_that_is_withdrawn_elsewhere_is_no_document_until_it_is_brought_back(
    web: RecipeWeb, sheet: Sheet, manager: User, client_of: ClientOf
) -> None:
    """On the document's page, or under Plan: the search counted it on, and brought nothing in its place."""
    run = done(started(sheet, 2))
    client = client_of(manager)
    first = Hit.objects.filter(state="document").order_by("rank").first()
    assert first is not None
    assert first.document is not None
    row = first.document.row

    def hits() -> str:
        return str(client.get(reverse("recipes:hits", args=["dishes", sheet.pk])).content.decode())

    assert "Fetch the next one in its place" not in hits()
    client.post(reverse("annotation:withdraw-row", args=["dishes"]), {"row": row.pk, "reason": "a video"})
    assert 'title="a video">withdrawn' in hits()
    assert [line.documents for line in queries.sheets(sheet.study)] == [1]
    assert [thread.missing for thread in queries.brought(run).threads] == [1]
    assert [line.known for line in queries.opt_outs(sheet.study)] == [1]
    client.post(reverse("recipes:fetch-next", args=["dishes", first.pk]))
    done(sheet.study.retrievals.exclude(pk=run.pk).get())
    assert list(sheet.rows.filter(withdrawn_at=None).values_list("name", flat=True)) == ["SearXNG 2", "SearXNG 3"]

    # Overruled, and brought back: it is a document again, with what its site reserves.
    actions.decide(hit=first, is_document=False, by=manager)
    assert row.pk in queries.opted_out_rows(sheet.study)  # its labels stay
    client.post(reverse("annotation:restore-row", args=["dishes", row.pk]))
    assert "Fetch the next one in its place" not in hits()
    assert "Not accepted" not in hits()
    assert [thread.documents for thread in queries.brought(run).threads] == [3]
    actions.decide(hit=first, is_document=False, by=manager)
    row.refresh_from_db()
    assert row.withdrawn_at is not None


# --- the work machine -------------------------------------------------------------------------------------------------


def test_a_run_is_cancelled_and_resumed(web: RecipeWeb, sheet: Sheet) -> None:
    run = started(sheet, 4)
    work.take_up(run)
    work.take_up(run)
    actions.cancel_retrieval(run=run)
    assert not work.take_up(run)
    assert sheet.rows.count() == 1
    # What a cancelled run had before it is not taken for what the sheet has.
    other = started(sheet, 2)
    with pytest.raises(Refused, match="at work"):
        actions.resume_retrieval(run=run)
    done(other)
    assert sheet.rows.count() == 2
    run.refresh_from_db()
    actions.resume_retrieval(run=run, enqueue=False)
    run.refresh_from_db()
    done(run)
    assert (run.state, sheet.rows.count()) == (RunState.FINISHED, 4)
    assert Hit.objects.filter(state="duplicate").count() == 0


@pytest.mark.once
def test_a_site_gets_its_pause(web: RecipeWeb, sheet: Sheet, settings: Settings) -> None:
    settings.PALATE_FETCH_PAUSE = 0.4
    done(started(sheet, 5))
    for host in (PLAIN, NO_AI, RESERVED):
        at = [one.at for one in web.asked if one.host == host and one.path.startswith("/chili")]
        assert all(later - earlier > 0.35 for earlier, later in pairwise(at))


@pytest.mark.once
def test_a_site_whose_robots_txt_cannot_be_had_is_left_alone_and_asked_again_later(
    web: RecipeWeb, sheet: Sheet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RFC 9309: while the server has an error of its own nothing may be fetched, which says nothing of tomorrow."""
    with monkeypatch.context() as away:
        away.setattr(recipe_web._Handler, "_text", lambda handler, _text: handler._answer(503))
        run = done(started(sheet, 2))
        assert set(fates(sheet).values()) == {"dead"}
        assert Site.objects.exclude(closed="").count() == 3
        assert not [one for one in web.asked if one.host in {PLAIN, NO_AI, RESERVED} and one.path.startswith("/chili")]
        failed = run.items.filter(state=ItemState.FAILED)
        assert {item.error for item in failed} == {
            "The site's robots.txt could not be had, so nothing is fetched: it answered 503."
        }
        assert {item.attempts for item in failed} == {3}

    # Before the next attempt of an item, 20 s later at the soonest, the site is asked anew.
    for site in Site.objects.all():
        assert site.asked_at is not None
        Site.objects.filter(pk=site.pk).update(asked_at=site.asked_at - timedelta(seconds=20))
    actions.resume_retrieval(run=run, enqueue=False)
    run.refresh_from_db()
    assert (done(run).state, sheet.rows.count()) == (RunState.FINISHED, 2)


def test_what_failed_in_passing_is_tried_again_by_the_next_search(
    web: RecipeWeb, sheet: Sheet, monkeypatch: pytest.MonkeyPatch
) -> None:
    away_first(web, monkeypatch)
    done(started(sheet, 2))
    assert fates(sheet)["away"] == "dead"
    n_dead = Hit.objects.filter(state="dead").count()
    Hit.objects.filter(title="away").update(url=web.url("chili", 1))  # it is there again
    done(started(sheet, 3))
    assert sheet.rows.count() == 3
    # It came before the next rank; nothing else that was dead or refused was visited again.
    assert fates(sheet)["away"] in {"document", "duplicate"}
    assert Hit.objects.filter(state="dead").count() == n_dead - 1


@pytest.mark.once
def test_an_engine_that_is_away_fails_its_search_alone(
    web: RecipeWeb, sheet: Sheet, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = started(sheet, 2)
    monkeypatch.setenv("SEARXNG_URL", f"http://127.0.0.1:{free_port()}")
    done(run)
    [item] = run.items.all()
    assert (item.state, item.error) == ("failed", "SearXNG could not be reached.")
    monkeypatch.setenv("SEARXNG_URL", web.searxng)
    actions.resume_retrieval(run=run, enqueue=False)
    run.refresh_from_db()
    assert (done(run).state, sheet.rows.count()) == (RunState.FINISHED, 2)


def away_first(web: RecipeWeb, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first result for chili is on a host that nobody answers at."""
    found, gone = RecipeWeb.results, (f"http://127.0.0.9:{free_port()}/chili/1", "away")
    monkeypatch.setattr(
        RecipeWeb, "results", lambda self, query: [gone][: query == "Chili recipe"] + found(self, query)
    )


@pytest.mark.once
def test_a_page_that_failed_is_not_fetched_again_when_others_came_in_its_place(
    web: RecipeWeb, sheet: Sheet, monkeypatch: pytest.MonkeyPatch
) -> None:
    away_first(web, monkeypatch)
    run = done(started(sheet, 2))
    assert sorted(run.items.values_list("state", flat=True)) == ["done", "done", "done", "failed"]
    Hit.objects.filter(title="away").update(url=web.url("chili", 3))  # it is there again
    actions.resume_retrieval(run=run, enqueue=False)
    run.refresh_from_db()
    assert done(run).state == RunState.FINISHED
    assert sheet.rows.count() == 2
    assert fates(sheet)["away"] == "dead"
    assert not run.items.exclude(state=ItemState.DONE).exists()


@pytest.mark.once
def test_a_sheet_that_is_closed_meanwhile_gets_no_more(web: RecipeWeb, sheet: Sheet, manager: User) -> None:
    run = started(sheet, 3)
    work.take_up(run)
    work.take_up(run)
    annotating.close_sheet(sheet=sheet, by=manager)
    assert done(run).state == RunState.FINISHED
    assert sheet.rows.count() == 1
    assert set(fates(sheet).values()) == {"document", "waiting"}
    annotating.open_sheet(sheet=sheet)
    done(started(sheet, 3))
    assert sheet.rows.count() == 3


@pytest.mark.once
def test_the_command_gives_new_documents_to_raters(web: RecipeWeb, sheet: Sheet) -> None:
    anna, boris = (builders.rater(sheet.study, builders.user(name)) for name in ("anna", "boris"))
    with pytest.raises(CommandError, match="no rater “A99” who could be given documents"):
        call_command("retrieve", "dishes", documents=2, rater=[anna.code, "A99"], verbosity=0)
    assert not Retrieval.objects.exists()

    call_command("retrieve", "dishes", documents=2, rater=[anna.code, anna.code], verbosity=0)

    assert list(sheet.rows.values_list("assignments__rater__code", flat=True)) == [anna.code] * 2
    assert not boris.assignments.exists()


@pytest.mark.once
def test_the_command_goes_on_with_the_same_search_alone(
    web: RecipeWeb, sheet: Sheet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that nobody answers at had it try that again, whatever sheets, words or engines were named."""
    soup = actions.add_recipe(study=sheet.study, recipe=parse_recipe(CHILI.replace("Chili", "Chili soup")))
    away_first(web, monkeypatch)
    first = done(started(sheet, 2))
    assert first.items.filter(state=ItemState.FAILED).exists()
    call_command("retrieve", "dishes", documents=2, sheet=["Chili soup"], verbosity=0)
    for wrong in ({"words": "soup"}, {"documents": 0}, {"documents": 101}):
        with pytest.raises(CommandError):
            call_command("retrieve", "dishes", verbosity=0, **wrong)
    assert soup.rows.count() == 2
    asked = [Asked(sheet, "searxng", "Chili recipe")]
    run = started(sheet, 3)
    actions.cancel_retrieval(run=run)
    assert queries.to_go_on_with(sheet.study, asked, documents=3) == run
    assert queries.to_go_on_with(sheet.study, asked, documents=4) is None
    other = [Asked(sheet, "searxng", "Chili stew")]
    assert queries.to_go_on_with(sheet.study, other, documents=3) is None
    assert queries.to_go_on_with(sheet.study, [*asked, *other], documents=3) is None


@pytest.mark.once
def test_a_chain_that_is_to_have_more_documents_asks_for_them_though_a_page_had_failed(
    web: RecipeWeb, sheet: Sheet, monkeypatch: pytest.MonkeyPatch
) -> None:
    away_first(web, monkeypatch)

    def do(run: Any) -> None:
        done(run)

    for n in (2, 4, 4):
        settings = ChainSettings(slug="dishes", documents=n, engines=("searxng",))
        chain = Chain(settings, models=(), types=(), judges={}, work=do)
        assert list(chain.fetch()) == [f"{n} documents of 1 recipes, {n} of one at least"]
    assert [run.documents for run in sheet.study.retrievals.order_by("pk")] == [2, 4]


# --- results from elsewhere -------------------------------------------------------------------------------------------


@pytest.mark.once
def test_recorded_results_are_fetched_without_any_engine(
    web: RecipeWeb, sheet: Sheet, manager: User, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SEARXNG_URL")
    client = client_of(manager)
    lines = ["query,engine,rank,url"]
    lines += [f"how to  cook chili,Google,{n},{web.url('chili', n)}" for n in (1, 2)]  # as somebody typed it
    lines += [f"how to cook chili,DuckDuckGo,{n},{web.url('chili', n)}" for n in (2, 3)]

    def upload(name: str, text: str) -> str:
        file = SimpleUploadedFile(name, text.encode())
        answer = client.post(reverse("recipes:record-results", args=["dishes"]), {"results": file}, follow=True)
        return answer.content.decode()

    assert "no rank" in upload("bad.csv", "query,url,rank\nchili,https://a.example/,first\n")
    assert "No sheet is known of “gulash”" in upload("bad.csv", "query,url\ngulash,https://a.example/\n")
    assert Search.objects.count() == 0
    assert "2 recorded searches are in." in upload("found.csv", "\n".join(lines))
    assert "2 of them were in already." in upload("found.csv", "\n".join(lines))

    form = {"sheets": [sheet.pk], "words": "{name} recipe", "engines": ["google", "duckduckgo"], "documents": 2}
    answer = client.post(reverse("recipes:new-search", args=["dishes"]), form)
    run = Retrieval.objects.get()
    assert answer["Location"] == run.get_absolute_url()
    done(run)
    assert list(sheet.rows.values_list("name", flat=True)) == ["Google 1", "Google 2", "DuckDuckGo 3"]
    same = Hit.objects.get(state="duplicate")
    assert (same.search.engine, same.rank, str(same.same_as)) == ("duckduckgo", 2, "Google 2")

    table = b"".join(client.get(reverse("recipes:hits-csv", args=["dishes"])).streaming_content).decode()
    records = list(csv.DictReader(io.StringIO(table)))
    assert [(line["engine"], line["rank"], line["state"], line["document"]) for line in records] == [
        ("google", "1", "document", "Google 1"),
        ("google", "2", "document", "Google 2"),
        ("duckduckgo", "2", "duplicate", ""),
        ("duckduckgo", "3", "document", "DuckDuckGo 3"),
    ]
    assert b"".join(client.get(reverse("api:hits-csv", args=["dishes"])).streaming_content).decode() == table
    whole = b"".join(client.get(reverse("recipes:pages-warc", args=["dishes"])).streaming_content)
    to_program = b"".join(client.get(reverse("api:pages-warc", args=["dishes"])).streaming_content)
    assert [url for url, _page in archive.pages([to_program])] == [web.url("chili", n) for n in (1, 2, 3)]
    assert [url for url, _page in archive.pages([whole])] == [web.url("chili", n) for n in (1, 2, 3)]
    assert gzip.decompress(whole).startswith(b"WARC/1.0\r\n")


@pytest.mark.once
def test_what_searxng_answered_is_read_as_it_is(sheet: Sheet) -> None:
    results = [{"url": "https://a.example/", "title": "A", "engine": "brave"}, {"url": "x"}]
    answer = json.dumps({"query": "Chili recipe", "results": results}).encode()
    found, problems = recorded.read(io.BytesIO(answer), name="a.json", max_bytes=10**6)
    assert problems.total == 1
    assert found == [Recorded("", "brave", "Chili recipe", [Result(1, "https://a.example/", "A")])]
    result = actions.record_results(study=sheet.study, recorded=found, by=None)
    assert [search.sheet for search in result.searches] == [sheet]


@pytest.mark.once
def test_a_program_brings_results_as_the_page_takes_them(
    web: RecipeWeb, sheet: Sheet, manager: User, api_of: ApiOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SEARXNG_URL")
    api, address = api_of(manager), reverse("api:record-results", args=["dishes"])
    bad = {"results": [{"query": "chili", "url": "https://a.example/"}, {"query": "chili", "url": "no address"}]}
    refused = api.post(address, bad, format="json")
    assert refused.status_code == 400
    assert "results, line 2: “no address” is no address of a web page." in refused.json()["results"]
    refused = api.post(address, {"query": "gulash", "results": [{"url": "https://a.example/"}]}, format="json")
    assert refused.json() == {"results": ["No sheet is known of “gulash”; nothing was stored."]}
    assert Search.objects.count() == 0

    answer = {"query": "chili recipe", "results": [{"url": web.url("chili", 1), "title": "Chili", "score": 1.5}]}
    taken = api.post(address, answer, format="json")
    assert taken.status_code == 201
    [search] = Search.objects.all()
    assert taken.json() == {
        "searches": [{"id": search.pk, "sheet": sheet.pk, "engine": "recorded", "query": "chili recipe", "results": 1}],
        "known": 0,
    }
    assert api.post(address, answer, format="json").json() == {"searches": [], "known": 1}
    table = f"query,engine,rank,url\nchili recipe,Google,1,{web.url('chili', 2)}\n"
    assert api.post(address, table, content_type="text/csv").json()["searches"][0]["engine"] == "google"

    asked = {"words": "{name} recipe", "documents": 1, "engines": ["google", "recorded"]}
    run = api.post(reverse("api:start-retrieval", args=["dishes"]), asked, format="json")
    assert run.status_code == 201, run.json()


@pytest.mark.once
def test_a_program_names_raters_by_their_codes_as_everywhere(
    web: RecipeWeb, sheet: Sheet, manager: User, api_of: ApiOf
) -> None:
    """Their ids are told nowhere in the API."""
    rater = builders.rater(sheet.study, builders.user("anna"))
    api, start = api_of(manager), reverse("api:start-retrieval", args=["dishes"])

    refused = api.post(start, {"documents": 1, "raters": [rater.code, "A99"]}, format="json")
    assert refused.json() == {"raters": ["The study has no rater “A99”."]}
    assert api.post(start, {"documents": 1, "raters": [rater.code]}, format="json").status_code == 201
    run = Retrieval.objects.get()
    done(run)
    assert run.raters == [{"code": rater.code, "sections": []}]
    assert rater.assignments.count() == 1


@pytest.mark.once
def test_a_program_has_the_next_rank_fetched(web: RecipeWeb, sheet: Sheet, manager: User, api_of: ApiOf) -> None:
    done(started(sheet, 1))
    hit = Hit.objects.get(state=Hit.State.DOCUMENT)
    actions.decide(hit=hit, is_document=False, by=manager)

    answer = api_of(manager).post(reverse("api:fetch-next", args=["dishes", hit.pk]))

    assert (answer.status_code, answer.json()["documents"]) == (201, 1)
    done(Retrieval.objects.get(pk=answer.json()["id"]))
    assert sheet.rows.filter(withdrawn_at=None).count() == 1


@pytest.mark.once
def test_a_command_brings_results_as_the_page_takes_them(
    sheet: Sheet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "found.csv", tmp_path / "bad.csv"
    good.write_text("query,url\nchili recipe,https://a.example/1\n")
    bad.write_text("query,url\ngulash,https://a.example/\n")
    with pytest.raises(CommandError, match="No sheet is known of “gulash”"):
        call_command("record_results", "dishes", good, bad)
    assert Search.objects.count() == 0  # all of the files, or nothing
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("record_results", "dishes", tmp_path / "none.csv")
    call_command("record_results", "dishes", good)
    assert "1 recorded search is in." in capsys.readouterr().out
    assert Hit.objects.get().url == "https://a.example/1"


# --- pages ------------------------------------------------------------------------------------------------------------


@pytest.mark.once
def test_who_may_write_sees_what_a_search_will_do_and_one_click_searches_for_an_item(
    web: RecipeWeb, sheet: Sheet, manager: User, client_of: ClientOf
) -> None:
    client = client_of(manager)
    done(started(sheet, 1))
    page = client.get(reverse("recipes:new-search", args=["dishes"])).content.decode()
    assert "Chili recipe" in page
    assert "until <strong>5</strong> more documents" in page
    assert "1 is there already and stays" in page
    asked = {"sheets": [sheet.pk], "words": "{name} soup", "engines": ["searxng"], "documents": 3}
    part = client.get(reverse("recipes:new-search", args=["dishes"]), asked, headers={"HX-Request": "true"})
    assert "Chili soup" in part.content.decode()
    assert "<html" not in part.content.decode()
    nothing = client.post(reverse("recipes:new-search", args=["dishes"]), asked | {"words": "soup"})
    assert "Write {name} where the title" in nothing.content.decode()

    items = reverse("recipes:search-items", args=["dishes"])
    assert "saffron" in client.get(items).content.decode()
    column = sheet.columns.get(name="saffron")
    assert "Chili recipe saffron" in client.get(items, {"column": column.pk}).content.decode()
    answer = client.post(items, {"column": column.pk})
    run = Retrieval.objects.order_by("-pk").first()
    assert run is not None
    assert answer["Location"] == run.get_absolute_url()
    assert [search.column for search in done(run).searches.all()] == [column]
    for name, args in (("searches", ()), ("hits", (sheet.pk,)), ("retrieval", (run.pk,))):
        page = client.get(reverse(f"recipes:{name}", args=["dishes", *args])).content.decode()
        assert "SearXNG" in page
    row = sheet.rows.first()
    assert row is not None
    assert "rank 1" in client.get(reverse("recipes:document", args=["dishes", row.pk])).content.decode()


@pytest.mark.once
def test_a_program_searches_reads_the_hits_and_decides(
    web: RecipeWeb, sheet: Sheet, manager: User, api_of: ApiOf
) -> None:
    client, at = api_of(manager), "/api/v1/studies/dishes"
    refused = client.post(f"{at}/retrievals/start/", {"words": "soup"}, format="json")
    assert (refused.status_code, list(refused.json())) == (400, ["words"])
    answer = client.post(f"{at}/retrievals/start/", {"documents": 2}, format="json")
    assert (answer.status_code, answer.json()["visits"]) == (201, 1)
    again = client.post(f"{at}/retrievals/start/", {"documents": 3}, format="json")
    assert (again.status_code, again.json()["detail"]) == (409, "A search is at work in this study already.")
    run = Retrieval.objects.get()
    done(run)
    said = client.get(f"{at}/retrievals/{run.pk}/").json()
    assert (said["state"], said["progress"]["done"]) == ("finished", 3)
    assert said["queries"] == [
        {"sheet": sheet.pk, "engine": "searxng", "query": "Chili recipe", "documents": 2, "missing": 0}
    ]
    hits = client.get(f"{at}/hits/").json()["results"]
    assert [hit["state"] for hit in hits] == ["document", "document"] + ["waiting"] * (N_CHILI - 2)
    assert [one["kind"] for one in hits[0]["opt_outs"]] == ["robots"]
    decided = client.post(f"{at}/hits/{hits[0]['id']}/decide/", {"is_document": False}, format="json").json()
    assert (decided["state"], decided["reason"]) == ("no_recipe", "Not accepted as a document.")
    # Recorded results are of an engine that cannot be asked for an item.
    of_google = Recorded("Chili", "google", "Chili recipe", [Result(1, "https://a.example/", "A")])
    actions.record_results(study=sheet.study, recorded=[of_google], by=None)
    saffron = {"columns": [sheet.columns.get(name="saffron").pk], "documents": 1}
    by_item = client.post(f"{at}/retrievals/start/", saffron, format="json")
    assert (by_item.status_code, by_item.json()["queries"][0]["query"]) == (201, "Chili recipe saffron")
    actions.cancel_retrieval(run=Retrieval.objects.get(pk=by_item.json()["id"]))
    Search.objects.filter(engine="google").delete()
    # The next rank comes up in its place when the search is started again.
    last = client.post(f"{at}/retrievals/start/", {"documents": 2}, format="json")
    assert last.status_code == 201
    done(Retrieval.objects.get(pk=last.json()["id"]))
    assert list(Hit.objects.filter(state="document").values_list("rank", flat=True)) == [2, 3]


@pytest.mark.once
def test_no_key_is_shown_anywhere(
    sheet: Sheet, manager: User, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with server(http(status="401 Unauthorized")) as (at, asked):
        monkeypatch.setenv("BRAVE_SEARCH_API_KEY", "very-secret")
        monkeypatch.setattr(
            engines.Brave, "_made", classmethod(lambda kind, env: kind(at, env["BRAVE_SEARCH_API_KEY"]))
        )
        run = actions.start_retrieval(
            study=sheet.study, asked=[Asked(sheet, "brave", "Chili recipe")], documents=2, by=None, enqueue=False
        )
        with caplog.at_level("DEBUG"):
            done(run)
    assert b"very-secret" in asked[0]
    [item] = run.items.all()
    assert item.error == "Brave refused (401). Is what BRAVE_SEARCH_API_KEY says right?"
    page = client_of(manager).get(run.get_absolute_url()).content.decode()
    assert item.error in page
    assert "very-secret" not in page + repr(engines.ready()) + str(run.provenance) + caplog.text


@pytest.mark.once
def test_members_of_the_desk_may_look_and_managers_write(sheet: Sheet, client_of: ClientOf) -> None:
    rita = builders.user("rita")
    annotating.add_member(study=sheet.study, user=rita, role=Role.RESEARCHER)
    client = client_of(rita)
    assert client.get(reverse("recipes:searches", args=["dishes"])).status_code == 200
    assert client.get(reverse("recipes:new-search", args=["dishes"])).status_code == 403
