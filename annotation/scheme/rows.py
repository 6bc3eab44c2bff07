"""What a scheme says of its rows: the facets that describe them, and whether they are texts of a benchmark, or two
texts side by side."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from annotation.scheme.basis import QUESTION, Facet, Key, Misplaced, Spec, Text, first_repeated, repeated_at
from base.sentences import gettext as _


def facet_word(said: Any) -> str:
    """What a facet of a row says as one text; it may be a list of texts."""
    return "; ".join(map(str, said)) if isinstance(said, list | tuple) else str(said)


class RowFacet(Spec):
    """What rows are described by, such as the engine that found a page. `hidden`: no rater is shown it."""

    key: Facet
    title: Annotated[str, Field(max_length=120)] = ""
    hidden: bool = False

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, data: Any) -> Any:
        return {"key": data} if isinstance(data, str) else data

    @property
    def name(self) -> str:
        return self.title or self.key.replace("_", " ").capitalize()


class RowSpec(Spec):
    facets: Annotated[tuple[RowFacet, ...], Field(max_length=12)] = ()

    @model_validator(mode="after")
    def _check_facets(self) -> RowSpec:
        if twice := first_repeated(list(self.keys)):
            said = _("two facets have the key “%(twice)s”") % {"twice": twice}
            raise Misplaced(said, "facets", repeated_at(list(self.keys)))
        return self

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(facet.key for facet in self.facets)

    def facets_of(self, given: Mapping[str, object]) -> dict[str, str | list[str]]:
        """Facets as they are stored: those that say something, in the order of the scheme.

        Raises:
            ValueError: one is not declared.
        """
        if unknown := given.keys() - set(self.keys):
            raise ValueError(_("The rows of this scheme have no facet “%(facet)s”.") % {"facet": min(unknown)})
        found: dict[str, str | list[str]] = {}
        for key in self.keys:
            value = given.get(key)
            if isinstance(value, list | tuple):
                texts = [text for one in value if (text := " ".join(str(one).split()))]
                found |= {key: texts} if texts else {}
            elif text := " ".join(str("" if value is None else value).split()):
                found[key] = text
        return found

    @property
    def shown(self) -> tuple[RowFacet, ...]:
        """Those that raters, people and judges alike, may see."""
        return tuple(facet for facet in self.facets if not facet.hidden)


class BenchmarkSpec(Spec):
    """That rows are texts which models wrote for instructions, and questions of the kind `scale` rate them.

    `generator`: the facet that says who wrote a row, which no rater may see. `instruction`: the facets that together
    say what it was written for; what was written for the same instruction belongs together in intervals. `sheets`: the
    one of them by which instructions are put on sheets. `length`: the facet with the number of words of a text.
    `families`: what a model's name begins with -> its family, where that is not the name's first letters.
    """

    generator: Facet
    instruction: Annotated[tuple[Facet, ...], Field(min_length=1, max_length=6)]
    sheets: Facet | None = None
    length: Facet | None = None
    families: dict[Text, Text] = {}

    @model_validator(mode="after")
    def _check_sheets(self) -> BenchmarkSpec:
        if self.sheets is not None and self.sheets not in self.instruction:
            raise ValueError(_("“sheets” is one of the facets of “instruction”"))
        return self

    @property
    def by_name(self) -> tuple[str, ...]:
        """The facets that name an instruction on its sheet."""
        return tuple(facet for facet in self.instruction if facet != self.sheets) or self.instruction

    def family(self, model: str) -> str:
        """
        >>> BenchmarkSpec(generator="by", instruction=("letter",)).family("google/gemma-2-9b-it")
        'gemma'
        """
        name = model.rsplit("/", 1)[-1].removeprefix("package:").casefold()
        begins = [start for start in self.families if name.startswith(start.casefold())]
        if begins:
            return self.families[max(begins, key=len)]
        letters = re.match(r"[^\W\d_]+", name)
        return letters[0] if letters else name


class ComparisonSpec(Spec):
    """That each row has two texts side by side, and a choice says which of them is better: a paired comparison.

    `question`: that choice, as `section.question`. `systems`: the facets that say who wrote the left and the right
    text, which no rater may see. `options`: of the question the one that prefers the left text and the one that prefers
    the right one; every other one is a tie. `item`: the facet that says what both were written for; comparisons of the
    same item belong together in intervals, and where there is none each row stands by itself. `words`: the facets with
    the numbers of words of the two texts.
    """

    question: Annotated[str, Field(pattern=QUESTION)]
    systems: tuple[Facet, Facet]
    options: tuple[Key, Key] = ("left", "right")
    item: Facet | None = None
    words: tuple[Facet, Facet] | None = None

    @property
    def facets(self) -> tuple[str, ...]:
        """All that it names."""
        return (*self.systems, *((self.item,) if self.item else ()), *(self.words or ()))

    @model_validator(mode="after")
    def _check_twice(self) -> ComparisonSpec:
        if twice := first_repeated([*self.facets]) or first_repeated([*self.options]):
            raise ValueError(_("“comparison” names “%(twice)s” twice") % {"twice": twice})
        return self
