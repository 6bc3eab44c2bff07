"""Labels in wide form: a line for each rater and row, with a field for each question. Pure.

Made of lines in long form, live or out of a label table, in which the labels of one rater and row stand together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from annotation.scheme.spec import QuestionSpec, SchemeSpec, SectionSpec

_OF_WORK = ("sheet", "row", "rater", "rater_kind", "simulated", "repeat")
_OF_COLUMN = ("section", "column", "column_number")
_OF_LABELS = ("state", "exposed", "drafted_from", "confirmed", "row_title", "row_url")


class Wide(NamedTuple):
    header: tuple[str, ...]
    lines: Iterator[tuple[str, ...]]


def wide(
    scheme: SchemeSpec, header: Sequence[str], records: Iterable[Sequence[str]], questions: Sequence[str] = ()
) -> Wide:
    """The labels of these questions, or of all, in wide form.

    Sections that ask about a row as a whole share its line; of others each column has a line of its own, and the file
    has headings for columns. A cell without an answer is empty, a skipped one too. Of the answers of a line it is said
    whether one of them was given after a look (`exposed`), whose drafts they began as, and whether all of these were
    confirmed.

    Args:
        header: what `records` hold, as `annotation.exchange.exports` or `reports.exports.labels` has it.
        questions: "section.question"; none means all.
    """
    asked = [
        (section, spec)
        for section in scheme.sections
        for spec in section.questions
        if not questions or f"{section.key}.{spec.key}" in questions
    ]
    apart = {section.key: section for section, _spec in asked if not section.is_one_form}
    facets = dict.fromkeys(f"facet_{name}" for section in apart.values() for name in section.column.facets)
    of_columns = (*_OF_COLUMN, *facets) if apart else ()
    last = (*_OF_LABELS, *(name for name in header if name.startswith("row_facet_")))
    names = _headings(asked, taken={*_OF_WORK, *_OF_COLUMN, *_OF_LABELS})
    at = {name: place for place, name in enumerate(header)}
    return Wide(
        (*_OF_WORK, *of_columns, *names.values(), *last),
        _lines(records, at, names=names, of_columns=of_columns, apart=apart, last=last),
    )


def _headings(asked: Sequence[tuple[SectionSpec, QuestionSpec]], *, taken: set[str]) -> dict[tuple[str, str], str]:
    """(section, question) -> heading: the question's key, with its section's where it alone is not clear."""
    times = Counter(spec.key for _section, spec in asked)
    return {
        (section.key, spec.key): spec.key
        if times[spec.key] == 1 and spec.key not in taken
        else f"{section.key}__{spec.key}"
        for section, spec in asked
    }


def _lines(
    records: Iterable[Sequence[str]],
    at: Mapping[str, int],
    *,
    names: Mapping[tuple[str, str], str],
    of_columns: Sequence[str],
    apart: Container[str],
    last: Sequence[str],
) -> Iterator[tuple[str, ...]]:
    work_at = [at[name] for name in _OF_WORK]
    columns_at = [at[name] for name in of_columns]
    section, question, number = at["section"], at["question"], at["column_number"]
    given = (record for record in records if not record[at["skipped"]])
    for work, of_work in groupby(given, key=lambda record: [record[place] for place in work_at]):
        of_lines: dict[tuple[str, str], list[Sequence[str]]] = {}
        for record in of_work:
            is_whole = record[section] not in apart and record[number] == "1"
            key = ("", "") if is_whole else (record[section], record[number])
            of_lines.setdefault(key, []).append(record)
        for key, labels in of_lines.items():
            first = labels[0]
            column = (first[place] for place in columns_at) if key[0] else ("" for _name in of_columns)
            answers = {(label[section], label[question]): label[at["answer"]] for label in labels}
            marks = {name: {label[at[name]] for label in labels} for name in ("exposed", "drafted_from", "confirmed")}
            said = {
                **{name: first[at[name]] for name in last},
                "exposed": "yes" if "yes" in marks["exposed"] else "no",
                "drafted_from": "; ".join(sorted(marks["drafted_from"] - {""})),
                "confirmed": next((word for word in ("no", "yes") if word in marks["confirmed"]), ""),
            }
            yield (
                *(*work, *column),
                *(answers.get(place, "") for place in names),
                *(said[name] for name in last),
            )
