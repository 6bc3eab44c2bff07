"""What the headings of a file of labels mean, and the typed records below them.

Pure Python: no Django, no database. Which rater, row or option of a study a word of the file is, is decided in
`label_reading` beside this; docs/import.md describes the files for those who write them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from annotation.exchange.tables import FileLine, FileTable, Problems, TableError
from annotation.scheme.basis import first_repeated
from base.sentences import gettext_noop

# Empty cells of other programs. They count as empty only where they are no option of the question, and never in an
# export of ours, which leaves a cell empty where nothing was answered.
MISSING = frozenset({"NA", "NaN", "nan"})
_OURS = "answer_label"  # a heading that tells an export of ours

# --- headings --------------------------------------------------------------------------------------------------------

LABEL_FIELDS = (
    "sheet", "row", "rater", "rater_kind", "simulated", "repeat", "section", "column", "column_number", "question",
    "answer", "preset", "exposed", "drafted_from", "confirmed", "note", "gold", "row_title", "row_url",
)  # fmt: skip
# What may be said of all lines at once.
EVERY_FIELDS = ("rater", "question")
# Columns of our own exports that say the same a second time, or what no import can set.
_SAID_OTHERWISE = frozenset({"answer_label", "state", "skipped", "certificate", "scheme_version"})
FACET = "facet_"
_ALIASES: Mapping[str, frozenset[str]] = {
    "rater": frozenset({"rater", "worker", "annotator", "coder", "labeler", "labeller", "user", "participant"}),
    "row": frozenset({"row", "item", "task", "document", "doc", "orig", "example", "instance", "unit"}),
    "answer": frozenset(
        {"answer", "label", "response", "rating", "choice", "annotation", "judgment", "judgement", "vote"}
    ),
    "gold": frozenset(
        {"gold", "truth", "gold_label", "ground_truth", "true_label", "gold_standard", "reference_label"}
    ),
    "note": frozenset({"note", "notes", "comment", "comments", "reason"}),
}
_WIDE_FIELDS = frozenset(
    {"sheet", "row", "section", "column", "column_number", "question", "gold", "row_title", "row_url"}
)
# What a file has not where each question has a column of its own.
_OF_ONE_QUESTION = frozenset({"section", "question", "answer", "preset", "gold"})
_NAMES_OF_IDS = frozenset({"id", "amt", "mturk", "code", "name", "nr", "no"})


class QuestionPlace(NamedTuple):
    """A question of a scheme, by the keys of its section and its own."""

    section: str
    question: str


@dataclass(frozen=True)
class Headings:
    """Where a line holds what: by field and by facet, (position, code) of wide raters, (position, place) of questions
    that have a column each; and what is not read.

    `missing`: words that say that nothing was answered, where they can. `every`: what a field is on each line, by its
    name.
    """

    at: Mapping[str, int]
    facets: Mapping[str, int] = field(default_factory=dict)
    raters: tuple[tuple[int, str], ...] = ()
    questions: tuple[tuple[int, QuestionPlace], ...] = ()
    unread: tuple[str, ...] = ()
    missing: frozenset[str] = MISSING
    every: Mapping[str, str] = field(default_factory=dict)


def fold_heading(heading: str) -> str:
    """“!Worker IDs”, “workerIDs” and “worker_ids” are the same heading."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", heading)
    return re.sub(r"\W+", "_", apart).strip("_").casefold()


def _core(folded: str) -> str:
    """“amt_worker_ids” -> “worker”."""
    words = [word.removesuffix("s") for word in folded.split("_")]
    return "_".join(word for word in words if word not in _NAMES_OF_IDS)


def names_raters(heading: str) -> bool:
    """“annotator” and “_annotator_id” name raters."""
    folded = fold_heading(heading)
    return folded in _ALIASES["rater"] or _core(folded) in _ALIASES["rater"]


def names_rows(heading: str) -> bool:
    """“id”, “doc_id” and “itemId” name rows; a “document” may be a text."""
    folded = fold_heading(heading)
    return folded == "id" or (_core(folded) in _ALIASES["row"] and _core(folded) != folded.removesuffix("s"))


def label_headings(
    header: Sequence[str],
    *,
    given: Mapping[str, str] | None = None,
    wide: bool = False,
    ignore: Collection[str] = (),
    questions: Mapping[str, QuestionPlace] | None = None,
    every: Mapping[str, str] | None = None,
) -> Headings:
    """Recognise the headings of a file of labels.

    Args:
        given: {field of `LABEL_FIELDS`: heading}, which goes before all recognition; "" says that the file has none.
        wide: one line an item, one column a rater: each heading that is nothing else is a rater.
        ignore: headings that are not read.
        questions: {folded heading: question}; where no column has the answers, those that are headed so have them.
        every: {field of `LABEL_FIELDS`: what it is on each line}; no column is looked for then.
    Raises:
        TableError: a needed heading is missing, or two could be the same thing.
    """
    every = every or {}
    given = {**(given or {}), **dict.fromkeys(every, "")}
    found = _Columns(header)
    found.ignored = {found.find(heading) for heading in ignore}
    fields = [name for name in LABEL_FIELDS if not wide or name in _WIDE_FIELDS]
    found.at = {name: found.find(given[name]) for name in fields if given.get(name)}
    if not wide and "question" not in every:
        found.asked = _questions_at(found, questions or {}, given)
    if found.asked:
        fields = [name for name in fields if name not in _OF_ONE_QUESTION]
    open_fields = [name for name in fields if name not in given]
    for name in open_fields:
        found.take(name, [i for i in found.free() if found.folded[i] == name])
    for i in found.free():
        if found.folded[i].startswith(FACET):
            found.facets[found.folded[i].removeprefix(FACET)] = i
    for name in open_fields:
        if name not in found.at and name in _ALIASES:
            found.take(name, found.called_like(name))
    rest = [i for i in found.free() if header[i]]
    raters: tuple[tuple[int, str], ...] = ()
    if wide:
        raters = tuple((i, header[i]) for i in rest)
        rest = []
        if twice := first_repeated([code for _place, code in raters]):
            raise TableError(gettext_noop("Two columns are headed “%(heading)s”."), heading=twice)
    needed = ("rater", "row") if found.asked else ("rater", "row", "answer")
    _require(header, found.at, raters, wide=wide, needed=[name for name in needed if name not in every])
    unread = [header[i] for i in rest if found.folded[i] not in _SAID_OTHERWISE]
    missing = frozenset[str]() if _OURS in found.folded and not wide else MISSING
    unread += [header[i] for i in sorted(found.ignored)]
    return Headings(found.at, found.facets, raters, tuple(found.asked.items()), tuple(unread), missing, every)


class _Columns:
    """What the columns of a header are, as far as that is known: fields (`at`), facets, answers to a question each
    (`asked`), or nothing that is read (`ignored`)."""

    def __init__(self, header: Sequence[str]) -> None:
        self._header = header
        self.folded = [fold_heading(heading) for heading in header]
        self.at: dict[str, int] = {}
        self.facets: dict[str, int] = {}
        self.asked: dict[int, QuestionPlace] = {}
        self.ignored: set[int] = set()

    def free(self) -> list[int]:
        """The columns of which nothing is known."""
        taken = {*self.at.values(), *self.facets.values(), *self.asked, *self.ignored}
        return [i for i in range(len(self.folded)) if i not in taken]

    def called_like(self, name: str) -> list[int]:
        """The free columns that are headed by another word for a field; of rater and row also by one with “id”."""
        free = self.free()
        exact = [i for i in free if self.folded[i] in _ALIASES[name]]
        if exact or name not in ("rater", "row"):
            return exact
        return [i for i in free if _core(self.folded[i]) in _ALIASES[name]]

    def take(self, name: str, candidates: Sequence[int]) -> None:
        """The field is the one candidate, if there is one."""
        if len(candidates) > 1:
            raise TableError(
                gettext_noop("Both “%(one)s” and “%(other)s” could be the %(field)s. Say which heading is."),
                one=self._header[candidates[0]],
                other=self._header[candidates[1]],
                field=name,
            )
        if candidates:
            self.at[name] = candidates[0]

    def find(self, heading: str) -> int:
        """The column that is headed so, or else the one whose heading is the same when folded."""
        for candidates, wanted in ((self._header, heading.strip()), (self.folded, fold_heading(heading))):
            places = [i for i, text in enumerate(candidates) if text == wanted]
            if len(places) == 1:
                return places[0]
            if places:
                raise TableError(gettext_noop("Two columns are headed “%(heading)s”."), heading=heading)
        raise TableError(
            gettext_noop("No column is headed “%(heading)s”. The file has: %(headings)s."),
            heading=heading,
            headings=", ".join(text for text in self._header if text),
        )


def _questions_at(
    columns: _Columns, questions: Mapping[str, QuestionPlace], given: Mapping[str, str]
) -> dict[int, QuestionPlace]:
    """The columns that have the answers to a question each: none where one column has those to all, or names it."""
    folded = columns.folded
    if any(given.get(name) for name in _OF_ONE_QUESTION) or not _OF_ONE_QUESTION.isdisjoint(folded):
        return {}
    places = {i: questions[folded[i]] for i in columns.free() if folded[i] in questions}
    # A single one may be called so by chance, beside one of answers, or be that itself.
    answers = any(text in _ALIASES["answer"] for text in folded)
    return {} if len(places) == 1 and answers else places


def _require(
    header: Sequence[str], at: Mapping[str, int], raters: Collection[object], *, wide: bool, needed: Sequence[str]
) -> None:
    if wide and not raters and "gold" not in at:
        raise TableError(gettext_noop("No column is left for a rater: in the wide form, each rater has a column."))
    # A file of gold answers alone has neither raters nor answers.
    if wide or ("gold" in at and "rater" not in at and "answer" not in at):
        needed = ["row"]
    if missing := [name for name in needed if name not in at]:
        raise TableError(
            gettext_noop("No heading tells the %(field)s. Say which one does; the file has: %(headings)s."),
            field=missing[0],
            headings=", ".join(text for text in header if text),
        )


# --- labels ---------------------------------------------------------------------------------------------------------


class LabelRecord(NamedTuple):
    """One answer as the file gives it. None: the file has no such column."""

    line: int
    sheet: str | None
    row: str
    section: str | None
    column: str | None
    column_number: int | None
    facets: tuple[tuple[str, str], ...] | None
    question: str | None
    rater: str
    rater_kind: str  # "" where the file does not say
    simulated: bool | None
    repeat: int
    answer: str  # "" where nothing was answered
    preset: bool
    exposed: bool
    drafted_from: str  # whose answer it began as, "" for one's own
    confirmed: bool
    note: str
    row_title: str  # for a row that the import makes
    row_url: str


GOLD = "gold"
_KINDS = frozenset({"", "person", "judge", GOLD})
_YES, _NO = frozenset({"yes", "true", "1"}), frozenset({"", "no", "false", "0"})


def label_records(table: FileTable, headings: Headings, problems: Problems) -> Iterator[LabelRecord]:
    """The answers of a file, long or wide as its `headings` are. The gold of a cell comes once, by a rater “gold”.

    What a line lacks, and gold that contradicts an earlier line's, goes to `problems`.
    """
    gold_of: dict[tuple[object, ...], tuple[str, int]] = {}
    # Cells whose gold is a word for “nothing”, unless an option is so called.
    missing_of = set[tuple[object, ...]]()
    for line in table.lines(problems):
        base = _base_record(line, headings, problems)
        if base is None:
            continue
        gold = _cell(line, headings, "gold") or ""
        if headings.raters:
            yield from (base._replace(rater=code, answer=line.cells[i]) for i, code in headings.raters)
        elif headings.questions and base.rater:
            yield from _by_question(line, headings, base)
        elif base.rater:
            yield base
        elif base.answer or ("rater" in headings.at and not gold):
            problems.add(line.number, gettext_noop("This line names no rater."))
            continue
        if gold:
            cell = base[1:8]
            if gold in headings.missing:
                before = (gold, 0 if cell in missing_of else line.number)
                missing_of.add(cell)
            else:
                before = gold_of.setdefault(cell, (gold, line.number))
            if before[0].casefold() != gold.casefold():
                problems.add(
                    line.number,
                    gettext_noop("The gold of “%(row)s” is “%(gold)s” here and “%(before)s” on line %(first)s."),
                    row=base.row,
                    gold=gold,
                    before=before[0],
                    first=before[1],
                )
            elif before[1] == line.number:
                yield base._replace(
                    rater=GOLD,
                    rater_kind=GOLD,
                    answer=gold,
                    simulated=None,
                    repeat=1,
                    preset=False,
                    exposed=False,
                    drafted_from="",
                    confirmed=False,
                    note="",
                )


def _by_question(line: FileLine, headings: Headings, base: LabelRecord) -> Iterator[LabelRecord]:
    """The answers of a line with a column for each question. What it notes is of its first answer."""
    for i, place in headings.questions:
        answer = line.cells[i]
        yield base._replace(section=place.section, question=place.question, answer=answer)
        if answer:
            base = base._replace(note="")


def is_readable(line: FileLine, names: Collection[int], read: Collection[int], problems: Problems) -> bool:
    """Whether the cells that are read say what was meant; else `problems` says why. names: places of those that names
    stand in."""
    if not line.rounded.isdisjoint(names):
        problems.add(
            line.number,
            gettext_noop(
                "A name is a number of more digits than the workbook keeps, so that others may be the same. Save the "
                "names as text, or bring a CSV file."
            ),
        )
        return False
    if not line.unstored.isdisjoint(read):
        problems.add(
            line.number,
            gettext_noop(
                "A cell is a formula whose result is not in the workbook. Open the file in a spreadsheet program and "
                "save it, or bring a CSV file."
            ),
        )
        return False
    return True


_NAMES = ("row", "rater", "sheet", "drafted_from")


def _base_record(line: FileLine, headings: Headings, problems: Problems) -> LabelRecord | None:
    at = headings.at
    if line.rounded or line.unstored:
        names = [at[name] for name in _NAMES if name in at]
        several = [place for place, _what in (*headings.raters, *headings.questions)]
        if not is_readable(line, names, [*at.values(), *headings.facets.values(), *several], problems):
            return None
    row = _cell(line, headings, "row") or ""
    if not row:
        problems.add(line.number, gettext_noop("This line names no row."))
        return None
    kind = (_cell(line, headings, "rater_kind") or "").casefold()
    if kind not in _KINDS:
        problems.add(line.number, gettext_noop("A rater is a person, a judge or gold, not “%(kind)s”."), kind=kind)
        return None
    try:
        repeat = _whole(_cell(line, headings, "repeat") or "1")
        number = _whole(_cell(line, headings, "column_number") or "1") if "column_number" in at else None
        simulated = _yes(_cell(line, headings, "simulated") or "") if "simulated" in at else None
        preset, exposed = (_yes(_cell(line, headings, name) or "") for name in ("preset", "exposed"))
        drafted_from = _cell(line, headings, "drafted_from") or ""
        # Of a file without drafts the word may mean anything.
        confirmed = bool(drafted_from) and _yes(_cell(line, headings, "confirmed") or "")
    except ValueError as error:
        problems.add(
            line.number,
            gettext_noop(
                "“%(value)s” is no value for repeat, column_number (1 to 9999), or for simulated, preset, exposed or "
                "confirmed (yes or no)."
            ),
            value=str(error),
        )
        return None
    return LabelRecord(
        line=line.number,
        sheet=_cell(line, headings, "sheet"),
        row=row,
        section=_cell(line, headings, "section"),
        column=_cell(line, headings, "column"),
        column_number=number,
        facets=tuple((name, line.cells[i]) for name, i in headings.facets.items()) or None,
        question=_cell(line, headings, "question"),
        rater=_cell(line, headings, "rater") or "",
        rater_kind=kind,
        simulated=simulated,
        repeat=repeat,
        answer=_cell(line, headings, "answer") or "",
        preset=preset,
        exposed=exposed,
        drafted_from=drafted_from,
        confirmed=confirmed,
        note=_cell(line, headings, "note") or "",
        row_title=_cell(line, headings, "row_title") or "",
        row_url=_cell(line, headings, "row_url") or "",
    )


def _cell(line: FileLine, headings: Headings, name: str) -> str | None:
    position = headings.at.get(name)
    return headings.every.get(name) if position is None else line.cells[position]


def _whole(text: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,3}", text):
        raise ValueError(text)
    return int(text)


def _yes(text: str) -> bool:
    if (folded := text.casefold()) not in _YES | _NO:
        raise ValueError(text)
    return folded in _YES
