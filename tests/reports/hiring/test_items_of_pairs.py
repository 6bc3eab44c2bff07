"""Where rows are two texts for an item, its pairs stay together: in the split, in tests and under supervision."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotation import actions as annotating
from annotation.actions import Refused
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH
from annotation.models import Assignment, Row
from reports.hiring import actions, queries
from reports.hiring.cells import judge_cells
from reports.hiring.documents import clusters_of
from reports.hiring.forms import SplitForm
from reports.hiring.recomputing import recompute
from reports.models import Certificate, Split, SplitRow
from tests.builders import ApiOf, ClientOf
from tests.reports.hiring import simulated
from tests.reports.hiring.simulated import World

pytestmark = [pytest.mark.django_db, pytest.mark.once]

SCHEME = simulated.SCHEME.replace(
    "sections:",
    """\
row:
  facets: [{key: item, hidden: true}, {key: one, hidden: true}, {key: two, hidden: true}]
comparison: {question: claims.made, systems: [one, two], options: [made, other], item: item}
sections:""",
    1,
)
PAIRS = 3  # of an item


def world_of_pairs(**kwargs: int) -> World:
    """Each three rows that follow each other on a sheet are of one item, but the last one, which names none."""
    world = simulated.world(scheme=SCHEME, **kwargs)
    rows = world.rows
    for row in rows[:-1]:
        row.facets = {"item": f"{row.sheet.title} {row.position // PAIRS}", "one": "a", "two": "b"}
    Row.objects.bulk_update(rows, ["facets"])
    return world


def parts_of_items(world: World) -> dict[str, set[bool]]:
    parts = queries.parts_of(world.study)
    found: dict[str, set[bool]] = {}
    for row in world.rows:
        found.setdefault(row.facets.get("item", f"row {row.pk}"), set()).add(parts[row.pk])
    return found


@pytest.mark.parametrize("seed", range(3))
def test_an_item_is_in_one_part_with_all_of_its_pairs(seed: int) -> None:
    world = world_of_pairs()
    split = actions.draw_split(study=world.study, unit="", share=40, seed=seed, by=None)
    assert split.unit == "item"
    parts = parts_of_items(world)
    assert {len(of) for of in parts.values()} == {1}
    assert sum(of == {True} for of in parts.values()) == round(len(parts) * 0.4)
    of_sheet = [sum(of == {True} for name, of in parts.items() if name.startswith(f"Paper {n}")) for n in (1, 2)]
    assert min(of_sheet) >= 3  # each sheet gives its share


def test_a_pair_that_comes_later_is_where_its_item_is() -> None:
    world = world_of_pairs()
    actions.draw_split(study=world.study, unit="item", share=50, seed=1, by=None)
    parts = parts_of_items(world)
    sheet = world.rows[0].sheet
    for number, (item, of) in enumerate(list(parts.items())[:6]):
        row = annotating.add_row(
            sheet=sheet, name=f"late {number}", evidence=[Block(PARAGRAPH, "So.")], facets={"item": item}
        )
        assert {queries.parts_of(world.study)[row.pk]} == of


def test_rows_by_themselves_are_drawn_where_no_item_joins_them(api_of: ApiOf) -> None:
    world = world_of_pairs()
    with pytest.raises(Refused, match="“row” cannot be drawn in this study. What can: item, sheet."):
        actions.draw_split(study=world.study, unit="row", share=50, seed=1, by=None)
    assert [unit for unit, _title in SplitForm(study=world.study).fields["unit"].choices] == ["item", "sheet"]  # type: ignore[attr-defined]
    at = f"/api/v1/studies/{world.study.slug}/split/"
    assert api_of(world.manager).post(at, {"share": 50, "seed": 1}).json()["unit"] == "item"


def test_other_studies_draw_rows_as_they_did(api_of: ApiOf) -> None:
    world = simulated.world(n_rows=6)
    assert [unit for unit, _title in SplitForm(study=world.study).fields["unit"].choices] == ["row", "sheet"]  # type: ignore[attr-defined]
    with pytest.raises(Refused, match="cannot be drawn"):
        actions.draw_split(study=world.study, unit="item", share=50, seed=1, by=None)
    at = f"/api/v1/studies/{world.study.slug}/split/"
    assert api_of(world.manager).post(at, {"share": 50, "seed": 1}).json()["unit"] == "row"


def test_a_split_of_before_stays_as_it_was() -> None:
    world = world_of_pairs()
    split = Split.objects.create(study=world.study, unit="row", share=50, seed=1)
    drawn = {row.pk: place % 2 == 0 for place, row in enumerate(world.rows)}
    SplitRow.objects.bulk_create(SplitRow(split=split, row_id=pk, test=test) for pk, test in drawn.items())
    assert queries.parts_of(world.study) == drawn
    assert queries.most_cells(world.study, world.question, "row") == simulated.CELLS


def test_items_that_something_was_fitted_to_are_for_development(monkeypatch: pytest.MonkeyPatch) -> None:
    world = world_of_pairs()
    fitted = {world.rows[0].pk, world.rows[4].pk}
    monkeypatch.setattr(queries, "fitted_rows", lambda study: fitted)
    actions.draw_split(study=world.study, unit="item", share=90, seed=1, by=None)
    parts = queries.parts_of(world.study)
    assert not any(parts[row.pk] for row in world.rows[: 2 * PAIRS])


def test_a_test_counts_items(client_of: ClientOf) -> None:
    world = world_of_pairs(n_rows=60, n_labelled=60)
    split = actions.draw_split(study=world.study, unit="item", share=60, seed=1, by=None)
    name = queries.question_name(world.question)
    cells = judge_cells(queries.study_table(world.study, judges=["scorer"], question=name), "scorer", name)
    assert len(set(clusters_of(cells, "item").tolist())) == 2 * 60 / PAIRS + 1  # the last row is by itself
    assert queries.most_cells(world.study, world.question, "item") == PAIRS * simulated.CELLS
    size = queries.cost_of(split, world.rater, world.question, epsilon=0.1, confidence=0.9).size
    assert (size.labelled, size.unlabelled) == (sum(of == {True} for of in parts_of_items(world).values()), 0)
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    assert certificate.request["split"]["unit"] == split.unit == "item"
    assert recompute(certificate).equal
    page = client_of(world.manager).get(reverse("reports:hiring", args=[world.study.slug])).content.decode()
    assert "Drawn as items with all of their pages" in page


def test_an_item_is_supervised_once_all_of_its_pairs_are_finished() -> None:
    world = world_of_pairs(n_rows=6, n_labelled=0)
    boris = world.people[1]
    actions.draw_split(study=world.study, unit="item", share=50, seed=1, by=None)
    certificate: Certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    todo = queries.work_to_do(certificate, share=100, seed=1)
    actions.take_over(certificate=certificate, share=100, seed=1, raters=[boris], shown=todo.digest, by=world.manager)
    assert queries.supervision_of(certificate).n_drawn == 5  # two of three pairs a sheet, but one that names none
    first = Assignment.objects.filter(rater=boris, row__in=world.rows[:PAIRS]).order_by("row__position")
    counted = []
    for assignment in first:
        world.say(assignment)
        counted.append(queries.supervision_of(certificate).watch.n_clusters)
    assert counted == [0, 0, 1]


def test_what_is_chosen_by_has_intervals_by_items(client_of: ClientOf) -> None:
    """Where all pairs of an item are judged alike, three times the pairs are no more items."""
    world = world_of_pairs(n_rows=15, n_labelled=15)
    actions.draw_split(study=world.study, unit="item", share=20, seed=1, by=None)
    [own] = [one for one in queries.candidates(world.study, epsilon=0.05) if one.own]
    page = client_of(world.manager).get(reverse("reports:choose-judge", args=[world.study.slug])).content.decode()
    assert "In square brackets 95 % intervals by items." in page
    Row.objects.filter(sheet__study=world.study).update(facets={})  # each pair by itself
    [alone] = [one for one in queries.candidates(world.study, epsilon=0.05) if one.own]
    assert (own.agreement, own.cells) == (alone.agreement, alone.cells)
    assert (own.agreement_low, own.agreement_high) != (alone.agreement_low, alone.agreement_high)
