"""From labelled by people to labelled by a judge, and to its dismissal: the whole way by a browser's requests."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.models import Assignment, Rater
from reports.models import Accepted, Revocation, Takeover, TestLook
from tests.builders import ClientOf
from tests.reports.hiring import simulated

pytestmark = pytest.mark.django_db


def test_a_judge_is_hired_supervised_and_dismissed(client_of: ClientOf) -> None:
    world = simulated.world(unsure=0.4)
    study, slug = world.study, [world.study.slug]
    client = client_of(world.manager)

    # 1. the split
    assert "not split yet" in client.get(reverse("reports:hiring", args=slug)).content.decode()
    client.post(reverse("reports:draw-split", args=slug), {"unit": "row", "share": 60, "seed": 3})
    parts = dict(study.split.rows.values_list("row_id", "test"))
    assert sum(parts.values()) == 36
    assert len(parts) == 60

    # 2. choosing looks at development documents alone
    page = client.get(reverse("reports:choose-judge", args=slug), {"epsilon": "10"}).content.decode()
    assert "scorer" in page
    assert not TestLook.objects.exists()

    # 3. what it would cost, then the test
    asked = {"judge": "scorer", "question": world.question.pk, "epsilon": "10", "confidence": "80"}
    asked["until"] = "2099-01-01"
    page = client.get(reverse("reports:certify", args=slug), asked).content.decode()
    assert "What it would cost" in page
    assert not TestLook.objects.exists()
    answer = client.post(reverse("reports:certify", args=slug), asked, follow=True)
    assert "at most 10 % are wrong" in answer.content.decode()
    certificate = simulated.certificate_of(study)
    document = json.loads(certificate.document)
    assert document["result"]["upper"] <= 0.1
    assert 0.5 < document["result"]["coverage"] < 0.7
    assert document["looks_before"] == {"others": 0, "tests": 0, "tests_of_this": 0}
    assert TestLook.objects.get().certificate == certificate

    # it is computed again, and carried off
    call_command("recompute_certificate", certificate.name)
    name = [study.slug, certificate.name]
    assert "same bytes" in client.post(reverse("reports:recompute-certificate", args=name)).content.decode()
    assert client.get(reverse("reports:certificate-json", args=name)).content.decode() == certificate.document

    # 4. it takes over what nobody has
    boris = world.people[1]
    work = {"share": 50, "seed": 1, "raters": [boris.pk]}
    page = client.get(reverse("reports:take-over", args=name), work)
    todo = page.context["todo"]
    answer = client.post(reverse("reports:take-over", args=name), {**work, "drawn": todo.digest}, follow=True)
    assert "accepted" in answer.content.decode()
    takeover = Takeover.objects.get()
    assert takeover.rows.count() == 20
    given = set(Assignment.objects.filter(rater=boris).values_list("row_id", flat=True))
    assert given == todo.to_people
    assert takeover.rows.filter(drawn=True).count() == 10
    for cell in Accepted.objects.select_related("assignment"):
        assert cell.score >= certificate.threshold

    # labels say under which certificate they stand
    lines = csv.DictReader(io.StringIO(client.get(reverse("reports:labels", args=slug)).getvalue().decode()))
    stated = [line for line in lines if line["certificate"]]
    assert {line["rater"] for line in stated} == {"scorer"}
    assert {line["certificate"] for line in stated} == {certificate.name}
    assert len(stated) == Accepted.objects.count()

    # 5. people find nothing wrong at first, then the judge's answers do not fit the documents any more
    drawn = list(takeover.rows.filter(drawn=True).values_list("row_id", flat=True))
    mine = {assignment.row_id: assignment for assignment in Assignment.objects.filter(rater=boris)}
    for row in drawn[:3]:
        world.say(mine[row])
    call_command_watch()
    assert not Revocation.objects.exists()
    assert "No alarm" in client.get(reverse("reports:certificate", args=name)).content.decode()
    for row in drawn[3:]:
        world.say(mine[row], wrong=1.0)
    assert "Alarm" in client.get(reverse("reports:hiring-board", args=slug)).content.decode()
    call_command_watch()
    assert Revocation.objects.get().why == Revocation.Why.SUPERVISION

    # dismissed: it takes over nothing more, and what it had goes to people
    refused = client.post(reverse("reports:take-over", args=name), {**work, "drawn": todo.digest}, follow=True)
    assert "Nothing more is accepted" in refused.content.decode()
    client.post(reverse("reports:give-back", args=name), {"raters": [world.people[0].pk], "seed": 1})
    left = set(Accepted.objects.values_list("assignment__row_id", flat=True)) - given
    assert set(Assignment.objects.filter(rater=world.people[0], row__in=left).values_list("row_id", flat=True)) == left
    assert (
        not Rater.objects.filter(kind=Rater.Kind.PERSON, assignments__plan=takeover.plan).exclude(pk=boris.pk).exists()
    )


def call_command_watch() -> None:
    """What a worker does every few minutes."""
    from reports.tasks import watch_certificates

    watch_certificates()
