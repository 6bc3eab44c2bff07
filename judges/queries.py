"""Reads about judges' runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, F, QuerySet, Sum

from annotation.models import Assignment, Label, Rater, Row, Sheet, Study
from judges.methods import prompting
from judges.models import Extractor, Judge, Run, UnreadableAnswer, WorkItem
from llm.models import Prompt
from work import line
from work import queries as work

# Of fewer cells it says nothing that all answers are alike.
FEW_CELLS = 20
_MOST_ROWS = 50  # that a run's page names


def planned(raters: QuerySet[Rater]) -> QuerySet[Assignment]:
    """What a plan gave to these judges' raters, and they have not labelled."""
    return Assignment.objects.filter(rater__in=raters, plan__isnull=False, repeat=1, row__withdrawn_at=None).exclude(
        state__in=[Assignment.State.SUBMITTED, Assignment.State.WITHDRAWN]
    )


class RunProgress(work.Progress):
    """Numbers of the run's page. Rows; cells that got a label; seconds."""

    @property
    def rows(self) -> int:
        return self.total

    @property
    def cells(self) -> int:
        return self.sums["cells"]

    @property
    def unreadable(self) -> int:
        return self.sums["unreadable"]

    @property
    def tokens(self) -> int:
        return self.sums["tokens"]

    @property
    def cells_per_second(self) -> float | None:
        return self.paces["cells"]

    @property
    def tokens_per_second(self) -> float | None:
        return self.paces["tokens"] or None


def progress(run: Run) -> RunProgress:
    """Two queries, and a few more of a run that waits for a worker."""
    cells = F("cells") + F("unreadable")
    said = work.progress(run, sums=["cells", "unreadable", "tokens"], paces={"cells": cells, "tokens": "tokens"})
    return RunProgress(**vars(said))


def runs_with_counts(study: Study) -> QuerySet[Run]:
    """The runs of a study, the last one first, each with `n_rows`, `n_done`, `n_failed`, `n_cells` and
    `n_unreadable`. One query."""
    runs = study.runs.select_related("judge__model", "judge__prompt", "judge__evidence", "rater", "study", "started_by")
    return runs.order_by("-started_at").annotate(
        **work.counts("n_rows"),
        n_cells=Sum("items__cells", default=0),
        n_unreadable=Sum("items__unreadable", default=0),
    )


def runs_in_line(study: Study) -> list[Run]:
    """The same, each with `n_before`: how many runs workers come to before it. One query more for each queue on which
    one runs."""
    runs = list(runs_with_counts(study))
    before = line.of_runs(runs)
    for run in runs:
        run.n_before = len(before.get((Run, run.pk), ()))
    return runs


def problems(run: Run) -> list[WorkItem]:
    """Rows of a run that failed, or failed and wait for their next try, the last one first. One query."""
    items = run.items.exclude(error="").exclude(state=WorkItem.State.DONE)
    with_rows = items.select_related("assignment__row__sheet").defer("assignment__row__evidence")
    return list(with_rows.order_by("-done_at", "-pk")[:_MOST_ROWS])


def speaking(run: Run) -> list[WorkItem]:
    """Rows of a run whose evidence seems to speak to whoever labels it, in the order of the study. One query."""
    found = run.items.exclude(speaks="").filter(assignment__repeat=1).select_related("assignment__row__sheet")
    in_order = found.order_by("assignment__row__sheet__position", "assignment__row__position")
    return list(in_order.defer("assignment__row__evidence")[:_MOST_ROWS])


@dataclass(frozen=True)
class Answered:
    """What a run answered to one question. `options`: each that it gave, and how often, the most frequent first."""

    question: str
    options: list[tuple[str, int]]

    @property
    def n(self) -> int:
        return sum(n for _option, n in self.options)

    @property
    def is_constant(self) -> bool:
        return self.n >= FEW_CELLS and len(self.options) == 1


def answered(run: Run) -> list[Answered]:
    """What a run answered to each question with options, presets left out, in the scheme's order. One query."""
    done = WorkItem.objects.filter(run=run, state=WorkItem.State.DONE).values("assignment")
    counted = (
        Label.objects.filter(assignment__in=done, option__isnull=False, preset=False)
        .order_by("question__section__position", "question__position")
        .values_list("question__section__title", "question__title", "option__label")
        .annotate(n=Count("pk"))
    )
    by_question: dict[str, list[tuple[str, int]]] = {}
    for section, question, option, n in counted:
        by_question.setdefault(f"{section}: {question}", []).append((option, n))
    return [
        Answered(question, sorted(options, key=lambda each: (-each[1], each[0])))
        for question, options in by_question.items()
    ]


def n_presets(run: Run) -> int:
    """How many labels of the rows that a run has done follow from their columns. One query."""
    done = WorkItem.objects.filter(run=run, state=WorkItem.State.DONE).values("assignment")
    return Label.objects.filter(assignment__in=done, preset=True).count()


def unreadable(run: Run) -> QuerySet[UnreadableAnswer]:
    """The answers of a run that held no verdict, in the order of its rows."""
    answers = UnreadableAnswer.objects.filter(assignment__work_items__run=run).select_related(
        "assignment__row__sheet", "column", "question"
    )
    in_order = answers.order_by(
        "assignment__row__sheet__position", "assignment__row__position", "assignment__repeat",
        "column__section__position", "column__position", "question__position",
    )  # fmt: skip
    return in_order.defer("assignment__row__evidence")


def unreadable_reasons(run: Run) -> list[tuple[str, int]]:
    """Why answers of a run held no verdict, and how many of each, the most frequent reason first. One query."""
    counted = (
        UnreadableAnswer.objects.filter(assignment__work_items__run=run).values_list("why").annotate(n=Count("pk"))
    )
    return [(str(UnreadableAnswer.Why(why).label), n) for why, n in counted.order_by("-n", "why")]


def records(study: Study, *, before: datetime | None = None) -> dict[str, str]:
    """Of each judge that worked in a study what a publication needs, as JSON by the judge's name: its prompt without
    examples of the study's documents, and the record of each of its runs (model, digests, libraries, settings).
    `before`: runs started later are left out. One query."""
    runs = study.runs.select_related("judge__prompt", "rater").order_by("started_at")
    told: dict[str, dict[str, Any]] = {}
    for run in runs if before is None else runs.filter(started_at__lt=before):
        judge = told.setdefault(
            run.rater.code,
            {
                "judge": run.rater.code,
                "method": run.judge.method,
                "prompt_sha256": run.judge.prompt.digest,
                "prompt": _to_publish(run.judge),
                "runs": [],
            },
        )
        record = {key: value for key, value in run.provenance.items() if key not in ("prompt", "prompt_sha256")}
        judge["runs"].append({"started": f"{run.started_at:%Y-%m-%d}", "state": run.state, **record})
    return {name: json.dumps(judge, indent=1, ensure_ascii=False) + "\n" for name, judge in told.items()}


def _to_publish(judge: Judge) -> str:
    """The prompt of a judge; of one whose examples are lines of documents, with their places in the place of the lines:
    the line above says of which documents they are. The digest is that of the whole prompt."""
    text, examples = judge.prompt.text, judge.prompt_spec.examples
    if judge.study_id is None or not examples:
        return text
    return prompting.rewritten(text, "examples", dict.fromkeys(examples, "(lines of the study's documents, left out)"))


def judges_for(study: Study) -> list[Judge]:
    """Judges that can work in this study, those that were put away left out. One query."""
    return [judge for judge in fitting(study) if judge.archived_at is None]


def with_nothing_left(study: Study) -> set[str]:
    """The names of the judges that have labelled every row of a study. Two queries."""
    rows = Row.objects.filter(sheet__study=study, withdrawn_at=None)
    done = Assignment.objects.filter(
        rater__in=study.raters.judges(), row__in=rows, repeat=1, state=Assignment.State.SUBMITTED
    )
    by_judge = done.values("rater__code").annotate(n=Count("pk")).filter(n=rows.count())
    return set(by_judge.values_list("rater__code", flat=True))


def fitting(study: Study) -> list[Judge]:
    """Judges that are known in this study and whose prompts fit it, those that were put away too. One query."""
    known = Judge.objects.known_in(study).select_related("model", "prompt", "evidence")
    return [judge for judge in known if _fits(judge, study)]


def tools(study: Study, kind: str) -> QuerySet[Judge] | QuerySet[Extractor]:
    """By `kind` the judges that are known in this study, or all extractors; those that were put away too."""
    return Judge.objects.known_in(study) if kind == "judge" else Extractor.objects.all()


def prompts_in(study: Study) -> QuerySet[Prompt]:
    """The prompts that may be read in a study: all but those with lines of another study's documents."""
    others = Judge.objects.exclude(study=None).exclude(study=study)
    return Prompt.objects.exclude(pk__in=others.values("prompt"))


def sheets_labelled(run: Run) -> list[Sheet]:
    """The sheets of which a run has labelled rows, in their order. One query."""
    done = WorkItem.objects.filter(run=run, state=WorkItem.State.DONE).values("assignment__row__sheet")
    return list(Sheet.objects.filter(pk__in=done).order_by("position"))


def has_run(study: Study) -> bool:
    return Run.objects.filter(study=study).exists()


def raters_at_work(study: Study) -> set[int]:
    """The raters of a study that have run in it. One query."""
    return set(Run.objects.filter(study=study).values_list("rater", flat=True))


def _fits(judge: Judge, study: Study) -> bool:
    try:
        prompting.check_against(judge.prompt_spec, study.scheme.parsed, judge.method, normalisation=judge.normalisation)
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
