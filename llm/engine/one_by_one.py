"""One answer at a time, written by transformers itself: for models whose state is no cache of keys and values, or that
take no padding. What is fed, kept and carried on from token to token is the model's own affair; only the choice of each
token is made here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from transformers import (
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriteria,
    StoppingCriteriaList,
)

from base.sentences import gettext as _


class CannotGenerate(ValueError):
    """A model that transformers itself cannot let write."""


class _Chosen(LogitsProcessor):
    """Leaves of all tokens the one that `choose` takes, given the logits (1, V)."""

    def __init__(self, choose: Callable[[torch.Tensor], int]) -> None:
        self._choose = choose
        self.raised: BaseException | None = None

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        try:
            token = self._choose(scores)
        except BaseException as error:
            self.raised = error
            raise
        return torch.full_like(scores, float("-inf")).index_fill_(-1, torch.tensor([token], device=scores.device), 0.0)


class _Ended(StoppingCriteria):
    def __init__(self, ended: Callable[[], bool]) -> None:
        self._ended = ended

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor, **kwargs: Any) -> torch.Tensor:
        return torch.full((len(input_ids),), self._ended(), device=input_ids.device)


def write(
    model: Any,
    prompt: Sequence[int],
    stops: Sequence[int],
    max_new_tokens: int,
    choose: Callable[[torch.Tensor], int],
    ended: Callable[[], bool] = lambda: False,
) -> None:
    """Let `model.generate` answer a prompt; `choose` takes each token and keeps what was written; `ended`: whether that
    was the last one, though it is none of `stops`.

    The model's own habits of generation (beams, penalties, forced tokens) are set aside: a judge's sampling says how
    an answer is written.

    Raises:
        CannotGenerate: transformers fails at this model.
        torch.OutOfMemoryError: the prompt does not fit.
        Whatever `choose` raises.
    """
    chosen = _Chosen(choose)
    ids = torch.tensor([list(prompt)], device=model.device)
    own = getattr(model, "generation_config", None)
    settings: Any = GenerationConfig  # Any: annotated in part, which strict checks refuse
    model.generation_config = settings(
        do_sample=False,
        num_beams=1,
        max_new_tokens=max_new_tokens,
        eos_token_id=list(stops) or None,
        pad_token_id=0,
        use_cache=True,
    )
    try:
        with torch.inference_mode():
            model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                logits_processor=LogitsProcessorList([chosen]),
                stopping_criteria=StoppingCriteriaList([_Ended(ended)]),
            )
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # each family fails in its own way
        if chosen.raised is not None:
            raise
        raise CannotGenerate(
            _(
                "This model cannot write answers: transformers fails at it (%(error)s). It may score options; to "
                "write, choose another one."
            )
            % {"error": f"{type(error).__name__}: {error}"}
        ) from error
    finally:
        model.generation_config = own
