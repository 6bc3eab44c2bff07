"""The labels behind a report as one self-contained table: what is frozen with it, and all that it is computed from.

Pure Python and NumPy. Nothing in it is a key of a database, so that the same labels give the same bytes on any machine.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from annotation.answers.codes import VALUE
from annotation.scheme.spec import QuestionSpec, SchemeSpec, SectionSpec
from reports.data.frequent import FrequentEntry

IntArray = npt.NDArray[np.int64]
SmallArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]

# 2 has what 1 has no place for: answers that are values, facets of rows, drafts. A table without any of these is
# written as 1, byte by byte as it always was, so that equal labels have one digest whatever version wrote them. 3 has
# labels that were accepted under a certificate, and is written where there are any; 4 the words that are frequent in
# the rows' texts; 5 the arms of judges; 6 arms that read candidates in another order; 7 which names are left out of the
# words that are frequent; 8 which rows judges have seen; 9 by which wording labels were given, where there were
# several.
FORMATS = (1, 2, 3, 4, 5, 6, 7, 8, 9)
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


@dataclass(frozen=True, slots=True)
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


class AssignmentEntry(NamedTuple):
    """Raters and rows by their places; `sections` are keys, none meaning all."""

    rater: int
    row: int
    repeat: int
    state: str
    sections: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Assignments(Sequence[AssignmentEntry]):
    """Many assignments as arrays of shape (n,): a million of them in 13 MB, where as many objects take 90.

    rater and row: places; state: the place of each one's in `states`; sections: of those that have any, by place.
    """

    rater: npt.NDArray[np.int32]
    row: npt.NDArray[np.int32]
    repeat: npt.NDArray[np.int32]
    state: npt.NDArray[np.int8]
    states: tuple[str, ...]
    sections: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Iterable[AssignmentEntry]) -> Assignments:
        listed = list(entries)
        states = tuple(sorted({entry.state for entry in listed}))
        return cls(
            rater=np.array([entry.rater for entry in listed], dtype=np.int32),
            row=np.array([entry.row for entry in listed], dtype=np.int32),
            repeat=np.array([entry.repeat for entry in listed], dtype=np.int32),
            state=np.array([states.index(entry.state) for entry in listed], dtype=np.int8),
            states=states,
            sections={place: entry.sections for place, entry in enumerate(listed) if entry.sections},
        )

    def __len__(self) -> int:
        return self.rater.size

    @overload
    def __getitem__(self, place: int) -> AssignmentEntry: ...
    @overload
    def __getitem__(self, place: slice) -> list[AssignmentEntry]: ...
    def __getitem__(self, place: int | slice) -> AssignmentEntry | list[AssignmentEntry]:
        if isinstance(place, slice):
            return list(self._between(*place.indices(len(self))))
        return AssignmentEntry(
            int(self.rater[place]),
            int(self.row[place]),
            int(self.repeat[place]),
            self.states[self.state[place]],
            self.sections.get(place % len(self), ()),
        )

    def __iter__(self) -> Iterator[AssignmentEntry]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self._between(start, min(start + _AT_ONCE, len(self)), 1)

    def _between(self, start: int, stop: int, step: int) -> Iterator[AssignmentEntry]:
        yield from self.at(np.arange(start, stop, step))

    def at(self, places: npt.NDArray[np.integer[Any]]) -> list[AssignmentEntry]:
        """Those at these places; many at once, since one by one each takes ten times as long."""
        states, sections = self.states, self.sections
        lines = zip(
            places.tolist(),
            *(values[places].tolist() for values in (self.rater, self.row, self.repeat, self.state)),
            strict=True,
        )
        return [AssignmentEntry(w, r, n, states[state], sections.get(place, ())) for place, w, r, n, state in lines]

    def lines(self, start: int, end: int) -> list[tuple[int, int, int, str, tuple[str, ...]]]:
        """Those from `start` to before `end` as plain tuples, which take a third of the time of entries."""
        some = slice(start, end)
        return list(
            zip(
                *(values[some].tolist() for values in (self.rater, self.row, self.repeat)),
                [self.states[state] for state in self.state[some].tolist()],
                [self.sections.get(place, ()) for place in range(start, end)],
                strict=True,
            )
        )

    def are(self, state: str) -> npt.NDArray[np.bool_]:
        """Of each whether it is in this state."""
        if state not in self.states:
            return np.zeros(len(self), dtype=bool)
        found: npt.NDArray[np.bool_] = self.state == self.states.index(state)
        return found


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


class AcceptedEntry(NamedTuple):
    """A judge's label that counts under a certificate, by the first letters of its digest. `revoked`: it holds no
    more."""

    label: int  # its place in `LabelTable.labels`
    certificate: str
    revoked: bool


class ArmEntry(NamedTuple):
    """A judge as an arm of the judge `of`, which is an arm of itself and stands first. turn, reworded: how it differs;
    orders: by question, the keys of the options as it read them, where it read them in an order. shift: how many
    candidates of the evidence stood last that stand first there; stood: by question, rows of the keys of the options
    that name a candidate, in the order in which it read these."""

    code: str
    of: str
    turn: int
    reworded: bool
    orders: Mapping[str, tuple[str, ...]]
    shift: int = 0
    stood: Mapping[str, tuple[tuple[str, ...], ...]] = {}


class SeenEntry(NamedTuple):
    """A judge, by its place among the raters, was fitted to people's answers in these rows, by their places, or has
    them as examples in its prompt. Whether its labels there are in the table the filters say."""

    rater: int
    rows: tuple[int, ...]


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
    wordings: shape (n_labels,), the version of the scheme that stood when each label was given, empty where it has had
    one wording. of_other_wordings: cells that were answered or skipped, but by a wording that the filters leave out,
    shape (n_cells, 4): places of assignment and column, number of the question, 1 where a label stands there; sorted.
    """

    slug: str
    title: str
    spec: Mapping[str, Any]
    raters: tuple[RaterEntry, ...]
    sheets: tuple[str, ...]
    rows: tuple[RowEntry, ...]
    columns: tuple[ColumnEntry, ...]
    assignments: Assignments
    labels: SmallArray
    notes: Mapping[int, str] = field(default_factory=dict)
    scored: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    scores: FloatArray = field(default_factory=lambda: np.zeros((0, 0, 4)))
    skips: tuple[SkipEntry, ...] = ()
    unreadable: tuple[UnreadableEntry, ...] = ()
    values: tuple[tuple[str, ...], ...] = ()
    drafts: tuple[DraftEntry, ...] = ()
    accepted: tuple[AcceptedEntry, ...] = ()
    frequent: tuple[FrequentEntry, ...] = ()
    arms: tuple[ArmEntry, ...] = ()
    seen: tuple[SeenEntry, ...] = ()
    wordings: SmallArray = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    of_other_wordings: SmallArray = field(default_factory=lambda: np.zeros((0, 4), dtype=np.int32))

    @cached_property
    def scheme(self) -> SchemeSpec:
        return SchemeSpec.model_validate(self.spec)

    @cached_property
    def draft_of(self) -> Mapping[int, DraftEntry]:
        """By the place of the label."""
        return {draft.label: draft for draft in self.drafts}

    @cached_property
    def accepted_of(self) -> Mapping[int, AcceptedEntry]:
        """By the place of the label."""
        return {entry.label: entry for entry in self.accepted}

    @cached_property
    def questions(self) -> tuple[tuple[SectionSpec, QuestionSpec], ...]:
        """By their numbers in `labels`."""
        return tuple((section, question) for section in self.scheme.sections for question in section.questions)

    @property
    def content(self) -> bytes:
        """The table as canonical JSON in UTF-8: the same table always gives the same bytes."""
        return b"".join(self.content_parts())

    def content_parts(self) -> Iterator[bytes]:
        """`content` in pieces, so that a million labels are never all lists of numbers at once."""
        of_second = {
            "values": [list(of_question) for of_question in self.values],
            "row_facets": [dict(row.facets) for row in self.rows],
            "drafts": self.drafts,
        }
        seventh = any(one.names for one in self.frequent)
        sixth = any(arm.shift or arm.stood for arm in self.arms)
        fifth = bool(self.arms)
        fourth = bool(self.frequent) or fifth
        third = bool(self.accepted) or fourth
        second = any(self.values) or any(row.facets for row in self.rows) or bool(self.drafts) or third
        ninth = bool(self.wordings.size or self.of_other_wordings.size)
        later = (second, third, fourth, fifth, sixth, seventh, bool(self.seen), ninth)
        whole: dict[str, Any] = {
            "format": max((number for number, has in enumerate(later, start=2) if has), default=1),
            "study": {"slug": self.slug, "title": self.title, "scheme": self.spec},
            "raters": [astuple(rater) for rater in self.raters],
            "sheets": list(self.sheets),
            "rows": [[row.sheet, row.name, row.withdrawn] for row in self.rows],
            "columns": [[c.sheet, c.section, c.position, c.name, c.facets] for c in self.columns],
            "assignments": _Long(len(self.assignments), self.assignments.lines),
            # Tuples out of whole columns are made faster than as many small lists.
            "labels": _Long(
                len(self.labels), lambda start, end: list(zip(*self.labels[start:end].T.tolist(), strict=True))
            ),
            "notes": [[place, self.notes[place]] for place in sorted(self.notes)],
            "scored": self.scored.tolist(),
            "scores": _Long(
                len(self.scores), lambda start, end: [_scores_to_json(scores) for scores in self.scores[start:end]]
            ),
            "skips": self.skips,
            "unreadable": self.unreadable,
            **(of_second if second else {}),
            **({"accepted": self.accepted} if third else {}),
            **({"frequent": [one if seventh else one[:5] for one in self.frequent]} if fourth else {}),
            **({"arms": [arm if sixth else arm[:5] for arm in self.arms]} if fifth else {}),
            **({"seen": self.seen} if self.seen else {}),
            **(self._of_ninth() if ninth else {}),
        }
        for number, key in enumerate(sorted(whole)):
            yield b'%s"%s":' % (b"," if number else b"{", key.encode())
            value = whole[key]
            if isinstance(value, _Long):
                yield from value.parts()
            else:
                yield canonical_json(value)
        yield b"}"

    def _of_ninth(self) -> dict[str, Any]:
        left_out = self.of_other_wordings
        return {
            "wordings": _Long(len(self.wordings), lambda start, end: self.wordings[start:end].tolist()),
            "of_other_wordings": _Long(len(left_out), lambda start, end: left_out[start:end].tolist()),
        }

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
        made = hashlib.sha256()
        for part in self.content_parts():
            made.update(part)
        return made.hexdigest()

    def packed(self) -> bytes:
        packer = zlib.compressobj(level=6)
        return b"".join([*map(packer.compress, self.content_parts()), packer.flush()])


class _Long(NamedTuple):
    """A long list for canonical JSON, of which a part is made at a time."""

    n: int
    part: Callable[[int, int], Sequence[Any]]

    def parts(self) -> Iterator[bytes]:
        yield b"["
        for start in range(0, self.n, _AT_ONCE):
            comma = b"," if start else b""
            yield comma + canonical_json(self.part(start, min(start + _AT_ONCE, self.n)))[1:-1]
        yield b"]"


_AT_ONCE = 20_000


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
        assignments=Assignments.of(
            AssignmentEntry(rater, row, repeat, state, tuple(sections))
            for rater, row, repeat, state, sections in data["assignments"]
        ),
        labels=np.array(data["labels"], dtype=np.int32).reshape(-1, N_VALUES),
        notes=dict(data["notes"]),
        scored=np.array(data["scored"], dtype=np.int64),
        scores=scores,
        skips=tuple(SkipEntry(*skip) for skip in data["skips"]),
        unreadable=tuple(UnreadableEntry(*answer) for answer in data["unreadable"]),
        values=tuple(tuple(of_question) for of_question in data.get("values", ())),
        drafts=tuple(DraftEntry(*draft) for draft in data.get("drafts", ())),
        accepted=tuple(AcceptedEntry(*entry) for entry in data.get("accepted", ())),
        frequent=tuple(
            FrequentEntry(facet, word, generator, texts, tuple((said, n, within) for said, n, within in words), *names)
            for facet, word, generator, texts, words, *names in data.get("frequent", ())
        ),
        arms=tuple(
            ArmEntry(
                code,
                of,
                turn,
                reworded,
                {name: tuple(keys) for name, keys in orders.items()},
                *((more[0], _rows_by_name(more[1])) if more else ()),
            )
            for code, of, turn, reworded, orders, *more in data.get("arms", ())
        ),
        seen=tuple(SeenEntry(rater, tuple(rows)) for rater, rows in data.get("seen", ())),
        wordings=np.array(data.get("wordings", ()), dtype=np.int32),
        of_other_wordings=np.array(data.get("of_other_wordings", ()), dtype=np.int32).reshape(-1, 4),
    )


def _rows_by_name(data: Mapping[str, Sequence[Sequence[str]]]) -> dict[str, tuple[tuple[str, ...], ...]]:
    return {name: tuple(map(tuple, rows)) for name, rows in data.items()}


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
