"""A person mends what the reader took out of a page; labels that stand are left alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from django.db import transaction
from django.utils.translation import gettext as _

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.evidence.blocks import Block, blocks_to_json
from annotation.evidence.kinds import HEADING, LIST, PARAGRAPH
from annotation.models import Row, User
from base.text import storable
from recipes.cooking import mending_queries as queries
from recipes.cooking.mending_models import Mending
from recipes.cooking.pages import mending
from recipes.cooking.pages.outline import visible
from recipes.cooking.vocabulary import INGREDIENT, STEP

MAX_LINES, MAX_LENGTH = 1000, 10_000


@transaction.atomic
def mend(*, row: Row, lines: Sequence[mending.Line], seen: str, by: User) -> Mending:
    """Put other lines in the place of a document's; without any change, say that they are right.

    Args:
        lines: as they are to stand; those without a text fall away.
        seen: `mending_queries.digest_of` the lines that the person had before them.
    Raises:
        Refused: somebody else was faster; no line would be left, or too many; a line of a kind that documents have not.
    """
    annotating.lock_study(row.sheet.study_id)
    row = Row.objects.select_for_update().select_related("sheet").get(pk=row.pk)
    if queries.digest_of(row) != seen:
        raise Refused(
            _("Somebody else has mended these lines in the meantime. Reload the page and look at them again.")
        )
    before = row.blocks
    tidy = [mending.Line(Block(line.block.kind, _tidy(line.block.text)), line.origin) for line in lines]
    tidy = [line for line in tidy if line.block.text]
    allowed = {INGREDIENT, STEP, HEADING, PARAGRAPH, LIST} | {block.kind for block in before}
    if any(line.block.kind not in allowed for line in tidy):
        raise Refused(_("A line is of a kind that this document has not."))
    if not any(line.block.kind != HEADING for line in tidy):
        raise Refused(_("At least one line has to stay."))
    if len(tidy) > MAX_LINES or any(len(line.block.text) > MAX_LENGTH for line in tidy):
        raise Refused(
            _("A document has at most %(lines)s lines of %(length)s characters.")
            % {"lines": MAX_LINES, "length": MAX_LENGTH}
        )
    try:
        changes = mending.changes(before, tidy)
    except ValueError as error:
        raise Refused(_("The lines do not fit to those of the document. Reload the page.")) from error
    after = blocks_to_json(line.block for line in tidy)
    count = Counter(change.what for change in changes)
    entry = Mending.objects.create(
        row=row,
        by=by,
        before=row.evidence,
        after=after,
        changes=[asdict(change) for change in changes],
        n_added=count["added"],
        n_dropped=count["dropped"],
        n_moved=count["moved"],
        n_changed=count["changed"],
    )
    if changes:
        row.evidence = after
        row.save(update_fields=["evidence"])
    return entry


def put_back(*, entry: Mending, seen: str, by: User) -> Mending:
    """The lines as they were before an entry, as an entry of its own. Raises `Refused` as `mend` does."""
    now = entry.row.blocks
    free: dict[Block, list[int]] = {}
    for i, block in enumerate(now):
        free.setdefault(block, []).append(i)
    lines = [mending.Line(block, free[block].pop(0) if free.get(block) else None) for block in entry.blocks_before]
    return mend(row=entry.row, lines=lines, seen=seen, by=by)


def _tidy(text: str) -> str:
    return " ".join(storable(visible(text)).split())
