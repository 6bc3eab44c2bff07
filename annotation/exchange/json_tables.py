"""JSON that people bring, read as the tables that CSV files are: JSON lines, lists, and tasks of Label Studio.

Pure Python: no Django, no database. docs/import.md says what becomes which column.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from annotation.answers import AnswerKind, Value
from annotation.answers.spans import ENTRIES, SPANS
from annotation.exchange import workbooks
from annotation.exchange.json_reading import (
    Json,
    Record,
    RecordTable,
    cell_of_row,
    elements,
    in_utf_8,
    objects_of_lines,
    text_of,
    whole,
)
from annotation.exchange.marked.opening import open_marked_labels, open_marked_rows
from annotation.exchange.marked.texts import MarkedText
from annotation.exchange.tables import (
    FileTable,
    Problems,
    TableError,
    check_headings,
    check_size,
    open_table,
)
from annotation.exchange.workbooks import is_workbook, open_labels_sheet
from annotation.scheme.spec import QuestionSpec
from base.sentences import gettext_noop
from base.text import storable

# A key of a line that no column is made of: texts of any length, and what has columns of its own inside.
_STARTS = "block_starts"  # of a task: where the blocks of its text begin
_NO_COLUMNS = frozenset({"scores", _STARTS})
_A_LABEL = '{"rater": "A1", "row": "7", "answer": "yes"}'
_A_ROW = '{"row": "7", "text": "…"}'
_MARKED = f'{{"type": "{SPANS}"'  # how the JSON of an answer begins that marks words
_DIGEST, _END = re.compile(r'"text": "([^"]+)"\}\}\Z'), 120  # and how it ends


@dataclass(frozen=True)
class JsonTable(RecordTable):
    """A table made of JSON. `is_list`: of tasks of Label Studio; else one object a line.

    Of tasks an answer is a result of Label Studio as JSON, its type and value: what it says is the question's to read.
    """

    is_list: bool = False

    @property
    def names_controls(self) -> bool:
        return self.is_list

    def value(self, kind: AnswerKind, spec: QuestionSpec, answer: str, *, by_model: bool = False) -> Value | None:
        if isinstance(answer, Json):
            return kind.from_json(spec, json.loads(answer), by_model=by_model)
        if not self.is_list:
            return super().value(kind, spec, answer, by_model=by_model)
        return kind.from_label_studio(spec, json.loads(answer))

    def text_digest(self, answer: str) -> str:
        if not answer.startswith(_MARKED):
            return ""
        found = _DIGEST.search(answer, max(len(answer) - _END, 0))
        return found[1] if found else ""

    def in_words(self, answer: str) -> str:
        if isinstance(answer, Json):
            of = json.loads(answer)
            return text_of(of[0]) if isinstance(of, list) and len(of) == 1 else answer
        return "".join(_answers(json.loads(answer))) if self.is_list and answer else answer

    def records(self, problems: Problems) -> Iterator[Record]:
        return _tasks(self.stream, self.name, problems) if self.is_list else _json_lines(self.stream, self.name)

    def _headed(self, problems: Problems) -> Iterator[Record]:
        """The records, whose answers need not be there: only their columns are asked for."""
        if not self.is_list:
            return self.records(problems)
        return _tasks(self.stream, self.name, problems, only_headings=True)


@dataclass(frozen=True)
class JsonRows(JsonTable):
    """Rows or columns made of JSON: one object a line, or a list of objects; of tasks of Label Studio it is “data”."""

    def records(self, problems: Problems) -> Iterator[Record]:
        return _listed(self.stream, self.name) if self.is_list else _lines_of_rows(self.stream, self.name)

    def _headed(self, problems: Problems) -> Iterator[Record]:
        return self.records(problems)


def open_labels(stream: BinaryIO, *, name: str, max_bytes: int) -> FileTable:
    """A file of labels, whichever it is: CSV, TSV, a workbook, JSON lines, Label Studio's JSON, or marked words of
    doccano, Prodigy, INCEpTION, brat and CoNLL.

    Raises as `open_table`.
    """
    stream = in_utf_8(stream, name=name, max_bytes=max_bytes)
    if (marked := open_marked_labels(stream, name=name, max_bytes=max_bytes)) is not None:
        return marked
    stream.seek(0)
    if is_workbook(stream.read(4)):
        return open_labels_sheet(stream, name=name, max_bytes=max_bytes)
    if not _is_json(stream):
        return open_table(stream, name=name, max_bytes=max_bytes)
    return _open_json(stream, JsonTable, name=name, max_bytes=max_bytes)


def open_rows(stream: BinaryIO, *, name: str, max_bytes: int) -> FileTable:
    """A file of rows: JSON, texts in which words are marked, or what `workbooks.open_rows` takes. Raises as
    `open_table`."""
    stream = in_utf_8(stream, name=name, max_bytes=max_bytes)
    if (marked := open_marked_rows(stream, name=name, max_bytes=max_bytes)) is not None:
        return marked
    if _is_json(stream):
        return _open_json(stream, JsonRows, name=name, max_bytes=max_bytes)
    return workbooks.open_rows(stream, name=name, max_bytes=max_bytes)


def open_columns(stream: BinaryIO, *, name: str, max_bytes: int) -> FileTable:
    """A file of columns: JSON, or what `workbooks.open_columns` takes. Raises as `open_table`."""
    stream = in_utf_8(stream, name=name, max_bytes=max_bytes)
    if _is_json(stream):
        return _open_json(stream, JsonRows, name=name, max_bytes=max_bytes)
    return workbooks.open_columns(stream, name=name, max_bytes=max_bytes)


def _is_json(stream: BinaryIO) -> bool:
    stream.seek(0)
    return stream.read(200).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")


def _open_json(stream: BinaryIO, of: type[JsonTable], *, name: str, max_bytes: int) -> JsonTable:
    """Find the columns of a JSON file.

    Raises:
        TableError: too large, empty, not UTF-8, no JSON, or JSON of another make.
    """
    check_size(stream, name=name, max_bytes=max_bytes)
    stream.seek(0)
    start = stream.read(3)
    stream.seek(3 if start == b"\xef\xbb\xbf" else 0)
    is_list = stream.read(200).lstrip()[:1] == b"["
    table = of(stream, name, "utf-8", "", (), is_list)
    problems = Problems(name)
    header = tuple(dict.fromkeys(key for record in table._headed(problems) for key in record.values))
    if not header and problems.total:
        header = ("rater", "row", "answer")  # so that the problems are read, and told
    if not header:
        raise TableError(gettext_noop("“%(file)s” is empty."), file=name)
    check_headings(header, name=name)
    return of(stream, name, "utf-8", "", header, is_list)


# --- one object a line -----------------------------------------------------------------------------------------------


def _json_lines(stream: BinaryIO, name: str) -> Iterator[Record]:
    return (Record(number, _texts(of)) for number, of in objects_of_lines(stream, name, _A_LABEL))


def _lines_of_rows(stream: BinaryIO, name: str) -> Iterator[Record]:
    return (Record(number, _texts_of_row(of)) for number, of in objects_of_lines(stream, name, _A_ROW))


def _texts(of: Mapping[str, Any]) -> dict[str, str]:
    """The columns that an object makes."""
    return {storable(key): text_of(value) for key, value in of.items() if key not in _NO_COLUMNS}


def _texts_of_row(of: Mapping[str, Any]) -> dict[str, str]:
    """The columns that a row makes. Of a task of Label Studio those of its “data”, and its number as the row, as where
    labels are read; a list of texts is a line each."""
    data = of["data"] if isinstance(of.get("data"), dict) else of
    cells = {storable(key): cell_of_row(value) for key, value in data.items() if key != _STARTS}
    if data is not of and (number := text_of(of.get("id"))):
        cells.setdefault("row", number)
    return cells


# --- Label Studio ----------------------------------------------------------------------------------------------------


def _tasks(stream: BinaryIO, name: str, problems: Problems, *, only_headings: bool = False) -> Iterator[Record]:
    """A record for each result of each annotation and prediction; withdrawn annotations are left out."""
    results_of = _first_of_controls if only_headings else _of_controls
    for line, task in elements(whole(stream, name), name):
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
            raise TableError(
                gettext_noop(
                    "Line %(line)s of “%(file)s” is no task of Label Studio: a task has “data”. Export as JSON there."
                ),
                line=line,
                file=name,
            )
        yield from _of_task(line, task, results_of, problems)


def _listed(stream: BinaryIO, name: str) -> Iterator[Record]:
    """A row for each object of a list."""
    for line, of in elements(whole(stream, name), name):
        if not isinstance(of, dict):
            raise TableError(gettext_noop("Line %(line)s of “%(file)s” is no JSON object."), line=line, file=name)
        yield Record(line, _texts_of_row(of))


_Results = Callable[[Iterable[Mapping[str, Any]], MarkedText], Iterator[Mapping[str, Any]]]


def _of_task(line: int, task: Mapping[str, Any], results_of: _Results, problems: Problems) -> Iterator[Record]:
    data = _texts(task["data"])
    data.setdefault("row", text_of(task.get("id", "")))
    text = _marked_text(task["data"], data)
    for annotation in _objects(task.get("annotations") or task.get("completions")):
        if annotation.get("was_cancelled"):
            continue
        who = {"rater": _who(annotation), "rater_kind": "gold" if annotation.get("ground_truth") else ""}
        for result in results_of(_objects(annotation.get("result")), text):
            yield from _of_result(line, result, {**data, **who}, problems)
    for prediction in _objects(task.get("predictions")):
        who = {"rater": text_of(prediction.get("model_version")) or "model", "rater_kind": "judge"}
        for result in results_of(_objects(prediction.get("result")), text):
            yield from _of_result(line, result, {**data, **who}, problems)


def _objects(of: Any) -> list[dict[str, Any]]:
    """The objects of a list; an export may name predictions by their numbers alone, or have nothing in its place."""
    return [one for one in of if isinstance(one, dict)] if isinstance(of, list) else []


def _who(annotation: Mapping[str, Any]) -> str:
    by = annotation.get("completed_by")
    if isinstance(by, dict):
        by = by.get("email") or by.get("username") or by.get("id")
    if by is None and annotation.get("ground_truth"):
        return "gold"
    return text_of(by)


def _marked_text(data: Mapping[str, Any], stored: Mapping[str, str]) -> MarkedText:
    """The text of a task, in blocks as it says, or as its lines become blocks where rows are imported. `stored`: the
    columns of its data."""
    said, text = data.get(_STARTS), data.get("text")
    starts = said if isinstance(said, list) and all(type(one) is int for one in said) else ()
    return MarkedText(text, starts, stored=stored["text"]) if isinstance(text, str) else MarkedText(None, starts)


def _of_controls(results: Iterable[Mapping[str, Any]], text: MarkedText) -> Iterator[Mapping[str, Any]]:
    """The results, those of one control that mark words as one, since together they are one answer."""
    marked: dict[str, list[Mapping[str, Any]]] = {}
    for result in results:
        if _marks(result):
            marked.setdefault(_control(result), []).append(result)
        else:
            yield result
    for first, *others in marked.values():
        spans = []
        for result in (first, *others):
            span = result["value"]
            if text.moves:
                span = {**span, **text.moved(span)}
            if isinstance(meta := result.get("meta"), dict):
                span = {**span, "entry": meta.get("entry"), "fields": meta.get("fields")}
            spans.append(span)
        yield {**first, "value": text.result(spans)}


def _first_of_controls(results: Iterable[Mapping[str, Any]], _text: MarkedText) -> Iterator[Mapping[str, Any]]:
    """As `_of_controls`, without the words that are marked."""
    marked = set[str]()
    for result in results:
        if not _marks(result):
            yield result
        elif (control := _control(result)) not in marked:
            marked.add(control)
            yield {**result, "value": {"spans": ()}}


def _marks(result: Mapping[str, Any]) -> bool:
    return result.get("type") == SPANS and isinstance(result.get("value"), dict)


def _control(result: Mapping[str, Any]) -> str:
    said = result.get("from_name")
    return said if isinstance(said, str) else text_of(said)


def _of_result(line: int, result: Mapping[str, Any], known: Mapping[str, str], problems: Problems) -> Iterator[Record]:
    if result.get("type") not in _TYPES or not isinstance(result.get("value"), Mapping):
        problems.add(
            line,
            gettext_noop(
                "“%(name)s” is of the type “%(type)s”; choices, ratings, numbers, texts and spans can be imported."
            ),
            name=text_of(result.get("from_name")),
            type=text_of(result.get("type")),
        )
        return
    answers = [] if result["type"] in ("textarea", SPANS) else _answers(result)  # these may have several
    if len(answers) > 1:
        problems.add(
            line,
            gettext_noop("“%(name)s” has several answers (%(answers)s), and a question takes one."),
            name=text_of(result.get("from_name")),
            answers=", ".join(answers),
        )
        return
    control = text_of(result.get("from_name"))
    if control.count("__") > 1:
        control = control.removesuffix(ENTRIES)
    section, _between, question = control.rpartition("__")
    values = {"question": question, **known}
    if section:
        values |= {"section": section, "question": question}
    meta: Mapping[str, Any] = found if isinstance(found := result.get("meta"), dict) else {}
    for name in ("rater", "rater_kind", "simulated", "repeat", "preset", "exposed", "drafted_from", "confirmed"):
        if name in meta:
            values[name] = text_of(meta[name])
    if note := meta.get("text"):
        values["note"] = "\n".join(map(text_of, note)) if isinstance(note, list) else text_of(note)
    said = json.dumps({"type": result["type"], "value": result["value"]}, ensure_ascii=False)
    yield Record(line, {**values, "answer": said})


_TYPES = frozenset({"choices", SPANS, "number", "rating", "textarea"})


def _answers(result: Mapping[str, Any]) -> list[str]:
    """What a result says, in words."""
    value = result["value"]
    match result["type"]:
        case "choices":
            return [text_of(choice) for choice in value.get("choices", ())]
        case "textarea":
            texts = value.get("text", ())
            return [texts] if isinstance(texts, str) else [text_of(text) for text in texts]
        case "labels":  # SPANS
            return ["; ".join(text_of(span.get("text")) for span in value["spans"])]
        case kind:
            return [text_of(value.get(kind))]
