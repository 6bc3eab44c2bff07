"""How far judges agree with people, and people and judges with gold."""

from __future__ import annotations

from collections import Counter

from django.utils.translation import gettext as _

from annotation.scheme.spec import Words
from judges.models import UnreadableAnswer
from reports.numbers.judge import JudgeResult
from reports.numbers.report import GoldResult, QuestionReport, StudyReport, Ties
from reports.numbers.values import ValueReport
from reports.stats.judge import JudgeAccuracy
from reports.tables.base import Head, ReportTable, Value, interval_heads, under, words_of
from reports.tables.coefficients import ends
from reports.tables.models import same_place
from reports.words import UNDEFINED, cap, code_of, count, name_of, naming_gold, worded


def accuracies(report: StudyReport, question: QuestionReport) -> ReportTable:
    words = words_of(report)
    people = question.ceiling.accuracy
    shown = question.ceiling.macro is not None
    by_pairs = not report.filters.first_methods
    rows: list[tuple[Value, ...]] = [
        (
            code_of(result.judge),
            result.accuracy.value,
            *ends(result.accuracy_interval, shown=shown),
            *((result.pairwise.value,) if result.pairwise else ()),
            result.baseline.accuracy.value,
            result.accuracy.n_cells,
            result.accuracy.n_sheets,
            result.missing.unreadable,
            result.missing.failed,
            result.missing.others,
            str(UNDEFINED[result.accuracy.reason]),
        )
        for result in question.judges
    ]
    people_alone = _("people among themselves (A_h)")
    of_people = question.ceiling.macro.accuracy if question.ceiling.macro else None
    rows.append(
        (
            people_alone,
            people.value,
            *ends(of_people, shown=shown),
            *((people.value,) if by_pairs else ()),
            None,
            people.n_cells,
            *(None, None, None, None),
            str(UNDEFINED[people.reason]),
        )
    )
    how = [
        _(
            "A_m is the mean over %(sheets)s of the share of cells in which the judge chose what a person chose; "
            "where several people answered, any of them will do, and the cell counts once. A judge is worth its "
            "price where it beats always the commonest option, and as good as a person where it reaches the last line."
        )
        % {"sheets": words.sheets}
    ]
    if by_pairs:
        how = [
            _(
                "A_m is the mean over %(sheets)s of the share of cells in which the judge chose what a person chose; "
                "where several people answered, any of them will do, and the cell counts once. Pair by pair, the judge "
                "is held against one person at a time, as people are against each other in A_h: that figure, not A_m, "
                "is to be read beside the last line. A judge is worth its price where it beats the majority-class "
                "baseline."
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
    if twice := same_place(question):
        how.append(
            _("There is no table by models, since %(judges)s are the same model on the same items: choose judges.")
            % {"judges": twice}
        )
    return ReportTable(
        key=f"{question.data.name}.judges",
        about=name_of(question),
        title=under(question.ceiling.merge, question, _("How far judges agree with people")),
        heads=(
            Head("judge", _("Judge")),
            Head("accuracy", "A_m", "number"),
            *interval_heads(shown),
            *((Head("pairwise", _("A_m, pair by pair"), "number"),) if by_pairs else ()),
            Head("baseline", _("Majority-class baseline") if by_pairs else _("Always the commonest option"), "number"),
            Head("cells", _("Cells"), "count"),
            Head("sheets", cap(words.sheets), "count"),
            Head("unreadable", _("unreadable"), "count", _("Cells left out")),
            Head("failed", _("row failed"), "count", _("Cells left out")),
            Head("unlabelled", _("no label"), "count", _("Cells left out")),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(rows),
        how=" ".join(how),
    )


def unreadable(question: QuestionReport | ValueReport) -> ReportTable:
    """Why answers of judges held no verdict; of all cells that each was asked, whether people answered them or not."""
    rows: list[tuple[Value, ...]] = []
    for result in question.judges:
        missing = question.data.no_label[result.judge.code]
        n_answered = question.data.judges[result.judge.code].cell.size + len(missing.why)
        if not missing.why:
            continue
        name = code_of(result.judge)
        rows.append((name, len(missing.why), n_answered, len(missing.why) / n_answered))
        for why, n in sorted(Counter(missing.why).items(), key=lambda each: (-each[1], each[0])):
            rows.append((f"    {UnreadableAnswer.Why(why).label}", n, None, n / n_answered))
    return ReportTable(
        key=f"{question.data.name}.unreadable",
        about=name_of(question),
        title=_("Answers of judges that held no verdict"),
        heads=(
            Head("judge", _("Judge")),
            Head("unreadable", _("Unreadable"), "count"),
            Head("answered", _("of answers"), "count"),
            Head("share", _("Share"), "share"),
        ),
        rows=tuple(rows),
        how=_("Such a cell has no label: nothing is guessed. Below each judge stand the reasons."),
    )


def confusion(question: QuestionReport, result: JudgeResult) -> ReportTable:
    options, table = question.spec.options, result.confusion.table
    judge = code_of(result.judge)
    chose = _("%(judge)s chose") % {"judge": judge}
    return ReportTable(
        key=f"{question.data.name}.confusion.{result.judge.code}",
        about=name_of(question),
        title=under(
            result.merge,
            question,
            worded(_("People against %(judge)s"), _("Confusion matrix: people and %(judge)s")) % {"judge": judge},
        ),
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
        judge=result.judge.code,
        row_keys=tuple(options[person].key for person in result.options if not options[person].blank),
    )


def gold(question: QuestionReport, result: GoldResult, words: Words) -> ReportTable:
    compared = [(_("what most people chose"), result.people)]
    if result.ties is not None:
        return _gold_with_ties(question, result, result.ties, words)
    if result.consensus is not None:
        compared.append((_("people's answers by the model of Dawid and Skene"), result.consensus))
    compared += [(code_of(judge), accuracy) for judge, accuracy in result.judges]
    return ReportTable(
        key=f"{question.data.name}.gold.{result.gold.code}",
        about=name_of(question),
        title=under(result.merge, question, naming_gold(_("Against gold %(rater)s"), code_of(result.gold))),
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
            "people chose, the first counts. The model of Dawid and Skene (1979) weighs each person's answers by "
            "how often they seem to err, without knowing the gold."
        )
        % {"sheets": words.sheets},
    )


def _gold_with_ties(question: QuestionReport, result: GoldResult, ties: Ties, words: Words) -> ReportTable:
    compared = [
        (_("majority of people, ties to the first option"), result.people, ties.n),
        (_("majority of people, ties drawn"), ties.drawn, ties.n),
    ]
    others: list[tuple[str, JudgeAccuracy]] = []
    if result.consensus is not None:
        others.append((_("people's answers by the model of Dawid and Skene"), result.consensus))
    others += [(code_of(judge), accuracy) for judge, accuracy in result.judges]
    rows: list[tuple[Value, ...]] = [
        (name, of.value, of.n_cells, of.n_unlabelled, n, _no_gold_in_common() if of.value is None else "")
        for name, of, n in compared
    ]
    undefined = _no_gold_in_common() if ties.shared is None else ""
    shared = _("majority of people, ties for their share")
    rows.append((shared, ties.shared, ties.n_cells, result.people.n_unlabelled, ties.n, undefined))
    rows += [
        (name, of.value, of.n_cells, of.n_unlabelled, None, _no_gold_in_common() if of.value is None else "")
        for name, of in others
    ]
    return ReportTable(
        key=f"{question.data.name}.gold.{result.gold.code}",
        about=name_of(question),
        title=under(result.merge, question, naming_gold(_("Against gold %(rater)s"), code_of(result.gold))),
        heads=(
            Head("rater", _("Who")),
            Head("accuracy", _("Equal to gold"), "number"),
            Head("cells", _("Cells"), "count"),
            Head("unlabelled", _("Left out: no label"), "count"),
            Head("ties", _("Ties"), "count"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(rows),
        how=_(
            "The mean over %(sheets)s of the share of gold cells with the same answer. In a tie, equally many people "
            "chose each of several options: the first of the question is taken, or one is drawn (seed %(seed)s), or a "
            "right one of t counts 1/t. The model of Dawid and Skene (1979) weighs each person's answers by how often "
            "they seem to err, without knowing the gold."
        )
        % {"sheets": words.sheets, "seed": ties.seed},
    )


def _no_gold_in_common() -> str:
    return _("no cell has both a gold label and this answer")
