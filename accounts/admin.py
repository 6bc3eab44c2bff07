"""What libraries show in the administration and holds secrets is not shown there."""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialApp, SocialToken
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.http import HttpRequest
from rest_framework.authtoken.models import TokenProxy

from accounts import actions
from accounts.models import ApiToken
from annotation.models import User

admin.site.unregister([Authenticator, SocialApp, SocialToken, TokenProxy, User])


@admin.register(User)
class PeopleAdmin(UserAdmin):  # type: ignore[type-arg]
    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """What opens an account that is closed here ends, as on the owner's page, and does not come back with it."""
        super().save_model(request, obj, form, change)
        if not obj.is_active:
            actions.shut_out(user=obj, by=request.user)  # type: ignore[arg-type]  # who is here is somebody


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
