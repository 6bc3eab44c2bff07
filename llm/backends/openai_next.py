"""Options scored by what servers say of given next tokens, with one request a cell.

The options of a cell are a tree of tokens behind their prompt, and what may follow each of its inner nodes is asked at
once: of options that are one token each, what follows the prompt, and whether the terminator follows the prompt with
each of them. The sums are those that the prompt's own log-probabilities give. Such requests read a server's prefix
cache, which those for prompt log-probabilities do not (vLLM), and servers have them that give no prompt
log-probabilities (llama.cpp). Tokens are the server's own, from its `/tokenize`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from base.sentences import gettext as _
from llm.backends import openai_prompts
from llm.backends.base import BackendError, Unavailable
from llm.backends.openai_answers import (
    NoPromptLogprobs,
    OfOneAnswer,
    Refused,
    cut_short,
    logprob_of,
    malformed,
    part,
    usage,
)
from llm.backends.openai_http import Session
from llm.backends.openai_memory import PROBE
from llm.engine.prompt import PromptTooLong, common_prefix_length

Ids = tuple[int, ...]

# By how much the same token may differ from its prompt log-probability: in bfloat16 other batches move it by tenths.
_FAR_NATS = 0.5
# An option and its terminator.
_SINGLE = 2
# A probability in float32 can be no smaller without being 0.
_LEAST_PROBABILITY = 2.0**-149
_MOST_LABELS = 128  # of one request to vLLM
# Of llama.cpp: so many of the most probable tokens are listed, and more of them where nothing else tells.
_LISTED = (256, 8192, 1_000_000)
# What is added to the logit of a token so that it is drawn, and how far it is ahead of the others where that counts.
_BIAS, _AHEAD_NATS = 1000.0, 500.0
_LEAST_FLOAT = -3.4028234663852886e38  # of float32; llama.cpp's logarithm of 0


class Way(NamedTuple):
    """How a server is asked. `ask`: of each prefix, log P in nats of the labels that are wanted behind it, by label."""

    name: str
    ask: Callable[[Session, Mapping[Ids, Sequence[int]]], list[dict[int, float]]]


class Cut(NamedTuple):
    """A question as the server cuts it into tokens: what its options share, and what each adds, terminator included."""

    prompt: Ids
    endings: tuple[Ids, ...]

    @property
    def is_single(self) -> bool:
        """Whether each option is one token, and the terminator one more."""
        return len(self.endings) < _MOST_LABELS and all(len(ending) <= _SINGLE for ending in self.endings)


def way_of(session: Session) -> Way | None:
    """How this server gives the log-probabilities of next tokens, None where it does not; tried out once a run.

    A way counts if it has what was asked for, and, where prompt log-probabilities can be had too, the same numbers.
    """
    name = session.memory.next_tokens
    if name is None:
        name = session.memory.next_tokens = _tried(session)
    return next((way for way in WAYS if way.name == name), None)


def cut(session: Session, prompt: str, endings: Sequence[str]) -> Cut:
    """The tokens of a prompt with each of these texts behind it, cut as the engine does it: where a token crosses the
    join, all are scored from the last token that the prompt alone has as well.

    How texts are cut behind a word is remembered, so that of most questions the prompt alone is asked for; each session
    looks once whether that still holds.

    Raises:
        PromptTooLong, BackendError: as `Session.ask`.
    """
    key = (prompt.split()[-1], tuple(endings))
    known = session.memory.endings.get(key)
    alone = tokens_of(session, prompt)
    if known:
        _look_again(session, prompt + endings[0], (*alone, *known[0]))
        return Cut(alone, known)
    wholes = [tokens_of(session, prompt + ending) for ending in endings]
    start = min(common_prefix_length(alone, whole) for whole in wholes)
    found = Cut(alone[:start], tuple(whole[start:] for whole in wholes))
    if start == len(alone):
        session.memory.endings[key] = found.endings
    return found


def _look_again(session: Session, text: str, ids: Ids) -> None:
    """Once a session: does the server still cut this text so?

    Raises:
        BackendError: it does not. What is remembered of it goes.
    """
    with session.looking:
        if session.endings_hold:
            return
        if tokens_of(session, text) != ids:
            session.forget()
            raise BackendError(
                _(
                    "%(url)s cuts texts into other tokens than when this run began: another model has taken its place. "
                    "Resume the run if its labels may be of both, which its record will then say; else start another."
                )
                % {"url": session.url},
                permanent=True,
            )
        session.endings_hold = True


def sums(session: Session, way: Way, asked: Cut) -> list[float]:
    """log P of each ending behind the prompt, in nats. One request, of llama.cpp one an inner node of their tree."""
    behind: dict[Ids, set[int]] = {}
    for ending in asked.endings:
        for n, token in enumerate(ending):
            behind.setdefault(asked.prompt + ending[:n], set()).add(token)
    wanted = {prefix: sorted(behind[prefix]) for prefix in sorted(behind, key=len)}
    found = dict(zip(wanted, way.ask(session, wanted), strict=True))
    return [
        math.fsum(found[asked.prompt + ending[:n]][token] for n, token in enumerate(ending)) for ending in asked.endings
    ]


def still_works(session: Session, way: Way) -> bool:
    """Whether the server still answers a short question whole in this way."""
    try:
        _probed(session, way, tokens_of(session, PROBE))
    except OfOneAnswer:
        return False
    return True


def is_one_token(session: Session, mark: str) -> bool:
    """As `openai_prompts.is_one_token`, of a server without prompt log-probabilities."""
    known = session.memory.one_token
    if mark not in known:
        once, thrice = (len(tokens_of(session, f"One {mark * n} two")) for n in (1, 3))
        known[mark] = thrice - once <= 2
    return known[mark]


def tokens_of(session: Session, text: str) -> Ids:
    """A prompt's tokens, as the server would cut it: with its BOS, and its special tokens where they stand in it."""
    body = {
        "model": session.model,
        "prompt": text,
        "add_special_tokens": True,
        # llama.cpp calls the same otherwise.
        "content": text,
        "add_special": True,
        "parse_special": True,
    }
    answer = session.ask("POST", "/tokenize", body, at_root=True)
    found = part(answer, "tokens", list)
    if not found or not all(type(each) is int for each in found):
        raise malformed("tokens")
    context = answer.get("max_model_len")
    if type(context) is int and 0 < context < len(found):
        raise PromptTooLong(tokens=len(found), context=context)  # SGLang's scores do not say how much was read
    return tuple(found)


def _tried(session: Session) -> str | None:
    """The name of the first way that works, "" if none does; None where that may be for an error that passes."""
    passing = False
    try:
        ids = tokens_of(session, PROBE)
    except BackendError as error:
        _raise_unless_unknown(error)
        return "" if error.permanent else None
    try:
        theirs = openai_prompts.tokens_of(session, PROBE).logprobs[-2:]
    except NoPromptLogprobs:
        theirs = (None, None)
    for way in WAYS:
        try:
            mine = _probed(session, way, ids)
        except BackendError as error:
            _raise_unless_unknown(error)
            passing |= not error.permanent
            continue
        pairs = zip(mine, theirs, strict=True)
        if all(other is None or abs(one - other) <= _FAR_NATS for one, other in pairs):
            return way.name
    return None if passing else ""


def _probed(session: Session, way: Way, ids: Ids) -> list[float]:
    """The log-probabilities of the last two of these tokens."""
    found = way.ask(session, {ids[:-2]: [ids[-2]], ids[:-1]: [ids[-1]]})
    return [of_prefix[token] for of_prefix, token in zip(found, ids[-2:], strict=True)]


def _raise_unless_unknown(error: BackendError) -> None:
    """Raise what says nothing of what the server knows: it is away, or wants another key."""
    if isinstance(error, Unavailable) or (isinstance(error, Refused) and error.status in (401, 403)):
        raise error


# The servers' own


def _by_completions(session: Session, wanted: Mapping[Ids, Sequence[int]]) -> list[dict[int, float]]:
    """vLLM: `logprob_token_ids` of its completions, several prompts a request (its pull request 43463)."""
    prefixes, labels = list(wanted), _all(wanted)
    answer = session.ask(
        "POST",
        "/completions",
        {
            "model": session.model,
            "prompt": [list(prefix) for prefix in prefixes],
            "max_tokens": 1,
            "temperature": 1,
            "top_p": 1,
            "seed": 1,
            "logprobs": 1,
            "logprob_token_ids": list(labels),
            "return_tokens_as_token_ids": True,
        },
    )
    if usage(answer, "prompt_tokens") != sum(map(len, prefixes)):
        raise cut_short()
    choices = part(answer, "choices", list)
    if len(choices) != len(prefixes):
        raise malformed("choices")
    found: list[dict[int, float]] = [{} for _ in prefixes]
    for place, choice in enumerate(choices):
        if not isinstance(choice, dict):
            raise malformed("choices")
        (listed,) = part(part(choice, "logprobs", dict), "top_logprobs", list)[:1] or [{}]
        if not isinstance(listed, dict):
            raise malformed("top_logprobs")
        at = choice.get("index", place)
        if type(at) is not int or at not in range(len(prefixes)) or found[at]:
            raise malformed("index")
        found[at] = _of_labels({name.removeprefix("token_id:"): value for name, value in listed.items()}, labels)
    return found


def _by_score(session: Session, wanted: Mapping[Ids, Sequence[int]]) -> list[dict[int, float]]:
    """SGLang: `/v1/score` of a decoder, whose scores without a softmax over the labels are probabilities."""
    prefixes, labels = list(wanted), _all(wanted)
    n_shared = len(prefixes[0]) - 1  # an item has one token at least
    answer = session.ask(
        "POST",
        "/score",
        {
            "model": session.model,
            "query": list(prefixes[0][:n_shared]),
            "items": [list(prefix[n_shared:]) for prefix in prefixes],
            "label_token_ids": list(labels),
            "apply_softmax": False,
            "item_first": False,
        },
    )
    scores = part(answer, "scores", list)
    if len(scores) != len(prefixes) or not all(isinstance(of, list) and len(of) == len(labels) for of in scores):
        raise malformed("scores")
    session.count(answer, read=sum(map(len, prefixes)))
    return [{label: _log(value) for label, value in zip(labels, of_prefix, strict=True)} for of_prefix in scores]


def _by_n_probs(session: Session, wanted: Mapping[Ids, Sequence[int]]) -> list[dict[int, float]]:
    """llama.cpp: `n_probs` of its own completions, which leaves out whatever its samplers do. Of each prefix only what
    is wanted there: what continues another option is nowhere among its first thousands, and all are megabytes."""
    return [_listed(session, prefix, labels) for prefix, labels in wanted.items()]


def _listed(session: Session, prefix: Ids, labels: Sequence[int]) -> dict[int, float]:
    """Labels that are not among the most probable tokens are drawn one by one, since the token that is drawn has its
    number beside the list.

    A token that begins a character is drawn in vain: the server says nothing of next tokens then. Such a label is
    looked for in longer lists; so are all labels where a server counts the bias by which they are drawn.
    """
    known: dict[int, Any] = {}
    for place, label in enumerate(labels):
        if label not in known:
            known |= _beside(session, prefix, drawn=label, n=2 if place else _LISTED[0])
    for n in _LISTED:
        if all(label in known for label in labels):
            break
        whole = tokens_of(session, PROBE)[-1]
        listed = _beside(session, prefix, drawn=whole, n=n) or _beside(session, prefix, drawn=None, n=n)
        if not listed:
            raise malformed("completion_probabilities")
        known |= listed
    least = math.log(_LEAST_PROBABILITY)
    return _of_labels({str(token): least if of == _LEAST_FLOAT else of for token, of in known.items()}, labels)


def _beside(session: Session, prefix: Ids, *, drawn: int | None, n: int) -> dict[int, Any]:
    """What the server says of the `n` most probable tokens and of the one that it draws, which is `drawn` unless that
    is None; {} where it says nothing, or counts the bias."""
    answer = session.ask(
        "POST",
        "/completion",
        {
            "model": session.model,  # for a router
            "prompt": list(prefix),
            "n_predict": 1,
            "n_probs": n,
            "post_sampling_probs": False,
            "temperature": 1,
            "seed": 1,
            "cache_prompt": True,
            **({} if drawn is None else {"logit_bias": [[drawn, _BIAS]]}),
        },
        at_root=True,
    )
    # A prompt that just fits is “truncated”, too.
    read = answer.get("tokens_evaluated")
    if answer.get("truncated") if read is None else read != len(prefix):
        raise cut_short()
    session.count(answer, read=len(prefix))
    if "completion_probabilities" not in answer:
        return {}
    first = part(answer, "completion_probabilities", list)[:1]
    if not first or not isinstance(first[0], dict):
        raise malformed("completion_probabilities")
    of = {
        each["id"]: each.get("logprob")
        for each in (first[0], *part(first[0], "top_logprobs", list))
        if isinstance(each, dict) and type(each.get("id")) is int
    }
    return {} if drawn in of and _is_ahead(of[drawn], [of[token] for token in of if token != drawn]) else of


def _is_ahead(mine: Any, others: Sequence[Any]) -> bool:
    numbers = [other for other in others if isinstance(other, int | float)]
    return isinstance(mine, int | float) and bool(numbers) and mine > max(numbers) + _AHEAD_NATS


def _all(wanted: Mapping[Ids, Sequence[int]]) -> list[int]:
    return sorted({label for labels in wanted.values() for label in labels})


def _of_labels(listed: dict[str, Any], labels: Sequence[int]) -> dict[int, float]:
    if missing := [label for label in labels if str(label) not in listed]:
        raise malformed(f"log-probability of the token {missing[0]}")
    return {label: logprob_of(listed[str(label)]) for label in labels}


def _log(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1 + 1e-3:
        raise malformed("scores")
    return math.log(max(float(value), _LEAST_PROBABILITY))


# In the order in which they are tried.
WAYS: tuple[Way, ...] = (
    Way("logprob_token_ids", _by_completions),
    Way("score", _by_score),
    Way("n_probs", _by_n_probs),
)
