"""The people of the demo, whom its studies share. The demo of recipe memorization says what each is for."""

from __future__ import annotations

from django.contrib.auth.models import Permission

from annotation import actions as annotating
from annotation.models import Role, Study, User

PASSWORD = "palate-demo"  # noqa: S105 (the demo's, printed on the screen)
ROLES = {"annotator": Role.ANNOTATOR, "manager": Role.MANAGER, "researcher": Role.RESEARCHER}


def users() -> dict[str, User]:
    """By their names, made where they are missing."""
    return {name: _user(name) for name in ROLES}


def add_members(study: Study, of: dict[str, User]) -> None:
    for name, role in ROLES.items():
        annotating.add_member(study=study, user=of[name], role=role)


def _user(name: str) -> User:
    user, created = User.objects.get_or_create(username=name)
    if created:
        user.set_password(PASSWORD)
        user.save(update_fields=["password"])
        if ROLES[name] == Role.MANAGER:
            user.user_permissions.set(Permission.objects.filter(codename__in=["add_study", "add_judge"]))
    return user
