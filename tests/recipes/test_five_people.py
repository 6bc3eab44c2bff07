"""Five people rate each recipe of a sample that is stratified by cuisine: from the plan to the report's agreement."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from django.urls import reverse

from annotation import actions
from annotation.models import Assignment, Plan, Rater, Row, Study
from tests import builders
from tests.builders import ClientOf
from tests.reports.studies import report

pytestmark = pytest.mark.once

PACK = Path(__file__).resolve().parents[2] / "recipes" / "cuisine_transfer"
NAMES = ("anna", "boris", "clara", "dan", "eva")
CRITERIA = ("authenticity", "sensitivity", "harmony")
HEADERS = {"HX-Request": "true"}


@pytest.fixture
def dishes(db: None) -> Study:
    """Six recipes of each of two cuisines, and five people."""
    scheme = (PACK / "schemes" / "cuisine-transfer-ash.yaml").read_text(encoding="utf-8")
    study = builders.study("dishes", of=builders.scheme(scheme), by=builders.user("mara"))
    for cuisine in ("Ghanaian", "Korean"):
        sheet = actions.add_sheet(study=study, title=cuisine, columns={"transfer": [{"part": "Recipe"}]})
        for n in range(6):
            actions.add_row(sheet=sheet, name=f"{cuisine} {n}", evidence=[], facets={"cuisine": cuisine})
    for name in NAMES:
        builders.rater(study, builders.user(name))
    builders.judge(study)
    return study


def numbers(study: Study, **changed: object) -> dict[str, object]:
    return {
        "raters": list(study.raters.people().values_list("pk", flat=True)),
        "sheets": list(study.sheets.values_list("pk", flat=True)),
        "raters_per_sheet": 5,
        "raters_per_row": "all",
        "share_twice": 50,
        "size": 2,
        "each": "each",
        "by": ["cuisine"],
        "seed": 1,
        **changed,
    }


def test_five_people_rate_each_recipe_of_a_sample(dishes: Study, client_of: ClientOf) -> None:
    manager = client_of(dishes.memberships.get(role="manager").user)
    url, data = reverse("annotation:plan", args=[dishes.slug]), numbers(dishes)

    drawn = manager.get(url, data, headers=HEADERS)
    page = drawn.content.decode()
    assert "<li>Recipes that <strong>5</strong> people label each: <strong>4</strong>." in page
    assert "Each rater of this plan has <strong>4</strong> recipes; each two share <strong>4</strong>." in page
    manager.post(url, {**data, "drawn": drawn.context["preview"]["digest"]})

    assert Plan.objects.get().request["raters_per_row"] == 5
    seats = Counter(Assignment.objects.values_list("row__facets__cuisine", "row__name"))
    assert Counter(cuisine for cuisine, _name in seats) == {"Ghanaian": 2, "Korean": 2}
    assert set(seats.values()) == {5}

    # Of the four recipes, in the order of their names: 2 2 2 2 2, 4 4 4 4 4, 2 2 2 2 4 and 4 4 4 4 2.
    rows = list(Row.objects.filter(assignments__isnull=False).distinct().order_by("name"))
    for place, rater in enumerate(dishes.raters.people().order_by("code")):
        for row, number in zip(rows, (2, 4, 4 if place == 4 else 2, 2 if place == 4 else 4), strict=True):
            assignment = rater.assignments.get(row=row)
            reasons = {("Recipe", f"{criterion}-reason"): ':"as it is"' for criterion in CRITERIA}
            numbers_given = {("Recipe", criterion): str(number) for criterion in CRITERIA}
            builders.label(assignment, {**numbers_given, **reasons})
            actions.submit(assignment=assignment)

    for row in rows:
        for assignment in actions.assign(rater=dishes.raters.get(code="J1"), rows=[row]):
            builders.label(assignment, {("Recipe", criterion): "3" for criterion in CRITERIA})

    for question in report(dishes).sections[0].questions:
        if question.spec.key not in CRITERIA:
            continue
        agreement = question.agreement
        # 10 pairs of people at 4 recipes; alike are 10, 10, 6 and 6 of them.
        assert agreement.kappa.n_comparisons == 40
        assert agreement.percent.value == pytest.approx(32 / 40)
        # Of 20 ratings ten are 2 and ten are 4. Observed: a split recipe has 2 × 4 × 1 / (5 - 1) = 2 unlike, 4 / 20 in
        # all; expected 2 × 10 × 10 / (20 × 19). Of two numbers alone the order says nothing: 1 - 0.2 × 380 / 200.
        assert agreement.alpha.value == pytest.approx(0.62)


def test_a_withdrawn_recipe_is_replaced_for_all_five(dishes: Study, client_of: ClientOf) -> None:
    manager = client_of(dishes.memberships.get(role="manager").user)
    url, data = reverse("annotation:plan", args=[dishes.slug]), numbers(dishes)
    digest = manager.get(url, data, headers=HEADERS).context["preview"]["digest"]
    manager.post(url, {**data, "drawn": digest})
    gone = Row.objects.filter(assignments__isnull=False).distinct()[0]

    actions.withdraw_row(row=gone, reason="gone", by=None)
    digest = manager.get(url, data, headers=HEADERS).context["preview"]["digest"]
    manager.post(url, {**data, "drawn": digest})

    live = Assignment.objects.exclude(state=Assignment.State.WITHDRAWN)
    seats = Counter(live.values_list("row__facets__cuisine", "row"))
    assert Counter(cuisine for cuisine, _row in seats) == {"Ghanaian": 2, "Korean": 2}
    assert set(seats.values()) == {5}


@pytest.mark.parametrize(("asked", "people"), [("", {1, 2}), ("1", {1}), ("3", {3}), ("5", {5})])
def test_rows_have_as_many_people_as_are_chosen(
    dishes: Study, client_of: ClientOf, asked: str, people: set[int]
) -> None:
    manager = client_of(dishes.memberships.get(role="manager").user)
    url = reverse("annotation:plan", args=[dishes.slug])
    data = numbers(dishes, raters_per_row=asked, size="", by=[], each="")

    digest = manager.get(url, data, headers=HEADERS).context["preview"]["digest"]
    manager.post(url, {**data, "drawn": digest})

    rows = Row.objects.filter(sheet__study=dishes)
    assert {row.assignments.count() for row in rows} == people


def test_more_people_than_share_a_sheet_are_refused(dishes: Study, client_of: ClientOf) -> None:
    manager = client_of(dishes.memberships.get(role="manager").user)
    url = reverse("annotation:plan", args=[dishes.slug])

    page = manager.get(url, numbers(dishes, raters_per_row="5", raters_per_sheet=4), headers=HEADERS).content.decode()

    assert "Any recipe labelled by 5 raters needs as many different ones, but only 4 per cuisine are asked for." in page
    assert not Assignment.objects.exists()


def test_a_number_that_changed_after_the_drawing_is_drawn_first(dishes: Study, client_of: ClientOf) -> None:
    manager = client_of(dishes.memberships.get(role="manager").user)
    url, data = reverse("annotation:plan", args=[dishes.slug]), numbers(dishes, raters_per_row="4")
    digest = manager.get(url, data, headers=HEADERS).context["preview"]["digest"]

    answer = manager.post(url, {**data, "raters_per_row": "5", "drawn": digest})

    assert answer.context["changed"]
    assert not Rater.objects.filter(assignments__isnull=False).exists()
