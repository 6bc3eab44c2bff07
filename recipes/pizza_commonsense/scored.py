"""Each system in one line: metrics of its inputs beside those of its outputs (the paper's Tables 1, 2, 4 and 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from django.utils.translation import gettext as _

from recipes.pizza_commonsense.records import CELLS
from reports.numbers.report import StudyReport
from reports.numbers.texts import TextReport
from reports.numbers.values import ValueReport
from reports.tables.base import Head, ReportTable, Value
from reports.tables.texts import short
from reports.words import code_of

_Figures = dict[str, tuple[Value, ...]]  # whose -> a question's metrics, and its cells


def tables(report: StudyReport, question: ValueReport) -> Iterator[ReportTable]:
    """At the first question of both, once for the report."""
    if report.filters.before_systems_in_line:
        return
    asked = [
        (of, of.texts)
        for section in report.sections
        for of in section.value_questions
        if of.spec.key in CELLS and of.spec.key != "action" and of.texts is not None and of.texts.of_gold
    ]
    if len(asked) < 2 or asked[0][0].data.name != question.data.name or not any(texts.scores for _of, texts in asked):
        return
    found = [_figures(texts) for _of, texts in asked]
    whose = list(dict.fromkeys(name for of in found for name in of))
    rows = [
        (name, *(value for of, (_q, texts) in zip(found, asked, strict=True) for value in of.get(name, _none(texts))))
        for name in whose
    ]
    yield ReportTable(
        key=f"{question.data.section.key}.scored",
        about=question.data.section.title,
        title=_("Each system in one line"),
        heads=(
            Head("rater", _("Whose texts")),
            *(
                head
                for of, texts in asked
                for head in (
                    *(Head(f"{of.spec.key}_{key}", short(key), "number", of.spec.title) for key in texts.metrics),
                    Head(f"{of.spec.key}_cells", _("Cells"), "count", of.spec.title),
                )
            ),
        ),
        rows=tuple(rows),
        how=_(
            "The metrics against gold of each question's own table, side by side. Of several runs of one system, and "
            "of several people, the unweighted mean of their figures stands below them; its cells are those of the one "
            "with the fewest."
        ),
    )


def _figures(texts: TextReport) -> _Figures:
    people = [score for score in texts.scores if score.rater is not None and score.rater.kind == "person"]
    others = [score for score in texts.scores if score not in people]
    found: _Figures = {}
    for score in others:
        name = code_of(score.rater) if score.rater else ""
        found[name] = (*(score.figures[key] for key in texts.metrics), score.n_cells)
    for of in texts.runs:
        name = _("%(system)s, mean of %(n)s runs") % {"system": code_of(of.rater) if of.rater else of.name, "n": of.n}
        found[name] = (*(of.mean[key] for key in texts.metrics), of.n_cells)
    for score in people:
        assert score.rater is not None
        found[code_of(score.rater)] = (*(score.figures[key] for key in texts.metrics), score.n_cells)
    if len(people) > 1:
        figures = (_mean([score.figures[key] for score in people]) for key in texts.metrics)
        found[_("people, mean of %(n)s") % {"n": len(people)}] = (*figures, min(score.n_cells for score in people))
    return found


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(values) else None


def _none(texts: TextReport) -> tuple[Value, ...]:
    return (*(None for _key in texts.metrics), 0)
