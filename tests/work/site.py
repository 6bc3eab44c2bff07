"""A small installation for real workers of the toy kind: `python -m tests.work.site COMMAND`, as `tests.workers` does.

setup  migrate, start a run of SITE_ROWS numbers
worker a Celery worker with the arguments that follow; SITE_SLOW are the seconds that it rests at each number, and
       SITE_QUIET those for which it says that it will be silent there
report what stands in the database now, as JSON
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from datetime import timedelta

import django

django.setup()

from django.core.management import call_command  # noqa: E402

from config.celery import app  # noqa: E402
from tests.work import toy  # noqa: E402
from tests.work.models import Batch, Piece  # noqa: E402
from work.actions import Held  # noqa: E402


def setup() -> None:
    call_command("migrate", verbosity=0)
    toy.started(int(os.environ["SITE_ROWS"]))


def slowly(held: Held[Piece]) -> None:
    rest = float(os.environ["SITE_SLOW"])
    if quiet := float(os.environ.get("SITE_QUIET", "0")):
        with held.quiet(timedelta(seconds=quiet)):
            time.sleep(rest)
    else:
        time.sleep(rest)


def worker() -> None:
    toy.meanwhile.append(slowly)
    app.worker_main(["worker", *sys.argv[2:]])


def report() -> None:
    run = Batch.objects.get()
    said = {
        "state": run.state,
        "items": dict(Counter(run.items.values_list("state", flat=True))),
        "written": toy.written(),
        "workers": len(set(run.items.values_list("worker", flat=True))),
        "errors": sorted(set(run.items.values_list("error", flat=True))),
    }
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    {"setup": setup, "worker": worker, "report": report}[sys.argv[1]]()
