"""Whatever is sent to a form or uploaded, by whoever may: a page with a sentence, soon, and never a failure.

Each address of `tests.test_access` that takes a POST gets what is drawn from `TEXTS` and `FILES`, field by field,
beside what it expects. The fields are those of the forms that the address makes when it is asked.
"""

from __future__ import annotations

import gzip
import html
import io
import json
import os
import random
import re
import resource
import time
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django import forms
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from annotation import doors
from annotation.models import Study
from recipes.ingredient_states import demo_study as soups_demo
from recipes.ingredient_states.recipe_files import to_json
from recipes.memorization import demo_study as slaws_demo
from recipes.pizza_commonsense import actions as baking
from recipes.pizza_commonsense.records import read_json_lines
from tests import builders, test_access
from tests.judges import generations
from tests.recipes.test_pizza_tables import FLAT, PIZZA
from tests.test_access import TABLE, YES, World, visitors
from tests.test_access import furnished as furnished  # the fixtures
from tests.test_access import world as world

pytestmark = pytest.mark.django_db

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


# Refusals that a page explains in words of its own, not its form's; and an address that only a script of ours calls.
EXPLAINED = {
    "account_reset_password_from_key": "The password reset link was invalid",
    "annotation:drafts": "Nobody has submitted anything yet",
    "socialaccount_connections": "You currently have no third-party accounts",
}
MESSAGE = re.compile(r'<p class="message (?:error|warning)[^>]*>\s*[^<\s]')
OF_SCRIPTS = {"annotation:beat"}


@dataclass(frozen=True)
class Answered:
    """`seconds` of CPU; `silent`: what is refused without a word of why, or ""."""

    seconds: float
    silent: str
    refused: bool


def asked(
    client: Client, address: str, data: dict[str, Any], made: list[forms.BaseForm], explained: str = ""
) -> Answered:
    """Post, and see that it is answered, and that a refusal says why."""
    made.clear()
    begin = time.process_time()
    response = client.post(address, data)
    content = b"".join(response) if response.streaming else response.content  # type: ignore[arg-type]
    took = time.process_time() - begin
    assert response.status_code < 500
    errors = {plain(str(said)) for form in made if form.is_bound for said in sentences(form)}
    if errors and response.status_code in (301, 302, 303):
        content = client.get(response["Location"], follow=True).content
    return Answered(took, silence(response, content, errors, explained), bool(errors) or response.status_code >= 400)


def sentences(form: forms.BaseForm) -> list[str]:
    """The errors of a form that was looked at."""
    return [str(said) for field in (form._errors or {}).values() for said in field]


def silence(response: Any, content: bytes, errors: set[str], explained: str) -> str:
    if response.status_code < 400 and not errors:
        return ""
    text = content.decode(errors="replace")
    if response.headers.get("Content-Type", "").startswith(("application/json", "application/problem+json")):
        text = " ".join(strings(json.loads(text)))
    shown = plain(re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL))
    if errors:
        told = MESSAGE.search(text) or any(said in shown for said in errors) or (explained and explained in shown)
        return "" if told else f"says nothing of {sorted(errors)}"
    return "" if re.search(r"\w\S* \S+.*[.!?…]", shown) else f"{response.status_code} without a sentence: {shown[:200]}"


def strings(said: Any) -> Iterator[str]:
    if isinstance(said, str):
        yield said
    for part in said.values() if isinstance(said, dict) else said if isinstance(said, list) else ():
        yield from strings(part)


def plain(text: str) -> str:
    return " ".join(html.unescape(text).split())


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
    silent: list[str] = []
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
                    try:
                        answer = asked(client, address, data, made, EXPLAINED.get(name, ""))
                    except Exception as error:
                        wrong.append(f"{name}: {type(error).__name__}: {error}\n    {told(data)}")
                        continue
                    n += 1
                    if answer.seconds > MOST_CPU_SECONDS:
                        slow.append(f"{name}: {answer.seconds:.1f} s\n    {told(data)}")
                    if answer.silent and name not in OF_SCRIPTS:
                        silent.append(f"{name}: {answer.silent}\n    {told(data)}")
                    fields |= {form.add_prefix(key): field for form in made for key, field in form.fields.items()}
    assert not wrong, "\n".join(wrong)
    assert not slow, "\n".join(slow)
    assert not silent, "\n".join(silent)
    assert n > 100 * (EACH + 1)
    assert mib() - before < MOST_MIB


# --- uploads ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Upload:
    """A form that takes a file, or a long text, in `field`; `sample` is what it takes, `data` what else is sent."""

    field: str
    sample: tuple[str, bytes]
    data: dict[str, Any]
    args: Sequence[object] = ()
    of: str = "manager"


def uploads(world: World) -> dict[str, Upload]:
    """Each in a study that takes its files, so that they are read."""
    leases = world.leases
    slaws, soups = test_access.with_verdict(world), test_access.with_graphs(world)
    dishes = generations.dishes(by=leases.manager)
    pizzas = _study(world, "pizzas", "pizza-commonsense")
    baking.import_tables(study=pizzas, tables=read_json_lines(FLAT + "\n"))
    anna = Client()
    anna.force_login(leases.anna)
    workbook = anna.get(reverse("annotation:spreadsheet-file", args=[leases.sheet.pk]))
    page = slaws_demo.ROOT / "demo" / "pages" / "chili" / "bing-1.html"
    results = b"query,engine,rank,url\nColeslaw,Google,1,https://slaw.example/1\n"
    labels = b"rater,row,section,column,question,answer\nw1,Clause 1,acts,Inspect,act,Found\n"
    said = json.dumps({"id": "a1", "output": "[ROW] nothing"}).encode()
    slug = (leases.study.slug,)
    return {
        "annotation:import-rows": Upload("rows", ("x.csv", b"sheet,row,evidence\nLoan,Clause 1,Pay.\n"), {}, slug),
        "annotation:import-labels": Upload("labels", ("x.csv", labels), {"create": "on"}, slug),
        "annotation:spreadsheet": Upload(
            "workbook", ("x.xlsx", b"".join(workbook)), {}, (leases.sheet.pk,), of="annotator"
        ),
        "annotation:new-study": Upload(
            "scheme_file", ("x.yaml", builders.SCHEME.replace("key: contracts", "key: deeds").encode()),
            {"title": "Deeds", "slug": "deeds"}, of="superuser",
        ),
        "recipes:add-recipe": Upload(
            "file", ("x.txt", b"Chili\nIngredients\n- beans\nTasks\nfry | pan | beans\n"), {}, (slaws.slug,)
        ),
        "recipes:import-documents": Upload(
            "pages", ("x.zip", zipped(("bing-1.html", page.read_bytes()))),
            {"sheet": slaws.sheets.get().pk}, (slaws.slug,),
        ),
        "recipes:record-results": Upload("results", ("x.csv", results), {}, (slaws.slug,)),
        "memorization:add-names": Upload(
            "file", ("x.txt", b"Shakshuka; Tunis\nHummus\n"), {"sheet": "More"}, (dishes.slug,)
        ),
        "ingredient_states:bring": Upload(
            "files", ("x.json", json.dumps(to_json(soups_demo.demo_recipes()[1:2])).encode()), {}, (soups.slug,)
        ),
        "pizza_commonsense:add": Upload(
            "file", ("x.jsonl", PIZZA.encode()), {"rater": "gold"}, (pizzas.slug,)
        ),
        "pizza_commonsense:add-system": Upload("predictions", ("x.jsonl", said), {"system": "other"}, (pizzas.slug,)),
        "judges:new-judge": Upload(
            "prompt_text", ("", test_access.PROMPT.encode()),
            {"name": "near", "method": "lexical"}, slug, of="superuser",
        ),
    }  # fmt: skip


def _study(world: World, slug: str, scheme: str) -> Study:
    source = doors.shipped_schemes()[scheme].read_text(encoding="utf-8")
    return test_access.beside_leases(world, slug, builders.scheme(source))


def mutated(data: bytes, rng: random.Random) -> bytes:
    """A file that is nearly right."""
    at, until = sorted((rng.randrange(len(data)), rng.randrange(len(data))))
    bad = rng.choice(
        [b"\x00", b"\xed\xa0\x80", b"\xff", b"\r", b'"', b"\\ud800", b"{", b"&a;", b"9" * 400, b"\xe2\x80\xae"]
    )
    match rng.randrange(5):
        case 0:
            return data[:until]
        case 1:
            return data[:at] + bad + data[at:]
        case 2:
            return data[:at] + data[until:]
        case 3:
            return data[:until] + data[at:until] * rng.choice([1, 50]) + data[until:]
    return bytes(byte ^ rng.randrange(256) if rng.random() < 0.01 else byte for byte in data)


def test_no_upload_fails_takes_long_or_is_refused_without_a_word(
    world: World, made: list[forms.BaseForm], settings: Settings, tmp_path: Path
) -> None:
    settings.PALATE_UPLOADS = tmp_path / "uploads"
    people, before, wrong, n = visitors(world), mib(), list[str](), 0
    for name, upload in uploads(world).items():
        rng, address = random.Random(f"{SEED} {name}"), reverse(name, args=upload.args)
        others = FILES if EACH > 1 else rng.sample(FILES, 4)
        nearly = [(upload.sample[0], mutated(upload.sample[1], rng)) for _ in range(3 * EACH)]
        client = Client()
        client.force_login(people[upload.of])  # type: ignore[arg-type]
        for number, (called, data) in enumerate([upload.sample, *others, *nearly]):
            sent: Any = SimpleUploadedFile(called, data) if upload.sample[0] else data.decode("utf-8", "replace")
            point = transaction.savepoint()
            try:
                answer = asked(client, address, {**upload.data, upload.field: sent}, made)
            except Exception as error:
                wrong.append(f"{name}: {type(error).__name__}: {error}\n    {called} {data[:200]!r}")
            else:
                n += 1
                if answer.silent or answer.seconds > MOST_CPU_SECONDS or (answer.refused and not number):
                    wrong.append(f"{name}: {answer}\n    {called} {data[:200]!r}")
            transaction.savepoint_rollback(point)
    assert not wrong, "\n".join(wrong)
    assert n > 80
    assert mib() - before < MOST_MIB


def told(data: dict[str, Any]) -> str:
    return json.dumps({key: str(value)[:80] for key, value in data.items()}, ensure_ascii=True)[:900]
