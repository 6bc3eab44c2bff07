"""A small installation for a real worker that makes a download: `python -m tests.reports.site COMMAND`; see
`tests.workers`.

setup  migrate, ask for a download
worker a Celery worker with the arguments that follow; SITE_SLOW are the seconds that it rests while it makes the file
report what stands in the database and in the folder now, as JSON
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402

from config.celery import app  # noqa: E402
from reports import actions  # noqa: E402
from reports.data.arrays import Filters  # noqa: E402
from reports.models import Export  # noqa: E402
from tests import builders  # noqa: E402


def setup() -> None:
    call_command("migrate", verbosity=0)
    leases = builders.leases()
    builders.label(leases.annas[0])
    actions.ask_for_export(study=leases.study, form="jsonl", filters=Filters(), by=leases.researcher)


def worker() -> None:
    make_file = actions.make_file

    def slowly(*args: Any) -> None:
        make_file(*args)
        time.sleep(float(os.environ["SITE_SLOW"]))

    actions.make_file = slowly
    app.worker_main(["worker", *sys.argv[2:]])


def report() -> None:
    made = Export.objects.get()
    files = {path.name: path.stat().st_size for path in settings.PALATE_EXPORTS.glob("*")}
    json.dump({"state": made.shown, "file": made.file, "size": made.size, "files": files}, sys.stdout)


if __name__ == "__main__":
    {"setup": setup, "worker": worker, "report": report}[sys.argv[1]]()
