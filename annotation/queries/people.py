"""Who somebody is in a study."""

from __future__ import annotations

import itertools

from django.db.models import Count, QuerySet

from annotation.models import (
    CrowdLink,
    Deletion,
    Invite,
    Membership,
    Participant,
    Rater,
    Role,
    Study,
    User,
)


def roles(user: User, study: Study) -> set[Role]:
    """The roles of `user` in `study`; a superuser has them all, and nobody any in one that is being deleted. One
    query."""
    if study.deleted_at is not None:
        return set()
    if user.is_superuser:
        return set(Role)
    return {
        Role(role) for role in Membership.objects.filter(study=study, user_id=user.pk).values_list("role", flat=True)
    }


def studies_of(user: User) -> list[Study]:
    """The studies that `user` sees, by title and archived ones too, each with the `roles` that they have there. Two
    queries."""
    studies = list(Study.objects.visible_to(user).select_related("scheme"))
    mine: dict[int, set[Role]] = {}
    if not user.is_superuser:
        for study_id, role in Membership.objects.filter(user_id=user.pk).values_list("study", "role"):
            mine.setdefault(study_id, set()).add(Role(role))
    for study in studies:
        study.roles = set(Role) if user.is_superuser else mine.get(study.pk, set())
    return studies


def members(study: Study) -> list[Membership]:
    """Who has which role, those left out who came by a link for a crowd and label: of these there may be thousands.
    One query."""
    of_crowd = Participant.objects.filter(link__study=study, user__isnull=False).values("user")
    found = study.memberships.exclude(role=Role.ANNOTATOR, user__in=of_crowd)
    return list(found.select_related("user").order_by("user__username", "role"))


# Of so many who came by links for a crowd, pages that list raters one by one still list each.
FEW_OF_CROWD = 20


def of_crowd(study: Study) -> set[int]:
    """The raters who came by links for a crowd, where they are too many to be listed one by one; else none. One
    query."""
    found = set(Participant.objects.filter(link__study=study).values_list("rater", flat=True))
    return found if len(found) > FEW_OF_CROWD else set()


def crowd_links(study: Study) -> list[CrowdLink]:
    """The links by which somebody came, each with `n_people`. One query."""
    return list(study.crowd_links.annotate(n_people=Count("participants")).filter(n_people__gt=0))


def deletions_of(user: User) -> QuerySet[Deletion]:
    """Deletions of studies by a worker: those that `user` began, and all for a superuser."""
    return Deletion.objects.all() if user.is_superuser else Deletion.objects.filter(started_by=user.pk)


def open_deletions_of(user: User) -> QuerySet[Deletion]:
    """Those that are not through."""
    return deletions_of(user).exclude(state=Deletion.State.FINISHED)


def rater_ids(study: Study, kind: Rater.Kind | None = None) -> list[int]:
    """The keys of a study's raters, for `rater__in`. One query.

    Joined instead, PostgreSQL takes each rater to have as many assignments as raters have on average: beside a study of
    a million labels it then reads the whole table for one of ten thousand.
    """
    raters = study.raters.filter(kind=kind) if kind else study.raters.all()
    return list(raters.order_by().values_list("pk", flat=True))


def free_code(study: Study, *, prefix: str) -> str:
    """The next rater code that the study does not use: A1, A2, … One query."""
    taken = set(study.raters.filter(code__startswith=prefix).values_list("code", flat=True))
    return next(code for n in itertools.count(1) if (code := f"{prefix}{n}") not in taken)


def links(study: Study) -> QuerySet[Invite]:
    """The open invitations that go with the role of who has made them; an owner needs none to come in."""
    return Invite.objects.open().filter(study=study, created_by__is_superuser=False)
