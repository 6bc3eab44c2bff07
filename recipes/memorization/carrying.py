"""A study in one file, with its documents and what people said, to be judged by models on another machine."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.evidence.blocks import blocks_from_json
from annotation.exchange.exports import exported_labels, label_header, safe_lines
from annotation.exchange.json_tables import open_labels
from annotation.exchange.label_imports import import_labels
from annotation.exchange.label_reading import LabelImport
from annotation.models import Rater, Row, Sheet, Study
from annotation.scheme.spec import load_scheme
from recipes.cooking.models import Document

FORM = "palate-study-1"
_TIME = (1980, 1, 1, 0, 0, 0)  # the first that a ZIP can hold


def carried(study: Study, sheets: Collection[str] = ()) -> bytes:
    """The scheme, the sheets with columns, rows, evidence and saved pages, and the labels of people and gold, as a ZIP.
    Equal studies give equal bytes. `sheets`: titles of those that are wanted; none means all."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        about = {"form": FORM, "title": study.title, "slug": study.slug}
        for name, content in (
            ("study.json", json.dumps(about, ensure_ascii=False)),
            ("scheme.yaml", study.scheme.source),
            ("sheets.jsonl", "".join(_sheets(study, sheets))),
            ("labels.csv", "".join(safe_lines(label_header(study), _human(study, sheets)))),
        ):
            archive.writestr(zipfile.ZipInfo(name, _TIME), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _human(study: Study, sheets: Collection[str]) -> Iterator[Any]:
    header = list(label_header(study))
    at, of = header.index("rater"), header.index("sheet")
    judges = set(study.raters.filter(kind=Rater.Kind.JUDGE).values_list("code", flat=True))
    return (line for line in exported_labels(study) if line[at] not in judges and (not sheets or line[of] in sheets))


def _sheets(study: Study, wanted: Collection[str]) -> Iterator[str]:
    for sheet in study.sheets.order_by("position"):
        if wanted and sheet.title not in wanted:
            continue
        columns: dict[str, list[dict[str, str]]] = {}
        for column in sheet.columns.select_related("section").order_by("section__position", "position"):
            columns.setdefault(column.section.key, []).append(column.facets)
        rows = [_row(row) for row in sheet.rows.filter(withdrawn_at=None).order_by("position")]
        yield json.dumps({"title": sheet.title, "columns": columns, "rows": rows}, ensure_ascii=False) + "\n"


def _row(row: Row) -> dict[str, Any]:
    document = Document.objects.filter(row=row).first()
    return {
        "name": row.name,
        "title": row.title,
        "url": row.url,
        "language": row.language,
        "facets": row.facets,
        "evidence": row.evidence,
        "page": document
        and {
            "source": document.source,
            "host": document.host,
            "parser": document.parser,
            "sha256": document.sha256,
            "html_gz": base64.b64encode(bytes(document.html_gz)).decode(),
        },
    }


@transaction.atomic
def unpacked(file: Path, *, slug: str) -> Study:
    """The study of such a file, made anew.

    Raises:
        Refused: it is no such file, or the address is taken.
    """
    if Study.objects.filter(slug=slug).exists():
        raise Refused(_("There is a study with the address “%(slug)s” already.") % {"slug": slug})
    try:
        with zipfile.ZipFile(file) as archive:
            about = json.loads(archive.read("study.json"))
            if about.get("form") != FORM:
                raise KeyError("form")
            source = archive.read("scheme.yaml").decode()
            sheets = [json.loads(line) for line in archive.read("sheets.jsonl").decode().split("\n") if line]
            labels = archive.read("labels.csv")
    except (OSError, zipfile.BadZipFile, KeyError, ValueError) as error:
        raise Refused(_("%(file)s is no study that was carried from Palate.") % {"file": file.name}) from error
    scheme = annotating.store_scheme(spec=load_scheme(source), source=source)
    study = annotating.create_study(slug=slug, title=about["title"], scheme=scheme, by=None)
    for told in sheets:
        sheet = annotating.add_sheet(study=study, title=told["title"], columns=told["columns"])
        for row in told["rows"]:
            _add(sheet, row)
    if labels.count(b"\n") > 1:
        table = open_labels(io.BytesIO(labels), name="labels.csv", max_bytes=settings.PALATE_MAX_IMPORT_BYTES)
        import_labels(study=study, table=table, how=LabelImport(create=True))
    return study


def _add(sheet: Sheet, told: dict[str, Any]) -> None:
    row = annotating.add_row(
        sheet=sheet,
        name=told["name"],
        title=told["title"],
        url=told["url"],
        language=told["language"],
        evidence=blocks_from_json(told["evidence"]),
        facets=told["facets"],
    )
    if page := told["page"]:
        page["html_gz"] = base64.b64decode(page["html_gz"])
        Document.objects.create(row=row, **page)
