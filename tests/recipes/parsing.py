"""A recipe as a model writes it, and studies in which recipes are taken apart."""

from __future__ import annotations

from annotation import actions
from annotation.evidence.blocks import Block
from annotation.evidence.kinds import PARAGRAPH
from annotation.models import Rater
from judges import actions as judging
from recipes.memorization import demo_study
from tests import builders

PARSING = (demo_study.ROOT / "schemes" / "recipe-parsing.yaml").read_text(encoding="utf-8")
PROMPTS = demo_study.ROOT / "prompts"

CURRY = """Sure! Here is a recipe for green curry that takes half an hour:

### Ingredients:
**For the paste:**
- 2 stalks of lemongrass, finely chopped
- 4 cloves of garlic
- 1/2 teaspoon ground white pepper
- Salt and pepper to taste
**For the curry:**
* 1 can (400ml) of coconut milk
* 500g boneless, skinless chicken thighs, cut into pieces
* 1 tbsp. brown sugar
* 1 can crushed tomatoes
* Fresh basil leaves, for garnish
* Rice - 2 cups

### Instructions:
1. **Make the paste:** Place the lemongrass, garlic and white pepper in a food processor and blend until smooth.
2. Heat a large wok over medium heat. Add the paste and fry for 2-3 minutes, stirring constantly.
3. Add the chicken and cook until browned.
4. Pour in the coconut milk and sugar. Bring to a boil, then reduce the heat and simmer for 10 minutes.
5. In a small bowl, whisk the salt and pepper together; let the sauce rest.
6. Using a ladle, transfer the curry to bowls and garnish with basil leaves.

### Tips:
- Add more chili if you like it hot.
Enjoy your curry!"""


def blocks(text: str) -> list[Block]:
    """As candidates have them: a paragraph each line."""
    return [Block(PARAGRAPH, line.strip()) for line in text.splitlines() if line.strip()]


def rules(prompt: str, *, texts: dict[str, str]) -> Rater:
    """A judge without a model over a study whose rows are these texts."""
    study = builders.study("parsing", of=builders.scheme(PARSING))
    for title, text in texts.items():
        sheet = actions.add_sheet(study=study, title=title, columns={})
        actions.add_row(sheet=sheet, name="1", evidence=blocks(text), language="en")
    text = (PROMPTS / f"{prompt}.yaml").read_text(encoding="utf-8")
    judge = judging.create_judge(name=prompt, method="lexical", prompt_text=text)
    run = judging.start_run(study=study, judge=judge, by=None, enqueue=False)
    judging.score_items(item_ids=list(run.items.values_list("pk", flat=True)))
    return run.rater
