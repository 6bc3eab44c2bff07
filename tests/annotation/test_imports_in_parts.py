"""Large imports: written in parts that nobody sees, shown at the end, taken back where they fail."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation import actions
from annotation.actions import Refused
from annotation.exchange import arrivals, label_importer, label_imports, new_studies
from annotation.exchange.label_reading import LabelImport
from annotation.exchange.row_imports import ImportRefused
from annotation.labels import history
from annotation.models import Arrival, Assignment, Label, LabelEvent, Rater, Row, Scheme, Sheet, Study
from annotation.queries import rater_progress, study_rows
from annotation.queries.replanning import stored_seats
from reports import queries
from reports.data.arrays import Filters
from tests.annotation.importing import ACTS, counts, labels_in, table
from tests.builders import Leases

pytestmark = pytest.mark.django_db(transaction=True)

# Two raters, three new rows and one that stands; the rules of the scheme fill something in.
LINES = [f"w{n % 2},Clause {1 + n // 2},acts,Inspect,act,Found\n" for n in range(8)]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_imports, "LARGE", 1)
    monkeypatch.setattr(label_importer, "_PART", 2)
    monkeypatch.setattr(label_importer, "_CHUNK", 2)
    monkeypatch.setattr(arrivals, "_AT_ONCE", 3)
    monkeypatch.setattr(arrivals, "_SHOWN_AT_ONCE", 2)


def everything(study: Study) -> Any:
    """What a report sees of a study, and its history."""
    events = LabelEvent.objects.filter(assignment__rater__study=study).order_by("assignment", "column", "question")
    return (
        queries.label_table(study, Filters(), notes=True).content.replace(study.slug.encode(), b""),
        [(e.assignment.rater.code, e.assignment.row.name, e.code_before, e.code_after, e.preset) for e in events],
        sorted(study.sheets.values_list("title", "rows__name", "rows__position", "rows__withdrawn_at")),
        sorted(study.sheets.values_list("title", "columns__name", "columns__position")),
    )


def test_in_parts_comes_the_same_as_at_once(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ACTS + "".join(LINES)
    labels_in(leases.study, text)
    in_parts = everything(leases.study)
    assert not Arrival.objects.exists()
    Rater.objects.filter(code__startswith="w").delete()
    Row.objects.filter(name__in=["Clause 3", "Clause 4"]).delete()
    assert everything(leases.study) != in_parts
    monkeypatch.setattr(label_imports, "LARGE", 2**20)
    labels_in(leases.study, text)
    assert everything(leases.study) == in_parts


def in_the_middle(monkeypatch: pytest.MonkeyPatch, then: Callable[[], None]) -> None:
    """Let something happen after all parts are written, and before they are shown."""
    write = label_importer.Importer.write_in_parts

    def stopped(importer: Any, arrival: Arrival) -> None:
        write(importer, arrival)
        then()

    monkeypatch.setattr(label_importer.Importer, "write_in_parts", stopped)


class Killed(BaseException):
    """As if the process had ended: nobody tidies up."""


def killed(monkeypatch: pytest.MonkeyPatch, study: Study, text: str) -> None:
    def die() -> None:
        raise Killed

    with monkeypatch.context() as patch:
        in_the_middle(patch, die)
        patch.setattr(arrivals, "take_back", lambda arrival: None)
        with pytest.raises(Killed):
            labels_in(study, text)


def test_before_the_end_nobody_sees_anything(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    before, seen = everything(leases.study), list[Any]()

    def look() -> None:
        assert Label.objects.count() > 0
        table_, _events, _rows, _columns = everything(leases.study)
        assert b'"labels":[]' in table_
        assert Row.objects.filter(withdrawn_at=None).count() == 2
        _live, *vacant = stored_seats(leases.study, study_rows(leases.study))
        assert vacant == [[], []]  # no seat of a plan is for it
        assert LabelEvent.objects.filter(assignment__row__sheet=leases.sheet).exists()
        assert not history.events(leases.sheet).exists()
        assert {one.labels for one in rater_progress(leases.study)} == {0}
        row = Row.objects.filter(assignments__rater__code="w0").first()
        assert row is not None
        with pytest.raises(Refused, match="is being imported"):
            actions.assign(rater=Rater.objects.get(code="w0"), rows=[row])
        seen.append(table_)

    in_the_middle(monkeypatch, look)
    labels_in(leases.study, ACTS + "".join(LINES))
    assert len(seen) == 1
    assert everything(leases.study) != before


def test_what_fails_leaves_nothing(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (counts(), everything(leases.study))

    def fail() -> None:
        raise Refused("no")

    with monkeypatch.context() as patch:
        in_the_middle(patch, fail)
        with pytest.raises(Refused):
            labels_in(leases.study, ACTS + "".join(LINES))
    assert (counts(), everything(leases.study)) == before
    with pytest.raises(ImportRefused):
        labels_in(leases.study, ACTS + "w1,Clause 9,acts,Inspect,act,Perhaps\n")
    assert (counts(), everything(leases.study), Arrival.objects.count()) == (*before, 0)


def test_what_a_killed_one_left_is_taken_back_by_whoever_comes_next(
    leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = counts()
    killed(monkeypatch, leases.study, ACTS + "".join(LINES))
    assert counts() != before
    with pytest.raises(Refused, match="Another file is being imported"):
        labels_in(leases.study, ACTS + LINES[0])
    assert arrivals.clean() == 0  # it may be alive
    Arrival.objects.update(beat_at=timezone.now() - arrivals.STALE - timedelta(seconds=1))
    assert arrivals.clean() == 1
    assert counts() == before
    killed(monkeypatch, leases.study, ACTS + "".join(LINES))
    Arrival.objects.update(beat_at=timezone.now() - arrivals.STALE - timedelta(seconds=1))
    labels_in(leases.study, ACTS + LINES[0])
    assert Assignment.objects.filter(rater__code__startswith="w").count() == 1


def test_what_was_given_again_is_not_taken_back(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(monkeypatch, leases.study, ACTS + "".join(LINES))
    given = Assignment.objects.filter(arrivals.HIDDEN).earliest("pk")
    n_labels = given.labels.count()
    Assignment.objects.filter(pk=given.pk).update(state="started", handed_to=None)
    arrivals.take_back(Arrival.objects.get())
    assert n_labels
    assert Label.objects.count() == given.labels.count() == n_labels


def test_an_import_that_was_taken_for_dead_writes_nothing_more(leases: Leases, monkeypatch: pytest.MonkeyPatch) -> None:
    before = counts()

    def taken_for_dead() -> None:
        arrivals.take_back(Arrival.objects.get())

    in_the_middle(monkeypatch, taken_for_dead)
    with pytest.raises(Refused, match="stood still"):
        labels_in(leases.study, ACTS + "".join(LINES))
    assert counts() == before


def test_one_that_was_killed_while_it_was_shown_is_shown_to_its_end(
    leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    if label_imports.connection.vendor != "sqlite":
        pytest.skip("elsewhere showing is one transaction")

    def die(arrival: Arrival) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(arrivals, "go_on", die)
        with pytest.raises(Killed):
            labels_in(leases.study, ACTS + "".join(LINES))
    assert Assignment.objects.filter(arrivals.HIDDEN).count() == 8
    arrivals.take_back(Arrival.objects.get())
    assert Assignment.objects.filter(state="submitted", rater__code__startswith="w").count() == 8
    assert not Arrival.objects.exists()


def test_a_new_study_goes_with_the_file_that_does_not_come_in(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "rater,row,answer\n" + "".join(f"w{n},c{n},{'yes' if n % 2 else 'no'}\n" for n in range(9))

    def made(lines: str) -> Study:
        study, _imported = new_studies.study_from_labels(
            slug="fresh", title="Fresh", table=table(lines), how=LabelImport(), by=None
        )
        return study

    with pytest.raises(ImportRefused):
        made(text + "w1,c1,no\n")
    assert (Study.objects.count(), Scheme.objects.count(), Sheet.objects.count()) == (0, 0, 0)
    assert Label.objects.filter(assignment__rater__study=made(text)).count() == 9


def test_what_stands_changes_with_the_rest(leases: Leases) -> None:
    labels_in(leases.study, ACTS + "".join(LINES))
    changed = labels_in(leases.study, ACTS + "".join(LINES).replace("Found", "Other words"), replace=True)
    assert changed.changed == 8
    assert set(Label.objects.filter(preset=False).values_list("option__label", flat=True)) == {"Other words"}
