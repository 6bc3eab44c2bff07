"""All writes of the core: verbs, keyword-only, one transaction each. Views, API, commands and judges come here."""

from __future__ import annotations

from annotation.actions.adjudication import accept_agreed, adjudicate
from annotation.actions.background import first_page, owed_of_sheet, owes_background, tell_background
from annotation.actions.base import NotNow, Refused, SheetClosed, lock_study, lock_to_resume, refuse_while_shown
from annotation.actions.changes import Changed, Edit, change, change_each
from annotation.actions.deleting import delete_study, resume_deletion
from annotation.actions.drafting import Started, confirm, draft, start_from
from annotation.actions.experiments import draw_experiment, end_experiment
from annotation.actions.labels import SeenOtherwise, Unanswered, Unconfirmed, record, reopen, submit
from annotation.actions.looks import note_look, note_looks
from annotation.actions.notes import answer_note, ask, read_answers, withdraw_note
from annotation.actions.people import (
    add_member,
    invite,
    join,
    remove_member,
    revoke_invite,
    revoke_invites,
    sign_up,
    token_digest,
)
from annotation.actions.plan import (
    apply_design,
    apply_replan,
    assign,
    give_to_more,
    go_on,
    pause,
    restore_row,
    withdraw,
    withdraw_row,
)
from annotation.actions.restoring import restore
from annotation.actions.sheets import close_sheet, open_sheet, set_pay
from annotation.actions.studies import (
    add_column,
    add_row,
    add_sheet,
    change_scheme,
    change_study,
    create_study,
    has_answers,
    store_scheme,
)
from annotation.actions.time import beat
from annotation.actions.trust import (
    agree,
    asked_from,
    clean_audit,
    forget_tries,
    has_agreed,
    logged_in_lately,
    note,
    note_key,
    note_limited,
    tries,
    try_allowed,
)
from annotation.actions.undoing import (
    archive_sheet,
    archive_study,
    delete_sheet,
    rename_sheet,
    take_back_accepted,
    unarchive_sheet,
    unarchive_study,
    undo_plan,
)
from annotation.labels.answer import Answer
from annotation.labels.writer import Recorded

__all__ = [
    "Answer",
    "Changed",
    "Edit",
    "NotNow",
    "Recorded",
    "Refused",
    "SeenOtherwise",
    "SheetClosed",
    "Started",
    "Unanswered",
    "Unconfirmed",
    "accept_agreed",
    "add_column",
    "add_member",
    "add_row",
    "add_sheet",
    "adjudicate",
    "agree",
    "answer_note",
    "apply_design",
    "apply_replan",
    "archive_sheet",
    "archive_study",
    "ask",
    "asked_from",
    "assign",
    "beat",
    "change",
    "change_each",
    "change_scheme",
    "change_study",
    "clean_audit",
    "close_sheet",
    "confirm",
    "create_study",
    "delete_sheet",
    "delete_study",
    "draft",
    "draw_experiment",
    "end_experiment",
    "first_page",
    "forget_tries",
    "give_to_more",
    "go_on",
    "has_agreed",
    "has_answers",
    "invite",
    "join",
    "lock_study",
    "lock_to_resume",
    "logged_in_lately",
    "note",
    "note_key",
    "note_limited",
    "note_look",
    "note_looks",
    "open_sheet",
    "owed_of_sheet",
    "owes_background",
    "pause",
    "read_answers",
    "record",
    "refuse_while_shown",
    "remove_member",
    "rename_sheet",
    "reopen",
    "restore",
    "restore_row",
    "resume_deletion",
    "revoke_invite",
    "revoke_invites",
    "set_pay",
    "sign_up",
    "start_from",
    "store_scheme",
    "submit",
    "take_back_accepted",
    "tell_background",
    "token_digest",
    "tries",
    "try_allowed",
    "unarchive_sheet",
    "unarchive_study",
    "undo_plan",
    "withdraw",
    "withdraw_note",
    "withdraw_row",
]
