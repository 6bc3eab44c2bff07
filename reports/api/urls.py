from __future__ import annotations

from django.urls import path

from reports.api import downloads, frozen, live
from reports.hiring import api as hiring
from reports.hiring import urls as hiring_pages  # noqa: F401  it registers how a certificate is named
from reports.hiring.views import counted

urlpatterns = [
    path("studies/<slug:slug>/split/", hiring.split, name="split"),
    path("studies/<slug:slug>/candidates/", hiring.candidates, name="candidates"),
    path("studies/<slug:slug>/suggestions/", hiring.suggestions, name="suggestions"),
    path("studies/<slug:slug>/certificates/", hiring.certificates, name="certificates"),
    path("studies/<slug:slug>/certificates/cost/", hiring.cost, name="certificate-cost"),
    path("studies/<slug:slug>/certificates/tests/", hiring.tests, name="certificate-tests"),
    path("studies/<slug:slug>/certificates/<certificate:name>/", hiring.certificate, name="certificate"),
    path("studies/<slug:slug>/certificates/<certificate:name>/takeovers/", hiring.takeovers, name="takeovers"),
    path("studies/<slug:slug>/certificates/<certificate:name>/given-back/", hiring.given_back, name="give-back"),
    path("studies/<slug:slug>/certificates/<certificate:name>/revoked/", hiring.revoked, name="revoke-certificate"),
    path(
        "studies/<slug:slug>/certificates/<certificate:name>/recomputed/",
        hiring.recomputed,
        name="recompute-certificate",
    ),
    path("studies/<slug:slug>/report/", counted(live.report, "report"), name="report"),
    path("studies/<slug:slug>/reports/", frozen.reports, name="reports"),
    path("studies/<slug:slug>/reports/<int:pk>/", counted(frozen.frozen, "report"), name="frozen-report"),
    path("studies/<slug:slug>/reports/<int:pk>/recomputed/", frozen.recomputed, name="recompute-report"),
    path(
        "studies/<slug:slug>/reports/<int:pk>/compared/<int:other>/",
        counted(frozen.comparison, "report"),
        name="compare-reports",
    ),
    path("studies/<slug:slug>/exports/", downloads.exports, name="exports"),
    path("studies/<slug:slug>/exports/<int:pk>/", downloads.export, name="export"),
    path("studies/<slug:slug>/exports/<int:pk>/cancel/", downloads.cancel_export, name="cancel-export"),
    path("studies/<slug:slug>/exports/<int:pk>/resume/", downloads.resume_export, name="resume-export"),
    path("studies/<slug:slug>/exports/<int:pk>/file", counted(downloads.export_file, "download"), name="export-file"),
]
