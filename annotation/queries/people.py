"""Who somebody is in a study."""

from __future__ import annotations

import itertools

from django.db.models import QuerySet

from annotation.models import (
    Deletion,
    Invite,
    Membership,
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
