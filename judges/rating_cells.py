"""A judge that rates, at one row: each criterion is asked by itself, and what is read in the answers comes back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.actions import Answer
from annotation.evidence import Block
from annotation.models import Assignment, Column, Question
from annotation.text import storable
from judges import prompting
from judges.backends.base import Backend
from judges.engine import rating
from judges.engine.prompt import PromptTooLong, Sampling
from judges.engine.rating import Verdict, Why
from judges.models import Judge

if TYPE_CHECKING:
    from judges.labelling import Asked


@dataclass(frozen=True)
class Unread:
    """A cell without a verdict, and what the judge wrote there."""

    column: Column
    question: Question
    why: Why
    raw: str


@dataclass(frozen=True)
class Rated:
    answers: list[Answer]
    unread: list[Unread]
    tokens: int


def rate(
    judge: Judge,
    assignment: Assignment,
    blocks: Sequence[Block],
    asked: Sequence[Asked],
    backend: Backend,
    on_progress: Callable[[int, int], None] | None,
) -> Rated:
    """Rate the cells of one row. The draws of a repeat are seeded by its number.

    Raises:
        PromptTooLong: the evidence and an answer are more than the model's context takes.
        BackendError, and whatever `on_progress` raises: as `Backend.generate`.
    """
    row = assignment.row
    shared = prompting.row_text(judge.prompt.parsed, title=row.title, blocks=blocks)
    criteria = [
        prompting.criterion(cell.prompt, cell.spec, cell.column.facets, order=cell.section.column.facets)
        for cell in asked
    ]
    # Where a chat's reply begins nothing can be put into the model's mouth; a plain text ends in the verdict's opening.
    openings = ["" if judge.chat_template else rating.opening(criterion) for criterion in criteria]
    prompts = [
        shared + rating.request(criterion) + (f"\n\n{opening}" if opening else "")
        for criterion, opening in zip(criteria, openings, strict=True)
    ]
    fed = 0

    def count(tokens: int, answers: int) -> None:
        nonlocal fed
        fed = tokens
        if on_progress is not None:
            on_progress(tokens, answers)

    answers: list[Answer] = []
    unread: list[Unread] = []
    generated = backend.generate(prompts, sampling_of(judge, repeat=assignment.repeat), count)
    names = {criterion.name for criterion in criteria}
    for cell, criterion, opening, written in zip(asked, criteria, openings, generated, strict=True):
        if isinstance(written, PromptTooLong):
            raise written
        raw = storable(written.text)
        read = rating.read(opening + raw, criterion, others=sorted(names - {criterion.name}), cut=written.cut)
        if isinstance(read, Verdict):
            answers.append(_answer(cell, read, raw, written.cut))
        else:
            unread.append(Unread(cell.column, cell.question, read.why, raw))
    return Rated(answers, unread, tokens=fed)


def sampling_of(judge: Judge, *, repeat: int) -> Sampling:
    assert judge.temperature is not None
    assert judge.max_new_tokens is not None
    return Sampling(max_new_tokens=judge.max_new_tokens, temperature=judge.temperature, seed=repeat)


def _answer(cell: Asked, verdict: Verdict, raw: str, cut: bool) -> Answer:
    option = next(option for option in cell.options.values() if option.value == verdict.rating)
    return Answer(cell.column, cell.question, option, scores={"answer": raw, "cut": cut}, note=verdict.reason)
