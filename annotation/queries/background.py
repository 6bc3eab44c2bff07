"""What people told about themselves, under their codes."""

from __future__ import annotations

from functools import lru_cache

from annotation.answers import kind_of
from annotation.models import Background, Study
from annotation.scheme.background import BackgroundSpec, load_background
from annotation.scheme.spec import Kind


@lru_cache(maxsize=100)
def _parsed(text: str) -> BackgroundSpec:
    return load_background(text)


def spec_of(study: Study) -> BackgroundSpec:
    """The form of a study that has one."""
    return _parsed(study.background)


def table(study: Study) -> list[list[str]]:
    """A head, then a line a person who told something: the rater's code, then an answer a question. Two queries.

    Answers are keys of options or values in their text form; questions that the form has no more are left out.
    """
    if not study.background.strip():
        return []
    questions = spec_of(study).questions
    codes = dict(study.raters.filter(user__isnull=False).values_list("user", "code"))
    told = {
        codes[of_person.user_id]: of_person.answers
        for of_person in Background.objects.filter(study=study)
        if of_person.user_id in codes
    }
    lines = [["rater", *(question.key for question in questions)]]
    for code, answers in sorted(told.items(), key=lambda one: (len(one[0]), one[0])):
        line = [code]
        for question in questions:
            value = answers.get(question.key)
            # The form may have changed since: what was a word may be asked for as a number now.
            fits = isinstance(value, str) != (question.kind == Kind.NUMBER)
            if value is None or question.has_options or not fits:
                line.append(str(value or ""))
            else:
                line.append(kind_of(question).written(question, value))
        lines.append(line)
    return lines
