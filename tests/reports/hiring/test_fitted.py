"""What a judge was fitted to tests no judge, and a judge is not tested where it was fitted."""

from __future__ import annotations

import datetime
import importlib
from collections.abc import Sequence
from typing import Any

import pytest
from django.apps import apps
from django.urls import reverse

from annotation.actions import Refused
from annotation.models import Assignment, Rater, Row
from judges import actions as judging
from judges.calibrations import queries as calibration_queries
from judges.lineage.queries import origins_behind, rows_behind
from judges.models import FittedCalibration, Judge, Origin, Run
from reports.hiring import actions, queries
from reports.models import Split, TestLook
from tests.builders import ClientOf
from tests.databases import made_once
from tests.reports.hiring import simulated
from tests.reports.hiring.simulated import World
from work.states import RunState

pytestmark = [pytest.mark.django_db, pytest.mark.once]
FAR = datetime.date(2099, 1, 1)
LEXICAL = "questions: {claims.made: {lexical: {in: [paragraph], same: made, part: made, none: other}}}"


@made_once
def world() -> World:
    return simulated.world(n_sheets=1, n_rows=24, n_labelled=22, unsure=0.2)


def at_work(world: World, judge: Judge, *, wrong: float = 0.0) -> Rater:
    """The judge has labelled everything."""
    rater = Rater.objects.create(study=world.study, kind=Rater.Kind.JUDGE, code=judge.name)
    run = Run.objects.create(study=world.study, judge=judge, rater=rater, provenance={"workers": []})
    Run.objects.filter(pk=run.pk).update(state=RunState.FINISHED, ended_at=run.started_at)
    for assignment in world.assign(rater, world.rows):
        world.say(assignment, wrong=wrong, seed=len(judge.name))
    return rater


def stacker(world: World, rows: Sequence[Row]) -> Judge:
    other = judging.create_judge(name="other", method="lexical", prompt_text=LEXICAL)
    raters = [world.rater, at_work(world, other, wrong=0.3)]
    found = judging.weigh(study=world.study, raters=raters, rows=[row.pk for row in rows])
    return judging.create_stacker(study=world.study, found=found, name="together")


def certify(world: World, rater: Rater) -> Any:
    return actions.certify(
        study=world.study,
        rater=rater,
        question=world.question,
        epsilon=0.2,
        confidence=0.8,
        until=FAR,
        by=world.manager,
    )


def split_by_hand(world: World, test: Sequence[Row]) -> Split:
    """As one that was drawn before anybody kept what judges were fitted to."""
    Split.objects.all().delete()
    split = Split.objects.create(study=world.study, unit="row", share=50, seed=1)
    names = {row.pk for row in test}
    for row in world.rows:
        split.rows.create(row=row, test=row.pk in names)
    return split


def test_what_a_stacker_was_fitted_to_tests_nothing(world: World) -> None:
    judge = stacker(world, world.rows[:12])
    fitted = {row.pk for row in world.rows[:12]}
    assert set(judge.origin.rows) == fitted
    assert queries.fitted_rows(world.study) == fitted

    split = actions.draw_split(study=world.study, unit="row", share=50, seed=3, by=None)
    test = set(split.rows.filter(test=True).values_list("row_id", flat=True))
    assert len(test) == 12
    assert not test & fitted
    assert certify(world, at_work(world, judge)).look


def test_it_is_not_tested_on_them_nor_is_what_was_made_of_it(world: World, client_of: ClientOf) -> None:
    judge = stacker(world, world.rows[:12])
    rater = at_work(world, judge)
    split_by_hand(world, world.rows[9:])

    with pytest.raises(Refused, match="was fitted to 3 pages of the test part"):
        certify(world, rater)
    assert not TestLook.objects.exists()
    copy = judging.create_judge(name="copy", method="stacker", prompt=judge.prompt)  # from the stored prompt
    again = judging.create_judge(name="again", method="lexical", prompt_text=LEXICAL)
    judging.came_from(judge=again, parent=judge, how=Origin.How.COPY, study=world.study)
    rule = f"{{judges: {{{judge.name}: 1, scorer: 1}}, options: {{made: 0, other: 0}}}}"
    text = f"questions: {{claims.made: {{stacker: {rule}}}}}"
    above = judging.create_judge(name="above", method="stacker", prompt_text=text)
    for made in (copy, again, above):
        with pytest.raises(Refused, match="3 pages of the test part"):
            certify(world, at_work(world, made))
    assert certify(world, world.rater).look  # one of those that it weighs has seen nothing

    asked = {"judge": "together", "question": world.question.pk, "epsilon": "20", "confidence": "80"}
    page = client_of(world.manager).get(
        reverse("reports:certify", args=[world.study.slug]), {**asked, "until": "2099-01-01"}
    )
    assert "was fitted to 3 pages of the test part" in page.content.decode()
    assert '<button class="primary" disabled' in page.content.decode()


def test_a_judge_whose_rows_were_not_kept_may_have_seen_all_that_people_had(world: World) -> None:
    judge = stacker(world, world.rows[:12])
    Origin.objects.update(rows=None)
    labelled = {row.pk for row in world.rows[:22]}
    assert queries.fitted_rows(world.study) == labelled

    split = actions.draw_split(study=world.study, unit="row", share=50, seed=3, by=None)
    assert set(split.rows.filter(test=True).values_list("row_id", flat=True)) == {row.pk for row in world.rows[22:]}
    rater = at_work(world, judge)
    for assignment in world.assign(world.people[0], world.rows[22:]):
        world.say(assignment)  # begun after it was made
    assert certify(world, rater).look

    split_by_hand(world, world.rows[20:])
    with pytest.raises(Refused, match="was not kept when it was made: 2 pages of the test part"):
        certify(world, rater)
    Origin.objects.update(at=datetime.datetime(2100, 1, 1, tzinfo=datetime.UTC))  # made of development rows, then
    assert certify(world, rater).look


def test_a_calibrated_judge_has_seen_what_its_calibration_was_fitted_to(world: World) -> None:
    rows = {row.pk for row in world.rows[:6]}
    calibration = judging.calibrate(rater=world.rater, rows=rows, by=None)
    made = judging.create_calibrated(calibration=calibration, name="calibrated")
    assert rows_behind(origins_behind(made)) == rows
    assert rows_behind(origins_behind(world.judge)) == set()
    arm = judging.create_judge(name="arm", method="cloze", model=made.model, prompt_text=made.prompt.text + "# one\n")
    judging.came_from(judge=arm, parent=made, how=Origin.How.ARM, study=world.study)
    assert rows_behind(origins_behind(arm)) == rows


def test_those_from_before_are_found_where_their_prompts_say_them(world: World) -> None:
    rows = {row.pk for row in world.rows[:6]}
    calibration = judging.calibrate(rater=world.rater, rows=rows, by=None)
    calibrated = judging.create_calibrated(calibration=calibration, name="calibrated")
    text = f"# Examples: of documents 7, 8 of the study claims, seed 0, labels abc\n{world.judge.prompt.text}"
    shown = judging.create_judge(name="shown", method="cloze", model=world.judge.model, prompt_text=text)
    judging.came_from(judge=shown, parent=world.judge, how=Origin.How.EXAMPLES, study=world.study)
    arm = judging.create_judge(name="arm", method="cloze", model=world.judge.model, prompt_text=f"{text}# arm\n")
    judging.came_from(judge=arm, parent=shown, how=Origin.How.ARM, study=world.study)
    together = stacker(world, world.rows[:12])
    Origin.objects.update(rows=None)

    migration = importlib.import_module("judges.migrations.0018_rows_that_prompts_name")
    for _twice in range(2):
        migration.fill(apps, None)
    kept = dict(Origin.objects.values_list("judge__name", "rows"))
    assert kept == {"calibrated": sorted(rows), "shown": [7, 8], "arm": [], together.name: None}
    FittedCalibration.objects.all().delete()
    Origin.objects.filter(judge=calibrated).update(rows=None)
    migration.fill(apps, None)
    assert Origin.objects.get(judge=calibrated).rows is None


def test_a_test_without_a_labelled_document_is_refused_and_not_counted(world: World, client_of: ClientOf) -> None:
    split_by_hand(world, world.rows[22:])  # nobody has labelled these

    with pytest.raises(Refused, match="Nothing of the test part has a label of the judge and of a person"):
        certify(world, world.rater)
    assert not TestLook.objects.exists()
    client, at = client_of(world.manager), reverse("reports:certify", args=[world.study.slug])
    asked = {"judge": "scorer", "question": world.question.pk, "epsilon": "20", "confidence": "80"}
    asked["until"] = "2099-01-01"
    page = client.get(at, asked, headers={"hx-request": "true"}).content.decode()
    assert '<div id="test-now" hx-swap-oob="true"><button class="primary" disabled' in page
    assert "a test would show nothing, and would count" in page
    for assignment in world.assign(world.people[0], world.rows[22:]):
        world.say(assignment)
    assert '<button class="primary">' in client.get(at, asked, headers={"hx-request": "true"}).content.decode()


def test_the_split_says_what_came_to_the_test_and_why(world: World, client_of: ClientOf) -> None:
    client, slug = client_of(world.manager), [world.study.slug]
    at = reverse("judges:calibrations", args=[world.study.slug, world.rater.pk])
    lost = "can be no test documents of any judge any more"
    assert lost in client.get(at).content.decode()
    assert lost in client.get(reverse("judges:stack", args=slug)).content.decode()
    rows = calibration_queries.rows_of(world.study, list(world.study.sheets.all()))
    judging.calibrate(rater=world.rater, rows=rows, by=None)

    page = client.get(reverse("reports:hiring", args=slug)).content.decode()
    assert "fitted to 22 pages, which can test nothing. The test is drawn from the other 2; " in page
    assert "people have labelled 0 of them." in page
    actions.draw_split(study=world.study, unit="row", share=50, seed=3, by=None)
    page = client.get(reverse("reports:hiring", args=slug)).content.decode()
    assert "8 % came to the test, 50 % were asked for" in page
    assert "Judges or calibrations were fitted to 22 pages: these are for development" in page
    assert "No judge can be tested before people have labelled some of them." in page
    assert "how much of the test part somebody had seen by then is not known" in page
    assert lost not in client.get(at).content.decode()

    split_by_hand(world, world.rows[20:])
    panel = client.get(reverse("reports:hiring-split", args=slug)).content.decode()
    assert "Of them 2 are in the test part, where what was fitted to them is not tested." in panel
    assert Assignment.objects.filter(row=world.rows[20]).exists()
