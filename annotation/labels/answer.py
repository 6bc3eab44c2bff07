"""One answer on its way into the labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotation.answers import AnswerRefused, Value, canonical_code, kind_of, skip_code, value_code, wire
from annotation.labels.refusals import Refused
from annotation.models import Column, Option, Question
from annotation.scheme.spec import QuestionSpec


@dataclass(frozen=True)
class Answer:
    """What a rater says of one cell: an option or a value, or that they cannot tell and why (`skip`), or nothing.

    Nothing clears the cell. `note` None leaves the note that stands there. `preset`: it is what the column presets, and
    nobody chose it. `draft`: it is what another rater's answer was drafted as, and is not confirmed (any more, where
    somebody undoes a change). `seen` is the code that the writer saw in the cell; where another stands there by now,
    the answer is left out and reported as a conflict. None does not look.
    """

    column: Column
    question: Question
    option: Option | None = None
    scores: Any = None
    note: str | None = None
    skip: str = ""
    preset: bool = False
    seen: str | None = None
    value: Value | None = None
    draft: bool = False

    @property
    def code(self) -> str:
        if self.option is not None:
            return self.option.key
        return value_code(self.value) if self.value is not None else skip_code(self.skip)

    @property
    def is_empty(self) -> bool:
        """It says nothing, or why nothing can be said."""
        return self.option is None and self.value is None

    @classmethod
    def of_code(cls, column: Column, question: Question, code: str, *, spec: QuestionSpec, **more: Any) -> Answer:
        """The answer of a code with its prefix, as the page sends it.

        Raises:
            Refused: the question has no such answer.
        """
        said = wire(code)
        if said.skip or not said.code:
            return cls(column, question, skip=said.skip[:500], **more)
        how = {"preset": said.preset, "draft": said.draft, **more}
        if not spec.has_options:
            try:
                return cls(column, question, value=kind_of(spec).value(spec, said.code), **how)
            except AnswerRefused as refused:
                raise Refused(str(refused)) from refused
        option = question.by_key.get(said.code)
        if option is None:
            raise Refused(
                _("“%(option)s” is no answer to “%(question)s”.")
                % {"option": said.code[:80], "question": question.title}
            )
        return cls(column, question, option, **how)


def seen_code(spec: QuestionSpec, code: str) -> str:
    """What a page says it showed, as this server writes it: without prefix, a value in its canonical form."""
    said = wire(code)
    if spec.has_options or not said.code:
        return said.code or skip_code(said.skip)
    try:
        return canonical_code(spec, said.code)
    except AnswerRefused:
        return said.code
