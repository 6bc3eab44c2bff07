"""Programs prove by a token whose they are: `Authorization: Token …`."""

from __future__ import annotations

from django.utils.translation import gettext as _
from rest_framework import authentication, exceptions
from rest_framework.request import Request

from accounts import actions, queries
from accounts.models import ApiToken
from annotation.models import User


class TokenAuthentication(authentication.BaseAuthentication):
    keyword = "Token"

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """One query, and once an hour another; two more where roles need a second factor.

        Raises:
            AuthenticationFailed: the header has no key, or one that opens nothing.
            PermissionDenied: a role of theirs needs a second factor, and they have none.
        """
        words = authentication.get_authorization_header(request).split()
        if not words or words[0].lower() != self.keyword.lower().encode():
            return None
        if len(words) != 2:
            raise exceptions.AuthenticationFailed(_("The header Authorization is not “Token” and a key."))
        digest = actions.digest_of(words[1].decode("latin-1"))
        token = ApiToken.objects.live().select_related("user").filter(digest=digest).first()
        if token is None or not token.user.is_active:
            raise exceptions.AuthenticationFailed(_("This token opens nothing: it was withdrawn, or is too old."))
        if queries.needs_second_factor(token.user) and not queries.has_second_factor(token.user):
            raise exceptions.PermissionDenied(_("Your role needs a second factor. Set one up, then go on."))
        actions.token_used(token=token)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return self.keyword
