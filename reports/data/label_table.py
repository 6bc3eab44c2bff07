"""The labels behind a report as one self-contained table: what is frozen with it, and all that it is computed from.

Pure Python and NumPy. Nothing in it is a key of a database, so that the same labels give the same bytes on any machine.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from annotation.answers.codes import VALUE
from annotation.scheme.spec import QuestionSpec, SchemeSpec, SectionSpec

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# 2 has what 1 has no place for: answers that are values, facets of rows, drafts. A table without any of these is
# written as 1, byte by byte as it always was, so that equal labels have one digest whatever version wrote them.
FORMATS = (1, 2)
N_VALUES = 6  # of a label in `LabelTable.labels`
# The last axis of `LabelTable.scores`.
LOGPROB, TOKENS, CHARACTERS, UNCONDITIONAL = range(4)


class UnknownFormat(ValueError):
    """The bytes are no label table that this version can read."""


@dataclass(frozen=True)
class RaterEntry:
    """`kind` is person, judge or gold. `normalisation`: by which a judge that scores options chose; `anew`: not the one
    that it labelled with. `model`, `extractor`, `extraction_model`: see `judges.queries.Source`.
    """

    code: str
    kind: str
    simulated: bool = False
    normalisation: str = ""
    anew: bool = False
    model: str = ""
    extractor: str = ""
    extraction_model: str = ""


@dataclass(frozen=True)
class RowEntry:
    sheet: int  # its place in `LabelTable.sheets`
    name: str
    withdrawn: bool = False
    facets: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ColumnEntry:
    sheet: int
    section: str
    position: int
    name: str
    facets: Mapping[str, str]


@dataclass(frozen=True)
class AssignmentEntry:
    """Raters and rows by their places; `sections` are keys, none meaning all."""

    rater: int
    row: int
    repeat: int
    state: str
    sections: tuple[str, ...]


class SkipEntry(NamedTuple):
    """A cell whose rater could not tell, by the places of assignment and column and the number of the question."""

    assignment: int
    column: int
    question: int
    reason: str


class UnreadableEntry(NamedTuple):
    """A cell in which a judge's answer held no verdict; `why` as in `judges.models.UnreadableAnswer.Why`."""

    assignment: int
    column: int
    question: int
    why: str


class DraftEntry(NamedTuple):
    """A label that began as another rater's answer. `answer`: its code then, see `annotation.answers.codes`, or ""
    where the history does not say; `confirmed`: its rater has changed or confirmed it since."""

    label: int  # its place in `LabelTable.labels`
    drafted_by: str  # code of the rater, "" where they are gone
    answer: str
    confirmed: bool


@dataclass(frozen=True, eq=False)
class LabelTable:
    """A study's raters, rows, columns and labels, as far as a report's filters let them in.

    assignments: all but withdrawn ones, whatever filters say of their labels: raters have their places in a sheet by
    them. labels: shape (n_labels, 6): place of the assignment, place of the column, number of the question (sections
    and questions in the order of the scheme), code of the answer: the number of the option or, for a question that is
    answered by values, the place in its `values`, 1 where it was preset, 1 where it was given after a
    look at others' labels; sorted. notes: by place of the label. scored: places of the labels that have scores,
    sorted; scores: shape (n_scored, n_options, 4), summed log-probability in nats, tokens, characters and
    unconditional log-probability of each option, NaN where there is none. skips and unreadable: cells without a label,
    sorted. values: of each question the canonical JSON of the answers that occur, sorted, empty where it has options.
    """

    slug: str
    title: str
    spec: Mapping[str, Any]
    raters: tuple[RaterEntry, ...]
    sheets: tuple[str, ...]
    rows: tuple[RowEntry, ...]
    columns: tuple[ColumnEntry, ...]
    assignments: tuple[AssignmentEntry, ...]
    labels: IntArray
    notes: Mapping[int, str] = field(default_factory=dict)
    scored: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    scores: FloatArray = field(default_factory=lambda: np.zeros((0, 0, 4)))
    skips: tuple[SkipEntry, ...] = ()
    unreadable: tuple[UnreadableEntry, ...] = ()
    values: tuple[tuple[str, ...], ...] = ()
    drafts: tuple[DraftEntry, ...] = ()

    @cached_property
    def scheme(self) -> SchemeSpec:
        return SchemeSpec.model_validate(self.spec)

    @cached_property
    def draft_of(self) -> Mapping[int, DraftEntry]:
        """By the place of the label."""
        return {draft.label: draft for draft in self.drafts}

    @cached_property
    def questions(self) -> tuple[tuple[SectionSpec, QuestionSpec], ...]:
        """By their numbers in `labels`."""
        return tuple((section, question) for section in self.scheme.sections for question in section.questions)

    @cached_property
    def content(self) -> bytes:
        """The table as canonical JSON in UTF-8: the same table always gives the same bytes."""
        of_second = {
            "values": [list(of_question) for of_question in self.values],
            "row_facets": [dict(row.facets) for row in self.rows],
            "drafts": self.drafts,
        }
        second = any(self.values) or any(row.facets for row in self.rows) or bool(self.drafts)
        return canonical_json(
            {
                "format": 2 if second else 1,
                "study": {"slug": self.slug, "title": self.title, "scheme": self.spec},
                "raters": [astuple(rater) for rater in self.raters],
                "sheets": list(self.sheets),
                "rows": [[row.sheet, row.name, row.withdrawn] for row in self.rows],
                "columns": [[c.sheet, c.section, c.position, c.name, c.facets] for c in self.columns],
                "assignments": [[a.rater, a.row, a.repeat, a.state, list(a.sections)] for a in self.assignments],
                "labels": self.labels.tolist(),
                "notes": [[place, self.notes[place]] for place in sorted(self.notes)],
                "scored": self.scored.tolist(),
                "scores": [_scores_to_json(scores) for scores in self.scores],
                "skips": self.skips,
                "unreadable": self.unreadable,
                **(of_second if second else {}),
            }
        )

    def values_of(self, question: int) -> tuple[str, ...]:
        """The canonical JSON of a question's answers by their codes; none where it has options."""
        return self.values[question] if self.values else ()

    def code_of(self, place: int) -> str:
        """The answer of a label as `annotation.answers.codes` writes it."""
        question, answer = self.labels[place, 2:4].tolist()
        options = self.questions[question][1].options
        return str(options[answer].key) if options else VALUE + self.values[question][answer]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of `content`: two reports with the same one rest on the same labels."""
        return hashlib.sha256(self.content).hexdigest()

    def packed(self) -> bytes:
        return zlib.compress(self.content, level=6)


def unpacked(packed: bytes) -> LabelTable:
    """The table that `LabelTable.packed` was made of.

    Raises:
        UnknownFormat: the bytes are of another version, or damaged.
    """
    try:
        data = json.loads(zlib.decompress(packed))
    except (zlib.error, ValueError) as error:
        raise UnknownFormat(str(error)) from error
    if data["format"] not in FORMATS:
        raise UnknownFormat(f"format {data['format']}, where {' and '.join(map(str, FORMATS))} are read")
    row_facets = data.get("row_facets") or [{}] * len(data["rows"])
    n_options = max((len(scores) for scores in data["scores"]), default=0)
    scores = np.full((len(data["scores"]), n_options, 4), np.nan)
    for place, of_label in enumerate(data["scores"]):
        for option, values in enumerate(of_label):
            if values is not None:
                scores[place, option] = [np.nan if value is None else value for value in values]
    return LabelTable(
        slug=data["study"]["slug"],
        title=data["study"]["title"],
        spec=data["study"]["scheme"],
        raters=tuple(RaterEntry(*rater) for rater in data["raters"]),
        sheets=tuple(data["sheets"]),
        rows=tuple(
            RowEntry(sheet, name, withdrawn, facets)
            for (sheet, name, withdrawn), facets in zip(data["rows"], row_facets, strict=True)
        ),
        columns=tuple(ColumnEntry(*column) for column in data["columns"]),
        assignments=tuple(
            AssignmentEntry(rater, row, repeat, state, tuple(sections))
            for rater, row, repeat, state, sections in data["assignments"]
        ),
        labels=np.array(data["labels"], dtype=np.int64).reshape(-1, N_VALUES),
        notes=dict(data["notes"]),
        scored=np.array(data["scored"], dtype=np.int64),
        scores=scores,
        skips=tuple(SkipEntry(*skip) for skip in data["skips"]),
        unreadable=tuple(UnreadableEntry(*answer) for answer in data["unreadable"]),
        values=tuple(tuple(of_question) for of_question in data.get("values", ())),
        drafts=tuple(DraftEntry(*draft) for draft in data.get("drafts", ())),
    )


def canonical_json(value: Any) -> bytes:
    """JSON that is the same bytes for the same value: sorted keys, no white space, UTF-8."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode()


def _scores_to_json(scores: FloatArray) -> list[list[float | None] | None]:
    """Of each option its values, or nothing where it was not scored."""
    # What is no number is not equal to itself; asking NumPy for each value would take ten times as long.
    return [
        None if option[LOGPROB] != option[LOGPROB] else [None if value != value else value for value in option]
        for option in scores.tolist()
    ]
