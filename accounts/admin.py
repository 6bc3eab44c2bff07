"""What libraries show in the administration and holds secrets is not shown there."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialApp, SocialToken
from django.contrib import admin
from rest_framework.authtoken.models import TokenProxy

from accounts.models import ApiToken

admin.site.unregister([Authenticator, SocialApp, SocialToken, TokenProxy])


@admin.register(ApiToken)
class ApiTokenAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Read only: a token is made on the page of its account, and withdrawn there or on the owner's page of a person."""

    list_display = ["user", "name", "beginning", "created_at", "expires_at", "last_used_at", "withdrawn_at"]
    list_select_related = ["user"]
    search_fields = ["user__username", "name"]
    exclude = ["digest"]

    def has_add_permission(self, *_of: object) -> bool:
        return False

    def has_change_permission(self, *_of: object) -> bool:
        return False

    def has_delete_permission(self, *_of: object) -> bool:
        return False
