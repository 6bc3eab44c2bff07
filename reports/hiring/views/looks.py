"""Counting who sees how judges do on the test part."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from reports.hiring import actions

View = Callable[..., HttpResponseBase]


def counted(view: View, what: str) -> View:
    """The view, each of whose answers to somebody who may have it is a look at the test part."""

    @wraps(view)
    def wrapper(request: HttpRequest, slug: str, *args: object, **kwargs: object) -> HttpResponseBase:
        response = view(request, slug, *args, **kwargs)
        if response.status_code < 400 and request.user.is_authenticated:
            actions.note_look(slug=slug, what=what, by=request.user)
        return response

    return wrapper
