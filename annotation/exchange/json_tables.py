"""JSON that people bring, read as the tables that CSV files are: JSON lines, lists, and tasks of Label Studio.

Pure Python: no Django, no database. docs/import.md says what becomes which column.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

from annotation.answers import AnswerKind, Value
from annotation.answers.spans import ENTRIES
from annotation.exchange import workbooks
from annotation.exchange.tables import (
    FileLine,
    FileTable,
    Gaps,
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
_NOT_TEXT = gettext_noop("Line %(line)s of “%(file)s” is not UTF-8 text.")
_A_LABEL = '{"rater": "A1", "row": "7", "answer": "yes"}'
_A_ROW = '{"row": "7", "text": "…"}'


class _Json(str):
    """A list or an object that stands in a line, as JSON: no text, though it is read as a cell."""

    __slots__ = ()


class _Record(NamedTuple):
    """One label or item: the line of the file where it begins, and its values by column."""

    line: int
    values: Mapping[str, str]


@dataclass(frozen=True)
class JsonTable(FileTable):
    """A table made of JSON. `is_list`: of tasks of Label Studio; else one object a line.

    Of tasks an answer is a result of Label Studio as JSON, its type and value: what it says is the question's to read.
    """

    is_list: bool = False

    @property
    def names_controls(self) -> bool:
        return self.is_list

    def value(self, kind: AnswerKind, spec: QuestionSpec, answer: str, *, by_model: bool = False) -> Value | None:
        if isinstance(answer, _Json):
            return kind.from_json(spec, json.loads(answer), by_model=by_model)
        if not self.is_list:
            return super().value(kind, spec, answer, by_model=by_model)
        return kind.from_label_studio(spec, json.loads(answer))

    def in_words(self, answer: str) -> str:
        if isinstance(answer, _Json):
            of = json.loads(answer)
            return _text(of[0]) if isinstance(of, list) and len(of) == 1 else answer
        return "".join(_answers(json.loads(answer))) if self.is_list and answer else answer

    def lines(self, problems: Problems) -> Iterator[FileLine]:
        """See `FileTable.lines`.

        Raises:
            TableError: from here on the file is not readable.
        """
        gaps = Gaps(self.name, len(self.header))
        for record in self._records(problems):
            gaps.add(len(record.values))
            cells = (record.values.get(name, "") for name in self.header)
            yield FileLine(record.line, [cell if isinstance(cell, _Json) else cell.strip() for cell in cells])

    def _records(self, problems: Problems) -> Iterator[_Record]:
        return _tasks(self.stream, self.name, problems) if self.is_list else _json_lines(self.stream, self.name)


@dataclass(frozen=True)
class JsonRows(JsonTable):
    """Rows or columns made of JSON: one object a line, or a list of objects; of tasks of Label Studio it is “data”."""

    def _records(self, problems: Problems) -> Iterator[_Record]:
        return _listed(self.stream, self.name) if self.is_list else _lines_of_rows(self.stream, self.name)


def open_labels(stream: BinaryIO, *, name: str, max_bytes: int) -> FileTable:
    """A file of labels, whichever it is: CSV, TSV, a workbook, JSON lines or Label Studio's JSON.

    Raises as `open_table`.
    """
    stream.seek(0)
    if is_workbook(stream.read(4)):
        return open_labels_sheet(stream, name=name, max_bytes=max_bytes)
    if not _is_json(stream):
        return open_table(stream, name=name, max_bytes=max_bytes)
    return _open_json(stream, JsonTable, name=name, max_bytes=max_bytes)


def open_rows(stream: BinaryIO, *, name: str, max_bytes: int) -> FileTable:
    """A file of rows: JSON, or what `workbooks.open_rows` takes. Raises as `open_table`."""
    if _is_json(stream):
        return _open_json(stream, JsonRows, name=name, max_bytes=max_bytes)
    return workbooks.open_rows(stream, name=name, max_bytes=max_bytes)


def open_columns(stream: BinaryIO, *, name: str, max_bytes: int) -> FileTable:
    """A file of columns: JSON, or what `workbooks.open_columns` takes. Raises as `open_table`."""
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
    header = tuple(dict.fromkeys(key for record in table._records(problems) for key in record.values))
    if not header and problems.total:
        header = ("rater", "row", "answer")  # so that the problems are read, and told
    if not header:
        raise TableError(gettext_noop("“%(file)s” is empty."), file=name)
    check_headings(header, name=name)
    return of(stream, name, "utf-8", "", header, is_list)


# --- one object a line -----------------------------------------------------------------------------------------------


def _json_lines(stream: BinaryIO, name: str) -> Iterator[_Record]:
    return (_Record(number, _texts(of)) for number, of in _objects_of_lines(stream, name, _A_LABEL))


def _lines_of_rows(stream: BinaryIO, name: str) -> Iterator[_Record]:
    return (_Record(number, _texts_of_row(of)) for number, of in _objects_of_lines(stream, name, _A_ROW))


def _objects_of_lines(stream: BinaryIO, name: str, example: str) -> Iterator[tuple[int, dict[str, Any]]]:
    stream.seek(0)
    for number, line in enumerate(stream, 1):
        text = _decoded(line, name, number).strip()
        if not text:
            continue
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise TableError(
                gettext_noop("Line %(line)s of “%(file)s” is no JSON object; each line is one, such as %(example)s."),
                line=number,
                file=name,
                example=example,
            ) from error
        if not isinstance(record, dict):
            raise TableError(gettext_noop("Line %(line)s of “%(file)s” is no JSON object."), line=number, file=name)
        yield number, record


def _decoded(line: bytes, name: str, number: int) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise TableError(_NOT_TEXT, line=number, file=name) from error


def _texts(of: Mapping[str, Any]) -> dict[str, str]:
    """The columns that an object makes."""
    return {storable(key): _text(value) for key, value in of.items() if key not in _NO_COLUMNS}


def _texts_of_row(of: Mapping[str, Any]) -> dict[str, str]:
    """The columns that a row makes. Of a task of Label Studio those of its “data”, and its number as the row, as where
    labels are read; a list of texts is a line each."""
    data = of["data"] if isinstance(of.get("data"), dict) else of
    cells = {
        storable(key): "\n".join(map(_text, value)) if isinstance(value, list) and _are_texts(value) else _text(value)
        for key, value in data.items()
        if key != _STARTS
    }
    if data is not of and (number := _text(of.get("id"))):
        cells.setdefault("row", number)
    return cells


def _are_texts(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _text(value: Any) -> str:
    """A value as a cell of a CSV file would have it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):  # some programs write “nothing” so
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(int(value)) if math.isfinite(value) and value == int(value) else repr(value)
    # JSON can say what no text file holds: the zero character, half of a pair of UTF-16.
    return storable(value) if isinstance(value, str) else _Json(storable(json.dumps(value, ensure_ascii=False)))


# --- Label Studio ----------------------------------------------------------------------------------------------------


def _tasks(stream: BinaryIO, name: str, problems: Problems) -> Iterator[_Record]:
    """A record for each result of each annotation and prediction; withdrawn annotations are left out."""
    for line, task in _elements(_whole(stream, name), name):
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
            raise TableError(
                gettext_noop(
                    "Line %(line)s of “%(file)s” is no task of Label Studio: a task has “data”. Export as JSON there."
                ),
                line=line,
                file=name,
            )
        yield from _of_task(line, task, problems)


def _listed(stream: BinaryIO, name: str) -> Iterator[_Record]:
    """A row for each object of a list."""
    for line, of in _elements(_whole(stream, name), name):
        if not isinstance(of, dict):
            raise TableError(gettext_noop("Line %(line)s of “%(file)s” is no JSON object."), line=line, file=name)
        yield _Record(line, _texts_of_row(of))


def _whole(stream: BinaryIO, name: str) -> str:
    stream.seek(0)
    try:
        return stream.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise TableError(_NOT_TEXT, line=line, file=name) from error


def _elements(text: str, name: str) -> Iterator[tuple[int, Any]]:
    """The elements of a JSON list, each with the line where it begins."""
    decoder = json.JSONDecoder()
    at, line = text.index("[") + 1, 1

    def skip(at: int, signs: str) -> int:
        while at < len(text) and text[at] in signs:
            at += 1
        return at

    counted = 0
    while (at := skip(at, " \t\r\n,")) < len(text) and text[at] != "]":
        line += text.count("\n", counted, at)
        counted = at
        try:
            element, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            broken = line + text.count("\n", counted, getattr(error, "pos", at))
            raise TableError(
                gettext_noop("“%(file)s” is no JSON from line %(line)s on."), file=name, line=broken
            ) from error
        yield line, element
    if at >= len(text):
        raise TableError(gettext_noop("“%(file)s” ends in the middle of its list."), file=name)


def _of_task(line: int, task: Mapping[str, Any], problems: Problems) -> Iterator[_Record]:
    data = _texts(task["data"])
    data.setdefault("row", _text(task.get("id", "")))
    starts = _block_starts(task["data"])
    for annotation in _objects(task.get("annotations") or task.get("completions")):
        if annotation.get("was_cancelled"):
            continue
        who = {"rater": _who(annotation), "rater_kind": "gold" if annotation.get("ground_truth") else ""}
        for result in _of_controls(_objects(annotation.get("result")), starts):
            yield from _of_result(line, result, {**data, **who}, problems)
    for prediction in _objects(task.get("predictions")):
        who = {"rater": _text(prediction.get("model_version")) or "model", "rater_kind": "judge"}
        for result in _of_controls(_objects(prediction.get("result")), starts):
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
    return _text(by)


def _block_starts(data: Mapping[str, Any]) -> list[int]:
    """Where the blocks of a task's text begin: as it says, or as its lines become blocks where rows are imported."""
    said, text = data.get(_STARTS), data.get("text")
    if isinstance(said, list) and said and all(type(one) is int for one in said):
        return sorted(said)
    found: list[int] = []
    at = 0
    for line in text.splitlines(keepends=True) if isinstance(text, str) else ():
        if line.strip():
            found.append(at + (0 if found else len(line) - len(line.lstrip())))
        at += len(line)
    return found or [0]


def _of_controls(results: Iterable[Mapping[str, Any]], starts: Sequence[int]) -> Iterator[Mapping[str, Any]]:
    """The results, those of one control that mark words as one, since together they are one answer."""
    marked: dict[str, list[Mapping[str, Any]]] = {}
    for result in results:
        if result.get("type") == "labels" and isinstance(result.get("value"), Mapping):
            marked.setdefault(_text(result.get("from_name")), []).append(result)
        else:
            yield result
    for first, *others in marked.values():
        spans = []
        for result in (first, *others):
            meta = result.get("meta")
            known = {name: meta.get(name) for name in ("entry", "fields")} if isinstance(meta, Mapping) else {}
            spans.append({**result["value"], **known})
        yield {**first, "value": {"spans": spans, "starts": starts}}


def _of_result(line: int, result: Mapping[str, Any], known: Mapping[str, str], problems: Problems) -> Iterator[_Record]:
    if result.get("type") not in _TYPES or not isinstance(result.get("value"), Mapping):
        problems.add(
            line,
            gettext_noop(
                "“%(name)s” is of the type “%(type)s”; choices, ratings, numbers, texts and spans can be imported."
            ),
            name=_text(result.get("from_name")),
            type=_text(result.get("type")),
        )
        return
    answers = _answers(result)
    if len(answers) > 1 and result["type"] != "textarea":
        problems.add(
            line,
            gettext_noop("“%(name)s” has several answers (%(answers)s), and a question takes one."),
            name=_text(result.get("from_name")),
            answers=", ".join(answers),
        )
        return
    control = _text(result.get("from_name"))
    if control.count("__") > 1:
        control = control.removesuffix(ENTRIES)
    section, _between, question = control.rpartition("__")
    values = {"question": question, **known}
    if section:
        values |= {"section": section, "question": question}
    meta: Mapping[str, Any] = found if isinstance(found := result.get("meta"), dict) else {}
    for name in ("rater", "rater_kind", "simulated", "repeat", "preset", "exposed", "drafted_from", "confirmed"):
        if name in meta:
            values[name] = _text(meta[name])
    if note := meta.get("text"):
        values["note"] = "\n".join(map(_text, note)) if isinstance(note, list) else _text(note)
    said = json.dumps({"type": result["type"], "value": result["value"]}, ensure_ascii=False)
    yield _Record(line, {**values, "answer": said})


_TYPES = frozenset({"choices", "labels", "number", "rating", "textarea"})


def _answers(result: Mapping[str, Any]) -> list[str]:
    """What a result says, in words."""
    value = result["value"]
    match result["type"]:
        case "choices":
            return [_text(choice) for choice in value.get("choices", ())]
        case "textarea":
            texts = value.get("text", ())
            return [texts] if isinstance(texts, str) else [_text(text) for text in texts]
        case "labels":
            return ["; ".join(_text(span.get("text")) for span in value["spans"])]
        case kind:
            return [_text(value.get(kind))]
