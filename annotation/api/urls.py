from __future__ import annotations

from django.urls import path

from annotation.api import closing, core, drafts, handing_on, imports, lens, making, notes, study_settings
from annotation.deriving import api as deriving

urlpatterns = [
    # /studies/
    path("schemes/", making.schemes, name="schemes"),
    path("studies/", making.studies, name="studies"),
    path("studies/<slug:slug>/", core.study, name="study"),
    path("studies/<slug:slug>/archived/", core.archive, name="archive-study"),
    path("studies/<slug:slug>/brought-back/", core.bring_back, name="bring-study-back"),
    path("studies/<slug:slug>/settings/", study_settings.settings, name="settings"),
    path("studies/<slug:slug>/settings/scheme/", study_settings.change_scheme, name="change-scheme"),
    path("studies/<slug:slug>/sheets/", core.sheets, name="sheets"),
    path("studies/<slug:slug>/raters/", core.raters, name="raters"),
    path("studies/<slug:slug>/invites/", making.invites, name="invites"),
    path("studies/<slug:slug>/invites/<int:pk>/revoked/", making.revoke_invite, name="revoke-invite"),
    path("studies/<slug:slug>/plan/", making.plan, name="plan"),
    path("studies/<slug:slug>/plan/<int:pk>/undone/", handing_on.undo_plan, name="undo-plan"),
    path("studies/<slug:slug>/plan/drawn/", making.draw_plan, name="draw-plan"),
    path("studies/<slug:slug>/plan/reassigned/", handing_on.reassign, name="reassign"),
    path("studies/<slug:slug>/plan/reassigned/drawn/", handing_on.draw_reassigned, name="draw-reassigned"),
    path("studies/<slug:slug>/plan/more/", handing_on.give_to_more, name="more-raters"),
    path("studies/<slug:slug>/plan/more/drawn/", handing_on.draw_more, name="draw-more-raters"),
    path("studies/<slug:slug>/labels/", core.labels, name="labels"),
    path("studies/<slug:slug>/notes/", notes.of_study, name="notes"),
    path("studies/<slug:slug>/notes/<int:pk>/answered/", notes.answer, name="answer-note"),
    path("studies/<slug:slug>/drafts/", drafts.drafts, name="drafts"),
    path("studies/<slug:slug>/lineage/", deriving.lineage, name="lineage"),
    path("studies/<slug:slug>/derive/", deriving.derive, name="derive"),
    path("studies/<slug:slug>/imports/rows/", imports.import_rows, name="import-rows"),
    path("studies/<slug:slug>/imports/labels/", imports.import_labels, name="import-labels"),
    *imports.IMPORTING.paths(
        "studies/<slug:slug>/imports/",
        runs="imports",
        run="import",
        cancel="cancel-import",
        resume="resume-import",
    ),
    # /sheets/<pk>/, /rows/<pk>/
    path("sheets/<int:pk>/", core.sheet, name="sheet"),
    path("sheets/<int:pk>/closed/", closing.close_sheet, name="close-sheet"),
    path("sheets/<int:pk>/opened/", closing.open_sheet, name="open-sheet"),
    path("sheets/<int:pk>/lens/", lens.lens_of_sheet, name="lens"),
    path("sheets/<int:pk>/decisions/", lens.decisions, name="decisions"),
    path("sheets/<int:pk>/history/", lens.history_of_sheet, name="history"),
    path("rows/<int:pk>/", core.row, name="row"),
    path("rows/<int:pk>/withdrawn/", closing.withdraw_row, name="withdraw-row"),
    path("rows/<int:pk>/brought-back/", closing.restore_row, name="restore-row"),
    # my own work
    path("my/assignments/", core.my_assignments, name="my-assignments"),
    path("assignments/<int:pk>/labels/", core.assignment_labels, name="assignment-labels"),
    path("assignments/<int:pk>/notes/", notes.of_assignment, name="assignment-notes"),
    path("assignments/<int:pk>/notes/read/", notes.read, name="read-notes"),
    path("notes/<int:pk>/withdrawn/", notes.withdraw, name="withdraw-note"),
    path("assignments/<int:pk>/submit/", core.submit, name="submit"),
    path("assignments/<int:pk>/reopen/", core.reopen, name="reopen"),
]
