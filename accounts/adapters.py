"""What allauth asks us about."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import requests
from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.contrib import messages
from django.contrib.sites.shortcuts import get_current_site
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import redirect
from django.urls import Resolver404, resolve, reverse
from django.utils.translation import gettext as _

from accounts.claims import not_valid
from accounts.middleware import afterwards
from accounts.saml import PASSING
from annotation import actions
from annotation.models import AuditEvent, Invite, User
from annotation.people import bound_invites, mail
from annotation.people.address import client_address
from base import ciphers

logger = logging.getLogger(__name__)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Accounts are made by invitation, and nothing is mailed where no mail is set up."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address(request) or "0.0.0.0"  # noqa: S104 - nobody's address, where none is known

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Once the request is answered: that the mail server was waited for, or failed, would tell anybody who forgot a
        password which addresses have an account; and what somebody did of theirs is done, whether they are written to
        or not."""
        if mail.is_set_up():
            words = {"request": self.request, "email": email, "current_site": get_current_site(self.request)}
            message = self.render_mail(template_prefix, email, words | context)
            afterwards(self.request, partial(mail.sent, message))


class SocialAccountAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Who comes from single sign-on without an account here gets one by an invitation, or where everybody may."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        admits = settings.SAML_ADMITS if settings.SAML_IDP else settings.OIDC_ADMITS
        return admits == "everybody" or self._invitation(request, sociallogin) is not None

    def _invitation(self, request: HttpRequest, sociallogin: Any) -> Invite | None:
        """The one that somebody brings along; one that is bound to an address only once it was shown to be theirs."""
        invite = invitation_at(sociallogin.get_redirect_url(request))
        return None if invite and invite.bound and not bound_invites.is_shown(request, invite) else invite

    def authenticate_by_email(self, sociallogin: Any) -> tuple[User, str] | None:
        """An address opens the account of whom it was shown to be here, by a mail to it. Anybody may give that of
        another as their own: who owns it would be led into their account, and share it with them."""
        from allauth.account.models import EmailAddress

        found: tuple[User, str] | None = super().authenticate_by_email(sociallogin)
        if found and EmailAddress.objects.filter(user=found[0], email__iexact=found[1], verified=True).exists():
            return found
        return None

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """An address that an account here has does not make a second one, and opens the first only where the
        installation trusts the provider. Who comes under a name of the day has no account here."""
        if sociallogin.account.extra_data.get(PASSING):
            actions.note(AuditEvent.Kind.LOGIN_FAILED, what="single sign-on: no name that lasts")
            messages.error(
                request,
                _("Your university sends nothing by which you are known the next time. Ask its administrators."),
            )
            raise ImmediateHttpResponse(redirect("login"))
        addresses = [found.email for found in sociallogin.email_addresses if found.email]
        same = (User.objects.filter(email__iexact=address).exists() for address in addresses)
        taken = not sociallogin.is_existing and any(same)
        if taken and sociallogin.state.get("process") != "connect":
            sentence = _(
                "An account here has your address already. Log in to it, then connect it on the page of your account."
            )
            messages.error(request, sentence)
            raise ImmediateHttpResponse(redirect("login"))

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None, exception: Any = None, extra_context: Any = None
    ) -> None:
        """A provider that went away while somebody was there is told of where people log in."""
        if isinstance(exception, requests.RequestException):
            away(request)
            raise ImmediateHttpResponse(redirect("login"))
        if "saml_errors" in (extra_context or {}):
            raise ImmediateHttpResponse(not_valid(request))

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> User:
        """An account and the role of its invitation come at once, so that one invitation makes one account."""
        invite = self._invitation(request, sociallogin)
        try:
            with transaction.atomic():
                user: User = super().save_user(request, sociallogin, form)
                actions.note(AuditEvent.Kind.ACCOUNT, by=user, of=user, what="made by single sign-on")
                if invite is not None:
                    actions.join(invite=invite, user=user, shown=True)
        except actions.Refused as refusal:
            messages.error(request, str(refusal))
            raise ImmediateHttpResponse(redirect("login")) from refusal
        if invite is not None:
            said = {"study": invite.study.title, "role": invite.get_role_display()}
            messages.success(request, _("You are in “%(study)s” as %(role)s.") % said)
            sociallogin.state["next"] = reverse("annotation:home")  # the invitation is used up
        return user


def away(request: HttpRequest) -> None:
    """Said where a request to the provider failed."""
    logger.warning("Single sign-on does not answer", exc_info=True)
    messages.error(request, _("Single sign-on does not answer. Try again later."))


def invitation_at(url: str | None) -> Invite | None:
    """The open invitation that an address of ours leads to."""
    try:
        match = resolve(urlsplit(url or "").path)
    except Resolver404:
        return None
    if match.view_name != "annotation:join":
        return None
    return (
        Invite.objects.open().select_related("study").filter(digest=actions.token_digest(match.kwargs["token"])).first()
    )


SECOND_FACTORS = "second factors"  # what they are encrypted for


class Unreadable(PermissionDenied):
    """A second factor was set up under a `SECRET_KEY` that is not known any more."""


class MFAAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Secrets of second factors lie encrypted in the database, by `SECRET_KEY`; earlier ones of it are read too."""

    def encrypt(self, text: str) -> str:
        return ciphers.encrypted(text, settings.SECRET_KEY, purpose=SECOND_FACTORS)

    def decrypt(self, encrypted_text: str) -> str:
        keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
        try:
            return ciphers.decrypted(encrypted_text, keys, purpose=SECOND_FACTORS)
        except ciphers.Unreadable as error:
            logger.exception("A second factor is encrypted by none of SECRET_KEY and SECRET_KEY_FALLBACKS")
            raise Unreadable(
                _("Your second factor cannot be read here any more. Ask an owner of the installation to take it away.")
            ) from error

    def get_totp_label(self, user: User) -> str:
        return user.username
