"""A comparison's tables: systems in order, who is preferred to whom, and what place and length have to do with it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from django.utils.translation import gettext as _

from reports.numbers.comparison import ComparisonReport, OfRater
from reports.numbers.report import QuestionReport, StudyReport
from reports.stats.ratings.arrays import Estimate
from reports.tables.base import Head, ReportTable, Value
from reports.tables.estimates import of_spa, three, three_heads
from reports.tables.systems import beside_heads, held
from reports.words import UNDEFINED, by_items, compared_by, name_of


def comparison_tables(report: StudyReport, question: QuestionReport) -> Iterator[ReportTable]:
    """None of other questions than the one that compares."""
    of = report.comparison
    if of is None or of.name != question.data.name:
        return
    about = name_of(question)
    yield _order(of, about)
    yield _side_by_side(of, about)
    yield _place_and_length(of, about)
    if any(one.alike for one in of.raters):
        yield _beside_people(of, about)


def _order(of: ComparisonReport, about: str) -> ReportTable:
    """Systems in order, by people and by each judge."""
    not_connected = _("no comparisons connect all systems")
    rows: list[tuple[Value, ...]] = [
        (
            compared_by(one),
            of.systems[standing.system],
            standing.rank,
            standing.rank_low,
            standing.rank_high,
            *three(standing.share),
            *three(standing.strength),
            standing.n,
            standing.share.n_clusters,
            "" if standing.strength.value is not None else not_connected,
        )
        for one in of.raters
        for standing in one.standings
    ]
    return ReportTable(
        key=f"{of.name}.order",
        about=about,
        title=_("Systems in order"),
        heads=(
            Head("by", _("By")),
            Head("system", _("System")),
            Head("rank", _("Value"), "count", _("Rank")),
            Head("rank_low", _("from"), "count", _("Rank")),
            Head("rank_high", _("to"), "count", _("Rank")),
            *three_heads("preferred", _("Preferred")),
            *three_heads("strength", _("Bradley-Terry")),
            Head("n", _("Judgements"), "count"),
            Head("items", _("Items"), "count"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(rows),
        how=_(
            "Preferred: the share of a system's judgements in which it is the better one, a tie counting half. "
            "Bradley-Terry: strengths in logits around the mean of all systems, which allow for whom a system was held "
            "against; ranks go by them."
        )
        + " "
        + by_items(of)
        + (" " + _("Rows are judged once a column, and all of these judgements count.") if of.by_columns else ""),
    )


def _side_by_side(of: ComparisonReport, about: str) -> ReportTable:
    rows: list[tuple[Value, ...]] = []
    for first, second in itertools.combinations(range(len(of.systems)), 2):
        for one in of.raters:
            if one.comparisons.met(first, second):
                shares = one.comparisons.shares_of_two(first, second)
                told = held(one.comparisons.of_two(first, second))
                rows.append((of.systems[first], of.systems[second], compared_by(one), *shares, *told))
    return ReportTable(
        key=f"{of.name}.systems",
        about=about,
        title=_("Systems side by side"),
        heads=beside_heads(Head("items", _("Items"), "count")),
        rows=tuple(rows),
        how=_(
            "Who wrote which and the order of the two were hidden; a tie counts half. 0.5 means that neither is "
            "preferred, and p is that of 0.5 (two-sided, not corrected for the number of comparisons). The interval "
            "takes the judgements of one item together (cluster-robust, Student's t)."
        ),
    )


def _place_and_length(of: ComparisonReport, about: str) -> ReportTable:
    left, longer = _("the left text to the right one"), _("the longer text to the shorter one")
    lines: list[tuple[OfRater, str, Estimate, str]] = []
    for one in of.raters:
        always = "" if one.left.value is not None else _("each two systems always stood on the same sides")
        lines.append((one, left, one.left, always))
        if one.longer is not None:
            because = str(UNDEFINED.get(one.longer.reason, one.longer.reason))
            lines.append((one, longer, of_spa(one.longer), because))
    rows: list[tuple[Value, ...]] = [
        (compared_by(one), prefers, *three(share), share.n, share.n_clusters, because)
        for one, prefers, share, because in lines
    ]
    return ReportTable(
        key=f"{of.name}.place-and-length",
        about=about,
        title=_("Place and length"),
        heads=(
            Head("by", _("By")),
            Head("prefers", _("Prefers")),
            *three_heads("share", _("Share of judgements")),
            Head("n", _("Judgements"), "count"),
            Head("items", _("Items"), "count"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(rows),
        how=_(
            "0.5 is no liking. The left text: over each two systems by themselves, so that it makes no difference "
            "which of them was drawn left more often. Longer texts may be better ones; where a judge prefers them "
            "much more often than people do, it likes length. A tie counts half; texts of the same number of words "
            "are left out of the second lines. The interval takes the judgements of one item together (cluster-robust, "
            "Student's t)."
        ),
    )


def _beside_people(of: ComparisonReport, about: str) -> ReportTable:
    rows: list[tuple[Value, ...]] = [
        (compared_by(one), one.alike.alike, one.alike.n, one.alike.tau) for one in of.raters if one.alike is not None
    ]
    return ReportTable(
        key=f"{of.name}.orders-alike",
        about=about,
        title=_("Do judges put systems in the order of people?"),
        heads=(
            Head("by", _("Judge")),
            Head("alike", _("Ordered alike"), "count"),
            Head("n", _("Pairs of systems"), "count"),
            Head("tau", _("Kendall's τ_b"), "number"),
        ),
        rows=tuple(rows),
        how=_(
            "Of pairs of systems that people and the judge both put in an order, those in which it is the same. With "
            "few systems the order may be the same by luck; agreement cell by cell stands with the other figures of "
            "judges."
        ),
    )
