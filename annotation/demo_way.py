"""The way through the demo: what to look at first, and what of it was done in this browser.

A cookie keeps the keys of the steps that are done, so that they stay ticked from one login to the next; nobody's work
depends on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from annotation import doors

COOKIE = "palate_demo"
MAX_AGE = 30 * 86400  # seconds


@dataclass(frozen=True)
class StepOfWay:
    """A step as a page lists it; `next`: the first one that is not done."""

    step: doors.DemoStep
    url: str
    done: bool
    next: bool


def is_demo() -> bool:
    """Whether this installation is one to try, in which whoever comes may log in as anybody of the demo."""
    return settings.PALATE_ENV == "demo"


def opens_nothing(password: str) -> bool:
    """Whether a password is one of a demo's, which everybody may know, and this is none: its database may have been
    taken over, logins and all."""
    return not is_demo() and any(password == demo.password for demo in doors.demos())


def login(name: str) -> doors.Demo | None:
    """The demo that has a login of this name; None outside of a demo."""
    return next((demo for demo in doors.demos() if name in demo.logins), None) if is_demo() else None


def steps() -> list[doors.DemoStep]:
    return [step for demo in doors.demos() for step in demo.way] if is_demo() else []


def done(request: HttpRequest) -> set[str]:
    """The keys of the steps that were done in this browser."""
    said = set(request.COOKIES.get(COOKIE, "").split("."))
    return {step.key for step in steps() if step.key in said}


def way(request: HttpRequest) -> list[StepOfWay]:
    """The steps whose pages are there. A query for each."""
    ticked = done(request)
    found = [(step, url) for step in steps() if (url := step.find()) is not None]
    waiting = [step.key for step, _url in found if step.key not in ticked]
    return [StepOfWay(step, url, step.key in ticked, waiting[:1] == [step.key]) for step, url in found]


class DemoWay:
    """Middleware that ticks a step once one of its pages has answered; it does nothing outside of a demo."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not is_demo() or response.status_code != 200 or request.resolver_match is None:
            return response
        name = request.resolver_match.view_name
        if ticked := {step.key for step in steps() if name in step.ticks}:
            before = done(request)
            if not ticked <= before:
                value = ".".join(sorted(before | ticked))
                response.set_cookie(COOKIE, value, max_age=MAX_AGE, httponly=True, samesite="Lax")
        return response
