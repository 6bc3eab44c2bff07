"""What the answers of a server with OpenAI's HTTP interface say: prompts' tokens, texts, refusals. Pure."""

from __future__ import annotations

import email.utils
import json
import re
import time
import unicodedata
from dataclasses import dataclass
from typing import Any, TypeGuard

from base.sentences import gettext as _
from base.text import storable
from llm.backends.base import BackendError
from llm.backends.openai_wire import Reply
from llm.backends.secrets import Secret
from llm.engine.prompt import Generated, PromptTooLong

# What servers say to a prompt that they will not read: its content, its size, a value in it.
_OF_PROMPT = frozenset({400, 413, 422})
# What they say to a request for something that they may not have.
_OF_REQUEST = frozenset({400, 404, 405, 422, 501})
_LONGEST_TOKEN = 64  # letters
_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")
_MOST_ADDED = 100_000  # tokens, by chat forms and pictures
_LEAST_LOGPROB = -1e6
_ANSWERED = ("choices", "data", "scores", "tokens", "completion_probabilities")
_LONGEST_WAIT = 1e7  # seconds, of those that are told
_LONGEST_SENTENCE = 300  # letters that are kept
_LONGEST_LOOKED_AT = 10_000  # of a refusal, for its first sentence
# A token of this many letters is longer than those of any tokeniser but for runs of spaces. Some servers write more
# tokens than they were asked for.
_LETTERS_A_TOKEN, _FEW_LETTERS = 256, 200_000
_LONGEST_NUMBER = 12  # digits
# Where a server that tells thoughts from answers puts them: llama.cpp and LiteLLM, vLLM since 0.12.
_THOUGHTS = ("reasoning_content", "reasoning")


class Refused(BackendError):
    """The server refused a request, and would again."""

    def __init__(self, message: str, *, status: int, said: str) -> None:
        super().__init__(message, permanent=True, of_prompt=status in _OF_PROMPT)
        self.status = status
        self.said = said

    @property
    def is_of_request(self) -> bool:
        """Whether the server may lack what was asked for. Else it is about who asks: a key, a credit, an address."""
        return self.status in _OF_REQUEST


class NoPromptLogprobs(BackendError):
    """The server has nothing that cloze scoring could use."""


class OfOneAnswer(BackendError):
    """What is wrong with an answer and may be right in the next one. `permanent` unless that is known to be so."""


class CutShort(OfOneAnswer):
    """An answer says of other tokens than those of the prompt that was sent."""


class NoLogprob(OfOneAnswer):
    """An answer has something else in the place of a log-probability."""


class _SaidTooLong(PromptTooLong):
    """A prompt that is too long for the server, which gave no numbers."""

    def __init__(self, how: str) -> None:
        self.tokens_over = 1  # at least
        ValueError.__init__(
            self,
            _(
                "The evidence is over the model's context. %(how)s Shorten the evidence or choose a judge with a "
                "longer context."
            )
            % {"how": how},
        )


@dataclass(frozen=True)
class PromptTokens:
    """A prompt as the server cut it into tokens.

    For each token a key that tells it from others, its text, and its log-probability given those before it. The first
    has no log-probability, and vLLM does not say what it is either: its key and text are then "".
    """

    keys: tuple[str, ...]
    texts: tuple[str, ...]
    logprobs: tuple[float | None, ...]

    def ahead_of(self, prompt: str) -> int | None:
        """How many characters the tokens' texts have in front of the prompt's: a BOS. Negative: the first token's text
        is not known and has so many. None: the texts do not make up the prompt, since they are of bytes of characters,
        or a decoder dropped their spaces."""
        joined = "".join(self.texts)
        ahead = len(joined) - len(prompt)
        if self.texts[0] == "" and prompt.endswith(joined):
            return ahead
        return ahead if joined.endswith(prompt) and ahead in (0, len(self.texts[0])) else None

    def missing_of(self, prompt: str) -> str:
        """The beginning of the prompt that the tokens' texts lack: at most what the first token is, if that is unknown.

        Where the texts do not make up the prompt, this goes by its ASCII letters and digits, which no decoder drops.
        Raises BackendError where more is missing than a first token: the server cut the prompt.
        """
        ahead = self.ahead_of(prompt)
        if ahead is not None:
            return prompt[: max(0, -ahead)]
        sent, returned = _letters(prompt), _letters("".join(self.texts))
        if self.texts[0] != "" and returned.endswith(sent):
            return ""
        n_missing = len(sent) - len(returned)
        if self.texts[0] != "" or not sent.endswith(returned) or n_missing > _LONGEST_TOKEN:
            raise cut_short()
        return next(prompt[:end] for end in range(len(prompt) + 1) if len(_letters(prompt[:end])) >= n_missing)


def choice_of(answer: dict[str, Any]) -> dict[str, Any]:
    choices = part(answer, "choices", list)
    if not choices or not isinstance(choices[0], dict):
        raise malformed("choices")
    return choices[0]


def part(answer: dict[str, Any], name: str, kind: Any) -> Any:
    found = answer.get(name)
    if not isinstance(found, kind) or isinstance(found, bool):
        raise malformed(name)
    return found


def usage(answer: dict[str, Any], name: str) -> int:
    count: int = part(part(answer, "usage", dict), name, int)
    return count


def without_nonsense(answer: dict[str, Any], body: dict[str, Any] | None) -> dict[str, Any]:
    """The answer to a request, without counts of tokens that can be none: they are as if not told.

    No text has four times as many tokens as its request has characters, whatever a chat form adds.
    """
    counts = answer.get("usage")
    if not isinstance(counts, dict):
        return answer
    room = (body or {}).get("max_tokens", 0)
    most = _MOST_ADDED + 4 * len(json.dumps(body)) + (room if isinstance(room, int) else 0)
    kept = {
        name: count
        for name, count in counts.items()
        if name not in _COUNTS or (type(count) is int and 0 <= count <= most)
    }
    return answer | {"usage": kept}


def malformed(name: str) -> BackendError:
    return BackendError(
        _("The server's answer has no usable “%(name)s”. Check that its address leads to an OpenAI-compatible server.")
        % {"name": name},
        permanent=False,  # a server that knows how to answer may fail to at one prompt
    )


def status_within(answer: dict[str, Any]) -> int | None:
    """The status of an error that came with a status of success, as those of servers behind others do; None for what is
    no error."""
    error = answer.get("error")
    if not error or any(answer.get(name) for name in _ANSWERED):
        return None
    code = error.get("code") if isinstance(error, dict) else None
    return code if type(code) is int and 400 <= code < 600 else 500


def letters_asked(body: dict[str, Any] | None) -> int:
    """Letters of the texts that a request asks a model to read."""
    asked = body or {}
    prompt, messages = asked.get("prompt"), asked.get("messages", ())
    contents = [message["content"] for message in messages]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    texts = [prompt, *contents, *(part.get("text") for part in parts)]
    return sum(len(text) for text in texts if isinstance(text, str))


def cut_short() -> CutShort:
    return CutShort(
        _(
            "The server returned log-probabilities of a part of a prompt only, so the evidence would not count in "
            "full. Nothing was scored. Check the server's context length and whether it cuts prompts that are too long."
        ),
        permanent=True,
    )


def _too_many(returned: int, tokens: int) -> CutShort:
    return CutShort(
        _(
            "The server returned %(returned)s log-probabilities of a prompt of %(tokens)s tokens, so that nobody can "
            "tell which is whose. Nothing was scored."
        )
        % {"returned": returned, "tokens": tokens},
        permanent=True,
    )


def cut_silently() -> PromptTooLong:
    return _SaidTooLong(_("The server reads a part of it only, and does not say so."))


def read_prompt_logprobs(answer: dict[str, Any]) -> PromptTokens:
    choice = choice_of(answer)
    entries = choice.get("prompt_logprobs", answer.get("prompt_logprobs"))
    if not isinstance(entries, list) or not entries:
        raise NoPromptLogprobs(_("The server returned no prompt log-probabilities."), permanent=True)
    expected = usage(answer, "prompt_tokens")
    if len(entries) != expected:
        raise cut_short() if len(entries) < expected else _too_many(len(entries), expected)
    keys, texts = [""], [""]
    logprobs: list[float | None] = [None]
    for entry in entries[1:]:
        if not isinstance(entry, dict) or not entry:
            raise malformed("prompt_logprobs")
        # The prompt's own token comes first; servers may add the most probable ones.
        key, token = next(iter(entry.items()))
        if not isinstance(token, dict):
            raise malformed("prompt_logprobs")
        keys.append(key)
        texts.append(part(token, "decoded_token", str | None) or "")
        logprobs.append(logprob_of(token.get("logprob")))
    return PromptTokens(tuple(keys), tuple(texts), tuple(logprobs))


def read_echo(answer: dict[str, Any], prompt: str) -> PromptTokens:
    found = choice_of(answer).get("logprobs")
    if not isinstance(found, dict) or not isinstance(found.get("token_logprobs"), list):
        raise NoPromptLogprobs(_("The server returned no log-probabilities."), permanent=True)
    texts, logprobs = part(found, "tokens", list), part(found, "token_logprobs", list)
    if len(texts) != len(logprobs) or not all(isinstance(text, str) for text in texts):
        raise malformed("logprobs")
    expected, written = usage(answer, "prompt_tokens"), usage(answer, "completion_tokens")
    if len(texts) <= written < expected:
        raise NoPromptLogprobs(_("The server returned the log-probabilities of its own tokens only."), permanent=True)
    # The token that was written is left out; some servers do not list it if it ends the text, and some list no BOS.
    for count in (len(texts) - written, len(texts)):
        if count < 1:
            continue
        tokens = PromptTokens(tuple(texts[:count]), tuple(texts[:count]), (None, *map(logprob_of, logprobs[1:count])))
        if count == expected or tokens.ahead_of(prompt) == 0:
            return tokens
    given = len(texts) - written
    raise cut_short() if given <= expected else _too_many(given, expected)


def logprob_of(value: Any) -> float:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise malformed("logprobs")
    if value is None or not _LEAST_LOGPROB <= value <= 1e-3:  # a little over 0 is rounding
        raise NoLogprob(
            _("The server returned %(value)s as a log-probability. Run its model in float32 or bfloat16.")
            % {"value": "null" if value is None else str(value)[:_LONGEST_NUMBER]},
            permanent=True,
        )
    return float(value)


def _letters(text: str) -> str:
    # Composed, since some tokenisers compose what they read: the e of a decomposed é is no letter of its own.
    return re.sub("[^A-Za-z0-9]", "", unicodedata.normalize("NFC", text))


def said(response: Reply, secret: Secret) -> tuple[str, dict[str, Any]]:
    """The server's own sentence, in one line, and the details that came with it, all without the key: it is taken out
    before anything is cut, lest a part of it stays."""
    try:
        body = secret.out_of(response.json())
    except (ValueError, RecursionError):
        body = None
    details = body if isinstance(body, dict) else {}
    if isinstance(details.get("error"), dict):
        details = details["error"]
    sentence = next((details[key] for key in ("message", "error", "detail") if details.get(key)), response.text)
    words = secret.out_of(str(sentence))[:_LONGEST_LOOKED_AT].split()
    line = storable(secret.out_of(" ".join(words)))
    return line[:_LONGEST_SENTENCE] or storable(secret.out_of(response.reason)), details


def read_chat(answer: dict[str, Any], *, room: int) -> Generated:
    """`room`: how many tokens were asked for. Raises BackendError for an answer that is longer than any so many."""
    choice = choice_of(answer)
    message = part(choice, "message", dict)
    # A model that thinks aloud until the limit has no content at all.
    content = part(message, "content", str | None) or ""
    thoughts = next((told for name in _THOUGHTS if isinstance(told := message.get(name), str) and told.strip()), "")
    n = len(content) + len(thoughts)
    if n > max(_FEW_LETTERS, _LETTERS_A_TOKEN * room):
        raise BackendError(
            _("The server wrote %(n)s characters, and was asked for at most %(room)s tokens. Nothing was read of it.")
            % {"n": n, "room": room},
            permanent=False,
        )
    finish = choice.get("finish_reason")
    counted = answer.get("usage")
    tokens = counted.get("completion_tokens") if isinstance(counted, dict) else None
    return Generated(
        content,
        cut=finish in ("length", "content_filter"),
        tokens=tokens if isinstance(tokens, int) else None,
        reason=storable(finish)[:20] if isinstance(finish, str) else "",
        thoughts=thoughts,
    )


_TOO_LONG = re.compile(
    r"context[ _](?:length|size|window)|maximum (?:model|prompt) length|prompt is too long", re.IGNORECASE
)
_LIMIT = re.compile(
    r"(?:maximum (?:context|model|prompt) length (?:is|of)|context (?:window|size)(?: of| is)?) \(?(\d+)", re.IGNORECASE
)
_LENGTHS = re.compile(r"(\d+) (?:in the (?:messages|prompt)|input tokens)|\(length (\d+)\)|(\d+) tokens", re.IGNORECASE)
# The words of the clients of openai and aiohttp.
_NOBODY_BEHIND = re.compile(r"exception - (?:connection error\.|cannot connect to host)", re.IGNORECASE)
# vLLM cuts no text into more tokens than one over its context.
_NOT_COUNTED = re.compile(r"at least \d+ input tokens", re.IGNORECASE)


def is_crowded(said: str) -> bool:
    """Whether a server says that all it was asked at the same time is too long together: llama.cpp, whose slots share
    one context unless told otherwise. It fails all of them then."""
    return "context size has been exceeded" in said.lower()


def is_nobody_behind(said: str) -> bool:
    """Whether a proxy says that the server behind it is away: LiteLLM, with status 500 as for any fault of its own."""
    return _NOBODY_BEHIND.search(said) is not None


def read_too_long(said: str, details: dict[str, Any]) -> PromptTooLong | None:
    """A refusal for the prompt's length, in numbers where the server gives any: vLLM, llama.cpp and OpenAI do."""
    if is_crowded(said) or not _TOO_LONG.search(f"{said} {details.get('code')} {details.get('type')}"):
        return None
    limit = _LIMIT.search(said)
    context = details.get("n_ctx")
    if not _may_be_length(context):
        context = int(limit[1]) if limit else 0
    named = [int(number) for groups in _LENGTHS.findall(said) for number in groups if number]
    counted = () if _NOT_COUNTED.search(said) else (details.get("n_prompt_tokens"), *named)
    over = [n for n in counted if _may_be_length(n) and n > context]
    # The whole request's length is named besides the prompt's; the prompt's is the smaller one.
    return (
        PromptTooLong(tokens=min(over), context=context)
        if _may_be_length(context) and over
        else _SaidTooLong(_("The server says: “%(said)s”") % {"said": said})
    )


def _may_be_length(value: Any) -> TypeGuard[int]:
    return type(value) is int and 0 < value < 10**_LONGEST_NUMBER


def retry_after_s(header: str) -> float:
    """Seconds to wait, from a header that names them or a date; 0 from anything else."""
    try:
        return min(_LONGEST_WAIT, max(0.0, float(header)))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0
