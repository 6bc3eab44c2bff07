"""Cloze scoring: log P(option | prompt) for every option of every cell, each token of the rows' prompt trees fed once.

The tree of all rows of a call is fed depth first in forwards of at most `token_budget` tokens. The cache of keys and
values holds, between two forwards, the ancestors of the next token and nothing else. So memory is bounded by the
model's context and the budget, whatever the number of rows, cells and options: keys and values of (context + budget)
tokens, attention masks of budget x (context + budget) numbers at most, logits of at most `budget` positions.

A prompt scored alone and in the tree differ by rounding only: in float32 mostly by some 1e-5 nat, by as much as the
model's own scores move where what it reads is a rounding off, which single prompts may make more. In bfloat16 both
carry an error of a few tenths of a nat, and where the forwards are cut moves it: scores repeat exactly if a call's rows
do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from base.sentences import gettext as _
from llm.engine import probing
from llm.engine.encoding import PromptEncoder
from llm.engine.forwards import Forward, alone_forwards, tree_forwards
from llm.engine.prompt import CellPrompt, OnProgress, OptionScore, PromptTooLong, RowPrompt, RowScores
from llm.engine.tree import TokenSequence, TokenTree, build

# A forward this small that does not fit says that the model itself fills the memory.
LEAST_TOKEN_BUDGET = 32


@dataclass
class _Asked:
    """Rows as sequences of tokens, which are made once however often their scoring is begun."""

    sequences: list[TokenSequence] = field(default_factory=list)
    cell_of: list[int] = field(default_factory=list)  # for each sequence
    of_cell: list[int] = field(default_factory=list)  # for each cell, how many sequences
    # For each row: why not, or for each cell, the sequences' indices: (with evidence, without).
    rows: list[PromptTooLong | list[tuple[CellPrompt, range, range]]] = field(default_factory=list)


class ClozeScorer:
    """Scores rows with one causal language model of transformers and its tokeniser.

    `token_budget` bounds the tokens of one forward: on a CPU a few hundred are as fast as more and waste less on
    attention, a GPU wants thousands. Where a forward does not fit a GPU's memory it is halved, for good, and the call
    begins anew. `alone_because` is None where the model takes the tree, else the reason why it does not: a kind of
    layer whose state is no cache of keys and values, or a model that did not pass the probe that is run at
    construction. Prompts are then fed branch by branch, with copies of the model's state, where `branches` says so,
    else each alone, which is as right and slower. Where the copies do not fit a GPU's memory beside the smallest
    forward, prompts are fed alone from then on, which takes none. `own_attention`: by which way of `attention` the tree
    is attended to, the first that the probe finds the model's layers to heed; None: as transformers does it.

    Raises NotOfText, when it is made, for a model that reads no text by itself or makes none, NotCausal for one in
    which a later token changes an earlier one's prediction, and NotRepeatable for one that predicts otherwise each
    time.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        token_budget: int,
        terminator: str = "\n",
        chat_template: bool = False,
        exact: probing.Feeding | None = None,
    ) -> None:
        self._model = model
        self.token_budget = token_budget
        self._context = probing.context_of(model)
        self.encoder = PromptEncoder(tokenizer, terminator=terminator, chat_template=chat_template)
        probing.refuse_unless_of_text(type(model))
        probing.refuse_unless_causal(model)
        self.feeding = probing.how_to_feed(model, exact=exact)
        self.own_attention, self.alone_because = self.feeding.own_attention, self.feeding.alone_because
        self.branches = self.feeding.branches is not None
        self._without_copies = False  # branches did not fit the memory

    @property
    def mode(self) -> str:
        """How prompts are fed, for a run's record."""
        if self.alone_because is None:
            return "tree"
        said = f"{'branch by branch' if self.branches else 'each prompt alone'}: {self.alone_because}"
        return f"{said} Branches did not fit the memory." if self._without_copies else said

    def score(
        self,
        rows: Sequence[RowPrompt],
        on_progress: OnProgress | None = None,
        *,
        turn: AbstractContextManager[object] | None = None,
    ) -> list[RowScores | PromptTooLong]:
        """The scores of each row, or, in the place of a row that does not fit the model's context, what to say of it.

        `turn` is entered for the forwards alone: threads that wait for each other there cut their rows into tokens
        while the model is at work for another. `on_progress` is called when it has come, with nothing done yet.

        Raises, before anything is computed:
            OptionsNotPrefixFree: an option of a cell begins another one.
        And later:
            FloatingPointError: the model returned something that is not a number.
            torch.OutOfMemoryError: not even `LEAST_TOKEN_BUDGET` tokens fit, nor, of a model that is fed branch by
                branch, a prompt alone.
            Whatever `on_progress` raises.
        """
        asked = self._asked(rows)
        tree = build(asked.sequences) if self.alone_because is None else None
        with turn or nullcontext():
            if turn is not None and on_progress is not None:
                on_progress(0, 0)  # it may have been cancelled while it waited
            while True:
                try:
                    return self._scores(asked, on_progress, self._forwards(tree), self.token_budget)
                except torch.OutOfMemoryError:
                    if self.token_budget > LEAST_TOKEN_BUDGET:
                        self.token_budget = max(self.token_budget // 2, LEAST_TOKEN_BUDGET)
                    elif self.branches:
                        self.branches, self._without_copies = False, True
                    else:
                        raise
                # Out of the handler, where the error's traceback keeps the failed forward's tensors.
                torch.cuda.empty_cache()  # nothing happens where there is no GPU

    def _forwards(self, tree: TokenTree | None) -> Callable[..., Iterator[Forward]]:
        if tree is not None:
            return partial(tree_forwards, tree=tree, own_attention=self.own_attention)
        if self.branches and self.feeding.branches is not None:
            return self.feeding.branches
        return partial(alone_forwards, pads=self.feeding.pads)

    def _asked(self, rows: Sequence[RowPrompt]) -> _Asked:
        asked = _Asked()
        for row in rows:
            encoded = self.encoder.encode(row)
            longest = max((len(sequence.ids) - 1 for cell in encoded for part in cell for sequence in part), default=0)
            if longest > self._context:
                asked.rows.append(PromptTooLong(tokens=longest, context=self._context))
                continue
            cells = []
            for cell, (conditional, unconditional) in zip(row.cells, encoded, strict=True):
                first = len(asked.sequences)
                middle, last = first + len(conditional), first + len(conditional) + len(unconditional)
                asked.sequences += [*conditional, *unconditional]
                asked.cell_of += [len(asked.of_cell)] * (last - first)
                asked.of_cell.append(last - first)
                cells.append((cell, range(first, middle), range(middle, last)))
            asked.rows.append(cells)
        return asked

    def _scores(
        self,
        asked: _Asked,
        on_progress: OnProgress | None,
        forwards: Callable[..., Iterator[Forward]],
        token_budget: int,
    ) -> list[RowScores | PromptTooLong]:
        logprobs = [0.0] * len(asked.sequences)
        left = list(asked.of_cell)
        tokens_fed = cells_done = 0
        with torch.inference_mode():
            for forward in forwards(self._model, asked.sequences, token_budget=token_budget):
                tokens_fed += forward.tokens
                for index, logprob in forward.finished.items():
                    if not math.isfinite(logprob):
                        raise FloatingPointError(_("The model returned something that is not a number."))
                    logprobs[index] = logprob
                    left[asked.cell_of[index]] -= 1
                    cells_done += left[asked.cell_of[index]] == 0
                if on_progress is not None:
                    on_progress(tokens_fed, cells_done)

        return [
            entry
            if isinstance(entry, PromptTooLong)
            else tuple(_option_scores(cell, asked.sequences, logprobs, *indices) for cell, *indices in entry)
            for entry in asked.rows
        ]


def _option_scores(
    cell: CellPrompt, sequences: Sequence[TokenSequence], logprobs: Sequence[float], conditional: range, without: range
) -> tuple[OptionScore, ...]:
    return tuple(
        OptionScore(
            logprob=logprobs[index],
            n_tokens=len(sequences[index].ids) - sequences[index].start,
            n_characters=len(option),
            unconditional=logprobs[without[place]] if without else None,
        )
        for place, (option, index) in enumerate(zip(cell.options, conditional, strict=True))
    )
