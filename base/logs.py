"""A line of the log: JSON with the request and the run it is about, and no text that people or models wrote.

What a line is about is kept in context variables, so that every logger's lines have it. Of a message the template is
written, with its numbers; its other parts are names of rows, addresses and errors, in which text of documents may
stand: only what the frameworks say of themselves (names of tasks, addresses of brokers) is filled in. Of an address of
ours its route is written, as an invitation's and a new password's have a secret in them. Of an exception its type and
its places in the code are written, and not what it says.
"""

from __future__ import annotations

import json
import logging
import re
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from http.client import responses
from types import MappingProxyType

# Request, or kind, run, item: numbers and short names only.
_about: ContextVar[Mapping[str, str | int]] = ContextVar("about", default=MappingProxyType({}))

# What a caller may add by `extra`.
EXTRA = ("method", "route", "status", "ms", "user", "queue")
# Loggers that say words of their own: why a request was refused, names of tasks, addresses of brokers.
_FILLED_IN = ("django.request", "django.security", "django.server", "gunicorn", "celery", "kombu")
_HTTPX_SAYS = 'HTTP Request: %s %s "%s %d %s"'
_NAME = re.compile(r"[\w.:/@*\[\]-]{1,200}")  # with the stars that Celery writes for a password
_PHRASES = frozenset(responses.values())  # such as "Service Unavailable"
# Django's own sentences on why a form was not taken: who sets up an installation finds out by no other way which host
# or origin is missing. The page that a browser came from may have an invitation's secret in its address.
_REFUSED_FORMS = "django.security.csrf"
_LONGEST_REASON = 200  # signs
_ADDRESS = re.compile(r"(https?://)(?:[^/\s@]*@)?([^/\s?#]*)\S*")
_PLACEHOLDER = re.compile(r"%(?:\(\w+\))?[#0\- +]*(?:\d+|\*)?(?:\.\d+)?[a-zA-Z]")


@contextmanager
def about(**what: str | int) -> Iterator[None]:
    """Let all lines that are logged inside say what they are about, beside what they say already."""
    token = _about.set({**_about.get(), **what})
    try:
        yield
    finally:
        _about.reset(token)


def now_about() -> dict[str, str | int]:
    return dict(_about.get())


class WithoutReasons(logging.Filter):
    """Of httpx's line for each request: without the words behind the status, which are the server's own, and may be the
    key that it was sent."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple) and record.msg == _HTTPX_SAYS:
            record.args = (*record.args[:4], "…")
        return True


class WithoutRounds(logging.Filter):
    """Without the lines of Celery's that say each few seconds that a task which comes round was sent, taken and done,
    some 20,000 lines a day. What goes wrong in one is written."""

    def __init__(self, tasks: Iterable[str]) -> None:
        super().__init__()
        self._tasks = frozenset(tasks)

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno >= logging.WARNING or not record.args:
            return True
        said = record.args.values() if isinstance(record.args, Mapping) else record.args
        return not any(isinstance(one, str) and one in self._tasks for one in said)


class JsonLines(logging.Formatter):
    """A JSON object a line: `at` (UTC, ISO 8601), `level`, `logger`, `message`, what it is about, `error`, `places`."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": message_of(record),
            **_about_of(record),
        }
        if record.exc_info and record.exc_info[0] is not None:
            kind, _error, trace = record.exc_info
            line["error"] = _name_of(kind)
            line["places"] = [f"{at.filename}:{at.lineno} {at.name}" for at in traceback.extract_tb(trace)]
        return json.dumps(line, ensure_ascii=False, default=str)


class TextLines(logging.Formatter):
    """For people: the message as it is, and what it is about behind it."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        about = "".join(f" {name}={value}" for name, value in _about_of(record).items())
        return super().formatMessage(record) + about


def _about_of(record: logging.LogRecord) -> dict[str, object]:
    return {**now_about(), **{name: getattr(record, name) for name in EXTRA if hasattr(record, name)}}


def message_of(record: logging.LogRecord) -> str:
    """The message without what may be text of people or models: "…" stands in its place."""
    template = str(record.msg)
    if not record.args:
        return template
    if isinstance(record.args, Mapping):
        args: object = {name: _shown(value, record) for name, value in record.args.items()}
    else:
        args = tuple(_shown(value, record) for value in record.args)
    try:
        return template % args
    except (TypeError, ValueError, KeyError):  # such as %d for what is no number
        return _PLACEHOLDER.sub("…", template)


def _shown(value: object, record: logging.LogRecord) -> object:
    if isinstance(value, (int, float)):  # truth values too
        return value
    if isinstance(value, BaseException):  # what it says may be text, or an address with a password
        return _name_of(type(value))
    known = record.name.startswith(_FILLED_IN)
    if known and record.name.startswith(("django", "gunicorn")) and isinstance(value, str) and value.startswith("/"):
        found = getattr(getattr(record, "request", None), "resolver_match", None)
        return found.view_name if found is not None else "…"
    if record.name == _REFUSED_FORMS and isinstance(value, str):
        return _ADDRESS.sub(r"\1\2", value)[:_LONGEST_REASON]
    if known and isinstance(value, str) and (_NAME.fullmatch(value) or value in _PHRASES):
        return value
    return "…"


def _name_of(kind: type[BaseException]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
