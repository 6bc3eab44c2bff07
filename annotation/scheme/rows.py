"""What a scheme says of its rows: the facets that describe them, and whether they are texts of a benchmark."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from annotation.scheme.basis import Facet, Spec, Text, first_repeated
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
        if twice := first_repeated([facet.key for facet in self.facets]):
            raise ValueError(_("two facets have the key “%(twice)s”") % {"twice": twice})
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
