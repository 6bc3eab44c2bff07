"""Reads about extractors, their runs and what they took out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from django.db.models import Count, Prefetch, Q, QuerySet, Sum
from django.utils import timezone

from annotation.models import Row, Study
from judges import documents, evidence
from judges.models import Extraction, ExtractionItem, ExtractionRun, Extractor
from judges.queries import works_elsewhere
from judges.states import ItemState, RunState

# A worker that is free takes up work within a second or two.
_SILENCE = timedelta(seconds=30)


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
        return self.last is not None and self.last.state == RunState.RUNNING

    @property
    def place(self) -> str:
        """Its model, or the name of its parser."""
        if self.extractor.model is not None:
            return str(self.extractor.model)
        parser = documents.parser(self.extractor.parser)
        return str(parser.label) if parser else self.extractor.parser


def extractors(study: Study) -> list[ExtractorLine]:
    """All extractors, with their runs in this study. Two queries."""
    of_study = Prefetch("runs", queryset=runs_with_counts(study), to_attr="of_study")
    return [
        ExtractorLine(each, [str(kind) for kind in evidence.kinds_of(each)], each.of_study)
        for each in Extractor.objects.select_related("model").prefetch_related(of_study)
    ]


def runs_with_counts(study: Study) -> QuerySet[ExtractionRun]:
    """The extraction runs of a study, the last one first, each with `n_documents`, `n_done` and `n_failed`."""
    runs = ExtractionRun.objects.filter(study=study).select_related("extractor__model", "study", "started_by")
    return runs.order_by("-started_at").annotate(
        n_documents=Count("items"),
        n_done=Count("items", filter=Q(items__state=ItemState.DONE)),
        n_failed=Count("items", filter=Q(items__state=ItemState.FAILED)),
    )


@dataclass(frozen=True)
class ExtractionProgress:
    """Numbers of an extraction run's page. Rows; seconds. `lists`, `items` and so on: what they gave so far."""

    rows: int
    done: int
    failed: int
    at_work: int
    lists: int
    items: int
    refused: int
    repaired: int
    unsupported: int
    elapsed: timedelta
    left: timedelta | None
    lacks_a_worker: bool
    is_behind: bool  # it waits, and the workers of its queue are at other work

    @property
    def left_over(self) -> int:
        return self.rows - self.done


def progress(run: ExtractionRun) -> ExtractionProgress:
    """Three queries, and two more of a run that waits for a worker."""
    now = timezone.now()
    work = run.items.aggregate(
        rows=Count("pk"),
        done=Count("pk", filter=Q(state=ItemState.DONE)),
        failed=Count("pk", filter=Q(state=ItemState.FAILED)),
        at_work=Count("pk", filter=Q(state=ItemState.CLAIMED)),
        seconds=Sum("seconds", filter=Q(state=ItemState.DONE)),
    )
    taken = list(_taken(run).values_list("items", "repairs", "refused", "unsupported"))
    last = run.items.exclude(done_at=None).order_by("-done_at").values_list("done_at", flat=True).first()
    unfinished = work["rows"] - work["done"] - work["failed"]
    elapsed = (run.ended_at or now) - run.started_at
    is_running = run.state == RunState.RUNNING
    silent = (
        is_running
        and bool(unfinished)
        and not work["at_work"]
        and now - max(filter(None, (last, run.sent_at, run.started_at))) > _SILENCE
    )
    is_behind = silent and works_elsewhere(run.extractor.queue, now=now)
    return ExtractionProgress(
        rows=work["rows"],
        done=work["done"],
        failed=work["failed"],
        at_work=work["at_work"],
        lists=len(taken),
        items=sum(len(items) for items, *_rest in taken),
        refused=sum(bool(refused) for _items, _repairs, refused, _n in taken),
        repaired=sum(bool(repairs) for _items, repairs, *_rest in taken),
        unsupported=sum(n for *_rest, n in taken),
        elapsed=timedelta(seconds=round(elapsed.total_seconds())),
        left=timedelta(seconds=round(work["seconds"] / work["done"] * unfinished))
        if is_running and work["done"]
        else None,
        lacks_a_worker=silent and not is_behind,
        is_behind=is_behind,
    )


def _taken(run: ExtractionRun) -> QuerySet[Extraction]:
    return Extraction.objects.filter(extractor=run.extractor_id, row__extraction_items__run=run)


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
