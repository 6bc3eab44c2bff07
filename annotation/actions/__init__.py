"""All writes of the core: verbs, keyword-only, one transaction each. Views, API, commands and judges come here."""

from __future__ import annotations

from annotation.actions.adjudication import accept_agreed, adjudicate
from annotation.actions.base import NotNow, Refused, SheetClosed, lock_study
from annotation.actions.changes import Changed, change
from annotation.actions.drafting import Started, confirm, draft, start_from
from annotation.actions.labels import SeenOtherwise, Unanswered, Unconfirmed, record, reopen, submit
from annotation.actions.looks import note_look, note_looks
from annotation.actions.notes import answer_note, ask, read_answers, withdraw_note
from annotation.actions.people import (
    add_member,
    invite,
    join,
    remove_member,
    revoke_invite,
    sign_up,
    token_digest,
)
from annotation.actions.plan import (
    apply_design,
    apply_replan,
    assign,
    go_on,
    pause,
    restore_row,
    withdraw,
    withdraw_row,
)
from annotation.actions.restoring import restore
from annotation.actions.sheets import close_sheet, open_sheet, set_pay
from annotation.actions.studies import add_column, add_row, add_sheet, change_study, create_study, store_scheme
from annotation.actions.time import beat
from annotation.labels.answer import Answer
from annotation.labels.writer import Recorded

__all__ = [
    "Answer",
    "Changed",
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
    "answer_note",
    "apply_design",
    "apply_replan",
    "ask",
    "assign",
    "beat",
    "change",
    "change_study",
    "close_sheet",
    "confirm",
    "create_study",
    "draft",
    "go_on",
    "invite",
    "join",
    "lock_study",
    "note_look",
    "note_looks",
    "open_sheet",
    "pause",
    "read_answers",
    "record",
    "remove_member",
    "reopen",
    "restore",
    "restore_row",
    "revoke_invite",
    "set_pay",
    "sign_up",
    "start_from",
    "store_scheme",
    "submit",
    "token_digest",
    "withdraw",
    "withdraw_note",
    "withdraw_row",
]
