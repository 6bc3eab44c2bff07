"""Files of many recipes and graphs on their way into a study: a worker reads them, all or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation import doors
from annotation.exchange import background
from annotation.models import Import, Study, User
from recipes.cooking.pages import count_pages
from recipes.ingredient_states import actions, queries, reading
from work.actions import LONGEST_HOLD
from work.outcomes import ItemFailed

# Web pages that somebody waits for: each is parsed, and takes some hundredths of a second.
PAGES_AT_ONCE = 10
# Sentences about files and pages that are none which are told.
TOLD = 50


def register() -> None:
    importer = doors.Importer(_read, label=gettext_lazy("Graphs"), url_name="ingredient_states:graphs", whole=True)
    doors.register_importer(Import.What.GRAPHS, importer)


def is_large(files: Sequence[UploadedFile[bytes]]) -> bool:
    """Whether a page would have to wait for long."""
    if sum(file.size or 0 for file in files) > settings.PALATE_IMPORT_AT_ONCE:
        return True
    pages = [file for file in files if (file.name or "").lower().endswith((".htm", ".html", ".mhtml", ".zip"))]
    return count_pages(file.file for file in pages) > PAGES_AT_ONCE  # type: ignore[misc]


def start(*, study: Study, files: Sequence[UploadedFile[bytes]], replace: bool, by: User | None) -> Import:
    """Let a worker bring in the recipes and graphs of files."""
    numbered = {str(n): file for n, file in enumerate(files)}
    return background.start(study=study, what=Import.What.GRAPHS, files=numbered, how={"replace": replace}, by=by)


def _read(held: Any, files: Iterable[tuple[str, BinaryIO]]) -> None:
    """What a worker does: everything is checked, then written in parts that nobody sees before the end."""
    run: Import = held.item.run
    whole = [(name, stream.read()) for name, stream in files]
    with held.quiet(LONGEST_HOLD):
        found = reading.read(whole, known=queries.recipe_files(run.study))
    if found.refused:
        more = len(found.refused) - TOLD
        Import.objects.filter(pk=run.pk).update(outcome={"problems": found.refused[:TOLD], "left": max(0, more)})
        raise ItemFailed(_("The files cannot be brought in. Nothing was changed."))

    def finish(done: actions.ImportedRecipes) -> None:
        with held.finishing():
            said = done.sentences() or [_("Nothing in it was new.")]
            Import.objects.filter(pk=run.pk).update(outcome={"sentences": said})

    by = background.doing(run, held)
    actions.import_recipes(study=run.study, recipes=found.recipes, doing=by, at_end=finish, **run.how)
