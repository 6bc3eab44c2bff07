"""Reads about the wording of a scheme under answers: which studies ask by it, what it said before, who has read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, Max, OuterRef, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Assignment, Label, Rater, Role, Scheme, SchemeRevision, Study, User
from annotation.queries.schemes import shipped
from annotation.scheme.rewording import Difference, differences


@dataclass(frozen=True)
class AskedBy:
    """`studies`: all that ask by a version of a scheme, in the order in which they are locked. `why_not`: a sentence
    where its wording cannot change under answers, else "". `next_version`: the lowest that is free."""

    studies: Sequence[Study]
    why_not: str
    next_version: int


def asked_by(scheme: Scheme, user: User) -> AskedBy:
    """A few queries."""
    studies = list(Study.objects.filter(scheme=scheme, deleted_at=None).order_by("pk"))
    newest = max(
        Scheme.objects.filter(slug=scheme.slug).aggregate(last=Max("version"))["last"] or 0,
        SchemeRevision.objects.filter(scheme__slug=scheme.slug).aggregate(last=Max("version"))["last"] or 0,
    )
    return AskedBy(studies, _why_not(scheme, studies, user), newest + 1)


def _why_not(scheme: Scheme, studies: Sequence[Study], user: User) -> str:
    if any(spec.key == scheme.slug and scheme.version <= spec.version for spec, _source in shipped().values()):
        return _(
            "This scheme comes with Palate, and its wording is the same everywhere. What is to be said besides belongs "
            "into the study's guideline, under Settings."
        )
    if kept := next((study for study in studies if study.archived_at is not None), None):
        if Study.objects.visible_to(user).filter(pk=kept.pk).exists():
            return _("The archived study “%(study)s” asks by it too: bring it back first.") % {"study": kept.title}
        return _("An archived study that you do not see asks by it too.")
    if user.is_superuser:
        return ""
    managed = user.memberships.filter(study__in=studies, role=Role.MANAGER).values("study").distinct().count()
    if others := len(studies) - managed:
        return ngettext(
            "%(n)s other study asks by this version, and you do not manage it: whoever manages all of them can "
            "change it.",
            "%(n)s other studies ask by this version, and you do not manage them: whoever manages all of them can "
            "change it.",
            others,
        ) % {"n": others}
    return ""


@dataclass(frozen=True)
class Wording:
    """What a scheme said from `since` on (None: from the beginning) until `until` (None: it still does). `n_people`,
    `n_judges`: labels of a study that were given then and stand. `changed`: what the next wording says otherwise."""

    version: int
    since: datetime | None
    until: datetime | None
    n_people: int
    n_judges: int
    revision: SchemeRevision | None
    changed: Sequence[Difference] = ()


def wordings(study: Study) -> list[Wording]:
    """All wordings of the study's scheme, the one that stands first; none where it never changed. Two queries, one more
    a wording."""
    revisions = list(study.scheme.revisions.order_by("until", "pk").select_related("changed_by"))
    if not revisions:
        return []
    found = []
    since, specs = None, [*(revision.parsed for revision in revisions[1:]), study.scheme.parsed]
    for revision, after in zip(revisions, specs, strict=True):
        n_people, n_judges = _given(study, since, revision.until)
        changed = differences(revision.parsed, after)
        found.append(Wording(revision.version, since, revision.until, n_people, n_judges, revision, changed))
        since = revision.until
    found.append(Wording(study.scheme.version, since, None, *_given(study, since, None), None))
    return found[::-1]


def n_from_before(study: Study) -> tuple[int, int]:
    """How many labels of people are from before the last change of the wording, and how many there are in all; (0, 0)
    where it never changed. Three queries, one where it never did."""
    last = study.scheme.revisions.aggregate(last=Max("until"))["last"]
    if last is None:
        return 0, 0
    before, since = (_given(study, *between)[0] for between in ((None, last), (last, None)))
    return before, before + since


def _given(study: Study, since: datetime | None, until: datetime | None) -> tuple[int, int]:
    given = Label.objects.filter(assignment__rater__study=study, preset=False)
    given = given.filter(updated_at__gte=since) if since else given
    given = given.filter(updated_at__lt=until) if until else given
    judges = Count("pk", filter=Q(assignment__rater__kind=Rater.Kind.JUDGE))
    people = Count("pk", filter=Q(assignment__rater__kind=Rater.Kind.PERSON))
    told = given.aggregate(people=people, judges=judges)
    return told["people"], told["judges"]


@dataclass(frozen=True)
class Unread:
    """Changes of the wording that somebody has not said to have read. `version`: what they come to."""

    revisions: Sequence[SchemeRevision]
    changed: Sequence[Difference]
    version: int


def unread(study: Study, user: User) -> Unread | None:
    """What changed since somebody who had begun to label read last what is asked. One query where it was ever reworded,
    one more where something is unread; one more too where `study` is without its whole scheme."""
    if not study.scheme.revisions.all():
        return None
    began = Assignment.objects.filter(rater__study=study, rater__user=user, started_at__lt=OuterRef("until"))
    since = SchemeRevision.objects.filter(Exists(began), scheme=study.scheme_id).exclude(read_by=user)
    revisions = list(since.order_by("until", "pk"))
    if not revisions:
        return None
    before, now = revisions[0].parsed, study.scheme.parsed
    # What rows are described by and no rater is shown, by its title neither.
    hidden = tuple(f"row.facets.{facet.key}." for facet in before.row.facets if facet.hidden)
    changed = [one for one in differences(before, now) if not one.where.startswith(hidden)]
    return Unread(revisions, changed, study.scheme.version) if changed else None
