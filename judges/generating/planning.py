"""What a run writes: each name, type of prompt and number becomes one text with a wording and a seed. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from base.sentences import gettext as _
from llm.generating import wordings
from llm.generating.wordings import NAME, PromptType

MOST_A_TYPE = 100
MOST_TEXTS = 50_000


class PlanRefused(ValueError):
    """Such a run would make no sense; `str()` is a sentence that says why."""


@dataclass(frozen=True)
class Named:
    """A row to be written about. `facets`: what else a wording may name."""

    row: int
    name: str
    facets: Mapping[str, str]


@dataclass(frozen=True)
class Wanted:
    """How often and how. `per_type`: texts of each name and type of prompt, the paper's K; `together`: several texts
    are written in one batch, which is faster, and less sure to come out the same when one is written again."""

    types: tuple[PromptType, ...]
    per_type: int
    temperature: float
    max_new_tokens: int
    seed: int = 1
    chat_template: bool = True
    together: bool = False

    def check(self) -> None:
        """
        Raises:
            PlanRefused: no type, or texts that would be the same ones again.
        """
        if not self.types:
            raise PlanRefused(_("Choose a type of prompt, or bring prompts of your own."))
        keys = [each.key for each in self.types]
        if twice := next((key for key in keys if keys.count(key) > 1), None):
            raise PlanRefused(_("Two types are called “%(type)s”: call yours otherwise.") % {"type": twice})
        if not 1 <= self.per_type <= MOST_A_TYPE:
            raise PlanRefused(_("From 1 to %(most)s texts of each type can be written.") % {"most": MOST_A_TYPE})
        fewest = min(self.types, key=lambda each: len(each.wordings))
        if self.temperature == 0 and self.per_type > len(fewest.wordings):
            raise PlanRefused(
                _(
                    "At temperature 0 the same wording gives the same text each time, and “%(type)s” has %(n)s: raise "
                    "the temperature, or ask for at most %(n)s texts of a type."
                )
                % {"type": fewest.title, "n": len(fewest.wordings)}
            )


@dataclass(frozen=True)
class Text:
    """One text that is to be written. `number`: which of its name and type, from 1."""

    row: int
    name: str
    type: str
    number: int
    wording: str
    asked: str
    seed: int


def refuse_gaps(names: Sequence[Named], wanted: Wanted) -> None:
    """
    Raises:
        PlanRefused: a row has nothing to say for a placeholder of a wording that will be taken, which would be asked
            for with a gap in it (“as it is known in ?”).
    """
    for of_type in wanted.types:
        for wording in dict.fromkeys(of_type.wording(number) for number in range(wanted.per_type)):
            for placeholder in wordings.placeholders_of(wording):
                lacking = [each.name for each in names if placeholder != NAME and not each.facets.get(placeholder)]
                if lacking:
                    raise PlanRefused(
                        _(
                            "“%(wording)s” cannot be asked of “%(name)s”, which has nothing for $%(placeholder)s "
                            "(%(n)s of %(names)s have not). Choose other rows, or take a wording without it."
                        )
                        % {
                            "wording": wording,
                            "name": lacking[0],
                            "placeholder": placeholder,
                            "n": len(lacking),
                            "names": len(names),
                        }
                    )


def texts(names: Sequence[Named], wanted: Wanted) -> list[Text]:
    """All texts of one model, name by name. The n-th of a type has the n-th wording (they begin anew when they are used
    up) and the n-th seed, so that no two texts of a name are asked for in the same way with the same seed.

    Raises:
        PlanRefused: as `Wanted.check` and `refuse_gaps`; no name; too many texts.
    """
    wanted.check()
    if not names:
        raise PlanRefused(_("There is no row to write about. Add names first, or choose other rows."))
    n = len(names) * len(wanted.types) * wanted.per_type
    if n > MOST_TEXTS:
        raise PlanRefused(
            _("These would be %(n)s texts; a run has at most %(most)s.") % {"n": f"{n:,}", "most": f"{MOST_TEXTS:,}"}
        )
    refuse_gaps(names, wanted)
    return [
        Text(
            row=each.row,
            name=each.name,
            type=of_type.key,
            number=number + 1,
            wording=(wording := of_type.wording(number)),
            asked=wordings.fill(wording, {**each.facets, NAME: each.name}),
            seed=wanted.seed + number,
        )
        for each in names
        for of_type in wanted.types
        for number in range(wanted.per_type)
    ]
