from __future__ import annotations

from django.urls import path

from reports import api

urlpatterns = [
    path("studies/<slug:slug>/report/", api.report, name="report"),
    path("studies/<slug:slug>/reports/", api.reports, name="reports"),
    path("studies/<slug:slug>/reports/<int:pk>/", api.frozen, name="frozen-report"),
    path("studies/<slug:slug>/reports/<int:pk>/recomputed/", api.recomputed, name="recompute-report"),
    path("studies/<slug:slug>/reports/<int:pk>/compared/<int:other>/", api.comparison, name="compare-reports"),
    path("studies/<slug:slug>/exports/", api.exports, name="exports"),
    path("studies/<slug:slug>/exports/<int:pk>/", api.export, name="export"),
    path("studies/<slug:slug>/exports/<int:pk>/file", api.export_file, name="export-file"),
]
