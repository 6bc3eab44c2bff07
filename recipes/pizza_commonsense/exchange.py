"""Files of many tables on their way into a study: a worker reads them, all or nothing, and says how far it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, BinaryIO

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation import doors
from annotation.exchange import background
from annotation.models import Import, Rater, Study, User
from recipes.pizza_commonsense import actions, exporting, queries
from recipes.pizza_commonsense.actions import ImportedTables
from recipes.pizza_commonsense.forms import read_tables
from recipes.pizza_commonsense.records import Table, TablesRefused
from work.actions import LONGEST_HOLD
from work.outcomes import ItemFailed


def register() -> None:
    importer = doors.Importer(_read, label=gettext_lazy("Tables"), url_name="pizza_commonsense:tables", whole=True)
    doors.register_importer(Import.What.TABLES, importer)


def start(*, study: Study, file: UploadedFile[bytes], how: dict[str, Any], by: User | None) -> Import:
    """Let a worker add the recipes of a file, with the answers in their cells.

    Args:
        how: `rater`, `kind`, `example` and `replace` as `actions.import_tables` has them; or `system`, a code: the file
            holds what that system wrote.
    """
    return background.start(study=study, what=Import.What.TABLES, files={"0": file}, how=how, by=by)


def is_large(size: int) -> bool:
    """Whether a page would have to wait for long for a file of so many bytes."""
    return settings.PALATE_IMPORT_AT_ONCE < size <= settings.PALATE_MAX_IMPORT_BYTES


def predicted(study: Study, data: bytes) -> tuple[list[Table], list[str]]:
    """The tables that a system wrote, and the ids of the texts of which nothing can be read.

    Raises:
        TablesRefused: the file cannot be read.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TablesRefused(_("The file is no UTF-8 text. Save it as UTF-8.")) from error
    return exporting.predictions(text, queries.tables_of(study))


def sentences(made: ImportedTables, unread: int = 0) -> list[str]:
    """What an import did, for whoever asked for it; `unread`: texts of a system."""
    told = [ngettext("%(n)s recipe added.", "%(n)s recipes added.", made.new) % {"n": made.new}] if made.new else []
    if made.known:
        told.append(
            ngettext("%(n)s was in the study already.", "%(n)s were in the study already.", made.known)
            % {"n": made.known}
        )
    told += made.answers.sentences() if made.answers else []
    if unread:
        said = ngettext("Of %(n)s text nothing can be read.", "Of %(n)s texts nothing can be read.", unread)
        told.append(said % {"n": unread})
    return told


def _read(held: Any, files: Iterable[tuple[str, BinaryIO]]) -> None:
    """What a worker does: everything is checked, then written in parts that nobody sees before the end."""
    run: Import = held.item.run
    how, unread = dict(run.how), 0
    [data] = [stream.read() for _name, stream in files]
    try:
        with held.quiet(LONGEST_HOLD):
            if system := how.pop("system", ""):
                tables, lost = predicted(run.study, data)
                how, unread = {"rater": system, "kind": Rater.Kind.JUDGE}, len(lost)
            else:
                tables = read_tables(data)
    except TablesRefused as refused:
        raise ItemFailed(str(refused)) from refused

    def finish(made: ImportedTables) -> None:
        with held.finishing():
            said = sentences(made, unread) or [_("Nothing in it was new.")]
            Import.objects.filter(pk=run.pk).update(outcome={"sentences": said})

    actions.import_tables(study=run.study, tables=tables, doing=background.doing(run, held), at_end=finish, **how)
