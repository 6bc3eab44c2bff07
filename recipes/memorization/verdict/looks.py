"""Whoever reads a verdict reads what other studies say, too: their answers count as looked at."""

from __future__ import annotations

from annotation.actions import note_looks
from annotation.models import User
from recipes.memorization.verdict.queries import VerdictData
from reports.hiring import actions as hiring
from reports.models import TestLook


def examination_was_read(verdict: VerdictData, *, what: str, by: User, sheet: str = "") -> None:
    """What examiners answered lies in a study of its own. `sheet`: whose answers are shown one by one; a download has
    those of all sheets."""
    study = verdict.examination.study if verdict.examination else None
    if study is None:
        return
    hiring.note_look(slug=study.slug, what=what, by=by)
    if sheet:
        note_looks(sheets=study.sheets.filter(title=sheet), user=by)
    elif what == TestLook.What.DOWNLOAD:
        note_looks(sheets=study.sheets.all(), user=by)
