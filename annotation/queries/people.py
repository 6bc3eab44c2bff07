"""Who somebody is in a study."""

from __future__ import annotations

import itertools

from annotation.models import (
    Membership,
    Role,
    Study,
    User,
)


def roles(user: User, study: Study) -> set[Role]:
    """The roles of `user` in `study`; a superuser has them all. One query."""
    if user.is_superuser:
        return set(Role)
    return {
        Role(role) for role in Membership.objects.filter(study=study, user_id=user.pk).values_list("role", flat=True)
    }


def free_code(study: Study, *, prefix: str) -> str:
    """The next rater code that the study does not use: A1, A2, … One query."""
    taken = set(study.raters.filter(code__startswith=prefix).values_list("code", flat=True))
    return next(code for n in itertools.count(1) if (code := f"{prefix}{n}") not in taken)
