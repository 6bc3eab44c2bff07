"""A small installation for a real worker that searches and fetches: `python -m tests.recipes.site COMMAND`.

setup  migrate, start a search for SITE_ROWS documents of one dish with the engine of SEARXNG_URL
worker a Celery worker with the arguments that follow
report what stands in the database now, as JSON
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter

import django

django.setup()

from django.core.management import call_command  # noqa: E402

from annotation import actions as annotating  # noqa: E402
from annotation.models import Row  # noqa: E402
from config.celery import app  # noqa: E402
from recipes.cooking import actions  # noqa: E402
from recipes.cooking.models import Hit, Retrieval  # noqa: E402
from recipes.cooking.parsing import parse_recipe  # noqa: E402
from recipes.cooking.retrieval_queries import Asked  # noqa: E402
from recipes.memorization.demo_study import paper_scheme  # noqa: E402


def setup() -> None:
    call_command("migrate", verbosity=0)
    study = annotating.create_study(slug="dishes", title="Dishes", scheme=paper_scheme(), by=None)
    recipe = parse_recipe("Chili\nIngredients\n- beans\nTasks\nfry | pan | onions\n")
    sheet = actions.add_recipe(study=study, recipe=recipe)
    asked = [Asked(sheet, "searxng", "Chili recipe")]
    actions.start_retrieval(study=study, asked=asked, documents=int(os.environ["SITE_ROWS"]), by=None)


def worker() -> None:
    app.worker_main(["worker", *sys.argv[2:]])


def report() -> None:
    run = Retrieval.objects.get()
    said = {
        "state": run.state,
        "items": dict(Counter(run.items.values_list("state", flat=True))),
        "hits": dict(Counter(Hit.objects.values_list("state", flat=True))),
        "rows": list(Row.objects.order_by("position").values_list("url", flat=True)),
    }
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    {"setup": setup, "worker": worker, "report": report}[sys.argv[1]]()
