"""The addresses of an installation with SAML."""

from __future__ import annotations

from django.urls import include, path

from config.urls import urlpatterns as of_every_installation

urlpatterns = [path("account/", include("accounts.saml_urls")), *of_every_installation]
