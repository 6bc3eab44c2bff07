"""How far people agree."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.scheme.spec import Kind, Words
from reports.numbers.report import QuestionReport, SectionReport, StudyReport
from reports.stats.agreement import Average, MacroAccuracy, MacroKappa, Statistic
from reports.stats.bootstrap import Interval
from reports.stats.small_sheets import CorrectedKappa
from reports.tables.base import Head, ReportTable, Value, exposed_how, statistic_heads, under, words_of
from reports.tables.coefficients import drawn_how, ends, first_of, interval_how
from reports.tables.rounding import rounded
from reports.words import UNDEFINED, cap, code_of, count, n_pairs, name_of, undefined, worded


def section_tables(report: StudyReport, section: SectionReport) -> Iterator[ReportTable]:
    if section.kappa is None or section.accuracy is None:
        return

    shown = section.macro is not None

    def line(title: str, mean: Average, interval: Interval | None) -> tuple[Value, ...]:
        rests_on = ngettext("%(n)s question", "%(n)s questions", mean.n_questions) % {"n": mean.n_questions}
        return (title, mean.value, *ends(interval, shown=shown), rests_on, str(UNDEFINED[mean.reason]))

    yield ReportTable(
        key=f"{section.key}.agreement",
        about=section.title,
        title=_("How far people agree, all questions together"),
        heads=statistic_heads(intervals=shown),
        rows=(
            line(_("Cohen's κ, macro average"), section.kappa, section.macro.kappa if section.macro else None),
            line(_("Macro accuracy A_h"), section.accuracy, section.macro.accuracy if section.macro else None),
        ),
        how=" ".join(
            filter(
                None,
                [
                    _("The mean of the questions' values, each question counting alike."),
                    interval_how(
                        first_of([section.macro.accuracy, section.macro.kappa]) if section.macro else None,
                        words_of(report),
                    ),
                ],
            )
        ),
    )


def agreement(report: StudyReport, question: QuestionReport) -> ReportTable:
    words = words_of(report)
    people = question.agreement
    kappa, accuracy = people.kappa, people.accuracy
    weighted = question.spec.kind == Kind.SCALE
    named = weighted and not report.filters.before_weighted_judges
    comparisons = ngettext("%(n)s comparison", "%(n)s comparisons", kappa.n_comparisons) % {
        "n": count(kappa.n_comparisons)
    }
    cells = people.alpha.n_cells
    cells_twice = ngettext("%(n)s cell with two answers or more", "%(n)s cells with two answers or more", cells)
    how = [
        _(
            "1 is full agreement; for κ and α, 0 is what chance would give. The macro average of κ is the mean over "
            "each %(sheet)s and each pair of its raters; A_h is the mean over pairs of the mean over %(sheets)s of "
            "the share of equal answers. Only cells that both filled in are compared."
        )
        % {"sheet": words.sheet, "sheets": words.sheets},
    ]
    if kappa.n_undefined:
        left_out = ngettext(
            "%(pairs)s is left out: its κ is not defined.",
            "%(pairs)s are left out: their κ is not defined.",
            kappa.n_undefined,
        )
        how.append(left_out % {"pairs": n_pairs(words, kappa.n_undefined)})
    how.append(exposed_how(report, question.data.n_exposed))
    if kappa.n_unshared:
        how.append(_("In %(pairs)s, the raters share no cell.") % {"pairs": n_pairs(words, kappa.n_unshared)})

    small = people.corrected
    if small is not None and small.value is not None:
        how.append(_small_sheets_how(words, small))
    macro, of_all = people.macro, people.intervals
    of_accuracy = macro.accuracy if macro else None

    def line(
        title: str,
        of: Statistic | MacroKappa | CorrectedKappa | MacroAccuracy,
        rests_on: str,
        interval: Interval | None = None,
    ) -> tuple[Value, ...]:
        shown = ends(interval, shown=macro is not None)
        return (title, of.value, *shown, rests_on, undefined(question, people, of.reason))

    return ReportTable(
        key=f"{question.data.name}.agreement",
        about=name_of(question),
        title=under(people.merge, question, _("How far people agree")),
        heads=statistic_heads(intervals=macro is not None),
        rows=(
            line(
                _("Cohen's κ, quadratic weights, macro average") if weighted else _("Cohen's κ, macro average"),
                kappa,
                n_pairs(words, kappa.n_pairs),
                macro.kappa if macro else None,
            ),
            *(
                [
                    line(
                        (
                            _("Cohen's κ, quadratic weights, macro average, corrected for small %(sheets)s")
                            if named
                            else _("Cohen's κ, macro average, corrected for small %(sheets)s")
                        )
                        % {"sheets": words.sheets},
                        small,
                        n_pairs(words, small.n_pairs),
                        macro.corrected if macro else None,
                    )
                ]
                if small
                else []
            ),
            line(_pooled(report, named=named), kappa.pooled, comparisons),
            line(_("Macro accuracy A_h"), accuracy, n_pairs(words, accuracy.n_pairs), of_accuracy),
            line(
                worded(_("Share of equal answers"), _("Percent agreement")),
                people.percent,
                comparisons,
                of_all.get("percent_of_comparisons"),
            ),
            line(
                _("Krippendorff's α, ordinal") if weighted else _("Krippendorff's α, nominal"),
                people.alpha,
                cells_twice % {"n": count(cells)},
                of_all.get("alpha"),
            ),
        ),
        how=" ".join(filter(None, [*how, drawn_how(question, words)])),
    )


def _pooled(report: StudyReport, *, named: bool) -> str:
    """Of each comparison both ways round, so that both seats have the same margins."""
    if report.filters.before_scott:
        return _("Cohen's κ, quadratic weights, pooled") if named else _("Cohen's κ, pooled")
    return _("Scott's π, quadratic weights, all comparisons") if named else _("Scott's π, all comparisons")


def _small_sheets_how(words: Words, small: CorrectedKappa) -> str:
    said = _(
        "In %(sheets)s with few %(rows)s the macro average of κ comes out too low, here by about %(bias)s; corrected, "
        "chance is taken between different %(rows)s, not within one."
    ) % {
        "sheets": words.sheets,
        "rows": words.rows,
        "bias": number_format(max(rounded(-(small.bias or 0.0), 3), Decimal("0.000"))),
    }
    if small.n_left_out:
        left_out = ngettext(
            "%(pairs)s is left out of it, with a single shared %(row)s or no defined κ.",
            "%(pairs)s are left out of it, with a single shared %(row)s or no defined κ.",
            small.n_left_out,
        )
        said += " " + left_out % {"pairs": n_pairs(words, small.n_left_out), "row": words.row}
    return said


def pairs(report: StudyReport, question: QuestionReport) -> ReportTable:
    people, sheets = report.data.people, report.data.sheets
    both_chose = _("both chose “%(option)s”")
    return ReportTable(
        key=f"{question.data.name}.pairs",
        about=name_of(question),
        title=under(question.agreement.merge, question, _("κ of each pair")),
        heads=(
            Head("sheet", cap(words_of(report).sheet)),
            Head("rater_a", _("Rater")),
            Head("rater_b", _("Rater")),
            Head("kappa", "κ", "number"),
            Head("agreed", _("Equal answers"), "count"),
            Head("cells", _("Cells"), "count"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(
            (
                sheets[row.sheet],
                code_of(people[row.rater_a]),
                code_of(people[row.rater_b]),
                row.value,
                row.agreed,
                row.n,
                both_chose % {"option": question.spec.options[option].label} if row.reason else "",
            )
            for row, option in zip(question.agreement.kappa.rows, question.agreement.both_chose, strict=True)
        ),
        folded=True,
    )
