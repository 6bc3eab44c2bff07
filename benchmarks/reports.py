"""How long the report takes on the server: the simulated paper, and a crowd of 76 raters with 2,850 pairs.

    PALATE_ENV=test DATABASE_URL=sqlite:///:memory: python -m benchmarks.reports

Makes both studies in the database that `DATABASE_URL` names, prints seconds of CPU (the best of five) and the number of
queries for each part, and exits with 1 when the numbers and their page take longer than a second.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import django

CROWD_ITEMS, CROWD_RATERS, RATERS_AN_ITEM = 462, 76, 10
SECONDS = 1.0


def crowd_study(*, slug: str = "crowd", seed: int = 0) -> Any:
    """One sheet of 462 items × one question with four options, each item labelled by 10 of 76 raters."""
    import numpy as np

    from annotation import actions
    from annotation.models import Assignment, Label, Option, Rater, Row
    from annotation.scheme import load_scheme

    source = """
        {key: crowd, version: 1, title: Crowd, words: {row: item, rows: items}, sections: [
          {key: pairs, title: Pairs, column: {title: Pair, facets: [pair]}, questions: [
            {key: order, title: Order, options: [
              {key: a, label: Before}, {key: b, label: After}, {key: c, label: Overlap}, {key: d, label: Unclear}
            ]}]}]}"""
    scheme = actions.store_scheme(spec=load_scheme(source), source=source)
    study = actions.create_study(slug=slug, title="Crowd", scheme=scheme, by=None)
    sheet = actions.add_sheet(study=study, title="Items", columns={})
    column = sheet.columns.get()
    options = list(Option.objects.filter(question__section__scheme=scheme).select_related("question"))
    raters = Rater.objects.bulk_create(
        Rater(study=study, kind=Rater.Kind.PERSON, code=f"W{n}") for n in range(1, CROWD_RATERS + 1)
    )
    rows = Row.objects.bulk_create(Row(sheet=sheet, position=n, name=f"Item {n}") for n in range(CROWD_ITEMS))
    rng = np.random.default_rng(seed)
    assignments = Assignment.objects.bulk_create(
        Assignment(row=row, rater=raters[n])
        for row in rows
        for n in rng.choice(CROWD_RATERS, size=RATERS_AN_ITEM, replace=False).tolist()
    )
    truth = dict(zip((row.pk for row in rows), rng.integers(0, len(options), len(rows)).tolist(), strict=True))
    strays = rng.integers(0, 3 * len(options), len(assignments)).tolist()
    chosen = [
        options[stray if stray < len(options) else truth[assignment.row_id]]
        for assignment, stray in zip(assignments, strays, strict=True)
    ]
    Label.objects.bulk_create(
        Label(assignment=assignment, column=column, question=option.question, option=option)
        for assignment, option in zip(assignments, chosen, strict=True)
    )
    return study


def main() -> int:
    django.setup()
    from django.core.management import call_command
    from django.test.utils import override_settings

    from annotation.models import Study

    call_command("migrate", verbosity=0)
    call_command("simulate_paper")
    crowd_study()
    with override_settings(WHITENOISE_AUTOREFRESH=True, DEBUG=True):
        slowest = max(
            [_measure(Study.objects.select_related("scheme").get(slug=s)) for s in ("simulated-paper", "crowd")]
        )
    print(f"Slowest page: {slowest:.2f} s of {SECONDS:.0f} s")
    return int(slowest > SECONDS)


def _measure(study: Any) -> float:
    """Print a line for each part of a study's report; returns the seconds of the page."""
    from django.test import Client
    from django.urls import reverse

    from annotation.models import User
    from reports import queries
    from reports.arrays import Filters
    from reports.compute import compute

    client = Client()
    client.force_login(User.objects.get_or_create(username="benchmark", is_superuser=True)[0])
    data = queries.load(study, Filters())
    print(f"\n{study.title}: {data.n_labels} labels, {len(data.people)} people")
    _line("load", lambda: queries.load(study, Filters()))
    _line("compute", lambda: compute(data, Filters()))
    page = _line("page", lambda: client.get(reverse("reports:report", args=[study.slug])))
    for name in ("csv", "xlsx", "labels"):
        address = reverse(f"reports:{name}", args=[study.slug])
        _line(name, partial(_download, client, address))
    return page


def _download(client: Any, address: str) -> bytes:
    return b"".join(client.get(address))


def _line(name: str, work: Callable[[], object]) -> float:
    from django.db import connection, reset_queries

    best, n_queries = float("inf"), 0
    for _time in range(5):
        reset_queries()
        start = time.process_time()
        work()
        best, n_queries = min(best, time.process_time() - start), len(connection.queries)
    print(f"  {name:<8} {best:6.3f} s  {n_queries:2} queries")
    return best


if __name__ == "__main__":
    import os

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    sys.exit(main())
