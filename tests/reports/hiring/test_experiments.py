"""People see a judge's answers in half of their documents: drawn, planned, shown in the grid, kept, and told."""

from __future__ import annotations

import csv
import io
import uuid

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation import actions
from annotation.actions import Answer, Refused
from annotation.models import Assignment, Experiment, ExperimentSeat, Label, Rater
from annotation.queries.experiments import Seat, drawn_seats
from reports.hiring import experiments, queries
from reports.stats.hiring.exposure import detectable_shift, effect
from tests.builders import ApiOf, ClientOf
from tests.databases import made_once
from tests.reports.hiring import simulated
from tests.reports.hiring.simulated import OTHER, World

pytestmark = pytest.mark.once


def test_half_of_each_persons_rows_and_sheets_are_drawn_by_the_seed() -> None:
    seats = [Seat(100 * rater + row, rater, row % 4, row) for rater in (1, 2, 3) for row in range(24)]
    drawn = drawn_seats(seats, seed=5)

    assert drawn == drawn_seats(seats, seed=5) != drawn_seats(seats, seed=6)
    for rater in (1, 2, 3):
        mine = [seat for seat in seats if seat.rater == rater]
        assert sum(drawn[seat.assignment] for seat in mine) == 12
        for sheet in range(4):
            assert sum(drawn[seat.assignment] for seat in mine if seat.sheet == sheet) == 3
    # Over seeds each row is shown half of the time: 400 draws, standard error 2.5 %.
    often = np.mean([list(drawn_seats(seats[:5], seed=seed).values()) for seed in range(400)], axis=0)
    assert np.all(np.abs(often - 0.5) < 0.11)


@made_once
def world() -> World:
    return simulated.world(unsure=0.5)


def _follow(world: World, seat: ExperimentSeat) -> None:
    """Say the truth where nothing is suggested, and what the judge says where it is."""
    assignment = Assignment.objects.select_related("row", "rater").get(pk=seat.assignment_id)
    its = {
        label.column_id: label.option.key
        for label in Label.objects.filter(assignment__rater=world.rater, assignment__row=assignment.row)
        .select_related("option")
        if label.option
    }  # fmt: skip
    answers = [
        Answer(
            column,
            world.question,
            world.options[its[column.pk] if seat.shown else world.truth[assignment.row_id, column.pk]],
        )
        for column in world.columns[assignment.row.sheet_id]
    ]
    actions.record(assignment=assignment, answers=answers, key=uuid.uuid4())
    actions.submit(assignment=assignment)
    Assignment.objects.filter(pk=assignment.pk).update(active_seconds=30 if seat.shown else 60)


def test_from_the_plan_to_what_the_suggestions_did(world: World, client_of: ClientOf) -> None:
    study, boris = world.study, world.people[1]
    slug, manager = [study.slug], client_of(world.manager)
    open_rows = [row for row in world.rows if row.position < 20]
    world.assign(boris, open_rows)

    assert "half of each rater" in manager.get(reverse("reports:suggestions-panel", args=slug)).content.decode()
    asked = {"judge": "scorer", "raters": [boris.pk], "seed": 3}
    planned = manager.get(reverse("reports:suggestions", args=slug), asked).context["planned"]
    assert (planned["seats"], planned["shown"], planned["people"]) == (40, 20, 1)
    [line] = experiments.plan(study, world.rater, [Seat(0, boris.pk, row.sheet_id, row.pk) for row in open_rows])
    assert line.detectable == detectable_shift(
        n_raters=1, n_documents=40, cells=4, agreement=line.agreement, icc=line.icc
    )
    assert not line.assumed
    assert 0.6 < line.agreement < 0.85

    report, effects = (reverse(f"reports:{name}", args=slug) for name in ("report", "suggestions-effects"))
    assert effects not in manager.get(report).content.decode()
    answer = manager.post(reverse("reports:suggestions", args=slug), asked, follow=True)
    assert "Shown in <strong>20</strong>" in answer.content.decode()
    experiment = Experiment.objects.get()
    shown = experiment.seats.filter(shown=True)

    # The grid has the suggestions in the rows that were drawn, and in no other.
    sheet = study.sheets.first()
    assert sheet is not None
    page = client_of(boris.user).get(reverse("annotation:sheet", args=[sheet.pk])).content.decode()
    assert page.count("data-judge=") == 4 * shown.filter(assignment__row__sheet=sheet).count() == 40

    for seat in experiment.seats.all():
        _follow(world, seat)
    mine = Label.objects.filter(assignment__rater=boris)
    assert set(mine.filter(exposed=True).values_list("assignment", flat=True)) == set(
        shown.values_list("assignment", flat=True)
    )
    assert mine.filter(exposed=False).count() == 80

    # By hand: with the suggestion all answers are the judge's; without it, as many as the judge has right.
    found = experiments.result(experiment)
    [of_question] = found.questions
    hidden = experiment.seats.filter(shown=False)
    right = [
        label.option.key == world.truth[label.assignment.row_id, label.column_id]
        for label in Label.objects.filter(
            assignment__rater=world.rater, assignment__row__in=hidden.values("assignment__row")
        ).select_related("option", "assignment")
        if label.option
    ]
    shift = of_question.effects.shift
    assert shift.shown == 1
    assert shift.hidden == pytest.approx(np.mean(right))
    assert shift.value == pytest.approx(1 - np.mean(right))
    assert shift.low is not None
    assert shift.low > 0
    accuracy = of_question.effects.accuracy
    assert accuracy is not None
    assert accuracy.hidden == 1  # the first person says the truth, and is what boris is held against
    assert accuracy.value is not None
    assert accuracy.value < 0
    assert found.time.value == pytest.approx(0.5)

    text = manager.get(reverse("reports:suggestions", args=slug)).content.decode()
    assert "Answers as the judge’s" in text
    assert "−50 %" in text
    # The report says it too, once its page is there.
    assert effects in manager.get(report).content.decode()
    assert effects not in manager.get(report, {"as_of": timezone.now().isoformat()}).content.decode()
    told = manager.get(effects).content.decode()
    assert "Answers as the judge’s" in told
    assert "−50 %" in told
    assert reverse("reports:suggestions-csv", args=[study.slug, experiment.pk]) in told
    content = manager.get(reverse("reports:suggestions-csv", args=[study.slug, experiment.pk])).content.decode(
        "utf-8-sig"
    )
    [first, *_rest] = csv.DictReader(io.StringIO(content))
    assert first["measure"] == "shift"
    assert float(first["change"]) == pytest.approx(shift.value)


def test_what_nobody_has_begun_can_be_let_go_and_a_program_can_draw_it(world: World, api_of: ApiOf) -> None:
    study, boris = world.study, world.people[1]
    with pytest.raises(Refused, match="nothing to draw"):
        actions.draw_experiment(study=study, judge=world.rater, raters=[boris], seed=1, by=None)
    with pytest.raises(Refused, match="Choose a judge"):
        actions.draw_experiment(study=study, judge=boris, raters=[boris], seed=1, by=None)
    begun, *others = world.assign(boris, world.rows[:6])
    api = api_of(world.manager)
    url = reverse("api:suggestions", args=[study.slug])
    assert api.post(url, {"judge": "nobody", "raters": ["A2"]}, format="json").status_code == 400
    drawn = api.post(url, {"judge": "scorer", "raters": [boris.code], "seed": 2}, format="json")
    assert drawn.status_code == 201
    assert (drawn.data["shown"], drawn.data["hidden"]) == (3, 3)
    assert drawn.data["effects"][-1]["value"] is None
    again = api.post(url, {"judge": "scorer", "raters": [boris.code]}, format="json")
    assert again.status_code == 409

    column = world.columns[begun.row.sheet_id][0]
    said = OTHER[world.truth[begun.row_id, column.pk]]
    actions.record(assignment=begun, answers=[Answer(column, world.question, world.options[said])], key=uuid.uuid4())
    experiment = Experiment.objects.get()
    beside = [one for one in others if one.row.sheet_id == begun.row.sheet_id]
    assert actions.end_experiment(experiment=experiment) == len(others) - len(beside)
    assert {seat.assignment for seat in experiment.seats.all()} == {begun, *beside}
    assert api.get(url).data[0]["submitted"] == 0


def test_an_end_leaves_what_an_open_page_shows(world: World) -> None:
    boris = world.people[1]
    first, second = ([row for row in world.rows if row.sheet_id == sheet.pk][:4] for sheet in world.study.sheets.all())
    world.assign(boris, [*first, *second])
    actions.draw_experiment(study=world.study, judge=world.rater, raters=[boris], seed=4, by=None)
    experiment = Experiment.objects.get()
    shown = experiment.seats.filter(shown=True, assignment__row__in=first).select_related("assignment__row").first()
    assert shown is not None
    # Boris opens the first sheet: its page says so, and nothing is begun.
    actions.beat(rater=boris, page=uuid.uuid4(), seconds={shown.assignment_id: 0})

    assert actions.end_experiment(experiment=experiment) == len(second)

    # What he labels on the page that is still open was said in sight of the judge's answer.
    column = world.columns[shown.assignment.row.sheet_id][0]
    option = world.options[world.truth[shown.assignment.row_id, column.pk]]
    actions.record(assignment=shown.assignment, answers=[Answer(column, world.question, option)], key=uuid.uuid4())
    assert Label.objects.get(assignment=shown.assignment).exposed
    later = Assignment.objects.filter(rater=boris, row__in=second).select_related("row")[0]
    column = world.columns[later.row.sheet_id][0]
    option = world.options[world.truth[later.row_id, column.pk]]
    actions.record(assignment=later, answers=[Answer(column, world.question, option)], key=uuid.uuid4())
    assert not Label.objects.get(assignment=later).exposed


def test_where_the_judge_is_shown_nobody_supervises_it(world: World) -> None:
    boris = world.people[1]
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    rows = [row for row in world.rows if row.position >= 20]
    for assignment in world.assign(boris, rows):  # another part of these documents is theirs
        Assignment.objects.filter(pk=assignment.pk).update(sections=["elsewhere"])
    assert len(queries.work_to_do(certificate, share=100, seed=1).drawn) == 20
    actions.draw_experiment(study=world.study, judge=world.rater, raters=[boris], seed=4, by=None)

    drawn = queries.work_to_do(certificate, share=100, seed=1).drawn
    seats = Experiment.objects.get().seats
    assert len(drawn) == 10
    assert drawn == set(seats.filter(shown=False).values_list("assignment__row_id", flat=True))


def test_a_shift_of_the_planned_size_is_found_as_often_as_planned() -> None:
    """500 simulated experiments: 4 raters, 40 documents each, 5 cells, answers alike within a rater's document."""
    raters, documents, cells, agreement, icc = 4, 40, 5, 0.7, 0.2
    shift = detectable_shift(n_raters=raters, n_documents=documents, cells=cells, agreement=agreement, icc=icc)
    rng = np.random.default_rng(11)
    found = []
    rater = np.repeat(np.arange(raters), documents * cells)
    document = np.tile(np.repeat(np.arange(documents), cells), raters)
    for _ in range(500):
        seats = [Seat(place, place // documents, 0, place % documents) for place in range(raters * documents)]
        by_seat = drawn_seats(seats, seed=int(rng.integers(2**31)))
        shown = np.repeat([by_seat[place] for place in range(raters * documents)], cells)
        p = agreement + shift * (shown[::cells] - 0.5)
        rates = rng.beta(p * (1 - icc) / icc, (1 - p) * (1 - icc) / icc)
        said = (rng.random(rater.size) < np.repeat(rates, cells)).astype(float)
        p_value = effect(said, shown, rater, document).p_value
        found.append(p_value is not None and p_value < 0.05)
    assert 0.74 < np.mean(found) < 0.87


def test_nobody_follows_a_judge_that_is_no_rater_of_the_study(world: World) -> None:
    other = Rater.objects.create(study=simulated.builders.study("other"), kind=Rater.Kind.JUDGE, code="J9")
    with pytest.raises(Refused, match="Choose a judge"):
        actions.draw_experiment(study=world.study, judge=other, raters=list(world.people), seed=1, by=None)


def test_many_experiments_are_told_in_as_many_queries_as_one(world: World, client_of: ClientOf) -> None:
    client, asked = client_of(world.manager), []
    for n in (1, 3):
        for seed in range(10 * n, 11 * n):
            Experiment.objects.create(study=world.study, judge=world.rater, seed=seed)
        for name in ("reports:suggestions-panel", "reports:suggestions", "reports:suggestions-effects"):
            with CaptureQueriesContext(connection) as queries:
                client.get(reverse(name, args=[world.study.slug]))
            asked.append(len(queries))
    assert asked[:3] == asked[3:]
