"""What a report is about, its questions at a glance, and who labelled."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import Rater
from annotation.scheme.spec import SchemeSpec
from reports.data.arrays import INCLUDE, LEAVE_OUT, PEOPLE, Filters
from reports.data.label_table import LabelTable
from reports.numbers.report import QuestionReport, SectionReport, StudyReport
from reports.numbers.values import ValueReport
from reports.tables.base import (
    Head,
    ReportTable,
    Value,
    all_questions_of,
    exposed_how,
    questions_of,
    withdrawn_how,
    words_of,
)
from reports.tables.groups import facet_name
from reports.words import METRICS, UNDEFINED, cap, code_of, count, heard, name_of, pairs_of, undefined, worded


def about(report: StudyReport) -> list[tuple[str, str]]:
    """What a report is about: its study, and each filter that leaves something out."""
    data = report.data
    lines = [(_("Study"), data.table.title), (_("Scheme"), scheme_of(data.scheme))]
    if simulated := data.simulated:
        lines.append((_("Simulated raters"), ", ".join(rater.code for rater in simulated)))
    return [*lines, *_chosen(report), *_read(report), *_counted(report)]


def _chosen(report: StudyReport) -> Iterator[tuple[str, str]]:
    """Which raters, sheets, questions and options it is about."""
    data, filters = report.data, report.filters
    if filters.people:
        yield (_("People"), ", ".join(code_of(rater) for rater in data.people))
    if filters.judges:
        yield (_("Judges"), ", ".join(code_of(rater) for rater in data.judges))
    if filters.sheets:
        yield (cap(data.scheme.words.sheets), ", ".join(data.sheets))
    if filters.questions:
        yield (
            _("Questions"),
            ", ".join(name_of(question) for question in all_questions_of(report)),
        )
    for facet, wanted in filters.facets.items():
        yield (cap(facet_name(report, facet)), ", ".join(word or "–" for word in wanted))
    if filters.group:
        yield (_("Told apart by"), facet_name(report, filters.group))
    for question in questions_of(report):
        if question.data.name in filters.merges:
            merge = question.agreement.merge
            options = _("Options of %(question)s") % {"question": name_of(question)}
            yield (options, merge.title if merge else _("all told apart"))
    for question in questions_of(report):
        if question.data.name in filters.found:
            found = [
                option.label for option in question.spec.options if option.key in filters.found[question.data.name]
            ]
            yield (_("Counts as found, %(question)s") % {"question": name_of(question)}, ", ".join(found))


def _read(report: StudyReport) -> Iterator[tuple[str, str]]:
    """Whose answers are read, and what texts are compared by."""
    data, filters = report.data, report.filters
    voices = next((question.voices for question in questions_of(report)), ())
    if [of.voice.name for of in voices] not in ([], [PEOPLE]):
        yield (_("Selections and coverage of"), ", ".join(heard(of.voice) for of in voices))
    if filters.metrics:
        yield (_("Text metrics"), ", ".join(str(METRICS[key][0]) for key in filters.metrics))
    if filters.references:
        named = [rater for rater in (*data.people, *data.judges, *data.golds) if rater.code in filters.references]
        yield (_("References of text metrics"), ", ".join(code_of(rater) for rater in named))
    if filters.unanswered:
        what = (
            _("Judges' unreadable and failed cells") if filters.before_left_out else _("Judges' cells without a text")
        )
        yield (what, _("count as empty texts"))


def _counted(report: StudyReport) -> Iterator[tuple[str, str]]:
    """Which rows and labels count."""
    data, filters = report.data, report.filters
    words = data.scheme.words
    if filters.submitted_only:
        yield (cap(words.rows), _("submitted ones only"))
    if filters.as_of:
        yield (_("As it stood on"), stood_on(filters))
    if wording := by_wording(report):
        yield (_("Labels by wording"), wording)
    if filters.apart:
        said = _("counted like the others") if filters.apart == INCLUDE else _("left out")
        yield (_("%(rows)s searched for by an item's name") % {"rows": cap(words.rows)}, said)
    if data.table.seen:
        said = _("left out") if filters.seen == LEAVE_OUT else _("counted; judges do better there than elsewhere")
        yield (
            _("%(rows)s that judges have seen with people's answers") % {"rows": cap(words.rows)},
            f"{said}: {seen_by(data.table)}",
        )
    n_exposed = sum(question.data.n_exposed for question in all_questions_of(report))
    if n_exposed or filters.exposure == INCLUDE:
        said = exposed_how(report, n_exposed) or _("there are none; they would count like the others")
        yield (worded(_("Labels given after a look"), _("Non-blind labels")), said)


def seen_by(table: LabelTable) -> str:
    """Which judges were fitted to rows, or have them as examples, and how many."""
    return ", ".join(f"{code_of(table.raters[entry.rater])} {count(len(entry.rows))}" for entry in table.seen)


def stood_on(filters: Filters) -> str:
    """The moment as of which a report is; "" as the study stands. In UTC: a frozen report says it anywhere alike."""
    if filters.moment is None:
        return ""
    return f"{filters.moment:%Y-%m-%d %H:%M:%S}".removesuffix(":00") + " UTC"


def by_wording(report: StudyReport) -> str:
    """Labels by which wording a report is of, and how many it leaves out; "" where it is of all."""
    if report.filters.of_wording is None:
        return ""
    since, version = report.filters.of_wording
    n = report.data.n_of_other_wordings
    if since:
        said = ngettext(
            "only those given from version %(version)s of the scheme on; %(n)s other is left out",
            "only those given from version %(version)s of the scheme on; %(n)s others are left out",
            n,
        )
    else:
        said = ngettext(
            "only those given before version %(version)s of the scheme; %(n)s other is left out",
            "only those given before version %(version)s of the scheme; %(n)s others are left out",
            n,
        )
    return said % {"version": version, "n": count(n)}


def scheme_of(scheme: SchemeSpec) -> str:
    return _("%(title)s (version %(version)s)") % {"title": scheme.title, "version": scheme.version}


def overview(report: StudyReport) -> ReportTable:
    rows: list[tuple[Value, ...]] = []
    sums = []
    single = _by_single_rows(report)
    none = (None, None) if single else ()
    has_scales = not report.filters.before_ac2 and any(of.agreement.among.ac2 for of in questions_of(report))
    no_ac = (None, None) if has_scales else (None,)
    for section in report.sections:
        rows += [
            _value_line(question, none, no_ac)
            if isinstance(question, ValueReport)
            else _option_line(report, question, single, has_scales=has_scales)
            for question in section.in_order
        ]
        if section.kappa is not None and section.accuracy is not None:
            title = _("%(section)s: mean of its questions") % {"section": section.title}
            alike = single.isdisjoint(question.data.name for question in section.questions)
            kappa, reason = (section.kappa.value, str(UNDEFINED[section.kappa.reason])) if alike else (None, "")
            rows.append((title, None, None, kappa, None, *none, section.accuracy.value, *no_ac, None, reason))
        sums.append(_sum(section))
    filled = sum(question.summary.n_filled for question in all_questions_of(report))
    rows.append((_("All questions"), report.n_cells, filled, None, None, *none, None, *no_ac, None, ""))
    how = [
        _(
            "People had %(n)s cells to fill, each counted once for each person: %(sum)s. κ and A_h are macro averages. "
            "Where the most frequent option has a large share of the answers, κ is low whatever raters do; AC1 is not."
        )
        % {"n": count(report.n_cells), "sum": " + ".join(sums)}
    ]
    if has_scales:
        how.append(_("AC2 is to AC1 what weighted κ is to κ: it knows how far apart the options of a scale are."))
    if single:
        how.append(
            _("α is of all %(sheets)s together; where most have a single %(row)s, it stands in place of κ.")
            % {"sheets": words_of(report).sheets, "row": words_of(report).row}
        )
    return ReportTable(
        key="overview",
        about="",
        title=_("At a glance"),
        heads=(
            Head("question", _("Question")),
            Head("cells", _("Cells to fill"), "count"),
            Head("filled", _("Filled in"), "count"),
            Head("kappa", _("Cohen's κ"), "number"),
            Head("pairs", cap(pairs_of(words_of(report))), "count"),
            *(
                (Head("alpha", _("Krippendorff's α"), "number"), Head("shared", _("Cells with two answers"), "count"))
                if single
                else ()
            ),
            Head("accuracy", "A_h", "number"),
            Head("ac1", "AC1", "number"),
            *((Head("ac2", "AC2", "number"),) if has_scales else ()),
            Head("majority", _("Most frequent option"), "share"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(rows),
        how=" ".join(filter(None, [*how, withdrawn_how(report)])),
    )


def _by_single_rows(report: StudyReport) -> set[str]:
    """Names of the questions of which agreement is told of all sheets together, as on the first page."""
    if report.filters.before_single_rows:
        return set()
    return {question.data.name for question in questions_of(report) if report.by_single_rows(question)}


def _option_line(
    report: StudyReport, question: QuestionReport, single: set[str], *, has_scales: bool
) -> tuple[Value, ...]:
    """single: the questions without κ; where there are any, all questions with options have α. has_scales: some
    question has AC2."""
    agreement, summary, among = question.agreement, question.summary, question.agreement.among
    kappa, alpha = agreement.kappa, agreement.alpha
    of_alpha = (alpha.value, alpha.n_cells) if single else ()
    if question.data.name in single:
        of_kappa: tuple[Value, ...] = (None, None)
        reason = undefined(question, agreement, alpha.reason) or _("most %(sheets)s have a single %(row)s: see α") % {
            "sheets": words_of(report).sheets,
            "row": words_of(report).row,
        }
    else:
        of_kappa = (kappa.value, kappa.n_pairs)
        reason = undefined(question, agreement, kappa.reason)
    return (
        *(name_of(question), summary.n, summary.n_filled, *of_kappa, *of_alpha, agreement.accuracy.value),
        among.ac1.value,
        *((among.ac2.value if among.ac2 else None,) if has_scales else ()),
        *(among.prevalence.majority_share, reason),
    )


def _value_line(question: ValueReport, none: tuple[None, ...], no_ac: tuple[None, ...]) -> tuple[Value, ...]:
    """A question without options has neither κ nor AC1, nor an option that is the most frequent one; `none`: nor α of
    options; `no_ac`: nor AC2."""
    summary, accuracy = question.summary, question.accuracy
    reason = _("answered by values: see percent agreement and α")
    return (
        *(name_of(question), summary.n, summary.n_filled, None, accuracy.n_pairs, *none, accuracy.value),
        *(*no_ac, question.majority, reason),
    )


def _sum(section: SectionReport) -> str:
    """How a section's cells add up: "Tasks 3 × 9,693"."""
    sizes = [question.summary.n for question in section.in_order]
    if len(sizes) > 1 and len(set(sizes)) == 1:
        return f"{section.title} {len(sizes)} × {count(sizes[0])}"
    return f"{section.title} {count(sum(sizes))}"


def raters(report: StudyReport) -> ReportTable:
    # Only where somebody has some.
    also = [
        (Head(key, title, "count"), numbers)
        for key, title, numbers in (
            ("skipped", _("Skipped"), [work.skipped for work in report.data.work]),
            ("unreadable", _("Unreadable"), [work.unreadable for work in report.data.work]),
            (
                "exposed",
                worded(_("Labels after a look"), _("Non-blind labels")),
                [work.exposed for work in report.data.work],
            ),
            (
                "of_other_wordings",
                _("Labels by other wordings"),
                [work.of_other_wordings for work in report.data.work],
            ),
        )
        if any(numbers)
    ]
    how = [
        _(
            "Labels count all that stands in the grid, presets too. Withdrawn work is not in this report; where a "
            "rater labelled the same several times, the first labels (repeat 1) are."
        )
    ]
    if any(head.key == "unreadable" for head, _numbers in also):
        how.append(_("Unreadable: a judge's answer held no verdict, so its cell has no label."))
    if any(head.key == "of_other_wordings" for head, _numbers in also):
        how.append(_("Labels by other wordings are left out of this report, and are not among its labels."))
    how.append(withdrawn_how(report))
    return ReportTable(
        key="raters",
        about="",
        title=_("Who labelled"),
        heads=(
            Head("rater", _("Rater")),
            Head("kind", _("Kind")),
            Head("rows", cap(words_of(report).rows), "count"),
            Head("submitted", _("Submitted"), "count"),
            Head("failed", _("Failed"), "count"),
            Head("labels", _("Labels"), "count"),
            *(head for head, _numbers in also),
        ),
        rows=tuple(
            (
                code_of(work.rater),
                str(Rater.Kind(work.rater.kind).label),
                work.rows,
                work.submitted,
                work.failed,
                work.labels,
                *(numbers[place] for _head, numbers in also),
            )
            for place, work in enumerate(report.data.work)
        ),
        how=" ".join(filter(None, how)),
    )
