from __future__ import annotations

from django.urls import path

from annotation.views import desk, imports, saving, work

app_name = "annotation"

urlpatterns = [
    path("", work.my_work, name="my-work"),
    # /sheets/<pk>/
    path("sheets/<int:pk>/", work.sheet, name="sheet"),
    path("sheets/<int:pk>/record/", saving.record_cells, name="record-cells"),
    # /assignments/<pk>/
    path("assignments/<int:pk>/evidence/", work.evidence, name="evidence"),
    path("assignments/<int:pk>/submit/", work.submit, name="submit"),
    path("assignments/<int:pk>/reopen/", work.reopen, name="reopen"),
    # /studies/
    path("studies/", desk.studies, name="studies"),
    path("studies/new/", desk.new_study, name="new-study"),
    path("studies/<slug:slug>/", desk.study, name="study"),
    path("studies/<slug:slug>/plan/", desk.plan, name="plan"),
    path("studies/<slug:slug>/people/", desk.people, name="people"),
    path("studies/<slug:slug>/people/<int:pk>/link/", desk.new_link, name="new-link"),
    path("studies/<slug:slug>/people/<int:pk>/remove/", desk.remove_member, name="remove-member"),
    path("studies/<slug:slug>/import/", imports.page, name="import"),
    path("studies/<slug:slug>/import/rows/", imports.rows, name="import-rows"),
    path("studies/<slug:slug>/import/labels/", imports.labels, name="import-labels"),
]
