from __future__ import annotations

from django.urls import path

from annotation import api, lens_api

urlpatterns = [
    # /studies/
    path("studies/", api.studies, name="studies"),
    path("studies/<slug:slug>/", api.study, name="study"),
    path("studies/<slug:slug>/sheets/", api.sheets, name="sheets"),
    path("studies/<slug:slug>/raters/", api.raters, name="raters"),
    path("studies/<slug:slug>/labels/", api.labels, name="labels"),
    # /sheets/<pk>/, /rows/<pk>/
    path("sheets/<int:pk>/", api.sheet, name="sheet"),
    path("sheets/<int:pk>/lens/", lens_api.lens_of_sheet, name="lens"),
    path("sheets/<int:pk>/decisions/", lens_api.decisions, name="decisions"),
    path("sheets/<int:pk>/history/", lens_api.history_of_sheet, name="history"),
    path("rows/<int:pk>/", api.row, name="row"),
    # my own work
    path("my/assignments/", api.my_assignments, name="my-assignments"),
    path("assignments/<int:pk>/labels/", api.assignment_labels, name="assignment-labels"),
    path("assignments/<int:pk>/submit/", api.submit, name="submit"),
    path("assignments/<int:pk>/reopen/", api.reopen, name="reopen"),
]
