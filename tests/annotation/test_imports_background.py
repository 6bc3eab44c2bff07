"""Files that are too large for a page to wait for: imported by a worker, all or nothing."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import translation
from pytest_django import Settings

from annotation.exchange import arrivals, background, label_importer, uploads
from annotation.exchange.label_reading import LabelImport
from annotation.models import Import, Label, Study
from annotation.tasks import clean_uploads
from tests.annotation.importing import ACTS, counts
from tests.builders import ApiOf, ClientOf, Leases
from tests.workers import Site
from work import actions as work
from work.outcomes import GiveUp

pytestmark = pytest.mark.django_db

LINES = "w1,Clause 1,acts,Inspect,act,Found\nw2,Clause 2,acts,Inspect,act,Found\n"


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.PALATE_UPLOADS = tmp_path / "uploads"
    settings.PALATE_IMPORT_AT_ONCE = 80
    return settings.PALATE_UPLOADS


@pytest.fixture
def manager(leases: Leases, client_of: ClientOf) -> Client:
    return client_of(leases.manager)


def upload(text: str, name: str = "labels.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode())


def post(client: Client, study: Study, text: str, **data: Any) -> Any:
    return client.post(
        reverse("annotation:import-labels", args=[study.slug]), {"labels": upload(text), "create": "on", **data}
    )


def page(client: Client, run: Import, **options: Any) -> str:
    return client.get(run.get_absolute_url(), **options).content.decode()


def test_a_large_file_is_imported_by_a_worker(leases: Leases, manager: Client, folder: Path) -> None:
    response = post(manager, leases.study, ACTS + LINES)
    run = Import.objects.get()
    assert response.headers["Location"] == run.get_absolute_url()
    assert (run.started_by, run.names, Label.objects.count()) == (leases.manager, "labels.csv", 0)
    assert folder.stat().st_mode & 0o077 == 0  # nobody else on the machine reads what people labelled
    waiting = page(manager, run)
    assert "It waits for a worker." in waiting
    assert 'hx-trigger="every 2s"' in waiting
    work.take_up(run)
    run.refresh_from_db()
    assert (run.state, Label.objects.count()) == ("finished", 4)  # two of the file, two that rules filled in
    assert "New: 2 raters, 2 labels." in page(manager, run)
    assert manager.get(run.get_absolute_url(), HTTP_HX_REQUEST="true").headers["HX-Refresh"] == "true"
    assert list(folder.iterdir()) == []  # it is not needed any more
    assert "labels.csv" in manager.get(reverse("annotation:import", args=[leases.study.slug])).content.decode()


def test_rows_and_columns_too(leases: Leases, manager: Client) -> None:
    rows = "sheet,row,evidence\n" + "".join(f"Loan,Clause {n},The tenant pays.\n" for n in range(20))
    manager.post(
        reverse("annotation:import-rows", args=[leases.study.slug]),
        {"rows": upload(rows, "rows.csv"), "columns": upload("section,act,party\nacts,Sign,tenant\n", "columns.csv")},
    )
    run = Import.objects.get()
    assert run.names == "rows.csv, columns.csv"
    work.take_up(run)
    run.refresh_from_db()
    assert (run.state, run.error) == ("finished", "")
    loan = leases.study.sheets.get(title="Loan")
    assert (loan.rows.count(), loan.columns.filter(name="Sign · tenant").count()) == (20, 1)


def test_a_small_file_is_imported_at_once(leases: Leases, manager: Client, settings: Settings) -> None:
    settings.PALATE_IMPORT_AT_ONCE = 2**20
    assert post(manager, leases.study, ACTS + LINES).headers["Location"].endswith("/import/")
    assert not Import.objects.exists()
    assert Label.objects.count() == 4


def test_programs_bring_tables_as_the_page_takes_them(leases: Leases, api_of: ApiOf, settings: Settings) -> None:
    settings.PALATE_IMPORT_AT_ONCE = 2**20
    api, study = api_of(leases.manager), leases.study
    to_rows, to_labels = (reverse(f"api:import-{what}", args=[study.slug]) for what in ("rows", "labels"))
    rows = "sheet,row,evidence\nLoan,Clause 1,The tenant pays.\n"
    columns = "sheet,section,act,party\nLoan,acts,Sign,tenant\n"

    unknown = api.post(to_labels, {"labels": upload(ACTS + LINES)}, format="multipart")
    assert (unknown.status_code, Label.objects.count()) == (400, 0)
    assert any("“w1”" in problem for problem in unknown.json()["problems"])
    labels = api.post(to_labels, {"labels": upload(ACTS + LINES), "create": "true"}, format="multipart")
    assert (labels.status_code, labels.json()["raters"], labels.json()["labels"]) == (201, 2, 2)

    nothing = api.post(to_rows, {}, format="multipart")
    assert (nothing.status_code, nothing.json()) == (
        400,
        {"non_field_errors": ["Choose a file of rows, a file of columns, or both."]},
    )
    wrong = {"rows": upload("sheet,row,url\nLoan,Clause 1,x\nLoan,Clause 2,y\n", "rows.csv")}
    kept_out = api.post(to_rows, wrong, format="multipart")
    assert kept_out.status_code == 400
    assert kept_out.json() == {
        "detail": "The import has 2 problems, so nothing was changed.",
        "problems": [
            "rows.csv, line 2: “x” is no address of a web page (https://…).",
            "rows.csv, line 3: “y” is no address of a web page (https://…).",
        ],
    }
    assert not study.sheets.filter(title="Loan").exists()
    no_table = api.post(to_rows, {"rows": upload("\0\0\0", "rows.csv")}, format="multipart")
    assert (no_table.status_code, no_table.json()["problems"]) == (400, [])
    assert no_table.json()["detail"].startswith("Line 1 of “rows.csv” has a NUL in it")

    files = {"rows": upload(rows, "rows.csv"), "columns": upload(columns, "columns.csv")}
    taken = api.post(to_rows, files, format="multipart")
    assert (taken.status_code, taken.json()["said"]) == (201, ["New: 1 sheet, 1 row, 1 column."])
    again = api.post(to_rows, {"rows": upload(rows, "rows.csv")}, format="multipart")
    assert (again.status_code, again.json()["rows"]) == (201, 0)
    assert again.json()["said"] == ["Nothing new: all that the file says is in the study already."]


def test_large_tables_of_programs_are_imported_by_a_worker(leases: Leases, api_of: ApiOf) -> None:
    api = api_of(leases.manager)
    rows = "sheet,row,evidence\n" + "".join(f"Loan,Clause {n},The tenant pays.\n" for n in range(20))
    for what, file in (("labels", upload(ACTS + LINES)), ("rows", upload(rows, "rows.csv"))):
        answer = api.post(
            reverse(f"api:import-{what}", args=[leases.study.slug]), {what: file, "create": "true"}, format="multipart"
        )
        assert (answer.status_code, answer.json()["what"]) == (202, what)
        work.take_up(Import.objects.get(pk=answer.json()["id"]))
        assert api.get(answer["Location"]).json()["state"] == "finished"
    assert (leases.study.sheets.get(title="Loan").rows.count(), Label.objects.count()) == (20, 4)


def test_a_file_that_is_too_large_altogether_is_refused_at_once(
    leases: Leases, manager: Client, settings: Settings
) -> None:
    settings.PALATE_MAX_IMPORT_BYTES = 90
    assert "labels.csv" in post(manager, leases.study, ACTS + LINES).content.decode()
    assert not Import.objects.exists()


def test_problems_are_shown_as_on_the_page_and_nothing_is_written(leases: Leases, manager: Client) -> None:
    post(manager, leases.study, ACTS + LINES + "w1,Clause 9,acts,Inspect,act,Perhaps\n" * 2, create="")
    run, before = Import.objects.get(), counts()
    work.take_up(run)
    run.refresh_from_db()
    assert (run.state, counts()) == ("failed", before)
    shown = page(manager, run)
    assert "so nothing was changed." in shown
    assert "labels.csv, line" in shown
    assert ">Resume</button>" in shown


def test_what_kept_a_file_out_can_be_mended_and_the_import_resumed(leases: Leases, manager: Client) -> None:
    post(manager, leases.study, ACTS + LINES + "w1,Clause 3,acts,Inspect,act,Found\n", create="")
    run = Import.objects.get()
    work.take_up(run)
    Import.objects.update(how=Import.objects.get().how | {"create": True})
    manager.post(run.get_absolute_url() + "resume/")
    run.refresh_from_db()
    assert (run.state, run.outcome) == ("running", {})
    work.take_up(run)
    run.refresh_from_db()
    assert (run.state, Label.objects.count()) == ("finished", 6)
    page_after = manager.post(run.get_absolute_url() + "resume/", follow=True).content.decode()
    assert "It is done already." in page_after


def test_an_import_waits_for_its_turn(leases: Leases, manager: Client) -> None:
    """Two files sent one after the other: the second is not refused because the first is still at work."""
    post(manager, leases.study, ACTS + LINES)
    run, other = Import.objects.get(), arrivals.begin(leases.study)
    for _time in range(5):
        work.take_up(run)
    run.refresh_from_db()
    assert (run.state, run.items.get().state, run.items.get().attempts) == ("running", "queued", 0)

    arrivals.take_back(other)
    work.take_up(run)
    run.refresh_from_db()
    assert run.state == "finished"


def test_an_import_at_work_cannot_be_resumed(leases: Leases, manager: Client) -> None:
    """Its worker would lose it in the middle."""
    post(manager, leases.study, ACTS + LINES)
    run = Import.objects.get()
    held = work.claim(background.IMPORTING, run.items.get().pk)
    assert held is not None
    page_after = manager.post(run.get_absolute_url() + "resume/", follow=True).content.decode()
    assert "It is at work already." in page_after
    held.hold()  # it is still this worker's


def test_a_file_that_cannot_be_read_says_so(leases: Leases, manager: Client) -> None:
    post(manager, leases.study, "PK\x03\x04" + "x" * 100)
    run = Import.objects.get()
    work.take_up(run)
    assert "is no workbook that can be read" in page(manager, run)


def test_sentences_are_in_the_language_of_who_asked(leases: Leases) -> None:
    with translation.override("cs"):
        run = background.start_import(
            study=leases.study, files={"labels": upload(ACTS + LINES)}, by=None, how=LabelImport(create=True)
        )
    work.take_up(run)
    run.refresh_from_db()
    assert run.outcome["sentences"][0].startswith("Nov")


def test_a_cancelled_import_leaves_nothing(leases: Leases, manager: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it had written when it saw that is taken back, and the file is there to go on with."""
    post(manager, leases.study, ACTS + LINES)
    run, before = Import.objects.get(), counts()

    write = label_importer.Importer.write

    def cancelled(importer: Any) -> None:
        write(importer)
        assert counts() != before
        raise GiveUp

    with monkeypatch.context() as patch:
        patch.setattr(label_importer.Importer, "write", cancelled)
        work.take_up(run)
    assert (counts(), run.items.get().state) == (before, "queued")
    manager.post(run.get_absolute_url() + "cancel/")
    assert "Nothing of the file is in the study" in page(manager, run)
    assert not work.take_up(run)
    manager.post(run.get_absolute_url() + "resume/")
    work.take_up(run)
    assert Label.objects.count() == 4


def test_how_much_is_read_stands_beside_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored, told = uploads.keep(upload("x" * 3 * 2**20)), list[int | None]()
    with uploads.open_watched(stored, lambda: told.append(uploads.read_percent(stored))) as stream:
        stream._last -= 2  # type: ignore[attr-defined]
        stream.read(2**20)
        stream.read()
        stream.read()
    assert told == [33, 100]
    assert uploads.read_percent(stored) is None


def test_reading_stops_when_the_look_says_so() -> None:
    def cancelled() -> None:
        raise GiveUp

    with uploads.open_watched(uploads.keep(upload("")), cancelled) as stream, pytest.raises(GiveUp):
        stream.read()


def test_files_that_nobody_uses_are_deleted_after_a_while(leases: Leases, folder: Path) -> None:
    run = background.start_import(
        study=leases.study, files={"labels": upload(ACTS + LINES)}, by=None, how=LabelImport(create=True)
    )
    assert uploads.clean() == 0
    (file,) = folder.iterdir()
    os.utime(file, (0, 0))
    assert uploads.clean() == 1
    work.take_up(run)
    run.refresh_from_db()
    assert run.error == "The file is not kept any more. Import it again."


def test_only_files_of_imports_are_deleted(folder: Path) -> None:
    """The folder may be one in which other things lie, such as the root of a volume."""
    stored = uploads.keep(upload("x"))
    uploads.note_percent(stored, 5)
    uploads.note_percent("import-7", 5)
    (folder / "lost+found").mkdir()
    (folder / ".env").touch()
    (folder / "notes.percent").touch()
    for path in folder.iterdir():
        os.utime(path, (0, 0))

    assert uploads.clean() == 3
    assert {path.name for path in folder.iterdir()} == {".env", "lost+found", "notes.percent"}


def test_what_dead_imports_left_is_taken_back_though_a_file_cannot_be_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    def unable() -> int:
        raise PermissionError

    cleaned: list[str] = []
    monkeypatch.setattr(uploads, "clean", unable)
    monkeypatch.setattr(arrivals, "clean", lambda: cleaned.append("arrivals"))
    with pytest.raises(PermissionError):
        clean_uploads()
    assert cleaned == ["arrivals"]


# --- killed -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def site(bare_site: Site) -> Site:
    bare_site.program, bare_site.table = "tests.annotation.site", "annotation_importpart"
    return bare_site


@pytest.mark.slow
def test_a_worker_that_is_killed_in_the_middle_leaves_nothing_and_the_next_one_imports_it_once(site: Site) -> None:
    site.setup(rows=3000, slow=3)
    worker = site.start_worker()
    site.wait_for("claimed")
    time.sleep(1.5)
    site.kill(worker)
    work = "annotation_label JOIN annotation_assignment a ON a.id = assignment_id"
    seen = f"SELECT count(*) FROM {work} WHERE state <> 'withdrawn'"
    assert site.query(seen) == [(0,)]
    site.start_worker()
    site.wait_for("done")
    time.sleep(0.5)
    assert site.query(seen) == [(6000,)]
    assert site.query("SELECT count(*) FROM annotation_arrival") == [(0,)]
    said = site.report()
    assert (said["state"], said["labels"], said["events"]) == (
        "finished",
        6000,
        6000,
    )  # half of them filled in by rules
