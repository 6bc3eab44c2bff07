"""The demo of this pack: ten recipes written for it, each annotated twice, and one annotator who has still to do so.

Its content lies in `demo/`, a file a recipe; `first` and `second` are what two people say of it, a list of transitions
in their text form for each step, and `gold` what was decided, where it was.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from django.db import transaction

from annotation import actions as annotating
from annotation import doors
from annotation.answers import kind_of
from annotation.models import Rater, Row, Study
from annotation.scheme.spec import QuestionSpec, load_scheme
from recipes import demo_logins
from recipes.ingredient_states import actions
from recipes.ingredient_states.recipe_files import Graph, RecipeFile, picture_of

ROOT = Path(__file__).resolve().parent
SLUG = "states-demo"
RATERS = {"first": "R1", "second": "R2"}
GOLD = "gold"


def question() -> QuestionSpec:
    """The question of the shipped scheme that asks what becomes of what."""
    return load_scheme(_source()).sections[0].questions[0]


def demo_recipes(*, gold: bool = False) -> list[RecipeFile]:
    """The ten recipes in the order of their titles, with both annotations; or those that are decided, with the decided
    graph."""
    spec = question()
    kind = kind_of(spec)
    found = []
    for file in sorted((ROOT / "demo").glob("*.yaml")):
        told = yaml.safe_load(file.read_text(encoding="utf-8"))
        graphs = []
        for key, code in ({"gold": GOLD} if gold else RATERS).items():
            values = [kind.read(spec, "\n".join(lines)) for lines in told.get(key, ())]
            if values:
                answers: list[Any] = [None if value is None else list(value) for value in values]  # type: ignore[arg-type]
                graphs.append(Graph(code, answers, "gold" if gold else "person"))
        if gold and not graphs:
            continue
        drawn = file.with_suffix(".png")
        found.append(
            RecipeFile(
                told["title"],
                tuple(told["ingredients"]),
                tuple(told["steps"]),
                told["language"],
                picture=picture_of(drawn.read_bytes()) if drawn.is_file() else None,
                graphs=tuple(graphs),
            )
        )
    return sorted(found, key=lambda recipe: recipe.title)


@transaction.atomic
def build() -> Study:
    """Make the demo study, or return it when it is there."""
    if study := Study.objects.filter(slug=SLUG).first():
        return study
    users = demo_logins.users()
    source = _source()
    scheme = annotating.store_scheme(spec=load_scheme(source), source=source)
    study = annotating.create_study(slug=SLUG, title="States of ingredients (demo)", scheme=scheme, by=users["manager"])
    annotating.change_study(study=study, contact="Study office (made up)", contact_address="states@example.org")
    demo_logins.add_members(study, users)
    actions.import_recipes(study=study, recipes=demo_recipes())
    actions.import_recipes(study=study, recipes=demo_recipes(gold=True))
    annotator = Rater.objects.get(study=study, user=users["annotator"])
    # Three of the ten, behind the work of the first demo: a first page is no place for thirteen sheets.
    annotating.assign(rater=annotator, rows=Row.objects.filter(sheet__study=study).order_by("sheet__position")[:3])
    return study


def _source() -> str:
    return (ROOT / "schemes" / "ingredient-states.yaml").read_text(encoding="utf-8")


DEMO = doors.Demo(build=build, logins={}, password=demo_logins.PASSWORD)
