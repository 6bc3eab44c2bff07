"""The figures of a question that is answered by numbers: what was answered, and how far each judge is from people."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports.figures.base import Figure
from reports.numbers.values import Spread, ValueJudge, ValueReport
from reports.words import code_of, count, name_of, with_unit

_POINTS = 1000  # of a cloud; more would be one blot


def value_figures(question: ValueReport) -> Iterator[Figure]:
    if question.spread is not None and question.spread.edges.size:
        yield _distribution(question, question.spread)
    for of in question.judges:
        if of.numbers is not None and of.numbers.n and of.pairs is not None:
            yield _differences(question, of)


def _distribution(question: ValueReport, spread: Spread) -> Figure:
    low, high = float(spread.edges[0]), float(spread.edges[-1])
    series = [(_("people"), spread.people), *((code_of(judge), shares) for judge, shares in spread.judges)]
    place = int(np.argmax(spread.people))
    return Figure(
        key=f"{question.data.name}.distribution",
        kind="histogram",
        about=name_of(question),
        title=_("Distribution of the numbers"),
        data={
            "edges": spread.edges.tolist(),
            "series": [{"name": name, "values": shares.tolist()} for name, shares in series],
            "x_title": with_unit(question.spec.title, question.unit),
            "y_title": _("Share of answers"),
        },
        how=ngettext(
            "The share of answers in bins of equal width: of people's %(n)s answer, and of each judge's.",
            "The share of answers in bins of equal width: of people's %(n)s answers, and of each judge's.",
            spread.n,
        )
        % {"n": count(spread.n)},
        alt=_("%(n)s bins from %(low)g to %(high)g; people's answers are most frequent between %(from)g and %(to)g.")
        % {
            "n": spread.people.size,
            "low": low,
            "high": high,
            "from": spread.edges[place],
            "to": spread.edges[place + 1],
        },
    )


def _differences(question: ValueReport, of: ValueJudge) -> Figure:
    """Bland and Altman's plot."""
    assert of.numbers is not None
    assert of.pairs is not None
    judge, numbers = code_of(of.judge), of.numbers
    people, its = of.pairs
    points, times = np.unique(np.stack([(people + its) / 2, its - people], axis=-1), axis=0, return_counts=True)
    step = -(-len(points) // _POINTS)
    how = [
        _(
            "A point is an answer of a person and that of the judge to the same cell; larger ones stand for several. "
            "Above 0 the judge says more. The line is the mean difference (bias), and 95 %% of the differences lie "
            "between the dashed lines, the limits of agreement (Bland and Altman)."
        )
        % {}
    ]
    if step > 1:
        how.append(_("Of many points one in %(n)s is drawn.") % {"n": step})
    how.append(ngettext("Rests on %(n)s pair.", "Rests on %(n)s pairs.", numbers.n) % {"n": count(numbers.n)})
    return Figure(
        key=f"{question.data.name}.differences.{of.judge.code}",
        kind="differences",
        about=name_of(question),
        title=_("Differences of %(judge)s from people") % {"judge": judge},
        data={
            "points": [[x, y, n] for (x, y), n in zip(points[::step].tolist(), times[::step].tolist(), strict=True)],
            "bias": numbers.bias,
            "low": numbers.low,
            "high": numbers.high,
            "bias_title": _("bias"),
            "limits_title": _("limits of agreement"),
            "x_title": with_unit(_("Mean of both"), question.unit),
            "y_title": with_unit(_("%(judge)s less person") % {"judge": judge}, question.unit),
        },
        how=" ".join(how),
        alt=_("A cloud of %(n)s points around a bias of %(bias).3g.") % {"n": len(points), "bias": numbers.bias or 0.0},
    )
