"""The demo's own pages: a log-in without a password, and the way through. Elsewhere they are not there."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from annotation import demo_way
from annotation.models import User
from annotation.people.access import AppRequest


@require_GET
def page(request: AppRequest) -> HttpResponse:
    if not demo_way.steps():
        raise Http404
    return render(request, "annotation/demo.html")


@require_POST
@login_not_required
def log_in(request: HttpRequest, name: str) -> HttpResponse:
    """Log in as one of the demo's people, whose password everybody may know; then to `next`, or where their work is."""
    if demo_way.login(name) is None:
        raise Http404
    user = get_object_or_404(User, username=name, is_active=True)
    login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])
    wanted = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return redirect(wanted if is_ours else resolve_url("annotation:home"))
