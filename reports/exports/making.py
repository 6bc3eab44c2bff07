"""Making a download's file: what a worker does for an `Export`. It writes no row of the database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _

from annotation.exchange.exports import background_lines
from annotation.models import Study
from annotation.queries import wordings
from annotation.scheme.rewording import cut
from judges.queries import records
from reports import queries
from reports.contents import Contents, contents_from, read_contents
from reports.data.arrays import Filters
from reports.data.label_table import LabelTable
from reports.data.rows import RowAbout
from reports.exports import labels, marked, memory
from reports.exports.archive import Progress, opened, write_labels, write_report
from reports.exports.texts import Origin
from reports.frozen.recomputing import labels_of
from reports.frozen.versions import code_version, library_versions
from reports.hiring.queries import certificates_of, with_decided
from reports.models import Export, Report
from reports.numbers.waiting import in_a_worker

ENDINGS = {
    Export.Form.ZIP: "zip",
    Export.Form.JSONL: "jsonl",
    Export.Form.LABEL_STUDIO: "json",
    Export.Form.DOCCANO: "zip",
    Export.Form.PRODIGY: "jsonl",
    Export.Form.INCEPTION: "zip",
    Export.Form.CONLL: "zip",
    Export.Form.WIDE: "csv",
}
_NAMED = {
    Export.Form.WIDE: "-labels-wide",
    Export.Form.DOCCANO: "-doccano",
    Export.Form.PRODIGY: "-prodigy",
    Export.Form.INCEPTION: "-inception",
    Export.Form.CONLL: "-conll",
}
# Those of marked words that are many files.
_PACKED = {
    Export.Form.DOCCANO: marked.doccano,
    Export.Form.INCEPTION: marked.inception,
    Export.Form.CONLL: marked.conll_2003,
}


def path_of(export: Export) -> Path:
    return settings.PALATE_EXPORTS / export.file


def file_name(export: Export) -> str:
    """What the browser calls it."""
    number = f"-report-{export.report_id}" if export.report_id else ""
    form = Export.Form(export.form)
    return f"{export.study.slug}{number}{_NAMED.get(form, '')}.{ENDINGS[form]}"


def make_file(export: Export, path: Path, progress: Progress) -> None:
    """Write the download to `path`.

    Raises:
        annotation.actions.Refused: a judge's labels cannot be chosen anew.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # labels of people are in it
    memory.keep_little()
    filters = Filters.from_json(export.filters)
    with translation.override(export.language):
        report = export.report
        if report:
            table = computed = labels_of(report)
        else:
            computed = queries.label_table(export.study, filters, notes=True, frequent=True)
            table = with_decided(computed, export.study)
        about = queries.rows_about(export.study, table)
        if export.form == Export.Form.ZIP:
            if report:
                contents = read_contents(report.results)
            else:
                with in_a_worker():
                    contents = contents_from(computed, filters, export.language)
            before = filters.moment or (report.created_at if report else None)
            origin = replace(
                origin_of(report, computed, contents, filters),
                licence=export.study.licence,
                has_texts=export.study.publishes_texts,
                contact=export.study.published_contact,
                rewordings=_rewordings(export.study, before=before),
            )
            certificates = certificates_of(export.study, before=before)
            judges = records(export.study, before=before)
            memory.give_back()
            with path.open("wb") as file, opened(file) as files:
                card = write_report(
                    files, contents, table, origin, about=about, questions=filters.questions, progress=progress
                )
                del contents  # with many raters they take half of the room of the labels
                memory.give_back()
                write_labels(
                    files,
                    table,
                    card,
                    computed=computed,
                    about=about,
                    questions=filters.questions,
                    certificates=certificates,
                    judges=judges,
                    # A frozen report is what it was; what is told later, or erased, is no part of it.
                    background=() if report else background_lines(export.study),
                    row_texts=queries.row_texts(export.study, table) if origin.has_texts else None,
                    blocks=queries.blocks_of_rows(export.study, table) if origin.has_texts else None,
                    progress=progress,
                )
        elif pack := _PACKED.get(Export.Form(export.form)):
            with path.open("wb") as file, opened(file) as files:
                pack(files, table, queries.blocks_of_rows(export.study, table), filters.questions)
        else:
            _write(path, _lines(export, table, filters.questions, about))


def _write(path: Path, lines: Iterator[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)


def _lines(export: Export, table: LabelTable, questions: Sequence[str], about: Sequence[RowAbout]) -> Iterator[str]:
    match export.form:
        case Export.Form.JSONL:
            return labels.jsonl(table, questions, about)
        case Export.Form.PRODIGY:
            return marked.prodigy(table, queries.blocks_of_rows(export.study, table), questions)
        case Export.Form.WIDE:
            return labels.wide_csv(table, questions, about)
        case _:
            blocks = queries.blocks_of_rows(export.study, table) if export.study.publishes_texts else None
            return labels.label_studio(table, questions, about, blocks)


def _rewordings(study: Study, *, before: datetime | None) -> list[str]:
    """What was worded otherwise earlier, or before a report was frozen, the first change first: a line each."""
    lines = []
    for wording in reversed(wordings(study)):
        if wording.revision is None or wording.until is None or (before is not None and wording.until >= before):
            continue
        said = _("Version %(version)s until %(until)s: %(reason)s") % {
            "version": wording.version,
            "until": f"{wording.until:%Y-%m-%d %H:%M} UTC",
            "reason": wording.revision.reason,
        }
        if before is None:
            given = _("Of the labels that stand, %(people)s by people and %(judges)s by judges are from then.")
            said = f"{said} {given % {'people': wording.n_people, 'judges': wording.n_judges}}"
        lines += [
            said,
            *(f"`{one.where}`: “{_in_line(one.before)}” → “{_in_line(one.after)}”" for one in wording.changed),
        ]
    return lines


def _in_line(text: str) -> str:
    """A guideline is many pages; it stands in the file of the scheme."""
    return cut(" ".join(text.split()), 400)


def origin_of(report: Report | None, table: LabelTable, contents: Contents, filters: Filters) -> Origin:
    if report is None:
        return Origin(
            title=table.title,
            date="",
            frozen=None,
            data_digest=table.digest,
            results_digest=contents.digest,
            code_version=code_version(),
            libraries=library_versions(),
            seeds=filters.seeds(),
        )
    return Origin(
        title=report.title,
        date=report.created_at.date().isoformat(),
        frozen=report.pk,
        data_digest=report.data_digest,
        results_digest=report.results_digest,
        code_version=report.code_version,
        libraries=report.libraries,
        seeds=report.seeds,
    )
