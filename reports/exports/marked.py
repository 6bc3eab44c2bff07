"""Marked words, and choices, as other programs have them, with the texts.

    Prodigy     an object of JSON a line for each answer, by whom in `_annotator_id`
    doccano     the same, a file for each question and rater in a ZIP, which is called as they are
    INCEpTION   marked words alone, a file for each answer in a ZIP, in folders as where it exports a project
    CoNLL       the same, tags at tokens, a file for each question and rater

Offsets count code points for Prodigy and units of UTF-16 for the others, as these do. `origin` says of an answer what
no other program has a word for; it is read back where nobody else has labelled the line there meanwhile
(`annotation.exchange.marked`).
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby, pairwise
from operator import attrgetter
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from annotation.answers.spans import has_places, plain_spans, starts_of
from annotation.exchange.marked import cas_json, conll
from annotation.exchange.marked.archives import CURATED, NOBODY, TOLD
from annotation.exchange.marked.documents import Span
from annotation.exchange.marked.texts import MarkedText, Utf16
from annotation.exchange.records import GOLD
from annotation.exchange.zips import is_hidden
from annotation.scheme.spec import QuestionSpec
from reports.data.label_table import IntArray, LabelTable
from reports.exports.archive import Files
from reports.exports.labels import facet_names, label_lines, places_of
from reports.exports.names import FileNames, file_names

_in_json = json.JSONEncoder(ensure_ascii=False).encode


def has_spans(questions: Iterable[QuestionSpec]) -> bool:
    """Whether words are marked in answers to one of these questions."""
    return any(map(has_places, questions))


def has_any(questions: Iterable[QuestionSpec]) -> bool:
    """Whether one of these questions has answers that doccano and Prodigy know: marked words, or options."""
    return any(map(_fits, questions))


def _fits(spec: QuestionSpec) -> bool:
    return bool(spec.options) or has_places(spec)


class _Text(NamedTuple):
    """The text of a row. `starts`: of its blocks, where its lines do not say so."""

    whole: str
    blocks: Sequence[str]
    starts: list[int]

    @classmethod
    def of(cls, blocks: Sequence[str]) -> _Text:
        whole = "\n".join(blocks)
        return cls(whole, blocks, [] if MarkedText(whole).blocks == list(blocks) else starts_of(blocks))


class _Answer(NamedTuple):
    """What a label says: the key of an option, or all words that are marked (start, end, label)."""

    place: int  # in the table
    rater: int
    row: int
    repeat: int
    column: int
    question: int
    option: int
    spans: Sequence[tuple[int, int, str]]
    text: _Text


def prodigy(table: LabelTable, blocks: Iterable[Sequence[str]], questions: Sequence[str] = ()) -> Iterator[str]:
    """Prodigy's JSONL: a task for each answer, as ner_manual, spans_manual or choice have it.

    Args:
        blocks: of each row of the table the texts of its blocks.
        questions: whose labels go in, as "section.question"; none means all.
    """
    known = _Known(table)
    for answer in _answers(table, places_of(table, questions), blocks):
        _section, spec = table.questions[answer.question]
        by = table.raters[answer.rater].code
        task: dict[str, Any] = {"text": answer.text.whole}
        if spec.options:
            task["options"] = [{"id": one.key, "text": one.label} for one in spec.options]
            task |= {"accept": [spec.options[answer.option].key], "_view_id": "choice"}
        else:
            task["spans"] = [{"start": start, "end": end, "label": label} for start, end, label in answer.spans]
            task["_view_id"] = "spans_manual" if _overlap(answer.spans) else "ner_manual"
        task |= {"answer": "accept", "_is_binary": False, "_annotator_id": by, "_session_id": by}
        yield _in_json({**task, **known.of(answer, by)}) + "\n"


def doccano(files: Files, table: LabelTable, blocks: Iterable[Sequence[str]], questions: Sequence[str] = ()) -> None:
    """doccano's JSONL as it exports it: [start, end, label] of marked words, the labels of options. What of a study has
    several questions is in folders that are called as they are."""
    known, places = _Known(table), places_of(table, questions)
    with tempfile.TemporaryFile() as spool:
        of_raters = _OfRaters(table, _folders_of(table, places, _fits), spool, ".jsonl")
        for answer in _answers(table, places, blocks):
            _section, spec = table.questions[answer.question]
            label: Any = [spec.options[answer.option].label] if spec.options else _in_units(answer)
            of = {"text": answer.text.whole, "label": label, **known.of(answer, of_raters.names[answer.rater])}
            of_raters.write(answer, _in_json(of) + "\n")
        for name, pieces in of_raters.files():
            files.add(name, pieces)


def conll_2003(files: Files, table: LabelTable, blocks: Iterable[Sequence[str]], questions: Sequence[str] = ()) -> None:
    """Marked words as tags at tokens (IOB2). All that is in a row has the same tokens: one ends, too, where words begin
    or end that anybody has marked there. Left out is besides what tags cannot say (`conll.can_say`)."""
    known, places, tags = _Known(table), places_of(table, questions), dict[str, str]()
    with tempfile.TemporaryFile() as spool, tempfile.TemporaryFile() as told:
        of_raters = _OfRaters(table, _folders_of(table, places, has_places), spool, conll.ENDING)
        answers = _answers(table, places, blocks, has_places)
        for _row, of_row in groupby(answers, key=attrgetter("row")):
            said = [(answer, list(map(Span._make, answer.spans))) for answer in of_row]
            said = [(answer, spans) for answer, spans in said if conll.can_say(answer.text.whole, spans)]
            cuts = {at for _answer, spans in said for span in spans for at in span[:2]}
            for answer, spans in said:
                labels = {_tag(tags, span.label): span.label for span in spans}
                tagged = [span._replace(label=tags[span.label]) for span in spans]
                of_raters.write(answer, conll.written(answer.text.whole, tagged, cuts))
                of = {"file": of_raters.file_of(answer), "text": answer.text.whole, "labels": labels}
                told.write((_in_json({**of, **known.of(answer, of_raters.names[answer.rater])}) + "\n").encode())
        for name, pieces in of_raters.files():
            files.add(name, pieces)
        told.seek(0)
        files.add(TOLD, iter(told))


def _tag(tags: dict[str, str], label: str) -> str:
    """A label as a tag has it, without blanks; another one for each."""
    if label not in tags:
        tag = re.sub(r"\s", "_", label)
        while tag in tags.values():
            tag += "_"
        tags[label] = tag
    return tags[label]


class _OfRaters:
    """Files for each rater, in a folder for each question where these are several: written in any order to a `spool`,
    then taken from it."""

    def __init__(self, table: LabelTable, folders: Mapping[int, str], spool: BinaryIO, ending: str) -> None:
        self.names = file_names(map(_said_in_full, (rater.code for rater in table.raters)))
        self._folders, self._spool, self._ending = folders, spool, ending
        self._written: dict[str, list[tuple[int, int]]] = {}  # where the pieces of a file stand in the spool

    def file_of(self, answer: _Answer) -> str:
        return f"{self._folders[answer.question]}{self.names[answer.rater]}{self._ending}"

    def write(self, answer: _Answer, piece: str) -> None:
        data = piece.encode()
        self._written.setdefault(self.file_of(answer), []).append((self._spool.tell(), len(data)))
        self._spool.write(data)

    def files(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        for name, pieces in sorted(self._written.items()):
            yield name, _pieces(self._spool, pieces)


def inception(files: Files, table: LabelTable, blocks: Iterable[Sequence[str]], questions: Sequence[str] = ()) -> None:
    """Marked words as INCEpTION exports a project, as UIMA CAS JSON, with the texts under “source”. What of a study has
    several questions is in folders that are called as they are. What somebody answered twice is two documents."""
    known, places = _Known(table), places_of(table, questions)
    raters = file_names(_shown(rater.code) for rater in table.raters)
    folders = _folders_of(table, places, has_places)
    taken = {question: FileNames() for question in folders}
    names: dict[tuple[int, ...], str] = {}
    with tempfile.TemporaryFile() as told:
        for answer in _answers(table, places, blocks, has_places):
            folder = folders[answer.question]
            text = (answer.question, answer.row, answer.column, answer.repeat)
            if text not in names:
                names[text] = taken[answer.question].new(_shown(table.rows[answer.row].name))
                files.add(f"{folder}source/{names[text]}", answer.text.whole)
            is_gold = table.raters[answer.rater].code == table.raters[answer.rater].kind == GOLD
            by = CURATED if is_gold else raters[answer.rater]
            path = f"{folder}{'curation' if is_gold else 'annotation'}/{names[text]}/{by}.json"
            files.add(path, cas_json.written(answer.text.whole, map(Span._make, answer.spans), title=names[text]))
            told.write((_in_json({"file": path, **known.of(answer, by)}) + "\n").encode())
        told.seek(0)
        files.add(TOLD, iter(told))


def _folders_of(table: LabelTable, places: IntArray, fits: Callable[[QuestionSpec], bool]) -> dict[int, str]:
    """Of each question that fits the folder of what answers it; none where it is the only one."""
    asked = [int(number) for number in np.unique(table.labels[places, 2]) if fits(table.questions[number][1])]
    names = file_names(table.questions[question][1].key for question in asked)
    return {question: f"{name}/" if len(asked) > 1 else "" for question, name in zip(asked, names, strict=True)}


def _shown(code: str) -> str:
    """A code as a file's name that no program hides or has another meaning for."""
    return f"_{code}" if is_hidden(code) or code in (NOBODY, CURATED) else code


def _in_units(answer: _Answer) -> list[tuple[int, int, str]]:
    units = Utf16.of(answer.text.whole)
    return [(units.unit(start), units.unit(end), label) for start, end, label in answer.spans]


def _said_in_full(code: str) -> str:
    """A code that is a file's name which is read as somebody's: “all” is everybody's in doccano, “.a” is hidden."""
    return f"_{code}" if code.startswith(".") or code.lower() == "all" else code


def _pieces(spool: BinaryIO, lines: Sequence[tuple[int, int]]) -> Iterator[bytes]:
    for at, length in lines:
        spool.seek(at)
        yield spool.read(length)


def _answers(
    table: LabelTable,
    places: IntArray,
    blocks: Iterable[Sequence[str]],
    fits: Callable[[QuestionSpec], bool] = _fits,
) -> Iterator[_Answer]:
    """The labels that a program has a form for, row by row. Left out is an answer of which something would be lost: an
    entry without a place, or with more than its words and a label. `fits`: whether it knows answers to a question."""
    fitting = np.array([fits(spec) for _section, spec in table.questions], dtype=bool)
    places = places[fitting[table.labels[places, 2]]]
    rows = table.assignments.row[table.labels[places, 0]]
    of_each, at, text = iter(blocks), -1, _Text.of(())
    values: dict[tuple[int, int], Any] = {}
    for line in label_lines(table, places[np.lexsort((places, rows))]):
        place, _assignment, rater, row, repeat, _state, column, question, option, *_how = line
        spec = table.questions[question][1]
        while at < row:
            at, text = at + 1, _Text.of(next(of_each))
        spans: Sequence[tuple[int, int, str]] = ()
        if not spec.options:
            records = values.setdefault((question, option), json.loads(table.values_of(question)[option]))
            found = plain_spans(spec, records, text.blocks)
            if found is None:
                continue
            spans = found
        yield _Answer(place, rater, row, repeat, column, question, option, spans, text)


def _overlap(spans: Sequence[tuple[int, int, str]]) -> bool:
    return any(before[1] > after[0] for before, after in pairwise(spans))


class _Known:
    """Where an answer belongs, and by whom it is: the columns by which an import finds it."""

    def __init__(self, table: LabelTable) -> None:
        self._table = table

    @cached_property
    def _facets(self) -> tuple[str, ...]:
        return facet_names(self._table)

    def of(self, answer: _Answer, by: str) -> dict[str, Any]:
        """`by`: as whoever answered is called in the file."""
        table, row = self._table, self._table.rows[answer.row]
        section, spec = table.questions[answer.question]
        column, rater = table.columns[answer.column], table.raters[answer.rater]
        known: dict[str, Any] = {"row": row.name, "sheet": table.sheets[row.sheet]}
        if answer.text.starts:
            known["block_starts"] = answer.text.starts
        known |= {"section": section.key, "question": spec.key}
        if not section.is_one_form:
            known |= {"column": column.name, "column_number": column.position + 1}
            known |= {f"facet_{name}": str(column.facets.get(name, "")) for name in self._facets}
        origin: dict[str, Any] = {"by": by, "rater": rater.code, "rater_kind": rater.kind}
        origin |= {"simulated": rater.simulated, "repeat": answer.repeat}
        if note := table.notes.get(answer.place):
            origin["note"] = note
        return {**known, "origin": origin}
