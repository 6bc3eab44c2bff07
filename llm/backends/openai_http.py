"""Requests to a server that speaks OpenAI's HTTP interface: rate, time-outs, retries, refusals, counts of tokens.

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
from typing import Any, TypeVar

import httpx

from base.sentences import gettext as _
from llm.backends import openai_model
from llm.backends.base import BackendError, Unavailable
from llm.backends.openai_answers import (
    PromptTokens,
    Refused,
    is_crowded,
    is_nobody_behind,
    letters_asked,
    read_too_long,
    retry_after_s,
    said,
    status_within,
    without_nonsense,
)
from llm.backends.openai_memory import memory_of
from llm.backends.openai_wire import Closed, Overdue, Reply, TooLarge, Unusable, Wire
from llm.backends.secrets import Secret
from llm.engine.prompt import OnProgress, Tokens
from llm.prices import LETTERS_A_TOKEN

_TRIED_AGAIN = frozenset({408, 409, 425, 429, *range(500, 600)} - {501, 505})
# What says that the server is away or busy whatever it is asked; other failures may be this prompt's doing.
_AWAY = frozenset({429, 502, 503, 504})
_NOBODY_THERE = (httpx.ConnectError, httpx.ConnectTimeout)
_LONGEST_BACK_OFF_S = 60.0
_LONGEST_RETRY_AFTER_S = 600.0

_VERSION = re.compile(r"/v\d+$")
_READS = re.compile("/completions$")  # paths of requests that a model reads, and whose usage is told

T = TypeVar("T")


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
        self.memory = memory_of(server.base_url, server.model, anew=anew)
        self.endings_hold = False  # what is remembered of its tokens was found so since this was made
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
        self.model_in_answers: str = self._secret.out_of(server.model)  # answers come here without the key
        self._wire = Wire(
            {"Authorization": f"Bearer {self._key}"} if self._key else {},
            silence_s=server.timeout_s,
            total_s=server.total_s,
            max_bytes=server.max_bytes,
            connections=server.concurrency,
        )

    def forget(self) -> None:
        """What this process remembers of the server: it is tried out again."""
        self.memory = memory_of(self._server.base_url, self._server.model, anew=True)

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
            except Overdue:  # not asked again here: it would hold the row for as long once more
                raise self._overdue() from None
            except TooLarge:
                raise self._too_large() from None
            except Unusable as error:
                raise BackendError(
                    _("What the environment of the workers says of proxies and certificates cannot be used: %(error)s.")
                    % {"error": error},
                    permanent=True,
                ) from error
            except httpx.RequestError as error:
                failure, is_away = self._failed(error), isinstance(error, _NOBODY_THERE)
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
                        openai_model.refuse_another(self)
                    self.memory.in_turn |= openai_model.is_of_transformers(self, answer)
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

    def _overdue(self) -> BackendError:
        return BackendError(
            _(
                "%(url)s had not finished its answer after %(seconds)s s. See what keeps the server; "
                "if its answers do take that long, raise PALATE_SERVER_SECONDS."
            )
            % {"url": self._server.base_url, "seconds": f"{self._server.total_s:g}"},
            permanent=False,
        )

    def _too_large(self) -> BackendError:
        return BackendError(
            _(
                "%(url)s sent more than %(size)s MiB in one answer, or more values than so many MiB of "
                "log-probabilities hold. It was not read. If its answers are that long, raise "
                "PALATE_SERVER_MAX_BYTES."
            )
            % {"url": self._server.base_url, "size": f"{self._server.max_bytes / 2**20:g}"},
            permanent=False,
        )

    def _failed(self, error: httpx.RequestError) -> str:
        """What is said of an exchange that failed; one that found nobody is remembered."""
        if isinstance(error, httpx.TimeoutException):
            return _("no answer within %(seconds)s s") % {"seconds": f"{self._server.timeout_s:g}"}
        if isinstance(error, httpx.DecodingError):
            return _("an answer that is packed otherwise than by gzip")
        self.memory.was_away = True
        return _("the connection failed (%(error)s)") % {"error": type(error).__name__}

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
