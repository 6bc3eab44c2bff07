"""What comes into a study as files: saved pages, of which a worker reads many and says how far it is, and results of
searches that were recorded elsewhere. The page, the API and the commands take them by this."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation import doors
from annotation.actions import Refused
from annotation.exchange import background
from annotation.exchange.row_imports import ImportRefused, translated
from annotation.exchange.tables import TableError
from annotation.models import Assignment, Import, Row, Sheet, Study, User
from recipes.cooking import actions, queries
from recipes.cooking.pages import Page, PageRefused, count_pages, read_files
from recipes.cooking.web import recorded
from work.actions import is_passing
from work.outcomes import ItemFailed, Outcome

logger = logging.getLogger(__name__)

# Pages that somebody waits for: each is parsed, and takes some hundredths of a second.
AT_ONCE = 10
# Sentences about pages that were refused which are kept; of the others their number is.
KEPT = 200
# Names of which no sheet is known that are told.
_MOST_UNPLACED = 10


def register() -> None:
    importer = doors.Importer(_read, label=gettext_lazy("Documents"), url_name="recipes:documents")
    doors.register_importer(Import.What.PAGES, importer)


def is_large(files: Sequence[UploadedFile[bytes]]) -> bool:
    """Whether a page would have to wait for long."""
    if sum(file.size or 0 for file in files) > settings.PALATE_IMPORT_AT_ONCE:
        return True
    return count_pages(file.file for file in files) > AT_ONCE  # type: ignore[misc]


def start(*, sheet: Sheet, files: Sequence[UploadedFile[bytes]], by: User | None) -> Import:
    """Let a worker add pages as rows of a sheet, each whole or not at all."""
    numbered = {str(n): file for n, file in enumerate(files)}
    how = {"sheet": sheet.pk}
    return background.start(study=sheet.study, what=Import.What.PAGES, files=numbered, how=how, by=by)


def pages_of(files: Iterable[tuple[str, BinaryIO]]) -> Iterator[Page | PageRefused]:
    """The pages of each file. One that breaks the reader in a way that nobody foresaw does not stop the others."""
    for name, stream in files:
        try:
            yield from read_files([(name, stream)])
        except (Outcome, FileNotFoundError):
            raise
        except Exception as error:
            if is_passing(error):
                raise
            logger.exception("%s could not be read", name)
            yield PageRefused(name, _("could not be read any further. The error was logged."))


def sentences(sheet: Sheet, added: int) -> tuple[str, str]:
    """What an import did, and what is to be done now; "" where there is nothing to say."""
    if not added:
        return "", ""
    said = ngettext("%(n)s document added to “%(sheet)s”.", "%(n)s documents added to “%(sheet)s”.", added)
    told = {"n": added, "sheet": sheet.title}
    if not queries.is_planned(sheet):
        return said % told, ""
    then = ngettext(
        "“%(sheet)s” was planned before: nobody is assigned to its new document yet. Do so under “Plan”.",
        "“%(sheet)s” was planned before: nobody is assigned to its new documents yet. Do so under “Plan”.",
        added,
    )
    return said % told, then % told


def told_of_again(row: Row) -> str:
    """What is to be done with a row that a person made a document; "" where somebody has it, or nothing was planned."""
    if row.assignments.exclude(state=Assignment.State.WITHDRAWN).exists():
        return ""
    if row.assignments.exists():
        return _("“%(row)s” can be labelled again. Who had it gets it back by “Reassign work”.") % {"row": row.name}
    return sentences(row.sheet, 1)[1]


def _read(held: Any, files: Iterable[tuple[str, BinaryIO]]) -> None:
    """What a worker does. How far it is stands in the run, written with each page: who takes it up goes on there."""
    run: Import = held.item.run
    sheet = Sheet.objects.select_related("study__scheme").filter(study=run.study_id, pk=run.how["sheet"]).first()
    if sheet is None:
        raise ItemFailed(_("The sheet that the pages were for is there no more."))
    state = {"read": 0, "added": 0, "refused": [], "again": [], "more": 0} | run.outcome
    for page in islice(pages_of(files), state["read"], None):
        held.hold()
        try:
            with transaction.atomic():
                _take(run, sheet, page, state)
        except Refused as refused:
            raise ItemFailed(str(refused)) from refused
    with held.finishing():
        told = [sentence for sentence in sentences(sheet, state["added"]) if sentence]
        outcome = {**state, "sentences": told or [_("No document was added.")]}
        Import.objects.filter(pk=run.pk).update(outcome=outcome)


def _take(run: Import, sheet: Sheet, page: Page | PageRefused, state: dict[str, Any]) -> None:
    done = actions.import_documents(sheet=sheet, pages=[page])
    state["read"] += 1
    state["added"] += len(done.added)
    for kept, said in (("refused", done.refused), ("again", done.again)):
        for sentence in said:
            if len(state[kept]) < KEPT:
                state[kept].append(sentence)
            elif kept == "refused":
                state["more"] += 1
    Import.objects.filter(pk=run.pk).update(outcome=state)


# --- results that were recorded elsewhere ---------------------------------------------------------------------------


class ResultsRefused(Refused):
    """Nothing of a file of results was stored. problems: a sentence each."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(self.problems))


def take_results(
    *, study: Study, file: BinaryIO, name: str, by: User | None, max_bytes: int | None = None
) -> actions.Recording:
    """Results that were recorded elsewhere: all of a file, or nothing.

    Args:
        max_bytes: of the file; by default what any import may have.
    Raises:
        ResultsRefused: it cannot be read, some of it is no result, or belongs to no sheet.
    """
    try:
        found, problems = recorded.read(file, name=name, max_bytes=max_bytes or settings.PALATE_MAX_IMPORT_BYTES)
        if problems.total:
            raise ImportRefused(problems)
    except TableError as error:
        raise ResultsRefused([translated(error.sentence)]) from error
    except ImportRefused as refused:
        raise ResultsRefused([str(refused), *refused.problems]) from refused
    result = actions.record_results(study=study, recorded=found, by=by)
    if result.unplaced:
        names = list(dict.fromkeys(result.unplaced))[:_MOST_UNPLACED]
        raise ResultsRefused([_("No sheet is known of “%(name)s”; nothing was stored.") % {"name": n} for n in names])
    return result


def told_of_results(result: actions.Recording) -> tuple[str, str]:
    """What was stored, and what was there already; "" where there is nothing to say."""
    n = len(result.searches)
    stored = ngettext(
        "%(n)s recorded search is in. Start a search now, and its pages are fetched.",
        "%(n)s recorded searches are in. Start a search now, and their pages are fetched.",
        n,
    ) % {"n": n}
    known = _("%(n)s of them were in already.") % {"n": result.known}
    return stored if n else "", known if result.known else ""
