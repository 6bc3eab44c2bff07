"""Judges behind a server that speaks OpenAI's HTTP interface: vLLM and others.

Cloze scoring asks `/completions` for the log-probabilities of the prompt's own tokens. Two kinds of server return them:
vLLM with `prompt_logprobs`, others with `echo` and `logprobs`. Which one it is gets tried out once a process. Options
are scored as by the engine here: the delimiter's space and the terminator belong to the option, and where a token
crosses from the prompt into an option, all options are scored from the last token that the prompt alone has as well.

Answers are written by `/chat/completions`, so always in the server's own chat form.
"""

from __future__ import annotations

import importlib.metadata
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate

from annotation.sentences import gettext as _
from judges.backends import openai_chat
from judges.backends.openai_answers import PromptTokens
from judges.backends.openai_http import Server, Session
from judges.engine.prompt import (
    CellPrompt,
    Generated,
    OnProgress,
    OptionScore,
    PromptTooLong,
    RowPrompt,
    RowScores,
    Sampling,
    refuse_prefixes,
)

_DELIMITER = " "
# Evidence must not end its own message. The server's tokeniser is not known here, so these are the usual forms.
_SPECIAL = re.compile(
    r"<\|[^|<>\s]{1,40}\|>|<｜[^｜<>\s]{1,40}｜>|</?s>|<(?:bos|eos|pad|unk)>|<(?:start|end)_of_turn>|\[/?INST\]|<</?SYS>>"
)


@dataclass(frozen=True)
class OpenAIBackend(Server):
    """A model on a server as a judge.

    Args:
        terminator: text scored after each option.
        scores: options will be scored, so that `identity` finds out how, and refuses a server that cannot.
    """

    terminator: str = field(default="\n", kw_only=True)
    scores: bool = field(default=True, kw_only=True)

    def score(
        self, rows: Sequence[RowPrompt], on_progress: OnProgress | None = None
    ) -> list[RowScores | PromptTooLong]:
        """As the protocol has it. What is under way when `on_progress` raises is not waited for.

        Raises also:
            ValueError: a tokeniser leaves nothing in front of an option to predict it from.
        """
        pairs = [[_Pair.of(row, cell) for cell in row.cells] for row in rows]
        # Rows share the questions without evidence: each is asked once.
        questions = list(dict.fromkeys(question for of_row in pairs for pair in of_row for question in pair.questions))
        found: dict[_Question, _Answer] = {}

        def keep(index: int, answer: _Answer) -> int:
            found[questions[index]] = answer
            return sum(found.keys() >= set(pair.questions) for of_row in pairs for pair in of_row)

        with Session(self, on_progress) as session:
            if questions:
                session.prompt_logprobs()
            session.run([partial(_ask, session, question, self.terminator) for question in questions], keep)
        return [_row_scores(row, of_row, found) for row, of_row in zip(rows, pairs, strict=True)]

    def generate(
        self, prompts: Sequence[str], sampling: Sampling, on_progress: OnProgress | None = None
    ) -> list[Generated | PromptTooLong]:
        """As the protocol has it. What is under way when `on_progress` raises is not waited for."""
        found: dict[int, Generated | PromptTooLong] = {}

        def keep(index: int, answer: Generated | PromptTooLong) -> int:
            found[index] = answer
            return len(found)

        with Session(self, on_progress) as session:
            session.run([partial(openai_chat.write, session, _inert(prompt), sampling) for prompt in prompts], keep)
        return [found[index] for index in range(len(prompts))]

    def identity(self) -> dict[str, str]:
        with Session(self) as session:
            card = session.model_card()
            asked = (
                {"prompt_logprobs": session.prompt_logprobs(), "terminator": self.terminator}
                if self.scores
                else {"chat_template": "the server's"}
            )
        return {
            "backend": "openai",
            "server": self.base_url,
            "model": self.model,
            # What the server says that it loaded; it gives no digest of the weights.
            "served_model": str(card.get("root") or ""),
            "context": str(card.get("max_model_len") or ""),
            **asked,
            "httpx": importlib.metadata.version("httpx"),
        }


@dataclass(frozen=True)
class _Question:
    """A prompt and the options to choose from, ready to be sent."""

    prompt: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class _Pair:
    """What is asked for a cell: with evidence, and without it if the cell wants that."""

    conditional: _Question
    unconditional: _Question | None

    @classmethod
    def of(cls, row: RowPrompt, cell: CellPrompt) -> _Pair:
        options = tuple(map(_inert, cell.options))
        return cls(
            _Question(_inert(row.shared + cell.text), options),
            None if cell.unconditional is None else _Question(_inert(cell.unconditional), options),
        )

    @property
    def questions(self) -> tuple[_Question, ...]:
        return (self.conditional,) if self.unconditional is None else (self.conditional, self.unconditional)


@dataclass(frozen=True)
class _Sum:
    """log P of an option and its terminator, in nats, and of how many tokens."""

    logprob: float
    n_tokens: int


_Answer = tuple[_Sum, ...] | PromptTooLong


def _inert(text: str) -> str:
    """As the engine does it: a space after the first character, and it is a special token no more."""
    return _SPECIAL.sub(lambda match: f"{match[0][0]} {match[0][1:]}", text)


def _ask(session: Session, question: _Question, terminator: str) -> _Answer:
    wholes = [question.prompt + _DELIMITER + option + terminator for option in question.options]
    answers = [_tokens(session, whole) for whole in wholes]
    if too_long := [answer for answer in answers if isinstance(answer, PromptTooLong)]:
        return _longest(too_long)
    scored = [answer for answer in answers if isinstance(answer, PromptTokens)]
    starts = {_token_at(tokens, whole, len(question.prompt)) for tokens, whole in zip(scored, wholes, strict=True)}
    start = starts.pop() if len(starts) == 1 else None
    if start is None:
        # A token crosses the join, or the tokens' texts do not say where it is. The engine's rule then: from the last
        # token that all options keep of what the prompt alone is cut into.
        alone = session.prompt_tokens(question.prompt)
        start = min(_common_prefix_length(alone.keys, tokens.keys) for tokens in scored)
    if start == 0:
        raise ValueError(
            _("The prompt before these options leaves no token to predict them from: %(options)s")
            % {"options": repr(question.options)}
        )
    refuse_prefixes(question.options, [tokens.keys[start:] for tokens in scored])
    return tuple(_sum(tokens.logprobs[start:]) for tokens in scored)


def _tokens(session: Session, prompt: str) -> PromptTokens | PromptTooLong:
    try:
        return session.prompt_tokens(prompt)
    except PromptTooLong as error:
        return error


def _longest(refused: Sequence[PromptTooLong]) -> PromptTooLong:
    return max(refused, key=lambda one: one.tokens_over)


def _token_at(tokens: PromptTokens, text: str, place: int) -> int | None:
    """Index of the token that begins at this character of `text`, None if that cannot be told.

    Where a token begins there, the tokens before it are those that the text up to there is cut into by itself: a
    tokeniser that merges pairs merged none across, so it merged on either side as if the other were not there.
    """
    ahead = tokens.ahead_of(text)
    ends = list(accumulate(map(len, tokens.texts)))
    return ends.index(place + ahead) + 1 if ahead is not None and place + ahead in ends else None


def _common_prefix_length(first: Sequence[str], second: Sequence[str]) -> int:
    pairs = zip(first, second, strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second)))


def _sum(logprobs: Sequence[float | None]) -> _Sum:
    numbers = [logprob for logprob in logprobs if logprob is not None]
    assert len(numbers) == len(logprobs)  # only the first of a prompt is None, and that is never scored
    return _Sum(logprob=math.fsum(numbers), n_tokens=len(numbers))


def _row_scores(
    row: RowPrompt, pairs: Sequence[_Pair], found: Mapping[_Question, _Answer]
) -> RowScores | PromptTooLong:
    answers = [found[question] for pair in pairs for question in pair.questions]
    if too_long := [answer for answer in answers if isinstance(answer, PromptTooLong)]:
        return _longest(too_long)
    return tuple(_option_scores(cell, pair, found) for cell, pair in zip(row.cells, pairs, strict=True))


def _option_scores(cell: CellPrompt, pair: _Pair, found: Mapping[_Question, _Answer]) -> tuple[OptionScore, ...]:
    conditional, *without = [_sums(found[question]) for question in pair.questions]
    return tuple(
        OptionScore(
            logprob=conditional[place].logprob,
            n_tokens=conditional[place].n_tokens,
            n_characters=len(option),
            unconditional=without[0][place].logprob if without else None,
        )
        for place, option in enumerate(cell.options)
    )


def _sums(answer: _Answer) -> tuple[_Sum, ...]:
    assert not isinstance(answer, PromptTooLong)
    return answer
