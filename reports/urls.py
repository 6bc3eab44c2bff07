from __future__ import annotations

from django.urls import path

from reports import views
from reports.views import board

app_name = "reports"

urlpatterns = [
    # as the study stands
    path("studies/<slug:slug>/report/", views.report, name="report"),
    path("studies/<slug:slug>/report/board/", board.panel, name="board"),
    path("studies/<slug:slug>/report/report.csv", views.report_csv, name="csv"),
    path("studies/<slug:slug>/report/report.xlsx", views.report_xlsx, name="xlsx"),
    path("studies/<slug:slug>/report/labels.csv", views.labels_csv, name="labels"),
    path("studies/<slug:slug>/report/figures/<str:key>.<str:ending>", views.figure, name="figure"),
    path("studies/<slug:slug>/report/cells/", views.cells, name="cells"),
    path("studies/<slug:slug>/report/evidence/<int:pk>/", views.evidence, name="evidence"),
    # frozen
    path("studies/<slug:slug>/report/freeze/", views.freeze, name="freeze"),
    path("studies/<slug:slug>/report/frozen/", views.frozen_list, name="frozen-list"),
    path("studies/<slug:slug>/report/frozen/<int:pk>/", views.frozen, name="frozen"),
    path("studies/<slug:slug>/report/frozen/<int:pk>/recompute/", views.recompute, name="recompute"),
    path("studies/<slug:slug>/report/frozen/<int:pk>/compare/", views.compare, name="compare"),
    path("studies/<slug:slug>/report/frozen/<int:pk>/cells/", views.frozen_cells, name="frozen-cells"),
    path(
        "studies/<slug:slug>/report/frozen/<int:pk>/figures/<str:key>.<str:ending>",
        views.frozen_figure,
        name="frozen-figure",
    ),
    # downloads that take their time
    path("studies/<slug:slug>/report/downloads/", views.ask, name="ask"),
    *views.DOWNLOADS.paths(
        "studies/<slug:slug>/report/downloads/<int:pk>/",
        page="download",
        cancel="cancel-download",
        resume="resume-download",
    ),
    path("studies/<slug:slug>/report/downloads/<int:pk>/file", views.download, name="download-file"),
]
