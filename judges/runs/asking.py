"""What a judge is asked at one row, and what comes back of it. Reads the database, writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Protocol

from annotation.actions import Answer
from annotation.evidence.blocks import Block
from annotation.models import Assignment, Column, Option, Question, Row
from annotation.scheme.basis import facet_text
from annotation.scheme.spec import Layout, QuestionSpec, SchemeSpec, SectionSpec
from judges import doors
from judges.methods import prompting
from judges.methods.answers import Why
from judges.methods.calibration import Calibration
from judges.methods.candidates import Candidates
from judges.methods.prompting import QuestionPrompt
from judges.models import Judge
from judges.spending.queries import written_in
from llm.engine.prompt import (
    Generated,
    Grammar,
    OnProgress,
    PromptTooLong,
    RowPrompt,
    RowScores,
    Sampling,
    Tokens,
)


class RowFailed(Exception):
    """This row cannot be labelled by this judge; `str()` says why. Other rows can."""


class Respondent(Protocol):
    """Whom a judge asks about a row: a backend, or who hears and knows its answers. Methods are as the backend's."""

    @property
    def rescue_below_nats(self) -> float: ...

    def score(
        self, rows: Sequence[RowPrompt], on_progress: OnProgress | None = None
    ) -> list[RowScores | PromptTooLong]: ...

    def rescue(
        self, rows: Sequence[RowPrompt], on_progress: OnProgress | None = None
    ) -> list[RowScores | PromptTooLong]: ...

    def generate(
        self, prompts: Sequence[str], sampling: Sampling, on_progress: OnProgress | None = None
    ) -> list[Generated | PromptTooLong]: ...


@dataclass(frozen=True)
class Asked:
    """One cell that the judge answers."""

    column: Column
    question: Question
    section: SectionSpec
    spec: QuestionSpec
    prompt: QuestionPrompt
    options: dict[str, Option]
    calibration: Calibration | None = None
    candidates: Candidates | None = None

    @cached_property
    def facets(self) -> Mapping[str, str]:
        """The column's, as the judge reads them: where candidates have changed places, so have their names."""
        told = self.section.column.told(self.column.facets)
        return self.candidates.facets(told) if self.candidates else told

    @cached_property
    def meant(self) -> dict[str, str]:
        """By an option's key what it means, where candidates have changed places."""
        return self.candidates.meant(self.name, self.spec) if self.candidates else {}

    def option(self, key: str) -> Option:
        """What is labelled where the judge chose the option of this key."""
        return self.options[self.meant.get(key, key)]

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
    speaks: str = ""  # see `judges.methods.addressing`
    written: int = 0  # of the tokens


def facets_read(judge: Judge, row: Row, scheme: SchemeSpec | None = None) -> dict[str, str | list[str]]:
    """The facets of a row that a judge's prompt may name: those that raters see.

    `scheme`: of the row's study, which says which these are; without it the study is asked for, if any are wanted.
    """
    if not any(begins in judge.prompt_spec.row for begins in ("row_", "lines_")):
        return {}
    scheme = row.sheet.study.scheme.parsed if scheme is None else scheme
    return {facet.key: row.facets.get(facet.key) or "" for facet in scheme.row.shown}


def texts_read(judge: Judge, row: Row, blocks: Sequence[Block], scheme: SchemeSpec | None = None) -> Iterator[str]:
    """What may stand in a judge's prompt and was written by others: the row's title, its facets, its evidence;
    `scheme`: as of `facets_read`."""
    yield row.title
    yield from map(facet_text, facets_read(judge, row, scheme).values())
    yield from (block.text for block in blocks)


def answered_together(judge: Judge, asked: Sequence[Asked]) -> list[list[Asked]]:
    """These cells by the answer that holds them: each alone where options are scored, else those of a column that the
    prompt asks together, or all of a table that is filled in one answer."""
    if not judge.writes:
        return [[cell] for cell in asked]
    spec = judge.prompt_spec
    whole = judge.method == Judge.Method.WRITING and spec.whole_table
    groups: dict[tuple[int, tuple[str, ...]], list[Asked]] = {}
    for cell in asked:
        groups.setdefault((cell.column.pk, spec.group_of(cell.name)), []).append(cell)
    answers: dict[str | tuple[int, tuple[str, ...]], list[Asked]] = {}
    for place, group in groups.items():
        section = group[0].section
        answers.setdefault(section.key if whole and section.layout == Layout.DOWN else place, []).extend(group)
    return list(answers.values())


@dataclass
class AtRow:
    """A judge at one row: what it reads, what it is asked, and whom it asks.

    `tokens`: fed so far, over all calls of its backend; what `on_progress` is told. `written`: those of them that the
    model wrote. `only_sized`: of what is asked only the length matters, so that no encoder need choose lines.
    `answers`: the judge's words for the options of all that its prompt asks of the row. `replies`: by a cell of what
    one answer holds, what was written for it before, so that it is not asked for again. `before`: its prompt as it was
    written out before.
    """

    judge: Judge
    assignment: Assignment
    blocks: Sequence[Block]
    asked: Sequence[Asked]
    backend: Respondent | None = None
    on_progress: OnProgress | None = None
    only_sized: bool = False
    answers: frozenset[str] = frozenset()
    replies: Mapping[tuple[int, str], Generated] = field(default_factory=dict)
    before: Prompted | None = None
    tokens: int = 0
    written: int = 0
    _done: int = 0  # cells of the calls before
    _shared: dict[str, str] = field(default_factory=dict)

    @property
    def scheme(self) -> SchemeSpec:
        return self.asked[0].column.section.scheme.parsed

    @cached_property
    def shared(self) -> str:
        """The part of the prompt that all cells share."""
        return self.shared_with("")

    def shared_with(self, examples: str) -> str:
        """That part, with these examples in it."""
        if examples not in self._shared:
            row = self.assignment.row
            facets = facets_read(self.judge, row, self.scheme)
            self._shared[examples] = prompting.row_text(
                self.judge.prompt_spec,
                title=row.title,
                blocks=self.blocks,
                facets=facets,
                examples=examples,
                answers=self.answers,
            )
        return self._shared[examples]

    def read(self) -> tuple[object, ...]:
        """All that its prompts are made of: where that is the same, so are they, letter by letter. Most of it is one
        object in all rows of a run, and compared at once."""
        row = self.assignment.row
        cells = [
            (cell.column.pk, cell.column.facets, cell.section, cell.spec, cell.prompt, cell.candidates)
            for cell in self.asked
        ]
        texts = (row.title, row.facets, list(self.blocks), self.answers, self.only_sized)
        return (self.judge.prompt_spec, self.scheme, texts, cells)

    def examples_for(self, cells: Sequence[Asked]) -> str:
        """The examples that stand before what is asked of these cells in one answer."""
        of = self.judge.prompt_spec.examples
        return next((of[cell.name] for cell in cells if cell.name in of), "")

    @cached_property
    def picture(self) -> str:
        """What the judge is shown beside its prompts, as a data: address; "" for nothing."""
        return doors.picture_of(self.assignment.row) if self.judge.prompt_spec.picture else ""

    def counting(self) -> OnProgress:
        """What a backend is to tell in its next call; counts go on from those of the calls before."""
        fed, wrote, done = self.tokens, self.written, self._done

        def count(tokens: int, cells: int) -> None:
            self.tokens, self._done = fed + tokens, done + cells
            if isinstance(tokens, Tokens):
                self.written = wrote + tokens.written
            if self.on_progress is not None:
                self.on_progress(Tokens(read=self.tokens - self.written, written=self.written), self._done)

        return count

    def generate(
        self, prompts: Sequence[str], *, grammar: Grammar | None = None, stop: tuple[str, ...] = ()
    ) -> list[Generated]:
        """The answers to these prompts, bound to a grammar if one is given, else ended by `stop`. The draws of a repeat
        are seeded by its number.

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
            picture=self.picture,
            stop=() if grammar is not None else stop,
        )
        wrote, written = self.written, []
        answers = self.backend.generate(prompts, sampling, self.counting())
        if self.written == wrote:  # a backend that counts all tokens alike: each that it wrote was fed to it once more
            self.written = min(wrote + written_in(answers), self.tokens)
        for answer in answers:
            if isinstance(answer, PromptTooLong):
                raise RowFailed(str(answer)) from answer
            written.append(replace(answer, text=answer.said))
        return written

    def generate_each(
        self, prompts: Sequence[str], grammars: Sequence[Grammar | None], stops: Sequence[tuple[str, ...]], form: str
    ) -> list[Generated]:
        """The answers to these prompts, each bound to the grammar at its place, or ended by the strings there; raises
        as `generate`.

        `form`: what stands in the form that a model is shown. An answer that begins with it and was ended is asked for
        again without an end, since it may say more behind the form.
        """
        found: dict[int, Generated] = {}
        for ask in dict.fromkeys(zip(grammars, stops, strict=True)):
            places = [place for place, own in enumerate(zip(grammars, stops, strict=True)) if own == ask]
            written = self.generate([prompts[place] for place in places], grammar=ask[0], stop=ask[1])
            found |= dict(zip(places, written, strict=True))
        again = [place for place, one in found.items() if one.stop and one.text.lstrip().startswith(form)]
        if again:
            found |= dict(zip(again, self.generate([prompts[place] for place in again]), strict=True))
        return [found[place] for place in range(len(prompts))]

    def answers_to(
        self,
        groups: Sequence[Sequence[Asked]],
        prompts: Sequence[str],
        grammars: Sequence[Grammar | None],
        stops: Sequence[tuple[str, ...]],
        form: str,
    ) -> list[Generated]:
        """As `generate_each`, of prompts about these groups of cells; what is known of `replies` is not asked for."""
        known = [next((self.replies[one.key] for one in group if one.key in self.replies), None) for group in groups]
        left = [place for place, said in enumerate(known) if said is None]
        asked = self.generate_each(
            [prompts[place] for place in left],
            [grammars[place] for place in left],
            [stops[place] for place in left],
            form,
        )
        found = dict(zip(left, asked, strict=True))
        return [found[place] if said is None else said for place, said in enumerate(known)]


class Prompted(NamedTuple):
    """What is asked of a model that scores at a row; `read`: as of the row when it was written out."""

    row: AtRow
    prompt: RowPrompt
    read: tuple[object, ...]


# A method at one row.
Answering = Callable[[AtRow], Labelled]
