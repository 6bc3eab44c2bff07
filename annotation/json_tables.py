"""JSON that people bring, read as the tables that CSV files are: JSON lines, and tasks of Label Studio.

Pure Python: no Django, no database. docs/import.md says what becomes which column.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

from annotation.sentences import gettext_noop
from annotation.tables import Line, Problems, Table, TableError, check_size, open_table

# A key of a line that no column is made of: texts of any length, and what has columns of its own inside.
_NO_COLUMNS = frozenset({"scores"})
_NOT_TEXT = gettext_noop("Line %(line)s of “%(file)s” is not UTF-8 text.")


class _Record(NamedTuple):
    """One label or item: the line of the file where it begins, and its values by column."""

    line: int
    values: Mapping[str, str]


@dataclass(frozen=True)
class JsonTable(Table):
    """A table made of JSON. `label_studio`: a list of tasks; else one object a line."""

    label_studio: bool = False

    def lines(self, problems: Problems) -> Iterator[Line]:
        """See `Table.lines`.

        Raises:
            TableError: from here on the file is not readable.
        """
        for record in self._records(problems):
            yield Line(record.line, [record.values.get(name, "").strip() for name in self.header])

    def _records(self, problems: Problems) -> Iterator[_Record]:
        return _tasks(self.stream, self.name, problems) if self.label_studio else _json_lines(self.stream, self.name)


def open_labels(stream: BinaryIO, *, name: str, max_bytes: int) -> Table:
    """A file of labels, whichever it is: CSV, TSV, JSON lines or Label Studio's JSON. Raises as `open_table`."""
    stream.seek(0)
    if stream.read(200).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in (b"{", b"["):
        return open_table(stream, name=name, max_bytes=max_bytes)
    check_size(stream, name=name, max_bytes=max_bytes)
    return _open_json(stream, name=name)


def _open_json(stream: BinaryIO, *, name: str) -> JsonTable:
    """Find the columns of a JSON file.

    Raises:
        TableError: empty, not UTF-8, no JSON, or JSON of another make.
    """
    stream.seek(0)
    start = stream.read(3)
    stream.seek(3 if start == b"\xef\xbb\xbf" else 0)
    label_studio = stream.read(200).lstrip()[:1] == b"["
    table = JsonTable(stream, name, "utf-8", "", (), label_studio)
    problems = Problems(name)
    header = tuple(dict.fromkeys(key for record in table._records(problems) for key in record.values))
    if not header and problems.total:
        header = ("rater", "row", "answer")  # so that the problems are read, and told
    if not header:
        raise TableError(gettext_noop("“%(file)s” is empty."), file=name)
    return JsonTable(stream, name, "utf-8", "", header, label_studio)


# --- one object a line -----------------------------------------------------------------------------------------------


def _json_lines(stream: BinaryIO, name: str) -> Iterator[_Record]:
    stream.seek(0)
    for number, line in enumerate(stream, 1):
        text = _decoded(line, name, number).strip()
        if not text:
            continue
        try:
            record = json.loads(text)
        except ValueError as error:
            raise TableError(
                gettext_noop("Line %(line)s of “%(file)s” is no JSON object; each line is one, such as %(example)s."),
                line=number,
                file=name,
                example='{"rater": "A1", "row": "7", "answer": "yes"}',
            ) from error
        if not isinstance(record, dict):
            raise TableError(gettext_noop("Line %(line)s of “%(file)s” is no JSON object."), line=number, file=name)
        yield _Record(number, {key: _text(value) for key, value in record.items() if key not in _NO_COLUMNS})


def _decoded(line: bytes, name: str, number: int) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise TableError(_NOT_TEXT, line=number, file=name) from error


def _text(value: Any) -> str:
    """A value as a cell of a CSV file would have it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(int(value)) if value == int(value) else repr(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# --- Label Studio ----------------------------------------------------------------------------------------------------


def _tasks(stream: BinaryIO, name: str, problems: Problems) -> Iterator[_Record]:
    """A record for each result of each annotation and prediction; withdrawn annotations are left out."""
    stream.seek(0)
    try:
        text = stream.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise TableError(_NOT_TEXT, line=line, file=name) from error
    for line, task in _elements(text, name):
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
            raise TableError(
                gettext_noop(
                    "Line %(line)s of “%(file)s” is no task of Label Studio: a task has “data”. Export as JSON there."
                ),
                line=line,
                file=name,
            )
        yield from _of_task(line, task, problems)


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
        except ValueError as error:
            broken = line + text.count("\n", counted, getattr(error, "pos", at))
            raise TableError(
                gettext_noop("“%(file)s” is no JSON from line %(line)s on."), file=name, line=broken
            ) from error
        yield line, element
    if at >= len(text):
        raise TableError(gettext_noop("“%(file)s” ends in the middle of its list."), file=name)


def _of_task(line: int, task: Mapping[str, Any], problems: Problems) -> Iterator[_Record]:
    data = {key: _text(value) for key, value in task["data"].items() if key not in _NO_COLUMNS}
    data.setdefault("row", _text(task.get("id", "")))
    for annotation in task.get("annotations") or task.get("completions") or ():
        if annotation.get("was_cancelled"):
            continue
        who = {"rater": _who(annotation), "rater_kind": "gold" if annotation.get("ground_truth") else ""}
        for result in annotation.get("result", ()):
            yield from _of_result(line, result, {**data, **who}, problems)
    for prediction in task.get("predictions") or ():
        if not isinstance(prediction, dict):
            continue  # an export may name predictions by their numbers alone
        who = {"rater": _text(prediction.get("model_version")) or "model", "rater_kind": "judge"}
        for result in prediction.get("result", ()):
            yield from _of_result(line, result, {**data, **who}, problems)


def _who(annotation: Mapping[str, Any]) -> str:
    by = annotation.get("completed_by")
    if isinstance(by, dict):
        by = by.get("email") or by.get("username") or by.get("id")
    if by is None and annotation.get("ground_truth"):
        return "gold"
    return _text(by)


def _of_result(line: int, result: Mapping[str, Any], known: Mapping[str, str], problems: Problems) -> Iterator[_Record]:
    answers = _answers(result)
    if answers is None:
        problems.add(
            line,
            gettext_noop("“%(name)s” is of the type “%(type)s”; choices, ratings and numbers can be imported."),
            name=_text(result.get("from_name")),
            type=_text(result.get("type")),
        )
        return
    if len(answers) > 1:
        problems.add(
            line,
            gettext_noop("“%(name)s” has several answers (%(answers)s), and a question takes one."),
            name=_text(result.get("from_name")),
            answers=", ".join(answers),
        )
        return
    section, _between, question = _text(result.get("from_name")).rpartition("__")
    values = dict(known)
    if section:
        values |= {"section": section, "question": question}
    meta: Mapping[str, Any] = found if isinstance(found := result.get("meta"), dict) else {}
    for name in ("rater", "rater_kind", "simulated", "repeat", "preset"):
        if name in meta:
            values[name] = _text(meta[name])
    if note := meta.get("text"):
        values["note"] = "\n".join(map(_text, note)) if isinstance(note, list) else _text(note)
    yield _Record(line, {**values, "answer": "".join(answers)})


def _answers(result: Mapping[str, Any]) -> list[str] | None:
    value = result.get("value", {})
    match result.get("type"):
        case "choices":
            return [_text(choice) for choice in value.get("choices", ())]
        case "rating":
            return [_text(value.get("rating"))]
        case "number":
            return [_text(value.get("number"))]
        case _:
            return None
