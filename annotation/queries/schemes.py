"""The sections of a scheme with their questions and options, read once a process and once more when it is reworded."""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Collection
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from django.db.models import Max, Prefetch
from django.utils.translation import gettext as _

from annotation import doors
from annotation.evidence import kinds
from annotation.models import Column, Row, Scheme, SchemeRevision, Section, Study
from annotation.plain_sql import Shape, Statement
from annotation.scheme import spec
from annotation.scheme.spec import SchemeError, SchemeSpec, load_scheme

logger = logging.getLogger(__name__)


def whole_sections(columns: Collection[Column]) -> dict[int, Section]:
    """{id: section} of some columns, each with its scheme, questions and options.

    One query for what is new to this process, and none where the columns come with section and scheme.
    """
    if all(map(_comes_with_scheme, columns)):
        schemes = {_known(column.section.scheme) for column in columns}
    else:
        ids = {column.section_id for column in columns}
        told = ("scheme_id", "scheme__created_at", "scheme__version")
        schemes = set(Section.objects.filter(pk__in=ids).order_by().values_list(*told))
    return {section.pk: section for scheme in schemes for section in _read(*scheme).sections.all()}


def whole_columns(sheet_ids: Collection[int]) -> dict[int, list[Column]]:
    """The columns of each of some sheets of a study in their order, each with its section as `whole_sections` has it,
    which then asks nothing.

    One query, in plain SQL: a judge asks it at each row.
    """
    of_sheets: dict[int, list[Column]] = {pk: [] for pk in sheet_ids}
    rows = _columns_of(sorted(of_sheets)) if of_sheets else []
    if not rows:
        return of_sheets
    scheme = whole_scheme(_scheme(rows[0], start=len(_column)))  # of one study, they have one
    sections = {section.pk: section for section in scheme.sections.all()}
    for row in rows:
        column = _column(row)
        column.section = sections[column.section_id]
        of_sheets[column.sheet_id].append(column)
    return of_sheets


def whole_scheme(scheme: Scheme) -> Scheme:
    """A scheme with its sections, questions and options, and when it was reworded; `KNOWN_BY` of it is all it needs."""
    return _read(*_known(scheme))


def _comes_with_scheme(column: Column) -> bool:
    return "section" in column._state.fields_cache and "scheme" in column.section._state.fields_cache


def _known(scheme: Scheme) -> tuple[int, datetime, int]:
    return scheme.pk, scheme.created_at, scheme.version


@lru_cache(maxsize=64)
def _read(scheme_id: int, created_at: datetime, version: int) -> Scheme:
    """Its time of creation tells a scheme from another one that gets its number in a database that is made anew, its
    version from what it said before it was reworded."""
    revisions = Prefetch("revisions", SchemeRevision.objects.only("scheme", "version", "until"))
    return Scheme.objects.prefetch_related("sections__questions__options", revisions).get(pk=scheme_id)


KNOWN_BY = ("id", "created_at", "version")
_column, _scheme = Shape(Column), Shape(Scheme, *KNOWN_BY)
_columns_of = Statement(
    """
    SELECT {column}, {scheme} FROM {column.table} JOIN {section.table} ON {section.id} = {column.section}
        JOIN {scheme.table} ON {scheme.id} = {section.scheme}
    WHERE {column.sheet} IN (%s) ORDER BY {section.position}, {column.position}
    """,
    column=_column,
    section=Shape(Section),
    scheme=_scheme,
)


@lru_cache(maxsize=100)
def _file(path: Path, changed_ns: int) -> tuple[SchemeSpec, str]:
    source = path.read_text(encoding="utf-8")
    return load_scheme(source), source


def shipped() -> dict[str, tuple[SchemeSpec, str]]:
    """The scheme files that packs bring, read once a process; a broken one is left out and logged. No query."""
    found = {}
    for key, path in doors.shipped_schemes().items():
        try:
            found[key] = _file(path, path.stat().st_mtime_ns)
        except (SchemeError, OSError, UnicodeDecodeError):
            logger.exception("The scheme file %s of a pack cannot be read", path)
    return found


def short_scheme() -> str:
    """A scheme file to begin from where a study is made, under a key that no scheme here has. One query."""
    text = Path(spec.__file__).with_name("short.yaml").read_text(encoding="utf-8")
    taken = set(Scheme.objects.filter(slug__startswith="texts").values_list("slug", flat=True))
    names = itertools.chain(["texts"], (f"texts-{n}" for n in itertools.count(2)))
    return text.replace("key: texts ", f"key: {next(name for name in names if name not in taken)} ", 1)


def scheme_to_begin_from(which: str) -> str | None:
    """The text of a scheme to make another one of: “short”, the number of a stored one, or the key of one that packs
    bring, each under a version that is free; None where there is none. Two queries."""
    if which == "short":
        return short_scheme()
    if which.isdecimal() and len(which) < 10:
        stored = Scheme.objects.filter(pk=int(which)).first()
        found = (stored.slug, stored.version, stored.source) if stored else None
    else:
        of_pack = shipped().get(which)
        found = (of_pack[0].key, of_pack[0].version, of_pack[1]) if of_pack else None
    if found is None:
        return None
    key, version, source = found
    last = Scheme.objects.filter(slug=key).aggregate(last=Max("version"))["last"] or 0
    return with_version(source, max(last, version) + 1)


def with_version(source: str, version: int) -> str:
    """A scheme file with another version, where the version stands on a line of its own."""
    return re.sub(r"^version:[ \t]*\d+", f"version: {version}", source, count=1, flags=re.MULTILINE)


def why_not_stored(stored: Scheme | None, spec: SchemeSpec, source: str) -> str:
    """Why a scheme cannot be stored, where its version is, as `stored`; "" if it can, or is the same."""
    if stored is None or stored.parsed == spec or stored.source.splitlines() == source.splitlines():
        # As it is read now, a key that came later has its default there; of the same file what was left out may be
        # filled in otherwise than it was then.
        return ""
    return _("Version %(version)s of “%(key)s” is stored already and asks something else. Raise the version.") % {
        "version": spec.version,
        "key": spec.key,
    }


def stored_version(spec: SchemeSpec) -> Scheme | None:
    return Scheme.objects.filter(slug=spec.key, version=spec.version).first()


def why_unfit(study: Study, spec: SchemeSpec) -> str:
    """Why a scheme cannot take the place of one by which nothing is labelled: columns that were brought in, or facets
    of rows, have no place in it; "" if it can. Two queries at most, of which none reads all rows."""
    sections = {section.key: section for section in spec.sections}
    brought = Column.objects.filter(sheet__study=study).exclude(name="")
    for old in Section.objects.filter(pk__in=brought.values("section")).select_related("scheme"):
        new = sections.get(old.key)
        if new is None or new.column.facets != old.spec.column.facets:
            return _("Columns were brought in for the section “%(section)s”, which this scheme has not, or not so.") % {
                "section": old.title
            }
    # Rows have no other facets than those that their scheme declares.
    lost = set(study.scheme.parsed.row.keys) - set(spec.row.keys)
    described = (
        Row.objects.filter(sheet__study=study, facets__has_any_keys=sorted(lost)) if lost else Row.objects.none()
    )
    if (facets := described.order_by().values_list("facets", flat=True).first()) is not None:
        return _("Rows have the facet “%(facet)s”, which this scheme has not.") % {"facet": min(lost & set(facets))}
    return ""


def block_kinds() -> list[str]:
    """Keys of the kinds of evidence block that are known here: everywhere, by a pack, by any scheme. One query."""
    specs = Scheme.objects.values_list("spec__blocks", flat=True)
    return list(kinds.known()) + sorted(
        {block["key"] for blocks in specs for block in blocks or ()} - set(kinds.known())
    )
