"""How often each option was chosen."""

from __future__ import annotations

from django.utils.translation import gettext as _

from reports.compute import QuestionReport
from reports.tables.base import Head, Table, Value
from reports.words import EMPTY, name_of


def selections(question: QuestionReport) -> Table:
    summary, options = question.summary, question.spec.options
    rows: list[tuple[Value, ...]] = [(options[row.code].label, row.count, row.share) for row in summary.options]
    how = _("Every cell that a person was to fill counts once for each person.")
    if summary.n_not_filled:
        rows.append((_("Not filled in"), summary.n_not_filled, summary.share_not_filled))
        for part in summary.not_filled:
            if part.count:
                label = options[part.code].label if part.code >= 0 else str(EMPTY[part.code])
                rows.append((f"    {label}", part.count, part.share))
        how += " " + _("Below “Not filled in” stands what it is made of.")
    rows.append((_("Total"), summary.n, 1.0 if summary.n else None))
    return Table(
        key=f"{question.data.name}.selections",
        about=name_of(question),
        title=_("Selections"),
        heads=(
            Head("selection", _("Selection")),
            Head("count", _("Count"), "count"),
            Head("share", _("Percentage"), "share"),
        ),
        rows=tuple(rows),
        how=how,
    )
