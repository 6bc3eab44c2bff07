"""A computed report as tables, the one form that page, CSV, XLSX and JSON share: what one reads, one downloads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.scheme import Kind, Merge, Words
from reports.compute import Agreement, GoldResult, JudgeResult, QuestionReport, SectionReport, StudyReport
from reports.stats.agreement import Average, MacroAccuracy, MacroKappa, Statistic
from reports.words import EMPTY, UNDEFINED, cap, code_of, count, n_pairs, name_of, pairs_of, undefined

HeadKind = Literal["text", "note", "count", "share", "number"]
Value = str | int | float | None


@dataclass(frozen=True)
class Head:
    """A column. `key` names it in JSON, `group` is a heading above several columns.

    The texts of a row name it; a `note` is a remark on it. A `share` is 0 to 1 and shown in per cent.
    """

    key: str
    title: str
    kind: HeadKind = "text"
    group: str = ""

    @property
    def full_title(self) -> str:
        return f"{self.group}: {self.title}" if self.group else self.title


@dataclass(frozen=True)
class Table:
    """`key` names it in files, such as "ingredients.presence.selections". `how` says how to read it.

    A number that is None with a note in its row is not defined, and the note says why. A row whose first text is
    indented is a part of the row above it.
    """

    key: str
    about: str
    title: str
    heads: tuple[Head, ...]
    rows: tuple[tuple[Value, ...], ...]
    how: str = ""
    folded: bool = False  # on the page, since it is long
    shaded: bool = False  # on the page: grouped counts, by their share of the row

    @property
    def full_title(self) -> str:
        return f"{self.about}: {self.title}" if self.about else self.title

    def wholes(self) -> list[str]:
        """For each row the name of the row that it is a part of, or ""."""
        whole, wholes = "", []
        for row in self.rows:
            part = str(row[0]).startswith(" ")
            wholes.append(whole if part else "")
            whole = whole if part else str(row[0])
        return wholes


def about(report: StudyReport) -> list[tuple[str, str]]:
    """What a report is about: its study, and each filter that leaves something out."""
    data, filters = report.data, report.filters
    study, words = data.study, data.study.scheme.parsed.words
    lines = [(_("Study"), study.title), (_("Scheme"), str(study.scheme))]
    if simulated := data.simulated:
        lines.append((_("Simulated raters"), ", ".join(rater.code for rater in simulated)))
    if filters.people:
        lines.append((_("People"), ", ".join(code_of(rater) for rater in data.people)))
    if filters.judges:
        lines.append((_("Judges"), ", ".join(code_of(rater) for rater in data.judges)))
    if filters.sheets:
        lines.append((cap(words.sheets), ", ".join(sheet.title for sheet in data.sheets)))
    for question in _questions(report):
        if question.data.name in filters.merges:
            merge = question.agreement.merge
            options = _("Options of %(question)s") % {"question": name_of(question)}
            lines.append((options, merge.title if merge else _("all told apart")))
    if filters.submitted_only:
        lines.append((cap(words.rows), _("submitted ones only")))
    return lines


def tables(report: StudyReport) -> Iterator[Table]:
    """All tables of a report, in the order of the page."""
    yield overview(report)
    for section in report.sections:
        yield from section_tables(report, section)
        for question in section.questions:
            yield from question_tables(report, question)
    yield raters(report)


def overview(report: StudyReport) -> Table:
    rows: list[tuple[Value, ...]] = []
    sums = []
    for section in report.sections:
        for question in section.questions:
            kappa, accuracy, summary = question.agreement.kappa, question.agreement.accuracy, question.summary
            reason = undefined(question, question.agreement, kappa.reason)
            rows.append(
                (name_of(question), summary.n, summary.n_filled, kappa.value, kappa.n_pairs, accuracy.value, reason)
            )
        if section.kappa is not None and section.accuracy is not None:
            title = _("%(section)s: mean of its questions") % {"section": section.title}
            reason = str(UNDEFINED[section.kappa.reason])
            rows.append((title, None, None, section.kappa.value, None, section.accuracy.value, reason))
        sums.append(_sum(section))
    filled = sum(question.summary.n_filled for question in _questions(report))
    rows.append((_("All questions"), report.n_cells, filled, None, None, None, ""))
    return Table(
        key="overview",
        about="",
        title=_("At a glance"),
        heads=(
            Head("question", _("Question")),
            Head("cells", _("Cells to fill"), "count"),
            Head("filled", _("Filled in"), "count"),
            Head("kappa", _("Cohen's κ"), "number"),
            Head("pairs", cap(pairs_of(_words(report))), "count"),
            Head("accuracy", "A_h", "number"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(rows),
        how=_(
            "People had %(n)s cells to fill, each counted once for each person: %(sum)s. κ and A_h are macro averages."
        )
        % {"n": count(report.n_cells), "sum": " + ".join(sums)},
    )


def _sum(section: SectionReport) -> str:
    """How a section's cells add up: "Tasks 3 × 9,693"."""
    sizes = [question.summary.n for question in section.questions]
    if len(sizes) > 1 and len(set(sizes)) == 1:
        return f"{section.title} {len(sizes)} × {count(sizes[0])}"
    return f"{section.title} {count(sum(sizes))}"


def raters(report: StudyReport) -> Table:
    return Table(
        key="raters",
        about="",
        title=_("Who labelled"),
        heads=(
            Head("rater", _("Rater")),
            Head("kind", _("Kind")),
            Head("rows", cap(_words(report).rows), "count"),
            Head("submitted", _("Submitted"), "count"),
            Head("failed", _("Failed"), "count"),
            Head("labels", _("Labels"), "count"),
        ),
        rows=tuple(
            (
                code_of(work.rater),
                str(work.rater.get_kind_display()),
                work.rows,
                work.submitted,
                work.failed,
                work.labels,
            )
            for work in report.data.work
        ),
        how=_(
            "Labels count all that stands in the grid, presets too. Withdrawn work and repeats are not in this report."
        ),
    )


def section_tables(report: StudyReport, section: SectionReport) -> Iterator[Table]:
    if section.kappa is None or section.accuracy is None:
        return

    def line(title: str, mean: Average) -> tuple[Value, ...]:
        rests_on = ngettext("%(n)s question", "%(n)s questions", mean.n_questions) % {"n": mean.n_questions}
        return (title, mean.value, rests_on, str(UNDEFINED[mean.reason]))

    yield Table(
        key=f"{section.key}.agreement",
        about=section.title,
        title=_("How far people agree, all questions together"),
        heads=_statistic_heads(),
        rows=(line(_("Cohen's κ, macro average"), section.kappa), line(_("Macro accuracy A_h"), section.accuracy)),
        how=_("The mean of the questions' values, each question counting alike."),
    )


def question_tables(report: StudyReport, question: QuestionReport) -> Iterator[Table]:
    yield _selections(question)
    yield _agreement(question, question.agreement, _words(report))
    if question.agreement.kappa.rows:
        yield _pairs(report, question)
    if question.judges:
        yield _judges(report, question)
        for judge in question.judges:
            if judge.confusion.n_comparisons:
                yield _confusion(question, judge)
    for gold in question.golds:
        yield _gold(question, gold, _words(report))


def _selections(question: QuestionReport) -> Table:
    summary, options = question.summary, question.spec.options
    rows: list[tuple[Value, ...]] = [(options[row.code].label, row.count, row.share) for row in summary.options]
    how = _("Every cell that a person was to fill counts once for each person.")
    if summary.n_not_filled:
        rows.append((_("Not filled in"), summary.n_not_filled, summary.share_not_filled))
        for part in summary.not_filled:
            if part.count:
                label = options[part.code].label if part.code >= 0 else str(EMPTY[part.code])
                rows.append((f"    {label}", part.count, part.share))
        how += " " + _("Below “Not filled in” stands what it is made of.")
    rows.append((_("Total"), summary.n, 1.0 if summary.n else None))
    return Table(
        key=f"{question.data.name}.selections",
        about=name_of(question),
        title=_("Selections"),
        heads=(
            Head("selection", _("Selection")),
            Head("count", _("Count"), "count"),
            Head("share", _("Percentage"), "share"),
        ),
        rows=tuple(rows),
        how=how,
    )


def _statistic_heads() -> tuple[Head, ...]:
    return (
        Head("statistic", _("Statistic")),
        Head("value", _("Value"), "number"),
        Head("rests_on", _("Rests on"), "note"),
        Head("because", _("Not defined because"), "note"),
    )


def _agreement(question: QuestionReport, agreement: Agreement, words: Words) -> Table:
    kappa, accuracy = agreement.kappa, agreement.accuracy
    weighted = question.spec.kind == Kind.SCALE
    comparisons = ngettext("%(n)s comparison", "%(n)s comparisons", kappa.n_comparisons) % {
        "n": count(kappa.n_comparisons)
    }
    cells = agreement.alpha.n_cells
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
    if kappa.n_unshared:
        how.append(_("In %(pairs)s, the raters share no cell.") % {"pairs": n_pairs(words, kappa.n_unshared)})

    def line(title: str, of: Statistic | MacroKappa | MacroAccuracy, rests_on: str) -> tuple[Value, ...]:
        return (title, of.value, rests_on, undefined(question, agreement, of.reason))

    return Table(
        key=f"{question.data.name}.agreement",
        about=name_of(question),
        title=_under(agreement.merge, question, _("How far people agree")),
        heads=_statistic_heads(),
        rows=(
            line(
                _("Cohen's κ, quadratic weights, macro average") if weighted else _("Cohen's κ, macro average"),
                kappa,
                n_pairs(words, kappa.n_pairs),
            ),
            line(_("Cohen's κ, pooled"), kappa.pooled, comparisons),
            line(_("Macro accuracy A_h"), accuracy, n_pairs(words, accuracy.n_pairs)),
            line(_("Share of equal answers"), agreement.percent, comparisons),
            line(
                _("Krippendorff's α, ordinal") if weighted else _("Krippendorff's α, nominal"),
                agreement.alpha,
                cells_twice % {"n": count(cells)},
            ),
        ),
        how=" ".join(how),
    )


def _pairs(report: StudyReport, question: QuestionReport) -> Table:
    people, sheets = report.data.people, report.data.sheets
    agreement = question.agreement
    both_chose = _("both chose “%(option)s”")
    return Table(
        key=f"{question.data.name}.pairs",
        about=name_of(question),
        title=_under(agreement.merge, question, _("κ of each pair")),
        heads=(
            Head("sheet", cap(_words(report).sheet)),
            Head("rater_a", _("Rater")),
            Head("rater_b", _("Rater")),
            Head("kappa", "κ", "number"),
            Head("agreed", _("Equal answers"), "count"),
            Head("cells", _("Cells"), "count"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(
            (
                sheets[row.sheet].title,
                code_of(people[row.rater_a]),
                code_of(people[row.rater_b]),
                row.value,
                row.agreed,
                row.n,
                both_chose % {"option": question.spec.options[option].label} if row.reason else "",
            )
            for row, option in zip(agreement.kappa.rows, agreement.both_chose, strict=True)
        ),
        folded=True,
    )


def _judges(report: StudyReport, question: QuestionReport) -> Table:
    words = _words(report)
    people = question.ceiling.accuracy
    rows: list[tuple[Value, ...]] = [
        (
            code_of(result.judge),
            result.accuracy.value,
            result.baseline.accuracy.value,
            result.accuracy.n_cells,
            result.accuracy.n_recipes,
            result.accuracy.n_unlabelled,
            str(UNDEFINED[result.accuracy.reason]),
        )
        for result in question.judges
    ]
    people_alone = _("people among themselves (A_h)")
    rows.append((people_alone, people.value, None, people.n_cells, None, None, str(UNDEFINED[people.reason])))
    how = [
        _(
            "A_m is the mean over %(sheets)s of the share of cells in which the judge chose what a person chose; "
            "where several people answered, any of them will do, and the cell counts once. A judge is worth its "
            "price where it beats the second column, and as good as a person where it reaches the last line."
        )
        % {"sheets": words.sheets}
    ]
    for work in report.data.work:
        if work.failed and work.rater in [result.judge for result in question.judges]:
            failed = _("%(judge)s failed on %(n)s of %(all)s %(rows)s; their cells are left out.")
            how.append(
                failed
                % {"judge": code_of(work.rater), "n": count(work.failed), "all": count(work.rows), "rows": words.rows}
            )
    return Table(
        key=f"{question.data.name}.judges",
        about=name_of(question),
        title=_under(question.ceiling.merge, question, _("How far judges agree with people")),
        heads=(
            Head("judge", _("Judge")),
            Head("accuracy", "A_m", "number"),
            Head("baseline", _("Always the commonest option"), "number"),
            Head("cells", _("Cells"), "count"),
            Head("sheets", cap(words.sheets), "count"),
            Head("unlabelled", _("Left out: no label"), "count"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(rows),
        how=" ".join(how),
    )


def _confusion(question: QuestionReport, result: JudgeResult) -> Table:
    options, table = question.spec.options, result.confusion.table
    judge = code_of(result.judge)
    chose = _("%(judge)s chose") % {"judge": judge}
    return Table(
        key=f"{question.data.name}.confusion.{result.judge.code}",
        about=name_of(question),
        title=_under(result.merge, question, _("People against %(judge)s") % {"judge": judge}),
        heads=(
            Head("people", _("People chose")),
            *(Head(f"judge.{options[code].key}", options[code].label, "count", chose) for code in result.options),
            Head("unlabelled", _("no label"), "count"),
        ),
        rows=tuple(
            (
                options[person].label,
                *(int(table[person, judge]) for judge in result.options),
                int(result.confusion.unlabelled[person]),
            )
            for person in result.options
            if not options[person].blank
        ),
        how=_("Every person's answer is one comparison; %(n)s in all. A stronger tint is a larger share of its row.")
        % {"n": count(result.confusion.n_comparisons)},
        shaded=True,
    )


def _gold(question: QuestionReport, result: GoldResult, words: Words) -> Table:
    compared = [(_("what most people chose"), result.people)]
    compared += [(code_of(judge), accuracy) for judge, accuracy in result.judges]
    return Table(
        key=f"{question.data.name}.gold.{result.gold.code}",
        about=name_of(question),
        title=_under(result.merge, question, _("Against gold %(rater)s") % {"rater": code_of(result.gold)}),
        heads=(
            Head("rater", _("Who")),
            Head("accuracy", _("Equal to gold"), "number"),
            Head("cells", _("Cells"), "count"),
            Head("unlabelled", _("Left out: no label"), "count"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(
            (name, of.value, of.n_cells, of.n_unlabelled, _no_gold_in_common() if of.value is None else "")
            for name, of in compared
        ),
        how=_(
            "The mean over %(sheets)s of the share of gold cells with the same answer. Of options that equally many "
            "people chose, the first counts."
        )
        % {"sheets": words.sheets},
    )


def _under(merge: Merge | None, question: QuestionReport, title: str) -> str:
    """The title with what options are counted as one, where the question's scheme leaves a choice."""
    if not question.spec.merges:
        return title
    return f"{title} ({merge.title if merge else _('all options told apart')})"


def _no_gold_in_common() -> str:
    return _("no cell has both a gold label and this answer")


def _words(report: StudyReport) -> Words:
    return report.data.study.scheme.parsed.words


def _questions(report: StudyReport) -> Iterator[QuestionReport]:
    return (question for section in report.sections for question in section.questions)
