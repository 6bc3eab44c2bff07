"""Whatever is sent to a form or uploaded, by whoever may: a page with a sentence, soon, and never a failure.

Each address of `tests.test_access` that takes a POST gets what is drawn from `TEXTS` and `FILES`, field by field,
beside what it expects. The fields are those of the forms that the address makes when it is asked.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import resource
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django import forms
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from tests.test_access import TABLE, YES, World, visitors
from tests.test_access import world as world  # the fixture

pytestmark = [pytest.mark.once, pytest.mark.django_db]

# `make fuzz` asks for more.
EACH = int(os.environ.get("FUZZ_EXAMPLES", "1"))
SEED = int(os.environ.get("FUZZ_SEED", "1"))
MOST_CPU_SECONDS, MOST_MIB = 10, 600

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
TEXTS = [
    "",
    " ",
    "0",
    "-1",
    "1.5",
    "9" * 40,
    "1e999",
    "NaN",
    "-Infinity",
    "\x00",
    "a\x00b",
    "true",
    "null",
    "[]",
    "{}",
    "[{}]",
    "[[1]]",
    "[" * 5000,
    '{"a":' * 2000,
    '["' + "\\ud800" + '"]',
    "é" * 3,
    "\u202e\ufeff\u2028",
    "😀" * 50,
    "x" * 20_000,
    "=1+1",
    "'; DROP TABLE x; --",
    "<script>alert(1)</script>",
    "%(n)s %s {0} ${x}",
    "../../etc/passwd",
    "http://[::1",
    "http://169.254.169.254/latest/",
    "file:///etc/passwd",
    "0000-00-00",
    "9999-12-31T23:59:59",
    "0001-01-01T00:00:00",
    "2026-02-30",
    "(a+)+$",
    "a" * 5000 + "!",
    BOMB,
    "- *x\n",
    "!!python/object:os.system x",
    "questions:\n  duties.stated:\n    cell: $" + "x" * 300,
    "---\n" * 2000,
    "a,b\n" * 3000,
    '"',
    '"a\nb',
    "\t;,\n" * 50,
    "\r",
    "18446744073709551616",
]


def zipped(*files: tuple[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return made.getvalue()


SHEET = b"<worksheet><sheetData>" + b'<row r="1"><c r="XFD1048576" t="s"><v>9999</v></c></row>' * 50
FILES: list[tuple[str, bytes]] = [
    ("empty.csv", b""),
    ("x.csv", b"row,rater,answer\n" + b'"' * 3000),
    ("x.csv", b"row,rater,answer\n" + b"a" * 300_000),
    ("x.csv", b"\xff\xfe" + "row,text\nä,\ud7ff\n".encode("utf-16-le") + b"\x00"),
    ("x.csv", b"," * 50_000 + b"\n" + b"," * 50_000),
    ("x.csv", b"sheet,row,url\na,a,javascript:alert(1)\n"),
    ("x.tsv", b"row\trow\trow\n\x00\t\x01\t\x02\n"),
    ("x.json", b"[" * 100_000),
    ("x.json", b'{"a": 1e9999, "b": NaN, "row": {"row": []}}'),
    ("x.jsonl", b'{"row": 1, "rater": [], "answer": {}}\nnull\n[]\n"\\ud800"\n'),
    ("x.yaml", BOMB.encode()),
    ("x.yaml", b"key: [" * 3000),
    ("x.yaml", b"key: 1\nversion: 99999999999999999999\ntitle: []\nsections: {}\n"),
    ("x.yaml", b"!!python/object/apply:os.system ['true']"),
    ("x.xlsx", b"PK\x03\x04" + b"\x00" * 200),
    ("x.xlsx", zipped(("xl/workbook.xml", b"<a>" * 20_000), ("[Content_Types].xml", b""))),
    ("x.xlsx", zipped(("xl/worksheets/sheet1.xml", SHEET), ("[Content_Types].xml", b"<Types/>"))),
    ("bomb.zip", zipped(*((f"{n}.html", b" " * 5_000_000) for n in range(30)))),
    ("x.zip", zipped(("../../x", b"1"), ("/etc/x", b"1"), ("a" * 300, b"1"), ("con", b""))),
    ("x.html.gz", gzip.compress(b"<div>" * 500_000)),
    ("x.html", b"<div>" * 20_000 + b"<script type='application/ld+json'>{\"@graph\": [" + b"{" * 2000),
    ("x.html", b"<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>" + b"<!ENTITY b '&a;&a;&a;&a;&a;&a;'>]><p>&b;</p>" * 50),
    ("x.warc", b"WARC/1.0\r\nContent-Length: 99999999999\r\n\r\n"),
    ("x" * 400 + ".txt", bytes(range(256)) * 40),
]  # fmt: skip


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[forms.BaseForm]:
    """The forms that were made while a request was answered."""
    found: list[forms.BaseForm] = []
    before = forms.BaseForm.__init__

    def noted(self: forms.BaseForm, *args: Any, **kwargs: Any) -> None:
        before(self, *args, **kwargs)
        found.append(self)

    monkeypatch.setattr(forms.BaseForm, "__init__", noted)
    return found


def drawn(field: forms.Field | None, usual: Any, rng: random.Random) -> Any:
    """Something for a field: mostly bad, sometimes what it offers, or what it is usually sent."""
    if isinstance(field, forms.FileField):
        name, data = rng.choice(FILES)
        return SimpleUploadedFile(name, data) if rng.random() < 0.9 else ""
    choices = [str(key) for key, _said in getattr(field, "choices", ()) or ()][:200] if field is not None else []
    if choices and rng.random() < 0.6:
        return rng.choice(choices)
    if usual not in (None, "") and rng.random() < 0.5:
        return usual
    if isinstance(field, forms.IntegerField | forms.FloatField | forms.DecimalField) and rng.random() < 0.5:
        return rng.choice(["1", "2", "7", "100"])
    return rng.choice(TEXTS)


def asked(client: Client, address: str, data: dict[str, Any]) -> float:
    """Post, and see that it is answered; seconds of CPU that it took."""
    begin = time.process_time()
    response = client.post(address, data)
    if response.streaming:
        b"".join(response)  # type: ignore[arg-type]
    assert response.status_code < 500
    return time.process_time() - begin


def undone() -> Iterator[None]:
    point = transaction.savepoint()
    yield
    transaction.savepoint_rollback(point)


def mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def test_no_form_fails_at_what_it_is_sent(
    world: World, made: list[forms.BaseForm], settings: Settings, tmp_path: Path
) -> None:
    settings.PALATE_UPLOADS = tmp_path / "uploads"
    wrong: list[str] = []
    slow: list[str] = []
    n, before = 0, mib()
    for name, url in TABLE.items():
        may = [kind for kind, what in url.post._asdict().items() if what == YES and kind != "anonymous"]
        if not may or name in {"account_logout", "logout"}:
            continue
        rng = random.Random(f"{SEED} {name}")
        for _undone in undone():
            address, usual = reverse(name, args=url.args(world), query=url.query), url.data(world)
            user = visitors(world)["superuser" if "superuser" in may else may[0]]
            assert user is not None
            fields: dict[str, forms.Field | None] = dict.fromkeys(usual)
            for number in range(EACH + 1):
                for _again in undone():
                    client = Client()
                    client.force_login(user)
                    data = usual if not number else {key: drawn(of, usual.get(key), rng) for key, of in fields.items()}
                    made.clear()
                    try:
                        took = asked(client, address, data)
                    except Exception as error:
                        wrong.append(f"{name}: {type(error).__name__}: {error}\n    {told(data)}")
                        continue
                    n += 1
                    if took > MOST_CPU_SECONDS:
                        slow.append(f"{name}: {took:.1f} s\n    {told(data)}")
                    fields |= {form.add_prefix(key): field for form in made for key, field in form.fields.items()}
    assert not wrong, "\n".join(wrong)
    assert not slow, "\n".join(slow)
    assert n > 100 * (EACH + 1)
    assert mib() - before < MOST_MIB


def told(data: dict[str, Any]) -> str:
    return json.dumps({key: str(value)[:80] for key, value in data.items()}, ensure_ascii=True)[:900]
