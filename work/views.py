"""What the page of any run does: its numbers are fetched again while it works, and it comes anew at the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from work.models import Run


def run_page(
    request: HttpRequest, run: Run, *, template: str, numbers: str, context: Mapping[str, Any]
) -> HttpResponse:
    """The page, or, where htmx asks, the part of it that changes.

    `template` extends “work/run_page.html” and `numbers` “work/_progress.html”; the context has a `progress`.
    """
    whole = {"run": run, **context}
    if not request.htmx:  # type: ignore[attr-defined]  # set by a middleware
        return render(request, template, whole)
    response = render(request, numbers, whole)
    if not run.is_running:
        response["HX-Refresh"] = "true"  # the page around the numbers changes too: its buttons, the record
    return response
