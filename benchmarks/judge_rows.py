"""What a worker does for a row of a judge's run beside the model: statements, processor time and time of the clock.

    PALATE_ENV=test python -m benchmarks.judge_rows [--rows 240] [--together 12] [--profile FILE]

The judge scores the cells of recipes' lines, by a backend that answers at once: what is measured is all the rest, from
the message of a queue to the labels. Once a row at a time, in messages of four; and once in calls of `--together` rows,
four calls a message, as on a GPU. SQLite in a temporary folder, or the database of `DATABASE_URL`, which is migrated
and gets two studies more. The processor time is this process's alone. `--profile` writes what took it.
"""

from __future__ import annotations

import argparse
import cProfile
import importlib
import os
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from llm.backends.base import Place
from tests.llm.toy import Shortest

_scored_together = 1


@dataclass(frozen=True)
class Quick(Shortest):
    """Takes no time to score, and says so."""

    requires = frozenset()

    @classmethod
    def scored_together(cls, place: Place) -> int:
        return _scored_together

    @property
    def is_loaded(self) -> bool:
        return True


def measured(rows: int, together: int, profile: cProfile.Profile | None) -> tuple[float, float, float]:
    """Statements, and milliseconds of the processor and of the clock, of a row. `profile` gets what took it."""
    global _scored_together
    from django.db import connection

    from annotation import actions as annotating
    from annotation.evidence.blocks import Block
    from annotation.evidence.kinds import PARAGRAPH
    from benchmarks.ash import recipe_lines
    from judges import actions

    builders, helpers = (importlib.import_module(name) for name in ("tests.builders", "tests.judges.helpers"))
    _scored_together, slug = together, f"rows-{uuid.uuid4().hex[:8]}"
    study = builders.study(slug, by=builders.user(slug))
    sheet = builders.sheet(study, n_rows=0)
    for number in range(rows):
        evidence = [Block(PARAGRAPH, line) for line in recipe_lines(number)]
        annotating.add_row(sheet=sheet, name=f"Recipe {number}", evidence=evidence)
    judge = helpers.cloze_judge("nowhere", name=slug, backend="quick", prompt_text=helpers.CLOZE)
    run = actions.start_run(study=study, judge=judge, by=None, enqueue=False)
    pks = list(run.items.order_by("pk").values_list("pk", flat=True))
    size = actions.JUDGING.in_a_message(run)
    messages = [pks[start : start + size] for start in range(0, len(pks), size)]
    actions.score_items(item_ids=messages.pop(0))  # what is found out once a process is not counted
    n_statements = 0

    def counting(execute: Any, *of: Any) -> Any:
        nonlocal n_statements
        n_statements += 1
        return execute(*of)

    with connection.execute_wrapper(counting), profile or nullcontext():
        clock, processor = time.perf_counter(), time.process_time()
        for message in messages:
            actions.score_items(item_ids=message)
        clock, processor = time.perf_counter() - clock, time.process_time() - processor
    assert run.items.filter(state="done").count() == rows
    n = rows - size
    return n_statements / n, 1000 * processor / n, 1000 * clock / n


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=240)
    parser.add_argument("--together", type=int, default=12)
    parser.add_argument("--profile", help="a file for each way of asking; this makes it slower")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
        os.environ.setdefault("DATABASE_URL", f"sqlite:///{folder}/rows.sqlite3")
        os.environ["PALATE_BACKENDS"] = "quick=benchmarks.judge_rows.Quick"
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connection

        call_command("migrate", verbosity=0)
        for together in (1, options.together):
            profile = cProfile.Profile() if options.profile else None
            statements, processor, clock = measured(options.rows, together, profile)
            print(
                f"{connection.vendor}, {together} together: {statements:.1f} statements, "
                f"{processor:.2f} ms of the processor, {clock:.2f} ms a row",
                flush=True,
            )
            if profile:
                profile.dump_stats(f"{options.profile}.{together}")
        connection.close()
    return 0


if __name__ == "__main__":
    # Under its own name, by which the registry of backends knows it.
    sys.exit(importlib.import_module("benchmarks.judge_rows").main())
