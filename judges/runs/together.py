"""Answers and scores of several rows asked for in one call, where batches make a model faster. Writes nothing.

The rows' prompts are heard first, then answered together; each row is labelled afterwards by itself, as if it were
alone, and finds its answers here. What a prompt is answered depends on itself and its seed, and on its company by
rounding alone, which can turn a tie: docs/benchmarks.md says how often it did. So do scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.models import Assignment
from judges.methods import Method
from judges.models import Judge, Run
from judges.runs import labelling
from judges.runs.asking import RowFailed
from judges.spending import divided, even_shares
from llm import registry
from llm.backends.base import Backend, BackendError
from llm.engine.prompt import Generated, OnProgress, PromptTooLong, RowPrompt, RowScores, Sampling, Tokens

_WRITING = (Method.RATING, Method.WRITING)


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


@dataclass(frozen=True)
class Found:
    """What one row was answered. `read`, `written`: its share of the tokens that were fed."""

    answers: Mapping[tuple[str, Sampling], Generated | PromptTooLong]
    read: int
    written: int
    scores: Mapping[RowPrompt, RowScores | PromptTooLong] = field(default_factory=dict)

    def beside(self, backend: Backend) -> Backend:
        """The backend as this row sees it: it answers what was not heard before."""
        return _Answered(self, backend)  # type: ignore[return-value]


def answers(
    judge: Judge, assignments: Sequence[Assignment], backend: Backend, on_progress: OnProgress, *, corrected: bool
) -> list[Found | None]:
    """What each row is answered to what it asks first; None for one that asks nothing, which then says why.

    Raises:
        BackendError, and whatever `on_progress` raises: as `Backend.generate`.
    """
    hears = [_heard(judge, assignment, corrected=corrected) for assignment in assignments]
    if Method(judge.method) == Method.CLOZE:
        return _scores([each.rows for each in hears], backend, on_progress)
    heard = [each.asked for each in hears]
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


def _scores(heard: Sequence[Sequence[RowPrompt]], backend: Backend, on_progress: OnProgress) -> list[Found | None]:
    counts = _Counts(on_progress, 0, 0)
    rows = [row for of_row in heard for row in of_row]
    try:
        found = dict(zip(rows, backend.score(rows, counts.take), strict=True))
    except ValueError:  # the texts of one of them break the engine's rules: asked alone, it says so itself
        return [None] * len(heard)
    read = even_shares(counts.fed, heard)
    return [
        Found({}, of, 0, {row: found[row] for row in of_row}) if of_row else None
        for of_row, of in zip(heard, read, strict=True)
    ]


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
        self.rows: list[RowPrompt] = []

    def score(self, rows: Sequence[RowPrompt], _on_progress: OnProgress | None = None) -> Any:
        self.rows += rows
        raise _Enough

    def generate(self, prompts: Sequence[str], sampling: Sampling, _on_progress: OnProgress | None = None) -> Any:
        self.asked += [(prompt, sampling) for prompt in prompts]
        raise _Enough


def _heard(judge: Judge, assignment: Assignment, *, corrected: bool) -> _Hears:
    hears = _Hears()
    with suppress(_Enough, RowFailed):
        labelling.label_row(judge, assignment, hears, None, corrected)  # type: ignore[arg-type]
    return hears


class _Answered:
    def __init__(self, found: Found, backend: Backend) -> None:
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
        return self._backend.rescue(rows, on_progress)

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
