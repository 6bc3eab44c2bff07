"""How often a judge's label changes with the order of options or candidates, or with the words."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports.numbers.arms import Arm, ArmsResult
from reports.numbers.report import QuestionReport, StudyReport
from reports.stats.hiring.means import Mean
from reports.tables.base import Head, ReportTable, Value, words_of
from reports.words import UNDEFINED, code_of, name_of


def arms_tables(report: StudyReport, question: QuestionReport) -> Iterator[ReportTable]:
    for result in question.arms:
        yield _flips(report, question, result)
        if result.places:
            yield _places(question, result)
        if result.standing:
            yield _candidates(report, question, result)


def _flips(report: StudyReport, question: QuestionReport, result: ArmsResult) -> ReportTable:
    first, *others = result.arms
    found = result.flips
    rows: list[tuple[Value, ...]] = [
        (code_of(first.judge), _differs(first), *[None] * 3, first.accuracy, first.n_cells, None, "")
    ]
    rows += [
        (code_of(arm.judge), _differs(arm), *_told(of), arm.accuracy, of.n, of.n_clusters, _because(of))
        for arm, of in zip(others, found.against_first, strict=True)
    ]
    rows += [
        (title, "", *_told(of), None, of.n, of.n_clusters, _because(of))
        for title, of in ((_("two arms at random"), found.pairwise), (_("any two arms of a cell"), found.any))
    ]
    words = words_of(report)
    return ReportTable(
        key=f"{question.data.name}.arms.{first.judge.code}",
        about=name_of(question),
        title=_("Flip rates of %(judge)s by arm") % {"judge": code_of(first.judge)},
        heads=(
            Head("arm", _("Arm")),
            Head("differs", _("Differs in")),
            Head("flipped", _("Flipped"), "share"),
            Head("low", _("from"), "share", _("95 % interval")),
            Head("high", _("to"), "share", _("95 % interval")),
            Head("accuracy", "A_m", "number"),
            Head("cells", _("Cells"), "count"),
            Head("clusters", words.sheets if result.by == "sheet" else words.rows, "count"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(rows),
        how=(
            _(
                "The share of cells with another label than in the first arm, all options told apart; of two arms "
                "drawn at random; and of cells in which not all arms say the same. Intervals by %(clusters)s (t)."
            )
            if report.filters.said_by_t
            else _(
                "The share of cells with another label than in the first arm, all options told apart; of two arms "
                "drawn at random; and of cells in which not all arms say the same. Intervals by %(clusters)s."
            )
        )
        % {"clusters": words.sheets if result.by == "sheet" else words.rows},
    )


def _places(question: QuestionReport, result: ArmsResult) -> ReportTable:
    k = len(result.places)
    return ReportTable(
        key=f"{question.data.name}.places.{result.arms[0].judge.code}",
        about=name_of(question),
        title=_("What stood where, and was chosen: %(judge)s") % {"judge": code_of(result.arms[0].judge)},
        heads=(
            Head("place", _("Place"), "count"),
            Head("chosen", _("Chosen"), "share"),
            Head("low", _("from"), "share", _("95 % interval")),
            Head("high", _("to"), "share", _("95 % interval")),
            Head("expected", _("Without a preference"), "share"),
            Head("cells", _("Labels"), "count"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple((place, *_told(of), 1 / k, of.n, _because(of)) for place, of in enumerate(result.places, start=1)),
        how=_(
            "Over arms in which every option stood at every place equally often, in cells with a label of all of them. "
            "Who does not look at places chooses each equally often, whatever the right labels are."
        ),
    )


def _candidates(report: StudyReport, question: QuestionReport, result: ArmsResult) -> ReportTable:
    k = len(result.standing)
    rows: list[tuple[Value, ...]] = [
        (_("it stood at place %(place)s, and won") % {"place": place}, *_told(of), 1 / k, of.n, _because(of))
        for place, of in enumerate(result.standing, start=1)
    ]
    if (pairs := result.swapped) is not None:
        rows += [
            (title, *_told(of), expected, of.n, _because(of))
            for title, of, expected in (
                (_("the same one won in both orders, or neither did"), pairs.consistent, None),
                (_("whoever stood first won, a tie counting half"), pairs.first, 0.5),
                (_("of the pairs in which one place won both times: the first place"), pairs.first_if_not, 0.5),
            )
        ]
    return ReportTable(
        key=f"{question.data.name}.candidates.{result.arms[0].judge.code}",
        about=name_of(question),
        title=_("Where the candidate stood that won: %(judge)s") % {"judge": code_of(result.arms[0].judge)},
        heads=(
            Head("what", _("Candidate")),
            Head("share", _("Share"), "share"),
            Head("low", _("from"), "share", _("95 % interval")),
            Head("high", _("to"), "share", _("95 % interval")),
            Head("expected", _("Without a preference"), "share"),
            Head("cells", _("Counted"), "count"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(rows),
        how=(
            _(
                "Over arms in which every candidate of the evidence stood at every place once, in cells with a label "
                "of all of them. The shares of places are of the verdicts for a candidate; the lines below are of "
                "pairs. Who does not look at places chooses each equally often, whichever candidate is better. "
                "Intervals by %(clusters)s (t)."
            )
            if report.filters.said_by_t
            else _(
                "Over arms in which every candidate of the evidence stood at every place once, in cells with a label "
                "of all of them. The shares of places are of the verdicts for a candidate; the lines below are of "
                "pairs. Who does not look at places chooses each equally often, whichever candidate is better. "
                "Intervals by %(clusters)s."
            )
        )
        % {"clusters": words_of(report).sheets if result.by == "sheet" else words_of(report).rows},
    )


def _told(of: Mean) -> tuple[Value, ...]:
    return of.value, of.low, of.high


def _because(of: Mean) -> str:
    return str(UNDEFINED.get(of.reason, of.reason))


def _differs(arm: Arm) -> str:
    told = []
    if arm.turn:
        told.append(
            ngettext(
                "the order: the first option stands last", "the order: the first %(n)s options stand last", arm.turn
            )
            % {"n": arm.turn}
        )
    if arm.shift:
        told.append(
            ngettext("the candidates: the first stands last", "the candidates: the first %(n)s stand last", arm.shift)
            % {"n": arm.shift}
        )
    if arm.reworded:
        told.append(_("the words"))
    return ", ".join(told)
