"""What an owner reads of the queue."""

from __future__ import annotations

import pytest
from django.urls import reverse

from accounts import owner_queries
from annotation.models import Import
from tests import builders
from tests.builders import ClientOf
from work import kinds

pytestmark = pytest.mark.django_db


def test_runs_are_called_as_people_call_them(client_of: ClientOf) -> None:
    Import.objects.create(
        study=builders.study(by=builders.user("mara")), what=Import.What.PAGES, files={}, language="en"
    )

    assert [(run.kind, run.n) for run in owner_queries.queue()] == [("Imports", 1)]
    shown = client_of(builders.user("olga", superuser=True)).get(reverse("accounts:owner")).content.decode()
    assert "Imports" in shown


def test_every_kind_that_ships_has_a_name() -> None:
    shipped = {kind.run._meta.label for kind in kinds.every() if not kind.run.__module__.startswith("tests.")}
    assert shipped == set(owner_queries._RUNS)
