"""What is seen of every request: its number, a line in the log, the counts of `metrics`; and that it is text at all."""

from __future__ import annotations

import codecs
import logging
import re
import time
import uuid
from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect, JsonResponse
from django.middleware.common import CommonMiddleware
from django.urls import resolve
from django.utils.http import escape_leading_slashes
from django.utils.translation import gettext as _

from base import logs
from operating import metrics

log = logging.getLogger("palate.requests")

_OF_PROGRAMS = {"/healthz", "/readyz", "/metrics"}
_NUMBER = re.compile(r"[A-Za-z0-9_.-]{8,64}")
# What no text has: NUL, which PostgreSQL does not store, and halves of a character, which nobody can write down.
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
# Of those that Python knows, some read no text, and some find halves of characters in it.
_OF_FORMS = {"utf-8", "ascii"}
_CHARSETS = {*_OF_FORMS, "iso8859-1"}
_FORM = "application/x-www-form-urlencoded"


def seen(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """The first of all middleware. A proxy may give the number, as `X-Request-ID`; the answer tells it.

    Of an address the name of its route is written, neither its parts nor what is asked: there may be text in them.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        number = given if _NUMBER.fullmatch(given) else uuid.uuid4().hex
        begun = time.perf_counter()
        with logs.about(request=number):
            response = get_response(request)
            seconds = time.perf_counter() - begun
            route = request.resolver_match.view_name if request.resolver_match else "none"
            metrics.count(method=request.method or "", route=route, status=response.status_code, seconds=seconds)
            if log.isEnabledFor(logging.INFO):
                found = {"method": request.method, "route": route, "status": response.status_code}
                log.info("request", extra={**found, "ms": round(seconds * 1000, 1)})
        response.headers["X-Request-ID"] = number
        return response

    return middleware


def for_programs(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """What an operator's programs ask is answered before a session is read, which the database has, and whatever host
    they ask: a container's check asks 127.0.0.1.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path_info not in _OF_PROGRAMS:
            return get_response(request)
        request.resolver_match = found = resolve(request.path_info)
        response: HttpResponse = found.func(request)
        return response

    return middleware


def readable(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """What is asked is text, or is refused before any page reads it: of an address 404, of what stands behind its
    question mark 400. Fields of forms and bodies of the API are checked where they are read.

    Stands behind the middleware that knows the language.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if _NO_TEXT.search(request.path_info):
            raise Http404
        if request.encoding:
            charset = codecs.lookup(request.encoding).name
            if charset not in (_OF_FORMS if request.content_type == _FORM else _CHARSETS):
                return _refused(request, _("It is not understood: send it in UTF-8."))
            if charset in _OF_FORMS:
                request.encoding = "utf-8"  # Django fails at a form in any other, and by any other name
        wrong = [name for name, values in request.GET.lists() if any(map(_NO_TEXT.search, (name, *values)))]
        if wrong:
            return _refused(request, _("What stands after “?” in the address is no text."), *wrong)
        return get_response(request)

    return middleware


class _AsItWasSent(HttpResponsePermanentRedirect):
    status_code = 308


class Slashes(CommonMiddleware):
    """An address without its last slash leads to the one that has it, and what is sent there goes along (308): after a
    301 clients would read what they meant to write, and get 200."""

    response_redirect_class = _AsItWasSent

    def get_full_path_with_slash(self, request: HttpRequest) -> str:
        return escape_leading_slashes(request.get_full_path(force_append_slash=True))


def _refused(request: HttpRequest, sentence: str, *names: str) -> HttpResponse:
    if request.path.startswith("/api/"):
        said: dict[str, Any] = {name: [sentence] for name in names} or {"detail": sentence}
        return JsonResponse(said, status=400)
    return HttpResponse(sentence, status=400, content_type="text/plain; charset=utf-8")
