"""How far a manager is with setting up a study."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Exists

from annotation import doors
from annotation.models import Assignment, Membership, Rater, Role, Row, Study


@dataclass(frozen=True)
class StepTaken:
    """A step of the list on a study's first page; `next`: the first that is not done and not optional."""

    step: doors.SetupStep
    words: str
    done: bool
    next: bool
    optional: bool


def steps(study: Study) -> list[StepTaken]:
    """The steps in their order; [] once all are done that a study cannot do without, or the list was put away. A query
    for each step.

    Steps that the same thing ends are several ways to it: the first is the usual one, and a study may do without the
    others."""
    if not study.shows_setup:
        return []
    words = study.scheme.parsed.words.translated().model_dump()
    fitting = [step for step in doors.setup_steps() if step.fits(study)]
    done = {step: step.is_done(study) for step in fitting}
    usual = {step.is_done: step for step in reversed(fitting)}
    optional = {step: step.optional or usual[step.is_done] is not step for step in fitting}
    waiting = [step for step, is_done in done.items() if not is_done and not optional[step]]
    if not waiting:
        return []
    return [
        StepTaken(step, str(step.words) % words, is_done, step is waiting[0], optional[step])
        for step, is_done in done.items()
    ]


def way_in(study: Study) -> doors.SetupStep:
    """The usual way to bring in what is looked at."""
    return next(step for step in doors.setup_steps() if step.is_done is has_rows and step.fits(study))


def has_rows(study: Study) -> bool:
    return Row.objects.filter(sheet__study=study).exists()


def has_annotators(study: Study) -> bool:
    """Or people whose labels were made elsewhere."""
    annotators = Membership.objects.filter(study=study, role=Role.ANNOTATOR)
    imported = Rater.objects.filter(study=study, kind=Rater.Kind.PERSON)
    return Study.objects.filter(Exists(annotators) | Exists(imported), pk=study.pk).exists()


def has_work(study: Study) -> bool:
    return Assignment.objects.filter(rater__study=study, rater__kind=Rater.Kind.PERSON).exists()


def has_labelled_rows(study: Study) -> bool:
    submitted = Assignment.objects.filter(rater__study=study, state=Assignment.State.SUBMITTED)
    submitted = submitted.exclude(rater__code__in=doors.raters_apart(study))  # a file's, for people to start from
    return submitted.exclude(rater__kind=Rater.Kind.GOLD).exists()
