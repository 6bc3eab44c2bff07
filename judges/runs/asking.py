"""What a judge is asked at one row, and what comes back of it. Reads the database, writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from annotation.actions import Answer
from annotation.evidence.blocks import Block
from annotation.models import Assignment, Column, Option, Question
from annotation.scheme.basis import facet_text
from annotation.scheme.spec import QuestionSpec, SectionSpec
from judges.methods import prompting
from judges.methods.answers import Why
from judges.methods.prompting import QuestionPrompt
from judges.models import Judge
from llm.backends.base import Backend
from llm.engine.prompt import Generated, OnProgress, PromptTooLong, Sampling


class RowFailed(Exception):
    """This row cannot be labelled by this judge; `str()` says why. Other rows can."""


@dataclass(frozen=True)
class Asked:
    """One cell that the judge answers."""

    column: Column
    question: Question
    section: SectionSpec
    spec: QuestionSpec
    prompt: QuestionPrompt
    options: dict[str, Option]

    @property
    def name(self) -> str:
        """As the prompt file has it."""
        return f"{self.section.key}.{self.spec.key}"

    @property
    def key(self) -> tuple[int, str]:
        return self.column.pk, self.spec.key


@dataclass(frozen=True)
class Unread:
    """A cell whose answer could not be read, and what the judge wrote there. `detail`: a sentence where one says more
    than the reason."""

    column: Column
    question: Question
    why: Why
    raw: str
    detail: str = ""


@dataclass(frozen=True)
class Labelled:
    answers: list[Answer]
    tokens: int
    unread: list[Unread] = field(default_factory=list)


@dataclass
class AtRow:
    """A judge at one row: what it reads, what it is asked, and whom it asks.

    `tokens`: fed so far, over all calls of its backend; what `on_progress` is told.
    """

    judge: Judge
    assignment: Assignment
    blocks: Sequence[Block]
    asked: Sequence[Asked]
    backend: Backend | None = None
    on_progress: OnProgress | None = None
    tokens: int = 0
    _done: int = 0  # cells of the calls before

    @cached_property
    def shared(self) -> str:
        """The part of the prompt that all cells share."""
        row = self.assignment.row
        # Of its study too, for the scheme says which of them raters may see; most prompts want none.
        facets = row.sheet.study.scheme.parsed.row.shown if "row_" in self.judge.prompt_spec.row else ()
        seen = {facet.key: facet_text(row.facets.get(facet.key)) for facet in facets}
        return prompting.row_text(self.judge.prompt_spec, title=row.title, blocks=self.blocks, facets=seen)

    def counting(self) -> OnProgress:
        """What a backend is to tell in its next call; counts go on from those of the calls before."""
        fed, done = self.tokens, self._done

        def count(tokens: int, cells: int) -> None:
            self.tokens, self._done = fed + tokens, done + cells
            if self.on_progress is not None:
                self.on_progress(self.tokens, self._done)

        return count

    def generate(self, prompts: Sequence[str], *, grammar: str = "") -> list[Generated]:
        """The answers to these prompts, bound to a grammar if one is given. The draws of a repeat are seeded by its
        number.

        Raises:
            RowFailed: the evidence and an answer are more than the model's context takes.
            BackendError, and whatever `on_progress` raises: as `Backend.generate`.
        """
        judge = self.judge
        assert self.backend is not None
        assert judge.temperature is not None
        assert judge.max_new_tokens is not None
        sampling = Sampling(
            max_new_tokens=judge.max_new_tokens,
            temperature=judge.temperature,
            seed=self.assignment.repeat,
            grammar=grammar,
        )
        written = []
        for answer in self.backend.generate(prompts, sampling, self.counting()):
            if isinstance(answer, PromptTooLong):
                raise RowFailed(str(answer)) from answer
            written.append(answer)
        return written

    def groups(self) -> list[list[Asked]]:
        """The cells that one answer is to hold: each alone, or those of a column that the prompt asks together."""
        groups: dict[tuple[int, tuple[str, ...]], list[Asked]] = {}
        for cell in self.asked:
            groups.setdefault((cell.column.pk, self.judge.prompt_spec.group_of(cell.name)), []).append(cell)
        return list(groups.values())


# A method at one row.
Answering = Callable[[AtRow], Labelled]
