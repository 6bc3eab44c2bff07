"""Checks as a scheme declares them; `annotation.scheme.checks` applies them. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field, model_validator

from annotation.scheme.basis import SOURCE, Key, Level, Spec, Word
from base.sentences import gettext as _


class Rule(StrEnum):
    EQUAL_TO = "equal-to"
    CONTAINED_IN = "contained-in"
    CARRIED = "carried"
    NO_NUMBER = "no-number"
    NOT_EMPTY_IF = "not-empty-if"
    USED_BELOW = "used-below"
    EXISTS = "exists"
    SOURCED = "sourced"
    DISTINCT = "distinct"
    REACHED = "reached"


# Rules over what exists at the steps of a table of transitions.
OF_STATES = (Rule.EXISTS, Rule.SOURCED, Rule.DISTINCT, Rule.REACHED)


Source = Annotated[str, Field(pattern=SOURCE)]


class CheckSpec(Spec):
    """A rule over the answers of one table: those of one assignment to one section.

    Attributes:
        rule: see `annotation.scheme.checks`, which knows what each means.
        question: whose answers it is about.
        other: the question of the same line that an answer is held against (`equal-to`, `not-empty-if`), or of the
            lines below (`used-below`).
        from_: the question of the same line that says what a line touches (`carried`); `from` in the file.
        in_: where its parts may come from (`contained-in`); `in` in the file. above.QUESTION: the lines above;
            line.QUESTION: the same line; row.FACET, column.FACET: words of these.
        when: {question of the same line: answers}: the rule holds only there.
        message: what is said instead of the rule's own sentence.
    """

    model_config = ConfigDict(serialize_by_alias=True)

    rule: Rule
    question: Key
    other: Key | None = None
    from_: Annotated[Key | None, Field(alias="from")] = None
    in_: Annotated[tuple[Source, ...], Field(alias="in")] = ()
    when: dict[Key, Annotated[tuple[Word, ...], Field(min_length=1)]] = {}
    level: Level = Level.WARN
    message: str = ""

    @model_validator(mode="after")
    def _check_parts(self) -> CheckSpec:
        needs = {
            "other": self.rule in (Rule.EQUAL_TO, Rule.NOT_EMPTY_IF, Rule.USED_BELOW),
            "from": self.rule == Rule.CARRIED,
            "in": self.rule == Rule.CONTAINED_IN,
        }
        has = {"other": self.other is not None, "from": self.from_ is not None, "in": bool(self.in_)}
        for key, needed in needs.items():
            if needed != has[key]:
                sentence = (
                    _("the rule “%(rule)s” needs a key “%(key)s”")
                    if needed
                    else _("the rule “%(rule)s” has no key “%(key)s”")
                )
                raise ValueError(sentence % {"rule": self.rule, "key": key})
        return self

    @property
    def questions(self) -> Iterator[str]:
        """All questions that it names."""
        yield self.question
        yield from (key for key in (self.other, self.from_) if key is not None)
        yield from self.when
        yield from (name for of, _dot, name in (s.partition(".") for s in self.in_) if of in ("above", "line"))

    def facets_of(self, place: str) -> set[str]:
        """The facets of the `row` or the `column` that it names."""
        return {name for of, _dot, name in (source.partition(".") for source in self.in_) if of == place}
