from __future__ import annotations

from django.contrib import admin
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path
from django.views.i18n import set_language

from accounts.views.entrance import LoginView, PasswordChangeView

handler400 = "config.schema.too_much"
handler404 = "config.schema.not_found"
handler500 = "config.schema.broken"

urlpatterns = [
    path("", include("operating.urls")),
    path("login/", LoginView.as_view(), name="account_login"),  # as allauth calls it
    path("login/", LoginView.as_view(), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("language/", login_not_required(set_language), name="set_language"),
    path("password/", PasswordChangeView.as_view(), name="password_change"),
    path("account/", include("accounts.allauth_urls")),
    path("", include("accounts.urls")),
    path("admin/", admin.site.urls),
    path("api/v1/", include("config.api_urls")),
    path("", include("annotation.urls")),
    path("", include("judges.urls")),
    path("", include("reports.urls")),
    path("", include("recipes.urls")),
]
