"""Reads about judges' runs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, F, Max, Min, Q, QuerySet, Sum
from django.utils import timezone

from annotation.models import Assignment, Sheet, Study
from judges import prompting
from judges.models import ExtractionItem, Judge, LanguageModel, Run, UnreadableAnswer, WorkItem
from judges.states import ItemState

# The pace is taken from what was done lately, so that it follows workers that come and go.
_PACE_WINDOW = timedelta(minutes=2)
# A worker that is free takes up work within a second or two.
_SILENCE = timedelta(seconds=30)


@dataclass(frozen=True)
class RunProgress:
    """Numbers of the run's page. Rows; cells that got a label; seconds."""

    rows: int
    done: int
    failed: int
    at_work: int
    cells: int
    unreadable: int
    tokens: int
    elapsed: timedelta
    cells_per_second: float | None
    tokens_per_second: float | None
    left: timedelta | None
    silent: timedelta | None  # since the last sign of life, while work waits and nobody is at it
    is_behind: bool  # while it is silent: the workers of its queue are at other work

    @property
    def lacks_a_worker(self) -> bool:
        return self.silent is not None and self.silent > _SILENCE and not self.is_behind

    @property
    def silent_for(self) -> timedelta:
        return _whole_seconds(self.silent or timedelta())

    @property
    def seconds(self) -> float:
        return self.elapsed.total_seconds()

    @property
    def seconds_left(self) -> float | None:
        return self.left.total_seconds() if self.left is not None else None

    @property
    def left_over(self) -> int:
        return self.rows - self.done

    @property
    def waiting(self) -> int:
        return self.rows - self.done - self.failed - self.at_work


def has_unfinished(run_id: int) -> bool:
    """Whether a run has items that are neither done nor failed. One query."""
    return WorkItem.objects.filter(run=run_id, state__in=[WorkItem.State.QUEUED, WorkItem.State.CLAIMED]).exists()


def is_waiting(run: Run, *, now: datetime) -> bool:
    """Whether a run has work that a worker may take. One query."""
    return run.items.filter(_may_be_taken(now), state=WorkItem.State.QUEUED).exists()


def _may_be_taken(now: datetime) -> Q:
    return Q(not_before=None) | Q(not_before__lte=now)


def works_elsewhere(queue: str, *, now: datetime) -> bool:
    """Whether a worker holds a row or a document of any run on this queue. Two queries."""
    held = Q(state=ItemState.CLAIMED, lease_until__gt=now)
    rows = WorkItem.objects.filter(held)
    documents = ExtractionItem.objects.filter(held)
    on_gpu = Q(run__judge__model__device=LanguageModel.Device.CUDA)
    of_gpu = Q(run__extractor__model__device=LanguageModel.Device.CUDA)
    if queue == "gpu":
        return rows.filter(on_gpu).exists() or documents.filter(of_gpu).exists()
    return rows.exclude(on_gpu).exists() or documents.exclude(of_gpu).exists()


def progress(run: Run) -> RunProgress:
    """Two queries, and two more of a run that waits for a worker."""
    now = timezone.now()
    state = WorkItem.State
    whole = run.items.aggregate(
        rows=Count("pk"),
        done=Count("pk", filter=Q(state=state.DONE)),
        failed=Count("pk", filter=Q(state=state.FAILED)),
        at_work=Count("pk", filter=Q(state=state.CLAIMED)),
        cells=Sum("cells"),
        unreadable=Sum("unreadable"),
        tokens=Sum("tokens"),
        last=Max("done_at"),
        last_done=Max("done_at", filter=Q(state=state.DONE)),
        due=Count("pk", filter=Q(state=state.QUEUED) & _may_be_taken(now)),
    )
    unfinished = whole["rows"] - whole["done"] - whole["failed"]
    rows, cells, tokens, seconds = _pace(run, until=whole["last_done"])
    silent = None
    if run.state == Run.State.RUNNING and whole["due"] and not whole["at_work"]:
        silent = now - max(filter(None, (run.started_at, run.enqueued_at, whole["last"])))
    return RunProgress(
        rows=whole["rows"],
        done=whole["done"],
        failed=whole["failed"],
        at_work=whole["at_work"],
        cells=whole["cells"] or 0,
        unreadable=whole["unreadable"] or 0,
        tokens=whole["tokens"] or 0,
        elapsed=_whole_seconds((run.ended_at or now) - run.started_at),
        cells_per_second=cells / seconds if seconds else None,
        tokens_per_second=tokens / seconds if seconds and tokens else None,
        left=_whole_seconds(timedelta(seconds=unfinished * seconds / rows))
        if rows and run.state == Run.State.RUNNING
        else None,
        silent=silent,
        is_behind=silent is not None and silent > _SILENCE and works_elsewhere(run.judge.queue, now=now),
    )


def _pace(run: Run, *, until: datetime | None) -> tuple[int, int, int, float]:
    """Rows, cells, readable or not, and tokens that were done in the last while, and the seconds in which they were.
    One query."""
    if until is None:
        return 0, 0, 0, 0.0
    done = run.items.filter(state=WorkItem.State.DONE, done_at__gte=until - _PACE_WINDOW).aggregate(
        rows=Count("pk"),
        cells=Sum(F("cells") + F("unreadable")),
        tokens=Sum("tokens"),
        seconds=Sum("seconds"),
        first=Min("done_at"),
        last=Max("done_at"),
    )
    # The first of them was begun before it was done: its own time counts too.
    span = (done["last"] - done["first"]).total_seconds() + done["seconds"] / done["rows"]
    return done["rows"], done["cells"], done["tokens"], span


def _whole_seconds(time: timedelta) -> timedelta:
    return timedelta(seconds=round(time.total_seconds()))


def runs_with_counts(study: Study) -> QuerySet[Run]:
    """The runs of a study, the last one first, each with `n_rows`, `n_done`, `n_failed`, `n_cells` and
    `n_unreadable`. One query."""
    runs = study.runs.select_related("judge__model", "judge__prompt", "judge__evidence", "rater", "study", "started_by")
    return runs.order_by("-started_at").annotate(
        n_rows=Count("items"),
        n_done=Count("items", filter=Q(items__state=WorkItem.State.DONE)),
        n_failed=Count("items", filter=Q(items__state=WorkItem.State.FAILED)),
        n_cells=Sum("items__cells", default=0),
        n_unreadable=Sum("items__unreadable", default=0),
    )


def problems(run: Run, *, at_most: int = 50) -> list[WorkItem]:
    """Rows of a run that failed, or failed and wait for their next try, the last one first. One query."""
    items = run.items.exclude(error="").exclude(state=WorkItem.State.DONE)
    with_rows = items.select_related("assignment__row__sheet").defer("assignment__row__evidence")
    return list(with_rows.order_by("-done_at", "-pk")[:at_most])


def unreadable(run: Run, *, at_most: int = 5) -> list[UnreadableAnswer]:
    """The first answers of a run that held no verdict, in the order of its rows. One query."""
    answers = UnreadableAnswer.objects.filter(assignment__work_items__run=run).select_related(
        "assignment__row__sheet", "column", "question"
    )
    in_order = answers.order_by(
        "assignment__row__sheet__position", "assignment__row__position", "assignment__repeat",
        "column__section__position", "column__position", "question__position",
    )  # fmt: skip
    return list(in_order.defer("assignment__row__evidence")[:at_most])


def unreadable_reasons(run: Run) -> list[tuple[str, int]]:
    """Why answers of a run held no verdict, and how many of each, the most frequent reason first. One query."""
    counted = (
        UnreadableAnswer.objects.filter(assignment__work_items__run=run).values_list("why").annotate(n=Count("pk"))
    )
    return [(str(UnreadableAnswer.Why(why).label), n) for why, n in counted.order_by("-n", "why")]


@dataclass(frozen=True)
class UnreadableCount:
    """Cells of one judge, question and repeat whose answer held no verdict, for one reason."""

    judge: str  # the rater's code
    section: str
    question: str
    repeat: int
    why: str  # of `UnreadableAnswer.Why`
    n: int


def unreadable_counts(study: Study) -> list[UnreadableCount]:
    """By judge, question, repeat and reason; only what was submitted, as labels count. One query.

    What one asks of it besides are the labels: a judge that rates has for each cell that it was asked either a label
    or one of these.
    """
    grouped = (
        UnreadableAnswer.objects.filter(
            assignment__rater__study=study, assignment__state=Assignment.State.SUBMITTED
        )
        .order_by("assignment__rater__code", "question__section__position", "question__position", "assignment__repeat",
                  "why")
        .values_list("assignment__rater__code", "question__section__key", "question__key", "assignment__repeat", "why")
        .annotate(n=Count("pk"))
    )  # fmt: skip
    return [UnreadableCount(*line) for line in grouped]


def judges_for(study: Study) -> list[Judge]:
    """Judges that can work in this study. One query."""
    return [judge for judge in Judge.objects.select_related("model", "prompt", "evidence") if _fits(judge, study)]


def _fits(judge: Judge, study: Study) -> bool:
    try:
        prompting.check_against(
            judge.prompt.parsed, study.scheme.parsed, judge.method, normalisation=judge.normalisation
        )
    except prompting.PromptError:
        return False
    return True


def unfinished_run(study: Study, judge: Judge) -> Run | None:
    """The last run of the judge in this study, if it is at work or was stopped before its end."""
    run = study.runs.filter(judge=judge).select_related("judge__model", "judge__prompt", "rater", "study").first()
    return run if run is not None and run.state != Run.State.FINISHED else None


def sheets_called(study: Study, titles: list[str]) -> list[Sheet]:
    """The sheets of these titles.

    Raises:
        Sheet.DoesNotExist: with the title that no sheet has.
    """
    sheets = {sheet.title: sheet for sheet in study.sheets.filter(title__in=titles)}
    for title in titles:
        if title not in sheets:
            raise Sheet.DoesNotExist(title)
    return list(sheets.values())


class Source(NamedTuple):
    """What a judge's labels come from: the model that annotates, and the extractor whose items it annotated by.

    `model` is "" of a judge without one; `extractor` is "" where it judges by the documents themselves, and
    `extraction_model` where its extractor is a parser.
    """

    model: str
    extractor: str
    extraction_model: str


def sources(study: Study) -> dict[str, Source]:
    """The source of each judge that had a run in this study, by its code. Judges whose labels came from a file have
    none. One query."""
    judges = Judge.objects.filter(runs__study=study).distinct().select_related("model", "evidence__model")
    return {
        judge.name: Source(
            model=judge.model.name if judge.model else "",
            extractor=judge.evidence.name if judge.evidence else "",
            extraction_model=judge.evidence.model.name if judge.evidence and judge.evidence.model else "",
        )
        for judge in judges
    }
