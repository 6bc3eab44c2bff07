"""Calibrations: fitted to stored scores, kept with what they were fitted to, and made judges of."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from typing import Any, cast

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.actions import Refused, refuse_while_shown
from annotation.models import Rater, User
from judges.actions.creating import create_judge, refuse_elsewhere
from judges.actions.lineage import came_from
from judges.calibrations import queries
from judges.lineage import queries as lineage
from judges.lineage.models import Origin
from judges.methods import fitting, prompting
from judges.methods.fitting import Candidate, CannotFit, Fitted
from judges.models import FittedCalibration, Judge
from llm.engine.normalisation import Normalisation


@transaction.atomic
def calibrate(*, rater: Rater, rows: Collection[int], by: User | None) -> FittedCalibration:
    """Find for each question the best way to choose from a judge's stored scores, by people's labels on `rows`.

    No model is asked. The candidates and how they are compared: `judges.methods.fitting`. Documents that the judge's
    prompt shows as examples are left out.

    Raises:
        Refused: the judge has no scores, no question has labels of people on two of the documents, or an import is
            being shown.
    """
    refuse_while_shown(rater.study_id)
    judge = queries.judge_of(rater)
    gathered = queries.gathered(rater, rows, shown=lineage.examples_of([judge]))
    if not gathered.cells and not gathered.left_out:
        raise Refused(_("“%(judge)s” has no labels with scores in this study yet.") % {"judge": rater.code})
    spec = rater.study.scheme.parsed
    keys = {f"{s.key}.{q.key}": [option.key for option in q.options] for s in spec.sections for q in s.questions}
    questions: dict[str, dict[str, Any]] = {}
    for name, cells in gathered.cells.items():
        try:
            fitted = fitting.calibrate(cells, keys[name], cast(Normalisation, gathered.its_own))
        except CannotFit:
            continue
        questions[name] = _stored(fitted)
    if not questions:
        refused = _(
            "Nothing can be fitted: a question needs labels of people on %(n)s of the chosen documents at least, "
            "which “%(judge)s” has labelled too."
        ) % {"n": fitting.FEWEST_DOCUMENTS, "judge": rater.code}
        if gathered.left_out:
            refused += " " + _("Those that stand as examples in its prompt do not count.")
        raise Refused(refused)
    return FittedCalibration.objects.create(
        study=rater.study,
        rater=rater,
        fitted_by=by,
        questions=questions,
        lineage={
            "rows": list(gathered.documents),
            "n_documents": len(gathered.documents),
            "labels_sha256": gathered.labels_sha256,
            "scores_sha256": gathered.scores_sha256,
            "its_own": gathered.its_own,
            "prompt_sha256": judge.prompt.digest,
            **({"examples": list(gathered.left_out)} if gathered.left_out else {}),
        },
    )


def _stored(fitted: Fitted) -> dict[str, Any]:
    return {
        "how": fitted.best.how,
        "calibration": fitted.best.calibration.model_dump(),
        "n_cells": fitted.n_cells,
        "n_documents": fitted.n_documents,
        "candidates": [_candidate(each) for each in fitted.candidates],
        **({"labelled": list(fitted.labelled)} if fitted.labelled else {}),
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {**asdict(candidate), "calibration": candidate.calibration.model_dump()}


@transaction.atomic
def create_calibrated(*, calibration: FittedCalibration, name: str) -> Judge:
    """A judge like the one that was calibrated, whose prompt has what was fitted, so that its runs choose by it.

    Raises:
        Refused: a question has no candidate under the judge's own normalisation; or another judge has that name.
        PromptError: the prompt cannot be read with it.
    """
    judge = queries.judge_of(calibration.rater)
    refuse_elsewhere(judge, calibration.study)
    if Judge.objects.filter(name=name).exists():
        raise Refused(_("There is a judge called “%(name)s” already.") % {"name": name})
    normalisation = judge.normalisation
    fitted = {name: _of_normalisation(of, normalisation) for name, of in calibration.questions.items()}
    made = create_judge(
        name=name,
        method=judge.method,
        normalisation=normalisation,
        chat_template=judge.chat_template,
        model=judge.model,
        evidence=judge.evidence,
        prompt_text=with_calibration(judge.prompt.text, fitted, said=calibration.said),
        study=calibration.study,
    )
    came_from(
        judge=made,
        parent=judge,
        how=Origin.How.CALIBRATION,
        study=calibration.study,
        rows=calibration.lineage["rows"],
    )
    return made


def _of_normalisation(of: dict[str, Any], normalisation: str) -> dict[str, Any]:
    """The best candidate of a question under the judge's own normalisation.

    Raises:
        Refused: it has none, because not all scores under it are numbers.
    """
    fitted = [each["calibration"] for each in of["candidates"]]
    found: dict[str, Any] | None = next((each for each in fitted if each["normalisation"] == normalisation), None)
    if found is None:
        raise Refused(
            _("Nothing was fitted under the judge's own normalisation, “%(normalisation)s”, so it cannot choose by it.")
            % {"normalisation": normalisation}
        )
    return found


def with_calibration(text: str, fitted: dict[str, dict[str, Any]], *, said: str) -> str:
    """A prompt file with these calibrations in the place of those that it had."""
    return prompting.rewritten(text, "calibration", fitted, comment=f"Fitted: {said}")
