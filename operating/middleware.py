"""What is seen of every request: its number, a line in the log, and the counts of `metrics`."""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from base import logs
from operating import metrics

log = logging.getLogger("palate.requests")

_NUMBER = re.compile(r"[A-Za-z0-9_.-]{8,64}")


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
