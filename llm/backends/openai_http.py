"""Requests to a server that speaks OpenAI's HTTP interface: rate, time-outs, retries, and what its answers say.

Keys come from the environment, and are in no error, log or record.
"""

from __future__ import annotations

import math
import os
import random
import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import PureWindowsPath
from typing import Any, Literal, TypeVar

import httpx

from base.sentences import gettext as _
from base.text import storable
from llm.backends.base import BackendError, Unavailable, another_model
from llm.backends.openai_answers import (
    NoPromptLogprobs,
    OfOneAnswer,
    PromptTokens,
    cut_short,
    is_crowded,
    is_nobody_behind,
    letters_asked,
    loaded,
    read_echo,
    read_prompt_logprobs,
    read_too_long,
    retry_after_s,
    said,
    status_within,
    usage,
    without_nonsense,
)
from llm.backends.openai_wire import Closed, Overdue, Reply, TooLarge, Unusable, Wire
from llm.backends.secrets import Secret
from llm.engine.prompt import OnProgress, Tokens
from llm.prices import LETTERS_A_TOKEN

# Where a server puts the log-probabilities of a prompt: vLLM's own field, or the completion that repeats the prompt.
PromptLogprobs = Literal["prompt_logprobs", "echo"]

PROBE = "Flour, salt and water make a plain dough."
_TRIED_AGAIN = frozenset({408, 409, 425, 429, *range(500, 600)} - {501, 505})
# What says that the server is away or busy whatever it is asked; other failures may be this prompt's doing.
_AWAY = frozenset({429, 502, 503, 504})
# What servers say to a prompt that they will not read: its content, its size, a value in it.
_OF_PROMPT = frozenset({400, 413, 422})
_NOBODY_THERE = (httpx.ConnectError, httpx.ConnectTimeout)
_LONGEST_BACK_OFF_S = 60.0
_LONGEST_RETRY_AFTER_S = 600.0
_MOST_NAMED, _LONGEST_NAME = 20, 120  # of the models that a server offers

_VERSION = re.compile(r"/v\d+$")
_READS = re.compile("/completions$")  # paths of requests that a model reads, and whose usage is told

T = TypeVar("T")


class Refused(BackendError):
    """The server refused a request, and would again."""

    def __init__(self, message: str, *, status: int, said: str) -> None:
        super().__init__(message, permanent=True, of_prompt=status in _OF_PROMPT)
        self.status = status
        self.said = said


class _Over(Exception):
    """The call is over; nobody waits for this request any more."""


@dataclass(frozen=True)
class Server:
    """A model on a server, and how to ask it.

    Args:
        base_url: up to and with the version, `http://gpu-box:8000/v1`.
        model: its name on the server.
        api_key_env: the environment variable that holds the key; None if the server wants none.
        timeout_s: longest wait for a connection, and for each part of an answer.
        total_s: for one answer, from the request to the last byte.
        max_bytes: of one answer, unpacked; what is longer is not read to its end.
        max_retries: further attempts after the first at 408, 409, 425, 429, 5xx, time-outs, broken connections and
            answers that are no JSON.
        requests_per_minute: most requests of this process to this server with this key; None for no limit.
        concurrency: most requests of one call at a time.
        tolerance_nats: by how much the log-probability of a token may differ between two requests that begin alike.
        back_off_s: longest wait before the first retry. It doubles with each, up to a minute, and what is waited is
            drawn from the upper half. If the server names a longer wait (`Retry-After`), that is kept.

    Raises BackendError for a base URL that is not http or https, or that carries a password, query or fragment.
    """

    base_url: str
    model: str
    api_key_env: str | None = field(default=None, kw_only=True)
    timeout_s: float = field(default=120.0, kw_only=True)
    total_s: float = field(default=600.0, kw_only=True)
    max_bytes: int = field(default=32 * 2**20, kw_only=True)
    max_retries: int = field(default=5, kw_only=True)
    requests_per_minute: int | None = field(default=None, kw_only=True)
    concurrency: int = field(default=4, kw_only=True)
    back_off_s: float = field(default=0.5, kw_only=True)
    tolerance_nats: float = field(default=1e-3, kw_only=True)

    def __post_init__(self) -> None:
        try:
            url = httpx.URL(self.base_url)
            host = url.host
        except (httpx.InvalidURL, ValueError) as error:  # of a name of no language
            raise BackendError(_("The judge's server has no valid address."), permanent=True) from error
        if url.scheme not in ("http", "https") or not host:
            raise BackendError(
                _("The address of a judge's server begins with http:// or https:// and names a host."), permanent=True
            )
        if url.userinfo or url.query or url.fragment:
            raise BackendError(
                _(
                    "The address of a judge's server carries no password, query or fragment; a key belongs in an "
                    "environment variable."
                ),
                permanent=True,
            )


class Session:
    """The requests of one call: several at a time, counted, and cancelled together. Use it with `with`."""

    def __init__(self, server: Server, on_progress: OnProgress | None = None, *, anew: bool = False) -> None:
        """`anew`: what this process remembers of the server is forgotten: it may have been started otherwise since."""
        self._server = server
        self._on_progress = on_progress
        self.memory = _memory(server.base_url, server.model, anew=anew)
        self.endings_hold = False  # what is remembered of its tokens was found so in this session
        self.looking = threading.Lock()
        # By a text with which several prompts begin, the first of them, and how many of its tokens that text is; 0
        # where that is not known.
        self.begun: dict[str, tuple[PromptTokens, int]] = {}
        self._pace = _pace(server.base_url, server.api_key_env, server.requests_per_minute)
        self._key = _key(server)
        self._over = threading.Event()
        self._counting = threading.Lock()
        self._read = self._written = 0
        self._secret = Secret(self._key)
        self._wire = Wire(
            {"Authorization": f"Bearer {self._key}"} if self._key else {},
            silence_s=server.timeout_s,
            total_s=server.total_s,
            max_bytes=server.max_bytes,
            connections=server.concurrency,
        )

    def forget(self) -> None:
        """What this process remembers of the server: it is tried out again."""
        self.memory = _memory(self._server.base_url, self._server.model, anew=True)

    @property
    def model(self) -> str:
        return self._server.model

    @property
    def url(self) -> str:
        return self._server.base_url

    @property
    def tolerance_nats(self) -> float:
        return self._server.tolerance_nats

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._wire.close()

    def first(self, job: Callable[[], T]) -> T:
        """Do one job as `run` does several: `on_progress` is called meanwhile."""
        done: list[T] = []

        def keep(_index: int, result: T) -> int:
            done.append(result)
            return 0

        self.run([job], keep)
        return done[0]

    def run(self, jobs: Sequence[Callable[[], T]], keep: Callable[[int, T], int]) -> None:
        """Do the jobs, `concurrency` at a time, and hand each one's index and result to `keep`, in this thread.

        `keep` returns how much is finished, for `on_progress`; that is called at least once a second, so that it can
        cancel while answers are waited for. The first error ends all: what has not been asked yet never is, and
        answers that are under way are not waited for.
        """
        executor = ThreadPoolExecutor(self._server.concurrency, thread_name_prefix="judge-server")
        done = 0
        try:
            index_of = {executor.submit(job): index for index, job in enumerate(jobs)}
            pending = set(index_of)
            while pending:
                finished, pending = wait(pending, timeout=1, return_when=FIRST_COMPLETED)
                for future in finished:
                    if future.exception() is not None and self._on_progress is not None:
                        # What was answered before the failure was spent too.
                        self._on_progress(Tokens(read=self._read, written=self._written), done)
                    done = keep(index_of[future], future.result())
                if self._on_progress is not None:
                    self._on_progress(Tokens(read=self._read, written=self._written), done)
        except BaseException:
            self._over.set()
            raise
        finally:
            executor.shutdown(wait=False, cancel_futures=True)

    # What the server is asked

    def model_card(self) -> dict[str, Any]:
        """What the server's list says of the model; {} where it keeps no list.

        transformers lists what its cache holds, not the folder that it was started with: it says so in its answers.

        Raises BackendError if the model is not on it.
        """
        try:
            told = self.ask("GET", "/models").get("data")
        except Unavailable:
            raise
        except Refused as refusal:
            if refusal.status not in (404, 405):
                raise
            return {}
        except BackendError:
            if card := self._card_of_answers():
                return card
            raise
        cards = told if isinstance(told, list) else []
        offered = {str(card.get("id")): card for card in cards if isinstance(card, dict)}
        model = self._secret.out_of(self._server.model)  # as the list came here
        if model not in offered:
            if card := self._card_of_answers():
                return card
            named = [storable(name[:_LONGEST_NAME]) for name in sorted(offered)[:_MOST_NAMED]]
            raise BackendError(
                _("%(url)s offers no model “%(model)s”. It offers: %(offered)s.")
                % {
                    "url": self._server.base_url,
                    "model": self._server.model,
                    "offered": ", ".join([*named, *(["…"] if len(offered) > _MOST_NAMED else [])]) or _("nothing"),
                },
                permanent=True,
            )
        context = offered[model].get("max_model_len")
        self.memory.context = context if type(context) is int and context > 0 else None
        return offered[model] | self._file_of(offered[model])

    def _file_of(self, card: dict[str, Any]) -> dict[str, Any]:
        """The name of the file that llama.cpp loaded, which is not in its list; {} of other servers."""
        if card.get("owned_by") != "llamacpp":
            return {}
        try:
            path = self.ask("GET", "/props", at_root=True).get("model_path")
        except Refused:
            return {}
        return {"file": PureWindowsPath(path).name} if isinstance(path, str) else {}

    def _refuse_another(self) -> None:
        """A server that was away may have come back with another model under the same name.

        Raises BackendError: it says so. What is remembered of it goes.
        """
        memory = self.memory
        with memory.coming_back:
            if not memory.was_away or memory.is_looked_at:
                return
            memory.is_looked_at = True
            try:
                now = loaded(self.model_card())["served_model"] if memory.loaded else ""
            finally:
                memory.is_looked_at = False
            if now and now != memory.loaded:
                self.forget()
                raise another_model(self.url, now=now, then=memory.loaded)
            memory.was_away = False

    def _card_of_answers(self) -> dict[str, Any]:
        """The model with its revision, as transformers names it in answers; {} where no such answer comes."""
        body = {"model": self._server.model, "messages": [{"role": "user", "content": PROBE}], "max_tokens": 1}
        try:
            answer = self.ask("POST", "/chat/completions", body)
        except Unavailable:
            raise
        except BackendError:
            return {}
        return {"root": answer["model"]} if self._is_of_transformers(answer) else {}

    def _is_of_transformers(self, answer: dict[str, Any]) -> bool:
        """Whether an answer names the model with its revision. That server seeds one generator for all that it is asked
        at the same time."""
        named = answer.get("model")
        return isinstance(named, str) and named.startswith(f"{self._secret.out_of(self._server.model)}@")

    def prompt_logprobs(self) -> PromptLogprobs:
        """How this server returns the log-probabilities of a prompt; tried out once a run.

        Raises NoPromptLogprobs.
        """
        forms: tuple[PromptLogprobs, ...] = ("prompt_logprobs", "echo")
        for form in forms if self.memory.form is None else ():
            try:
                try:
                    self._tokens_of(PROBE, form)
                except OfOneAnswer:
                    self._tokens_of(PROBE, form)  # one such answer is no server that never gives another
            except NoPromptLogprobs:
                continue
            except Refused as refusal:
                if refusal.status in (401, 403):
                    raise
                continue
            self.memory.form = form
            break
        if self.memory.form is None:
            raise NoPromptLogprobs(
                _(
                    "The server at %(url)s cannot return prompt log-probabilities, which cloze scoring needs. Use a "
                    "server that can, such as vLLM or llama.cpp; if a proxy stands before one, give that server's own "
                    "address."
                )
                % {"url": self._server.base_url},
                permanent=True,
            )
        return self.memory.form

    def prompt_tokens(self, prompt: str) -> PromptTokens:
        """Tokens and log-probabilities of a whole prompt.

        Raises:
            PromptTooLong: the server says so.
            NoPromptLogprobs, OfOneAnswer: it has none, or those of other tokens, or something that is no
                log-probability, even of the probe's text.
            BackendError: so it was in this one answer: asked again it may be whole.
        """
        form = self.prompt_logprobs()
        try:
            return self._whole(prompt, form)
        except (NoPromptLogprobs, OfOneAnswer) as error:
            if self._knows(form):
                raise BackendError(str(error), permanent=False) from error
            if isinstance(error, NoPromptLogprobs):
                self.memory.form = None  # another server has taken its place; what that one can is tried out next time
            raise

    def _whole(self, prompt: str, form: PromptLogprobs) -> PromptTokens:
        tokens = self._tokens_of(prompt, form)
        # A server that cuts the beginning off looks the same as one that does not say what the first token is.
        if missing := tokens.missing_of(prompt):
            self._require_one_token(missing)
        return tokens

    def _knows(self, form: PromptLogprobs) -> bool:
        """Whether the server still gives the log-probabilities of a short prompt in this form."""
        try:
            self._whole(PROBE, form)
        except (NoPromptLogprobs, OfOneAnswer):
            return False
        return True

    def is_one_token(self, mark: str) -> bool:
        """Whether this server's tokeniser holds a text for one token, such as “</s>”; tried out once a run.

        Raises as `prompt_tokens`.
        """
        known = self.memory.one_token
        if mark not in known:
            known[mark] = mark in self.prompt_tokens(f"One {mark} two").texts
        return known[mark]

    def _tokens_of(self, prompt: str, form: PromptLogprobs) -> PromptTokens:
        # A token is written since most servers refuse to write none.
        body = {"model": self._server.model, "prompt": prompt, "max_tokens": 1, "temperature": 0}
        if form == "echo":
            # At 0 some servers take it for not asked.
            return read_echo(self.ask("POST", "/completions", {**body, "echo": True, "logprobs": 1}), prompt)
        return read_prompt_logprobs(self.ask("POST", "/completions", {**body, "prompt_logprobs": 0}))

    def _require_one_token(self, text: str) -> None:
        if text in self.memory.first_tokens:
            return
        body = {"model": self._server.model, "prompt": text, "max_tokens": 1, "temperature": 0}
        if usage(self.ask("POST", "/completions", body), "prompt_tokens") != 1:
            raise cut_short()
        self.memory.first_tokens.add(text)

    # Requests

    def ask(
        self, method: str, path: str, body: dict[str, Any] | None = None, *, at_root: bool = False
    ) -> dict[str, Any]:
        """One exchange, tried again as the server's settings say; `at_root`: the path is not below the address's
        version, but beside it. Raises BackendError, PromptTooLong."""
        base = self._server.base_url.rstrip("/")
        url = (_VERSION.sub("", base) if at_root else base) + path
        failure, is_away = "", False
        # What is fetched is a list of models, of which none has written anything.
        without_key = self._secret.out_of if method == "GET" else self._secret.out_of_answer
        for attempt in range(self._server.max_retries + 1):
            if attempt:
                self._wait(self._back_off_s(attempt))
            self._wait(self._pace.delay_s())
            try:
                with self.memory.turn if self.memory.in_turn else nullcontext():
                    response = self._exchange(method, url, body)
            except Overdue:
                # Not asked again here: it would hold the row for as long once more.
                raise BackendError(
                    _(
                        "%(url)s had not finished its answer after %(seconds)s s. See what keeps the server; "
                        "if its answers do take that long, raise PALATE_SERVER_SECONDS."
                    )
                    % {"url": self._server.base_url, "seconds": f"{self._server.total_s:g}"},
                    permanent=False,
                ) from None
            except TooLarge:
                raise BackendError(
                    _(
                        "%(url)s sent more than %(size)s MiB in one answer, or more values than so many MiB of "
                        "log-probabilities hold. It was not read. If its answers are that long, raise "
                        "PALATE_SERVER_MAX_BYTES."
                    )
                    % {"url": self._server.base_url, "size": f"{self._server.max_bytes / 2**20:g}"},
                    permanent=False,
                ) from None
            except Unusable as error:
                raise BackendError(
                    _("What the environment of the workers says of proxies and certificates cannot be used: %(error)s.")
                    % {"error": error},
                    permanent=True,
                ) from error
            except httpx.RequestError as error:
                if isinstance(error, httpx.TimeoutException):
                    failure = _("no answer within %(seconds)s s") % {"seconds": f"{self._server.timeout_s:g}"}
                elif isinstance(error, httpx.DecodingError):
                    failure = _("an answer that is packed otherwise than by gzip")
                else:
                    failure = _("the connection failed (%(error)s)") % {"error": type(error).__name__}
                    self.memory.was_away = True
                is_away = isinstance(error, _NOBODY_THERE)
                if is_away:
                    self.memory.whole_up_to = 0  # what comes up there may take shorter prompts
                continue
            if response.is_success:
                try:
                    answer = without_key(response.json())
                except (ValueError, RecursionError):
                    failure = _("an answer that is no JSON")
                    continue
                if not isinstance(answer, dict):
                    failure = _("an answer that is no JSON object")
                    continue
                status = status_within(answer)
                if status is None:
                    if method == "POST" and self.memory.was_away:
                        self._refuse_another()
                    self.memory.in_turn |= self._is_of_transformers(answer)
                    answer = without_nonsense(answer, body)
                    self._count(answer, read=letters_asked(body) / LETTERS_A_TOKEN if _READS.search(path) else 0)
                    return answer
                response = replace(response, status=status)
            refusal = self._refusal(response)
            is_away = response.status in _AWAY or is_nobody_behind(refusal.said)
            self.memory.was_away |= is_away and response.status != 429  # too much is asked of one that is there
            if response.status not in _TRIED_AGAIN or "insufficient_quota" in response.text:
                raise refusal
            failure = f"{response.status}, “{refusal.said}”"
            self.memory.in_turn |= is_crowded(refusal.said)
            self._pace.hold(self._asked_to_wait_s(response))
        message = _(
            "%(url)s did not answer in %(n)s attempts; the last one: %(failure)s. See whether the server runs, and try "
            "again."
        ) % {"url": self._server.base_url, "n": self._server.max_retries + 1, "failure": failure}
        raise Unavailable(message) if is_away else BackendError(message, permanent=False)

    def _exchange(self, method: str, url: str, body: dict[str, Any] | None) -> Reply:
        if self._over.is_set():
            raise _Over
        try:
            return self._wire.fetch(method, url, body)
        except Closed:
            raise _Over from None

    def _wait(self, seconds: float) -> None:
        if self._over.wait(seconds):
            raise _Over

    def _back_off_s(self, attempt: int) -> float:
        longest: float = min(_LONGEST_BACK_OFF_S, self._server.back_off_s * 2 ** (attempt - 1))
        return longest * random.uniform(0.5, 1)  # noqa: S311  to spread the retries of many, no secret

    def _asked_to_wait_s(self, response: Reply) -> float:
        seconds = retry_after_s(response.headers.get("Retry-After", ""))
        if seconds > _LONGEST_RETRY_AFTER_S:
            raise Unavailable(
                _("%(url)s asks to be left alone for %(seconds)s s. Try again after that.")
                % {"url": self._server.base_url, "seconds": f"{seconds:.0f}"}
            )
        return seconds

    def _refusal(self, response: Reply) -> Refused:
        """What a status that is no success means. Raises PromptTooLong where it means that."""
        sentence, details = said(response, self._secret)  # some servers repeat the key that they refuse
        if too_long := read_too_long(sentence, details):
            raise too_long
        url, variable = self._server.base_url, self._server.api_key_env
        # LiteLLM without a database looks there for any key that is not its own.
        status = 401 if details.get("type") == "no_db_connection" else response.status
        if status in (401, 403):
            message = (
                _("%(url)s refused the key in the environment variable %(variable)s: “%(said)s”")
                if variable
                else _("%(url)s asks for a key: “%(said)s” Name the environment variable that holds it.")
            )
        elif response.is_redirect:
            message = _("%(url)s sends us to another address. Give the judge that address.")
        else:
            message = _("%(url)s refused the request (%(status)s): “%(said)s”")
        message %= {"url": url, "variable": variable, "status": status, "said": sentence}
        return Refused(message, status=status, said=sentence)

    def count_written(self, answer: dict[str, Any], text: str, *, room: int) -> None:
        """Count what was written in an answer that has a text and does not say of how many tokens, or says of none:
        by its letters, and no more than the room for it. A limit would never be reached otherwise."""
        told = answer.get("usage")
        if text and not (isinstance(told, dict) and told.get("completion_tokens")):
            self._count({"usage": {"completion_tokens": min(room, math.ceil(len(text) / LETTERS_A_TOKEN))}})

    def count(self, answer: dict[str, Any], *, read: int) -> None:
        """Count what was read for an answer that does not say so itself."""
        told = answer.get("usage")
        if not isinstance(told, dict) or not (told.get("prompt_tokens") or told.get("total_tokens")):
            self._count({"usage": {"prompt_tokens": read, "completion_tokens": 0}})

    def _count(self, answer: dict[str, Any], *, read: float = 0) -> None:
        """`read`: tokens that were, about, where the answer says of none."""
        told = answer.get("usage")
        counts = told if isinstance(told, dict) else {}
        prompt, written, both = (
            n if isinstance(n := counts.get(f"{name}_tokens"), int) else 0 for name in ("prompt", "completion", "total")
        )
        with self._counting:
            self._read += prompt or max(0, both - written) or math.ceil(read)
            self._written += written


# What a process remembers of its servers


@dataclass
class _Memory:
    form: PromptLogprobs | None = None
    has_no_form: bool = False  # none was found, and there is another way
    first_tokens: set[str] = field(default_factory=set)  # texts that are known to be one token
    one_token: dict[str, bool] = field(default_factory=dict)  # whether what may be a special token is one
    one_token_in_chat: dict[str, bool] = field(default_factory=dict)  # the same, as far as counts of tokens say it
    sees: bool | None = None  # whether it reads pictures
    binds: str = ""  # how it binds answers to a grammar
    next_tokens: str | None = None  # how it gives the log-probabilities of next tokens; "" if it does not
    # Tokens of options, by the word before them and their texts.
    endings: dict[tuple[str, tuple[str, ...]], tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    whole_up_to: int = 0  # tokens of the longest prompt that it is known to read whole
    context: int | None = None  # tokens of a prompt and its answer, where its list of models says so
    loaded: str = ""  # what it said that it has loaded, when it was last asked who it is
    was_away: bool = False  # since then, and whether it is the same has not been looked at
    is_looked_at: bool = False  # by the thread that holds `coming_back`
    coming_back: threading.RLock = field(default_factory=threading.RLock)
    # What it was asked at the same time was too long together, or is drawn by one seed: it is asked in turn.
    in_turn: bool = False
    turn: threading.Lock = field(default_factory=threading.Lock)


class _Pace:
    """Spreads requests over time."""

    def __init__(self, per_minute: int | None) -> None:
        self._interval_s = 60 / per_minute if per_minute else 0.0
        self._next = 0.0
        self._lock = threading.Lock()

    def delay_s(self) -> float:
        """How long the next request has to wait; it is then counted as made."""
        with self._lock:
            now = time.monotonic()
            at = max(now, self._next)
            self._next = at + self._interval_s
            return at - now

    def hold(self, seconds: float) -> None:
        """Let no request through before that."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)


# The first of them go.
_memories: dict[tuple[str, str], _Memory] = {}
_MOST_MEMORIES = 64


def _memory(base_url: str, model: str, *, anew: bool) -> _Memory:
    of = base_url, model
    if anew:
        _memories.pop(of, None)
    while len(_memories) >= _MOST_MEMORIES and of not in _memories:
        _memories.pop(next(iter(_memories)), None)
    return _memories.setdefault(of, _Memory())


@lru_cache(maxsize=64)
def _pace(base_url: str, api_key_env: str | None, per_minute: int | None) -> _Pace:
    return _Pace(per_minute)


def _key(server: Server) -> str:
    if server.api_key_env is None:
        return ""
    key = os.environ.get(server.api_key_env, "").strip()
    if not key:
        raise BackendError(
            _(
                "The environment variable %(variable)s, which holds the key for %(url)s, is not set here. Set it where "
                "the workers start."
            )
            % {"variable": server.api_key_env, "url": server.base_url},
            permanent=True,
        )
    if not key.isascii() or not key.isprintable():
        raise BackendError(
            _("What the environment variable %(variable)s holds is no key.") % {"variable": server.api_key_env},
            permanent=True,
        )
    return key
