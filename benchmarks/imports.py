"""How long the import of a table of labels takes, and how much memory.

    DATABASE_URL=sqlite:////tmp/imports.sqlite3 python -m benchmarks.imports [--labels 100000] [--raters 500]

Each row of the file is answered by ten raters with one of five options. The study is made from the file, in the
database that `DATABASE_URL` names, which should be an empty one: its tables are made first. Prints seconds, seconds of
CPU of this process, labels a second and the peak of memory, with what is taken before the first line is read.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import resource
import time
import uuid

import django

RATERS_A_ROW = 10


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--labels", type=int, default=100_000)
    arguments.add_argument("--raters", type=int, default=500)
    asked = arguments.parse_args()
    os.environ.setdefault("PALATE_ENV", "test")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.core.management import call_command

    from annotation.exchange.label_reading import LabelImport
    from annotation.exchange.new_studies import study_from_labels
    from annotation.exchange.tables import open_table

    call_command("migrate", verbosity=0)
    data = labels(asked.labels, asked.raters)
    table = open_table(io.BytesIO(data), name="labels.csv", max_bytes=len(data))
    before = peak()
    start, cpu = time.perf_counter(), time.process_time()
    _study, imported = study_from_labels(
        slug=f"s-{uuid.uuid4().hex[:12]}", title="Imported", table=table, how=LabelImport(), by=None
    )
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    if imported.labels != asked.labels:
        raise SystemExit(f"{imported.labels:,} labels came of {asked.labels:,}")
    print(
        f"{imported.labels:>9,} labels  {seconds:6.1f} s  CPU {cpu:6.1f} s  {imported.labels / seconds:7,.0f} labels/s"
        f"  peak {peak()} MiB, {before} MiB before"
    )


def labels(n: int, raters: int) -> bytes:
    rng = random.Random(1)
    lines = ["rater,row,answer"]
    for row in range(n // RATERS_A_ROW):
        lines += [f"r{rater},i{row},{rng.randint(1, 5)}" for rater in rng.sample(range(raters), RATERS_A_ROW)]
    return "\n".join(lines).encode() + b"\n"


def peak() -> int:
    """MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
