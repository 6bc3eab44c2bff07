"""The first page of the report says what a judge is certified for, and that a certificate holds no more."""

from __future__ import annotations

import pytest
from django.urls import reverse

from reports.hiring import actions as hiring
from reports.hiring.telling import certificates_told, with_certificates
from reports.hiring.words import Told, percent
from reports.models import Revocation
from reports.sentences import Tile
from tests.builders import ClientOf
from tests.reports.hiring import simulated

pytestmark = pytest.mark.django_db
UNKNOWN = Tile("May a judge replace a person?", "Cannot be said", "scorer: not tested", "overview", known=False)


def test_a_certificate_is_told_while_it_holds_and_after(client_of: ClientOf) -> None:
    world = simulated.world(n_sheets=1, n_rows=12, n_labelled=8)
    client, address = client_of(world.manager), reverse("reports:report", args=[world.study.slug])
    assert certificates_told(world.study) == []
    assert with_certificates([UNKNOWN], []) == [UNKNOWN]

    certificate = simulated.bare_certificate(world.study, world.rater, world.question)
    [told] = certificates_told(world.study)
    assert told.holds
    assert "at most 10 % of them are wrong, with 90 % confidence" in told.text
    [tile] = with_certificates([UNKNOWN], [told])
    assert (tile.value, tile.under) == ("In part", told.short)
    passed = Tile("May a judge replace a person?", "Yes", "scorer passes", "overview")
    assert with_certificates([passed], [told])[0].under == f"scorer passes; {told.short}"
    page = client.get(address).content.decode()
    assert "scorer may take over the cells of “Made” that it is sure of" in page
    assert certificate.get_absolute_url() in page

    hiring.revoke(certificate=certificate, why=Revocation.Why.HAND, reason="Its model went.", by=world.manager)
    [told] = certificates_told(world.study)
    assert not told.holds
    assert told.text.endswith("its certificate is revoked. Its model went.")
    assert with_certificates([UNKNOWN], [told])[0].value == "Cannot be said"
    assert "the certificate of scorer is revoked" in client.get(address).content.decode()


def test_a_claim_is_not_made_stronger_by_rounding() -> None:
    result = {"coverage": 0.5, "error": 0.0504, "upper": 0.0504, "betting": 0.05, "design": 0.0504, "binomial": 0.07}
    told = Told({"result": result, "epsilon": 0.0524, "confidence": 0.8996}, "", "", "")

    assert (told.percent["error"], told.percent["upper"], told.percent["betting"]) == ("5", "5.1", "5")
    assert (told.percent["epsilon"], told.percent["confidence"]) == ("5.3", "89.9")
    assert [percent(share) for share in (0.29, 0.0025, 1.0, None)] == ["29", "0.2", "100", "–"]
