"""Questions that are answered by values: what was answered, how far people agree, judges and gold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.scheme.spec import Kind, Words
from reports.numbers.report import StudyReport
from reports.numbers.values import SHOWN_ANSWERS, ValueGold, ValueReport
from reports.stats.bootstrap import Interval
from reports.stats.judge import JudgeAccuracy
from reports.tables.base import Head, ReportTable, Value, exposed_how, interval_heads, statistic_heads, words_of
from reports.tables.coefficients import ends, first_of, interval_how
from reports.tables.graphs import graph_tables
from reports.tables.groups import group_table
from reports.tables.items import item_tables
from reports.tables.judges import unreadable
from reports.tables.texts import text_tables
from reports.words import EMPTY, UNDEFINED, code_of, count, n_pairs, name_of, naming_gold, with_unit


def value_tables(report: StudyReport, question: ValueReport) -> Iterator[ReportTable]:
    yield _answers(question)
    yield _agreement(report, question)
    yield from item_tables(report, question)
    if question.graphs is not None:
        yield from graph_tables(report, question, question.graphs)
    if question.groups:
        yield group_table(report, question, question.groups)
    if question.judges:
        yield _judges(report, question)
        if any(missing.why for missing in question.data.no_label.values()):
            yield unreadable(question)
    for gold in question.golds:
        yield _gold(question, gold, words_of(report))
    yield from text_tables(report, question)


def _answers(question: ValueReport) -> ReportTable:
    """How complete it is, and what was answered most often."""
    summary = question.summary
    rows: list[tuple[Value, ...]] = [(_("Answered"), summary.n_filled, summary.completeness)]
    shown, n = question.words.shown, max(summary.n, 1)
    rows.extend((f"    {shown[of.code]}", of.n, of.n / n) for of in question.counts)
    if summary.n_not_filled:
        rows.append((_("Not filled in"), summary.n_not_filled, summary.share_not_filled))
        rows.extend((f"    {EMPTY[part.code]}", part.count, part.share) for part in summary.not_filled if part.count)
    rows.append((_("Total"), summary.n, 1.0 if summary.n else None))
    how = _("Every cell that a person was to fill counts once for each person. %(n)s different answers") % {
        "n": count(question.n_different)
    }
    if question.n_different > len(question.counts):
        how += ", " + _("of which the %(n)s most frequent are shown") % {"n": SHOWN_ANSWERS}
    return ReportTable(
        key=f"{question.data.name}.answers",
        about=name_of(question),
        title=_("Answers and completeness"),
        heads=(
            Head("answer", _("Answer")),
            Head("count", _("Count"), "count"),
            Head("share", _("Percentage"), "share"),
        ),
        rows=tuple(rows),
        how=f"{how}.",
    )


def _agreement(report: StudyReport, question: ValueReport) -> ReportTable:
    words, exact, numeric = words_of(report), question.exact, question.numeric
    shown = bool(question.exact_intervals)
    comparisons = ngettext("%(n)s comparison", "%(n)s comparisons", exact.n_comparisons) % {
        "n": count(exact.n_comparisons)
    }
    cells = ngettext("%(n)s cell with two answers or more", "%(n)s cells with two answers or more", exact.n_shared) % {
        "n": count(exact.n_shared)
    }

    def line(
        title: str, value: float | None, rests_on: str, reason: str, of: Mapping[str, Interval], key: str
    ) -> tuple[Value, ...]:
        because = "" if value is not None else str(UNDEFINED.get(reason, reason))
        return (title, value, *ends(of.get(key), shown=shown), rests_on, because)

    intervals = question.exact_intervals
    rows = [
        line(_("Percent agreement, each cell alike"), exact.percent, cells, exact.reason, intervals, "percent"),
        line(
            _("Percent agreement, each pair alike"),
            exact.percent_of_comparisons,
            comparisons,
            exact.reason,
            intervals,
            "percent_of_comparisons",
        ),
        line(
            _("Macro accuracy A_h"),
            question.accuracy.value,
            n_pairs(words, question.accuracy.n_pairs),
            question.accuracy.reason,
            {},
            "",
        ),
        line(_("Krippendorff's α, nominal"), exact.alpha, cells, exact.alpha_reason, intervals, "alpha"),
    ]
    how = [
        _(
            "Two answers agree where they are the same answer in the sense of the question; α is 0 where chance would "
            "do."
        )
    ]
    if numeric is not None:
        of_pairs = ngettext("%(n)s pair of raters", "%(n)s pairs of raters", numeric.n_pairs) % {
            "n": count(numeric.n_pairs)
        }
        apart = question.numeric_intervals
        reason, correlation = numeric.reason, numeric.correlation_reason
        rows += [
            line(_("Krippendorff's α, interval"), numeric.alpha, cells, reason, apart, "alpha"),
            line(_("Intraclass correlation, ICC(1,1)"), numeric.icc, cells, reason, apart, "icc"),
            line(_("Mean absolute difference"), numeric.difference, comparisons, reason, apart, "difference"),
            line(_("Limits of agreement, plus and minus"), numeric.limits, comparisons, reason, apart, "limits"),
            line(_("Pearson's r, mean over pairs of raters"), numeric.pearson, of_pairs, correlation, apart, "pearson"),
            line(
                _("Spearman's ρ, mean over pairs of raters"), numeric.spearman, of_pairs, correlation, apart, "spearman"
            ),
        ]
        if question.unit:
            how.append(_("Differences and limits are in %(unit)s.") % {"unit": question.unit})
        how.append(
            _(
                "ICC is one-way random, for a single rater. 95 %% of the differences of two people lie within the "
                "limits of agreement (1.96 times their root mean square). Correlations take raters who share three "
                "cells or more."
            )
            % {}
        )
    how += [exposed_how(report, question.data.n_exposed), interval_how(first_of(intervals.values()), words)]
    return ReportTable(
        key=f"{question.data.name}.agreement",
        about=name_of(question),
        title=_("How far people agree"),
        heads=statistic_heads(intervals=shown),
        rows=tuple(rows),
        how=" ".join(filter(None, how)),
    )


def _judges(report: StudyReport, question: ValueReport) -> ReportTable:
    words, numeric = words_of(report), question.numeric is not None
    shown = bool(question.exact_intervals)
    apart, limits, bias = (
        with_unit(title, question.unit)
        for title in (_("Mean absolute difference"), _("Limits of agreement"), _("Judge less person"))
    )
    rows: list[tuple[Value, ...]] = []
    for of in question.judges:
        line: list[Value] = [code_of(of.judge), of.accuracy.value, *ends(of.accuracy_interval, shown=shown)]
        line.append(of.pairwise.value)
        if numeric and of.numbers is not None:
            numbers = of.numbers
            line += [numbers.difference, *ends(of.numbers_intervals.get("difference"), shown=shown)]
            line += [numbers.bias, numbers.low, numbers.high, numbers.pearson, numbers.spearman]
        line += [of.accuracy.n_cells, of.accuracy.n_unlabelled, str(UNDEFINED[of.accuracy.reason])]
        rows.append(tuple(line))
    people: list[Value] = [_("people among themselves"), None, *ends(None, shown=shown), question.accuracy.value]
    if question.numeric is not None:
        people += [question.numeric.difference, *ends(question.numeric_intervals.get("difference"), shown=shown)]
        limit = question.numeric.limits
        people += [None, None if limit is None else -limit, limit, question.numeric.pearson, question.numeric.spearman]
    rows.append((*people, question.accuracy.n_cells, None, str(UNDEFINED[question.accuracy.reason])))
    of_numbers = (
        Head("difference", _("Value"), "number", apart),
        *interval_heads(shown, key="difference_", group=apart),
        Head("bias", bias, "number"),
        Head("limit_low", _("from"), "number", limits),
        Head("limit_high", _("to"), "number", limits),
        Head("pearson", "r", "number"),
        Head("spearman", "ρ", "number"),
    )
    how = _(
        "A_m is the mean over %(sheets)s of the share of cells in which the judge gave the same answer as a person; "
        "where several people answered, any of them will do. Pair by pair, it is held against one person at a time, as "
        "people are against each other."
    ) % {"sheets": words.sheets}
    if numeric:
        how += " " + _("The limits of agreement (Bland and Altman) hold 95 in 100 differences.")
    return ReportTable(
        key=f"{question.data.name}.judges",
        about=name_of(question),
        title=_("How far judges agree with people"),
        heads=(
            Head("judge", _("Judge")),
            Head("accuracy", "A_m", "number"),
            *interval_heads(shown),
            Head("pairwise", _("A_m, pair by pair"), "number"),
            *(of_numbers if numeric else ()),
            Head("cells", _("Cells"), "count"),
            Head("unlabelled", _("Left out: no label"), "count"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(rows),
        how=how,
    )


def _gold(question: ValueReport, result: ValueGold, words: Words) -> ReportTable:
    numeric = question.spec.kind == Kind.NUMBER
    nothing = _("no cell has both a gold label and this answer")
    difference = with_unit(_("Mean absolute difference"), question.unit)

    def line(name: str, of: JudgeAccuracy | None, apart: float | None, n: int) -> tuple[Value, ...]:
        value = of.value if of else None
        known = value is not None or apart is not None
        return (name, value, *((apart,) if numeric else ()), n, "" if known else nothing)

    rows = [line(_("most frequent answer of people"), result.people, None, result.people.n_cells)]
    if result.numbers is not None:
        rows.append(line(_("mean of people"), None, result.numbers.mean, result.numbers.n))
        rows.append(line(_("median of people"), None, result.numbers.median, result.numbers.n))
    for place, (judge, accuracy) in enumerate(result.judges):
        apart = result.judge_numbers[place].difference if result.judge_numbers else None
        rows.append(line(code_of(judge), accuracy, apart, accuracy.n_cells))
    return ReportTable(
        key=f"{question.data.name}.gold.{result.gold.code}",
        about=name_of(question),
        title=naming_gold(_("Against gold %(rater)s"), code_of(result.gold)),
        heads=(
            Head("rater", _("Who")),
            Head("accuracy", _("Equal to gold"), "number"),
            *((Head("difference", difference, "number"),) if numeric else ()),
            Head("cells", _("Cells"), "count"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(rows),
        how=ngettext(
            "The mean over %(sheets)s of the share of gold cells with the same answer. In %(n)s cell several answers "
            "are equally frequent; the first in the order of the answers is taken.",
            "The mean over %(sheets)s of the share of gold cells with the same answer. In %(n)s cells several answers "
            "are equally frequent; the first in the order of the answers is taken.",
            result.ties,
        )
        % {"sheets": words.sheets, "n": count(result.ties)},
    )
