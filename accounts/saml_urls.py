"""What of allauth's SAML is here: all but its log-out by a message, which would take an unsigned one and lead on to
wherever that says. A session is ended on the pages of this installation alone."""

from __future__ import annotations

import logging
from typing import NoReturn

from allauth.socialaccount.providers.saml import views
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import include, re_path
from lxml import etree

from accounts.claims import not_valid

logger = logging.getLogger(__name__)


@login_not_required
def no_log_out(request: HttpRequest) -> NoReturn:
    raise Http404


@login_not_required
def from_provider(request: HttpRequest, organization_slug: str) -> HttpResponse:
    """allauth's. It takes what anybody may send for a document, and may meet none."""
    try:
        answer: HttpResponse = views.finish_acs(request, organization_slug)
    except (etree.XMLSyntaxError, ValueError):
        logger.warning("Single sign-on sent what is no document of SAML", exc_info=True)
        return not_valid(request)
    return answer


urlpatterns = [
    re_path(r"^saml/[^/]+/sls/$", no_log_out),  # before theirs of the same address
    re_path(r"^saml/(?P<organization_slug>[^/]+)/acs/finish/$", from_provider, name="saml_finish_acs"),
    re_path("", include("allauth.socialaccount.providers.saml.urls")),
]
