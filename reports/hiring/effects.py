"""What suggestions did, in words: the effects of an experiment as the lines of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.hiring import experiments
from reports.hiring.queries import question_name
from reports.hiring.words import percent, title_of

if TYPE_CHECKING:
    from reports.stats.hiring.exposure import Effect

# What is measured, in the order of the table; a ratio is told as a change in per cent.
SHIFT, RIGHT, WRONG, ACCURACY, TIME = "shift", "followed_right", "followed_wrong", "accuracy", "time"
MEASURES = {
    SHIFT: gettext_lazy("Answers as the judge’s"),
    RIGHT: gettext_lazy("where the judge is right"),
    WRONG: gettext_lazy("where the judge is wrong"),
    ACCURACY: gettext_lazy("Accuracy"),
    TIME: gettext_lazy("Time per document"),
}


@dataclass(frozen=True)
class Line:
    """An effect as text. `question`: "" for what is of all questions together."""

    question: str
    title: str
    measure: str
    measured: str
    effect: Effect
    hidden: str
    shown: str
    change: str
    interval: str
    wide: str
    reason: str


def lines_of(found: experiments.Result) -> list[Line]:
    study = found.experiment.study
    lines = []
    for one in found.questions:
        name, effects = question_name(one.question), one.effects
        for measure in (SHIFT, RIGHT, WRONG, ACCURACY):
            of: Effect | None = getattr(effects, measure)
            if of is not None:
                lines.append(_line(name, title_of(study, name), measure, of))
    return [*lines, _line("", _("All questions"), TIME, found.time)]


def _line(question: str, title: str, measure: str, of: Effect) -> Line:
    is_ratio = measure == TIME

    def change(value: float | None) -> str:
        """Points of per cent, or by how many per cent, with its sign."""
        if value is None:
            return "–"
        moved = value - 1 if is_ratio else value
        return f"{'+' if moved > 0 else '−' if moved < 0 else ''}{percent(abs(moved))}"

    def level(value: float | None) -> str:
        if value is None:
            return "–"
        return _("%(n)s s") % {"n": round(value)} if is_ratio else f"{percent(value)} %"

    def span(low: float | None, high: float | None) -> str:
        return "–" if low is None or high is None else f"[{change(low)}, {change(high)}]"

    unit = "%" if is_ratio else _("points")
    return Line(
        question=question,
        title=title,
        measure=measure,
        measured=str(MEASURES[measure]),
        effect=of,
        hidden=level(of.hidden),
        shown=level(of.shown),
        change=f"{change(of.value)} {unit}" if of.value is not None else "–",
        interval=span(of.low, of.high),
        wide=span(of.wide_low, of.wide_high),
        reason=reasons().get(of.reason, of.reason),
    )


def reasons() -> dict[str, str]:
    from reports.stats.hiring import exposure

    return {
        "": "",
        exposure.NOT_BOTH: _("Nobody has submitted a document with, and one without the suggestion."),
        exposure.NO_TIMES: _("No time was recorded: it is where people label in the grid."),
        exposure.TOO_FEW: _("Too few documents or raters for an interval."),
    }
