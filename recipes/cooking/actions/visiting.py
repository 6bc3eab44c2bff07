"""What a retrieval does at each step: an engine is asked, or a page is fetched, read and made a document.

Where a hit gives no document, the next rank of its query comes up: `open_next` gives the run as many pages as documents
are missing, and is called whenever one has met its fate.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation import actions as annotating
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH
from annotation.models import Row, Sheet
from base.text import storable
from recipes.cooking.actions.documents import SamePage, add_document
from recipes.cooking.actions.sites import Manners, visitor
from recipes.cooking.models import Document, Fetched, Hit, Retrieval, Search, Visit
from recipes.cooking.pages import Page, PageRefused, read_page, stored
from recipes.cooking.pages.head import Head
from recipes.cooking.pages.reading import decoded, in_utf8
from recipes.cooking.retrieval_queries import STANDING
from recipes.cooking.web import archive, engines, fetching, optouts, similar
from recipes.cooking.web.addresses import canonical
from recipes.cooking.web.fetching import Answer, Fate, NotFetched
from work import actions as work
from work.actions import Held
from work.kinds import Kind
from work.outcomes import ItemFailed, NotWanted, TryAgain
from work.states import ItemState, RunState

log = logging.getLogger(__name__)

State = Hit.State
# What stands for a page: another address of it is a duplicate.
_SETTLED = [State.DOCUMENT, State.NO_RECIPE, State.DEAD, State.REFUSED]
_OPEN = [ItemState.QUEUED, ItemState.CLAIMED]


def visit(held: Held[Visit]) -> None:
    if held.item.hit is None:
        _ask(held)
    else:
        _fetch(held, held.item.hit)


# --- asking an engine -----------------------------------------------------------------------------------------------


def _ask(held: Held[Visit]) -> None:
    run, search = held.item.run, held.item.search
    results = None
    if _is_closed(search):
        raise NotWanted
    if search.asked_at is None:
        engine = engines.ready().get(search.engine)
        if engine is None:
            raise ItemFailed(_("%(engine)s is not set up at the worker.") % {"engine": search.engine_label})
        try:
            results = engine.search(search.query, search.depth, beat=held.beat)
        except engines.EngineError as failure:
            raise (TryAgain if failure.passing else ItemFailed)(str(failure)) from failure
    with held.finishing():
        annotating.lock_study(run.study_id)
        if results is not None:
            search.results = [
                result._replace(url=storable(result.url), title=storable(result.title))._asdict() for result in results
            ]
            search.asked_at, search.error = timezone.now(), ""
            search.save(update_fields=["results", "asked_at", "error"])
            hits_of(search)
        open_next(run, search)


def hits_of(search: Search) -> None:
    """Make hits of a search's results. What an earlier search of the query has, and what is no address, makes none."""
    there = set(_thread(search).values_list("canonical", flat=True))
    made: dict[str, Hit] = {}
    for result in search.results:
        key = canonical(result["url"])
        if not key or key in there or key in made:
            continue
        made[key] = Hit(
            search=search, rank=result["rank"], url=result["url"], canonical=key, title=result["title"][:500]
        )
    Hit.objects.bulk_create(made.values())


def _thread(search: Search) -> QuerySet[Hit]:
    """The hits of one query to one engine, whenever it was asked."""
    of = {"search__sheet": search.sheet_id, "search__engine": search.engine, "search__query": search.query}
    return Hit.objects.filter(**of).select_related("search").defer("search__results").order_by("search", "rank")


# --- the next rank --------------------------------------------------------------------------------------------------


def open_next(run: Retrieval, search: Search) -> None:
    """Give a run as many pages of a query as documents are missing; called behind the study's lock.

    What the sheet has already is passed over; what failed in passing in an earlier run is tried again. An engine that
    has more is asked for more.
    """
    if _is_closed(search):
        return
    thread = _thread(search)
    at_work = run.items.filter(state__in=_OPEN, hit__in=thread).count()
    missing = run.documents - thread.filter(STANDING).count() - at_work
    if missing <= 0:
        return
    visits: list[Visit] = []
    there = _Known(search)
    failed = Visit.objects.filter(hit=OuterRef("pk"), state=ItemState.FAILED)
    to_visit = Q(state=State.WAITING) | Q(Exists(failed), state=State.DEAD)
    for hit in thread.filter(to_visit).exclude(visits__run=run):
        if len(visits) == missing:
            break
        why = there.why_not(hit.canonical)
        if why is not None and why.hit != hit:
            hit.state, hit.same_as, hit.reason = State.DUPLICATE, why.hit, why.sentence
            hit.save(update_fields=["state", "same_as", "reason"])
            continue
        there.add(hit)
        visits.append(Visit(run=run, search=hit.search, hit=hit))
    if not visits and not at_work and (deeper := _deeper(search)) is not None:
        run.searches.add(deeper)
        visits.append(Visit(run=run, search=deeper))
    if visits:
        work.add(run, visits)


def _is_closed(search: Search) -> bool:
    """Nothing is added to a sheet that was closed while a run was at work."""
    return Sheet.objects.filter(pk=search.sheet_id, closed_at__isnull=False).exists()


def _is_wanted(run: Retrieval, search: Search) -> bool:
    """Whether a query still lacks documents: what had failed is tried again when others have come in its place. Two
    queries."""
    return not _is_closed(search) and _thread(search).filter(STANDING).count() < run.documents


def _deeper(search: Search) -> Search | None:
    """The same query once more, for twice as many results; None where the engine has no more."""
    last = Search.objects.filter(sheet=search.sheet_id, engine=search.engine, query=search.query).order_by("pk").last()
    engine = engines.ready().get(search.engine)
    if last is None or last.asked_at is None or last.recorded or engine is None:
        return None
    if last.depth >= engine.most or not last.results or last.results[-1]["rank"] < last.depth:
        return None
    return Search.objects.create(
        sheet=last.sheet,
        column=last.column,
        engine=last.engine,
        query=last.query,
        depth=min(2 * last.depth, engine.most),
        asked_by=last.asked_by,
    )


@dataclass(frozen=True)
class _Why:
    hit: Hit | None
    sentence: str


class _Known:
    """The pages that a sheet has, by what their addresses have in common. Three queries.

    `but`: the hit whose page is there now. What is only on its way may still fail, and is none that it gives way to.
    """

    def __init__(self, search: Search, *, but: Hit | None = None) -> None:
        there = Q(state__in=_SETTLED)
        if but is None:
            on_its_way = Visit.objects.filter(state__in=_OPEN, run__state=RunState.RUNNING)
            on_its_way = on_its_way.filter(search__sheet=search.sheet_id).exclude(hit=None)
            there |= Q(pk__in=on_its_way.values("hit"))
        settled = Hit.objects.filter(there, search__sheet=search.sheet_id).select_related("search")
        settled = settled.defer("search__results", "opt_outs")
        self._hits: dict[str, Hit] = {}
        for hit in settled.exclude(pk=but.pk) if but else settled:
            self.add(hit)
        of_hits = {hit.pk: hit for hit in self._hits.values()}
        for hit_id, at in Fetched.objects.filter(hit__in=of_hits).values_list("hit", "canonical"):
            self._hits.setdefault(at, of_hits[hit_id])
        rows = Row.objects.filter(sheet=search.sheet_id).exclude(url="")
        self._rows = {canonical(url): name for name, url in rows.values_list("name", "url")}

    def add(self, hit: Hit) -> None:
        if hit.canonical:
            self._hits.setdefault(hit.canonical, hit)

    def why_not(self, *addresses: str) -> _Why | None:
        """Why a page of these addresses is none to visit, or to add; None: it is new."""
        for at in filter(None, addresses):
            if (hit := self._hits.get(at)) is not None:
                return _Why(hit, _("The same page as %(hit)s.") % {"hit": hit})
            if (row := self._rows.get(at)) is not None:
                return _Why(None, _("The sheet has this page: “%(row)s”.") % {"row": row})
        return None


# --- fetching a page ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Read:
    """A fetched page as the reader sees it; `refused`: what is missing, "" for a document."""

    page: Page
    refused: str


def _fetch(held: Held[Visit], hit: Hit) -> None:
    """Fetch, read and store one page, or the reason why there is none, in one transaction."""
    if hit.state not in {State.WAITING, State.DEAD} or not _is_wanted(held.item.run, hit.search):
        raise NotWanted
    who = visitor()
    manners = Manners(held, who)
    try:
        answer = fetching.fetch(hit.url, who, before=manners.before, beat=held.beat)
    except NotFetched as failure:
        if failure.fate == Fate.PASSING:
            raise TryAgain(str(failure)) from failure
        with held.finishing():
            annotating.lock_study(held.item.run.study_id)
            hit.opt_outs = [opt_out._asdict() for opt_out in manners.opt_outs]
            _settle(hit, State.REFUSED if failure.fate == Fate.REFUSED else State.DEAD, str(failure))
            open_next(held.item.run, hit.search)
        return
    fetched_at = timezone.now()
    page = in_utf8(answer.body, answer.header("content-type"))
    html = decoded(page)
    hit.opt_outs = [each._asdict() for each in (*manners.opt_outs, *optouts.of_page(answer, html))]
    read = _as_read(answer.url, page, hit.title)
    own = [canonical(address) for address in (answer.url, *Head(html).addresses[:1])]
    record = archive.record(answer, fetched_at=fetched_at)
    with held.finishing():
        annotating.lock_study(held.item.run.study_id)
        if not _is_wanted(held.item.run, hit.search):
            raise NotWanted
        why = _Known(hit.search, but=hit).why_not(*own)
        if why is not None:
            hit.same_as = why.hit
            _settle(hit, State.DUPLICATE, why.sentence)
        else:
            _store(hit, answer, read, record, own[0], fetched_at)
            _accept(held.item.run, hit, read, own)
        open_next(held.item.run, hit.search)


def _settle(hit: Hit, state: Hit.State, reason: str) -> None:
    hit.state, hit.reason, hit.looked_at = state, reason, timezone.now()
    hit.save(update_fields=["state", "reason", "looked_at", "same_as", "document", "near", "resemblance", "opt_outs"])


def _as_read(url: str, body: bytes, title: str) -> _Read:
    """A page as the reader sees it. One that it cannot read is a page without lists."""
    plain = Page(url, url, "", title, "", (), (), "", body)
    try:
        page = read_page(url, body, url=url)
    except PageRefused as refused:
        return _Read(plain, _("The page %(refused)s") % {"refused": refused.reason})
    except Exception:
        # Whatever is wrong with this page is not wrong with the next one.
        log.exception("%s could not be read", url)
        return _Read(plain, _("The page could not be read. The error was logged."))
    if page.ingredients and page.steps:
        return _Read(page, "")
    if page.ingredients:
        return _Read(page, _("The reader found a list of ingredients, and no list of steps."))
    return _Read(page, _("The reader found a list of steps, and no list of ingredients."))


def _store(hit: Hit, answer: Answer, read: _Read, record: bytes, key: str, fetched_at: datetime) -> None:
    Fetched.objects.update_or_create(
        hit=hit,
        defaults={
            "url": answer.url,
            "canonical": key,
            "status": answer.status,
            "headers": answer.headers,
            "hops": [list(hop) for hop in answer.hops],
            "record": record,
            "sha256": hashlib.sha256(answer.body).hexdigest(),
            "n_bytes": len(answer.body),
            "n_ingredients": len(read.page.ingredients),
            "n_steps": len(read.page.steps),
            "fetched_at": fetched_at,
        },
    )


def _accept(run: Retrieval, hit: Hit, read: _Read, own: Sequence[str]) -> None:
    """Make a document of a page that is one, and give it to those who are to label it. `own`: what its addresses, and
    that which it calls its own, have in common with others."""
    if read.refused:
        _settle(hit, State.NO_RECIPE, read.refused)
        return
    near, resemblance = _nearest(hit.search.sheet_id, [*read.page.ingredients, *read.page.steps])
    if near is not None and not _addresses(near).isdisjoint(filter(None, own)):
        hit.same_as = Hit.objects.filter(document=near).first()
        _settle(hit, State.DUPLICATE, _("The sheet has this page: “%(row)s”.") % {"row": near.row.name})
        return
    try:
        document = add_to_sheet(hit, read.page)
    except SamePage as same:
        hit.same_as = Hit.objects.filter(document__row=same.row).first()
        _settle(hit, State.DUPLICATE, str(same))
        return
    hit.document = document
    hit.near, hit.resemblance = near, resemblance
    _settle(hit, State.DOCUMENT, "")
    give(run, document)


def give(run: Retrieval, document: Document) -> None:
    """Give a document to those who are given what a run brings, those who had it before too."""
    raters = {rater.code: rater for rater in run.study.raters.given_more()}
    for one in run.raters:
        if (rater := raters.get(one["code"])) is not None:
            annotating.assign(rater=rater, rows=[document.row], sections=one["sections"])


def document_of(hit: Hit) -> Page:
    """The page of a hit once more as it is read, from its record."""
    [(url, body)] = archive.pages([bytes(hit.fetched.record)])
    kind = ", ".join(value for name, value in hit.fetched.headers if name.casefold() == "content-type")
    return _as_read(url, in_utf8(body, kind), hit.title).page


def add_to_sheet(hit: Hit, page: Page, *, evidence_from_page: bool = False) -> Document:
    """Add a hit's page to its sheet as a row, called by engine and rank.

    `evidence_from_page`: where a list is missing, the row has the lines that the page shows. Raises `SamePage`.
    """
    search = hit.search
    evidence: list[Block] = []
    if evidence_from_page and not (page.ingredients and page.steps):
        evidence = [
            Block(PARAGRAPH, text) for line in stored.shown_lines(page.html) if (text := storable(line).strip())
        ]
    item = f", {search.column.name}" if search.column is not None else ""
    return add_document(
        sheet=search.sheet,
        page=page,
        name=f"{search.engine_label} {hit.rank}{item}",
        evidence=evidence,
        facets={
            "engine": search.engine_label,
            "rank": str(hit.rank),
            "query": search.query,
            "item": search.column.name if search.column is not None else "",
        },
    )


def _nearest(sheet_id: int, lines: Iterable[str]) -> tuple[Document | None, float]:
    """The document of a sheet that says nearly what these lines say, and how near it is; (None, 0) where there is
    none."""
    mine = similar.shingles(lines)
    others = Document.objects.filter(row__sheet=sheet_id, row__withdrawn_at=None)
    scored = [
        (similar.resemblance(mine, similar.shingles(_texts(other.row))), other)
        for other in others.select_related("row").defer("html_gz")
    ]
    score, nearest = max(scored, key=lambda pair: pair[0], default=(0.0, None))
    return (nearest, score) if score >= similar.NEAR else (None, 0.0)


def _addresses(document: Document) -> set[str]:
    """What its address, and that which its page calls its own, have in common with others. That alone is not believed:
    some sites call each of their pages by the address of the first."""
    stated = Head(decoded(gzip.decompress(bytes(document.html_gz)))).addresses[:1]
    return {at for text in (document.row.url, *stated) if (at := canonical(text))}


def _texts(row: Row) -> Iterable[str]:
    return (block.text for block in row.blocks if block.kind != "heading")


def _failed(item: Any, error: str) -> None:
    """What failed for good: an engine that gave nothing, or a link that is dead. The next rank comes up."""
    annotating.lock_study(item.run.study_id)
    if item.hit is None:
        Search.objects.filter(pk=item.search_id).update(error=error)
    elif item.hit.state in {State.WAITING, State.DEAD}:
        _settle(item.hit, State.DEAD, error)
        open_next(item.run, item.search)


VISITING = Kind(
    Visit,
    visit,
    name=lambda item: f"{item.search.sheet.title} · {item.hit or item.search}",
    related=(
        "run__study__scheme",
        "search__sheet__study__scheme",
        "search__column",
        "hit__search__sheet__study__scheme",
    ),
    died=gettext_lazy("%(n)s workers died at this page, or fell silent."),
    failed=_failed,
)
