"""The form about an annotator's background: questions as in a scheme's section, asked of the person once."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from annotation.scheme import problems
from annotation.scheme.basis import Spec
from annotation.scheme.spec import Kind, QuestionSpec
from base.sentences import gettext as _

# What is asked of a person has no document beside it, and no other question that it follows from.
_KINDS = (Kind.CHOICE, Kind.SCALE, Kind.FLAG, Kind.NUMBER, Kind.TEXT)
MOST = 40
# Each kind of answer, to begin from.
EXAMPLE = """\
questions:
  - key: tongue
    title: Is English your first language?
    kind: flag
  - key: gender
    title: What is your gender?
    options:
      - {key: woman, label: Woman}
      - {key: man, label: Man}
      - {key: other, label: Another}
      - {key: unsaid, label: I would rather not say}
  - key: age
    title: How old are you?
    kind: number
    number: {min: 18, max: 120, step: 1}
  - key: skill
    title: How well do you know the field?
    kind: scale
    min: 1
    max: 5
  - key: job
    title: What do you do?
    kind: text
"""


class BackgroundSpec(Spec):
    questions: Annotated[tuple[QuestionSpec, ...], Field(min_length=1, max_length=MOST)]

    @model_validator(mode="after")
    def _check(self) -> BackgroundSpec:
        seen = set()
        for question in self.questions:
            if question.kind not in _KINDS:
                sentence = _("a background form has no questions of the kind “%(kind)s”")
                raise ValueError(sentence % {"kind": question.kind})
            if question.ask_unless or question.preset or question.merges or question.about:
                raise ValueError(
                    _("“%(question)s”: a background form has no rules, presets, merges or facets")
                    % {"question": question.key}
                )
            if question.key in seen:
                raise ValueError(_("two questions have the key “%(key)s”") % {"key": question.key})
            seen.add(question.key)
        return self


def load_background(text: str) -> BackgroundSpec:
    """Read a form: `questions:` with a list, as in a section of a scheme.

    Raises:
        SchemeError: with every problem that was found, each with its line and key.
    """
    return problems.read(text, BackgroundSpec, begins=_("the form should begin with “questions:”"))
