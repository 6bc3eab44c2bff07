"""Why cells have no label: by question, rater and reason."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from judges.models import UnreadableAnswer
from reports.data.arrays import MissingCells
from reports.numbers.report import StudyReport
from reports.tables.base import Head, ReportTable, Value, withdrawn_how, words_of
from reports.words import code_of, name_of

MOST_REASONS = 10  # of one rater and question, each by itself

_WHY = {
    "skipped": gettext_lazy("skipped"),
    "not-reached": gettext_lazy("not reached"),
    "withdrawn": gettext_lazy("not reached, and withdrawn"),
    "not-asked": gettext_lazy("not asked"),
    "left-open": gettext_lazy("left open: the question is optional"),
    "unreadable": gettext_lazy("unreadable answer"),
    "failed": gettext_lazy("the judge failed"),
}


def missing(report: StudyReport) -> ReportTable | None:
    """None where every cell has a label."""
    rows: list[tuple[Value, ...]] = []
    for section in report.sections:
        for question in section.in_order:
            shown: dict[tuple[str, str], int] = {}
            for of in question.data.missing:
                place = of.rater.code, of.why
                shown[place] = shown.get(place, 0) + 1
                if shown[place] <= MOST_REASONS:
                    share = of.n / of.of if of.of else None
                    rows.append((name_of(question), code_of(of.rater), str(_WHY[of.why]), _said(of), of.n, share))
                elif shown[place] == MOST_REASONS + 1:
                    others = [one for one in question.data.missing if (one.rater.code, one.why) == place][MOST_REASONS:]
                    n = sum(one.n for one in others)
                    share = n / of.of if of.of else None
                    rows.append((name_of(question), code_of(of.rater), str(_WHY[of.why]), _("other reasons"), n, share))
    if not rows:
        return None
    words = words_of(report)
    return ReportTable(
        key="missing",
        about="",
        title=_("Missing labels by reason"),
        heads=(
            Head("question", _("Question")),
            Head("rater", _("Rater")),
            Head("why", _("Missing because")),
            Head("reason", _("As it was said"), "note"),
            Head("cells", _("Cells"), "count"),
            Head("share", _("Of the cells given"), "share"),
        ),
        rows=tuple(rows),
        how=" ".join(
            filter(
                None,
                [
                    _(
                        "Skipped: the person could not tell, and said why. Not reached: it stands in %(rows)s that "
                        "they have, and has no answer yet. Not asked: another answer of theirs switches it off."
                    )
                    % {"rows": words.rows},
                    withdrawn_how(report),
                ],
            )
        ),
        folded=len(rows) > 30,
    )


def _said(of: MissingCells) -> str:
    return str(UnreadableAnswer.Why(of.reason).label) if of.why == "unreadable" else of.reason
