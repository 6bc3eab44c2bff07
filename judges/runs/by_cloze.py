"""A judge that scores options, at one row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from annotation.actions import Answer
from judges.methods import cloze, prompting
from judges.methods.cloze import Scores
from judges.runs.asking import Asked, AtRow, Labelled, Prompted, RowFailed
from judges.runs.nearest import all_lines, nearest_lines
from llm.backends.base import BackendError
from llm.engine.normalisation import Normalisation
from llm.engine.prompt import OptionScore, OptionsNotPrefixFree, PromptTooLong, RowPrompt, RowScores


def label(row: AtRow) -> Labelled:
    """The most probable option of each cell.

    Raises:
        RowFailed: the evidence is more than the model's context takes, or breaks the engine's rules.
        BackendError: the model is missing or broken, or an option begins another one.
        Whatever `on_progress` raises.
    """
    assert row.backend is not None
    try:
        prompt = prompt_of(row)
        scores = _scores(row.backend.score, row, prompt)
        answers = _chosen(row, scores)
        if doubtful := _doubtful(answers, row.backend.rescue_below_nats):
            again = _scores(row.backend.rescue, row, _of_cells(prompt, doubtful))
            for place, answer in zip(doubtful, _chosen(row, again, doubtful), strict=True):
                answers[place] = answer
    except OptionsNotPrefixFree as error:
        raise BackendError(str(error), permanent=True) from error  # so it is in every row
    except ValueError as error:  # this row's texts break the engine's rules
        raise RowFailed(str(error)) from error
    return Labelled(answers, tokens=row.tokens)


def prompt_of(row: AtRow) -> RowPrompt:
    """What is asked of the model: a cell each, in the row's order. Written out anew where something else is read than
    before.

    Raises:
        RowFailed: what the row says cannot be asked.
    """
    if row.before is not None and row.before.read == row.read():
        return row.before.prompt
    lines = all_lines(row)
    try:
        cells = tuple(
            prompting.cell_prompt(
                cell.prompt,
                cell.spec,
                cell.facets,
                order=cell.section.column.facets,
                nearest=near,
                evidence=lines,
                examples=row.judge.prompt_spec.examples.get(cell.name, ""),
            )
            for cell, near in zip(row.asked, nearest_lines(row), strict=True)
        )
    except ValueError as error:
        raise RowFailed(str(error)) from error
    return RowPrompt(shared=row.shared, cells=cells)


def rescued_of(asked: Prompted, scores: RowScores, below: float) -> RowPrompt | None:
    """What `label` asks to be rescued once it knows these scores, if anything: margins under `below` nats."""
    doubtful = _doubtful(_chosen(asked.row, scores), below)
    return _of_cells(asked.prompt, doubtful) if doubtful else None


def _of_cells(prompt: RowPrompt, places: Sequence[int]) -> RowPrompt:
    return RowPrompt(shared=prompt.shared, cells=tuple(prompt.cells[place] for place in places))


def _scores(score: Callable[..., list[RowScores | PromptTooLong]], row: AtRow, prompt: RowPrompt) -> RowScores:
    (scores,) = score([prompt], row.counting())
    if isinstance(scores, PromptTooLong):
        raise RowFailed(str(scores))
    return scores


def _doubtful(answers: Sequence[Answer], below: float) -> list[int]:
    """The places of those whose lead is so small that more digits may end it."""
    return [place for place, answer in enumerate(answers) if _is_doubtful(answer, below)]


def _is_doubtful(answer: Answer, below: float) -> bool:
    assert isinstance(answer.scores, Scores)
    by = answer.scores.calibration
    # What is compared was divided by a temperature; its margin is in nats of a sum before.
    margin = answer.scores.margin_nats * (by.temperature if by else 1.0)
    # Of a difference to what is said without evidence there are twice as many sums.
    n_sums = 2 if (by.normalisation if by else answer.scores.normalisation) == "pmi" else 1
    return margin < below * n_sums


def _chosen(row: AtRow, scores: RowScores, rescued: Sequence[int] | None = None) -> list[Answer]:
    """The most probable options of all cells, or of those at the places that were rescued."""
    normalisation = cast(Normalisation, row.judge.normalisation)  # the field's choices
    cells = row.asked if rescued is None else [row.asked[place] for place in rescued]
    return [
        _best(cell, of_cell, normalisation, rescued=rescued is not None)
        for cell, of_cell in zip(cells, scores, strict=True)
    ]


def _best(cell: Asked, scores: Sequence[OptionScore], normalisation: Normalisation, *, rescued: bool) -> Answer:
    # From here on by what the options mean, calibration and stored scores too.
    keys = [cell.meant.get(option.key, option.key) for option in prompting.offered(cell.prompt, cell.spec)]
    choice = cloze.chosen(keys, scores, normalisation, cell.calibration)
    return Answer(
        cell.column,
        cell.question,
        cell.options[keys[choice.index]],
        scores=Scores.of(keys, scores, choice, normalisation, cell.calibration, rescued=rescued),
    )
