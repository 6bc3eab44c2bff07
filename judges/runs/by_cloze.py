"""A judge that scores options, at one row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from annotation.actions import Answer
from judges.methods import prompting
from judges.methods.cloze import Scores
from judges.runs.asking import Asked, AtRow, Labelled, RowFailed
from llm.backends.base import BackendError
from llm.engine.normalisation import Normalisation, choose
from llm.engine.prompt import OptionScore, OptionsNotPrefixFree, PromptTooLong, RowPrompt


def label(row: AtRow) -> Labelled:
    """The most probable option of each cell.

    Raises:
        RowFailed: the evidence is more than the model's context takes, or breaks the engine's rules.
        BackendError: the model is missing or broken, or an option begins another one.
        Whatever `on_progress` raises.
    """
    assert row.backend is not None
    normalisation = cast(Normalisation, row.judge.normalisation)  # the field's choices
    try:
        cells = tuple(
            prompting.cell_prompt(cell.prompt, cell.spec, cell.column.facets, order=cell.section.column.facets)
            for cell in row.asked
        )
        (scores,) = row.backend.score([RowPrompt(shared=row.shared, cells=cells)], row.counting())
        if isinstance(scores, PromptTooLong):
            raise RowFailed(str(scores))
        answers = [_chosen(cell, of_cell, normalisation) for cell, of_cell in zip(row.asked, scores, strict=True)]
    except OptionsNotPrefixFree as error:
        raise BackendError(str(error), permanent=True) from error  # so it is in every row
    except ValueError as error:  # this row's texts break the engine's rules
        raise RowFailed(str(error)) from error
    return Labelled(answers, tokens=row.tokens)


def _chosen(cell: Asked, scores: Sequence[OptionScore], normalisation: Normalisation) -> Answer:
    keys = [option.key for option in prompting.offered(cell.prompt, cell.spec)]
    choice = choose(scores, normalisation)
    return Answer(
        cell.column,
        cell.question,
        cell.options[keys[choice.index]],
        scores=Scores.of(keys, scores, choice, normalisation),
    )
