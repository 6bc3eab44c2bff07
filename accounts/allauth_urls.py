"""What of allauth has pages here, under the names that it knows itself. Nobody signs up here: people are invited."""

from __future__ import annotations

from allauth.account import views
from allauth.socialaccount import views as social
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path, re_path, reverse_lazy
from django.views.generic.base import RedirectView

from accounts.views.entrance import from_provider, to_provider

urlpatterns = [
    path("cancel/", views.logout, name="account_logout"),
    path("signup/", views.signup, name="account_signup"),
    path("inactive/", views.account_inactive, name="account_inactive"),
    path("again/", views.reauthenticate, name="account_reauthenticate"),
    path("email/", views.email, name="account_email"),
    path("email/sent/", views.email_verification_sent, name="account_email_verification_sent"),
    path("email/<str:key>/", views.confirm_email, name="account_confirm_email"),
    path(
        "password/",
        RedirectView.as_view(url=reverse_lazy("password_change"), permanent=False),
        name="account_change_password",
    ),
    path("password/set/", views.password_set, name="account_set_password"),
    path("password/forgotten/", views.password_reset, name="account_reset_password"),
    path("password/forgotten/sent/", views.password_reset_done, name="account_reset_password_done"),
    path("password/forgotten/done/", views.password_reset_from_key_done, name="account_reset_password_from_key_done"),
    re_path(  # its hyphen is allauth's
        r"^password/forgotten/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        views.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path("second-factor/", include("allauth.mfa.urls")),
    path("sessions/", include("allauth.usersessions.urls")),
    path("single-sign-on/", social.connections, name="socialaccount_connections"),
    path("single-sign-on/signup/", social.signup, name="socialaccount_signup"),
    path("single-sign-on/cancelled/", social.login_cancelled, name="socialaccount_login_cancelled"),
    path("single-sign-on/error/", login_not_required(social.login_error), name="socialaccount_login_error"),
    path("oidc/<str:provider_id>/login/", to_provider, name="openid_connect_login"),
    path("oidc/<str:provider_id>/login/callback/", from_provider, name="openid_connect_callback"),
]
if settings.SAML_IDP:  # its library is there only then
    urlpatterns.append(path("", include("accounts.saml_urls")))
