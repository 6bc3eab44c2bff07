"""All writes of the core: verbs, keyword-only, one transaction each. Views, API, commands and judges come here."""

from __future__ import annotations

from annotation.actions.adjudication import accept_agreed, adjudicate
from annotation.actions.base import Refused, lock_study
from annotation.actions.changes import Changed, change
from annotation.actions.labels import Answer, Recorded, record, reopen, skip_rest, submit
from annotation.actions.looks import note_look
from annotation.actions.notes import answer_note, ask, read_answers, withdraw_note
from annotation.actions.people import add_member, invite, remove_member
from annotation.actions.plan import apply_design, assign, withdraw
from annotation.actions.restoring import restore
from annotation.actions.sheets import close_sheet, open_sheet
from annotation.actions.studies import add_column, add_row, add_sheet, create_study, store_scheme
from annotation.actions.time import beat

__all__ = [
    "Answer",
    "Changed",
    "Recorded",
    "Refused",
    "accept_agreed",
    "add_column",
    "add_member",
    "add_row",
    "add_sheet",
    "adjudicate",
    "answer_note",
    "apply_design",
    "ask",
    "assign",
    "beat",
    "change",
    "close_sheet",
    "create_study",
    "invite",
    "lock_study",
    "note_look",
    "open_sheet",
    "read_answers",
    "record",
    "remove_member",
    "reopen",
    "restore",
    "skip_rest",
    "store_scheme",
    "submit",
    "withdraw",
    "withdraw_note",
]
