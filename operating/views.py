"""What programs of an operator ask: whether a process lives, whether it can serve, and how much is done."""

from __future__ import annotations

from ipaddress import ip_address

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound, JsonResponse
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from operating import metrics as counted
from operating import queries


@login_not_required
@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers. Nobody else is asked: that the database is away is no reason to start it anew."""
    return HttpResponse("ok", content_type="text/plain")


@login_not_required
@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """Whether requests should be sent here: the database answers and has all migrations. 503 with what is missing."""
    missing = queries.unready()
    return JsonResponse(
        {"ready": not missing, **({"missing": missing} if missing else {})}, status=503 if missing else 200
    )


@login_not_required
@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """For Prometheus; asked on this machine, or with `PALATE_METRICS_TOKEN`. 404 for others."""
    if not _may_measure(request):
        return HttpResponseNotFound(_("There is nothing at this address."), content_type="text/plain; charset=utf-8")
    return HttpResponse(counted.text(), content_type="text/plain; version=0.0.4; charset=utf-8")


def _may_measure(request: HttpRequest) -> bool:
    if settings.PALATE_METRICS_TOKEN:
        given = request.headers.get("Authorization", "")
        return constant_time_compare(given, f"Bearer {settings.PALATE_METRICS_TOKEN}")
    # Through a proxy on this machine everybody seems to be here.
    if {"HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_X_FORWARDED_PROTO"} & request.META.keys():
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
