from __future__ import annotations

from django.urls import path

from reports import views
from reports.hiring import urls as hiring
from reports.hiring.views import counted
from reports.views import answers, board, comparing

app_name = "reports"

urlpatterns = [
    # as the study stands
    path("studies/<slug:slug>/report/", counted(answers.report, "report"), name="report"),
    path("studies/<slug:slug>/report/questions/", counted(answers.questions, "report"), name="questions"),
    path("studies/<slug:slug>/report/questions/<str:key>/", counted(answers.question, "report"), name="question"),
    path("studies/<slug:slug>/report/judges/", counted(answers.judges, "report"), name="judges"),
    path("studies/<slug:slug>/report/judges/<str:key>/", counted(answers.judges_on, "report"), name="judges-on"),
    path("studies/<slug:slug>/report/people/", counted(answers.people, "report"), name="people"),
    path("studies/<slug:slug>/report/coverage/", counted(answers.coverage, "report"), name="coverage"),
    path("studies/<slug:slug>/report/methods/", counted(answers.methods, "report"), name="methods"),
    path("studies/<slug:slug>/report/glossary/", answers.glossary, name="glossary"),
    path("studies/<slug:slug>/report/whole/", counted(answers.whole, "report"), name="whole"),
    path("studies/<slug:slug>/report/compare/", counted(comparing.compare_live, "report"), name="compare-live"),
    path(
        "studies/<slug:slug>/report/compare.csv",
        counted(comparing.compare_live, "download"),
        {"form": "csv"},
        name="compare-live-csv",
    ),
    path("studies/<slug:slug>/report/at/", answers.at, name="at"),
    path("studies/<slug:slug>/report/table.csv", counted(answers.table_csv, "download"), name="table"),
    path("studies/<slug:slug>/report/board/", board.panel, name="board"),
    path("studies/<slug:slug>/report/board/gold/", board.gold_panel, name="gold-board"),
    path("studies/<slug:slug>/report/report.csv", counted(views.report_csv, "download"), name="csv"),
    path("studies/<slug:slug>/report/report.xlsx", counted(views.report_xlsx, "download"), name="xlsx"),
    path("studies/<slug:slug>/report/labels.csv", counted(views.labels_csv, "download"), name="labels"),
    path("studies/<slug:slug>/report/labels-wide.csv", counted(views.labels_wide_csv, "download"), name="labels-wide"),
    path("studies/<slug:slug>/report/figures/<path:key>.<str:ending>", counted(views.figure, "report"), name="figure"),
    path("studies/<slug:slug>/report/cells/", counted(views.cells, "report"), name="cells"),
    path("studies/<slug:slug>/report/cells.csv", counted(views.cells, "download"), {"form": "csv"}, name="cells-csv"),
    path("studies/<slug:slug>/report/evidence/<int:pk>/", views.evidence, name="evidence"),
    # frozen
    path("studies/<slug:slug>/report/freeze/", views.freeze, name="freeze"),
    path("studies/<slug:slug>/report/frozen/", views.frozen_list, name="frozen-list"),
    path("studies/<slug:slug>/report/frozen/<int:pk>/", counted(views.frozen, "report"), name="frozen"),
    path(
        "studies/<slug:slug>/report/frozen/<int:pk>/answers/",
        counted(views.frozen_answers, "report"),
        name="frozen-answers",
    ),
    path("studies/<slug:slug>/report/frozen/<int:pk>/recompute/", views.recompute, name="recompute"),
    path("studies/<slug:slug>/report/frozen/<int:pk>/compare/", counted(views.compare, "report"), name="compare"),
    path(
        "studies/<slug:slug>/report/frozen/<int:pk>/compare.csv",
        counted(views.compare, "download"),
        {"form": "csv"},
        name="compare-csv",
    ),
    path(
        "studies/<slug:slug>/report/frozen/<int:pk>/cells.csv",
        counted(views.frozen_cells, "download"),
        {"form": "csv"},
        name="frozen-cells-csv",
    ),
    path(
        "studies/<slug:slug>/report/frozen/<int:pk>/cells/", counted(views.frozen_cells, "report"), name="frozen-cells"
    ),
    path(
        "studies/<slug:slug>/report/frozen/<int:pk>/table.csv",
        counted(views.frozen_table, "download"),
        name="frozen-table",
    ),
    path(
        "studies/<slug:slug>/report/frozen/<int:pk>/figures/<path:key>.<str:ending>",
        counted(views.frozen_figure, "report"),
        name="frozen-figure",
    ),
    # downloads that take their time
    path("studies/<slug:slug>/report/downloads/", counted(views.ask, "download"), name="ask"),
    *views.DOWNLOADS.paths(
        "studies/<slug:slug>/report/downloads/<int:pk>/",
        page="download",
        cancel="cancel-download",
        resume="resume-download",
    ),
    path("studies/<slug:slug>/report/downloads/<int:pk>/file", views.download, name="download-file"),
    # a judge is hired
    *hiring.urlpatterns,
]
