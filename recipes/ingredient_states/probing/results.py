"""Reads the results of the probing studies of one source."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from django.core.cache import caches

from annotation.models import Role, Study, User
from annotation.queries import roles
from recipes.ingredient_states.probing.across import DRAWN, TaskResults
from recipes.ingredient_states.probing.derivers import FORMS
from recipes.ingredient_states.probing.scores import asked_in, interval, scores
from recipes.ingredient_states.probing.tasks import Task, chance_of
from reports import queries
from reports.data.arrays import Filters
from reports.digests import study_digest
from reports.frozen.versions import code_version

READERS = (Role.MANAGER, Role.RESEARCHER)


def source_of(study: Study) -> Study:
    """The study that a probing study was made of; else the study itself."""
    return study.derived_from if study.scheme.slug in FORMS and study.derived_from is not None else study


def probing_studies(source: Study, user: User) -> Mapping[Task, Sequence[Study]]:
    """The studies of each task that were made of this one and whose answers `user` may read, the latest first. A query,
    and one for each study."""
    found: dict[Task, list[Study]] = {task: [] for task in Task}
    made = Study.objects.visible_to(user).filter(derived_from=source, scheme__slug__in=FORMS)
    for study in made.select_related("scheme").order_by("-pk"):
        if roles(user, study) & {*READERS}:
            found[FORMS[study.scheme.slug].task].append(study)
    return found


def results_of(study: Study) -> TaskResults:
    """Who is right in a probing study, by what its report counts; kept while the study and the code are the same."""
    parts = ["probing-results", study_digest(study), code_version()]
    key = f"probing-{hashlib.sha256(' '.join(parts).encode()).hexdigest()}"
    found = caches["reports"].get(key)
    if isinstance(found, TaskResults):
        return found
    table = queries.label_table(study, Filters())
    asked = asked_in(table)
    section, question = table.questions[0]
    scored = tuple(scores(table, f"{section.key}.{question.key}", asked, Filters()))
    made = TaskResults(
        study.slug,
        study.title,
        scored,
        tuple(interval(score, asked, DRAWN) for score in scored),
        chance_of([one.candidates for one in asked]),
        tuple(table.sheets[one.sheet] for one in asked),
    )
    if study_digest(study) == parts[1]:
        caches["reports"].set(key, made)
    return made
