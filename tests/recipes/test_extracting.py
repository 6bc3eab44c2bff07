"""What extractors read of a recipe page: its structured data without a model, or all that it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.models import Row, Study
from annotation.scheme.spec import load_scheme
from judges import actions as judging
from judges import doors
from judges.extraction import answers
from judges.extraction.prompts import load_extraction_prompt, request, shape
from judges.methods import prompting
from judges.methods.prompting import load_prompt
from judges.models import Extraction
from judges.runs import evidence
from recipes.cooking import actions, extracting
from recipes.cooking.pages import read_files, stored
from recipes.memorization import demo_study
from tests import builders
from tests.databases import made_once

PROMPTS = Path("recipes/memorization/prompts")
STATED = """<html><head><title>Soup</title><script type="application/ld+json">
{"@type": "Recipe", "name": "Soup", "recipeIngredient": ["2 leeks", "1 l stock"],
 "recipeInstructions": ["Slice the leeks.", "Boil them in the stock."]}</script></head>
<body><h1>Soup</h1><p>My family's favourite.</p><ul><li>2 leeks</li><li>1 l stock</li></ul></body></html>"""
SHOWN = """<html><body><h1>Soup</h1><h2>Ingredients</h2><ul><li>2 leeks</li><li>1 l stock</li></ul>
<h2>Instructions</h2><ol><li>Slice the leeks.</li><li>Boil them in the stock.</li></ol></body></html>"""


@made_once
def study() -> Study:
    study = builders.study("soups", of=demo_study.paper_scheme())
    sheet = actions.add_recipe(study=study, recipe=demo_study.demo_recipe("chili"))
    pages = read_files([("stated.html", STATED.encode()), ("shown.html", SHOWN.encode())])
    assert not actions.import_documents(sheet=sheet, pages=pages).refused
    builders.row(sheet, "From a table")
    return study


def row(study: Study, number: int) -> Row:
    return Row.objects.filter(sheet__study=study).order_by("position")[number]


def test_the_parser_takes_what_a_page_states_and_says_where_it_states_nothing(study: Study) -> None:
    by = judging.create_extractor(name="schema", parser="schema-org")
    run = judging.start_extraction(study=study, extractor=by, by=None, enqueue=False)
    while judging.take_up(run):
        pass
    found = {(one.row.position, one.kind): one for one in Extraction.objects.select_related("row")}
    stated = found[row(study, 0).position, "ingredient"]
    assert [item["fields"]["ingredient"] for item in stated.items] == ["2 leeks", "1 l stock"]
    assert stated.raw.startswith("<ingredients>")
    assert len(found[row(study, 0).position, "step"].items) == 2
    assert "states no recipe as structured data" in found[row(study, 1).position, "ingredient"].refused
    assert "There is no saved page behind this row" in found[row(study, 2).position, "step"].refused
    judge = judging.create_judge(
        name="by-schema", method="lexical", prompt_text=(PROMPTS / "memorization-lexical.yaml").read_text("utf-8"),
        evidence=by,
    )  # fmt: skip
    assert [block.text for block in evidence.evidence_of(judge, row(study, 0))][:2] == ["2 leeks", "1 l stock"]


def test_a_page_is_all_that_it_shows(study: Study) -> None:
    assert "My family's favourite." in doors.page_of(row(study, 0))
    assert doors.page_of(row(study, 2)) == []


def test_the_html_of_a_page_is_read_where_the_prompt_says_so(study: Study) -> None:
    html = "\n".join(doors.html_of(row(study, 0)))
    assert "<p>My family's favourite.</p>" in html
    assert "<script" not in html

    prompt = load_extraction_prompt("lists: {ingredient: {ask: 'Page: $html'}}")
    assert "My family's favourite." in request(prompt, "ingredient", title="", blocks=[], html=html.splitlines())
    assert doors.html_of(row(study, 2)) == []  # a row without a saved page


def test_what_is_no_page_states_and_shows_nothing() -> None:
    assert stored.stated_recipe(b"") is None
    assert stored.shown_lines(b"") == []


def test_the_shipped_prompt_of_extractors_asks_for_what_the_reader_reads() -> None:
    spec = load_extraction_prompt(extracting.PROMPT.read_text(encoding="utf-8"))
    for kind, of_kind in spec.lists.items():
        asked = request(spec, kind, title="Soup", blocks=[])
        example = asked[asked.index(f"The form is <{kind}s>") + len("The form is ") :]
        items = answers.read(example, shape(kind, of_kind))
        assert items.repairs == {}
        assert set(items.items[0]) == set(of_kind.fields or [kind])


@pytest.mark.parametrize(
    "name", [f"memorization-{form}-{what}" for form in ("extracted", "plain") for what in ("ingredients", "tasks")]
)
def test_the_shipped_prompts_for_extracted_items_read_what_the_shipped_extractor_takes_out(name: str) -> None:
    spec = load_prompt((PROMPTS / f"{name}.yaml").read_text(encoding="utf-8"))
    scheme = load_scheme(Path("recipes/memorization/schemes/recipe-memorization.yaml").read_text(encoding="utf-8"))
    prompting.check_against(spec, scheme, "cloze", normalisation="pmi")
    taken_out = load_extraction_prompt(extracting.PROMPT.read_text(encoding="utf-8")).lists
    assert set(prompting.kinds_read(spec, "cloze")) <= set(taken_out)
