"""The same files by the page, by a worker, by the API and by the commands."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse
from pytest_django import Settings

from annotation.exchange.background import is_large
from annotation.models import Import, Study
from tests import builders
from tests.annotation.marked import studies
from tests.annotation.marked.studies import ENTRIES, TEXT, UNITS, lines, packed, said
from tests.builders import ApiOf, ClientOf
from tests.databases import made_once
from work import actions as work

pytestmark = [pytest.mark.django_db, pytest.mark.once]

OF_ANNA = lines({"id": 7, "text": TEXT, "label": UNITS})
OF_BEN = lines({"id": 7, "text": TEXT, "label": UNITS[:2]})
BOTH = packed({"anna.jsonl": OF_ANNA, "ben.jsonl": OF_BEN})
FOUND = {("7", "anna", "names"): ENTRIES, ("7", "ben", "names"): ENTRIES[:2]}


@made_once
def study() -> Study:
    return builders.study("news", of=builders.scheme(studies.SCHEME), by=builders.user("mara"))


def manager(study: Study) -> builders.User:
    return study.memberships.earliest("pk").user


@pytest.mark.parametrize("at_once", [2**20, 100], ids=["while its page waits", "by a worker"])
def test_the_page(study: Study, client_of: ClientOf, settings: Settings, tmp_path: Path, at_once: int) -> None:
    settings.PALATE_UPLOADS = tmp_path / "uploads"
    settings.PALATE_IMPORT_AT_ONCE = at_once
    client = client_of(manager(study))
    for address, sent in (("import-rows", "rows"), ("import-labels", "labels")):
        data = {sent: SimpleUploadedFile("news.zip", BOTH), "create": "on"}
        page = client.post(reverse(f"annotation:{address}", args=["news"]), data, follow=True).content.decode()
        for run in Import.objects.filter(state="running"):
            work.take_up(run)
            page = client.get(run.get_absolute_url()).content.decode()
    assert said(study) == FOUND
    assert "Who answered, by the names of files: anna, ben." in page


def test_the_api(study: Study, api_of: ApiOf) -> None:
    api = api_of(manager(study))
    rows = api.post(
        reverse("api:import-rows", args=["news"]),
        {"rows": SimpleUploadedFile("anna.jsonl", OF_ANNA)},
        format="multipart",
    )
    assert (rows.status_code, rows.json()["rows"]) == (201, 1)
    data = {"labels": SimpleUploadedFile("news.zip", BOTH), "create": "true"}
    labels = api.post(reverse("api:import-labels", args=["news"]), data, format="multipart")
    assert (labels.status_code, labels.json()["labels"]) == (201, 2)
    assert said(study) == FOUND


def test_the_commands(study: Study, tmp_path: Path) -> None:
    (tmp_path / "news.zip").write_bytes(BOTH)
    call_command("import_rows", "news", tmp_path / "news.zip", stdout=io.StringIO())
    out = io.StringIO()
    call_command("import_labels", "news", tmp_path / "news.zip", "--create", stdout=out)
    assert said(study) == FOUND
    assert "New: 2 raters, 2 labels." in out.getvalue()


def test_conll_with_the_rater_of_all_lines(study: Study, client_of: ClientOf, api_of: ApiOf) -> None:
    client, api = client_of(manager(study)), api_of(manager(study))
    file = b"-DOCSTART- -X- O O\n\nLech NNP B-NP B-PER\nmet VB O O\n"
    for address, sent in (("import-rows", "rows"), ("import-labels", "labels")):
        data = {sent: SimpleUploadedFile("eng.testa", file), "create": "on", "every_rater": "anna"}
        client.post(reverse(f"annotation:{address}", args=["news"]), data)
    found = [{"words": "Lech", "type": "PER", "at": "0:0-4"}]
    assert said(study) == {("1", "anna", "names"): found}
    sent = {"labels": SimpleUploadedFile("eng.testa", file), "create": "true", "every_rater": "ben"}
    labels = api.post(reverse("api:import-labels", args=["news"]), sent, format="multipart")
    assert labels.status_code == 201
    assert said(study)["1", "ben", "names"] == found


@pytest.mark.parametrize("what", ["rows", "labels"])
def test_a_zip_that_unpacks_to_much_is_for_a_worker(
    study: Study, client_of: ClientOf, api_of: ApiOf, settings: Settings, tmp_path: Path, what: str
) -> None:
    settings.PALATE_UPLOADS = tmp_path / "uploads"
    settings.PALATE_IMPORT_AT_ONCE = 100_000
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("anna.jsonl", lines({"id": 7, "text": "a " * 100_000, "label": []}))
    assert len(out.getvalue()) < 5_000
    page = reverse(f"annotation:import-{what}", args=["news"])
    client_of(manager(study)).post(page, {what: SimpleUploadedFile("news.zip", out.getvalue()), "create": "on"})
    api = reverse(f"api:import-{what}", args=["news"])
    sent = {what: SimpleUploadedFile("news.zip", out.getvalue())}
    assert api_of(manager(study)).post(api, sent, format="multipart").status_code == 202
    assert Import.objects.filter(study=study, state="running").count() == 2


def test_a_large_zip_is_not_looked_into_while_its_page_waits(settings: Settings) -> None:
    """A list of two million files took 17 seconds and 1.7 GiB."""
    settings.PALATE_IMPORT_AT_ONCE = 1000
    file = SimpleUploadedFile("news.zip", packed({"anna.jsonl": lines({"id": 7, "text": "a" * 2000, "label": []})}))
    file.close()
    assert is_large({"labels": file})
    assert not is_large({"labels": None})
