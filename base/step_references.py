"""References of a step to earlier ones, as instructions have them: “the sauce of step 2”, 「1を加える」. Pure.

In English the word “step” (or “steps”) stands before the numbers: “step 2”, “steps 1 and 3”, “steps 2–4”, “(2)” behind
a noun is not read, since quantities are written so. In Japanese a number may stand in a circle (①), in brackets
(【1】 ［１］ 〔1〕 (1)), before 番 or after 手順; or by itself before a particle (１を, 2に, 3の, 1と), as printed
pages have it. A number before a unit or a counter is a quantity: 2個, 5分, 200ml.

Pages that mark their references may keep the marks: `{{2}}` is read as a reference in every language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

MASK = "<|stepnum_mask|>"


class Reference(NamedTuple):
    """Characters start..end of a step's text are the number of an earlier step."""

    start: int
    end: int
    step: int


_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_NUMBER = r"[0-9０-９]{1,2}"
_ENGLISH = re.compile(
    rf"\bsteps?\s+(?P<list>{_NUMBER}(?:\s*(?:,|;|&|/|-|–|—|and|or|to|through)(?:\s*and\b)?\s*{_NUMBER})*)(?![0-9])",
    re.IGNORECASE,
)
_RANGE = re.compile(r"-|–|—|to|through", re.IGNORECASE)
_MARKED = re.compile(rf"\{{\{{\s*(?P<n>{_NUMBER})\s*\}}\}}")
_JAPANESE = [
    re.compile(f"(?P<n>[{_CIRCLED}])"),
    re.compile(rf"[【［〔\[（(]\s*(?P<n>{_NUMBER})\s*[】］〕\]）)](?!\s*(?:人|個|本|枚|分|cm|ml|mL|g))"),
    re.compile(rf"手順\s*(?P<n>{_NUMBER})"),
    re.compile(rf"(?<![0-9０-９./．／・〜~\-])(?P<n>{_NUMBER})\s*番"),
    # By itself before a particle, at the beginning or behind what no number continues.
    re.compile(
        rf"(?<![0-9０-９./．／:：×約〜~\-A-Za-z])(?<!さじ)(?<!カップ)(?P<n>{_NUMBER})"
        rf"(?=を|に|で(?!割)|の(?!字)|と(?!う)|へ|が|は|も|、\s*{_NUMBER}\s*[をにのと])"
    ),
]
_HAS_JAPANESE = re.compile(r"[぀-ヿ㐀-䶿一-鿿]")


def references(text: str, step: int) -> list[Reference]:
    """The references to earlier steps in the text of a step, from left to right.

    Args:
        text: what the step says.
        step: its number, from 1 on. A number that is not before it is no reference.

    >>> [r.step for r in references("Pour the sauce of step 2 over the rolls (steps 1 and 3).", 4)]
    [2, 1, 3]
    >>> [r.step for r in references("3に①の卵2個を加え、5分煮る。", 4)]
    [3, 1]
    """
    found: dict[int, Reference] = {}

    def add(start: int, end: int, number: int) -> None:
        if 0 < number < step and not any(start < one.end and one.start < end for one in found.values()):
            found[start] = Reference(start, end, number)

    for mark in _MARKED.finditer(text):
        add(*mark.span("n"), _number(mark["n"]))
    for phrase in _ENGLISH.finditer(text):
        for number in re.finditer(_NUMBER, phrase["list"]):
            at = phrase.start("list")
            add(at + number.start(), at + number.end(), _number(number[0]))
    if _HAS_JAPANESE.search(text):
        for pattern in _JAPANESE:
            for one in pattern.finditer(text):
                add(*one.span("n"), _number(one["n"]))
    return [found[start] for start in sorted(found)]


def referred(text: str, step: int) -> list[int]:
    """The steps that a step's text refers to, in ascending order; those between the ends of a range among them.

    >>> referred("Combine steps 1-3.", 5)
    [1, 2, 3]
    """
    found = references(text, step)
    steps = {one.step for one in found}
    for before, after in pairwise(found):
        if _RANGE.fullmatch(text[before.end : after.start].strip()):
            steps |= set(range(before.step, after.step))
    return sorted(steps)


def masked(text: str, reference: Reference, *, mask: str = MASK) -> str:
    """The text with the number of one reference replaced.

    >>> masked("Add step 2.", references("Add step 2.", 3)[0])
    'Add step <|stepnum_mask|>.'
    """
    return text[: reference.start] + mask + text[reference.end :]


def all_references(steps: Sequence[str]) -> list[tuple[int, Reference]]:
    """(number of the step, reference) of all steps of a text."""
    return [(number, one) for number, text in enumerate(steps, start=1) for one in references(text, number)]


def _number(text: str) -> int:
    return int(unicodedata.numeric(text)) if text in _CIRCLED else int(text)
