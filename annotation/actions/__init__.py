"""All writes of the core: verbs, keyword-only, one transaction each. Views, API, commands and judges come here."""

from __future__ import annotations

from annotation.actions.base import Refused, lock_study
from annotation.actions.labels import Answer, Recorded, record, reopen, submit
from annotation.actions.people import add_member, invite, remove_member
from annotation.actions.plan import apply_design, assign, withdraw
from annotation.actions.studies import add_column, add_row, add_sheet, create_study, store_scheme

__all__ = [
    "Answer",
    "Recorded",
    "Refused",
    "add_column",
    "add_member",
    "add_row",
    "add_sheet",
    "apply_design",
    "assign",
    "create_study",
    "invite",
    "lock_study",
    "record",
    "remove_member",
    "reopen",
    "store_scheme",
    "submit",
    "withdraw",
]
