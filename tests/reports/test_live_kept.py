"""What is kept of live reports: nothing that changed while it was read, nothing in which something is missing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation import actions
from annotation.models import Assignment
from reports import queries
from reports.data.arrays import Filters
from reports.digests import study_digest
from reports.live import Live
from reports.numbers.report import StudyReport
from tests import builders
from tests.builders import Leases

pytestmark = pytest.mark.django_db
FILTERS = Filters()


@pytest.fixture(autouse=True)
def labelled(leases: Leases) -> None:
    for assignment in leases.annas:
        builders.label(assignment)
        actions.submit(assignment=assignment)


def test_a_report_is_kept_until_work_is_submitted_again(leases: Leases) -> None:
    assert Live(leases.study).made(FILTERS) == Live(leases.study).kept(FILTERS)
    before = study_digest(leases.study)
    Assignment.objects.filter(pk=leases.annas[0].pk).update(submitted_at=timezone.now() + timedelta(hours=1))
    assert study_digest(leases.study) != before
    assert Live(leases.study).kept(FILTERS) is None


def test_what_changed_while_it_was_read_is_not_kept(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    load = queries.load

    def meanwhile(*args: Any, **how: Any) -> Any:
        found = load(*args, **how)
        actions.reopen(assignment=leases.annas[0])
        return found

    monkeypatch.setattr("reports.live.queries.load", meanwhile)
    before = Live(leases.study)
    before.made(FILTERS)
    assert before.kept(FILTERS) is None


def test_what_lacks_something_is_tried_again(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StudyReport, "lacks", True)
    Live(leases.study).made(FILTERS)
    assert Live(leases.study).kept(FILTERS) is None
