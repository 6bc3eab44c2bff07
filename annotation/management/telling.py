"""How commands say why they change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError

from annotation.actions import Refused
from annotation.exchange.row_imports import ImportRefused, problems_text, translated
from annotation.exchange.tables import TableError
from annotation.models import Study
from annotation.people.access import why_unchanged


def unless_archived(study: Study) -> Study:
    """
    Raises:
        CommandError: it is archived.
    """
    if study.archived_at is not None:
        raise CommandError(why_unchanged(study))
    return study


@contextmanager
def problems_told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CommandError(f"{error.filename} cannot be read: {error.strerror}.") from error
    except TableError as error:
        raise CommandError(translated(error.sentence)) from error
    except ImportRefused as refused:
        raise CommandError(problems_text(refused)) from refused
    except Refused as refused:
        raise CommandError(str(refused)) from refused
