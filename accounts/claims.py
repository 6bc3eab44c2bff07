"""What single sign-on says of somebody is looked at before it is taken for what it should be."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from typing import Any, NoReturn

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount import app_settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from annotation.actions import note
from annotation.models import AuditEvent
from base.text import UNSTORABLE

logger = logging.getLogger(__name__)

LONGEST_TEXT = 300
_TEXTS = ("sub", "email", "preferred_username", "name", "given_name", "family_name")


def refuse(request: HttpRequest, why: str, cause: Exception | None = None) -> NoReturn:
    """Nobody is logged in by it: the person is told where people log in, the audit log and the log `why`.

    `why` names what is wrong and never what was sent: that is about a person.
    """
    logger.warning("Single sign-on sent what cannot be used: %s", why, exc_info=cause)
    note(AuditEvent.Kind.LOGIN_FAILED, what=f"single sign-on: {why}")
    told = _(
        "Single sign-on sent something about you that cannot be used here. You are not logged in: tell who runs this "
        "installation. The audit log says what it was."
    )
    messages.error(request, told)
    raise ImmediateHttpResponse(redirect("login"))


def not_valid(request: HttpRequest) -> HttpResponse:
    """An answer that is not the provider's, or that cannot be read. Anybody may send one: it is in the log alone."""
    told = _("Single sign-on sent an answer that is not valid. You are not logged in: try again from here.")
    messages.error(request, told)
    return redirect("login")


def problem(claims: object) -> str:
    """What is wrong with the claims of OpenID Connect; "" for nothing. A claim that is null is as good as none."""
    if not isinstance(claims, dict):
        return "is not an object"
    if claims.get("sub") in (None, ""):
        return "sub is missing"
    for name in _TEXTS:
        if wrong := text_problem(claims.get(name) or "", name):
            return wrong
    if not isinstance(claims.get("email_verified") or False, bool):
        return "email_verified is not true or false"
    return uid_problem(claims["sub"], "sub") or _unstorable(claims)


def uid_problem(uid: str, name: str) -> str:
    longest = app_settings.UID_MAX_LENGTH
    return f"{name} is longer than {longest} characters" if len(uid) > longest else ""


def text_problem(text: object, name: str) -> str:
    """Of a text that an account is made of. A shorter one that an account does not hold either is cut."""
    if not isinstance(text, str):
        return f"{name} is not text"
    return f"{name} is longer than {LONGEST_TEXT} characters" if len(text) > LONGEST_TEXT else ""


def _unstorable(claims: dict[str, Any]) -> str:
    """allauth keeps all claims of a person, so that a database has to hold them."""
    for name, claim in claims.items():
        for leaf in _leaves({name: claim}):
            if isinstance(leaf, float) and not math.isfinite(leaf):
                return f"{name} is not a number"
            if isinstance(leaf, str) and UNSTORABLE.search(leaf):
                return f"{'a claim' if UNSTORABLE.search(name) else name} has signs that cannot be stored"
    return ""


def _leaves(value: object) -> Iterator[object]:
    match value:
        case dict():
            for name, part in value.items():
                yield name
                yield from _leaves(part)
        case list():
            for part in value:
                yield from _leaves(part)
        case _:
            yield value
