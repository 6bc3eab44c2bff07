from __future__ import annotations

from django.contrib import admin
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.urls import include, path
from django.views.i18n import set_language


@login_not_required
def healthz(request: HttpRequest) -> HttpResponse:
    """For load balancers and container health checks: the process answers, and so does its database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok", content_type="text/plain")


urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("login/", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("language/", login_not_required(set_language), name="set_language"),
    path("password/", auth.PasswordChangeView.as_view(success_url="/"), name="password_change"),
    path("admin/", admin.site.urls),
    path("api/v1/", include("config.api_urls")),
    path("", include("annotation.urls")),
    path("", include("judges.urls")),
    path("", include("reports.urls")),
    path("", include("recipes.urls")),
]
