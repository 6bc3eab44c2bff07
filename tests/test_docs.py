"""What docs/ shows is there: links, commands with their options, settings, addresses of the API, lists of names, and
snippets that load."""

from __future__ import annotations

import re
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands, load_command_class
from django.urls import URLPattern, URLResolver, get_resolver

from annotation.deriving import making
from annotation.evidence import kinds
from annotation.exchange.exports import COLUMNS
from annotation.exchange.records import _ALIASES, fold_heading
from annotation.scheme.questions import Colour
from annotation.scheme.rule_specs import Rule
from annotation.scheme.spec import SchemeError, load_scheme
from annotation.scheme.values import ItemsSpec
from judges.extraction.answers import Repair
from judges.extraction.prompts import load_extraction_prompt
from llm.generating import wordings

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("recipes/**/*.md")})
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def page(name: str) -> str:
    return text_of(ROOT / "docs" / f"{name}.md")


def snippets(name: str) -> list[str]:
    """The YAML that a page shows and that is no file with a name."""
    return re.findall(r"^```yaml\n(.*?)^```$", page(name), re.MULTILINE | re.DOTALL)


def first_cells(name: str) -> str:
    """The first column of all tables of a page."""
    return "\n".join(line.split("|")[1] for line in page(name).splitlines() if line.startswith("|"))


def in_code(text: str) -> set[str]:
    return set(re.findall(r"`([^`\n]+)`", text))


# --- links ------------------------------------------------------------------------------------------------------------


def anchors(path: Path) -> set[str]:
    """The headings of a page as links name them."""
    headings = re.findall(r"^#+ (.+)$", CODE.sub("", text_of(path)), re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_link_leads_somewhere(path: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", CODE.sub("", text_of(path))):
        if re.match(r"\w+:", link):
            continue
        file, _hash, anchor = link.partition("#")
        there = (path.parent / file).resolve() if file else path
        assert there.exists(), link
        assert not anchor or anchor in anchors(there), link


@pytest.mark.parametrize("name", ["benchmarks", "judges"])
def test_a_page_in_parts_leads_to_each_of_them(name: str) -> None:
    parts = {f"{name}/{path.name}" for path in ROOT.glob(f"docs/{name}/*.md")}
    assert len(parts) > 5
    assert set(re.findall(rf"\]\(({name}/[\w-]+\.md)\)", page(name))) == parts


OURS = r"(?:accounts|annotation|base|benchmarks|config|docs|judges|llm|operating|recipes|reports|static|tests|work)"


PLACES = (ROOT, ROOT / "templates")


def test_each_file_that_a_page_names_is_there() -> None:
    named = [
        (path, name) for path in PAGES for name in in_code(text_of(path)) if re.fullmatch(rf"{OURS}/[\w/.-]+", name)
    ]
    assert len(named) > 100
    assert [
        (path.name, name) for path, name in named if not any(list(at.glob(name.rstrip("/"))) for at in PLACES)
    ] == []


# --- commands, settings, addresses ------------------------------------------------------------------------------------


def options_of(parser: ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, _SubParsersAction):
            for sub in action.choices.values():
                yield from options_of(sub)


def test_each_command_is_there_with_the_options_that_are_shown() -> None:
    shown = [
        (path.name, command, re.findall(r"(?<!\w)--[a-z-]+", rest))
        for path in PAGES
        for command, rest in re.findall(r"manage\.py (\w+)([^\n`#&]*(?:\n {30,}[^\n`#]+)*)", text_of(path))
    ]
    assert len(shown) > 50
    commands = get_commands()
    assert [one for one in shown if one[1] not in commands] == []
    for file, command, options in shown:
        made = commands[command]
        made = load_command_class(made, command) if isinstance(made, str) else made
        known = set(options_of(made.create_parser("manage.py", command)))
        assert set(options) <= known, (file, command)


def test_the_table_of_settings_is_whole() -> None:
    """What the settings and the web server read; and what engines read by names of their own."""
    read = re.findall(r"""env\.\w+\(\s*"([A-Z_]+)\"""", text_of(ROOT / "config" / "settings.py"))
    told = in_code(first_cells("settings"))
    only_in_tests = {"CELERY_TASK_ALWAYS_EAGER"}
    assert len(read) > 60
    assert set(read) - only_in_tests - told == set()
    sources = "".join(text_of(ROOT / path) for path in ("config/gunicorn.py", "recipes/cooking/web/engines.py"))
    assert {name for name in told - set(read) if f'"{name}"' not in sources} == set()


def addresses(resolver: URLResolver, before: str = "") -> Iterator[str]:
    for pattern in resolver.url_patterns:
        at = before + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield at
        else:
            yield from addresses(pattern, at)


def test_each_address_of_the_api_is_there() -> None:
    known = [re.compile(re.sub(r"<[^>]+>", "[^/]+", at)) for at in addresses(get_resolver()) if at.startswith("api/")]
    shown = {
        (path.name, address) for path in PAGES for address in re.findall(r"(?<!\w)/(api/[^\s`|)?…\"]*)", text_of(path))
    }
    assert len(shown) > 10
    without = {one for one in shown if not any(at.fullmatch(re.sub(r"<[^>]+>", "1", one[1])) for at in known)}
    # The beginnings of addresses, to which a table adds the rest.
    assert {one for one in without if not any(at.pattern.startswith(one[1]) for at in known)} == set()


# --- lists of names ---------------------------------------------------------------------------------------------------


def test_the_scheme_page_names_each_rule_and_colour() -> None:
    assert {str(rule) for rule in Rule} <= in_code(first_cells("scheme"))
    assert " ".join(Colour) in page("scheme")
    assert ", ".join(kinds.Shown) in page("scheme")


def test_the_page_of_deriving_names_each_deriver() -> None:
    named = {name for name in in_code(first_cells("deriving")) if re.fullmatch(r"[a-z-]+", name)}
    assert named == {deriver.key for deriver in making.derivers()}


def test_the_page_of_extraction_names_each_repair() -> None:
    assert {str(repair) for repair in Repair} <= in_code(first_cells("extraction"))


def test_the_page_of_imports_has_the_columns_of_exports_and_the_words_that_are_understood() -> None:
    [columns] = re.findall(r"`(sheet, row, rater, rater_kind.*?row_url)`", page("import"), re.DOTALL)
    told = re.sub(r"\([^)]*\)|`", "", columns)
    assert tuple(re.findall(r"\w+", told)) == COLUMNS
    _rows, labels = page("import").split("\n## Labels made elsewhere\n")
    for field, words in _ALIASES.items():
        [understood] = re.findall(rf"^\| `{field}` \| ([^|]*) \|", labels, re.MULTILINE)
        assert {fold_heading(word) for word in understood.split(", ")} | {field} == words, field


# --- snippets ---------------------------------------------------------------------------------------------------------

HEAD = "key: shown\nversion: 1\ntitle: Shown\n"
QUESTIONS = """\
    questions:
      - {key: action, title: Action, options: [{key: carry, label: Carry}, {key: cut, label: Cut}]}
      - {key: tool, title: Tool, kind: text}
      - {key: input, title: Input, kind: text}
      - {key: output, title: Output, kind: text}
"""


def test_the_snippets_of_the_scheme_page_load() -> None:
    whole, values, table, evidence = snippets("scheme")
    assert load_scheme(whole).key == "contract-clauses"
    section = "sections:\n  - key: steps\n    title: Steps\n    column: {title: Step, facets: [step]}\n"
    load_scheme(f"{HEAD}row: {{facets: [parts, ingredients]}}\n{section}{values}")
    load_scheme(HEAD + table + QUESTIONS)
    load_scheme(f"{HEAD}{evidence}    title: Duties\n    column: {{title: Duty, facets: [duty]}}\n{QUESTIONS}")


def test_an_error_names_line_and_key_as_the_scheme_page_shows() -> None:
    wrong = snippets("scheme")[0].replace("label: Not stated, sign", "label: Not stated, hotkeyy: 3, sign")
    with pytest.raises(SchemeError) as refused:
        load_scheme(wrong)
    assert f"`{refused.value}`" in page("scheme")


def test_the_snippets_of_other_pages_load() -> None:
    [lists] = snippets("extraction")
    assert set(load_extraction_prompt(lists).lists) == {"ingredient", "task"}
    [types] = snippets("generating")
    assert wordings.read(types, known=["region"])
    [table] = re.findall(r"^    (type;wording\n    .*\n)", page("generating"), re.MULTILINE)
    assert wordings.read(table.replace("    ", ""))[0].wordings == ("How do you make $name?",)
    [fields] = snippets("parsing")
    assert ItemsSpec.model_validate(yaml.safe_load(fields)).place is not None
