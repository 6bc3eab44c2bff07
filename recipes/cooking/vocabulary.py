"""The words of kitchens: kinds of evidence block, and what names nothing in a line of ingredients."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from annotation import doors
from annotation.evidence.kinds import BlockKind, Shown
from judges import doors as judge_doors
from judges.methods.lexicons import ANY, Lexicon

INGREDIENT = "ingredient"
STEP = "step"
TASK = "task"

# What the schemes of these packs call their sheets and rows.
WORDS = (
    gettext_noop("recipe"),
    gettext_noop("recipes"),
    gettext_noop("dish"),
    gettext_noop("dishes"),
    gettext_noop("request"),
    gettext_noop("requests"),
    gettext_noop("table"),
    gettext_noop("tables"),
)

KINDS = (
    BlockKind(INGREDIENT, _("ingredient")),
    BlockKind(STEP, _("step"), Shown.NUMBERED, running=True),
    BlockKind(TASK, _("task"), running=True),
)

# An ingredient line is more than a name. What changes the product as bought (ground, dried, smoked, canned, unsalted)
# is part of its name and stands not here; "freshly ground" is one word, for alone "ground" is a name.
LEXICON = Lexicon(
    name="cooking",
    not_names={
        ANY: "g gr gram grams kg mg ml cl dl l litre litres liter liters",
        "english": """
            oz ounce ounces lb lbs pound pounds cup cups c tbsp tbsps tbs tablespoon tablespoons tsp tsps teaspoon
            teaspoons
            pint pints quart quarts gallon gallons inch inches cm mm stick sticks pinch pinches dash dashes drop drops
            handful handfuls clove cloves slice slices piece pieces bunch bunches sprig sprigs stalk stalks head heads
            can cans tin tins jar jars bottle bottles package packages packet packets pkg bag bags box boxes container
            sleeve sleeves knob knobs splash drizzle
            thick thinly thickly thin heaping heaped scant level
            freshly finely roughly coarsely lightly
            chopped diced minced sliced grated shredded crushed crumbled cubed halved quartered torn cut peeled unpeeled
            trimmed washed rinsed drained cored seeded deseeded pitted hulled zested beaten whisked melted softened
            chilled
            cooled cooked uncooked divided packed sifted toasted cold warm hot room temperature boneless skinless fresh
            ripe
            optional taste needed garnish serving serve greasing dusting sprinkling topping more less additional
            preferably possibly if desired each total plain good quality store bought homemade""",
    },
    joined=(r"(?:fresh|freshly|finely|coarsely) (?:ground|cracked)\b",),
)


def register() -> None:
    doors.register_block_kinds(*KINDS)
    doors.register_words(*WORDS)
    judge_doors.register_lexicon(LEXICON)
