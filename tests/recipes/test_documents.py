"""Each route from a saved page to ingredient lines and steps, on small pages written for these tests."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Sequence

import pytest

from recipes.cooking.pages import Page, library, outline, read_page, structured, words
from recipes.cooking.pages.head import Head

LINES = ("250 g flour", "3 eggs", "1 pinch of salt")
STEPS = ("Whisk the eggs with the salt.", "Fold in the flour and bake for half an hour.")


def page(body: str, *, head: str = "", lang: str = "en") -> bytes:
    return (
        f'<!doctype html><html lang="{lang}"><head><meta charset="utf-8"><title>Plain cake | A site</title>'
        f"{head}</head>"
        f"<body><nav><a href='/'>Home</a></nav><h1>Plain cake</h1><p>A cake for a rainy day.</p>{body}"
        "<footer><p>All rights reserved.</p></footer></body></html>"
    ).encode()


def script(value: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


def recipe(**more: object) -> dict[str, object]:
    return {
        "@context": "https://schema.org",
        "@type": "Recipe",
        "name": "Plain cake",
        "recipeIngredient": list(LINES),
        "recipeInstructions": [{"@type": "HowToStep", "text": step} for step in STEPS],
        **more,
    }


def items(lines: Sequence[str], tag: str = "ul") -> str:
    return f"<{tag}>" + "".join(f"<li>{line}</li>" for line in lines) + f"</{tag}>"


SHOWN = f"<h2>Ingredients</h2>{items(LINES)}<h2>Method</h2>{items(STEPS, 'ol')}"


def read(body: str, *, head: str = "", lang: str = "en") -> Page:
    return read_page("01-cake.html", page(body, head=head, lang=lang))


# --- the scraper of the page's site


def test_read_page_uses_the_scraper_of_the_site_that_the_page_names():
    head = '<link rel="canonical" href="https://www.allrecipes.com/recipe/1/plain-cake/">' + script(recipe())
    found = read("", head=head)
    assert (found.parser, found.host) == ("recipe-scrapers:allrecipes.com", "allrecipes.com")
    assert (found.ingredients, found.steps) == (LINES, STEPS)
    assert found.url == "https://www.allrecipes.com/recipe/1/plain-cake/"


def test_read_page_prefers_the_address_it_is_told():
    data = page("", head=script(recipe()))
    found = read_page("01-cake.html", data, url="https://m.allrecipes.com/recipe/1/")
    assert (found.parser, found.host) == ("recipe-scrapers:allrecipes.com", "m.allrecipes.com")


def test_read_page_goes_on_where_the_scraper_of_the_site_finds_nothing():
    found = read(SHOWN, head='<meta property="og:url" content="https://www.allrecipes.com/recipe/1/plain-cake/">')
    assert (found.parser, found.ingredients, found.steps) == ("text", LINES, STEPS)


@pytest.mark.parametrize(
    "head",
    [
        '<link rel="canonical" href="https://www.allrecipes.com/recipe/1/">',
        '<link rel="CANONICAL" href="//allrecipes.com/recipe/1/">',
        '<link rel="canonical" href="https://M.Allrecipes.com:443/recipe/1/">',
        '<base href="https://www.allrecipes.com/"><link rel="canonical" href="/recipe/1/">',
        '<link rel="canonical" href="/recipe/1/"><meta property="og:url" content="https://www.allrecipes.com/recipe/1/">',
        '<base href="https://www.allrecipes.com/">',
        script({"@type": "WebPage", "@id": "https://www.allrecipes.com/recipe/1/"}),
        script({"@type": "WebSite", "url": "https://www.allrecipes.com/"}),
        script(recipe(mainEntityOfPage={"@id": "https://www.allrecipes.com/recipe/1/"})),
        script(recipe(mainEntityOfPage="https://www.allrecipes.com/recipe/1/")),
        "<!-- saved from url=(0037)https://www.allrecipes.com/recipe/1/ -->",
        "<!--\n Page saved with SingleFile\n url: https://www.allrecipes.com/recipe/1/\n saved date: today\n-->",
    ],
)
def test_read_page_knows_the_site_by_whatever_names_it(head: str):
    found = read("", head=head + script(recipe()))
    assert found.parser == "recipe-scrapers:allrecipes.com"
    assert found.host.removeprefix("m.") == "allrecipes.com"


def test_every_site_of_the_library_is_known_by_its_address():
    from recipe_scrapers import SCRAPERS

    assert len(SCRAPERS) > 500
    for prefix in ("", "www.", "m."):
        missed = [host for host in SCRAPERS if library.known_host(f"https://{prefix}{host}/recipe/1") != host]
        assert missed == []


def test_known_site_keeps_the_librarys_lines_and_fills_a_missing_list():
    # A title among the ingredients stays, a soft hyphen goes; the steps come from what the page shows.
    lines = ["For the cake:", "250 g flo\u00adur", "3 eggs &amp;  milk"]
    head = '<link rel="canonical" href="https://www.allrecipes.com/recipe/1/">' + script(
        recipe(recipeIngredient=lines, recipeInstructions=[])
    )
    found = read(SHOWN, head=head)
    assert found.ingredients == ("For the cake:", "250 g flour", "3 eggs & milk")
    assert (found.steps, found.parser) == (STEPS, "recipe-scrapers:allrecipes.com + text")


def test_known_site_keeps_a_method_in_one_line():
    head = '<link rel="canonical" href="https://www.allrecipes.com/recipe/1/">'
    found = read(SHOWN, head=head + script(recipe(recipeInstructions=" ".join(STEPS))))
    assert found.steps == (" ".join(STEPS),)


def test_scraper_that_fails_on_one_list_still_gives_the_other():
    # This site's scraper takes ingredients from a named div and steps from schema.org data; the div is not there.
    head = '<link rel="canonical" href="https://www.cookinglight.com/recipes/plain-cake">' + script(recipe())
    body = f"<div class='recipe-instructions'>{''.join(f'<div class=step>{step}</div>' for step in STEPS)}</div>"
    found = read(body, head=head)
    assert (found.ingredients, found.steps) == (LINES, STEPS)
    assert found.parser.startswith("recipe-scrapers:cookinglight.com + ")


def test_every_scraper_of_the_library_leaves_room_for_the_other_routes():
    # A page that no scraper was written for: what theirs do not find comes from its schema.org data.
    from recipe_scrapers import SCRAPERS

    data = page(SHOWN, head=script(recipe()))
    found = [read_page("a.html", data, url=f"https://{host}/recipe") for host in SCRAPERS]
    assert not [item.host for item in found if {"None", ""} & {*item.ingredients, *item.steps}]
    complete = sum(item.ingredients == LINES and item.steps == STEPS for item in found)
    assert complete >= 0.98 * len(found)  # the others take some other text of this page for theirs


def test_reading_a_page_leaves_the_logging_of_the_application_alone():
    code = """
import logging, sys
from recipes.cooking.pages import library
assert "recipe_scrapers" not in sys.modules
assert library.known_host("https://www.allrecipes.com/") == "allrecipes.com"
assert logging.getLogger().handlers == []
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# --- what a page states for machines


@pytest.mark.parametrize(
    "value",
    [
        recipe(),
        {"@context": "https://schema.org", "@graph": [{"@type": "WebPage"}, recipe()]},
        [{"@type": "WebPage", "mainEntity": {"x": [recipe()]}}],
        {k: v for k, v in recipe().items() if k != "@context"},
        recipe(**{"@type": ["NewsArticle", "http://schema.org/Recipe"]}),
        recipe(recipeInstructions="\n".join(STEPS)),
        recipe(recipeInstructions=["<ol>" + "".join(f"<li>{step}</li>" for step in STEPS) + "</ol>"]),
        recipe(recipeIngredient="<p>" + "<br/>".join(LINES) + "</p>"),
        recipe(recipeInstructions={"@type": "ItemList", "itemListElement": [{"item": {"text": s}} for s in STEPS]}),
        recipe(
            recipeIngredient=[{"@type": "PropertyValue", "value": 250, "unitText": "g", "name": "flour"}, *LINES[1:]]
        ),
    ],
    ids=["plain", "graph", "nested", "no context", "types", "text", "html", "html list", "item list", "property value"],
)
def test_read_page_reads_json_ld(value: object):
    found = read("", head=script(value))
    assert (found.parser, found.ingredients, found.steps) == ("schema.org", LINES, STEPS)


def test_read_page_gives_names_of_sections_as_steps():
    sections = [
        {"@type": "HowToSection", "name": "The batter", "itemListElement": [{"@type": "HowToStep", "text": s}]}
        for s in STEPS
    ]
    found = read("", head=script(recipe(recipeInstructions=sections)))
    assert found.steps == ("The batter", STEPS[0], "The batter", STEPS[1])


def test_read_page_leaves_out_names_that_repeat_or_number_a_step():
    steps = [
        {"@type": "HowToStep", "name": "Whisk the eggs", "text": STEPS[0]},
        {"@type": "HowToStep", "name": "Step 2", "text": STEPS[1]},
    ]
    assert read("", head=script(recipe(recipeInstructions=steps))).steps == STEPS


@pytest.mark.parametrize(
    "broken",
    [
        json.dumps(recipe())[:-1] + ",}",
        "<!-- " + json.dumps(recipe()) + " -->",
        json.dumps(recipe()).replace("half an hour", "half\nan hour"),
        json.dumps(recipe(description="x")).replace('"x"', '"a "plain" cake"'),
    ],
    ids=["trailing comma", "comment", "line end in a string", "bare quotes elsewhere"],
)
def test_read_page_reads_broken_json(broken: str):
    found = read("", head=f'<script type="application/ld+json">{broken}</script>')
    assert (found.ingredients, found.steps) == (LINES, STEPS)


def test_read_page_resolves_entities_and_folds_white_space():
    found = read(
        "",
        head=script(
            recipe(recipeIngredient=["1 cup&nbsp;M&amp;amp;M&#39;s", "  2\u00a0 <b>eggs</b> ", "1 egg ((large))"])
        ),
    )
    assert found.ingredients == ("1 cup M&M's", "2 eggs", "1 egg (large)")


@pytest.mark.parametrize(
    ("scope", "name"), [("itemscope itemtype", "itemprop"), ("vocab='https://schema.org/' typeof", "property")]
)
def test_read_page_reads_microdata_and_rdfa(scope: str, name: str):
    body = (
        f'<div {scope}="https://schema.org/Recipe">'
        + "".join(f'<p {name}="recipeIngredient">{line}</p>' for line in LINES)
        + f'<div {name}="recipeInstructions">{items(STEPS)}</div></div>'
    )
    found = read(body)
    assert (found.parser, found.ingredients, found.steps) == ("schema.org", LINES, STEPS)


def test_read_page_splits_what_the_page_states_in_one_line_and_shows_in_several():
    run_together = recipe(recipeIngredient=["".join(LINES)], recipeInstructions="".join(STEPS))
    found = read(SHOWN, head=script(run_together))
    assert (found.parser, found.ingredients, found.steps) == ("text", LINES, STEPS)


def test_read_page_fills_an_empty_list_from_what_the_page_shows():
    found = read(SHOWN, head=script(recipe(recipeIngredient=[])))
    assert (found.parser, found.ingredients, found.steps) == ("text + schema.org", LINES, STEPS)


def test_read_page_takes_the_recipe_that_the_page_is_named_after():
    other = recipe(name="A sauce", recipeIngredient=["1 l milk", "2 eggs"])
    assert read("", head=script([other, recipe()])).ingredients == LINES


# --- what a page shows


LANGUAGES = {
    "de": (
        "Zutaten für 4 Personen",
        "500 g Mehl|2 EL Öl|Salz",
        "Zubereitung",
        "Mehl und Öl verrühren.|Eine Stunde ruhen lassen.",
    ),
    "fr": (
        "Ingrédients",
        "4 œufs|250 g de farine|sel",
        "Préparation",
        "Mélanger la farine et les œufs.|Cuire à la poêle.",
    ),
    "es": (
        "Ingredientes",
        "6 huevos|500 g de patatas|sal",
        "Elaboración",
        "Pelar las patatas.|Batir los huevos y mezclar.",
    ),
    "it": (
        "Ingredienti",
        "320 g di spaghetti|6 tuorli|sale",
        "Preparazione",
        "Cuocere la pasta.|Unire le uova e servire.",
    ),
    "cs": (
        "Suroviny",
        "250 g mouky|3 vejce|sůl",
        "Postup přípravy",
        "Vejce vyšleháme s cukrem.|Přidáme mouku a pečeme.",
    ),
    "pt": (
        "Ingredientes",
        "2 xícaras de farinha|3 ovos|sal",
        "Modo de preparo",
        "Bata os ovos.|Misture a farinha e asse por uma hora.",
    ),
    "nl": (
        "Dit heb je nodig",
        "300 g bloem|200 g boter|zout",
        "Zo maak je het",
        "Meng de bloem met de boter.|Bak de taart gaar.",
    ),
    "pl": (
        "Składniki",
        "2 szklanki mąki|1 jajko|sól",
        "Sposób przygotowania",
        "Zagnieść gładkie ciasto.|Piec przez godzinę.",
    ),
    "ja": (
        "材料（4人分）",
        "じゃがいも 4個|玉ねぎ 1個|しょうゆ 大さじ3",
        "作り方",
        "じゃがいもを切ります。|鍋に入れて三十分ほど煮ます。",
    ),
}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_read_page_finds_lists_under_headings(lang: str):
    ingredients, lines, method, steps = LANGUAGES[lang]
    shown = f"<h2>{ingredients}</h2>{items(lines.split('|'))}<h2>{method}</h2>{items(steps.split('|'), 'ol')}"
    found = read(shown, lang=lang)
    assert (found.parser, found.language) == ("text", lang)
    assert (found.ingredients, found.steps) == (tuple(lines.split("|")), tuple(steps.split("|")))


def test_read_page_finds_lines_of_paragraphs_under_bold_words():
    body = (
        f"<p><strong>Ingredients:</strong><br>{'<br>'.join(LINES)}</p><p><b>Directions</b></p>"
        + "".join(f"<p>{step}</p>" for step in STEPS)
        + "<p><b>Notes</b></p><p>Keeps for a week in a tin with a lid.</p>"
    )
    found = read(body)
    assert (found.ingredients, found.steps) == (LINES, STEPS)


def test_read_page_finds_rows_of_a_table_and_of_a_definition_list():
    rows = "<table><tr><td>flour</td><td>250 g</td></tr><tr><td>sugar</td><td>100 g</td></tr></table>"
    terms = "<dl><dt>flour</dt><dd>250 g</dd><dt>sugar</dt><dd>100 g</dd></dl>"
    after = f"<h2>Method</h2>{items(STEPS, 'ol')}"
    for shown in (rows, terms):
        assert read(f"<h2>Ingredients</h2>{shown}{after}").ingredients == ("flour 250 g", "sugar 100 g")


def test_read_page_joins_the_boxes_of_one_line():
    boxes = "".join(
        f'<div class="row"><div class="amount">{amount}</div><div class="name">{name}</div></div>'
        for amount, name in (("250 g", "flour"), ("3", "eggs"), ("1 pinch", "salt"))
    )
    found = read(f"<h2>Ingredients</h2>{boxes}<h2>Method</h2>{items(STEPS, 'ol')}")
    assert found.ingredients == ("250 g flour", "3 eggs", "1 pinch salt")


def test_read_page_prefers_the_recipe_card_to_the_story_about_it():
    story = (
        "<h2>Ingredients you need</h2><ul><li>Flour: any kind will do, though I always take the finest there is.</li>"
        "<li>Eggs: from hens that see the sun, because I love them.</li></ul>"
        "<h2>How to make plain cake</h2><p>In our family we bake this cake whenever it rains, and so will you.</p>"
    )
    card = (
        f'<div class="recipe-card"><div class="card-ingredients"><h3>Ingredients</h3>{items(LINES)}</div>'
        f'<div class="card-instructions"><h3>Instructions</h3>{items(STEPS, "ol")}</div>'
        "<div class='card-notes'><h3>Notes</h3><p>Keeps for a week.</p></div></div>"
    )
    found = read(story + card)
    assert (found.ingredients, found.steps) == (LINES, STEPS)


def test_read_page_leaves_out_titles_of_parts_labels_and_buttons():
    body = (
        "<h2>Ingredients</h2><p>Serves 4</p><button>Print</button><h4>Cake</h4>"
        f"{items(LINES)}<p>For the icing:</p><ul><li>Cook mode</li><li>100 g sugar</li></ul>"
        f"<h2>Method</h2><p>Prep time: 10 minutes</p><p>Step 1</p><p>{STEPS[0]}</p><p>Step 2</p><p>{STEPS[1]}</p>"
    )
    found = read(body)
    assert found.ingredients == (*LINES, "100 g sugar")
    assert found.steps == STEPS


def test_read_page_gives_a_list_once_that_is_shown_in_two_systems_of_units():
    metric = ("250 g plain flour", "100 g brown sugar", "2 large eggs")
    imperial = ("9 oz plain flour", "4 oz brown sugar", "2 large eggs")
    found = read(f"<h2>Ingredients</h2>{items(metric)}{items(imperial)}<h2>Method</h2>{items(STEPS, 'ol')}")
    assert found.ingredients == metric


def test_read_page_finds_a_list_that_nothing_names_and_steps_follow():
    lines = ("2 cups stock", "1 onion", "3 carrots", "salt")
    steps = ("Chop the onion and the carrots finely.", "Simmer everything in the stock for 20 minutes.")
    found = read(items(lines) + "".join(f"<p>{step}</p>" for step in steps))
    assert (found.ingredients, found.steps) == (lines, steps)


def test_read_page_reads_one_recipe_with_several_ingredient_lists():
    parts = "".join(
        f"<h3>{name} ingredients</h3>{items((f'{n} cups {name} sugar', f'{n} {name} eggs'))}"
        for n, name in enumerate(("sponge", "filling", "frosting", "topping", "glaze"), start=2)
    )
    found = read(f"{parts}<h3>Method</h3>{items(STEPS, 'ol')}")
    assert (len(found.ingredients), found.steps) == (10, STEPS)  # five lists of two lines


def test_read_page_ignores_comments_of_readers():
    comment = f"<h3>Ingredients</h3>{items(('9 kg chalk', '8 kg chalk', '7 kg chalk', '6 kg chalk'))}"
    assert read(f"{SHOWN}<div id='comments'>{comment}</div>").ingredients == LINES


def test_read_page_survives_a_button_that_is_never_closed():
    data = page(SHOWN).replace(b"<nav>", b"<nav></nav><button class='menu'>")
    assert read_page("a.html", data).ingredients == LINES


# --- the page around


def test_read_page_takes_title_and_language_from_the_page():
    found = read(SHOWN, lang="en-GB")
    assert (found.title, found.language, found.url, found.host) == ("Plain cake", "en-GB", "", "")


@pytest.mark.parametrize(
    ("declared", "lang", "encoding", "line"),
    [
        ("utf-8", "cs", "utf-8", "1 kostka másla, měkká"),
        ("iso-8859-2", "cs", "iso-8859-2", "1 kostka másla, měkká"),
        ("utf-8", "cs", "windows-1250", "1 kostka másla, měkká"),
        ("iso-8859-1", "en", "windows-1252", "1 cup of Chef’s crème"),
        ("", "de", "windows-1252", "250 g süße Möhren"),
        ("windows-1251", "ru", "windows-1251", "200 г муки"),
        ("", "ru", "windows-1251", "200 г муки"),
        ("shift_jis", "ja", "cp932", "砂糖 200 g"),
        ("gb2312", "zh", "gb18030", "白糖 200 g"),
        ("iso-8859-1", "en", "utf-8", "1 cup of Chef’s crème"),
        ("", "cs", "utf-16", "1 kostka másla, měkká"),
    ],
)
def test_read_page_decodes(declared: str, lang: str, encoding: str, line: str):
    lines = (line, "250 g x", "3 eggs")
    text = page(f"<h2>Ingredients</h2>{items(lines)}<h2>Method</h2>{items(STEPS)}", lang=lang).decode()
    data = text.replace('charset="utf-8"', f'charset="{declared}"').encode(encoding)
    assert read_page("a.html", data).ingredients == lines


def test_read_page_reads_utf8_with_a_broken_byte_as_utf8():
    data = page(SHOWN + "<p>Crème brûlée, pâté, purée, café</p>").replace(b"3 eggs", b"3 eggs\xff")
    assert read_page("a.html", data).ingredients == (LINES[0], "3 eggs\ufffd", LINES[2])


def test_read_page_unpacks_gzip_and_keeps_the_page():
    data = page(SHOWN)
    found = read_page("a.html.gz", gzip.compress(data))
    assert (found.html, found.ingredients, found.source) == (data, LINES, "a.html.gz")


# --- words


@pytest.mark.parametrize(
    ("text", "heading", "section"),
    [
        ("Ingredients", False, "ingredients"),
        ("🛒 What You’ll Need:", True, "ingredients"),
        ("Das brauchst du", True, "ingredients"),
        ("Brownie ingredients (makes 12)", True, "ingredients"),
        ("How to make the best brownies", True, "steps"),
        ("Step 1: Prep your ingredients", True, None),
        ("Combine the dry ingredients", True, None),
        ("Recipe notes", True, "other"),
        ("Method acting is a school of its own", False, None),
        ("Serve with rice", False, None),
    ],
)
def test_section_of_reads_headings(text: str, heading: bool, section: str | None):
    assert words.section_of(text, heading=heading) == section


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("½ cup milk", True),
        ("mouka 250 g", True),
        ("a pinch of salt", True),
        ("salt", False),
        ("A cake that my mother used to bake for us on Sundays", False),
    ],
)
def test_has_quantity(text: str, expected: bool):
    assert words.has_quantity(text) is expected


def test_outline_sets_a_space_where_boxes_would_run_together():
    root = outline.parse("<ul><li><span>200</span><span>g</span> <a>flo</a><b>ur</b></li></ul>")
    assert root is not None
    assert [line.text for line in outline.read(root).lines] == ["200 g flour"]


def test_canonical_urls_are_absolute_and_in_order_of_trust():
    text = (
        '<head><meta property="og:url" content="https://b.example/2"><link rel="canonical" href="https://a.example/1">'
        '<link rel="shortlink" href="/3"></head><body></body>'
    )
    root = outline.parse(text)
    assert root is not None
    assert structured.addresses(text, root, Head(text), structured.json_nodes(root)) == [
        "https://a.example/1",
        "https://b.example/2",
        "https://a.example/3",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "<?xml version='1.0' encoding='utf-16'?><html><head>{}</head><body><p>x",
        "<html><head><script>document.write('<body>')</script>{}</head><body><p>x",
        "{}<p>x",
        "<HTML><HEAD>{}<p>x</HTML>",
        "<html><head>\x00{}</head><!-- a --><body><meta property='og:title' content='not this'>",
    ],
    ids=["as XML", "a script that writes a body", "no head", "a head that does not end", "signs that are no text"],
)
def test_head_is_found_and_what_stands_after_it_is_not_read(text: str):
    stated = (
        "<title>Plain cake</title><base href='https://a.example/'><LINK rel='Canonical' href='/1'>"
        "<meta http-equiv='Content-Language' content='cs'><meta property='og:title' content='Cake &amp; tea'>"
    )
    head = Head(text.format(stated))
    assert head.titles == ["Cake & tea", "Plain cake"]
    assert (head.addresses, head.bases, head.languages) == (["/1"], ["https://a.example/"], ["cs"])


def test_split_takes_markup_for_lines():
    value = "<ol><li>Mix <b>well</b> &amp; rest.</li><li>Bake at &lt;200 °C<br/>or less.</li></ol>\nServe."
    assert structured.split(value) == ["Mix well & rest.", "Bake at <200 °C", "or less.", "Serve."]
    assert structured.split("Mix.\r\n\r\nBake.") == ["Mix.", "Bake."]
