"""What a judge gets right and wrong, against each person, against another judge, and what its scores are worth."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _

from reports.numbers.judge import JudgeResult, Sureness
from reports.numbers.report import QuestionReport, StudyReport
from reports.stats.alternative import TOO_FEW_DOCUMENTS, TOO_FEW_PEOPLE, AlternativeTest
from reports.stats.classification import MOST_OTHERS
from reports.stats.estimates import PoweredMean
from reports.stats.thresholds import PrecisionRecall, recall_at_precision
from reports.tables.base import Head, ReportTable, Value, interval_heads, under, words_of
from reports.tables.coefficients import ends
from reports.words import UNDEFINED, code_of, count, name_of, worded

_PRECISIONS = (0.8, 0.9)  # at which a judge's recall is given


def detail_tables(report: StudyReport, question: QuestionReport) -> Iterator[ReportTable]:
    """All of them, in the order of the page."""
    compared = [result for result in question.judges if result.confusion.n_comparisons]
    if compared:
        yield from _of_compared(report, question, compared)
    again = [result for result in question.judges if result.consistency]
    if again:
        yield _consistency(question, again)


def _of_compared(report: StudyReport, question: QuestionReport, compared: list[JudgeResult]) -> Iterator[ReportTable]:
    yield _comparisons(report, question, compared)
    yield from (_options(question, result) for result in compared)
    yield _with_people(report, question, compared)
    if question.two_judges:
        yield _two_judges(question)
        if not report.filters.before_entries:
            yield _agreeing(report, question)
    yield _alternative(question, compared)
    if any(result.sureness for result in compared):
        yield _sureness(question, compared)
    yield from (_thresholds(question, result, result.sureness) for result in compared if result.sureness)
    yield from (_shares(question, result) for result in compared if any(m.n_judge_only for m in result.shares))


def _comparisons(report: StudyReport, question: QuestionReport, compared: list[JudgeResult]) -> ReportTable:
    crowded = not report.filters.before_each and any(result.ceiling.others > MOST_OTHERS for result in compared)
    shown = any(result.accuracy_interval for result in compared)
    weighted = any(result.weighted for result in compared)
    return ReportTable(
        key=f"{question.data.name}.judge-figures",
        about=name_of(question),
        title=under(
            question.ceiling.merge,
            question,
            worded(_("Judges, comparison by comparison"), _("Accuracy, F1 and κ of judges")),
        ),
        heads=(
            Head("judge", _("Judge")),
            Head("accuracy", worded(_("Equal"), _("Accuracy")), "number"),
            Head("macro_f1", _("Macro-F1"), "number"),
            *interval_heads(shown, key="macro_f1_", group=_("Macro-F1, 95 %")),
            Head("macro_recall", _("Macro recall"), "number"),
            Head("kappa", _("κ, quadratic weights") if weighted else "κ", "number"),
            *interval_heads(shown, key="kappa_", group=_("κ, 95 %")),
            Head("comparisons", _("Comparisons"), "count"),
            Head("ceiling", _("A person"), "number", _("On the same cells")),
            Head("ceiling_judge", _("the judge"), "number", _("On the same cells")),
            *(
                (
                    Head("ceiling_each", _("A person"), "number", _("Against one person at a time")),
                    Head("ceiling_judge_each", _("the judge"), "number", _("Against one person at a time")),
                )
                if crowded
                else ()
            ),
            Head("ceiling_cells", _("Cells"), "count", _("On the same cells")),
        ),
        rows=tuple(
            (
                code_of(result.judge),
                result.classification.accuracy,
                result.classification.macro_f1,
                *ends(of.macro_f1 if of else None, shown=shown),
                result.classification.macro_recall,
                result.classification.kappa,
                *ends(of.kappa if of else None, shown=shown),
                result.classification.n,
                result.ceiling.person,
                result.ceiling.judge,
                *((result.ceiling_of_each.person, result.ceiling_of_each.judge) if crowded else ()),
                result.ceiling.n_cells,
            )
            for result in compared
            for of in (result.classification_intervals,)
        ),
        how=_(
            "Every person's answer is one comparison. Macro-F1 is the mean F1 of the options. On the same cells: each "
            "person is left out in turn and measured by the others as the judge is; a judge that reaches the person's "
            "figure is as good as one more person."
        )
        + (
            " "
            + _(
                "Against one person at a time: the share of the other people who chose the same, since one of many "
                "agrees with nearly any answer."
            )
            if crowded
            else ""
        ),
    )


def _options(question: QuestionReport, result: JudgeResult) -> ReportTable:
    judge = code_of(result.judge)
    return ReportTable(
        key=f"{question.data.name}.judge-options.{result.judge.code}",
        about=name_of(question),
        title=under(
            result.merge,
            question,
            worded(_("What %(judge)s finds and misses"), _("Precision, recall and F1 by class: %(judge)s"))
            % {"judge": judge},
        ),
        heads=(
            Head("option", _("Option")),
            Head("precision", _("Precision"), "number"),
            Head("recall", _("Recall"), "number"),
            Head("f1", "F1", "number"),
            Head("people", _("People chose it"), "count"),
            Head("chosen", _("the judge did"), "count"),
            Head("both", _("both did"), "count"),
        ),
        rows=tuple(
            (question.spec.options[of.option].label, of.precision, of.recall, of.f1, of.n_people, of.n_judge, of.n_both)
            for of in result.classification.options
            if of.option in result.options
        ),
        how=_(
            "Precision: of what the judge chose, how much people chose too. Recall: of what people chose, how much the "
            "judge chose."
        ),
    )


def _with_people(report: StudyReport, question: QuestionReport, compared: list[JudgeResult]) -> ReportTable:
    people, weighted = report.data.people, any(result.weighted for result in compared)
    return ReportTable(
        key=f"{question.data.name}.judge-people",
        about=name_of(question),
        title=under(question.ceiling.merge, question, _("Each judge with each person")),
        heads=(
            Head("judge", _("Judge")),
            Head("person", _("Person")),
            Head("kappa", _("κ, quadratic weights") if weighted else "κ", "number"),
            Head("ac1", "AC1", "number"),
            Head("equal", worded(_("Equal"), _("Percent agreement")), "share"),
            Head("cells", _("Cells"), "count"),
        ),
        rows=tuple(
            (
                code_of(result.judge),
                code_of(people[pair.rater_a]),
                *(pair.kappa(weighted=weighted), pair.ac1, pair.percent, pair.n),
            )
            for result in compared
            for pair in result.with_people
        ),
        how=_("Over the cells that both answered, all %(sheets)s together.") % {"sheets": words_of(report).sheets},
        folded=True,
    )


def _two_judges(question: QuestionReport) -> ReportTable:
    shown = any(two.has_interval for two in question.two_judges)

    def line(first: str, second: str, number: int) -> tuple[Value, ...]:
        two = question.two_judges[number]
        of, test = two.result, two.result.mcnemar
        rule = _("exact") if test.rule == "exact" else "χ²"
        return (
            *(first, second, of.first.value, of.second.value, of.difference),
            *ends(of.interval, shown=shown),
            *(test.only_first, test.only_second, test.p_value, rule if test.p_value is not None else ""),
            str(UNDEFINED.get(test.reason, test.reason)),
        )

    return ReportTable(
        key=f"{question.data.name}.two-judges",
        about=name_of(question),
        title=under(question.ceiling.merge, question, _("Judge against judge")),
        heads=(
            Head("first", _("First")),
            Head("second", _("Second")),
            Head("accuracy_first", _("A_m, first"), "number"),
            Head("accuracy_second", _("A_m, second"), "number"),
            Head("difference", _("Difference"), "number"),
            *interval_heads(shown),
            Head("only_first", _("only the first"), "count", _("Right")),
            Head("only_second", _("only the second"), "count", _("Right")),
            Head("p_value", "p", "number", "McNemar"),
            Head("rule", _("by"), "note", "McNemar"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(
            line(code_of(two.first), code_of(two.second), number) for number, two in enumerate(question.two_judges)
        ),
        how=_(
            "On the cells that people and both judges answered. McNemar's test takes cells as independent, which those "
            "of one document are not; the interval of the difference, where there is one, does not."
        ),
    )


def _agreeing(report: StudyReport, question: QuestionReport) -> ReportTable:
    return ReportTable(
        key=f"{question.data.name}.agreeing-judges",
        about=name_of(question),
        title=under(question.ceiling.merge, question, _("Where two judges agree")),
        heads=(
            Head("first", _("First")),
            Head("second", _("Second")),
            Head("agreed", _("They agree"), "share"),
            Head("right", _("Right"), "share", _("Where they agree")),
            Head("right_low", _("from"), "share", _("Where they agree")),
            Head("right_high", _("to"), "share", _("Where they agree")),
            Head("agreed_cells", _("Cells"), "count", _("Where they agree")),
            Head("first_right", _("the first is right"), "share", _("Elsewhere")),
            Head("second_right", _("the second is right"), "share", _("Elsewhere")),
            Head("other_cells", _("Cells"), "count", _("Elsewhere")),
        ),
        rows=tuple(
            (
                code_of(two.first),
                code_of(two.second),
                *(of.agreed, of.right, of.right_low, of.right_high, of.n_agreed),
                *(of.first, of.second, of.n - of.n_agreed),
            )
            for two in question.two_judges
            for of in (two.agreeing,)
        ),
        how=_(
            "As a rule of triage: what two judges agree on is taken, the rest goes to people. Of the cells that people "
            "and both judges answered; right is what somebody among people chose. Take judges that are unlike, such as "
            "a model and words in common: those that are alike agree in their errors. Wilson's interval takes cells as "
            "independent, which those of one document are not."
        )
        if report.filters.before_share_bounds
        else _(
            "As a rule of triage: what two judges agree on is taken, the rest goes to people. Of the cells that people "
            "and both judges answered; right is what somebody among people chose; its interval goes by documents. "
            "Take judges that are unlike, such as a model and words in common: those that are alike agree in their "
            "errors."
        ),
    )


def _alternative(question: QuestionReport, compared: list[JudgeResult]) -> ReportTable:
    test = compared[0].alternative
    return ReportTable(
        key=f"{question.data.name}.alternative",
        about=name_of(question),
        title=under(question.ceiling.merge, question, _("May the judge stand in for one more person?")),
        heads=(
            Head("judge", _("Judge")),
            Head("winning_rate", "ω", "number"),
            Head("advantage", "ρ", "number"),
            Head("people", _("People"), "count"),
            Head("left_out", _("left out: too few cells"), "count"),
            Head("verdict", _("Verdict"), "note"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(
            (
                code_of(result.judge),
                of.winning_rate,
                of.advantage_probability,
                of.n_people,
                of.n_left_out,
                _passed(of),
                str(UNDEFINED.get(of.reason, of.reason)),
            )
            for result in compared
            for of in (result.alternative,)
        ),
        how=_(
            "The Alternative Annotator Test (Calderon et al. 2025) with ε = %(epsilon)s: each person with at least "
            "%(cells)s cells is left out in turn. ω is the share of people whom the judge is not worse than by ε, and "
            "0.5 passes; ρ is how often the judge agrees with the others at least as well as the person."
        )
        % {"epsilon": test.epsilon, "cells": test.minimum_cells}
        + (
            " " + _("Cells of one document count together; people with cells in fewer than ten are left out.")
            if test.by
            else ""
        )
        + (" " + _("On this scale, to agree is to be near the others' answers.") if test.scoring == "rmse" else ""),
    )


def _passed(test: AlternativeTest) -> str:
    if test.passed is None:
        return _("not enough annotators") if test.reason in (TOO_FEW_PEOPLE, TOO_FEW_DOCUMENTS) else ""
    return _("passed") if test.passed else _("not passed")


def _sureness(question: QuestionReport, compared: list[JudgeResult]) -> ReportTable:
    by_doubt = worded(_("Wrong cells have more doubt"), _("AUROC of uncertainty"))
    return ReportTable(
        key=f"{question.data.name}.calibration",
        about=name_of(question),
        title=under(
            question.ceiling.merge,
            question,
            worded(_("Whether a judge is right as often as it is sure"), _("Calibration")),
        ),
        heads=(
            Head("judge", _("Judge")),
            Head("confidence", _("Mean confidence"), "number"),
            Head("accuracy", worded(_("Right"), _("Accuracy")), "number"),
            Head("ece", _("Calibration error (ECE)"), "number"),
            Head("brier", _("Brier"), "number"),
            Head("entropy", _("by entropy"), "number", by_doubt),
            Head("margin", _("by margin"), "number", by_doubt),
            Head(
                "risk",
                worded(_("Error left to the judge, mean over coverage"), _("Area under the risk-coverage curve")),
                "number",
            ),
            Head("cells", _("Cells"), "count"),
        ),
        rows=tuple(
            (
                code_of(result.judge),
                of.calibration.mean_confidence,
                of.calibration.accuracy,
                of.calibration.expected_error,
                of.calibration.brier,
                of.by_entropy.area,
                of.by_margin.area,
                of.selective.risk_area,
                of.calibration.n,
            )
            for result in compared
            if (of := result.sureness)
        ),
        how=worded(
            _(
                "Confidence is the probability of what the judge chose, from the scores of all options under its "
                "normalisation. ECE is the mean gap between confidence and share right over ten bins of equally many "
                "cells. Doubt is the entropy of the options' probabilities, or how little the first exceeds the "
                "second; given is the probability that a wrong cell has more of it than a right one, 0.5 being chance."
            ),
            _(
                "Confidence is the probability of what the judge chose, from the scores of all options under its "
                "normalisation. ECE is the mean gap between confidence and accuracy over ten bins of equally many "
                "cells. Uncertainty is the entropy of the options' probabilities, or how little the first exceeds the "
                "second; AUROC is the probability that a wrong cell has more of it than a right one, 0.5 being chance."
            ),
        ),
    )


def _thresholds(question: QuestionReport, result: JudgeResult, sureness: Sureness) -> ReportTable:
    def line(option: int, curve: PrecisionRecall) -> tuple[Value, ...]:
        points = [recall_at_precision(curve, precision) for precision in _PRECISIONS]
        reason = next((str(UNDEFINED[point.reason]) for point in points if point.reason), "")
        of_points = [value for point in points for value in (point.recall, point.threshold)]
        return (question.spec.options[option].label, curve.n_positive, curve.average_precision, *of_points, reason)

    title = _("Recall of %(judge)s at a set precision") % {"judge": code_of(result.judge)}
    return ReportTable(
        key=f"{question.data.name}.thresholds.{result.judge.code}",
        about=name_of(question),
        title=under(result.merge, question, title),
        heads=(
            Head("option", _("Option")),
            Head("people", _("People chose it"), "count"),
            Head("average_precision", _("Average precision"), "number"),
            *(
                Head(f"{key}_{precision}", title, "number", _("At precision %(precision)s") % {"precision": precision})
                for precision in _PRECISIONS
                for key, title in (("recall", _("Recall")), ("threshold", _("from probability")))
            ),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(line(option, curve) for option, curve in sureness.curves),
        how=_(
            "An option counts as found where its probability reaches the threshold, whatever the judge chose. The "
            "recall is the highest that any threshold has with at least this precision."
        ),
        folded=True,
    )


def _shares(question: QuestionReport, result: JudgeResult) -> ReportTable:
    def line(option: int, of: PoweredMean) -> tuple[Value, ...]:
        label = question.spec.options[option].label
        return (label, of.people, of.judge, of.value, of.low, of.high, str(UNDEFINED.get(of.reason, of.reason)))

    first = result.shares[0]
    return ReportTable(
        key=f"{question.data.name}.shares.{result.judge.code}",
        about=name_of(question),
        title=_("Shares of the options, from many labels of %(judge)s and people's few")
        % {"judge": code_of(result.judge)},
        heads=(
            Head("option", _("Option")),
            Head("people", _("People"), "share"),
            Head("judge", _("Judge"), "share"),
            Head("value", _("Estimate"), "share"),
            Head("low", _("from"), "share", _("95 % interval")),
            Head("high", _("to"), "share", _("95 % interval")),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(line(option, of) for option, of in enumerate(result.shares) if option in result.options),
        how=_(
            "Prediction-powered estimates: the judge's labels in %(judge)s cells without people, mended by its errors "
            "in the %(people)s cells with both. They hold where people's cells were drawn at random."
        )
        % {"judge": count(first.n_judge_only), "people": count(first.n_people)},
        folded=True,
    )


def _consistency(question: QuestionReport, compared: list[JudgeResult]) -> ReportTable:
    return ReportTable(
        key=f"{question.data.name}.consistency",
        about=name_of(question),
        title=_("How far a judge agrees with itself"),
        heads=(
            Head("judge", _("Judge")),
            Head("all_equal", _("All labels equal"), "share"),
            Head("percent", _("Pairs of labels equal"), "share"),
            Head("alpha", "α", "number"),
            Head("repeats", _("Repeats"), "count"),
            Head("cells", _("Cells"), "count"),
        ),
        rows=tuple(
            (code_of(result.judge), of.all_equal, of.percent, of.alpha.value, of.n_repeats, of.n_cells)
            for result in compared
            if (of := result.consistency)
        ),
        how=_(
            "Over cells that the judge labelled twice or more, its repeats compared as if they were raters. All other "
            "tables rest on its first labels (repeat 1)."
        ),
    )
