"""What a page states and what it shows are weighed; a reading that may be wrong is marked, and no recipe is refused."""

from __future__ import annotations

import bz2
import json
import lzma
from collections.abc import Iterator

import brotli
import pytest

from benchmarks.made_others import OTHERS
from benchmarks.made_pages import CHANGED, LAYOUTS, MadePage, page, truth
from benchmarks.made_recipes import RECIPES, Made
from recipes.cooking.pages import PageRefused, arbiter, doubts, foods, packed, read_page, words
from tests.recipes.test_documents import LINES, SHOWN, STEPS, items, read, recipe, script
from tests.recipes.test_documents import page as plain

BY_LANGUAGE = {made.language: made for made in RECIPES}
DANISH, SLOVAK, SWEDISH, GERMAN, DUTCH, FRENCH = (BY_LANGUAGE[tag] for tag in ("da", "sk", "sv", "de", "nl", "fr"))


def all_of(made: Made) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return made.lines[0] + made.lines[1], made.steps[0] + made.steps[1]


def read_made(made: Made, body: str, head: str = "") -> tuple[tuple[str, ...], tuple[str, ...]]:
    found = read_page("a.html", page(made.language, made.dish, body, head))
    return found.ingredients, found.steps


# --- the two readings


def test_titles_of_parts_are_no_ingredients() -> None:
    stated = [line for part, lines in zip(GERMAN.parts, GERMAN.lines, strict=True) for line in (part, *lines)]
    body = LAYOUTS["parts under headings"](GERMAN)
    assert read_made(GERMAN, body, script(recipe(recipeIngredient=stated)))[0] == all_of(GERMAN)[0]


def test_titles_of_parts_that_the_page_shows_nowhere_are_no_ingredients() -> None:
    stated = [line for part, lines in zip(DANISH.parts, DANISH.lines, strict=True) for line in (part, *lines)]
    assert (
        read_made(DANISH, LAYOUTS["check boxes"](DANISH), script(recipe(recipeIngredient=stated)))[0]
        == all_of(DANISH)[0]
    )


@pytest.mark.parametrize(
    "lines", [(*LINES, "salt"), ("salt", *LINES), (LINES[0], "2 tbsp oil", *LINES[1:])], ids=["last", "first", "amount"]
)
def test_ingredients_that_only_the_data_have_stay(lines: tuple[str, ...]) -> None:
    """The page says “salt” in a remark."""
    shown = SHOWN + "<p>salt</p>"
    assert read(shown, head=script(recipe(recipeIngredient=list(lines)))).ingredients == lines


def test_names_in_bold_stay_ingredients() -> None:
    lines = ("salt", "pepper", "butter", "2 eggs")
    shown = SHOWN.replace(items(LINES), items([f"<b>{line}</b>" for line in lines]))
    assert read(shown, head=script(recipe(recipeIngredient=list(lines)))).ingredients == lines


def test_short_names_of_all_steps_are_no_steps() -> None:
    named = [
        {"@type": "HowToStep", "name": name, "text": step} for name, step in zip(("Mix", "Bake"), STEPS, strict=True)
    ]
    assert read(SHOWN, head=script(recipe(recipeInstructions=named))).steps == STEPS


def test_headings_over_each_step_are_no_steps() -> None:
    lines, steps = all_of(SWEDISH)
    assert read_made(SWEDISH, LAYOUTS["steps with names"](SWEDISH)) == (lines, steps)


@pytest.mark.parametrize("made", [DANISH, SLOVAK, FRENCH], ids=lambda made: made.language)
def test_lists_run_together_lose_against_the_shown_ones(made: Made) -> None:
    lines, steps = all_of(made)
    stated = recipe(recipeIngredient=[", ".join(lines)], recipeInstructions=" ".join(steps))
    assert read_made(made, LAYOUTS["parts under headings"](made), script(stated)) == (lines, steps)


def test_a_category_in_place_of_the_list_loses() -> None:
    stated = script(recipe(recipeIngredient=["Hovedretter"], recipeInstructions="Nem hverdagsmad."))
    assert read_made(DANISH, LAYOUTS["boxes"](DANISH), stated) == all_of(DANISH)


def test_amounts_that_only_the_shown_list_has_are_taken() -> None:
    names = [line.split(" ", 1)[1] if line[0].isdigit() else line for line in all_of(DUTCH)[0]]
    assert (
        read_made(DUTCH, LAYOUTS["table and paragraphs"](DUTCH), script(recipe(recipeIngredient=names)))[0]
        == all_of(DUTCH)[0]
    )


def test_a_list_that_ends_early_loses() -> None:
    stated = recipe(recipeIngredient=list(SLOVAK.lines[0]), recipeInstructions=list(SLOVAK.steps[0]))
    assert read_made(SLOVAK, LAYOUTS["parts under headings"](SLOVAK), script(stated)) == all_of(SLOVAK)


@pytest.mark.parametrize(
    "copies", [LINES * 2, tuple(line for line in LINES for _ in range(2))], ids=["again", "doubled"]
)
def test_a_list_that_comes_twice_is_taken_once(copies: tuple[str, ...]) -> None:
    assert read(SHOWN, head=script(recipe(recipeIngredient=list(copies)))).ingredients == LINES


def test_units_in_two_systems_are_one_list() -> None:
    metric = ("250 g flour", "100 g sugar", "30 g butter", "5 g salt")
    american = ("2 cups flour", "1/2 cup sugar", "2 tbsp butter", "1 tsp salt")
    assert arbiter.once(metric + american) == metric
    assert arbiter.once(("1 egg", "2 eggs", "1 cup milk", "3 cups flour")) == (
        "1 egg",
        "2 eggs",
        "1 cup milk",
        "3 cups flour",
    )


@pytest.mark.parametrize("made", RECIPES, ids=lambda made: made.language)
def test_lines_around_the_recipe_are_left_out_in_each_language(made: Made) -> None:
    assert read_made(made, LAYOUTS["among teasers"](made)) == all_of(made)


@pytest.mark.parametrize("layout", sorted(set(LAYOUTS) - {"no headings"}))
@pytest.mark.parametrize("made", [DANISH, SLOVAK, SWEDISH, GERMAN, DUTCH, FRENCH], ids=lambda made: made.language)
def test_layouts_are_read_in_each_language(layout: str, made: Made) -> None:
    written = CHANGED.get(layout, lambda of: of)(made)
    assert read_made(written, LAYOUTS[layout](written)) == all_of(written)


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("1 cup flour [paid link], sifted", "1 cup flour, sifted"),
        ("2 EL Honig (Affiliate-Link)", "2 EL Honig"),
        ("un moule (lien affilié) beurré", "un moule beurré"),
        ("1 dl socker (annonslänk)", "1 dl socker"),
        ("1 cup flour (adjust to taste)", "1 cup flour (adjust to taste)"),
        ("200 g Käse (Gouda)", "200 g Käse (Gouda)"),
    ],
)
def test_disclosures_of_links_are_in_no_line(line: str, left: str) -> None:
    assert words.without_disclosures(line) == left


def test_steps_in_a_list_below_the_ingredients_are_no_ingredients_with_remarks() -> None:
    assert read(SHOWN.replace("</ul>", f"<li>{STEPS[0]}</li><li>{STEPS[1]}</li></ul>")).steps == STEPS


def test_soft_hyphens_and_byte_order_marks_are_in_no_line() -> None:
    lines = ["\ufeff250 g flo\u00adur", "3 eggs\u200e", "1 pinch of salt"]
    assert read("", head=script(recipe(recipeIngredient=lines))).ingredients == LINES


def test_the_stated_list_stands_where_both_say_the_same() -> None:
    found = read(SHOWN.replace("250 g flour", "250 g  flour, sifted"), head=script(recipe()))
    assert (found.ingredients, found.parser, found.doubts) == (LINES, "schema.org", ())


# --- no recipes


@pytest.mark.parametrize("name", OTHERS)
def test_pages_of_no_recipe_are_refused_or_marked(name: str) -> None:
    language, title, body, head = OTHERS[name]
    html = page(language, title, body, head)
    if name == "category":
        assert "no-steps" in read_page("a.html", html).doubts
    else:
        with pytest.raises(PageRefused, match="holds no recipe"):
            read_page("a.html", html)


def test_a_manual_is_refused_by_name() -> None:
    language, title, body, head = OTHERS["manual of furniture"]
    with pytest.raises(PageRefused, match="none of their lines names a food"):
        read_page("a.html", page(language, title, body, head))


def test_code_words_of_the_pages_state_are_no_lists() -> None:
    state = {"ingredients": ["web", "auth"], "methods": ["GET", "HEAD"]}
    with pytest.raises(PageRefused):
        read(f"<script>window.routes = {json.dumps(state)};</script>")
    assert read(f"{SHOWN}<script>window.routes = {json.dumps(state)};</script>").ingredients == LINES


# --- marks


def marks(lines: list[str], steps: list[str]) -> set[str]:
    return set(doubts.of(lines, steps, "en"))


SOUND = (list(LINES), list(STEPS))
DOUBTFUL = {
    "no-ingredients": ([], SOUND[1]),
    "no-steps": (SOUND[0], []),
    "one-ingredient": (["250 g flour"], SOUND[1]),
    "one-step": (SOUND[0], [" ".join(STEPS) * 10]),
    "short-steps": (SOUND[0], ["Mix it.", "Bake it."]),
    "no-amounts": (["flour", "eggs", "salt"], SOUND[1]),
    "prose": (["This is what my aunt always put into the cake when we came for a visit.", "2 eggs"], SOUND[1]),
    "repeated-ingredients": ([LINES[0]] * 3, SOUND[1]),
    "repeated-steps": (SOUND[0], [STEPS[0]] * 3),
    "mixed": (SOUND[0], [*LINES, STEPS[0]]),
    "many": ([f"{n} g of flour number {n}" for n in range(61)], SOUND[1]),
    "code": (SOUND[0], ["GET", STEPS[0]]),
    "no-food": (["4 screws", "2 panels", "1 key"], ["Put the screws into the panels.", "Turn the key."]),
}


def test_a_sound_recipe_has_no_mark() -> None:
    assert marks(*SOUND) == set()


@pytest.mark.parametrize("mark", DOUBTFUL)
def test_each_mark_has_its_cause(mark: str) -> None:
    assert mark in marks(*DOUBTFUL[mark])


def test_marks_have_sentences_and_unknown_ones_stay() -> None:
    assert all(sentence.endswith(".") for sentence in doubts.sentences(doubts.SENTENCES))
    assert doubts.sentences(["of later days"]) == ["of later days"]


def test_a_page_that_states_another_recipe_than_it_shows_is_marked() -> None:
    other = recipe(recipeIngredient=["1 kg leeks", "2 l stock", "4 potatoes", "1 bay leaf"])
    assert "disagreeing-ingredients" in read(SHOWN, head=script(other)).doubts


def test_known_sites_are_marked_too() -> None:
    head = '<link rel="canonical" href="https://www.allrecipes.com/recipe/1/">'
    found = read("", head=head + script(recipe(recipeIngredient=["Desserts"])))
    assert found.parser.startswith("recipe-scrapers:")
    assert "one-ingredient" in found.doubts


def test_lists_that_nothing_names_are_marked() -> None:
    assert "unnamed" in read(items(LINES) + "".join(f"<p>{step}</p>" for step in STEPS)).doubts


def test_foods_are_known_in_each_language_and_in_no_tool() -> None:
    assert [made.language for made in RECIPES if foods.count(made.lines[0]) < 2] == []
    assert foods.count(["4 screws M6", "2 side panels", "4 GB of memory", "200 g wool", "1 network card"]) == 0


# --- packed pages


@pytest.mark.parametrize("body", [SHOWN, SHOWN * 40], ids=["short", "long"])
def test_pages_in_brotli_are_unpacked(body: str) -> None:
    assert read_page("a.html", brotli.compress(plain(body))).ingredients == LINES


def test_packed_data_is_never_unpacked_past_the_limit() -> None:
    bomb = brotli.compress(b"\xe9" * 2**24)
    assert len(packed.unpacked(bomb, 1000)) == 1001
    with pytest.raises(PageRefused, match="is larger than 1000 bytes"):
        read_page("a.html", bomb, max_bytes=1000)


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress], ids=["bzip2", "xz"])
def test_what_no_server_sends_is_called_packed_data(pack: object) -> None:
    with pytest.raises(PageRefused, match="it looks like packed data"):
        read_page("a.html", pack(plain(SHOWN)))  # type: ignore[operator]


def every_made_page() -> Iterator[MadePage]:
    for made in RECIPES[:2]:
        yield MadePage("truth", made.language, page(made.language, made.dish, LAYOUTS["twice"](made), truth(made)))


def test_reading_is_the_same_each_time() -> None:
    for each in every_made_page():
        assert read_page("a.html", each.html) == read_page("a.html", each.html)
