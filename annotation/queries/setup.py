"""How far a manager is with setting up a study."""

from __future__ import annotations

from dataclasses import dataclass

from annotation import doors
from annotation.models import Assignment, Membership, Rater, Role, Row, Study


@dataclass(frozen=True)
class StepTaken:
    """A step of the list on a study's first page; `next`: the first that is not done and not optional."""

    step: doors.SetupStep
    words: str
    done: bool
    next: bool


def steps(study: Study) -> list[StepTaken]:
    """The steps in their order; [] once all are done that a study cannot do without, or the list was put away. A query
    for each step."""
    if not study.shows_setup:
        return []
    words = study.scheme.parsed.words.translated().model_dump()
    fitting = [step for step in doors.setup_steps() if step.fits(study)]
    done = {step: step.is_done(study) for step in fitting}
    waiting = [step for step, is_done in done.items() if not is_done and not step.optional]
    if not waiting:
        return []
    return [StepTaken(step, str(step.words) % words, is_done, step is waiting[0]) for step, is_done in done.items()]


def has_rows(study: Study) -> bool:
    return Row.objects.filter(sheet__study=study).exists()


def has_annotators(study: Study) -> bool:
    return Membership.objects.filter(study=study, role=Role.ANNOTATOR).exists()


def has_work(study: Study) -> bool:
    return Assignment.objects.filter(rater__study=study, rater__kind=Rater.Kind.PERSON).exists()


def has_labelled_rows(study: Study) -> bool:
    submitted = Assignment.objects.filter(rater__study=study, state=Assignment.State.SUBMITTED)
    return submitted.exclude(rater__kind=Rater.Kind.GOLD).exists()
