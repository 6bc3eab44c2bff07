"""Files of many tables on their way into a study: a worker reads them, all or nothing, and says how far it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
from recipes.pizza_commonsense.exporting import Predicted
from recipes.pizza_commonsense.forms import read_tables
from recipes.pizza_commonsense.records import Table, TablesRefused, text_of
from work.actions import LONGEST_HOLD
from work.outcomes import ItemFailed

_MOST_RULES = 5  # that a sentence names


def register() -> None:
    importer = doors.Importer(_read, label=gettext_lazy("Tables"), url_name="pizza_commonsense:tables", whole=True)
    doors.register_importer(Import.What.TABLES, importer)


def start(*, study: Study, file: UploadedFile[bytes], how: dict[str, Any], by: User | None) -> Import:
    """Let a worker add the recipes of a file, with the answers in their cells.

    Args:
        how: `rater`, `kind`, `example` and `replace` as `actions.import_tables` has them; or `system`, a code, and
            `replace`: the file holds what that system wrote.
    """
    return background.start(study=study, what=Import.What.TABLES, files={"0": file}, how=how, by=by)


def is_large(size: int) -> bool:
    """Whether a page would have to wait for long for a file of so many bytes."""
    return settings.PALATE_IMPORT_AT_ONCE < size <= settings.PALATE_MAX_IMPORT_BYTES


def predicted(study: Study, data: bytes) -> Predicted:
    """What a system wrote of the tables of a study.

    Raises:
        TablesRefused: the file cannot be read.
    """
    return exporting.predictions(text_of(data), queries.tables_of(study))


def tables_in(said: Predicted, *, replace: bool) -> list[Table]:
    """The tables that an import of what a system wrote is of. One that replaces has also those of which nothing can be
    read: what stands there is of an earlier run."""
    return [*said.tables, *(said.silent if replace else [])]


def take_in(*, study: Study, said: Predicted, system: str, replace: bool = False) -> ImportedTables:
    """What a system wrote becomes its answers, at once.

    Raises:
        Refused: as `actions.import_tables`.
    """
    tables = tables_in(said, replace=replace)
    return actions.import_tables(study=study, tables=tables, rater=system, kind=Rater.Kind.JUDGE, replace=replace)


def sentences(made: ImportedTables, said: Predicted | None = None) -> list[str]:
    """What an import did, for whoever asked for it; `said`: what a system wrote, if it was that."""
    told = [ngettext("%(n)s recipe added.", "%(n)s recipes added.", made.new) % {"n": made.new}] if made.new else []
    if made.known:
        told.append(
            ngettext("%(n)s was in the study already.", "%(n)s were in the study already.", made.known)
            % {"n": made.known}
        )
    told += made.answers.sentences() if made.answers else []
    if made.cleared:
        told.append(
            ngettext(
                "%(n)s earlier answer was cleared: the file leaves its cell open.",
                "%(n)s earlier answers were cleared: the file leaves their cells open.",
                made.cleared,
            )
            % {"n": made.cleared}
        )
    if made.broken:
        told.append(_told_broken(made.broken))
    return told + (_left_out(said) if said else [])


def told_removed(system: str, n: int) -> str:
    said = ngettext("Removed %(n)s answer of “%(system)s”.", "Removed %(n)s answers of “%(system)s”.", n)
    return said % {"n": n, "system": system}


def _told_broken(broken: Mapping[str, int]) -> str:
    """How many answers of a system break which rules; the commonest ones are named."""
    n = sum(broken.values())
    said = ngettext(
        "%(n)s answer breaks a rule that people have to keep, and was taken as it is: %(rules)s",
        "%(n)s answers break rules that people have to keep, and were taken as they are: %(rules)s",
        n,
    )
    named = sorted(broken.items(), key=lambda one: -one[1])[:_MOST_RULES]
    more = [_("and others.")] if len(broken) > _MOST_RULES else []
    return said % {"n": n, "rules": " ".join([*(f"“{rule}” ({count})" for rule, count in named), *more])}


def _left_out(said: Predicted) -> list[str]:
    n = len(said.unread)
    told = [
        (
            said.rowless,
            ngettext(
                "%(n)s line stayed open: no row has its instruction.",
                "%(n)s lines stayed open: no row has their instruction.",
                said.rowless,
            ),
        ),
        (
            said.blank,
            ngettext(
                "%(n)s line stayed open: nothing, or a mask, stands there.",
                "%(n)s lines stayed open: nothing, or a mask, stands there.",
                said.blank,
            ),
        ),
        (
            said.strays,
            ngettext(
                "%(n)s row was left out: its instruction is none of the recipe's.",
                "%(n)s rows were left out: their instructions are none of the recipe's.",
                said.strays,
            ),
        ),
        (
            said.broken,
            ngettext(
                "%(n)s row was left out: it has not four cells.",
                "%(n)s rows were left out: they have not four cells.",
                said.broken,
            ),
        ),
        (
            said.beyond,
            ngettext(
                "%(n)s answer was left out: its mask is of a line that the recipe has not.",
                "%(n)s answers were left out: their masks are of lines that the recipe has not.",
                said.beyond,
            ),
        ),
        (n, ngettext("Of %(n)s text nothing can be read.", "Of %(n)s texts nothing can be read.", n)),
    ]
    left = [sentence % {"n": count} for count, sentence in told if count]
    if said.from_one:
        left.append(
            _(
                "The masks fit if the first line is 1, and here it is 0: each answer may stand one line too late. "
                "Count from 0, and let the new file replace these answers."
            )
        )
    return left


def _read(held: Any, files: Iterable[tuple[str, BinaryIO]]) -> None:
    """What a worker does: everything is checked, then written in parts that nobody sees before the end."""
    run: Import = held.item.run
    how, said = dict(run.how), None
    [(name, data)] = [(name, stream.read()) for name, stream in files]
    try:
        with held.quiet(LONGEST_HOLD):
            if system := how.pop("system", ""):
                said = predicted(run.study, data)
                tables = tables_in(said, replace=how.get("replace", False))
                how |= {"rater": system, "kind": Rater.Kind.JUDGE}
            else:
                tables = read_tables(data, name)
    except TablesRefused as refused:
        raise ItemFailed(str(refused)) from refused

    def finish(made: ImportedTables) -> None:
        with held.finishing():
            told = sentences(made, said) or [_("Nothing in it was new.")]
            Import.objects.filter(pk=run.pk).update(outcome={"sentences": told})

    actions.import_tables(study=run.study, tables=tables, doing=background.doing(run, held), at_end=finish, **how)
