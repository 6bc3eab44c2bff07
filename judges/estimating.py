"""What a run would take and cost, before it is started: from the prompts of some of its rows. Writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Avg, Count, QuerySet

from annotation.models import Assignment, Rater, Row, Study
from judges import queries
from judges.models import Judge, Trial, WorkItem
from judges.runs import labelling
from judges.runs.asking import RowFailed
from judges.runs.hearing import Overheard
from judges.trying import at, judge_of
from llm import registry
from llm.backends.base import BackendError
from llm.engine.prompt import RowPrompt
from llm.prices import Spent, tokens_read
from llm.prompts import digest, with_plain_ends

_LOOKED_AT = 8  # rows
_TRIALS_LOOKED_AT = 20


@dataclass(frozen=True)
class Estimate:
    """What is to come.

    Attributes:
        rows: that would be labelled, each repeat counted; `cells`: in all of them, about, and at most, since an answer
            can switch others off. Of an extractor: documents, and their lists.
        spent: what is read, about; what is written, at most.
        seconds: of one worker; None where nothing is known of its pace.
        measured: the pace of tokens is that of earlier rows or of a trial, not of letters.
        alone: `seconds` are by one cell that was tried by itself; a run asks several at a time, which may be faster.
    """

    rows: int
    cells: int
    spent: Spent
    seconds: float | None
    measured: bool
    alone: bool = False

    @property
    def cost(self) -> Decimal | None:
        return self.spent.cost


def rows_left(study: Study, judge: Judge, *, repeats: int = 1) -> int:
    """How many labellings of rows a start would make. Three queries."""
    rows = _rows_of(study, judge)
    every = rows.count()
    if judge._state.adding:
        return every * repeats
    done = Assignment.objects.filter(
        rater__study=study, rater__code=judge.name, row__in=rows, state="submitted", repeat__lte=repeats
    ).count()
    return max(0, every * repeats - done)


def estimate(study: Study, judge: Judge, *, repeats: int = 1, trial: Mapping[str, Any] | None = None) -> Estimate:
    """What a run of the judge over the study's rows would take.

    Args:
        trial: what `trying.try_cell` found: its pace in letters and in seconds is then taken for the whole. Where none
            is given and the judge has labelled nothing here, that of the last trial of such a judge.
    """
    left = rows_left(study, judge, repeats=repeats)
    looked = [at(row) for row in spread(_rows_of(study, judge))]
    columns = labelling.columns_of(looked)
    n_cells = sum(len(labelling.cells_asked(judge, one, columns[one.row.sheet_id])) for one in looked)
    cells = round(left * n_cells / len(looked)) if looked else 0
    if judge.model is None:
        seconds = _seconds_of(judge, left, cells, trial)
        if seconds is None and (tried := _last_trial(study, judge)) is not None:
            seconds = _seconds_of(judge, left, cells, tried)
        return Estimate(left, cells, Spent(), seconds, measured=False)
    done = _measured(study, judge)
    if trial is None and done["n"]:
        spent = Spent(
            round(left * (done["tokens"] - done["written"])), round(left * done["written"]), judge.model.prices
        )
        return Estimate(left, cells, spent, left * done["seconds"], measured=True)
    if trial is None:
        trial = _last_trial(study, judge)
    shares = _shares(judge)
    heard = Overheard()
    n_heard = 0
    for one in looked:
        try:
            labelling.label_row(judge, one, heard, only_sized=True, columns=columns[one.row.sheet_id])
        except (RowFailed, BackendError):
            continue
        n_heard += 1
    letters = heard.letters(shares=shares) * left / n_heard if n_heard else 0
    chats = len(heard.shown) * left / n_heard if judge.chat_template and n_heard else 0
    read, seconds = tokens_read(letters, chats=chats), None
    if trial and (tried := trial["letters" if shares else "letters_apart"]):
        read, seconds = letters * trial["read"] / tried, trial["seconds"] * letters / tried
    # A server writes a token for each prompt that it scores.
    each = judge.max_new_tokens or (0 if shares else 1)
    # A plain answer may be asked for once more, without an end (`AtRow.generate_each`).
    times = 2 if judge.writes and not judge.chat_template and not judge.prompt_spec.grammar else 1
    written = times * heard.requests * each * left / n_heard if n_heard else 0
    spent = Spent(round(read), round(written), judge.model.prices)
    return Estimate(left, cells, spent, seconds, measured=trial is not None, alone=seconds is not None)


def prompts_of_some(study: Study, judge: Judge) -> list[RowPrompt]:
    """What a judge that scores is asked at some rows of a study, evenly spread; rows that it cannot be asked are left
    out."""
    heard = Overheard()
    looked = [at(row) for row in spread(_rows_of(study, judge))]
    columns = labelling.columns_of(looked)
    for one in looked:
        with suppress(RowFailed, BackendError):
            labelling.label_row(judge, one, heard, only_sized=True, columns=columns[one.row.sheet_id])
    return heard.rows


def _rows_of(study: Study, judge: Judge) -> QuerySet[Row]:
    """What a start is about: the rows that a plan gave the judge, else all. One query."""
    rows = Row.objects.filter(sheet__study=study, withdrawn_at=None)
    if judge._state.adding:
        return rows
    planned = queries.planned(Rater.objects.filter(study=study, kind=Rater.Kind.JUDGE, code=judge.name))
    return rows.filter(pk__in=planned.values("row")) if planned.exists() else rows


def spread(rows: QuerySet[Row]) -> list[Row]:
    """Some of these rows, evenly spread. Two queries."""
    rows = rows.order_by("sheet__position", "position")
    keys = list(rows.values_list("pk", flat=True))
    step = max(1, len(keys) // _LOOKED_AT)
    return list(rows.filter(pk__in=keys[::step][:_LOOKED_AT]).select_related("sheet__study__scheme"))


def _measured(study: Study, judge: Judge) -> dict[str, Any]:
    done = WorkItem.objects.filter(run__study=study, run__judge=judge.pk, state=WorkItem.State.DONE, tokens__gt=0)
    if judge._state.adding:
        done = done.none()
    return done.aggregate(n=Count("pk"), tokens=Avg("tokens"), written=Avg("written"), seconds=Avg("seconds"))


def _seconds_of(judge: Judge, rows: int, cells: int, trial: Mapping[str, Any] | None) -> float | None:
    if trial is not None:
        return float(trial["seconds"]) * cells
    if judge._state.adding:
        return None
    done = WorkItem.objects.filter(run__judge=judge.pk, state=WorkItem.State.DONE).aggregate(seconds=Avg("seconds"))
    return None if done["seconds"] is None else done["seconds"] * rows


def _last_trial(study: Study, judge: Judge) -> Mapping[str, Any] | None:
    """What was found where this judge was tried in the study before it was made. Two queries, and two more of each
    trial with its prompt."""
    tried = Trial.objects.filter(study=study, state=Trial.State.FINISHED, judge__method=judge.method)
    for trial in tried.order_by("-started_at").prefetch_related("items")[:_TRIALS_LOOKED_AT]:
        item = next((each for each in trial.items.all() if each.found), None)
        if item is None or digest(with_plain_ends(trial.judge["prompt_text"])) != judge.prompt.digest:
            continue
        with suppress(BackendError):  # of a backend that was taken out of the installation
            if _is_alike(judge_of(trial.judge), judge):
                return dict(item.found)
    return None


def _is_alike(one: Judge, other: Judge) -> bool:
    """Whether both, of one method and prompt, read and write as much and as fast."""
    return _pace_of(one) == _pace_of(other)


def _pace_of(judge: Judge) -> tuple[object, ...]:
    model = judge.model and (judge.model.backend, judge.model.place)
    return judge.chat_template, judge.max_new_tokens, model


def _shares(judge: Judge) -> bool:
    assert judge.model is not None
    try:
        return registry.class_of(judge.model.backend).shares
    except BackendError:
        return True
