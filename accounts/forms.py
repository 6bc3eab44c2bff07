"""What people send to the pages of their account, checked."""

from __future__ import annotations

from typing import Any

from allauth.account.forms import ResetPasswordForm
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts.adapters import Unreadable
from annotation import actions
from annotation.models import User

CODES = 10  # wrong codes of a second factor in a quarter of an hour
PASSWORDS = 10  # wrong ones typed where the own is changed, in the same time


def too_many(seconds: int) -> str:
    minutes = -(-seconds // 60)
    return ngettext(
        "Too many attempts. Try again in %(n)s minute.", "Too many attempts. Try again in %(n)s minutes.", minutes
    ) % {"n": minutes}


class LoginForm(AuthenticationForm):
    """Says when the password is not looked at any more; `annotation.sessions.Backend` counts."""

    def get_invalid_login_error(self) -> forms.ValidationError:
        wait = getattr(self.request, "wait_to_log_in", 0)
        return forms.ValidationError(too_many(wait)) if wait else super().get_invalid_login_error()


class ForgottenForm(ResetPasswordForm):  # type: ignore[misc]
    """Does not tell a stranger which addresses have an account."""

    def clean_email(self) -> str:
        try:
            email: str = super().clean_email()
        except forms.ValidationError as error:
            if error.code != "unknown_email":
                raise
            return self.cleaned_data["email"]  # type: ignore[no-any-return]  # `users` is empty: nobody is written to
        return email


class NewPasswordForm(PasswordChangeForm):
    def clean_old_password(self) -> str:
        """Who finds a browser open does not guess the password here."""
        name = f"password:{self.user.pk}"
        if wait := actions.try_allowed([(name, PASSWORDS)]):
            actions.note_limited(name, of=self.user, what="change of the password")
            raise forms.ValidationError(too_many(wait))
        old: str = super().clean_old_password()
        actions.forget_tries(name)
        return old


def _is_used(user: User, code: str) -> bool:
    """Whether a right code was typed before; it is used from now on."""
    return bool(actions.try_allowed([(f"used:{user.pk}:{''.join(filter(str.isalnum, code))}", 1)]))


class _CountedCode:
    user: User
    authenticator: Authenticator

    def clean_code(self) -> str:
        """Of a hundred thousand codes some would be right; all processes count the tries. A right one counts once.

        allauth keeps in the cache which codes were used: for half a minute of the minute and a half in which one is
        right, and where Redis is away, not at all.
        """
        name = f"code:{self.user.pk}"
        if wait := actions.try_allowed([(name, CODES)]):
            actions.note_limited(name, of=self.user, what="second factor")
            raise forms.ValidationError(too_many(wait))
        try:
            code: str = super().clean_code()  # type: ignore[misc]
        except Unreadable as error:
            raise forms.ValidationError(str(error)) from error
        if _is_used(self.user, code):
            self._emit_authentication_failed(self.authenticator)  # type: ignore[attr-defined]
            raise get_adapter().validation_error("incorrect_code")
        actions.forget_tries(name)
        return code


class CodeForm(_CountedCode, AuthenticateForm):  # type: ignore[misc]
    pass


class CodeAgainForm(_CountedCode, ReauthenticateForm):  # type: ignore[misc]
    pass


class FirstCodeForm(ActivateTOTPForm):  # type: ignore[misc]
    def clean_code(self) -> str:
        """The code that shows that an app was set up right logs nobody in besides."""
        code: str = super().clean_code()
        _is_used(self.user, code)
        return code


class TokenForm(forms.Form):
    name = forms.CharField(label=_("What for"), max_length=80, help_text=_("Such as “laptop” or “nightly export”."))
    days = forms.TypedChoiceField(
        label=_("Works for"),
        coerce=int,
        choices=[(30, _("30 days")), (90, _("90 days")), (365, _("1 year")), (0, _("until it is withdrawn"))],
        initial=90,
    )


class EraseForm(forms.Form):
    """Asks for the name of who is erased, since it cannot be taken back."""

    username = forms.CharField(label=_("User name, typed again"), max_length=150)

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_username(self) -> str:
        typed: str = self.cleaned_data["username"]
        if typed != self.user.username:
            raise forms.ValidationError(_("That is not the user name of this account."))
        return typed
