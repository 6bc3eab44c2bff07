"""The paper's study at full size with simulated raters, built through the same actions as any other study."""

from __future__ import annotations

import uuid
from collections import defaultdict
from fractions import Fraction

from django.db import transaction
from django.utils.translation import gettext as _

from annotation import actions as annotating
from annotation.actions import Answer, Refused
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH
from annotation.models import Assignment, Column, Option, Question, Rater, Role, Row, Sheet, Study, User
from annotation.planning import OverlapRequest, balanced_design
from recipes.cooking import actions
from recipes.cooking.parsing import ParsedRecipe, Task
from recipes.memorization.demo_study import paper_scheme
from recipes.memorization.paper_counts import DOCUMENTS_PER_RECIPE, RATERS, RATERS_PER_RECIPE, RECIPES, SHARE_TWICE
from recipes.memorization.paper_simulation import SimulatedLabel, SimulatedRecipe, simulate_paper

TITLE = "Recipe memorization: the paper's size, simulated raters"


@transaction.atomic
def build(*, slug: str, seed: int = 0) -> Study:
    """20 recipes × 18 documents × 7 raters, whose selection counts equal the paper's Tables 1, 3, 4 and 5.

    Nobody has a role in it yet. Takes half a minute.

    Raises:
        Refused: a study of that slug is there.
    """
    if Study.objects.filter(slug=slug).exists():
        raise Refused(_("There is a study “%(slug)s” already. Choose another name with --slug.") % {"slug": slug})
    request = OverlapRequest(
        raters=RATERS,
        sheets=(DOCUMENTS_PER_RECIPE,) * len(RECIPES),
        raters_per_sheet=RATERS_PER_RECIPE,
        share_twice=Fraction(SHARE_TWICE),
        seed=seed,
    )
    design = balanced_design(request)
    simulated = simulate_paper(design.assignments, seed=seed)

    study = annotating.create_study(slug=slug, title=TITLE, scheme=paper_scheme(), by=None)
    raters = [
        Rater.objects.create(study=study, kind=Rater.Kind.PERSON, code=f"S{n}", simulated=True)
        for n in range(1, RATERS + 1)
    ]
    sheets = [actions.add_recipe(study=study, recipe=_parsed(recipe)) for recipe in simulated.recipes]
    for document in simulated.documents:
        annotating.add_row(
            sheet=sheets[document.recipe],
            name=f"{document.engine} {document.rank}",
            title=document.title,
            url=document.url,
            language="en",
            evidence=[Block(PARAGRAPH, "This document is simulated and has no text.")],
        )
    annotating.apply_design(study=study, design=design, request=request, raters=raters, sheets=sheets, by=None)
    _record(study, raters, sheets, simulated.labels)
    return study


def open_to_demo_users(study: Study) -> list[str]:
    """Let the demo's manager and researcher read it, where they are; returns their names."""
    users = User.objects.filter(memberships__study__slug="demo", memberships__role__in=[Role.MANAGER, Role.RESEARCHER])
    for user in users.distinct():
        annotating.add_member(study=study, user=user, role=Role.RESEARCHER)
    return [user.username for user in users.distinct()]


def _parsed(recipe: SimulatedRecipe) -> ParsedRecipe:
    tasks = tuple(Task(triple.task, triple.tool, triple.ingredients) for triple in recipe.tasks)
    return ParsedRecipe(name=recipe.name, ingredients=recipe.ingredients, steps=(), tasks=tasks)


def _record(study: Study, raters: list[Rater], sheets: list[Sheet], labels: tuple[SimulatedLabel, ...]) -> None:
    questions = {
        (q.section.key, q.key): q
        for q in Question.objects.filter(section__scheme=study.scheme).select_related("section")
    }
    options = {
        (option.question_id, option.key): option for option in Option.objects.filter(question__in=questions.values())
    }
    columns: dict[tuple[int, str, int], Column] = {}
    places: dict[tuple[int, int], Row] = {}
    for number, sheet in enumerate(sheets):
        for column in sheet.columns.select_related("section"):
            columns[number, column.section.key, column.position] = column
        for row in sheet.rows.all():
            places[number, row.position] = row
    assignments = {(a.row_id, a.rater_id): a for a in Assignment.objects.filter(row__sheet__study=study)}

    answers: dict[int, list[Answer]] = defaultdict(list)
    for label in labels:
        question = questions[label.section, label.question]
        assignment = assignments[places[label.recipe, label.document].pk, raters[label.rater].pk]
        answers[assignment.pk].append(
            Answer(
                column=columns[label.recipe, label.section, label.column],
                question=question,
                option=options[question.pk, label.option],
            )
        )
    for assignment in assignments.values():
        annotating.record(assignment=assignment, answers=answers[assignment.pk], key=uuid.uuid4())
        annotating.submit(assignment=assignment)
