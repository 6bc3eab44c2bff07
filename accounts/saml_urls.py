"""What of allauth's SAML is here: all but its log-out by a message, which would take an unsigned one and lead on to
wherever that says. A session is ended on the pages of this installation alone."""

from __future__ import annotations

from typing import NoReturn

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest
from django.urls import include, re_path


@login_not_required
def no_log_out(request: HttpRequest) -> NoReturn:
    raise Http404


urlpatterns = [
    re_path(r"^saml/[^/]+/sls/$", no_log_out),  # before theirs of the same address
    re_path("", include("allauth.socialaccount.providers.saml.urls")),
]
