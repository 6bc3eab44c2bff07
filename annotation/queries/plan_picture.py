"""What a plan looks like: who has which row, how level it is, and how well agreement will be known.

The same picture is drawn of a plan before it is applied and of what stands afterwards.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from typing import NamedTuple

from django.db.models import Count
from django.utils.translation import ngettext

from annotation.models import Label, Question, Rater, Row, Sheet, Study
from annotation.planning.precision import Assumptions, even_shares, half_width
from annotation.queries.arriving import arriving
from annotation.queries.people import rater_ids
from annotation.queries.planning import Given, StudyRows, asks, columns_by_section, study_rows
from annotation.scheme.spec import Kind as QuestionKind
from base.text import natural

# Observed shares of the options are taken for the expected ones from this many labels on.
_ENOUGH_LABELS = 100
# What a page does not draw; the counts are always of all. 500 people on 2,000 sheets were a page of 5 MB.
MOST_SHEETS = 40  # with a matrix
MOST_ROWS = 200  # of a matrix
WHOLE = 30  # rows of a matrix that has all of them; of a longer one those that somebody has
MOST_RATERS = 60  # in the table of loads
MOST_PAIRED = 16  # raters in the table of pairs, which fits a window then


@dataclass(frozen=True)
class Times:
    """Rows by the number of people who have them; `thrice` counts three and more. `more`: (people, rows) of more than
    three people."""

    once: int = 0
    twice: int = 0
    thrice: int = 0
    more: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, counts: Iterable[int]) -> Times:
        found = Counter(counts)
        more = tuple((people, n) for people, n in sorted(found.items()) if people > 3)
        return cls(found[1], found[2], found[3] + sum(n for _people, n in more), more)

    @property
    def rows(self) -> int:
        return self.once + self.twice + self.thrice

    @property
    def shared(self) -> tuple[int, ...]:
        """Rows that exactly two people have, exactly three, and so on."""
        found = {2: self.twice, 3: self.thrice - sum(n for _people, n in self.more), **dict(self.more)}
        return tuple(found.get(people, 0) for people in range(2, max(found) + 1))


@dataclass(frozen=True)
class Crowd:
    """Many who came by links for a crowd, who share a line."""

    n: int

    def __str__(self) -> str:
        return ngettext("%(n)s person of a crowd", "%(n)s people of a crowd", self.n) % {"n": self.n}


class Place(NamedTuple):
    """A cell of the matrix rater × row: how many people have the row, 0 where this rater has not."""

    row: str
    people: int
    began: bool
    new: bool


@dataclass(frozen=True)
class SheetMatrix:
    sheet: Sheet
    times: Times
    rows: tuple[tuple[int, str], ...]
    lines: tuple[tuple[Rater | Crowd, tuple[Place, ...]], ...]
    left_out: int = 0  # rows that are not drawn, since there are too many
    nobodys: int = 0  # rows that are not drawn, since nobody has them


@dataclass(frozen=True)
class Load:
    rater: Rater | Crowd
    times: Times
    sheets: int
    labels: int
    before: int | None  # rows, where there is something to compare with

    @property
    def change(self) -> int:
        return self.times.rows - (self.before or 0)


@dataclass(frozen=True)
class Interval:
    """The expected half width of the 95 % interval of a question's kappa: over all pairs, and of a pair on average."""

    title: str  # among all questions
    question: str
    cells: int  # with two answers or more
    all_pairs: float
    one_pair: float | None
    observed: bool  # the shares of the options come from labels


@dataclass(frozen=True)
class Coverage:
    """`times`: of rows that are not withdrawn; `withdrawn`: how many others somebody has. Loads, pairs and intervals
    count these too: what is begun is finished, and its labels stay."""

    times: Times
    withdrawn: int
    labels: int
    matrices: tuple[SheetMatrix, ...]
    left_out: int  # sheets without a matrix, since there are too many
    loads: tuple[Load, ...]
    of_crowd: Load | None  # that of many who came by links for a crowd, who have no line of their own
    shared: Mapping[tuple[int, int], int]  # two raters, the smaller key first -> the rows that both have, if any
    intervals: tuple[Interval, ...]
    kappa: float
    clustering: float

    def rows_a_rater(self, raters: Collection[Rater]) -> tuple[int, int]:
        """The fewest and the most rows that anybody of these has."""
        rows = {load.rater: load.times.rows for load in self.loads}
        of_these = [rows.get(rater, 0) for rater in raters]
        return min(of_these), max(of_these)

    @property
    def n_raters(self) -> int:
        many = self.of_crowd.rater if self.of_crowd else None
        return len(self.loads) + (many.n if isinstance(many, Crowd) else 0)

    @property
    def drawn_loads(self) -> tuple[Load, ...]:
        """Those of all raters, or the largest and the smallest where there are too many."""
        if len(self.loads) <= MOST_RATERS:
            return self.loads
        by_rows = sorted(self.loads, key=lambda load: -load.times.rows)
        return (*by_rows[: MOST_RATERS // 2], *by_rows[-MOST_RATERS // 2 :])

    @property
    def listed(self) -> tuple[Load, ...]:
        """The lines of the table of loads."""
        return (*self.drawn_loads, self.of_crowd) if self.of_crowd else self.drawn_loads

    @property
    def pairs(self) -> tuple[tuple[Rater, tuple[int | None, ...]], ...]:
        """Rater × rater, None on and above the diagonal; empty where there are too many to be drawn."""
        raters = [load.rater for load in self.loads if isinstance(load.rater, Rater)]
        if self.n_raters > MOST_PAIRED:
            return ()

        def of_two(a: Rater, b: Rater) -> int:
            return self.shared.get((min(a.pk, b.pk), max(a.pk, b.pk)), 0)

        return tuple(
            (a, tuple(of_two(a, b) if place > n else None for n, b in enumerate(raters)))
            for place, a in enumerate(raters)
        )

    @property
    def n_pairs(self) -> int:
        return self.n_raters * (self.n_raters - 1) // 2

    @property
    def most_shared(self) -> int:
        """The most rows that two raters share."""
        return max(self.shared.values(), default=0)

    def rows_a_pair(self, raters: Collection[Rater]) -> tuple[int, int] | None:
        """The fewest and the most rows that two of these share; None for one rater."""
        ids = {rater.pk for rater in raters}
        if len(ids) < 2:
            return None
        counts = [n for (a, b), n in self.shared.items() if n and a in ids and b in ids]
        all_share = len(counts) == len(ids) * (len(ids) - 1) // 2
        return min(counts) if all_share else 0, max(counts, default=0)

    @property
    def widest(self) -> Interval | None:
        return max(self.intervals, key=lambda interval: interval.all_pairs, default=None)


class _Seats:
    """Seats by who has them and for which sections: what is counted takes a step for each group."""

    def __init__(self, seats: Iterable[Given]) -> None:
        self.groups: dict[tuple[int, tuple[str, ...]], list[int]] = defaultdict(list)
        for row_id, rater_id, sections, _began in seats:
            self.groups[rater_id, sections].append(row_id)

    def asking(self, section: str) -> _Seats:
        """Those that ask a section."""
        if all(asks(sections, section) for _rater, sections in self.groups):
            return self
        some = _Seats(())
        some.groups.update({key: rows for key, rows in self.groups.items() if asks(key[1], section)})
        return some

    @cached_property
    def rows(self) -> dict[int, list[int]]:
        """Rater -> their rows."""
        rows: dict[int, list[int]] = defaultdict(list)
        for (rater_id, _sections), of_group in self.groups.items():
            rows[rater_id] += of_group
        return rows

    @cached_property
    def people(self) -> Counter[int]:
        """Row -> how many people have it."""
        return Counter(chain.from_iterable(self.groups.values()))

    @cached_property
    def times(self) -> Times:
        return Times.of(self.people.values())

    @cached_property
    def shared(self) -> Counter[tuple[int, int]]:
        """Rows that each two raters both have, the smaller key first."""
        there: dict[int, list[int]] = defaultdict(list)
        for rater_id, rows in sorted(self.rows.items()):
            for row_id in rows:
                there[row_id].append(rater_id)
        return Counter(chain.from_iterable(combinations(raters, 2) for raters in there.values() if len(raters) > 1))


def coverage(
    study: Study,
    seats: Sequence[Given],
    *,
    rows: StudyRows | None = None,
    kappa: float = 0.7,
    before: Sequence[Given] | None = None,
    section: str = "",
    drawn: bool = True,
    crowd: Collection[int] = frozenset(),
) -> Coverage:
    """The picture of some seats.

    `rows`: the study's, where they have been read already. `before`: what they are compared with. `section`: all is
    counted for this one alone. `drawn`: with the matrices of the sheets. `crowd`: raters who share one line, as
    `of_crowd` has them.

    Nine queries, seven where the rows are given, and two less without matrices.
    """
    if section:
        seats = [seat for seat in seats if asks(seat.sections, section)]
        before = before and [seat for seat in before if asks(seat.sections, section)]
    rows = rows or study_rows(study)
    sheet_of, given = rows.sheet_of, _Seats(seats)
    # All of the study, and chosen here: thousands of keys in a query take longer than what it answers.
    with_work = set(map(sheet_of.__getitem__, given.people))
    sheets = [pk for pk in rows.sheets if pk in with_work]
    at_work = given.rows.keys() | {seat.rater_id for seat in before or []}
    many = at_work.intersection(crowd)
    alone = at_work - many
    of_study = study.raters.of_no_crowd() if many else study.raters.all()
    raters_here = [rater for rater in of_study.select_related("user") if rater.pk in alone]
    raters = sorted(raters_here, key=lambda rater: natural(rater.code))
    columns = columns_by_section(study)
    old = {(seat.row_id, seat.rater_id) for seat in before} if before is not None else None
    labels = _labels_of(study, given, sheet_of, columns, section)
    rows_before = None if before is None else Counter(seat.rater_id for seat in before)
    return Coverage(
        times=Times.of(n for row_id, n in given.people.items() if row_id not in rows.withdrawn),
        withdrawn=sum(row_id in rows.withdrawn for row_id in given.people),
        labels=labels.total(),
        matrices=tuple(_matrices(sheets[:MOST_SHEETS], rows, seats, raters, many, given.people, old)) if drawn else (),
        left_out=max(0, len(sheets) - MOST_SHEETS),
        loads=tuple(_load(rater, [rater.pk], given, rows_before, sheet_of, labels) for rater in raters),
        of_crowd=_load(Crowd(len(many)), many, given, rows_before, sheet_of, labels) if many else None,
        shared=given.shared,
        intervals=tuple(_intervals(study, given, sheet_of, columns, kappa, section)),
        kappa=kappa,
        clustering=Assumptions(kappa, ()).clustering,
    )


def _matrices(
    sheets: Sequence[int],
    of_study: StudyRows,
    seats: Iterable[Given],
    raters: Sequence[Rater],
    many: Collection[int],
    people: Mapping[int, int],
    old: Collection[tuple[int, int]] | None,
) -> Iterable[SheetMatrix]:
    """Of some sheets, in their order; `many`: raters who share a line. Two queries, for the names."""
    rows: dict[int, list[int]] = {pk: [] for pk in sheets}
    for row_id, sheet_id in of_study.sheet_of.items():
        if sheet_id in rows:
            rows[sheet_id].append(row_id)
    had = {pk: of if len(of) <= WHOLE else [row for row in of if row in people] for pk, of in rows.items()}
    drawn = {pk: of[:MOST_ROWS] for pk, of in had.items()}
    of_drawn = Row.objects.filter(pk__in=chain.from_iterable(drawn.values())).order_by()
    names = dict(of_drawn.values_list("pk", "name"))
    seat_at: dict[int, dict[int, Given]] = {row_id: {} for row_id in names}  # row -> rater -> the seat
    for seat in seats:
        if (of_row := seat_at.get(seat.row_id)) is not None:
            of_row[seat.rater_id] = seat
    place_of = {rater.pk: n for n, rater in enumerate(raters)}
    for sheet in Sheet.objects.filter(pk__in=sheets).order_by("position"):
        cells = [(row_id, names[row_id], seat_at[row_id]) for row_id in drawn[sheet.pk]]
        here = {key for _row_id, _name, of_row in cells for key in of_row}
        lines: list[tuple[Rater | Crowd, tuple[Place, ...]]] = []
        for key in sorted(here.difference(many), key=place_of.__getitem__):
            places = [
                _place(row_id, name, [mine] if (mine := of_row.get(key)) else [], people, old)
                for row_id, name, of_row in cells
            ]
            lines.append((raters[place_of[key]], tuple(places)))
        if shared := here.intersection(many):
            places = [
                _place(row_id, name, [seat for key, seat in of_row.items() if key in shared], people, old)
                for row_id, name, of_row in cells
            ]
            lines.append((Crowd(len(shared)), tuple(places)))
        yield SheetMatrix(
            sheet=sheet,
            times=Times.of(people[pk] for pk in rows[sheet.pk] if pk in people and pk not in of_study.withdrawn),
            rows=tuple((row_id, name) for row_id, name, _of_row in cells),
            lines=tuple(lines),
            left_out=len(had[sheet.pk]) - len(cells),
            nobodys=len(rows[sheet.pk]) - len(had[sheet.pk]),
        )


def _place(
    row_id: int, name: str, seats: Sequence[Given], people: Mapping[int, int], old: Collection[tuple[int, int]] | None
) -> Place:
    return Place(
        row=name,
        people=people[row_id] if seats else 0,
        began=any(seat.began for seat in seats),
        new=old is not None and any((row_id, seat.rater_id) not in old for seat in seats),
    )


def labels_asked(study: Study, seats: Iterable[Given], rows: StudyRows) -> int:
    """How many labels some seats ask for, those included that a rule may switch off. One query."""
    return _labels_of(study, _Seats(seats), rows.sheet_of, columns_by_section(study)).total()


def _labels_of(
    study: Study,
    given: _Seats,
    sheet_of: Mapping[int, int],
    columns: Mapping[tuple[int, str], int],
    only: str = "",
) -> Counter[int]:
    """Rater -> cells that their seats ask, those included that a rule may switch off; `only`: of one section."""
    questions = {
        section.key: len(section.questions)
        for section in study.scheme.parsed.sections
        if not only or section.key == only
    }
    labels: Counter[int] = Counter()
    cells: dict[tuple[str, ...], dict[int, int]] = defaultdict(dict)  # sections -> sheet -> cells of a row
    for (rater_id, sections), rows in given.groups.items():
        of_row = cells[sections]
        for sheet_id, n in Counter(map(sheet_of.__getitem__, rows)).items():
            if sheet_id not in of_row:
                asked = (key for key in questions if asks(sections, key))
                of_row[sheet_id] = sum(columns[sheet_id, key] * questions[key] for key in asked)
            labels[rater_id] += n * of_row[sheet_id]
    return labels


def _load(
    rater: Rater | Crowd,
    pks: Collection[int],
    given: _Seats,
    rows_before: Mapping[int, int] | None,
    sheet_of: Mapping[int, int],
    labels: Mapping[int, int],
) -> Load:
    """Of one rater, or of many in one line."""
    rows = list(chain.from_iterable(given.rows.get(pk, ()) for pk in pks))
    return Load(
        rater=rater,
        times=Times.of(map(given.people.__getitem__, rows)),
        sheets=len(set(map(sheet_of.__getitem__, rows))),
        labels=sum(labels[pk] for pk in pks),
        before=None if rows_before is None else sum(rows_before[pk] for pk in pks),
    )


def _intervals(
    study: Study,
    given: _Seats,
    sheet_of: Mapping[int, int],
    columns: Mapping[tuple[int, str], int],
    kappa: float,
    only: str,
) -> Iterable[Interval]:
    shares: dict[tuple[str, str], tuple[float, ...]] | None = None
    for section in study.scheme.parsed.sections:
        if only and only != section.key:
            continue
        asking = given.asking(section.key)
        several = [row_id for row_id, n in asking.people.items() if n > 1]
        cells = sum(columns[sheet_of[row_id], section.key] for row_id in several)
        if not cells:
            continue
        if shares is None:
            shares = _option_shares(study)
        times = asking.times
        # Pairs of raters that share rows, and how many they share on average.
        rows_a_pair = asking.shared.total() / len(asking.shared)
        for question in section.questions:
            if len(question.options) < 2:
                continue
            expected = shares.get((section.key, question.key))
            assumed = Assumptions(kappa, expected or even_shares(len(question.options)))
            cells_a_row = max(1, round(cells / len(several)))
            all_pairs = half_width(assumed, cells_a_document=cells_a_row, documents=times.shared)
            assert all_pairs is not None
            yield Interval(
                title=study.scheme.parsed.title_of(section.key, question.key),
                question=question.title,
                cells=cells,
                all_pairs=all_pairs,
                one_pair=half_width(assumed, cells_a_document=cells_a_row, documents=(round(rows_a_pair),)),
                observed=expected is not None,
            )


@dataclass(frozen=True)
class Spread:
    """The standard deviation of single ratings of a question on a scale. `of`: the kind of raters whose labels say so;
    "" where there are too few, and all numbers are taken to be used alike."""

    question: str
    deviation: float
    of: str


def rating_spread(study: Study) -> Spread | None:
    """Of the questions on a scale the one whose ratings lie furthest apart; None where there is none. People's labels
    say it where they are enough, else judges'. At most six queries."""
    scales = [
        (section.key, question)
        for section in study.scheme.parsed.sections
        for question in section.questions
        if question.kind == QuestionKind.SCALE
    ]
    if not scales:
        return None
    by_kind: dict[str, dict[tuple[str, str], tuple[float, ...]]] = {}
    for kind in (Rater.Kind.PERSON, Rater.Kind.JUDGE):
        by_kind[kind] = _option_shares(study, kind)
        if all((section, question.key) in by_kind[kind] for section, question in scales):
            break
    found = []
    for section, question in scales:
        of = next((kind for kind, shares in by_kind.items() if (section, question.key) in shares), "")
        shares = by_kind[of][section, question.key] if of else even_shares(len(question.options))
        values = [option.value or 0 for option in question.options]
        mean = sum(share * value for share, value in zip(shares, values, strict=True))
        squares = sum(share * (value - mean) ** 2 for share, value in zip(shares, values, strict=True))
        found.append(Spread(question.title, math.sqrt(squares), of))
    return max(found, key=lambda one: one.deviation)


def _option_shares(study: Study, of: Rater.Kind = Rater.Kind.PERSON) -> dict[tuple[str, str], tuple[float, ...]]:
    """(section, question) -> the shares of its options among people's labels, or those of another kind of raters, where
    there are enough. Three queries."""
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    people = rater_ids(study, of)
    questions = list(
        Question.objects.filter(section__scheme=study.scheme_id).order_by().values_list("pk", "section__key", "key")
    )
    # Of its questions, which PostgreSQL finds sooner than the labels of each assignment where the scheme is its own.
    of_questions = Label.objects.filter(question__in=[pk for pk, _section, _key in questions])
    by_people = of_questions.filter(assignment__rater__in=people).exclude(arriving("assignment"))
    for question_id, option, n in (
        by_people.order_by().values_list("question_id", "option__key").annotate(n=Count("pk"))
    ):
        counts[question_id][option] = n
    shares = {}
    for pk, section, key in questions:
        if pk not in counts:
            continue
        options = [option.key for option in study.scheme.parsed.section(section).question(key).options]
        total = sum(counts[pk][option] for option in options)
        # With one option alone in use there is nothing to expect of kappa.
        if total >= _ENOUGH_LABELS and max(counts[pk][option] for option in options) < total:
            shares[section, key] = tuple(counts[pk][option] / total for option in options)
    return shares
