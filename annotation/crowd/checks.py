"""Reads about the checks of a crowd: which rows can be given as checks, and how those that were given went."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation.answers.codes import VALUE
from annotation.lens.lens import answered
from annotation.models import (
    Assignment,
    Column,
    CrowdLink,
    Label,
    Participant,
    Rater,
    Section,
    Sheet,
    Skip,
    Study,
)
from annotation.queries import whole_scheme
from annotation.queries.codes import CODE
from annotation.scheme import rules
from annotation.scheme.spec import QuestionSpec


def _gold() -> QuerySet[Label]:
    """What the gold of any study says, but for what follows from a column by itself."""
    golden = Label.objects.filter(assignment__rater__kind=Rater.Kind.GOLD, preset=False)
    return golden.exclude(assignment__state=Assignment.State.WITHDRAWN).order_by()


def given_as_checks(links: Collection[CrowdLink]) -> QuerySet[Any]:
    """The rows that links give as checks, each with its link: those that it was made with and that still have gold."""
    has_gold = Exists(_gold().filter(assignment__row=OuterRef("row")))
    return CrowdLink.check_rows.through.objects.filter(has_gold, crowdlink__in=links)


class _GoldColumn:
    """A column that gold may have answered. Many rows have the same answers there: each is looked at once."""

    def __init__(self, pk: int, section: Section, facets: Mapping[str, str]) -> None:
        self.pk = pk
        self._section = section
        self._presets = section.spec.presets(facets)
        self._told: dict[frozenset[tuple[int, str]], tuple[bool, bool]] = {}

    def told(self, answers: Mapping[int, str]) -> tuple[bool, bool]:
        """Whether these answers, {question: code}, leave nothing open, and whether they say something."""
        key = frozenset(answers.items())
        if key not in self._told:
            self._told[key] = self._look(answers)
        return self._told[key]

    def _look(self, answers: Mapping[int, str]) -> tuple[bool, bool]:
        spec, presets = self._section.spec, self._presets
        codes = {key: answers[one.pk] for key, one in self._section.by_key.items() if one.pk in answers}
        left = rules.owed(spec, presets | codes) - presets.keys() - codes.keys()
        own = [(spec.question(key), code) for key, code in codes.items() if presets.get(key) != code]
        return not left, any(not _is_blank(question, code) for question, code in own)


def golden_rows(study: Study, sheets: Collection[Sheet]) -> dict[int, list[int]]:
    """Of each of some sheets the rows that can be checks, withdrawn ones left out: a gold rater has answered all that
    is asked of them, and not only that there is nothing to answer. Three queries."""
    golden = Assignment.objects.filter(
        rater__study=study, rater__kind=Rater.Kind.GOLD, row__sheet__in=sheets, row__withdrawn_at=None
    ).exclude(state=Assignment.State.WITHDRAWN)
    given = {pk: of for pk, *of in golden.order_by("row__position").values_list("pk", "row__sheet", "row")}
    said: dict[int, dict[int, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))  # assignment: column: question
    labels = Label.objects.filter(assignment__in=golden.order_by()).order_by()
    for assignment, column, question, code in labels.values_list("assignment", "column", "question", CODE):
        said[assignment][column][question] = code
    sections = {section.pk: section for section in whole_scheme(study.scheme).sections.all()}
    columns: dict[int, list[_GoldColumn]] = defaultdict(list)
    of_sheets = Column.objects.filter(sheet__in={sheet for sheet, _row in given.values()}).order_by()
    for sheet, column, section, facets in of_sheets.values_list("sheet", "pk", "section", "facets"):
        columns[sheet].append(_GoldColumn(column, sections[section], facets))
    found: dict[int, list[int]] = {}
    for assignment, (sheet, row) in given.items():
        answers = [column.told(said[assignment].get(column.pk, {})) for column in columns[sheet]]
        if all(is_whole for is_whole, _says in answers) and any(says for _is_whole, says in answers):
            rows = found.setdefault(sheet, [])
            if row not in rows[-1:]:  # of two golds
                rows.append(row)
    return found


def _is_blank(question: QuestionSpec, code: str) -> bool:
    """Whether an answer says that there was nothing to answer."""
    return question.has_options and question.option(code).blank


_NOTHING = f"{VALUE}[]"  # a list without an entry, as who leaves it open may mean


@dataclass(frozen=True)
class Checked:
    """In how many of the cells of somebody's submitted checks the answer is the gold's. A cell counts where the gold
    says something and they were asked: that they cannot tell, or left an optional question open, is not right."""

    right: int = 0
    cells: int = 0

    @property
    def rank(self) -> tuple[bool, float, int]:
        """Who gave the gold's answers least often comes first, and last those of whom nothing is known."""
        return not self.cells, self.right / max(self.cells, 1), -self.cells


_CELL = ("assignment__row", "column", "question")
_Cell = tuple[int, int, int]  # row, column, question


def _golden(rows: Collection[int], specs: Mapping[int, QuestionSpec]) -> tuple[dict[_Cell, set[str]], set[_Cell]]:
    """What gold says in the cells of some rows, blank answers left out; and in which of them some gold says nothing."""
    golden: dict[_Cell, set[str]] = defaultdict(set)
    says_nothing: set[_Cell] = set()
    for row, column, question, code in _gold().filter(assignment__row__in=rows).values_list(*_CELL, CODE):
        if not _is_blank(specs[question], code):
            golden[row, column, question].add(answered(specs[question], code).key)
            if code == _NOTHING:
                says_nothing.add((row, column, question))
    return golden, says_nothing


def checked(study: Study, participants: Sequence[Participant]) -> Mapping[int, Checked]:
    """How the checks of each went, {participant: Checked}, by the gold as it is now; of several golds any will do.
    Three queries, one more where gold answers what is optional, none where nobody was given checks."""
    given = {(one.rater_id, row): one.pk for one in participants for row in one.checks}
    found = {one.pk: Checked() for one in participants}
    if not given:
        return found
    rows = {row for _rater, row in given}
    sections = list(whole_scheme(study.scheme).sections.all())
    specs = {pk: spec for one in sections for pk, spec in one.specs.items()}
    golden, says_nothing = _golden(rows, specs)
    right, cells = Counter[int](), Counter[int]()
    submitted = {
        "assignment__rater__in": {rater for rater, _row in given},
        "assignment__row__in": rows,
        "assignment__repeat": 1,
        "assignment__state": Assignment.State.SUBMITTED,
    }
    labels = Label.objects.filter(**submitted).order_by()
    said: dict[tuple[int, int, int], dict[int, str]] = defaultdict(dict)  # rater, row, column: question: code
    for rater, row, column, question, code in labels.values_list("assignment__rater", *_CELL, CODE):
        said[rater, row, column][question] = code
        if (rater, row) in given and (golds := golden.get((row, column, question))):
            cells[given[rater, row]] += 1
            right[given[rater, row]] += answered(specs[question], code).key in golds
    skips = Skip.objects.filter(**submitted).order_by()
    skipped = set(skips.values_list("assignment__rater", *_CELL))
    for rater, row, column, question in skipped:
        if (rater, row) in given and (row, column, question) in golden:
            cells[given[rater, row]] += 1
    if may_be_open := [cell for cell in golden.keys() - says_nothing if specs[cell[2]].optional]:
        done = Assignment.objects.filter(**{name.removeprefix("assignment__"): of for name, of in submitted.items()})
        work = [seat for seat in done.order_by().values_list("rater", "row") if seat in given]
        for seat in _left_open(work, may_be_open, sections, said, skipped):
            cells[given[seat]] += 1
    return found | {pk: Checked(right[pk], n) for pk, n in cells.items()}


def _left_open(
    work: Iterable[tuple[int, int]],
    optional: Iterable[_Cell],
    sections: Iterable[Section],
    said: Mapping[tuple[int, int, int], Mapping[int, str]],
    skipped: Collection[tuple[int, int, int, int]],
) -> Iterator[tuple[int, int]]:
    """Of this work, rater and row, each once for each of these cells that was asked and has no answer."""
    specs = {pk: (section.spec, spec) for section in sections for pk, spec in section.specs.items()}
    in_row: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row, column, question in optional:
        in_row[row].append((column, question))
    for rater, row in work:
        for column, question in in_row[row]:
            own = said.get((rater, row, column), {})
            if question not in own and (rater, row, column, question) not in skipped:
                section, spec = specs[question]
                codes = {specs[pk][1].key: code for pk, code in own.items()}
                if spec.key in rules.asked(section, codes):
                    yield rater, row
