"""The labels behind a report in long form, one a line: as lines of text, Parquet, JSONL and Label Studio's JSON.

docs/import.md lists the columns; `annotation.exchange.label_imports` reads all of them back but Parquet.

`about`: of each row of the table its title and address; none where only its name is told.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from annotation.answers import kind_of
from annotation.answers.spans import ENTRIES, has_places, starts_of, to_spans
from annotation.scheme.basis import facet_text
from annotation.scheme.spec import facet_word
from reports.data.label_table import LOGPROB, IntArray, LabelTable
from reports.data.rows import RowAbout, RowText
from reports.exported_labels import certificate_word
from reports.exports import memory
from reports.exports.spreadsheets import labels_csv
from reports.exports.wide import wide

if TYPE_CHECKING:
    import pyarrow as pa

TEXT_COLUMNS = (
    "sheet", "row", "rater", "rater_kind", "simulated", "repeat", "section", "column", "column_number", "question",
    "answer", "answer_label", "preset", "note", "state", "exposed", "drafted_from", "confirmed", "skipped",
    "row_title", "row_url",
)  # fmt: skip
_OF_ROWS = ("sheet", "row", *RowAbout._fields, "withdrawn")
_FACET, _ROW_FACET = "facet_", "row_facet_"
_AT_ONCE = 20_000  # labels
_IN_GROUP = 131_072  # labels of a group of rows in a Parquet file


def facet_names(table: LabelTable) -> tuple[str, ...]:
    """All facets of the scheme's sections, in their order, each once."""
    return tuple(dict.fromkeys(name for section in table.scheme.sections for name in section.column.facets))


def row_facet_names(table: LabelTable) -> tuple[str, ...]:
    """The facets of rows that the scheme declares, hidden ones too: researchers see them."""
    return table.scheme.row.keys


def header(table: LabelTable) -> tuple[str, ...]:
    of_columns = (f"{_FACET}{name}" for name in facet_names(table))
    of_rows = (f"{_ROW_FACET}{name}" for name in row_facet_names(table))
    return (*TEXT_COLUMNS, *of_columns, *of_rows, *_more(table, certificate="certificate", version="scheme_version"))


def _more(table: LabelTable, *, certificate: str, version: str) -> tuple[str, ...]:
    """What stands in the last columns, of those that the table has."""
    return (*((certificate,) if table.accepted else ()), *((version,) if table.wordings.size else ()))


def records(
    table: LabelTable, questions: Sequence[str] = (), about: Sequence[RowAbout] = ()
) -> Iterator[tuple[str, ...]]:
    """The labels of these questions, or of all, as `header` names their values, in the order of the table."""
    texts, words, states = _Texts(table, about), answer_words(table), table.assignments.states
    for label in label_lines(table, places_of(table, questions)):
        place, _assignment, rater, row, repeat, state, column, question, option, preset, exposed = label
        answer = (*words[question][option], _yes(preset), table.notes.get(place, ""))
        how = (_yes(exposed), *_draft(table, place), "")
        record = texts.record((rater, row, repeat, states[state]), (column, question), answer, how)
        yield (*record, *_more(table, certificate=_certificate(table, place), version=_version(table, place)))


def wide_csv(table: LabelTable, questions: Sequence[str] = (), about: Sequence[RowAbout] = ()) -> Iterator[str]:
    """The labels in wide form, see `reports.exports.wide`, in blocks of lines."""
    return labels_csv(*wide(table.scheme, header(table), records(table, questions, about), questions))


def skipped(
    table: LabelTable, questions: Sequence[str] = (), about: Sequence[RowAbout] = ()
) -> Iterator[tuple[str, ...]]:
    """The skipped cells in the same form: no answer, and why the rater could not tell."""
    texts, numbers = _Texts(table, about), _numbers(table, questions)
    for skip in table.skips:
        if skip.question in numbers:
            work = table.assignments[skip.assignment][:4]
            record = texts.record(work, skip[1:3], ("", "", _yes(False), ""), (_yes(False), "", "", skip.reason))
            yield (*record, *_more(table, certificate="", version=""))


def _certificate(table: LabelTable, place: int) -> str:
    """Under which certificate a judge's label was accepted; "" where it was not."""
    entry = table.accepted_of.get(place)
    return certificate_word(entry.certificate, entry.revoked) if entry else ""


def _version(table: LabelTable, place: int) -> str:
    """By which version of the scheme a label was given; "" where it has had one wording."""
    return str(table.wordings[place]) if table.wordings.size else ""


def _draft(table: LabelTable, place: int) -> tuple[str, str]:
    """Whose answer a label began as, and whether it was confirmed; both empty for one's own."""
    draft = table.draft_of.get(place)
    return (draft.drafted_by, _yes(draft.confirmed)) if draft else ("", "")


class _Texts:
    """What many records have in common, made once."""

    def __init__(self, table: LabelTable, about: Sequence[RowAbout]) -> None:
        facets = facet_names(table)
        self._rows = [(table.sheets[row.sheet], row.name) for row in table.rows]
        self._about = [of_row[:2] for of_row in _about(table, about)]
        self._row_facets = [
            tuple(facet_text(row.facets.get(name)) for name in row_facet_names(table)) for row in table.rows
        ]
        self._raters = [(rater.code, rater.kind, _yes(rater.simulated)) for rater in table.raters]
        self._questions = [(section.key, spec.key) for section, spec in table.questions]
        self._columns = [
            (column.name, str(column.position + 1), [str(column.facets.get(name, "")) for name in facets])
            for column in table.columns
        ]

    def record(
        self,
        work: tuple[int, int, int, str],
        cell: tuple[int, int],
        answer: tuple[str, str, str, str],
        how: tuple[str, str, str, str],
    ) -> tuple[str, ...]:
        """`work`: its rater, row, repeat and state. `cell`: its column and question. `how`: exposed, drafted from
        whom, confirmed, skipped."""
        rater, row, repeat, state = work
        section, question = self._questions[cell[1]]
        column, number, facets = self._columns[cell[0]]
        return (
            *(*self._rows[row], *self._raters[rater], str(repeat), section, column, number, question, *answer, state),
            *(*how, *self._about[row], *facets, *self._row_facets[row]),
        )


def _about(table: LabelTable, about: Sequence[RowAbout]) -> Sequence[RowAbout]:
    """Of each row what is known of it."""
    return about or [RowAbout()] * len(table.rows)


def answer_words(table: LabelTable) -> list[list[tuple[str, str]]]:
    """Of each question its answers by their codes: the text form that imports read, and what raters see."""
    found = []
    for number, (_section, spec) in enumerate(table.questions):
        kind, values = kind_of(spec), [json.loads(stored) for stored in table.values_of(number)]
        options = [(option.key, option.label) for option in spec.options]
        found.append(options or [(kind.written(spec, value), kind.shown(spec, value)) for value in values])
    return found


def _numbers(table: LabelTable, questions: Sequence[str]) -> list[int]:
    return [n for n, (s, q) in enumerate(table.questions) if not questions or f"{s.key}.{q.key}" in questions]


def places_of(table: LabelTable, questions: Sequence[str]) -> IntArray:
    """The places of the labels of these questions, or of all."""
    wanted: IntArray = np.flatnonzero(np.isin(table.labels[:, 2], _numbers(table, questions)))
    return wanted


def _parts(places: IntArray) -> Iterator[IntArray]:
    return (places[start : start + _AT_ONCE] for start in range(0, places.size, _AT_ONCE))


def label_lines(table: LabelTable, places: IntArray) -> Iterator[tuple[int, ...]]:
    """Of the label at each place: the place, its assignment, that one's rater, row, repeat and state, and the other
    values of its line of the table.

    Column by column, since a million small lists of numbers take ten times as long to make.
    """
    work = table.assignments
    for some in _parts(places):
        assignment, *others = table.labels[some].T
        of_work = [values[assignment] for values in (work.rater, work.row, work.repeat, work.state)]
        yield from zip(*(values.tolist() for values in (some, assignment, *of_work, *others)), strict=True)


def _yes(flag: bool | int) -> str:
    return "yes" if flag else "no"


# --- Parquet ---------------------------------------------------------------------------------------------------------


def parquet(table: LabelTable, questions: Sequence[str] = (), about: Sequence[RowAbout] = ()) -> bytes:
    """The same columns, with numbers and truth values as such, and `scores`: the options' summed log-probabilities.

    Skipped cells have no label, so they are not in it.
    """
    import pyarrow as pa  # 30 MiB that nothing else needs
    import pyarrow.parquet as pq

    pa.set_memory_pool(pa.system_memory_pool())  # its own keeps what was freed

    wanted = places_of(table, questions)
    groups = [wanted[start : start + _IN_GROUP] for start in range(0, wanted.size, _IN_GROUP)] or [wanted]
    out = io.BytesIO()
    words = _Words(table, about)
    first = _parquet_rows(table, words, groups[0])
    with pq.ParquetWriter(out, first.schema, compression="zstd") as file:
        file.write_table(first)
        del first
        for group in groups[1:]:
            file.write_table(_parquet_rows(table, words, group))
            memory.give_back()
    return out.getvalue()


class _Words:
    """The texts that many labels have in common, in Arrow's form: made once for all groups of rows."""

    def __init__(self, table: LabelTable, about: Sequence[RowAbout]) -> None:
        work = table.assignments
        used, self.state = np.unique(work.state, return_inverse=True)
        self.sheet = np.fromiter((row.sheet for row in table.rows), dtype=np.int64)
        words = answer_words(table)
        self.first_option = np.cumsum([0, *(len(of_question) for of_question in words)])
        answers = [answer for of_question in words for answer in of_question]
        sections = [section.key for section in table.scheme.sections]
        self.section_of = np.array(
            [table.scheme.sections.index(section) for section, _spec in table.questions], dtype=np.int64
        )
        self.coded = {
            "sheet": _Coded(table.sheets),
            "row": _Coded([row.name for row in table.rows]),
            "rater": _Coded([rater.code for rater in table.raters]),
            "rater_kind": _Coded([rater.kind for rater in table.raters]),
            "section": _Coded(sections),
            "column": _Coded([column.name for column in table.columns]),
            "question": _Coded([spec.key for _section, spec in table.questions]),
            "answer": _Coded([written for written, _shown in answers]),
            "answer_label": _Coded([shown for _written, shown in answers]),
            "state": _Coded([work.states[number] for number in used]),
            "row_title": _Coded([of_row.title for of_row in _about(table, about)]),
            "row_url": _Coded([of_row.url for of_row in _about(table, about)]),
        }
        for name in facet_names(table):
            self.coded[f"{_FACET}{name}"] = _Coded([str(c.facets.get(name, "")) for c in table.columns])
        for name in row_facet_names(table):
            self.coded[f"{_ROW_FACET}{name}"] = _Coded([facet_text(row.facets.get(name)) for row in table.rows])


class _Coded:
    """A few texts, of which each label has one; texts that stand there several times become one."""

    def __init__(self, values: Sequence[str]) -> None:
        import pyarrow as pa

        distinct, place = np.unique(np.array(values or [""], dtype=object), return_inverse=True)
        self._place, self._texts = place.astype(np.int32), pa.array(distinct.tolist())

    def of(self, codes: npt.NDArray[np.integer[Any]]) -> Any:
        import pyarrow as pa

        return pa.DictionaryArray.from_arrays(pa.array(self._place[codes]), self._texts)


def _parquet_rows(table: LabelTable, words: _Words, wanted: IntArray) -> pa.Table:
    import pyarrow as pa

    labels = table.labels[wanted]
    work, coded = table.assignments, words.coded
    rater, row, repeat = (of[labels[:, 0]] for of in (work.rater, work.row, work.repeat))
    option = words.first_option[labels[:, 2]] + labels[:, 3]
    simulated = np.array([rater.simulated for rater in table.raters], dtype=bool)
    number = np.array([column.position + 1 for column in table.columns], dtype=np.int64)
    columns: dict[str, Any] = {
        "sheet": coded["sheet"].of(words.sheet[row]),
        "row": coded["row"].of(row),
        "rater": coded["rater"].of(rater),
        "rater_kind": coded["rater_kind"].of(rater),
        "simulated": pa.array(simulated[rater]),
        "repeat": pa.array(repeat.astype(np.int16)),
        "section": coded["section"].of(words.section_of[labels[:, 2]]),
        "column": coded["column"].of(labels[:, 1]),
        "column_number": pa.array(number[labels[:, 1]].astype(np.int32)),
        "question": coded["question"].of(labels[:, 2]),
        "answer": coded["answer"].of(option),
        "answer_label": coded["answer_label"].of(option),
        "preset": pa.array(labels[:, 4].astype(bool)),
        "note": pa.array([table.notes.get(place, "") for place in wanted.tolist()]),
        "state": coded["state"].of(words.state[labels[:, 0]]),
        "exposed": pa.array(labels[:, 5].astype(bool)),
        "drafted_from": pa.array([_draft(table, place)[0] for place in wanted.tolist()]),
        "confirmed": pa.array([_draft(table, place)[1] == "yes" for place in wanted.tolist()]),
        "row_title": coded["row_title"].of(row),
        "row_url": coded["row_url"].of(row),
    }
    for name in facet_names(table):
        columns[f"{_FACET}{name}"] = coded[f"{_FACET}{name}"].of(labels[:, 1])
    for name in row_facet_names(table):
        columns[f"{_ROW_FACET}{name}"] = coded[f"{_ROW_FACET}{name}"].of(row)
    if table.accepted:
        columns["certificate"] = pa.array([_certificate(table, place) for place in wanted.tolist()])
    if table.wordings.size:
        columns["scheme_version"] = pa.array(table.wordings[wanted])
    columns["scores"] = pa.array(_all_scores(table, wanted), type=pa.map_(pa.string(), pa.float64()))
    return pa.table(columns)


def _all_scores(table: LabelTable, wanted: npt.NDArray[np.int64]) -> list[dict[str, float] | None]:
    if not table.scored.size:
        return [None] * wanted.size
    return [scores_of(table, place) for place in wanted.tolist()]


def rows_header(table: LabelTable) -> tuple[str, ...]:
    return (*_OF_ROWS, *(f"{_ROW_FACET}{name}" for name in row_facet_names(table)))


def row_records(table: LabelTable, about: Sequence[RowAbout]) -> Iterator[tuple[str, ...]]:
    """The rows of the table, as `rows_header` names their values; an import of rows reads them."""
    names = row_facet_names(table)
    for row, of_row in zip(table.rows, about, strict=True):
        facets = (facet_word(row.facets.get(name, "")) for name in names)
        yield (table.sheets[row.sheet], row.name, *of_row, _yes(row.withdrawn), *facets)


def scores_of(table: LabelTable, place: int) -> dict[str, float] | None:
    """The summed log-probability of each option of a label, or None where nothing scored it."""
    if not table.scored.size:
        return None
    at = int(np.searchsorted(table.scored, place))
    if at == table.scored.size or table.scored[at] != place:
        return None
    spec = table.questions[int(table.labels[place, 2])][1]
    values = table.scores[at, :, LOGPROB].tolist()
    return {option.key: value for option, value in zip(spec.options, values, strict=False) if not math.isnan(value)}


# --- JSON ------------------------------------------------------------------------------------------------------------

_in_json = json.JSONEncoder(ensure_ascii=False).encode  # `dumps` makes an encoder for each line
_KEPT = 1024  # pieces of JSON that come again soon; more would hold many long notes


def _inside(value: Mapping[str, Any]) -> str:
    """The JSON of an object without its braces, to be put together with others'."""
    return _in_json(value)[1:-1]


def _truth(flag: bool | int) -> str:
    return "true" if flag else "false"


def jsonl(table: LabelTable, questions: Sequence[str] = (), about: Sequence[RowAbout] = ()) -> Iterator[str]:
    """One label a line, as the `datasets` library loads it: every line has the same keys and types. Skipped cells have
    no label, so they are not in it.

    Put together from the JSON of the values: an encoder for each line takes three times as long.
    """
    names = header(table)
    text = lru_cache(_KEPT)(_in_json)
    forms: dict[str, Callable[[str], str] | None] = dict.fromkeys(names, text)
    forms |= dict.fromkeys(("simulated", "preset", "exposed", "confirmed"), lambda said: _truth(said == "yes"))
    forms |= {"repeat": str, "column_number": str, "skipped": None}
    if table.wordings.size:
        forms["scheme_version"] = str
    keys = [_in_json(name).replace("%", "%%") for name in names if forms[name]]
    line = "{" + "".join(f"{key}: %s, " for key in keys) + '"scores": %s}\n'
    form_of = tuple(forms.values())
    places = (place for some in _parts(places_of(table, questions)) for place in some.tolist())
    for place, record in zip(places, records(table, questions, about), strict=True):
        values = [form(value) for form, value in zip(form_of, record, strict=True) if form]
        scores = scores_of(table, place)
        # As a list: keys that differ from line to line would become columns of their own.
        in_list = _in_json([{"option": key, "logprob": value} for key, value in scores.items()]) if scores else "[]"
        yield line % (*values, in_list)


def texts_jsonl(texts: Iterable[RowText]) -> Iterator[str]:
    """The texts that were labelled, a row a line: `text` is all of it, `blocks` are its parts with their kinds."""
    for one in texts:
        said = one._asdict() | {
            "text": "\n".join(text for _kind, text in one.blocks),
            "blocks": [{"kind": kind, "text": text} for kind, text in one.blocks],
        }
        yield _in_json(said) + "\n"


TO_NAME = "row"


def control_name(section: str, question: str) -> str:
    """What a question is called in Label Studio: “items__presence”."""
    return f"{section}__{question}"


def label_studio(
    table: LabelTable,
    questions: Sequence[str] = (),
    about: Sequence[RowAbout] = (),
    texts: Iterable[Sequence[str]] | None = None,
) -> Iterator[str]:
    """Label Studio's JSON, in pieces: a task for each row and column; people's answers are annotations, gold ones with
    ground_truth, judges' are predictions. The rater of an answer is in its `meta`, which Label Studio keeps.

    Args:
        texts: of each row of the table the texts of its blocks, where downloads have them. `text` of a task is all of
            them, a line each, and entries of lists that are tied to words in it are marked there.
    """
    facets = facet_names(table)
    results_of, of_rows = _results(table), _about(table, about)
    of_each, at, blocks = enumerate(texts or ()), -1, None
    yield "["
    wanted = places_of(table, questions)
    rows = table.assignments.row[table.labels[wanted, 0]]
    ordered = wanted[np.lexsort((wanted, table.labels[wanted, 1], rows))]
    del rows, wanted
    for number, ((row, column), lines) in enumerate(
        groupby(label_lines(table, ordered), key=itemgetter(_ROW, _COLUMN)), 1
    ):
        of = table.columns[column]
        while texts is not None and at < row:
            at, blocks = next(of_each)
        data = {
            **({} if blocks is None else {"text": "\n".join(blocks), "block_starts": starts_of(blocks)}),
            "sheet": table.sheets[table.rows[row].sheet],
            "row": table.rows[row].name,
            "row_title": of_rows[row].title,
            "row_url": of_rows[row].url,
            "section": of.section,
            "column": of.name,
            "column_number": of.position + 1,
            **{f"{_FACET}{name}": str(of.facets.get(name, "")) for name in facets},
            **{f"{_ROW_FACET}{name}": facet_text(table.rows[row].facets.get(name)) for name in row_facet_names(table)},
        }
        annotations, predictions = [], []
        for (_assignment, by), given in groupby(lines, key=itemgetter(_ASSIGNMENT, _RATER)):
            rater = table.raters[by]
            results = f'"result": [{", ".join(one for line in given for one in results_of(line, blocks))}]'
            if rater.kind == "judge":
                predictions.append(f'{{"model_version": {_in_json(rater.code)}, {results}}}')
            else:
                truth = _truth(rater.kind == "gold")
                annotations.append(f'{{"ground_truth": {truth}, "was_cancelled": false, {results}}}')
        yield (
            ("," if number > 1 else "")
            + f'\n{{"id": {number}, "data": {_in_json(data)}, "annotations": [{", ".join(annotations)}], '
            + f'"predictions": [{", ".join(predictions)}]}}'
        )
    yield "\n]\n"


_ASSIGNMENT, _RATER, _ROW, _COLUMN = 1, 2, 3, 6  # in a line of `label_lines`


def _results(table: LabelTable) -> Callable[[Sequence[int], Sequence[str] | None], Iterator[str]]:
    """What makes a line of `label_lines` results of Label Studio: their JSON, put together from what many have in
    common. There are several where entries are marked in the texts of the row."""

    @lru_cache(_KEPT)
    def answer_of(question: int, option: int, is_placed: bool) -> str:
        section, spec = table.questions[question]
        if spec.options:
            result: dict[str, Any] = {"type": "choices", "value": {"choices": [spec.options[option].label]}}
        else:
            result = kind_of(spec).to_label_studio(spec, json.loads(table.values_of(question)[option]))
        name = control_name(section.key, spec.key) + (ENTRIES if is_placed else "")
        return _inside({"from_name": name, "to_name": TO_NAME, **result})

    def marked(question: int, option: int, blocks: Sequence[str]) -> list[dict[str, Any]]:
        section, spec = table.questions[question]
        found = to_spans(spec, json.loads(table.values_of(question)[option]), blocks)
        name = control_name(section.key, spec.key)
        return [{"from_name": name, "to_name": TO_NAME, **one} for one in found]

    @lru_cache(_KEPT)
    def rater_of(number: int) -> str:
        rater = table.raters[number]
        return _inside({"rater": rater.code, "rater_kind": rater.kind, "simulated": rater.simulated})

    def results(line: Sequence[int], blocks: Sequence[str] | None) -> Iterator[str]:
        place, _assignment, rater, _row, repeat, _state, _column, question, option, preset, exposed = line
        more: dict[str, Any] = {}
        if draft := table.draft_of.get(place):
            more |= {"drafted_from": draft.drafted_by, "confirmed": draft.confirmed}
        if stated := _certificate(table, place):
            more["certificate"] = stated
        if table.wordings.size:
            more["scheme_version"] = int(table.wordings[place])
        if note := table.notes.get(place):
            more["text"] = [note]
        meta = (
            f'{rater_of(rater)}, "repeat": {repeat}, "preset": {_truth(preset)}, "exposed": {_truth(exposed)}'
            f"{', ' + _inside(more) if more else ''}"
        )
        is_placed = blocks is not None and has_places(table.questions[question][1])
        spans = marked(question, option, blocks) if is_placed and blocks is not None else []
        for number, span in enumerate(spans):
            of_span = _inside(span.pop("meta"))
            yield f'{{"id": "label-{place}-{number}", {_inside(span)}, "meta": {{{meta}, {of_span}}}}}'
        if not spans:
            yield f'{{"id": "label-{place}", {answer_of(question, option, is_placed)}, "meta": {{{meta}}}}}'

    return results
