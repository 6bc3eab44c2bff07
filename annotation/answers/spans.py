"""Entries of a list that are tied to words of a document, as Label Studio has them: stretches of one text, each with a
label. Pure.

The text is that of all blocks, a line each. An entry's label is what its second field says, or the question's title;
what neither the label nor the words say stands in the `meta` of the result, which Label Studio keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.answers.base import AnswerRefused, tidy
from annotation.answers.places import MOST, Place, places_in, read_places, written_places
from annotation.evidence.blocks import Block
from annotation.evidence.lines import without_gaps
from annotation.scheme.spec import ItemField, ItemsSpec, QuestionSpec, SchemeSpec
from base.sentences import gettext_noop

# The type of a result of Label Studio that marks words.
SPANS = "labels"
# Behind the name of a control: of a text that has all entries, where they cannot be marked.
ENTRIES = "__entries"
NO_PLACE = gettext_noop("“%(place)s” is no place in the document, such as 3:10-24: a block, from and to a character.")


def has_places(spec: QuestionSpec) -> bool:
    """Whether entries of its answers can be tied to words."""
    return spec.items is not None and spec.items.place is not None


def keeps_gaps(scheme: SchemeSpec) -> bool:
    """Whether empty lines of texts are kept. Not where words are marked: what other programs say of a text goes by its
    lines alone."""
    return not any(has_places(question) for section in scheme.sections for question in section.questions)


def as_kept(scheme: SchemeSpec, blocks: Iterable[Block]) -> list[Block]:
    """The blocks of a row as a study of this scheme keeps them."""
    return list(blocks) if keeps_gaps(scheme) else without_gaps(blocks)


def starts_of(texts: Sequence[str]) -> list[int]:
    """Where each block begins in the text of all.

    >>> starts_of(["Whisk.", "Bake."])
    [0, 7]
    """
    starts, at = [], 0
    for text in texts:
        starts.append(at)
        at += len(text) + 1
    return starts


def label_of(spec: QuestionSpec, record: Mapping[str, Any]) -> str:
    field = _label_field(_own(spec))
    return (field and str(record[field.key])) or spec.title


def labels_of(spec: QuestionSpec, values: Iterable[Sequence[Mapping[str, Any]]]) -> list[str]:
    """The labels that words may have: those that are offered, and those that entries of these answers have. The
    question's title says nothing, which a field with options that has to be filled in does not take."""
    field = _label_field(_own(spec))
    offered = (*field.options, *field.completions) if field else ()
    nothing = () if field and field.options and field.required else (spec.title,)
    given = sorted({label_of(spec, record) for records in values for record in records})
    return list(dict.fromkeys([*offered, *nothing, *given]))


def to_spans(spec: QuestionSpec, records: Sequence[Mapping[str, Any]], texts: Sequence[str]) -> list[dict[str, Any]]:
    """A result for each stretch, but who gave it and at which control; none where these would not say all: there is no
    entry, or one has no place in these texts."""
    own = _own(spec)
    if own.place is None:
        return []
    first, field, starts = own.said[0], _label_field(own), starts_of(texts)
    found = []
    for number, record in enumerate(records):
        places, label = read_places(record[own.place.key]), label_of(spec, record)
        if not places or any(one.block >= len(texts) or one.end > len(texts[one.block]) for one in places):
            return []
        words = texts[places[0].block][places[0].start : places[0].end]
        fields = {one.key: record[one.key] for one in own.said}
        if len(places) == 1 and fields[first.key] == tidy(words):
            del fields[first.key]
        if field and fields[field.key] == ("" if label == spec.title else label):
            del fields[field.key]
        for place in places:
            start = starts[place.block] + place.start
            end = starts[place.block] + place.end
            text = texts[place.block][place.start : place.end]
            found.append(
                {
                    "type": SPANS,
                    "value": {"start": start, "end": end, "text": text, "labels": [label]},
                    "meta": {"entry": number, "fields": fields},
                }
            )
    return found


def plain_spans(
    spec: QuestionSpec, records: Sequence[Mapping[str, Any]], texts: Sequence[str]
) -> list[tuple[int, int, str]] | None:
    """The entries as stretches of the text of all blocks with a label each, in its order; None where these would not
    say all: an entry has no place, several apart, other words than stand there, or more than words and a label."""
    own = _own(spec)
    if own.place is None:
        return None
    first, field, starts, whole = own.said[0], _label_field(own), starts_of(texts), "\n".join(texts)
    found = set[tuple[int, int, str]]()
    for record in records:
        places = read_places(record[own.place.key])
        if not places or any(one.block >= len(texts) or one.end > len(texts[one.block]) for one in places):
            return None
        start, end = (
            starts[place.block] + at for place, at in ((places[0], places[0].start), (places[-1], places[-1].end))
        )
        covered = places_in([(at, at + len(text)) for at, text in zip(starts, texts, strict=True)], start, end)
        more = any(record[one.key] for one in own.said[1:] if one is not field)
        if places != covered or more or record[first.key] != tidy(whole[start:end]):
            return None
        found.add((start, end, label_of(spec, record)))
    return sorted(found) if len(found) == len(records) else None


def from_spans(spec: QuestionSpec, value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The entries of results that mark words: of their `value`s as `spans`, each with the `entry` and the `fields` that
    its `meta` has, and with its `places` in the blocks of the text. What was marked there, without an entry, stands
    behind the others; a second label of the same words is an entry of its own.

    Raises:
        AnswerRefused: a stretch is none of a text.
    """
    own, new = _own(spec), list[tuple[dict[str, Any], list[Place]]]()
    known: dict[int, tuple[dict[str, Any], list[Place]]] = {}
    for span in value["spans"]:
        stretches = _stretches(span)
        labels = span.get("labels")
        for n, label in enumerate(labels if isinstance(labels, list) and labels else [""]):
            entry = span.get("entry") if n == 0 else None
            if isinstance(entry, int) and entry in known:
                known[entry][1].extend(stretches)
                continue
            made = (_record(spec, span, str(label)), list(stretches))
            if isinstance(entry, int):
                known[entry] = made
            else:
                new.append(made)
    of_all = [*(known[entry] for entry in sorted(known)), *new]
    if own.place is None:
        return [record for record, _places in of_all]
    found = [(record, sorted(set(places))) for record, places in of_all]
    if long := next((record for record, places in found if len(places) > MOST), None):
        raise AnswerRefused(
            gettext_noop(
                "“%(words)s…” reaches over more than %(most)s paragraphs of the text, which is the most that one entry "
                "takes. Mark its parts."
            ),
            words=tidy(str(long[own.said[0].key]))[:40],
            most=MOST,
        )
    return [{**record, own.place.key: written_places(places)} for record, places in found]


def _record(spec: QuestionSpec, span: Mapping[str, Any], label: str) -> dict[str, Any]:
    own = _own(spec)
    field = _label_field(own)
    record: dict[str, Any] = {own.said[0].key: str(span.get("text") or "")}
    if field:
        record[field.key] = "" if label == spec.title else label
    fields = span.get("fields")
    return record | (fields if isinstance(fields, dict) else {})


def places_of(span: Mapping[str, Any], blocks: Sequence[Sequence[int]]) -> list[Place]:
    """Where a stretch of the text is, whose blocks begin and end so; nowhere if it is none."""
    start, end = span.get("start"), span.get("end")
    return places_in(blocks, start, end) if type(start) is int and type(end) is int and 0 <= start < end else []


def _stretches(span: Mapping[str, Any]) -> list[Place]:
    if not span["places"]:
        raise AnswerRefused(NO_PLACE, place=f"{span.get('start')}–{span.get('end')}"[:80])
    return [Place(*place) for place in span["places"]]


def refuse_unsaid(spec: QuestionSpec, value: Mapping[str, Any]) -> None:
    """Raises AnswerRefused for labels of marked words that the question has no field for."""
    if spec.items is None or _label_field(spec.items):
        return
    nothing = ("", spec.title.casefold(), spec.key.casefold())
    for span in value["spans"]:
        if unsaid := [label for label in span["labels"] if label.casefold() not in nothing]:
            raise AnswerRefused(
                gettext_noop(
                    "“%(question)s” has no field for the label “%(label)s”: its scheme needs one behind the words."
                ),
                question=spec.title,
                label=unsaid[0][:80],
            )


def _own(spec: QuestionSpec) -> ItemsSpec:
    assert spec.items is not None  # the scheme sees to it
    return spec.items


def _label_field(own: ItemsSpec) -> ItemField | None:
    return next((field for field in own.said[1:] if not field.is_list), None)
