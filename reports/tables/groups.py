"""Agreement told apart by a facet of rows; and how much of what was drafted people changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.utils.translation import gettext as _

from reports.numbers.groups import Group
from reports.numbers.report import QuestionReport, StudyReport
from reports.numbers.values import ValueReport
from reports.tables.base import Head, ReportTable, Value, interval_heads, words_of
from reports.tables.coefficients import ends
from reports.words import UNDEFINED, cap, code_of, name_of


def facet_name(report: StudyReport, facet: str) -> str:
    """A facet of rows as people know it."""
    known = {of.key: of.name for of in report.data.scheme.row.facets}
    return known.get(facet, facet)


def group_table(report: StudyReport, question: QuestionReport | ValueReport, groups: Sequence[Group]) -> ReportTable:
    words, name = words_of(report), facet_name(report, report.filters.group)
    shown = any(group.intervals for group in groups)
    percent, alpha = _("Percent agreement"), _("Krippendorff's α")
    rows: list[tuple[Value, ...]] = [
        (
            group.word or "–",
            group.n_rows,
            group.n_answers,
            group.exact.n_shared,
            group.exact.percent,
            *ends(group.intervals.get("percent"), shown=shown),
            group.alpha,
            *ends(group.intervals.get("alpha"), shown=shown),
            *group.judges,
            "" if group.alpha is not None else str(UNDEFINED.get(group.alpha_reason, group.alpha_reason)),
        )
        for group in groups
    ]
    return ReportTable(
        key=f"{question.data.name}.by.{report.filters.group}",
        about=name_of(question),
        title=_("Told apart by %(facet)s") % {"facet": name},
        heads=(
            Head("group", cap(name)),
            Head("rows", cap(words.rows), "count"),
            Head("answers", _("Answers"), "count"),
            Head("cells", _("Cells with two answers"), "count"),
            Head("percent", _("Value"), "number", percent),
            *interval_heads(shown, key="percent_", group=percent),
            Head("alpha", _("Value"), "number", alpha),
            *interval_heads(shown, key="alpha_", group=alpha),
            *(Head(f"judge.{of.judge.code}", code_of(of.judge), "number", "A_m") for of in question.judges),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(rows),
        how=_("Each line is of the %(rows)s with that word alone; – has those without one.") % {"rows": words.rows},
    )


def edit_table(report: StudyReport) -> ReportTable:
    shown = any(of.rate_interval for of in report.edit_rates)
    rate, distance = _("Edit rate"), _("Mean edit distance")
    return ReportTable(
        key="drafts",
        about="",
        title=_("Drafted answers: how many were changed"),
        heads=(
            Head("question", _("Question")),
            Head("rater", _("Rater")),
            Head("drafted_by", _("Drafted by")),
            Head("drafted", _("Drafted"), "count"),
            Head("confirmed", _("Confirmed or changed"), "count"),
            Head("changed", _("Changed"), "count"),
            Head("rate", _("Value"), "share", rate),
            *(replace(head, kind="share") for head in interval_heads(shown, key="rate_", group=rate)),
            Head("distance", _("Value"), "number", distance),
            *interval_heads(shown, key="distance_", group=distance),
        ),
        rows=tuple(
            (
                of.question,
                of.rater,
                of.drafted_by or "–",
                of.n,
                of.n_confirmed,
                of.n_changed,
                of.rate,
                *ends(of.rate_interval, shown=shown),
                of.distance,
                *ends(of.distance_interval, shown=shown),
            )
            for of in report.edit_rates
        ),
        how=_(
            "Of the answers that began as another rater's and that their own has confirmed or changed: how many are "
            "not the same answer any more, and how far the mean one was changed (0 not at all, 1 nothing in common). "
            "Drafts that nobody has confirmed are no answers, and count nowhere else; confirmed ones count as exposed."
        ),
    )
