"""A benchmark's figures: heat maps of generators and evaluators, agreement of judges, the order of generators."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from django.utils.translation import gettext as _

from reports.figures.base import Figure
from reports.numbers.ratings import Criterion, RatingsReport
from reports.words import by_instructions, evaluators


def ratings_figures(report: RatingsReport) -> Iterator[Figure]:
    for of in report.criteria:
        if report.generators:
            yield _heat(report, of)
    if len(report.judges) > 1:
        yield _matrix(report)
    for of in report.criteria:
        if of.ranking is not None:
            yield _order(report, of)


def _heat(report: RatingsReport, of: Criterion) -> Figure:
    names = evaluators(report, of)
    values = [[cell.mean.value for cell in line] for line in of.cells]
    known = [value for line in values for value in line if value is not None]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    said = _("Ratings of each generator by each evaluator")
    return Figure(
        key=f"{of.name}.heat-map",
        kind="heat",
        about="",
        title=f"{of.title}: {said}",
        data={
            "rows": names,
            "columns": list(report.generators),
            "values": values,
            "deviations": [[cell.deviation for cell in line] for line in of.cells],
            "low": float(of.scale.min()),
            "high": float(of.scale.max()),
            "row_title": _("Evaluator"),
            "column_title": _("Generator"),
            "label": _("Mean rating"),
        },
        how=_(
            "Mean and, below it, standard deviation of all ratings; families stand together. The tint is over the "
            "whole scale."
        ),
        alt=_(
            "A heat map of %(rows)s evaluators by %(columns)s generators; means lie between %(low).2f and %(high).2f."
        )
        % {"rows": len(names), "columns": len(report.generators), "low": low, "high": high},
    )


def _matrix(report: RatingsReport) -> Figure:
    values = [[None if np.isnan(value) else float(value) for value in line] for line in report.matrix]
    known = report.matrix[~np.isnan(report.matrix)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    return Figure(
        key=f"{report.section.key}.judges-matrix",
        kind="matrix",
        about="",
        title=_("Agreement of judges, averaged over criteria"),
        data={"names": [judge.code for judge in report.judges], "values": values, "label": _("κ, quadratic weights")},
        how=_(
            "Cohen's κ with quadratic weights of first ratings, averaged over %(n)s criteria; families stand together."
        )
        % {"n": len(report.criteria)},
        alt=_("A matrix of %(raters)s raters; κ lies between %(low).2f and %(high).2f.")
        % {"raters": len(report.judges), "low": low, "high": high},
    )


def _order(report: RatingsReport, of: Criterion) -> Figure:
    assert of.ranking is not None
    ranked = of.ranking.ranked
    ends = [end for one in ranked for end in (one.mean.value, one.mean.low, one.mean.high) if end is not None]
    known = [one.mean.value for one in ranked if one.mean.value is not None]
    said = _("Mean rating of each generator")
    room = (max(ends) - min(ends)) * 0.05 + 0.01 if ends else 1.0
    return Figure(
        key=f"{of.name}.order-of-generators",
        kind="intervals",
        about="",
        title=f"{of.title}: {said}",
        data={
            "names": [report.generators[one.generator] for one in ranked],
            "values": [one.mean.value for one in ranked],
            "low": [one.mean.low for one in ranked],
            "high": [one.mean.high for one in ranked],
            "line": sum(known) / len(known) if known else None,
            "line_title": _("mean of all"),
            "x_title": _("Mean rating"),
            "legend": "upper left",
            "x_high": max(ends) + room if ends else 1.0,
        },
        how=_("The mean over judges, each alike; lines are 95 %% intervals.") % {} + " " + by_instructions(report),
        alt=_("%(n)s generators in the order of their means.") % {"n": len(ranked)},
    )
