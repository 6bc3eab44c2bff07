from __future__ import annotations

from django.urls import path

from reports.api import downloads, frozen, live

urlpatterns = [
    path("studies/<slug:slug>/report/", live.report, name="report"),
    path("studies/<slug:slug>/reports/", frozen.reports, name="reports"),
    path("studies/<slug:slug>/reports/<int:pk>/", frozen.frozen, name="frozen-report"),
    path("studies/<slug:slug>/reports/<int:pk>/recomputed/", frozen.recomputed, name="recompute-report"),
    path("studies/<slug:slug>/reports/<int:pk>/compared/<int:other>/", frozen.comparison, name="compare-reports"),
    path("studies/<slug:slug>/exports/", downloads.exports, name="exports"),
    path("studies/<slug:slug>/exports/<int:pk>/", downloads.export, name="export"),
    path("studies/<slug:slug>/exports/<int:pk>/cancel/", downloads.cancel_export, name="cancel-export"),
    path("studies/<slug:slug>/exports/<int:pk>/resume/", downloads.resume_export, name="resume-export"),
    path("studies/<slug:slug>/exports/<int:pk>/file", downloads.export_file, name="export-file"),
]
