"""/api/v1/. Each app that has something to say adds its own list."""

from __future__ import annotations

from django.urls import include, path

from accounts.api import Schema, Token, root

app_name = "api"

urlpatterns = [
    path("", root, name="root"),
    path("token/", Token.as_view(), name="token"),
    path("schema/", Schema.as_view(), name="schema"),
    path("", include("annotation.api.urls")),
    path("", include("judges.api_urls")),
    path("", include("reports.api.urls")),
    path("", include("recipes.api_urls")),
]
