"""What the commands of judges and extractors share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.core.management.base import CommandError
from django.db.models import Model, QuerySet
from django.utils.text import capfirst

from annotation.actions import Refused
from annotation.models import Study

M = TypeVar("M", bound=Model)


@contextmanager
def refusals_told() -> Iterator[None]:
    try:
        yield
    except Refused as refused:
        raise CommandError(str(refused)) from refused


def one_called(name: str, among: QuerySet[M], *, key: str = "name") -> M:
    found = among.filter(**{key: name}).first()
    if found is None:
        what, several = among.model._meta.verbose_name, capfirst(among.model._meta.verbose_name_plural)
        known = ", ".join(among.values_list(key, flat=True)) or "none yet"
        raise CommandError(f"There is no {what} “{name}”. {several}: {known}.")
    return found


def study_called(slug: str) -> Study:
    return one_called(slug, Study.objects.select_related("scheme"), key="slug")
