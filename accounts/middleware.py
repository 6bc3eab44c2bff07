"""What is known of every request: from where it comes, and whether a second factor is missing."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden, JsonResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from accounts import queries
from annotation import actions
from annotation.people.address import client_address

GetResponse = Callable[[HttpRequest], HttpResponse]

# Where somebody gets a second factor, or leaves.
_STILL_OPEN = (
    "/account/",
    "/logout/",
    "/language/",
    "/static/",
    "/scripts/",
    "/styles/",
    "/password/",
)


def asked_from(get_response: GetResponse) -> GetResponse:
    """Let actions know from where they are asked, for the audit log."""

    def middleware(request: HttpRequest) -> HttpResponse:
        token = actions.asked_from.set(client_address(request))
        try:
            return get_response(request)
        finally:
            actions.asked_from.reset(token)

    return middleware


def afterwards(request: HttpRequest, do: Callable[[], object]) -> None:
    """Do something once the request is answered. Nobody is told where it fails."""
    request.__dict__.setdefault("afterwards", []).append(do)


def answered_first(get_response: GetResponse) -> GetResponse:
    """Leave what requests put off to the end of their answers, when these are on their way."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        # What is there is done when the server closes the answer, which it does when all of it is sent.
        response._resource_closers.extend(request.__dict__.get("afterwards", ()))  # type: ignore[attr-defined]
        return response

    return middleware


def encrypted_api(get_response: GetResponse) -> GetResponse:
    """A program that sends its key over plain HTTP is told so, and not led to HTTPS: it would never be noticed."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if settings.SECURE_SSL_REDIRECT and request.path.startswith("/api/") and not request.is_secure():
            sentence = _("The API answers over HTTPS alone. A key that was sent without it should be withdrawn.")
            return JsonResponse({"detail": sentence}, status=403)
        return get_response(request)

    return middleware


def second_factor(get_response: GetResponse) -> GetResponse:
    """Whose role needs a second factor gets nowhere but to its page until they have one.

    Costs nothing where no role needs one, else two queries at most. It is asked anew each time: a factor that was taken
    away, in whichever session, is missed at once.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if not settings.PALATE_SECOND_FACTOR or request.path.startswith(_STILL_OPEN):
            return get_response(request)
        user = request.user
        if not user.is_authenticated or not queries.needs_second_factor(user) or queries.has_second_factor(user):
            return get_response(request)
        sentence = _("Your role needs a second factor. Set one up, then go on.")
        if request.path.startswith("/api/"):
            return JsonResponse({"detail": sentence}, status=403)
        if request.headers.get("HX-Request") or request.method != "GET":
            return HttpResponseForbidden(sentence, content_type="text/plain; charset=utf-8")
        messages.info(request, sentence)
        return redirect("mfa_index")

    return middleware
