"""Files that are uploaded by nobody."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from tests.builders import ApiOf, ClientOf, Leases

pytestmark = pytest.mark.django_db

_MIB = 2**20
_HEAD = b'--x\r\nContent-Disposition: form-data; name="rows"; filename="rows.csv"\r\n\r\n'
_TAIL = b"\r\n--x--\r\n"


class Sent(io.BytesIO):
    """A request's body; `kept`: the most bytes that lay in a folder while it was read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(_HEAD + b"a" * (8 * _MIB) + _TAIL)
        self.folder, self.kept = folder, 0

    def read(self, size: int | None = -1) -> bytes:
        self.kept = max(self.kept, sum(file.stat().st_size for file in self.folder.iterdir()))
        return super().read(size)


def kept_of(client: Client, address: str, folder: Path, **headers: str) -> int:
    body = Sent(folder)
    sent = {"CONTENT_TYPE": "multipart/form-data; boundary=x", "CONTENT_LENGTH": str(len(body.getvalue()))}
    client.request(PATH_INFO=address, REQUEST_METHOD="POST", **{"wsgi.input": body}, **sent, **headers)
    return body.kept


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    folder = settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "coming"
    folder.mkdir()
    settings.PALATE_UPLOADS = tmp_path / "uploads"
    return folder


@pytest.mark.parametrize("name", ["api:token", "login", "account_reset_password"])
def test_a_file_of_a_stranger_is_kept_nowhere(db: None, folder: Path, name: str) -> None:
    """Some requests at once filled the temporary folder, which is memory in our containers."""
    assert kept_of(Client(), reverse(name), folder) == 0


def test_a_file_of_a_stranger_with_a_token_for_forms_is_kept_nowhere(db: None, folder: Path) -> None:
    client = Client(enforce_csrf_checks=True)
    client.get(reverse("login"))
    assert kept_of(client, reverse("login"), folder) == 0


def test_files_of_who_is_logged_in_or_has_a_key_are_read(
    leases: Leases, client_of: ClientOf, api_of: ApiOf, folder: Path
) -> None:
    assert kept_of(client_of(leases.manager), reverse("annotation:import-rows", args=[leases.study.slug]), folder) > 0
    address = reverse("api:import-rows", args=[leases.study.slug])
    for client, form in ((api_of(leases.manager), "multipart"), (client_of(leases.manager), None)):
        rows = io.BytesIO(b"sheet,row,evidence\nLoan,Clause 1,The tenant pays.\n")
        answer = client.post(address, {"rows": rows}, **({"format": form} if form else {}))  # type: ignore[arg-type]
        assert answer.status_code == 201
