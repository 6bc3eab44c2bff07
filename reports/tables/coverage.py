"""What all documents together say of an item: found somewhere, found only inexactly, never found."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _

from reports.compute import CoverageResult, QuestionReport, StudyReport
from reports.stats.coverage import Verdict
from reports.tables.base import Head, Table, Value, words_of
from reports.words import VERDICTS, cap, count, name_of


def coverage_tables(report: StudyReport, question: QuestionReport) -> Iterator[Table]:
    if question.coverage is None:
        return
    yield _curve(report, question, question.coverage)
    yield _verdicts(question, question.coverage)
    if question.coverage.verdicts.never_exact:
        yield _never(report, question, question.coverage)


def _curve(report: StudyReport, question: QuestionReport, result: CoverageResult) -> Table:
    words, curve = words_of(report), result.curve
    band = _("Middle %(n)s %% of %(sheets)s") % {"n": round(100 * curve.band), "sheets": words.sheets}
    columns = (curve.n, curve.mean, curve.low, curve.high, curve.pooled, curve.n_sheets)
    return Table(
        key=f"{question.data.name}.coverage",
        about=name_of(question),
        title=_("Share found in at least one of n %(rows)s") % {"rows": words.rows},
        heads=(
            Head("documents", cap(words.rows), "count"),
            Head("mean", _("Mean"), "share"),
            Head("low", _("from"), "share", band),
            Head("high", _("to"), "share", band),
            Head("pooled", _("All items alike"), "share"),
            Head("sheets", cap(words.sheets), "count"),
        ),
        rows=tuple(zip(*(column.tolist() for column in columns), strict=True)),
        how=_(
            "What to expect of n %(rows)s drawn from those of the %(sheet)s, exactly (hypergeometric); the mean over "
            "%(sheets)s. %(n)s items; found means: %(options)s, by any person."
        )
        % {
            "rows": words.rows,
            "sheet": words.sheet,
            "sheets": words.sheets,
            "n": count(curve.n_items),
            "options": _options(question, (*result.exact, *result.inexact)),
        },
        folded=True,
    )


def _verdicts(question: QuestionReport, result: CoverageResult) -> Table:
    verdicts = result.verdicts
    return Table(
        key=f"{question.data.name}.verdicts",
        about=name_of(question),
        title=_("What all documents together say of each item"),
        heads=(
            Head("verdict", _("Verdict")),
            Head("items", _("Items"), "count"),
            Head("share", _("Share"), "share"),
        ),
        rows=tuple((str(VERDICTS[verdict]), verdicts.count(verdict), verdicts.share(verdict)) for verdict in Verdict),
        how=_("Found: somebody chose %(exact)s in some document. Found only inexactly: at best %(inexact)s.")
        % {"exact": _options(question, result.exact), "inexact": _options(question, result.inexact) or "–"},
    )


def _never(report: StudyReport, question: QuestionReport, result: CoverageResult) -> Table:
    table = report.data.table
    chosen = [code for code, option in enumerate(question.spec.options) if not option.blank]
    rows: list[tuple[Value, ...]] = [
        (
            table.sheets[row.sheet],
            table.columns[row.item].name,
            str(VERDICTS[row.verdict]),
            row.n_documents,
            row.inexact_documents,
            *(row.counts[code] for code in chosen),
        )
        for row in result.verdicts.never_exact
    ]
    return Table(
        key=f"{question.data.name}.never-found",
        about=name_of(question),
        title=_("Never found exactly"),
        heads=(
            Head("sheet", cap(words_of(report).sheet)),
            Head("item", question.data.section.column.title),
            Head("verdict", _("Verdict")),
            Head("documents", cap(words_of(report).rows), "count"),
            Head("inexact", _("with it inexactly"), "count"),
            *(
                Head(f"n.{question.spec.options[code].key}", question.spec.options[code].label, "count", _("Answers"))
                for code in chosen
            ),
        ),
        rows=tuple(rows),
        how=_("Items that nobody found as they stand in any document, with how often each option was chosen."),
        folded=len(rows) > 12,
    )


def _options(question: QuestionReport, codes: tuple[int, ...]) -> str:
    return ", ".join(_("“%(option)s”") % {"option": question.spec.options[code].label} for code in codes)
