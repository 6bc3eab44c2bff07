"""All coefficients of a set of raters, with what to read them by; and each option for itself."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext as _

from annotation.scheme.spec import Words
from reports.numbers.report import QuestionReport
from reports.stats.among import Coefficient
from reports.stats.bootstrap import EVERY_DRAW_THE_SAME, Interval
from reports.tables.base import Head, ReportTable, Value, interval_heads, under
from reports.words import MISSING, UNDEFINED, WEIGHTS, coefficient, count, name_of, undefined, worded


def ends(interval: Interval | None, *, shown: bool) -> tuple[Value, ...]:
    if not shown:
        return ()
    return (None, None) if interval is None else (interval.low, interval.high)


def drawn_how(question: QuestionReport, words: Words) -> str:
    """How the intervals of a question's table were made."""
    return interval_how(first_of(question.agreement.intervals.values()), words)


def first_of(intervals: Iterable[Interval | None]) -> Interval | None:
    """The one by which is said how all were made: the first that is not without an interval for its own value alone."""
    known = [interval for interval in intervals if interval is not None]
    varied = [interval for interval in known if interval.reason != EVERY_DRAW_THE_SAME]
    return next(iter([*varied, *known]), None)


def interval_how(interval: Interval | None, words: Words) -> str:
    if interval is None:
        return ""
    if interval.reason:
        return _("No intervals: %(reason)s (%(n)s).") % {
            "reason": UNDEFINED.get(interval.reason, interval.reason),
            "n": count(interval.n_clusters),
        }
    what = words.rows if interval.by == "document" else words.sheets
    text = worded(
        _("Intervals: %(draws)s draws of %(n)s %(what)s with replacement, seed %(seed)s."),
        _("Intervals: %(draws)s bootstrap resamples of %(n)s %(what)s, seed %(seed)s."),
    )
    return text % {
        "draws": count(interval.n_draws),
        "n": count(interval.n_clusters),
        "what": what,
        "seed": interval.seed,
    }


def coefficients(question: QuestionReport, words: Words) -> ReportTable:
    agreement, among = question.agreement, question.agreement.among
    options, prevalence = question.spec.options, among.prevalence
    shown = bool(agreement.intervals)

    def line(of: Coefficient) -> tuple[Value, ...]:
        title = coefficient(of.key)
        if of.weights:
            title = f"{title}, {WEIGHTS[of.weights]}" if of.key == "ac2" else title
        interval = ends(agreement.intervals.get(of.key), shown=shown)
        return (title, of.value, *interval, str(MISSING[of.key]), undefined(question, agreement, of.reason))

    rows = [line(of) for of in among.coefficients]
    none = ends(None, shown=shown)
    if prevalence.majority_option is not None:
        most = options[agreement.options[prevalence.majority_option]].label
        title = _("Most frequent option's share of all answers (“%(option)s”)") % {"option": most}
        rows.append((title, prevalence.majority_share, *none, _("every answer"), ""))
        rows.append((_("Imbalance of the options"), prevalence.imbalance, *none, _("every answer"), ""))
    if prevalence.cohen_maximum is not None:
        rows.append((_("Greatest κ that these margins allow"), prevalence.cohen_maximum, *none, "", ""))
    how = [
        _(
            "All %(sheets)s together, over %(shared)s cells with two answers or more of %(answered)s answered ones, by "
            "%(raters)s raters. Where one option has most answers, κ, π and α are low whatever the raters do: read "
            "them beside the share of the most frequent option and AC1. An imbalance of 0 means that all options are "
            "equally frequent, 1 that one has all answers."
        )
        % {
            "shared": count(among.n_shared),
            "answered": count(among.n_answered),
            "raters": count(among.n_raters),
            "sheets": words.sheets,
        },
        drawn_how(question, words),
    ]
    return ReportTable(
        key=f"{question.data.name}.coefficients",
        about=name_of(question),
        title=under(agreement.merge, question, _("All coefficients")),
        heads=(
            Head("statistic", _("Coefficient")),
            Head("value", _("Value"), "number"),
            *interval_heads(shown),
            Head("rests_on", _("Rests on"), "note"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(rows),
        how=" ".join(filter(None, how)),
    )


def options(question: QuestionReport) -> ReportTable:
    agreement = question.agreement
    shown = bool(agreement.intervals)
    specific, kappa = _("Specific agreement"), _("κ against all others")
    return ReportTable(
        key=f"{question.data.name}.options",
        about=name_of(question),
        title=under(agreement.merge, question, _("Agreement on each option")),
        heads=(
            Head("option", _("Option")),
            Head("answers", _("Answers"), "count"),
            Head("share", _("Share"), "share"),
            Head("specific", _("Value"), "number", specific),
            *interval_heads(shown, key="specific_", group=specific),
            Head("kappa", _("Value"), "number", kappa),
            *interval_heads(shown, key="kappa_", group=kappa),
        ),
        rows=tuple(
            (
                question.spec.options[agreement.options[of.option]].label,
                of.n,
                of.share,
                of.specific,
                *ends(agreement.intervals.get(f"specific.{of.option}"), shown=shown),
                of.kappa,
                *ends(agreement.intervals.get(f"kappa.{of.option}"), shown=shown),
            )
            for of in agreement.among.options
        ),
        how=_(
            "Specific agreement: where one rater chose the option, how often another chose it too; it rests on "
            "%(rests_on)s. The share is the mean over cells of the share of their answers."
        )
        % {"rests_on": MISSING["specific"]},
    )
