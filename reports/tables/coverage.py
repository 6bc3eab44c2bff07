"""What all documents together say of an item: found somewhere, found only inexactly, never found."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _

from reports.data.arrays import MAJORITY, PEOPLE
from reports.numbers.report import CoverageResult, QuestionReport, StudyReport, VoiceReport
from reports.stats.coverage import Verdict
from reports.stats.summary import Empty
from reports.tables.base import Head, ReportTable, Value, key_of_voice, words_of
from reports.tables.selections import ties_how
from reports.words import EMPTY, VERDICTS, cap, count, heard, name_of, not_asked_how


def coverage_tables(report: StudyReport, question: QuestionReport) -> Iterator[ReportTable]:
    for of in question.voices:
        if of.coverage is not None:
            yield _curve(report, question, of, of.coverage)
            yield _verdicts(question, of, of.coverage)
            if of.coverage.verdicts.never_exact:
                yield _never(report, question, of, of.coverage)


def _named(title: str, of: VoiceReport) -> str:
    """The title with whose answers it rests on, where they are not just anybody's."""
    return title if of.voice.name == PEOPLE else f"{title} ({heard(of.voice)})"


def _curve(report: StudyReport, question: QuestionReport, of: VoiceReport, result: CoverageResult) -> ReportTable:
    words, curve = words_of(report), result.curve
    band = _("Middle %(n)s %% of %(sheets)s") % {"n": round(100 * curve.band), "sheets": words.sheets}
    columns = (curve.n, curve.mean, curve.low, curve.high, curve.pooled, curve.n_sheets)
    said = {
        "rows": words.rows,
        "sheet": words.sheet,
        "sheets": words.sheets,
        "n": count(curve.n_items),
        "options": _options(question, result.covers),
    }
    if of.voice.name == PEOPLE:
        how = [
            _(
                "What to expect of n %(rows)s drawn from those of the %(sheet)s, exactly (hypergeometric); the mean "
                "over %(sheets)s. %(n)s items; found means: %(options)s, by any person."
            )
            % said
        ]
    else:
        how = [
            _(
                "What to expect of n %(rows)s drawn from those of the %(sheet)s, exactly (hypergeometric); the mean "
                "over %(sheets)s. %(n)s items; found means: %(options)s, as %(rater)s answered."
            )
            % {**said, "rater": heard(of.voice)}
        ]
    if not report.filters.first_coverage:
        how.append(not_asked_how(words, result.n_not_asked))
    if of.voice.name == MAJORITY:
        how.append(ties_how(of))
    return ReportTable(
        key=key_of_voice(question, "coverage", of.voice),
        about=name_of(question),
        title=_named(_("Share found in at least one of n %(rows)s") % {"rows": words.rows}, of),
        heads=(
            Head("documents", cap(words.rows), "count"),
            Head("mean", _("Mean"), "share"),
            Head("low", _("from"), "share", band),
            Head("high", _("to"), "share", band),
            Head("pooled", _("All items alike"), "share"),
            Head("sheets", cap(words.sheets), "count"),
        ),
        rows=tuple(zip(*(column.tolist() for column in columns), strict=True)),
        how=" ".join(filter(None, how)),
        folded=True,
    )


def _verdicts(question: QuestionReport, of: VoiceReport, result: CoverageResult) -> ReportTable:
    verdicts = result.verdicts
    return ReportTable(
        key=key_of_voice(question, "verdicts", of.voice),
        about=name_of(question),
        title=_named(_("What all documents together say of each item"), of),
        heads=(
            Head("verdict", _("Verdict")),
            Head("items", _("Items"), "count"),
            Head("share", _("Share"), "share"),
        ),
        rows=tuple((str(VERDICTS[verdict]), verdicts.count(verdict), verdicts.share(verdict)) for verdict in Verdict),
        how=_("Found: somebody chose %(exact)s in some document. Found only inexactly: at best %(inexact)s.")
        % {"exact": _options(question, result.exact), "inexact": _options(question, result.inexact) or "–"},
    )


def _never(report: StudyReport, question: QuestionReport, of: VoiceReport, result: CoverageResult) -> ReportTable:
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
            *(row.counts[len(question.spec.options) :] if result.n_not_asked else ()),
        )
        for row in result.verdicts.never_exact
    ]
    return ReportTable(
        key=key_of_voice(question, "never-found", of.voice),
        about=name_of(question),
        title=_named(_("Never found exactly"), of),
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
            *((Head("n.-", str(EMPTY[Empty.NOT_ASKED]), "count", _("Answers")),) if result.n_not_asked else ()),
        ),
        rows=tuple(rows),
        how=_("Items that nobody found as they stand in any document, with how often each option was chosen."),
        folded=len(rows) > 12,
    )


def _options(question: QuestionReport, codes: tuple[int, ...]) -> str:
    return ", ".join(_("“%(option)s”") % {"option": question.spec.options[code].label} for code in codes)
