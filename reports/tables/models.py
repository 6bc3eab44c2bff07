"""The paper's Tables 7 and 8: judges by the model that annotates and by what extracted the items that it annotates."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from django.utils.translation import gettext as _

from reports.data.label_table import RaterEntry
from reports.numbers.judge import JudgeResult
from reports.numbers.report import QuestionReport
from reports.stats.judge_models import CrossTable, JudgeScore, annotation_by_extraction, annotation_models
from reports.tables.base import Head, ReportTable, under
from reports.words import UNDEFINED, code_of, name_of


def model_tables(question: QuestionReport, *, even_one: bool = False) -> Iterator[ReportTable]:
    """Where judges differ in their models or in what they judge by; none where one place would hold two judges.
    `even_one`: of a single judge too, of whom a report tells elsewhere."""
    known = [result for result in question.judges if _has_source(result.judge)]
    models = {result.judge.model for result in known}
    sources = {_source(result.judge) for result in known}
    alone = len(models) < 2 and len(sources) < 2
    if not known or (alone and not even_one) or same_place(question):
        return
    if len(sources) > 1:
        yield _cross(question, annotation_by_extraction([_score(result) for result in known]))
    else:
        yield _alone(question, known, sources.pop())


def same_place(question: QuestionReport) -> str:
    """Which two judges would stand in one place of the table, in words; "" where none do."""
    known = [result.judge for result in question.judges if _has_source(result.judge)]
    for first, second in combinations(known, 2):
        if (first.model, _source(first)) == (second.model, _source(second)):
            return _("%(first)s and %(second)s") % {"first": code_of(first), "second": code_of(second)}
    return ""


def _has_source(judge: RaterEntry) -> bool:
    return bool(judge.model or judge.extractor)


def _source(judge: RaterEntry) -> str:
    """What its items come from, as the table names it."""
    if judge.extraction_model and judge.extraction_model != judge.extractor:
        return f"{judge.extraction_model} ({judge.extractor})"
    return judge.extractor or _("the documents themselves")


def _score(result: JudgeResult) -> JudgeScore:
    return JudgeScore(
        judge=result.judge.code,
        annotation_model=result.judge.model or _("no model"),
        extraction_model=_source(result.judge),
        value=result.accuracy.value,
        n_cells=result.accuracy.n_cells,
    )


def _cross(question: QuestionReport, cross: CrossTable) -> ReportTable:
    how = [_("A_m of each model on what each extractor found; – where no judge has the two.")]
    if cross.best is not None:
        row, column = cross.best
        best = cross.cells[row][column]
        assert best is not None
        how.append(
            _("The highest is %(model)s with %(source)s, %(value).3f over %(n)s cells.")
            % {"model": cross.rows[row], "source": cross.columns[column], "value": best.value, "n": best.n_cells}
        )
    if len(cross.rows) > 1:
        wins = ", ".join(f"{name} {n}" for name, n in zip(cross.columns, cross.wins, strict=True))
        how.append(_("In how many models each is the best source: %(wins)s.") % {"wins": wins})
    return ReportTable(
        key=f"{question.data.name}.models",
        about=name_of(question),
        title=under(question.ceiling.merge, question, _("Annotation model by extraction")),
        heads=(
            Head("model", _("Annotation model")),
            *(Head(f"source.{source}", source, "number", _("Judging by")) for source in cross.columns),
        ),
        rows=tuple(
            (model, *(figure.value if figure else None for figure in figures))
            for model, figures in zip(cross.rows, cross.cells, strict=True)
        ),
        how=" ".join(how),
    )


def _alone(question: QuestionReport, known: list[JudgeResult], source: str) -> ReportTable:
    reasons = {result.judge.code: result.accuracy.reason for result in known}
    table = annotation_models([_score(result) for result in known], source)
    how = [_("All of them judge by: %(source)s.") % {"source": source}]
    if table.best is not None:
        how.append(_("The highest is %(model)s.") % {"model": table.rows[table.best].annotation_model})
    return ReportTable(
        key=f"{question.data.name}.models",
        about=name_of(question),
        title=under(question.ceiling.merge, question, _("Annotation models")),
        heads=(
            Head("model", _("Annotation model")),
            Head("judge", _("Judge")),
            Head("accuracy", "A_m", "number"),
            Head("cells", _("Cells"), "count"),
            Head("because", _("Not defined because"), "note"),
        ),
        rows=tuple(
            (of.annotation_model, of.judge, of.value, of.n_cells, str(UNDEFINED[reasons[of.judge]]))
            for of in table.rows
        ),
        how=" ".join(how),
    )
