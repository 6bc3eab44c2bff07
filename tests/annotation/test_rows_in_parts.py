"""Large files of rows and columns: written in parts, their rows seen at the end, taken back where they fail."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation import actions
from annotation.actions import Refused
from annotation.exchange import arrivals, label_imports, rows_and_columns
from annotation.exchange.label_imports import Doing
from annotation.exchange.row_imports import ImportRefused
from annotation.models import Arrival, Row, Study
from annotation.scheme.spec import load_scheme
from tests import builders
from tests.annotation.importing import QUESTIONS, counts, rows_in, table

pytestmark = pytest.mark.django_db(transaction=True)

# A sheet that stands, three that do not, and more rows than a part has; two rows stand already.
ROWS = "sheet,row,text\n" + "".join(f"Sheet {n % 4},Row {n},It says {n}.\n" for n in range(11))
COLUMNS = "sheet,question\n" + "".join(f"Sheet {n % 4},What {n}?\n" for n in range(6))


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_imports, "LARGE", 1)
    monkeypatch.setattr(rows_and_columns, "_BATCH", 3)
    monkeypatch.setattr(rows_and_columns, "_SHEETS", 2)
    monkeypatch.setattr(arrivals, "_AT_ONCE", 2)
    monkeypatch.setattr(arrivals, "_SHOWN_AT_ONCE", 4)


def begun(slug: str) -> Study:
    """A study with one sheet, of which one row is as in the file, without columns."""
    scheme = actions.store_scheme(spec=load_scheme(QUESTIONS), source=QUESTIONS)
    study = actions.create_study(slug=slug, title="Clauses", scheme=scheme, by=None)
    rows_in(study, "sheet,row,text\nSheet 0,Before,It stands.\nSheet 0,Row 0,It says 0.\n")
    return study


@pytest.fixture
def study() -> Study:
    return begun("clauses")


def everything(study: Study) -> Any:
    rows = Row.objects.filter(sheet__study=study).order_by("sheet__position", "position")
    return (
        list(study.sheets.order_by("position").values_list("position", "title")),
        [(r.sheet.title, r.position, r.name, r.evidence, r.withdrawn_at, r.withdrawn_reason) for r in rows],
        sorted(study.sheets.values_list("title", "columns__section__key", "columns__position", "columns__name")),
    )


def in_the_middle(monkeypatch: pytest.MonkeyPatch, then: Callable[[], None]) -> None:
    """Let something happen after all parts are written, and before the rows are shown."""
    write = rows_and_columns._Files.write

    def stopped(files: Any, *args: Any) -> None:
        write(files, *args)
        then()

    monkeypatch.setattr(rows_and_columns._Files, "write", stopped)


class Killed(BaseException):
    """As if the process had ended: nobody tidies up."""


def killed(monkeypatch: pytest.MonkeyPatch, study: Study) -> None:
    def die() -> None:
        raise Killed

    with monkeypatch.context() as patch:
        in_the_middle(patch, die)
        patch.setattr(arrivals, "take_back", lambda arrival: None)
        with pytest.raises(Killed):
            rows_in(study, ROWS, COLUMNS)


def test_in_parts_comes_the_same_as_at_once(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    in_parts = rows_in(study, ROWS, COLUMNS)
    assert (in_parts.sheets, in_parts.rows, in_parts.columns, in_parts.unchanged) == (3, 10, 6, 1)
    assert not Arrival.objects.exists()
    monkeypatch.setattr(label_imports, "LARGE", 2**20)
    other = begun("others")
    assert rows_in(other, ROWS, COLUMNS) == in_parts
    assert everything(other) == everything(study)
    assert rows_in(study, ROWS, COLUMNS).nothing_new
    monkeypatch.setattr(label_imports, "LARGE", 1)
    assert rows_in(study, ROWS, COLUMNS).nothing_new


def test_before_the_end_nobody_is_given_a_row(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []

    def look() -> None:
        looked.append(Row.objects.count())
        standing = Row.objects.filter(withdrawn_at=None)
        assert set(standing.values_list("name", flat=True)) == {"Before", "Row 0"}
        actions.restore_row(row=Row.objects.get(name="Row 5"))
        assert standing.count() == 2
        with pytest.raises(Refused, match="Another file is being imported"):
            rows_in(study, "row\nA\n")

    in_the_middle(monkeypatch, look)
    rows_in(study, ROWS, COLUMNS)
    assert looked == [12]
    assert not Row.objects.exclude(withdrawn_at=None).exists()


def test_what_fails_leaves_nothing(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (counts(), everything(study))

    def fail() -> None:
        raise Refused("no")

    with monkeypatch.context() as patch:
        in_the_middle(patch, fail)
        with pytest.raises(Refused):
            rows_in(study, ROWS, COLUMNS)
    assert (counts(), everything(study)) == before
    with pytest.raises(ImportRefused, match="2 problems"):
        rows_in(study, ROWS + "Sheet 0,Before,Other words.\n", COLUMNS + "Sheet 0,What 0?\n")
    assert (counts(), everything(study), Arrival.objects.count()) == (*before, 0)


def test_what_a_killed_one_left_is_taken_back_by_whoever_comes_next(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(study)
    killed(monkeypatch, study)
    assert everything(study) != before
    Arrival.objects.update(beat_at=timezone.now() - arrivals.STALE - timedelta(seconds=1))
    assert arrivals.clean() == 1
    assert everything(study) == before
    killed(monkeypatch, study)
    Arrival.objects.update(beat_at=timezone.now() - arrivals.STALE - timedelta(seconds=1))
    assert rows_in(study, ROWS, COLUMNS).rows == 10


def test_one_that_was_killed_while_it_was_shown_is_shown_to_its_end(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    if label_imports.connection.vendor != "sqlite":
        pytest.skip("elsewhere showing is one transaction")
    manager, shown = builders.user("mara"), arrivals._show_rows

    def first_part_only(first: int, last: int) -> None:
        shown(first, last)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setitem(arrivals._SHOWN, "rows", first_part_only)
        patch.setattr(arrivals, "part", lambda arrival: _kept())
        with pytest.raises(Killed):
            rows_in(study, ROWS, COLUMNS)
    seen = Row.objects.filter(withdrawn_at=None).exclude(name__in=["Before", "Row 0"])
    assert seen.count() == 2
    gone = seen.earliest("pk")
    actions.withdraw_row(row=gone, reason="its page is gone", by=manager)
    arrivals.take_back(Arrival.objects.get())
    assert list(Row.objects.exclude(withdrawn_at=None)) == [gone]
    assert not Arrival.objects.exists()


class _kept:
    """In place of a part of a transaction: what was written stays, whatever is raised."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_raised: object) -> None: ...


def test_a_sheet_that_somebody_labels_meanwhile_gets_no_columns(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    rater, check = builders.rater(study, builders.user("anna")), rows_and_columns._Files.check

    def then_assigned(files: Any, *args: Any) -> None:
        check(files, *args)
        actions.assign(rater=rater, rows=[Row.objects.get(name="Before")])

    before = everything(study)
    monkeypatch.setattr(rows_and_columns._Files, "check", then_assigned)
    with pytest.raises(Refused, match="changed the study during the import"):
        rows_in(study, ROWS, COLUMNS)
    assert everything(study) == before


def test_a_row_that_somebody_adds_meanwhile_keeps_the_file_out(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    sheet, check = study.sheets.get(), rows_and_columns._Files.check

    def then_added(files: Any, *args: Any) -> None:
        check(files, *args)
        actions.add_row(sheet=sheet, name="Row 8", evidence=[])

    monkeypatch.setattr(rows_and_columns._Files, "check", then_added)
    with pytest.raises(Refused, match="changed the study during the import"):
        rows_in(study, ROWS, COLUMNS)
    assert set(Row.objects.values_list("name", flat=True)) == {"Before", "Row 0", "Row 8"}


def test_a_worker_hears_how_far_it_is_outside_of_any_transaction(study: Study) -> None:
    told, beats = list[tuple[int, int]](), list[bool]()
    doing = Doing(
        owner="a test",
        beat=lambda: beats.append(label_imports.connection.in_atomic_block),
        told=lambda done, of: told.append((done, of)),
    )
    rows_and_columns.import_rows(study=study, rows=table(ROWS), columns=table(COLUMNS), doing=doing)
    assert told == [(2, 14), (3, 14), (4, 14), (6, 14), (9, 14), (12, 14), (14, 14)]
    assert beats
    assert not any(beats)
