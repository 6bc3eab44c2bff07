"""Documents of doccano and Prodigy: an object of JSON each, one a line or in a list.

    doccano   {"id": 7, "text": "…", "label": [[0, 4, "PER"]]}, or "entities" as objects; of classes ["glad"]
    Prodigy   {"text": "…", "spans": [{"start": 0, "end": 4, "label": "PER"}], "answer": "accept", "_annotator_id": "…"}

Prodigy counts code points; doccano counts units of UTF-16, since people mark words in a browser there. doccano writes a
file for each annotator, which is called as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, BinaryIO, Literal

from annotation.exchange.json_reading import Json, elements, objects_of_lines, text_of, whole
from annotation.exchange.marked.documents import NO_TEXT, Document, Given, Span
from annotation.exchange.marked.texts import Utf16, is_wide
from annotation.exchange.records import names_raters, names_rows
from annotation.exchange.tables import Problems
from base.sentences import gettext_noop
from base.text import storable

_EXAMPLE = '{"id": 7, "text": "…", "label": [[0, 4, "PER"]]}'
# Columns of labels in a line of ours, which says whose it is (`origin`): in others' such words may mean anything.
_OF_LABELS = frozenset(
    {"sheet", "section", "question", "column", "column_number", "repeat", "rater_kind", "simulated", "note"}
)
# What `--row` and `--answer` may name of others'.
RAW = ("id", "accept", "label")
# What is no row's: texts, marks, what programs note.
_NO_ABOUT = frozenset(
    {
        *("text", "data", "entities", "relations", "Comments", "row", "spans", "tokens", "origin", "block_starts"),
        *("versions", "sessions", "config"),
    }
)
# Words of these programs which may be a row's where a facet is called so, and are not missed where none is.
BESIDE = frozenset(
    {
        *("label", "labels", "cats", "id", "answer", "options", "accept", "meta"),
        *("is_skipped", "priority", "score", "annotation_approver"),
    }
    | (_OF_LABELS - {"sheet"})
)
_SESSION = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d")
_ANSWERS = frozenset({"accept", "reject", "ignore"})
_MANUAL = frozenset({"ner_manual", "spans_manual"})  # how Prodigy shows texts in which all words are marked


def objects(stream: BinaryIO, name: str, *, is_list: bool) -> Iterator[tuple[int, dict[str, Any]]]:
    if not is_list:
        yield from objects_of_lines(stream, name, _EXAMPLE)
        return
    for line, of in elements(whole(stream, name), name):
        yield line, of if isinstance(of, dict) else {}


# --- which program's ------------------------------------------------------------------------------------------------


class Program(StrEnum):
    SPANS = "doccano, marked words"
    CLASSES = "doccano, classes of texts"
    PRODIGY = "Prodigy"


def program_of(of: Mapping[str, Any]) -> Program | Literal["", "either"]:
    """Which program writes such objects; "either" of doccano's where nothing is labelled, "" for none of these."""
    if not isinstance(of.get("text", of.get("data")), str):
        return ""
    if _is_task(of):
        return Program.PRODIGY
    if isinstance(entities := of.get("entities"), list):
        return Program.SPANS if all(_doccano_span(one) for one in entities) else ""
    labels = of.get("label", of.get("labels"))
    if not isinstance(labels, list):
        return ""
    if not labels:
        return "either"
    if all(_doccano_span(one) for one in labels):
        return Program.SPANS
    is_long = {"row", "rater"} <= of.keys() and "origin" not in of  # a line of labels as docs/import.md has them
    return Program.CLASSES if _name(of) and not is_long and all(isinstance(one, str) for one in labels) else ""


def _is_task(of: Mapping[str, Any]) -> bool:
    """Whether an object is a task of Prodigy in which words are marked or options chosen. Where somebody marked none it
    need not have “spans”."""
    if of.get("_view_id") in _MANUAL:
        return True
    if isinstance(of.get("spans"), list):
        return of.get("answer") in _ANSWERS or all(_prodigy_span(one) for one in of["spans"])
    is_answered = of.get("answer") in _ANSWERS or "_task_hash" in of
    return is_answered and isinstance(of.get("accept"), list)


def _doccano_span(one: Any) -> tuple[Any, Any, Any] | None:
    if isinstance(one, list) and len(one) == 3 and type(one[0]) is type(one[1]) is int:
        return one[0], one[1], one[2]
    if isinstance(one, dict) and {"start_offset", "end_offset"} <= one.keys():
        return one["start_offset"], one["end_offset"], one.get("label")
    return None


def _prodigy_span(one: Any) -> tuple[Any, Any, Any] | None:
    if isinstance(one, dict) and {"start", "end"} <= one.keys():
        return one["start"], one["end"], one.get("label")
    return None


# --- documents ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JsonSource:
    """A file of doccano or Prodigy. `rater`: who answered where a line does not say, as the file is called."""

    stream: BinaryIO
    name: str
    is_list: bool
    program: Program
    rater: str = ""

    @property
    def raters_of_files(self) -> tuple[str, ...]:
        return (self.rater,) if self.rater else ()

    def documents(self, problems: Problems) -> Iterator[Document]:
        document = self._of_prodigy if self.program == Program.PRODIGY else self._of_doccano
        for line, of in objects(self.stream, self.name, is_list=self.is_list):
            text = of.get("text", of.get("data"))
            if isinstance(text, str):
                yield document(line, of, text, problems)
            else:
                problems.add(line, NO_TEXT)

    def _of_doccano(self, line: int, of: Mapping[str, Any], text: str, problems: Problems) -> Document:
        known = _known(of)
        if isinstance(comments := of.get("Comments"), list) and comments:
            known["note"] = "\n".join(map(text_of, comments))
        if of.get("relations"):
            known["relations"] = text_of(of["relations"])
        marked = of["entities"] if "entities" in of else of.get("label", of.get("labels"))
        marked = marked if isinstance(marked, list) else []
        given = list[Given]()
        if self.program == Program.CLASSES:
            given.append(Given(chosen=tuple(map(text_of, marked))))
        elif (spans := _spans(line, marked, _doccano_span, problems)) is not None:
            given.append(Given(spans=_of_units(line, text, spans, problems)))
        if isinstance(categories := of.get("cats"), list):
            given.append(Given(chosen=tuple(map(text_of, categories))))
        rater = next((text_of(by) for key, by in of.items() if names_raters(key) and _is_name(by)), self.rater)
        return _document(line, of, text, given, rater, known)

    def _of_prodigy(self, line: int, of: Mapping[str, Any], text: str, problems: Problems) -> Document:
        known = _known(of)
        rater = next((text_of(by) for name in ("_annotator_id", "_session_id") if (by := of.get(name))), "")
        given: list[Given] = []
        view = of.get("_view_id")
        if of.get("answer", "accept") == "accept":
            accepted = of.get("accept")
            marked = of.get("spans", [] if view in _MANUAL else None)
            if of.get("relations"):
                known["relations"] = text_of(of["relations"])
            if (of.get("_is_binary") is True or view in ("ner", "spans")) and not isinstance(accepted, list):
                problems.add(
                    line,
                    gettext_noop(
                        "This is a yes or no to one suggestion of Prodigy, not all words that are marked in the text. "
                        "Bring what ner.manual, ner.correct or spans.manual made."
                    ),
                )
            elif isinstance(marked, list) and not (isinstance(accepted, list) and (view == "choice" or not marked)):
                spans = _spans(line, marked, _prodigy_span, problems)
                given += [Given(spans=spans)] if spans is not None else []
            if isinstance(accepted, list):
                given.append(Given(chosen=tuple(map(text_of, accepted))))
        if _SESSION.fullmatch(rater) and not _is_by(of, rater):
            rater = ""
        return _document(line, of, text, given, rater, known)


def _document(
    line: int, of: Mapping[str, Any], text: str, given: list[Given], rater: str, known: Mapping[str, str]
) -> Document:
    meta: Mapping[str, Any] = found if isinstance(found := of.get("meta"), dict) else {}
    origin = of.get("origin")
    if isinstance(origin, dict) and _is_by(of, rater):  # else somebody has labelled it there since
        known = {**known, **{key: text_of(said) for key, said in origin.items() if key in _OF_LABELS}}
        rater = text_of(origin.get("rater", rater))
    about = {**meta, **of}
    starts = of.get("block_starts")
    return Document(
        line=line,
        name=_name(of) or str(line),
        text=text,
        given=tuple(given),
        rater=rater,
        known=known,
        about={key: said for key, said in about.items() if _is_about(key, said, is_ours=isinstance(origin, dict))},
        starts=tuple(starts) if isinstance(starts, list) and all(type(one) is int for one in starts) else (),
    )


def document_as_told(line: int, of: Mapping[str, Any], text: str, given: tuple[Given, ...]) -> Document:
    """A document of which such an object, of ours, says which row's and whose it is."""
    return _document(line, of, text, list(given), text_of(of["origin"].get("by", "")), _known(of))


def _is_by(of: Mapping[str, Any], rater: str) -> bool:
    """Whether a line of ours is by whom it went out."""
    return isinstance(origin := of.get("origin"), dict) and origin.get("by") == rater


def _is_about(key: str, said: Any, *, is_ours: bool) -> bool:
    """Whether a value is the row's."""
    if key in BESIDE:
        return not is_ours and isinstance(said, str | bool | int | float)
    return key not in _NO_ABOUT and key[:1] != "_"


def _name(of: Mapping[str, Any]) -> str:
    """What a text is called: by its line, by what Prodigy is shown of it, by Prodigy's number of it; "" for nothing."""
    meta = of.get("meta")
    said = (
        of.get("row"),
        of.get("id"),
        *(value for key, value in of.items() if names_rows(key)),
        meta.get("id") if isinstance(meta, dict) else None,
        of.get("_input_hash"),
    )
    return next((text_of(one) for one in said if _is_name(one)), "")


def _is_name(of: Any) -> bool:
    return (isinstance(of, str) and bool(of.strip())) or type(of) is int


def _known(of: Mapping[str, Any]) -> dict[str, str]:
    is_ours = isinstance(of.get("origin"), dict)
    found = {key: said for key, said in of.items() if key in RAW or (is_ours and _is_of_labels(key))}
    said_of = {storable(key): text_of(said) for key, said in found.items()}
    return {key: said for key, said in said_of.items() if not isinstance(said, Json) or _are_classes(of[key])}


def _is_of_labels(key: str) -> bool:
    return key in _OF_LABELS or key.startswith("facet_")


def _are_classes(of: Any) -> bool:
    return isinstance(of, list) and bool(of) and all(isinstance(one, str) for one in of)


def _spans(line: int, marked: list[Any], of: Any, problems: Problems) -> tuple[Span, ...] | None:
    """None where one of them cannot be read, which `problems` says."""
    found = []
    for one in marked:
        span = of(one)
        if span is None or type(span[0]) is not int or type(span[1]) is not int:
            problems.add(
                line,
                gettext_noop("“%(span)s” is no marked stretch: it needs the numbers where it begins and ends."),
                span=text_of(one)[:80],
            )
            return None
        found.append(Span(span[0], span[1], text_of(span[2])))
    return tuple(found)


def _of_units(line: int, text: str, spans: tuple[Span, ...], problems: Problems) -> tuple[Span, ...]:
    """The code points of stretches of units of UTF-16; `problems` says which are none."""
    if not is_wide(text):
        return spans
    units, found = Utf16.of(text), []
    for span in spans:
        start, end = units.code_point(span.start), units.code_point(span.end)
        if start is not None and end is not None:
            found.append(Span(start, end, span.label))
            continue
        problems.add(
            line,
            gettext_noop(
                "“%(label)s” from %(start)s to %(end)s is no stretch of the text as doccano counts: an emoji is two "
                "units (UTF-16), unless the project counts grapheme clusters, which cannot be read here."
            ),
            label=span.label,
            start=span.start,
            end=span.end,
        )
    return tuple(found)
