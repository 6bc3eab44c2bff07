"""How far people agree."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.scheme import Kind
from reports.compute import QuestionReport, SectionReport, StudyReport
from reports.stats.agreement import Average, MacroAccuracy, MacroKappa, Statistic
from reports.stats.bootstrap import Interval
from reports.tables.base import Head, Table, Value, exposed_how, statistic_heads, under, words_of
from reports.tables.coefficients import drawn_how, ends, interval_how
from reports.words import UNDEFINED, cap, code_of, count, n_pairs, name_of, undefined


def section_tables(report: StudyReport, section: SectionReport) -> Iterator[Table]:
    if section.kappa is None or section.accuracy is None:
        return

    shown = section.macro is not None

    def line(title: str, mean: Average, interval: Interval | None) -> tuple[Value, ...]:
        rests_on = ngettext("%(n)s question", "%(n)s questions", mean.n_questions) % {"n": mean.n_questions}
        return (title, mean.value, *ends(interval, shown=shown), rests_on, str(UNDEFINED[mean.reason]))

    yield Table(
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
                    interval_how(section.macro.accuracy if section.macro else None, words_of(report)),
                ],
            )
        ),
    )


def agreement(report: StudyReport, question: QuestionReport) -> Table:
    words = words_of(report)
    people = question.agreement
    kappa, accuracy = people.kappa, people.accuracy
    weighted = question.spec.kind == Kind.SCALE
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

    macro, of_all = people.macro, people.intervals
    of_accuracy = macro.accuracy if macro else None

    def line(
        title: str, of: Statistic | MacroKappa | MacroAccuracy, rests_on: str, interval: Interval | None = None
    ) -> tuple[Value, ...]:
        shown = ends(interval, shown=macro is not None)
        return (title, of.value, *shown, rests_on, undefined(question, people, of.reason))

    return Table(
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
            line(_("Cohen's κ, pooled"), kappa.pooled, comparisons),
            line(_("Macro accuracy A_h"), accuracy, n_pairs(words, accuracy.n_pairs), of_accuracy),
            line(_("Share of equal answers"), people.percent, comparisons, of_all.get("percent_of_comparisons")),
            line(
                _("Krippendorff's α, ordinal") if weighted else _("Krippendorff's α, nominal"),
                people.alpha,
                cells_twice % {"n": count(cells)},
                of_all.get("alpha"),
            ),
        ),
        how=" ".join(filter(None, [*how, drawn_how(question, words)])),
    )


def pairs(report: StudyReport, question: QuestionReport) -> Table:
    people, sheets = report.data.people, report.data.sheets
    both_chose = _("both chose “%(option)s”")
    return Table(
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
