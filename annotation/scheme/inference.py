"""A scheme out of answers alone: one section, one question, whose options are the answers that occur.

Pure Python: no Django, no database.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from typing import Any

import yaml

from annotation.answers import AnswerRefused, kind_of
from annotation.exchange.records import MISSING
from annotation.exchange.tables import TableError
from annotation.scheme.questions import MAX_OPTIONS, Kind
from annotation.scheme.spec import QuestionSpec
from base.sentences import gettext_noop
from base.text import whole_number

MOST_OPTIONS = 10
_MOST_LABELS = 200  # see `annotation.scheme.values.ItemField`
_NUMBER = QuestionSpec.model_validate({"key": "answer", "title": "Answer", "kind": Kind.NUMBER})
_LONGEST = 20_000  # characters of a text, see `annotation.scheme.values.TextSpec`


def infer_scheme(
    answers: Iterable[str],
    *,
    key: str,
    version: int,
    title: str,
    question: str,
    nominal: bool = False,
    missing: Collection[str] = MISSING,
) -> str:
    """The YAML of a scheme with one question.

    Whole numbers without a gap become a scale, if it has no more steps than a scale may; with gaps, or `nominal`, a
    choice in the order of the numbers; anything else a choice in the order of the alphabet. Answers that differ only in
    capitals are one option. More than `MOST_OPTIONS` different answers are values: a number where all are numbers and
    not `nominal`, else a text.

    Args:
        answers: as they occur, repeated or not.
        nominal: numbers are names, not steps of a scale.
        missing: words that are no answers.
    Raises:
        TableError: fewer than two different answers, or a text that is longer than texts may be.
    """
    distinct: dict[str, str] = {}
    for answer in answers:
        if not answer or answer in missing:
            continue
        number = whole_number(answer)
        distinct.setdefault(answer.casefold() if number is None else str(number), answer)
    if len(distinct) < 2:
        raise TableError(
            gettext_noop(
                "A question needs at least 2 different answers, and the file has %(n)s. Make a scheme for it."
            ),
            n=len(distinct),
        )
    spec: dict[str, Any] = {
        "key": key,
        "version": version,
        "title": title,
        "words": {"row": "item", "rows": "items"},
        "sections": [
            {
                "key": "labels",
                "title": "Labels",
                "column": {"title": "About", "facets": ["about"]},
                "questions": [{"key": "answer", "title": question, **_answered_by(distinct, nominal=nominal)}],
            }
        ],
    }
    return yaml.safe_dump(spec, sort_keys=False, allow_unicode=True)


def infer_spans(labels: Collection[str], *, key: str, version: int, title: str, question: str) -> str:
    """The YAML of a scheme whose one question is which words are marked, each with one of these labels.

    Raises:
        TableError: nothing is marked with a label, or there are more than a field has options.
    """
    options = sorted(filter(None, labels), key=str.casefold)
    if not 1 <= len(options) <= _MOST_LABELS:
        raise TableError(
            gettext_noop("Words are marked with %(n)s labels, and a scheme takes from 1 to %(most)s."),
            n=len(options),
            most=_MOST_LABELS,
        )
    fields = [
        {"key": "words", "title": "Words", "required": True},
        {"key": "label", "title": "Label", "options": options, "required": "" not in labels},
        {"key": "place", "title": "Place", "place": True},
    ]
    spans = {
        "key": "spans",
        "title": question,
        "kind": "items",
        "items": {"most": 500, "longest": 4000, "fields": fields},
    }
    section = {"key": "text", "title": "The text", "questions": [spans]}
    spec = {"key": key, "version": version, "title": title, "words": {"row": "text", "rows": "texts"}}
    return yaml.safe_dump({**spec, "sections": [section]}, sort_keys=False, allow_unicode=True)


def _answered_by(distinct: dict[str, str], *, nominal: bool) -> dict[str, Any]:
    numbers = sorted(number for text in distinct if (number := whole_number(text)) is not None)
    are_whole = len(numbers) == len(distinct)
    if are_whole and not nominal and numbers[-1] - numbers[0] + 1 == len(numbers) <= MAX_OPTIONS:
        return {"kind": "scale", "min": numbers[0], "max": numbers[-1]}
    if len(distinct) <= MOST_OPTIONS:
        return _options(
            [str(number) for number in numbers] if are_whole else sorted(distinct.values(), key=str.casefold)
        )
    if not nominal and all(map(_is_number, distinct.values())):
        return {"kind": "number"}
    longest = max(map(len, distinct.values()))
    if longest > _LONGEST:
        raise TableError(
            gettext_noop("The file has an answer of %(n)s characters, and a text has at most %(max)s."),
            n=longest,
            max=_LONGEST,
        )
    lines = any("\n" in answer for answer in distinct.values())
    return {"kind": "text", "text": {"longest": max(longest, 2000), **({"lines": True} if lines else {})}}


def _is_number(answer: str) -> bool:
    """As an import decides it: with a point or a decimal comma, and no number where a comma may be either."""
    try:
        return kind_of(_NUMBER).read(_NUMBER, answer) is not None
    except AnswerRefused:
        return False


def _options(labels: list[str]) -> dict[str, Any]:
    if long := next((label for label in labels if len(label) > 80), None):
        raise TableError(
            gettext_noop("“%(start)s…” is too long for the name of an option (80 characters). Make a scheme for it."),
            start=long[:40],
        )
    keys: list[str] = []
    for position, label in enumerate(labels, 1):
        option_key = _key(label)
        keys.append(option_key if option_key and option_key not in keys else f"option-{position}")
    return {
        "options": [
            {"key": option_key, "label": label, **({"sign": label} if len(label) <= 3 else {})}
            for option_key, label in zip(keys, labels, strict=True)
        ]
    }


def _key(label: str) -> str:
    label = re.sub(r"^-(?=\d)", "minus-", label)
    plain = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode().casefold()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].strip("-")
