from __future__ import annotations

import pytest

from judges.methods.lexical import LexicalJudge, Match
from recipes.cooking.vocabulary import LEXICON

ENGLISH = LexicalJudge(lexicon=LEXICON)


@pytest.mark.parametrize(
    ("item", "line", "match"),
    [
        # The same words, one or many.
        ("beef fillet", "beef fillet", "same"),
        ("beef fillet", "2 beef fillets (about 200 g each), trimmed", "same"),
        ("tomatoes", "1 (14 oz) can tomato", "same"),
        ("cookies", "1 cookie, crumbled", "same"),
        ("bay leaf", "3 bay leaves", "same"),
        ("Crème fraîche", "200 g creme fraiche", "same"),
        ("half-and-half", "1 cup half and half", "same"),
        # Quantities, units and preparation name nothing.
        ("olive oil", "2 tbsp olive oil, divided (optional)", "same"),
        ("butter", "100g/3½oz butter, plus extra for greasing", "same"),
        ("eggs", "2 large eggs, lightly beaten", "same"),
        ("sugar", "⅓ cup sugar", "same"),
        ("large egg", "1 egg", "same"),
        # A line may name several things.
        ("salt", "Salt and freshly ground black pepper, to taste", "same"),
        ("black pepper", "Salt and freshly ground black pepper, to taste", "same"),
        ("salt and pepper", "Salt and pepper", "same"),
        ("green onions", "3 scallions (green onions)", "same"),
        # A unit that is looked for is a name.
        ("cloves", "1 tsp ground cloves", "part"),
        ("ground cloves", "1 tsp ground cloves", "same"),
        ("garlic cloves", "3 cloves garlic, minced", "same"),
        ("garlic", "3 cloves garlic, minced", "same"),
        # More words, fewer words, another form.
        ("olive oil", "2 tbsp extra-virgin olive oil", "part"),
        ("olive oil", "2 tbsp vegetable oil", "part"),
        ("green lentils", "1 cup lentils", "part"),
        ("butter", "1 stick unsalted butter, melted", "part"),
        ("pepper", "1 tsp ground pepper", "part"),
        ("baked potato", "1 baking potato", "part"),
        # What was done to it is no name of its own, wherever it stands.
        ("chopped tomatoes", "2 tomatoes, chopped", "same"),
        ("minced beef", "4 cloves garlic, minced", "none"),
        ("chopped tomatoes", "large handful parsley leaves, stalks finely chopped", "none"),
        ("chopped", "large handful parsley leaves, chopped", "same"),
        # Neither.
        ("chicken thighs", "2 chicken breasts", "none"),
        ("egg", "1 eggplant", "none"),
        ("mustard", "2 cups flour", "none"),
        ("mustard", "", "none"),
        ("½", "½ cup sugar", "none"),
    ],
)
def test_an_ingredient_and_a_line(item: str, line: str, match: Match) -> None:
    assert ENGLISH.judge(item, [line]).match == match


def test_the_best_line_wins_and_its_words_are_marked() -> None:
    lines = ["1 cup vegetable oil", "2 tbsp extra-virgin olive oil", "1 tbsp Olive Oils", "olive oil"]
    verdict = ENGLISH.judge("olive oil", lines)
    assert (verdict.match, verdict.line) == ("same", 2)
    assert [lines[2][begin:end] for begin, end in verdict.words] == ["Olive", "Oils"]


def test_of_two_parts_the_one_that_shares_more_wins() -> None:
    assert ENGLISH.judge("olive oil", ["1 cup vegetable oil", "2 tbsp virgin olive oil"]).line == 1


def test_nothing_found_marks_nothing() -> None:
    verdict = ENGLISH.judge("olive oil", ["1 egg"])
    assert (verdict.match, verdict.line, verdict.words) == ("none", None, ())


@pytest.mark.parametrize(
    ("item", "sentence", "match"),
    [
        ("frying pan", "Heat the oil in a frying pan.", "same"),
        ("Place into", "Place the dough into the oven.", "part"),
        ("Chop", "Add the chopped onions.", "part"),
        ("large frying pan", "Heat the oil in a pan.", "part"),
        ("whisk", "Knead until smooth.", "none"),
    ],
)
def test_a_tool_or_task_and_a_sentence(item: str, sentence: str, match: Match) -> None:
    assert ENGLISH.judge(item, [sentence], running_text=True).match == match


def test_another_language_stems_its_own_words_and_knows_where_its_heads_stand() -> None:
    german, french = LexicalJudge("german", LEXICON), LexicalJudge("french", LEXICON)
    assert german.judge("Zwiebel", ["2 Zwiebeln"]).match == "same"
    assert french.judge("huile d’olive", ["30 ml huile de tournesol"]).match == "part"


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(KeyError):
        LexicalJudge("klingon")
