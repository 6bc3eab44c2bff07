"""The Czech catalogue is whole: every sentence, every placeholder, all plurals, compiled as it stands."""

from __future__ import annotations

import ast
import csv
import io
import os
import re
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import polib
import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from tests import builders
from tests.builders import ApiOf, ClientOf, Leases

ROOT = Path(__file__).resolve().parents[1]
CATALOGUE = ROOT / "locale" / "cs" / "LC_MESSAGES" / "django.po"
# What stands for something else in a sentence: %(name)s, {name} of the scripts, tags, and what a command is typed as.
PLACEHOLDER = re.compile(r"%\(\w+\)[-+ #0]*[\d.]*[a-z]|%%|(?<!\{)\{\w+\}|</?[a-z]+>")
# Where a call of gettext may stand in an f-string.
BRACED = re.compile(r"\{[^{}]*\b(_|n?p?gettext(_\w+)?)\(")

Key = tuple[str | None, str, str]


def entries() -> dict[Key, polib.POEntry]:
    return {key(entry): entry for entry in polib.pofile(CATALOGUE) if not entry.obsolete}


def key(entry: polib.POEntry) -> Key:
    return entry.msgctxt, entry.msgid, entry.msgid_plural


def said(entry: polib.POEntry) -> list[str]:
    return list(entry.msgstr_plural.values()) if entry.msgid_plural else [entry.msgstr]


def test_every_sentence_is_translated() -> None:
    all_entries = entries()

    assert len(all_entries) > 1000
    assert [name for name, entry in all_entries.items() if entry.fuzzy or not all(said(entry))] == []


def test_czech_has_three_forms_of_a_number() -> None:
    assert polib.pofile(CATALOGUE).metadata["Plural-Forms"].startswith("nplurals=3;")
    counted = [entry for entry in entries().values() if entry.msgid_plural]

    assert counted
    assert [entry.msgid for entry in counted if set(entry.msgstr_plural) != {0, 1, 2}] == []


def test_placeholders_are_those_of_the_english_sentence() -> None:
    differing = []
    for entry in entries().values():
        known = [set(PLACEHOLDER.findall(text)) for text in (entry.msgid, entry.msgid_plural) if text]
        for text in said(entry):
            found = set(PLACEHOLDER.findall(text))
            # A counted sentence may do without the word of the other number.
            if found not in known and not (entry.msgid_plural and found <= known[0] | known[1] and "%(n)s" in found):
                differing.append((entry.msgid, text))

    assert differing == []


def test_sentences_begin_and_end_alike() -> None:
    """Parts of a sentence that a template puts together keep their spaces; a sentence keeps its period."""

    def edges(text: str) -> tuple[str, str]:
        return text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]

    def alike(english: str, czech: str) -> bool:
        return edges(english) == edges(czech) and (not english.endswith((".", "?")) or czech.endswith(english[-1]))

    differing = [
        (entry.msgid, text) for entry in entries().values() for text in said(entry) if not alike(entry.msgid, text)
    ]

    assert differing == []


def test_the_compiled_catalogue_is_that_of_the_sentences() -> None:
    compiled = {key(entry): said(entry) for entry in polib.mofile(CATALOGUE.with_suffix(".mo"))}

    assert compiled == {name: said(entry) for name, entry in entries().items()}, "run make messages"


@pytest.mark.skipif(shutil.which("xgettext") is None, reason="GNU gettext is not installed")
def test_no_sentence_of_the_code_is_missing(tmp_path: Path) -> None:
    for name in (
        "accounts",
        "annotation",
        "base",
        "judges",
        "llm",
        "operating",
        "recipes",
        "reports",
        "work",
        "config",
        "templates",
    ):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=_not_read)
    (tmp_path / "locale").mkdir()
    command = [sys.executable, "-m", "django", "makemessages", "--locale", "cs", "--verbosity", "0"]
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}

    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)

    extracted = {key(entry) for entry in polib.pofile(tmp_path / "locale" / "cs" / "LC_MESSAGES" / "django.po")}
    assert extracted - set(entries()) == set(), "run make messages, then translate what is new"
    assert set(entries()) - extracted == set(), "run make messages, which leaves out what is said no more"


def test_no_sentence_hides_in_an_f_string() -> None:
    """gettext does not look into them, so nothing there would ever be translated."""
    translating = {"_", "gettext", "gettext_lazy", "gettext_noop", "ngettext", "pgettext"}
    assert BRACED.search('f"{n} {_("of them")}"')
    hidden = [
        f"{path.relative_to(ROOT)}, line {call.lineno}"
        for app in ("annotation", "judges", "recipes", "reports", "config")
        for path in (ROOT / app).rglob("*.py")
        for source in [path.read_text()]
        if BRACED.search(source)  # few are worth a parse
        for text in ast.walk(ast.parse(source))
        if isinstance(text, ast.JoinedStr)
        for call in ast.walk(text)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in translating
    ]

    assert hidden == []


def _not_read(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if Path(folder, name).is_file() and not name.endswith((".py", ".html"))]


# --- who gets which ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accepted", "heading"),
    [("", "Log in"), ("cs", "Přihlásit se"), ("cs-CZ,cs;q=0.9,en;q=0.8", "Přihlásit se"), ("de, en;q=0.5", "Log in")],
    ids=["none", "czech", "a czech browser", "a german browser"],
)
def test_a_browser_is_answered_in_its_language(db: None, accepted: str, heading: str) -> None:
    response = Client(headers={"Accept-Language": accepted} if accepted else None).get(reverse("login"))

    assert f"<h1>{heading}</h1>" in response.content.decode()


def test_a_choice_is_kept_and_goes_before_what_the_browser_asks(leases: Leases) -> None:
    client = Client(headers={"Accept-Language": "en"})
    chosen = client.post(reverse("set_language"), {"language": "cs", "next": reverse("annotation:studies")})
    client.force_login(leases.manager)

    assert chosen["Location"] == reverse("annotation:studies")
    assert client.cookies[settings.LANGUAGE_COOKIE_NAME]["max-age"] > 30 * 86_400
    page = client.get(reverse("annotation:studies")).content.decode()
    assert '<html lang="cs">' in page
    assert "<h1>Studie</h1>" in page


def test_a_language_that_is_not_here_changes_nothing(db: None) -> None:
    client = Client()
    client.post(reverse("set_language"), {"language": "tlh", "next": "https://elsewhere.example/"})

    assert '<html lang="en">' in client.get(reverse("login")).content.decode()


@pytest.mark.parametrize(
    ("language", "sentence"),
    [("en", "This sheet has no column 999999."), ("cs", "Tento list nemá sloupec 999999.")],
    ids=["english", "czech"],
)
def test_the_api_refuses_in_the_language_that_is_asked_for(
    leases: Leases, api_of: ApiOf, language: str, sentence: str
) -> None:
    response = api_of(leases.anna).post(
        reverse("api:assignment-labels", args=[leases.annas[0].pk]),
        {
            "key": uuid.uuid4(),
            "answers": [{"column": 999999, "question": "stated", "option": "stated"}],
        },
        format="json",
        headers={"Accept-Language": language},
    )

    assert response.status_code == 400
    assert sentence in response.content.decode()


@pytest.mark.parametrize(
    ("page", "columns"),
    [("labels", None), ("csv", ("table", "value"))],
    ids=["labels in all", "a report but for its words"],
)
def test_data_is_the_same_in_both_languages(
    leases: Leases, client_of: ClientOf, page: str, columns: tuple[str, ...] | None
) -> None:
    client, address = client_of(leases.researcher), reverse(f"reports:{page}", args=[leases.study.slug])
    for assignment in (*leases.annas, *leases.boriss):
        builders.label(assignment)

    def lines(language: str) -> list[list[str]]:
        text = b"".join(client.get(address, headers={"Accept-Language": language})).decode("utf-8-sig")
        return [[line[name] for name in columns or line] for line in csv.DictReader(io.StringIO(text))]

    english = lines("en")
    assert len(english) > 10
    assert lines("cs") == english
