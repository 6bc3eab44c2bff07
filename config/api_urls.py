"""/api/v1/. Each app that has something to say adds its own list."""

from __future__ import annotations

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.permissions import IsAuthenticated

from accounts.api import Token, root

app_name = "api"

urlpatterns = [
    path("", root, name="root"),
    path("token/", Token.as_view(), name="token"),
    path("schema/", SpectacularAPIView.as_view(permission_classes=[IsAuthenticated]), name="schema"),
    path("", include("annotation.api.urls")),
    path("", include("judges.api_urls")),
    path("", include("reports.api.urls")),
    path("", include("recipes.api_urls")),
]
