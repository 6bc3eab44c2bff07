"""Retrievals: started, cancelled, resumed; results recorded elsewhere; what a person says of a hit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.models import Column, Rater, Sheet, Study, User
from recipes.cooking import retrieval_queries as queries
from recipes.cooking.actions.documents import SamePage
from recipes.cooking.actions.visiting import add_to_sheet, document_of, give, hits_of, open_next
from recipes.cooking.models import Hit, Retrieval, Search, Visit
from recipes.cooking.retrieval_queries import Asked
from recipes.cooking.web import engines
from recipes.cooking.web.recorded import Recorded
from work import actions as work
from work.states import RunState

MAX_DOCUMENTS = 100  # of an engine for a query


@dataclass(frozen=True)
class Given:
    """Who is given the new documents; no sections means all."""

    rater: Rater
    sections: tuple[str, ...] = ()


@transaction.atomic
def start_retrieval(
    *,
    study: Study,
    asked: Sequence[Asked],
    documents: int,
    by: User | None,
    given: Sequence[Given] = (),
    enqueue: bool = True,
) -> Retrieval:
    """Ask engines, and fetch what they found until each query has its documents at each of them.

    What an engine was asked before, and as deep, is not asked again: its next ranks come up. So 18 documents become 80.

    Args:
        documents: how many each engine is to have for each query, those that it has included.
        given: whom each new document is assigned to as soon as it is there. What they label already is not touched.
        enqueue: False leaves the work to the caller (`work.actions.take_up`); workers take it over if that goes silent.
    Raises:
        Refused: another retrieval is at work here, an engine is not set up, or nothing is left to do.
    """
    annotating.lock_study(study.pk)
    _refuse_if_at_work(study)
    _refuse_closed(one.sheet for one in asked)
    if not asked:
        raise Refused(_("Choose at least one sheet and one engine."))
    searches = [search for one in asked if (search := _search(one, documents, by)) is not None]
    if not searches:
        raise Refused(_("Each query has as many documents of each engine already. Ask for more of them."))
    run = Retrieval.objects.create(
        study=study,
        documents=documents,
        started_by=by,
        raters=[{"code": one.rater.code, "sections": list(one.sections)} for one in given],
        provenance={
            "queries": sorted({search.query for search in searches}),
            "engines": sorted({search.engine for search in searches}),
            "workers": [],
        },
    )
    run.searches.set(searches)
    work.start(run, [Visit(run=run, search=search) for search in searches], enqueue=enqueue)
    return run


def _search(one: Asked, documents: int, by: User | None) -> Search | None:
    """The search whose hits are to be fetched: the last one, if it is deep enough, or a new one; None: all is there."""
    query = " ".join(one.query.split())[:400]
    before = Search.objects.filter(sheet=one.sheet, engine=one.engine, query=query)
    if Hit.objects.filter(queries.STANDING, search__in=before).count() >= documents:
        return None
    last = before.filter(asked_at__isnull=False).last()
    engine = engines.ready().get(one.engine)
    if last is not None and (engine is None or last.recorded or last.depth >= _depth(documents, engine)):
        return last
    if engine is None:
        raise Refused(
            _("%(engine)s is not set up here, and has no recorded results for “%(query)s”.")
            % {"engine": engines.label_of(one.engine), "query": query}
        )
    return Search.objects.create(
        sheet=one.sheet,
        column=one.column,
        engine=one.engine,
        query=query,
        depth=_depth(documents, engine),
        asked_by=by,
    )


def _depth(documents: int, engine: engines.Engine) -> int:
    """How many results are asked for: some are dead, some no recipes."""
    return min(max(10, 2 * documents), engine.most)


def _refuse_if_at_work(study: Study) -> None:
    if study.retrievals.filter(state=RunState.RUNNING).exists():
        raise Refused(_("A search is at work in this study already."))


def _refuse_closed(sheets: Iterable[Sheet]) -> None:
    for sheet in sheets:
        if sheet.closed_at is not None:
            raise Refused(_("“%(sheet)s” is closed: nothing is added to it.") % {"sheet": sheet.title})


@transaction.atomic
def search_for_items(
    *,
    study: Study,
    columns: Sequence[Column],
    documents: int,
    by: User | None,
    names: Sequence[str] = (),
    raters: Sequence[Rater] = (),
    enqueue: bool = True,
) -> Retrieval:
    """Search again for items that were found nowhere, each with its sheet's query and its own name.

    Args:
        columns: the items, of any sheets of the study.
        names: of the engines, by default all that are set up.
        raters: who is to look for the items in the new documents: each gets them for the sections of the items alone.
    Raises:
        Refused: as `start_retrieval`; no engine is set up.
    """
    names = list(names) or list(engines.ready())
    if not names:
        raise Refused(
            _(
                "No search engine is set up here. Who looks after this installation sets SEARXNG_URL, or the key of an "
                "engine, in its environment. Results that were recorded elsewhere can be used without one."
            )
        )
    sections = tuple(sorted({column.section.key for column in columns}))
    asked = [Asked(one.sheet, name, queries.query_of(one.sheet, one), one) for one in columns for name in names]
    given = [Given(rater, sections) for rater in raters]
    return start_retrieval(study=study, asked=asked, documents=documents, by=by, given=given, enqueue=enqueue)


@transaction.atomic
def cancel_retrieval(*, run: Retrieval) -> None:
    """Stop a run. What was fetched stays; a worker gives up its page at its next look, within seconds."""
    work.cancel(run)


@transaction.atomic
def resume_retrieval(*, run: Retrieval, enqueue: bool = True) -> None:
    """Go on with what is left, failed visits included. `enqueue`: as for `start_retrieval`.

    Raises:
        Refused: nothing is left, or another retrieval is at work.
    """
    annotating.lock_study(run.study_id)
    _refuse_if_at_work(run.study)
    if not work.resume(run, enqueue=enqueue):
        raise Refused(_("Nothing is left to do in this run."))


@transaction.atomic
def fetch_next(*, hit: Hit, by: User | None, enqueue: bool = True) -> Retrieval:
    """Bring the next rank in the place of a hit that a person overruled after its run had ended: as many documents as
    that run was to have, given to those whom it gave them to.

    Raises:
        Refused: as `start_retrieval`; or the hit was fetched by no run.
    """
    search = hit.search
    last = Retrieval.objects.filter(searches=search).order_by("pk").last()
    if last is None:
        raise Refused(_("No search has fetched this hit."))
    raters = {rater.code: rater for rater in last.study.raters.filter(active=True)}
    given = [Given(raters[one["code"]], tuple(one["sections"])) for one in last.raters if one["code"] in raters]
    asked = [Asked(search.sheet, search.engine, search.query, search.column)]
    return start_retrieval(study=last.study, asked=asked, documents=last.documents, by=by, given=given, enqueue=enqueue)


# --- results that were recorded elsewhere ---------------------------------------------------------------------------


@dataclass
class Recording:
    """What came of recorded results. `unplaced`: queries of which no sheet is known."""

    searches: list[Search] = field(default_factory=list)
    known: int = 0
    unplaced: list[str] = field(default_factory=list)


@transaction.atomic
def record_results(*, study: Study, recorded: Sequence[Recorded], by: User | None) -> Recording:
    """Store searches that were made elsewhere, as if their engines had been asked here; nothing is fetched yet.

    A search without a sheet belongs to the one whose title its query has. With any that belongs nowhere, nothing is
    stored.
    """
    annotating.lock_study(study.pk)
    sheets = {sheet.title.casefold(): sheet for sheet in study.sheets.all()}
    result = Recording()
    placed = []
    for one in recorded:
        if (sheet := _sheet_of(one, sheets)) is None:
            result.unplaced.append(one.sheet or one.query)
        else:
            placed.append((one, sheet))
    if result.unplaced:
        return result
    for one, sheet in placed:
        results = [result._asdict() for result in one.results]
        before = Search.objects.filter(sheet=sheet, engine=one.engine, query=one.query)
        if any(search.results == results for search in before):
            result.known += 1
            continue
        search = Search.objects.create(
            sheet=sheet,
            engine=one.engine,
            query=one.query,
            depth=len(results),
            recorded=True,
            results=results,
            asked_by=by,
            asked_at=timezone.now(),
        )
        hits_of(search)
        result.searches.append(search)
    return result


def _sheet_of(one: Recorded, sheets: dict[str, Sheet]) -> Sheet | None:
    if one.sheet:
        return sheets.get(one.sheet.casefold())
    fitting = [title for title in sheets if title in one.query.casefold()]
    return sheets[max(fitting, key=len)] if fitting else None


# --- a person's word on a hit ---------------------------------------------------------------------------------------


@transaction.atomic
def decide(*, hit: Hit, is_document: bool, by: User) -> Hit:
    """Confirm or overrule what the reader said: a document has a list of ingredients and a list of steps.

    One that becomes a document comes in as a row, with what the page shows where the reader found no lists; those who
    were given what its run brought are given it, too. One that is none has its row withdrawn: nobody else is asked to
    label it, and labels stay.

    Raises:
        Refused: the page was not fetched, or the sheet has it already.
    """
    annotating.lock_study(hit.search.sheet.study_id)
    hit.refresh_from_db()
    if hit.state not in {Hit.State.DOCUMENT, Hit.State.NO_RECIPE}:
        raise Refused(_("There is no page of this hit to decide about."))
    if is_document and hit.state == Hit.State.NO_RECIPE:
        if hit.document is not None:
            annotating.restore_row(row=hit.document.row)
        else:
            _refuse_closed([hit.search.sheet])
            try:
                hit.document = add_to_sheet(hit, document_of(hit), evidence_from_page=True)
            except SamePage as same:
                raise Refused(str(same)) from same
        if (fetched_by := Retrieval.objects.filter(items__hit=hit).order_by("pk").last()) is not None:
            give(fetched_by, hit.document)
        hit.state, hit.reason = Hit.State.DOCUMENT, ""
    elif not is_document and (hit.state == Hit.State.DOCUMENT or hit.stands):
        if hit.document is not None:
            annotating.withdraw_row(row=hit.document.row, reason=_("No recipe with ingredients and steps."), by=by)
        hit.state, hit.reason = Hit.State.NO_RECIPE, _("Not accepted as a document.")
    hit.decided_by, hit.decided_at = by, timezone.now()
    hit.save(update_fields=["document", "state", "reason", "decided_by", "decided_at"])
    for run in Retrieval.objects.filter(searches=hit.search, state=RunState.RUNNING):
        open_next(run, hit.search)
    return hit
