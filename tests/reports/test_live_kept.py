"""What is kept of live reports: nothing that changed while it was read, nothing in which something is missing."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import caches
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from openpyxl import load_workbook

from annotation import actions
from annotation.models import Assignment, Rater, Study
from reports import digests, queries
from reports.data.arrays import Filters
from reports.digests import study_digest
from reports.live import Live
from reports.numbers.report import StudyReport
from tests import builders
from tests.builders import ApiOf, ClientOf, Leases

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


def test_of_many_labels_the_digest_is_not_made_again(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reports.digests._KEPT_FROM", 0)

    def asked() -> tuple[str, bool]:
        """The digest, and whether labels were added up for it."""
        with CaptureQueriesContext(connection) as queries:
            digest = study_digest(leases.study)
        return digest, any('SUM("annotation_label"' in query["sql"] for query in queries)

    first = asked()
    assert asked() == (first[0], False)
    assert first[1]
    actions.reopen(assignment=leases.annas[0])
    then = asked()
    assert then[0] != first[0]
    assert asked() == (then[0], False)


def test_what_is_written_while_many_are_added_up_is_not_kept(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reports.digests._KEPT_FROM", 0)
    many = digests._assignments
    kept: list[str] = []

    def meanwhile(study: Study) -> Any:
        actions.reopen(assignment=leases.annas[0])
        return many(study)

    monkeypatch.setattr(digests, "_assignments", meanwhile)
    monkeypatch.setattr(caches["reports"], "set", lambda key, _value: kept.append(key))
    study_digest(leases.study)
    assert kept == []
    monkeypatch.setattr(digests, "_assignments", many)
    study_digest(leases.study)
    assert len(kept) == 1


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


@pytest.mark.parametrize("name", ["question", "whole"])
def test_a_page_is_laid_out_once_and_again_after_a_change(leases: Leases, client_of: ClientOf, name: str) -> None:
    first = leases.study.scheme.parsed.sections[0]
    of_question = [f"{first.key}.{first.questions[0].key}"] if name == "question" else []
    url = reverse(f"reports:{name}", args=[leases.study.slug, *of_question])
    client = client_of(leases.researcher)

    def page() -> tuple[str, bool]:
        """Its main part, and whether tables were laid out for it."""
        response = client.get(f"{url}?now=1")
        main = response.content.decode().split('id="report-main"')[1].split('<aside class="rail"')[0]
        return main, any(template.name == "reports/_table.html" for template in response.templates)

    once, again = page(), page()
    assert (once[1], again[1]) == (True, False)
    assert once[0] == again[0]
    actions.reopen(assignment=leases.annas[0])
    assert page()[1]


def test_a_page_in_which_something_is_missing_is_laid_out_each_time(
    leases: Leases, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StudyReport, "lacks", True)
    client = client_of(leases.researcher)
    for _visit in range(2):
        response = client.get(reverse("reports:whole", args=[leases.study.slug]) + "?now=1")
        assert any(template.name == "reports/_table.html" for template in response.templates)


@pytest.mark.parametrize("name", ["csv", "xlsx"])
def test_a_download_is_made_of_the_report_that_a_page_has_kept(
    leases: Leases, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    client, address = client_of(leases.researcher), reverse(f"reports:{name}", args=[leases.study.slug])

    def texts() -> list[object]:
        content = client.get(f"{address}?by=document").content
        if name == "csv":
            return content.decode().splitlines()  # type: ignore[return-value]
        return [[*sheet.values] for sheet in load_workbook(io.BytesIO(content))]

    fresh = texts()
    client.get(reverse("reports:report", args=[leases.study.slug]) + "?now=1")
    with monkeypatch.context() as without:
        without.setattr("reports.live.compute", None)
        assert texts() == fresh
    actions.reopen(assignment=leases.annas[0])
    assert texts() != fresh


def test_the_api_answers_with_the_report_that_is_kept(
    leases: Leases, api_of: ApiOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    Rater.objects.filter(pk=leases.annas[0].rater_id).update(simulated=True)
    api, address = api_of(leases.researcher), f"/api/v1/studies/{leases.study.slug}/report/"
    fresh = api.get(address).json()
    assert fresh["simulated_raters"] == [leases.annas[0].rater.code]
    with monkeypatch.context() as without:
        without.setattr("reports.live.compute", None)
        assert api.get(address).json() == fresh
    actions.reopen(assignment=leases.annas[0])
    assert api.get(address).json() != fresh
