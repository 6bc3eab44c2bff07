"""Judges that a plan can give work to. The app that has them says which there are; this one does not know it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from annotation.models import Study

# The names of the judges that can work in a study; the judge's rater there has its name as its code.
Provider = Callable[[Study], Iterable[str]]

_providers: list[Provider] = []


def register(provider: Provider) -> None:
    _providers.append(provider)


def names(study: Study) -> list[str]:
    return sorted(name for provider in _providers for name in provider(study))
