"""The one write of this room: a study made of another one."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import actions
from annotation.actions import Refused
from annotation.answers.spans import as_kept
from annotation.deriving import making, queries
from annotation.deriving.blinding import SEED
from annotation.deriving.making import Answered, DerivingRefused, MadeRow, MadeSheet
from annotation.deriving.queries import Rest
from annotation.evidence.blocks import blocks_to_json
from annotation.models import Column, Lineage, Question, Row, Scheme, Sheet, Study, User

# Cells without a majority that are kept by name; all are counted.
_TIES_KEPT = 200
# Characters of a row's name; what is made of a text may be longer.
_LONGEST_NAME = 200


@transaction.atomic
def derive_study(
    *,
    source: Study,
    deriver: str,
    scheme: Scheme,
    slug: str,
    title: str,
    rater: str = "",
    settings: Mapping[str, Sequence[str]] | None = None,
    by: User | None,
) -> Study:
    """Make a study out of another one's chosen labels: of each cell the gold, else `rater`'s, else the majority.

    `by` becomes its manager and researcher. What each row and column rests on is in `Lineage`; how it was made,
    with the cells in which as many people said one thing as another, in `Study.derivation`; so is the seed of an order
    that is drawn, which is drawn too where nobody names it.

    Raises:
        Refused: there is no such deriver, setting or rater, the schemes do not fit, or nothing would be made.
    """
    how = making.deriver(deriver)
    if how is None:
        raise Refused(_("There is no deriver “%(deriver)s”.") % {"deriver": deriver})
    if rater and not source.raters.filter(code=rater).exists():
        raise Refused(_("“%(study)s” has no rater “%(rater)s”.") % {"study": source.title, "rater": rater})
    if Study.objects.filter(slug=slug).exists():
        raise Refused(_("There is a study with the address “%(slug)s” already.") % {"slug": slug})
    settings = {key: list(values) for key, values in (settings or {}).items()}
    if SEED in how.also:
        # Who knows it, and what is drawn by it, knows whose text stands where: a number that everybody has is none.
        settings.setdefault(SEED, [secrets.token_hex(16)])
    try:
        how.check(source.scheme.parsed, settings)
        chosen = queries.chosen(source, rater=rater, with_texts=how.reads_texts, with_raters=how.reads_raters)
        sheets = list(how.make(chosen.source, scheme.parsed, settings))
    except DerivingRefused as refused:
        raise Refused(str(refused)) from refused
    if not sheets:
        raise Refused(_("Nothing would be made of “%(study)s”.") % {"study": source.title})
    study = actions.create_study(slug=slug, title=title, scheme=scheme, by=by)
    lineage: list[Lineage] = []
    questions = {
        (question.section.key, question.key): question
        for question in Question.objects.filter(section__scheme=source.scheme_id).select_related("section")
    }
    writer = _Writer(study, questions, lineage)
    for sheet in sheets:
        writer.write(sheet)
    Lineage.objects.bulk_create(lineage, batch_size=1000)
    ties = [] if how.reads_raters else chosen.ties  # what reads what each rater said leaves none of them out
    study.derived_from = source
    # Whether downloads name it is asked anew.
    study.contact, study.contact_address = source.contact, source.contact_address
    study.derivation = {
        "deriver": deriver,
        "settings": settings,
        "rater": rater,
        "scheme": {"key": source.scheme.slug, "version": source.scheme.version},
        "chosen": chosen.counts,
        "ties": {"n": len(ties), "cells": ties[:_TIES_KEPT]},
        "made": {"sheets": len(sheets), "rows": writer.n_rows, "columns": writer.n_columns},
        "by": by.username if by else "",
        "at": timezone.now().isoformat(timespec="seconds"),
    }
    study.save(update_fields=["derived_from", "derivation", "contact", "contact_address"])
    return study


@transaction.atomic
def extend_study(study: Study) -> int:
    """Add to a derived study the rows that its deriver would make by now and that are not there; returns how many.

    What is there stays as it is. New rows stand behind the others of their sheet; where a name is taken, the number
    behind it is the next free one.

    Raises:
        Refused: the study was not derived, its deriver cannot go on, or the schemes do not fit any more.
    """
    source, how = study.derived_from, making.deriver(str(study.derivation.get("deriver", "")))
    if source is None or how is None or how.told_apart is None:
        raise Refused(_("“%(study)s” was not made in a way that can be gone on with.") % {"study": study.title})
    actions.lock_study(study.pk)
    scheme, settings = study.scheme.parsed, study.derivation.get("settings", {})
    chosen = queries.chosen(
        source,
        rater=study.derivation.get("rater", ""),
        with_texts=how.reads_texts,
        with_raters=how.reads_raters,
    )
    made_of = study.lineage.filter(made_row__isnull=False, question=None).select_related("made_row")
    there = {
        (one.row_id, how.told_apart(scheme, one.made_row.facets))
        for one in made_of.defer("made_row__evidence")
        if one.made_row is not None
    }
    lineage: list[Lineage] = []
    writer = _Writer(study, {}, lineage)
    sheets = {sheet.title: sheet for sheet in study.sheets.all()}
    try:
        for made in how.make(chosen.source, scheme, settings):
            rows = [row for row in made.rows if (row.of, how.told_apart(scheme, row.facets)) not in there]
            if rows and made.title[:200] in sheets:
                writer.add_rows(sheets[made.title[:200]], rows)
            elif rows:
                writer.write(replace(made, rows=rows))
    except DerivingRefused as refused:
        raise Refused(str(refused)) from refused
    Lineage.objects.bulk_create(lineage, batch_size=1000)
    if writer.n_rows:
        told = study.derivation.setdefault("made", {})
        told["rows"] = told.get("rows", 0) + writer.n_rows
        study.save(update_fields=["derivation"])
    return writer.n_rows


@transaction.atomic
def note_looks(rests: Iterable[Rest], *, by: User) -> None:
    """Record that `by`, who is shown answers in these, has looked at their sheets, where they label in that study."""
    sheets = {rest.lineage.row.sheet_id: rest.lineage.row.sheet for rest in rests if rest.lineage.row}
    own = set(by.raters.values_list("study", flat=True))
    actions.note_looks(sheets=[sheet for sheet in sheets.values() if sheet.study_id in own], user=by)


class _Writer:
    """Writes made sheets into a new study, and notes what everything rests on."""

    def __init__(self, study: Study, questions: Mapping[tuple[str, str], Question], lineage: list[Lineage]) -> None:
        self.study = study
        self.facets = set(study.scheme.parsed.row.keys)
        self.questions = questions
        self.lineage = lineage
        self.n_rows = self.n_columns = 0

    def write(self, made: MadeSheet) -> None:
        by_section: dict[str, list[Any]] = {}
        for column in made.columns:
            by_section.setdefault(column.section, []).append(column)
        known = {section.key for section in self.study.scheme.parsed.sections}
        if unknown := sorted(set(by_section) - known):
            raise Refused(_("The scheme has no section “%(section)s”.") % {"section": unknown[0]})
        sheet = actions.add_sheet(
            study=self.study,
            title=made.title[:200],
            columns={key: [column.facets for column in of_section] for key, of_section in by_section.items()},
        )
        for stored in sheet.columns.select_related("section"):
            of_section = by_section.get(stored.section.key)
            if of_section:
                self._rests(of_section[stored.position].answers, made_column=stored)
        self.n_columns += len(made.columns)
        self._write_rows(sheet, made.rows)

    def add_rows(self, sheet: Sheet, rows: Sequence[MadeRow]) -> None:
        """Write rows behind those of a sheet that is there."""
        taken = set(sheet.rows.values_list("name", flat=True))
        named = []
        for made in rows:
            name = made.name[:_LONGEST_NAME]
            if name in taken:
                stem = name.rpartition(" ")[0] or name
                name = next(other for n in itertools.count(1) if (other := f"{stem} {n}") not in taken)
            taken.add(name)
            named.append(replace(made, name=name))
        last = sheet.rows.aggregate(last=Max("position"))["last"]
        self._write_rows(sheet, named, begin=0 if last is None else last + 1)

    def _write_rows(self, sheet: Sheet, rows: Sequence[MadeRow], *, begin: int = 0) -> None:
        names: set[str] = set()
        for made in rows:
            name = made.name[:_LONGEST_NAME]
            if not name or name in names:
                raise Refused(
                    _("“%(sheet)s” would have two rows called “%(row)s”.") % {"sheet": sheet.title, "row": name}
                )
            names.add(name)
            if unknown := sorted(set(made.facets) - self.facets):
                raise Refused(_("Rows of this scheme have no facet “%(facet)s”.") % {"facet": unknown[0]})
        stored = Row.objects.bulk_create(
            [
                Row(
                    sheet=sheet,
                    position=position,
                    name=made.name[:_LONGEST_NAME],
                    title=made.title[:500],
                    url=made.url if len(made.url) <= 2000 else "",
                    language=made.language[:12],
                    evidence=blocks_to_json(as_kept(self.study.scheme.parsed, made.evidence)),
                    facets=dict(made.facets),
                )
                for position, made in enumerate(rows, start=begin)
            ],
            batch_size=500,
        )
        for row, made in zip(stored, rows, strict=True):
            if made.of is not None:
                self.lineage.append(Lineage(study=self.study, made_row=row, row_id=made.of))
            self._rests(made.answers, made_row=row)
        self.n_rows += len(rows)

    def _rests(
        self, answers: Iterable[Answered], *, made_row: Row | None = None, made_column: Column | None = None
    ) -> None:
        for answer in answers:
            for vote in answer.choice.votes:
                self.lineage.append(
                    Lineage(
                        study=self.study,
                        made_row=made_row,
                        made_column=made_column,
                        row_id=answer.row,
                        assignment_id=vote.assignment,
                        column_id=answer.column,
                        question=self.questions[answer.section, answer.question],
                        code=vote.code,
                        how=answer.choice.how or "",
                    )
                )
