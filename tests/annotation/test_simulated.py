"""A simulated rater is marked wherever a page shows it, as the banner of the study says."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from annotation import actions
from annotation.models import Rater, User
from tests import builders
from tests.builders import Leases

pytestmark = pytest.mark.once

ClientOf = Callable[[User], Client]
CODE = re.compile(r"<code>S1</code>(.{0,60})", re.DOTALL)


@pytest.fixture
def simulated(leases: Leases) -> Rater:
    """S1 has both clauses, and has answered the first one, which a decision was made about."""
    rater = Rater.objects.create(study=leases.study, kind=Rater.Kind.PERSON, code="S1", simulated=True)
    first, _second = builders.assignments(rater, leases.sheet)
    builders.label(first)
    builders.label(leases.annas[0])
    rent = builders.answer(leases.sheet, "Pay rent", "stated", "stated")
    actions.adjudicate(row=first.row, column=rent.column, question=rent.question, option=rent.option, by=leases.manager)
    return rater


def pages(leases: Leases) -> dict[str, str]:
    sheet, study = leases.sheet.pk, leases.study.slug
    rent = builders.answer(leases.sheet, "Pay rent", "stated", "stated")
    cell = f"?row={leases.annas[0].row_id}&column={rent.column.pk}&question={rent.question.pk}"
    everybody = f"takers={leases.annas[0].rater_id}&takers={leases.boriss[0].rater_id}&seed=1"
    return {
        "study": reverse("annotation:study", args=[study]),
        "board": reverse("annotation:board", args=[study]),
        "plan": reverse("annotation:plan", args=[study]),
        "replan": reverse("annotation:replan", args=[study]) + f"?{everybody}",
        "more raters": reverse("annotation:more-raters", args=[study]) + f"?{everybody}&sheets={sheet}&people=3",
        "lens": reverse("annotation:lens", args=[sheet]),
        "lens, a cell": reverse("annotation:lens-cell", args=[sheet]) + cell,
        "history": reverse("annotation:history", args=[sheet]),
        "restore": reverse("annotation:restore", args=[sheet]) + "?moment=2020-01-01T00:00:00",
        "agreement on the board": reverse("reports:board", args=[study]),
    }


@pytest.mark.parametrize(
    "page",
    [
        "study",
        "board",
        "plan",
        "replan",
        "more raters",
        "lens",
        "lens, a cell",
        "history",
        "restore",
        "agreement on the board",
    ],
)
def test_a_simulated_rater_is_marked(leases: Leases, simulated: Rater, client_of: ClientOf, page: str) -> None:
    said = client_of(leases.manager).get(pages(leases)[page]).content.decode()

    after = CODE.findall(said)
    assert after
    assert [text for text in after if 'class="tag">simulated<' not in text and 'title="simulated"' not in text] == []
    assert re.search(r"<code>A1</code>(?!.{0,12}simulated)", said, re.DOTALL)


@pytest.mark.parametrize("page", ["history", "restore"])
def test_a_simulated_rater_is_marked_in_menus(leases: Leases, simulated: Rater, client_of: ClientOf, page: str) -> None:
    said = client_of(leases.manager).get(pages(leases)[page]).content.decode()

    assert re.search(rf'<option value="{simulated.pk}">\s*S1 \(simulated\)</option>', said)
