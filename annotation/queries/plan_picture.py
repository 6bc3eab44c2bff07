"""What a plan looks like: who has which row, how level it is, and how well agreement will be known.

The same picture is drawn of a plan before it is applied and of what stands afterwards.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from django.db.models import Count

from annotation.models import Label, Question, Rater, Row, Sheet, Study
from annotation.planning.precision import Assumptions, even_shares, half_width
from annotation.queries.arriving import arriving
from annotation.queries.people import rater_ids
from annotation.queries.planning import Given, asks, columns_by_section
from annotation.scheme.spec import Kind as QuestionKind

# Observed shares of the options are taken for the expected ones from this many labels on.
_ENOUGH_LABELS = 100
# What a page does not draw; the counts are always of all. 500 people on 2,000 sheets were a page of 5 MB.
MOST_SHEETS = 40  # with a matrix
MOST_ROWS = 200  # of a matrix
WHOLE = 30  # rows of a matrix that has all of them; of a longer one those that somebody has
MOST_RATERS = 60  # in the tables of loads and pairs


@dataclass(frozen=True)
class Times:
    """Rows by the number of people who have them; `thrice` counts three and more."""

    once: int = 0
    twice: int = 0
    thrice: int = 0

    @classmethod
    def of(cls, counts: Iterable[int]) -> Times:
        found = Counter(min(n, 3) for n in counts)
        return cls(found[1], found[2], found[3])

    @property
    def rows(self) -> int:
        return self.once + self.twice + self.thrice


@dataclass(frozen=True)
class Place:
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
    lines: tuple[tuple[Rater, tuple[Place, ...]], ...]
    left_out: int = 0  # rows that are not drawn, since there are too many
    nobodys: int = 0  # rows that are not drawn, since nobody has them


@dataclass(frozen=True)
class Load:
    rater: Rater
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

    section: str
    question: str
    cells: int  # with two answers or more
    all_pairs: float
    one_pair: float | None
    observed: bool  # the shares of the options come from labels


@dataclass(frozen=True)
class Coverage:
    times: Times
    labels: int
    matrices: tuple[SheetMatrix, ...]
    left_out: int  # sheets without a matrix, since there are too many
    loads: tuple[Load, ...]
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
    def drawn_loads(self) -> tuple[Load, ...]:
        """Those of all raters, or the largest and the smallest where there are too many."""
        if len(self.loads) <= MOST_RATERS:
            return self.loads
        by_rows = sorted(self.loads, key=lambda load: -load.times.rows)
        return (*by_rows[: MOST_RATERS // 2], *by_rows[-MOST_RATERS // 2 :])

    @property
    def pairs(self) -> tuple[tuple[Rater, tuple[int | None, ...]], ...]:
        """Rater × rater, None on and above the diagonal; empty where there are too many to be drawn."""
        raters = [load.rater for load in self.loads]
        if len(raters) > MOST_RATERS:
            return ()

        def of_two(a: Rater, b: Rater) -> int:
            return self.shared.get((min(a.pk, b.pk), max(a.pk, b.pk)), 0)

        return tuple(
            (a, tuple(of_two(a, b) if place > n else None for n, b in enumerate(raters)))
            for place, a in enumerate(raters)
        )

    @property
    def n_pairs(self) -> int:
        return len(self.loads) * (len(self.loads) - 1) // 2

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


def coverage(
    study: Study,
    seats: Sequence[Given],
    *,
    kappa: float = 0.7,
    before: Sequence[Given] | None = None,
    section: str = "",
) -> Coverage:
    """The picture of some seats.

    `before`: what they are compared with. `section`: all is counted for this one alone.

    Seven queries.
    """
    if section:
        seats = [seat for seat in seats if asks(seat.sections, section)]
        before = before and [seat for seat in before if asks(seat.sections, section)]
    sheet_of: dict[int, int] = dict(Row.objects.filter(sheet__study=study).order_by().values_list("pk", "sheet_id"))
    # All of the study, and chosen here: thousands of keys in a query take longer than what it answers.
    with_work = {sheet_of[seat.row_id] for seat in seats}
    sheets = [sheet for sheet in study.sheets.order_by("position") if sheet.pk in with_work]
    at_work = {seat.rater_id for seat in [*seats, *(before or [])]}
    raters_here = [rater for rater in study.raters.select_related("user") if rater.pk in at_work]
    raters = sorted(raters_here, key=lambda rater: (len(rater.code), rater.code))
    columns = columns_by_section(study)
    people = Counter(seat.row_id for seat in seats)
    old = {(seat.row_id, seat.rater_id) for seat in before} if before is not None else None
    here: dict[int, dict[tuple[int, int], Given]] = defaultdict(dict)  # of the sheets that are drawn
    drawn = sheets[:MOST_SHEETS]
    drawn_ids = {sheet.pk for sheet in drawn}
    names: dict[int, list[tuple[int, str]]] = defaultdict(list)
    of_drawn = Row.objects.filter(sheet__in=drawn_ids).order_by("position")
    for pk, sheet_id, name in of_drawn.values_list("pk", "sheet_id", "name"):
        names[sheet_id].append((pk, name))
    for seat in seats:
        if (sheet_id := sheet_of[seat.row_id]) in drawn_ids:
            here[sheet_id][seat.row_id, seat.rater_id] = seat
    labels = _labels_of(study, seats, sheet_of, columns, section)
    return Coverage(
        times=Times.of(people.values()),
        labels=labels.total(),
        matrices=tuple(_matrix(sheet, names[sheet.pk], here[sheet.pk], raters, people, old) for sheet in drawn),
        left_out=max(0, len(sheets) - MOST_SHEETS),
        loads=tuple(_loads(seats, before, raters, people, sheet_of, labels)),
        shared=_shared(seats),
        intervals=tuple(_intervals(study, seats, sheet_of, columns, kappa, section)),
        kappa=kappa,
        clustering=Assumptions(kappa, ()).clustering,
    )


def _shared(seats: Iterable[Given]) -> Counter[tuple[int, int]]:
    """Rows that each two raters both have, the smaller key first."""
    there: dict[int, list[int]] = defaultdict(list)
    for seat in seats:
        there[seat.row_id].append(seat.rater_id)
    return Counter(pair for raters in there.values() for pair in combinations(sorted(raters), 2))


def _matrix(
    sheet: Sheet,
    rows: Sequence[tuple[int, str]],
    here: Mapping[tuple[int, int], Given],
    raters: Sequence[Rater],
    people: Mapping[int, int],
    old: Collection[tuple[int, int]] | None,
) -> SheetMatrix:
    """`here`: (row, rater) -> the seat, of this sheet."""
    of_sheet = {rater_id for _row_id, rater_id in here}
    had = rows if len(rows) <= WHOLE else [(pk, name) for pk, name in rows if people.get(pk)]
    drawn = had[:MOST_ROWS]
    lines = []
    for rater in raters:
        if rater.pk in of_sheet:
            key = rater.pk
            mine = [here.get((pk, key)) for pk, _name in drawn]
            places = [
                Place(
                    row=name,
                    people=min(people[pk], 3) if seat else 0,
                    began=bool(seat and seat.began),
                    new=bool(seat and old is not None and (pk, key) not in old),
                )
                for (pk, name), seat in zip(drawn, mine, strict=True)
            ]
            if any(mine):
                lines.append((rater, tuple(places)))
    return SheetMatrix(
        sheet=sheet,
        times=Times.of(people[pk] for pk, _name in rows if people.get(pk)),
        rows=tuple(drawn),
        lines=tuple(lines),
        left_out=len(had) - len(drawn),
        nobodys=len(rows) - len(had),
    )


def labels_asked(study: Study, seats: Sequence[Given]) -> int:
    """How many labels some seats ask for, those included that a rule may switch off. Two queries."""
    sheet_of = dict(Row.objects.filter(sheet__study=study).order_by().values_list("pk", "sheet_id"))
    return _labels_of(study, seats, sheet_of, columns_by_section(study)).total()


def _labels_of(
    study: Study,
    seats: Iterable[Given],
    sheet_of: Mapping[int, int],
    columns: Mapping[int, Counter[str]],
    only: str = "",
) -> Counter[int]:
    """Rater -> cells that their seats ask, those included that a rule may switch off; `only`: of one section."""
    questions = {
        section.key: len(section.questions)
        for section in study.scheme.parsed.sections
        if not only or section.key == only
    }
    labels: Counter[int] = Counter()
    asked: dict[tuple[int, tuple[str, ...]], int] = {}  # (sheet, sections) -> cells of a row
    for seat in seats:
        place = sheet_of[seat.row_id], seat.sections
        if place not in asked:
            of_sheet = columns.get(place[0], Counter())
            asked[place] = sum(n * questions.get(key, 0) for key, n in of_sheet.items() if asks(seat.sections, key))
        labels[seat.rater_id] += asked[place]
    return labels


def _loads(
    seats: Sequence[Given],
    before: Sequence[Given] | None,
    raters: Sequence[Rater],
    people: Mapping[int, int],
    sheet_of: Mapping[int, int],
    labels: Mapping[int, int],
) -> Iterable[Load]:
    rows_before = None if before is None else Counter(seat.rater_id for seat in before)
    rows_of: dict[int, list[int]] = defaultdict(list)
    for seat in seats:
        rows_of[seat.rater_id].append(seat.row_id)
    for rater in raters:
        mine = rows_of[rater.pk]
        yield Load(
            rater=rater,
            times=Times.of(people[row_id] for row_id in mine),
            sheets=len({sheet_of[row_id] for row_id in mine}),
            labels=labels[rater.pk],
            before=None if rows_before is None else rows_before[rater.pk],
        )


def _intervals(
    study: Study,
    seats: Sequence[Given],
    sheet_of: Mapping[int, int],
    columns: Mapping[int, Counter[str]],
    kappa: float,
    only: str,
) -> Iterable[Interval]:
    shares = _option_shares(study)
    for section in study.scheme.parsed.sections:
        asking = [seat for seat in seats if asks(seat.sections, section.key)]
        people = Counter(seat.row_id for seat in asking)
        times = Times.of(people.values())
        several = [row_id for row_id, n in people.items() if n > 1]
        cells = sum(columns[sheet_of[row_id]][section.key] for row_id in several)
        if not cells or (only and only != section.key):
            continue
        # Pairs of raters that share rows, and how many they share on average.
        shared = _shared(asking)
        rows_a_pair = shared.total() / len(shared)
        for question in section.questions:
            if len(question.options) < 2:
                continue
            expected = shares.get((section.key, question.key))
            assumed = Assumptions(kappa, expected or even_shares(len(question.options)))
            cells_a_row = max(1, round(cells / len(several)))
            all_pairs = half_width(assumed, cells_a_document=cells_a_row, documents=(times.twice, times.thrice))
            assert all_pairs is not None
            yield Interval(
                section=section.title,
                question=question.title,
                cells=cells,
                all_pairs=all_pairs,
                one_pair=half_width(assumed, cells_a_document=cells_a_row, documents=(round(rows_a_pair), 0)),
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
    by_people = Label.objects.filter(assignment__rater__in=people).exclude(arriving("assignment"))
    for question_id, option, n in (
        by_people.order_by().values_list("question_id", "option__key").annotate(n=Count("pk"))
    ):
        counts[question_id][option] = n
    shares = {}
    questions = Question.objects.filter(pk__in=counts, section__scheme=study.scheme_id)
    for pk, section, key in questions.values_list("pk", "section__key", "key"):
        options = [option.key for option in study.scheme.parsed.section(section).question(key).options]
        total = sum(counts[pk][option] for option in options)
        # With one option alone in use there is nothing to expect of kappa.
        if total >= _ENOUGH_LABELS and max(counts[pk][option] for option in options) < total:
            shares[section, key] = tuple(counts[pk][option] / total for option in options)
    return shares
