"""Reads about searches, hits and retrievals. Each says how many queries it costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.models import Column, Sheet, Study
from recipes.cooking.models import Fetched, Hit, Retrieval, Search
from recipes.cooking.web import engines, optouts
from work import queries as work
from work.states import ItemState

State = Hit.State
# Hits that count as documents: `Hit.stands`.
STANDING = Q(document__isnull=False, document__row__withdrawn_at=None)


def query_of(sheet: Sheet, column: Column | None = None, *, words: str = "{name} recipe") -> str:
    """What an engine is asked for a sheet; for one item its name stands behind it, as the paper's authors did by hand.

    >>> query_of(Sheet(title="Coleslaw"), Column(name="shred · knife · cabbage"))
    'Coleslaw recipe shred knife cabbage'
    """
    query = words.replace("{name}", sheet.title)
    return " ".join(f"{query} {column.name.replace('·', ' ') if column else ''}".split())[:400]


def engines_for(study: Study) -> list[tuple[str, str]]:
    """Names and labels of the engines that can be asked here, and of those that have recorded results. One query."""
    names = [*engines.ready()]
    recorded = Search.objects.filter(sheet__study=study, recorded=True).values_list("engine", flat=True)
    names += sorted(set(recorded.order_by("engine").distinct()) - set(names))
    return [(name, engines.label_of(name)) for name in names]


def columns(study: Study, pks: Iterable[int]) -> QuerySet[Column]:
    """Items of a study in the order of its sheets, with their sheets and sections."""
    found = Column.objects.filter(sheet__study=study, pk__in=list(pks)).exclude(name="")
    return found.select_related("sheet", "section").order_by("sheet__position", "section__position", "position")


def ready() -> list[str]:
    """The names of the engines that can be asked here."""
    return [*engines.ready()]


@dataclass(frozen=True)
class Asked:
    """A query to an engine; `column`: the item that it is for."""

    sheet: Sheet
    engine: str
    query: str
    column: Column | None = None


def asked_of(sheets: Sequence[Sheet], names: Sequence[str], *, words: str) -> list[Asked]:
    """What engines are asked for sheets; one that only has recorded results, what was recorded. One query."""
    there = set(ready())
    recorded: dict[tuple[int, str], list[str]] = {}
    of_sheets = Search.objects.filter(sheet__in=sheets, recorded=True, engine__in=set(names) - there, column=None)
    for sheet, engine, query in of_sheets.order_by("pk").values_list("sheet", "engine", "query"):
        recorded.setdefault((sheet, engine), []).append(query)
    return [
        Asked(sheet, name, query)
        for sheet in sheets
        for name in names
        for query in (
            [query_of(sheet, words=words)] if name in there else dict.fromkeys(recorded.get((sheet.pk, name), []))
        )
    ]


def standing(asked: Sequence[Asked]) -> Counter[tuple[int, str, str]]:
    """How many documents each query has of each engine: {(sheet, engine, query): n}. One query."""
    found = Hit.objects.filter(
        search__sheet__in={one.sheet.pk for one in asked},
        search__query__in={one.query for one in asked},
        search__engine__in={one.engine for one in asked},
    )
    return Counter(found.filter(STANDING).values_list("search__sheet", "search__engine", "search__query"))


def short_of(asked: Sequence[Asked], documents: int) -> set[tuple[int, str, str]]:
    """Which queries have fewer documents: (sheet, engine, query). One query."""
    there = standing(asked)
    return {key for one in asked if there[key := (one.sheet.pk, one.engine, one.query)] < documents}


def to_go_on_with(study: Study, asked: Sequence[Asked], *, documents: int) -> Retrieval | None:
    """The last run of a study where something of it is left, or failed, and it is all that is asked now; None: what is
    asked is another run. A few queries."""
    last = study.retrievals.first()
    if last is None or last.documents != documents or not last.items.exclude(state=ItemState.DONE).exists():
        return None
    of_last = set(last.searches.values_list("sheet", "engine", "query"))
    of_all = {(one.sheet.pk, one.engine, one.query) for one in asked}
    return last if short_of(asked, documents) <= of_last <= of_all else None


def retrievals_with_counts(study: Study) -> QuerySet[Retrieval]:
    """The retrievals of a study, the last one first, each with `n_visits`, `n_done` and `n_failed`."""
    runs = Retrieval.objects.filter(study=study).select_related("study", "started_by")
    return runs.order_by("-started_at").annotate(**work.counts("n_visits"))


def hits(study: Study) -> QuerySet[Hit]:
    """All hits of a study in the order of its sheets, with what a table shows of them."""
    found = Hit.objects.filter(search__sheet__study=study)
    return found.select_related(
        "search__sheet", "search__column", "document__row", "near__row", "same_as__search", "fetched", "decided_by"
    ).defer(
        "search__results",
        "same_as__search__results",
        "document__html_gz",
        "document__row__evidence",
        "near__html_gz",
        "near__row__evidence",
        "fetched__record",
    )


@dataclass
class SheetLine:
    """What retrieving has brought a sheet so far: how many hits met each fate."""

    sheet: Sheet
    documents: int
    fates: Counter[str] = field(default_factory=Counter)

    @property
    def n_hits(self) -> int:
        return self.fates.total()


def sheets(study: Study) -> list[SheetLine]:
    """Two queries."""
    found = study.sheets.order_by("position").annotate(n_rows=Count("rows", filter=Q(rows__withdrawn_at=None)))
    lines = {sheet.pk: SheetLine(sheet, sheet.n_rows) for sheet in found}
    fates = Hit.objects.filter(search__sheet__study=study).values_list("search__sheet", "state")
    for sheet, state, n in fates.annotate(n=Count("pk")).order_by():
        lines[sheet].fates[state] += n
    return list(lines.values())


@dataclass(frozen=True)
class Reserved:
    """How many documents of a sheet say that they are not to be mined or trained on.

    Attributes:
        known: those that were fetched here: of others nothing is known.
        any: those with at least one reservation; `kinds`: with each kind of it.
        withheld: hits of such sites that refused us.
    """

    sheet: Sheet
    known: int
    any: int
    kinds: dict[str, int]
    withheld: int


def opt_outs(study: Study) -> list[Reserved]:
    """Of each sheet with hits. Two queries."""
    of_sheet: dict[int, list[tuple[bool, str, list[dict[str, str]]]]] = {}
    found = Hit.objects.filter(search__sheet__study=study).annotate(is_there=Q(STANDING))
    for sheet_id, is_there, state, said in found.values_list("search__sheet", "is_there", "state", "opt_outs"):
        of_sheet.setdefault(sheet_id, []).append((is_there, state, said))
    lines = []
    for sheet in study.sheets.filter(pk__in=of_sheet).order_by("position"):
        documents = [kinds_of(said) for is_there, _state, said in of_sheet[sheet.pk] if is_there]
        refused = [said for _is_there, state, said in of_sheet[sheet.pk] if state == State.REFUSED and said]
        lines.append(
            Reserved(
                sheet=sheet,
                known=len(documents),
                any=sum(map(bool, documents)),
                kinds={kind: sum(kind in kinds for kinds in documents) for kind in optouts.KINDS},
                withheld=len(refused),
            )
        )
    return lines


def opted_out_rows(study: Study) -> dict[int, list[str]]:
    """{row: the kinds of reservation} of the documents that have one; what a verdict on plagiarism asks. Withdrawn ones
    too: their labels stay. One query."""
    found = Hit.objects.filter(search__sheet__study=study, document__isnull=False)
    rows = found.values_list("document__row", "opt_outs")
    return {row: kinds for row, said in rows if (kinds := kinds_of(said))}


def searched_by_item(study: Study) -> dict[int, list[int]]:
    """By an item's column the documents that a search for it has found, and none but such searches. They have the item
    since it was asked for, so that they say nothing of how often documents have it. One query."""
    hits = Hit.objects.filter(search__sheet__study=study, search__column__isnull=False, document__isnull=False)
    also_else = Hit.objects.filter(same_as=OuterRef("pk"), search__column=None)
    found: dict[int, list[int]] = {}
    for column, row in hits.exclude(Exists(also_else)).order_by("pk").values_list("search__column", "document__row"):
        found.setdefault(column, []).append(row)
    return found


def rows_searched_for(study: Study) -> set[int]:
    """All such documents. One query."""
    return {row for rows in searched_by_item(study).values() for row in rows}


def kinds_of(said: Sequence[dict[str, str]]) -> list[str]:
    return sorted({one["kind"] for one in said})


@dataclass(frozen=True)
class Thread:
    """A query to an engine in a run, and what it has of the documents that are wanted."""

    search: Search
    documents: int
    wanted: int
    waiting: int

    @property
    def missing(self) -> int:
        return max(0, self.wanted - self.documents)


@dataclass(frozen=True)
class Brought:
    """What a run has brought: hits by fate, and each of its queries."""

    fates: Counter[str]
    threads: list[Thread]

    @property
    def documents(self) -> int:
        return self.fates[State.DOCUMENT]


def brought(run: Retrieval) -> Brought:
    """Four queries."""
    searches = list(run.searches.select_related("sheet", "column"))
    visited = Hit.objects.filter(visits__run=run).order_by().values_list("state").annotate(n=Count("pk"))
    of_query: dict[tuple[int, str, str], Counter[str]] = {}
    all_hits = Hit.objects.filter(
        search__sheet__in={search.sheet_id for search in searches}, search__query__in={s.query for s in searches}
    )
    key_of = ("search__sheet", "search__engine", "search__query")
    there = Counter(all_hits.filter(STANDING).order_by().values_list(*key_of))
    counted = all_hits.order_by().values_list(*key_of, "state")
    for sheet, engine, query, state, n in counted.annotate(n=Count("pk")):
        of_query.setdefault((sheet, engine, query), Counter())[state] += n
    threads: dict[tuple[int, str, str], Thread] = {}
    for search in searches:
        key = (search.sheet_id, search.engine, search.query)
        fates = of_query.get(key, Counter())
        threads[key] = Thread(search, there[key], run.documents, fates[State.WAITING])
    return Brought(Counter(dict(visited)), list(threads.values()))


def hits_of_run(run: Retrieval) -> QuerySet[Hit]:
    """The hits that a run visited, or passed over, by query and rank."""
    return hits(run.study).filter(search__retrievals=run).exclude(state=State.WAITING, visits__isnull=True)


def records(study: Study) -> Iterator[bytes]:
    """The WARC records of a study, in the order of its hits; never held in memory together."""
    found = Fetched.objects.filter(hit__search__sheet__study=study).order_by("hit__search__sheet__position", "hit")
    for record in found.values_list("record", flat=True).iterator(chunk_size=20):
        yield bytes(record)
