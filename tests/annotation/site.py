"""A small installation for a real worker that imports: `python -m tests.annotation.site COMMAND`; see `tests.workers`.

setup  migrate, start an import of SITE_ROWS labels
worker a Celery worker with the arguments that follow; SITE_SLOW are the seconds that it rests when it writes
report what stands in the database now, as JSON
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import django

django.setup()

from django.core.files.uploadedfile import SimpleUploadedFile  # noqa: E402
from django.core.management import call_command  # noqa: E402

from annotation.exchange import background, label_importer  # noqa: E402
from annotation.exchange.label_reading import LabelImport  # noqa: E402
from annotation.models import Arrival, Import, Label, LabelEvent  # noqa: E402
from config.celery import app  # noqa: E402
from tests import builders  # noqa: E402


def setup() -> None:
    call_command("migrate", verbosity=0)
    lines = [f"w{n % 7},Clause {n},acts,Inspect,act,Found" for n in range(int(os.environ["SITE_ROWS"]))]
    file = SimpleUploadedFile("labels.csv", "\n".join(["rater,row,section,column,question,answer", *lines]).encode())
    study = builders.leases().study
    background.start_import(study=study, files={"labels": file}, by=None, how=LabelImport(create=True))


def worker() -> None:
    write = label_importer.Importer.write_in_parts

    def slowly(importer: Any, arrival: Arrival) -> None:
        time.sleep(float(os.environ["SITE_SLOW"]) / 2)
        write(importer, arrival)
        time.sleep(float(os.environ["SITE_SLOW"]) / 2)

    label_importer.Importer.write_in_parts = slowly  # type: ignore[method-assign]
    app.worker_main(["worker", *sys.argv[2:]])


def report() -> None:
    run = Import.objects.get()
    json.dump(
        {
            "state": run.state,
            "error": run.error,
            "labels": Label.objects.count(),
            "events": LabelEvent.objects.count(),
        },
        sys.stdout,
    )


if __name__ == "__main__":
    {"setup": setup, "worker": worker, "report": report}[sys.argv[1]]()
