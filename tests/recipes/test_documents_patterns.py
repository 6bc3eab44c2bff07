"""Ways in which sites lay recipes out, each on a small page of its own, and the words for them in many languages."""

from __future__ import annotations

import json

import pytest

from recipes.cooking.pages import words
from tests.recipes.test_documents import LINES, STEPS, items, read, recipe, script

METHOD = f"<h2>Method</h2>{items(STEPS, 'ol')}"
HEADED = f"<h2>Ingredients</h2>{items(LINES)}"
PARTS = (("250 g", "flour"), ("3", "eggs"), ("1", "pinch of salt"))


def rows(pattern: str) -> str:
    return "".join(pattern.format(amount=amount, name=name) for amount, name in PARTS)


SHOWN = {
    "class on list": f"<ul class='recipe_ingredients'>{items(LINES)[4:-5]}</ul><ol class='recipe_steps'>"
    f"{items(STEPS)[4:-5]}</ol>",
    "test ids": f"<div data-testid='ingredients'>{items(LINES)}</div><div data-test='method'>{items(STEPS)}</div>",
    "Czech classes": f"<div class='suroviny'>{items(LINES)}</div><div class='postup'>{items(STEPS)}</div>",
    "Polish classes": f"<div class='field-skladniki'>{items(LINES)}</div><div class='field-przygotowanie'>"
    f"{items(STEPS)}</div>",
    "Dutch classes": f"<div class='benodigdheden'>{items(LINES)}</div><div class='bereiding'>{items(STEPS)}</div>",
    "Portuguese classes": f"<div class='ingredientes'>{items(LINES)}</div><div class='modo-de-preparo'>"
    f"{items(STEPS)}</div>",
    "Hungarian classes": f"<div class='hozzavalok'>{items(LINES)}</div><div class='elkeszites'>{items(STEPS)}</div>",
    "microformat": "".join(f"<p class='p-ingredient'>{line}</p>" for line in LINES)
    + f"<div class='e-instructions'>{''.join(f'<p>{step}</p>' for step in STEPS)}</div>",
    "old microformat": "".join(f"<span class='ingredient'>{line}</span><br>" for line in LINES)
    + f"<div class='instructions'>{''.join(f'<p>{step}</p>' for step in STEPS)}</div>",
    "bold words and breaks": f"<p><b><u>INGREDIENTS</u></b></p><p>{'<br>'.join(LINES)}</p><p><b>METHOD</b></p>"
    f"<p>{'<br>'.join(STEPS)}</p>",
    "plain paragraphs": "<p>Ingredients:</p>"
    + "".join(f"<p>- {line}</p>" for line in LINES)
    + "<p>Method:</p>"
    + "".join(f"<p>{step}</p>" for step in STEPS),
    "bullets in one paragraph": f"<h5>Ingredients</h5><p>{'<br>'.join('• ' + line for line in LINES)}</p>"
    f"<h5>Method</h5>{''.join(f'<p>{step}</p>' for step in STEPS)}",
    "numbered paragraphs": HEADED
    + "<h2>Method</h2>"
    + "".join(f"<p><span>{n}</span> {step}</p>" for n, step in enumerate(STEPS, start=1)),
    "steps under their numbers": HEADED
    + "<h2>Method</h2>"
    + "".join(f"<h3>Step {n}</h3><p>{step}</p>" for n, step in enumerate(STEPS, start=1)),
    "labels of check boxes": "<div id='ingredata'>"
    + "".join(f"<label><input type='checkbox'>{line}</label>" for line in LINES)
    + f"</div>{METHOD}",
    "tabs": f"<div role='tablist'><button>Ingredients</button><button>Method</button></div>"
    f"<div id='tab-ingredients'>{items(LINES)}</div><div id='tab-method'>{items(STEPS)}</div>",
    "print view": f"<b>Plain cake</b><hr><b>Ingredients</b><br>{'<br>'.join(LINES)}<br><br><b>Directions</b><br>"
    f"{'<br>'.join(STEPS)}<hr>Printed from a site",
    "two columns": f"<table><tr><td><h3>Ingredients</h3>{items(LINES)}</td><td><h3>Method</h3>{items(STEPS, 'ol')}</td>"
    "</tr></table>",
}
JOINED = {
    "table": f"<h2>Ingredients</h2><table>{rows('<tr><td>{amount}</td><td>{name}</td></tr>')}</table>",
    "table with heads": "<table class='ingr'><tr><th>Amount</th><th>Ingredient</th></tr>"
    f"{rows('<tr><td>{amount}</td><th>{name}</th></tr>')}</table>",
    "spans in items": f"<h2>Ingredients</h2><ul>{rows('<li><span>{amount}</span><span>{name}</span></li>')}</ul>",
    "boxes in items": "<h2>Ingredients</h2><ul>"
    + rows("<li><div><p>{amount}</p></div><div><p>{name}</p></div></li>")
    + "</ul>",
    "rows of boxes": "<div class='ingredients'>"
    + rows("<div class='item'><span class='amount'>{amount}</span><span class='name'>{name}</span></div>")
    + "</div>",
    "boxes of boxes": "<div class='ingredients'>"
    + rows("<div class='flex'><div>{amount}</div><div><a href='#'>{name}</a></div></div>")
    + "</div>",
    "custom elements": "<h2>Ingredients</h2><ul>"
    + rows("<li><x-number>{amount}</x-number> <x-label>{name}</x-label></li>")
    + "</ul>",
}


@pytest.mark.parametrize("body", SHOWN.values(), ids=SHOWN)
def test_layout_is_read(body: str):
    found = read(body)
    assert (found.ingredients, found.steps) == (LINES, STEPS)


@pytest.mark.parametrize("body", JOINED.values(), ids=JOINED)
def test_amount_and_name_in_boxes_make_one_line(body: str):
    found = read(body + METHOD)
    assert (found.ingredients, found.steps) == (LINES, STEPS)


# --- what is stated, in variants


def marked(lines: str, steps: str) -> str:
    return f"<div itemscope itemtype='http://schema.org/Recipe'><h2 itemprop='name'>Plain cake</h2>{lines}{steps}</div>"


ITEMPROPS = "".join(f"<li itemprop='recipeIngredient'>{line}</li>" for line in LINES)
STATED = {
    "old property": marked(ITEMPROPS.replace("recipeIngredient", "ingredients"), f"<div itemprop='recipeInstructions'>"
    f"{''.join(f'<p>{step}</p>' for step in STEPS)}</div>"),
    "two names": marked(ITEMPROPS.replace("recipeIngredient", "recipeIngredient ingredients"),
    f"<ol itemprop='recipeInstructions'>{items(STEPS)[4:-5]}</ol>"),
    "each step marked": marked(ITEMPROPS, "".join(f"<p itemprop='recipeInstructions'>{step}</p>" for step in STEPS)),
    "steps as things": marked(ITEMPROPS, "".join(
        "<li itemprop='recipeInstructions' itemscope itemtype='http://schema.org/HowToStep'>"
        f"<span itemprop='text'>{step}</span></li>" for step in STEPS)),
    "whole list marked": marked(f"<div itemprop='recipeIngredient'>{items(LINES)}</div>",
    f"<div itemprop='recipeInstructions'>{items(STEPS)}</div>"),
    "meta": marked("".join(f"<meta itemprop='recipeIngredient' content='{line}'>" for line in LINES),
    "".join(f"<meta itemprop='recipeInstructions' content='{step}'>" for step in STEPS)),
    "no scope": f"<ul>{ITEMPROPS}</ul><div itemprop='recipeInstructions'>{items(STEPS)}</div>",
    "data-vocabulary": "<div xmlns:v='http://rdf.data-vocabulary.org/#' typeof='v:Recipe'>"
    + "".join(f"<span property='v:ingredient'>{line}</span><br>" for line in LINES)
    + f"<div property='v:instructions'>{items(STEPS)}</div></div>",
    "RDFa with prefix": "<div typeof='schema:Recipe'>"
    + "".join(f"<li property='schema:recipeIngredient'>{line}</li>" for line in LINES)
    + f"<div property='schema:recipeInstructions'>{items(STEPS)}</div></div>",
}  # fmt: skip


@pytest.mark.parametrize("body", STATED.values(), ids=STATED)
def test_marked_text_is_read(body: str):
    found = read(body)
    assert (found.ingredients, found.steps) == (LINES, STEPS)


def how_to(text: str) -> dict[str, str]:
    return {"@type": "HowToStep", "text": text}


JSON_LD = {
    "twice": script(recipe()) + script(recipe()),
    "arrays of graphs": script([{"@graph": [{"@graph": [recipe()]}]}]),
    "lines of the library's rules": script(
        recipe(recipeIngredient=["250 g flour", " ", None, "3 eggs", "1 pinch of salt"])
    ),
    "steps in lists": script(recipe(recipeInstructions=[[how_to(step) for step in STEPS]])),
    "section with one step that is no list": script(
        recipe(
            recipeInstructions=[
                {"@type": "HowToSection", "itemListElement": how_to(STEPS[0])},
                {"@type": "HowToSection", "itemListElement": [how_to(STEPS[1])]},
            ]
        )
    ),
    "paragraphs": script(recipe(recipeInstructions="".join(f"<p>{step}</p>" for step in STEPS))),
    "paragraphs, escaped": script(recipe(recipeInstructions="".join(f"&lt;p&gt;{s}&lt;/p&gt;" for s in STEPS))),
    "breaks": script(recipe(recipeInstructions="<br />".join(STEPS))),
    "one step with paragraphs": script(recipe(recipeInstructions=[how_to("".join(f"<p>{s}</p>" for s in STEPS))])),
    "titles of parts among ingredients": script(recipe(recipeIngredient=["For the batter:", *LINES])),
    "names that number the steps": script(
        recipe(recipeInstructions=[{**how_to(step), "name": f"Step {n}"} for n, step in enumerate(STEPS, start=1)])
    ),
    "tab in a string": f"<script type='application/ld+json'>{json.dumps(recipe(description='a|b'))}</script>".replace(
        "a|b", "a\tb\x01"
    ),
    "broken, then good": "<script type='application/ld+json'>{\"@type\": </script>" + script(recipe()),
}


@pytest.mark.parametrize("head", JSON_LD.values(), ids=JSON_LD)
def test_json_ld_is_read(head: str):
    found = read("", head=head)
    assert (found.ingredients, found.steps) == (LINES, STEPS)


# --- what scripts would show

OBJECTS = [
    {"amount": 250, "unit": "g", "name": "flour"},
    {"amount": "3", "unit": None, "name": "eggs"},
    {"amount": 1, "unit": "pinch of", "name": "salt"},
]
STATE = {
    "strings": {"title": "Plain cake", "ingredients": list(LINES), "steps": list(STEPS)},
    "objects": {"name": "Plain cake", "ingredients": OBJECTS, "instructions": [{"text": step} for step in STEPS]},
    "groups": {
        "ingredientGroups": [{"title": "Batter", "items": OBJECTS[:2]}, {"title": "Rest", "items": OBJECTS[2:]}],
        "preparationSteps": [{"position": n, "description": f"<p>{step}</p>"} for n, step in enumerate(STEPS)],
    },
    "nested names": {
        "recipeIngredients": [
            {"quantity": 250, "unit": {"name": "g"}, "ingredient": {"name": "flour"}},
            {"quantity": 3, "unit": None, "ingredient": {"name": "eggs"}},
            {"quantity": 1, "unit": {"name": "pinch of"}, "ingredient": {"name": "salt"}},
        ],
        "method": "".join(f"<li>{step}</li>" for step in STEPS),
    },
}


@pytest.mark.parametrize("value", STATE.values(), ids=STATE)
@pytest.mark.parametrize(
    "pattern",
    [
        '<script id="__NEXT_DATA__" type="application/json">{"props": {"pageProps": {"recipe": %s}}}</script>',
        "<script>window.__INITIAL_STATE__ = {\"recipe\": %s};(function(){})();</script>",
        "<script>var config = {a: 1}; render(%s)</script>",
    ],
    ids=["next", "window", "call"],
)  # fmt: skip
def test_state_of_scripts_is_read(value: object, pattern: str):
    found = read("<div id='app'></div>" + pattern % json.dumps(value))
    assert (found.parser, found.ingredients, found.steps) == ("page state", LINES, STEPS)


def test_state_in_an_attribute_is_read():
    value = json.dumps({"props": {"recipe": STATE["objects"]}}).replace('"', "&quot;")
    assert read(f'<div id="app" data-page="{value}"></div>').ingredients == LINES


def test_state_that_is_streamed_in_pieces_is_read():
    tree = "2:" + json.dumps(["$", "div", None, {"recipe": STATE["strings"]}]) + "\n"
    pieces = (tree[:40], tree[40:])
    body = "".join(f"<script>self.__next_f.push([1,{json.dumps(piece)}])</script>" for piece in pieces)
    assert read(body).steps == STEPS


# --- words

# Headings as sites write them: of the ingredients, of the steps.
HEADINGS = {
    "en": "Ingredients|Directions",
    "de": "Zutaten|Zubereitung",
    "fr": "Ingrédients|Préparation",
    "es": "Ingredientes|Elaboración",
    "it": "Ingredienti|Procedimento",
    "pt": "Ingredientes|Modo de preparo",
    "nl": "Ingrediënten|Bereidingswijze",
    "sv": "Ingredienser|Gör så här",
    "da": "Ingredienser|Fremgangsmåde",
    "nb": "Ingredienser|Slik gjør du",
    "fi": "Ainekset|Valmistusohje",
    "pl": "Składniki|Przygotowanie",
    "cs": "Ingredience|Postup",
    "sk": "Suroviny|Postup",
    "hu": "Hozzávalók|Elkészítés",
    "ro": "Ingrediente|Mod de preparare",
    "el": "Υλικά|Εκτέλεση",
    "ru": "Ингредиенты|Приготовление",
    "uk": "Інгредієнти|Приготування",
    "bg": "Продукти|Начин на приготвяне",
    "hr": "Sastojci|Priprema",
    "sl": "Sestavine|Priprava",
    "tr": "Malzemeler|Yapılışı",
    "ja": "材料|作り方",
    "zh": "用料|做法",
    "ko": "재료|조리순서",
    "ar": "المكونات|طريقة التحضير",
    "he": "מצרכים|אופן הכנה",
}
MORE = {
    "de": "Für den Teig brauchst du|So wird's gemacht",
    "fr": "Les ingrédients|Étapes de préparation",
    "es": "Ingredientes para 4 personas|Cómo hacer tortilla",
    "it": "Ingredienti per 4 persone|Come preparare la torta",
    "pt": "Ingredientes da massa|Preparação",
    "nl": "Benodigdheden|Bereiden",
    "sv": "Du behöver|Tillagning",
    "da": "Det skal du bruge|Sådan gør du",
    "nb": "Dette trenger du|Fremgangsmåte",
    "fi": "Tarvitset|Valmistus",
    "pl": "Lista składników|Sposób wykonania",
    "cs": "Na těsto|Pracovní postup",
    "hu": "Hozzávalók 4 főre|Az elkészítés menete",
    "ro": "Ingrediente necesare|Preparare",
    "el": "Συστατικά|Οδηγίες",
    "ru": "Продукты|Пошаговый рецепт",
    "tr": "Malzeme listesi|Hazırlanışı",
    "ja": "材料（4人分）|手順",
    "zh": "食材|步驟",
    "ko": "재료 (4인분)|만드는 법",
    "ar": "المقادير|طريقة العمل",
    "he": "המצרכים|הוראות הכנה",
}


@pytest.mark.parametrize("lang", HEADINGS)
def test_headings_are_known_in_many_languages(lang: str):
    first, second = HEADINGS[lang].split("|")
    for heading in (True, False):
        assert words.section_of(first, heading=heading) == "ingredients"
        assert words.section_of(second, heading=heading) == "steps"


@pytest.mark.parametrize("lang", sorted(set(MORE) - {"cs"}))
def test_further_headings_are_known(lang: str):
    first, second = MORE[lang].split("|")
    assert words.section_of(first, heading=True) == "ingredients"
    assert words.section_of(second, heading=True) == "steps"
