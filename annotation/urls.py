from __future__ import annotations

from django.urls import path

from annotation.deriving import views as deriving
from annotation.views import (
    board,
    desk,
    drafts,
    history,
    imports,
    lens,
    notes,
    people,
    plan,
    saving,
    scripts,
    spreadsheet,
    states,
    time,
    work,
)

app_name = "annotation"

urlpatterns = [
    path("", work.my_work, name="my-work"),
    path("scripts/<slug:page>-<slug:digest>.js", scripts.script, name="script"),
    # /sheets/<pk>/
    path("sheets/<int:pk>/", work.sheet, name="sheet"),
    path("sheets/<int:pk>/record/", saving.record_cells, name="record-cells"),
    path("sheets/<int:pk>/spreadsheet/", spreadsheet.page, name="spreadsheet"),
    path("sheets/<int:pk>/spreadsheet/file/", spreadsheet.download, name="spreadsheet-file"),
    path("sheets/<int:pk>/beat/", time.beat, name="beat"),
    path("sheets/<int:pk>/restore/seen/", history.restore_seen, name="restore-seen"),
    path("sheets/<int:pk>/lens/", lens.page, name="lens"),
    path("sheets/<int:pk>/lens/cell/", lens.cell, name="lens-cell"),
    path("sheets/<int:pk>/lens/decide/", lens.decide, name="lens-decide"),
    path("sheets/<int:pk>/lens/accept/", lens.accept, name="lens-accept"),
    path("sheets/<int:pk>/history/", history.page, name="history"),
    path("sheets/<int:pk>/restore/", history.restore, name="restore"),
    # /rows/<pk>/
    path("rows/<int:pk>/evidence/", lens.evidence, name="row-evidence"),
    path("rows/<int:pk>/states/", states.of_row, name="row-states"),
    # /assignments/<pk>/
    path("assignments/<int:pk>/evidence/", work.evidence, name="evidence"),
    path("assignments/<int:pk>/states/", states.of_assignment, name="states"),
    path("assignments/<int:pk>/submit/", work.submit, name="submit"),
    path("assignments/<int:pk>/reopen/", work.reopen, name="reopen"),
    path("assignments/<int:pk>/notes/<int:column>/<int:question>/", notes.of_cell, name="notes-of-cell"),
    path("assignments/<int:pk>/notes/<int:column>/<int:question>/read/", notes.read, name="read-notes"),
    path("notes/<int:pk>/withdraw/", notes.withdraw, name="withdraw-note"),
    # /join/<token>/
    path("join/<str:token>/", people.join, name="join"),
    # /studies/
    path("studies/", desk.studies, name="studies"),
    path("studies/new/", desk.new_study, name="new-study"),
    path("studies/<slug:slug>/", desk.study, name="study"),
    path("studies/<slug:slug>/settings/", desk.settings, name="settings"),
    path("studies/<slug:slug>/derive/", deriving.derive, name="derive"),
    path("studies/<slug:slug>/lineage/", deriving.lineage, name="lineage"),
    path("studies/<slug:slug>/board/", board.page, name="board"),
    path("studies/<slug:slug>/board/warnings/", board.warnings, name="warnings"),
    path("studies/<slug:slug>/board/<int:pk>/remind/", board.remind, name="remind"),
    path("studies/<slug:slug>/board/<int:pk>/pause/", board.pause, name="pause"),
    path("studies/<slug:slug>/board/<int:pk>/go-on/", board.go_on, name="go-on"),
    path("studies/<slug:slug>/plan/", plan.plan, name="plan"),
    path("studies/<slug:slug>/plan/replan/", plan.replan, name="replan"),
    path("studies/<slug:slug>/plan/drafts/", drafts.page, name="drafts"),
    path("studies/<slug:slug>/plan/withdraw/", plan.withdraw_row, name="withdraw-row"),
    path("studies/<slug:slug>/plan/<int:pk>/restore/", plan.restore_row, name="restore-row"),
    path("studies/<slug:slug>/people/", people.people, name="people"),
    path("studies/<slug:slug>/people/<int:pk>/remove/", people.remove_member, name="remove-member"),
    path("studies/<slug:slug>/people/invites/<int:pk>/revoke/", people.revoke_invite, name="revoke-invite"),
    path("studies/<slug:slug>/notes/", notes.page, name="notes"),
    path("studies/<slug:slug>/notes/<int:pk>/answer/", notes.answer, name="answer-note"),
    path("studies/<slug:slug>/sheets/<int:pk>/close/", time.close_sheet, name="close-sheet"),
    path("studies/<slug:slug>/sheets/<int:pk>/open/", time.open_sheet, name="open-sheet"),
    path("studies/<slug:slug>/time/", time.panel, name="time"),
    path("studies/<slug:slug>/pay/", time.pay, name="pay"),
    path("studies/<slug:slug>/import/", imports.page, name="import"),
    path("studies/<slug:slug>/import/rows/", imports.rows, name="import-rows"),
    path("studies/<slug:slug>/import/labels/", imports.labels, name="import-labels"),
    *imports.IMPORTS.paths(
        "studies/<slug:slug>/import/<int:pk>/", page="import-run", cancel="cancel-import", resume="resume-import"
    ),
]
