"""What a certificate is bound to, that nothing changes it, and what goes with exports."""

from __future__ import annotations

import datetime
import io
import itertools
import json
import math
import re
import zipfile
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.urls import reverse
from django.utils import timezone

from annotation import actions as annotating
from annotation import doors
from annotation.actions import Refused
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH
from annotation.models import Arrival, Assignment, ExperimentSeat, Question, Rater, Row, Study, User
from annotation.scheme.spec import load_scheme
from judges import actions as judging
from judges.models import FittedCalibration, Judge, Run
from llm.actions import store_prompt
from reports.actions import freeze
from reports.data.arrays import Filters
from reports.exports.making import make_file
from reports.hiring import actions, queries
from reports.hiring.models import FrozenCertificate
from reports.hiring.queries import supervising
from reports.hiring.recomputing import recompute as computed_again
from reports.models import Certificate, Export, Revocation, Split, TestLook
from reports.queries import label_table
from tests import builders
from tests.builders import ApiOf, ClientOf
from tests.databases import made_once
from tests.reports.hiring import simulated
from tests.reports.hiring.simulated import World

pytestmark = [pytest.mark.django_db, pytest.mark.once]
FAR = datetime.date(2099, 1, 1)
LEXICAL = "questions: {claims.made: {lexical: {in: [paragraph], same: made, part: made, none: other}}}"


@made_once
def world() -> World:
    made = simulated.world(n_sheets=1, n_rows=24, n_labelled=22, unsure=0.0)
    actions.draw_split(study=made.study, unit="row", share=60, seed=3, by=made.manager)
    return made


def certified(world: World, **asked: Any) -> Certificate:
    asked = {"epsilon": 0.2, "confidence": 0.8, "until": FAR, "by": world.manager, **asked}
    made = actions.certify(study=world.study, rater=world.rater, question=world.question, **asked).certificate
    assert made is not None
    return made


def change_prompt(world: World) -> None:
    text = simulated.PROMPT.replace("Is ", "Say whether ")
    Judge.objects.filter(pk=world.judge.pk).update(prompt=store_prompt(name="other", text=text))


def change_weights(world: World) -> None:
    run = Run.objects.get(rater=world.rater)
    run.provenance["workers"].append({"weights_sha256": "b" * 64})
    run.save()


def change_model(world: World) -> None:
    assert world.judge.model is not None
    world.judge.model.revision = "v2"
    world.judge.model.save()


def change_scheme(world: World) -> None:
    scheme = world.study.scheme
    type(scheme).objects.filter(pk=scheme.pk).update(spec={**scheme.spec, "title": "Other claims"})


@pytest.mark.parametrize("change", [change_prompt, change_weights, change_model, change_scheme])
def test_a_change_of_what_judges_revokes_it(world: World, change: Any) -> None:
    certificate = certified(world)
    assert actions.watch() == []

    change(world)

    [revocation] = actions.watch()
    assert (revocation.certificate, revocation.why) == (certificate, Revocation.Why.CHANGED)
    assert actions.watch() == []
    found = simulated.certificate_of(world.study)
    with pytest.raises(Refused):
        actions.take_over(certificate=found, share=10, seed=1, raters=world.people, shown="", by=None)


def test_a_model_that_is_changed_revokes_it_by_itself(world: World, django_capture_on_commit_callbacks: Any) -> None:
    certified(world)

    with django_capture_on_commit_callbacks(execute=True):
        change_model(world)

    assert Revocation.objects.get().why == Revocation.Why.CHANGED


def test_another_wording_of_what_is_asked_revokes_it(world: World, django_capture_on_commit_callbacks: Any) -> None:
    certified(world)
    text = simulated.SCHEME.replace("version: 1", "version: 2").replace("title: ", "title: Rather ", 1)
    with django_capture_on_commit_callbacks(execute=True):
        annotating.reword_scheme(
            study=world.study,
            spec=load_scheme(text),
            source=text,
            reason="Plainer.",
            by=builders.user("root", superuser=True),
        )

    assert Revocation.objects.get().why == Revocation.Why.CHANGED


def test_a_test_that_waited_for_another_wording_rests_on_it(world: World) -> None:
    """The claim read the study, and waited for the change of its wording."""
    read_before = Study.objects.select_related("scheme").get(pk=world.study.pk)
    text = simulated.SCHEME.replace("version: 1", "version: 2").replace("title: ", "title: Rather ", 1)
    root = builders.user("root", superuser=True)
    annotating.reword_scheme(study=world.study, spec=load_scheme(text), source=text, reason="Plainer.", by=root)
    made = certified(replace(world, study=read_before))
    actions.watch(study=world.study)
    assert not Revocation.objects.filter(certificate=made).exists()


def test_another_reader_of_the_evidence_revokes_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"reader": "1"}
    monkeypatch.setattr("reports.doors._evidence_readers", [lambda study: versions])
    certified(world)
    assert actions.watch() == []

    versions["reader"] = "2"

    [revocation] = actions.watch()
    assert "reader of the evidence" in revocation.reason


def test_nothing_changes_a_certificate(world: World) -> None:
    certificate = certified(world)

    with pytest.raises(FrozenCertificate):
        certificate.save()
    with pytest.raises(FrozenCertificate):
        Certificate.objects.update(epsilon=0.01)
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE reports_certificate SET epsilon = 0.01")
    actions.revoke(certificate=certificate, why=Revocation.Why.HAND, reason="A better one is there.", by=world.manager)
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE reports_revocation SET reason = 'none'")


def test_it_computes_to_the_same_bytes_whatever_is_labelled_later(world: World) -> None:
    certificate = certified(world)
    for assignment in world.assign(world.people[1], world.rows[:4]):
        world.say(assignment, wrong=1.0)

    call_command("recompute_certificate", certificate.name)

    with pytest.raises(CommandError, match="no certificate"):
        call_command("recompute_certificate", "0" * 12)


def test_it_keeps_the_versions_that_led_to_the_judge(world: World, client_of: ClientOf) -> None:
    assert world.judge.model is not None
    text = simulated.PROMPT.replace("Is ", "Say whether ")
    first = judging.create_judge(name="first", method="cloze", model=world.judge.model, prompt_text=text)
    judging.came_from(judge=world.judge, parent=first, how="copy", study=world.study)
    certificate = certified(world)

    before, now = json.loads(certificate.document)["lineage"]
    assert (before["name"], before["development"]) == ("first", None)
    assert (now["name"], now["how"]) == ("scorer", "copy")
    assert now["prompt_sha256"] == world.judge.prompt.digest
    # The judge is right in all cells; only development documents that somebody labelled are looked at.
    parts = queries.parts_of(world.study)
    labelled = set(Assignment.objects.filter(rater=world.people[0]).values_list("row", flat=True))
    seen = [pk for pk in labelled if not parts[pk]]
    assert now["development"] == {"accuracy": 1.0, "cells": simulated.CELLS * len(seen), "documents": len(seen)}

    judging.came_from(
        judge=first, parent=judging.create_judge(name="w", method="lexical", prompt_text=LEXICAL), how="copy"
    )
    call_command("recompute_certificate", certificate.name)
    page = client_of(world.manager).get(certificate.get_absolute_url()).content.decode()
    assert "<code>first</code>" in page


def test_its_page_has_the_bound_that_holds_however_errors_come_together(world: World, client_of: ClientOf) -> None:
    certificate = certified(world)
    page = client_of(world.manager).get(certificate.get_absolute_url()).content.decode()

    exact = json.loads(certificate.document)["result"]["betting"]
    assert f"the bound that holds however they do is {math.ceil(exact * 1000) / 10} %" in page


def test_it_expires(world: World) -> None:
    certificate = certified(world)

    assert queries.standing_of(certificate).holds
    assert queries.standing_of(certificate, today=FAR + datetime.timedelta(days=1)).code == "expired"
    with pytest.raises(Refused):
        certified(world, until=datetime.date(2020, 1, 1))


def test_a_test_that_fails_gives_none_and_is_counted(world: World, client_of: ClientOf) -> None:
    came = actions.certify(
        study=world.study, rater=world.rater, question=world.question, epsilon=0.01, confidence=0.99, until=FAR, by=None
    )

    assert came.certificate is None
    page = client_of(world.manager).get(reverse("reports:test-outcome", args=[world.study.slug, came.look.pk]))
    assert "even without a wrong cell it could not show it" in page.content.decode()
    assert certified(world).request["looks_before"] == {"tests": 1, "tests_of_this": 1, "others": 0}


def test_the_same_claim_is_tested_once(world: World, api_of: ApiOf) -> None:
    """A program that has lost the answer sends it again, and spends nothing of the test part."""
    api, at = api_of(world.manager), reverse("api:certificates", args=[world.study.slug])
    claim = {"judge": world.rater.code, "question": "claims.made", "until": FAR.isoformat()}
    holds, fails = (
        claim | {"epsilon": epsilon, "confidence": confidence} for epsilon, confidence in ((0.2, 0.8), (0.01, 0.99))
    )

    def asked(claim: dict[str, Any]) -> tuple[int, Any]:
        response = api.post(at, claim, format="json")
        return response.status_code, response.json()

    first, failed = asked(holds), asked(fails)
    assert (first[0], failed[0], failed[1]["holds"]) == (201, 201, False)
    assert (asked(holds), asked(fails)) == ((200, first[1]), (200, failed[1]))
    assert queries.looks_at(world.study).tests == 2
    listed = api.get(reverse("api:certificate-tests", args=[world.study.slug])).json()
    name = first[1]["certificate"]["name"]
    assert [(one["holds"], one["certificate"]) for one in listed] == [(False, None), (True, name)]
    assert listed[0]["document"] == failed[1]["document"]

    assert asked(holds | {"epsilon": 0.25})[0] == 201
    actions.revoke(
        certificate=Certificate.objects.get(digest__startswith=name), why=Revocation.Why.HAND, reason="!", by=None
    )
    assert asked(holds)[0] == 201


# --- the split -------------------------------------------------------------------------------------------------------


def test_examples_come_from_development_alone(world: World) -> None:
    development = doors.example_rows(world.study)

    assert development == queries.development_rows(world.study)
    assert development is not None
    assert len(development) == 10
    assert development.isdisjoint(world.study.split.rows.filter(test=True).values_list("row_id", flat=True))


def test_a_row_that_comes_later_has_a_part_that_stays(world: World) -> None:
    row = annotating.add_row(sheet=world.study.sheets.get(), name="Late", evidence=[Block(PARAGRAPH, "It is.")])

    part = queries.parts_of(world.study)[row.pk]
    certified(world)

    assert world.study.split.rows.get(row=row).test == part


def test_whole_sheets_are_drawn_whole(world: World) -> None:
    second = annotating.add_sheet(study=world.study, title="Second", columns={"claims": [{"claim": "claim 1"}]})
    annotating.add_row(sheet=second, name="Page 1", evidence=[Block(PARAGRAPH, "It is.")])

    actions.draw_split(study=world.study, unit="sheet", share=50, seed=1, by=None)

    by_sheet: dict[int, set[bool]] = {}
    for sheet, test in Split.objects.get().rows.values_list("row__sheet", "test"):
        by_sheet.setdefault(sheet, set()).add(test)
    assert sorted(map(sorted, by_sheet.values())) == [[False], [True]]


def test_looks_are_counted_and_stop_a_new_draw(world: World, client_of: ClientOf) -> None:
    client = client_of(User.objects.get(username="rene"))
    slug = [world.study.slug]

    client.get(reverse("reports:hiring", args=slug))
    client.get(reverse("reports:choose-judge", args=slug))
    assert not TestLook.objects.exists()
    for _again in range(2):
        client.get(reverse("reports:report", args=slug))
        client.get(reverse("reports:labels", args=slug)).getvalue()

    assert sorted(TestLook.objects.values_list("what", flat=True)) == ["download", "report"]
    with pytest.raises(Refused, match="looked at already"):
        actions.draw_split(study=world.study, unit="row", share=50, seed=9, by=None)


def test_what_the_core_gives_and_comparisons_are_looks(world: World, api_of: ApiOf) -> None:
    api, slug = api_of(world.manager), world.study.slug
    report = freeze(study=world.study, title="First", filters=Filters(), by=None)
    assert not TestLook.objects.exists()

    assert api.get(reverse("api:compare-reports", args=[slug, report.pk, report.pk])).status_code == 200
    assert [look.what for look in TestLook.objects.all()] == ["report"]
    assert api.get(reverse("api:labels", args=[slug])).status_code == 200
    assert [look.what for look in TestLook.objects.all()] == ["download", "report"]


def test_what_a_calibration_was_fitted_to_tests_nothing(world: World) -> None:
    fitted = sorted(world.study.split.rows.filter(test=True).values_list("row_id", flat=True))[:6]
    FittedCalibration.objects.create(study=world.study, rater=world.rater, questions={}, lineage={"rows": fitted})

    again = actions.draw_split(study=world.study, unit="row", share=60, seed=3, by=None)
    assert not again.rows.filter(test=True, row__in=fitted).exists()
    assert again.rows.filter(test=True).count() == 14

    second = annotating.add_sheet(study=world.study, title="Second", columns={"claims": [{"claim": "claim 1"}]})
    late = annotating.add_row(sheet=second, name="Page 1", evidence=[Block(PARAGRAPH, "It is so.")])
    for seed in range(6):
        by_sheet = actions.draw_split(study=world.study, unit="sheet", share=50, seed=seed, by=None)
        assert [one.row_id for one in by_sheet.rows.filter(test=True)] == [late.pk]


def test_closed_sheets_are_drawn_from_and_withdrawn_rows_are_not(world: World) -> None:
    gone = world.rows[0]
    annotating.withdraw_row(row=gone, reason="Its page is gone.", by=world.manager)
    world.study.sheets.update(closed_at=timezone.now())

    split = actions.draw_split(study=world.study, unit="row", share=50, seed=4, by=None)

    assert (split.rows.count(), split.rows.filter(test=True).count()) == (23, 12)
    assert not split.rows.filter(row=gone).exists()


def test_nothing_is_computed_while_an_import_is_shown(world: World) -> None:
    certificate = certified(world)
    Arrival.objects.create(study=world.study, made={"assignments": [[1, 2]], "shown": []}, beat_at=timezone.now())

    with pytest.raises(Refused, match="being shown"):
        certified(world)
    with pytest.raises(Refused, match="being shown"):
        actions.take_over(certificate=certificate, share=10, seed=1, raters=world.people, shown="", by=None)
    with pytest.raises(Refused, match="being shown"):
        freeze(study=world.study, title="First", filters=Filters(), by=None)


# --- exports ---------------------------------------------------------------------------------------------------------


def test_certificates_travel_with_everything_in_one_zip(world: World, tmp_path: Any) -> None:
    certificate = certified(world)
    todo = queries.work_to_do(certificate, share=100, seed=1)
    made = actions.take_over(
        certificate=certificate, share=100, seed=1, raters=world.people, shown=todo.digest, by=world.manager
    )
    table = label_table(world.study, Filters())
    assert {entry.certificate for entry in table.accepted} == {certificate.name}
    assert len(table.accepted) == made.cells.count() == 2 * simulated.CELLS
    actions.revoke(certificate=certificate, why=Revocation.Why.HAND, reason="Enough.", by=world.manager)
    path = tmp_path / "all.zip"
    export = Export(study=world.study, form=Export.Form.ZIP, filters=Filters().to_json(), language="en")

    make_file(export, path, lambda done, step: None)

    with zipfile.ZipFile(path) as archive:
        assert archive.read(f"certificates/{certificate.name}.json").decode() == certificate.document
        assert json.loads(archive.read(f"certificates/{certificate.name}-revoked.json"))["reason"] == "Enough."
        labels = archive.read("labels/labels.csv").decode()
        assert labels.count(f"{certificate.name} (revoked)") == made.cells.count()
        parquet = io.BytesIO(archive.read("labels/labels.parquet"))
    assert parquet.getbuffer().nbytes


def test_the_api_gives_the_document(world: World, api_of: ApiOf) -> None:
    certificate = certified(world)
    api = api_of(world.manager)

    [listed] = api.get(f"/api/v1/studies/{world.study.slug}/certificates/").json()
    assert (listed["name"], listed["standing"]) == (certificate.name, "standing")
    told = api.get(f"/api/v1/studies/{world.study.slug}/certificates/{certificate.name}/").json()
    assert told["document"] == json.loads(certificate.document)
    revoked = api.post(
        f"/api/v1/studies/{world.study.slug}/certificates/{certificate.name}/revoked/", {"reason": "Enough."}
    )
    assert revoked.json()["standing"] == "revoked"
    api_of(User.objects.get(username="rene"))
    forbidden = api_of(User.objects.get(username="rene")).post(
        f"/api/v1/studies/{world.study.slug}/certificates/{certificate.name}/revoked/", {"reason": "Enough."}
    )
    assert forbidden.status_code == 403


def test_the_api_says_what_a_certificate_costs_and_is_no_look(world: World, api_of: ApiOf, client_of: ClientOf) -> None:
    asked = {"judge": world.rater.code, "question": "claims.made", "epsilon": "0.2", "confidence": "0.8"}
    address = f"/api/v1/studies/{world.study.slug}/certificates/cost/"
    api = api_of(world.manager)

    told = api.get(address, asked).json()

    form = {**asked, "question": world.question.pk, "epsilon": "20", "confidence": "80", "until": FAR.isoformat()}
    page = client_of(world.manager).get(reverse("reports:certify", args=[world.study.slug]), form).context["cost"]
    assert [one["documents"] for one in told["thresholds"]] == [line.documents for line in page["lines"]]
    assert (told["least"], told["lacking"], told["tests"]) == (page["least"], page["lacking"], page["tests"])
    assert (told["labelled"], told["refusal"]) == (page["size"].labelled, page["refusal"])
    assert told["thresholds"]
    assert not TestLook.objects.exists()
    assert list(api.get(address, {**asked, "judge": "nobody"}).json()) == ["judge"]
    Split.objects.all().delete()
    assert api.get(address, asked).status_code == 409


# What a judge by options is not asked.
REMARK = """\
      - {key: remark, title: Remark, kind: text, text: {longest: 200}, ask_unless: {made: [made, other]}}
"""


def test_a_judge_is_certified_on_what_it_answers_alone(api_of: ApiOf, client_of: ClientOf) -> None:
    world = simulated.world(n_sheets=1, n_rows=24, n_labelled=22, unsure=0.0, scheme=simulated.SCHEME + REMARK)
    actions.draw_split(study=world.study, unit="row", share=60, seed=3, by=world.manager)
    remark = Question.objects.select_related("section__scheme").get(key="remark")
    client, address = client_of(world.manager), reverse("reports:certify", args=[world.study.slug])
    refusal = "“scorer” does not answer “Remark”, so that there is nothing to certify."

    page = client.get(address).content.decode()
    assert ">Made</option>" in page
    assert re.search(rf'<option value="{remark.pk}" disabled>\s*Remark: not answered by “scorer”', page)

    # Another judge was chosen, which does not answer what was chosen before.
    form = {"judge": world.rater.code, "epsilon": "20", "confidence": "80", "until": FAR.isoformat()}
    changed = client.get(address, {**form, "question": remark.pk}, headers={"HX-Request": "true"})
    assert changed.context["cost"]["development"]
    assert re.search(rf'<option value="{world.question.pk}" selected>', changed.content.decode())

    tested = client.post(address, {**form, "question": remark.pk}).content.decode()
    assert refusal in tested
    api, base = api_of(world.manager), f"/api/v1/studies/{world.study.slug}/certificates/"
    claim = {"judge": world.rater.code, "question": "claims.remark", "epsilon": 0.2, "confidence": 0.8}
    told = api.post(base, {**claim, "until": FAR}, format="json")
    assert (told.status_code, told.json()["detail"]) == (409, refusal)
    assert api.get(f"{base}cost/", claim).json()["refusal"] == refusal
    assert not TestLook.objects.exists()


def test_a_judge_from_a_file_is_certified_on_what_it_has_labelled(world: World, client_of: ClientOf) -> None:
    Run.objects.all().delete()
    client, address = client_of(world.manager), reverse("reports:certify", args=[world.study.slug])
    assert "not answered by" not in client.get(address).content.decode()
    assert certified(world).question == world.question
    Rater.objects.create(study=world.study, kind=Rater.Kind.JUDGE, code="idle")
    assert ">Made: not answered by “idle”" in client.get(address, {"judge": "idle"}).content.decode()


def test_the_exact_bound_decides_where_it_is_asked_for(world: World, api_of: ApiOf, client_of: ClientOf) -> None:
    """It says before what it takes, which is more, and a certificate by it says so; it needs 45 documents for 5 %."""
    base, api = f"/api/v1/studies/{world.study.slug}/certificates/", api_of(world.manager)
    claim = {"judge": world.rater.code, "question": "claims.made", "epsilon": 0.3, "confidence": 0.8}
    less = {**claim, "epsilon": 0.1}
    needed = [api.get(f"{base}cost/", {**less, "bound": bound}).json()["least"] for bound in ("design", "betting")]
    assert needed[0] < needed[1]
    asked = {"epsilon": "10", "confidence": "80", "until": FAR.isoformat(), "bound": "betting"}
    form = {"judge": world.rater.code, "question": world.question.pk, **asked}
    client, address = client_of(world.manager), reverse("reports:certify", args=[world.study.slug])
    assert client.get(address, form).context["cost"]["least"] == needed[1]

    exact = api.post(base, {**claim, "until": FAR, "bound": "betting"}, format="json").json()
    result = exact["document"]["result"]
    assert (exact["holds"], result["method"], result["upper"]) == (True, "betting", result["betting"])
    assert result["design"] < result["betting"] <= 0.3
    assert not api.post(base, {**claim, "epsilon": 0.05, "until": FAR, "bound": "betting"}, format="json").json()[
        "holds"
    ]
    tested = client.post(address, {**form, "epsilon": "30"}, follow=True).content.decode()
    assert "This bound holds however errors come together." in tested
    assert "It takes errors to come together as they did here" not in tested

    kept = certified(world, epsilon=0.3, bound="betting")
    assert json.loads(kept.document)["result"]["method"] == "betting"
    assert computed_again(kept).equal
    kept = certified(world, epsilon=0.3)
    assert json.loads(kept.document)["result"]["method"] == "design"
    kept.request.pop("bound")  # as those that were given before there was a choice
    assert computed_again(kept).equal
    assert api.post(base, {**claim, "until": FAR, "bound": "binomial"}, format="json").status_code == 400


def test_of_an_archived_study_a_certificate_is_revoked_and_computed_again(world: World, api_of: ApiOf) -> None:
    """By a program as on its page."""
    certificate = certified(world)
    annotating.archive_study(study=world.study, by=world.manager)
    api, at = api_of(world.manager), f"/api/v1/studies/{world.study.slug}/certificates/{certificate.name}/"

    again = api.post(f"{at}recomputed/").json()
    assert again == {"equal": True, "labels_intact": True, "digest": certificate.digest}
    assert api.post(f"{at}revoked/", {"reason": "Enough."}).json()["standing"] == "revoked"
    assert api.post(f"{at}takeovers/", {"share": 10, "raters": []}, format="json").status_code == 403


def test_a_sheet_is_supervised_once_all_of_it_is_finished_and_stays_as_it_was() -> None:
    world = simulated.world(n_sheets=4, n_rows=5, n_labelled=2)
    study, boris = world.study, world.people[1]
    actions.draw_split(study=study, unit="sheet", share=50, seed=1, by=None)
    certificate = simulated.bare_certificate(study, world.rater, world.question)
    todo = queries.work_to_do(certificate, share=100, seed=1)
    actions.take_over(certificate=certificate, share=100, seed=1, raters=[boris], shown=todo.digest, by=world.manager)
    mine = list(Assignment.objects.filter(rater=boris).order_by("row__position", "row__sheet"))
    of_sheet = Counter(assignment.row.sheet_id for assignment in mine)
    counted = []  # by document, in the order of the sheets that were finished
    for done, assignment in enumerate(mine, 1):  # a document of each sheet in turn
        world.say(assignment, wrong=0.3, seed=done)
        finished = Counter(one.row.sheet_id for one in mine[:done])
        watched = queries.supervision_of(certificate).watch
        assert watched.n_clusters == sum(finished[sheet] == n for sheet, n in of_sheet.items())
        found, _n = supervising.what_counts(certificate, supervising.supervised(certificate))
        counted.append([(place, one.wrong) for place, one in found])
    assert len({place for place, _wrong in counted[-1]}) == 4
    for before, after in itertools.pairwise(counted):
        assert after[: len(before)] == before


def test_a_share_that_cannot_be_drawn_is_said(world: World, client_of: ClientOf, api_of: ApiOf) -> None:
    """Whoever is shown the judge's answers in a row does not supervise it there."""
    certificate = certified(world)
    whole = queries.work_to_do(certificate, share=100, seed=1)
    assert (len(whole.drawn), whole.lacking) == (len(whole.rows), 0)
    anna = world.people[0]
    seen = sorted(whole.rows)[1:]
    shown = world.study.experiments.create(judge=world.rater, seed=1)
    for assignment in annotating.assign(rater=anna, rows=list(Row.objects.filter(pk__in=seen)), sections=["other"]):
        ExperimentSeat.objects.create(experiment=shown, assignment=assignment, shown=True)
    todo = queries.work_to_do(certificate, share=100, seed=1)
    assert (len(todo.rows), len(todo.drawn), todo.lacking) == (len(whole.rows), 1, len(seen))
    assert queries.work_to_do(certificate, share=1, seed=1).lacking == 0

    client, at = client_of(world.manager), reverse("reports:take-over", args=[world.study.slug, certificate.name])
    asked = {"share": 100, "seed": 1, "raters": [rater.pk for rater in world.people]}
    page = client.get(at, asked).content.decode()
    assert f"That is <strong>{len(seen)}</strong> " in page
    assert "fewer than the share: in the others somebody is shown" in page
    said = client.post(at, {**asked, "drawn": todo.digest}, follow=True).content.decode()
    assert "fewer than the share" in said
