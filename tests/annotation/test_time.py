"""Active time: what pages of the grid count, and what the manager is shown of it."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.urls import reverse

from annotation import actions, queries
from annotation.models import Sitting
from annotation.templatetags.palate import duration
from tests.builders import ClientOf, Leases

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
ONE, OTHER = uuid.UUID(int=1), uuid.UUID(int=2)

# Beats as (seconds since 9:00, page, {which of Anna's documents: what that page has counted}), and what is credited.
BEATS = {
    "one page": ([(0, ONE, {0: 0}), (30, ONE, {0: 30}), (60, ONE, {0: 45})], {0: 45}),
    "two documents": ([(0, ONE, {0: 0}), (30, ONE, {0: 20, 1: 10}), (60, ONE, {0: 20, 1: 40})], {0: 20, 1: 40}),
    "sent twice": ([(0, ONE, {0: 0}), (30, ONE, {0: 30}), (600, ONE, {0: 30})], {0: 30}),
    "one was lost": ([(0, ONE, {0: 0}), (30, ONE, {0: 30}), (90, ONE, {0: 90})], {0: 90}),
    "an older one comes late": ([(0, ONE, {0: 0}), (60, ONE, {0: 60}), (61, ONE, {0: 30})], {0: 60}),
    "more than the clock": ([(0, ONE, {0: 0}), (30, ONE, {0: 500}), (60, ONE, {0: 500})], {0: 30}),
    "too much is not credited later": ([(0, ONE, {0: 0}), (30, ONE, {0: 60}), (90, ONE, {0: 61})], {0: 31}),
    "two pages side by side": (
        [(0, ONE, {0: 0}), (0, OTHER, {1: 0}), (30, ONE, {0: 30}), (31, OTHER, {1: 31})],
        {0: 30, 1: 1},
    ),
    "one page after the other": (
        [(0, ONE, {0: 0}), (20, OTHER, {1: 0}), (30, ONE, {0: 30}), (60, OTHER, {1: 30})],
        {0: 30, 1: 30},
    ),
    "the first that is heard of a page": ([(0, ONE, {0: 500})], {0: 60}),
    "the next day": (
        [(0, ONE, {0: 0}), (60, ONE, {0: 60}), (86_400, OTHER, {0: 0}), (86_430, OTHER, {0: 30})],
        {0: 90},
    ),
}


@pytest.mark.parametrize(("beats", "credited"), BEATS.values(), ids=BEATS.keys())
def test_beat(leases: Leases, beats: list[tuple[int, uuid.UUID, dict[int, int]]], credited: dict[int, int]) -> None:
    for after, page, counted in beats:
        seconds = {leases.annas[which].pk: n for which, n in counted.items()}
        actions.beat(rater=leases.annas[0].rater, page=page, seconds=seconds, now=START + timedelta(seconds=after))

    for which, assignment in enumerate(leases.annas):
        assignment.refresh_from_db()
        assert assignment.active_seconds == credited.get(which, 0)


def test_a_beat_counts_for_ones_own_documents_on_open_sheets(leases: Leases) -> None:
    rater = leases.annas[0].rater
    actions.beat(rater=rater, page=ONE, seconds={leases.boriss[0].pk: 30}, now=START)
    actions.close_sheet(sheet=leases.sheet, by=leases.manager)
    actions.beat(rater=rater, page=ONE, seconds={leases.annas[0].pk: 30}, now=START)
    assert not Sitting.objects.exists()


def test_the_page_sends_beats(leases: Leases, client_of: ClientOf) -> None:
    client, url = client_of(leases.anna), reverse("annotation:beat", args=[leases.sheet.pk])
    seconds = json.dumps({str(leases.annas[0].pk): 12})
    assert client.post(url, {"page": str(ONE), "seconds": seconds}).status_code == 204
    leases.annas[0].refresh_from_db()
    assert leases.annas[0].active_seconds == 12

    for wrong in ("", "[]", '{"1": "x"}', '{"1": -1}', '{"x": 1}', '{"1": true}', '{"1": 99999999999}'):
        assert client.post(url, {"page": str(ONE), "seconds": wrong}).status_code == 400
    assert client_of(leases.stranger).post(url, {"page": str(ONE), "seconds": seconds}).status_code == 404


def test_active_time_is_summed_by_rater_and_sheet_and_paid(leases: Leases, client_of: ClientOf) -> None:
    for assignment, after in ((leases.annas[0], 3600), (leases.annas[1], 7200), (leases.boriss[0], 5400)):
        rater = assignment.rater
        actions.beat(rater=rater, page=ONE, seconds={assignment.pk: 0}, now=START)
        actions.beat(rater=rater, page=ONE, seconds={assignment.pk: 3600}, now=START + timedelta(seconds=after))
    client = client_of(leases.manager)
    client.post(reverse("annotation:pay", args=[leases.study.slug]), {"hourly_rate": "12.50", "currency": "EUR"})
    leases.study.refresh_from_db()

    time = queries.active_time(leases.study)

    assert [(line.rater, line.by_sheet, line.seconds, line.rows, line.pay) for line in time.raters] == [
        (leases.annas[0].rater, (7200,), 7200, 2, Decimal("25.00")),
        (leases.boriss[0].rater, (3600,), 3600, 1, Decimal("12.50")),
    ]
    assert (time.by_sheet, time.seconds, time.pay) == ((10800,), 10800, Decimal("37.50"))
    panel = client.get(reverse("annotation:time", args=[leases.study.slug])).content.decode()
    assert "37.50" in panel
    assert "3 h 0 min" in panel
    assert "2 h 0 min" in client_of(leases.anna).get(reverse("annotation:my-work")).content.decode()


def test_pay_that_is_no_number_is_refused_and_nothing_is_stored(leases: Leases, client_of: ClientOf) -> None:
    client, url = client_of(leases.manager), reverse("annotation:pay", args=[leases.study.slug])
    assert "Enter a number" in client.post(url, {"hourly_rate": "much"}, follow=True).content.decode()
    leases.study.refresh_from_db()
    assert leases.study.hourly_rate is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (20, "20 s"), (59 * 60 + 40, "59 min 40 s"), (3599.6, "1 h 0 min"), (3700, "1 h 2 min")],
)
def test_duration(seconds: float, words: str) -> None:
    assert duration(seconds) == words
