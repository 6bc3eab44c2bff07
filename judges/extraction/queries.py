"""Reads about extractors, their runs and what they took out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import Count, Prefetch, QuerySet

from annotation.models import Row, Study
from judges import doors
from judges.models import Correction, Extraction, ExtractionItem, ExtractionRun, Extractor
from judges.runs import evidence
from work import queries as work


@dataclass(frozen=True)
class ExtractorLine:
    """An extractor in a study's list. `runs`: in this study, the last one first."""

    extractor: Extractor
    kinds: list[str]
    runs: list[ExtractionRun]

    @property
    def last(self) -> ExtractionRun | None:
        return self.runs[0] if self.runs else None

    @property
    def is_at_work(self) -> bool:
        return self.last is not None and self.last.is_running

    @property
    def place(self) -> str:
        """Its model, or the name of its parser."""
        if self.extractor.model is not None:
            return str(self.extractor.model)
        parser = doors.parser(self.extractor.parser)
        return str(parser.label) if parser else self.extractor.parser


def extractors(study: Study) -> list[ExtractorLine]:
    """All extractors, with their runs in this study. Two queries."""
    of_study = Prefetch("runs", queryset=runs_with_counts(study), to_attr="of_study")
    return [
        ExtractorLine(each, [str(kind) for kind in evidence.kinds_of(each)], each.of_study)
        for each in Extractor.objects.select_related("model").prefetch_related(of_study)
    ]


def rows_left(study: Study, extractor: Extractor) -> QuerySet[Row]:
    """The documents of a study out of which an extractor has not taken all its lists."""
    kinds = evidence.kinds_of(extractor)
    taken = Extraction.objects.filter(extractor=extractor, row__sheet__study=study, kind__in=kinds)
    whole = taken.values("row").annotate(n=Count("pk")).filter(n=len(kinds)).values("row")
    return Row.objects.filter(sheet__study=study, withdrawn_at=None).exclude(pk__in=whole)


def runs_with_counts(study: Study) -> QuerySet[ExtractionRun]:
    """The extraction runs of a study, the last one first, each with `n_documents`, `n_done` and `n_failed`."""
    runs = ExtractionRun.objects.filter(study=study).select_related("extractor__model", "study", "started_by")
    return runs.order_by("-started_at").annotate(**work.counts("n_documents"))


@dataclass(frozen=True)
class Yield:
    """What an extraction run gave so far: lists, and items in them."""

    lists: int
    items: int
    refused: int
    repaired: int
    unsupported: int


def given(run: ExtractionRun) -> Yield:
    """One query."""
    taken = list(_taken(run).values_list("items", "repairs", "refused", "unsupported"))
    return Yield(
        lists=len(taken),
        items=sum(len(items) for items, *_rest in taken),
        refused=sum(bool(refused) for _items, _repairs, refused, _n in taken),
        repaired=sum(bool(repairs) for _items, repairs, *_rest in taken),
        unsupported=sum(n for *_rest, n in taken),
    )


def _taken(run: ExtractionRun) -> QuerySet[Extraction]:
    return Extraction.objects.filter(extractor=run.extractor_id, row__extraction_items__run=run)


@dataclass(frozen=True)
class Errors:
    """What people made of an extractor's lists, of those that they looked at. `items`: in these lists as taken out."""

    extractor: Extractor
    lists: int
    untouched: int
    items: int
    changed: int
    dropped: int
    added: int

    @property
    def rate(self) -> float | None:
        """Items that were changed, dropped or added, of all that were taken out or added."""
        whole = self.items + self.added
        return (self.changed + self.dropped + self.added) / whole if whole else None

    @property
    def share_untouched(self) -> float | None:
        return self.untouched / self.lists if self.lists else None


def errors(study: Study) -> list[Errors]:
    """Of each extractor with lists that people looked at in this study, by its name. Two queries."""
    taken = {
        each.pk: each
        for each in Extraction.objects.filter(row__sheet__study=study, corrections__isnull=False)
        .distinct()
        .select_related("extractor")
        .defer("raw")
    }
    last = evidence.corrections_of(taken.values())
    of_extractor: dict[Extractor, list[tuple[Extraction, Correction]]] = {}
    for pk, extraction in taken.items():
        of_extractor.setdefault(extraction.extractor, []).append((extraction, last[pk]))
    return [
        Errors(
            extractor,
            lists=len(pairs),
            untouched=sum(not (of.changed or of.dropped or of.added) for _taken, of in pairs),
            items=sum(len(each.items) for each, _of in pairs),
            changed=sum(of.changed for _taken, of in pairs),
            dropped=sum(of.dropped for _taken, of in pairs),
            added=sum(of.added for _taken, of in pairs),
        )
        for extractor, pairs in sorted(of_extractor.items(), key=lambda each: each[0].name)
    ]


@dataclass
class DocumentLine:
    """One document of a run, and the lists that were taken out of it."""

    item: ExtractionItem
    lists: list[Extraction] = field(default_factory=list)


def documents_of(run: ExtractionRun, *, with_raw: bool = False) -> list[DocumentLine]:
    """The documents of a run in the study's order; `with_raw` also reads what was written. Two queries."""
    items = run.items.select_related("row__sheet").defer("row__evidence")
    lines = {item.row_id: DocumentLine(item) for item in items}
    taken = _taken(run).order_by("kind")
    for one in taken if with_raw else taken.defer("raw"):
        lines[one.row_id].lists.append(one)
    return list(lines.values())


def lists_of(extractor: Extractor, row: Row) -> Sequence[Extraction]:
    """What an extractor took out of a row. One query."""
    return list(Extraction.objects.filter(extractor=extractor, row=row).order_by("kind"))
