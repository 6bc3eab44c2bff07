"""What a plan looks like: who has which row, how level it is, and how well agreement will be known.

The same picture is drawn of a plan before it is applied and of what stands afterwards.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from django.db.models import Count

from annotation.models import Label, Question, Rater, Row, Sheet, Study
from annotation.planning.precision import Assumptions, even_shares, half_width
from annotation.queries.planning import Given, asks, columns_by_section

# Observed shares of the options are taken for the expected ones from this many labels on.
_ENOUGH_LABELS = 100
# The matrices of more sheets than this are left out of the page; the counts are always of all.
MOST_SHEETS = 40


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
    pairs: tuple[tuple[Rater, tuple[int | None, ...]], ...]  # None on and above the diagonal
    intervals: tuple[Interval, ...]
    kappa: float
    clustering: float

    def rows_a_rater(self, raters: Collection[Rater]) -> tuple[int, int]:
        """The fewest and the most rows that anybody of these has."""
        rows = {load.rater: load.times.rows for load in self.loads}
        of_these = [rows.get(rater, 0) for rater in raters]
        return min(of_these), max(of_these)

    def rows_a_pair(self, raters: Collection[Rater]) -> tuple[int, int] | None:
        """The fewest and the most rows that two of these share; None for one rater."""
        here = [load.rater for load in self.loads]
        counts = {
            frozenset((a, b)): n for a, line in self.pairs for b, n in zip(here, line, strict=True) if n is not None
        }
        shared = [counts.get(frozenset(pair), 0) for pair in combinations(raters, 2)]
        return (min(shared), max(shared)) if shared else None

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

    Six queries.
    """
    if section:
        seats = [seat for seat in seats if asks(seat.sections, section)]
        before = before and [seat for seat in before if asks(seat.sections, section)]
    names: dict[int, list[tuple[int, str]]] = defaultdict(list)
    sheet_of: dict[int, int] = {}
    for pk, sheet_id, name in Row.objects.filter(sheet__study=study).values_list("pk", "sheet_id", "name"):
        names[sheet_id].append((pk, name))
        sheet_of[pk] = sheet_id
    sheets = list(study.sheets.filter(pk__in={sheet_of[seat.row_id] for seat in seats}).order_by("position"))
    raters_here = study.raters.in_bulk({seat.rater_id for seat in [*seats, *(before or [])]})
    raters = sorted(raters_here.values(), key=lambda rater: (len(rater.code), rater.code))
    columns = columns_by_section(sheets)
    people = Counter(seat.row_id for seat in seats)
    old = {(seat.row_id, seat.rater_id) for seat in before} if before is not None else None
    shared = _shared(seats)
    return Coverage(
        times=Times.of(people.values()),
        labels=sum(_labels_of(study, seats, sheet_of, columns, section).values()),
        matrices=tuple(_matrix(sheet, names[sheet.pk], seats, raters, people, old) for sheet in sheets[:MOST_SHEETS]),
        left_out=max(0, len(sheets) - MOST_SHEETS),
        loads=tuple(_loads(study, seats, before, raters, people, sheet_of, columns, section)),
        pairs=tuple(
            (a, tuple(shared[frozenset((a.pk, b.pk))] if place > n else None for n, b in enumerate(raters)))
            for place, a in enumerate(raters)
        ),
        intervals=tuple(_intervals(study, seats, sheet_of, columns, kappa, section)),
        kappa=kappa,
        clustering=Assumptions(kappa, ()).clustering,
    )


def _shared(seats: Iterable[Given]) -> Counter[frozenset[int]]:
    """Rows that each two raters both have."""
    there: dict[int, list[int]] = defaultdict(list)
    for seat in seats:
        there[seat.row_id].append(seat.rater_id)
    return Counter(frozenset(pair) for raters in there.values() for pair in combinations(raters, 2))


def _matrix(
    sheet: Sheet,
    rows: Sequence[tuple[int, str]],
    seats: Iterable[Given],
    raters: Sequence[Rater],
    people: Mapping[int, int],
    old: Collection[tuple[int, int]] | None,
) -> SheetMatrix:
    ids = {pk for pk, _name in rows}
    here = {(seat.row_id, seat.rater_id): seat for seat in seats if seat.row_id in ids}
    lines = []
    for rater in raters:
        mine = [here.get((pk, rater.pk)) for pk, _name in rows]
        if any(mine):
            places = [
                Place(
                    row=name,
                    people=min(people[pk], 3) if seat else 0,
                    began=bool(seat and seat.began),
                    new=bool(seat and old is not None and (pk, rater.pk) not in old),
                )
                for (pk, name), seat in zip(rows, mine, strict=True)
            ]
            lines.append((rater, tuple(places)))
    return SheetMatrix(
        sheet=sheet,
        times=Times.of(people[pk] for pk in ids if people.get(pk)),
        rows=tuple(rows),
        lines=tuple(lines),
    )


def labels_asked(study: Study, seats: Sequence[Given]) -> int:
    """How many labels some seats ask for, those included that a rule may switch off. Three queries."""
    sheet_of = dict(Row.objects.filter(pk__in={seat.row_id for seat in seats}).values_list("pk", "sheet_id"))
    columns = columns_by_section(study.sheets.filter(pk__in=set(sheet_of.values())))
    return _labels_of(study, seats, sheet_of, columns).total()


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
    for seat in seats:
        of_sheet = columns.get(sheet_of[seat.row_id], Counter())
        labels[seat.rater_id] += sum(
            n * questions.get(section, 0) for section, n in of_sheet.items() if asks(seat.sections, section)
        )
    return labels


def _loads(
    study: Study,
    seats: Sequence[Given],
    before: Sequence[Given] | None,
    raters: Sequence[Rater],
    people: Mapping[int, int],
    sheet_of: Mapping[int, int],
    columns: Mapping[int, Counter[str]],
    only: str,
) -> Iterable[Load]:
    labels = _labels_of(study, seats, sheet_of, columns, only)
    rows_before = None if before is None else Counter(seat.rater_id for seat in before)
    for rater in raters:
        mine = [seat for seat in seats if seat.rater_id == rater.pk]
        yield Load(
            rater=rater,
            times=Times.of(people[seat.row_id] for seat in mine),
            sheets=len({sheet_of[seat.row_id] for seat in mine}),
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


def _option_shares(study: Study) -> dict[tuple[str, str], tuple[float, ...]]:
    """(section, question) -> the shares of its options among people's labels, where there are enough. Two queries."""
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    by_people = Label.objects.filter(assignment__rater__study=study, assignment__rater__kind=Rater.Kind.PERSON)
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
