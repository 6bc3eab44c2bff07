"""What libraries show in the administration and holds secrets is not shown there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialApp, SocialToken
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import UserChangeForm
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from rest_framework.authtoken.models import TokenProxy

from accounts import actions
from accounts.models import ApiToken
from annotation.actions import Refused
from annotation.models import User

admin.site.unregister([Authenticator, SocialApp, SocialToken, TokenProxy, User])


class PersonForm(UserChangeForm):  # type: ignore[type-arg]
    def clean(self) -> dict[str, Any]:
        """As on the owner's page, the last owner stays one."""
        cleaned = super().clean() or self.cleaned_data
        ends = [name for name in ("is_superuser", "is_active") if cleaned.get(name) is False]
        if ends and self.instance.is_superuser and self.instance.is_active:
            try:
                actions.leaves_an_owner(self.instance)
            except Refused as refusal:
                for name in ends:
                    self.add_error(name, str(refusal))
        return cleaned


@admin.register(User)
class PeopleAdmin(UserAdmin):  # type: ignore[type-arg]
    form = PersonForm

    def get_deleted_objects(self, objs: Iterable[User], request: HttpRequest) -> tuple[Any, Any, Any, list[Any]]:
        """Whom nobody would follow is not deleted, alone or with others."""
        found, counts, forbidden, kept = super().get_deleted_objects(objs, request)  # type: ignore[arg-type]
        owners = [user for user in objs if user.is_superuser and user.is_active]
        if owners:
            try:
                with transaction.atomic():
                    actions.leaves_an_owner(*owners)
            except Refused as refusal:
                kept = [*kept, *(f"{user}: {refusal}" for user in owners)]
        return found, counts, forbidden, kept

    @transaction.atomic
    def response_action(self, request: HttpRequest, queryset: QuerySet[User], *where: Any) -> HttpResponse | None:
        """As on the page of one person: whom `get_deleted_objects` lets go are gone before others are asked about."""
        return super().response_action(request, queryset, *where)

    @transaction.atomic
    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """As on the owner's page: what opens an account that is closed here ends, and does not come back with it, and
        the audit log has who became an owner, or is none any more, and whose account was closed or opened."""
        super().save_model(request, obj, form, change)
        by = cast(User, request.user)  # who is here is somebody
        if change and "is_superuser" in form.changed_data:
            actions.owner_made(user=obj, by=by)
        if change and "is_active" in form.changed_data:
            actions.account_opened(user=obj, by=by)


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
