"""Extracted lists as people correct them: kept beside what was taken out, and never changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.actions import Refused
from annotation.answers.base import tidy
from annotation.models import User
from judges.models import Correction, Extraction

MOST_ITEMS = 400
LONGEST = 2000


@dataclass(frozen=True)
class Line:
    """A line of the corrected list. `was`: the number of the extracted item that it was, None for one that is added."""

    fields: Mapping[str, str]
    was: int | None = None


@transaction.atomic
def correct(*, extraction: Extraction, lines: Sequence[Line], by: User | None) -> Correction:
    """Keep what a person made of a list; the list itself stays. Lines without any text are left out, which drops what
    they were. No line at all says that the document has no such list.

    Raises:
        Refused: a line names a field that the list has not, an item that is none or that another line was already, or
            there are too many lines or letters.
    """
    Extraction.objects.select_for_update().get(pk=extraction.pk)
    known = set(fields_of(extraction))
    kept: list[Line] = []
    for line in lines:
        fields = {name: said for name, text in line.fields.items() if (said := tidy(text))}
        if not fields:
            continue
        if unknown := set(fields) - known:
            raise Refused(
                _("The list has no field “%(field)s”; its fields are: %(fields)s.")
                % {"field": sorted(unknown)[0][:80], "fields": ", ".join(sorted(known))}
            )
        if long := next((text for text in fields.values() if len(text) > LONGEST), ""):
            raise Refused(_("“%(start)s…” is too long for one line.") % {"start": long[:60]})
        kept.append(Line(fields, line.was))
    if len(kept) > MOST_ITEMS:
        raise Refused(_("A list has at most %(n)s lines.") % {"n": MOST_ITEMS})
    named = [line.was for line in kept if line.was is not None]
    if len(set(named)) < len(named) or any(not 0 <= was < len(extraction.items) for was in named):
        raise Refused(_("The list was taken out anew meanwhile. Open it again."))
    taken = [item["fields"] for item in extraction.items]
    return Correction.objects.create(
        extraction=extraction,
        items=[{"fields": line.fields, "was": line.was} for line in kept],
        changed=sum(line.was is not None and line.fields != _said(taken[line.was]) for line in kept),
        dropped=len(taken) - len(named),
        added=len(kept) - len(named),
        by=by,
    )


def _said(fields: Mapping[str, str]) -> dict[str, str]:
    return {name: said for name, text in fields.items() if (said := tidy(text))}


def fields_of(extraction: Extraction) -> list[str]:
    """The names of the fields of a list's items; of items that are one text the kind's own name."""
    extractor = extraction.extractor
    if extractor.kind == extractor.Kind.MODEL:
        of_kind = extractor.parsed_prompt.lists.get(extraction.kind)
        if of_kind is not None and of_kind.fields:
            return list(of_kind.fields)
    return list(dict.fromkeys(name for item in extraction.items for name in item["fields"])) or [extraction.kind]
