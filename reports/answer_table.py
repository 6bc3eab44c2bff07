"""The table of a report's first page as it is taken along: a line for each question, with numbers in full."""

from __future__ import annotations

from django.utils.translation import gettext as _

from reports.answers import Answers, Estimate, JudgeAnswer, Line
from reports.sentences import MEASURES, VERDICTS, level_of
from reports.tables import Head, ReportTable, Value
from reports.tables.rounding import kept

KEY = "answers.questions"


def answer_table(answers: Answers) -> ReportTable:
    """Judges stand in it where there are any: the one that comes nearest, as on the page."""
    nearest = answers.nearest()
    heads = (
        Head("question", _("Question")),
        Head("coefficient", _("Coefficient"), "note"),
        *_estimate_heads("agreement", _("Agreement")),
        Head("ac1", "AC1", "number"),
        Head("ac2", "AC2", "number"),
        Head("majority", _("Most frequent option"), "number"),
        Head("level", _("Level"), "note"),
        *_estimate_heads("accuracy", "A_h"),
    )
    if nearest:
        heads += (
            Head("cells", _("Cells"), "count"),
            *_estimate_heads("ceiling", _("Human ceiling")),
            *_estimate_heads("judge", nearest[1]),
            Head("baseline", _("Majority-class baseline"), "number"),
            *_estimate_heads("judge_accuracy", "A_m"),
            Head("omega", "ω", "number"),
            Head("verdict", _("Replaces a person?"), "note"),
        )
    return ReportTable(
        key=KEY,
        about="",
        title=_("Question by question"),
        heads=(*heads, Head("because", _("Not defined because"), "note")),
        rows=tuple(_row(line, nearest[0] if nearest else None) for line in answers.lines),
    )


def _estimate_heads(key: str, group: str) -> tuple[Head, ...]:
    return (
        Head(key, _("Value"), "number", group),
        Head(f"{key}_low", _("from"), "number", group),
        Head(f"{key}_high", _("to"), "number", group),
    )


def _row(line: Line, nearest: str | None) -> tuple[Value, ...]:
    mean = _("mean of its questions")
    name = f"{line.name} ({mean})" if line.is_mean else line.name
    beside = (_kept(line.ac1), _kept(line.ac2), _kept(line.majority), level_of(line))
    row = (name, str(MEASURES[line.measure]), *_ends(line.agreement), *beside, *_ends(line.accuracy))
    if nearest is not None:
        row += _of_judge(next((judge for judge in line.judges if judge.code == nearest), None))
    return (*row, line.agreement.reason)


def _of_judge(judge: JudgeAnswer | None) -> tuple[Value, ...]:
    if judge is None:
        return (None,) * 12 + ("",)
    return (
        judge.n_cells,
        *_ends(judge.of_person),
        *_ends(judge.beside_person),
        _kept(judge.baseline_beside),
        *_ends(judge.accuracy),
        _kept(judge.winning_rate),
        str(VERDICTS[judge.verdict]),
    )


def _ends(of: Estimate) -> tuple[Value, ...]:
    return _kept(of.value), _kept(of.low), _kept(of.high)


def _kept(value: float | None) -> float | None:
    return None if value is None else kept(value)
