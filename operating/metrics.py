"""Counts for Prometheus: of requests in memory, which processes of one web server share, of work in the database."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator

from django.db import Error
from django.db.models import Count, Max, Q, Sum
from django.utils import timezone
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, multiprocess
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from annotation.models import LabelEvent
from judges.models import ExtractionItem, ExtractionRun, GenerationItem, GenerationRun, Run, WorkItem
from reports.frozen.versions import code_version
from work import kinds
from work import queries as work
from work.states import ItemState, RunState

log = logging.getLogger(__name__)

_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
_own = CollectorRegistry()
_requests = Counter("palate_requests", "Requests answered.", ["method", "route", "status"], registry=_own)
_seconds = Histogram(
    "palate_request_seconds",
    "Seconds until an answer began.",
    ["kind"],  # read, write, api
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=_own,
)


def count(*, method: str, route: str, status: int, seconds: float) -> None:
    method = method if method in _METHODS else "other"
    _requests.labels(method, route, str(status)).inc()
    kind = "api" if route.startswith("api:") else "read" if method in {"GET", "HEAD", "OPTIONS"} else "write"
    _seconds.labels(kind).observe(seconds)


def text() -> bytes:
    """All of it, in Prometheus' text format; while the database is away, what this web server has counted itself."""
    registry = CollectorRegistry()
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        counted = generate_latest(registry)
    else:
        counted = generate_latest(_own)
    database = CollectorRegistry()
    database.register(_Database())
    try:
        return counted + generate_latest(database)
    except Error:
        log.exception("The database does not answer: only requests are told")
        return counted


class _Database:
    """What the database knows, asked when it is wanted: the same of whichever process is asked."""

    def collect(self) -> Iterator[Metric]:
        version = GaugeMetricFamily("palate_version", "1, with the version.", labels=["version"])
        version.add_metric([code_version()], 1)
        yield version
        last = LabelEvent.objects.aggregate(last=Max("pk"))["last"] or 0
        yield CounterMetricFamily(
            "palate_label_events", "Labels set, changed or withdrawn: the last one's number.", last
        )
        yield from _work()
        yield _standing()
        yield _tokens()


def _work() -> Iterator[Metric]:
    runs = GaugeMetricFamily("palate_runs", "Runs by kind and state.", labels=["kind", "state"])
    items = GaugeMetricFamily(
        "palate_items", "Items of runs at work, by kind, queue and state.", labels=["kind", "queue", "state"]
    )
    now = timezone.now()
    for kind in kinds.every():
        found = dict(kind.run._default_manager.order_by().values_list("state").annotate(n=Count("pk")))
        for state in RunState.values:
            runs.add_metric([kind.key, state], found.get(state, 0))
        of_runs = kind.item._default_manager.filter(run__state=RunState.RUNNING).order_by()
        counted = of_runs.values_list("run__queue").annotate(
            waiting=Count("pk", filter=work.due(now)),
            later=Count("pk", filter=Q(state=ItemState.QUEUED) & ~work.due(now)),
            at_work=Count("pk", filter=Q(state=ItemState.CLAIMED)),
            failed=Count("pk", filter=Q(state=ItemState.FAILED)),
            done=Count("pk", filter=Q(state=ItemState.DONE)),
        )
        for queue, *numbers in counted:
            for state, n in zip(("waiting", "later", "at_work", "failed", "done"), numbers, strict=True):
                items.add_metric([kind.key, queue, state], n)
    yield runs
    yield items


def _standing() -> Metric:
    silent = GaugeMetricFamily(
        "palate_queue_silent_seconds",
        "For how long work has waited on a queue while no worker took any; 0 where none waits or one is at work.",
        labels=["queue"],
    )
    found = {queue.name: queue.silent.total_seconds() for queue in work.standing()}
    for name in sorted({"cpu", "gpu", *found}):
        silent.add_metric([name], found.get(name, 0))
    return silent


def _tokens() -> Metric:
    tokens = CounterMetricFamily("palate_tokens", "Tokens that models read or wrote, by what for.", labels=["work"])
    for what, items, runs in (
        ("judging", WorkItem, Run),
        ("extracting", ExtractionItem, ExtractionRun),
        ("generating", GenerationItem, GenerationRun),
    ):
        left = runs.objects.aggregate(n=Sum("left_tokens"))["n"] or 0  # of rows that were withdrawn since
        tokens.add_metric([what], left + (items.objects.aggregate(n=Sum("tokens"))["n"] or 0))
    return tokens
