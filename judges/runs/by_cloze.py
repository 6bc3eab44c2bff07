"""A judge that scores options, at one row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from annotation.actions import Answer
from judges.methods import cloze, prompting
from judges.methods.cloze import Scores
from judges.runs.asking import Asked, AtRow, Labelled, Respondent, RowFailed
from judges.runs.nearest import all_lines, nearest_lines
from llm.backends.base import BackendError
from llm.engine.normalisation import Normalisation
from llm.engine.prompt import CellPrompt, OptionScore, OptionsNotPrefixFree, PromptTooLong, RowPrompt, RowScores


def label(row: AtRow) -> Labelled:
    """The most probable option of each cell.

    Raises:
        RowFailed: the evidence is more than the model's context takes, or breaks the engine's rules.
        BackendError: the model is missing or broken, or an option begins another one.
        Whatever `on_progress` raises.
    """
    assert row.backend is not None
    normalisation = cast(Normalisation, row.judge.normalisation)  # the field's choices
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
        scores = _scores(row.backend.score, row, cells)
        answers = [_chosen(cell, of_cell, normalisation) for cell, of_cell in zip(row.asked, scores, strict=True)]
        if doubtful := [place for place, answer in enumerate(answers) if _is_doubtful(answer, row.backend)]:
            again = _scores(row.backend.rescue, row, [cells[place] for place in doubtful])
            for place, of_cell in zip(doubtful, again, strict=True):
                answers[place] = _chosen(row.asked[place], of_cell, normalisation, rescued=True)
    except OptionsNotPrefixFree as error:
        raise BackendError(str(error), permanent=True) from error  # so it is in every row
    except ValueError as error:  # this row's texts break the engine's rules
        raise RowFailed(str(error)) from error
    return Labelled(answers, tokens=row.tokens)


def _scores(
    score: Callable[..., list[RowScores | PromptTooLong]], row: AtRow, cells: Sequence[CellPrompt]
) -> RowScores:
    (scores,) = score([RowPrompt(shared=row.shared, cells=tuple(cells))], row.counting())
    if isinstance(scores, PromptTooLong):
        raise RowFailed(str(scores))
    return scores


def _is_doubtful(answer: Answer, backend: Respondent) -> bool:
    """Whether the lead of an option is so small that more digits may end it."""
    assert isinstance(answer.scores, Scores)
    by = answer.scores.calibration
    # What is compared was divided by a temperature; its margin is in nats of a sum before.
    margin = answer.scores.margin_nats * (by.temperature if by else 1.0)
    # Of a difference to what is said without evidence there are twice as many sums.
    n_sums = 2 if (by.normalisation if by else answer.scores.normalisation) == "pmi" else 1
    return margin < backend.rescue_below_nats * n_sums


def _chosen(
    cell: Asked, scores: Sequence[OptionScore], normalisation: Normalisation, *, rescued: bool = False
) -> Answer:
    # From here on by what the options mean, calibration and stored scores too.
    keys = [cell.meant.get(option.key, option.key) for option in prompting.offered(cell.prompt, cell.spec)]
    choice = cloze.chosen(keys, scores, normalisation, cell.calibration)
    return Answer(
        cell.column,
        cell.question,
        cell.options[keys[choice.index]],
        scores=Scores.of(keys, scores, choice, normalisation, cell.calibration, rescued=rescued),
    )
