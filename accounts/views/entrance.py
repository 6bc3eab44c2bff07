"""Logging in, by a password here or by single sign-on."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import requests
from allauth.account.app_settings import EmailVerificationMethod
from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from django.conf import settings
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from accounts import actions, oidc
from accounts.adapters import away
from accounts.forms import LoginForm, NewPasswordForm
from annotation import demo_way
from annotation.people import mail


class LoginView(auth.LoginView):
    authentication_form = LoginForm
    redirect_authenticated_user = True

    def get_redirect_url(self, request: HttpRequest | None = None) -> str:
        """Where to go on. Not here again, which Django fails at for who is logged in already."""
        there: str = super().get_redirect_url()
        return "" if urlsplit(there).path == self.request.path else there

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """The password is right; allauth asks for what else is needed: a confirmed address, a second factor."""
        user = form.get_user()
        confirms = settings.PALATE_CONFIRM_EMAIL and user.email
        going = Login(
            user=user,
            redirect_url=self.get_success_url(),
            email_verification=EmailVerificationMethod.MANDATORY if confirms else EmailVerificationMethod.NONE,
            email=user.email or None,
        )
        answer: HttpResponse = perform_password_login(self.request, {"username": user.get_username()}, going)
        return answer

    def get_form(self, form_class: Any = None) -> Any:
        form = super().get_form(form_class)
        if demo_way.is_demo():  # its tiles come first: in a small window the field would scroll them out of sight
            form.fields["username"].widget.attrs.pop("autofocus", None)
        return form

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        there = self.get_redirect_url()
        return {
            **super().get_context_data(**kwargs),
            "sso": single_sign_on(there),
            "resets_passwords": mail.is_set_up(),
        }


class PasswordChangeView(auth.PasswordChangeView):
    form_class = NewPasswordForm
    success_url = "/"

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        """Other sessions and the tokens that the old password made are over; this one goes on, under a new key."""
        before = self.request.session.session_key
        with transaction.atomic():
            answer: HttpResponse = super().form_valid(form)
            since = self.request.session.session_key
            actions.password_changed(user=form.user, what="changed", sessions=(before or "", since or ""))
        return answer


@login_not_required
def to_provider(request: HttpRequest, provider_id: str) -> HttpResponse:
    """allauth's, for a provider that may be away: it is asked where people log in before they are sent there."""
    try:
        answer: HttpResponse = OAuth2LoginView.adapter_view(_adapter(request, provider_id))(request)
    except requests.RequestException:
        away(request)
        return redirect("login")
    return answer


@login_not_required
def from_provider(request: HttpRequest, provider_id: str) -> HttpResponse:
    answer: HttpResponse = OAuth2CallbackView.adapter_view(_adapter(request, provider_id))(request)
    return answer


def _adapter(request: HttpRequest, provider_id: str) -> oidc.Adapter:
    adapter = oidc.Adapter(request, provider_id)
    try:
        adapter.get_provider()
    except SocialApp.DoesNotExist as error:
        raise Http404 from error
    return adapter


def single_sign_on(there: str = "") -> dict[str, str] | None:
    """What its button says and where it leads, on to `there`; None where the installation has none."""
    if settings.OIDC_SERVER_URL:
        name, url = settings.OIDC_NAME, reverse("openid_connect_login", args=["sso"])
    elif settings.SAML_IDP:
        name, url = settings.SAML_NAME, reverse("saml_login", args=["sso"])
    else:
        return None
    return {"name": name, "url": f"{url}?{urlencode({'next': there})}" if there else url}
