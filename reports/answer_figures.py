"""The three figures of a report's first page: agreement, judges beside the human ceiling, who may stand in."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from reports.answers import Answers, Estimate
from reports.figures.base import Figure
from reports.sentences import LEVELS, number
from reports.stats.levels import LEVELS as ENDS

_MOST_JUDGES = 6


def answer_figures(answers: Answers) -> list[Figure]:
    made = (_agreement(answers), _beside_people(answers), _may_replace(answers))
    return [figure for figure in made if figure is not None]


def _series(name: str, of: list[Estimate]) -> dict[str, Any]:
    return {
        "name": name,
        "values": [each.value for each in of],
        "low": [each.low for each in of],
        "high": [each.high for each in of],
    }


def _agreement(answers: Answers) -> Figure | None:
    lines = [line for line in answers.lines if line.agreement.value is not None and line.measure != "node-f1"]
    if not lines:
        return None
    lowest = min(min(line.agreement.value or 0.0, line.agreement.low or 1.0) for line in lines)
    highest = [*(low for low, _key in ENDS[:-1]), 0.0]
    uppers = [1.0, *highest[:-1]]
    bands = [[low, high, str(LEVELS[key])] for (low, key), high in zip(ENDS, uppers, strict=True)]
    how = _(
        "Points: agreement between people (κ, or α where the table has it); shades: levels of Landis and Koch, of κ."
    )
    if any(line.agreement.low is not None for line in lines):
        how += " " + _("Lines: 95 %% intervals.") % {}
    values = [line.agreement.value or 0.0 for line in lines]
    return Figure(
        key="answers.agreement",
        kind="dots",
        about="",
        title=_("How far people agree"),
        data={
            "names": [line.name for line in lines],
            "series": [_series(_("people"), [line.agreement for line in lines])],
            "bands": list(reversed(bands)),
            "line": None,
            "line_title": "",
            "x_title": _("Agreement"),
            "x_low": min(0.0, lowest - 0.05),
            "x_high": 1.02,  # a point at 1 is seen whole
        },
        how=how,
        alt=_("Agreement of %(n)s lines, from %(low)s to %(high)s.")
        % {"n": len(lines), "low": number(min(values)), "high": number(max(values))},
    )


def _shown(answers: Answers) -> list[tuple[str, str]]:
    """The judge that comes nearest first, and in the same colour in each figure."""
    nearest = answers.nearest()
    first = [judge for judge in answers.judges if judge == nearest]
    return [*first, *(judge for judge in answers.judges if judge != nearest)][:_MOST_JUDGES]


def _beside_people(answers: Answers) -> Figure | None:
    lines = [line for line in answers.questions if any(judge.ceiling is not None for judge in line.judges)]
    if not lines:
        return None
    shown = _shown(answers)
    first = shown[0][0]
    ceilings = [
        next((judge.of_person for judge in line.judges if judge.code == first), Estimate(None)) for line in lines
    ]
    series = [_series(_("a person: the human ceiling"), ceilings)]
    for code, name in shown:
        of = [next((judge for judge in line.judges if judge.code == code), None) for line in lines]
        series.append(_series(name, [judge.beside_person if judge else Estimate(None) for judge in of]))
    every = [value for each in series for value in (*each["values"], *each["low"]) if value is not None]
    how = _("A person and each judge are measured by the same rule, against the same people in the same cells.")
    if any(low is not None for each in series for low in each["low"]):
        how += " " + _("Lines: 95 %% intervals.") % {}
    return Figure(
        key="answers.ceiling",
        kind="dots",
        about="",
        title=_("Judges beside the human ceiling"),
        data={
            "names": [line.name for line in lines],
            "series": series,
            "bands": [],
            "line": None,
            "line_title": "",
            "x_title": _("Accuracy against people, on the same cells"),
            "x_low": max(0.0, min(every) - 0.08),
            "x_high": 1.02,  # a point at 1 is seen whole
        },
        how=how,
        alt=_("Accuracy of a person and of %(n)s judges on %(questions)s questions, from %(low)s to %(high)s.")
        % {"n": len(shown), "questions": len(lines), "low": number(min(every)), "high": number(max(every))},
    )


def _may_replace(answers: Answers) -> Figure | None:
    lines = [line for line in answers.questions if any(judge.winning_rate is not None for judge in line.judges)]
    if not lines:
        return None
    series = []
    for code, name in _shown(answers):
        of = [next((judge for judge in line.judges if judge.code == code), None) for line in lines]
        series.append(_series(name, [Estimate(judge.winning_rate if judge else None) for judge in of]))
    passed = [name for line in lines for judge in line.judges if judge.verdict == "may" for name in [judge.name]]
    return Figure(
        key="answers.alternative",
        kind="dots",
        about="",
        title=_("May the judge stand in for a person?"),
        data={
            "names": [line.name for line in lines],
            "series": series,
            "bands": [],
            "line": 0.5,
            "line_title": _("passes from here"),
            "x_title": _("ω: share of people whom the judge is not worse than"),
            "first_colour": 1,
            "x_low": -0.03,
            "x_high": 1.03,
        },
        how=_("The Alternative Annotator Test, for each judge and question; right of the dashed line it may."),
        alt=_("%(passed)s of %(n)s tests are passed.")
        % {"passed": len(passed), "n": sum(judge.winning_rate is not None for line in lines for judge in line.judges)},
    )
