"""Extracted lists as people correct them: kept, read by judges where a run says so, and counted as errors."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotation.actions import Refused
from annotation.models import Study
from judges import actions
from judges.actions import Line
from judges.extraction import queries as extraction_queries
from judges.models import Correction, Extraction, ExtractionRun, Judge, Run
from judges.runs import evidence
from tests import builders
from tests.builders import ApiOf, ClientOf, Leases
from tests.databases import made_once
from tests.judges import helpers
from tests.judges.extractors import RENT, extractor, taken, writes

pytestmark = pytest.mark.django_db

TWO = RENT.replace("</paragraphs>", "<paragraph>The tenant pays the wages</paragraph></paragraphs>")
PAYS, WAGES = "The tenant pays the rent", "The tenant pays the wages"


@made_once
def study() -> Study:
    return builders.leases().study


def run_of(study: Study, monkeypatch: pytest.MonkeyPatch, *answers: str) -> ExtractionRun:
    writes(monkeypatch, *answers)
    run = actions.start_extraction(study=study, extractor=extractor(), by=None, enqueue=False)
    while actions.take_up(run):
        pass
    run.refresh_from_db()
    return run


def line(text: str, was: int | None = None) -> Line:
    return Line({"paragraph": text}, was)


def test_what_a_person_made_of_a_list_is_kept_and_counted(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(study, monkeypatch, TWO, TWO)
    first, second = taken(run.extractor).values()
    # Of two items one is changed, one dropped; one is added. An empty line is none.
    made = actions.correct(
        extraction=first,
        lines=[line("The tenant  pays the rent monthly", 0), line(" "), line("Notice in writing")],
        by=None,
    )
    assert (made.changed, made.dropped, made.added) == (1, 1, 1)
    assert made.items == [
        {"fields": {"paragraph": "The tenant pays the rent monthly"}, "was": 0},
        {"fields": {"paragraph": "Notice in writing"}, "was": None},
    ]
    # The other one is looked at and right.
    same = actions.correct(extraction=second, lines=[line(PAYS, 0), line(WAGES, 1)], by=None)
    assert (same.changed, same.dropped, same.added) == (0, 0, 0)
    first.refresh_from_db()
    assert [item["fields"]["paragraph"] for item in first.items] == [PAYS, WAGES]  # stays as it was taken out

    (errors,) = extraction_queries.errors(study)
    assert (errors.lists, errors.untouched, errors.items) == (2, 1, 4)
    assert (errors.changed, errors.dropped, errors.added) == (1, 1, 1)
    assert errors.rate == pytest.approx(3 / 5)
    assert errors.share_untouched == pytest.approx(1 / 2)

    # A second thought counts in place of the first one, which is kept.
    actions.correct(extraction=first, lines=[line(PAYS, 0), line(WAGES, 1)], by=None)
    (errors,) = extraction_queries.errors(study)
    assert (errors.untouched, errors.rate) == (2, 0)
    assert Correction.objects.count() == 3


def test_what_cannot_be_a_correction_is_refused(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(study, monkeypatch, TWO)
    first = next(iter(taken(run.extractor).values()))
    for lines, why in (
        ([Line({"step": "x"})], "no field “step”"),
        ([line(PAYS, 0), line(WAGES, 0)], "taken out anew"),
        ([line(PAYS, 7)], "taken out anew"),
        ([line("x" * 3000)], "too long for one line"),
        ([line(str(n)) for n in range(500)], "at most 400 lines"),
    ):
        with pytest.raises(Refused, match=why):
            actions.correct(extraction=first, lines=lines, by=None)
    assert not Correction.objects.exists()


def test_a_judge_reads_the_corrected_list_if_its_run_says_so(
    study: Study, api_of: ApiOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(study, monkeypatch, RENT.replace("pays the rent", "insures and inspects"), "Sorry, no.")
    insured, refused = taken(run.extractor).values()
    actions.correct(extraction=insured, lines=[line(PAYS, 0)], by=None)
    actions.correct(extraction=refused, lines=[line("The tenant insures and inspects")], by=None)
    judge = actions.create_judge(
        name="words", method=Judge.Method.LEXICAL, prompt_text=helpers.LEXICAL, evidence=run.extractor
    )
    assert [block.text for block in evidence.evidence_of(judge, insured.row)] == ["The tenant insures and inspects"]
    assert [block.text for block in evidence.evidence_of(judge, insured.row, corrected=True)] == [PAYS]
    api = api_of(study.memberships.get(role="manager").user)
    begun = api.post(f"/api/v1/studies/{study.slug}/judges/{judge.pk}/start/", {"corrected": True}, format="json")
    judging = Run.objects.get(pk=begun.json()["id"])
    assert (judging.corrected, judging.provenance["corrected"]) == (True, True)
    helpers.work(judging)
    said = helpers.labels_of(judging.rater)
    assert said[insured.row.name, "Pay rent", "stated"] != "absent"
    assert said[insured.row.name, "Insure", "stated"] == "absent"
    assert said[refused.row.name, "Insure", "stated"] != "absent"  # a person wrote what the extractor could not

    own = actions.create_judge(name="own", method=Judge.Method.LEXICAL, prompt_text=helpers.LEXICAL)
    with pytest.raises(Refused, match="reads documents"):
        actions.start_run(study=study, judge=own, by=None, corrected=True, enqueue=False)


def test_on_the_pages(client_of: ClientOf, monkeypatch: pytest.MonkeyPatch) -> None:
    leases: Leases = builders.leases()
    run = run_of(leases.study, monkeypatch, TWO)
    row = leases.sheet.rows.order_by("position")[0]
    manager = client_of(leases.manager)
    page = reverse("judges:extracted", args=[leases.study.slug, run.pk, row.pk])
    assert "Look at it and correct it" in manager.get(page).content.decode()
    form = manager.get(f"{page}?mend=paragraph").content.decode()
    assert f'name="line-1.paragraph" value="{PAYS}"' in form
    assert 'name="was-2" value="1"' in form
    posted = {
        "line-1.paragraph": PAYS,
        "was-1": "0",
        "line-2.paragraph": "",
        "was-2": "1",
        "line-3.paragraph": "Notice & more",
        "was-3": "",
    }
    address = reverse("judges:correct-extracted", args=[leases.study.slug, run.pk, row.pk, "paragraph"])
    told = manager.post(address, posted, follow=True).content.decode()
    assert "Kept: 1 added, 1 dropped, 0 changed." in told
    assert "Notice &amp; more" in told
    assert "1 added, 1 dropped, 0 changed." in told
    assert Correction.objects.get().by == leases.manager
    # Opened again, it is the corrected list, and what each line was is kept.
    again = manager.get(f"{page}?mend=paragraph").content.decode()
    assert 'value="Notice &amp; more"' in again
    assert 'name="was-2" value=""' in again
    # Error rate: 2 of the 2 + 1 items; on the run's page and on the board.
    of_run = manager.get(run.get_absolute_url()).content.decode()
    assert "67 %" in of_run
    assert "67 %" in manager.get(reverse("judges:board", args=[leases.study.slug])).content.decode()
    assert client_of(leases.stranger).post(address, posted).status_code in (403, 404)
    assert Extraction.objects.count() == 2


def test_by_the_api(api_of: ApiOf, monkeypatch: pytest.MonkeyPatch) -> None:
    leases: Leases = builders.leases()
    run = run_of(leases.study, monkeypatch, TWO)
    row = leases.sheet.rows.order_by("position")[0]
    manager = api_of(leases.manager)
    address = reverse("api:correct-extracted", args=[leases.study.slug, run.pk, row.pk, "paragraph"])
    items = [{"fields": {"paragraph": PAYS}, "was": 0}, {"fields": {"paragraph": "Notice"}}]
    made = manager.post(address, {"items": items}, format="json")
    assert (made.status_code, made.json()["added"], made.json()["dropped"], made.json()["changed"]) == (201, 1, 1, 0)
    refused = manager.post(address, {"items": [{"fields": {"step": "x"}}]}, format="json")
    assert (refused.status_code, "no field “step”" in refused.json()["detail"]) == (409, True)
    assert manager.post(address, {"items": [{"was": 0}]}, format="json").status_code == 400

    (document, *_others) = manager.get(reverse("api:extraction", args=[leases.study.slug, run.pk])).json()["contents"]
    assert [item["fields"]["paragraph"] for item in document["lists"][0]["correction"]["items"]] == [PAYS, "Notice"]
    assert Correction.objects.count() == 1
