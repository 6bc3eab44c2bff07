"""Judges behind a server that speaks OpenAI's HTTP interface: vLLM and others.

Cloze scoring asks `/completions` for the log-probabilities of the prompt's own tokens. Two kinds of server return them:
vLLM with `prompt_logprobs`, others with `echo` and `logprobs`. Which one it is gets tried out once a run. Where all
options are single tokens, or a server has no such log-probabilities, it is asked what may come next instead, if it can
say that (`openai_next`). Options are scored as by the engine here: the delimiter's space and the terminator belong to
the option, and where a token crosses from the prompt into an option, all options are scored from the last token that
the prompt alone has as well.

Answers are written by `/chat/completions`, so always in the server's own chat form.
"""

from __future__ import annotations

import importlib.metadata
import math
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from typing import Self

from base.sentences import gettext as _
from base.sentences import gettext_noop
from llm import chat_tokens
from llm.backends import openai_binding, openai_chat, openai_model, openai_next, openai_prompts
from llm.backends.base import Backend, BackendError, Chat, Installation, Needs, Place, Use
from llm.backends.openai_answers import NoPromptLogprobs, OfOneAnswer, PromptTokens, Refused
from llm.backends.openai_http import Server, Session
from llm.backends.openai_memory import PromptLogprobs
from llm.engine.prompt import (
    CellPrompt,
    Generated,
    OnProgress,
    OptionScore,
    PromptTooLong,
    RowPrompt,
    RowScores,
    Sampling,
    common_prefix_length,
    refuse_prefixes,
)

_DELIMITER = " "
# Whoever may create a judge names the variable, and the server gets its content: so no other secret of the workers,
# those of search engines included.
_VARIABLE = re.compile("(?!.*SEARCH_API_KEY$)[A-Z][A-Z0-9_]*_API_KEY")


@dataclass(frozen=True)
class OpenAIBackend(Server, Backend):
    """A model on a server as a judge.

    Args:
        terminator: text scored after each option.
        scores: options will be scored, so that `identity` finds out how, and refuses a server that cannot.
    """

    terminator: str = field(default="\n", kw_only=True)
    scores: bool = field(default=True, kw_only=True)

    label = gettext_noop("on an OpenAI-compatible server")
    uses = {Use.SCORE: Chat.NEVER, Use.GENERATE: Chat.ALWAYS}
    takes = frozenset({"served_name", "api_key_env", "requests_per_minute"})
    requires = frozenset({"served_name"})
    # Where the server does, which is tried out with the first answer.
    binds = True
    sees = True
    shares = False
    asks_outside = True
    help = "judges/servers"

    @classmethod
    def of(cls, place: Place, use: Use, *, chat_template: bool, installation: Installation) -> Self:
        return cls(
            place.location,
            place.served_name,
            api_key_env=place.api_key_env or None,
            requests_per_minute=place.requests_per_minute,
            total_s=installation.server_seconds,
            max_bytes=installation.server_max_bytes,
            tolerance_nats=installation.server_tolerance,
            scores=use == Use.SCORE,
        )

    @classmethod
    def refuse(cls, place: Place, use: Use, *, chat_template: bool, installation: Installation) -> None:
        """Refuse an address that is not http or https, a model or key without a proper name, and the chat form for what
        is scored, or another than the chat form for what is written."""
        cls.of(place, use, chat_template=chat_template, installation=installation)  # it knows addresses
        if not place.served_name:
            raise BackendError(_("Give the name by which the server knows the model."), permanent=True)
        named = place.api_key_env
        if named and not _VARIABLE.fullmatch(named) and named not in installation.key_variables:
            raise BackendError(
                _(
                    "The key belongs in an environment variable of the workers, and its name here: capital letters, "
                    "digits and _ that end in _API_KEY, such as LAB_API_KEY, or a name that the installation's "
                    "PALATE_KEY_VARIABLES lists. Never give the key itself."
                ),
                permanent=True,
            )
        if use == Use.GENERATE and not chat_template:
            raise BackendError(
                _("A server writes in its chat form. Create the judge with the chat form."),
                permanent=True,
            )
        if use == Use.SCORE and chat_template:
            raise BackendError(
                _(
                    "A server scores plain prompts only: it applies its chat form to what it is to answer, not to what "
                    "it is to score. Create the judge without the chat form, or load the model in a worker."
                ),
                permanent=True,
            )

    @classmethod
    def needs(cls, place: Place) -> Needs:
        return Needs.NETWORK

    @classmethod
    def called(cls, place: Place) -> str:
        return f"{place.served_name} {place.location}"

    @classmethod
    def described(cls, place: Place) -> list[tuple[str, str]]:
        return [(_("Model"), place.served_name), (_("Server"), place.location)]

    @classmethod
    def announced(cls, place: Place) -> str:
        return f"{place.served_name} at {place.location}"

    def score(
        self, rows: Sequence[RowPrompt], on_progress: OnProgress | None = None
    ) -> list[RowScores | PromptTooLong]:
        """As the protocol has it. What is under way when `on_progress` raises is not waited for.

        Raises also:
            ValueError: a tokeniser leaves nothing in front of an option to predict it from.
        """
        found: dict[_Question, _Answer] = {}
        with Session(self, on_progress) as session:
            marks = sorted(_marks(rows))
            special = (
                session.first(lambda: {mark for mark in marks if _is_one_token(session, mark)}) if marks else set()
            )
            pairs = [[_Pair.of(row, cell, special) for cell in row.cells] for row in rows]
            # Rows share the questions without evidence: each is asked once.
            questions = list(
                dict.fromkeys(question for of_row in pairs for pair in of_row for question in pair.questions)
            )

            def keep(index: int, answer: _Answer) -> int:
                found[questions[index]] = answer
                return sum(found.keys() >= set(pair.questions) for of_row in pairs for pair in of_row)

            if questions:
                session.first(lambda: _ways(session))
            session.run([partial(_ask, session, question, self.terminator) for question in questions], keep)
        return [_row_scores(row, of_row, found) for row, of_row in zip(rows, pairs, strict=True)]

    def generate(
        self,
        prompts: Sequence[str],
        sampling: Sampling,
        on_progress: OnProgress | None = None,
        *,
        seeds: Sequence[int] | None = None,
    ) -> list[Generated | PromptTooLong]:
        """As the protocol has it. What is under way when `on_progress` raises is not waited for."""
        found: dict[int, Generated | PromptTooLong] = {}

        def keep(index: int, answer: Generated | PromptTooLong) -> int:
            found[index] = answer
            return len(found)

        with Session(self, on_progress) as session:
            marks = sorted({found[0] for prompt in prompts for found in chat_tokens.SPECIAL.finditer(prompt)})
            special = (
                session.first(lambda: {mark for mark in marks if openai_chat.is_one_token(session, mark)})
                if marks
                else set()
            )
            asked = [
                partial(openai_chat.write, session, _inert(prompt, special), replace(sampling, seed=seed))
                for prompt, seed in zip(prompts, seeds or [sampling.seed] * len(prompts), strict=True)
            ]
            session.run(asked, keep)
        return [found[index] for index in range(len(prompts))]

    def binding(self) -> str:
        return self._bound(None)

    def binding_told(self, on_progress: OnProgress) -> str:
        return self._bound(on_progress)

    def _bound(self, on_progress: OnProgress | None) -> str:
        with Session(self, on_progress) as session:
            return f"the server's, {session.first(lambda: openai_binding.way_of(session)).name}"

    def identity(self) -> dict[str, str]:
        return self._identified(None)

    def identity_told(self, on_progress: OnProgress) -> dict[str, str]:
        return self._identified(on_progress)

    def _identified(self, on_progress: OnProgress | None) -> dict[str, str]:
        with Session(self, on_progress, anew=True) as session:
            told, asked = session.first(lambda: (openai_model.told(session), self._asked(session)))
            session.memory.loaded = told["served_model"]
        return {
            "backend": "openai",
            "server": self.base_url,
            "model": self.model,
            **told,  # it gives no digest of the weights
            **asked,
            "httpx": importlib.metadata.version("httpx"),
        }

    def _asked(self, session: Session) -> dict[str, str]:
        """How it is asked."""
        if not self.scores:
            return {"chat_template": "the server's"}
        form, way = _ways(session)
        asked = {"prompt_logprobs": form or "none", "terminator": self.terminator}
        if way is not None:
            asked["single_token_options" if form else "options"] = f"{way.name}: what may come next"
        return asked


@dataclass(frozen=True)
class _Question:
    """A prompt and the options to choose from, ready to be sent. `shared`: so many characters of it stand in front of
    all cells of the row; 0 where it stands by itself."""

    prompt: str
    options: tuple[str, ...]
    shared: int = 0


@dataclass(frozen=True)
class _Pair:
    """What is asked for a cell: with evidence, and without it if the cell wants that."""

    conditional: _Question
    unconditional: _Question | None

    @classmethod
    def of(cls, row: RowPrompt, cell: CellPrompt, special: Container[str]) -> _Pair:
        inert = partial(_inert, special=special)
        options = tuple(map(inert, cell.options))
        whole, shared = inert(row.shared + cell.text), inert(row.shared)
        return cls(
            _Question(whole, options, len(shared) if whole.startswith(shared) else 0),
            None if cell.unconditional is None else _Question(inert(cell.unconditional), options),
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


def _inert(text: str, special: Container[str]) -> str:
    """As the engine does it, so that evidence cannot end its own message; `special`: the server's special tokens among
    the usual forms. What is none of its tokens stays the text that it is."""
    return chat_tokens.SPECIAL.sub(lambda found: chat_tokens.broken(found) if found[0] in special else found[0], text)


def _marks(rows: Sequence[RowPrompt]) -> set[str]:
    """What in these texts may be a special token of the server's."""
    texts = {
        text for row in rows for cell in row.cells for text in (cell.text, cell.unconditional or "", *cell.options)
    }
    return {
        found[0] for text in (*texts, *(row.shared for row in rows)) for found in chat_tokens.SPECIAL.finditer(text)
    }


def _ways(session: Session) -> tuple[PromptLogprobs | None, openai_next.Way | None]:
    """How this server scores what stands in a prompt, and what may come next; tried out once a run.

    Raises NoPromptLogprobs where it does neither.
    """
    way = openai_next.way_of(session)
    if session.memory.has_no_form and way is not None:
        return None, way
    try:
        return openai_prompts.form_of(session), way
    except NoPromptLogprobs:
        if way is None:
            raise
        session.memory.has_no_form = True
        return None, way


def _is_one_token(session: Session, mark: str) -> bool:
    form, _way = _ways(session)
    return openai_prompts.is_one_token(session, mark) if form else openai_next.is_one_token(session, mark)


def _ask(session: Session, question: _Question, terminator: str) -> _Answer:
    form, way = _ways(session)
    if way is not None:
        endings = [_DELIMITER + option + terminator for option in question.options]
        try:
            cut = openai_next.cut(session, question.prompt, endings)
            if cut.is_single or form is None:
                return _by_next_tokens(session, way, question, cut)
        except PromptTooLong as error:
            return error
    return _by_prompts(session, question, terminator)


def _by_next_tokens(session: Session, way: openai_next.Way, question: _Question, cut: openai_next.Cut) -> _Answer:
    if not cut.prompt:
        raise _nothing_before(question)
    refuse_prefixes(question.options, cut.endings)
    try:
        sums = openai_next.sums(session, way, cut)
    except OfOneAnswer as error:
        if openai_next.still_works(session, way):
            raise BackendError(str(error), permanent=False) from error  # asked again it may be whole
        raise
    except Refused:
        session.memory.next_tokens = (
            None  # another server has taken its place; what that one can is tried out next time
        )
        raise
    return tuple(_Sum(logprob, len(ending)) for logprob, ending in zip(sums, cut.endings, strict=True))


def _nothing_before(question: _Question) -> ValueError:
    return ValueError(
        _("The prompt before these options leaves no token to predict them from: %(options)s")
        % {"options": repr(question.options)}
    )


def _by_prompts(session: Session, question: _Question, terminator: str) -> _Answer:
    wholes = [question.prompt + _DELIMITER + option + terminator for option in question.options]
    answers = [_tokens(session, whole) for whole in wholes]
    if too_long := [answer for answer in answers if isinstance(answer, PromptTooLong)]:
        return _longest(too_long)
    scored = [answer for answer in answers if isinstance(answer, PromptTokens)]
    starts = {_token_at(tokens, whole, len(question.prompt)) for tokens, whole in zip(scored, wholes, strict=True)}
    start = starts.pop() if len(starts) == 1 else None
    _refuse_if_unsteady(session, scored, start or 0)
    if question.shared:
        text = question.prompt[: question.shared]
        mine = scored[0], _token_at(scored[0], wholes[0], question.shared) or 0
        first = session.begun.setdefault(text, mine)
        _refuse_if_unsteady(session, (first[0], mine[0]), min(first[1], mine[1]))
    if start is None:
        # A token crosses the join, or the tokens' texts do not say where it is. The engine's rule then: from the last
        # token that all options keep of what the prompt alone is cut into.
        alone = openai_prompts.tokens_of(session, question.prompt)
        start = min(common_prefix_length(alone.keys, tokens.keys) for tokens in scored)
    if start == 0:
        raise _nothing_before(question)
    refuse_prefixes(question.options, [tokens.keys[start:] for tokens in scored])
    return tuple(_sum(tokens.logprobs[start:]) for tokens in scored)


def _refuse_if_unsteady(session: Session, answers: Sequence[PromptTokens], start: int) -> None:
    """The prompts of a cell's options begin alike, and so do those of a row's cells, so that the tokens which they
    share have the same log-probabilities: unless the server's numbers depend on what it was asked before, or on what it
    is asked at the same time.

    `start`: so many tokens make up the text that they share, whatever the server calls them; 0 where that is not known.
    Raises BackendError.
    """
    first, tolerance = answers[0], session.tolerance_nats
    for other in answers[1:]:
        shared = max(start, common_prefix_length(first.keys, other.keys))
        pairs = zip(first.logprobs[1:shared], other.logprobs[1:shared], strict=True)
        apart = max((abs(one - two) for one, two in pairs if one is not None and two is not None), default=0.0)
        if apart > tolerance:
            raise BackendError(
                _(
                    "The server gives the same tokens of the same text log-probabilities that are %(apart)s nat apart "
                    "from one request to the next, so its labels would depend on the order of the requests. Turn its "
                    "prefix cache off (vLLM: --no-enable-prefix-caching); if that does not mend it, let it compute in "
                    "float32 (--dtype float32) or independently of the batch (VLLM_BATCH_INVARIANT=1), or raise "
                    "PALATE_SERVER_TOLERANCE, which is %(tolerance)s nat."
                )
                % {"apart": f"{apart:.2g}", "tolerance": f"{tolerance:g}"},
                permanent=True,
            )


def _tokens(session: Session, prompt: str) -> PromptTokens | PromptTooLong:
    try:
        return openai_prompts.tokens_of(session, prompt)
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
