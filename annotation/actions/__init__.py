"""All writes of the core: verbs, keyword-only, one transaction each. Views, API, commands and judges come here."""

from __future__ import annotations

from annotation.actions.adjudication import accept_agreed, adjudicate
from annotation.actions.background import (
    first_page,
    owed_in_study,
    owed_of_sheet,
    owes_background,
    refuse_before_first_page,
    tell_background,
)
from annotation.actions.base import NotNow, Refused, SheetClosed, lock_study, lock_to_resume, refuse_while_shown
from annotation.actions.changes import Changed, Edit, change, change_each
from annotation.actions.deleting import delete_study, resume_deletion
from annotation.actions.drafting import (
    confirm,
    draft,
    start_from,
)
from annotation.actions.experiments import draw_experiment, end_experiment
from annotation.actions.labels import (
    SeenOtherwise,
    Unanswered,
    Unconfirmed,
    record,
    record_and_submit,
    reopen,
    submit,
)
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
    why_nobody_joins,
    why_not_revoked,
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
from annotation.actions.rewording import read_wording, reword_scheme
from annotation.actions.sheets import close_sheet, open_sheet, set_pay, show_gold
from annotation.actions.studies import (
    add_column,
    add_row,
    add_sheet,
    change_scheme,
    change_study,
    create_study,
    has_answers,
    scheme_called,
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
    note_export,
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
    take_back_gold,
    unarchive_sheet,
    unarchive_study,
    undo_plan,
)
from annotation.labels.answer import Answer
from annotation.labels.writer import Recorded
