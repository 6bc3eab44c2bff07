"""An ordered list of records with declared fields. Pure.

In text, one record a line, its fields between bars, the texts of a list between commas; a backslash stands before a
sign that is meant as itself:

    mix | bowl | flour, water
    bake | oven |

A bar alone is the empty list. A last field may say where the words stand that an entry comes from
(`annotation.answers.places`); two answers that differ in nothing else are the same answer.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from annotation.answers.base import (
    AnswerKind,
    AnswerRefused,
    cut,
    escape,
    is_text,
    label_studio_texts,
    split,
    tidy,
    unescape,
    unlisted,
    unwrapped,
)
from annotation.answers.codes import Value, dumps
from annotation.answers.places import read_places, written_places
from annotation.answers.spans import NO_PLACE, from_spans
from annotation.scheme.spec import ItemField, ItemsSpec, QuestionSpec
from base.sentences import gettext_noop

Record = dict[str, Any]  # field -> text, or list of texts
NOTHING = "|"


class Items(AnswerKind):
    def canonical(self, spec: QuestionSpec, raw: Any) -> Value:
        own = _own(spec)
        if isinstance(raw, str):
            value = self.read(spec, raw)
            if value is None:
                raise AnswerRefused(
                    gettext_noop("“%(question)s” takes a list, and this is empty."), question=spec.title
                )
            return value
        if not isinstance(raw, list) or not all(isinstance(record, Mapping) for record in raw):
            raise AnswerRefused(
                gettext_noop("“%(question)s” takes a list of records with the fields %(fields)s."),
                question=spec.title,
                fields=", ".join(field.key for field in own.fields),
            )
        records = [record for given in raw if _says(own, record := _record(spec, given))]
        if not own.fewest <= len(records) <= own.most:
            raise AnswerRefused(
                gettext_noop("“%(question)s” takes from %(fewest)s to %(most)s entries; these are %(n)s."),
                question=spec.title,
                fewest=own.fewest,
                most=own.most,
                n=len(records),
            )
        for number, record in enumerate(records, 1):
            for field in own.fields:
                if field.required and not record[field.key]:
                    raise AnswerRefused(
                        gettext_noop("Entry %(number)s of “%(question)s” has no “%(field)s”."),
                        number=number,
                        question=spec.title,
                        field=field.name,
                    )
        return records

    def shown(self, spec: QuestionSpec, value: Value) -> str:
        return "; ".join(self.entries(spec, value))

    def entries(self, spec: QuestionSpec, value: Value) -> list[str]:
        fields = _own(spec).said
        lines = [" · ".join(text for field in fields if (text := _plain(one[field.key]))) for one in _records(value)]
        return lines or ["–"]

    def sign(self, spec: QuestionSpec, value: Value) -> str:
        return f"{len(_records(value))}×" if len(_records(value)) < 100 else "99+"

    def written(self, spec: QuestionSpec, value: Value) -> str:
        fields = _own(spec).fields
        lines = (" | ".join(_field_written(field, record) for field in fields).strip() for record in _records(value))
        return "\n".join(lines) or NOTHING

    def for_model(self, spec: QuestionSpec, value: Value) -> str:
        """Without the places, which no model is asked for."""
        fields = _own(spec).said
        lines = (" | ".join(_field_written(field, record) for field in fields).strip() for record in _records(value))
        return "\n".join(lines) or NOTHING

    def read(self, spec: QuestionSpec, text: str) -> Value | None:
        fields = _own(spec).fields
        if not text.strip():
            return None
        raw = []
        for line in filter(None, map(str.strip, text.splitlines())):
            pieces = split(line, "|")
            if len(pieces) > len(fields) and any(piece.strip() for piece in pieces[len(fields) :]):
                raise AnswerRefused(
                    gettext_noop(
                        "“%(entry)s” has more than the %(n)s fields of “%(question)s”: a bar (|) separates them, and "
                        "\\| is a bar in a text."
                    ),
                    entry=line[:80],
                    n=len(fields),
                    question=spec.title,
                )
            raw.append({field.key: _read(field, piece) for field, piece in zip(fields, pieces, strict=False)})
        return self.canonical(spec, raw)

    def key(self, spec: QuestionSpec, value: Value) -> str:
        return dumps(said(spec, _records(value))).casefold()

    def distance(self, spec: QuestionSpec, a: Value, b: Value) -> float:
        """The share of records without a record of the other list that is the same."""
        return unmatched(said(spec, _records(a)), said(spec, _records(b)))

    def from_judge(self, spec: QuestionSpec, text: str) -> Value:
        """JSON or the text form, which may be a list with signs before its lines, or a table as Markdown has it."""
        text = unwrapped(spec, text)
        raw = read_json(text)
        return self.canonical(spec, _entries(spec, text) if raw is None else raw)

    def to_label_studio(self, spec: QuestionSpec, value: Value) -> dict[str, Any]:
        return {"type": "textarea", "value": {"text": [dumps(value)]}}

    def from_label_studio(self, spec: QuestionSpec, result: Mapping[str, Any]) -> Value | None:
        if result.get("type") == "labels":
            return self.canonical(spec, from_spans(spec, result["value"]))
        text = "\n".join(label_studio_texts(spec, result))
        return self.from_judge(spec, text) if text else None


_RULE = re.compile(r"(?=.*-)[\s|:-]+")  # below the heads of a table


def _entries(spec: QuestionSpec, text: str) -> str:
    """The text form of what a model wrote: one record a line, without heads, rules and outer bars of a table."""
    fields = _own(spec).said
    heads = ([field.key.casefold() for field in fields], [field.name.casefold() for field in fields])
    lines = []
    for line in unlisted(text):
        if line[0] == line[-1] == "|" and len(split(line, "|")) > len(fields):
            line = line[1:-1].strip()
        is_head = len(fields) > 1 and [piece.strip().casefold() for piece in split(line, "|")] in heads
        if not is_head and not _RULE.fullmatch(line):
            lines.append(line)
    return "\n".join(lines)


def _own(spec: QuestionSpec) -> ItemsSpec:
    assert spec.items is not None  # the scheme sees to it
    return spec.items


def _records(value: Value) -> list[Record]:
    return cast("list[Record]", value)


def said(spec: QuestionSpec, records: Sequence[Record]) -> list[Record]:
    """The records without their places."""
    own = _own(spec)
    if own.place is None:
        return list(records)
    return [{field.key: record[field.key] for field in own.said} for record in records]


def _says(own: ItemsSpec, record: Record) -> bool:
    return any(record[field.key] for field in own.said)


def _place(spec: QuestionSpec, raw: Any, longest: int) -> str:
    """Places in their one spelling."""
    text = one_text(spec, raw, max(longest, 400))
    try:
        return written_places(read_places(text))
    except ValueError:
        raise AnswerRefused(NO_PLACE, place=text[:80]) from None


def _record(spec: QuestionSpec, given: Mapping[str, Any]) -> Record:
    own = _own(spec)
    keys = [field.key for field in own.fields]
    if unknown := [key for key in given if key not in keys]:
        raise AnswerRefused(
            gettext_noop("“%(question)s” has no field “%(field)s”; its fields are: %(fields)s."),
            question=spec.title,
            field=str(unknown[0])[:80],
            fields=", ".join(keys),
        )
    return {field.key: _field(spec, field, given.get(field.key)) for field in own.fields}


def _field(spec: QuestionSpec, field: ItemField, raw: Any) -> str | list[str]:
    longest = _own(spec).longest
    if field.place:
        return _place(spec, raw, longest)
    if field.is_list:
        return [_option(spec, field, text) for text in texts(spec, raw, longest)]
    return _option(spec, field, one_text(spec, raw, longest))


def _option(spec: QuestionSpec, field: ItemField, text: str) -> str:
    """A text of a field, in the spelling of the field's options if it has any."""
    if not text or not field.options:
        return text
    option = field.option_of(text)
    if option is None:
        raise AnswerRefused(
            gettext_noop("“%(field)s” of “%(question)s” is one of these, not “%(word)s”: %(options)s."),
            field=field.name,
            question=spec.title,
            word=cut(text, 80),
            options=cut(", ".join(field.options), 400),
        )
    return option


def one_text(spec: QuestionSpec, raw: Any, longest: int) -> str:
    """A short text on one line; empty for nothing."""
    if raw is None:
        return ""
    if not is_text(raw):
        raise AnswerRefused(gettext_noop("“%(question)s” has a list where it takes a text."), question=spec.title)
    text = tidy(str(raw))
    refuse_long(spec, text, longest)
    return text


def refuse_long(spec: QuestionSpec, text: str, longest: int) -> None:
    if len(text) > longest:
        raise AnswerRefused(
            gettext_noop("“%(question)s” takes at most %(longest)s characters; these are %(length)s."),
            question=spec.title,
            longest=longest,
            length=len(text),
        )


def texts(spec: QuestionSpec, raw: Any, longest: int) -> list[str]:
    """Several short texts; one alone is taken as the text form of a list."""
    if raw is None:
        return []
    if isinstance(raw, str):
        raw = [unescape(piece) for piece in split(raw, ",")]
    if not isinstance(raw, list):
        raise AnswerRefused(gettext_noop("“%(question)s” has a text where it takes a list."), question=spec.title)
    return [text for one in raw if (text := one_text(spec, one, longest))]


def texts_written(of: Sequence[str], marks: str) -> str:
    return ", ".join(escape(text, marks) for text in of)


def unmatched(a: Sequence[Any], b: Sequence[Any]) -> float:
    """Of two lists, the share of the longer that has no equal in the other, whatever the order."""
    of_a, of_b = (Counter(dumps(one).casefold() for one in of) for of in (a, b))
    longer = max(len(a), len(b))
    return 1 - (of_a & of_b).total() / longer if longer else 0.0


def read_json(text: str) -> Any:
    """The JSON that a text is, or that stands between other words in it; None if there is none."""
    first = min((at for mark in "[{" if (at := text.find(mark)) >= 0), default=-1)
    if first < 0:
        return None
    for end in (len(text), text.rfind("]") + 1, text.rfind("}") + 1):
        try:
            found = json.loads(text[first:end])
        except (ValueError, RecursionError):
            continue
        return [found] if isinstance(found, dict) else found
    return None


def _field_written(field: ItemField, record: Record) -> str:
    return texts_written(record[field.key], "|,") if field.is_list else escape(record[field.key], "|")


def _read(field: ItemField, piece: str) -> Any:
    return [unescape(text) for text in split(piece, ",")] if field.is_list else unescape(piece)


def _plain(of: str | list[str]) -> str:
    return of if isinstance(of, str) else ", ".join(of)
