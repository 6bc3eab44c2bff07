"""A judge at work: what counts as its labels, as supervision and as known, while rows, plans and judges change."""

from __future__ import annotations

import datetime
import json
import uuid
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import actions as annotating
from annotation.actions import Answer
from annotation.actions.adjudication import close_gold
from annotation.models import Assignment, Label, Question, Rater, Row
from judges import actions as judging
from judges.calibrations import queries as calibrations
from judges.lineage.queries import development_scores
from judges.models import Extractor, Judge
from judges.stacking.queries import stacked
from llm.models import LanguageModel
from reports.hiring import actions, queries
from reports.hiring.cells import judge_cells
from reports.models import Accepted, Certificate, Revocation, Split, Takeover
from tests import builders
from tests.builders import ApiOf, ClientOf
from tests.databases import made_once
from tests.reports.hiring import simulated
from tests.reports.hiring.simulated import World
from tests.reports.hiring.test_fitted import LEXICAL, at_work

pytestmark = pytest.mark.django_db
FAR = datetime.date(2099, 1, 1)


@made_once
def world() -> World:
    return simulated.world(n_sheets=1, n_rows=24, n_labelled=12, unsure=0.0)


def certified(world: World, rater: Rater | None = None, **asked: Any) -> Certificate:
    # Few documents, drawn by their numbers in the database: not so strict that it is luck.
    asked = {"epsilon": 0.45, "confidence": 0.6, "until": FAR, "by": world.manager, **asked}
    made = actions.certify(study=world.study, rater=rater or world.rater, question=world.question, **asked)
    assert made.certificate is not None, made.look.outcome
    return made.certificate


def at_its_work(world: World, certificate: Certificate, *, share: int = 50, to: int = 1) -> Takeover:
    todo = queries.work_to_do(certificate, share=share, seed=1)
    return actions.take_over(
        certificate=certificate, share=share, seed=1, raters=[world.people[to]], shown=todo.digest, by=world.manager
    )


def test_a_renamed_judge_keeps_its_certificate_and_its_tests(world: World, client_of: ClientOf) -> None:
    actions.draw_split(study=world.study, unit="row", share=50, seed=3, by=None)
    certificate = certified(world)
    asked = {"epsilon": 0.01, "confidence": 0.99, "until": FAR, "by": None}
    failed = actions.certify(study=world.study, rater=world.rater, question=world.question, **asked)

    judging.rename(world.judge, name="better", study=world.study)

    assert actions.watch() == []
    call_command("recompute_certificate", certificate.name)
    world.rater.refresh_from_db()
    assert certified(world).request["looks_before"]["tests_of_this"] == 2
    page = client_of(world.manager).get(reverse("reports:test-outcome", args=[world.study.slug, failed.look.pk]))
    assert "?judge=better&amp;" in page.content.decode()


def test_a_renamed_extractor_changes_nothing(world: World) -> None:
    extractor = Extractor.objects.create(name="lists", kind=Extractor.Kind.PARSER, parser="nothing")
    Judge.objects.filter(pk=world.judge.pk).update(evidence=extractor)
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)

    judging.rename(extractor, name="all-lists", study=world.study)
    assert queries.standing_of(certificate).holds

    Extractor.objects.filter(pk=extractor.pk).update(parser="another")
    assert "the extractor" in queries.standing_of(certificate).reason


def test_of_whole_sheets_as_many_are_drawn_as_can_be_finished(client_of: ClientOf) -> None:
    world = simulated.world(n_sheets=4, n_rows=5, n_labelled=2)
    actions.draw_split(study=world.study, unit="sheet", share=50, seed=1, by=None)
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    at_its_work(world, certificate, share=100)
    for assignment in Assignment.objects.filter(rater=world.people[1]):
        world.say(assignment, wrong=0.3)

    said = queries.supervision_of(certificate)
    assert (said.watch.n_clusters, said.n_drawn) == (4, 4)
    client = client_of(world.manager)
    page = client.get(certificate.get_absolute_url()).content.decode()
    assert "People have finished what was drawn in <strong>4</strong> of 4 papers" in page
    board = client.get(reverse("reports:hiring-board", args=[world.study.slug])).content.decode()
    assert "4 / 4" in board

    # What was found stays, whatever is withdrawn afterwards.
    before = queries.supervision_of(certificate).watch
    for row in Row.objects.filter(assignments__rater=world.people[1])[:3]:
        annotating.withdraw_row(row=row, reason="Its page is gone.", by=world.manager)
    after = queries.supervision_of(certificate).watch
    assert (after.n_cells, after.n_wrong, after.n_clusters) == (before.n_cells, before.n_wrong, before.n_clusters)


def test_an_alarm_says_how_many_sheets_it_rests_on_where_these_were_drawn(client_of: ClientOf) -> None:
    """It named so many documents, which are more."""
    world = simulated.world(n_sheets=8, n_rows=3, n_labelled=1, unsure=0.0)
    actions.draw_split(study=world.study, unit="sheet", share=50, seed=1, by=None)
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    at_its_work(world, certificate, share=100)
    for assignment in Assignment.objects.filter(rater=world.people[1]):
        world.say(assignment, wrong=1.0)
    n = queries.supervision_of(certificate).watch.alarm_at
    assert n is not None
    page = client_of(world.manager).get(certificate.get_absolute_url()).content.decode()
    assert f"Alarm: after {n} papers it was shown" in page


def test_a_drawn_document_that_is_withdrawn_is_waited_for_no_more(world: World) -> None:
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    takeover = at_its_work(world, certificate, share=100)
    first, second, *_others = (one.row for one in takeover.rows.filter(drawn=True).select_related("row__sheet"))
    n = queries.supervision_of(certificate).n_drawn
    world.say(Assignment.objects.get(rater=world.people[1], row=first))

    annotating.withdraw_row(row=first, reason="Its page is gone.", by=world.manager)
    annotating.withdraw_row(row=second, reason="Its page is gone.", by=world.manager)

    # What somebody has found there counts on.
    said = queries.supervision_of(certificate)
    assert (said.watch.n_clusters, said.n_drawn) == (1, n - 1)
    annotating.restore_row(row=second)
    assert queries.supervision_of(certificate).n_drawn == n


def test_a_document_that_was_withdrawn_while_somebody_was_at_it_does_not_count(world: World) -> None:
    """More documents were finished than there are to finish."""
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    at_its_work(world, certificate, share=100)
    first, second, *_others = Assignment.objects.filter(rater=world.people[1]).order_by("row__position")
    n = queries.supervision_of(certificate).n_drawn
    for one in (first, second):
        column = world.columns[one.row.sheet_id][0]
        option = world.options[world.truth[one.row_id, column.pk]]
        annotating.record(assignment=one, answers=[Answer(column, world.question, option)], key=uuid.uuid4())
        annotating.withdraw_row(row=one.row, reason="Its page is gone.", by=world.manager)
    world.say(first)
    said = queries.supervision_of(certificate)
    assert (said.watch.n_finished, said.n_drawn) == (0, n - 2)

    annotating.restore_row(row=first.row)
    said = queries.supervision_of(certificate)
    assert (said.watch.n_finished, said.n_drawn) == (1, n - 1)


def test_wrong_is_at_work_what_it_was_in_the_test(world: World) -> None:
    """What most people say is right, and gold before it."""
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    takeover = at_its_work(world, certificate, share=100)
    row = takeover.rows.filter(drawn=True).select_related("row__sheet").first().row
    carla = builders.rater(world.study, builders.user("carla"))
    world.say(Assignment.objects.get(rater=world.people[1], row=row))
    world.say(world.assign(world.people[0], [row])[0])
    world.say(world.assign(carla, [row])[0], wrong=1.0)

    [found] = queries.supervised(certificate)
    assert found.wrong == (0.0,) * simulated.CELLS

    gold = Rater.objects.create(study=world.study, kind=Rater.Kind.GOLD, code="gold")
    world.say(world.assign(gold, [row])[0], wrong=1.0)
    [found] = queries.supervised(certificate)
    assert found.wrong == (1.0,) * simulated.CELLS


def fitted_to(world: World) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """The labels and documents that a calibration and a stacker would be fitted to."""
    rows = calibrations.rows_of(world.study, [])
    gathered = calibrations.gathered(world.rater, rows)
    return gathered.labels_sha256, gathered.documents, stacked(world.study, [world.rater], rows).rows


def counted(world: World) -> list[int]:
    return [sheet.n_labelled for sheet in calibrations.sheets_with_labels(world.study)]  # type: ignore[attr-defined]


def certificate_split(world: World) -> Split:
    return Split.objects.get(study=world.study)


def test_what_was_given_back_is_easier_than_others_and_tells_nothing_of_these() -> None:
    world = simulated.world(n_sheets=1, n_rows=80, n_labelled=20, unsure=0.25)
    actions.draw_split(study=world.study, unit="row", share=50, seed=3, by=None)
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    takeover = at_its_work(world, certificate, share=10)
    for assignment in Assignment.objects.filter(rater=world.people[1]):
        world.say(assignment)
    before = queries.candidates(world.study, epsilon=0.1)
    score = development_scores(world.study, [world.judge])
    fit, parts, form = fitted_to(world), queries.part_counts(world.study, certificate_split(world)), counted(world)
    shares = queries.option_shares(certificate)

    actions.revoke(certificate=certificate, why=Revocation.Why.HAND, reason="Enough.", by=None)
    actions.give_back(certificate=certificate, raters=[world.people[1]], seed=1, by=None)
    for assignment in Assignment.objects.filter(rater=world.people[1], state=Assignment.State.OPEN):
        world.say(assignment)

    assert queries.candidates(world.study, epsilon=0.1) == before
    # Nor are the judge's versions compared by them.
    assert development_scores(world.study, [world.judge]) == score
    assert score[world.judge.pk].n_cells == before[0].cells
    # Nor is anything fitted to them, and what is counted beside a fit or a test is what these use.
    assert fitted_to(world) == fit
    assert counted(world) == form == [len(fit[1])]
    assert queries.part_counts(world.study, certificate_split(world)) == parts
    assert queries.option_shares(certificate) == shares
    not_drawn = set(takeover.rows.filter(drawn=False).values_list("row__name", flat=True))
    assert {name for _sheet, name in queries.left_out_names(world.study)} == not_drawn
    Label.objects.filter(assignment__rater__kind=Rater.Kind.PERSON).update(exposed=True)
    assert counted(world) == [0]
    assert [part.labelled for part in queries.part_counts(world.study, certificate_split(world))] == [0, 0]


def test_repeats_count_as_many_as_in_the_test(world: World, client_of: ClientOf) -> None:
    """A judge that was tested by how far five answers are alike is not sure of what it answered once."""
    judge = judging.create_judge(name="writer", method="lexical", prompt_text=LEXICAL)
    rater = at_work(world, judge)
    labelled, others = world.rows[:12], world.rows[12:]

    def again(rows: list[Row]) -> None:
        for repeat in range(2, 6):
            for assignment in annotating.assign(rater=rater, rows=rows, repeat=repeat):
                world.say(assignment, wrong=0.3, seed=repeat)
        Label.objects.filter(assignment__rater=rater).update(scores=None)

    again(labelled)
    actions.draw_split(study=world.study, unit="row", share=50, seed=3, by=None)
    certificate = certified(world, rater)
    assert json.loads(certificate.document)["score"] == "repeats"

    todo = queries.work_to_do(certificate, share=10, seed=1)
    assert (todo.cells, todo.rows, todo.unread) == ((), (), 12)
    at = reverse("reports:take-over", args=[world.study.slug, certificate.name])
    asked = {"share": 10, "seed": 1, "raters": [one.pk for one in world.people]}
    page = client_of(world.manager).get(at, asked).content.decode()
    assert "12 pages that nobody has were not labelled by the judge 5 times yet, as often as in the test." in page

    again(others[:8])
    todo = queries.work_to_do(certificate, share=10, seed=1)
    assert (set(todo.rows), todo.unread) == ({row.pk for row in others[:8]}, 4)
    assert 0 < len(todo.cells) <= simulated.CELLS * 8


def test_undoing_its_plan_undoes_what_it_took_over(world: World, client_of: ClientOf) -> None:
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    before = queries.work_to_do(certificate, share=50, seed=1)
    takeover = at_its_work(world, certificate, share=50)

    assert takeover.plan is not None
    said = f"What a judge took over with it is taken back too: {takeover.cells.count()} accepted cells."
    manager, slug = client_of(world.manager), world.study.slug
    assert said in manager.get(reverse("annotation:plan", args=[slug])).content.decode()
    done = manager.post(reverse("annotation:undo-plan", args=[slug, takeover.plan.pk]), follow=True)
    assert said in done.content.decode()

    assert not Accepted.objects.exists()
    assert queries.work_to_do(certificate, share=50, seed=1) == before


def test_what_another_judge_has_taken_over_since_is_not_given_back(world: World) -> None:
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    at_its_work(world, certificate, share=10)
    actions.revoke(certificate=certificate, why=Revocation.Why.HAND, reason="Enough.", by=None)
    assert queries.to_give_back(certificate)
    again = certified(world)
    at_its_work(world, again, share=10)

    assert queries.to_give_back(certificate) == []
    actions.revoke(certificate=again, why=Revocation.Why.HAND, reason="Enough.", by=None)
    assert queries.to_give_back(certificate)


def test_a_change_of_a_judge_that_a_stacker_weighs_revokes_its_certificate(world: World) -> None:
    other = judging.create_judge(name="other", method="lexical", prompt_text=LEXICAL)
    raters = [world.rater, at_work(world, other, wrong=0.3)]
    actions.draw_split(study=world.study, unit="row", share=50, seed=3, by=None)
    development = sorted(queries.development_rows(world.study) or ())
    found = judging.weigh(study=world.study, raters=raters, rows=development)
    stacker = judging.create_stacker(study=world.study, found=found, name="together")
    certified(world, at_work(world, stacker))
    assert actions.watch() == []

    assert world.judge.model is not None
    world.judge.model.revision = "v2"
    world.judge.model.save()

    assert [one.certificate.rater.code for one in actions.watch()] == ["together"]


def size_of_test(world: World) -> queries.TestSize:
    split = certificate_split(world)
    return queries.cost_of(split, world.rater, world.question, epsilon=0.1, confidence=0.9).size


def test_what_a_certificate_costs_is_said_of_labels_that_are_read_once(world: World) -> None:
    """They were read for the development part and again for the test part."""
    split = actions.draw_split(study=world.study, unit="row", share=50, seed=3, by=None)
    with CaptureQueriesContext(connection) as asked:
        queries.cost_of(split, world.rater, world.question, epsilon=0.1, confidence=0.9)
    of_labels = [one["sql"] for one in asked if '"annotation_label"' in one["sql"]]
    assert of_labels
    assert len(of_labels) == len(set(of_labels))


def test_a_certificate_computes_once_which_documents_are_for_the_test(world: World) -> None:
    actions.draw_split(study=world.study, unit="row", share=50, seed=3, by=None)
    with CaptureQueriesContext(connection) as asked:
        certified(world)
    of_parts = [one["sql"] for one in asked if '"test"' in one["sql"] and 'FROM "reports_splitrow"' in one["sql"]]
    assert len(of_parts) == 2  # the other is of what the judge came from, by a door


def test_test_documents_that_could_still_be_labelled(world: World) -> None:
    actions.draw_split(study=world.study, unit="row", share=50, seed=3, by=None)
    size = size_of_test(world)
    test = [row for row in world.rows if queries.parts_of(world.study)[row.pk]]
    done = [row for row in test if row.position < 12]
    annotating.withdraw_row(row=done[0], reason="Its page is gone.", by=world.manager)

    # It stays labelled, and as many others as before can be.
    assert size_of_test(world) == size


def test_test_documents_that_were_taken_over_undrawn_never_count() -> None:
    world = simulated.world(n_sheets=1, n_rows=40, n_labelled=20, unsure=0.4)
    actions.draw_split(study=world.study, unit="row", share=50, seed=3, by=None)
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    at_its_work(world, certificate, share=10)

    for assignment in Assignment.objects.filter(rater=world.people[1]):
        world.say(assignment)

    assert size_of_test(world).unlabelled == 0


def test_a_change_of_an_extractors_model_revokes_what_reads_by_it(world: World) -> None:
    model = LanguageModel.objects.create(name="reader", location="/nowhere/reader")
    extractor = Extractor.objects.create(
        name="lists", kind=Extractor.Kind.MODEL, model=model, prompt="Take out.", prompt_digest="0"
    )
    Judge.objects.filter(pk=world.judge.pk).update(evidence=extractor)
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)

    model.revision = "v2"
    model.save()

    assert "the model of the extractor" in queries.standing_of(certificate).reason


def test_a_certificate_from_before_is_not_revoked_by_what_it_does_not_hold(world: World) -> None:
    extractor = Extractor.objects.create(
        name="lists", kind=Extractor.Kind.MODEL, model=world.judge.model, prompt="Take out.", prompt_digest="0"
    )
    Judge.objects.filter(pk=world.judge.pk).update(evidence=extractor)
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    del certificate.request["identity"]["extractor_model"]

    assert queries.standing_of(certificate).holds


def test_programs_see_what_would_be_taken_over_and_only_that_is(world: World, api_of: ApiOf) -> None:
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    todo = queries.work_to_do(certificate, share=50, seed=1)
    api, at = api_of(world.manager), f"/api/v1/studies/{world.study.slug}/certificates/{certificate.name}/takeovers/"

    shown = api.get(at, {"share": 50}).json()
    assert (shown["accepted"], shown["to_people"]) == (len(todo.cells), len(todo.to_people))
    assert (shown["rows"], shown["drawn"], shown["unread"]) == (len(todo.rows), len(todo.drawn), todo.unread)
    assert not Takeover.objects.exists()

    work = {"share": 50, "raters": [world.people[1].code], "digest": shown["digest"]}
    assert api.post(at, {**work, "seed": 2}, format="json").status_code == 409  # what was shown is of another seed
    made = api.post(at, work, format="json")
    assert (made.status_code, made.json()["accepted"]) == (201, shown["accepted"])
    actions.revoke(certificate=certificate, why=Revocation.Why.HAND, reason="Enough.", by=None)
    assert api.get(at, {"share": 50}).status_code == 409


def test_programs_read_what_supervision_says_and_give_back(world: World, client_of: ClientOf, api_of: ApiOf) -> None:
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    at_its_work(world, certificate, share=50)
    for assignment in Assignment.objects.filter(rater=world.people[1]):
        world.say(assignment, wrong=1.0)
    api, at = api_of(world.manager), f"/api/v1/studies/{world.study.slug}/certificates/{certificate.name}/"

    told = api.get(at).json()
    watched = queries.supervision_of(certificate).watch
    assert (told["standing"], told["supervision"]["alarm_at"]) == ("alarm", watched.alarm_at)
    assert (told["supervision"]["documents"], told["supervision"]["drawn"]) == (6, 6)
    assert (told["supervision"]["wrong"], told["supervision"]["cells"]) == (24, 24)
    # Nobody has written it down yet: it can still be revoked on its page, which does not say that it is.
    page = client_of(world.manager).get(certificate.get_absolute_url()).content.decode()
    assert '<span class="tag error">does not hold now</span>' in page

    given = api.post(f"{at}given-back/", {"raters": [world.people[0].code]}, format="json")
    assert (given.status_code, given.json()) == (201, {"rows": told["to_give_back"]})
    assert api.get(at).json()["standing"] == "revoked"
    assert api.post(f"{at}given-back/", {"raters": [world.people[0].code]}, format="json").status_code == 409


# `made` is not asked where the claim is beside the point, and may be left open.
OPTIONAL = simulated.SCHEME.replace(
    """\
      - key: made
        title: Made
        about: claim
""",
    """\
      - key: relevant
        title: Relevant
        about: claim
        optional: true
        options:
          - {key: relevant, label: Relevant}
          - {key: beside, label: Beside the point}
      - key: made
        title: Made
        about: claim
        optional: true
        ask_unless: {relevant: [beside]}
""",
)
SKIPPED, OPEN, NOT_ASKED = "skipped", "left open", "not asked"


def cannot_judge(world: World, assignment: Assignment, how: str, *, only: int | None = None) -> None:
    """Submit a row in which the cells of the question, or the first `only` of them, get no answer."""
    columns = world.columns[assignment.row.sheet_id]
    for place, column in enumerate(columns):
        if only is not None and place >= only:
            answer = Answer(column, world.question, world.options[world.truth[assignment.row_id, column.pk]])
        elif how == SKIPPED:
            answer = Answer(column, world.question, None, skip="The page is cut off.")
        elif how == NOT_ASKED:
            relevant = Question.objects.get(key="relevant")
            answer = Answer(column, relevant, relevant.options.get(key="beside"))
        else:
            continue
        annotating.record(assignment=assignment, answers=[answer], key=uuid.uuid4())
    annotating.submit(assignment=assignment)


@pytest.mark.parametrize("how", [SKIPPED, OPEN, NOT_ASKED])
@pytest.mark.parametrize("unit", ["row", "sheet"])
def test_cells_that_a_person_cannot_judge_are_neither_right_nor_wrong_and_hold_nothing_up(
    unit: str, how: str, client_of: ClientOf, api_of: ApiOf
) -> None:
    world = simulated.world(n_sheets=3, n_rows=5, n_labelled=2, unsure=0.0, scheme=OPTIONAL)
    actions.draw_split(study=world.study, unit=unit, share=50, seed=1, by=None)
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    at_its_work(world, certificate, share=100)
    mine = list(Assignment.objects.filter(rater=world.people[1]).order_by("row__sheet", "row__position"))
    first_sheet = [one for one in mine if one.row.sheet_id == mine[0].row.sheet_id]
    for assignment in mine:
        if assignment == first_sheet[0]:
            cannot_judge(world, assignment, how)
        elif assignment == first_sheet[1]:
            cannot_judge(world, assignment, how, only=1)
        else:
            world.say(assignment, wrong=1.0)

    said = queries.supervision_of(certificate)
    watched, n = said.watch, said.n_drawn
    assert watched.n_finished == n == (3 if unit == "sheet" else len(mine))
    assert watched.n_clusters == (3 if unit == "sheet" else len(mine) - 1)
    # Of two documents five cells could not be judged, and three were right; the other documents are wrong.
    cells = simulated.CELLS * len(mine)
    assert (watched.n_unjudged, watched.n_cells, watched.n_wrong) == (5, cells - 5, cells - 8)
    assert watched.error_at_most == (cells - 3) / cells

    page = client_of(world.manager).get(certificate.get_absolute_url()).content.decode()
    assert "<strong>5</strong> accepted cells there could not be judged and count as neither right nor wrong" in page
    told = api_of(world.manager).get(f"/api/v1/studies/{world.study.slug}/certificates/{certificate.name}/").json()
    assert (told["supervision"]["documents"], told["supervision"]["unjudged"]) == (n, 5)


def test_a_sheet_that_is_finished_stays_as_it_was_when_its_open_document_is_judged_later() -> None:
    world = simulated.world(n_sheets=2, n_rows=4, n_labelled=2, unsure=0.0)
    actions.draw_split(study=world.study, unit="sheet", share=50, seed=1, by=None)
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    at_its_work(world, certificate, share=100)
    first, *others = Assignment.objects.filter(rater=world.people[1]).order_by("row__sheet", "row__position")
    cannot_judge(world, first, SKIPPED)
    for assignment in others:
        world.say(assignment)
    before = queries.supervision_of(certificate).watch
    assert (before.n_clusters, before.n_unjudged) == (2, simulated.CELLS)

    world.say(world.assign(builders.rater(world.study, builders.user("carla")), [first.row])[0], wrong=1.0)

    assert vars(queries.supervision_of(certificate).watch) == vars(before)


def test_a_document_that_is_judged_later_counts_from_then_on(world: World) -> None:
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    at_its_work(world, certificate, share=100)
    first, second, *_others = Assignment.objects.filter(rater=world.people[1]).order_by("row__position")
    cannot_judge(world, first, SKIPPED)
    world.say(second)
    assert [(one.row, len(one.wrong), one.unjudged) for one in queries.supervised(certificate)] == [
        (first.row_id, 0, simulated.CELLS),
        (second.row_id, simulated.CELLS, 0),
    ]

    world.say(world.assign(builders.rater(world.study, builders.user("carla")), [first.row])[0])

    watched = queries.supervision_of(certificate).watch
    assert (watched.n_finished, watched.n_unjudged, watched.n_cells) == (2, 0, 2 * simulated.CELLS)
    assert queries.supervised(certificate)[-1].row == first.row_id


def test_who_has_seen_the_judges_answers_does_not_say_which_cells_cannot_be_judged(world: World) -> None:
    """What is left out would depend on what the judge said. Nor does work in which the question is not asked."""
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    takeover = at_its_work(world, certificate, share=100)
    row = takeover.rows.filter(drawn=True).select_related("row__sheet").first().row
    carla, dora = (builders.rater(world.study, builders.user(name)) for name in ("carla", "dora"))
    annotating.note_look(sheet=row.sheet, user=carla.user)
    cannot_judge(world, world.assign(carla, [row])[0], SKIPPED)
    [other] = annotating.assign(rater=dora, rows=[row], sections=["other"])
    annotating.submit(assignment=other)

    assert queries.supervised(certificate) == []
    assert queries.supervision_of(certificate).watch.n_finished == 0

    cannot_judge(world, Assignment.objects.get(rater=world.people[1], row=row), SKIPPED)
    assert queries.supervision_of(certificate).watch.n_finished == 1


def all_but_one_of_a_sheet() -> tuple[World, Certificate, Assignment, int]:
    """Of a sheet that was drawn as a whole one document is left to label; and how many the others are."""
    world = simulated.world(n_sheets=2, n_rows=4, n_labelled=2, unsure=0.0)
    actions.draw_split(study=world.study, unit="sheet", share=50, seed=1, by=None)
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    at_its_work(world, certificate, share=100)
    mine = list(Assignment.objects.filter(rater=world.people[1]).order_by("row__sheet", "row__position"))
    last, *others = [one for one in mine if one.row.sheet_id == mine[0].row.sheet_id]
    for assignment in others:
        world.say(assignment)
    return world, certificate, last, len(others)


def test_a_document_that_only_people_who_had_looked_can_label_holds_no_sheet_up() -> None:
    """The sheet waited for ever: what such people submit finishes no document."""
    world, certificate, last, n_others = all_but_one_of_a_sheet()
    assert queries.supervision_of(certificate).watch.n_finished == 0

    annotating.note_look(sheet=last.row.sheet, user=world.people[1].user)
    seen = queries.supervision_of(certificate).watch
    assert (seen.n_finished, seen.n_cells) == (1, n_others * simulated.CELLS)
    assert (seen.n_unjudged, seen.n_wrong) == (simulated.CELLS, 0)

    # What they submit then changes nothing.
    world.say(last, wrong=1.0)
    assert vars(queries.supervision_of(certificate).watch) == vars(seen)


@pytest.mark.parametrize("is_begun", [True, False])
def test_what_was_finished_by_a_look_stays_when_it_is_withdrawn(is_begun: bool) -> None:
    """Its cells went out of the sheet, which was as it was finished no more."""
    world, certificate, last, _n_others = all_but_one_of_a_sheet()
    annotating.note_look(sheet=last.row.sheet, user=world.people[1].user)
    before = queries.supervision_of(certificate)
    assert before.watch.n_unjudged == simulated.CELLS
    if is_begun:
        world.say(last, wrong=1.0)

    annotating.withdraw_row(row=last.row, reason="Its page is gone.", by=world.manager)

    after = queries.supervision_of(certificate)
    assert (vars(after.watch), after.n_drawn) == (vars(before.watch), before.n_drawn)


def test_a_withdrawn_document_that_was_labelled_after_a_look_holds_no_sheet_up() -> None:
    """Somebody else could still have judged it until it was withdrawn, so that it was waited for ever."""
    world, certificate, last, n_others = all_but_one_of_a_sheet()
    carla = builders.rater(world.study, builders.user("carla"))
    annotating.note_look(sheet=last.row.sheet, user=carla.user)
    world.say(world.assign(carla, [last.row])[0], wrong=1.0)
    assert queries.supervision_of(certificate).watch.n_finished == 0  # people[1] has it too

    annotating.withdraw_row(row=last.row, reason="Its page is gone.", by=world.manager)
    watched = queries.supervision_of(certificate).watch
    assert (watched.n_finished, watched.n_cells, watched.n_unjudged) == (1, n_others * simulated.CELLS, 0)


def test_a_withdrawn_document_that_was_submitted_as_a_draft_holds_no_sheet_up() -> None:
    """It counted as finished, in a sheet that waited for it for ever: what somebody began as a draft counts nowhere."""
    world, certificate, last, n_others = all_but_one_of_a_sheet()
    annotating.draft(assignment=last, rater=world.rater, key=uuid.uuid4())
    annotating.confirm(assignment=last, key=uuid.uuid4())
    annotating.submit(assignment=last)
    assert queries.supervision_of(certificate).watch.n_finished == 0  # somebody else may get it

    annotating.withdraw_row(row=last.row, reason="Its page is gone.", by=world.manager)
    said = queries.supervision_of(certificate)
    assert (said.watch.n_finished, said.watch.n_cells) == (1, n_others * simulated.CELLS)
    assert (said.watch.n_unjudged, said.n_drawn) == (0, 2)


@pytest.mark.parametrize(("unit", "n_queries"), [("row", 6), ("sheet", 7)])
def test_what_supervision_asks_for(unit: str, n_queries: int, django_assert_num_queries: Any) -> None:
    """Whatever has happened: what was looked at, withdrawn or left out was asked for once more each."""
    world = simulated.world(n_sheets=2, n_rows=4, n_labelled=2, unsure=0.0)
    actions.draw_split(study=world.study, unit=unit, share=50, seed=1, by=None)
    simulated.bare_certificate(world.study, world.rater, world.question)
    certificate = simulated.certificate_of(world.study)
    at_its_work(world, certificate, share=100)
    first, second, third, *_others = Assignment.objects.filter(rater=world.people[1]).order_by("row__sheet", "pk")
    cannot_judge(world, first, SKIPPED)
    world.say(second)
    annotating.withdraw_row(row=second.row, reason="Its page is gone.", by=world.manager)
    annotating.note_look(sheet=third.row.sheet, user=world.people[1].user)
    column = world.columns[third.row.sheet_id][0]
    right = world.options[world.truth[third.row_id, column.pk]]
    annotating.adjudicate(row=third.row, column=column, question=world.question, option=right, by=world.manager)
    with django_assert_num_queries(n_queries):
        queries.supervision_of(certificate)


def test_gold_alone_counts_in_supervision_as_in_a_test(world: World) -> None:
    """From a file it does; decided in the lens, where whoever decides sees what the judge said, it does in neither."""
    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    takeover = at_its_work(world, certificate, share=100)
    row = takeover.rows.filter(drawn=True).select_related("row__sheet").first().row
    cannot_judge(world, Assignment.objects.get(rater=world.people[1], row=row), SKIPPED)
    first, second, *_rest = world.columns[row.sheet_id]
    right = world.options[world.truth[row.pk, first.pk]]

    def known() -> set[str]:
        table = queries.study_table(world.study, judges=[world.rater.code])
        cells = judge_cells(table, world.rater.code, queries.question_name(world.question))
        mine = [table.rows[one].name == row.name for one in cells.at(cells.known).row]
        return {table.columns[c].name for c in cells.at(cells.known).column[mine]}

    annotating.adjudicate(row=row, column=first, question=world.question, option=right, by=world.manager)
    assert known() == set()
    assert [(one.wrong, one.unjudged) for one in queries.supervised(certificate)] == [((), simulated.CELLS)]

    gold = Rater.objects.get(study=world.study, kind=Rater.Kind.GOLD)
    assignment = Assignment.objects.get(rater=gold, row=row)
    answer = Answer(second, world.question, world.options[world.truth[row.pk, second.pk]])
    annotating.record(assignment=assignment, answers=[answer], key=uuid.uuid4(), reopen=True)  # by nobody, as a file
    close_gold([assignment])
    assert known() == {second.name}
    assert [(one.wrong, one.unjudged) for one in queries.supervised(certificate)] == [((0.0,), simulated.CELLS - 1)]

    # A file that says that it was decided in the lens, of another study, is believed.
    label = Label.objects.filter(assignment=assignment, column=second)
    label.update(exposed=True)
    assert known() == set()
    assert [(one.wrong, one.unjudged) for one in queries.supervised(certificate)] == [((), simulated.CELLS)]
    label.update(exposed=False)

    carla = builders.rater(world.study, builders.user("carla"))
    world.say(world.assign(carla, [row])[0])
    assert first.name in known()
    assert len(queries.supervised(certificate)[-1].wrong) == simulated.CELLS
