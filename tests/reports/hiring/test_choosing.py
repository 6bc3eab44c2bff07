"""Judges beside each other on development documents: the same options for all, with what their figures rest on."""

from __future__ import annotations

import csv

import pytest
from django.urls import reverse

from annotation import actions
from annotation.models import Role, Study
from judges import actions as judging
from judges.lineage.queries import development_scores
from reports.hiring import queries
from reports.stats.hiring.means import clustered_mean
from tests import builders
from tests.builders import ClientOf
from tests.reports.studies import answered, judge, rater, sheet

pytestmark = pytest.mark.django_db
CLOZE = "row: |\n  $evidence_paragraph\nquestions:\n  items.presence:\n    cell: |\n      $about?\n"


def test_the_development_score_merges_alike_for_judges_that_are_offered_more_and_less(study: Study) -> None:
    soup = sheet(study, items=4)
    person = rater(study, "A1")
    [assignment] = answered(person, soup, ["fiia"])
    actions.submit(assignment=assignment, allow_open=True)
    made = []
    for name, offer in (("all", ""), ("fewer", "    offer: [found, near, absent]\n")):
        made.append(
            judging.create_judge(name=name, method="cloze", location="nobody/model", prompt_text=f"{CLOZE}{offer}")
        )
        [assignment] = answered(judge(study, name), soup, ["faaa"])
        actions.submit(assignment=assignment, allow_open=True)

    # “Implied” counts as “Not found” where judges are compared, so both are right in all four cells.
    assert [score.accuracy for score in development_scores(study, made).values()] == [1.0, 1.0]


def test_choosing_has_intervals_and_the_baseline_and_leaves_out_what_has_no_cell(
    study: Study, client_of: ClientOf
) -> None:
    soup, other = sheet(study, items=3, rows=12), sheet(study, "Bread", items=3, rows=1)
    for assignment in answered(rater(study, "A1"), soup, ["ffa"] * 11 + ["aaa"]):
        actions.submit(assignment=assignment, allow_open=True)
    for assignment in answered(judge(study), soup, ["fff", "ffa"] * 6):
        actions.submit(assignment=assignment, allow_open=True)
    for assignment in answered(judge(study, "J2"), other, ["fff"]):  # where nobody among people was
        actions.submit(assignment=assignment, allow_open=True)

    first, second = sorted(queries.candidates(study, epsilon=0.5), key=lambda one: one.judge)
    # Right in 6 x 2 + 5 x 3 + 1 of 36 cells, always “Found” in 22.
    assert (first.cells, first.agreement, first.baseline) == (36, pytest.approx(28 / 36), pytest.approx(22 / 36))
    by_document = [[1, 1, 0], [1, 1, 1]] * 5 + [[1, 1, 0], [0, 0, 1]]
    expected = clustered_mean([cell for row in by_document for cell in row], [n for n in range(12) for _cell in "123"])
    assert (first.agreement_low, first.agreement_high) == (pytest.approx(expected.low), pytest.approx(expected.high))
    assert (second.cells, second.agreement, second.agreement_low, second.baseline) == (0, None, None, None)

    manager = builders.user("mara")
    actions.add_member(study=study, user=manager, role=Role.MANAGER)
    page = client_of(manager).get(reverse("reports:choose-judge", args=[study.slug])).content.decode()
    assert "61.1 %" in page
    assert "77.8 %" in page  # 28 of 36: 77.77…, of which the page cut the end off
    assert "<code>J1</code>" in page
    assert "<code>J2</code>" not in page
    assert "1 line more has no cell that people have answered, and is left out." in page

    asked = reverse("reports:choose-judge-csv", args=[study.slug])
    assert f'href="{asked}?epsilon=5&amp;sort=coverage"' in page
    content = client_of(manager).get(asked, {"epsilon": "50"}).content.decode("utf-8-sig")
    lines = {line["judge"]: line for line in csv.DictReader(content.splitlines())}
    assert float(lines["J1"]["agreement"]) == 28 / 36
    assert (lines["J1"]["question"], lines["J1"]["cells"]) == ("items.presence", "36")
    assert (lines["J2"]["cells"], lines["J2"]["agreement"]) == ("0", "")
    refused = client_of(manager).get(asked, {"epsilon": "many"})  # it had the figures of 5 %
    assert (refused.status_code, refused["Content-Type"]) == (400, "text/plain; charset=utf-8")
