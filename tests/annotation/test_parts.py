"""Large sheets come in parts, usual ones whole."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Rater
from annotation.queries import parts
from tests import builders
from tests.builders import Leases
from tests.conftest import ClientOf


@pytest.fixture
def ten(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> list[Assignment]:
    """Anna's ten rows of a sheet that comes in parts of four."""
    monkeypatch.setattr(parts, "WHOLE_ROWS", 9)
    monkeypatch.setattr(parts, "PART_ROWS", 4)
    sheet = builders.sheet(leases.study, "Loan", n_rows=10)
    return builders.assignments(Rater.objects.get(code="A1"), sheet)


def submitted(*work: Assignment) -> None:
    Assignment.objects.filter(pk__in=[one.pk for one in work]).update(
        state="submitted", started_at=timezone.now(), submitted_at=timezone.now()
    )


def seen(client: Any, sheet: Any, query: str = "") -> tuple[list[int], Any]:
    context = client.get(reverse("annotation:sheet", args=[sheet.pk]) + query).context
    return [one.pk for one in context["grid"].assignments], context


def test_a_sheet_of_the_usual_size_is_whole(leases: Leases, client_of: ClientOf) -> None:
    response = client_of(leases.anna).get(reverse("annotation:sheet", args=[leases.sheet.pk]) + "?part=2")

    assert response.context["part"] is None
    assert b"data-part" not in response.content


def test_a_large_sheet_opens_where_work_is_left(leases: Leases, ten: list[Assignment], client_of: ClientOf) -> None:
    sheet, keys = ten[0].row.sheet, [one.pk for one in ten]
    anna = client_of(leases.anna)
    assert seen(anna, sheet)[0] == keys[:4]

    submitted(*ten[:4], ten[9])
    here, context = seen(anna, sheet)
    assert here == keys[4:8]
    assert (context["n_submitted"], context["n_rows"]) == (5, 10)
    assert (context["part"].first, context["part"].last, context["part"].submitted_elsewhere) == (5, 8, 5)
    # Every row is in exactly one part, whatever part is asked for.
    every = [pk for n in (1, 2, 3) for pk in seen(anna, sheet, f"?part={n}")[0]]
    assert every == keys
    assert seen(anna, sheet, f"?assignment={keys[9]}")[0] == keys[8:]
    for nonsense in ("?part=0", "?part=4", "?part=-1", "?part=x", "?part=" + "9" * 400, "?assignment=0"):
        assert seen(anna, sheet, nonsense)[0] == keys[4:8]


def test_the_end_of_a_part_leads_to_the_next_with_work_left(
    leases: Leases, ten: list[Assignment], client_of: ClientOf
) -> None:
    anna = client_of(leases.anna)
    submitted(*ten[:3], *ten[4:8])
    for one in ten[3], ten[8]:
        builders.label(one)

    def submit(one: Assignment) -> dict[str, Any]:
        return dict(anna.post(reverse("annotation:submit", args=[one.pk])).json())

    done = submit(ten[3])["done"]
    assert "1–4" in done["sentence"]
    assert done["links"][0]["url"].endswith("?part=3")
    assert "done" not in submit(ten[8])  # one of its part is left


def test_the_lens_of_a_large_sheet_comes_in_parts(leases: Leases, ten: list[Assignment], client_of: ClientOf) -> None:
    address = reverse("annotation:lens", args=[ten[0].row.sheet_id])
    manager = client_of(leases.manager)
    rows: list[int] = []
    for n in (1, 2, 3):
        lens = manager.get(f"{address}?part={n}").context["lens"]
        rows += dict.fromkeys(cell.row_id for cell in lens.cells)
    assert rows == [one.row_id for one in ten]
    assert manager.get(f"{address}?part=77").context["part"].number == 1
    # A link to a cell knows its row alone; whatever else it says is no row of the sheet.
    for n, one in enumerate(ten):
        assert manager.get(f"{address}?row={one.row_id}").context["part"].number == 1 + n // 4
    for nonsense in ("0", "x", "-1", "9" * 400, "9" * 18):
        assert manager.get(f"{address}?row={nonsense}").context["part"].number == 1
