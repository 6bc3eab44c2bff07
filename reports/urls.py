from __future__ import annotations

from django.urls import path

from reports import board, views

app_name = "reports"

urlpatterns = [
    path("studies/<slug:slug>/report/", views.report, name="report"),
    path("studies/<slug:slug>/report/board/", board.panel, name="board"),
    path("studies/<slug:slug>/report/report.csv", views.report_csv, name="csv"),
    path("studies/<slug:slug>/report/report.xlsx", views.report_xlsx, name="xlsx"),
    path("studies/<slug:slug>/report/labels.csv", views.labels_csv, name="labels"),
]
