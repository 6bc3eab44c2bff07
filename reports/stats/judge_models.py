"""Kvapil and Fajčík's Tables 7 and 8: judges by the model that annotates and the model that extracted what it sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reports.stats.bootstrap import Interval


@dataclass(frozen=True)
class JudgeScore:
    """One judge's accuracy A_m, with the models behind it; value None where it is not defined.

    judge: its code; n_cells: cells counted.
    """

    judge: str
    annotation_model: str
    extraction_model: str
    value: float | None
    n_cells: int
    interval: Interval | None = None


@dataclass(frozen=True)
class CrossTable:
    """Annotation models (rows) x extraction models (columns), each in the order of first appearance.

    cells[row][column]: the judge of these two models, None where there is none. best: the highest of all, as (row,
    column); of equal ones the first, None where nothing has a value. wins[column]: rows in which this extraction is the
    best (the paper: Llama 3.1 with 3 of 5 models).
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[JudgeScore | None, ...], ...]
    best: tuple[int, int] | None
    wins: tuple[int, ...]


def annotation_by_extraction(scores: Sequence[JudgeScore]) -> CrossTable:
    """Table 7: the accuracy of every annotation model on every model's extraction.

    Raises:
        ValueError: two judges with the same two models: choose one prompt, one normalisation first.
    """
    rows = tuple(dict.fromkeys(score.annotation_model for score in scores))
    columns = tuple(dict.fromkeys(score.extraction_model for score in scores))
    by_models: dict[tuple[str, str], JudgeScore] = {}
    for score in scores:
        models = score.annotation_model, score.extraction_model
        if models in by_models:
            raise ValueError(
                f"{by_models[models].judge} and {score.judge} are both {models[0]} on the extraction of {models[1]}:"
                " a table has one place for them"
            )
        by_models[models] = score
    cells = tuple(tuple(by_models.get((row, column)) for column in columns) for row in rows)
    best_column = tuple(_best(row) for row in cells)
    of_rows = [row[column] if column is not None else None for row, column in zip(cells, best_column, strict=True)]
    best_of_all = _best(of_rows)
    at = None if best_of_all is None else best_column[best_of_all]
    return CrossTable(
        rows=rows,
        columns=columns,
        cells=cells,
        best=None if best_of_all is None or at is None else (best_of_all, at),
        wins=tuple(sum(of_row == column for of_row in best_column) for column in range(len(columns))),
    )


@dataclass(frozen=True)
class ModelTable:
    """Judges that share one extraction, in the order given; best: the place of the highest value (of equal ones the
    first), None where nothing has a value.
    """

    extraction_model: str
    rows: tuple[JudgeScore, ...]
    best: int | None


def annotation_models(scores: Sequence[JudgeScore], extraction_model: str) -> ModelTable:
    """Table 8: the annotation models on the one extraction that all of them used."""
    rows = tuple(score for score in scores if score.extraction_model == extraction_model)
    return ModelTable(extraction_model=extraction_model, rows=rows, best=_best(rows))


def _best(scores: Sequence[JudgeScore | None]) -> int | None:
    """The place of the highest value, of equal ones the first."""
    values = [(score.value, -place) for place, score in enumerate(scores) if score and score.value is not None]
    return -max(values)[1] if values else None
