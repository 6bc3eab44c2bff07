"""The picture of a plan: counts by hand on the leases, where Anna and Boris have both clauses."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
from django.template import Context, Template

from annotation import actions, queries
from annotation.models import Rater
from annotation.queries import Given
from annotation.queries.plan_picture import Place, Times, coverage
from annotation.templatetags import palate
from tests import builders
from tests.builders import Leases


def seats_of(leases: Leases, given: dict[str, list[int]], sections: tuple[str, ...] = ()) -> list[Given]:
    """{code of the rater: places of rows}"""
    rows = list(leases.sheet.rows.values_list("pk", flat=True))
    raters = {rater.code: rater.pk for rater in leases.study.raters.all()}
    return [Given(rows[place], raters[code], sections) for code, places in given.items() for place in places]


def test_what_stands_is_counted(leases: Leases) -> None:
    picture = coverage(leases.study, queries.seats(leases.study))

    assert picture.times == Times(twice=2)
    # A row has 2 duties × 1 question and 2 acts × 3 questions: 8 cells. Two rows, two people; the judge is no person.
    assert picture.labels == 32
    assert [(load.rater.code, load.times.rows, load.labels, load.sheets) for load in picture.loads] == [
        ("A1", 2, 16, 1),
        ("A2", 2, 16, 1),
    ]
    raters = [load.rater for load in picture.loads]
    assert (picture.rows_a_rater(raters), picture.rows_a_pair(raters)) == ((2, 2), (2, 2))
    assert picture.rows_a_pair(raters[:1]) is None
    [matrix] = picture.matrices
    assert [[place.people for place in places] for _rater, places in matrix.lines] == [[2, 2], [2, 2]]


def test_a_row_is_tinted_by_how_many_people_have_it(leases: Leases) -> None:
    builders.rater(leases.study, builders.user("clara"))
    builders.row(leases.sheet, "Clause 3")

    picture = coverage(leases.study, seats_of(leases, {"A1": [0, 1, 2], "A2": [0, 1], "A3": [0]}))

    assert picture.times == Times(once=1, twice=1, thrice=1)
    assert [[place.people for place in places] for _rater, places in picture.matrices[0].lines] == [
        [3, 2, 1],
        [3, 2, 0],
        [3, 0, 0],
    ]
    assert [counts for _rater, counts in picture.pairs] == [(None,) * 3, (2, None, None), (1, 1, None)]
    raters = [load.rater for load in picture.loads]
    assert (picture.rows_a_rater(raters), picture.rows_a_pair(raters)) == ((1, 3), (1, 2))
    # Somebody without any work is in no table, but counts where they are asked for.
    nobody = builders.rater(leases.study, builders.user("dan"))
    assert (picture.rows_a_rater([*raters, nobody]), picture.rows_a_pair([*raters, nobody])) == ((0, 3), (0, 2))


def test_withdrawn_rows_are_not_among_those_labelled_twice(leases: Leases) -> None:
    """What is begun of them is finished, so that raters, pairs and intervals count them."""
    first = leases.sheet.rows.first()
    assert first is not None
    for assignment in first.assignments.filter(rater__kind=Rater.Kind.PERSON):
        builders.label(assignment, {("Pay rent", "stated"): "stated"})
    actions.withdraw_row(row=first, reason="The page is gone.", by=None)

    picture = coverage(leases.study, queries.seats(leases.study))

    assert (picture.times, picture.withdrawn) == (Times(twice=1), 1)
    assert [matrix.times for matrix in picture.matrices] == [Times(twice=1)]
    assert [load.times.rows for load in picture.loads] == [2, 2]
    assert (picture.most_shared, picture.intervals[0].cells) == (2, 4)


def test_rows_of_more_than_three_are_counted_by_their_number(leases: Leases) -> None:
    for name in ("clara", "dan", "eva"):
        builders.rater(leases.study, builders.user(name))

    picture = coverage(leases.study, seats_of(leases, {f"A{n}": [0] if n > 4 else [0, 1] for n in range(1, 6)}))

    assert picture.times == Times(thrice=2, more=((4, 1), (5, 1)))
    assert (picture.times.rows, picture.times.shared) == (2, (0, 0, 1, 1))
    assert [[place.people for place in places] for _rater, places in picture.matrices[0].lines] == [
        *[[5, 4]] * 4,
        [5, 0],
    ]
    # 4 × 3 / 2 and 5 × 4 / 2 pairs at 2 cells of a row are worth more than all of three people: 3 pairs.
    three = coverage(leases.study, seats_of(leases, {f"A{n}": [0, 1] for n in range(1, 4)}))
    assert picture.widest is not None
    assert three.widest is not None
    assert picture.widest.all_pairs < three.widest.all_pairs


def test_sections_are_counted_apart(leases: Leases) -> None:
    """Anna has the duties of both rows, Boris the acts: nothing is labelled twice."""
    seats = [*seats_of(leases, {"A1": [0, 1]}, ("duties",)), *seats_of(leases, {"A2": [0, 1]}, ("acts",))]

    picture = coverage(leases.study, seats, section="duties")

    assert (picture.times, picture.labels) == (Times(once=2), 4)
    assert coverage(leases.study, seats).intervals == ()


def test_the_interval_rests_on_the_cells_that_two_answer(leases: Leases) -> None:
    picture = coverage(leases.study, queries.seats(leases.study), kappa=0.5)

    found = {interval.title: interval for interval in picture.intervals}
    assert {name: interval.cells for name, interval in found.items()} == {
        "Duties · Stated": 4,
        "Acts · Act": 4,
        "Acts · Party": 4,
        "Acts · Strictness": 4,
    }
    # One pair: it is all pairs.
    assert all(interval.all_pairs == interval.one_pair for interval in found.values())
    assert not any(interval.observed for interval in found.values())
    assert picture.widest is not None
    assert picture.widest.all_pairs == max(interval.all_pairs for interval in found.values())


def test_options_are_expected_as_they_were_used(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.queries.plan_picture._ENOUGH_LABELS", 4)
    for assignment in (*leases.annas, *leases.boriss):
        builders.label(assignment)

    picture = coverage(leases.study, queries.seats(leases.study))

    observed = {interval.question: interval.observed for interval in picture.intervals}
    # Everybody gave every party the same answer: of that nothing can be expected.
    assert observed["Stated"] is True
    assert observed["Party"] is False


def test_a_plan_is_compared_with_what_was(leases: Leases) -> None:
    before = queries.seats(leases.study)
    clara = builders.rater(leases.study, builders.user("clara"))
    after = [Given(seat.row_id, clara.pk) if seat.rater_id == leases.annas[0].rater_id else seat for seat in before]

    picture = coverage(leases.study, after, before=before)

    assert [(load.rater.code, load.before, load.change) for load in picture.loads] == [
        ("A1", 2, -2),
        ("A2", 2, 0),
        ("A3", 0, 2),
    ]
    assert [(rater.code, [place.new for place in places]) for rater, places in picture.matrices[0].lines] == [
        ("A2", [False, False]),
        ("A3", [True, True]),
    ]


def test_it_costs_the_same_for_few_rows_and_many(leases: Leases, django_assert_num_queries: Any) -> None:
    loan = builders.sheet(leases.study, "Loan", n_rows=20)
    builders.assignments(Rater.objects.get(code="A1"), loan)
    given = queries.work_given(leases.study)

    with django_assert_num_queries(7):
        coverage(leases.study, given.seats, rows=given.rows)


def test_many_of_a_crowd_share_a_line(leases: Leases) -> None:
    """Anna has all three rows; two of a crowd have the first one, and one of these the second, which is new."""
    crowd = [builders.rater(leases.study, builders.user(f"crowd-{n}")) for n in range(2)]
    builders.row(leases.sheet, "Clause 3")
    one, other = (rater.code for rater in crowd)
    before = seats_of(leases, {"A1": [0, 1, 2], one: [0], other: [0]})
    after = seats_of(leases, {"A1": [0, 1, 2], one: [0, 1], other: [0]})
    apart = coverage(leases.study, after, before=before)
    picture = coverage(leases.study, after, before=before, crowd={rater.pk for rater in crowd} | {10**6})

    assert [load.rater.code for load in picture.loads] == ["A1"]
    assert picture.of_crowd is not None
    # Of their three seats two are of the row that three have, one of the row that two have; 8 cells a row.
    assert str(picture.of_crowd.rater) == "2 people of a crowd"
    assert picture.of_crowd.times == Times(twice=1, thrice=2)
    assert (picture.of_crowd.before, picture.of_crowd.change) == (2, 1)
    assert (picture.of_crowd.labels, picture.of_crowd.sheets) == (24, 1)
    lines = {str(whose): [(place.people, place.new) for place in places] for whose, places in picture.matrices[0].lines}
    assert lines == {
        "A1": [(3, False), (2, False), (1, False)],
        "2 people of a crowd": [(3, False), (2, True), (0, False)],
    }
    # What is said of all is said of all.
    assert (picture.times, picture.labels, picture.shared) == (apart.times, apart.labels, apart.shared)
    assert (picture.intervals, picture.n_pairs) == (apart.intervals, apart.n_pairs)
    assert coverage(leases.study, after).of_crowd is None


def test_what_is_too_much_for_a_page_is_counted_and_not_drawn(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    builders.rater(leases.study, builders.user("clara"))
    builders.row(leases.sheet, "Clause 3")
    seats = seats_of(leases, {"A1": [0, 1, 2], "A2": [0, 1], "A3": [0]})
    whole = coverage(leases.study, seats)
    monkeypatch.setattr("annotation.queries.plan_picture.MOST_RATERS", 2)
    monkeypatch.setattr("annotation.queries.plan_picture.MOST_PAIRED", 2)
    monkeypatch.setattr("annotation.queries.plan_picture.MOST_ROWS", 2)
    picture = coverage(leases.study, seats)

    assert [load.rater.code for load in picture.drawn_loads] == ["A1", "A3"]  # the largest and the smallest
    assert (picture.pairs, picture.n_pairs, len(picture.shared), picture.most_shared) == ((), 3, 3, 2)
    matrix = picture.matrices[0]
    assert (len(matrix.rows), matrix.left_out, matrix.times) == (2, 1, whole.matrices[0].times)
    raters = [load.rater for load in picture.loads]
    assert picture.rows_a_pair(raters) == whole.rows_a_pair(raters) == (1, 2)


def test_a_line_of_the_matrix_is_as_a_template_would_draw_it(leases: Leases) -> None:
    rater = leases.annas[0].rater
    rater.code = "A<1>"
    marks = itertools.product((0, 1, 2, 3, 11), (False, True), (False, True))
    drawn = [Place(f"Clause “{n}” & 'b'", people, began, new) for n, (people, began, new) in enumerate(marks)]
    template = Template(
        """{% for place in places %}<td title="{{ rater.code }} · {{ place.row }}"{% if place.people %} class="place \
{% if place.people == 1 %}once{% elif place.people == 2 %}twice{% else %}thrice{% endif %}{% if place.new %} new\
{% endif %}{% if place.began %} began{% endif %}"{% endif %}>{% if place.people %}{{ place.people }}{% endif %}</td>\
{% endfor %}"""
    )

    assert palate.places(rater, drawn) == template.render(Context({"rater": rater, "places": drawn}))


def test_what_is_only_compared_with_is_counted_without_its_matrices(leases: Leases) -> None:
    seats = seats_of(leases, {"A1": [0, 1], "A2": [0]})
    assert coverage(leases.study, seats, drawn=False) == replace(coverage(leases.study, seats), matrices=())
