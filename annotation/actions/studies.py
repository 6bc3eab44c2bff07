"""Schemes, studies, and what they are made of: sheets, columns, rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from annotation.actions.base import Refused, lock_study
from annotation.actions.people import add_member
from annotation.answers.spans import as_kept, keeps_gaps
from annotation.evidence.blocks import Block, blocks_to_json
from annotation.evidence.lines import without_gaps
from annotation.models import (
    Assignment,
    Column,
    Decision,
    Label,
    LabelEvent,
    Note,
    Option,
    Question,
    Role,
    Row,
    Scheme,
    Section,
    Sheet,
    Skip,
    Study,
    User,
)
from annotation.queries.schemes import shipped, stored_version, why_not_stored, why_unfit
from annotation.queries.undoing import runs_of
from annotation.scheme.spec import SchemeSpec, SectionSpec

_ROWS = 500  # with their texts at a time


@transaction.atomic
def store_scheme(*, spec: SchemeSpec, source: str) -> Scheme:
    """Store a version of a scheme, or return the stored one when it is the same.

    Raises:
        Refused: that version is stored already and asks something else.
    """
    dumped = spec.model_dump(mode="json")
    stored = stored_version(spec)
    if why := why_not_stored(stored, spec, source):
        raise Refused(why)
    if stored is not None:
        return stored
    scheme = Scheme.objects.create(slug=spec.key, version=spec.version, title=spec.title, spec=dumped, source=source)
    for section_position, section_spec in enumerate(spec.sections):
        section = Section.objects.create(
            scheme=scheme, key=section_spec.key, title=section_spec.title, position=section_position
        )
        for position, question_spec in enumerate(section_spec.questions):
            question = Question.objects.create(
                section=section,
                key=question_spec.key,
                title=question_spec.title,
                kind=question_spec.kind,
                position=position,
            )
            Option.objects.bulk_create(
                Option(
                    question=question,
                    key=option.key,
                    label=option.label,
                    hotkey=option.hotkey,
                    value=option.value,
                    position=option_position,
                )
                for option_position, option in enumerate(question_spec.options)
            )
    return scheme


@transaction.atomic
def scheme_called(key: str, version: int | None = None) -> Scheme | None:
    """The newest version of a scheme, or that one; of a pack's, which is stored with it, as well as of those that are
    stored."""
    stored = Scheme.objects.filter(slug=key, **({} if version is None else {"version": version}))
    newest = stored.order_by("-version").first()
    for spec, source in shipped().values():
        wanted = spec.key == key and version in (None, spec.version)
        if wanted and (newest is None or newest.version < spec.version):
            return store_scheme(spec=spec, source=source)
    return newest


@transaction.atomic
def create_study(*, slug: str, title: str, scheme: Scheme, guideline: str = "", by: User | None) -> Study:
    """Create a study; `by` becomes its manager and researcher.

    Raises:
        Refused: its address is that of another study, or of the page which makes studies.
    """
    with _of_its_own(slug):
        study = Study.objects.create(slug=slug, title=title, scheme=scheme, guideline=guideline)
    if by is not None:
        for role in (Role.MANAGER, Role.RESEARCHER):
            add_member(study=study, user=by, role=role, by=by)
    return study


@transaction.atomic
def change_study(
    *,
    study: Study,
    slug: str | None = None,
    title: str | None = None,
    guideline: str | None = None,
    submit_complete: bool | None = None,
    consent: str | None = None,
    background: str | None = None,
    licence: str | None = None,
    publishes_texts: bool | None = None,
    contact: str | None = None,
    contact_address: str | None = None,
    publishes_contact: bool | None = None,
    shows_setup: bool | None = None,
) -> Study:
    """Change what a study is called, where it is found, and how it is worked on; None leaves a thing as it is now,
    whatever `study` was read with.

    Raises:
        Refused: its address is that of another study, or of the page which makes studies.
    """
    given = {
        "slug": slug,
        "title": title,
        "guideline": guideline,
        "submit_complete": submit_complete,
        "consent": consent,
        "background": background,
        "licence": licence,
        "publishes_texts": publishes_texts,
        "contact": contact,
        "contact_address": contact_address,
        "publishes_contact": publishes_contact,
        "shows_setup": shows_setup,
    }
    changed = {name: value for name, value in given.items() if value is not None}
    with _of_its_own(study.slug if slug is None else slug):
        Study.objects.filter(pk=study.pk).update(**changed)
    for name, value in changed.items():
        setattr(study, name, value)
    return study


@contextmanager
def _of_its_own(slug: str) -> Iterator[None]:
    """While a study is given an address. The database decides between two that are given one at the same time."""
    if slug == "new":
        raise Refused(_("“new” is the address of this page. Choose another."))
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise Refused(_("Another study has the address “%(slug)s”.") % {"slug": slug}) from error


@transaction.atomic
def change_scheme(*, study: Study, spec: SchemeSpec, source: str) -> Study:
    """Ask something else in a study that has no answers yet. Its columns stay, in the sections of the same keys; blank
    ones, which nobody brought in, make way. Empty lines of texts go where the new scheme keeps none.

    Raises:
        Refused: somebody has answered something; a section into which columns were brought is not in the new scheme as
            it was; rows have a facet that it does not declare; another scheme is stored under its name.
    """
    lock_study(study.pk)
    if has_answers(study):
        raise Refused(_("Something in this study is labelled or planned: what was asked cannot change under it."))
    scheme = store_scheme(spec=spec, source=source)
    if why := why_unfit(study, scheme.parsed):
        raise Refused(why)
    sections = {section.key: section for section in scheme.sections.all()}
    columns = Column.objects.filter(sheet__study=study)
    for old in Section.objects.filter(pk__in=columns.values("section")).select_related("scheme"):
        new = sections.get(old.key)
        if new is None or new.spec.column.facets != old.spec.column.facets:
            columns.filter(section=old).delete()
            continue
        columns.filter(section=old).update(section=new)
    if keeps_gaps(study.scheme.parsed) and not keeps_gaps(scheme.parsed):
        _close_gaps(study)
    study.scheme = scheme
    study.save(update_fields=["scheme"])
    for sheet in study.sheets.all():
        standing = set(sheet.columns.values_list("section", flat=True))
        for section in sections.values():
            if section.pk not in standing:
                add_column(sheet=sheet, section=section, spec=section.spec, facets={})
    return study


def _close_gaps(study: Study) -> None:
    """Rows lose the empty lines that their texts came with. Two queries for every 500, and one."""
    keys = list(Row.objects.filter(sheet__study=study).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(keys), _ROWS):
        rows = list(Row.objects.filter(pk__in=keys[start : start + _ROWS]).only("evidence"))
        for row in rows:
            row.evidence = blocks_to_json(without_gaps(row.blocks))
        Row.objects.bulk_update(rows, ["evidence"], batch_size=_ROWS)


def has_answers(study: Study) -> bool:
    """Whether anything hangs on what its scheme asks: labels, drafts and gold, their history, skips, notes, plans and
    runs. A few queries."""
    of_study = {"column__sheet__study": study}
    if any(model.objects.filter(**of_study).exists() for model in (Label, LabelEvent, Skip, Decision, Note)):
        return True
    return Assignment.objects.filter(rater__study=study).exists() or bool(runs_of(study))


@transaction.atomic
def add_sheet(*, study: Study, title: str, columns: Mapping[str, Sequence[Mapping[str, str]]]) -> Sheet:
    """Add a sheet with its columns: {section key: [facets, …]}.

    A section that is not named gets a single blank column: one form a row.
    """
    lock_study(study.pk)
    if Sheet.objects.filter(study=study, title=title).exists():
        raise Refused(_("The study has a sheet called “%(title)s” already.") % {"title": title})
    position = _next_position(Sheet.objects.filter(study=study))
    sheet = Sheet.objects.create(study=study, position=position, title=title)
    for section in study.scheme.sections.all():
        spec = section.spec
        for facets in columns.get(section.key) or [{}]:
            add_column(sheet=sheet, section=section, spec=spec, facets=facets)
    return sheet


def add_column(*, sheet: Sheet, section: Section, spec: SectionSpec, facets: Mapping[str, str]) -> Column:
    column = column_of(sheet=sheet, section=section, spec=spec, facets=facets)
    column.position = _next_position(Column.objects.filter(sheet=sheet, section=section))
    column.save()
    return column


def column_of(*, sheet: Sheet, section: Section, spec: SectionSpec, facets: Mapping[str, str]) -> Column:
    """A column as `add_column` makes it, not written, and the first of its section.

    Raises:
        Refused: the section has no such facet.
    """
    if unknown := set(facets) - set(spec.column.facets) - set(spec.column.aside):
        raise Refused(
            _("The section “%(section)s” has no facet “%(facet)s”.") % {"section": section.title, "facet": min(unknown)}
        )
    whole = {facet: str(facets.get(facet) or "").strip() for facet in spec.column.facets}
    name = " · ".join(text for text in whole.values() if text)[:400]
    aside = {facet: text for facet in spec.column.aside if (text := str(facets.get(facet) or "").strip())}
    return Column(sheet=sheet, section=section, position=0, name=name, facets=whole | aside)


@transaction.atomic
def add_row(
    *,
    sheet: Sheet,
    name: str,
    evidence: Iterable[Block],
    title: str = "",
    url: str = "",
    language: str = "",
    facets: Mapping[str, object] | None = None,
) -> Row:
    """Add a row. `facets`: of those that the scheme declares for rows, a text or a list of texts each.

    Raises:
        Refused: the sheet has a row of this name; the scheme declares no such facet.
    """
    lock_study(sheet.study_id)
    if Row.objects.filter(sheet=sheet, name=name).exists():
        raise Refused(_("“%(sheet)s” has a row called “%(name)s” already.") % {"sheet": sheet.title, "name": name})
    row = row_of(
        sheet=sheet, name=name, evidence=evidence, title=title, url=url, language=language, facets=facets or {}
    )
    row.position = _next_position(Row.objects.filter(sheet=sheet))
    row.save()
    return row


def row_of(
    *,
    sheet: Sheet,
    name: str,
    evidence: Iterable[Block],
    title: str = "",
    url: str = "",
    language: str = "",
    facets: Mapping[str, object],
) -> Row:
    """A row as `add_row` makes it, not written, and the first of its sheet.

    Raises:
        Refused: the scheme declares no such facet.
    """
    return Row(
        sheet=sheet,
        position=0,
        name=name,
        title=title[:500],
        url=url if len(url) <= 2000 else "",
        language=language[:12],
        evidence=blocks_to_json(as_kept(sheet.study.scheme.parsed, evidence)),
        facets=_row_facets(sheet.study, facets),
    )


def _row_facets(study: Study, given: Mapping[str, object]) -> dict[str, str | list[str]]:
    try:
        return study.scheme.parsed.row.facets_of(given)
    except ValueError as error:
        raise Refused(str(error)) from error


def _next_position(siblings: Any) -> int:
    last = siblings.aggregate(last=Max("position"))["last"]
    return 0 if last is None else last + 1
