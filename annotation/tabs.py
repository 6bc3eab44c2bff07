"""The tabs of a study's pages. Each app registers its own when it is loaded, so that no app names one above it."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise

from annotation.models import Role


@dataclass(frozen=True)
class Tab:
    position: int
    label: Promise | str
    url_name: str
    roles: frozenset[Role]


_tabs: list[Tab] = []


def register(*, position: int, label: Promise | str, url_name: str, roles: set[Role]) -> None:
    _tabs.append(Tab(position, label, url_name, frozenset(roles)))
    _tabs.sort(key=lambda tab: tab.position)


def for_member(roles: set[Role]) -> list[Tab]:
    return [tab for tab in _tabs if tab.roles & roles]
