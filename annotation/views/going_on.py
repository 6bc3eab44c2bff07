"""Pages that are to be filled in before another one, and lead on to it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from annotation.models import Study


def to_first_page(request: HttpRequest, name: str, study: Study) -> HttpResponse:
    """To a page of a study, which leads on to the one that was asked for."""
    return redirect(reverse(name, args=[study.slug], query={"next": request.get_full_path()}))


def go_on(request: HttpRequest) -> HttpResponse:
    """To the page of ours that `next` names, or to “My work”."""
    named = request.GET.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(named, {request.get_host()}, require_https=request.is_secure())
    return redirect(named if is_ours else reverse("annotation:my-work"))
