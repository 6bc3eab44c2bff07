"""Single sign-on by OpenID Connect: allauth does it, once what the provider answers is what it takes it for."""

from __future__ import annotations

import logging
from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.models import SocialApp, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.contrib import messages
from django.http import HttpRequest
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from accounts.claims import problem, refuse

logger = logging.getLogger(__name__)

_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri", "issuer")


class Adapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    @property
    def openid_config(self) -> dict[str, Any]:
        """What the provider says of itself. Anybody may have it asked for: of a wrong one the log alone tells."""
        try:
            found: dict[str, Any] = super().openid_config
        except AttributeError:  # no object, which allauth takes it for
            found = {}
        missing = [name for name in _ENDPOINTS if not isinstance(found.get(name), str)]
        if missing:
            logger.warning("Single sign-on does not say its %s", ", ".join(missing))
            told = _("Single sign-on does not say where it is asked. Tell who runs this installation.")
            messages.error(self.request, told)
            raise ImmediateHttpResponse(redirect("login"))
        return found

    def parse_token(self, data: Any) -> SocialToken:
        if not isinstance(data, dict) or not isinstance(data.get("access_token"), str):
            refuse(self.request, "its token answer has no access_token")
        try:
            return super().parse_token(data)
        except (TypeError, ValueError, OverflowError) as error:
            refuse(self.request, "expires_in is no number of seconds", error)

    def _fetch_user_info(self, access_token: str) -> dict[str, Any]:
        return self._checked(super()._fetch_user_info(access_token), "userinfo")

    def _decode_id_token(self, app: SocialApp, id_token: str) -> dict[str, Any]:
        try:
            claims = super()._decode_id_token(app, id_token)
        except (OAuth2Error, KeyError, TypeError, ValueError) as error:
            refuse(self.request, "its ID token is not valid", error)
        return self._checked(claims, "ID token")

    def complete_login(self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any) -> Any:
        login = super().complete_login(request, app, token, **kwargs)
        said = login.account.extra_data
        # OpenID Connect Core 5.3.2: else one person's token would open the account of another.
        if {"userinfo", "id_token"} <= said.keys() and said["userinfo"]["sub"] != said["id_token"]["sub"]:
            refuse(request, "its userinfo and its ID token are of two people")
        return login

    def _checked(self, claims: Any, where: str) -> dict[str, Any]:
        if wrong := problem(claims):
            refuse(self.request, wrong if isinstance(claims, dict) else f"its {where} {wrong}")
        found: dict[str, Any] = claims
        return found


class Provider(OpenIDConnectProvider):  # type: ignore[misc]
    oauth2_adapter_class = Adapter
