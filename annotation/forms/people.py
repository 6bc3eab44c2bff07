"""The manager's form of an invitation, and that of who joins by one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.utils.translation import gettext_lazy as _

from annotation.models import Role, User


class InviteForm(forms.Form):
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)
    email = forms.EmailField(
        label=_("E-mail"), required=False, help_text=_("Where mail is set up, the link is sent there too.")
    )
    days = forms.TypedChoiceField(
        label=_("Works for"),
        coerce=int,
        choices=[(1, _("1 day")), (7, _("7 days")), (30, _("30 days"))],
        initial=7,
    )
    bound = forms.BooleanField(
        label=_("Only for this address"),
        required=False,
        help_text=_("Whoever joins by the link types a code that is sent to the address first."),
    )

    def __init__(self, *args: Any, can_bind: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not can_bind:
            self.fields["bound"].disabled = True
            self.fields["bound"].help_text = _("Needs e-mail, which is not set up here.")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("bound") and not cleaned.get("email"):
            self.add_error("email", _("Say for which address."))
        return cleaned


class JoinForm(UserCreationForm):  # type: ignore[type-arg]
    """A new account for somebody who was invited."""

    class Meta:
        model = User
        fields = ["username"]
        labels = {"username": _("User name")}
