"""What an owner is shown of the installation."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from functools import reduce
from importlib.metadata import PackageNotFoundError, version
from operator import or_
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db import connection
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils.translation import gettext_lazy as _

from judges.models import Extractor, GenerationRun, Judge
from llm.models import Generation, LanguageModel, Prompt
from reports.frozen.versions import code_version
from work import kinds
from work import queries as work
from work.states import RunState

_LIBRARIES = ("django", "django-allauth", "djangorestframework", "torch", "transformers", "numpy", "celery")

_A_MINUTE = timedelta(minutes=1)
_PROMPTS = 50  # on the page


def models() -> QuerySet[LanguageModel]:
    """Each with `is_used`: whether a judge, an extractor or texts are of it."""
    users = (Judge, Extractor, Generation, GenerationRun)
    uses = (Exists(made._default_manager.filter(model=OuterRef("pk"))) for made in users)
    return LanguageModel.objects.annotate(is_used=reduce(or_, uses)).order_by("name")


def prompts() -> QuerySet[Prompt]:
    return Prompt.objects.defer("text").order_by("-pk")[:_PROMPTS]


def n_prompts() -> int:
    return Prompt.objects.count()


class Key(NamedTuple):
    variable: str
    is_set: bool  # in the web server's environment
    models: list[str]


def keys() -> list[Key]:
    """The environment variables that models name as their servers' keys; no key itself. One query."""
    named: dict[str, list[str]] = {}
    for name, variable in LanguageModel.objects.exclude(api_key_env="").values_list("name", "api_key_env"):
        named.setdefault(variable, []).append(name)
    return [Key(variable, bool(os.environ.get(variable)), named[variable]) for variable in sorted(named)]


class Folder(NamedTuple):
    path: Path
    files: int
    bytes: int
    free: int | None


def storage() -> dict[str, object]:
    """The database's size and those of the folders that hold files."""
    folders = []
    for path in dict.fromkeys([settings.VAR_DIR, settings.PALATE_UPLOADS, settings.PALATE_EXPORTS]):
        sizes = list(_sizes(path))
        free = shutil.disk_usage(path).free if path.is_dir() else None
        folders.append(Folder(path, len(sizes), sum(sizes), free))
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
        else:
            cursor.execute("SELECT pg_database_size(current_database())")
        size = cursor.fetchone()[0]
    return {"database": size, "folders": folders}


def _sizes(folder: Path) -> Iterator[int]:
    """Of the files in a folder; of those that go meanwhile, as messages of the queue do, none."""
    for found in folder.rglob("*") if folder.is_dir() else ():
        with suppress(OSError):
            if found.is_file():
                yield found.stat().st_size


# How people call the kinds of runs; one that is not here has its table's name.
_RUNS = {
    "annotation.Deletion": _("Deletions of studies"),
    "annotation.Import": _("Imports"),
    "annotation.Webhook": _("Webhooks"),
    "judges.Run": _("Judges at work"),
    "judges.ExtractionRun": _("Extractions"),
    "judges.GenerationRun": _("Texts by models"),
    "judges.Trial": _("Judges tried on one cell"),
    "recipes.Retrieval": _("Searches"),
    "reports.Export": _("Downloads"),
}


class Queued(NamedTuple):
    kind: str
    state: str
    n: int


def queue() -> list[Queued]:
    """Runs of all kinds by their states. One query a kind."""
    found = []
    for kind in kinds.every():
        run = kind.run
        states = dict(RunState.choices)
        name, counted = (
            str(_RUNS.get(run._meta.label, run._meta.verbose_name)),
            run._default_manager.order_by("state").values("state").annotate(n=Count("pk")),
        )
        found += [Queued(name, str(states.get(line["state"], line["state"])), line["n"]) for line in counted]
    return found


def standing() -> list[work.Standing]:
    """Queues whose work nobody has taken for a minute: what the alarm tells of later."""
    return [queue for queue in work.standing() if queue.silent >= _A_MINUTE]


def versions() -> list[tuple[str, str]]:
    found = [("Palate", code_version()), ("Python", platform.python_version())]
    for library in _LIBRARIES:
        try:
            found.append((library, version(library)))
        except PackageNotFoundError:
            continue
    with connection.cursor() as cursor:
        cursor.execute("SELECT sqlite_version()" if connection.vendor == "sqlite" else "SHOW server_version")
        found.append((connection.display_name, str(cursor.fetchone()[0])))
    return found
