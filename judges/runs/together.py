"""Answers and scores of several rows asked for in one call, where batches make a model faster. Writes nothing.

The rows' prompts are heard first, then answered together; each row is labelled afterwards by itself, as if it were
alone, and finds its answers here. Scores are computed beside this thread, which labels the rows before them meanwhile
and hears those that follow. What a prompt is answered depends on itself and its seed, and on its company by
rounding alone, which can turn a tie: docs/benchmarks/answers.md says how often it did. So do scores.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NoReturn

from annotation.models import Assignment, Column
from judges.methods import Method
from judges.models import Judge, Run
from judges.runs import by_cloze, labelling
from judges.runs.asking import Prompted, Respondent, RowFailed
from judges.spending.queries import divided, even_shares
from llm import registry
from llm.backends.base import Backend, BackendError
from llm.engine.prompt import Generated, OnProgress, PromptTooLong, RowPrompt, RowScores, Sampling, Tokens

_WRITING = (Method.RATING, Method.WRITING)
# A message of so many groups of rows keeps the model at work but for the first and the last of them, and is done in a
# minute or two.
GROUPS = 4
_LOOKED_AT_EVERY = 0.5  # seconds


def rows_of(run: Run) -> int:
    """How many labellings of a run are better asked for in one call. A run with a limit takes one after the other, so
    that it stops at it."""
    judge = run.judge
    if judge.model is None:
        return 1
    if run.is_limited:
        return 1
    try:
        backend = registry.class_of(judge.model.backend)
    except BackendError:
        return 1
    return backend.together if Method(judge.method) in _WRITING else backend.scored_together(judge.model.place)


_Scores = Mapping[RowPrompt, RowScores | PromptTooLong]


@dataclass(frozen=True)
class Found:
    """What one row was answered; of scores, all rows of its call, and what was `asked` of it. `read`, `written`: its
    share of the tokens fed."""

    answers: Mapping[tuple[str, Sampling], Generated | PromptTooLong]
    read: int
    written: int
    scores: _Scores = field(default_factory=dict)
    rescued: _Scores = field(default_factory=dict)
    asked: Prompted | None = None

    def beside(self, backend: Respondent) -> Respondent:
        """The backend as this row sees it: it answers what was not heard before."""
        return _Answered(self, backend)


def groups_of(run: Run) -> int:
    """How many times `rows_of` go into one message: the next are scored while the last are written."""
    return GROUPS if Method(run.judge.method) == Method.CLOZE and rows_of(run) > 1 else 1


class Scoring:
    """Rows that are scored by another thread, from now on; this one reads and writes the database meanwhile."""

    def __init__(self, judge: Judge, assignments: Sequence[Assignment], backend: Backend, *, corrected: bool) -> None:
        columns = labelling.columns_of(assignments)
        self._asked = [
            _to_score(judge, assignment, corrected=corrected, columns=columns[assignment.row.sheet_id])
            for assignment in assignments
        ]
        self._fed = self._done = 0
        self._stopped = False
        # In this thread's context, whose language errors are told in.
        self._future = _scorer(os.getpid()).submit(copy_context().run, self._scored, backend)

    def _scored(self, backend: Backend) -> tuple[_Scores, _Scores]:
        """What the model says of all rows, and what it says in more digits of the cells that are then in doubt."""
        asked = [of_row for of_row in self._asked if of_row is not None]
        rows = [of_row.prompt for of_row in asked]
        scores = backend.score(rows, self._telling())
        below = backend.rescue_below_nats
        again = [
            doubtful
            for one, of_row in zip(asked, scores, strict=True)
            if below > 0
            and not isinstance(of_row, PromptTooLong)
            and (doubtful := by_cloze.rescued_of(one, of_row, below))
        ]
        rescued = backend.rescue(again, self._telling()) if again else []
        return dict(zip(rows, scores, strict=True)), dict(zip(again, rescued, strict=True))

    def _telling(self) -> OnProgress:
        """What the next call is to tell; counts go on from those of the call before."""
        before, done_before = self._fed, self._done

        def told(fed: int, done: int) -> None:
            if self._stopped:
                raise CancelledError
            self._fed, self._done = before + fed, done_before + done

        return told

    def stop(self) -> None:
        """With the next forward; nobody waits for it."""
        self._stopped = True
        self._future.cancel()

    def end(self, on_progress: OnProgress) -> list[Found | None]:
        """What each row is answered; None for one that asks nothing, which then says why.

        Raises:
            BackendError, and whatever `on_progress` raises: as `Backend.score`.
        """
        try:
            while not wait([self._future], timeout=_LOOKED_AT_EVERY).done:
                on_progress(self._fed, self._done)
            on_progress(self._fed, self._done)
        except BaseException:
            self.stop()
            raise
        try:
            scores, rescued = self._future.result()
        except ValueError:  # the texts of one of them break the engine's rules: asked alone, it says so itself
            return [None] * len(self._asked)
        read = even_shares(self._fed, self._asked)
        return [
            Found({}, of, 0, scores, rescued, asked) if asked else None
            for asked, of in zip(self._asked, read, strict=True)
        ]


@lru_cache(maxsize=1)
def _scorer(_process: int) -> ThreadPoolExecutor:
    """Two threads: one model, whose forwards are one call's at a time; the other cuts its rows into tokens meanwhile.
    A process that was forked has its own."""
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="scorer")


def answers(
    judge: Judge, assignments: Sequence[Assignment], backend: Backend, on_progress: OnProgress, *, corrected: bool
) -> list[Found | None]:
    """What each row is answered to what it asks first by a model that writes; None for one that asks nothing, which
    then says why.

    Raises:
        BackendError, and whatever `on_progress` raises: as `Backend.generate`.
    """
    columns = labelling.columns_of(assignments)
    heard = [
        _heard(judge, assignment, corrected=corrected, columns=columns[assignment.row.sheet_id]).asked
        for assignment in assignments
    ]
    said: list[dict[tuple[str, Sampling], Generated | PromptTooLong]] = [{} for _ in assignments]
    fed, told = 0, 0  # tokens; those of them that a backend says it has written
    for kind in dict.fromkeys(replace(sampling, seed=1) for asked in heard for _prompt, sampling in asked):
        of_kind = [
            (place, prompt, sampling)
            for place, asked in enumerate(heard)
            for prompt, sampling in asked
            if replace(sampling, seed=1) == kind
        ]
        counts = _Counts(on_progress, fed, told)
        found = backend.generate(
            [prompt for _place, prompt, _sampling in of_kind],
            kind,
            counts.take,
            seeds=[sampling.seed for _place, _prompt, sampling in of_kind],
        )
        fed, told = counts.fed, counts.written
        for (place, prompt, sampling), answer in zip(of_kind, found, strict=True):
            said[place][prompt, sampling] = answer
    tokens = divided(fed, told, [list(of_row.values()) for of_row in said])
    return [Found(of_row, of.read, of.written) if of_row else None for of_row, of in zip(said, tokens, strict=True)]


class _Counts:
    """What is told of one call, behind the calls before."""

    def __init__(self, on_progress: OnProgress, fed: int, written: int) -> None:
        self._on_progress, self._fed, self._written = on_progress, fed, written
        self.fed, self.written = fed, written

    def take(self, tokens: int, done: int) -> None:
        self.fed = self._fed + tokens
        if isinstance(tokens, Tokens):
            self.written = self._written + tokens.written
        self._on_progress(Tokens(read=self.fed - self.written, written=self.written), done)


class _Enough(Exception):
    """All that a row asks first was heard."""


class _Hears:
    """A backend that answers nothing."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Sampling]] = []

    def score(self, rows: Sequence[RowPrompt], on_progress: OnProgress | None = None) -> NoReturn:
        raise _Enough

    @property
    def rescue_below_nats(self) -> NoReturn:
        raise _Enough

    def rescue(self, rows: Sequence[RowPrompt], on_progress: OnProgress | None = None) -> NoReturn:
        raise _Enough

    def generate(self, prompts: Sequence[str], sampling: Sampling, on_progress: OnProgress | None = None) -> NoReturn:
        self.asked += [(prompt, sampling) for prompt in prompts]
        raise _Enough


def _heard(judge: Judge, assignment: Assignment, *, corrected: bool, columns: Sequence[Column]) -> _Hears:
    hears = _Hears()
    with suppress(_Enough, RowFailed):
        labelling.label_row(judge, assignment, hears, None, corrected, columns=columns)
    return hears


def _to_score(judge: Judge, assignment: Assignment, *, corrected: bool, columns: Sequence[Column]) -> Prompted | None:
    """What is asked at a row; None where that cannot be asked."""
    with suppress(RowFailed):
        row = labelling.at_row(judge, assignment, corrected=corrected, columns=columns)
        return Prompted(row, by_cloze.prompt_of(row), row.read())
    return None


class _Answered:
    def __init__(self, found: Found, backend: Respondent) -> None:
        self._found, self._backend = found, backend
        self._told = False

    def score(
        self, rows: Sequence[RowPrompt], on_progress: OnProgress | None = None
    ) -> list[RowScores | PromptTooLong]:
        known = self._found.scores
        if self._told or not all(row in known for row in rows):
            return self._backend.score(rows, on_progress)
        self._told = True
        if on_progress is not None:
            on_progress(Tokens(read=self._found.read, written=0), sum(len(row.cells) for row in rows))
        return [known[row] for row in rows]

    @property
    def rescue_below_nats(self) -> float:
        return self._backend.rescue_below_nats

    def rescue(
        self, rows: Sequence[RowPrompt], on_progress: OnProgress | None = None
    ) -> list[RowScores | PromptTooLong]:
        known = self._found.rescued
        # What it took was told with the scores.
        return (
            [known[row] for row in rows]
            if all(row in known for row in rows)
            else self._backend.rescue(rows, on_progress)
        )

    def generate(
        self, prompts: Sequence[str], sampling: Sampling, on_progress: OnProgress | None = None
    ) -> list[Generated | PromptTooLong]:
        known = self._found.answers
        if self._told or not all((prompt, sampling) in known for prompt in prompts):  # changed since; or a second look
            return self._backend.generate(prompts, sampling, on_progress)
        self._told = True
        if on_progress is not None:
            on_progress(Tokens(read=self._found.read, written=self._found.written), len(prompts))
        return [known[prompt, sampling] for prompt in prompts]
