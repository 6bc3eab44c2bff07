"""Judges that weigh others of their study together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import yaml
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.actions import Refused, refuse_while_shown
from annotation.models import Rater, Study
from judges.actions.creating import create_judge, keep_with
from judges.actions.lineage import came_from
from judges.lineage.models import Origin
from judges.methods import fitting
from judges.models import Judge
from judges.stacking import queries

FEWEST_JUDGES = 2


def weigh(*, study: Study, raters: Sequence[Rater], rows: Collection[int]) -> queries.Stack:
    """Fit judges of a study together to people's labels on `rows`. Writes nothing.

    Raises:
        Refused: fewer than two judges, no question that they and people answered on two of the documents, or an
            import is being shown.
    """
    refuse_while_shown(study.pk)
    if len(raters) < FEWEST_JUDGES:
        raise Refused(_("Choose two judges at least."))
    found = queries.stacked(study, raters, rows)
    if not found.questions:
        raise Refused(
            _(
                "Nothing can be fitted: a question needs labels of people on %(n)s of the chosen documents at least, "
                "in cells that all of these judges have answered."
            )
            % {"n": fitting.FEWEST_DOCUMENTS}
        )
    return found


@transaction.atomic
def create_stacker(*, study: Study, found: queries.Stack, name: str) -> Judge:
    """A judge that chooses by judges of the study together, as `weigh` has found. Its prompt says to what it was
    fitted.

    Raises:
        Refused: another judge has that name.
    """
    if Judge.objects.filter(name=name).exists():
        raise Refused(_("There is a judge called “%(name)s” already.") % {"name": name})
    questions: dict[str, dict[str, Any]] = {
        of.name: {"stacker": {"judges": of.weights, "options": of.options}} for of in found.questions
    }
    fitted = (
        f"# Fitted in the study {study.slug} to {len(found.rows)} documents, "
        f"labels {found.labels_sha256[:12]}, scores {found.scores_sha256[:12]}\n"
    )
    text = fitted + yaml.safe_dump({"questions": questions}, sort_keys=False, allow_unicode=True)
    made = create_judge(name=name, method=Judge.Method.STACKER, prompt_text=text, study=study)
    keep_with(made, {code for of in found.questions for code in of.weights}, study)
    came_from(judge=made, parent=None, how=Origin.How.STACKER, study=study, rows=found.rows)
    return made
