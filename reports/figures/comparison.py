"""A comparison's figure: how often each system is preferred, by people and by each judge."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _

from reports.figures.base import Figure
from reports.numbers.report import QuestionReport, StudyReport
from reports.words import by_items, compared_by, name_of

_RATERS = 6  # as many colours and marks are told apart


def comparison_figures(report: StudyReport, question: QuestionReport) -> Iterator[Figure]:
    of = report.comparison
    if of is None or of.name != question.data.name:
        return
    shown = of.raters[:_RATERS]
    order = [standing.system for standing in shown[0].standings]
    order += [system for system in range(len(of.systems)) if system not in order]
    shares = [{standing.system: standing.share for standing in one.standings} for one in shown]
    known = [of_rater.get(system) for of_rater in shares for system in order]
    ends = [end for share in known if share for end in (share.value, share.low, share.high) if end is not None]
    yield Figure(
        key=f"{of.name}.preferred",
        kind="dots",
        about=name_of(question),
        title=_("How often each system is preferred"),
        data={
            "names": [of.systems[system] for system in order],
            "series": [
                {
                    "name": compared_by(one),
                    "values": [share.value if (share := of_rater.get(system)) else None for system in order],
                    "low": [share.low if (share := of_rater.get(system)) else None for system in order],
                    "high": [share.high if (share := of_rater.get(system)) else None for system in order],
                }
                for one, of_rater in zip(shown, shares, strict=True)
            ],
            "bands": [],
            "line": 0.5,
            "line_title": _("neither is preferred"),
            "x_title": _("Preferred, share of judgements"),
            "x_low": max(0.0, min(ends, default=0.0) - 0.05),
            "x_high": min(1.02, max(ends, default=1.0) + 0.05),
        },
        how=_("Systems stand in the order of people, or of the first judge where no person has compared any.")
        + " "
        + by_items(of),
        alt=_("%(n)s systems; the first is “%(system)s”, preferred in %(share)s %% of its judgements.")
        % {
            "n": len(order),
            "system": of.systems[order[0]],
            "share": round(100 * (shares[0][order[0]].value or 0.0)),
        },
    )
