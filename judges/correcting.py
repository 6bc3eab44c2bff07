"""The form in which a person corrects an extracted list: a line an item, a text a field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judges.actions.corrections import MOST_ITEMS, Line, fields_of
from judges.models import Correction, Extraction

BLANK_LINES = 4


@dataclass(frozen=True)
class FormLine:
    """`was`: the number of the extracted item, "" for a new line; `texts`: (name of the input, field, text)."""

    number: int
    was: str
    texts: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class ListForm:
    fields: Sequence[str]
    lines: Sequence[FormLine]


def form_of(extraction: Extraction, correction: Correction | None) -> ListForm:
    """The list as it is by now, with empty lines below; dropped items stay out."""
    items = (
        [(str(place), item["fields"]) for place, item in enumerate(extraction.items)]
        if correction is None
        else [("" if item["was"] is None else str(item["was"]), item["fields"]) for item in correction.items]
    )
    fields = fields_of(extraction)
    lines = [
        FormLine(
            number,
            was,
            tuple((f"line-{number}.{field}", field, said.get(field, "")) for field in fields),
        )
        for number, (was, said) in enumerate([*items, *(("", {}) for _blank in range(BLANK_LINES))], start=1)
    ]
    return ListForm(fields, lines)


def lines_in(extraction: Extraction, posted: Mapping[str, str]) -> list[Line]:
    fields = fields_of(extraction)
    lines = []
    for number in range(1, MOST_ITEMS + BLANK_LINES + 1):
        texts = {field: posted.get(f"line-{number}.{field}", "") for field in fields}
        was = posted.get(f"was-{number}", "")
        if any(text.strip() for text in texts.values()):
            lines.append(Line(texts, int(was) if was.isdecimal() and len(was) < 6 else None))
    return lines
