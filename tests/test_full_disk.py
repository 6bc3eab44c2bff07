"""A disk that is full, or a folder that may not be written to: what can be made anew is, and the rest is refused."""

from __future__ import annotations

import errno
import logging
from pathlib import Path

import pytest

from config import caches
from config.caches import FileCache


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
