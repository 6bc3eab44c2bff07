"""Who does what in a chain. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

RULES = "rules"  # takes recipes apart without a model
LEXICAL = "lexical"  # looks for the parts without a model


class Step(StrEnum):
    """The steps in their order; each is named after the study or run that it makes."""

    NAMES = "names"
    GENERATE = "generate"
    CHOOSE = "choose"
    PARSE = "parse"
    FETCH = "fetch"
    LABEL = "label"
    EXAMINE = "examine"
    VERDICT = "verdict"


@dataclass(frozen=True)
class ChainSettings:
    """
    Args:
        slug: of the study that looks for the recipes' parts; the others are called `SLUG-names`, `SLUG-candidates`,
            `SLUG-parsing` and `SLUG-nonsense`.
        types, per_type, temperature, longest, seed, chat_form: how texts are asked for. `longest` in tokens.
        together: several texts are written in one batch: faster, and less sure to come out the same when one is written
            again.
        order_seed: by which the candidates of a dish are numbered; one that nobody knows is drawn where it is empty.
        chooser: the judge by whose answers the best candidate is taken.
        keep_all: whether a dish of which no candidate could be compared goes on with its first one.
        parser: the judge that takes recipes apart, or `RULES`.
        documents: how many each engine is to have for each dish; engines: by default all that are set up.
        folder: of saved pages, a folder a dish, in place of engines.
        judges: who looks for the parts in documents; the first one's answers make the verdict that is told first.
        examiner: the judge by whom items are nonsense.
    """

    slug: str
    types: tuple[str, ...] = ("general",)
    per_type: int = 5
    temperature: float = 0.7
    longest: int = 600
    seed: int = 1
    chat_form: bool = True
    together: bool = False
    order_seed: str = ""
    chooser: str = ""
    keep_all: bool = True
    parser: str = RULES
    documents: int = 6
    engines: tuple[str, ...] = ()
    words: str = "{name} recipe"
    folder: str = ""
    judges: tuple[str, ...] = ()
    examiner: str = ""

    def study(self, step: Step) -> str:
        """The slug of the study in which a step is done."""
        part = _STUDIES[step]
        return f"{self.slug}-{part}" if part else self.slug


_STUDIES = {
    Step.NAMES: "names",
    Step.GENERATE: "names",
    Step.CHOOSE: "candidates",
    Step.PARSE: "parsing",
    Step.FETCH: "",
    Step.LABEL: "",
    Step.EXAMINE: "nonsense",
    Step.VERDICT: "",
}


@dataclass(frozen=True)
class Told:
    """What came of a step: seconds that it took now, and sentences."""

    step: Step
    seconds: float
    sentences: tuple[str, ...] = field(default=())
