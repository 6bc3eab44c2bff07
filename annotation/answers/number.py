"""A number within bounds. Pure.

Whole numbers are `int`, all others `float` of at most ten decimal places, so that one number has one code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from annotation.answers.base import MISSING_IN_LABEL_STUDIO, AnswerKind, AnswerRefused, cut, tidy, unwrapped
from annotation.answers.codes import Value, plain
from annotation.scheme.spec import NumberSpec, QuestionSpec
from base.sentences import gettext_noop

LARGEST = 10**15  # beyond it, floating point skips whole numbers
PLACES = 10

# A comma alone is a decimal point, unless three digits behind it may be thousands.
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
# So may three behind a point, where all answers are whole numbers.
_THOUSANDS_OR_WHOLE = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}", re.ASCII)
# Blanks between groups of three digits.
_GROUPED = re.compile(r"([+-]?[1-9]\d{0,2}(?: \d{3})+)([.,]\d*)?", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?", re.IGNORECASE)
_IN_TEXT = re.compile(r"(?<![\w.])[-−]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w]*\d)")


class Number(AnswerKind):
    def canonical(self, spec: QuestionSpec, raw: Any) -> Value:
        own = _own(spec)
        number = _number(raw, own.unit)
        if isinstance(raw, str) and _two_ways(own).fullmatch(text := _bare(raw, own.unit)):
            raise AnswerRefused(
                gettext_noop("“%(answer)s” may be %(point)s or %(whole)s. Write one of the two for “%(question)s”."),
                answer=raw[:80],
                point=re.sub(r"\.000\Z", "", text.replace(",", ".")),
                whole=re.sub(r"[.,]", "", text),
                question=spec.title,
            )
        if number is None:
            raise AnswerRefused(
                gettext_noop("“%(answer)s” is no number, which “%(question)s” asks for."),
                answer=str(raw)[:80],
                question=spec.title,
            )
        if (own.min is not None and number < own.min) or (own.max is not None and number > own.max):
            raise AnswerRefused(_bounds(own), question=spec.title, answer=plain(number), **_named(own))
        if own.step is not None:
            start = own.min or 0.0
            steps = (number - start) / own.step
            if abs(steps - round(steps)) > 1e-6:
                raise AnswerRefused(
                    gettext_noop("“%(question)s” goes in steps of %(step)s from %(start)s; %(answer)s lies between."),
                    question=spec.title,
                    step=plain(_tidied(own.step)),
                    start=plain(_tidied(start)),
                    answer=plain(number),
                )
        return number

    def shown(self, spec: QuestionSpec, value: Value) -> str:
        unit = _own(spec).unit
        return f"{self.written(spec, value)} {unit}" if unit else self.written(spec, value)

    def sign(self, spec: QuestionSpec, value: Value) -> str:
        """As it is written: two numbers of which the digits that differ are left out cannot be compared."""
        return cut(self.written(spec, value), 8)

    def written(self, spec: QuestionSpec, value: Value) -> str:
        return plain(cast(float, value))

    def read(self, spec: QuestionSpec, text: str) -> Value | None:
        return self.canonical(spec, text) if text.strip() else None

    def from_judge(self, spec: QuestionSpec, text: str) -> Value:
        """The whole answer as a number, else the only one in it; models write English, so a point is one."""
        text = unwrapped(spec, text)
        whole = _number(text.rstrip("."), _own(spec).unit)
        if whole is not None:
            return self.canonical(spec, whole)
        written = {number.replace(",", "").replace("−", "-") for number in _IN_TEXT.findall(text)}
        found = {_number(number, ""): number for number in written}
        if len(found) != 1:
            raise AnswerRefused(
                gettext_noop("The model wrote several numbers: “%(text)s”.")
                if found
                else gettext_noop("The model wrote no number: “%(text)s”."),
                text=text[:80],
            )
        ((number, said),) = found.items()
        return self.canonical(spec, said if number is None else number)

    def distance(self, spec: QuestionSpec, a: Value, b: Value) -> float:
        """The difference as a share of the range, where the question has one."""
        own = _own(spec)
        if own.min is None or own.max is None:
            return float(a != b)
        return min(1.0, abs(cast(float, a) - cast(float, b)) / (own.max - own.min))

    def to_label_studio(self, spec: QuestionSpec, value: Value) -> dict[str, Any]:
        return {"type": "number", "value": {"number": value}}

    def from_label_studio(self, spec: QuestionSpec, result: Mapping[str, Any]) -> Value | None:
        kind = result.get("type")
        if kind not in ("number", "rating"):
            raise AnswerRefused(MISSING_IN_LABEL_STUDIO, question=spec.title, type=str(kind)[:40])
        number = (result.get("value") or {}).get(kind)
        return None if number is None else self.canonical(spec, number)


def _own(spec: QuestionSpec) -> NumberSpec:
    assert spec.number is not None  # the scheme sees to it
    return spec.number


def _two_ways(own: NumberSpec) -> re.Pattern[str]:
    """What is written like this may be thousands, or not."""
    is_whole = own.step is not None and float(own.step).is_integer() and float(own.min or 0).is_integer()
    return _THOUSANDS_OR_WHOLE if is_whole else _THOUSANDS


def _tidied(number: float) -> int | float:
    number = round(number, PLACES)
    return int(number) if number == int(number) else number


def _number(raw: Any, unit: str) -> int | float | None:
    """The number that is meant, None for anything else; a unit may stand behind it."""
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        return None
    if isinstance(raw, str):
        text = _bare(raw, unit)
        if text.count(",") == 1 and "." not in text and not _THOUSANDS.fullmatch(text):
            text = text.replace(",", ".")
        if not _NUMBER.fullmatch(text):
            return None
        raw = float(text)
    if not abs(raw) <= LARGEST:  # nor is it where there is nothing to compare
        return None
    return raw if isinstance(raw, int) else _tidied(raw)


def _bare(raw: str, unit: str) -> str:
    """What is written, without the unit and the blanks between thousands."""
    text = tidy(raw)
    if unit:
        text = re.sub(rf"\s*{re.escape(unit)}\Z", "", text, flags=re.IGNORECASE)
    text = text.replace("−", "-")
    if grouped := _GROUPED.fullmatch(text):
        return grouped[1].replace(" ", "") + (grouped[2] or "")
    return text


def _bounds(own: NumberSpec) -> str:
    if own.max is None:
        return gettext_noop("“%(question)s” takes numbers from %(min)s on, not %(answer)s.")
    if own.min is None:
        return gettext_noop("“%(question)s” takes numbers up to %(max)s, not %(answer)s.")
    return gettext_noop("“%(question)s” takes numbers from %(min)s to %(max)s, not %(answer)s.")


def _named(own: NumberSpec) -> dict[str, str]:
    return {name: plain(_tidied(bound)) for name, bound in (("min", own.min), ("max", own.max)) if bound is not None}
