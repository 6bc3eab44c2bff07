"""Plans of some rows alone: those with certain words at their facets, and a stratified sample of them."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from django.urls import reverse
from hypothesis import example, given
from hypothesis import strategies as st

from annotation import actions
from annotation.models import Assignment, Plan, Rater, Row, Sheet, Study, User
from annotation.planning.sampling import BY_SHEET, Described, RowChoice, drawn_rows, enough, shares
from annotation.queries import facet_words
from annotation.queries.plan_picture import Spread, rating_spread
from tests import builders
from tests.builders import ClientOf

PAGES = builders.SCHEME.replace("sections:", "row: {facets: [engine, {key: writer, hidden: true}]}\nsections:", 1)
ROWS = [Described(n, f"S{n % 2}", {"engine": "g" if n % 3 else "b"}) for n in range(1, 31)]  # 20 of g, 10 of b


@pytest.mark.django_db
def test_words_of_facets_are_those_that_were_written() -> None:
    study: Study = builders.study(of=builders.scheme(PAGES))
    sheet = actions.add_sheet(study=study, title="S", columns={})
    said: list[dict[str, str | list[str]]] = [{"engine": "0.50"}, {"engine": "true"}, {"engine": "null"}, {}]
    said += [{"engine": ["a", "b"]}, {"engine": "0.50", "writer": "w"}]
    for n, facets in enumerate(said):
        actions.add_row(sheet=sheet, name=str(n), title="", url="", evidence=[], facets=facets)
    rows = Row.objects.filter(sheet=sheet)
    assert facet_words(rows, ["engine", "writer", "other"]) == {
        "engine": ["", "0.50", "a; b", "null", "true"],
        "writer": ["", "w"],
    }
    assert facet_words(rows.filter(name__in=["0", "5"]), ["engine"]) == {}


@pytest.mark.django_db
@pytest.mark.parametrize(("n", "alike", "offered"), [(12, 0, True), (13, 0, False), (13, 1, True)])
def test_nobody_chooses_among_words_that_name_a_row_each(n: int, alike: int, offered: bool) -> None:
    scheme = builders.scheme(PAGES.replace("[engine,", "[engine, list,"))
    sheet = actions.add_sheet(study=builders.study(of=scheme), title="S", columns={})
    for number in [*range(n), *range(alike)]:
        facets: dict[str, str | list[str]] = {"list": ["salt", f"spice {number}"], "engine": f"Engine {number % 2}"}
        name = str(sheet.rows.count())
        actions.add_row(sheet=sheet, name=name, title="", url="", evidence=[], facets=facets)
    found = facet_words(Row.objects.filter(sheet=sheet), ["list", "engine"])
    assert ("list" in found) == offered
    assert "engine" in found


# --- the draw -------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 40), max_size=8), st.integers(1, 100))
def test_shares_are_in_proportion(fit: list[int], size: int) -> None:
    given_ = shares(fit, size)

    assert sum(given_) == min(size, sum(fit))
    for n, share in zip(fit, given_, strict=True):
        assert share <= n
        assert sum(fit) <= size or abs(share - n * size / sum(fit)) < 1


@given(st.integers(0, 9), st.integers(1, 30), st.integers(0, 30), st.booleans())
def test_a_larger_sample_holds_the_smaller_one(seed: int, size: int, more: int, each: bool) -> None:
    by = ("engine", BY_SHEET) if each else ()
    small, large = (drawn_rows(ROWS, RowChoice(size=n, each=each, by=by, seed=seed)) for n in (size, size + more))

    assert small.rows <= large.rows
    assert small == drawn_rows(ROWS[::-1], RowChoice(size=size, each=each, by=by, seed=seed))


@given(st.lists(st.integers(0, 25), min_size=1, max_size=7))
@example([19, 3, 9])  # by largest remainders [3, 1, 1] of 5 and [4, 0, 2] of 6
def test_a_larger_number_takes_nothing_from_a_group(fit: list[int]) -> None:
    by_size = [shares(fit, size) for size in range(sum(fit) + 1)]

    for fewer, more in pairwise(by_size):
        assert all(was <= now for was, now in zip(fewer, more, strict=True))


def test_who_is_gone_is_replaced_and_the_rest_stay() -> None:
    choice = RowChoice(size=3, each=True, by=("engine",), seed=7)
    before = drawn_rows(ROWS, choice).rows
    gone = next(row for row in ROWS if row.row in before and row.words["engine"] == "b")

    after = drawn_rows([row for row in ROWS if row != gone], choice).rows

    assert before - after == {gone.row}
    assert [ROWS[n - 1].words["engine"] for n in after - before] == ["b"]


def test_strata_and_filters() -> None:
    assert drawn_rows(ROWS, RowChoice(size=12, by=("engine",))).strata == {("g",): (20, 8), ("b",): (10, 4)}
    assert drawn_rows(ROWS, RowChoice(size=12, each=True, by=("engine",))).strata == {
        ("g",): (20, 12),
        ("b",): (10, 10),
    }
    assert drawn_rows(ROWS, RowChoice(words={"engine": ("b",)})).strata == {(): (10, 10)}
    assert drawn_rows(ROWS, RowChoice(words={"rank": ("1",)})).rows == frozenset()
    assert drawn_rows(ROWS, RowChoice(words={"rank": ("",)}, size=5)).strata == {(): (30, 5)}


def test_another_seed_draws_others() -> None:
    assert len({drawn_rows(ROWS, RowChoice(size=5, seed=seed)).rows for seed in range(20)}) > 15


@given(st.integers(2, 2000), st.floats(0.05, 2), st.floats(0.1, 4))
def test_enough_rows_are_enough_and_one_fewer_is_not(n: int, within: float, deviation: float) -> None:
    """Half an interval of a mean of m out of n rows, with the finite population correction n - m over n."""

    def half(m: int) -> float:
        return 1.959964 * deviation * math.sqrt((1 / m) * (n - m) / n)

    m = enough(n, within=within, deviation=deviation)
    assert m == n or half(m) <= within * 1.01
    assert m == 2 or half(m - 1) > within * 0.99


def test_a_sample_is_as_large_as_its_interval_wants() -> None:
    wide, narrow = (
        drawn_rows(ROWS, RowChoice(within=within, deviation=1.0, each=True, by=("engine",))) for within in (1.0, 0.6)
    )
    assert wide.strata == {("g",): (20, 4), ("b",): (10, 3)}
    assert narrow.strata == {("g",): (20, 7), ("b",): (10, 6)}
    assert wide.rows < narrow.rows


# --- the planner ----------------------------------------------------------------------------------------------------


@pytest.fixture
def pages(db: None) -> Sheet:
    """Twelve pages of Google, six of Bing, written by two hidden writers; Anna and Boris can label."""
    study = builders.study("pages", of=builders.scheme(PAGES), by=builders.user("mara"))
    sheet = builders.sheet(study, "Pages", n_rows=0)
    for n in range(18):
        engine = "Bing" if n % 3 == 2 else "Google"
        actions.add_row(sheet=sheet, name=f"Page {n}", evidence=[], facets={"engine": engine, "writer": f"W{n % 2}"})
    for name in ("anna", "boris"):
        builders.rater(study, builders.user(name))
    return sheet


def plan(sheet: Sheet, client: Any, **asked: Any) -> dict[str, Any]:
    """Draw a plan and apply it; what the preview said."""
    url = reverse("annotation:plan", args=[sheet.study.slug])
    raters = [rater.pk for rater in Rater.objects.filter(user__isnull=False, code__startswith="A")]
    data = {"raters": raters, "sheets": [sheet.pk], "sections": ["duties", "acts"], "raters_per_sheet": 2}
    data |= {"share_twice": 0, "seed": 1, **asked}
    drawn = client.get(url, data, headers={"HX-Request": "true"})
    preview: dict[str, Any] = drawn.context.get("preview") or {"errors": drawn.context["form"].errors}
    if "digest" in preview:
        assert client.post(url, {**data, "drawn": preview["digest"]}).status_code == 302
    return preview


def given_by(facet: str) -> Counter[str]:
    rows = Row.objects.filter(assignments__state=Assignment.State.OPEN)
    return Counter(row.facets[facet] for row in rows)


def test_a_stratified_sample_is_planned_and_kept(pages: Sheet, client_of: ClientOf) -> None:
    manager = client_of(User.objects.get(username="mara"))

    first = plan(pages, manager, size=2, each="each", by=["engine", "writer"])

    assert first["sample"] == {
        "fit": 18,
        "drawn": 8,
        "free": 8,
        "by": ["Engine", "Writer"],
        "strata": [
            {"words": (engine, writer), "fit": fit, "drawn": 2}
            for engine, fit in (("Bing", 3), ("Google", 6))
            for writer in ("W0", "W1")
        ],
        "lacking": 0,
    }
    assert given_by("engine") == {"Google": 4, "Bing": 4}
    assert given_by("writer") == {"W0": 4, "W1": 4}
    stored = Plan.objects.get(study=pages.study).request
    assert stored["choice"] == {"words": {}, "size": 2, "each": True, "by": ["engine", "writer"], "seed": 1}

    # The same again finds nobody missing; a row that is withdrawn is replaced by one of its group; more is added to.
    again = plan(pages, manager, size=2, each="each", by=["engine", "writer"])
    assert "have somebody already" in str(again["errors"])
    lost = Row.objects.filter(assignments__isnull=False, facets__engine="Bing").first()
    assert lost is not None
    actions.withdraw_row(row=lost, reason="gone", by=None)
    replaced = plan(pages, manager, size=2, each="each", by=["engine", "writer"])
    assert (replaced["sample"]["drawn"], replaced["sample"]["free"]) == (8, 1)
    assert given_by("engine") == {"Google": 4, "Bing": 4}
    more = plan(pages, manager, size=4, each="each", by=["engine", "writer"])
    assert (more["sample"]["free"], more["sample"]["lacking"]) == (5, 2)
    assert given_by("engine") == {"Google": 8, "Bing": 5}


def test_rows_of_a_word_alone_are_planned(pages: Sheet, client_of: ClientOf) -> None:
    preview = plan(pages, client_of(User.objects.get(username="mara")), **{"facet.engine": ["Bing"]})

    assert (preview["sample"]["drawn"], preview["sample"]["strata"]) == (6, [])
    assert given_by("engine") == {"Bing": 6}


def test_groups_that_nobody_named_are_asked_for(pages: Sheet, client_of: ClientOf) -> None:
    said = plan(pages, client_of(User.objects.get(username="mara")), size=2, each="each")

    assert list(said["errors"]) == ["by"]
    assert not Assignment.objects.exists()


def test_a_sample_is_sized_by_what_is_to_be_known(pages: Sheet, client_of: ClientOf) -> None:
    manager = client_of(User.objects.get(username="mara"))
    both = plan(pages, manager, size=2, within="0.5", each="each", by=["engine"])
    assert "not both" in str(both["errors"])
    said = plan(pages, manager, within="0.7", each="each", by=["engine"])["sample"]
    # Nobody has rated: the numbers 1 to 3 alike have a deviation of √⅔, so (1.96 · √⅔ / 0.7)² = 5.23 rows of very many,
    # of 6 rows 5.23 / (1 + 5.23 / 6) = 2.8, of 12 rows 3.6.
    assert (said["spread"].of, round(said["spread"].deviation, 3)) == ("", 0.816)
    assert [(one["fit"], one["drawn"]) for one in said["strata"]] == [(6, 3), (12, 4)]
    choice = Plan.objects.get(study=pages.study).request["choice"]
    assert (choice["size"], choice["within"], round(choice["deviation"], 3)) == (None, 0.7, 0.816)


def spread_once_rated(pages: Sheet) -> Spread:
    """A judge gives 2 and 3 by turns."""
    judge = builders.judge(pages.study)
    sheet = builders.sheet(pages.study, "More", n_rows=50)
    acts = [column.name for column in sheet.columns.filter(section__key="acts")]
    for n, assignment in enumerate(builders.assignments(judge, sheet)):
        builders.label(assignment, {(act, "strictness"): str(2 + n % 2) for act in acts})
    spread = rating_spread(pages.study)
    assert spread is not None
    return spread


def test_the_spread_of_ratings_is_that_of_those_who_have_rated(pages: Sheet) -> None:
    spread = spread_once_rated(pages)
    assert (spread.question, spread.of, spread.deviation) == ("Strictness", "judge", 0.5)


def test_what_is_applied_is_what_was_shown_though_people_label_meanwhile(pages: Sheet, client_of: ClientOf) -> None:
    manager, url = client_of(User.objects.get(username="mara")), reverse("annotation:plan", args=[pages.study.slug])
    raters = [rater.pk for rater in Rater.objects.filter(user__isnull=False, code__startswith="A")]
    data = {"raters": raters, "sheets": [pages.pk], "sections": ["duties", "acts"], "raters_per_sheet": 2}
    data |= {"share_twice": 0, "seed": 1, "within": "0.7"}
    preview = manager.get(url, data, headers={"HX-Request": "true"}).context["preview"]
    spread = spread_once_rated(pages)
    assert spread.deviation == 0.5  # it was √⅔: now fewer rows would do
    sent = {**data, "drawn": preview["digest"], "deviation": preview["deviation"]}
    assert manager.post(url, {**sent, "deviation": "0.6"}).context["changed"]  # no plan was shown for that
    shown_again = manager.post(url, {**sent, "seed": 2}).context
    assert shown_again["changed"]
    assert shown_again["preview"]["deviation"] == "0.5"  # as it is now
    assert manager.post(url, sent).status_code == 302
    choice = Plan.objects.get(study=pages.study).request["choice"]
    assert repr(choice["deviation"]) == preview["deviation"] != "0.5"
    given = Row.objects.filter(assignments__rater__in=raters, sheet=pages).distinct().count()
    assert given == preview["sample"]["drawn"]
