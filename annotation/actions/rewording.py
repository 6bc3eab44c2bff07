"""Changes of a scheme's wording under answers."""

from __future__ import annotations

import time

from django.db import OperationalError, transaction
from django.utils.translation import gettext as _

from annotation.actions.base import Refused, lock_study
from annotation.actions.trust import note
from annotation.models import AuditEvent, Option, Question, Scheme, SchemeRevision, Section, Study, User
from annotation.queries.rewording import asked_by
from annotation.queries.undoing import runs_of
from annotation.scheme.rewording import differences, refusals
from annotation.scheme.spec import QuestionSpec, SchemeSpec

# So often, after such a pause in seconds, options are tried to be had that somebody is about to answer by.
_TRIES, _PAUSE = 200, 0.02
_TAKEN = "55P03"  # what PostgreSQL says of a lock that it does not wait for


@transaction.atomic
def reword_scheme(*, study: Study, spec: SchemeSpec, source: str, reason: str, by: User) -> SchemeRevision:
    """Say otherwise what a study asks, in it and in all others by the same version of its scheme; the answers stand.

    What it said so far is kept as the revision that comes back.

    Raises:
        Refused: see `annotation.scheme.rewording` for what may change; its version is not higher than any that is
            stored; the scheme comes with Palate; another study asks by it that `by` does not manage; a run is at work
            in one of them; an archived one is among them.
    """
    scheme = Scheme.objects.select_for_update().get(pk=study.scheme_id)
    asked = asked_by(scheme, by)
    if why := asked.why_not:
        raise Refused(why)
    found = differences(scheme.parsed, spec)
    if unfit := refusals(found):
        raise Refused(" ".join(unfit))
    if not found:
        raise Refused(_("Nothing was changed but the version."))
    if spec.version < asked.next_version:
        raise Refused(_("Give it the version %(version)s or a higher one.") % {"version": asked.next_version})
    if not reason.strip():
        raise Refused(_("Say why: raters are told."))
    for other in asked.studies:
        lock_study(other.pk)
        if at_work := runs_of(other):
            raise Refused(
                _("“%(run)s” is at work in “%(study)s”. Wait for its end, or stop it.")
                % {"run": at_work[0].maker, "study": other.title}
            )
    sections = list(scheme.sections.prefetch_related("questions__options"))
    _hold([option for section in sections for option in _with_other_key(section, spec)])
    revision = SchemeRevision.objects.create(
        scheme=scheme,
        version=scheme.version,
        spec=scheme.spec,
        source=scheme.source,
        changed_by=by,
        reason=" ".join(reason.split()),
    )
    scheme.version, scheme.title = spec.version, spec.title
    scheme.spec, scheme.source = spec.model_dump(mode="json"), source
    scheme.save(update_fields=["version", "title", "spec", "source"])
    for section in sections:
        _reword_section(section, spec)
    for other in asked.studies:
        note(AuditEvent.Kind.ADMIN, by=by, study=other, what=f"wording changed: {scheme.slug} version {spec.version}")
    return revision


def read_wording(*, study: Study, user: User, version: int) -> None:
    """Somebody has read what is asked as it is worded in this version, not what may have come since."""
    user_read = SchemeRevision.read_by.through.objects
    revisions = study.scheme.revisions.exclude(read_by=user).filter(version__lt=version)
    user_read.bulk_create(
        [SchemeRevision.read_by.through(schemerevision=one, user=user) for one in revisions], ignore_conflicts=True
    )


def _with_other_key(section: Section, spec: SchemeSpec) -> list[Option]:
    said = {question.key: question for question in spec.section(section.key).questions}
    options = [option for question in section.questions.all() for option in question.options.all()]
    return [one for one in options if one.hotkey != said[one.question.key].option(one.key).hotkey]


def _hold(options: list[Option]) -> None:
    """Let nobody answer by these until this transaction is over: the database holds an option under who answers by it
    and under who changes its key.

    Whoever saves several answers holds some options and waits for others. So nothing is waited for here while some are
    held: all are had at once, or tried again.

    Raises:
        Refused: they were not to be had within some seconds.
    """
    wanted = Option.objects.select_for_update(nowait=True).filter(pk__in=[option.pk for option in options])
    for _try in range(_TRIES):
        try:
            with transaction.atomic():
                list(wanted.order_by("pk").values_list("pk"))
        except OperationalError as error:
            if getattr(error.__cause__, "sqlstate", "") != _TAKEN:
                raise
            time.sleep(_PAUSE)
        else:
            return
    raise Refused(_("Many answers are being saved just now. Try again in a moment."))


def _reword_section(section: Section, spec: SchemeSpec) -> None:
    said = spec.section(section.key)
    Section.objects.filter(pk=section.pk).update(title=said.title)
    for question in section.questions.all():
        asked = said.question(question.key)
        Question.objects.filter(pk=question.pk).update(title=asked.title)
        _reword_options(question, asked)


def _reword_options(question: Question, spec: QuestionSpec) -> None:
    stored = {option.key: option for option in question.options.all()}
    moved = [option for key, option in stored.items() if option.hotkey != spec.option(key).hotkey]
    # Keys may change places, and no two options of a question have the same one at any time.
    for option, letter in zip(moved, "abcdefghijk", strict=False):
        Option.objects.filter(pk=option.pk).update(hotkey=letter)
    for position, one in enumerate(spec.options):
        says = {"label": one.label, "hotkey": one.hotkey, "value": one.value, "position": position}
        if one.key in stored:
            Option.objects.filter(pk=stored[one.key].pk).update(**says)
        else:
            Option.objects.create(question=question, key=one.key, **says)
