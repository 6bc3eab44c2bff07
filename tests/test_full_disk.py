"""A disk that is full, or a folder that may not be written to: what can be made anew is, and the rest is refused."""

from __future__ import annotations

import errno
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from pytest_django import Settings

from annotation.exchange import background
from annotation.models import Import
from config import caches
from config.caches import FileCache
from tests.builders import ApiOf, ClientOf, Leases


@pytest.mark.once
@pytest.mark.parametrize("key", ["report", "other"])
def test_a_cache_that_cannot_be_used_holds_nothing_and_fails_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, key: str
) -> None:
    monkeypatch.setattr(caches, "_told", set())
    cache = FileCache(str(tmp_path / "cache"), {})
    cache.set("report", 1)

    def unable(*_asked: object, **_how: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    for used in ("open", "os.makedirs", "os.remove", "tempfile.mkstemp"):
        monkeypatch.setattr(f"django.core.cache.backends.filebased.{used}", unable, raising=False)
    with caplog.at_level(logging.WARNING, "config.caches"):
        cache.set(key, 2)
        assert cache.get(key, "nothing") == "nothing"
        assert cache.get_or_set(key, lambda: "made") == "made"
        assert cache.add(key, 2)
        assert cache.get_many([key]) == {}
        assert not cache.has_key(key)
        assert not cache.touch(key)
        assert not cache.delete(key)
        cache.clear()
        FileCache(str(tmp_path / "cache"), {})
    assert [record.getMessage() for record in caplog.records] == [
        f"The cache {tmp_path}/cache cannot be used (OSError): pages go on without it"
    ]


class Full:
    """A file of which a part fits."""

    name, size = "labels.csv", 9

    def chunks(self) -> Iterator[bytes]:
        yield b"row,"
        raise OSError(errno.ENOSPC, "No space left on device")


def test_an_upload_that_does_not_fit_leaves_nothing_and_says_so(
    leases: Leases,
    client_of: ClientOf,
    api_of: ApiOf,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its beginning lay there for a week, and the page said to try again."""
    settings.PALATE_UPLOADS, settings.PALATE_IMPORT_AT_ONCE = tmp_path / "uploads", 0
    whole, part = SimpleUploadedFile("rows.csv", b"sheet,row"), Full()
    with pytest.raises(OSError, match="No space"):
        background.start_import(study=leases.study, files={"rows": whole, "columns": part}, by=None)  # type: ignore[dict-item]
    assert list(settings.PALATE_UPLOADS.iterdir()) == []

    def unable(_path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("base.files.sync", unable)
    page, program = client_of(leases.manager), api_of(leases.manager)
    page.raise_request_exception = program.raise_request_exception = False
    for client, address in ((page, "annotation:import-rows"), (program, "api:import-rows")):
        rows = SimpleUploadedFile("rows.csv", b"sheet,row\nLeases,x\n")
        answer = client.post(reverse(address, args=[leases.study.slug]), {"rows": rows})
        assert (answer.status_code, "The disk of this installation is full" in answer.content.decode()) == (507, True)
    assert list(settings.PALATE_UPLOADS.iterdir()) == []
    assert not Import.objects.exists()
