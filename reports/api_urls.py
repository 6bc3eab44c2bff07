from __future__ import annotations

from django.urls import path

from reports import api

urlpatterns = [
    path("studies/<slug:slug>/report/", api.report, name="report"),
]
