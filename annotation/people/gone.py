"""A study or a sheet that was deleted while somebody did something in it."""

from __future__ import annotations

from collections.abc import Callable

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

from annotation.models import Sheet, Study


class Gone:
    """Middleware: what it was is not there any more (404), as for everybody who comes a moment later."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> None:
        """Raises Http404 instead."""
        if isinstance(error, Study.DoesNotExist | Sheet.DoesNotExist):
            raise Http404 from error
