from __future__ import annotations

import re
from collections.abc import Iterable

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from annotation.lens.lens import Answered, Kind, Lens, LensCell, LensLine, Said

register = template.Library()

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


@register.simple_tag
def lens_cells(line: LensLine, lens: Lens) -> SafeString:
    return mark_safe("".join(draw(cell, lens) for cell in line.cells))  # noqa: S308 (texts are escaped by `draw`)


def draw(cell: LensCell, lens: Lens) -> str:
    """A cell of the lens. Drawn by hand, since a page has thousands; `data-f` says for which filters it stands out.

    People's letters, a hairline, judges' letters; before them, where there is a decision, the letter of the gold. Of
    texts as much as there is room for stands in their place.
    """
    kinds = cell.kinds
    flags = [str(kind) for kind in kinds if kind != Kind.JUDGE]
    flags += [f"judge-{lens.judges.index(code)}" for code in cell.differing_judges]
    for kind, codes in ((Kind.WARNED, cell.warned), (Kind.DRAFT, cell.drafts)):
        flags += [f"{kind}-{lens.raters.index(code)}" for code in codes]
    attributes, gold = "", ""
    if cell.gold is not None:
        attributes = f' class="t-{cell.gold.colour}"'
        gold = f"<b>{_told(cell.gold)}</b>"
    elif not cell.asked:
        attributes = ' class="off"'
    if flags:
        attributes += f' data-f="{" ".join(flags)}"'
    judged = f"<s></s>{_letters(cell.judges, stand_out=cell.differing_judges)}" if cell.judges else ""
    said = f"{gold}{_letters(cell.people, stand_out=Kind.PEOPLE in kinds)}{judged}"
    if any(answer.text for answer in (cell.gold, *(one.answer for one in (*cell.people, *cell.judges))) if answer):
        said = f"<div>{said}</div>"
    return f"<td{attributes}>{said}</td>"


def _letters(said: Iterable[Said], *, stand_out: bool | tuple[str, ...]) -> str:
    """Quiet letters are bare text, since tens of thousands of elements would make a page slow."""
    letters = []
    for one in said:
        if one.answer is None:
            letters.append("?" if one.skipped else "·" if one.asked else "\u2002")
        elif stand_out is True or (stand_out and one.code in stand_out):
            letters.append(f'<i class="t-{one.answer.colour}">{_told(one.answer)}</i>')
        else:
            letters.append(f"<span>{_told(one.answer)}</span>" if one.answer.text else _told(one.answer))
    return " ".join(letters)


def _told(answer: Answered) -> str:
    return _sign(answer.text or answer.sign)


def _sign(sign: str) -> str:
    """What is written from right to left keeps its place among the others."""
    return f"<bdi>{escape(sign)}</bdi>" if _RIGHT_TO_LEFT.search(sign) else escape(sign)


@register.filter
def count(counts: dict[str, int], kind: str) -> int:
    return counts.get(kind, 0)
